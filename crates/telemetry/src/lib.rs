//! Logs (later traces and metrics): one call in each main.
