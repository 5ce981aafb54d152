//! Transactions exclude each other and never outlive their owner.

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use super::{R, S, begin, commit, node, receipt};
use crate::{Changes, Error, NewDelivery};

pub(super) async fn two_transactions_never_overlap(store: &S) {
    let (first, _) = begin(store).await;
    let waiting = tokio::spawn({
        let store = Arc::clone(store);
        async move { begin(&store).await }
    });
    // However often the second one is given the chance, it does not get in.
    for _ in 0..100 {
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
    }
    first.commit(Changes { nodes: vec![node("n", "1")], ..Changes::default() }).await.unwrap();
    let (second, loaded) = waiting.await.unwrap();
    assert_eq!(loaded.reactor.revision, 1, "it sees what the first one wrote");
    assert_eq!(loaded.nodes.len(), 1);
    assert_eq!(second.commit(Changes::default()).await.unwrap(), 2);
}

pub(super) async fn a_dropped_transaction_frees_the_lock(store: &S) {
    for _ in 0..3 {
        let (mut transaction, loaded) = begin(store).await;
        assert_eq!(loaded.reactor.revision, 0);
        assert!(transaction.deliveries(&["k".into()]).await.unwrap().is_empty());
        drop(transaction);
    }
    assert!(store.begin("unknown", None).await.unwrap().is_none());
    assert!(store.create_reactor("another").await.unwrap());
    assert_eq!(commit(store, Changes::default()).await, 1);
}

/// Polls a future `polls` times and drops it, as when a client goes away.
async fn abandon<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(done);
        }
        tokio::task::yield_now().await;
    }
    None
}

pub(super) async fn cancelled_operations_leave_nothing(store: &S) {
    let mut least = 0;
    for round in 0..60 {
        let polls = round % 4;
        abandon(begin(store), polls).await;
        let (mut transaction, loaded) = begin(store).await;
        assert!(loaded.reactor.revision >= least, "a commit is never taken back");
        least = loaded.reactor.revision;
        abandon(transaction.deliveries(&["k".into()]), polls).await;
        let key = format!("key {round}");
        let changes = Changes {
            nodes: vec![node("n", &format!("{round}"))],
            receipts: vec![receipt(least + 1, "n", least + 1)],
            deliveries: vec![NewDelivery { key: key.clone(), outcome: Vec::new() }],
            ..Changes::default()
        };
        let known = abandon(transaction.commit(changes), polls).await;
        // Whole or not at all: under the next lock the outcome stands.
        let (mut transaction, loaded) = begin(store).await;
        let committed = loaded.reactor.revision == least + 1;
        assert_eq!(loaded.reactor.receipts, loaded.reactor.revision);
        assert_eq!(!transaction.deliveries(&[key]).await.unwrap().is_empty(), committed);
        assert!(polls > 0 || !committed, "what was never polled was never done");
        assert!(known.is_none_or(|outcome| outcome.is_ok() && committed));
        let reading = abandon(store.nodes(R), polls).await;
        assert!(reading.is_none_or(|nodes| nodes.is_ok()));
    }
}

pub(super) async fn a_failed_commit_frees_the_lock(store: &S) {
    let (transaction, _) = begin(store).await;
    let gap = Changes { receipts: vec![receipt(2, "n", 1)], ..Changes::default() };
    let refused = transaction.commit(gap).await;
    assert!(matches!(&refused, Err(error @ Error::Conflict { .. }) if !error.is_retryable()));
    assert_eq!(commit(store, Changes::default()).await, 1);
}

pub(super) async fn readers_do_not_wait_and_see_only_commits(store: &S) {
    commit(store, Changes { nodes: vec![node("n", "1")], ..Changes::default() }).await;
    let (transaction, _) = begin(store).await;
    assert_eq!(store.nodes(R).await.unwrap(), [node("n", "1")]);
    assert_eq!(store.reactor(R).await.unwrap().unwrap().revision, 1);
    let changes = Changes { nodes: vec![node("n", "2")], ..Changes::default() };
    transaction.commit(changes).await.unwrap();
    assert_eq!(store.nodes(R).await.unwrap(), [node("n", "2")]);
}

pub(super) async fn many_tasks_count_without_a_gap(store: &S) {
    const TASKS: u64 = 8;
    const ROUNDS: u64 = 10;
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for _ in 0..ROUNDS {
                    let (transaction, loaded) = begin(&store).await;
                    let name = format!("n{task}");
                    let mine = loaded.nodes.iter().find(|row| row.node == name);
                    let seq = mine.map_or(0, |row| row.state.len() as u64) + 1;
                    let changes = Changes {
                        nodes: vec![node(&name, &"x".repeat(seq as usize))],
                        receipts: vec![receipt(loaded.reactor.receipts + 1, &name, seq)],
                        ..Changes::default()
                    };
                    transaction.commit(changes).await.unwrap();
                    assert!(store.nodes(R).await.unwrap().len() <= TASKS as usize);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let row = store.reactor(R).await.unwrap().unwrap();
    assert_eq!((row.revision, row.receipts), (TASKS * ROUNDS, TASKS * ROUNDS));
}
