# The newest note, counted into what was known before. What this yields is the whole new truth.
.inputs.note.note as $note
| reduce $note.tags[] as $tag (.self.topics // {}; .[$tag] += 1)
| { topics: ., latest: $note.title }
