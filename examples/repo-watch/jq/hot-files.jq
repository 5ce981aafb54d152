def folder: .path | split("/") | if length == 1 then "." else .[:-1][:2] | join("/") end;

.inputs.files.files
| {
    files: (sort_by([-.commits, -(.added + .deleted), .path]) | .[:20]),
    folders: (
      group_by(folder)
      | map({folder: (.[0] | folder), touches: (map(.commits) | add), files: length})
      | sort_by([-.touches, .folder])
      | .[:10]
    )
  }
