//! Creates whose outcome was lost: a read finds what they made.

use std::sync::Arc;

use blueprint::{Address, Value};
use provider::{
    Applied, ApplyRequest, Call, Configuration, FileAccess, Observed, Operation, PlanMode,
    PlanPhase, PlanRequest, Planned, ReadOutcome, ReadRequest, Session, Verdict,
};

use crate::contract::{manifest, package, setup};
use crate::peer::Peer;

const TYPE: &str = "kubernetes/core/ConfigMap";

/// A session, and the token of its creates.
pub(crate) struct OpenSession {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) call: Call,
}

impl OpenSession {
    pub(crate) async fn of(peer: &Peer) -> OpenSession {
        let setup = setup(peer);
        let provider = kubernetes_host::open(package(peer)).await.unwrap();
        let root = Arc::from(setup.folder.as_path());
        let with = Configuration {
            name: "kubernetes".into(),
            settings: setup.settings.clone(),
            former: Value::Null,
            offline: false,
            root: Arc::clone(&root),
            log: Arc::new(|_: &str| {}),
        };
        let call = Call {
            call_records: None,
            instances: None,
            instance: "tests".into(),
            address: Address::root("web"),
            urn: Default::default(),
            token: "token".into(),
            deadline: None,
            cancel: Default::default(),
            root: Arc::clone(&root),
            folder: root,
            settings: setup.settings,
            files: FileAccess::default(),
            now: setup.now,
            progress: Arc::new(|_: &str| {}),
        };
        let session = provider.configure(with).await.unwrap().session;
        OpenSession { session, call }
    }

    async fn create(&self, spec: &Value) -> Applied {
        let request = ApplyRequest {
            operation: Operation::Create,
            type_name: TYPE,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired: spec,
            schema_version: 0,
            planned: &Value::Null,
            private: &Value::Null,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        self.session.apply(&self.call, request).await.unwrap()
    }

    /// Reads what a create under a token made, as after a run that was cut off.
    async fn read_by_token(&self, spec: &Value, token: &str) -> ReadOutcome {
        let request = ReadRequest {
            type_name: TYPE,
            id: None,
            inputs: spec,
            outputs: &Value::Null,
            schema_version: 0,
            private: &Value::Null,
            token: Some(token),
        };
        self.session.read(&self.call, request).await.unwrap()
    }

    /// Plans the object again after it was found.
    async fn plan(&self, found: &Observed, desired: &Value) -> Planned {
        let inputs = found.inputs.as_ref().unwrap_or(desired);
        let request = PlanRequest {
            mode: PlanMode::Update,
            phase: PlanPhase::Preview,
            type_name: TYPE,
            id: Some(&found.id),
            prior_inputs: inputs,
            prior: &found.fields,
            schema_version: 0,
            private: &found.private,
            unhealthy: &[],
            desired,
            ignored: &[],
            replacing: &[],
            seed: "seed",
        };
        self.session.plan(&self.call, request).await.unwrap()
    }
}

#[track_caller]
fn present(outcome: ReadOutcome) -> Observed {
    match outcome {
        ReadOutcome::Present(observed) => observed,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn create_without_a_name_is_found_by_its_token() {
    let Some(peer) = Peer::of("token") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let spec = manifest(&format!(
        r#"{{"metadata": {{"generateName": "one-", "namespace": "{}"}}, "data": {{"a": "1"}}}}"#,
        peer.namespace
    ));
    let before = open.read_by_token(&spec, &open.call.token).await;
    assert!(matches!(before, ReadOutcome::Absent), "{before:?}");
    let made = open.create(&spec).await;
    let found = present(open.read_by_token(&spec, &open.call.token).await);
    assert_eq!(found.id, made.id);
    // The plan does not replace what was found.
    let planned = open.plan(&found, &spec).await;
    assert!(
        matches!(planned.verdict, Verdict::Same | Verdict::Update),
        "{planned:?}"
    );
    let other = open.read_by_token(&spec, "another token").await;
    assert!(matches!(other, ReadOutcome::Absent), "{other:?}");
}

#[tokio::test]
async fn create_without_fields_is_told_from_an_object_of_somebody_else() {
    let Some(peer) = Peer::of("bare") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let spec = |name: &str| {
        manifest(&format!(
            r#"{{"metadata": {{"name": "{name}", "namespace": "{}"}}}}"#,
            peer.namespace
        ))
    };
    let ours = spec("ours");
    let made = open.create(&ours).await;
    let found = present(open.read_by_token(&ours, &open.call.token).await);
    assert_eq!(found.id, made.id);
    assert_eq!(open.plan(&found, &ours).await.verdict, Verdict::Same);

    let words = [
        "-n",
        &peer.namespace,
        "create",
        "configmap",
        "theirs",
        "--from-literal=a=1",
    ];
    peer.done(&words, "");
    let theirs = open.read_by_token(&spec("theirs"), &open.call.token).await;
    assert!(matches!(theirs, ReadOutcome::Absent), "{theirs:?}");
}
