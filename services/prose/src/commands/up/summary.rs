//! What a run came to, from its receipts.

use std::{collections::BTreeMap, fmt::Write as _};

use prose_api::{
    Prose,
    v1::{self, condition::Kind},
};
use prose_ledger::{CostSummary, NodeCost, Sealed};
use serde::Serialize;
use serde_json::json;

use super::{super::receipts::by_cause, Intake};
use crate::{
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{Output, Table, clean, node, now_millis, receipt},
};

/// The node of the mounts themselves, which is none of the project's.
const TOPOLOGY: &str = "@topology";

/// What a run came to.
pub(super) struct Summary {
    reactor: String,
    epoch: u64,
    intake: Intake,
    costs: CostSummary,
    nodes: Vec<v1::NodeStatus>,
    failures: BTreeMap<String, Failure>,
}

/// Why a node's last receipt is a failure.
#[derive(Serialize)]
struct Failure {
    class: String,
    reason: String,
}

pub(super) async fn gather(
    client: &mut Prose,
    reactor: &str,
    epoch: u64,
    before: u64,
    intake: Intake,
) -> Result<Summary, Error> {
    let mut session = Session::over(client.clone(), reactor.to_owned());
    let mut costs = CostSummary::default();
    let add = |row| {
        let sealed = ledger::parse(&row)?;
        if sealed.receipt.node != TOPOLOGY {
            costs.add(&sealed.receipt);
        }
        Ok(())
    };
    session.each_receipt("", before, None, add).await?;
    let nodes = session.status().await?.nodes;
    let mut failures = BTreeMap::new();
    for status in nodes.iter().filter(|node| node.last_status == "failed") {
        let newest = session.newest_receipts(&status.name, 0, 1).await?;
        if let Some(row) = newest.first() {
            failures.insert(status.name.clone(), failure(&ledger::parse(row)?));
        }
    }
    Ok(Summary { reactor: reactor.to_owned(), epoch, intake, costs, nodes, failures })
}

fn failure(sealed: &Sealed) -> Failure {
    let failure = sealed.receipt.failure.as_ref();
    Failure {
        class: failure.map(|failure| receipt::word(&failure.class)).unwrap_or_default(),
        reason: failure.map(|failure| failure.reason.clone()).unwrap_or_default(),
    }
}

impl Summary {
    /// How the command ends.
    pub fn exit(&self) -> Exit {
        if self.failures.is_empty() { Exit::Fine } else { Exit::Failed }
    }

    pub fn print(&self, output: Output) -> Result<(), Error> {
        if output.json {
            output.document(&self.document())
        } else {
            output.text(&self.text(output))
        }
    }

    fn document(&self) -> serde_json::Value {
        let none = NodeCost::default();
        let nodes: BTreeMap<_, _> = self
            .nodes
            .iter()
            .map(|status| {
                let cost = self.costs.nodes.get(&status.name).unwrap_or(&none);
                let node = json!({
                    "total": cost.total,
                    "by_cause": cost.by_cause,
                    "failure": self.failures.get(&status.name),
                    "state": node::document(status),
                });
                (&status.name, node)
            })
            .collect();
        json!({
            "reactor": self.reactor,
            "epoch": self.epoch,
            "events": {"new": self.intake.new, "repeated": self.intake.repeated},
            "all": self.costs.all,
            "nodes": nodes,
        })
    }

    fn text(&self, output: Output) -> String {
        let mut text = format!("{}\n\n{}", self.headline(output), self.table());
        if !self.failures.is_empty() {
            text.push('\n');
        }
        for (node, failure) in &self.failures {
            let _ = writeln!(
                text,
                "{} {} ({}): {}",
                output.paint.bold(&clean(node)),
                output.paint.bad("failed"),
                failure.class,
                clean(&failure.reason)
            );
        }
        self.waiting().for_each(|line| {
            let _ = write!(text, "\n{line}\n");
        });
        text
    }

    fn headline(&self, output: Output) -> String {
        let repeated = match self.intake.repeated {
            0 => String::new(),
            repeated => format!(" ({repeated} more were known)"),
        };
        let events = match self.intake.new {
            1 => "1 event".to_owned(),
            new => format!("{new} events"),
        };
        format!("{}: {events} taken in{repeated}", output.paint.bold(&self.reactor))
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            "node",
            ">rendered",
            ">skipped",
            ">failed",
            ">tokens",
            ">reused",
            "rendered because of",
        ]);
        let none = NodeCost::default();
        for status in &self.nodes {
            let cost = self.costs.nodes.get(&status.name).unwrap_or(&none);
            table.row(cells(clean(&status.name), cost));
        }
        table.row(cells("all".into(), &self.costs.all));
        table
    }

    /// Nodes that cannot render because something was never published.
    fn waiting(&self) -> impl Iterator<Item = String> {
        let now = now_millis();
        self.nodes.iter().filter_map(move |status| {
            let condition = status.condition.as_ref()?;
            (condition.kind() == Kind::WaitingForInputs)
                .then(|| format!("{} {}", clean(&status.name), node::condition(condition, now)))
        })
    }
}

fn cells(name: String, cost: &NodeCost) -> [String; 7] {
    let total = cost.total;
    let [rendered, skipped, failed, fresh, reused] =
        [total.rendered, total.skipped, total.failed, total.fresh, total.reused]
            .map(|count| count.to_string());
    [name, rendered, skipped, failed, fresh, reused, by_cause(cost)]
}
