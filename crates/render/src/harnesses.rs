//! Which harness renders which node, as the operator has decided.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use prose_harness::{Command, Harness, Jq};

use crate::Verdict;

/// A program is a page or two; this keeps a wrong path from filling the memory.
const JQ_BYTES_MAX: u64 = 1 << 20;

/// One kind of session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HarnessSpec {
    /// A program that speaks the task folder.
    Command {
        /// A bare name is looked up on `PATH`; a relative path starts at `base`.
        program: String,
        /// Passed as they are.
        args: Vec<String>,
        /// The model it uses, for receipts.
        model: Option<String>,
        /// What relative paths are relative to.
        base: PathBuf,
    },
    /// A jq program that computes the truth.
    Jq {
        /// The file, read anew for each session.
        program: PathBuf,
    },
}

/// How to start a jq session: the program that calls `prose_harness::jq::main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JqCommand {
    /// The program.
    pub executable: PathBuf,
    /// Its arguments before the file of the jq program.
    pub args: Vec<String>,
}

/// Harnesses by node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harnesses {
    /// For nodes that are not listed.
    pub default: Option<HarnessSpec>,
    /// By node.
    pub nodes: BTreeMap<String, HarnessSpec>,
    /// How to start a jq session.
    pub jq: JqCommand,
}

impl Harnesses {
    /// The harness of a node, or the infrastructure failure that says why there is none.
    pub(crate) fn find(&self, node: &str) -> Result<Box<dyn Harness>, Verdict> {
        match self.nodes.get(node).or(self.default.as_ref()) {
            Some(HarnessSpec::Command { program, args, model, base }) => Ok(Box::new(Command {
                program: program.into(),
                args: args.iter().map(Into::into).collect(),
                base: base.clone(),
                model: model.clone(),
            })),
            Some(HarnessSpec::Jq { program }) => self.jq(program),
            None => {
                let reason = format!(
                    "no harness is configured for node `{node}`; add [nodes.{node}] or a default \
                     to prose.toml"
                );
                Err(Verdict::infrastructure("harness_missing", reason))
            }
        }
    }

    fn jq(&self, program: &Path) -> Result<Box<dyn Harness>, Verdict> {
        let unusable = |why: String| {
            let reason = format!("the jq program {}: {why}", program.display());
            Verdict::infrastructure("jq_program_unusable", reason)
        };
        let size = std::fs::metadata(program).map_err(|e| unusable(e.to_string()))?.len();
        if size > JQ_BYTES_MAX {
            return Err(unusable(format!("{size} bytes are more than {JQ_BYTES_MAX}")));
        }
        let text = std::fs::read_to_string(program).map_err(|e| unusable(e.to_string()))?;
        let JqCommand { executable, args } = &self.jq;
        let args = args.iter().map(Into::into).collect();
        let jq = Jq::new(executable.clone(), args, text).map_err(|e| unusable(e.to_string()))?;
        Ok(Box::new(jq))
    }
}
