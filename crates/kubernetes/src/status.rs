//! Whether an object is ready: what kstatus of `sigs.k8s.io/cli-utils` computes from the object
//! alone, with the rules of `kubectl rollout status` for workloads.
//!
//! It differs from kstatus where a deployment has to wait for more: a Job is ready when it is
//! complete, a Service of type LoadBalancer when it has an address, any other object when its
//! condition `Ready` is true. A Pod that cannot be scheduled is in progress, because nodes may be
//! added; kstatus lets it fail after 15 seconds.
//!
//! Not here: how long to wait.

use serde_json::Value as Json;

use crate::GroupKind;

use ObjectStatus::{Current, Failed, InProgress, Terminating};

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectStatus {
    /// It is as its spec wants it.
    Current,
    /// Its controller works on it, for this reason: a short text for people, without a full stop.
    InProgress(String),
    /// It will not become current without a change, for this reason.
    Failed(String),
    /// It is being deleted. [`deletion_held_by`] says what holds it.
    Terminating,
}

/// The longest text that is taken from a controller, in characters.
const LONGEST: usize = 200;

/// The status of an object as it was read. An object whose kind is unknown has the general rules;
/// fields of unexpected kinds count as missing.
pub fn readiness(object: &Json) -> ObjectStatus {
    let object = LiveObject(object);
    if object.text("/metadata/deletionTimestamp").is_some() {
        return Terminating;
    }
    if let (Some(generation), Some(observed)) = object.generations()
        && observed < generation
    {
        return InProgress(NOT_SEEN.to_owned());
    }
    if let Some(status) = standard_conditions(object) {
        return status;
    }
    let Ok(kind) = GroupKind::of(object.0) else {
        return ready_condition(object);
    };
    match (&*kind.group, &*kind.kind) {
        ("apps" | "extensions", "Deployment") => seen(object).unwrap_or_else(|| deployment(object)),
        ("apps", "StatefulSet") => seen(object).unwrap_or_else(|| stateful_set(object)),
        ("apps" | "extensions", "DaemonSet") => seen(object).unwrap_or_else(|| daemon_set(object)),
        ("apps" | "extensions", "ReplicaSet") | ("", "ReplicationController") => {
            seen(object).unwrap_or_else(|| replica_set(object))
        }
        ("policy", "PodDisruptionBudget") => seen(object).unwrap_or(Current),
        ("batch", "Job") => job(object),
        ("", "Pod") => pod(object),
        ("", "PersistentVolumeClaim") => volume_claim(object),
        ("", "Service") => service(object),
        ("", "Namespace") => namespace(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        ("apiregistration.k8s.io", "APIService") => api_service(object),
        _ => ready_condition(object),
    }
}

/// What holds an object that is being deleted: its finalizers, and what a namespace still contains.
/// `None` if nothing that the object says holds it.
pub fn deletion_held_by(object: &Json) -> Option<String> {
    let object = LiveObject(object);
    let contents = [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ];
    let of_contents = contents
        .into_iter()
        .filter_map(|kind| object.condition(kind))
        .filter(|condition| condition.is("True"))
        .map(|condition| condition.words("the namespace is not empty"));
    let finalizers = object.list("/metadata/finalizers");
    let of_finalizers = finalizers
        .filter_map(Json::as_str)
        .map(|finalizer| match finalizer {
            "foregroundDeletion" => "objects that it owns are being deleted".to_owned(),
            "orphan" => "objects that it owns are being released".to_owned(),
            other => format!("the finalizer `{other}` holds it"),
        });
    let reasons: Vec<String> = of_contents.chain(of_finalizers).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The reason for an object whose controller is late.
const NOT_SEEN: &str = "its controller has not seen the latest change";

/// The status of an object whose controller always sets `observedGeneration`, while it has not.
fn seen(object: LiveObject<'_>) -> Option<ObjectStatus> {
    match object.generations() {
        (Some(_), None) => Some(InProgress(NOT_SEEN.to_owned())),
        _ => None,
    }
}

/// The conditions that decide for every kind: `Reconciling` and `Stalled`.
fn standard_conditions(object: LiveObject<'_>) -> Option<ObjectStatus> {
    let stalled = object.condition("Stalled");
    if let Some(stalled) = stalled.filter(|condition| condition.is("True")) {
        return Some(Failed(stalled.words("its controller has stopped")));
    }
    let reconciling = object.condition("Reconciling");
    let reconciling = reconciling.filter(|condition| condition.is("True"))?;
    Some(InProgress(
        reconciling.words("its controller works on the latest change"),
    ))
}

/// The condition `Ready`, for kinds without rules of their own. Current if there is none.
fn ready_condition(object: LiveObject<'_>) -> ObjectStatus {
    let Some(ready) = object.condition("Ready") else {
        return Current;
    };
    let seen = LiveObject(ready.0).int("/observedGeneration");
    if let (Some(generation), Some(seen)) = (object.generations().0, seen)
        && seen < generation
    {
        return InProgress(NOT_SEEN.to_owned());
    }
    if ready.is("True") {
        return Current;
    }
    InProgress(ready.words("its condition `Ready` is not true"))
}

fn deployment(object: LiveObject<'_>) -> ObjectStatus {
    let progressing = object.condition("Progressing");
    if let Some(progressing) = progressing
        && progressing.text("/reason") == Some("ProgressDeadlineExceeded")
    {
        return Failed(progressing.words("its progress deadline is exceeded"));
    }
    let wanted = object.replicas();
    let status = |name: &str| object.count(&format!("/status/{name}"));
    let (all, updated) = (status("replicas"), status("updatedReplicas"));
    let short = few(updated, wanted, "replicas are updated")
        .or_else(|| surplus(all - updated.min(all), "old replicas"))
        .or_else(|| surplus(all - wanted.min(all), "surplus replicas"))
        .or_else(|| {
            few(
                status("availableReplicas"),
                updated,
                "replicas are available",
            )
        })
        .or_else(|| few(status("readyReplicas"), wanted, "replicas are ready"));
    if let Some(reason) = short {
        return InProgress(with_cause(reason, object.condition("ReplicaFailure")));
    }
    match object.condition("Available") {
        Some(available) if available.is("False") => {
            InProgress(available.words("too few replicas are available"))
        }
        _ => Current,
    }
}

fn stateful_set(object: LiveObject<'_>) -> ObjectStatus {
    // Its pods are replaced by hand, so the controller never completes an update.
    if object.text("/spec/updateStrategy/type") == Some("OnDelete") {
        return Current;
    }
    let wanted = object.replicas();
    let status = |name: &str| object.count(&format!("/status/{name}"));
    let all = status("replicas");
    let short = few(all, wanted, "replicas exist")
        .or_else(|| few(status("readyReplicas"), wanted, "replicas are ready"))
        .or_else(|| surplus(all - wanted.min(all), "surplus replicas"));
    if let Some(reason) = short {
        return InProgress(reason);
    }
    if let Some(partition) = object.int("/spec/updateStrategy/rollingUpdate/partition") {
        let part = wanted.saturating_sub(partition).max(0);
        return few(status("updatedReplicas"), part, "replicas are updated")
            .map_or(Current, InProgress);
    }
    let revision = |name: &str| object.text(&format!("/status/{name}"));
    if revision("currentRevision") != revision("updateRevision") {
        let reason = few(status("updatedReplicas"), wanted, "replicas are updated");
        let late = || "the update is not complete".to_owned();
        return InProgress(reason.unwrap_or_else(late));
    }
    few(status("currentReplicas"), wanted, "replicas are current").map_or(Current, InProgress)
}

fn daemon_set(object: LiveObject<'_>) -> ObjectStatus {
    let status = |name: &str| object.count(&format!("/status/{name}"));
    let Some(wanted) = object.int("/status/desiredNumberScheduled") else {
        return InProgress("its controller has not counted the nodes".to_owned());
    };
    // With `OnDelete`, pods are replaced by hand, so the number of updated ones is not waited for.
    let by_hand = object.text("/spec/updateStrategy/type") == Some("OnDelete");
    let updated = if by_hand {
        wanted
    } else {
        status("updatedNumberScheduled")
    };
    few(
        status("currentNumberScheduled"),
        wanted,
        "nodes have a replica",
    )
    .or_else(|| few(updated, wanted, "replicas are updated"))
    .or_else(|| few(status("numberAvailable"), wanted, "replicas are available"))
    .or_else(|| few(status("numberReady"), wanted, "replicas are ready"))
    .map_or(Current, InProgress)
}

fn replica_set(object: LiveObject<'_>) -> ObjectStatus {
    let wanted = object.replicas();
    let status = |name: &str| object.count(&format!("/status/{name}"));
    let all = status("replicas");
    let failure = object.condition("ReplicaFailure");
    let failed = failure.filter(|condition| condition.is("True"));
    let short = few(
        status("fullyLabeledReplicas"),
        wanted,
        "replicas have all labels",
    )
    .or_else(|| {
        few(
            status("availableReplicas"),
            wanted,
            "replicas are available",
        )
    })
    .or_else(|| few(status("readyReplicas"), wanted, "replicas are ready"))
    .or_else(|| surplus(all - wanted.min(all), "surplus replicas"))
    .or_else(|| failed.map(|_| "replicas cannot be created or deleted".to_owned()));
    short.map_or(Current, |reason| InProgress(with_cause(reason, failure)))
}

fn job(object: LiveObject<'_>) -> ObjectStatus {
    let holds = |kind: &str| object.condition(kind).filter(|found| found.is("True"));
    if holds("Complete").is_some() || holds("Suspended").is_some() {
        return Current;
    }
    if let Some(failed) = holds("Failed") {
        return Failed(failed.words("the job has failed"));
    }
    if object.text("/status/startTime").is_none() {
        return InProgress("the job has not started".to_owned());
    }
    let wanted = object
        .int("/spec/completions")
        .or(object.int("/spec/parallelism"));
    let (succeeded, failed) = (
        object.count("/status/succeeded"),
        object.count("/status/failed"),
    );
    let reason = few(succeeded, wanted.unwrap_or(1), "pods have completed")
        .unwrap_or_else(|| "its last pods are still running".to_owned());
    InProgress(match failed {
        0 => reason,
        1 => format!("{reason}, 1 has failed"),
        _ => format!("{reason}, {failed} have failed"),
    })
}

fn pod(object: LiveObject<'_>) -> ObjectStatus {
    match object.text("/status/phase") {
        Some("Succeeded") => Current,
        Some("Failed") => {
            let why = ConditionOf(object.at("/status").unwrap_or(&Json::Null));
            Failed(why.words("a container has failed"))
        }
        Some("Running") => {
            let ready = object.condition("Ready");
            if ready.is_some_and(|ready| ready.is("True")) {
                return Current;
            }
            let crashes: Vec<String> = waiting_containers(object, "containerStatuses")
                .filter(|(_, reason)| reason.text("/reason") == Some("CrashLoopBackOff"))
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            if !crashes.is_empty() {
                let words = if crashes.len() == 1 {
                    "container"
                } else {
                    "containers"
                };
                return Failed(format!("{words} {} keeps crashing", crashes.join(", ")));
            }
            let reason = ready.map(|ready| ready.words("the pod is not ready"));
            InProgress(
                waiting_container(object)
                    .or(reason)
                    .unwrap_or_else(|| "the pod is not ready".to_owned()),
            )
        }
        _ => {
            let scheduled = object.condition("PodScheduled");
            let unscheduled = scheduled.filter(|condition| condition.is("False"));
            InProgress(match unscheduled {
                Some(why) => format!(
                    "the pod has no node: {}",
                    why.words("it cannot be scheduled")
                ),
                None => waiting_container(object)
                    .unwrap_or_else(|| "the pod is not running yet".to_owned()),
            })
        }
    }
}

/// The containers of a list of statuses that wait, each with its state.
fn waiting_containers<'a>(
    object: LiveObject<'a>,
    list: &str,
) -> impl Iterator<Item = (&'a str, ConditionOf<'a>)> + use<'a> {
    object
        .list(&format!("/status/{list}"))
        .filter_map(|container| {
            let name = container.get("name")?.as_str()?;
            let waiting = container.pointer("/state/waiting")?;
            Some((name, ConditionOf(waiting)))
        })
}

/// Why a container of a pod does not run, if one says so.
fn waiting_container(object: LiveObject<'_>) -> Option<String> {
    let ordinary = ["ContainerCreating", "PodInitializing"];
    ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| waiting_containers(object, list))
        .find_map(|(name, waiting)| {
            let reason = waiting.text("/reason")?;
            let is_told = !ordinary.contains(&reason);
            is_told.then(|| match waiting.text("/message") {
                Some(message) => format!("container `{name}`: {reason}: {}", shortened(message)),
                None => format!("container `{name}`: {reason}"),
            })
        })
}

fn volume_claim(object: LiveObject<'_>) -> ObjectStatus {
    match object.text("/status/phase") {
        Some("Bound") => Current,
        Some("Lost") => Failed("the volume of the claim is gone".to_owned()),
        _ => InProgress("the claim is not bound to a volume".to_owned()),
    }
}

fn service(object: LiveObject<'_>) -> ObjectStatus {
    if object.text("/spec/type") != Some("LoadBalancer") {
        return Current;
    }
    let has_address = |ingress: &Json| {
        ["ip", "hostname"]
            .into_iter()
            .any(|name| ingress[name].as_str().is_some_and(|text| !text.is_empty()))
    };
    let mut addresses = object.list("/status/loadBalancer/ingress");
    if addresses.any(has_address) {
        return Current;
    }
    InProgress("the load balancer has no address".to_owned())
}

fn namespace(object: LiveObject<'_>) -> ObjectStatus {
    match object.text("/status/phase") {
        Some("Active") => Current,
        Some("Terminating") => Terminating,
        _ => InProgress("the namespace is not active".to_owned()),
    }
}

fn definition(object: LiveObject<'_>) -> ObjectStatus {
    let names = object.condition("NamesAccepted");
    if let Some(names) = names.filter(|condition| condition.is("False")) {
        return Failed(names.words("its names are taken"));
    }
    match object.condition("Established") {
        Some(established) if established.is("True") => Current,
        Some(established)
            if established.is("False") && established.text("/reason") != Some("Installing") =>
        {
            Failed(established.words("the API server does not serve it"))
        }
        _ => InProgress("the API server does not serve it yet".to_owned()),
    }
}

fn api_service(object: LiveObject<'_>) -> ObjectStatus {
    match object.condition("Available") {
        Some(available) if available.is("True") => Current,
        Some(available) => InProgress(available.words("its server is not available")),
        None => InProgress("its server has not been asked".to_owned()),
    }
}

/// `2 of 3 WORDS` if there are fewer than wanted.
fn few(count: i64, wanted: i64, words: &str) -> Option<String> {
    (count < wanted).then(|| format!("{count} of {wanted} {words}"))
}

/// What is still to be removed, if anything is.
fn surplus(count: i64, words: &str) -> Option<String> {
    match (count, words.strip_suffix('s')) {
        (..=0, _) => None,
        (1, Some(word)) => Some(format!("1 {word} is still to be removed")),
        _ => Some(format!("{count} {words} are still to be removed")),
    }
}

/// A reason with the message of a condition that is true.
fn with_cause(reason: String, cause: Option<ConditionOf<'_>>) -> String {
    let message = cause
        .filter(|condition| condition.is("True"))
        .and_then(|condition| condition.text("/message"));
    match message {
        Some(message) => format!("{reason}: {}", shortened(message)),
        None => reason,
    }
}

/// The first line of a text of a controller, without a full stop, shortened.
fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let line = line.trim_end().trim_end_matches('.');
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// An object as it was read.
#[derive(Clone, Copy)]
struct LiveObject<'a>(&'a Json);

impl<'a> LiveObject<'a> {
    fn at(self, pointer: &str) -> Option<&'a Json> {
        self.0.pointer(pointer)
    }

    /// A text that is not empty.
    fn text(self, pointer: &str) -> Option<&'a str> {
        self.at(pointer)?.as_str().filter(|text| !text.is_empty())
    }

    fn int(self, pointer: &str) -> Option<i64> {
        self.at(pointer)?.as_i64()
    }

    /// A number of things: 0 if it is missing, or below 0.
    fn count(self, pointer: &str) -> i64 {
        self.int(pointer).unwrap_or(0).max(0)
    }

    /// The wanted number of replicas; the controllers take 1 if there is none.
    fn replicas(self) -> i64 {
        self.int("/spec/replicas").unwrap_or(1).max(0)
    }

    fn list(self, pointer: &str) -> impl Iterator<Item = &'a Json> + use<'a> {
        self.at(pointer)
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
    }

    /// The generation of the spec, and the one that the controller has seen.
    fn generations(self) -> (Option<i64>, Option<i64>) {
        (
            self.int("/metadata/generation"),
            self.int("/status/observedGeneration"),
        )
    }

    fn condition(self, kind: &str) -> Option<ConditionOf<'a>> {
        self.list("/status/conditions")
            .find(|condition| condition["type"] == *kind)
            .map(ConditionOf)
    }
}

/// A condition, or another part with a reason and a message.
#[derive(Clone, Copy)]
struct ConditionOf<'a>(&'a Json);

impl<'a> ConditionOf<'a> {
    fn is(self, status: &str) -> bool {
        self.0["status"] == *status
    }

    fn text(self, pointer: &str) -> Option<&'a str> {
        LiveObject(self.0).text(pointer)
    }

    /// Its message, else its reason, else other words.
    fn words(self, otherwise: &str) -> String {
        match self.text("/message").or(self.text("/reason")) {
            Some(text) => shortened(text),
            None => otherwise.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
