//! Messages: the [`Bus`] trait, the names of its [`subject`]s, and its in-process implementation.
//!
//! A bus delivers and promises nothing else. It carries ids, never bodies, and settles nothing:
//! whatever it loses, repeats or delays, the store decides what is true.

mod bus;
#[cfg(feature = "test-util")]
pub mod conformance;
mod error;
mod in_process;
pub mod subject;

pub use bus::{Bus, Delivery, Message, Notice, Puller, Subscription};
pub use error::Error;
pub use in_process::{InProcessBus, Limits};
pub use subject::{Filter, Subject};
