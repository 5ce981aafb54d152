//! Taking in a feed, in batches.

use std::time::{Duration, Instant};

use prose_api::{Fault, Prose, v1};
use tokio::sync::mpsc::Receiver;

use super::progress::Progress;
use crate::{
    error::Error,
    feed::{self, Line, Source},
    show::Output,
};

/// Events that go in together.
const BATCH: u64 = 100;

/// Bytes of events that go in together, well below what a message may have.
const BATCH_BYTES: usize = 16 << 20;

/// How long a batch from standard input waits for its next line.
const IDLE: Duration = Duration::from_millis(50);

/// How long a coordinator that cannot take anything in, as on a full disk, is asked again.
const RETRY_FOR: Duration = Duration::from_secs(600);
const RETRY_PAUSE: Duration = Duration::from_millis(200);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(5);

/// What was taken in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Intake {
    /// Events whose key was new.
    pub new: u64,
    /// Events whose key had been seen before.
    pub repeated: u64,
}

/// Taking in one feed.
pub(super) struct Ingest<'a> {
    pub client: Prose,
    pub reactor: String,
    pub settle_every: Option<u64>,
    pub source: Source,
    pub output: Output,
    pub progress: &'a Progress,
}

impl Ingest<'_> {
    /// Takes in everything up to the feed's end or its first bad line.
    pub async fn run(
        mut self,
        lines: &mut Receiver<Result<Line, feed::Error>>,
    ) -> (Intake, Option<Error>) {
        let mut intake = Intake::default();
        let mut until_settle = self.settle_every;
        loop {
            let (batch, end) = self.batch(lines, until_settle.unwrap_or(BATCH).min(BATCH)).await;
            let count = batch.len() as u64;
            if let Err(error) = self.send(batch, &mut intake).await {
                return (intake, Some(error));
            }
            if let Some(left) = &mut until_settle {
                *left -= count;
                if *left == 0 {
                    if let Err(error) = self.settle().await {
                        return (intake, Some(error));
                    }
                    until_settle = self.settle_every;
                }
            }
            match end {
                End::Open => {}
                End::Reached => return (intake, None),
                End::Bad(error) => return (intake, Some(error.into())),
            }
        }
    }

    /// The next lines, at most `max`, and whether more may follow. A file is cut in batches of the
    /// same lines each time; from standard input a batch is what has come.
    async fn batch(
        &self,
        lines: &mut Receiver<Result<Line, feed::Error>>,
        max: u64,
    ) -> (Vec<Line>, End) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while (batch.len() as u64) < max && bytes < BATCH_BYTES {
            let next = if self.source == Source::Stdin && !batch.is_empty() {
                match tokio::time::timeout(IDLE, lines.recv()).await {
                    Ok(next) => next,
                    Err(_) => break,
                }
            } else {
                lines.recv().await
            };
            match next {
                Some(Ok(line)) => {
                    bytes += line.event.len();
                    batch.push(line);
                }
                Some(Err(error)) => return (batch, End::Bad(error)),
                None => return (batch, End::Reached),
            }
        }
        (batch, End::Open)
    }

    async fn send(&mut self, batch: Vec<Line>, intake: &mut Intake) -> Result<(), Error> {
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
        let place = format!("{}:{}-{}", self.source.shown(), first.number, last.number);
        let count = batch.len() as u64;
        let event = |line: Line| v1::Event {
            gateway: line.gateway,
            event: line.event.into(),
            key: line.key,
        };
        let request = v1::IngestRequest {
            reactor: self.reactor.clone(),
            events: batch.into_iter().map(event).collect(),
        };
        let answer = self.ask(request).await.map_err(|fault| Error::from(fault).at(&place))?;
        let repeated = answer.outcomes.iter().filter(|outcome| outcome.repeated).count() as u64;
        intake.repeated += repeated;
        intake.new += count - repeated;
        self.progress.events(count);
        Ok(())
    }

    /// Asks again while the coordinator says that this may help.
    async fn ask(&mut self, request: v1::IngestRequest) -> Result<v1::IngestResponse, Fault> {
        let (begin, mut pause, mut told) = (Instant::now(), RETRY_PAUSE, false);
        loop {
            let fault = match self.client.ingest(request.clone()).await {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) => prose_api::fault(&status),
            };
            if !fault.retryable || begin.elapsed() > RETRY_FOR {
                return Err(fault);
            }
            if !told {
                self.output.note(&format!("waiting, because {}", fault.message));
                told = true;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY_PAUSE_MAX);
        }
    }

    async fn settle(&mut self) -> Result<(), Error> {
        let request = v1::WaitQuietRequest { reactor: self.reactor.clone() };
        self.client.wait_quiet(request).await?;
        Ok(())
    }
}

/// How a batch ended.
enum End {
    Open,
    Reached,
    Bad(feed::Error),
}
