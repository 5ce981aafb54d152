//! What a session prints: read to the end, counted, and only its tail kept.

use std::collections::VecDeque;
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::environment::Redactor;
use crate::limits::TAIL_BYTES;

const CHUNK_BYTES: usize = 64 << 10;
/// Once all writers are dead, the rest of the pipe is there at once.
const REST_WAIT: Duration = Duration::from_millis(200);

/// Reads a session's output in the background.
pub(crate) struct Output {
    tail: Arc<Mutex<Tail>>,
    flooded: CancellationToken,
    reader: JoinHandle<()>,
}

struct Tail {
    bytes: VecDeque<u8>,
    keep: usize,
    cut: bool,
}

impl Output {
    /// Begins to read; `flooded` fires when more than `bytes_max` came.
    pub(crate) fn read(
        pipe: PipeReader,
        bytes_max: u64,
        redactor: &Redactor,
    ) -> std::io::Result<Self> {
        let pipe = Receiver::from_owned_fd(OwnedFd::from(pipe))?;
        let keep = TAIL_BYTES + redactor.longest();
        let tail = Arc::new(Mutex::new(Tail { bytes: VecDeque::new(), keep, cut: false }));
        let flooded = CancellationToken::new();
        let reader = tokio::spawn(drain(pipe, Arc::clone(&tail), bytes_max, flooded.clone()));
        Ok(Self { tail, flooded, reader })
    }

    /// Fires when the session printed more than it may.
    pub(crate) fn flooded(&self) -> &CancellationToken {
        &self.flooded
    }

    /// Takes what came until now; does not wait for somebody who still holds the pipe open.
    pub(crate) async fn finish(mut self, redactor: &Redactor) -> (String, bool) {
        if tokio::time::timeout(REST_WAIT, &mut self.reader).await.is_err() {
            self.reader.abort();
        }
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = tail.cut;
        let redacted = redactor.output(tail.bytes.make_contiguous(), cut);
        let start = redacted.len().saturating_sub(TAIL_BYTES);
        (printable(&redacted[start..]), self.flooded.is_cancelled())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn drain(
    mut pipe: Receiver,
    tail: Arc<Mutex<Tail>>,
    bytes_max: u64,
    flooded: CancellationToken,
) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut total = 0_u64;
    while let Ok(read) = pipe.read(&mut chunk).await
        && read > 0
    {
        total += read as u64;
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..read]);
        if total > bytes_max {
            flooded.cancel();
        }
    }
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend(chunk);
        if self.bytes.len() > self.keep {
            self.cut = true;
            self.bytes.drain(..self.bytes.len() - self.keep);
        }
    }
}

/// Text for logs and terminals: without the control characters that steer one.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}
