def by_competitor: map({key: .competitor, value: .}) | from_entries;

.inputs as $in
| ($in["product-launches"]["product-launches"] | by_competitor) as $products
| ($in["funding-brief"].briefs | by_competitor) as $money
| [
    $in.hiring.hiring[]
    | $products[.competitor].launches as $launches
    | {
        competitor,
        open_roles,
        departments,
        shipped: [$launches[]? | select(.shipped) | .product],
        announced: [$launches[]? | select(.shipped | not) | {product, date}],
        funding: ($money[.competitor].headline // "not in the brief")
      }
  ]
| {
    profiles: .,
    highlights: [
      (max_by(.open_roles) // empty | "\(.competitor) hires the most: \(.open_roles) open roles"),
      (.[] | .competitor as $who | .announced[] | "\($who) announced \(.product) for \(.date)"),
      "together they raised \($in["funding-brief"].raised_usd / 100000 | round / 10) M USD"
    ]
  }
