//! The provider `time`: the conformance suite, and the behaviour of its types.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueprint::{Address, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, ErrorKind, Finding, Observed, Operation,
    ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Session,
};
use tokio_util::sync::CancellationToken;

const NOW: i64 = 1_672_671_845;

fn call(now: i64) -> Call {
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
        folder: std::path::Path::new("/nowhere").into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now,
        progress: Arc::new(|_| {}),
    }
}

fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

async fn apply(
    call: &Call,
    operation: Operation,
    type_name: &str,
    spec: &Value,
    prior: &Value,
) -> Result<Applied, ProviderError> {
    let deleting = operation == Operation::Delete;
    let request = ApplyRequest {
        operation,
        type_name,
        id: (operation != Operation::Create).then_some("id"),
        prior_inputs: spec,
        prior,
        desired: if deleting { &Value::Null } else { spec },
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    providers::time::provider().apply(call, request).await
}

async fn read(now: i64, type_name: &str, made: &Applied, inputs: &Value) -> ReadOutcome {
    let request = ReadRequest {
        type_name,
        id: Some(&made.id),
        inputs,
        outputs: &made.fields,
        private: &made.private,
        token: None,
        schema_version: 0,
    };
    providers::time::provider()
        .read(&call(now), request)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::in_folder(folder.path());
    let cases = [
        Case::new("time/static", spec([])).stateless(),
        Case::new("time/rotating", spec([("every", "720h".into())])).stateless(),
        Case::new(
            "time/sleep",
            spec([("create", "1ms".into()), ("delete", "1ms".into())]),
        )
        .changed(spec([("create", "2ms".into())]))
        .stateless(),
    ];
    let failures =
        contract_tests::provider::check(|| Arc::new(providers::time::provider()), &setup, &cases)
            .await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn a_time_is_kept() {
    let inputs = spec([]);
    let made = apply(
        &call(NOW),
        Operation::Create,
        "time/static",
        &inputs,
        &Value::Null,
    )
    .await
    .unwrap();
    assert_eq!(
        made.fields.get("rfc3339").and_then(Value::as_text),
        Some("2023-01-02T15:04:05Z")
    );
    assert_eq!(made.fields.get("unix").and_then(Value::as_int), Some(NOW));
    assert_eq!(made.id.as_ref(), "2023-01-02T15:04:05Z");
    let ReadOutcome::Present(Observed {
        fields, expired, ..
    }) = read(NOW + 1_000_000, "time/static", &made, &inputs).await
    else {
        panic!("gone")
    };
    assert_eq!(fields, made.fields);
    assert_eq!(expired, None);
}

#[tokio::test]
async fn a_rotation_ends() {
    let inputs = spec([("every", "1h".into())]);
    let made = apply(
        &call(NOW),
        Operation::Create,
        "time/rotating",
        &inputs,
        &Value::Null,
    )
    .await
    .unwrap();
    assert_eq!(
        made.fields.get("expires").and_then(Value::as_text),
        Some("2023-01-02T16:04:05Z")
    );
    let expired = async |now| match read(now, "time/rotating", &made, &inputs).await {
        ReadOutcome::Present(Observed { expired, .. }) => expired,
        _ => panic!("gone"),
    };
    assert_eq!(expired(NOW + 3599).await, None);
    assert_eq!(
        expired(NOW + 3600).await.as_deref(),
        Some("it was to be renewed at 2023-01-02T16:04:05Z")
    );
}

#[tokio::test]
async fn a_rotation_beyond_the_year_9999_is_refused() {
    let inputs = spec([("every", "90000000000h".into())]);
    let error = apply(
        &call(NOW),
        Operation::Create,
        "time/rotating",
        &inputs,
        &Value::Null,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Document, Some("every"))
    );
}

#[tokio::test]
async fn durations_are_checked() {
    for (type_name, field, text, refused) in [
        ("time/sleep", "create", "soon", true),
        ("time/sleep", "delete", "1h", false),
        ("time/rotating", "every", "1ms", true),
        ("time/rotating", "every", "30d", false),
        ("time/rotating", "every", "9999999999d", true),
    ] {
        let inputs = spec([(field, text.into())]);
        let checked = providers::time::provider()
            .check(
                &call(NOW),
                CheckRequest {
                    type_name,
                    spec: &inputs,
                },
            )
            .await
            .unwrap();
        let mut rejected = checked
            .diagnostics
            .into_iter()
            .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
            .map(|it| it.path.to_string());
        assert_eq!(
            rejected.next().as_deref(),
            refused.then_some(field),
            "{text}"
        );
    }
}

#[tokio::test]
async fn sleep_waits_on_create_and_delete_only() {
    let inputs = spec([("create", "120ms".into()), ("delete", "120ms".into())]);
    for (operation, waits) in [
        (Operation::Create, true),
        (Operation::Update, false),
        (Operation::Delete, true),
    ] {
        let begin = Instant::now();
        apply(
            &call(NOW),
            operation,
            "time/sleep",
            &inputs,
            &spec([("id", "id".into())]),
        )
        .await
        .unwrap();
        assert_eq!(
            begin.elapsed() >= Duration::from_millis(120),
            waits,
            "{operation:?}"
        );
    }
}

#[tokio::test]
async fn an_update_keeps_only_the_time() {
    let prior = spec([
        ("id", "id".into()),
        ("create", "1ms".into()),
        ("delete", "1s".into()),
    ]);
    let updated = apply(
        &call(NOW),
        Operation::Update,
        "time/sleep",
        &spec([("create", "2ms".into())]),
        &prior,
    )
    .await
    .unwrap();
    assert_eq!(
        updated.fields,
        spec([("create", "2ms".into()), ("id", "id".into())])
    );
}

#[tokio::test]
async fn sleep_ends_on_cancel_and_at_the_deadline() {
    let inputs = spec([("create", "1h".into())]);
    let cancelled = call(NOW);
    let cancel = cancelled.cancel.clone();
    let waiting = apply(
        &cancelled,
        Operation::Create,
        "time/sleep",
        &inputs,
        &Value::Null,
    );
    let (result, ()) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    let hurried = Call {
        deadline: Some(Duration::from_millis(20)),
        ..call(NOW)
    };
    let error = apply(
        &hurried,
        Operation::Create,
        "time/sleep",
        &inputs,
        &Value::Null,
    )
    .await
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
}
