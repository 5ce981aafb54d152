//! `prose receipts verify`

mod offline;

use std::cell::RefCell;

use prose_api::{Prose, v1};
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
    ledger,
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
    let remote = Remote {
        client: session.client.clone(),
        reactor: session.reactor.clone(),
        handle: Handle::current(),
    };
    // The verifier asks for contents in the middle of its work, so it waits on a thread of its own.
    let report = tokio::task::spawn_blocking({
        let keys = keys.clone();
        move || remote.verify(&ring, &keys, &head, until)
    });
    let report = report.await.map_err(|error| Error {
        code: "internal".into(),
        message: format!("verification broke off: {error}"),
        help: None,
        exit: Exit::Failed,
    })??;
    Ok(Verified { report, keys })
}

/// A coordinator as a thread that may wait sees it.
struct Remote {
    client: Prose,
    reactor: String,
    handle: Handle,
}

impl Remote {
    fn verify(
        mut self,
        ring: &KeyRing,
        keys: &[String],
        head: &[u8],
        until: Option<u64>,
    ) -> Result<Report, Error> {
        // A content that cannot be fetched is not one that is missing.
        let broken = RefCell::new(None);
        let (client, handle) = (self.client.clone(), self.handle.clone());
        let lookup = |address: &Address| {
            let content = handle.block_on(content(client.clone(), address));
            content.unwrap_or_else(|error| {
                broken.borrow_mut().get_or_insert(error);
                None
            })
        };
        let verifier = verifier(ring, keys).of_reactor(self.reactor.as_str());
        let mut verifier = verifier.with_contents(Box::new(lookup));
        let (mut receipts, mut findings, mut after) = (0, Vec::new(), 0);
        'log: loop {
            let page = ledger::page(&mut self.client, &self.reactor, "", after);
            let page = self.handle.block_on(page)?;
            let Some(last) = page.last() else { break };
            after = last.position;
            for row in page {
                if until.is_some_and(|until| row.position > until) {
                    break 'log;
                }
                receipts += 1;
                findings.extend(verifier.push(&row.body, stored(&row.address).as_ref()));
            }
        }
        findings.extend(verifier.finish(Some(head)));
        broken.into_inner().map_or(Ok(Report { receipts, findings }), Err)
    }
}

/// The address that a receipt is stored under; one that is none counts as a wrong one.
fn stored(address: &str) -> Option<Address> {
    Some(address.parse().unwrap_or_else(|_| Address::of(&[])))
}

async fn content(mut client: Prose, address: &Address) -> Result<Option<Vec<u8>>, Error> {
    let request = v1::GetContentsRequest { addresses: vec![address.as_str().to_owned()] };
    let mut answer = client.get_contents(request).await?.into_inner();
    Ok(answer.contents.remove(address.as_str()).map(Vec::from))
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
