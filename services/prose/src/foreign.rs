//! How errors of the crates below are shown.

use std::borrow::Cow;

use crate::error::{Error, Exit, Explain};

impl Explain for prose_compiler::Error {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Empty(_) => "write a contract, or set `source` in prose.toml".into(),
            Self::Root { .. } => "check `source` in prose.toml".into(),
            Self::Read { .. } | Self::Json { .. } => "run `prose compile` to write it anew".into(),
            _ => return None,
        })
    }
}

impl Explain for prose_store::Error {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }
}

impl Explain for prose_ledger::KeyError {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }
}

impl Explain for prose_ledger::ReceiptError {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }

    fn exit(&self) -> Exit {
        Exit::Failed
    }
}

impl Explain for prose_render::HarnessError {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }

    fn help(&self) -> Option<String> {
        Some("mend it, or name another in prose.toml".into())
    }
}

impl Explain for prose_telemetry::Error {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }
}

impl Explain for prose_api::Fault {
    fn code(&self) -> Cow<'static, str> {
        self.code.clone().into()
    }

    fn help(&self) -> Option<String> {
        Some(self.help.clone())
    }

    fn exit(&self) -> Exit {
        if self.code == prose_api::code::INTERNAL { Exit::Failed } else { Exit::Unable }
    }
}

impl From<tonic::Status> for Error {
    fn from(status: tonic::Status) -> Self {
        prose_api::fault(&status).into()
    }
}

impl Explain for prose_engine::Error {
    fn code(&self) -> Cow<'static, str> {
        self.code().into()
    }
}
