//! Runs whose create was cut off, and repeated calls.

use blueprint::Value;
use contract_tests::provider::Case;
use provider::{
    Applied, ApplyRequest, Observed, Operation, PlanMode, PlanPhase, PlanRequest, Planned,
    ReadOutcome, ReadRequest, Verdict,
};

use crate::contract::{failures, manifest};
use crate::cut_off::OpenSession;
use crate::peer::Peer;

const TYPE: &str = "kubernetes/run";

/// A series of maps of a color.
fn series(peer: &Peer, color: &str) -> Value {
    manifest(&format!(
        r#"{{"selector": {{"app": "shop"}}, "template": {{
            "apiVersion": "v1", "kind": "ConfigMap", "data": {{"color": "{color}"}},
            "metadata": {{"generateName": "one-", "namespace": "{}", "labels": {{"app": "shop"}}}}}}}}"#,
        peer.namespace
    ))
}

impl OpenSession {
    async fn run(&self, spec: &Value) -> Applied {
        self.change(Operation::Create, spec, None).await
    }

    async fn change(&self, operation: Operation, spec: &Value, old: Option<&Applied>) -> Applied {
        let request = ApplyRequest {
            operation,
            type_name: TYPE,
            id: old.map(|old| &*old.id),
            prior_inputs: spec,
            prior: &Value::Null,
            desired: spec,
            schema_version: 0,
            planned: &Value::Null,
            private: old.map_or(&Value::Null, |old| &old.private),
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        self.session.apply(&self.call, request).await.unwrap()
    }

    async fn read_series(
        &self,
        spec: &Value,
        id: Option<&str>,
        token: Option<&str>,
    ) -> ReadOutcome {
        let request = ReadRequest {
            type_name: TYPE,
            id,
            inputs: spec,
            outputs: &Value::Null,
            schema_version: 0,
            private: &Value::Null,
            token,
        };
        self.session.read(&self.call, request).await.unwrap()
    }

    async fn plan_series(&self, found: &Observed, old: &Value, desired: &Value) -> Planned {
        let request = PlanRequest {
            mode: PlanMode::Update,
            phase: PlanPhase::Preview,
            type_name: TYPE,
            id: Some(&found.id),
            prior_inputs: old,
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

fn names(peer: &Peer) -> Vec<String> {
    let words = ["-n", &peer.namespace, "get", "configmap", "-l", "app=shop"];
    let found = peer.done(&[&words[..], &["-o", "name"]].concat(), "");
    found.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_cut_off_create_is_found_by_its_token_or_its_template() {
    let Some(peer) = Peer::of("run-token") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let (blue, red) = (series(&peer, "blue"), series(&peer, "red"));
    let token = Some(&*open.call.token);
    let before = open.read_series(&blue, None, token).await;
    assert!(matches!(before, ReadOutcome::Absent), "{before:?}");
    let made = open.run(&blue).await;
    for (spec, token) in [
        (&blue, token),
        (&blue, Some("another token")),
        (&red, token),
    ] {
        match open.read_series(spec, None, token).await {
            ReadOutcome::Present(found) => assert_eq!(found.id, made.id),
            other => panic!("{other:?}"),
        }
    }
    let other = open.read_series(&red, None, Some("another token")).await;
    assert!(matches!(other, ReadOutcome::Absent), "{other:?}");
    // A repeated call makes no further run.
    open.run(&blue).await;
    assert_eq!(names(&peer).len(), 1);
}

#[tokio::test]
async fn a_plan_tells_whether_a_further_run_is_made() {
    let Some(peer) = Peer::of("run-plan") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let (blue, red) = (series(&peer, "blue"), series(&peer, "red"));
    open.run(&blue).await;
    let token = Some(&*open.call.token);
    let ReadOutcome::Present(found) = open.read_series(&blue, None, token).await else {
        panic!("the run is there");
    };
    assert_eq!(found.fields.get("template"), blue.get("template"));
    let same = open.plan_series(&found, &blue, &blue).await;
    assert_eq!(same.verdict, Verdict::Same);
    let changed = open.plan_series(&found, &blue, &red).await;
    assert_eq!(changed.verdict, Verdict::Update);
    let object = changed.outputs.as_ref().and_then(|it| it.get("object"));
    assert!(object.is_some_and(Value::is_unknown), "{changed:?}");
    // A series with another label is another one.
    let other = |text: &Value| manifest(&format!("{text}").replace("shop", "web"));
    let moved = open.plan_series(&found, &blue, &other(&blue)).await;
    let replaced = matches!(moved.verdict, Verdict::Replace { .. });
    assert!(replaced, "{moved:?}");
    assert_eq!(names(&peer).len(), 1);
}

#[tokio::test]
async fn a_delete_removes_all_runs() {
    let Some(peer) = Peer::of("run-delete") else {
        return;
    };
    let open = OpenSession::of(&peer).await;
    let (blue, red) = (series(&peer, "blue"), series(&peer, "red"));
    let first = open.run(&blue).await;
    let second = open.change(Operation::Update, &red, Some(&first)).await;
    assert_eq!(second.id, first.id);
    // The same change again is no further run.
    open.change(Operation::Update, &red, Some(&first)).await;
    assert_eq!(names(&peer).len(), 2);
    let third = open.change(Operation::Update, &blue, Some(&second)).await;
    assert_eq!(names(&peer).len(), 3);
    open.change(Operation::Delete, &Value::Null, Some(&third))
        .await;
    assert_eq!(names(&peer), [""; 0]);
    let gone = open.read_series(&blue, Some(&third.id), None).await;
    assert!(matches!(gone, ReadOutcome::Absent), "{gone:?}");
}

#[tokio::test]
async fn conformance_suite_passes_for_runs() {
    let Some(peer) = Peer::of("run-contract") else {
        return;
    };
    let absent = format!("run/core/ConfigMap/{}/app=never-existed", peer.namespace);
    let case = Case::new(TYPE, series(&peer, "blue"))
        .changed(series(&peer, "red"))
        .absent_id(&absent);
    let failures = failures(&peer, &[case]).await;
    assert!(failures.is_empty(), "{failures:#?}");
}
