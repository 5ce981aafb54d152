# Sorts one poll into what its readers ask for. What the contract calls a facet is a key of its own.
.inputs["market-feed"] as $poll
| [$poll.competitors | to_entries[] | {competitor: .key} + .value]
| sort_by(.competitor)
| {
    competitors: map({
      competitor,
      name: (.name // .competitor),
      sources: (.sources // []),
      last_corroborated: $poll.fetched_at
    }),
    funding: map({competitor, rounds: (.funding // [] | sort_by(.date, .round))}),
    hiring: map({
      competitor,
      open_roles: (.hiring.open_roles // 0),
      departments: (.hiring.departments // [] | sort)
    }),
    "product-launches": map({competitor, launches: (.launches // [] | sort_by(.date, .product))})
  }
