//! The shell around the pure core: one operation, one transaction.
