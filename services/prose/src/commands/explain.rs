//! `prose explain`

use std::fmt::Write as _;

use prose_api::v1;
use serde_json::{Value, json};

use super::Context;
use crate::{
    cli::Node,
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{Paint, clean, node, now_millis, receipt},
};

pub(super) async fn run(context: &Context, asked: Node) -> Result<Exit, Error> {
    let explained = Session::with(context, None, async |session| {
        session.node(&asked.node).await?;
        let request =
            v1::ExplainRequest { reactor: session.reactor.clone(), node: asked.node.clone() };
        Ok(session.client.explain(request).await?.into_inner())
    })
    .await?;
    if context.output.json {
        context.output.document(&document(&explained))?;
    } else {
        context.output.text(&text(&explained, context.output.paint)?)?;
    }
    Ok(Exit::Fine)
}

fn document(explained: &v1::ExplainResponse) -> Value {
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let moves = explained.moves.iter().map(|moved| {
        json!({
            "what": moved.what,
            "need": filled(&moved.need),
            "producer": filled(&moved.producer),
            "facet": filled(&moved.facet),
            "before": filled(&moved.before),
            "after": filled(&moved.after),
            "receipt": filled(&moved.receipt),
        })
    });
    json!({
        "node": explained.node.as_ref().map(node::document),
        "last": explained.last.as_ref().map(ledger::document),
        "moves": moves.collect::<Vec<_>>(),
        "woken_by": explained.woken_by.iter().map(ledger::document).collect::<Vec<_>>(),
    })
}

fn text(explained: &v1::ExplainResponse, paint: Paint) -> Result<String, Error> {
    let status = explained.node.clone().unwrap_or_default();
    let now = now_millis();
    let name = paint.bold(&clean(&status.name));
    let mut text = match &explained.last {
        None => format!("{name} was never decided\n"),
        Some(last) => {
            let sealed = ledger::parse(last)?;
            let decided = paint.status(receipt::status(sealed.receipt.status));
            let cause = receipt::word(&sealed.receipt.cost.surprise_cause);
            let when = receipt::when(&sealed, now);
            let outcome = receipt::outcome(&sealed);
            let outcome = if outcome.is_empty() { String::new() } else { format!(": {outcome}") };
            format!("{name} was last {decided} {when}, surprised by {cause}{outcome}\n")
        }
    };
    for moved in &explained.moves {
        let _ = writeln!(text, "  {}", change(moved));
    }
    if explained.moves.is_empty() && explained.last.is_some() {
        text.push_str("  nothing it depends on had moved\n");
    }
    for row in &explained.woken_by {
        let sealed = ledger::parse(row)?;
        let _ = writeln!(text, "woken by {}", receipt::line(row.position, &sealed, paint).trim());
    }
    let condition = status.condition.unwrap_or_default();
    let _ = writeln!(text, "now: {}", node::condition(&condition, now));
    Ok(text)
}

fn change(moved: &v1::Move) -> String {
    let tokens = match (short(&moved.before), short(&moved.after)) {
        (None, Some(after)) => format!("is new ({after})"),
        (Some(before), None) => format!("is gone (was {before})"),
        (Some(before), Some(after)) => format!("moved from {before} to {after}"),
        (None, None) => "moved".into(),
    };
    match moved.what.as_str() {
        "input" => {
            let facet = clean(&format!("{}.{}", moved.producer, moved.facet));
            format!("{facet}, read as `{}`, {tokens}", clean(&moved.need))
        }
        "contract" => format!("the contract {tokens}"),
        "freshness" => "its truth had gone stale".into(),
        "event" => "an event arrived".into(),
        what => format!("{} {tokens}", clean(what)),
    }
}

/// The first digits of a token.
fn short(token: &str) -> Option<&str> {
    const DIGITS: usize = 12;
    let digits = token.strip_prefix("blake3:").unwrap_or(token);
    (!digits.is_empty()).then(|| digits.get(..DIGITS).unwrap_or(digits))
}
