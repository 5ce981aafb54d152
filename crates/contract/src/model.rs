//! A contract file as a tree of entries, sections and blocks.

use std::ops::Range;

use crate::{Frontmatter, Lines, Prose, Spanned};

/// One `*.prose.md` file.
#[derive(Debug, Clone)]
pub struct File {
    /// Root-relative path.
    pub path: String,
    /// Its identity as declared.
    pub frontmatter: Frontmatter,
    /// The `id`, when it is a well-formed one.
    pub id: Option<String>,
    /// The level-1 heading.
    pub title: Option<Prose>,
    /// The file-level entry.
    pub entry: Entry,
    /// The `##` entries.
    pub inline: Vec<Entry>,
    /// Line starts of the decoded source.
    pub lines: Lines,
}

impl File {
    /// The parameter of a per-entity mount, `# Title [instance]`.
    pub fn mount_parameter(&self) -> Option<&str> {
        let title = &self.title.as_ref()?.text;
        let (_, rest) = title.strip_suffix(']')?.rsplit_once('[')?;
        Some(rest.trim())
    }
}

/// A contract: the file's own, or an inline one.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name. Empty only when the file was refused for having none.
    pub name: Spanned<String>,
    /// What it is; `None` when that could not be told, or for an inline entry that declares nothing.
    pub kind: Option<Kind>,
    /// Whether it is a `##` entry.
    pub inline: bool,
    /// Its sections in order of appearance.
    pub sections: Vec<Section>,
    /// Bytes of the decoded source that the entry covers.
    pub span: Range<usize>,
}

impl Entry {
    /// The sections of one kind, in order.
    pub fn sections(&self, kind: SectionKind) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |s| s.kind == kind)
    }

    /// Whether it has a section of this kind.
    pub fn has(&self, kind: SectionKind) -> bool {
        self.sections(kind).next().is_some()
    }
}

/// The five kinds of contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A mounted node that keeps a truth current.
    Responsibility,
    /// A called helper.
    Function,
    /// A node that lets the outside world in.
    Gateway,
    /// A reusable design.
    Pattern,
    /// A harness around a subject.
    Test,
}

impl Kind {
    /// As written in frontmatter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Responsibility => "responsibility",
            Kind::Function => "function",
            Kind::Gateway => "gateway",
            Kind::Pattern => "pattern",
            Kind::Test => "test",
        }
    }

    /// Reads a kind; only the exact words count.
    pub fn parse(text: &str) -> Option<Self> {
        use Kind::{Function, Gateway, Pattern, Responsibility, Test};
        [Responsibility, Function, Gateway, Pattern, Test]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// Whether contracts of this kind are mounted as nodes.
    pub const fn is_node(self) -> bool {
        matches!(self, Kind::Responsibility | Kind::Gateway)
    }
}

macro_rules! sections {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// The sections that mean something, and all others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SectionKind {
            $(#[doc = concat!("`### ", $name, "`")] $variant,)*
            /// Any other heading: documentation.
            Unknown,
        }

        impl SectionKind {
            /// Reads a heading, without regard to case.
            pub fn parse(heading: &str) -> Self {
                $(if heading.eq_ignore_ascii_case($name) { return Self::$variant; })*
                Self::Unknown
            }

            /// The name of the section as the format spells it; empty for unknown ones.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* Self::Unknown => "" }
            }
        }
    };
}

sections! {
    Description "Description", Goal "Goal", Requires "Requires", Maintains "Maintains",
    Parameters "Parameters", Returns "Returns", Continuity "Continuity", Errors "Errors",
    Invariants "Invariants", Strategies "Strategies", Environment "Environment",
    Runtime "Runtime", Skills "Skills", Tools "Tools", Shape "Shape", Execution "Execution",
    Fixtures "Fixtures", Expects "Expects", ExpectsNot "Expects Not", Slots "Slots",
    Config "Config", Delegation "Delegation", Schedule "Schedule", Receives "Receives",
    Emits "Emits", Payload "Payload",
    Ensures "Ensures", Criteria "Criteria", Fulfillment "Fulfillment",
    Constraints "Constraints", Memory "Memory", Services "Services", Wiring "Wiring",
}

impl SectionKind {
    /// For a section of the older vocabulary, what became of it.
    pub const fn successor(self) -> Option<&'static str> {
        Some(match self {
            Self::Ensures => "`### Maintains` (or `### Returns` of a function)",
            Self::Criteria => "postconditions in `### Maintains`",
            Self::Fulfillment => "the render itself, or a function it calls",
            Self::Constraints => "`### Invariants` or `### Shape`",
            Self::Memory => "the node's one truth, `### Maintains`",
            Self::Services | Self::Wiring => "calls in `### Execution` and needs in `### Requires`",
            _ => return None,
        })
    }
}

/// One `###` section.
#[derive(Debug, Clone)]
pub struct Section {
    /// Which one.
    pub kind: SectionKind,
    /// Its heading as written.
    pub heading: Prose,
    /// Its content in order. The text after a colon in the heading comes first, as an item.
    pub blocks: Vec<Block>,
}

impl Section {
    /// The blocks before the first `####`.
    pub fn shared(&self) -> &[Block] {
        &self.blocks[..part_at(&self.blocks)]
    }

    /// The blocks before the first `####`, and the `####` parts.
    pub fn parts(&self) -> (&[Block], Vec<Part<'_>>) {
        let (shared, mut rest) = self.blocks.split_at(part_at(&self.blocks));
        let mut parts = Vec::new();
        while let Some((Block::Heading { prose, .. }, after)) = rest.split_first() {
            let (blocks, next) = after.split_at(part_at(after));
            parts.push(Part { heading: prose, blocks });
            rest = next;
        }
        (shared, parts)
    }

    /// The prose of its blocks, in order.
    pub fn prose(&self) -> impl Iterator<Item = &Prose> {
        self.blocks.iter().filter_map(Block::prose)
    }
}

/// Where the next `####` stands, or the end.
fn part_at(blocks: &[Block]) -> usize {
    let is_start = |block: &Block| matches!(block, Block::Heading { level: 4, .. });
    blocks.iter().position(is_start).unwrap_or(blocks.len())
}

/// A `####` part of a section.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// Its heading.
    pub heading: &'a Prose,
    /// What follows up to the next part.
    pub blocks: &'a [Block],
}

/// One block of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Prose),
    /// A bullet; nested bullets follow as blocks of their own.
    Item {
        /// 1 for a bullet at the top.
        depth: usize,
        /// Its text.
        prose: Prose,
    },
    /// A heading of level 4 or deeper.
    Heading {
        /// 4, 5 or 6.
        level: u8,
        /// Its text.
        prose: Prose,
    },
    /// A code block.
    Fence(Fence),
}

impl Block {
    /// The text of a paragraph or bullet.
    pub fn prose(&self) -> Option<&Prose> {
        match self {
            Block::Paragraph(prose) | Block::Item { prose, .. } => Some(prose),
            Block::Heading { .. } | Block::Fence(_) => None,
        }
    }
}

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The first word after the opening marks; empty for indented code.
    pub language: String,
    /// The content.
    pub body: String,
    /// Where the content begins in the decoded source.
    pub body_start: usize,
    /// Bytes of the decoded source.
    pub span: Range<usize>,
}
