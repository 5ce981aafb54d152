//! The worker: claim, task folder, session, result, commit.
