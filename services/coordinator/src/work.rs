//! The service for workers.

use std::{collections::BTreeMap, sync::Arc};

use prose_api::v1::{self, commit_request, work_server::Work};
use prose_engine::{CommitAnswer, CommitRequest, Engine, RenderLease, SessionResult};
use prose_ledger::Moment;
use prose_reconciler::{Cost, Surprise, WakeSource};
use prose_truth::{Files, TreePath};
use tonic::{Request, Response, Status};

use crate::refusal::{invalid, refuse};

pub(crate) struct WorkService {
    engine: Arc<Engine>,
}

impl WorkService {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }
}

#[tonic::async_trait]
impl Work for WorkService {
    async fn claim(
        &self,
        request: Request<v1::ClaimRequest>,
    ) -> Result<Response<v1::ClaimResponse>, Status> {
        let v1::ClaimRequest { reactor, node, worker } = request.into_inner();
        let claimed = self.engine.claim(&reactor, &node, &worker).await.map_err(refuse)?;
        let lease = claimed.map(|lease| message(reactor, node, lease)).transpose()?;
        Ok(Response::new(v1::ClaimResponse { lease }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let v1::HeartbeatRequest { reactor, node, fence } = request.into_inner();
        let alive = self.engine.heartbeat(&reactor, &node, fence).await.map_err(refuse)?;
        Ok(Response::new(v1::HeartbeatResponse { alive }))
    }

    async fn commit(
        &self,
        request: Request<v1::CommitRequest>,
    ) -> Result<Response<v1::CommitResponse>, Status> {
        let request = request.into_inner();
        let outcome =
            request.outcome.ok_or_else(|| invalid("a commit needs one of its outcomes"))?;
        let commit = CommitRequest {
            fence: request.fence,
            result: result(outcome)?,
            cost: cost(request.usage.unwrap_or_default()),
        };
        let answer = self.engine.commit(&request.reactor, &request.node, commit).await;
        Ok(Response::new(match answer.map_err(refuse)? {
            CommitAnswer::Stale => v1::CommitResponse::default(),
            CommitAnswer::Retrying => v1::CommitResponse { accepted: true, ..Default::default() },
            CommitAnswer::Rendered(receipt) => v1::CommitResponse {
                accepted: true,
                receipt: receipt.into(),
                status: "rendered".to_owned(),
                reason: String::new(),
            },
            CommitAnswer::Failed { receipt, reason } => v1::CommitResponse {
                accepted: true,
                receipt: receipt.into(),
                status: "failed".to_owned(),
                reason,
            },
        }))
    }
}

fn message(reactor: String, node: String, lease: RenderLease) -> Result<v1::Lease, Status> {
    let contract = serde_json::to_vec(&lease.contract)
        .map_err(|error| Status::internal(format!("the contract cannot be written: {error}")))?;
    let pins = lease.lease.basis.pins.into_iter().zip(lease.inputs);
    let input = |(pin, pinned): (prose_reconciler::Pin, Option<Files>)| v1::PinnedInput {
        need: pin.source.need.clone(),
        producer: pin.source.producer.clone(),
        facet: pin.source.facet.clone(),
        fingerprint: pin.fingerprint.map(String::from).unwrap_or_default(),
        receipt: pin.receipt.map(String::from).unwrap_or_default(),
        files: pinned.map(|pinned| files(&pinned)),
    };
    let (surprise, source) = (lease.lease.surprise, lease.lease.wake_source);
    Ok(v1::Lease {
        reactor,
        node,
        fence: lease.lease.fence,
        lease_ms: lease.lease_ms,
        contract: contract.into(),
        attest: lease.attest.into_iter().map(|(id, text)| v1::Attestation { id, text }).collect(),
        inputs: pins.map(input).collect(),
        prior: lease.prior.as_ref().map(files),
        events: lease.events.into_iter().map(Into::into).collect(),
        wake_source: match source {
            WakeSource::Input => "input",
            WakeSource::Own => "self",
            WakeSource::External => "external",
        }
        .to_owned(),
        surprise: match surprise {
            Surprise::Contract => "contract",
            Surprise::External => "external",
            Surprise::Input => "input",
            Surprise::Retry => "retry",
        }
        .to_owned(),
        wake_refs: lease.lease.wake_refs.into_iter().map(String::from).collect(),
        as_of: Moment::from_millis(lease.lease.basis.as_of).to_string(),
        attempt: lease.lease.attempt,
    })
}

fn files(files: &Files) -> v1::Files {
    let file = |(path, bytes): (&TreePath, &Arc<[u8]>)| {
        (path.as_str().to_owned(), bytes::Bytes::copy_from_slice(bytes))
    };
    v1::Files { files: files.iter().map(file).collect() }
}

fn result(outcome: commit_request::Outcome) -> Result<SessionResult, Status> {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(match outcome {
        commit_request::Outcome::Rendered(rendered) => {
            let mut published = Files::new();
            for (path, bytes) in rendered.files.unwrap_or_default().files {
                let path = TreePath::new(&path)
                    .map_err(|error| invalid(format!("`rendered.files`: {error}")))?;
                published.insert(path, bytes.to_vec());
            }
            SessionResult::Rendered {
                files: published,
                attestations: rendered.attestations.into_iter().collect::<BTreeMap<_, _>>(),
                diff: some(rendered.diff),
            }
        }
        commit_request::Outcome::Failed(failed) => SessionResult::Failed {
            reason: failed.reason,
            needs: some(failed.needs),
            addressed_to: some(failed.addressed_to),
        },
        commit_request::Outcome::Infrastructure(failure) => {
            SessionResult::Infrastructure { reason: failure.reason }
        }
    })
}

fn cost(usage: v1::Usage) -> Cost {
    Cost {
        harness: Some(usage.harness).filter(|harness| !harness.is_empty()),
        model: Some(usage.model).filter(|model| !model.is_empty()),
        fresh: usage.fresh_tokens,
        reused: usage.reused_tokens,
        duration_ms: usage.duration_ms,
    }
}
