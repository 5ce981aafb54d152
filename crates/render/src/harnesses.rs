//! Which harness renders which node.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use prose_harness::{Command, Harness, Jq, jq::ProgramError};

use crate::chain;

/// A program is a page or two. A wrong path must not fill the memory, nor be waited for.
const JQ_BYTES_MAX: u64 = 1 << 20;

/// One kind of session for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HarnessSpec {
    /// Any program that speaks the task folder.
    Command {
        /// A bare name is looked up on the session's `PATH`.
        program: String,
        /// Passed as they are.
        args: Vec<String>,
        /// The model it uses, for receipts.
        model: Option<String>,
        /// What a relative path to the program starts at.
        base: PathBuf,
    },
    /// A jq program.
    Jq {
        /// The file it stands in; read once, when the renderer is made.
        program: PathBuf,
    },
}

/// How a jq session is started: `executable args... FILE` has to call
/// [`prose_harness::jq::main`] with `FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JqCommand {
    /// The executable.
    pub executable: PathBuf,
    /// What stands before the file.
    pub args: Vec<String>,
}

/// Which harness renders which node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harnesses {
    /// For nodes that are not named.
    pub default: Option<HarnessSpec>,
    /// By node.
    pub nodes: BTreeMap<String, HarnessSpec>,
    /// How jq sessions are started.
    pub jq: JqCommand,
}

/// Why a configured harness cannot run.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The file of a jq program cannot be read.
    #[error("cannot read the jq program {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else than a jq program, by its kind or size.
    #[error("{} is no file of at most {JQ_BYTES_MAX} bytes, as a jq program is", path.display())]
    NoProgram {
        /// What was found there.
        path: PathBuf,
    },
    /// A file holds no jq program.
    #[error("{} is no jq program", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ProgramError,
    },
}

impl HarnessError {
    /// The stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "jq_program_unreadable",
            Self::NoProgram { .. } | Self::Program { .. } => "jq_program_invalid",
        }
    }
}

impl Harnesses {
    /// Tries every harness that is configured, so that a mistake shows before a node wakes.
    ///
    /// # Errors
    /// The first one that cannot run. Whether programs exist is known only when they start.
    pub fn check(&self) -> Result<(), HarnessError> {
        self.default.iter().chain(self.nodes.values()).try_for_each(|spec| {
            self.make(spec)?;
            Ok(())
        })
    }

    fn make(&self, spec: &HarnessSpec) -> Result<Arc<dyn Harness>, HarnessError> {
        match spec {
            HarnessSpec::Command { program, args, model, base } => Ok(Arc::new(Command {
                program: program.into(),
                args: os(args),
                base: base.clone(),
                model: model.clone(),
            })),
            HarnessSpec::Jq { program } => Ok(Arc::new(self.jq(program)?)),
        }
    }

    fn jq(&self, path: &Path) -> Result<Jq, HarnessError> {
        let unreadable = |source| HarnessError::Unreadable { path: path.to_owned(), source };
        let found = fs::metadata(path).map_err(unreadable)?;
        if !found.is_file() || found.len() > JQ_BYTES_MAX {
            return Err(HarnessError::NoProgram { path: path.to_owned() });
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Jq::new(self.jq.executable.clone(), os(&self.jq.args), text)
            .map_err(|source| HarnessError::Program { path: path.to_owned(), source })
    }
}

fn os(args: &[String]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

/// The harnesses, ready to run. One that is not says why to each render that asks for it.
pub(crate) struct Ready {
    default: Option<Made>,
    nodes: BTreeMap<String, Made>,
}

type Made = Result<Arc<dyn Harness>, String>;

impl Ready {
    pub(crate) fn new(harnesses: &Harnesses) -> Self {
        let make = |spec| harnesses.make(spec).map_err(|error| chain(&error));
        let nodes = harnesses.nodes.iter();
        Self {
            default: harnesses.default.as_ref().map(make),
            nodes: nodes.map(|(node, spec)| (node.clone(), make(spec))).collect(),
        }
    }

    /// The harness of `node`, or why there is none.
    pub(crate) fn of(&self, node: &str) -> Made {
        let made = self.nodes.get(node).or(self.default.as_ref());
        made.cloned().unwrap_or_else(|| {
            let advice = format!("add [nodes.{node}] to prose.toml");
            Err(format!("no harness is configured for node `{node}`; {advice}"))
        })
    }
}
