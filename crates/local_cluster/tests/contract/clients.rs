//! The requests of the crate `kube`, as a controller makes them.

use futures::TryStreamExt as _;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch,
    PatchParams, WatchEvent, WatchParams,
};
use kube::discovery::{Discovery, Scope};
use serde_json::json;

use crate::cases;
use crate::definitions::define;
use crate::peer::TestServer;

cases!(
    a_client_discovers_applies_and_reads,
    a_client_watches_metadata,
    errors_are_read_by_a_client,
);

fn widgets(server: &TestServer) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(&server.group, "v1", "Widget");
    let resource = ApiResource::from_gvk_with_plural(&kind, "widgets");
    Api::namespaced_with(server.client.clone(), &server.namespace, &resource)
}

async fn a_client_discovers_applies_and_reads(server: &TestServer) {
    define(server).await;
    let groups = [server.group.as_str()];
    let discovery = Discovery::new(server.client.clone()).filter(&groups);
    let discovery = discovery.run().await.unwrap();
    let kind = GroupVersionKind::gvk(&server.group, "v1", "Widget");
    let (resource, capabilities) = discovery.resolve_gvk(&kind).unwrap();
    assert_eq!(resource.plural, "widgets");
    assert_eq!(capabilities.scope, Scope::Namespaced);
    let api = widgets(server);
    let body = json!({"apiVersion": format!("{}/v1", server.group), "kind": "Widget",
        "metadata": {"name": "a", "labels": {"app": "web"}}, "spec": {"size": 1}});
    let parameters = PatchParams::apply("cyan").force();
    let applied = api.patch("a", &parameters, &Patch::Apply(&body)).await;
    let applied = applied.unwrap();
    assert_eq!(applied.data["spec"]["color"], "red");
    let status = json!({"apiVersion": format!("{}/v1", server.group), "kind": "Widget",
        "metadata": {"name": "a"}, "status": {"phase": "up"}});
    let reported = api
        .patch_status("a", &parameters, &Patch::Apply(&status))
        .await;
    assert_eq!(reported.unwrap().data["status"]["phase"], "up");
    let list = api
        .list(&ListParams::default().labels("app=web"))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 1);
    let metadata = api.get_metadata("a").await.unwrap();
    assert_eq!(metadata.metadata.labels.unwrap()["app"], "web");
    let gone = api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(gone.is_right());
    assert!(api.get_opt("a").await.unwrap().is_none());
}

async fn a_client_watches_metadata(server: &TestServer) {
    define(server).await;
    let api = widgets(server);
    let list = api.list_metadata(&ListParams::default()).await.unwrap();
    let version = list.metadata.resource_version.unwrap();
    let parameters = WatchParams::default().labels("app").timeout(30);
    let events = api.watch_metadata(&parameters, &version).await.unwrap();
    let mut events = std::pin::pin!(events);
    let body = json!({"apiVersion": format!("{}/v1", server.group), "kind": "Widget",
        "metadata": {"name": "a", "labels": {"app": "web"}}, "spec": {"size": 1}});
    let parameters = PatchParams::apply("cyan");
    api.patch("a", &parameters, &Patch::Apply(&body))
        .await
        .unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match events.try_next().await.unwrap().unwrap() {
            WatchEvent::Added(object) => seen.push(("added", object.metadata.name.unwrap())),
            WatchEvent::Deleted(object) => seen.push(("deleted", object.metadata.name.unwrap())),
            WatchEvent::Bookmark(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let name = || "a".to_owned();
    assert_eq!(seen, [("added", name()), ("deleted", name())]);
}

async fn errors_are_read_by_a_client(server: &TestServer) {
    define(server).await;
    let api = widgets(server);
    let status = |error: kube::Error| match error {
        kube::Error::Api(status) => status,
        other => panic!("{other}"),
    };
    let missing = status(api.get("a").await.unwrap_err());
    assert!(missing.is_not_found());
    let body = json!({"apiVersion": format!("{}/v1", server.group), "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"size": 0}});
    let parameters = PatchParams::apply("cyan");
    let refused = api.patch("a", &parameters, &Patch::Apply(&body)).await;
    let refused = status(refused.unwrap_err());
    assert_eq!((refused.code, refused.reason.as_str()), (422, "Invalid"));
    let causes = refused.details.as_ref().unwrap().causes.as_slice();
    assert_eq!(causes[0].field, "spec.size");
}
