//! Several callers, and two engines on one store.

use std::sync::Arc;

use prose_engine::CommitAnswer;
use prose_ledger::Status;

use crate::support::{REACTOR, SHOP, World, bundle, code, engine, honest, poll, rendered, soon};

#[tokio::test]
async fn two_engines_see_what_the_other_has_done() {
    let one = World::settled().await;
    let two = World {
        clock: one.clock.clone(),
        engine: engine(&one.store, &one.clock),
        store: one.store.clone(),
        folder: tempfile::tempdir().unwrap(),
    };
    for i in 2..6 {
        one.ingest(vec![poll(&format!("{i}"), i, 10)]).await;
        assert!(two.ingest(vec![poll(&format!("{i}"), 9, 9)]).await[0].repeated);
        let lease = two.claim("priced").await;
        assert!(one.engine.claim(REACTOR, "priced", "w").await.unwrap().is_none());
        let answer = one.commit("priced", rendered(&lease, &honest(&lease))).await;
        assert!(matches!(answer, CommitAnswer::Rendered(_)));
        let late = two.commit("priced", rendered(&lease, &honest(&lease))).await;
        assert_eq!(late, CommitAnswer::Stale);
        two.render("report").await;
        assert_eq!(one.truth("report").await.unwrap()["line"], format!("{i} and 10"));
    }
    two.mount(&SHOP[..3]).await;
    assert_eq!(code(one.engine.claim(REACTOR, "report", "w").await), "node_unknown");
    assert_eq!(one.engine.mount(REACTOR, bundle(&SHOP[..3])).await.unwrap().receipt, None);
    one.assert_sound().await;
    two.assert_sound().await;
}

/// A lease that one engine gave out is known to the clock of the other once it has looked.
#[tokio::test]
async fn an_engine_takes_over_the_timers_of_another() {
    let one = World::settled().await;
    let two = engine(&one.store, &one.clock);
    one.ingest(vec![poll("a", 2, 10)]).await;
    one.claim("priced").await;
    assert!(two.claim(REACTOR, "priced", "w").await.unwrap().is_none());
    let mut changes = two.changes(REACTOR);
    changes.borrow_and_update();
    one.clock.set_forward(10_000);
    let ticking = two.clone();
    let clock = tokio::spawn(async move { ticking.run_clock().await });
    soon(changes.changed()).await.unwrap();
    clock.abort();
    assert!(matches!(
        one.node("priced").await.condition,
        prose_reconciler::Condition::Backoff { .. }
    ));
    one.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_callers_at_once_lose_nothing() {
    let world = Arc::new(World::settled().await);
    let feeding = (0..4).map(|feeder| {
        let world = world.clone();
        tokio::spawn(async move {
            for i in 0..15 {
                let number = i * 4 + feeder + 100;
                world.ingest(vec![poll(&number.to_string(), number, number)]).await;
            }
        })
    });
    let working = ["priced", "stocked", "report"].into_iter().cycle().take(6).map(|node| {
        let world = world.clone();
        tokio::spawn(async move {
            for _ in 0..30 {
                let lease = world.engine.claim(REACTOR, node, "w").await.unwrap();
                if let Some(lease) = lease {
                    let answer = world.commit(node, rendered(&lease, &honest(&lease))).await;
                    assert!(matches!(answer, CommitAnswer::Rendered(_)), "{answer:?}");
                }
            }
        })
    });
    let tasks: Vec<_> = feeding.chain(working).collect();
    for task in tasks {
        task.await.unwrap();
    }
    world.work().await;
    let feed = world.truth("feed").await.unwrap();
    let (price, stock) = (&feed["prices"]["value"], &feed["stock"]["value"]);
    assert_eq!(world.truth("report").await.unwrap()["line"], format!("{price} and {stock}"));
    let polls = world.statuses("feed").await;
    assert_eq!(polls, [Status::Rendered; 61]);
    world.assert_sound().await;
}
