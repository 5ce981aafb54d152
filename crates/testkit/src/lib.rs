//! Helpers for tests only.
