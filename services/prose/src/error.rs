//! What people are told when a command cannot do its work: one form, rendered in one place.

use std::{borrow::Cow, fmt::Write as _, process::ExitCode};

use serde_json::json;

use crate::show::clean;

/// How a command ends. The numbers are promised to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is fine.
    Fine,
    /// The work failed: contracts with errors, a node whose last receipt failed, a finding.
    Failed,
    /// The command could not be carried out: usage, environment, bad input.
    Unable,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Unable => 2,
        })
    }
}

/// An error that can be shown: every error type of this program, and of the crates below.
pub(crate) trait Explain: std::error::Error {
    /// Stable, snake_case.
    fn code(&self) -> Cow<'static, str>;

    /// One sentence of what to do, where there is one.
    fn help(&self) -> Option<String> {
        None
    }

    /// How the command ends.
    fn exit(&self) -> Exit {
        Exit::Unable
    }
}

/// An error on its way to the person.
#[derive(Debug)]
pub(crate) struct Error {
    pub code: Cow<'static, str>,
    pub message: String,
    pub help: Option<String>,
    pub exit: Exit,
}

impl Error {
    /// Whoever read our output has gone, as `head` does: no error, and nobody to tell.
    pub fn reader_gone() -> Self {
        let message = String::new();
        Self { code: "".into(), message, help: None, exit: Exit::Fine }
    }

    /// The same error, with the place it happened at before the message.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Says it on standard error.
    pub fn report(&self, as_json: bool, color: bool) {
        if !self.message.is_empty() {
            eprint!("{}", self.render(as_json, color));
        }
    }

    fn render(&self, as_json: bool, color: bool) -> String {
        if as_json {
            let error = json!({"code": self.code, "message": self.message, "help": self.help});
            return format!("{}\n", json!({ "error": error }));
        }
        let (red, cyan, off) =
            if color { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { Default::default() };
        let mut text = format!("{red}error[{}]{off}: {}\n", self.code, clean(&self.message));
        if let Some(help) = &self.help {
            let _ = writeln!(text, "{cyan}help{off}: {}", clean(help));
        }
        text
    }
}

impl<E: Explain> From<E> for Error {
    fn from(error: E) -> Self {
        let help = error.help().filter(|help| !help.is_empty());
        Self { code: error.code(), message: chain(&error), help, exit: error.exit() }
    }
}

/// An error and its causes in one line. A cause that its error quotes already is left out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            let _ = write!(text, ": {next}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_text_for_people_and_json_for_programs() {
        let error = Error {
            code: "folder_missing".into(),
            message: "x\x1b[2J is not there".into(),
            help: Some("look elsewhere".into()),
            exit: Exit::Unable,
        };
        let text = error.render(false, false);
        assert_eq!(
            text,
            "error[folder_missing]: x\u{fffd}[2J is not there\nhelp: look elsewhere\n"
        );
        let json: serde_json::Value = serde_json::from_str(&error.render(true, true)).unwrap();
        assert_eq!(json["error"]["code"], "folder_missing");
    }
}
