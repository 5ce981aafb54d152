//! Receipts and small logs to test with.

use std::collections::BTreeMap;

use prose_ir::{Address, Fingerprint};
use prose_ledger::{
    Cost, Cut, Head, Kind, Moment, Receipt, Sealed, SignedHead, Signer, Status, SurpriseCause,
    Version, Wake, WakeSource, Waves, seal,
};
use prose_truth::{Files, Limits, TreePath};

pub fn receipt(node: &str, seq: u64) -> Receipt {
    Receipt {
        as_of: Moment::from_millis(1_796_040_000_000),
        busy: vec![],
        contract_fingerprint: Fingerprint::of(b"contract"),
        cost: Cost::nothing(SurpriseCause::External),
        cut: Cut::Exact,
        epoch: 1,
        failure: None,
        fingerprints: [("@atomic".to_owned(), Fingerprint::of(b"truth"))].into(),
        freshness_epoch: 0,
        input_fingerprints: vec![],
        kind: Kind,
        moved: vec!["@atomic".to_owned()],
        node: node.to_owned(),
        prev: (seq > 1).then(|| Address::of(b"before")),
        reactor: "main".to_owned(),
        semantic_diff: None,
        seq,
        status: Status::Rendered,
        version: Version,
        wake: Wake { refs: vec![], source: WakeSource::External },
        waves: Waves { at: 1, first: 1 },
        world_model: None,
    }
}

pub fn signer() -> Signer {
    Signer::ed25519(&[7; 32])
}

/// A log of several nodes with its head and contents.
pub struct Log {
    pub receipts: Vec<Vec<u8>>,
    pub sealed: Vec<Sealed>,
    pub head: SignedHead,
    pub contents: BTreeMap<Address, Vec<u8>>,
}

pub fn log(nodes: &[&str], signer: &Signer) -> Log {
    let mut head = Head::empty("main", Moment::from_millis(5));
    let mut last: BTreeMap<&str, (u64, Address)> = BTreeMap::new();
    let mut sealed = Vec::new();
    let mut contents = BTreeMap::new();
    for (position, node) in nodes.iter().enumerate() {
        let snapshot = [
            ("truth.json", format!("{{\"n\":{position}}}")),
            ("a/notes.md", "the same".to_owned()),
        ]
        .into_iter()
        .map(|(path, text)| (TreePath::new(path).unwrap(), text.into_bytes().into()))
        .collect::<Files>()
        .snapshot(&Limits::default())
        .unwrap();
        contents.insert(snapshot.address.clone(), snapshot.bytes);
        contents.extend(snapshot.blobs.into_iter().map(|(at, blob)| (at, blob.to_vec())));
        let prev = last.get(node);
        let mut draft = receipt(node, prev.map_or(1, |(seq, _)| seq + 1));
        draft.prev = prev.map(|(_, address)| address.clone());
        draft.world_model = Some(snapshot.address);
        let one = seal(draft, signer).unwrap();
        head.push(&one.address);
        last.insert(node, (one.receipt.seq, one.address.clone()));
        sealed.push(one);
    }
    Log {
        receipts: sealed.iter().map(|one| one.bytes.clone()).collect(),
        sealed,
        head: head.sign(signer).unwrap(),
        contents,
    }
}
