//! Random requests, whose answers must be equal on the local and a real server.
//!
//! `CYAN_RANDOM_REQUESTS` is the number of sequences, or a range of seeds.

use std::collections::HashMap;
use std::ops::Range;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value as Json, json};
use similar::TextDiff;

use crate::definitions::define;
use crate::peer::{Reply, TestServer};

/// The number of sequences if the variable does not say.
const SEQUENCES: u64 = 10;

/// The requests of a sequence.
const LENGTH: usize = 60;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("CYAN_RANDOM_REQUESTS") else {
        return 0..SEQUENCES;
    };
    match text.split_once("..") {
        Some((first, last)) => first.parse().unwrap()..last.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

#[tokio::test]
async fn random_requests_are_answered_as_by_a_real_server() {
    let seeds = seeds();
    let Some(real) = TestServer::real().await else {
        return;
    };
    let local = TestServer::local().await;
    define(&real).await;
    define(&local).await;
    let mut differences = Vec::new();
    for seed in seeds {
        let mut pair = [Played::new(&local, seed), Played::new(&real, seed)];
        let mut rng = StdRng::seed_from_u64(seed);
        for at in 0..LENGTH {
            let step = Step::random(&mut rng);
            let before = pair[1].seen.get(&(step.of, step.name)).cloned();
            let before = before.unwrap_or_default();
            let mut answers = Vec::new();
            for played in &mut pair {
                answers.push(played.play(&step).await);
            }
            let [ours, theirs] = &answers[..] else {
                unreachable!("there are two servers")
            };
            if ours != theirs {
                let (ours, theirs) = (format!("{ours:#}\n"), format!("{theirs:#}\n"));
                let difference = TextDiff::from_lines(&ours, &theirs);
                let difference = difference
                    .unified_diff()
                    .header("ours", "theirs")
                    .to_string();
                differences.push(format!(
                    "seed {seed}, step {at}: {step:?}\nbefore: {before}\n{difference}"
                ));
                break;
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    real.clean().await;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Of {
    Config,
    Widget,
}

#[derive(Clone, Debug)]
enum Body {
    /// A new object.
    New(Json),
    /// The last object that the client has seen, after a merge.
    Seen(Json),
    /// A text with the last uid or version put in.
    Plain(Json),
}

#[derive(Clone, Debug)]
struct Step {
    of: Of,
    name: &'static str,
    method: &'static str,
    ty: &'static str,
    subresource: &'static str,
    query: String,
    body: Option<Body>,
}

impl Step {
    fn random(rng: &mut StdRng) -> Step {
        let of = pick(rng, &[Of::Config, Of::Widget]);
        let mut step = Step {
            of,
            name: pick(rng, &["a", "b"]),
            method: "GET",
            ty: "application/json",
            subresource: "",
            query: String::new(),
            body: None,
        };
        let mut query = Vec::new();
        match rng.random_range(0..20) {
            0..3 => {
                step.method = "POST";
                step.body = Some(Body::New(content(rng, of)));
            }
            3..6 => {
                step.method = "PUT";
                step.body = Some(Body::Seen(content(rng, of)));
            }
            6..9 => {
                step.method = "PATCH";
                step.ty = "application/merge-patch+json";
                step.body = Some(Body::Plain(content(rng, of)));
            }
            9..15 => {
                step.method = "PATCH";
                step.ty = "application/apply-patch+yaml";
                step.body = Some(Body::New(content(rng, of)));
                query.push(pick(rng, &["fieldManager=one", "fieldManager=two"]));
                if rng.random_bool(0.4) {
                    query.push("force=true");
                }
            }
            15 => {
                step.method = "PATCH";
                step.ty = "application/json-patch+json";
                step.body = Some(Body::Plain(operations(rng)));
            }
            16..18 => {
                step.method = "DELETE";
                if rng.random_bool(0.5) {
                    step.body = Some(Body::Plain(deletion(rng)));
                }
            }
            _ => {}
        }
        if of == Of::Widget && matches!(step.method, "PUT" | "PATCH" | "GET") {
            step.subresource = pick(rng, &["", "", "/status"]);
        }
        if step.ty == "application/json-patch+json" {
            step.subresource = "";
        }
        step.keep_part(rng);
        if step.method != "GET" && rng.random_bool(0.1) {
            query.push("dryRun=All");
        }
        if matches!(step.method, "POST" | "PUT" | "PATCH") && rng.random_bool(0.3) {
            query.push(pick(
                rng,
                &[
                    "fieldValidation=Strict",
                    "fieldValidation=Ignore",
                    "fieldValidation=Warn",
                ],
            ));
        }
        step.query = query.join("&");
        step
    }

    /// Leaves out what a request states besides the part that it changes: a real server keeps traces
    /// of that in the managers and their times.
    fn keep_part(&mut self, rng: &mut StdRng) {
        let is_status = !self.subresource.is_empty();
        let Some(Body::New(content) | Body::Seen(content) | Body::Plain(content)) = &mut self.body
        else {
            return;
        };
        let Some(entries) = content.as_object_mut() else {
            return;
        };
        if is_status {
            entries.retain(|field, _| field == "status");
            content["status"] = json!({"phase": format!("p{}", rng.random_range(0..1000))});
        } else if self.ty == "application/apply-patch+yaml" {
            entries.shift_remove("status");
        }
    }
}

fn pick<T: Clone>(rng: &mut StdRng, all: &[T]) -> T {
    all[rng.random_range(0..all.len())].clone()
}

/// Parts of an object.
fn content(rng: &mut StdRng, of: Of) -> Json {
    let mut object = json!({});
    let mut metadata = Map::new();
    if rng.random_bool(0.4) {
        let values = [json!("x"), json!("y"), json!("not valid")];
        let value = pick(rng, &values);
        metadata.insert("labels".to_owned(), json!({pick(rng, &["k", "l"]): value}));
    }
    if rng.random_bool(0.2) {
        let value = pick(rng, &[json!("x"), json!("y"), json!("")]);
        metadata.insert("annotations".to_owned(), json!({"n": value}));
    }
    if rng.random_bool(0.15) {
        let list = pick(
            rng,
            &[
                json!(["example.com/f"]),
                json!([]),
                json!(["example.com/f", "example.com/g"]),
            ],
        );
        metadata.insert("finalizers".to_owned(), list);
    }
    if !metadata.is_empty() {
        object["metadata"] = Json::Object(metadata);
    }
    match of {
        Of::Config => {
            let mut data = Map::new();
            for key in ["a", "b", "c"] {
                if rng.random_bool(0.4) {
                    data.insert(key.to_owned(), pick(rng, &[json!("1"), json!("2")]));
                }
            }
            if rng.random_bool(0.8) {
                object["data"] = Json::Object(data);
            }
            if rng.random_bool(0.1) {
                object["color"] = "red".into();
            }
        }
        Of::Widget => {
            let mut spec = json!({"size": pick(rng, &[json!(1), json!(2), json!(3), json!(0)])});
            if rng.random_bool(0.1) {
                spec = json!({});
            }
            if rng.random_bool(0.4) {
                spec["color"] = pick(rng, &["red", "blue", "green"]).into();
            }
            if rng.random_bool(0.5) {
                spec["parts"] = parts(rng);
            }
            if rng.random_bool(0.1) {
                spec["extra"] = true.into();
            }
            object["spec"] = spec;
            if rng.random_bool(0.4) {
                object["status"] = json!({"phase": pick(rng, &["up", "down"])});
            }
        }
    }
    object
}

fn parts(rng: &mut StdRng) -> Json {
    let mut parts = Vec::new();
    for name in ["p", "q", "r"] {
        if rng.random_bool(0.5) {
            let mut part = json!({"name": name});
            if rng.random_bool(0.6) {
                part["weight"] = rng.random_range(1..4).into();
            }
            parts.push(part);
        }
    }
    parts.into()
}

fn operations(rng: &mut StdRng) -> Json {
    let one = pick(
        rng,
        &[
            json!({"op": "add", "path": "/metadata/labels", "value": {"k": "z"}}),
            json!({"op": "remove", "path": "/metadata/labels"}),
            json!({"op": "test", "path": "/metadata/labels/k", "value": "x"}),
            json!({"op": "replace", "path": "/metadata/name", "value": "other"}),
            json!({"op": "add", "path": "/data/a", "value": "9"}),
            json!({"op": "replace", "path": "/spec/size", "value": 9}),
            json!({"op": "nonsense", "path": "/spec/size"}),
        ],
    );
    json!([one])
}

fn deletion(rng: &mut StdRng) -> Json {
    let mut options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    if rng.random_bool(0.3) {
        options["propagationPolicy"] = "Background".into();
    }
    if rng.random_bool(0.3) {
        options["preconditions"] = json!({"uid": pick(rng, &["LAST-UID", "OTHER-UID"])});
    }
    options
}

/// Messages about values are in the words of each server.
fn drop_messages(body: &mut Json) {
    if body["kind"] != "Status" || body["status"] != "Failure" {
        return;
    }
    body["message"] = Json::Null;
    let causes = body.pointer_mut("/details/causes");
    let Some(causes) = causes.and_then(Json::as_array_mut) else {
        return;
    };
    for cause in causes.iter_mut() {
        cause["message"] = Json::Null;
    }
    // Their order is random there, and some are repeated.
    causes.sort_by_key(Json::to_string);
    causes.dedup();
}

/// A server on which a sequence is played.
struct Played<'a> {
    server: &'a TestServer,
    seed: u64,
    /// The last object that the client has seen under each name.
    seen: HashMap<(Of, &'static str), Json>,
    /// The words for uids and versions.
    words: HashMap<String, String>,
}

impl<'a> Played<'a> {
    fn new(server: &'a TestServer, seed: u64) -> Played<'a> {
        Played {
            server,
            seed,
            seen: HashMap::new(),
            words: HashMap::new(),
        }
    }

    async fn play(&mut self, step: &Step) -> Json {
        let name = format!("{}-{}", step.name, self.seed);
        let list = match step.of {
            Of::Config => self.server.core("configmaps"),
            Of::Widget => self.server.defined("widgets"),
        };
        let mut path = match step.method {
            "POST" => list,
            _ => format!("{list}/{name}{}", step.subresource),
        };
        if !step.query.is_empty() {
            path = format!("{path}?{}", step.query);
        }
        let body = step.body.as_ref().map(|body| self.body(step, &name, body));
        let headers = [("content-type", step.ty)];
        let reply = self
            .server
            .send(step.method, &path, &headers, body.as_ref())
            .await;
        let key = (step.of, step.name);
        if reply.code < 300 && reply.body["kind"] != "Status" && !step.query.contains("dryRun") {
            self.seen.insert(key, reply.body.clone());
        }
        self.normal(&reply)
    }

    fn body(&self, step: &Step, name: &str, body: &Body) -> Json {
        let (api_version, kind) = match step.of {
            Of::Config => ("v1".to_owned(), "ConfigMap"),
            Of::Widget => (format!("{}/v1", self.server.group), "Widget"),
        };
        let seen = self.seen.get(&(step.of, step.name));
        match body {
            Body::New(content) => {
                let mut object = content.clone();
                object["apiVersion"] = api_version.into();
                object["kind"] = kind.into();
                object["metadata"]["name"] = name.into();
                object
            }
            Body::Seen(content) => {
                let mut object = seen.cloned().unwrap_or_else(
                    || json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}),
                );
                for (field, value) in content.as_object().unwrap() {
                    if field != "metadata" {
                        object[field] = value.clone();
                    }
                }
                for (field, value) in content["metadata"].as_object().into_iter().flatten() {
                    object["metadata"][field] = value.clone();
                }
                object
            }
            Body::Plain(content) => {
                let uid = seen.and_then(|seen| seen["metadata"]["uid"].as_str());
                let text = content.to_string();
                let text = text.replace("LAST-UID", uid.unwrap_or("none"));
                serde_json::from_str(&text).unwrap()
            }
        }
    }

    /// An answer without what differs between servers.
    fn normal(&mut self, reply: &Reply) -> Json {
        let mut body = reply.body.clone();
        body.sort_all_objects();
        self.rename(&mut body, "");
        drop_messages(&mut body);
        let text = body.to_string();
        let text = text
            .replace(&self.server.group, "GROUP")
            .replace(&self.server.namespace, "NAMESPACE");
        let mut text = text;
        for (own, word) in &self.words {
            if own.len() > 30 {
                text = text.replace(own, word);
            }
        }
        let body: Json = serde_json::from_str(&text).unwrap();
        json!({"code": reply.code, "warnings": reply.warnings, "body": body})
    }

    fn rename(&mut self, value: &mut Json, field: &str) {
        match value {
            Json::Object(entries) => {
                for (name, entry) in entries.iter_mut() {
                    self.rename(entry, name);
                }
            }
            Json::Array(items) => {
                if field == "managedFields" {
                    items.sort_by_key(|entry| {
                        format!(
                            "{}{}{}",
                            entry["manager"], entry["operation"], entry["subresource"]
                        )
                    });
                }
                for item in items {
                    self.rename(item, field);
                }
            }
            Json::String(text) => match field {
                "creationTimestamp" | "deletionTimestamp" | "time" => *value = "TIME".into(),
                "uid" | "resourceVersion" => {
                    let next = format!("{field}-{}", self.words.len());
                    let word = self.words.entry(text.clone()).or_insert(next);
                    *value = word.as_str().into();
                }
                _ => {}
            },
            _ => {}
        }
    }
}
