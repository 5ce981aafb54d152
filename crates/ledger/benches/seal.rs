//! What sealing costs besides its signature: the two signed and unsigned figures differ by one
//! Ed25519 signature, and the unsigned one should stay below half of that.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use divan::{Bencher, black_box};
use prose_ir::{Address, Fingerprint};
use prose_ledger::{
    Cost, Cut, InputFingerprint, Kind, Moment, Receipt, Sealed, Signer, Status, SurpriseCause,
    Version, Wake, WakeSource, Waves, seal,
};

fn main() {
    divan::main();
}

/// A receipt as a node with three facets and two inputs leaves it.
fn receipt() -> Receipt {
    let token = |text: &str| Fingerprint::of(text.as_bytes());
    let facets = ["@atomic", "funding", "hiring", "products"];
    let input = |facet: &str| InputFingerprint {
        facet: facet.to_owned(),
        fingerprint: Some(token(facet)),
        need: facet.to_owned(),
        producer: "competitor-monitor".to_owned(),
        receipt: Some(Address::of(facet.as_bytes())),
    };
    Receipt {
        as_of: Moment::from_millis(1_796_040_000_000),
        busy: vec![],
        contract_fingerprint: token("contract"),
        cost: Cost::nothing(SurpriseCause::Input),
        cut: Cut::Exact,
        epoch: 3,
        failure: None,
        fingerprints: facets.iter().map(|f| ((*f).to_owned(), token(f))).collect(),
        freshness_epoch: 12,
        input_fingerprints: vec![input("funding"), input("hiring")],
        kind: Kind,
        moved: vec![],
        node: "competitor-brief".to_owned(),
        prev: Some(Address::of(b"prev")),
        reactor: "main".to_owned(),
        semantic_diff: None,
        seq: 1234,
        status: Status::Skipped,
        version: Version,
        wake: Wake { refs: vec![Address::of(b"cause")], source: WakeSource::Input },
        waves: Waves { at: 5678, first: 5678 },
        world_model: Some(Address::of(b"tree")),
    }
}

#[divan::bench]
fn signature_alone(bencher: Bencher<'_, '_>) {
    let signer = Signer::ed25519(&[7; 32]);
    let address = Address::of(b"receipt");
    bencher.bench(|| signer.sign(black_box(&address)));
}

#[divan::bench]
fn seal_signed(bencher: Bencher<'_, '_>) {
    let signer = Signer::ed25519(&[7; 32]);
    let inputs = bencher.with_inputs(receipt);
    inputs.bench_values(|receipt| seal(receipt, &signer).unwrap());
}

#[divan::bench]
fn seal_unsigned(bencher: Bencher<'_, '_>) {
    let signer = Signer::unsigned("none");
    let inputs = bencher.with_inputs(receipt);
    inputs.bench_values(|receipt| seal(receipt, &signer).unwrap());
}

#[divan::bench]
fn read_back(bencher: Bencher<'_, '_>) {
    let sealed = seal(receipt(), &Signer::ed25519(&[7; 32])).unwrap();
    bencher.bench(|| Sealed::parse(black_box(&sealed.bytes)).unwrap());
}
