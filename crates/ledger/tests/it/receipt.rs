//! Sealing and reading back.

use proptest::prelude::*;
use prose_ir::{Address, Fingerprint};
use prose_ledger::{
    Cut, Failure, FailureClass, InputFingerprint, Moment, Receipt, ReceiptError, Sealed, Sig,
    Signer, Status, SurpriseCause, Tokens, Wake, WakeSource, Waves, seal,
};
use serde_json::{Value, json};

use crate::build::{receipt, signer};

#[test]
fn the_stored_form_is_frozen() {
    let sealed = seal(receipt("watch", 1), &signer()).unwrap();
    let golden = include_str!("receipt.json").trim_end();
    assert_eq!(String::from_utf8(sealed.bytes.clone()).unwrap(), golden);
    assert_eq!(Sealed::parse(golden.as_bytes()).unwrap(), sealed);
}

#[test]
fn the_address_covers_everything_but_the_signature() {
    let signed = seal(receipt("watch", 1), &signer()).unwrap();
    let unsigned = seal(receipt("watch", 1), &Signer::unsigned("no key")).unwrap();
    assert_eq!(signed.address, unsigned.address);
    assert_ne!(signed.bytes, unsigned.bytes);
    let mut value: Value = serde_json::from_slice(&signed.bytes).unwrap();
    value.as_object_mut().unwrap().remove("sig");
    let body = serde_json_canonicalizer::to_vec(&value).unwrap();
    assert_eq!(Address::of(&body), signed.address);
}

#[test]
fn a_receipt_that_contradicts_itself_is_not_sealed() {
    let code = |change: &dyn Fn(&mut Receipt)| {
        let mut draft = receipt("watch", 2);
        change(&mut draft);
        seal(draft, &signer()).map_err(|error| error.code()).err()
    };
    assert_eq!(code(&|_| ()), None);
    let inconsistent = Some("receipt_inconsistent");
    assert_eq!(code(&|r| r.prev = None), inconsistent);
    assert_eq!(code(&|r| r.seq = 0), inconsistent);
    assert_eq!(code(&|r| r.status = Status::Failed), inconsistent);
    assert_eq!(code(&|r| r.status = Status::Skipped), inconsistent);
    assert_eq!(code(&|r| r.busy = vec!["a".into()]), inconsistent);
    assert_eq!(code(&|r| r.waves.first = 2), inconsistent);
    let beyond = Some("receipt_number_range");
    assert_eq!(code(&|r| r.cost.tokens.fresh = 1 << 53), beyond);
    assert_eq!(code(&|r| r.waves.at = u64::MAX), beyond);
}

#[test]
fn only_the_one_form_is_read() {
    let good = String::from_utf8(seal(receipt("watch", 1), &signer()).unwrap().bytes).unwrap();
    let reordered: Value = serde_json::from_str(&good).unwrap();
    let reversed: serde_json::Map<_, _> =
        reordered.as_object().unwrap().iter().rev().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (bad, code) in [
        (good.replacen(':', ": ", 1), "receipt_not_canonical"),
        (serde_json::to_string(&reversed).unwrap(), "receipt_not_canonical"),
        (good.replace("\"busy\"", "\"x\""), ""),
        (good.replace("watch", "w\\u0061tch"), "receipt_not_canonical"),
        (good.replace("\"epoch\":1", "\"epoch\":1.0"), "receipt_malformed"),
        (good.replace("\"epoch\":1", "\"epoch\":1,\"extra\":1"), "receipt_malformed"),
        (good.replace("\"epoch\":1,", ""), "receipt_malformed"),
        (good.replace("\"failure\":null,", ""), "receipt_not_canonical"),
        (good.replace("prose.receipt", "prose.deceit"), "receipt_malformed"),
        (good.replace("\"version\":1", "\"version\":2"), "receipt_malformed"),
        (good.replace("\"seq\":1", "\"seq\":0"), "receipt_inconsistent"),
        (good.replace("\"scheme\":\"ed25519\"", "\"scheme\":\"none\""), "receipt_malformed"),
        (good[..good.len() - 1].to_owned(), "receipt_malformed"),
        (String::new(), "receipt_malformed"),
        ("{}".to_owned(), "receipt_malformed"),
    ] {
        let found = Sealed::parse(bad.as_bytes()).map_or_else(|error| error.code(), |_| "");
        assert_eq!(found, code, "{bad}");
    }
}

#[test]
fn text_that_looks_like_structure_changes_nothing() {
    let tricky = "x\",\"status\":\"failed\",\"sig\":{\u{0}";
    let mut draft = receipt(tricky, 1);
    draft.status = Status::Failed;
    draft.moved = vec![];
    draft.failure = Some(Failure {
        addressed_to: None,
        class: FailureClass::NeedsInput,
        needs: Some(json!({"sig": {"scheme": "none"}, "status": "x", "z": [1.5, 1e-21]})),
        reason: tricky.into(),
    });
    let sealed = seal(draft, &Signer::unsigned(tricky)).unwrap();
    assert_eq!(Sealed::parse(&sealed.bytes).unwrap(), sealed);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", any::<String>(), Just("\u{fb33}\u{1f600}\u{0}".to_owned())]
}

fn any_failure() -> impl Strategy<Value = Failure> {
    let needs = prop_oneof![
        Just(None),
        Just(Some(json!({"b": 1, "a": [1e-21, 0.1, -2.5], "\u{fb33}": 1, "\u{1f600}": 2}))),
    ];
    (any_text(), needs, prop::option::of(any_text())).prop_map(|(reason, needs, addressed_to)| {
        Failure { addressed_to, class: FailureClass::Render, needs, reason }
    })
}

fn any_receipt() -> impl Strategy<Value = Receipt> {
    let texts = || prop::collection::vec(any_text(), 0..3);
    (
        (any_text(), any_text(), texts(), texts(), prop::option::of(any_text())),
        (0..1u64 << 53, 1..9u64, 0..1u64 << 53, any::<i64>()),
        prop::option::of(any_failure()),
    )
        .prop_map(
            |((node, reactor, facets, busy, text), (number, seq, fresh, millis), failure)| {
                let mut receipt = receipt(&node, seq);
                let token = |facet: &String| (facet.clone(), Fingerprint::of(facet.as_bytes()));
                receipt.fingerprints = facets.iter().map(token).collect();
                receipt.input_fingerprints = facets
                    .iter()
                    .map(|facet| InputFingerprint {
                        facet: facet.clone(),
                        fingerprint: Some(Fingerprint::of(b"f")),
                        need: node.clone(),
                        producer: reactor.clone(),
                        receipt: None,
                    })
                    .collect();
                receipt.wake =
                    Wake { refs: vec![Address::of(node.as_bytes())], source: WakeSource::Own };
                receipt.cost.tokens = Tokens { fresh, reused: number };
                receipt.cost.surprise_cause = SurpriseCause::Retry;
                receipt.cost.model.clone_from(&text);
                receipt.as_of = Moment::from_millis(millis);
                receipt.waves = Waves { at: number, first: number };
                receipt.semantic_diff = text;
                receipt.reactor = reactor;
                receipt.moved = facets;
                if !busy.is_empty() {
                    receipt.cut = Cut::Mixed;
                    receipt.busy = busy;
                }
                if failure.is_some() {
                    receipt.status = Status::Failed;
                    receipt.moved = vec![];
                    receipt.failure = failure;
                }
                receipt
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sealed_bytes_are_canonical_json_and_read_back(draft in any_receipt(), reason in any_text()) {
        let sealed = seal(draft, &Signer::unsigned(reason)).unwrap();
        let value: Value = serde_json::from_slice(&sealed.bytes).unwrap();
        let canonical = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(&canonical, &sealed.bytes);
        prop_assert_eq!(Sealed::parse(&sealed.bytes).unwrap(), sealed);
    }

    #[test]
    fn arbitrary_bytes_are_refused_and_never_crash(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Sealed::parse(&bytes).is_err());
    }
}

#[test]
fn an_error_of_the_reader_names_what_is_wrong() {
    let error = Sealed::parse(b"{\"a\":1,\"a\":2}").unwrap_err();
    assert!(matches!(&error, ReceiptError::Malformed(text) if text.contains("twice")), "{error}");
    let Sig::Ed25519 { key, .. } = seal(receipt("w", 1), &signer()).unwrap().sig else {
        panic!("signed")
    };
    assert_eq!(Some(key.as_str()), signer().key_id());
}
