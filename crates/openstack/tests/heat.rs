//! The provider `OS::Heat`: the conformance suite, and the behaviour of each type.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, ErrorKind, Operation, PlanMode, PlanPhase, PlanRequest,
    ProviderError, ProviderSeverity, Session,
};
use tokio_util::sync::CancellationToken;

fn call(address: Address, token: &str) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "shop".into(),
        address,
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

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

async fn act(
    operation: Operation,
    type_name: &str,
    call: &Call,
    before: Option<&Applied>,
    (prior, desired): (&Value, &Value),
) -> Result<Applied, ProviderError> {
    let request = ApplyRequest {
        operation,
        type_name,
        id: before.map(|before| before.id.as_ref()),
        prior_inputs: prior,
        prior: before.map_or(&Value::Null, |before| &before.fields),
        desired,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    openstack::heat::provider_with(1).apply(call, request).await
}

async fn create(type_name: &str, call: &Call, spec: &str) -> Result<Applied, ProviderError> {
    act(
        Operation::Create,
        type_name,
        call,
        None,
        (&Value::Null, &json(spec)),
    )
    .await
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let cases = [
        Case::new("OS::Heat::None", json(r#"{"any": 1}"#))
            .changed(json(r#"{"other": [2]}"#))
            .stateless(),
        Case::new("OS::Heat::Value", json(r#"{"value": {"a": [1, null]}}"#))
            .changed(json(r#"{"value": null}"#))
            .stateless(),
        Case::new("OS::Heat::RandomString", json("{}")).stateless(),
        Case::new("OS::Heat::TestResource", json("{}"))
            .changed(json(r#"{"value": "other"}"#))
            .stateless(),
        Case::new("OS::Heat::SoftwareConfig", json(r#"{"config": "echo"}"#)).stateless(),
        Case::new(
            "OS::Heat::StructuredConfig",
            json(r#"{"config": {"a": null}}"#),
        )
        .stateless(),
        Case::new(
            "OS::Heat::SoftwareComponent",
            json(r#"{"configs": [{"tool": "script"}]}"#),
        )
        .stateless(),
        Case::new(
            "OS::Heat::CloudConfig",
            json(r#"{"cloud_config": {"a": [1]}}"#),
        )
        .stateless(),
        Case::new(
            "OS::Heat::MultipartMime",
            json(r#"{"parts": [{"config": "a"}]}"#),
        )
        .stateless(),
        Case::new("OS::Heat::Delay", json("{}"))
            .changed(json(r#"{"min_wait": 7.0}"#))
            .stateless(),
    ];
    let setup = Setup::in_folder("");
    let failures =
        contract_tests::provider::check(|| Arc::new(openstack::heat::provider()), &setup, &cases)
            .await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn a_repeated_call_gives_the_same_resource() {
    let here = || Address::root("a");
    let made = create("OS::Heat::Value", &call(here(), "t1"), r#"{"value": 1}"#)
        .await
        .unwrap();
    let name = made.id.strip_prefix("shop-a-").unwrap();
    assert!(
        name.len() == 12
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        "{name}"
    );
    assert_eq!(
        made.fields.get("id").and_then(Value::as_text),
        Some(made.id.as_ref())
    );
    let again = create("OS::Heat::Value", &call(here(), "t1"), r#"{"value": 1}"#)
        .await
        .unwrap();
    assert_eq!(made.id, again.id);
    let other = create("OS::Heat::Value", &call(here(), "t2"), r#"{"value": 1}"#)
        .await
        .unwrap();
    assert_ne!(made.id, other.id);
    let none = create("OS::Heat::None", &call(here(), "t1"), "{}")
        .await
        .unwrap();
    assert_eq!(none.id.len(), 36);
}

#[tokio::test]
async fn the_name_of_a_resource_in_a_child_includes_the_child() {
    let address = |path: &[&str]| {
        let path: Vec<blueprint::Name> = path.iter().map(|name| (*name).into()).collect();
        Address::inside(&path, "a")
    };
    let one = create(
        "OS::Heat::Value",
        &call(address(&["in"]), "t1"),
        r#"{"value": 1}"#,
    )
    .await
    .unwrap();
    let two = create(
        "OS::Heat::Value",
        &call(address(&["in"]), "t2"),
        r#"{"value": 1}"#,
    )
    .await
    .unwrap();
    let parts = |made: &Applied| made.id.split('-').map(str::to_owned).collect::<Vec<_>>();
    let (one, two) = (parts(&one), parts(&two));
    assert_eq!(
        (one.len(), &one[..2], &one[3]),
        (
            5,
            &["shop".to_owned(), "in".to_owned()][..],
            &"a".to_owned()
        )
    );
    assert_eq!(one[2], two[2], "both are in the same child");
    assert_ne!(one[4], two[4]);
}

#[tokio::test]
async fn a_random_text_is_drawn_once() {
    let here = call(Address::root("r"), "t1");
    let spec = r#"{"length": 12, "sequence": "digits"}"#;
    let made = create("OS::Heat::RandomString", &here, spec).await.unwrap();
    let text = made.fields.get("value").and_then(Value::as_text).unwrap();
    assert!(
        text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()),
        "{text}"
    );
    assert_ne!(made.id.as_ref(), text, "the id is no secret");
    let refused = create(
        "OS::Heat::RandomString",
        &here,
        r#"{"length": 0, "sequence": "digits"}"#,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (
            refused.kind,
            refused.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Document, Some("length"))
    );
}

#[tokio::test]
async fn a_test_resource_follows_its_properties() {
    let test = "OS::Heat::TestResource";
    let here = call(Address::root("t"), "t1");
    let (first, empty) = (json(r#"{"value": "a"}"#), json(r#"{"value": ""}"#));
    let made = act(Operation::Create, test, &here, None, (&Value::Null, &first))
        .await
        .unwrap();
    assert_eq!(made.fields.get("output"), Some(&Value::from("a")));
    let kept = act(
        Operation::Update,
        test,
        &here,
        Some(&made),
        (&first, &empty),
    )
    .await
    .unwrap();
    assert_eq!(
        kept.fields.get("output"),
        Some(&Value::from("a")),
        "an empty text brings nothing"
    );
    assert_eq!(kept.id, made.id);
    let failing = json(r#"{"value": "a", "fail": true}"#);
    for (operation, before) in [(Operation::Create, None), (Operation::Update, Some(&made))] {
        let error = act(operation, test, &here, before, (&first, &failing))
            .await
            .unwrap_err();
        assert_eq!(error.message, "Test Resource failed t");
        assert!(error.partial.is_none() && !error.kind.is_retryable());
    }
    act(
        Operation::Delete,
        test,
        &here,
        Some(&made),
        (&failing, &Value::Null),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn a_test_resource_is_replaced_on_request() {
    let provider = openstack::heat::provider();
    let here = call(Address::root("t"), "t1");
    let prior = json(r#"{"value": "a", "update_replace": false}"#);
    for (desired, replaces) in [
        (
            r#"{"value": "b", "update_replace": true}"#,
            &["value"] as &[&str],
        ),
        (r#"{"value": "a", "update_replace": true}"#, &[]),
        (r#"{"value": "b", "update_replace": false}"#, &[]),
    ] {
        let desired = json(desired);
        let request = PlanRequest {
            type_name: "OS::Heat::TestResource",
            prior_inputs: &prior,
            prior: &Value::Null,
            desired: &desired,
            mode: PlanMode::Create,
            phase: PlanPhase::Preview,
            id: None,
            schema_version: 0,
            private: &Value::Null,
            unhealthy: &[],
            ignored: &[],
            replacing: &[],
            seed: "",
        };
        let planned = provider.plan(&here, request).await.unwrap();
        assert_eq!(
            planned
                .replaces
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            replaces
        );
    }
}

#[tokio::test(start_paused = true)]
async fn waits_take_real_time_and_can_be_cancelled() {
    let test = "OS::Heat::TestResource";
    let mut here = call(Address::root("t"), "t1");
    let elapsed = async |type_name: &str, spec: &str, here: &Call| {
        let start = tokio::time::Instant::now();
        let result = create(type_name, here, spec).await;
        (
            start.elapsed().as_secs(),
            result.err().map(|error| error.kind),
        )
    };
    assert_eq!(
        elapsed(test, r#"{"wait_secs": 90.0}"#, &here).await,
        (90, None)
    );
    assert_eq!(
        elapsed(
            test,
            r#"{"wait_secs": 90.0, "action_wait_secs": {"create": 5, "delete": 7}}"#,
            &here
        )
        .await,
        (5, None)
    );
    assert_eq!(
        elapsed(
            "OS::Heat::Delay",
            r#"{"min_wait": 60, "actions": ["CREATE"]}"#,
            &here
        )
        .await,
        (60, None)
    );
    assert_eq!(
        elapsed(
            "OS::Heat::Delay",
            r#"{"min_wait": 60, "actions": ["DELETE"]}"#,
            &here
        )
        .await,
        (0, None)
    );
    let jitter =
        r#"{"min_wait": 10, "max_jitter": 10, "jitter_multiplier": 2.0, "actions": ["CREATE"]}"#;
    let (seconds, error) = elapsed("OS::Heat::Delay", jitter, &here).await;
    assert!((10..30).contains(&seconds) && error.is_none(), "{seconds}");
    here.deadline = Some(Duration::from_secs(3));
    assert_eq!(
        elapsed(test, r#"{"wait_secs": -1}"#, &here).await,
        (3, Some(ErrorKind::TimedOut))
    );
    here.deadline = None;
    let cancel = here.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        cancel.cancel();
    });
    assert_eq!(
        elapsed(test, r#"{"wait_secs": -1}"#, &here).await,
        (2, Some(ErrorKind::Cancelled))
    );
}

#[tokio::test]
async fn a_part_of_a_message_may_be_another_config() {
    let provider = openstack::heat::provider();
    let make = async |type_name: &'static str, name: &str, spec: Value| {
        let request = ApplyRequest {
            operation: Operation::Create,
            type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired: &spec,
            private: &Value::Null,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        provider
            .apply(&call(Address::root(name), name), request)
            .await
            .unwrap()
    };
    let cloud = json(r##"{"cloud_config": {"t": "\u00e9", "b": [[1, null]]}}"##);
    let init = make("OS::Heat::CloudConfig", "init", cloud).await;
    let written = "#cloud-config\nb:\n- - 1\n  - null\nt: \"\\xE9\"\n";
    assert_eq!(
        init.fields.get("config").and_then(Value::as_text),
        Some(written)
    );
    let parts = |id: &str| {
        json(&format!(
            r#"{{"parts": [{{"config": "{id}", "type": "text"}}]}}"#
        ))
    };
    let message = make("OS::Heat::MultipartMime", "all", parts(&init.id)).await;
    assert!(
        message
            .fields
            .get("config")
            .and_then(Value::as_text)
            .unwrap()
            .contains(written)
    );
    assert!(message.diagnostics.is_empty());
    let unknown = "01234567-89ab-4def-8123-456789abcdef";
    let message = make("OS::Heat::MultipartMime", "other", parts(unknown)).await;
    assert!(
        message
            .fields
            .get("config")
            .and_then(Value::as_text)
            .unwrap()
            .contains(unknown)
    );
    let [warning] = message.diagnostics.as_slice() else {
        panic!("{:?}", message.diagnostics)
    };
    assert_eq!(warning.severity, ProviderSeverity::Warning);
}

#[tokio::test]
async fn results_of_secrets_are_secret() {
    let spec = Value::map([(
        "cloud_config",
        Value::map([("password", Value::from("hidden").secret())]),
    )]);
    let here = call(Address::root("c"), "t1");
    let made = act(
        Operation::Create,
        "OS::Heat::CloudConfig",
        &here,
        None,
        (&Value::Null, &spec),
    )
    .await
    .unwrap();
    assert_eq!(made.fields.get("config").unwrap().to_string(), "(secret)");
}
