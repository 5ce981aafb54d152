//! Markdown events to titles, entries, sections and blocks.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::{Block, Code, Fence, Prose, Section, SectionKind, diagnostic::Report, prose::Builder};

/// The body of a file before identities and kinds are settled.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) title: Option<Prose>,
    pub(crate) own: Vec<Section>,
    /// Where the first `##` begins, if any.
    pub(crate) own_end: Option<usize>,
    pub(crate) inline: Vec<(Prose, Vec<Section>)>,
}

/// Reads the body, which begins at byte `start` of `text`.
pub(crate) fn read(text: &str, start: usize, report: &mut Report) -> Body {
    let mut reader = Reader {
        text,
        base: start,
        report,
        body: Body::default(),
        open: None,
        items: 0,
        fence: None,
    };
    for (event, range) in Parser::new_ext(&text[start..], Options::empty()).into_offset_iter() {
        reader.event(event, range.start + start..range.end + start);
    }
    reader.close();
    reader.body
}

/// The block that is being read.
struct Open {
    kind: OpenKind,
    builder: Builder,
}

#[derive(Clone, Copy)]
enum OpenKind {
    Heading(u8),
    Paragraph,
    Item(usize),
}

struct Reader<'t, 'r, 'p> {
    text: &'t str,
    base: usize,
    report: &'r mut Report<'p>,
    body: Body,
    open: Option<Open>,
    items: usize,
    fence: Option<Fence>,
}

impl Reader<'_, '_, '_> {
    fn event(&mut self, event: Event, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => match &mut self.fence {
                Some(fence) => {
                    if fence.body.is_empty() {
                        fence.body_start = range.start;
                    }
                    fence.body.push_str(&text);
                }
                None => self.builder(&range).text(&text),
            },
            Event::Code(code) => self.builder(&range).code(&code),
            Event::SoftBreak | Event::HardBreak => self.builder(&range).space(),
            // Anything but a comment is what an author meant as text, such as `<login>`.
            Event::Html(html) | Event::InlineHtml(html)
                if !html.trim_start().starts_with("<!--") && !self.in_comment(&range) =>
            {
                self.builder(&range).text(&html);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.close();
                // A line of text over a line of dashes is no heading here.
                let atx = self.text[range.clone()].trim_start().starts_with('#');
                let kind = if atx { OpenKind::Heading(depth(level)) } else { OpenKind::Paragraph };
                self.begin(kind, range);
            }
            Tag::Paragraph => match &mut self.open {
                Some(open) if matches!(open.kind, OpenKind::Item(_)) => open.builder.space(),
                _ => {
                    self.close();
                    self.begin(OpenKind::Paragraph, range);
                }
            },
            Tag::Item => {
                self.close();
                self.items += 1;
                let first_line = self.text[range.clone()].lines().next().unwrap_or_default().len();
                self.begin(OpenKind::Item(self.items), range.start..range.start + first_line);
            }
            Tag::List(_) | Tag::BlockQuote(_) => self.close(),
            Tag::HtmlBlock => {
                self.close();
                self.begin(OpenKind::Paragraph, range);
            }
            Tag::CodeBlock(kind) => {
                self.close();
                self.begin_fence(&kind, range);
            }
            Tag::Strong => self.builder(&range).strong_begins(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Heading(_) | TagEnd::HtmlBlock => self.close(),
            TagEnd::Paragraph if self.items == 0 => self.close(),
            TagEnd::Paragraph => {
                if let Some(open) = &mut self.open {
                    open.builder.extend_to(range.end);
                    open.builder.space();
                }
            }
            TagEnd::Item => {
                self.close();
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                if let Some(fence) = self.fence.take() {
                    self.push(Block::Fence(fence));
                }
            }
            TagEnd::Strong => self.builder(&range).strong_ends(),
            _ => {}
        }
    }

    fn begin(&mut self, kind: OpenKind, range: Range<usize>) {
        let span = range.start..range.start + self.text[range].trim_end().len();
        let builder = Builder::new(span);
        self.open = Some(Open { kind, builder });
    }

    fn builder(&mut self, range: &Range<usize>) -> &mut Builder {
        let open = self.open.get_or_insert_with(|| Open {
            kind: OpenKind::Paragraph,
            builder: Builder::new(range.clone()),
        });
        open.builder.extend_to(range.end);
        &mut open.builder
    }

    /// An HTML block that is a comment comes line by line; only its first line begins with `<!--`.
    fn in_comment(&self, range: &Range<usize>) -> bool {
        let Some(open) = &self.open else { return false };
        let block = open.builder.start();
        block < range.start && self.text[block..].trim_start().starts_with("<!--")
    }

    fn begin_fence(&mut self, kind: &CodeBlockKind, range: Range<usize>) {
        let language = match kind {
            CodeBlockKind::Fenced(info) => {
                if !is_closed(&self.text[range.clone()]) && self.text[range.end..].trim().is_empty()
                {
                    let opening = self.text[range.clone()].lines().next().unwrap_or_default().len();
                    self.report
                        .add(
                            Code::FenceUnclosed,
                            range.start..range.start + opening,
                            "this fenced block is never closed; it swallows the rest of the file",
                        )
                        .help = Some("close it with a line of the same marks".into());
                }
                info.split_whitespace().next().unwrap_or_default().to_owned()
            }
            CodeBlockKind::Indented => String::new(),
        };
        self.fence =
            Some(Fence { language, body: String::new(), body_start: range.end, span: range });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let prose = open.builder.finish();
        match open.kind {
            OpenKind::Heading(level) => self.heading(level, prose),
            _ if prose.text.is_empty() => {}
            OpenKind::Paragraph => self.push(Block::Paragraph(prose)),
            OpenKind::Item(depth) => self.push(Block::Item { depth, prose }),
        }
    }

    fn heading(&mut self, level: u8, prose: Prose) {
        match level {
            1 => {
                self.body.title.get_or_insert(prose);
            }
            2 => {
                self.body.own_end.get_or_insert(prose.span.start.max(self.base));
                self.body.inline.push((prose, Vec::new()));
            }
            3 => self.section(prose),
            level => self.push(Block::Heading { level, prose }),
        }
    }

    fn section(&mut self, heading: Prose) {
        let (kind, first) = section_kind(&heading);
        let follows_maintains =
            self.sections().last().is_some_and(|s| s.kind == SectionKind::Maintains);
        if follows_maintains && heading.text.eq_ignore_ascii_case("facets") {
            self.report
                .add(
                    Code::FacetOutsideMaintains,
                    heading.span.clone(),
                    "facets belong into `### Maintains`; this section is read as its continuation",
                )
                .help = Some("drop this heading".into());
            return;
        }
        let blocks = first.map(|prose| Block::Item { depth: 1, prose }).into_iter().collect();
        self.sections().push(Section { kind, heading, blocks });
    }

    fn push(&mut self, block: Block) {
        if let Some(section) = self.sections().last_mut() {
            section.blocks.push(block);
        }
    }

    fn sections(&mut self) -> &mut Vec<Section> {
        match self.body.inline.last_mut() {
            Some((_, sections)) => sections,
            None => &mut self.body.own,
        }
    }
}

/// `Continuity: external-driven` is the section `Continuity` with a first item.
fn section_kind(heading: &Prose) -> (SectionKind, Option<Prose>) {
    let kind = SectionKind::parse(&heading.text);
    if kind != SectionKind::Unknown {
        return (kind, None);
    }
    let Some((name, rest)) = heading.text.split_once(':') else {
        return (kind, None);
    };
    let kind = SectionKind::parse(name.trim_end());
    let first =
        Prose { text: rest.trim_start().to_owned(), marks: Vec::new(), span: heading.span.clone() };
    let is_item = kind != SectionKind::Unknown && !first.text.is_empty();
    (kind, is_item.then_some(first))
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Whether a fenced block ends in a line of at least as many of its own marks.
fn is_closed(block: &str) -> bool {
    let opening = block.trim_start_matches([' ', '>', '\t']);
    let Some(mark) = opening.chars().next() else {
        return false;
    };
    let length = opening.len() - opening.trim_start_matches(mark).len();
    let Some((_, rest)) = block.split_once('\n') else {
        return false;
    };
    let last = rest.trim_end().lines().last().unwrap_or_default();
    let last = last.trim_start_matches([' ', '>', '\t']);
    last.len() >= length && last.chars().all(|c| c == mark)
}
