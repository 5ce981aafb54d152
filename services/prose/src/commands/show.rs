//! `prose show`

use std::{collections::BTreeMap, fmt::Write as _};

use prose_api::v1;
use prose_truth::Files;
use serde_json::{Value, json};

use super::Context;
use crate::{
    cli::Node,
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{Table, clean, clean_lines, json_or_text, node, now_millis, receipt},
};

/// How many receipts are shown.
const RECEIPTS: u32 = 5;

struct Shown {
    status: v1::NodeStatus,
    files: Files,
    receipts: Vec<v1::Receipt>,
}

pub(super) async fn run(context: &Context, asked: Node) -> Result<Exit, Error> {
    let shown = Session::with(context, None, async |session| {
        let status = session.node(&asked.node).await?;
        let files = match status.tree.as_str() {
            "" => Files::new(),
            tree => session.files(tree).await?,
        };
        let receipts = session.newest_receipts(&asked.node, 0, RECEIPTS).await?;
        Ok(Shown { status, files, receipts })
    })
    .await?;
    if context.output.json {
        context.output.document(&document(&shown))?;
    } else {
        context.output.text(&text(context, &shown)?)?;
    }
    Ok(Exit::Fine)
}

/// The structured part as one document, or what keeps it from being one.
fn truth(files: &Files) -> Value {
    if files.is_empty() {
        return Value::Null;
    }
    prose_truth::document(files).unwrap_or_default()
}

/// What is published besides the structured part.
fn projections(files: &Files) -> BTreeMap<&str, &[u8]> {
    let is_structured = |path: &str| {
        path == "truth.json" || path.ends_with("/truth.json") && path.matches('/').count() == 1
    };
    files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_ref()))
        .filter(|(path, _)| !is_structured(path))
        .collect()
}

fn document(shown: &Shown) -> Value {
    let projections: BTreeMap<_, _> = projections(&shown.files)
        .into_iter()
        .map(|(path, content)| (path, json_or_text(path, content)))
        .collect();
    json!({
        "node": node::document(&shown.status),
        "truth": truth(&shown.files),
        "projections": projections,
        "receipts": shown.receipts.iter().map(ledger::document).collect::<Vec<_>>(),
    })
}

fn text(context: &Context, shown: &Shown) -> Result<String, Error> {
    let paint = context.output.paint;
    let status = &shown.status;
    let now = now_millis();
    let condition = status.condition.clone().unwrap_or_default();
    let mut text = format!(
        "{} ({}) {}\n",
        paint.bold(&clean(&status.name)),
        status.role,
        node::condition(&condition, now)
    );
    if shown.files.is_empty() {
        text.push_str("\nnothing is published yet\n");
    } else {
        let truth = serde_json::to_string_pretty(&truth(&shown.files)).unwrap_or_default();
        let _ = write!(text, "\n{}\n{}\n", paint.dim("truth"), clean_lines(&truth));
        for (path, content) in projections(&shown.files) {
            let _ = writeln!(text, "{} ({} bytes)", clean(path), content.len());
        }
        let mut table = Table::new(&["facet", "fingerprint"]);
        let tokens: BTreeMap<_, _> = status.fingerprints.iter().collect();
        for (facet, token) in tokens {
            table.row([clean(facet), clean(token)]);
        }
        let _ = write!(text, "\n{table}");
    }
    if !shown.receipts.is_empty() {
        text.push('\n');
    }
    for row in &shown.receipts {
        let sealed = ledger::parse(row)?;
        let line = receipt::line(row.position, &sealed, paint);
        let _ = writeln!(text, "{line} {}", paint.dim(&receipt::when(&sealed, now)));
    }
    Ok(text)
}
