//! Between messages and what this crate works on.

use std::collections::BTreeMap;

use prose_api::v1;
use prose_harness::{Attest, Wake};
use prose_ir::Contract;
use prose_truth::{Files, PathError, TreePath};

use crate::{Cost, Pinned, Report, Verdict, Work};

/// Why a lease cannot be worked on. No coordinator of the same version sends such a one.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The contract is not what this program reads.
    #[error("the lease's contract cannot be read")]
    Contract(#[from] serde_json::Error),
    /// A file with a path that must not be used.
    #[error("the lease holds a file that cannot be used")]
    Path(#[from] PathError),
}

impl Work {
    /// Reads a lease.
    ///
    /// # Errors
    /// A contract or a path that cannot be read.
    pub fn from_lease(lease: v1::Lease) -> Result<Self, LeaseError> {
        let contract: Contract = serde_json::from_slice(&lease.contract)?;
        let attest = |a: v1::Attestation| Attest { id: a.id, text: a.text };
        Ok(Self {
            reactor: lease.reactor,
            contract,
            attest: lease.attest.into_iter().map(attest).collect(),
            wake: Wake { source: lease.wake_source, refs: lease.wake_refs, cause: lease.surprise },
            as_of: lease.as_of,
            pins: lease.inputs.into_iter().map(pinned).collect::<Result<_, _>>()?,
            prior: lease.prior.map(files).transpose()?.unwrap_or_default(),
            events: lease.events.into_iter().map(Vec::from).collect(),
            answers: BTreeMap::new(),
        })
    }
}

fn pinned(input: v1::PinnedInput) -> Result<Pinned, PathError> {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(Pinned {
        need: input.need,
        producer: input.producer,
        facet: input.facet,
        fingerprint: some(input.fingerprint),
        receipt: some(input.receipt),
        files: input.files.map(files).transpose()?,
    })
}

fn files(message: v1::Files) -> Result<Files, PathError> {
    let file = |(path, bytes): (String, _)| {
        let bytes: Vec<u8> = Vec::from(bytes);
        Ok((TreePath::new(&path)?, bytes.into()))
    };
    message.files.into_iter().map(file).collect()
}

impl Report {
    /// The commit that brings the report to the coordinator.
    pub fn into_commit(self, reactor: String, node: String, fence: u64) -> v1::CommitRequest {
        v1::CommitRequest {
            reactor,
            node,
            fence,
            outcome: Some(outcome(self.verdict)),
            usage: Some(usage(self.cost)),
        }
    }
}

fn outcome(verdict: Verdict) -> v1::commit_request::Outcome {
    use v1::commit_request::Outcome;
    match verdict {
        Verdict::Rendered { files, attestations, diff } => {
            let file = |(path, bytes): (&TreePath, &std::sync::Arc<[u8]>)| {
                (path.as_str().to_owned(), bytes.to_vec().into())
            };
            Outcome::Rendered(v1::Rendered {
                files: Some(v1::Files { files: files.iter().map(file).collect() }),
                attestations,
                diff: diff.unwrap_or_default(),
            })
        }
        Verdict::Failed { reason, needs } => Outcome::Failed(v1::Failed {
            reason,
            needs: needs.map(|needs| needs.to_string()).unwrap_or_default(),
            addressed_to: String::new(),
        }),
        Verdict::Infrastructure(failure) => Outcome::Infrastructure(v1::Infrastructure {
            reason: format!("{} [{}]", failure.reason, failure.code),
        }),
    }
}

fn usage(cost: Cost) -> v1::Usage {
    v1::Usage {
        harness: cost.harness,
        model: cost.model.unwrap_or_default(),
        fresh_tokens: cost.fresh_tokens,
        reused_tokens: cost.reused_tokens,
        duration_ms: u64::try_from(cost.duration.as_millis()).unwrap_or(u64::MAX),
    }
}
