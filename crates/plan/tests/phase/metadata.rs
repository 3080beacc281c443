//! Metadata of documents and resources, and exports of every type: evaluated, compared, stored,
//! hidden if secret (decisions/documents#metadata, decisions/documents#exports,
//! decisions/plan#contents-of-a-plan).

use blueprint::{Address, Value};
use engine::run::Operated;
use engine::{ExportAction, Given};
use providers::fake::ScriptedFault;
use testkit::harness::{Harness, RunResult, run_with_paused_clock, settings};
use testkit::single_document::{codes, exports, given, harness, stage};

const DOCUMENT: &str = "version: 2025-11-02
variables:
  team: { type: string, default: core }
  word: { type: string, default: hush, secret: true }
metadata:
  owner: \"${variables.team}\"
  nested: { list: [1, \"${len(variables.team)}\"], none: ~ }
  made: \"${r.spec.id}\"
  word: \"${variables.word}\"
resources:
  r:
    type: test/record
    metadata:
      displayName: \"the ${variables.team}\"
      annotations: { acme.team: \"${variables.team}\", acme.count: 3 }
      custom: { any: { thing: [\"${variables.team}\"] } }
    spec: { title: r }
";

async fn deploy(
    harness: &Harness,
    text: &str,
    inputs: Given,
    faults: Vec<ScriptedFault>,
) -> RunResult {
    let staged = stage(harness, text, inputs).await;
    let reported = codes(&staged);
    let Some(staged) = staged.staged else {
        panic!("no plan: {reported:?}")
    };
    harness
        .run(staged, false, faults, settings(None, false))
        .await
}

#[test]
fn metadata_is_evaluated_compared_and_stored() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        deploy(&harness, DOCUMENT, Given::default(), Vec::new()).await;
        let snapshot = harness.snapshot().await;
        let id = snapshot.records[&Address::root("r")].id.clone();
        let metadata = snapshot.metadata.clone();
        assert_eq!(metadata.get("owner"), Some(&Value::from("core")));
        assert_eq!(metadata.get("made"), Some(&Value::Text(id)));
        assert_eq!(metadata.get("word"), Some(&Value::from("hush").secret()));
        let nested = metadata
            .get("nested")
            .and_then(|nested| nested.get("list").cloned());
        assert_eq!(nested, Some(Value::list([Value::Int(1), Value::Int(4)])));
        let about = &snapshot.records[&Address::root("r")].metadata;
        assert_eq!(about.get("displayName"), Some(&Value::from("the core")));
        assert_eq!(
            about
                .get("annotations")
                .and_then(|all| all.get("acme.count").cloned()),
            Some(Value::Int(3))
        );

        let again = stage(&harness, DOCUMENT, Given::default())
            .await
            .staged
            .expect("a plan");
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));

        let other = stage(&harness, DOCUMENT, given(&[("team", "edge")]))
            .await
            .staged
            .expect("a plan");
        let changed: Vec<&str> = other
            .plan
            .metadata_changes
            .iter()
            .filter(|entry| entry.action == ExportAction::Changed)
            .map(|entry| entry.name.as_ref())
            .collect();
        assert_eq!(changed, ["owner"]);
    });
}

/// A data source has no record. Its description is stored with the document of the operation.
#[test]
fn description_of_a_data_source_is_stored_with_its_document() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = "version: 2023-04-20
datasources:
  image:
    type: test/image
    metadata:
      displayName: The image
      annotations: { acme.team: core }
      custom: { diagram: { x: 3 } }
    filter: { field: imageId, operator: \"=\", search: img-1 }
    exports: { imageId: { type: string } }
resources:
  r: { type: test/data, spec: { input: \"${datasources.image.imageId}\" } }
";
        deploy(&harness, text, Given::default(), Vec::new()).await;
        let history = harness
            .store()
            .history(&Harness::instance(), 1)
            .await
            .expect("there is a history");
        let operation = harness
            .store()
            .operation(&Harness::instance(), &history[0].operation.id)
            .await
            .expect("it is there");
        let document =
            operation.and_then(|operation| operation.desired.unmarked().get("document").cloned());
        assert_eq!(document.as_ref().and_then(Value::as_text), Some(text));
    });
}

#[test]
fn metadata_known_on_deploy_is_stored_with_its_value() {
    let text = "version: 2023-04-20
resources:
  r: { type: test/data, spec: { input: 1 } }
  s: { type: test/data, metadata: { custom: { of: \"${r.spec.id}\", next: 1 } }, spec: { input: 2 } }
";
    run_with_paused_clock(async {
        let harness = harness(&[]);
        deploy(&harness, text, Given::default(), Vec::new()).await;
        let snapshot = harness.snapshot().await;
        let id = snapshot.records[&Address::root("r")].id.clone();
        let custom = snapshot.records[&Address::root("s")]
            .metadata
            .get("custom")
            .cloned()
            .unwrap_or_default();
        assert_eq!(custom.get("of"), Some(&Value::Text(id)));
        let again = stage(&harness, text, Given::default())
            .await
            .staged
            .expect("a plan");
        assert!(again.plan.is_empty() && again.plan.writes_nothing(&again.snapshot));
    });
}

#[test]
fn changed_metadata_of_a_data_source_is_stored() {
    let text = "version: 2023-04-20
variables:
  team: { type: string }
datasources:
  net:
    type: test/network
    metadata: { custom: { owner: \"${variables.team}\" } }
    filter: { field: vpcId, operator: \"=\", search: vpc-1 }
    exports: { name: { type: string } }
resources:
  r: { type: test/data, spec: { input: \"${datasources.net.name}\" } }
";
    run_with_paused_clock(async {
        let harness = harness(&[]);
        for team in ["core", "edge"] {
            deploy(&harness, text, given(&[("team", team)]), Vec::new()).await;
            let snapshot = harness.snapshot().await;
            let custom = snapshot.declared.data_sources["net"]
                .metadata
                .get("custom")
                .cloned()
                .unwrap_or_default();
            assert_eq!(custom.get("owner"), Some(&Value::from(team)));
        }
    });
}

#[test]
fn plan_detects_a_secret_in_metadata_alone() {
    let text = |secret: bool| {
        format!(
            "version: 2023-04-20
values: {{ word: {{ type: string, value: hush, secret: {secret} }} }}
metadata: {{ word: \"${{values.word}}\" }}
resources:
  r: {{ type: test/data, spec: {{ input: 1 }} }}
"
        )
    };
    run_with_paused_clock(async {
        for secret in [true, false] {
            let staged = stage(&harness(&[]), &text(secret), Given::default())
                .await
                .staged
                .expect("a plan");
            assert_eq!(staged.plan.secret, secret);
        }
    });
}

#[test]
fn a_change_of_metadata_alone_is_stored() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let document = |owner: &str| {
            format!(
                "version: 2023-04-20\nmetadata: {{ owner: {owner} }}\nresources:\n  r: {{ type: test/data, spec: {{ input: 1 }} }}\n"
            )
        };
        deploy(&harness, &document("a"), Given::default(), Vec::new()).await;
        let staged = stage(&harness, &document("b"), Given::default())
            .await
            .staged
            .expect("a plan");
        assert!(staged.plan.is_empty(), "no resource and no export changes");
        let run = harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
        assert!(matches!(run.operated, Some(Operated::Done(_))));
        let snapshot = harness.snapshot().await;
        assert_eq!(snapshot.metadata.get("owner"), Some(&Value::from("b")));
        assert_eq!(snapshot.generation.0, 2);
    });
}

const EXPORTS: &str = "version: 2025-11-02
variables:
  word: { type: string, default: hush, secret: true }
  text: { type: string, default: a }
values:
  object: { type: object, value: \"${object(a = 1, b = object(c = variables.word))}\" }
  array: { type: array, value: \"${list(variables.text, 'z')}\" }
resources:
  r: { type: test/data, spec: { input: { text: \"${variables.text}\", list: [1, 2] } } }
exports:
  text: { type: string, field: r.spec.input.text }
  integer: { type: integer, field: \"r.spec.input.list[1]\" }
  float: { type: float, field: \"r.spec.input.list[0]\" }
  boolean: { type: boolean, field: values.yes }
  array: { type: array, field: values.array }
  object: { type: object, field: values.object }
  inner: { type: integer, field: values.object.a }
  word: { type: string, field: values.object.b.c }
  id: { type: string, field: resources.r }
";

#[test]
fn exports_are_stored_and_kept_on_failure() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = EXPORTS.replace(
            "values:\n",
            "values:\n  yes: { type: boolean, value: 'true' }\n",
        );
        deploy(&harness, &text, Given::default(), Vec::new()).await;
        let snapshot = harness.snapshot().await;
        let export = |name: &str| snapshot.exports.get(name).cloned().unwrap_or_default();
        assert_eq!(export("text"), Value::from("a"));
        assert_eq!(export("integer"), Value::Int(2));
        assert_eq!(export("float"), Value::Float(1.0));
        assert_eq!(export("boolean"), Value::Bool(true));
        assert_eq!(
            export("array"),
            Value::list([Value::from("a"), Value::from("z")])
        );
        assert_eq!(export("inner"), Value::Int(1));
        assert_eq!(export("word"), Value::from("hush").secret());
        assert!(export("object").has_secret());
        assert_eq!(
            export("id"),
            Value::Text(snapshot.records[&Address::root("r")].id.clone())
        );
        assert!(!snapshot.exports_old);

        let fault = r#"[{"on": "update", "at": "r", "kind": "permanent"}]"#;
        let faults: Vec<ScriptedFault> = serde_json::from_str(fault).expect("a fault");
        deploy(&harness, &text, given(&[("text", "b")]), faults).await;
        let after = harness.snapshot().await;
        assert!(after.exports_old);
        assert_eq!(after.exports, snapshot.exports);
        // The next operation that succeeds replaces the exports.
        deploy(&harness, &text, given(&[("text", "b")]), Vec::new()).await;
        let after = harness.snapshot().await;
        assert!(!after.exports_old);
        assert_eq!(after.exports.get("text"), Some(&Value::from("b")));
    });
}

#[test]
fn export_value_is_checked_against_its_declared_type() {
    run_with_paused_clock(async {
        let text = "version: 2025-11-02
resources:
  r: { type: test/data, spec: { input: { text: a } } }
exports:
  wrong: { type: integer, field: r.spec.input.text }
";
        let staged = stage(&harness(&[]), text, Given::default()).await;
        assert_eq!(codes(&staged), ["type-mismatch 5"]);
        assert!(staged.staged.is_none());
        let fine = stage(
            &harness(&[]),
            &text.replace("integer", "string"),
            Given::default(),
        )
        .await;
        assert_eq!(exports(&fine)["wrong"], Value::from("a"));
    });
}
