//! Messages on their way through the outbox: those of one operation travel as one row.

use prose_bus::{Message, Subject};
use prose_store::OutboxMessage;
use serde::{Deserialize, Serialize};

/// The subject of a row that holds several messages; no message is ever published under it.
const PACKED: &str = "@packed";

/// A message to publish. Bodies are never in it, only ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outgoing {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) payload: String,
}

/// Packs the messages of one operation, in order. A batch of events makes hundreds, and a row for
/// each would cost more than the receipts they speak of.
pub(crate) fn pack(messages: Vec<Outgoing>) -> Option<OutboxMessage> {
    let first = messages.first()?;
    let id = first.id.clone();
    // Three texts can always be written as JSON.
    let payload = serde_json::to_vec(&messages).unwrap_or_default();
    Some(OutboxMessage { id, subject: PACKED.to_owned(), payload })
}

/// Unpacks a row. What cannot be read is logged and left out: it can never be published.
pub(crate) fn unpack(row: OutboxMessage) -> Vec<Message> {
    let messages: Vec<Outgoing> = match serde_json::from_slice(&row.payload) {
        Ok(messages) => messages,
        Err(error) => {
            tracing::error!(
                message.id = row.id,
                error = &error as &dyn std::error::Error,
                "dropped a row of the outbox that cannot be read",
            );
            return Vec::new();
        }
    };
    messages.into_iter().filter_map(message).collect()
}

fn message(outgoing: Outgoing) -> Option<Message> {
    match Subject::parse(&outgoing.subject) {
        Ok(subject) => Some(Message {
            id: outgoing.id,
            subject,
            payload: outgoing.payload.into_bytes().into(),
        }),
        Err(error) => {
            tracing::error!(
                message.subject = outgoing.subject,
                error = &error as &dyn std::error::Error,
                "dropped a message whose subject cannot be read",
            );
            None
        }
    }
}
