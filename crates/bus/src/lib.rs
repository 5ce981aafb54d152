//! Messages: the Bus trait and its in-process implementation.
