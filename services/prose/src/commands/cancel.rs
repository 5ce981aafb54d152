//! `prose cancel`

use prose_api::v1;
use serde_json::json;

use super::Context;
use crate::{
    cli::Node,
    connect::Session,
    error::{Error, Exit},
};

pub(super) async fn run(context: &Context, asked: Node) -> Result<Exit, Error> {
    let node = &asked.node;
    let receipt = Session::with(context, None, async |session| {
        session.node(node).await?;
        let request = v1::CancelRequest { reactor: session.reactor.clone(), node: node.clone() };
        Ok(session.client.cancel(request).await?.into_inner().receipt)
    })
    .await?;
    if context.output.json {
        context.output.document(&json!({"node": node, "receipt": receipt}))?;
    } else {
        context.output.text(&format!("{node} was stopped, receipt {receipt}"))?;
    }
    Ok(Exit::Fine)
}
