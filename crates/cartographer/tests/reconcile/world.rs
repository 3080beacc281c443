//! A toy world: a map of objects that answers the requests of reconciles, and drives all objects
//! until nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::{Map, Name, Value};
use cartographer::compat::Compat;
use cartographer::kinds::CartoKind;
use cartographer::reconcile::{
    Call, ClusterAnswer, FoundObject, Platform, Reconcile, ReconcileOptions, ReconcileOutcome,
    Refusal, RefusalReason, Retry,
};
use cartographer::ytt_templates::InProcessYtt;
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::yaml::yaml;

/// Kind and name.
pub(crate) type Key = (String, String);

/// What the world does to a call.
pub(crate) enum Fate {
    /// Refuses it.
    Refuse(RefusalReason),
    /// Carries it out, and the answer is lost.
    LoseAnswer,
    /// Carries it out, and the reconcile never learns of it: the controller ends.
    CrashAfter,
    /// Does not carry it out: the controller ends.
    CrashBefore,
}

/// Decides about a call, given its number and its text.
type Rule = Box<dyn Fn(usize, &str) -> Option<Fate>>;

/// The world. All objects are in one namespace.
pub(crate) struct World {
    pub(crate) objects: BTreeMap<Key, Json>,
    /// What was applied, by object: fields that are no longer applied go.
    applied: BTreeMap<Key, Json>,
    /// All calls, as text.
    pub(crate) log: Vec<String>,
    /// How many requests came together, in order.
    pub(crate) batches: Vec<usize>,
    /// The events so far: object and reason.
    pub(crate) events: BTreeSet<(String, String)>,
    /// The number of status writes.
    pub(crate) statuses: usize,
    pub(crate) accounts: BTreeSet<String>,
    pub(crate) compat: Compat,
    pub(crate) rule: Option<Rule>,
    counter: u64,
    seconds: u64,
    generated: BTreeMap<String, u64>,
}

/// What ended a run of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing changes any more.
    Yes,
    /// The controller ended.
    Crashed,
    /// There was no end.
    Endless,
}

impl World {
    pub(crate) fn new() -> World {
        World {
            objects: BTreeMap::new(),
            applied: BTreeMap::new(),
            log: Vec::new(),
            batches: Vec::new(),
            events: BTreeSet::new(),
            statuses: 0,
            accounts: ["sa", "default"].map(str::to_owned).into(),
            compat: Compat::Ours,
            rule: None,
            counter: 0,
            seconds: 0,
            generated: BTreeMap::new(),
        }
    }

    /// Creates the objects of a stream of YAML, or merges them into those that exist.
    pub(crate) fn apply_yaml(&mut self, text: &str) {
        for document in text.split("\n---\n") {
            let object = yaml(document).expect("YAML");
            self.merge(&object);
        }
    }

    /// Creates an object, or merges it into the one that exists.
    pub(crate) fn merge(&mut self, object: &Json) -> Key {
        let key = key_of(object);
        let mut whole = self.objects.get(&key).cloned().unwrap_or(json!({}));
        merge_patch(&mut whole, object);
        self.store(&key, whole);
        key
    }

    /// Stores a whole object in the place of another.
    pub(crate) fn replace(&mut self, key: &Key, object: Json) {
        self.store(key, object);
    }

    /// Merges a status.
    pub(crate) fn set_status(&mut self, kind: &str, name: &str, status: &Json) -> bool {
        let key = (kind.to_owned(), name.to_owned());
        let Some(mut whole) = self.objects.get(&key).cloned() else {
            return false;
        };
        merge_patch(&mut whole, &json!({ "status": status }));
        self.store(&key, whole);
        true
    }

    pub(crate) fn get(&self, kind: &str, name: &str) -> Option<&Json> {
        self.objects.get(&(kind.to_owned(), name.to_owned()))
    }

    /// The names of all objects of a kind.
    pub(crate) fn names(&self, kind: &str) -> Vec<&str> {
        let of_kind = self.objects.keys().filter(|key| key.0 == kind);
        of_kind.map(|key| key.1.as_str()).collect()
    }

    /// Lets time pass.
    pub(crate) fn pause(&mut self) {
        self.seconds += 2;
    }

    /// Stores an object as an API server does: identity, generation and version.
    fn store(&mut self, key: &Key, mut object: Json) {
        let before = self.objects.get(key);
        default_fields(&mut object);
        if before == Some(&object) {
            return;
        }
        self.counter += 1;
        let parts = |object: &Json| {
            let mut object = object.clone();
            if let Some(entries) = object.as_object_mut() {
                entries.remove("metadata");
                entries.remove("status");
            }
            object
        };
        let generation = match before {
            None => 1,
            Some(before) => {
                let generation = before["metadata"]["generation"].as_i64().unwrap_or(1);
                generation + i64::from(parts(before) != parts(&object))
            }
        };
        let created = match before {
            Some(before) => before["metadata"]["creationTimestamp"].clone(),
            None => json!(self.now()),
        };
        let uid = match before {
            Some(before) => before["metadata"]["uid"].clone(),
            None => json!(format!("uid-{}", self.counter)),
        };
        let metadata = &mut object["metadata"];
        metadata["namespace"] = json!("case");
        if key.0 == "ClusterTest"
            && let Some(entries) = metadata.as_object_mut()
        {
            entries.remove("namespace");
        }
        metadata["generation"] = json!(generation);
        metadata["creationTimestamp"] = created;
        metadata["uid"] = uid;
        metadata["resourceVersion"] = json!(self.counter.to_string());
        self.objects.insert(key.clone(), object);
    }

    fn now(&self) -> String {
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        let (hours, minutes) = (minutes / 60, minutes % 60);
        format!("2024-01-01T{hours:02}:{minutes:02}:{seconds:02}Z")
    }

    /// Reconciles all objects until nothing changes.
    pub(crate) fn settle(&mut self) -> Settled {
        for _ in 0..60 {
            let version = self.counter;
            let keys: Vec<Key> = self.objects.keys().cloned().collect();
            for key in keys {
                if self.reconcile(&key).is_err() {
                    return Settled::Crashed;
                }
            }
            if self.counter == version {
                return Settled::Yes;
            }
        }
        Settled::Endless
    }

    /// Reconciles one object; `Ok(None)` if it has no reconcile.
    pub(crate) fn reconcile(&mut self, key: &Key) -> Result<Option<ReconcileOutcome>, ()> {
        let Some(object) = self.objects.get(key) else {
            return Ok(None);
        };
        let options = ReconcileOptions {
            compat: self.compat,
            now: self.now(),
        };
        let object = Arc::new(to_value(object));
        let platform = Documents(self);
        let started = Reconcile::start(object, &platform, Arc::new(InProcessYtt), &options);
        let Some(mut reconcile) = started else {
            return Ok(None);
        };
        let mut open = reconcile.requests();
        while !open.is_empty() {
            self.batches.push(open.len());
            for request in std::mem::take(&mut open) {
                let answer = self.carry_out(&request.call)?;
                reconcile.answer(request.id, answer);
            }
            open = reconcile.requests();
        }
        let outcome = reconcile.outcome().expect("an end").clone();
        self.take(key, &outcome)?;
        Ok(Some(outcome))
    }

    /// Writes what a reconcile ends with.
    fn take(&mut self, key: &Key, outcome: &ReconcileOutcome) -> Result<(), ()> {
        for event in &outcome.events {
            let object = format!("{}/{}", key.0, key.1);
            self.events.insert((object, event.reason.to_owned()));
        }
        let Some(status) = &outcome.status else {
            return Ok(());
        };
        let fate = self.fate("status");
        if matches!(fate, Some(Fate::CrashBefore)) {
            return Err(());
        }
        self.statuses += 1;
        let mut whole = self.objects[key].clone();
        whole["status"] = to_json(status);
        self.store(key, whole);
        match fate {
            Some(Fate::CrashAfter) => Err(()),
            _ => Ok(()),
        }
    }

    fn fate(&mut self, text: &str) -> Option<Fate> {
        let fate = self.rule.as_ref();
        let fate = fate.and_then(|rule| rule(self.log.len(), text));
        self.log.push(text.to_owned());
        fate
    }

    fn carry_out(&mut self, call: &Call) -> Result<ClusterAnswer, ()> {
        let text = described(call);
        match self.fate(&text) {
            None => Ok(self.answer(call)),
            Some(Fate::CrashBefore) => Err(()),
            Some(Fate::CrashAfter) => {
                self.answer(call);
                Err(())
            }
            Some(Fate::LoseAnswer) => {
                self.answer(call);
                Ok(refused(RefusalReason::Unavailable))
            }
            Some(Fate::Refuse(reason)) => Ok(refused(reason)),
        }
    }

    fn answer(&mut self, call: &Call) -> ClusterAnswer {
        match call {
            Call::Account(account) => match self.accounts.contains(account.name.as_ref()) {
                true => ClusterAnswer::Done,
                false => ClusterAnswer::Missing,
            },
            Call::Get(name) => {
                if plural(&name.kind).is_none() {
                    return refused(RefusalReason::KindMissing);
                }
                match self.get(&name.kind, &name.name) {
                    Some(object) => ClusterAnswer::Object(found(object)),
                    None => ClusterAnswer::Missing,
                }
            }
            Call::List { kind, labels, .. } => {
                if plural(kind).is_none() {
                    return refused(RefusalReason::KindMissing);
                }
                let has_labels = |object: &Json| {
                    labels.iter().all(|(key, value)| {
                        object["metadata"]["labels"][key.as_ref()].as_str() == value.as_text()
                    })
                };
                let objects = self.objects.iter().filter(|(key, _)| *key.0 == **kind);
                let objects = objects.filter(|(_, object)| has_labels(object));
                ClusterAnswer::List(objects.map(|(_, object)| found(object)).collect())
            }
            Call::Apply(object) => self.apply(&to_json(object)),
            Call::Create(object) => self.create(to_json(object)),
            Call::Delete { object, uid } => {
                let key = (object.kind.to_string(), object.name.to_string());
                match self.objects.get(&key) {
                    None => ClusterAnswer::Missing,
                    Some(found) if found["metadata"]["uid"].as_str() == Some(uid) => {
                        self.delete(&key);
                        ClusterAnswer::Done
                    }
                    Some(_) => refused(RefusalReason::Conflict),
                }
            }
        }
    }

    /// Deletes an object.
    pub(crate) fn delete(&mut self, key: &Key) {
        self.counter += 1;
        self.objects.remove(key);
        self.applied.remove(key);
    }

    fn apply(&mut self, sent: &Json) -> ClusterAnswer {
        if let Some(refusal) = unfit(sent) {
            return refusal;
        }
        let key = key_of(sent);
        let mut whole = self.objects.get(&key).cloned().unwrap_or(json!({}));
        if let Some(before) = self.applied.get(&key) {
            remove_absent(&mut whole, before, sent);
        }
        overlay(&mut whole, sent);
        self.applied.insert(key.clone(), sent.clone());
        self.store(&key, whole);
        ClusterAnswer::Object(found(&self.objects[&key]))
    }

    fn create(&mut self, mut sent: Json) -> ClusterAnswer {
        if let Some(refusal) = unfit(&sent) {
            return refusal;
        }
        let prefix = sent["metadata"]["generateName"].as_str();
        let prefix = prefix.unwrap_or_default().to_owned();
        let number = self.generated.entry(prefix.clone()).or_default();
        *number += 1;
        sent["metadata"]["name"] = json!(format!("{prefix}<{number}>"));
        let key = key_of(&sent);
        self.store(&key, sent);
        ClusterAnswer::Object(found(&self.objects[&key]))
    }
}

/// The blueprints and templates of the world.
struct Documents<'a>(&'a World);

impl Platform for Documents<'_> {
    fn blueprints(&self, kind: CartoKind) -> Vec<Arc<Value>> {
        let objects = self.0.objects.iter();
        let objects = objects.filter(|(key, _)| key.0 == kind.name());
        objects
            .map(|(_, object)| Arc::new(to_value(object)))
            .collect()
    }

    fn find(&self, kind: CartoKind, name: &str) -> Option<Arc<Value>> {
        let object = self.0.get(kind.name(), name)?;
        Some(Arc::new(to_value(object)))
    }
}

fn refused(reason: RefusalReason) -> ClusterAnswer {
    ClusterAnswer::Refused(Refusal {
        reason,
        message: format!("{reason:?}"),
    })
}

/// The refusal of an object that no schema of the world accepts.
fn unfit(object: &Json) -> Option<ClusterAnswer> {
    if plural(object["kind"].as_str().unwrap_or_default()).is_none() {
        return Some(refused(RefusalReason::KindMissing));
    }
    let size = &object["spec"]["size"];
    let is_valid = size.is_null() || ["small", "large"].map(Json::from).contains(size);
    (!is_valid).then(|| refused(RefusalReason::Rejected))
}

fn default_fields(object: &mut Json) {
    if object["kind"] == "Thing"
        && object["spec"].is_object()
        && object["spec"]["replicas"].is_null()
    {
        object["spec"]["replicas"] = json!(1);
    }
    if object["kind"] == "Runnable" && object["spec"]["retentionPolicy"].is_null() {
        object["spec"]["retentionPolicy"] = json!({ "maxFailedRuns": 10, "maxSuccessfulRuns": 10 });
    }
}

fn plural(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "Thing" => "things.demo.test",
        "Test" => "tests.test.run",
        "ClusterTest" => "clustertests.test.run",
        "TestObj" => "testobjs.test.run",
        "ConfigMap" => "configmaps",
        "Runnable" => "runnables.carto.run",
        "Deliverable" => "deliverables.carto.run",
        "Workload" => "workloads.carto.run",
        _ => return None,
    })
}

fn found(object: &Json) -> FoundObject {
    let kind = object["kind"].as_str().unwrap_or_default();
    FoundObject {
        object: Arc::new(to_value(object)),
        resource: Name::from(plural(kind).unwrap_or_default()),
    }
}

pub(crate) fn key_of(object: &Json) -> Key {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// A call in words: verb, kind and name.
fn described(call: &Call) -> String {
    let of = |object: &Value| {
        let (kind, name) = key_of(&to_json(object));
        format!("{kind}/{name}")
    };
    match call {
        Call::Account(account) => format!("account {}", account.name),
        Call::Get(name) => format!("get {}/{}", name.kind, name.name),
        Call::List { kind, .. } => format!("list {kind}"),
        Call::Apply(object) => format!("apply {}", of(object)),
        Call::Create(object) => format!("create {}", of(object)),
        Call::Delete { object, .. } => format!("delete {}/{}", object.kind, object.name),
    }
}

/// Whether a call of the log changes something.
pub(crate) fn is_write(call: &str) -> bool {
    ["apply", "create", "delete", "status"]
        .iter()
        .any(|verb| call.starts_with(verb))
}

/// A merge patch: null removes.
pub(crate) fn merge_patch(whole: &mut Json, patch: &Json) {
    let Some(patch) = patch.as_object() else {
        *whole = patch.clone();
        return;
    };
    if !whole.is_object() {
        *whole = Json::Object(JsonMap::new());
    }
    let Some(entries) = whole.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        match value.is_null() {
            true => {
                entries.remove(key);
            }
            false => merge_patch(entries.entry(key.clone()).or_insert(Json::Null), value),
        }
    }
}

/// Sets everything that was sent; maps are merged.
fn overlay(whole: &mut Json, sent: &Json) {
    match (whole.as_object_mut(), sent.as_object()) {
        (Some(entries), Some(sent)) => {
            for (key, value) in sent {
                overlay(entries.entry(key.clone()).or_insert(Json::Null), value);
            }
        }
        _ => *whole = sent.clone(),
    }
}

/// Removes what was applied before and is not sent any more.
fn remove_absent(whole: &mut Json, before: &Json, sent: &Json) {
    let (Some(entries), Some(before)) = (whole.as_object_mut(), before.as_object()) else {
        return;
    };
    for (key, value) in before {
        match sent.get(key) {
            None => {
                entries.remove(key);
            }
            Some(sent) => {
                if let Some(entry) = entries.get_mut(key) {
                    remove_absent(entry, value, sent);
                }
            }
        }
    }
}

/// JSON as a value.
pub(crate) fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(to_value)),
        Json::Object(entries) => {
            let entries: Map = entries
                .iter()
                .map(|(key, entry)| (Name::from(key.as_str()), to_value(entry)))
                .collect();
            Value::Map(Arc::new(entries))
        }
    }
}

/// A value as JSON.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::Float(number) if number.fract() == 0.0 => json!(*number as i64),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text.as_ref()),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, entry)| (key.to_string(), to_json(entry)));
            Json::Object(entries.collect())
        }
        other => panic!("{other:?} is no JSON"),
    }
}

/// Whether an outcome asks to be tried again.
pub(crate) fn retries(outcome: &ReconcileOutcome) -> bool {
    outcome.retry == Retry::Backoff
}
