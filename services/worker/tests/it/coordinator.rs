//! A coordinator that follows a script and remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
};

use prose_api::{Fault, v1, v1::work_server::Work};
use tonic::{Code, Request, Response, Status};

/// What the coordinator answers next, and what it was asked so far. Calls that the script does not
/// foresee are answered as by a coordinator that has nothing to do and is content.
#[derive(Default)]
pub struct Script {
    pub claims: VecDeque<Result<v1::Lease, Status>>,
    pub beats: VecDeque<Result<bool, Status>>,
    pub commits: VecDeque<Result<v1::CommitResponse, Status>>,
    /// Whether the last of `beats` and `commits` is repeated.
    pub again: bool,
    pub seen: Seen,
}

#[derive(Default, Clone, Debug)]
pub struct Seen {
    pub claims: Vec<v1::ClaimRequest>,
    pub beats: Vec<v1::HeartbeatRequest>,
    pub commits: Vec<v1::CommitRequest>,
    /// Leases without a commit, now and at most.
    pub open: usize,
    pub open_max: usize,
}

#[derive(Default, Clone)]
pub struct Coordinator(Arc<Mutex<Script>>);

impl Coordinator {
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    pub fn seen(&self) -> Seen {
        self.script().seen.clone()
    }
}

#[tonic::async_trait]
impl Work for Coordinator {
    async fn claim(
        &self,
        request: Request<v1::ClaimRequest>,
    ) -> Result<Response<v1::ClaimResponse>, Status> {
        let mut script = self.script();
        script.seen.claims.push(request.into_inner());
        let lease = script.claims.pop_front().transpose()?;
        if lease.is_some() {
            script.seen.open += 1;
            script.seen.open_max = script.seen.open_max.max(script.seen.open);
        }
        Ok(Response::new(v1::ClaimResponse { lease }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let mut script = self.script();
        script.seen.beats.push(request.into_inner());
        let again = script.again;
        let alive = next(&mut script.beats, again).unwrap_or(Ok(true))?;
        Ok(Response::new(v1::HeartbeatResponse { alive }))
    }

    async fn commit(
        &self,
        request: Request<v1::CommitRequest>,
    ) -> Result<Response<v1::CommitResponse>, Status> {
        let mut script = self.script();
        script.seen.commits.push(request.into_inner());
        let again = script.again;
        let answer = next(&mut script.commits, again).unwrap_or_else(|| Ok(accepted()))?;
        script.seen.open -= 1;
        Ok(Response::new(answer))
    }
}

fn next<T: Clone>(answers: &mut VecDeque<T>, again: bool) -> Option<T> {
    if again && answers.len() == 1 { answers.front().cloned() } else { answers.pop_front() }
}

pub fn accepted() -> v1::CommitResponse {
    v1::CommitResponse {
        accepted: true,
        receipt: "blake3:r".to_owned(),
        status: "rendered".to_owned(),
        reason: String::new(),
    }
}

/// A refusal as coordinators give it.
pub fn refusal(code: &str, retryable: bool) -> Status {
    let grpc = if retryable { Code::Unavailable } else { Code::InvalidArgument };
    let fault = Fault {
        code: code.to_owned(),
        message: format!("refused with {code}"),
        help: String::new(),
        retryable,
    };
    prose_api::status(grpc, fault)
}
