//! `prose compile`

use prose_compiler::{Compilation, Host};
use prose_contract::{Diagnostic, Severity};
use serde_json::json;

use super::Context;
use crate::{
    cli::Folder,
    error::{Error, Exit},
    project::Project,
    show::{Output, clean_lines},
};

pub(super) fn run(context: &Context, folder: &Folder) -> Result<Exit, Error> {
    let project = context.project(folder.dir.as_ref())?;
    let compilation = compile(&project)?;
    write(&project, &compilation)?;
    let output = context.output;
    if output.json {
        output.document(&document(&project, &compilation))?;
    } else {
        show_diagnostics(output, &compilation);
        output.text(&summary(&compilation))?;
    }
    Ok(if compilation.bundle.is_some() { Exit::Fine } else { Exit::Failed })
}

/// Compiles a project on this host.
pub(crate) fn compile(project: &Project) -> Result<Compilation, Error> {
    let home = std::env::home_dir();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let host = Host::new(std::env::var_os("PATH").as_deref(), home.as_deref(), names);
    Ok(prose_compiler::compile(&project.source(), &host)?)
}

/// Writes what may be mounted to `dist/`; while there are errors that is nothing.
pub(crate) fn write(project: &Project, compilation: &Compilation) -> Result<(), Error> {
    if let Some(bundle) = &compilation.bundle {
        prose_compiler::write(bundle, &project.dist())?;
    }
    Ok(())
}

/// Draws the diagnostics on standard error.
pub(crate) fn show_diagnostics(output: Output, compilation: &Compilation) {
    for diagnostic in &compilation.diagnostics {
        output.note(&draw(output, compilation, diagnostic));
    }
}

/// The sources are strangers' text, so they are cleaned before the drawing colours them: byte by
/// byte of equal length, because the spans count bytes.
fn draw(output: Output, compilation: &Compilation, diagnostic: &Diagnostic) -> String {
    let source = compilation.sources.get(&diagnostic.path).map_or("", String::as_str);
    let source: String = source
        .chars()
        .map(
            |c| if c.is_control() && c != '\n' && c != '\t' && c.len_utf8() == 1 { '?' } else { c },
        )
        .collect();
    let mut diagnostic = diagnostic.clone();
    diagnostic.message = clean_lines(&diagnostic.message);
    diagnostic.help = diagnostic.help.as_deref().map(clean_lines);
    prose_contract::render(&diagnostic, &source, output.color_errors) + "\n"
}

fn summary(compilation: &Compilation) -> String {
    let count =
        |severity| compilation.diagnostics.iter().filter(|d| d.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let remarks = match (errors, warnings) {
        (0, 0) => String::new(),
        (0, warnings) => format!(", {}", plural(warnings, "warning")),
        (errors, warnings) => {
            format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"))
        }
    };
    if compilation.bundle.is_none() {
        return format!("{remarks}; dist/ is as it was");
    }
    let topology = compilation.topology();
    format!(
        "{} and {} written to dist/{remarks}",
        plural(topology.nodes.len(), "node"),
        plural(topology.edges.len(), "subscription"),
    )
}

/// A number with its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn document(project: &Project, compilation: &Compilation) -> serde_json::Value {
    json!({
        "written": compilation.bundle.is_some(),
        "manifest": compilation.bundle.as_ref()
            .map(|_| project.dist().join(prose_compiler::MANIFEST_NEXT)),
        "nodes": compilation.topology().nodes,
        "edges": compilation.topology().edges,
        "diagnostics": compilation.diagnostics,
    })
}
