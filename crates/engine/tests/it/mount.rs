//! Epochs: what a mount changes, and what it leaves alone.

use prose_engine::{CommitAnswer, EventStatus};
use prose_ir::TOPOLOGY_NODE;
use prose_ledger::{Status, SurpriseCause};
use prose_reconciler::Condition;

use crate::support::{
    FEED, INBOX, PRICED, REACTOR, REPORT, SHOP, STOCKED, World, bundle, code, honest, poll,
    rendered,
};

#[tokio::test]
async fn the_same_bundle_again_changes_nothing() {
    let world = World::empty();
    let first = world.mount(&SHOP).await;
    assert_eq!((first.epoch, first.receipt.is_some()), (1, true));
    let before = world.rows().await;
    let again = world.mount(&SHOP).await;
    assert_eq!((again.epoch, again.receipt), (1, None));
    assert_eq!(world.rows().await, before);
    world.assert_sound().await;
}

#[tokio::test]
async fn the_topology_is_a_truth_like_any_other() {
    let world = World::new(&[FEED, PRICED]).await;
    world.mount(&SHOP).await;
    let chain = world.chain(TOPOLOGY_NODE).await;
    assert_eq!(chain.len(), 2);
    assert_eq!(chain[0].moved, ["@atomic", "feed", "priced"]);
    assert_eq!(chain[1].moved, ["@atomic", "report", "stocked"]);
    assert_eq!((chain[1].epoch, chain[1].seq), (2, 2));
    world.assert_sound().await;
}

#[tokio::test]
async fn a_changed_contract_is_rendered_and_discards_the_flight() {
    let world = World::settled().await;
    world.ingest(vec![poll("second", 2, 10)]).await;
    let lease = world.claim("priced").await;
    let changed = PRICED.replace("The sum.", "The sum of all.");
    let mounted = world.mount(&[FEED, &changed, STOCKED, REPORT]).await;
    assert_eq!(mounted.epoch, 2);
    assert!(!world.engine.heartbeat(REACTOR, "priced", lease.lease.fence).await.unwrap());
    let late = world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert_eq!(late, CommitAnswer::Stale);
    assert_eq!(world.ready().await, ["priced"], "nobody else was touched");
    world.work().await;
    let chain = world.chain("priced").await;
    let last = chain.last().unwrap();
    assert_eq!((last.status, last.epoch), (Status::Rendered, 2));
    assert_eq!(last.cost.surprise_cause, SurpriseCause::Contract);
    assert_eq!(last.wake.refs, [mounted.receipt.unwrap()]);
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_flight_under_an_unchanged_contract_lands_in_the_new_epoch() {
    let world = World::settled().await;
    world.ingest(vec![poll("second", 2, 10)]).await;
    let lease = world.claim("priced").await;
    world.mount(&[FEED, PRICED, STOCKED]).await;
    let answer = world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert!(matches!(answer, CommitAnswer::Rendered(_)));
    assert_eq!(world.chain("priced").await.last().unwrap().epoch, 2);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_retired_node_keeps_its_ledger_and_goes_on_with_its_chain() {
    let world = World::settled().await;
    world.ingest(vec![poll("second", 1, 11)]).await;
    world.work().await;
    let before = world.chain("report").await;
    world.mount(&[FEED, PRICED, STOCKED]).await;
    assert_eq!(code(world.engine.node(REACTOR, "report").await), "node_unknown");
    assert_eq!(world.chain("report").await, before);
    let world = world.restarted();
    world.ingest(vec![poll("third", 3, 11)]).await;
    world.work().await;
    world.mount(&SHOP).await;
    world.work().await;
    let chain = world.chain("report").await;
    assert_eq!(chain.len(), before.len() + 1);
    assert_eq!(chain.last().unwrap().prev, world.chain("report").await[before.len()].prev);
    assert_eq!(world.truth("report").await.unwrap()["line"], "3 and 11");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_retired_render_is_told_to_stop() {
    let world = World::settled().await;
    world.ingest(vec![poll("second", 1, 11)]).await;
    let lease = world.claim("stocked").await;
    world.mount(&[FEED, PRICED]).await;
    assert!(!world.engine.heartbeat(REACTOR, "stocked", lease.lease.fence).await.unwrap());
    let late = world.commit("stocked", rendered(&lease, &honest(&lease))).await;
    assert_eq!(late, CommitAnswer::Stale);
    assert!(world.is_quiet().await);
    world.assert_sound().await;
}

#[tokio::test]
async fn nodes_wait_for_inputs_that_were_never_published() {
    let world = World::new(&SHOP).await;
    assert!(world.is_quiet().await);
    for node in ["priced", "stocked", "report"] {
        let waits = world.node(node).await.condition;
        assert!(matches!(waits, Condition::Waiting(_)), "{node}: {waits:?}");
    }
    world.ingest(vec![poll("first", 1, 2)]).await;
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "1 and 2");
    world.assert_sound().await;
}

#[tokio::test]
async fn what_cannot_be_mounted_is_refused_and_leaves_nothing() {
    let world = World::empty();
    for name in ["", "Shop", "-shop", "a/b", "ä", &"x".repeat(64)] {
        let outcome = world.engine.mount(name, bundle(&SHOP)).await;
        assert_eq!(code(outcome), "reactor_name_invalid");
    }
    let mut broken = bundle(&SHOP);
    broken.contracts.remove("feed");
    assert_eq!(code(world.engine.mount(REACTOR, broken).await), "bundle_invalid");
    assert!(world.engine.reactors().await.unwrap().is_empty());
}

#[tokio::test]
async fn queued_events_survive_retirement() {
    let world = World::new(&[INBOX, FEED]).await;
    world.ingest(vec![crate::support::event("inbox", "1", "1")]).await;
    world.mount(&[FEED]).await;
    world.mount(&[INBOX, FEED]).await;
    world.work().await;
    assert_eq!(world.truth("inbox").await.unwrap().to_string(), r#"{"seen":[1]}"#);
    world.assert_sound().await;
}

/// A gateway without a render body cannot be rendered anew: its standing truth is read under the
/// new contract, and whoever reads what that moved is woken.
#[tokio::test]
async fn a_changed_gateway_reads_its_standing_truth_again() {
    let feed = "---\nname: feed\nkind: gateway\n---\n### Maintains\n- `prices`: by item\n- `stock`: by item\n";
    let split = feed.replace("- `stock`: by item\n", "#### stock\nMaterial: everything.\n");
    let reader = "---\nname: reader\nkind: responsibility\n---\n### Requires\n- `stock` from `feed`\n### Maintains\n- `seen`: a text\n";
    let world = World::new(&[feed]).await;
    world.ingest(vec![poll("first", 1, 2)]).await;
    world.mount(&[&split, reader]).await;

    let chain = world.chain("feed").await;
    let last = chain.last().unwrap();
    assert_eq!((last.status, last.epoch), (Status::Rendered, 2));
    assert_eq!(last.cost.surprise_cause, SurpriseCause::Contract);
    assert!(last.moved.contains(&"stock".to_owned()), "{:?}", last.moved);
    assert_eq!(world.ready().await, ["reader"], "it need not wait for the next event");
    let again = world.statuses_of(vec![poll("second", 1, 2)]).await;
    assert_eq!(again, [EventStatus::Skipped]);

    // What the standing truth does not have, it cannot be read to have.
    let more = format!("{split}\n#### colour\nMaterial: everything.\n");
    world.mount(&[&more, reader]).await;
    assert_eq!(world.statuses("feed").await.last(), Some(&Status::Failed));
    world.assert_sound().await;
}
