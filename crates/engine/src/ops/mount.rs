//! Mount: a bundle becomes the next epoch.

use std::sync::Arc;

use prose_ir::{Address, Bundle, Fingerprint};
use prose_reconciler::{Failure, NodeIx, Published, Role, TopologyTruth};
use prose_store::NewEpoch;
use prose_truth::{Files, Limits, Snapshot, TreePath, json};

use super::arrival;
use crate::{Engine, Error, operation::Operation, program::Program};

/// What a mount came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// The active epoch.
    pub epoch: u64,
    /// The receipt of the topology; none when the same bundle was mounted already.
    pub receipt: Option<Address>,
}

impl Engine {
    /// Mounts `bundle` on `reactor`, creating the reactor if need be.
    ///
    /// # Errors
    /// A bundle that breaks its rules, a name that cannot name a reactor, or the store.
    pub async fn mount(&self, reactor: &str, bundle: Bundle) -> Result<Mounted, Error> {
        check_name(reactor)?;
        let program = Program::new(bundle)?;
        let bytes = serde_json::to_vec(&program.bundle)
            .map_err(|error| Error::Program(error.to_string()))?;
        let truth = topology_truth(&program.bundle)?;
        self.store.create_reactor(reactor).await?;

        let mut op = self.begin(reactor).await?;
        let epoch = op.state.reactor.epoch();
        if epoch > 0 && op.state.program.bundle == program.bundle {
            op.leave();
            return Ok(Mounted { epoch, receipt: None });
        }
        let epoch = epoch + 1;
        op.store_contents([(truth.address.clone(), truth.bytes)]);
        op.store_contents(truth.blobs);
        op.changes.epoch = Some(NewEpoch { number: epoch, bundle: bytes });
        let topology = TopologyTruth {
            tree: truth.address,
            whole: Fingerprint::of(&topology_bytes(&program.bundle)?),
        };
        let standing = op.read_again(&program).await?;
        let graph = program.graph.clone();
        op.state.program = Arc::new(program);
        let receipt =
            op.decide(|core, seal, now| core.mount(seal, now, graph, epoch, topology, standing));
        op.finish().await?;
        tracing::info!(reactor.name = reactor, reactor.epoch = epoch, "mounted");
        Ok(Mounted { epoch, receipt: Some(receipt) })
    }
}

impl Operation<'_> {
    /// What the standing truths of passthrough gateways come to under a contract that changed.
    async fn read_again(
        &mut self,
        program: &Program,
    ) -> Result<Vec<(NodeIx, Result<Published, Failure>)>, Error> {
        let mut standing = Vec::new();
        for v in program.graph.indices() {
            let spec = program.graph.spec(v);
            let core = &self.state.reactor;
            let old = core.graph().find(&spec.name).map(|old| core.graph().spec(old));
            if spec.role != Role::Passthrough || old == Some(spec) {
                continue;
            }
            let current = core.state(&spec.name).and_then(|state| state.current());
            let Some(tree) = current.map(|current| current.tree.clone()) else { continue };
            let (Some(node), Some(document)) =
                (program.node(&spec.name), self.document(&tree).await?)
            else {
                continue;
            };
            let tokens = node.canonicalizer.fingerprints(&document);
            let prior = Some(document.clone());
            let truth = arrival::publishable(self, node, prior.as_ref(), document, tokens);
            standing.push((v, truth));
        }
        Ok(standing)
    }
}

/// The topology as a truth: one file, the graph of the manifest.
fn topology_truth(bundle: &Bundle) -> Result<Snapshot, Error> {
    let mut files = Files::new();
    let path = TreePath::new(prose_truth::TRUTH_FILE)
        .map_err(|error| Error::Program(error.to_string()))?;
    files.insert(path, topology_bytes(bundle)?);
    files.snapshot(&Limits::default()).map_err(|error| Error::Program(error.to_string()))
}

fn topology_bytes(bundle: &Bundle) -> Result<Vec<u8>, Error> {
    let value = serde_json::to_value(&bundle.manifest.topology)
        .map_err(|error| Error::Program(error.to_string()))?;
    Ok(json::canonical(&value))
}

fn check_name(name: &str) -> Result<(), Error> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if name.len() <= 63 && name.starts_with(first) && name.chars().all(legal) {
        Ok(())
    } else {
        Err(Error::ReactorName(name.chars().take(80).collect()))
    }
}
