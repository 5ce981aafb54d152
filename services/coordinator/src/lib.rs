//! A coordinator: the engine behind gRPC, with its clock and its outbox relay.

mod answer;
mod coordinator;
mod prose;
mod refusal;
mod work;

pub use coordinator::{Coordinator, Options};
