//! The pure core: graph, memo, waves; what to skip, run and wait for.
