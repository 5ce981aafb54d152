//! The pure core of the run phase: what to skip, what to render, what to wait for.
//!
//! A [`Reactor`] is one mounted graph and the state of its nodes. Every operation is a plain
//! function of that state, the time and the outcome it is told of; it changes the state and hands
//! each decision to a [`Seal`], which turns it into a receipt and answers with its address. There
//! is no clock, no randomness and no I/O here, so the same calls give the same decisions.
//!
//! Time is counted in *waves*: each wake that enters from outside gets the next number, and a
//! truth is a function of the wave. A node renders at a *cut*: a wave at which everything above it
//! is known. `cut` holds that rule, `settle` applies it, `ops` are the operations of the protocol.

mod basis;
mod cut;
mod decision;
mod draft;
mod explain;
mod graph;
mod inbox;
mod ops;
mod pending;
mod policy;
mod reactor;
mod settle;
mod state;

pub use basis::{Basis, CutKind, MemoKey, Pin, Span};
pub use decision::{Cost, Failure, FailureClass, Status, Surprise, WakeSource};
pub use draft::{Draft, Place, Seal};
pub use explain::{Condition, Waiting};
pub use graph::{Graph, GraphError, Input, InputRef, NodeIx, NodeSpec, Role};
pub use inbox::Inbox;
pub use ops::{
    Arrival, Claim, CommitError, EventOutcome, Lease, Outcome, Published, Refused, TopologyTruth,
};
pub use pending::{Cause, CauseKind, Pending};
pub use policy::Policy;
pub use reactor::{Effects, Reactor};
pub use state::{Flight, NodeState, Retry, Version};

/// The number of a wake that entered from outside; rises by one per reactor.
pub type Wave = u64;

/// Unix time in milliseconds. The core only compares and adds.
pub type Millis = i64;
