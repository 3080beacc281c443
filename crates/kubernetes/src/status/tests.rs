//! Each rule with an object that is ready, one that is not, and one that has failed where the rule
//! knows failures.

use serde_json::{Value as Json, json};

use super::*;

fn progress(reason: &str) -> ObjectStatus {
    InProgress(reason.to_owned())
}

fn failed(reason: &str) -> ObjectStatus {
    Failed(reason.to_owned())
}

/// An object of a kind with a spec and a status, of generation 2.
fn object(api_version: &str, kind: &str, spec: &Json, status: &Json) -> Json {
    json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": "web", "generation": 2}, "spec": spec, "status": status})
}

/// Compares the statuses of objects of a kind, whose controllers have seen generation 2.
#[track_caller]
fn check(api_version: &str, kind: &str, cases: &[(Json, Json, ObjectStatus)]) {
    for (spec, status, expected) in cases {
        let mut status = status.clone();
        if let Some(fields) = status.as_object_mut() {
            fields.insert("observedGeneration".to_owned(), json!(2));
        }
        let object = object(api_version, kind, spec, &status);
        assert_eq!(readiness(&object), *expected, "{object}");
    }
}

#[test]
fn a_deleted_object_is_terminating_and_says_what_holds_it() {
    let object = |kind: &str, finalizers: Json, conditions: Json| {
        json!({"apiVersion": "v1", "kind": kind,
            "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers},
            "status": {"phase": "Terminating", "conditions": conditions}})
    };
    let map = object(
        "ConfigMap",
        json!(["a.example/b", "foregroundDeletion"]),
        json!([]),
    );
    assert_eq!(readiness(&map), Terminating);
    assert_eq!(
        deletion_held_by(&map).as_deref(),
        Some("the finalizer `a.example/b` holds it; objects that it owns are being deleted")
    );
    let space = object(
        "Namespace",
        json!([]),
        json!([{"type": "NamespaceDeletionContentFailure", "status": "False", "message": "none"},
            {"type": "NamespaceContentRemaining", "status": "True", "message": "pods. has 1 instances"}]),
    );
    assert_eq!(
        deletion_held_by(&space).as_deref(),
        Some("pods. has 1 instances")
    );
    assert_eq!(
        deletion_held_by(&object("ConfigMap", json!([]), json!([]))),
        None
    );
}

#[test]
fn a_controller_must_have_seen_the_generation() {
    let late = object(
        "x.io/v1",
        "Thing",
        &json!({}),
        &json!({"observedGeneration": 1}),
    );
    assert_eq!(readiness(&late), progress(NOT_SEEN));
    let never = object("x.io/v1", "Thing", &json!({}), &json!({}));
    assert_eq!(readiness(&never), Current);
    for (version, kind) in [
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "ReplicaSet"),
        ("policy/v1", "PodDisruptionBudget"),
    ] {
        let never = object(version, kind, &json!({"replicas": 0}), &json!({}));
        assert_eq!(readiness(&never), progress(NOT_SEEN), "{kind}");
    }
    check(
        "policy/v1",
        "PodDisruptionBudget",
        &[(json!({}), json!({}), Current)],
    );
}

#[test]
fn deployments() {
    let spec = json!({"replicas": 3});
    let counts = |all: u8, updated: u8, available: u8, conditions: Json| {
        json!({"replicas": all, "updatedReplicas": updated, "availableReplicas": available,
            "readyReplicas": available, "conditions": conditions})
    };
    check(
        "apps/v1",
        "Deployment",
        &[
            (spec.clone(), counts(3, 3, 3, json!([])), Current),
            (json!({}), counts(1, 1, 1, json!([])), Current),
            (json!({"replicas": 0}), counts(0, 0, 0, json!([])), Current),
            (
                spec.clone(),
                counts(0, 0, 0, json!([])),
                progress("0 of 3 replicas are updated"),
            ),
            (
                spec.clone(),
                counts(
                    1,
                    1,
                    1,
                    json!([{"type": "ReplicaFailure", "status": "True",
                    "message": "pods \"web-1\" is forbidden: exceeded quota"}]),
                ),
                progress(
                    "1 of 3 replicas are updated: pods \"web-1\" is forbidden: exceeded quota",
                ),
            ),
            (
                spec.clone(),
                counts(4, 3, 3, json!([])),
                progress("1 old replica is still to be removed"),
            ),
            (
                spec.clone(),
                counts(5, 5, 5, json!([])),
                progress("2 surplus replicas are still to be removed"),
            ),
            (
                spec.clone(),
                counts(
                    3,
                    3,
                    2,
                    json!([{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}]),
                ),
                progress("2 of 3 replicas are available"),
            ),
            (
                spec.clone(),
                counts(
                    3,
                    3,
                    3,
                    json!([{"type": "Available", "status": "False", "message": "Too few."}]),
                ),
                progress("Too few"),
            ),
            (
                spec.clone(),
                counts(
                    3,
                    3,
                    3,
                    json!([{"type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused"}]),
                ),
                Current,
            ),
            (
                spec,
                counts(
                    4,
                    1,
                    3,
                    json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
                    "message": "ReplicaSet \"web-7\" has timed out progressing."}]),
                ),
                failed("ReplicaSet \"web-7\" has timed out progressing"),
            ),
        ],
    );
}

#[test]
fn stateful_sets() {
    let status = |all: u8, ready: u8, updated: u8, revision: &str| {
        json!({"replicas": all, "readyReplicas": ready, "updatedReplicas": updated,
            "currentReplicas": all - updated.min(all - 1), "currentRevision": "web-1", "updateRevision": revision})
    };
    let plain = json!({"replicas": 3});
    let partition = |at: u8| json!({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": at}}});
    check(
        "apps/v1",
        "StatefulSet",
        &[
            (partition(0), status(3, 3, 3, "web-2"), Current),
            (
                partition(0),
                status(3, 3, 2, "web-2"),
                progress("2 of 3 replicas are updated"),
            ),
            (partition(2), status(3, 3, 1, "web-2"), Current),
            (
                partition(1),
                status(3, 3, 1, "web-2"),
                progress("1 of 2 replicas are updated"),
            ),
            (
                partition(0),
                status(2, 2, 2, "web-1"),
                progress("2 of 3 replicas exist"),
            ),
            (
                partition(0),
                status(3, 1, 3, "web-1"),
                progress("1 of 3 replicas are ready"),
            ),
            (
                partition(0),
                status(4, 4, 4, "web-1"),
                progress("1 surplus replica is still to be removed"),
            ),
            (plain.clone(), status(3, 3, 0, "web-1"), Current),
            (
                plain.clone(),
                status(3, 3, 2, "web-2"),
                progress("2 of 3 replicas are updated"),
            ),
            (
                plain,
                status(3, 3, 3, "web-2"),
                progress("the update is not complete"),
            ),
            (
                json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}),
                status(3, 0, 0, "web-2"),
                Current,
            ),
        ],
    );
}

#[test]
fn daemon_sets() {
    let status = |current: u8, updated: u8, available: u8, ready: u8| {
        json!({"desiredNumberScheduled": 2, "currentNumberScheduled": current,
            "updatedNumberScheduled": updated, "numberAvailable": available, "numberReady": ready})
    };
    let none = json!({});
    check(
        "apps/v1",
        "DaemonSet",
        &[
            (none.clone(), status(2, 2, 2, 2), Current),
            (
                none.clone(),
                json!({}),
                progress("its controller has not counted the nodes"),
            ),
            (
                none.clone(),
                status(1, 0, 0, 0),
                progress("1 of 2 nodes have a replica"),
            ),
            (
                none.clone(),
                status(2, 1, 2, 2),
                progress("1 of 2 replicas are updated"),
            ),
            (
                none.clone(),
                status(2, 2, 0, 1),
                progress("0 of 2 replicas are available"),
            ),
            (
                none,
                status(2, 2, 2, 1),
                progress("1 of 2 replicas are ready"),
            ),
            (
                json!({"updateStrategy": {"type": "OnDelete"}}),
                status(2, 0, 2, 2),
                Current,
            ),
        ],
    );
}

#[test]
fn replica_sets() {
    let status = |all: u8, labeled: u8, available: u8, conditions: Json| {
        json!({"replicas": all, "fullyLabeledReplicas": labeled, "availableReplicas": available,
            "readyReplicas": available, "conditions": conditions})
    };
    let spec = json!({"replicas": 2});
    let failure =
        json!([{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]);
    for (version, kind) in [("apps/v1", "ReplicaSet"), ("v1", "ReplicationController")] {
        check(
            version,
            kind,
            &[
                (spec.clone(), status(2, 2, 2, json!([])), Current),
                (
                    spec.clone(),
                    status(2, 1, 1, json!([])),
                    progress("1 of 2 replicas have all labels"),
                ),
                (
                    spec.clone(),
                    status(2, 2, 1, json!([])),
                    progress("1 of 2 replicas are available"),
                ),
                (
                    spec.clone(),
                    status(3, 3, 3, json!([])),
                    progress("1 surplus replica is still to be removed"),
                ),
                (
                    spec.clone(),
                    status(2, 2, 1, failure.clone()),
                    progress("1 of 2 replicas are available: exceeded quota"),
                ),
                (
                    spec.clone(),
                    status(2, 2, 2, failure.clone()),
                    progress("replicas cannot be created or deleted: exceeded quota"),
                ),
            ],
        );
    }
}

#[test]
fn jobs() {
    let condition = |kind: &str| {
        json!({"startTime": "t", "conditions": [{"type": kind, "status": "True", "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit"}]})
    };
    let spec = json!({"completions": 3});
    check(
        "batch/v1",
        "Job",
        &[
            (spec.clone(), condition("Complete"), Current),
            (spec.clone(), condition("Suspended"), Current),
            (
                spec.clone(),
                condition("Failed"),
                failed("Job has reached the specified backoff limit"),
            ),
            (spec.clone(), json!({}), progress("the job has not started")),
            (
                spec.clone(),
                json!({"startTime": "t", "succeeded": 1, "failed": 2}),
                progress("1 of 3 pods have completed, 2 have failed"),
            ),
            (
                spec,
                json!({"startTime": "t", "succeeded": 3, "failed": 1}),
                progress("its last pods are still running, 1 has failed"),
            ),
            (
                json!({}),
                json!({"startTime": "t"}),
                progress("0 of 1 pods have completed"),
            ),
        ],
    );
}

#[test]
fn pods() {
    let waiting = |name: &str, reason: &str, message: Json| json!([{"name": name, "state": {"waiting": {"reason": reason, "message": message}}}]);
    let none = json!({});
    check(
        "v1",
        "Pod",
        &[
            (none.clone(), json!({"phase": "Succeeded"}), Current),
            (
                none.clone(),
                json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": waiting("a", "CrashLoopBackOff", Json::Null)}),
                Current,
            ),
            (
                none.clone(),
                json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}),
                failed("The node was low on memory"),
            ),
            (
                none.clone(),
                json!({"phase": "Failed"}),
                failed("a container has failed"),
            ),
            (
                none.clone(),
                json!({"phase": "Running", "containerStatuses": waiting("web", "CrashLoopBackOff", Json::Null)}),
                failed("container `web` keeps crashing"),
            ),
            (
                none.clone(),
                json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False",
                    "message": "containers with unready status: [web]"}]}),
                progress("containers with unready status: [web]"),
            ),
            (
                none.clone(),
                json!({"phase": "Running"}),
                progress("the pod is not ready"),
            ),
            (
                none.clone(),
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                    "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu."}]}),
                progress("the pod has no node: 0/3 nodes are available: 3 Insufficient cpu"),
            ),
            (
                none.clone(),
                json!({"phase": "Pending", "containerStatuses": waiting("web", "ImagePullBackOff", json!("no such image"))}),
                progress("container `web`: ImagePullBackOff: no such image"),
            ),
            (
                none.clone(),
                json!({"phase": "Pending", "initContainerStatuses": waiting("setup", "CrashLoopBackOff", Json::Null)}),
                progress("container `setup`: CrashLoopBackOff"),
            ),
            (
                none.clone(),
                json!({"phase": "Pending", "containerStatuses": waiting("web", "ContainerCreating", Json::Null)}),
                progress("the pod is not running yet"),
            ),
            (none, json!({}), progress("the pod is not running yet")),
        ],
    );
}

#[test]
fn volume_claims_and_services() {
    let none = json!({});
    check(
        "v1",
        "PersistentVolumeClaim",
        &[
            (none.clone(), json!({"phase": "Bound"}), Current),
            (
                none.clone(),
                json!({"phase": "Pending"}),
                progress("the claim is not bound to a volume"),
            ),
            (
                none,
                json!({"phase": "Lost"}),
                failed("the volume of the claim is gone"),
            ),
        ],
    );
    let balancer = json!({"type": "LoadBalancer"});
    let no_address = progress("the load balancer has no address");
    check(
        "v1",
        "Service",
        &[
            (json!({"type": "ClusterIP"}), json!({}), Current),
            (
                balancer.clone(),
                json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}),
                Current,
            ),
            (
                balancer.clone(),
                json!({"loadBalancer": {"ingress": [{"hostname": "a.example"}]}}),
                Current,
            ),
            (
                balancer.clone(),
                json!({"loadBalancer": {}}),
                no_address.clone(),
            ),
            (
                balancer,
                json!({"loadBalancer": {"ingress": [{}]}}),
                no_address,
            ),
        ],
    );
}

#[test]
fn namespaces() {
    let none = json!({});
    check(
        "v1",
        "Namespace",
        &[
            (none.clone(), json!({"phase": "Active"}), Current),
            (none.clone(), json!({"phase": "Terminating"}), Terminating),
            (none, json!({}), progress("the namespace is not active")),
        ],
    );
}

#[test]
fn definitions_and_api_services() {
    let conditions = |names: &str, established: &str, reason: &str| {
        json!({"conditions": [
            {"type": "NamesAccepted", "status": names, "reason": "PluralConflict", "message": "\"things\" is already in use"},
            {"type": "Established", "status": established, "reason": reason, "message": "not established"}]})
    };
    let none = json!({});
    check(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[
            (
                none.clone(),
                conditions("True", "True", "InitialNamesAccepted"),
                Current,
            ),
            (
                none.clone(),
                json!({}),
                progress("the API server does not serve it yet"),
            ),
            (
                none.clone(),
                conditions("True", "False", "Installing"),
                progress("the API server does not serve it yet"),
            ),
            (
                none.clone(),
                conditions("False", "False", "NotAccepted"),
                failed("\"things\" is already in use"),
            ),
            (
                none.clone(),
                conditions("True", "False", "NotAccepted"),
                failed("not established"),
            ),
        ],
    );
    let available = |status: &str| json!({"conditions": [{"type": "Available", "status": status, "reason": "MissingEndpoints"}]});
    check(
        "apiregistration.k8s.io/v1",
        "APIService",
        &[
            (none.clone(), available("True"), Current),
            (
                none.clone(),
                available("False"),
                progress("MissingEndpoints"),
            ),
            (none, json!({}), progress("its server has not been asked")),
        ],
    );
}

#[test]
fn conditions_of_other_kinds() {
    let conditions = |list: Json| json!({ "conditions": list });
    let none = json!({});
    let condition =
        |kind: &str, status: &str| json!({"type": kind, "status": status, "message": "words."});
    check(
        "cert-manager.io/v1",
        "Certificate",
        &[
            (none.clone(), json!({}), Current),
            (
                none.clone(),
                conditions(json!([condition("Ready", "True")])),
                Current,
            ),
            (
                none.clone(),
                conditions(json!([condition("Ready", "False")])),
                progress("words"),
            ),
            (
                none.clone(),
                conditions(json!([{"type": "Ready", "status": "Unknown"}])),
                progress("its condition `Ready` is not true"),
            ),
            (
                none.clone(),
                conditions(json!([
                    condition("Ready", "True"),
                    condition("Reconciling", "True")
                ])),
                progress("words"),
            ),
            (
                none.clone(),
                conditions(json!([
                    condition("Reconciling", "False"),
                    condition("Ready", "True")
                ])),
                Current,
            ),
            (
                none.clone(),
                conditions(json!([
                    condition("Stalled", "True"),
                    condition("Ready", "True")
                ])),
                failed("words"),
            ),
            (
                none,
                conditions(json!([{"type": "Ready", "status": "True", "observedGeneration": 1}])),
                progress(NOT_SEEN),
            ),
        ],
    );
}

#[test]
fn long_texts_of_controllers_are_shortened() {
    let text = format!("{}\nsecond line", "ä".repeat(LONGEST + 1));
    assert_eq!(shortened(&text).chars().count(), LONGEST + 1);
    assert_eq!(shortened("One.\nTwo."), "One");
}

#[test]
fn damaged_objects_have_a_status() {
    for object in [
        json!(null),
        json!([]),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "status": "none"}),
        json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": 3, "conditions": {"a": 1}}}),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": i64::MIN,
            "updateStrategy": {"rollingUpdate": {"partition": i64::MAX}}}}),
    ] {
        readiness(&object);
        deletion_held_by(&object);
    }
}
