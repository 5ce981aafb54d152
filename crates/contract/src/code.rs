//! The registry of diagnostic codes: each is declared once, with its severity and its meaning.

use serde::{Serialize, Serializer};

use crate::Severity;

macro_rules! codes {
    ($($variant:ident $code:literal $severity:ident $meaning:literal;)*) => {
        /// A stable diagnostic code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// Every code, in the order of declaration.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The code as users see it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code),* }
            }

            /// The severity it has unless a check says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity),* }
            }

            /// One line of what it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    EncodingInvalid "encoding_invalid" Error "The file is not UTF-8.";
    FileTooLarge "file_too_large" Error "The file is above the size limit and was not read.";
    FileUnreadable "file_unreadable" Error "The file or folder cannot be read.";
    LinkOutside "link_outside" Error "A symbolic link leaves the source root.";
    FrontmatterMissing "frontmatter_missing" Error "The file does not start with frontmatter.";
    FrontmatterInvalid "frontmatter_invalid" Error "The frontmatter is not closed, not YAML, or not a map.";
    FrontmatterUnknownKey "frontmatter_unknown_key" Info "A frontmatter key that means nothing here.";
    FenceUnclosed "fence_unclosed" Warning "A fenced block runs to the end of the file.";

    NameMissing "name_missing" Error "Neither a name in the frontmatter nor a title.";
    NameFromTitle "name_from_title" Warning "The title was taken as the name.";
    NameInvalid "name_invalid" Error "A name that is not a plain slug.";
    NameDuplicate "name_duplicate" Error "Two mounted nodes bear one name.";
    KindMissing "kind_missing" Error "The frontmatter names no kind.";
    KindUnknown "kind_unknown" Error "The kind is none of the five.";
    KindRetired "kind_retired" Error "The kind belongs to an older vocabulary.";
    IdInvalid "id_invalid" Error "The id is not 26 characters of upper-case Crockford base32.";

    SectionNotAllowed "section_not_allowed" Error "A section that contradicts the kind.";
    SectionRetired "section_retired" Warning "A section of an older vocabulary.";
    MaintainsMissing "maintains_missing" Error "A responsibility that declares no truth.";
    FacetDuplicate "facet_duplicate" Error "Two facets of one name in one node.";
    FacetReserved "facet_reserved" Error "The name of the whole truth cannot be declared.";
    FacetInvalid "facet_invalid" Error "A facet name that cannot be a key of the truth.";
    FacetUnbacked "facet_unbacked" Warning "A subscribed facet with nothing to fingerprint.";
    FacetOutsideMaintains "facet_outside_maintains" Warning "Facets stand in a section of their own.";
    ContinuityAmbiguous "continuity_ambiguous" Warning "A wake source is declared but cannot be read.";
    MaterialityInProse "materiality_in_prose" Info "Materiality is said only in words; everything stays material.";
    PostconditionInvalid "postcondition_invalid" Warning "An expression that cannot be decided by code.";

    RequiresUnsatisfied "requires_unsatisfied" Error "No other node maintains what a need asks for.";
    RequiresAmbiguous "requires_ambiguous" Error "Several producers fit one need equally.";
    TopologyCyclic "topology_cyclic" Error "The subscriptions form a ring.";
    EmitsUnresolved "emits_unresolved" Warning "A gateway names a node that nobody declares.";
    CallUnresolved "call_unresolved" Error "A call that names no function.";

    ToolInvalid "tool_invalid" Error "A tool is not written cli:<name> or mcp:<name>.";
    ToolUnsupportedKind "tool_unsupported_kind" Error "A tool in a namespace other than cli and mcp.";
    ToolUnresolved "tool_unresolved" Error "The host does not have a declared tool.";
    SkillUnresolved "skill_unresolved" Error "A declared skill is not installed.";
    EnvironmentInvalid "environment_invalid" Error "A line of Environment that names no variable.";
    EnvironmentUnset "environment_unset" Error "A declared environment variable is not set.";
    ManifestInvalid "manifest_invalid" Error "The emitted manifest breaks its own rules.";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
