//! `prose retry`

use prose_api::v1;

use super::Context;
use crate::{
    cli::Node,
    connect::Session,
    error::{Error, Exit},
};

pub(super) async fn run(context: &Context, asked: Node) -> Result<Exit, Error> {
    Session::with(context, None, async |session| {
        session.node(&asked.node).await?;
        let (reactor, node) = (session.reactor.clone(), asked.node.clone());
        session.client.retry(v1::RetryRequest { reactor, node }).await?;
        said(context, session, &asked.node, "renders again")
    })
    .await
}

/// Says that a node was told to render, and when that will be.
pub(super) fn said(
    context: &Context,
    session: &Session,
    node: &str,
    what: &str,
) -> Result<Exit, Error> {
    let when = if session.is_local() { " as soon as `prose up` runs" } else { "" };
    if context.output.json {
        let now = !session.is_local();
        context.output.document(&serde_json::json!({"node": node, "running": now}))?;
    } else {
        context.output.text(&format!("{node} {what}{when}"))?;
    }
    Ok(Exit::Fine)
}
