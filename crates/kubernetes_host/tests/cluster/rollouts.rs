//! `kubectl rollout status` and the provider say the same about workloads.

use std::time::{Duration, Instant};

use blueprint::Value;
use provider::{ReadRequest, Readiness};

use crate::cut_off::OpenSession;
use crate::peer::{Peer, text};

/// The time within which a workload reaches its state.
const REACHED_WITHIN: Duration = Duration::from_secs(60);

/// The number of comparisons after a change, at least.
const COMPARED: usize = 12;

/// How far a rollout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rollout {
    Ready,
    Progressing,
    Failed,
}

/// Pods that run at once, and pods that nobody gives a node.
const RUN: &str = "nodeName: node";
const NEVER_RUN: &str = "nodeSelector: {nowhere: 'true'}, schedulerName: nobody";

/// One change of a workload: its kind, its further fields, its pods, the image, and the state that
/// it reaches.
struct Change(
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Rollout,
);

use Rollout::{Failed, Progressing, Ready};

/// The changes of the workloads. Each is of a new object, or of that of the same name before it.
const CHANGES: &[(&str, &[Change])] = &[
    (
        "runs",
        &[
            Change("Deployment", "replicas: 2", RUN, "one", Ready),
            Change("Deployment", "replicas: 4", RUN, "two", Ready),
            Change("Deployment", "replicas: 4", NEVER_RUN, "two", Progressing),
            Change("Deployment", "replicas: 4", RUN, "three", Ready),
            Change("Deployment", "replicas: 0", RUN, "three", Ready),
        ],
    ),
    (
        "waits",
        &[Change(
            "Deployment",
            "replicas: 1",
            NEVER_RUN,
            "one",
            Progressing,
        )],
    ),
    (
        "fails",
        &[
            Change(
                "Deployment",
                "progressDeadlineSeconds: 1",
                NEVER_RUN,
                "one",
                Failed,
            ),
            Change(
                "Deployment",
                "progressDeadlineSeconds: 60",
                RUN,
                "one",
                Ready,
            ),
        ],
    ),
    (
        "paused",
        &[
            Change(
                "Deployment",
                "replicas: 1, paused: true",
                RUN,
                "one",
                Progressing,
            ),
            Change(
                "Deployment",
                "replicas: 1, paused: false",
                RUN,
                "one",
                Ready,
            ),
        ],
    ),
    (
        "recreated",
        &[
            Change(
                "Deployment",
                "replicas: 2, strategy: {type: Recreate}",
                RUN,
                "one",
                Ready,
            ),
            Change(
                "Deployment",
                "replicas: 2, strategy: {type: Recreate}",
                RUN,
                "two",
                Ready,
            ),
        ],
    ),
    (
        "available-later",
        &[Change(
            "Deployment",
            "minReadySeconds: 3",
            RUN,
            "one",
            Ready,
        )],
    ),
    (
        "runs",
        &[
            Change(
                "StatefulSet",
                "replicas: 2, serviceName: s",
                RUN,
                "one",
                Ready,
            ),
            Change(
                "StatefulSet",
                "replicas: 3, serviceName: s",
                RUN,
                "two",
                Ready,
            ),
            Change(
                "StatefulSet",
                "replicas: 3, serviceName: s",
                NEVER_RUN,
                "two",
                Progressing,
            ),
        ],
    ),
    (
        "waits",
        &[Change(
            "StatefulSet",
            "replicas: 1, serviceName: s",
            NEVER_RUN,
            "one",
            Progressing,
        )],
    ),
    (
        "parts",
        &[
            Change(
                "StatefulSet",
                "replicas: 3, serviceName: s",
                RUN,
                "one",
                Ready,
            ),
            Change(
                "StatefulSet",
                "replicas: 3, serviceName: s, updateStrategy: {rollingUpdate: {partition: 2}}",
                RUN,
                "two",
                Ready,
            ),
        ],
    ),
    (
        "none",
        &[Change(
            "StatefulSet",
            "replicas: 0, serviceName: s",
            RUN,
            "one",
            Ready,
        )],
    ),
    (
        "runs",
        &[
            Change("DaemonSet", "minReadySeconds: 0", RUN, "one", Ready),
            Change("DaemonSet", "minReadySeconds: 1", RUN, "two", Ready),
            Change("DaemonSet", "minReadySeconds: 1", NEVER_RUN, "three", Ready),
        ],
    ),
    (
        "waits",
        &[Change(
            "DaemonSet",
            "minReadySeconds: 0",
            "schedulerName: nobody",
            "one",
            Progressing,
        )],
    ),
];

/// The provider's session, and a namespace.
struct Rollouts {
    peer: Peer,
    open: OpenSession,
}

impl Rollouts {
    /// What the provider says about a workload.
    async fn ours(&self, kind: &str, name: &str) -> (Rollout, String) {
        let id = format!("apps/{kind}/{}/{name}", self.peer.namespace);
        let request = ReadRequest {
            type_name: &format!("kubernetes/apps/{kind}"),
            id: Some(&id),
            inputs: &Value::Null,
            outputs: &Value::Null,
            schema_version: 0,
            private: &Value::Null,
            token: None,
        };
        let OpenSession { session, call } = &self.open;
        match session.poll_ready(call, request).await.unwrap() {
            Readiness::Ready(_) => (Ready, String::new()),
            Readiness::NotYet { why, .. } => (Progressing, why.unwrap_or_default().to_string()),
            Readiness::Broken(why) => (Failed, why.join(", ")),
        }
    }

    /// What `kubectl` says about it.
    fn theirs(&self, kind: &str, name: &str) -> (Rollout, String) {
        let object = format!("{kind}/{name}");
        let words = [
            "-n",
            &self.peer.namespace,
            "rollout",
            "status",
            &object,
            "--watch=false",
        ];
        let output = self.peer.kubectl(&words, "");
        let said = text(&output.stdout) + &text(&output.stderr);
        let rollout = match () {
            () if !output.status.success() => Failed,
            // The revision that follows shows that nothing is waited for.
            () if said.contains("successfully rolled out") || said.contains("complete") => Ready,
            () => Progressing,
        };
        (rollout, said)
    }

    fn apply(&self, name: &str, Change(kind, spec, pods, image, _): &Change) {
        self.peer.apply(&format!(
            "
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}, namespace: {}}}
spec:
  selector: {{matchLabels: {{app: {name}-{kind}}}}}
  template:
    metadata: {{labels: {{app: {name}-{kind}}}}}
    spec: {{containers: [{{name: web, image: {image}}}], {pods}}}
  {}
",
            self.peer.namespace,
            spec.replace(", ", "\n  "),
        ));
    }

    /// Makes a change, and compares both answers until the workload has its state. Returns the
    /// number of comparisons.
    async fn follow(&self, name: &str, change: &Change) -> usize {
        let Change(kind, spec, _, _, expected) = change;
        self.apply(name, change);
        let until = Instant::now() + REACHED_WITHIN;
        let mut compared = 0;
        loop {
            let before = self.ours(kind, name).await;
            let theirs = self.theirs(kind, name);
            let after = self.ours(kind, name).await;
            // The state may change between two questions.
            if before == after {
                compared += 1;
                assert_eq!(
                    after.0, theirs.0,
                    "{kind} {name} {spec}: {after:?}, {theirs:?}"
                );
                if after.0 == *expected && (*expected != Progressing || compared >= COMPARED) {
                    return compared;
                }
            }
            let last = (&before, &after, &theirs);
            assert!(
                Instant::now() < until,
                "{kind} {name} {spec} is not {expected:?}: {last:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_and_the_provider_agree_on_rollouts() {
    let Some(peer) = Peer::of("rollouts") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let rollouts = Rollouts { peer, open };
    let mut compared = 0;
    for (name, changes) in CHANGES {
        for change in *changes {
            compared += rollouts.follow(name, change).await;
        }
    }
    assert!(compared >= CHANGES.len(), "{compared}");
}
