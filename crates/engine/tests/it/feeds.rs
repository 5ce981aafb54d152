//! Random feeds: whatever the order, the truths at the end are those of a direct computation.

use proptest::prelude::*;
use prose_engine::{CommitAnswer, IncomingEvent, RenderLease};
use prose_ledger::Status;

use crate::support::{REACTOR, SHOP, World, crashed, gave_up, honest, poll, rendered};

#[derive(Debug, Clone)]
enum Step {
    Ingest(Vec<(i64, i64)>),
    Claim(usize),
    /// Which lease, and how it went.
    Commit(usize, u8),
    Pass(i64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let event = (-1i64..4, 0i64..3);
    let step = prop_oneof![
        4 => prop::collection::vec(event, 1..4).prop_map(Step::Ingest),
        5 => (0usize..3).prop_map(Step::Claim),
        4 => (0usize..8, prop_oneof![6 => Just(0u8), 1 => Just(1), 1 => Just(2)])
            .prop_map(|(lease, how)| Step::Commit(lease, how)),
        1 => (1i64..2_000).prop_map(Step::Pass),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..40)
}

const NODES: [&str; 3] = ["priced", "stocked", "report"];

async fn run(steps: Vec<Step>) {
    let mut world = World::new(&SHOP).await;
    let mut leases: Vec<(&str, RenderLease)> = Vec::new();
    let mut last = None;
    let mut number = 0;
    for step in steps {
        match step {
            Step::Ingest(events) => {
                // A negative price is refused by the gate.
                last = events.iter().copied().rfind(|(price, _)| *price >= 0).or(last);
                let event = |(price, stock): (i64, i64)| {
                    number += 1;
                    poll(&number.to_string(), price, stock)
                };
                let events: Vec<IncomingEvent> = events.into_iter().map(event).collect();
                world.ingest(events).await;
            }
            Step::Claim(n) => {
                let lease = world.engine.claim(REACTOR, NODES[n], "w").await.unwrap();
                leases.extend(lease.map(|lease| (NODES[n], lease)));
            }
            Step::Commit(n, how) if !leases.is_empty() => {
                let (node, lease) = leases.remove(n % leases.len());
                let request = match how {
                    0 => rendered(&lease, &honest(&lease)),
                    1 => crashed(&lease, 1),
                    _ => gave_up(&lease),
                };
                world.commit(node, request).await;
            }
            Step::Commit(..) => {}
            Step::Pass(millis) => world.pass(millis).await,
            Step::Restart => world = world.restarted(),
        }
    }
    finish(&world).await;
    let Some((price, stock)) = last else { return };
    assert_eq!(world.truth("priced").await.unwrap()["total"], price);
    assert_eq!(world.truth("stocked").await.unwrap()["total"], stock);
    assert_eq!(world.truth("report").await.unwrap()["line"], format!("{price} and {stock}"));
    world.assert_sound().await;
}

/// Ends what is under way, renders what is due, and gives every failure another chance.
async fn finish(world: &World) {
    for _ in 0..100 {
        world.pass(20_000).await;
        while let Some(node) = world.ready().await.first() {
            let answer = world.render(node).await;
            assert!(matches!(answer, CommitAnswer::Rendered(_)), "{answer:?}");
        }
        if !world.is_quiet().await {
            continue;
        }
        let mut failed = false;
        for node in NODES {
            if world.statuses(node).await.last() == Some(&Status::Failed) {
                world.engine.retry(REACTOR, node).await.unwrap();
                failed = true;
            }
        }
        if !failed {
            return;
        }
    }
    panic!("it never comes to rest");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_feed_ends_in_the_truth_of_its_last_event(steps in steps()) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run(steps));
    }
}
