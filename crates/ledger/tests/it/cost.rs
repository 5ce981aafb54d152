//! Every token has a cause.

use proptest::prelude::*;
use prose_ledger::{CostSummary, Failure, FailureClass, Status, SurpriseCause, Tally, Tokens};

use crate::build::receipt;

fn sum<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
    tallies.fold(Tally::default(), |mut sum, tally| {
        sum.rendered += tally.rendered;
        sum.skipped += tally.skipped;
        sum.failed += tally.failed;
        sum.fresh += tally.fresh;
        sum.reused += tally.reused;
        sum
    })
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_whole(
        decisions in prop::collection::vec((0..3usize, 0..3usize, 0..5usize, 0..1000u64, 0..1000u64), 0..40)
    ) {
        let causes = [
            SurpriseCause::Input, SurpriseCause::Freshness, SurpriseCause::External,
            SurpriseCause::Contract, SurpriseCause::Retry,
        ];
        let mut receipts = Vec::new();
        for (node, status, cause, fresh, reused) in decisions {
            let mut receipt = receipt(["a", "b", "c"][node], 1);
            receipt.status = [Status::Rendered, Status::Skipped, Status::Failed][status];
            receipt.cost.surprise_cause = causes[cause];
            match receipt.status {
                Status::Rendered => receipt.cost.tokens = Tokens { fresh, reused },
                Status::Skipped => receipt.moved = vec![],
                Status::Failed => {
                    receipt.moved = vec![];
                    receipt.cost.tokens = Tokens { fresh, reused };
                    receipt.failure = Some(Failure {
                        addressed_to: None,
                        class: FailureClass::Render,
                        needs: None,
                        reason: String::new(),
                    });
                }
            }
            prop_assert!(receipt.check().is_ok());
            receipts.push(receipt);
        }
        let summary = CostSummary::of(&receipts);
        let fresh: u64 = receipts.iter().map(|r| r.cost.tokens.fresh).sum();
        prop_assert_eq!(summary.all.total.fresh, fresh);
        prop_assert_eq!(sum(summary.all.by_cause.values()), summary.all.total);
        prop_assert_eq!(sum(summary.nodes.values().map(|n| &n.total)), summary.all.total);
        for node in summary.nodes.values() {
            prop_assert_eq!(sum(node.by_cause.values()), node.total);
        }
    }
}
