//! Tools, skills, environment and runtime hints.

use std::collections::BTreeMap;

use prose_contract::{Block, Code, Diagnostic, Prose, SectionKind};
use prose_ir::{Tool, ToolKind};

use super::Unit;
use crate::Host;

/// What a contract declares that its host must offer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capabilities {
    pub(crate) tools: Vec<Tool>,
    pub(crate) skills: Vec<String>,
    pub(crate) environment: Vec<String>,
    pub(crate) runtime: BTreeMap<String, String>,
}

impl Capabilities {
    /// What a called function needs, its caller needs as well.
    pub(crate) fn add(&mut self, other: &Capabilities) {
        self.tools.extend(other.tools.iter().cloned());
        self.skills.extend(other.skills.iter().cloned());
        self.environment.extend(other.environment.iter().cloned());
        self.settle();
    }

    fn settle(&mut self) {
        self.tools.sort();
        self.tools.dedup();
        for list in [&mut self.skills, &mut self.environment] {
            list.sort();
            list.dedup();
        }
    }
}

pub(crate) fn lower(unit: Unit, host: &Host, diagnostics: &mut Vec<Diagnostic>) -> Capabilities {
    let mut found = Capabilities::default();
    for (prose, name) in items(unit, SectionKind::Tools) {
        match tool(name, host) {
            Ok(tool) => found.tools.push(tool),
            Err((code, message)) => {
                diagnostics.push(unit.diagnostic(code, prose.span.clone(), message))
            }
        }
    }
    for (prose, name) in items(unit, SectionKind::Skills) {
        if is_skill(name) && host.has_skill(name) {
            found.skills.push(name.to_owned());
        } else {
            let message = format!(
                "the skill `{name}` is in none of `./skills`, `~/.claude/skills`, `~/.codex/skills`, `~/.agents/skills`"
            );
            let diagnostic = unit.diagnostic(Code::SkillUnresolved, prose.span.clone(), message);
            diagnostics
                .push(diagnostic.help("install it yourself; nothing is ever installed for you"));
        }
    }
    for (prose, name) in items(unit, SectionKind::Environment) {
        if !is_variable(name) {
            let message = format!("`{name}` is no name of an environment variable");
            diagnostics.push(unit.diagnostic(
                Code::EnvironmentInvalid,
                prose.span.clone(),
                message,
            ));
        } else if host.has_variable(name) {
            found.environment.push(name.to_owned());
        } else {
            let message = format!("the environment variable `{name}` is not set");
            diagnostics.push(unit.diagnostic(Code::EnvironmentUnset, prose.span.clone(), message));
        }
    }
    for prose in unit.entry.sections(SectionKind::Runtime).flat_map(|s| s.prose()) {
        if let Some(item) = prose.item() {
            for name in item.names {
                found.runtime.insert(name.to_owned(), item.text.to_owned());
            }
        }
    }
    found.settle();
    found
}

/// The bullets of a section and the name each begins with.
fn items(unit: Unit<'_>, kind: SectionKind) -> impl Iterator<Item = (&Prose, &str)> {
    let blocks = unit.entry.sections(kind).flat_map(|s| &s.blocks);
    blocks.filter_map(|block| {
        let Block::Item { depth: 1, prose } = block else {
            return None;
        };
        let code = prose.codes().find(|(mark, _)| mark.range.start == 0).map(|(_, code)| code);
        let bare = || {
            let word = prose.text.split_whitespace().next().unwrap_or_default();
            let trimmed = word.trim_end_matches([',', ';']);
            // `mcp:mail: text` ends in a colon that is not the tool's; `cli:` is all there is.
            trimmed
                .strip_suffix(':')
                .filter(|name| name.contains(':') || !matches!(*name, "cli" | "mcp"))
                .unwrap_or(trimmed)
        };
        (!Unit::is_none(&prose.text)).then(|| (prose, code.unwrap_or_else(bare)))
    })
}

fn tool(text: &str, host: &Host) -> Result<Tool, (Code, String)> {
    let invalid = |why: &str| (Code::ToolInvalid, format!("`{text}` is no tool: {why}"));
    let (namespace, name) =
        text.split_once(':').ok_or_else(|| invalid("write `cli:<name>` or `mcp:<name>`"))?;
    if name.is_empty() {
        return Err(invalid("the name is missing"));
    }
    if name.contains(['/', '\\'])
        || name.chars().any(char::is_whitespace)
        || name == ".."
        || name == "."
    {
        return Err(invalid("a name holds no path separator"));
    }
    let (kind, there, place) = match namespace {
        "cli" => (ToolKind::Cli, host.has_executable(name), "on `PATH`"),
        "mcp" => (ToolKind::Mcp, host.has_mcp(name), "among the host's MCP servers"),
        "" => return Err(invalid("the namespace is missing")),
        other => {
            return Err((
                Code::ToolUnsupportedKind,
                format!("tools of the kind `{other}` are reserved; `{text}` cannot be looked up"),
            ));
        }
    };
    if there {
        Ok(Tool { kind, name: name.to_owned() })
    } else {
        Err((Code::ToolUnresolved, format!("`{text}` is not {place}")))
    }
}

fn is_skill(name: &str) -> bool {
    name.split(':').count() <= 2
        && name.split(':').all(|part| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        })
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
