//! The provider `random`: the conformance suite, and the behaviour of each type.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, Finding, Observed, Operation, Provider,
    ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Session,
};
use tokio_util::sync::CancellationToken;

fn call(address: &str, token: &str) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root(address),
        urn: Default::default(),
        token: token.into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Map(Arc::default()),
        files: provider::FileAccess::default(),
        now: 1_672_671_845,
        progress: Arc::new(|_| {}),
    }
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::map(entries.iter().cloned())
}

async fn create(
    provider: &dyn Session,
    type_name: &str,
    spec: &Value,
    token: &str,
) -> Result<Applied, ProviderError> {
    let request = ApplyRequest {
        operation: Operation::Create,
        type_name,
        id: None,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired: spec,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    provider.apply(&call("thing", token), request).await
}

async fn read(
    provider: &dyn Session,
    type_name: &str,
    id: Option<&str>,
    outputs: &Value,
) -> ReadOutcome {
    let request = ReadRequest {
        type_name,
        id,
        inputs: &Value::Null,
        outputs,
        private: &Value::Null,
        token: Some("lost"),
        schema_version: 0,
    };
    provider
        .read(&call("thing", "read"), request)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let letters = Value::list(["a", "b", "c"].map(Value::from));
    let cases = [
        Case::new("random/id", map(&[])).stateless(),
        Case::new("random/uuid", map(&[])).stateless(),
        Case::new(
            "random/integer",
            map(&[("min", 1.into()), ("max", 6.into())]),
        )
        .stateless(),
        Case::new("random/password", map(&[("length", 12.into())])).stateless(),
        Case::new("random/pet", map(&[])).stateless(),
        Case::new("random/shuffle", map(&[("input", letters)])).stateless(),
    ];
    let setup = Setup::in_folder("");
    for (make, name) in [
        (
            Box::new(|| Arc::new(providers::random::provider()) as Arc<dyn Provider>)
                as Box<dyn Fn() -> Arc<dyn Provider>>,
            "system",
        ),
        (
            Box::new(|| Arc::new(providers::random::provider_with(7)) as Arc<dyn Provider>),
            "seed",
        ),
    ] {
        let failures = contract_tests::provider::check(make, &setup, &cases).await;
        assert!(failures.is_empty(), "{name}: {failures:#?}");
    }
}

#[tokio::test]
async fn a_seed_gives_equal_draws_and_the_system_does_not() {
    let spec = map(&[("bytes", 16.into())]);
    let hex = async |provider: &dyn Session, token: &str| {
        create(provider, "random/id", &spec, token)
            .await
            .unwrap()
            .fields
            .get("hex")
            .unwrap()
            .to_string()
    };
    let (one, two) = (
        providers::random::provider_with(1),
        providers::random::provider_with(1),
    );
    assert_eq!(hex(&one, "a").await, hex(&two, "a").await);
    assert_ne!(hex(&one, "a").await, hex(&one, "b").await);
    assert_ne!(
        hex(&one, "a").await,
        hex(&providers::random::provider_with(2), "a").await
    );
    let system = providers::random::provider();
    assert_ne!(hex(&system, "a").await, hex(&system, "a").await);
}

#[tokio::test]
async fn a_drawn_value_is_read_as_recorded() {
    let provider = providers::random::provider_with(3);
    let made = create(
        &provider,
        "random/password",
        &map(&[("length", 20.into())]),
        "a",
    )
    .await
    .unwrap();
    let ReadOutcome::Present(Observed {
        id,
        fields,
        expired,
        ..
    }) = read(&provider, "random/password", Some(&made.id), &made.fields).await
    else {
        panic!("not there")
    };
    assert_eq!(
        (id, fields == made.fields, expired),
        (made.id.clone(), true, None)
    );
    let password = made.fields.get("result").unwrap().as_text().unwrap();
    let hash = made.fields.get("bcryptHash").unwrap().as_text().unwrap();
    assert_eq!(password.len(), 20);
    assert!(bcrypt::verify(password, hash).unwrap());
    assert!(!made.id.contains(password), "the id tells the password");
}

#[tokio::test]
async fn a_lost_answer_draws_again() {
    let provider = providers::random::provider();
    assert!(matches!(
        read(&provider, "random/uuid", None, &Value::Null).await,
        ReadOutcome::Absent
    ));
}

#[tokio::test]
async fn ids_and_uuids_can_be_imported() {
    let provider = providers::random::provider();
    let ReadOutcome::Present(Observed { fields, .. }) =
        read(&provider, "random/id", Some("00ff"), &Value::Null).await
    else {
        panic!("not there")
    };
    assert_eq!(fields.get("decimal"), Some(&"255".into()));
    assert_eq!(fields.get("bytes"), Some(&Value::Int(2)));
    let uuid = "2f1c5b0e-6d0f-4a5e-9f33-0c8de0a3c1b7";
    assert!(matches!(
        read(&provider, "random/uuid", Some(uuid), &Value::Null).await,
        ReadOutcome::Present(_)
    ));
    assert!(matches!(
        read(&provider, "random/uuid", Some("no uuid"), &Value::Null).await,
        ReadOutcome::Absent
    ));
}

#[tokio::test]
async fn every_input_replaces() {
    let provider = providers::random::provider();
    for (name, found) in &provider.catalog().resource_types {
        for (field_name, field) in &found.schema.fields {
            assert_eq!(
                field.is_settable(),
                field.must_recreate,
                "{name}: {field_name}"
            );
            assert!(!field.docs.is_empty(), "{name}: {field_name} has no docs");
        }
    }
}

#[tokio::test]
async fn errors_name_the_field() {
    let provider = providers::random::provider();
    let cases: [(&str, Value, &str); 4] = [
        (
            "random/integer",
            map(&[("min", 6.into()), ("max", 1.into())]),
            "max",
        ),
        (
            "random/shuffle",
            map(&[("input", Value::list([])), ("count", 1.into())]),
            "input",
        ),
        (
            "random/password",
            map(&[("length", 3.into()), ("minLower", 4.into())]),
            "length",
        ),
        (
            "random/password",
            map(&[
                ("length", 9.into()),
                ("special", false.into()),
                ("minSpecial", 1.into()),
            ]),
            "minSpecial",
        ),
    ];
    for (type_name, spec, field) in cases {
        let found = provider
            .check(
                &call("thing", "check"),
                CheckRequest {
                    type_name,
                    spec: &spec,
                },
            )
            .await
            .unwrap();
        let fields: Vec<String> = found
            .diagnostics
            .into_iter()
            .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
            .map(|it| it.path.to_string())
            .collect();
        assert_eq!(fields, [field], "{type_name} {spec}");
    }
}

#[tokio::test]
async fn secret_inputs_stay_secret() {
    let provider = providers::random::provider_with(1);
    let spec = map(&[(
        "input",
        Value::list([Value::from("s3cret").secret(), "open".into()]),
    )]);
    let made = create(&provider, "random/shuffle", &spec, "a")
        .await
        .unwrap();
    let shown = made.fields.to_string();
    assert!(
        !shown.contains("s3cret") && shown.contains("open"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_cancelled_call_draws_nothing() {
    let provider = providers::random::provider();
    let call = call("thing", "a");
    call.cancel.cancel();
    let request = ApplyRequest {
        operation: Operation::Create,
        type_name: "random/uuid",
        id: None,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired: &map(&[]),
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    let error = provider.apply(&call, request).await.unwrap_err();
    assert_eq!(error.kind, provider::ErrorKind::Cancelled);
}
