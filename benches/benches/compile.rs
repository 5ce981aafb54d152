//! Compiling a generated set of contracts: how it grows, and against the bare Markdown parser.

use std::{collections::BTreeMap, hint::black_box};

use prose_benches::{least, ratio, report};
use prose_compiler::{Host, compile_sources};
use pulldown_cmark::{Options, Parser};

/// A set of contracts in which each reads facets of a few before it.
fn sources(count: usize) -> BTreeMap<String, Vec<u8>> {
    let mut sources = BTreeMap::new();
    for i in 0..count {
        let text = if i % 10 == 0 { gateway(i) } else { responsibility(i) };
        sources.insert(format!("area-{}/node-{i}.prose.md", i / 50), text.into_bytes());
    }
    sources
}

fn gateway(i: usize) -> String {
    format!(
        "---\nname: node-{i}\nkind: gateway\n---\n\n# Feed number {i}\n\n\
         ### Goal\n\nThe newest rows that the outside world has sent to feed {i}.\n\n\
         ### Continuity\n\n- external-driven: wake when rows arrive.\n\n\
         ### Receives\n\n- POST /feeds/{i}\n\n\
         ### Maintains\n\n- `rows-{i}`: the rows that came in last\n\
         - `fetched_at` and `request_id` are immaterial everywhere.\n\n\
         #### prices-{i}\n\nThe price rows. Material: `item`, `price` (unordered).\n\n\
         #### stock-{i}\n\nThe stock rows. Material: `item`, `count`.\n"
    )
}

fn responsibility(i: usize) -> String {
    let feed = i - i % 10;
    format!(
        "---\nname: node-{i}\nkind: responsibility\n---\n\n# Summary number {i}\n\n\
         ### Goal\n\nA current, corroborated summary of what feed {feed} says and of what its \
         neighbours make of it, short enough to read at a glance.\n\n\
         ### Requires\n\n- `prices-{feed}`: the price rows of the feed\n\
         - `node-{}`: what the neighbour before this one says\n\n\
         ### Maintains\n\nThe summary. Each row carries a stable `item`; `checked_at` is immaterial \
         everywhere. Postcondition: every row cites a source.\n\n\
         - `summary`: the text and its figures\n- `sources`: what it rests on\n\n\
         #### risk-{i}\n\nWhat might go wrong. Material: `level`, `reason`.\n\n\
         ### Continuity\n\n- input-driven\n- self-driven: re-check every 6h\n\n\
         ### Strategies\n\n- when the feed is thin: say so, and name the oldest row\n\
         - when two rows disagree: keep both, newest first\n",
        i - 1,
    )
}

fn markdown(sources: &BTreeMap<String, Vec<u8>>) -> usize {
    let texts = sources.values().filter_map(|bytes| std::str::from_utf8(bytes).ok());
    texts.map(|text| black_box(Parser::new_ext(text, Options::empty()).count())).sum()
}

fn main() {
    let host = Host::trusting();
    let (small, large) = (sources(100), sources(1_000));
    for set in [&small, &large] {
        let compiled = compile_sources(set, &host);
        if compiled.bundle.is_none() {
            let first = compiled.errors().next();
            panic!("the generated set does not compile: {first:?}");
        }
    }
    let compile = |set: &BTreeMap<String, Vec<u8>>| drop(black_box(compile_sources(set, &host)));
    let [few, few_bare, many, many_bare] = least([
        &mut || compile(&small),
        &mut || {
            black_box(markdown(&small));
        },
        &mut || compile(&large),
        &mut || {
            black_box(markdown(&large));
        },
    ]);
    for (count, took, bare) in [(100, few, few_bare), (1_000, many, many_bare)] {
        let times = ratio(took, bare);
        let what = format!("compile {count} contracts");
        report(&what, took, times, "x bare Markdown", "<= 10", times <= 10.0);
    }
    let (one_of_few, one_of_many) = (few / 100, many / 1_000);
    let growth = ratio(one_of_many, one_of_few);
    let what = "a contract among 1,000 against one among 100";
    report(what, one_of_many, growth, "x", "<= 1.2", growth <= 1.2);
}
