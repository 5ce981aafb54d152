//! `prose receipts cost`

use prose_ledger::{CostSummary, NodeCost};

use super::Context;
use crate::{
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{Table, clean, receipt},
};

pub(super) async fn run(context: &Context) -> Result<Exit, Error> {
    let summary = Session::with(context, None, async |session| {
        let mut summary = CostSummary::default();
        let add = |row| {
            summary.add(&ledger::parse(&row)?.receipt);
            Ok(())
        };
        session.each_receipt("", 0, None, add).await?;
        Ok(summary)
    })
    .await?;
    if context.output.json {
        context.output.document(&summary)?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::new(&[
        "node",
        ">rendered",
        ">skipped",
        ">failed",
        ">tokens",
        ">reused",
        "surprises",
    ]);
    for (node, cost) in &summary.nodes {
        table.row(cells(clean(node), cost));
    }
    table.row(cells("all".into(), &summary.all));
    context.output.text(&table.to_string())?;
    Ok(Exit::Fine)
}

fn cells(name: String, cost: &NodeCost) -> [String; 7] {
    let total = cost.total;
    let [rendered, skipped, failed] =
        [total.rendered, total.skipped, total.failed].map(|count| count.to_string());
    let (fresh, reused) = (total.fresh.to_string(), total.reused.to_string());
    [name, rendered, skipped, failed, fresh, reused, by_cause(cost)]
}

/// What the renders, and their tokens, were caused by.
pub(in crate::commands) fn by_cause(cost: &NodeCost) -> String {
    let parts = cost.by_cause.iter().filter_map(|(cause, tally)| {
        let renders = tally.rendered + tally.failed;
        let tokens = match tally.fresh {
            0 => String::new(),
            fresh => format!(" ({fresh} tokens)"),
        };
        (renders > 0).then(|| format!("{} {renders}{tokens}", receipt::word(cause)))
    });
    parts.collect::<Vec<_>>().join(", ")
}
