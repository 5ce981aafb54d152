//! Calls that make no sense: each is refused with a stable code and a text for people.

use prose_api::v1;

use crate::support::{Server, bundle, event, poll, reactor, refused};

#[tokio::test]
async fn an_unknown_reactor_is_named() {
    let mut server = Server::fed().await;
    let reactor = || "nowhere".to_owned();
    let node = || "priced".to_owned();
    let p = &mut server.prose;
    let faults = [
        refused(
            p.ingest(v1::IngestRequest { reactor: reactor(), events: vec![poll("a", 1, 1)] }).await,
        ),
        refused(p.get_status(v1::GetStatusRequest { reactor: reactor() }).await),
        refused(p.get_bundle(v1::GetBundleRequest { reactor: reactor() }).await),
        refused(p.explain(v1::ExplainRequest { reactor: reactor(), node: node() }).await),
        refused(
            p.list_receipts(v1::ListReceiptsRequest { reactor: reactor(), ..Default::default() })
                .await,
        ),
        refused(
            p.get_receipt(v1::GetReceiptRequest { reactor: reactor(), address: "0123".into() })
                .await,
        ),
        refused(p.get_head(v1::GetHeadRequest { reactor: reactor() }).await),
        refused(p.watch(v1::WatchRequest { reactor: reactor(), ..Default::default() }).await),
        refused(p.wait_quiet(v1::WaitQuietRequest { reactor: reactor() }).await),
        refused(p.retry(v1::RetryRequest { reactor: reactor(), node: node() }).await),
        refused(p.render(v1::RenderRequest { reactor: reactor(), node: node() }).await),
        refused(p.cancel(v1::CancelRequest { reactor: reactor(), node: node() }).await),
        refused(
            server
                .work
                .claim(v1::ClaimRequest { reactor: reactor(), node: node(), worker: "w".into() })
                .await,
        ),
    ];
    for fault in faults {
        assert_eq!(fault.code, "reactor_unknown", "{fault:?}");
        assert!(fault.message.contains("nowhere") && !fault.help.is_empty(), "{fault:?}");
        assert!(!fault.retryable);
    }
    server.stopped().await;
}

#[tokio::test]
async fn an_unknown_node_is_named() {
    let mut server = Server::fed().await;
    let node = || "nobody".to_owned();
    let p = &mut server.prose;
    let faults = [
        refused(p.explain(v1::ExplainRequest { reactor: reactor(), node: node() }).await),
        refused(p.retry(v1::RetryRequest { reactor: reactor(), node: node() }).await),
        refused(p.render(v1::RenderRequest { reactor: reactor(), node: node() }).await),
        refused(p.cancel(v1::CancelRequest { reactor: reactor(), node: node() }).await),
        refused(
            server
                .work
                .claim(v1::ClaimRequest { reactor: reactor(), node: node(), worker: "w".into() })
                .await,
        ),
    ];
    for fault in faults {
        assert_eq!(fault.code, "node_unknown", "{fault:?}");
        assert!(fault.message.contains("nobody") && !fault.help.is_empty(), "{fault:?}");
    }
    server.stopped().await;
}

#[tokio::test]
async fn commands_that_do_not_fit_are_refused() {
    let mut server = Server::fed().await;
    let at = |node: &str| (reactor(), node.to_owned());
    let p = &mut server.prose;
    for name in ["priced", "feed"] {
        let (reactor, node) = at(name);
        let fault = refused(p.retry(v1::RetryRequest { reactor, node }).await);
        assert_eq!(fault.code, "command_refused", "{fault:?}");
        let (reactor, node) = at(name);
        let fault = refused(p.cancel(v1::CancelRequest { reactor, node }).await);
        assert_eq!(fault.code, "command_refused", "{fault:?}");
    }
    let (reactor, node) = at("feed");
    let fault = refused(p.render(v1::RenderRequest { reactor, node }).await);
    assert_eq!(fault.code, "command_refused", "{fault:?}");
    server.stopped().await;
}

#[tokio::test]
async fn a_bundle_that_is_none_is_refused() {
    let mut server = Server::start().await;
    let mut torn: serde_json::Value = serde_json::from_slice(&bundle()).unwrap();
    torn["contracts"].as_object_mut().unwrap().remove("feed");
    let torn = serde_json::to_vec(&torn).unwrap();
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("shop", b"{".to_vec(), "request_invalid"),
        ("shop", Vec::new(), "request_invalid"),
        ("shop", b"{}".to_vec(), "request_invalid"),
        ("shop", torn, "bundle_invalid"),
        ("No Name", bundle(), "reactor_name_invalid"),
    ];
    for (reactor, bytes, expected) in cases {
        let shown =
            format!("{reactor}: {}", String::from_utf8_lossy(&bytes[..bytes.len().min(20)]));
        let request = v1::MountRequest { reactor: reactor.to_owned(), bundle: bytes.into() };
        let fault = refused(server.prose.mount(request).await);
        assert_eq!(fault.code, expected, "{shown}: {fault:?}");
    }
    let reactors = server.prose.list_reactors(v1::ListReactorsRequest {}).await.unwrap();
    assert!(reactors.into_inner().reactors.is_empty());
    server.stopped().await;
}

#[tokio::test]
async fn a_bad_event_refuses_the_call_and_says_where() {
    let mut server = Server::fed().await;
    let before = server.status().await;
    let cases = [
        (event("feed", "k", "{"), "json_syntax", "event 1"),
        (event("feed", "k", r#"{"a":1,"a":2}"#), "json_duplicate_key", "a"),
        (event("feed", "k", r#"{"a":[1,1e400]}"#), "json_number_range", "a"),
        (event("feed", "", "{}"), "event_key_missing", "event 1"),
        (event("nobody", "k", "{}"), "gateway_unknown", "feed, inbox"),
        (event("priced", "k", "{}"), "gateway_invalid", "priced"),
    ];
    for (bad, expected, word) in cases {
        let events = vec![poll("good", 5, 5), bad];
        let request = v1::IngestRequest { reactor: reactor(), events };
        let fault = refused(server.prose.ingest(request).await);
        assert_eq!(fault.code, expected, "{fault:?}");
        assert!(fault.message.contains(word), "{fault:?}");
    }
    assert_eq!(server.status().await, before);
    server.stopped().await;
}

#[tokio::test]
async fn what_names_no_receipt_or_content_is_refused() {
    let mut server = Server::fed().await;
    for address in ["", "abc", "blake3:", "not an address", &"0".repeat(64)] {
        let request = v1::GetReceiptRequest { reactor: reactor(), address: address.to_owned() };
        let fault = refused(server.prose.get_receipt(request).await);
        assert_eq!(fault.code, "receipt_unknown", "{address}: {fault:?}");
    }
    let addresses = vec!["blake3:short".to_owned()];
    let fault = refused(server.prose.get_contents(v1::GetContentsRequest { addresses }).await);
    assert_eq!(fault.code, "request_invalid", "{fault:?}");
    let addresses = vec![String::new(); 10_001];
    let fault = refused(server.prose.get_contents(v1::GetContentsRequest { addresses }).await);
    assert_eq!(fault.code, "request_invalid", "{fault:?}");
    server.stopped().await;
}
