//! The provider `std`: the conformance suite, and the behaviour of its types.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckFindings, CheckRequest, Finding, Observed, Operation,
    ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Session,
};
use tokio_util::sync::CancellationToken;

fn call(folder: &Path) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root("thing"),
        urn: Default::default(),
        token: "token".into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: std::path::Path::new("/nowhere").into(),
        folder: folder.into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now: 0,
        progress: Arc::new(|_| {}),
    }
}

fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

async fn create(folder: &Path, type_name: &str, desired: &Value) -> Result<Applied, ProviderError> {
    let request = ApplyRequest {
        operation: Operation::Create,
        type_name,
        id: None,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    providers::std::provider()
        .apply(&call(folder), request)
        .await
}

async fn rendered(desired: Value) -> Result<Value, ProviderError> {
    let made = create(Path::new("/nowhere"), "std/template", &desired).await?;
    Ok(made.fields.get("rendered").cloned().unwrap())
}

async fn refused(desired: Value) -> String {
    rendered(desired).await.unwrap_err().message
}

async fn check(spec: &Value) -> CheckFindings {
    providers::std::provider()
        .check(
            &call(Path::new("/")),
            CheckRequest {
                type_name: "std/template",
                spec,
            },
        )
        .await
        .unwrap()
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.txt"), "{{ x }}").unwrap();
    let setup = Setup::in_folder(folder.path());
    let one = spec([("x", Value::Int(1))]);
    let cases = [
        Case::new("std/value", spec([("input", "a".into())]))
            .changed(spec([("input", Value::list([Value::Int(1)]))]))
            .stateless(),
        Case::new("std/value", spec([])).stateless(),
        Case::new(
            "std/template",
            spec([("template", "{{ x }}".into()), ("variables", one.clone())]),
        )
        .changed(spec([("template", "x".into())]))
        .stateless(),
        Case::new(
            "std/template",
            spec([("source", "page.txt".into()), ("variables", one)]),
        )
        .stateless(),
    ];
    let failures =
        contract_tests::provider::check(|| Arc::new(providers::std::provider()), &setup, &cases)
            .await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn every_transform_passes_the_conformance_suite() {
    let failures = contract_tests::provider::check_transforms(&providers::std::provider()).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn a_value_is_returned_unchanged() {
    let input = Value::map([
        ("open", Value::Int(1)),
        ("hidden", Value::from("s").secret()),
    ]);
    let made = create(
        Path::new("/"),
        "std/value",
        &spec([("input", input.clone())]),
    )
    .await
    .unwrap();
    assert_eq!(made.fields.get("output"), Some(&input));
    assert!(made.id.starts_with("value-"));
}

#[tokio::test]
async fn values_of_every_type_are_rendered() {
    let variables = Value::map([
        ("b", Value::from("one")),
        (
            "a",
            Value::list([Value::Int(1), Value::Float(2.5), Value::Bool(true)]),
        ),
        ("m", Value::map([("z", Value::Int(1)), ("y", Value::Null)])),
    ]);
    let template = "{{ b }}|{% for x in a %}{{ x }},{% endfor %}|{% for k, v in m|items %}{{ k }}={{ v }};{% endfor %}<&>\n";
    let text = rendered(spec([
        ("template", template.into()),
        ("variables", variables),
    ]))
    .await
    .unwrap();
    assert_eq!(text.as_text(), Some("one|1,2.5,true,|z=1;y=;<&>\n"));
}

#[tokio::test]
async fn strict_mode_names_undefined_variables_and_their_place() {
    let error = refused(spec([
        ("template", "a\nb {{ nmae }}".into()),
        ("variables", spec([("name", "x".into())])),
    ]))
    .await;
    assert_eq!(
        error,
        "the template, line 2, column 6: `nmae` is not defined; add it to `variables`, or write `strict: false` to leave it empty"
    );
    let error = refused(spec([
        ("template", "{{ a.b.c }}".into()),
        ("variables", spec([("a", spec([]))])),
    ]))
    .await;
    assert!(
        error.starts_with("the template, line 1, column 4: `a.b.c` is not defined;"),
        "{error}"
    );
    let lenient = spec([
        ("template", "a{{ nmae }}{{ nmae.x.y }}b".into()),
        ("strict", false.into()),
    ]);
    assert_eq!(rendered(lenient).await.unwrap().as_text(), Some("ab"));
}

#[tokio::test]
async fn a_secret_taints_the_text_and_stays_out_of_errors() {
    let variables = Value::map([("key", Value::from("hunter2").secret())]);
    let text = rendered(spec([
        ("template", "k={{ key }}".into()),
        ("variables", variables.clone()),
    ]))
    .await
    .unwrap();
    assert_eq!(text, Value::from("k=hunter2").secret());
    let open = rendered(spec([
        ("template", "k".into()),
        ("variables", spec([("a", 1.into())])),
    ]))
    .await
    .unwrap();
    assert!(!open.has_secret());
    let error = refused(spec([
        ("template", "{{ key + 1 }}{{ key.x.y }}".into()),
        ("variables", variables),
    ]))
    .await;
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn an_endless_template_is_an_error() {
    let template = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    assert_eq!(
        refused(spec([("template", template.into())]))
            .await
            .lines()
            .count(),
        1
    );
}

#[tokio::test]
async fn invalid_specs_are_rejected_at_their_fields() {
    let at = |checked: CheckFindings| {
        checked
            .diagnostics
            .into_iter()
            .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
            .map(|it| it.path.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(at(check(&spec([])).await), [""]);
    assert_eq!(
        at(check(&spec([("template", "x".into()), ("source", "y".into())])).await),
        ["source"]
    );
    assert_eq!(
        at(check(&spec([("template", "{% if %}".into())])).await),
        ["template"]
    );
    assert_eq!(
        at(check(&spec([("template", "x".into()), ("variables", "y".into())])).await),
        ["variables"]
    );
    let unknown = spec([
        ("template", Value::unknown(None, None)),
        ("variables", Value::unknown(None, None)),
    ]);
    assert_eq!(at(check(&unknown).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_changed_source_is_not_drift() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.txt");
    std::fs::write(&page, "v1").unwrap();
    let inputs = spec([("source", "page.txt".into())]);
    let made = create(folder.path(), "std/template", &inputs)
        .await
        .unwrap();
    assert_eq!(
        made.fields.get("rendered").and_then(Value::as_text),
        Some("v1")
    );
    let seen = async || {
        let request = ReadRequest {
            type_name: "std/template",
            id: Some(&made.id),
            inputs: &inputs,
            outputs: &made.fields,
            private: &Value::Null,
            token: None,
            schema_version: 0,
        };
        match providers::std::provider()
            .read(&call(folder.path()), request)
            .await
            .unwrap()
        {
            ReadOutcome::Present(Observed { fields, .. }) => {
                fields.get("sourceSha256").cloned().unwrap()
            }
            _ => panic!("gone"),
        }
    };
    assert_eq!(Some(&seen().await), made.fields.get("sourceSha256"));
    std::fs::write(&page, "v2").unwrap();
    assert_eq!(Some(&seen().await), made.fields.get("sourceSha256"));
    std::fs::remove_file(&page).unwrap();
    assert_eq!(Some(&seen().await), made.fields.get("sourceSha256"));
    let error = create(folder.path(), "std/template", &inputs)
        .await
        .unwrap_err();
    assert!(
        error.message.contains("it is not there")
            && error.field.as_ref().map(ToString::to_string).as_deref() == Some("source"),
        "{error}"
    );
}
