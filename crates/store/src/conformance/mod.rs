//! What every store must do, as one suite that each implementation runs over itself.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod contents;
mod ledger;
mod locks;
mod nodes;
mod values;
mod writes;

use std::sync::Arc;

use async_trait::async_trait;
use prose_ir::Address;

use crate::{Begun, Changes, Content, NewReceipt, NodeRow, Page, ReceiptQuery, Store};

/// Somewhere a store keeps its state.
#[async_trait]
pub trait Place: Send + Sync {
    /// Opens the state, at first an empty one, after every earlier handle to it was dropped.
    async fn open(&self) -> Arc<dyn Store>;
}

/// Runs the suite, each case in a place of its own.
pub async fn run<P: Place>(new_place: impl AsyncFn() -> P) {
    macro_rules! cases {
        ($($case:path),+ $(,)?) => {
            $(
                let place = new_place().await;
                let store = place.open().await;
                assert!(store.create_reactor(R).await.unwrap());
                eprintln!("conformance: {}", stringify!($case));
                $case(&store).await;
                drop((store, place));
            )+
        };
    }
    cases![
        writes::all_or_nothing,
        writes::a_revision_is_counted,
        writes::reactors_are_created_once,
        writes::the_outbox_keeps_order_until_settled,
        writes::deliveries_are_unique_per_reactor,
        writes::events_are_read_by_range,
        writes::epochs_are_kept,
        locks::two_transactions_never_overlap,
        locks::a_dropped_transaction_frees_the_lock,
        locks::cancelled_operations_leave_nothing,
        locks::a_failed_commit_frees_the_lock,
        locks::readers_do_not_wait_and_see_only_commits,
        locks::many_tasks_count_without_a_gap,
        nodes::only_what_changed_is_loaded,
        nodes::removed_nodes_keep_their_chain,
        nodes::deadlines_come_soonest_first,
        ledger::chains_take_no_gap_and_no_fork,
        ledger::pages_cover_a_ledger_in_both_directions,
        ledger::receipts_are_found_by_address_and_prefix,
        contents::storing_twice_changes_nothing,
        contents::old_contents_are_found_among_many,
        contents::large_bytes_come_back_whole,
        values::any_text_and_bytes_come_back,
        values::nothing_is_known_of_strangers,
    ];
    let place = new_place().await;
    eprintln!("conformance: everything_is_there_after_reopening");
    writes::everything_is_there_after_reopening(&place).await;
}

/// The reactor that each case starts with.
const R: &str = "main";

/// A store, as the cases see it.
type S = Arc<dyn Store>;

async fn begin(store: &S) -> Begun {
    store.begin(R, None).await.unwrap().unwrap()
}

async fn commit(store: &S, changes: Changes) -> u64 {
    let (transaction, _) = begin(store).await;
    transaction.commit(changes).await.unwrap()
}

fn node(name: &str, state: &str) -> NodeRow {
    NodeRow { node: name.into(), state: state.into(), deadline: None }
}

/// A receipt whose bytes say where it belongs.
fn receipt(position: u64, node: &str, seq: u64) -> NewReceipt {
    let bytes = format!("{position} {node} {seq}").into_bytes();
    NewReceipt {
        position,
        node: node.into(),
        seq,
        address: Address::of(&bytes),
        status: "rendered".into(),
        bytes,
    }
}

fn content(bytes: &[u8]) -> Content {
    Content { address: Address::of(bytes), bytes: bytes.to_vec() }
}

fn all_receipts() -> ReceiptQuery {
    ReceiptQuery { node: None, page: Page::OldestFirst { after: 0 }, limit: usize::MAX }
}
