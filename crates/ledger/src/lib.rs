//! Receipts: address, chain, signature, verification, projections.
