//! The service for people and programs.

use std::{collections::BTreeMap, pin::Pin, sync::Arc};

use futures::Stream;
use prose_api::v1::{self, prose_server::Prose};
use prose_engine::{Engine, EventStatus, IncomingEvent};
use prose_ir::Address;
use prose_store::{Page, ReceiptQuery};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::{
    answer,
    refusal::{invalid, refuse, stopping},
};

const PAGE_DEFAULT: u32 = 100;
const PAGE_MAX: u32 = 1_000;
/// Addresses that one call may ask for.
const ADDRESSES_MAX: usize = 10_000;
/// Bytes of contents in one answer; at least one content is always given.
const CONTENTS_BYTES_MAX: usize = 32 << 20;
/// Receipts on their way to a watcher that reads slowly.
const WATCH_BACKLOG: usize = 256;

pub(crate) struct ProseService {
    engine: Arc<Engine>,
    stop: CancellationToken,
}

impl ProseService {
    pub(crate) fn new(engine: Arc<Engine>, stop: CancellationToken) -> Self {
        Self { engine, stop }
    }
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Prose for ProseService {
    async fn mount(&self, request: Request<v1::MountRequest>) -> Answer<v1::MountResponse> {
        let request = request.into_inner();
        let bundle = serde_json::from_slice(&request.bundle)
            .map_err(|error| invalid(format!("`bundle` is not a bundle: {error}")))?;
        let mounted = self.engine.mount(&request.reactor, bundle).await.map_err(refuse)?;
        Ok(Response::new(v1::MountResponse {
            epoch: mounted.epoch,
            changed: mounted.receipt.is_some(),
            receipt: mounted.receipt.map(String::from).unwrap_or_default(),
        }))
    }

    async fn ingest(&self, request: Request<v1::IngestRequest>) -> Answer<v1::IngestResponse> {
        let request = request.into_inner();
        let events = request.events.into_iter().map(|event| IncomingEvent {
            gateway: event.gateway,
            body: event.event.into(),
            key: event.key,
        });
        let outcomes = self.engine.ingest(&request.reactor, events.collect()).await;
        let outcome = |outcome: prose_engine::EventOutcome| v1::EventOutcome {
            receipt: outcome.receipt.map(String::from).unwrap_or_default(),
            status: match outcome.status {
                EventStatus::Rendered => "rendered",
                EventStatus::Skipped => "skipped",
                EventStatus::Failed => "failed",
                EventStatus::Queued => "queued",
            }
            .to_owned(),
            repeated: outcome.repeated,
        };
        let outcomes = outcomes.map_err(refuse)?.into_iter().map(outcome).collect();
        Ok(Response::new(v1::IngestResponse { outcomes }))
    }

    async fn list_reactors(
        &self,
        _: Request<v1::ListReactorsRequest>,
    ) -> Answer<v1::ListReactorsResponse> {
        let rows = self.engine.reactors().await.map_err(refuse)?;
        let status = |row: prose_store::ReactorRow| v1::ReactorStatus {
            name: row.name,
            epoch: row.epoch,
            wave: row.wave,
            receipts: row.receipts,
        };
        let reactors = rows.into_iter().map(status).collect();
        Ok(Response::new(v1::ListReactorsResponse { reactors }))
    }

    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Answer<v1::GetStatusResponse> {
        let report = self.engine.status(&request.into_inner().reactor).await.map_err(refuse)?;
        Ok(Response::new(answer::status(report)))
    }

    async fn get_bundle(
        &self,
        request: Request<v1::GetBundleRequest>,
    ) -> Answer<v1::GetBundleResponse> {
        let (epoch, bundle) =
            self.engine.bundle(&request.into_inner().reactor).await.map_err(refuse)?;
        let bundle = serde_json::to_vec(&bundle)
            .map_err(|error| Status::internal(format!("the bundle cannot be written: {error}")))?;
        Ok(Response::new(v1::GetBundleResponse { epoch, bundle: bundle.into() }))
    }

    async fn explain(&self, request: Request<v1::ExplainRequest>) -> Answer<v1::ExplainResponse> {
        let request = request.into_inner();
        let explanation = self.engine.explain(&request.reactor, &request.node).await;
        Ok(Response::new(answer::explanation(explanation.map_err(refuse)?)))
    }

    async fn list_receipts(
        &self,
        request: Request<v1::ListReceiptsRequest>,
    ) -> Answer<v1::ListReceiptsResponse> {
        let request = request.into_inner();
        let limit = if request.limit == 0 { PAGE_DEFAULT } else { request.limit.min(PAGE_MAX) };
        let before = (request.before > 0).then_some(request.before);
        let query = ReceiptQuery {
            node: Some(request.node).filter(|node| !node.is_empty()),
            page: if request.newest_first {
                Page::NewestFirst { before }
            } else {
                Page::OldestFirst { after: request.after }
            },
            limit: limit as usize,
        };
        let rows = self.engine.receipts(&request.reactor, query).await.map_err(refuse)?;
        let receipts = rows.into_iter().map(answer::receipt).collect();
        Ok(Response::new(v1::ListReceiptsResponse { receipts }))
    }

    async fn get_receipt(
        &self,
        request: Request<v1::GetReceiptRequest>,
    ) -> Answer<v1::GetReceiptResponse> {
        let request = request.into_inner();
        let row = self.engine.receipt(&request.reactor, &request.address).await.map_err(refuse)?;
        Ok(Response::new(v1::GetReceiptResponse { receipt: Some(answer::receipt(row)) }))
    }

    async fn get_head(&self, request: Request<v1::GetHeadRequest>) -> Answer<v1::GetHeadResponse> {
        let head = self.engine.head(&request.into_inner().reactor).await.map_err(refuse)?;
        Ok(Response::new(v1::GetHeadResponse { head: head.into(), keys: self.engine.keys() }))
    }

    async fn get_contents(
        &self,
        request: Request<v1::GetContentsRequest>,
    ) -> Answer<v1::GetContentsResponse> {
        let texts = request.into_inner().addresses;
        if texts.len() > ADDRESSES_MAX {
            return Err(invalid(format!("more than {ADDRESSES_MAX} `addresses` in one call")));
        }
        let mut contents = BTreeMap::new();
        let mut bytes = 0;
        for text in texts {
            let address: Address =
                text.parse().map_err(|error| invalid(format!("`addresses`: {error}")))?;
            let found = self.engine.contents(&[address]).await.map_err(refuse)?;
            for (address, content) in found {
                bytes += content.len();
                contents.insert(address.into(), content.into());
            }
            if bytes >= CONTENTS_BYTES_MAX {
                break;
            }
        }
        Ok(Response::new(v1::GetContentsResponse { contents }))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<v1::Receipt, Status>> + Send>>;

    async fn watch(&self, request: Request<v1::WatchRequest>) -> Answer<Self::WatchStream> {
        let request = request.into_inner();
        let status = self.engine.status(&request.reactor).await.map_err(refuse)?;
        let after = if request.from_now { status.receipts } else { request.after };
        let (sender, receiver) = mpsc::channel(WATCH_BACKLOG);
        let follow = follow(self.engine.clone(), request.reactor, after, sender);
        tokio::spawn(self.stop.clone().run_until_cancelled_owned(follow));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn wait_quiet(
        &self,
        request: Request<v1::WaitQuietRequest>,
    ) -> Answer<v1::WaitQuietResponse> {
        let reactor = request.into_inner().reactor;
        // Whoever waits must not hold up a coordinator that stops.
        let quiet = self.stop.run_until_cancelled(self.engine.wait_quiet(&reactor)).await;
        quiet.ok_or_else(stopping)?.map_err(refuse)?;
        Ok(Response::new(v1::WaitQuietResponse {}))
    }

    async fn retry(&self, request: Request<v1::RetryRequest>) -> Answer<v1::RetryResponse> {
        let request = request.into_inner();
        self.engine.retry(&request.reactor, &request.node).await.map_err(refuse)?;
        Ok(Response::new(v1::RetryResponse {}))
    }

    async fn render(&self, request: Request<v1::RenderRequest>) -> Answer<v1::RenderResponse> {
        let request = request.into_inner();
        self.engine.force(&request.reactor, &request.node).await.map_err(refuse)?;
        Ok(Response::new(v1::RenderResponse {}))
    }

    async fn cancel(&self, request: Request<v1::CancelRequest>) -> Answer<v1::CancelResponse> {
        let request = request.into_inner();
        let receipt = self.engine.cancel(&request.reactor, &request.node).await.map_err(refuse)?;
        Ok(Response::new(v1::CancelResponse { receipt: receipt.into() }))
    }
}

/// Sends receipts after a position as they are written, until the watcher is gone.
async fn follow(
    engine: Arc<Engine>,
    reactor: String,
    mut after: u64,
    sender: mpsc::Sender<Result<v1::Receipt, Status>>,
) {
    let mut changes = engine.changes(&reactor);
    loop {
        // Before the look, so that a change during it is not slept through.
        changes.borrow_and_update();
        let page = Page::OldestFirst { after };
        let query = ReceiptQuery { node: None, page, limit: PAGE_MAX as usize };
        let rows = match engine.receipts(&reactor, query).await {
            Ok(rows) => rows,
            Err(error) => {
                // The watcher may be gone already; then nobody needs to know.
                let _ = sender.send(Err(refuse(error))).await;
                return;
            }
        };
        let more = !rows.is_empty();
        for row in rows {
            after = row.position;
            if sender.send(Ok(answer::receipt(row))).await.is_err() {
                return;
            }
        }
        if !more {
            tokio::select! {
                _ = changes.changed() => {}
                () = sender.closed() => return,
            }
        }
    }
}
