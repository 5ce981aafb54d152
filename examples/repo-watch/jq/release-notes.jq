# In the order in which a reader wants them.
def titles: {
  breaking: "Breaking changes",
  feat: "New",
  fix: "Fixed",
  perf: "Faster",
  docs: "Documentation",
  inside: "Under the hood",
  other: "Other changes"
};

# Where a change belongs; without a known prefix, its whole subject is its text.
def conventional:
  capture("^(?<kind>[a-z]+)(\\((?<scope>[^)]*)\\))?(?<breaking>!)?: +(?<text>.+)$")
  | if .breaking then .section = "breaking"
    elif [.kind] | inside(["feat", "fix", "perf", "docs"]) then .section = .kind
    elif [.kind] | inside(["build", "chore", "ci", "refactor", "revert", "style", "test"]) then
      .section = "inside"
    else empty
    end;

def entry:
  . as $commit
  | (
      first(.subject | conventional)
      // {section: "other", scope: null, text: (if .subject == "" then "(no subject)" else .subject end)}
    )
  | {section, entry: {text, scope, commit: $commit.hash[:10], author: $commit.author}};

.inputs.subjects.subjects
| [.commits[] | select(.subject | test("^Merge (branch|pull request|remote-tracking|tag) ") | not) | entry]
  as $entries
| {
    since: .tag,
    sections: [
      titles | to_entries[] as $title
      | [$entries[] | select(.section == $title.key) | .entry]
      | select(. != [])
      | {title: $title.value, entries: .}
    ],
    omitted
  }
