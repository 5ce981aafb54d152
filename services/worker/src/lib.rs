//! Render workers.
