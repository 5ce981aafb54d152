//! Decisions become receipts: chained, signed, and counted in the ledger's head.

use prose_ir::Address;
use prose_ledger::{
    Addressed, Cost, Cut, Failure, FailureClass, Head, InputFingerprint, Kind, Moment, Receipt,
    ReceiptError, Status, SurpriseCause, Tokens, Version, Wake, WakeSource, Waves,
};
use prose_reconciler::{self as core, Draft, Place, Seal};

/// The largest integer that every JSON reader keeps exactly.
const COUNT_MAX: u64 = prose_truth::json::MAX_SAFE_INTEGER;

/// Chains the receipts of one operation; they are signed when all are there.
pub(crate) struct Sealer<'a> {
    pub(crate) reactor: &'a str,
    pub(crate) head: &'a mut Head,
    pub(crate) receipts: &'a mut Vec<Addressed>,
    pub(crate) error: &'a mut Option<ReceiptError>,
}

impl Seal for Sealer<'_> {
    fn seal(&mut self, place: Place, draft: Draft) -> Address {
        match Addressed::new(self.receipt(&place, draft)) {
            Ok(addressed) => {
                let address = addressed.address().clone();
                self.head.push(&address);
                self.receipts.push(addressed);
                address
            }
            Err(error) => {
                // The operation is given up as a whole, so nobody will ever see this address.
                *self.error = Some(error);
                Address::of(b"")
            }
        }
    }
}

impl Sealer<'_> {
    fn receipt(&self, place: &Place, draft: Draft) -> Receipt {
        let basis = draft.basis;
        let inputs = basis.pins.into_iter().map(|pin| InputFingerprint {
            need: pin.source.need.clone(),
            producer: pin.source.producer.clone(),
            facet: pin.source.facet.clone(),
            fingerprint: pin.fingerprint,
            receipt: pin.receipt,
        });
        let event = basis.event.map(|event| InputFingerprint {
            need: EVENT_NEED.to_owned(),
            producer: OUTSIDE.to_owned(),
            facet: prose_ir::ATOMIC.to_owned(),
            fingerprint: Some(event),
            receipt: None,
        });
        Receipt {
            as_of: Moment::from_millis(basis.as_of),
            busy: basis.busy.iter().map(ToString::to_string).collect(),
            contract_fingerprint: basis.contract,
            cost: cost(draft.cost, surprise(draft.surprise)),
            cut: match basis.cut {
                core::CutKind::Exact => Cut::Exact,
                core::CutKind::Mixed => Cut::Mixed,
            },
            epoch: place.epoch,
            failure: draft.failure.map(failure),
            fingerprints: draft.fingerprints.as_ref().clone(),
            freshness_epoch: basis.freshness,
            input_fingerprints: inputs.chain(event).collect(),
            kind: Kind,
            moved: draft.moved,
            node: place.node.to_string(),
            prev: place.prev.clone(),
            reactor: self.reactor.to_owned(),
            semantic_diff: draft.diff,
            seq: place.seq,
            status: match draft.status {
                core::Status::Rendered => Status::Rendered,
                core::Status::Skipped => Status::Skipped,
                core::Status::Failed => Status::Failed,
            },
            version: Version,
            wake: Wake {
                refs: draft.wake_refs,
                source: match draft.wake_source {
                    core::WakeSource::Input => WakeSource::Input,
                    core::WakeSource::Own => WakeSource::Own,
                    core::WakeSource::External => WakeSource::External,
                },
            },
            waves: Waves { at: basis.waves.at, first: basis.waves.first },
            world_model: draft.tree,
        }
    }
}

/// The harness of a cost that names none.
const UNNAMED_HARNESS: &str = "unnamed";

/// The name under which a receipt lists the events that were read.
pub(crate) const EVENT_NEED: &str = "@event";
/// The producer of events.
pub(crate) const OUTSIDE: &str = "@outside";

pub(crate) fn status_text(status: Status) -> &'static str {
    match status {
        Status::Rendered => "rendered",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
    }
}

fn surprise(surprise: core::Surprise) -> SurpriseCause {
    match surprise {
        core::Surprise::Contract => SurpriseCause::Contract,
        core::Surprise::External => SurpriseCause::External,
        core::Surprise::Input => SurpriseCause::Input,
        core::Surprise::Retry => SurpriseCause::Retry,
    }
}

fn cost(cost: core::Cost, surprise_cause: SurpriseCause) -> Cost {
    let harness = match cost.harness {
        Some(harness) => harness,
        None if cost.fresh == 0 && cost.reused == 0 => return Cost::nothing(surprise_cause),
        // Whoever spent them did not say its name; the tokens count all the same.
        None => UNNAMED_HARNESS.to_owned(),
    };
    Cost {
        duration_ms: cost.duration_ms.min(COUNT_MAX),
        harness,
        model: cost.model,
        surprise_cause,
        tokens: Tokens { fresh: cost.fresh.min(COUNT_MAX), reused: cost.reused.min(COUNT_MAX) },
    }
}

fn failure(failure: core::Failure) -> Failure {
    let class = match failure.class {
        core::FailureClass::Postcondition => FailureClass::Postcondition,
        core::FailureClass::Render => FailureClass::Render,
        core::FailureClass::Infrastructure => FailureClass::Infrastructure,
        core::FailureClass::Cancelled => FailureClass::Cancelled,
        core::FailureClass::NeedsInput => FailureClass::NeedsInput,
        core::FailureClass::Event => FailureClass::Event,
    };
    // The core carries text; whoever put it there has read it strictly.
    let needs = failure.needs.and_then(|text| serde_json::from_str(&text).ok());
    Failure { addressed_to: failure.addressed_to, class, needs, reason: failure.reason }
}
