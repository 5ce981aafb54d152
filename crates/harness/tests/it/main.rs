//! Sessions through their public doors: good ones, bad ones, and what they leave behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod bad;
mod conformance;
mod folder;
mod isolation;
mod jq;
mod support;
