# Folds every delivered commit into the prior truth. A render may be given one event or ten thousand.
def authors_max: 500;
def files_max: 2000;
def subjects_max: 200;

# The busiest; among equals, those seen last.
def busiest($count):
  if length <= $count then .
  else sort_by([.commits, .last]) | .[-$count:]
  end;

def authors:
  [(.self.authors // [])[], (.events[] | {name: .author, email, commits: 1, first: .date, last: .date})]
  | group_by(.email)
  | map({
      name: .[-1].name,
      email: .[0].email,
      commits: (map(.commits) | add),
      first: (map(.first) | min),
      last: (map(.last) | max)
    })
  | busiest(authors_max)
  | sort_by(.email);

def files:
  [(.self.files // [])[], (.events[] | .date as $date | .files[] | . + {commits: 1, last: $date})]
  | group_by(.path)
  | map({
      path: .[0].path,
      commits: (map(.commits) | add),
      added: (map(.added) | add),
      deleted: (map(.deleted) | add),
      last: (map(.last) | max)
    })
  | busiest(files_max)
  | sort_by(.path);

# Begins anew behind the last tagged commit.
def subjects:
  ([.events | to_entries[] | select(.value.tags != []) | .key] | last) as $tagged
  | (
      if $tagged == null then .self.subjects // {tag: null, commits: [], omitted: 0}
      else {tag: .events[$tagged].tags[0], commits: [], omitted: 0}
      end
    ) as $before
  | (.events[($tagged // -1) + 1:] | map({hash, author, subject})) as $after
  | ($before.commits + $after) as $all
  | {
      tag: $before.tag,
      commits: $all[-subjects_max:],
      omitted: ($before.omitted + ([($all | length) - subjects_max, 0] | max))
    };

{
  total: ((.self.total // 0) + (.events | length)),
  newest: (.events[-1].hash // .self.newest),
  authors: authors,
  files: files,
  subjects: subjects
}
