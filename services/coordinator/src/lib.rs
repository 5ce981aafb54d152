//! The gRPC server, the clock and the outbox relay.
