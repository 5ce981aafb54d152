//! Progress on long work, on terminals only.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);

/// One changing line on standard error. It is hidden where that is no terminal, and where receipts
/// are shown as they come.
#[derive(Clone)]
pub(super) struct Progress {
    bar: ProgressBar,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    events: AtomicU64,
    receipts: AtomicU64,
}

impl Progress {
    pub fn new(shown: bool) -> Self {
        let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if !bar.is_hidden() {
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})")
            {
                bar.set_style(style);
            }
            bar.set_prefix("taking in");
            bar.enable_steady_tick(TICK);
        }
        Self { bar, counts: Arc::default() }
    }

    pub fn events(&self, more: u64) {
        self.counts.events.fetch_add(more, Ordering::Relaxed);
        self.show();
    }

    pub fn receipt(&self) {
        self.counts.receipts.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    pub fn settling(&self) {
        self.bar.set_prefix("settling");
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        if !self.bar.is_hidden() {
            let events = self.counts.events.load(Ordering::Relaxed);
            let receipts = self.counts.receipts.load(Ordering::Relaxed);
            self.bar.set_message(format!("{events} events, {receipts} receipts"));
        }
    }
}
