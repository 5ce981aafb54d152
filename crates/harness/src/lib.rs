//! Sessions: the task folder and the adapters that run in it.
