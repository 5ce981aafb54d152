//! The worker: lease, task folder, session, result, commit.
//!
//! A [`Renderer`] turns the lease of a node into the commit that ends it. In between, the harness
//! that the operator chose for the node runs in a task folder. Asking for leases, keeping them and
//! handing commits in is left to the caller.

mod commit;
mod harnesses;
mod renderer;
mod task;

pub use harnesses::{HarnessError, HarnessSpec, Harnesses, JqCommand};
pub use renderer::{RenderOptions, Renderer};
pub use task::{LeaseError, task};

use std::error::Error;

/// The error and its causes in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
