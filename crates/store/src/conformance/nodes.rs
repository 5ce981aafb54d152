//! Node states and their revisions.

use super::{R, S, all_receipts, commit, node, receipt};
use crate::{Changes, Deadline, NodeRow};

pub(super) async fn only_what_changed_is_loaded(store: &S) {
    let nodes = ["c", "a", "b"].map(|name| node(name, "1")).to_vec();
    commit(store, Changes { nodes, ..Changes::default() }).await;
    commit(store, Changes { nodes: vec![node("b", "2")], ..Changes::default() }).await;
    let removed_nodes = vec!["c".to_owned(), "never".to_owned()];
    commit(store, Changes { removed_nodes, ..Changes::default() }).await;
    for (known, nodes, removed) in [
        (None, "a1b2", ""),
        (Some(0), "a1b2", "c"),
        (Some(1), "b2", "c"),
        (Some(2), "", "c"),
        (Some(3), "", ""),
    ] {
        let (_transaction, loaded) = store.begin(R, known).await.unwrap().unwrap();
        assert_eq!(loaded.reactor.revision, 3);
        let found: String = loaded
            .nodes
            .iter()
            .map(|row| format!("{}{}", row.node, String::from_utf8_lossy(&row.state)))
            .collect();
        assert_eq!(found, nodes, "known {known:?}");
        assert_eq!(loaded.removed.concat(), removed, "known {known:?}");
    }
}

pub(super) async fn removed_nodes_keep_their_chain(store: &S) {
    let nodes = vec![node("n", "1")];
    let receipts = vec![receipt(1, "n", 1)];
    commit(store, Changes { nodes, receipts, ..Changes::default() }).await;
    commit(store, Changes { removed_nodes: vec!["n".into()], ..Changes::default() }).await;
    assert!(store.nodes(R).await.unwrap().is_empty());
    assert_eq!(store.receipts(R, all_receipts()).await.unwrap().len(), 1);
    // When the name comes back, its chain goes on.
    let nodes = vec![node("n", "2")];
    let receipts = vec![receipt(2, "n", 2)];
    commit(store, Changes { nodes, receipts, ..Changes::default() }).await;
    assert_eq!(store.nodes(R).await.unwrap(), [node("n", "2")]);
}

pub(super) async fn deadlines_come_soonest_first(store: &S) {
    assert!(store.create_reactor("another").await.unwrap());
    let due = |name: &str, at| NodeRow { deadline: Some(at), ..node(name, "") };
    let nodes = vec![due("late", 90), due("soon", -5), node("never", "")];
    commit(store, Changes { nodes, ..Changes::default() }).await;
    let (transaction, _) = store.begin("another", None).await.unwrap().unwrap();
    let nodes = vec![due("between", 7)];
    transaction.commit(Changes { nodes, ..Changes::default() }).await.unwrap();
    let row =
        |reactor: &str, node: &str, at| Deadline { reactor: reactor.into(), node: node.into(), at };
    let expected = [row(R, "soon", -5), row("another", "between", 7), row(R, "late", 90)];
    assert_eq!(store.deadlines(10).await.unwrap(), expected);
    assert_eq!(store.deadlines(2).await.unwrap(), expected[..2]);
    let nodes = vec![node("soon", "")];
    let removed_nodes = vec!["late".into()];
    commit(store, Changes { nodes, removed_nodes, ..Changes::default() }).await;
    assert_eq!(store.deadlines(10).await.unwrap(), expected[1..2]);
}
