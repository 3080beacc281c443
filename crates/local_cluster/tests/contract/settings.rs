//! The settings of a local cluster, and its time.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use local_cluster::{
    AdmissionAnswer, AdmissionHook, ApiMethod, ApiRequest, ApiResponse, ApiUser, ClusterOptions,
    GarbageCollection, LocalCluster, UnknownKinds, WatchEventKind, WatchStream,
};
use serde_json::{Value as Json, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn request(method: ApiMethod, path: &str, body: Option<&Json>) -> ApiRequest {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    ApiRequest {
        method,
        path: path.to_owned(),
        query: pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        content_type: match method {
            ApiMethod::Patch => Some("application/merge-patch+json".to_owned()),
            _ => None,
        },
        accept: String::new(),
        user: ApiUser::administrator(),
        user_agent: "settings/1".to_owned(),
        body: body.map(Json::to_string).unwrap_or_default().into(),
    }
}

#[track_caller]
fn done(
    cluster: &LocalCluster,
    method: ApiMethod,
    path: &str,
    body: Option<&Json>,
) -> (u16, Json, Vec<String>) {
    match cluster.answer(&request(method, path, body)) {
        ApiResponse::Whole {
            status,
            body,
            warnings,
            ..
        } => (status, serde_json::from_slice(&body).unwrap(), warnings),
        ApiResponse::Watch(_) => panic!("the answer is a watch"),
    }
}

fn watch(cluster: &LocalCluster, path: &str) -> WatchStream {
    match cluster.answer(&request(ApiMethod::Get, path, None)) {
        ApiResponse::Watch(events) => events,
        ApiResponse::Whole { body, .. } => panic!("{body:?}"),
    }
}

fn config(name: &str, owner: Option<&Json>) -> Json {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    if let Some(owner) = owner {
        object["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]);
    }
    object
}

/// A cluster whose time is that of tokio, which a test pauses.
fn on_paused_time() -> LocalCluster {
    let origin = tokio::time::Instant::now();
    let start: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    LocalCluster::new(ClusterOptions {
        clock: Arc::new(move || start + SignedDuration::try_from(origin.elapsed()).unwrap()),
        ..ClusterOptions::default()
    })
}

#[tokio::test(start_paused = true)]
async fn time_comes_from_the_clock() {
    let cluster = on_paused_time();
    let (_, one, _) = done(&cluster, ApiMethod::Post, MAPS, Some(&config("a", None)));
    assert_eq!(one["metadata"]["creationTimestamp"], "2026-01-31T12:00:00Z");
    tokio::time::advance(Duration::from_secs(90)).await;
    let (_, two, _) = done(&cluster, ApiMethod::Post, MAPS, Some(&config("b", None)));
    assert_eq!(two["metadata"]["creationTimestamp"], "2026-01-31T12:01:30Z");
}

#[tokio::test(start_paused = true)]
async fn a_token_expires() {
    let cluster = on_paused_time();
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let body = json!({"spec": {"expirationSeconds": 600}});
    let (code, answer, _) = done(&cluster, ApiMethod::Post, path, Some(&body));
    assert_eq!(code, 201);
    assert_eq!(
        answer["status"]["expirationTimestamp"],
        "2026-01-31T12:10:00Z"
    );
    let token = answer["status"]["token"].as_str().unwrap();
    let user = cluster.user_of_token(token).unwrap();
    assert_eq!(user.name, "system:serviceaccount:default:default");
    tokio::time::advance(Duration::from_secs(600)).await;
    assert_eq!(cluster.user_of_token(token), None);
    assert_eq!(cluster.user_of_token("other"), None);
    let body = json!({"spec": {"expirationSeconds": 599}});
    let (code, ..) = done(&cluster, ApiMethod::Post, path, Some(&body));
    assert_eq!(code, 422);
}

#[tokio::test(start_paused = true)]
async fn an_idle_watch_reports_bookmarks_until_it_ends() {
    let cluster = on_paused_time();
    let path = format!("{MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=150");
    let events: Vec<_> = watch(&cluster, &path).collect().await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [WatchEventKind::Bookmark; 3]);
}

#[tokio::test]
async fn a_watch_of_forgotten_changes_is_expired() {
    let cluster = LocalCluster::new(ClusterOptions {
        remembered_changes: 3,
        ..ClusterOptions::default()
    });
    let (_, list, _) = done(&cluster, ApiMethod::Get, MAPS, None);
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{MAPS}?watch=true&resourceVersion={version}");
    let mut slow = watch(&cluster, &path);
    for name in ["a", "b", "c"] {
        done(&cluster, ApiMethod::Post, MAPS, Some(&config(name, None)));
    }
    assert_eq!(
        watch(&cluster, &path).next().await.unwrap().kind,
        WatchEventKind::Added
    );
    done(&cluster, ApiMethod::Post, MAPS, Some(&config("d", None)));
    // A watch that was not read in time is as one that begins too late.
    let mut late = watch(&cluster, &path);
    for events in [&mut slow, &mut late] {
        let event = events.next().await.unwrap();
        assert_eq!(event.kind, WatchEventKind::Error);
        assert_eq!(event.object["code"], 410);
        assert_eq!(event.object["reason"], "Expired");
        assert!(events.next().await.is_none());
    }
    let future = format!("{MAPS}?resourceVersion=1000000");
    let (code, refused, _) = done(&cluster, ApiMethod::Get, &future, None);
    assert_eq!((code, &refused["reason"]), (504, &json!("Timeout")));
}

#[test]
fn dependants_stay_without_garbage_collection() {
    for (setting, code) in [(GarbageCollection::Off, 200), (GarbageCollection::On, 404)] {
        let cluster = LocalCluster::new(ClusterOptions {
            garbage_collection: setting,
            ..ClusterOptions::default()
        });
        let (_, owner, _) = done(&cluster, ApiMethod::Post, MAPS, Some(&config("a", None)));
        let child = config("b", Some(&owner));
        done(&cluster, ApiMethod::Post, MAPS, Some(&child));
        done(&cluster, ApiMethod::Delete, &format!("{MAPS}/a"), None);
        let (found, ..) = done(&cluster, ApiMethod::Get, &format!("{MAPS}/b"), None);
        assert_eq!(found, code);
    }
}

#[test]
fn an_object_with_an_owner_that_does_not_exist_is_collected() {
    let cluster = LocalCluster::new(ClusterOptions::default());
    let owner = json!({"metadata": {"name": "gone", "uid": "gone"}});
    let child = config("b", Some(&owner));
    let (code, ..) = done(&cluster, ApiMethod::Post, MAPS, Some(&child));
    assert_eq!(code, 201);
    let (code, ..) = done(&cluster, ApiMethod::Get, &format!("{MAPS}/b"), None);
    assert_eq!(code, 404);
}

#[test]
fn kinds_without_definition_are_accepted_with_a_warning() {
    let path = "/apis/shop.io/v1/namespaces/default/tills";
    let till = json!({"apiVersion": "shop.io/v1", "kind": "Till", "metadata": {"name": "a"},
        "spec": {"any": [1, null]}});
    let strict = LocalCluster::new(ClusterOptions::default());
    assert_eq!(done(&strict, ApiMethod::Post, path, Some(&till)).0, 404);
    let cluster = LocalCluster::new(ClusterOptions {
        unknown_kinds: UnknownKinds::Accepted,
        ..ClusterOptions::default()
    });
    let (code, made, warnings) = done(&cluster, ApiMethod::Post, path, Some(&till));
    assert_eq!(code, 201);
    assert_eq!(made["spec"], till["spec"]);
    assert_eq!(warnings, ["the kind Till.shop.io has no definition"]);
    let (code, list, warnings) = done(&cluster, ApiMethod::Get, path, None);
    assert_eq!((code, warnings.len()), (200, 0));
    assert_eq!(list["kind"], "TillList");
    let (_, resources, _) = done(&cluster, ApiMethod::Get, "/apis/shop.io/v1", None);
    assert_eq!(resources["resources"][0]["name"], "tills");
}

#[test]
fn equal_seeds_give_equal_names() {
    let run = |seed: u64| {
        let cluster = LocalCluster::new(ClusterOptions {
            seed,
            ..ClusterOptions::default()
        });
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"generateName": "a-"}});
        let (_, made, _) = done(&cluster, ApiMethod::Post, MAPS, Some(&body));
        (
            made["metadata"]["name"].clone(),
            made["metadata"]["uid"].clone(),
        )
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

/// A cluster that refuses config maps with an entry `bad`, and warns about those with `odd`.
fn with_admission() -> LocalCluster {
    let decide = |object: &Json| AdmissionAnswer {
        refused: object["data"].get("bad").map(|_| "`bad` is bad".to_owned()),
        warnings: object["data"]
            .get("odd")
            .map(|_| "`odd` is odd".to_owned())
            .into_iter()
            .collect(),
    };
    LocalCluster::new(ClusterOptions {
        admission: Some(AdmissionHook {
            name: "maps.example.com".to_owned(),
            decide: Arc::new(decide),
        }),
        ..ClusterOptions::default()
    })
}

#[test]
fn admission_refuses_and_warns_for_creates_and_changes() {
    let cluster = with_admission();
    let with = |entry: &str| {
        let mut map = config("a", None);
        map["data"] = json!({entry: "1"});
        map
    };
    let (good, odd, bad) = (with("good"), with("odd"), with("bad"));
    let one = format!("{MAPS}/a");
    let dry = format!("{MAPS}?dryRun=All");
    for path in [MAPS, dry.as_str()] {
        let (code, status, _) = done(&cluster, ApiMethod::Post, path, Some(&bad));
        assert_eq!((code, &status["reason"]), (403, &json!("Forbidden")));
        assert_eq!(
            status["message"],
            "admission webhook \"maps.example.com\" denied the request: `bad` is bad"
        );
    }
    let (code, ..) = done(&cluster, ApiMethod::Get, &one, None);
    assert_eq!(code, 404, "a refused object is not stored");
    let (code, _, warnings) = done(&cluster, ApiMethod::Post, MAPS, Some(&odd));
    assert_eq!((code, warnings), (201, vec!["`odd` is odd".to_owned()]));
    for method in [ApiMethod::Put, ApiMethod::Patch] {
        let (code, ..) = done(&cluster, method, &one, Some(&good));
        assert_eq!(code, 200);
        let (code, ..) = done(&cluster, method, &one, Some(&bad));
        assert_eq!(code, 403);
    }
    let (_, stored, _) = done(&cluster, ApiMethod::Get, &one, None);
    assert_eq!(stored["data"], json!({"good": "1"}));
    let mut both = bad;
    both["data"]["odd"] = json!("1");
    let (code, _, warnings) = done(&cluster, ApiMethod::Put, &one, Some(&both));
    assert_eq!((code, warnings), (403, vec!["`odd` is odd".to_owned()]));
    let (code, ..) = done(&cluster, ApiMethod::Delete, &one, None);
    assert_eq!(code, 200);
}

#[test]
fn admission_is_not_asked_about_a_status() {
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let cluster = LocalCluster::new(ClusterOptions {
        admission: Some(AdmissionHook {
            name: "sizes.example.com".to_owned(),
            decide: Arc::new(|object: &Json| AdmissionAnswer {
                refused: object["status"]
                    .get("replicas")
                    .map(|_| "it has replicas".to_owned()),
                warnings: Vec::new(),
            }),
        }),
        ..ClusterOptions::default()
    });
    let labels = json!({"app": "a"});
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "a", "image": "a"}]}}}});
    let (code, answer, _) = done(&cluster, ApiMethod::Post, deployments, Some(&body));
    assert_eq!(code, 201, "{answer}");
    let one = format!("{deployments}/a");
    let status = json!({"status": {"replicas": 1}});
    let path = format!("{one}/status");
    let (code, answer, _) = done(&cluster, ApiMethod::Patch, &path, Some(&status));
    assert_eq!(code, 200, "{answer}");
    let label = json!({"metadata": {"labels": {"x": "y"}}});
    let (code, ..) = done(&cluster, ApiMethod::Patch, &one, Some(&label));
    assert_eq!(code, 403, "the hook sees the status that is stored");
}
