.inputs.authors.authors
| sort_by([-.commits, .email])
| (map(.commits) | add // 0) as $total
| {
    contributors: map({
      name,
      commits,
      percent: (.commits * 1000 / $total | round / 10),
      since: .first,
      last
    }),
    total: $total,
    # All who are needed before half is reached, and the one who reaches it.
    half_by: (
      if $total == 0 then 0
      else [foreach .[] as $one (0; . + $one.commits; .)] | map(select(. * 2 < $total)) | length + 1
      end
    )
  }
