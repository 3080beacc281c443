//! Containers of Swift. The tests are skipped on a cloud without an object store.

use provider::Verdict;
use serde_json::{Value as Json, json};

use crate::support::{Live, Peer};

const CONTAINER: &str = "OS::Swift::Container";

/// A session with a cloud that has an object store. Without one, prints a message and returns `None`.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) async fn peer_with_objects() -> Option<Peer> {
    let peer = Peer::of("demo").await?;
    match peer.create(CONTAINER, "probe", json!({})).await {
        Ok(probe) => probe.delete().await.unwrap(),
        Err(error) => {
            assert!(error.message.contains("has no object store"), "{error}");
            eprintln!("skipped: the cloud of the tests has no object store");
            return None;
        }
    }
    Some(peer)
}

async fn container<'p>(peer: &'p Peer, name: &str, spec: Json) -> Live<'p> {
    peer.create(CONTAINER, name, spec).await.unwrap()
}

#[tokio::test]
async fn a_container_lives() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let spec = json!({
        "X-Container-Read": ".r:*, .rlistings",
        "X-Container-Meta": { "web-index": "index.html", "copies": 3 },
    });
    let files = container(&peer, "files", spec).await;
    assert!(files.id().contains("-files-"), "{}", files.id());
    assert_eq!(files.field("X-Container-Read"), ".r:*, .rlistings");
    assert_eq!(files.field("X-Container-Meta")["copies"], 3);
    assert_eq!(files.field("ObjectCount"), 0);
    let root = files.field("RootURL");
    let website = format!("{}/{}", root.as_str().unwrap(), files.id());
    assert_eq!(files.field("WebsiteURL"), website);
    let head = files.field("HeadContainer");
    assert_eq!(head["x-container-meta-web-index"], "index.html");
    assert_eq!(head["x-container-meta-cyan"], Json::Null);
    let settled = [
        "name",
        "X-Container-Read",
        "X-Container-Meta",
        "HeadContainer",
    ];
    files.assert_settled(&settled).await;
    files.assert_found().await;
    files.delete().await.unwrap();
}

#[tokio::test]
async fn a_container_of_somebody_else_is_not_taken() {
    let Some(peer) = peer_with_objects().await else {
        return;
    };
    let name = format!("{}-ours", peer.run);
    let ours = container(&peer, "ours", json!({ "name": name })).await;
    let refused = peer.create(CONTAINER, "theirs", json!({ "name": name }));
    let error = refused.await.map(drop).unwrap_err();
    assert!(error.message.contains("already"), "{error}");
    // A change replaces it, and two containers cannot have one name.
    let planned = ours.plan(json!({ "name": name, "X-Container-Read": ".r:*" }));
    let first = Verdict::Replace {
        delete_first: Some(true),
    };
    assert_eq!(planned.await.verdict, first);
    ours.delete().await.unwrap();
}
