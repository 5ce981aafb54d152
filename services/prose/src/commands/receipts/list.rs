//! `prose receipts list`

use super::Context;
use crate::{
    cli::ReceiptsList,
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{now_millis, receipt},
};

pub(super) async fn run(context: &Context, asked: ReceiptsList) -> Result<Exit, Error> {
    let receipts = Session::with(context, None, async |session| {
        let node = asked.node.as_deref().unwrap_or_default();
        session.newest_receipts(node, asked.before.unwrap_or(0), asked.limit).await
    })
    .await?;
    let output = context.output;
    if output.json {
        output.document(&receipts.iter().map(ledger::document).collect::<Vec<_>>())?;
        return Ok(Exit::Fine);
    }
    let now = now_millis();
    for row in &receipts {
        let sealed = ledger::parse(row)?;
        let line = receipt::line(row.position, &sealed, output.paint);
        output.text(&format!("{line} {}", output.paint.dim(&receipt::when(&sealed, now))))?;
    }
    if receipts.is_empty() {
        output.text("no receipts")?;
    }
    Ok(Exit::Fine)
}
