//! `prose receipts show`

use prose_api::v1;

use super::Context;
use crate::{
    cli::ReceiptsShow,
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{clean_lines, now_millis, receipt},
};

pub(super) async fn run(context: &Context, asked: ReceiptsShow) -> Result<Exit, Error> {
    let row = Session::with(context, None, async |session| {
        let (reactor, address) = (session.reactor.clone(), asked.address.clone());
        let request = v1::GetReceiptRequest { reactor, address };
        Ok(session.client.get_receipt(request).await?.into_inner().receipt.unwrap_or_default())
    })
    .await?;
    let document = ledger::document(&row);
    let output = context.output;
    if output.json {
        output.document(&document)?;
        return Ok(Exit::Fine);
    }
    let sealed = ledger::parse(&row)?;
    let said = serde_json::to_string_pretty(&document["receipt"]).unwrap_or_default();
    output.text(&format!(
        "{} {}\n{}\n{}",
        receipt::line(row.position, &sealed, output.paint),
        receipt::when(&sealed, now_millis()),
        sealed.address,
        clean_lines(&said),
    ))?;
    Ok(Exit::Fine)
}
