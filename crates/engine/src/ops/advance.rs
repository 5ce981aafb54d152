//! Advance: what the passing of time alone decides.

use crate::{Engine, Error};

impl Engine {
    /// Ends leases that ran out, starts retries that are due, ends patience.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn advance(&self, reactor: &str) -> Result<(), Error> {
        let mut op = self.begin(reactor).await?;
        op.decide(|core, seal, now| core.advance(seal, now));
        op.finish().await
    }
}
