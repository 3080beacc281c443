//! Random requests of several managers on a real API server, compared with what this crate makes of
//! them: the object, `metadata.managedFields` without times, and conflicts.
//!
//! `CYAN_RANDOM_APPLIES` sets the number of objects, or a range of seeds such as `500..600`.
//! `cargo xtask test` starts the server; without it the test says that it is skipped.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod kinds;
mod seeded;
mod server;

use kubernetes::schema::{ValueForms, types_of_crd};
use local_cluster::apply::{ApplyFailure, ConflictPolicy, FieldManager, apply, track_update};
use local_cluster::patches::{json_patch, merge_patch, strategic_merge};
use serde_json::{Map, Value as Json, json};

use kinds::{Subject, definition};
use seeded::Seeded;
use server::{Refused, Server};

/// The requests on one object.
const REQUESTS: usize = 12;

fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("CYAN_RANDOM_APPLIES").unwrap_or_else(|_| "12".to_owned());
    let (first, end) = given.split_once("..").unwrap_or(("0", &given));
    first.parse().unwrap()..end.parse().unwrap()
}

fn forms(subject: Subject) -> ValueForms {
    if subject == Subject::Custom {
        let types = types_of_crd(&definition()).unwrap();
        return (*types.versions[0].schema.forms).clone();
    }
    let kind = subject.kind().parse().unwrap();
    let schema = kubernetes::builtin().object_schema(&kind, None).unwrap();
    (*schema.forms).clone()
}

/// A request on the object, in the terms of this test.
#[derive(Clone)]
enum Change {
    Apply(Json, ConflictPolicy),
    ApplyStatus(Json, ConflictPolicy),
    Replace(Json),
    Patch(&'static str, Json),
    PatchStatus(Json),
}

/// An object on the server, and what this crate makes of requests on it.
struct Case<'s> {
    server: &'s Server,
    subject: Subject,
    forms: ValueForms,
    name: String,
    live: Option<Json>,
    differences: Vec<String>,
}

#[tokio::test]
async fn random_requests_give_what_the_server_gives() {
    let Some(server) = Server::connect("random-applies").await else {
        return;
    };
    server.define(&definition()).await;
    let seeds = seeds();
    println!("random applies: seeds {seeds:?}");
    let mut requests = 0;
    let mut refused = 0;
    let mut different = Vec::new();
    for seed in seeds {
        let subject = Subject::ALL[usize::try_from(seed % 4).unwrap()];
        let mut case = Case {
            server: &server,
            subject,
            forms: forms(subject),
            name: format!("seed-{seed}"),
            live: None,
            differences: Vec::new(),
        };
        let mut seeded = Seeded::new(seed);
        for _ in 0..REQUESTS {
            let manager = *seeded.one(&["one", "two", "three"]);
            let change = case.random_change(&mut seeded);
            requests += 1;
            refused += usize::from(!case.request_on_current(manager, change).await);
        }
        case.delete().await;
        for difference in &case.differences {
            println!("seed {seed}, {subject:?}: {difference}");
        }
        if !case.differences.is_empty() {
            different.push(seed);
        }
    }
    server.end().await;
    println!("random applies: {requests} requests, {refused} refused");
    assert!(different.is_empty(), "seeds {different:?}");
}

impl Case<'_> {
    fn random_change(&self, seeded: &mut Seeded) -> Change {
        let configuration = self.subject.configuration(&self.name, seeded);
        let policy = if seeded.percent(50) {
            ConflictPolicy::TakeOver
        } else {
            ConflictPolicy::Refuse
        };
        let Some(live) = &self.live else {
            return if seeded.percent(60) {
                Change::Apply(configuration, policy)
            } else {
                Change::Replace(configuration)
            };
        };
        let status = || self.subject.has_status();
        match seeded.below(10) {
            0..=3 => Change::Apply(configuration, policy),
            4 if status() => {
                let status = self.subject.status(seeded);
                let mut applied = json!({"apiVersion": configuration["apiVersion"],
                    "kind": configuration["kind"], "metadata": {"name": self.name}});
                applied["status"] = status;
                Change::ApplyStatus(applied, policy)
            }
            5 if status() => Change::PatchStatus(json!({"status": self.subject.status(seeded)})),
            6 => {
                let mut configuration = configuration;
                if seeded.percent(30) {
                    configuration["metadata"]["labels"] = json!({"a": null, "r": "1"});
                }
                Change::Replace(configuration)
            }
            7 => {
                let mut operations =
                    vec![json!({"op": "test", "path": "/metadata/name", "value": self.name})];
                for field in ["labels", "annotations"] {
                    if let Some(fields) = live["metadata"][field].as_object() {
                        let last = fields
                            .keys()
                            .next_back()
                            .map(|key| format!("/metadata/{field}/{key}"));
                        operations.extend(last.map(|path| json!({"op": "remove", "path": path})));
                    } else {
                        operations.push(json!({"op": "add", "path": format!("/metadata/{field}"), "value": {"j": "1"}}));
                    }
                }
                Change::Patch("application/json-patch+json", operations.into())
            }
            8 if self.subject != Subject::Custom => {
                let mut patch = configuration;
                if seeded.percent(50) {
                    patch["metadata"]["labels"] = json!({"a": null, "s": "1"});
                }
                Change::Patch("application/strategic-merge-patch+json", patch)
            }
            _ => {
                let mut patch = configuration;
                if seeded.percent(30) {
                    patch["metadata"]["labels"] = json!({"a": null, "m": "1"});
                }
                Change::Patch("application/merge-patch+json", patch)
            }
        }
    }

    fn differs(&mut self, what: &str, own: &Json, server: &Json, change: &Change) {
        let live = self.live.as_ref().map(Json::to_string);
        let live = live.unwrap_or_default();
        self.differences.push(format!(
            "{what}\n  request {}\n  live    {live}\n  own     {own}\n  server  {server}",
            text(change)
        ));
    }

    /// Sends a request for the current object and compares. Returns whether the server took it.
    /// Controllers of the server write some kinds too: the request names the version of the object
    /// and is repeated if that has changed.
    async fn request_on_current(&mut self, manager: &str, change: Change) -> bool {
        for _ in 0..20 {
            let path = format!(
                "{}/{}",
                self.subject.path(&self.server.namespace),
                self.name
            );
            let current = self
                .server
                .send("GET", &path, "application/json", &Json::Null)
                .await;
            self.live = current.ok();
            let change = match &self.live {
                Some(live) => change.clone().on(live),
                None => change.clone(),
            };
            match self.request(manager, &change).await {
                Sent::Outdated => {}
                Sent::Taken => return true,
                Sent::Refused => return false,
            }
        }
        panic!("the object changes all the time");
    }

    async fn request(&mut self, name: &str, change: &Change) -> Sent {
        let known = self.differences.len();
        let version = self
            .live
            .as_ref()
            .map(|live| live["metadata"]["resourceVersion"].clone());
        let taken = self.compare(name, change).await;
        if taken {
            return Sent::Taken;
        }
        let path = format!(
            "{}/{}",
            self.subject.path(&self.server.namespace),
            self.name
        );
        let current = self
            .server
            .send("GET", &path, "application/json", &Json::Null)
            .await;
        let current = current
            .ok()
            .map(|live| live["metadata"]["resourceVersion"].clone());
        if current == version {
            return Sent::Refused;
        }
        self.differences.truncate(known);
        Sent::Outdated
    }

    /// Sends a request and compares. Returns whether the server took it.
    async fn compare(&mut self, name: &str, change: &Change) -> bool {
        let api_version = self.subject.api_version();
        let manager = FieldManager {
            name,
            api_version: &api_version,
            subresource: match change {
                Change::ApplyStatus(..) | Change::PatchStatus(_) => Some("status"),
                _ => None,
            },
            time: "2026-01-01T00:00:00Z",
        };
        match change {
            Change::Apply(applied, policy) | Change::ApplyStatus(applied, policy) => {
                self.apply(&manager, applied, *policy, change).await
            }
            Change::Replace(object) => {
                let sent = self.send(&manager, change).await;
                self.tracked(&manager, sent, object.clone(), change).await
            }
            Change::Patch(form, patch) => {
                let live = self.live.clone().unwrap();
                let own = match *form {
                    "application/json-patch+json" => json_patch(&live, patch),
                    "application/merge-patch+json" => Ok(merge_patch(&live, patch)),
                    _ => strategic_merge(&live, patch, &self.forms),
                };
                match own {
                    Ok(own) => {
                        let own = self.normal(&own, None).await;
                        let sent = self.send(&manager, change).await;
                        let Some(own) = own else {
                            if let Ok(taken) = &sent {
                                self.differs(
                                    "the server takes a patch",
                                    &Json::Null,
                                    taken,
                                    change,
                                );
                                self.live = Some(taken.clone());
                            }
                            return false;
                        };
                        self.tracked(&manager, sent, own, change).await
                    }
                    Err(failure) => {
                        if let Ok(taken) = self.send(&manager, change).await {
                            let own = json!(failure.to_string());
                            self.differs("the server takes a patch", &own, &taken, change);
                            self.live = Some(taken);
                        }
                        false
                    }
                }
            }
            Change::PatchStatus(patch) => {
                let live = self.live.clone().unwrap();
                let sent = self.send(&manager, change).await;
                let own = merge_patch(&live, patch);
                self.tracked(&manager, sent, own, change).await
            }
        }
    }

    async fn apply(
        &mut self,
        manager: &FieldManager<'_>,
        applied: &Json,
        policy: ConflictPolicy,
        change: &Change,
    ) -> bool {
        let own = apply(self.live.as_ref(), applied, manager, policy, &self.forms);
        let normal = match &own {
            Ok(own) => self.normal(own, manager.subresource).await,
            Err(_) => None,
        };
        match (own, self.send(manager, change).await) {
            (Ok(own), Ok(server)) => {
                let normal = normal.unwrap_or(Json::Null);
                if plain(&normal) != plain(&server) {
                    let (own, server) = only_different_fields(&plain(&normal), &plain(&server));
                    self.differs("objects differ", &own, &server, change);
                }
                self.compare_managers(&own, &server, change);
                self.live = Some(server);
                true
            }
            (Err(ApplyFailure::Conflicts(held)), Err(refused)) => {
                let mut own: Vec<(String, String)> = held
                    .iter()
                    .map(|held| {
                        (
                            held.conflict.written.to_string(),
                            without_time(&held.message()),
                        )
                    })
                    .collect();
                let mut server: Vec<(String, String)> = refused.causes();
                own.sort();
                server.sort();
                if own != server {
                    self.differs("conflicts differ", &json!(own), &json!(server), change);
                }
                false
            }
            (Ok(own), Err(refused)) => {
                // What the server does not take for other reasons, it does not take either when it
                // replaces the object. Only nulls are dropped there.
                if normal.is_some() && !has_null(&own["spec"]) {
                    self.differs("the server refuses", &own, &refused.0, change);
                }
                false
            }
            (Err(failure), Ok(server)) => {
                let own = json!(failure.to_string());
                self.differs("the server applies", &own, &server, change);
                self.live = Some(server);
                true
            }
            (Err(ApplyFailure::Invalid(_)), Err(_)) => false,
        }
    }

    /// Compares a plain request: `own` is the object that this crate expects.
    async fn tracked(
        &mut self,
        manager: &FieldManager<'_>,
        sent: Result<Json, Refused>,
        own: Json,
        change: &Change,
    ) -> bool {
        let Ok(server) = sent else {
            return false;
        };
        if let Change::Patch(..) = change
            && plain(&own) != plain(&server)
        {
            let (own, server) = only_different_fields(&plain(&own), &plain(&server));
            self.differs("objects differ", &own, &server, change);
        }
        let mut after = server.clone();
        after["metadata"]
            .as_object_mut()
            .unwrap()
            .shift_remove("managedFields");
        if self.live.is_none() && self.subject == Subject::Service {
            // The server allocates these after it has written the managers.
            for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                after["spec"].as_object_mut().unwrap().shift_remove(field);
            }
        }
        track_update(self.live.as_ref(), &mut after, manager, &self.forms);
        self.compare_managers(&after, &server, change);
        self.live = Some(server);
        true
    }

    fn compare_managers(&mut self, own: &Json, server: &Json, change: &Change) {
        let (own, server) = (managers(own), managers(server));
        if own != server {
            let (own, server) = only_different(own, server);
            self.differs("managers differ", &json!(own), &json!(server), change);
        }
    }

    /// The object with what the server fills in. `None` if it is not valid.
    async fn normal(&self, object: &Json, subresource: Option<&str>) -> Option<Json> {
        let mut object = object.clone();
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.shift_remove("managedFields");
        let list = self.subject.path(&self.server.namespace);
        let query = "dryRun=All&fieldManager=normal";
        let sent = match self.live {
            Some(_) => {
                let subresource = subresource
                    .map(|name| format!("/{name}"))
                    .unwrap_or_default();
                let path = format!("{list}/{}{subresource}?{query}", self.name);
                self.server
                    .send("PUT", &path, "application/json", &object)
                    .await
            }
            None => {
                let path = format!("{list}?{query}");
                self.server
                    .send("POST", &path, "application/json", &object)
                    .await
            }
        };
        sent.ok()
    }

    async fn send(&self, manager: &FieldManager<'_>, change: &Change) -> Result<Json, Refused> {
        let list = self.subject.path(&self.server.namespace);
        let object = format!("{list}/{}", self.name);
        let by = format!("fieldManager={}", manager.name);
        let force = |policy: &ConflictPolicy| match policy {
            ConflictPolicy::TakeOver => "&force=true",
            ConflictPolicy::Refuse => "",
        };
        let apply = "application/apply-patch+yaml";
        let (method, path, form, body) = match change {
            Change::Apply(applied, policy) => (
                "PATCH",
                format!("{object}?{by}{}", force(policy)),
                apply,
                applied,
            ),
            Change::ApplyStatus(applied, policy) => (
                "PATCH",
                format!("{object}/status?{by}{}", force(policy)),
                apply,
                applied,
            ),
            Change::Replace(body) if self.live.is_none() => {
                ("POST", format!("{list}?{by}"), "application/json", body)
            }
            Change::Replace(body) => ("PUT", format!("{object}?{by}"), "application/json", body),
            Change::Patch(form, patch) => ("PATCH", format!("{object}?{by}"), *form, patch),
            Change::PatchStatus(patch) => (
                "PATCH",
                format!("{object}/status?{by}"),
                "application/merge-patch+json",
                patch,
            ),
        };
        self.server.send(method, &path, form, body).await
    }

    async fn delete(&self) {
        let path = format!(
            "{}/{}",
            self.subject.path(&self.server.namespace),
            self.name
        );
        let patch = json!({"metadata": {"finalizers": null}});
        let form = "application/merge-patch+json";
        let _ = self.server.send("PATCH", &path, form, &patch).await;
        let _ = self
            .server
            .send("DELETE", &path, "application/json", &json!({}))
            .await;
    }
}

/// What became of a request.
enum Sent {
    Taken,
    Refused,
    /// The object had changed before.
    Outdated,
}

impl Change {
    /// The request for the live object. What replaces the object is the live one with the fields of
    /// the configuration, as a controller writes it.
    fn on(mut self, live: &Json) -> Change {
        let version = &live["metadata"]["resourceVersion"];
        match &mut self {
            Change::Replace(body) => *body = merge_patch(live, body),
            Change::Patch("application/json-patch+json", operations) => {
                let path = "/metadata/resourceVersion";
                let operation = json!({"op": "replace", "path": path, "value": version});
                operations.as_array_mut().unwrap().push(operation);
            }
            Change::Apply(body, _)
            | Change::ApplyStatus(body, _)
            | Change::Patch(_, body)
            | Change::PatchStatus(body) => body["metadata"]["resourceVersion"] = version.clone(),
        }
        self
    }
}

fn text(change: &Change) -> String {
    match change {
        Change::Apply(body, policy) => format!("apply {policy:?} {body}"),
        Change::ApplyStatus(body, policy) => format!("apply status {policy:?} {body}"),
        Change::Replace(body) => format!("replace {body}"),
        Change::Patch(form, body) => format!("{form} {body}"),
        Change::PatchStatus(body) => format!("patch status {body}"),
    }
}

/// The object without what each write changes.
fn plain(object: &Json) -> Json {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "managedFields",
            "resourceVersion",
            "generation",
            "uid",
            "creationTimestamp",
        ] {
            metadata.shift_remove(field);
        }
    }
    if object["kind"] == "Service"
        && let Some(spec) = object["spec"].as_object_mut()
    {
        for field in ["clusterIP", "clusterIPs"] {
            spec.shift_remove(field);
        }
    }
    if object["status"].as_object().is_none_or(Map::is_empty) {
        object.as_object_mut().unwrap().shift_remove("status");
    }
    object
}

/// The managers with their fields.
fn managers(object: &Json) -> Vec<(String, Json)> {
    let entries = object["metadata"]["managedFields"].as_array();
    let entry = |entry: &Json| {
        let mut entry = entry.clone();
        let fields = entry["fieldsV1"].take();
        let has_time = entry["time"].is_string();
        entry["time"] = has_time.into();
        (entry.to_string(), fields)
    };
    let entry = |value: &Json| {
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        entry(&sorted)
    };
    let mut managers: Vec<_> = entries.into_iter().flatten().map(entry).collect();
    managers.sort_by(|one, other| one.0.cmp(&other.0));
    managers
}

type Managers = Vec<(String, Json)>;

fn only_different(own: Managers, server: Managers) -> (Managers, Managers) {
    let rest = |of: &Managers, other: &Managers| {
        let rest = of.iter().filter(|entry| !other.contains(entry));
        rest.cloned().collect()
    };
    (rest(&own, &server), rest(&server, &own))
}

fn only_different_fields(own: &Json, server: &Json) -> (Json, Json) {
    let (Json::Object(own), Json::Object(server)) = (own, server) else {
        return (own.clone(), server.clone());
    };
    let (mut left, mut right) = (Map::new(), Map::new());
    for name in own.keys().chain(server.keys()) {
        let (own, server) = (own.get(name), server.get(name));
        if own != server {
            let null = Json::Null;
            let (own, server) = (own.unwrap_or(&null), server.unwrap_or(&null));
            let (own, server) = only_different_fields(own, server);
            left.insert(name.clone(), own);
            right.insert(name.clone(), server);
        }
    }
    (Json::Object(left), Json::Object(right))
}

fn has_null(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Object(fields) => fields.values().any(has_null),
        Json::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

fn without_time(message: &str) -> String {
    let end = message.rfind(" at ").unwrap_or(message.len());
    message[..end].to_owned()
}
