//! `prose watch`

use prose_api::v1;

use super::Context;
use crate::{
    cli::Watch,
    connect::Session,
    error::{Error, Exit},
    ledger,
    show::{Output, receipt},
};

pub(super) async fn run(context: &Context, asked: Watch) -> Result<Exit, Error> {
    let mut session = Session::running(context, asked.folder.dir.as_ref()).await?;
    let request = v1::WatchRequest {
        reactor: session.reactor.clone(),
        after: asked.after.unwrap_or(0),
        from_now: asked.after.is_none(),
    };
    let mut stream = session.client.watch(request).await?.into_inner();
    let mut position = asked.after;
    let mut left = asked.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let row = match stream.message().await {
            Ok(Some(row)) => row,
            Ok(None) => return Err(ended(position)),
            Err(status) => {
                let mut error = Error::from(status);
                error.help = ended(position).help;
                return Err(error);
            }
        };
        print(context.output, &row)?;
        position = Some(row.position);
        left -= 1;
    }
    Ok(Exit::Fine)
}

/// One receipt as it is followed.
pub(crate) fn print(output: Output, row: &v1::Receipt) -> Result<(), Error> {
    if output.json {
        return output.line(&ledger::document(row));
    }
    output.text(&receipt::line(row.position, &ledger::parse(row)?, output.paint))
}

fn ended(position: Option<u64>) -> Error {
    Error {
        code: "coordinator_gone".into(),
        message: "the coordinator has ended".into(),
        help: position.map(|at| format!("go on later with: prose watch --after {at}")),
        exit: Exit::Unable,
    }
}
