//! How things look: text for people, JSON for programs.

mod bytes;
mod clean;
pub(crate) mod node;
mod output;
pub(crate) mod receipt;
mod table;
mod time;

pub(crate) use bytes::json_or_text;
pub(crate) use clean::{clean, clean_lines};
pub(crate) use output::{Output, Paint};
pub(crate) use table::Table;
pub(crate) use time::{ago, now_millis, span};
