//! `prose trigger`

use std::{
    fs::File,
    io::{self, Read},
};

use prose_api::v1;
use serde_json::json;

use super::Context;
use crate::{
    cli::Trigger,
    connect::Session,
    error::{Error, Exit},
    show::clean_lines,
};

pub(super) async fn run(context: &Context, asked: Trigger) -> Result<Exit, Error> {
    let event = read(&asked.event)?;
    let key = asked.key.map_or_else(fresh_key, Ok)?;
    let (outcome, reason) = Session::with(context, None, async |session| {
        let (gateway, key) = (asked.node.clone(), key.clone());
        let event = v1::Event { gateway, event: event.into(), key };
        let request = v1::IngestRequest { reactor: session.reactor.clone(), events: vec![event] };
        let answer = session.client.ingest(request).await?.into_inner();
        let outcome = answer.outcomes.into_iter().next().unwrap_or_default();
        let reason = if outcome.status == "failed" {
            Some(session.failure(&outcome.receipt).await?)
        } else {
            None
        };
        Ok((outcome, reason))
    })
    .await?;
    let output = context.output;
    if output.json {
        output.document(&json!({
            "gateway": asked.node,
            "key": key,
            "status": outcome.status,
            "receipt": (!outcome.receipt.is_empty()).then_some(&outcome.receipt),
            "repeated": outcome.repeated,
            "reason": reason,
        }))?;
    } else {
        let again = if outcome.repeated { " (this key was taken in before)" } else { "" };
        let receipt = if outcome.receipt.is_empty() {
            String::new()
        } else {
            format!(", receipt {}", outcome.receipt)
        };
        let status = output.paint.status(&outcome.status);
        output.text(&format!("{} {status}{receipt}{again}", asked.node))?;
        if let Some(reason) = reason {
            output.text(&clean_lines(&reason))?;
        }
    }
    Ok(if outcome.status == "failed" { Exit::Failed } else { Exit::Fine })
}

/// The event's bytes as they are; what is wrong with them the coordinator says.
fn read(event: &str) -> Result<Vec<u8>, Error> {
    let unreadable = |error: io::Error| Error {
        code: "event_unreadable".into(),
        message: format!("the event in {event} cannot be read: {error}"),
        help: None,
        exit: Exit::Unable,
    };
    let source: Box<dyn Read> = match event.strip_prefix('@') {
        Some(file) => Box::new(File::open(file).map_err(unreadable)?),
        None if event == "-" => Box::new(io::stdin()),
        None => return Ok(event.as_bytes().to_vec()),
    };
    let max = prose_engine::EVENT_BYTES_MAX;
    let mut bytes = Vec::new();
    // One byte more than may be shows that there is more, however much it is.
    source.take(max as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > max {
        return Err(Error {
            code: "event_too_large".into(),
            message: format!("the event in {event} is longer than {max} bytes"),
            help: Some("put large content elsewhere, and its address into the event".into()),
            exit: Exit::Unable,
        });
    }
    Ok(bytes)
}

/// A key that no other delivery has.
fn fresh_key() -> Result<String, Error> {
    let number = getrandom::u64().map_err(crate::key::Error::NoRandomness)?;
    Ok(format!("trigger:{number:016x}"))
}
