//! Whatever is changed, cut off, forged or lost is found and named.

use std::collections::BTreeMap;

use prose_ir::Address;
use prose_ledger::{
    Head, KeyRing, Moment, SignedHead, Signer, seal,
    verify::{Finding, Report, Verifier, verify},
};

use crate::build::{Log, log, receipt, signer};

fn ring() -> KeyRing {
    KeyRing::of([signer().key_id().unwrap()]).unwrap()
}

fn check(
    receipts: &[Vec<u8>],
    head: Option<&[u8]>,
    contents: &BTreeMap<Address, Vec<u8>>,
) -> Report {
    let ring = ring();
    let verifier = Verifier::new(&ring)
        .require_signatures()
        .with_contents(Box::new(|address| contents.get(address).cloned()));
    verify(verifier, receipts, head)
}

fn codes(report: &Report) -> Vec<(Option<u64>, &str)> {
    let findings = report.findings.iter();
    findings.map(|f| (f.position, f.code())).collect()
}

fn sample() -> Log {
    log(&["a", "b", "a", "b", "a"], &signer())
}

fn check_log(log: &Log) -> Report {
    check(&log.receipts, Some(&log.head.bytes), &log.contents)
}

#[test]
fn a_sound_log_is_sound() {
    let report = check_log(&sample());
    assert_eq!(codes(&report), []);
    assert!(report.is_sound());
    assert_eq!(report.receipts, 5);
    let empty = log(&[], &signer());
    assert!(check_log(&empty).is_sound());
}

#[test]
fn every_changed_byte_of_a_small_export_is_found() {
    let log = log(&["a", "a"], &Signer::unsigned("signatures are slow when not optimised"));
    let ring = KeyRing::new();
    let check = |receipts: &[Vec<u8>], head: &[u8], contents: &BTreeMap<Address, Vec<u8>>| {
        let lookup = |address: &Address| contents.get(address).cloned();
        let verifier = Verifier::new(&ring).with_contents(Box::new(lookup));
        verify(verifier, receipts, Some(head))
    };
    assert!(check(&log.receipts, &log.head.bytes, &log.contents).is_sound());
    for position in 0..log.receipts.len() {
        for at in 0..log.receipts[position].len() {
            // Without a key, the admission that there is none is all that nothing vouches for.
            let changed = flipped(&log.receipts[position], at);
            if matches!(seal_of(&changed), Some(address) if address == log.sealed[position].address)
            {
                continue;
            }
            let mut receipts = log.receipts.clone();
            receipts[position] = changed;
            let report = check(&receipts, &log.head.bytes, &log.contents);
            assert!(!report.is_sound(), "receipt {position}, byte {at}");
        }
    }
    for (address, bytes) in &log.contents {
        for at in 0..bytes.len() {
            let mut contents = log.contents.clone();
            contents.insert(address.clone(), flipped(bytes, at));
            let report = check(&log.receipts, &log.head.bytes, &contents);
            let named = report
                .findings
                .iter()
                .any(|finding| finding.to_string().contains(address.as_str()));
            assert!(named, "{address}, byte {at}: {:?}", codes(&report));
        }
    }
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

fn seal_of(bytes: &[u8]) -> Option<Address> {
    Some(prose_ledger::Sealed::parse(bytes).ok()?.address)
}

#[test]
fn a_changed_byte_of_a_signed_receipt_or_head_is_named_at_its_place() {
    /// Every byte would take long without optimisation; being prime, it meets every member.
    const STRIDE: usize = 5;
    let log = log(&["a"], &signer());
    let ring = ring();
    for at in (0..log.receipts[0].len()).step_by(STRIDE) {
        let mut verifier = Verifier::new(&ring).require_signatures();
        let found = verifier.push(&flipped(&log.receipts[0], at), None);
        assert_eq!(found.first().and_then(|f| f.position), Some(1), "byte {at}");
    }
    for at in (0..log.head.bytes.len()).step_by(STRIDE) {
        let verifier = Verifier::new(&ring).require_signatures();
        let found = verifier.finish(Some(&flipped(&log.head.bytes, at)));
        let about_head = |f: &Finding| f.code().starts_with("head_");
        assert!(found.iter().any(about_head), "byte {at}");
    }
}

#[test]
fn cutting_off_the_newest_receipts_is_found() {
    let log = sample();
    let cut = check(&log.receipts[..3], Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&cut), [(None, "log_truncated")]);
    let headless = check(&log.receipts, None, &log.contents);
    assert_eq!(codes(&headless), [(None, "head_missing")]);
    let empty = check(&[], Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&empty), [(None, "log_truncated")]);
}

#[test]
fn removing_repeating_or_reordering_receipts_is_found() {
    let log = sample();
    let mut removed = log.receipts.clone();
    removed.remove(2);
    let report = check(&removed, Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&report), [(Some(4), "seq_gap"), (None, "log_truncated")]);

    let mut repeated = log.receipts.clone();
    repeated.push(log.receipts[4].clone());
    let report = check(&repeated, Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&report), [(Some(6), "fork"), (None, "log_beyond_head")]);

    let mut swapped = log.receipts.clone();
    swapped.swap(0, 1);
    let report = check(&swapped, Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&report), [(None, "root_mismatch")]);
}

#[test]
fn a_rewritten_history_is_found_even_with_the_right_key() {
    let log = sample();
    let mut receipts = log.receipts.clone();
    let mut forged = log.sealed[2].receipt.clone();
    forged.semantic_diff = Some("nothing to see".into());
    receipts[2] = seal(forged, &signer()).unwrap().bytes;
    let report = check(&receipts, Some(&log.head.bytes), &log.contents);
    assert_eq!(codes(&report), [(Some(5), "prev_mismatch"), (None, "root_mismatch")]);
}

#[test]
fn signatures_are_judged_by_the_key_ring() {
    let stranger = log(&["a"], &Signer::ed25519(&[9; 32]));
    let report = check_log(&stranger);
    assert_eq!(codes(&report), [(Some(1), "unknown_key"), (None, "head_unknown_key")]);

    // A believed key's name on a stranger's signature.
    let name = |text: Vec<u8>, from: &str, to: &str| {
        String::from_utf8(text).unwrap().replace(from, to).into_bytes()
    };
    let (theirs, ours) = (Signer::ed25519(&[9; 32]), signer());
    let (theirs, ours) = (theirs.key_id().unwrap(), ours.key_id().unwrap());
    let receipts = [name(stranger.receipts[0].clone(), theirs, ours)];
    let head = name(stranger.head.bytes.clone(), theirs, ours);
    let report = check(&receipts, Some(&head), &stranger.contents);
    assert_eq!(codes(&report), [(Some(1), "bad_signature"), (None, "head_bad_signature")]);
}

#[test]
fn honestly_unsigned_is_a_note_unless_signatures_are_required() {
    let log = log(&["a", "a"], &Signer::unsigned("no key yet"));
    let ring = KeyRing::new();
    let report = verify(Verifier::new(&ring), &log.receipts, Some(&log.head.bytes));
    assert_eq!(codes(&report), [(None, "some_unsigned")]);
    assert!(report.is_sound());
    let report = check_log(&log);
    assert_eq!(
        codes(&report),
        [(Some(1), "unsigned"), (Some(2), "unsigned"), (None, "head_unsigned")]
    );
    assert!(!report.is_sound());
}

#[test]
fn missing_contents_are_named_at_the_receipt_that_needs_them() {
    let log = sample();
    for lost in log.contents.keys() {
        let mut contents = log.contents.clone();
        contents.remove(lost);
        let report = check(&log.receipts, Some(&log.head.bytes), &contents);
        assert!(!report.findings.is_empty());
        for finding in &report.findings {
            assert!(["tree_missing", "blob_missing"].contains(&finding.code()));
            assert!(finding.to_string().contains(lost.as_str()), "{finding}");
        }
    }
}

#[test]
fn receipts_and_heads_of_other_reactors_and_wrong_addresses_are_found() {
    let mut other = receipt("a", 1);
    other.reactor = "other".into();
    let other = seal(other, &signer()).unwrap();
    let ring = ring();
    let mut verifier = Verifier::new(&ring).of_reactor("main");
    let wrong = Address::of(b"wrong");
    let found = verifier.push(&other.bytes, Some(&wrong));
    let found: Vec<_> = found.iter().map(Finding::code).collect();
    assert_eq!(found, ["address_mismatch", "other_reactor"]);
    let mut head = Head::empty("other", Moment::from_millis(0));
    head.push(&other.address);
    let head = head.sign(&signer()).unwrap();
    let found = verifier.finish(Some(&head.bytes));
    assert_eq!(found[0].code(), "head_other_reactor");
}

#[test]
fn a_head_reads_back_and_its_form_is_frozen() {
    let mut head = Head::empty("main", Moment::from_millis(0));
    head.push(&Address::of(b"receipt"));
    let signed = head.sign(&Signer::unsigned("none")).unwrap();
    assert_eq!(SignedHead::parse(&signed.bytes).unwrap(), signed);
    let root = Address::of(
        format!("{}{}", Address::of(b"prose.log.v1"), Address::of(b"receipt")).as_bytes(),
    );
    assert_eq!(
        String::from_utf8(signed.bytes).unwrap(),
        format!(
            r#"{{"as_of":"1970-01-01T00:00:00.000Z","kind":"prose.head","reactor":"main","receipts":1,"root":"{root}","sig":{{"reason":"none","scheme":"none"}},"version":1}}"#
        )
    );
}
