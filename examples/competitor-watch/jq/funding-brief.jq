# 48000000 is easier on the eye as "48 M".
def millions: "\(. / 100000 | round / 10) M USD";

.inputs.funding.funding
| map(
    (.rounds | map(.amount_usd) | add // 0) as $raised
    | {
        competitor,
        rounds: (.rounds | length),
        raised_usd: $raised,
        headline: (
          if .rounds == [] then "no funding is known"
          else .rounds[-1] | "\(.round) of \(.amount_usd | millions) on \(.date)"
          end
        )
      }
  )
| {briefs: ., raised_usd: (map(.raised_usd) | add // 0)}
