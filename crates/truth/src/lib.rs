//! What a truth is: its tree of files, the JSON document it reads as, the fingerprints that say
//! what moved, and the gate it must pass to be published.
//!
//! Everything here is a function of its arguments: no file, clock or chance is consulted. The
//! crate knows shapes and equality; it does not know nodes, receipts or stores.

mod canonicalizer;
mod document;
mod expression;
mod files;
pub mod gate;
pub mod json;
mod narrow;
mod passthrough;
mod path;
mod tree;

pub use canonicalizer::{Canonicalizer, CanonicalizerError, moved, region, region_key};
pub use document::{DocumentError, TRUTH_FILE, document, files_of};
pub use expression::{Expression, ExpressionError, check_conditions};
pub use files::{Files, Snapshot};
pub use gate::Broken;
pub use narrow::narrow;
pub use passthrough::admit;
pub use path::{PathError, TreePath};
pub use tree::{Entry, Limits, Tree, TreeError, verify};
