//! Standard output, and whether it may be coloured.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::{
    cli::{Common, When},
    error::{Error, Exit},
};

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Whether JSON was asked for.
    pub json: bool,
    /// The colours of standard output.
    pub paint: Paint,
    /// Whether standard error may be coloured.
    pub color_errors: bool,
}

impl Output {
    pub fn new(common: &Common) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |terminal: bool| match common.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !plain,
        };
        Self {
            json: common.json,
            paint: Paint(color(io::stdout().is_terminal())),
            color_errors: color(io::stderr().is_terminal()),
        }
    }

    /// Prints text as it is, with a line end if it has none.
    pub fn text(&self, text: &str) -> Result<(), Error> {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        written(write!(io::stdout().lock(), "{text}{end}"))
    }

    /// Prints one JSON document.
    pub fn document(&self, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(value).map_err(io::Error::from);
        if let Ok(text) = &mut text {
            text.push(b'\n');
        }
        written(text.and_then(|text| io::stdout().lock().write_all(&text)))
    }

    /// Prints one line of JSON lines.
    pub fn line(&self, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_vec(value).map_err(io::Error::from);
        if let Ok(text) = &mut text {
            text.push(b'\n');
        }
        written(text.and_then(|text| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&text)?;
            stdout.flush()
        }))
    }

    /// A remark beside the result, on standard error.
    pub fn note(&self, text: &str) {
        // Nobody to tell is no reason to stop.
        let note = serde_json::json!({ "note": text });
        let text = if self.json { note.to_string() } else { text.to_owned() };
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

fn written(outcome: io::Result<()>) -> Result<(), Error> {
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Error::reader_gone(),
        _ => Error {
            code: "output_unwritable".into(),
            message: format!("the result cannot be written: {error}"),
            help: None,
            exit: Exit::Unable,
        },
    })
}

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn warn(self, text: &str) -> String {
        self.with("33", text)
    }

    /// A receipt's status in its colour.
    pub fn status(self, status: &str) -> String {
        match status {
            "rendered" => self.good(status),
            "skipped" => self.dim(status),
            "failed" => self.bad(status),
            _ => status.to_owned(),
        }
    }
}
