//! The task that a lease becomes.

use std::collections::{BTreeMap, BTreeSet};

use prose_api::v1;
use prose_harness::{Attest, Input, Limits, Source, TaskSpec, Wake};
use prose_ir::{Contract, Need, ToolKind};
use prose_truth::{Files, PathError, TreePath, region_key};

/// Why a lease cannot become a task: coordinator and worker do not speak the same language.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The contract is not what this worker knows as one.
    #[error("the contract in the lease cannot be read")]
    Contract(#[from] serde_json::Error),
    /// A pin for a need that the contract does not have.
    #[error("the lease pins an input for need `{0}`, which the contract does not have")]
    UnknownNeed(String),
    /// A file at a path that no tree has.
    #[error("the lease holds a file at a path that no truth has")]
    Path(#[from] PathError),
}

/// The task a session gets for `lease`.
///
/// # Errors
/// Leases whose parts do not fit together. No coordinator of this version hands one out.
pub fn task(lease: &v1::Lease, limits: &Limits) -> Result<TaskSpec, LeaseError> {
    let contract: Contract = serde_json::from_slice(&lease.contract)?;
    let is_known = |pin: &&v1::PinnedInput| contract.needs.iter().any(|n| n.name == pin.need);
    if let Some(stray) = lease.inputs.iter().find(|pin| !is_known(pin)) {
        return Err(LeaseError::UnknownNeed(stray.need.clone()));
    }
    let inputs = contract.needs.iter().map(|need| input(need, &lease.inputs));
    Ok(TaskSpec {
        reactor: lease.reactor.clone(),
        node: lease.node.clone(),
        attempt: lease.attempt,
        wake: Wake {
            source: lease.wake_source.clone(),
            refs: lease.wake_refs.clone(),
            cause: lease.surprise.clone(),
        },
        as_of: lease.as_of.clone(),
        facets: contract.facets.iter().map(|facet| region_key(facet).to_owned()).collect(),
        inputs: inputs.collect::<Result<_, _>>()?,
        prior: lease.prior.as_ref().map(files).transpose()?.unwrap_or_default(),
        events: lease.events.iter().map(|event| event.to_vec()).collect(),
        attest: lease.attest.iter().map(attest).collect(),
        tools: tools(&contract),
        contract: contract.text,
        environment: contract.environment,
        functions: contract.functions,
        answers: BTreeMap::new(),
        limits: limits.clone(),
    })
}

fn input(need: &Need, pins: &[v1::PinnedInput]) -> Result<Input, PathError> {
    let producers: BTreeSet<_> = need.slots.iter().map(|slot| &slot.producer).collect();
    let pins = pins.iter().filter(|pin| pin.need == need.name);
    Ok(Input {
        need: need.name.clone(),
        text: need.text.clone(),
        fan_in: producers.len() > 1,
        sources: pins.map(source).collect::<Result<_, _>>()?,
    })
}

fn source(pin: &v1::PinnedInput) -> Result<Source, PathError> {
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Ok(Source {
        producer: pin.producer.clone(),
        facet: pin.facet.clone(),
        fingerprint: some(&pin.fingerprint),
        receipt: some(&pin.receipt),
        files: pin.files.as_ref().map(files).transpose()?,
    })
}

fn files(message: &v1::Files) -> Result<Files, PathError> {
    let mut files = Files::new();
    for (path, bytes) in &message.files {
        files.insert(TreePath::new(path)?, bytes.as_ref());
    }
    Ok(files)
}

fn attest(condition: &v1::Attestation) -> Attest {
    Attest { id: condition.id.clone(), text: condition.text.clone() }
}

fn tools(contract: &Contract) -> Vec<String> {
    let prefix = |kind| match kind {
        ToolKind::Cli => "cli",
        ToolKind::Mcp => "mcp",
    };
    let tools = contract.tools.iter();
    tools.map(|tool| format!("{}:{}", prefix(tool.kind), tool.name)).collect()
}
