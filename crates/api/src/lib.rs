//! The gRPC API: generated messages, typed errors on the wire, and the channels to reach it.

mod channel;
mod error;

pub use channel::{Connector, connect_in_process, connect_tcp, connect_unix};
pub use error::{Fault, code, fault, status};

/// Generated from `proto/prose/v1`.
pub mod v1 {
    #![allow(missing_docs, clippy::all, clippy::unwrap_used)]
    tonic::include_proto!("prose.v1");
}

/// The largest message either side takes: a truth of a few MiB with room to spare.
pub const MESSAGE_BYTES_MAX: usize = 96 << 20;

/// A client of [`v1::prose_client`] with the limits of this API.
pub type Prose = v1::prose_client::ProseClient<tonic::transport::Channel>;

/// A client of [`v1::work_client`] with the limits of this API.
pub type Work = v1::work_client::WorkClient<tonic::transport::Channel>;

/// The client for people and programs over `channel`.
pub fn prose(channel: tonic::transport::Channel) -> Prose {
    Prose::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
}

/// The client for workers over `channel`.
pub fn work(channel: tonic::transport::Channel) -> Work {
    Work::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
}
