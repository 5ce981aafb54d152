//! Retry, force and cancel.

use prose_ir::Address;
use prose_reconciler::{Millis, NodeIx, Reactor, Refused};

use crate::{Engine, Error, sealer::Sealer};

impl Engine {
    /// Renders again after a failure.
    ///
    /// # Errors
    /// Nothing to retry, no such node, or the store.
    pub async fn retry(&self, reactor: &str, node: &str) -> Result<(), Error> {
        self.command(reactor, node, |core, seal, now, v| core.retry(seal, now, v)).await
    }

    /// Renders even if nothing moved.
    ///
    /// # Errors
    /// A node that is never rendered, no such node, or the store.
    pub async fn force(&self, reactor: &str, node: &str) -> Result<(), Error> {
        self.command(reactor, node, |core, seal, now, v| core.force(seal, now, v)).await
    }

    /// Stops a render, or the wait for another attempt.
    ///
    /// # Errors
    /// Nothing to stop, no such node, or the store.
    pub async fn cancel(&self, reactor: &str, node: &str) -> Result<Address, Error> {
        self.command(reactor, node, |core, seal, now, v| core.cancel(seal, now, v)).await
    }

    async fn command<T>(
        &self,
        reactor: &str,
        node: &str,
        ask: impl FnOnce(&mut Reactor, &mut Sealer<'_>, Millis, NodeIx) -> Result<T, Refused>,
    ) -> Result<T, Error> {
        let mut op = self.begin(reactor).await?;
        let v = match op.node(node) {
            Ok(v) => v,
            Err(error) => {
                op.leave();
                return Err(error);
            }
        };
        match op.decide(|core, seal, now| ask(core, seal, now, v)) {
            Ok(done) => {
                op.finish().await?;
                Ok(done)
            }
            Err(why) => {
                op.leave();
                Err(Error::Refused { node: node.to_owned(), why })
            }
        }
    }
}
