//! `prose receipts verify`

mod offline;

use prose_api::v1;
use prose_ir::Address;
use prose_ledger::{
    KeyRing, SignedHead,
    verify::{Finding, Report, Verifier},
};
use serde_json::json;
use tokio::runtime::Handle;

use super::{Context, export};
use crate::{
    cli::ReceiptsVerify,
    commands::compile::plural,
    connect::Session,
    error::{Error, Exit},
    show::clean,
};

/// What was verified, and against which keys.
struct Verified {
    report: Report,
    keys: Vec<String>,
}

pub(super) async fn run(context: &Context, asked: ReceiptsVerify) -> Result<Exit, Error> {
    let pinned = (!asked.key.is_empty()).then_some(asked.key);
    let verified = match &asked.export {
        Some(dir) => offline::verify(dir, pinned.as_deref())?,
        None => {
            Session::with(context, None, async |session| online(session, pinned.as_deref()).await)
                .await?
        }
    };
    show(context, &verified, pinned.is_none() && asked.export.is_some())
}

/// A ring of these keys; none of them means that nothing has to be signed.
fn ring(keys: &[String]) -> Result<KeyRing, Error> {
    let mut ring = KeyRing::new();
    for key in keys {
        ring.add(key).map_err(|error| Error::from(error).at(&format!("{:?}", clean(key))))?;
    }
    Ok(ring)
}

fn verifier<'a>(ring: &'a KeyRing, keys: &[String]) -> Verifier<'a> {
    let verifier = Verifier::new(ring);
    if keys.is_empty() { verifier } else { verifier.require_signatures() }
}

/// Verifies what a coordinator has.
async fn online(session: &mut Session, pinned: Option<&[String]>) -> Result<Verified, Error> {
    let (head, own) = session.head().await?;
    let keys = pinned.map_or(own, <[String]>::to_vec);
    let ring = ring(&keys)?;
    // While others write, receipts come that this head does not vouch for yet.
    let until = match SignedHead::parse(&head) {
        Ok(head) if !session.is_local() => Some(head.head.receipts),
        _ => None,
    };
    let reactor = session.reactor.clone();
    let mut rows = Vec::new();
    let take = |row| {
        rows.push(row);
        Ok(())
    };
    session.each_receipt("", 0, until, take).await?;
    let client = session.client.clone();
    let handle = Handle::current();
    let report = tokio::task::spawn_blocking({
        let keys = keys.clone();
        move || {
            let lookup = |address: &Address| handle.block_on(content(client.clone(), address));
            let mut verifier =
                verifier(&ring, &keys).of_reactor(reactor).with_contents(Box::new(lookup));
            let mut findings = Vec::new();
            for row in &rows {
                findings.extend(verifier.push(&row.body, stored(&row.address).as_ref()));
            }
            findings.extend(verifier.finish(Some(&head)));
            Report { receipts: rows.len() as u64, findings }
        }
    });
    let report = report.await.map_err(|error| Error {
        code: "internal".into(),
        message: format!("verification broke off: {error}"),
        help: None,
        exit: Exit::Failed,
    })?;
    Ok(Verified { report, keys })
}

/// The address that a receipt is stored under; one that is none counts as a wrong one.
fn stored(address: &str) -> Option<Address> {
    Some(address.parse().unwrap_or_else(|_| Address::of(&[])))
}

async fn content(mut client: prose_api::Prose, address: &Address) -> Option<Vec<u8>> {
    let request = v1::GetContentsRequest { addresses: vec![address.as_str().to_owned()] };
    let mut answer = client.get_contents(request).await.ok()?.into_inner();
    answer.contents.remove(address.as_str()).map(Vec::from)
}

impl Session {
    /// The newest head, and the keys that the coordinator has signed with.
    pub(super) async fn head(&mut self) -> Result<(Vec<u8>, Vec<String>), Error> {
        let request = v1::GetHeadRequest { reactor: self.reactor.clone() };
        let answer = self.client.get_head(request).await?.into_inner();
        Ok((answer.head.into(), answer.keys))
    }
}

fn show(context: &Context, verified: &Verified, keys_of_export: bool) -> Result<Exit, Error> {
    let Verified { report, keys } = verified;
    let output = context.output;
    let sound = report.is_sound();
    if output.json {
        let findings: Vec<_> = report.findings.iter().map(document).collect();
        output.document(&json!({
            "sound": sound,
            "receipts": report.receipts,
            "keys": keys,
            "findings": findings,
        }))?;
    } else {
        for finding in &report.findings {
            let text = clean(&finding.to_string());
            let paint = output.paint;
            output.text(&if finding.is_note() { paint.warn(&text) } else { paint.bad(&text) })?;
        }
        let receipts = plural(usize::try_from(report.receipts).unwrap_or(usize::MAX), "receipt");
        let verdict = if sound { "sound" } else { "NOT sound" };
        output.text(&format!("{receipts} read: the ledger is {verdict}"))?;
        for key in keys {
            let origin = if keys_of_export { ", as the export itself says" } else { "" };
            output.text(&format!("signed with {key}{origin}"))?;
        }
    }
    Ok(if sound { Exit::Fine } else { Exit::Failed })
}

fn document(finding: &Finding) -> serde_json::Value {
    json!({
        "code": finding.code(),
        "note": finding.is_note(),
        "position": finding.position,
        "node": finding.node,
        "seq": finding.seq,
        "address": finding.address,
        "message": finding.problem.to_string(),
    })
}
