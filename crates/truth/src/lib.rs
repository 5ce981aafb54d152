//! Truth trees, canonical JSON, the canonicalizer and the commit gate.
