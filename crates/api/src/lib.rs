//! The gRPC API: generated messages, conversions and the client.
