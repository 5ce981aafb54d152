//! Settles identities and kinds, and checks what one file can be checked for by itself.

use std::collections::BTreeSet;

use crate::{
    Block, Code, Entry, File, Kind, Lines, Prose, Section, SectionKind, Severity, Spanned,
    diagnostic::Report,
    frontmatter::Front,
    id::{self, Verdict},
    markdown::Body,
};

/// The facet that every node has.
const ATOMIC: &str = "@atomic";

/// The file, but for its line starts: those stay with the report until nothing is left to report.
pub(crate) fn finish(
    path: &str,
    text: &str,
    front: Front,
    body: Body,
    report: &mut Report,
) -> File {
    let frontmatter = front.frontmatter;
    let kind = kind(frontmatter.kind.as_ref(), report);
    let name = name(frontmatter.name.as_ref(), body.title.as_ref(), report);
    let id = frontmatter.id.as_ref().and_then(|id| identity(id, report));
    let entry = Entry { name, kind, inline: false, sections: body.own, span: 0..text.len() };
    check(&entry, report);
    let mut ends: Vec<usize> = body.inline.iter().skip(1).map(|(h, _)| h.span.start).collect();
    ends.push(text.len());
    let mut inline = Vec::with_capacity(body.inline.len());
    for ((heading, sections), end) in body.inline.into_iter().zip(ends) {
        let entry = inline_entry(heading, sections, end);
        check(&entry, report);
        inline.push(entry);
    }
    File {
        path: path.to_owned(),
        frontmatter,
        id,
        title: body.title,
        entry,
        inline,
        lines: Lines::default(),
    }
}

fn kind(kind: Option<&Spanned<String>>, report: &mut Report) -> Option<Kind> {
    let Some(kind) = kind else {
        report.add(Code::KindMissing, 0..3, "the frontmatter names no `kind`").help =
            Some(KINDS.into());
        return None;
    };
    let parsed = Kind::parse(&kind.value);
    let successor = match kind.value.as_str() {
        "system" => "compose with `call` in `### Execution` and needs in `### Requires`",
        "service" => "write `kind: function`",
        _ => {
            if parsed.is_none() {
                let message = format!("`{}` is no kind of contract", kind.value);
                report.add(Code::KindUnknown, kind.span.clone(), message).help = Some(KINDS.into());
            }
            return parsed;
        }
    };
    let message = format!("the kind `{}` is retired", kind.value);
    report.add(Code::KindRetired, kind.span.clone(), message).help = Some(successor.into());
    None
}

const KINDS: &str = "write `kind: responsibility`, `function`, `gateway`, `pattern` or `test`";

fn name(
    name: Option<&Spanned<String>>,
    title: Option<&Prose>,
    report: &mut Report,
) -> Spanned<String> {
    if let Some(name) = name.filter(|n| !n.value.trim().is_empty()) {
        check_name(name, report);
        return name.clone();
    }
    let slug = title.map(|title| slug(&title.text)).unwrap_or_default();
    if slug.is_empty() {
        report.add(Code::NameMissing, 0..3, "the contract has no name").help =
            Some("add `name:` to the frontmatter".into());
    } else {
        let message = format!("no `name` is given; `{slug}` was taken from the title");
        report.add(Code::NameFromTitle, 0..3, message).help =
            Some(format!("add `name: {slug}` to the frontmatter"));
    }
    Spanned { value: slug, span: 0..3 }
}

/// A name ends up in paths and subjects, so it must be one plain segment.
fn check_name(name: &Spanned<String>, report: &mut Report) {
    if is_segment(&name.value) {
        return;
    }
    let message = format!("`{}` is no name: lower-case letters, digits and hyphens", name.value);
    let suggestion = slug(&name.value);
    report.add(Code::NameInvalid, name.span.clone(), message).help =
        (!suggestion.is_empty()).then(|| format!("write `{suggestion}`"));
}

fn is_segment(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// A title as a name: words joined by hyphens, without a mount parameter in brackets.
fn slug(title: &str) -> String {
    let title = title.split('[').next().unwrap_or_default();
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

fn identity(id: &Spanned<String>, report: &mut Report) -> Option<String> {
    match id::judge(&id.value) {
        Verdict::Valid => return Some(id.value.clone()),
        Verdict::Mistyped => {
            let message = format!(
                "`{}` is a mistyped id: 26 characters of upper-case Crockford base32 are due",
                id.value
            );
            report.add(Code::IdInvalid, id.span.clone(), message).help =
                Some("copy the id as it was minted; it has no I, L, O or U".into());
        }
        Verdict::Foreign => {
            let message = format!(
                "`{}` was never minted as an id and is ignored; the name is the identity",
                id.value
            );
            let found = report.add(Code::IdInvalid, id.span.clone(), message);
            found.severity = Severity::Warning;
            found.help = Some("drop the line, or mint an id".into());
        }
    }
    None
}

fn inline_entry(heading: Prose, sections: Vec<Section>, end: usize) -> Entry {
    let has = |kind| sections.iter().any(|s: &Section| s.kind == kind);
    let kind = if has(SectionKind::Maintains) {
        Some(Kind::Responsibility)
    } else if has(SectionKind::Parameters) || has(SectionKind::Returns) {
        Some(Kind::Function)
    } else {
        None
    };
    let span = heading.span.start..end.max(heading.span.end);
    Entry {
        name: Spanned { value: heading.text, span: heading.span },
        kind,
        inline: true,
        sections,
        span,
    }
}

fn check(entry: &Entry, report: &mut Report) {
    if entry.inline && entry.kind.is_some_and(Kind::is_node) {
        check_name(&entry.name, report);
    }
    for section in &entry.sections {
        allowed(entry.kind, section, report);
        if let Some(successor) = section.kind.successor() {
            let message = format!("`### {}` is retired", section.kind.as_str());
            report.add(Code::SectionRetired, section.heading.span.clone(), message).help =
                Some(format!("its place is taken by {successor}"));
        }
    }
    let older = [SectionKind::Ensures, SectionKind::Criteria, SectionKind::Memory];
    if entry.kind == Some(Kind::Responsibility)
        && !entry.has(SectionKind::Maintains)
        && !older.into_iter().any(|kind| entry.has(kind))
    {
        report
            .add(
                Code::MaintainsMissing,
                0..3,
                "a responsibility maintains a truth, and this one declares none",
            )
            .help = Some("add `### Maintains`, or make it a function".into());
    }
    if entry.kind.is_some_and(Kind::is_node) {
        facets(entry, report);
    }
}

fn allowed(kind: Option<Kind>, section: &Section, report: &mut Report) {
    let why = match (kind, section.kind) {
        (Some(Kind::Gateway), SectionKind::Requires) => {
            "a gateway's input comes from outside the graph"
        }
        (Some(Kind::Function), SectionKind::Maintains) => "a function keeps no truth",
        (Some(Kind::Function), SectionKind::Continuity) => "a function is called, not woken",
        _ => return,
    };
    let message = format!("`### {}` is not allowed here: {why}", section.kind.as_str());
    report.add(Code::SectionNotAllowed, section.heading.span.clone(), message);
}

fn facets(entry: &Entry, report: &mut Report) {
    let mut seen = BTreeSet::new();
    let blocks = entry.sections(SectionKind::Maintains).flat_map(|s| &s.blocks);
    for block in blocks {
        let Block::Heading { level: 4, prose } = block else {
            continue;
        };
        let name = prose.text.as_str();
        let span = prose.span.clone();
        if name == ATOMIC {
            let message = "`@atomic` is the whole truth; every node has it without declaring it";
            report.add(Code::FacetReserved, span, message).help =
                Some("give the part a name of its own".into());
        } else if name.is_empty() || name.starts_with('@') || name.contains('/') {
            let message = format!("`{name}` cannot be the name of a facet");
            report.add(Code::FacetInvalid, span, message);
        } else if !seen.insert(region(name)) {
            let message = format!("the facet `{name}` is declared twice");
            report.add(Code::FacetDuplicate, span, message);
        }
    }
}

/// The key under which a facet's part of the truth stands; members of a family share theirs.
fn region(facet: &str) -> &str {
    match facet.split_once(":<") {
        Some((family, _)) if facet.ends_with('>') => family,
        _ => facet,
    }
}
