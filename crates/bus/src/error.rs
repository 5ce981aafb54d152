//! Why a bus could not do what it was asked.

/// Why a bus could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A work queue holds as much as it may. Publishing the same messages again later is right:
    /// those that were taken are recognised by their ids.
    #[error("the work queue of pool `{pool}` is full ({limit} messages)")]
    Full {
        /// The pool.
        pool: String,
        /// How many messages the queue may hold.
        limit: usize,
    },
    /// The bus was shut down.
    #[error("the message bus has been closed")]
    Closed,
    /// The bus cannot be reached.
    #[error("the message bus is not available at the moment")]
    Unavailable {
        /// What the client said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The stable code, for users and for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Full { .. } => "bus_full",
            Self::Closed => "bus_closed",
            Self::Unavailable { .. } => "bus_unavailable",
        }
    }

    /// Whether the same call may succeed later without anything being repaired in between.
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::Closed)
    }
}
