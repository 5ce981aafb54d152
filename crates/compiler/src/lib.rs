//! Contracts to a manifest: discover, lower, wire, emit, validate.
