//! `prose render --force`

use prose_api::v1;

use super::{Context, retry};
use crate::{
    cli::Render,
    connect::Session,
    error::{Error, Exit},
};

pub(super) async fn run(context: &Context, asked: Render) -> Result<Exit, Error> {
    Session::with(context, None, async |session| {
        session.node(&asked.node).await?;
        let (reactor, node) = (session.reactor.clone(), asked.node.clone());
        session.client.render(v1::RenderRequest { reactor, node }).await?;
        retry::said(context, session, &asked.node, "renders")
    })
    .await
}
