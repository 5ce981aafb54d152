//! What can be asked.

use prose_engine::MovedWhat;
use prose_reconciler::{Condition, Waiting};
use prose_store::{Page, ReceiptQuery};

use crate::support::{REACTOR, World, code, gave_up, poll};

#[tokio::test]
async fn an_explanation_names_the_surprise() {
    let world = World::settled().await;
    let poll = world.ingest(vec![poll("a", 1, 11)]).await.remove(0);
    world.render("stocked").await;
    let why = world.engine.explain(REACTOR, "stocked").await.unwrap();
    let [moved] = why.moves.as_slice() else { panic!("{:?}", why.moves) };
    let (need, producer, facet) = ("stock".into(), "feed".into(), "stock".into());
    assert_eq!(moved.what, MovedWhat::Input { need, producer, facet });
    assert_ne!(moved.before, moved.after);
    assert_eq!(moved.receipt, poll.receipt.clone().map(String::from));
    assert_eq!(why.woken_by.len(), 1);
    assert_eq!(Some(&why.woken_by[0].address), poll.receipt.as_ref());
    let feed = world.engine.explain(REACTOR, "feed").await.unwrap();
    assert_eq!(feed.moves[0].what, MovedWhat::Event);
    // After a failure the comparison is with the last decision that was none.
    world.engine.force(REACTOR, "stocked").await.unwrap();
    let lease = world.claim("stocked").await;
    world.commit("stocked", gave_up(&lease)).await;
    let why = world.engine.explain(REACTOR, "stocked").await.unwrap();
    assert!(why.moves.is_empty(), "{:?}", why.moves);
    assert_eq!(code(world.engine.explain(REACTOR, "nobody").await), "node_unknown");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_node_says_what_it_waits_for() {
    let world = World::new(&crate::support::SHOP).await;
    let why = world.engine.explain(REACTOR, "report").await.unwrap();
    assert!(why.last.is_none() && why.moves.is_empty());
    let Condition::Waiting(Waiting::Inputs(inputs)) = why.node.condition else {
        panic!("{:?}", why.node.condition)
    };
    let producers: Vec<_> = inputs.iter().map(|input| input.producer.as_str()).collect();
    assert_eq!(producers, ["priced", "stocked"]);
    world.ingest(vec![poll("a", 1, 1)]).await;
    world.work().await;
    world.ingest(vec![poll("b", 2, 2)]).await;
    world.render("priced").await;
    let Condition::Waiting(Waiting::Unsettled { ancestors, .. }) =
        world.node("report").await.condition
    else {
        panic!("{:?}", world.node("report").await.condition)
    };
    assert_eq!(ancestors, ["stocked".into()]);
    world.assert_sound().await;
}

#[tokio::test]
async fn receipts_are_found_by_page_address_and_prefix() {
    let world = World::settled().await;
    let query = |page| ReceiptQuery { node: Some("feed".into()), page, limit: 1 };
    let newest = Page::NewestFirst { before: None };
    let row = world.engine.receipts(REACTOR, query(newest)).await.unwrap().remove(0);
    let digits = &row.address.as_str()["blake3:".len()..];
    for spelling in [row.address.as_str(), digits, &digits[..20], &row.address.as_str()[..30]] {
        let found = world.engine.receipt(REACTOR, spelling).await.unwrap();
        assert_eq!(found, row, "{spelling}");
    }
    let nothing = "0".repeat(64);
    for spelling in ["", "blake3:", "abc", "%%%%", "____", "zzzz", nothing.as_str()] {
        assert_eq!(
            code(world.engine.receipt(REACTOR, spelling).await),
            "receipt_unknown",
            "{spelling}"
        );
    }
    assert_eq!(code(world.engine.receipt("nowhere", digits).await), "reactor_unknown");
    assert_eq!(code(world.engine.receipts("nowhere", query(newest)).await), "reactor_unknown");
    assert_eq!(code(world.engine.head("nowhere").await), "reactor_unknown");
    assert_eq!(code(world.engine.status("nowhere").await), "reactor_unknown");
    assert_eq!(code(world.engine.bundle("nowhere").await), "reactor_unknown");
    assert_eq!(code(world.engine.wait_quiet("nowhere").await), "reactor_unknown");
    let (epoch, bundle) = world.engine.bundle(REACTOR).await.unwrap();
    assert_eq!((epoch, bundle), (1, crate::support::bundle(&crate::support::SHOP)));
    world.assert_sound().await;
}
