//! From the configuration to what workers render with.

use std::collections::BTreeMap;

use prose_render::{HarnessSpec, Harnesses, JqCommand};

use crate::{
    config::{self, Harness},
    error::{Error, Exit},
    project::Project,
};

/// The harnesses of a project, as far as can be known fit to run. A `jq` session is this program again.
pub(super) fn harnesses(project: &Project) -> Result<Harnesses, Error> {
    let executable = std::env::current_exe().map_err(|error| Error {
        code: "program_unknown".into(),
        message: format!("the system does not say where this program is: {error}"),
        help: None,
        exit: Exit::Unable,
    })?;
    let config::Harnesses { default, nodes } = &project.config.harnesses;
    let spec = |harness: &Harness| spec(project, harness);
    let harnesses = Harnesses {
        default: default.as_ref().map(spec),
        nodes: nodes
            .iter()
            .map(|(node, harness)| (node.clone(), spec(harness)))
            .collect::<BTreeMap<_, _>>(),
        jq: JqCommand { executable, args: vec!["session".into(), "jq".into()] },
    };
    harnesses.check()?;
    Ok(harnesses)
}

fn spec(project: &Project, harness: &Harness) -> HarnessSpec {
    match harness {
        Harness::Command { program, args, model } => HarnessSpec::Command {
            program: program.clone(),
            args: args.clone(),
            model: model.clone(),
            base: project.root.clone(),
        },
        Harness::Jq { program } => HarnessSpec::Jq { program: project.root.join(program) },
    }
}
