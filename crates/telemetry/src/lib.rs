//! Logs (later traces and metrics): one call in each main.
//!
//! Nothing here reads the environment or a file: what an operator chose arrives in [`Options`].

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// How a line is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// What an operator decides about logs.
#[derive(Debug, Clone)]
pub struct Options {
    /// How a line is written.
    pub format: Format,
    /// What is logged, in the syntax of `tracing`: `info`, or `warn,prose_engine=debug`.
    pub filter: String,
    /// Whether text is coloured; `None` colours it when standard error is a terminal.
    pub ansi: Option<bool>,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: Format::Text, filter: "info".into(), ansi: None }
    }
}

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The filter is not in the syntax of `tracing`.
    #[error("cannot read the log filter `{filter}`")]
    Filter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Logging was set up before in this process.
    #[error("logging is already set up")]
    Again(#[source] tracing_subscriber::util::TryInitError),
}

impl Error {
    /// The stable code, for users and for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Filter { .. } => "log_filter_malformed",
            Self::Again(_) => "log_set_up_twice",
        }
    }
}

/// Sends the logs of this process to standard error, from now on; once per process. Standard
/// output stays free for results.
pub fn init(options: &Options) -> Result<(), Error> {
    let filter = EnvFilter::builder()
        .parse(&options.filter)
        .map_err(|source| Error::Filter { filter: options.filter.clone(), source })?;
    let lines = fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match options.format {
        Format::Json => registry.with(lines.json().flatten_event(true)).try_init(),
        Format::Text => {
            let ansi = options.ansi.unwrap_or_else(|| std::io::stderr().is_terminal());
            registry.with(lines.with_ansi(ansi)).try_init()
        }
    }
    .map_err(Error::Again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_filter_is_named_and_a_second_call_refused() {
        let bad = Options { filter: "info,prose=loud".into(), ..Options::default() };
        let error = init(&bad).unwrap_err();
        assert_eq!(error.code(), "log_filter_malformed");
        assert!(error.to_string().contains("prose=loud"), "{error}");
        init(&Options::default()).unwrap();
        let json = Options { format: Format::Json, ..Options::default() };
        assert_eq!(init(&json).unwrap_err().code(), "log_set_up_twice");
    }
}
