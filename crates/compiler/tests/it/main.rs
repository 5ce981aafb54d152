//! The compiler through its public doors.

mod corpus;
mod malformed;
mod support;
