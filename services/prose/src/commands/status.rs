//! `prose status`

use prose_api::v1;
use serde_json::json;

use super::Context;
use crate::{
    cli::Folder,
    connect::Session,
    error::{Error, Exit},
    show::{Table, clean, node, now_millis},
};

pub(super) async fn run(context: &Context, folder: &Folder) -> Result<Exit, Error> {
    let status =
        Session::with(context, folder.dir.as_ref(), async |session| session.status().await).await?;
    let output = context.output;
    let reactor = status.reactor.clone().unwrap_or_default();
    if output.json {
        output.document(&json!({
            "reactor": reactor.name,
            "epoch": reactor.epoch,
            "wave": reactor.wave,
            "receipts": reactor.receipts,
            "quiet": status.quiet,
            "nodes": status.nodes.iter().map(node::document).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Fine);
    }
    let quiet = if status.quiet { "quiet" } else { "at work" };
    output.text(&format!(
        "{} is {quiet}: epoch {}, wave {}, {} receipts\n\n{}",
        output.paint.bold(&reactor.name),
        reactor.epoch,
        reactor.wave,
        reactor.receipts,
        table(&status.nodes),
    ))?;
    Ok(Exit::Fine)
}

fn table(nodes: &[v1::NodeStatus]) -> Table {
    let now = now_millis();
    let mut table = Table::new(&["node", "last", ">receipts", ">queued", "now"]);
    for status in nodes {
        let last = if status.last_status.is_empty() { "-" } else { &status.last_status };
        let condition = status.condition.clone().unwrap_or_default();
        table.row([
            clean(&status.name),
            last.to_owned(),
            status.seq.to_string(),
            status.queued_events.to_string(),
            node::condition(&condition, now),
        ]);
    }
    table
}

impl Session {
    /// What each node is doing.
    pub(crate) async fn status(&mut self) -> Result<v1::GetStatusResponse, Error> {
        let request = v1::GetStatusRequest { reactor: self.reactor.clone() };
        Ok(self.client.get_status(request).await?.into_inner())
    }

    /// One node's state; an unknown node is an error that names the nearest.
    pub(crate) async fn node(&mut self, name: &str) -> Result<v1::NodeStatus, Error> {
        let nodes = self.status().await?.nodes;
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        nodes.into_iter().find(|node| node.name == name).ok_or_else(|| {
            const ALIKE: f64 = 0.5;
            let nearest = crate::nearest::nearest(name, names.iter().map(String::as_str), ALIKE);
            Error {
                code: "node_unknown".into(),
                message: format!("there is no node `{name}`"),
                help: Some(match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("nodes: {}", names.join(", ")),
                }),
                exit: Exit::Unable,
            }
        })
    }
}
