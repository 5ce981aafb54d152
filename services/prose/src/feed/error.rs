//! What can be wrong with a feed.

use std::{borrow::Cow, io};

use prose_truth::json::JsonError;

use crate::error::Explain;

/// Something wrong with a feed; what stands before it was taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{place}: the feed cannot be read")]
    Unreadable { place: String, source: io::Error },
    #[error("{place}: the line is longer than {limit} bytes")]
    TooLong { place: String, limit: usize },
    #[error("{place}: not an event of a feed: {problem}")]
    Line { place: String, problem: String },
    #[error("{place}: in the event: {error}")]
    Event { place: String, error: JsonError },
    #[error("{place}: `{name}` {}", if *is_node { "takes no events" } else { "is no node" })]
    NotAGateway { place: String, name: String, is_node: bool, gateways: Vec<String> },
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Unreadable { .. } => "feed_unreadable",
            Self::TooLong { .. } => "feed_line_too_long",
            Self::Line { .. } => "feed_line",
            Self::Event { error, .. } => error.code(),
            Self::NotAGateway { is_node: true, .. } => "gateway_invalid",
            Self::NotAGateway { .. } => "gateway_unknown",
        }
        .into()
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => None,
            Self::TooLong { .. } => {
                Some("put large content elsewhere, and its address into the event".into())
            }
            Self::Line { .. } => Some(
                r#"each line is {"gateway": NAME, "event": JSON}, with an optional "key": TEXT"#
                    .into(),
            ),
            Self::Event { .. } => Some("the lines before it were taken in".into()),
            Self::NotAGateway { gateways, .. } if gateways.is_empty() => {
                Some("no contract here is of the kind gateway".into())
            }
            Self::NotAGateway { gateways, .. } => {
                Some(format!("gateways here: {}", gateways.join(", ")))
            }
        }
    }
}
