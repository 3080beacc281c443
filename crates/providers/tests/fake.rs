//! The simulated cloud: the conformance suite, and its own behaviour.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends at the first object that is not as expected"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use blueprint::{Address, Name, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, ErrorKind, FetchRequest, InvokeRequest, Observed, Operation,
    Provider, ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session,
};
use providers::fake::{
    FakeCloud, FakeOptions, FakeProvider, ScriptedFault, SharedCloud, catalog, provider,
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn call(address: &str, token: &str) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "case".into(),
        address: address.parse::<Address>().unwrap(),
        urn: Default::default(),
        token: token.into(),
        deadline: None,
        cancel: Default::default(),
        root: std::path::Path::new("/w").into(),
        folder: std::path::Path::new("/w").into(),
        settings: json("{}"),
        files: provider::FileAccess::default(),
        now: 1_672_671_845,
        progress: Arc::new(|_| {}),
    }
}

async fn apply(
    fake: &FakeProvider,
    call: &Call,
    operation: Operation,
    type_name: &str,
    id: Option<&str>,
    spec: &str,
) -> Result<Applied, ProviderError> {
    let desired = json(spec);
    let request = ApplyRequest {
        operation,
        type_name,
        id,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired: &desired,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    fake.apply(call, request).await
}

async fn create(
    fake: &FakeProvider,
    address: &str,
    token: &str,
    type_name: &str,
    spec: &str,
) -> Result<Applied, ProviderError> {
    apply(
        fake,
        &call(address, token),
        Operation::Create,
        type_name,
        None,
        spec,
    )
    .await
}

async fn read(
    fake: &FakeProvider,
    address: &str,
    type_name: &str,
    id: Option<&str>,
    token: Option<&str>,
) -> ReadOutcome {
    let null = Value::Null;
    let request = ReadRequest {
        type_name,
        id,
        inputs: &null,
        outputs: &null,
        private: &null,
        token,
        schema_version: 0,
    };
    fake.read(&call(address, "read"), request).await.unwrap()
}

fn with_faults(world: &SharedCloud, faults: &str) -> FakeProvider {
    let faults: Vec<ScriptedFault> = serde_json::from_str(faults).unwrap();
    provider(FakeOptions {
        world: Some(world.clone()),
        faults,
        ..FakeOptions::default()
    })
}

fn fresh(world: &SharedCloud) -> FakeProvider {
    with_faults(world, "[]")
}

#[tokio::test]
async fn the_simulation_passes_the_conformance_suite() {
    let world = SharedCloud::default();
    let setup = Setup {
        documented: false,
        ..Setup::in_folder("/w")
    };
    let case =
        |name: &str, spec: &str, changed: &str| Case::new(name, json(spec)).changed(json(changed));
    let cases = [
        case(
            "test/data",
            r#"{"input": {"a": [1, null]}}"#,
            r#"{"input": 2}"#,
        ),
        case(
            "test/record",
            r#"{"title": "t", "password": "open sesame", "settings": {"mode": "m"}, "tags": ["a", "b"], "target": {"host": "h"}, "amount": true}"#,
            r#"{"title": "u", "password": "open barley", "note": null, "ratio": 0.5, "rules": [{"key": "k", "value": 1}], "target": "t"}"#,
        ),
        case("test/cluster", r#"{"name": "n"}"#, r#"{"name": "m"}"#),
        case(
            "test/app",
            r#"{"cluster": "c"}"#,
            r#"{"cluster": "c", "image": "i"}"#,
        ),
        case(
            "test/function",
            r#"{"name": "n"}"#,
            r#"{"name": "n", "environment": {"A": "b"}}"#,
        ),
        case(
            "test/queue",
            r#"{"name": "n"}"#,
            r#"{"name": "n", "policy": [{"sid": "s"}]}"#,
        ),
        case(
            "test/bucket",
            r#"{"name": "n"}"#,
            r#"{"name": "n", "locked": true}"#,
        ),
        case("test/role", r#"{"name": "n"}"#, r#"{"name": "m"}"#),
        case(
            "test/grant",
            r#"{"from": "a", "to": "b", "access": "read"}"#,
            r#"{"from": "a", "to": "b", "access": "write"}"#,
        ),
        case("test/topic", r#"{"name": "n"}"#, r#"{"name": "m"}"#),
        case("test/router", r#"{"name": "n"}"#, r#"{"name": "m"}"#),
    ];
    let make = || -> Arc<dyn Provider> { Arc::new(fresh(&world)) };
    let failures = contract_tests::provider::check(make, &setup, &cases).await;
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(world.lock().unwrap().objects().count(), 0);
}

#[test]
fn the_catalogue_is_that_of_the_conformance_pack() {
    let pack = include_str!("../../../conformance/blueprint/catalog.json");
    assert!(
        include_str!("../src/fake/catalog.json") == pack,
        "copy conformance/blueprint/catalog.json to src/fake/catalog.json"
    );
}

#[tokio::test]
async fn values_are_those_of_the_conformance_pack() {
    let fake = provider(FakeOptions::default());
    assert_eq!(
        create(&fake, "r", "1", "test/data", "{}")
            .await
            .unwrap()
            .id
            .as_ref(),
        "data-f4b640e6"
    );
    let made = create(&fake, "s", "2", "test/record", r#"{"title": "t"}"#)
        .await
        .unwrap();
    let id = made.id.to_string();
    let hash = id.strip_prefix("record-").unwrap();
    for (field, value) in [
        ("arn", json(&format!(r#""arn:test:{id}""#))),
        ("revision", json("1")),
        (
            "endpoint",
            json(&format!(r#"{{"host": "{id}.test", "port": 8080}}"#)),
        ),
        ("nodes", json(&format!(r#"["{id}-a", "{id}-b"]"#))),
        ("secretKey", json(&format!(r#""key-{hash}""#))),
    ] {
        assert_eq!(made.fields.get(field), Some(&value), "{field}");
    }
    let updated = apply(
        &fake,
        &call("s", "3"),
        Operation::Update,
        "test/record",
        Some(&id),
        r#"{"title": "u"}"#,
    )
    .await
    .unwrap();
    assert_eq!(updated.fields.get("revision"), Some(&Value::Int(2)));
    let again = apply(
        &fake,
        &call("s", "3"),
        Operation::Update,
        "test/record",
        Some(&id),
        r#"{"title": "u"}"#,
    )
    .await
    .unwrap();
    assert_eq!(
        again.fields.get("revision"),
        Some(&Value::Int(2)),
        "the same update counts once"
    );
    // The second resource at an address has another hash, as in the first replacement case of the
    // pack.
    create(
        &fake,
        "t",
        "4",
        "test/record",
        r#"{"title": "t", "zone": "a"}"#,
    )
    .await
    .unwrap();
    let first = create(
        &fake,
        "t",
        "5",
        "test/record",
        r#"{"title": "t", "zone": "b"}"#,
    )
    .await
    .unwrap()
    .id;
    assert_eq!(
        world_object_at(&fake, "t"),
        first,
        "the latest object stands for its address"
    );
}

fn world_object_at(fake: &FakeProvider, address: &str) -> Name {
    fake.world()
        .lock()
        .unwrap()
        .object_at("case", address)
        .unwrap()
        .id
        .clone()
}

#[tokio::test]
async fn inexact_values_are_refused() {
    let fake = provider(FakeOptions::default());
    for (spec, field) in [
        (r#"{"title": "t", "nonsense": 1}"#, "nonsense"),
        (r#"{"title": 1}"#, "title"),
        (r#"{}"#, ""),
        (r#"{"title": "t", "id": "x"}"#, "id"),
        (r#"{"title": "t", "code": "abc"}"#, "code"),
        (r#"{"title": "t", "size": "huge"}"#, "size"),
        (r#"{"title": "t", "count": 11}"#, "count"),
        (r#"{"title": "t", "ratio": "1"}"#, "ratio"),
        (r#"{"title": "t", "zone": null}"#, "zone"),
        (r#"{"title": "t", "tags": ["a", "b", "c", "d"]}"#, "tags"),
        (r#"{"title": "t", "rules": [{"value": 1}]}"#, "rules[0]"),
        (
            r#"{"title": "t", "settings": {"mode": "m", "deep": {"y": ["1"]}}}"#,
            "settings.deep.y[0]",
        ),
        (
            r#"{"title": "t", "free": {"a": {"$unknown": null}}}"#,
            "free.a",
        ),
        (r#"{"title": "forbidden"}"#, "title"),
    ] {
        let error = create(&fake, "r", spec, "test/record", spec)
            .await
            .unwrap_err();
        assert_eq!(
            (
                error.kind,
                error.field.as_ref().map(ToString::to_string).as_deref()
            ),
            (ErrorKind::Document, Some(field)),
            "{spec}: {error}"
        );
    }
    let secret = r#"{"title": {"$secret": "a title that is much too long to be one"}}"#;
    let error = create(&fake, "r", "s", "test/record", secret)
        .await
        .unwrap_err();
    assert!(!format!("{error:?}").contains("much"), "{error:?}");
    assert_eq!(fake.world().lock().unwrap().objects().count(), 0);
}

#[tokio::test]
async fn unique_values_and_replacing_fields_are_enforced() {
    let fake = provider(FakeOptions::default());
    let one = create(&fake, "a", "1", "test/bucket", r#"{"name": "n"}"#)
        .await
        .unwrap();
    let error = create(&fake, "b", "2", "test/bucket", r#"{"name": "n"}"#)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let error = apply(
        &fake,
        &call("a", "3"),
        Operation::Update,
        "test/bucket",
        Some(&one.id),
        r#"{"name": "m"}"#,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Permanent, Some("name"))
    );
    apply(
        &fake,
        &call("a", "4"),
        Operation::Delete,
        "test/bucket",
        Some(&one.id),
        "null",
    )
    .await
    .unwrap();
    create(&fake, "b", "5", "test/bucket", r#"{"name": "n"}"#)
        .await
        .unwrap();
    let record = create(
        &fake,
        "r",
        "6",
        "test/record",
        r#"{"title": "t", "place": {"row": 1}}"#,
    )
    .await
    .unwrap();
    let changed = r#"{"title": "t", "place": {"row": 2}}"#;
    let error = apply(
        &fake,
        &call("r", "7"),
        Operation::Update,
        "test/record",
        Some(&record.id),
        changed,
    )
    .await
    .unwrap_err();
    assert_eq!(
        error.field.as_ref().map(ToString::to_string).as_deref(),
        Some("place")
    );
}

#[tokio::test]
async fn faults_affect_the_calls_they_name() {
    let world = SharedCloud::default();
    let fake = with_faults(
        &world,
        r#"[{"on": "create", "at": "a", "kind": "transient", "times": 2, "skip": 1}, {"on": "create", "at": "b", "kind": "permanent"},
            {"on": "create", "at": "c", "kind": "lost"}, {"on": "create", "at": "d", "kind": "answer", "set": {"id": 5}, "drop": ["input"]}]"#,
    );
    assert!(create(&fake, "a", "0", "test/data", "{}").await.is_ok());
    for _ in 0..2 {
        assert_eq!(
            create(&fake, "a", "1", "test/data", "{}")
                .await
                .unwrap_err()
                .kind,
            ErrorKind::Transient
        );
    }
    assert!(create(&fake, "a", "1", "test/data", "{}").await.is_ok());
    assert_eq!(
        create(&fake, "b", "2", "test/data", "{}")
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Permanent
    );
    assert_eq!(
        create(&fake, "c", "3", "test/data", "{}")
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Transient
    );
    let found = create(&fake, "c", "3", "test/data", "{}").await.unwrap();
    let answer = create(&fake, "d", "4", "test/data", r#"{"input": 1}"#)
        .await
        .unwrap();
    assert_eq!(answer.fields, json(r#"{"id": 5}"#));
    assert_eq!(
        world.lock().unwrap().objects().count(),
        4,
        "the lost create was found again"
    );
    assert_eq!(world_object_at(&fake, "c"), found.id);
    assert_eq!(fake.journal().calls()["create a"], 4);
}

#[tokio::test]
async fn a_crash_ends_the_process_and_the_world_stays() {
    for (when, untraceable, objects) in [
        ("before", false, 0),
        ("after", false, 1),
        ("before", true, 0),
        ("after", true, 1),
    ] {
        let world = SharedCloud::default();
        let crashes = Arc::new(AtomicU32::new(0));
        let seen = crashes.clone();
        let fault = format!(
            r#"{{"on": "create", "at": "r", "kind": "crash", "when": "{when}", "untraceable": {untraceable}}}"#
        );
        let fake = provider(FakeOptions {
            world: Some(world.clone()),
            faults: vec![serde_json::from_str(&fault).unwrap()],
            on_crash: Some(Arc::new(move || {
                seen.fetch_add(1, Ordering::SeqCst);
            })),
            ..FakeOptions::default()
        });
        let never = tokio::time::timeout(
            Duration::from_millis(5),
            create(&fake, "r", "1", "test/data", "{}"),
        )
        .await;
        assert!(never.is_err() && fake.has_crashed());
        assert_eq!(crashes.load(Ordering::SeqCst), 1);
        assert_eq!(world.lock().unwrap().objects().count(), objects);
        drop(fake);
        let next = fresh(&world);
        let found = read(&next, "r", "test/data", None, Some("1")).await;
        match (untraceable, objects) {
            (true, _) => assert!(matches!(found, ReadOutcome::Unknown)),
            (false, 0) => assert!(matches!(found, ReadOutcome::Absent)),
            (false, _) => assert!(matches!(found, ReadOutcome::Present(_))),
        }
    }
}

#[tokio::test]
async fn slow_resources_are_ready_after_a_number_of_polls() {
    let world = SharedCloud::default();
    let fake = with_faults(
        &world,
        r#"[{"at": "c", "kind": "slow", "checks": 2}, {"at": "d", "kind": "slow", "checks": null}]"#,
    );
    for (address, type_name, spec, no) in [
        ("c", "test/data", "{}", 2),
        ("d", "test/data", "{}", 50),
        ("e", "test/cluster", r#"{"name": "n"}"#, 0),
    ] {
        let made = create(&fake, address, address, type_name, spec)
            .await
            .unwrap();
        assert_eq!(made.ready, Ready::Pending, "{address}");
        let null = Value::Null;
        let mut answers = Vec::new();
        for _ in 0..=no {
            let request = ReadRequest {
                type_name,
                id: Some(&made.id),
                inputs: &null,
                outputs: &null,
                private: &null,
                token: None,
                schema_version: 0,
            };
            answers.push(matches!(
                fake.poll_ready(&call(address, "s"), request).await.unwrap(),
                Readiness::Ready(_)
            ));
        }
        let last = answers.pop().unwrap();
        assert!(answers.iter().all(|ready| !ready), "{address}");
        assert_eq!(last, address != "d");
    }
    assert_eq!(
        create(&fake, "f", "f", "test/data", "{}")
            .await
            .unwrap()
            .ready,
        Ready::Yes
    );
    let journal = fake.journal();
    assert_eq!(journal.before("ready c", "create f"), Some(true));
    assert_eq!(journal.before("create f", "ready e"), Some(false));
    assert_eq!(journal.before("ready d", "create f"), None);
}

#[tokio::test(start_paused = true)]
async fn delays_are_concurrent_and_end_on_cancellation() {
    let fake = provider(FakeOptions::default());
    let began = tokio::time::Instant::now();
    let slow = r#"{"delayMs": 1000}"#;
    let (a, b) = tokio::join!(
        create(&fake, "a", "1", "test/data", slow),
        create(&fake, "b", "2", "test/data", slow)
    );
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(began.elapsed().as_millis(), 1000);
    assert_eq!(fake.journal().most_in_flight, 2);

    let cancelled = call("c", "3");
    let task = apply(
        &fake,
        &cancelled,
        Operation::Create,
        "test/data",
        None,
        slow,
    );
    let (result, ()) = tokio::join!(task, async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        cancelled.cancel.cancel();
    });
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(began.elapsed().as_millis() < 1100);
    let hurried = Call {
        deadline: Some(Duration::from_millis(20)),
        ..call("d", "4")
    };
    let late = apply(&fake, &hurried, Operation::Create, "test/data", None, slow)
        .await
        .unwrap_err();
    assert_eq!(late.kind, ErrorKind::TimedOut);
    assert_eq!(fake.world().lock().unwrap().objects().count(), 2);
}

#[tokio::test]
async fn the_world_can_be_changed_from_outside() {
    let fake = provider(FakeOptions::default());
    let id = create(
        &fake,
        "r",
        "1",
        "test/record",
        r#"{"title": "t", "settings": {"mode": "m"}}"#,
    )
    .await
    .unwrap()
    .id;
    {
        let mut world = fake.world().lock().unwrap();
        world.set("case", "r", "count", Value::Int(5)).unwrap();
        world
            .set("case", "r", "settings.mode", Value::from("n"))
            .unwrap();
        world
            .make(
                &catalog(),
                "test/data",
                "data-00000001",
                &json(r#"{"input": 1}"#),
            )
            .unwrap();
    }
    let ReadOutcome::Present(Observed { fields, .. }) =
        read(&fake, "r", "test/record", Some(&id), None).await
    else {
        panic!("not there")
    };
    assert_eq!(fields.get("count"), Some(&Value::Int(5)));
    assert_eq!(fields.get("settings"), Some(&json(r#"{"mode": "n"}"#)));
    let ReadOutcome::Present(Observed { fields, .. }) =
        read(&fake, "i", "test/data", Some("data-00000001"), None).await
    else {
        panic!("not there")
    };
    assert_eq!(fields, json(r#"{"input": 1, "id": "data-00000001"}"#));
    fake.world()
        .lock()
        .unwrap()
        .delete_externally("case", "r")
        .unwrap();
    assert!(matches!(
        read(&fake, "r", "test/record", Some(&id), None).await,
        ReadOutcome::Absent
    ));
    assert!(matches!(
        read(&fake, "r", "test/record", None, Some("1")).await,
        ReadOutcome::Absent
    ));
    assert!(
        apply(
            &fake,
            &call("r", "2"),
            Operation::Delete,
            "test/record",
            Some(&id),
            "null"
        )
        .await
        .is_ok()
    );
}

#[tokio::test]
async fn data_sources_return_their_rows_in_order() {
    let fake = provider(FakeOptions::default());
    let filter =
        |field: &str, operator: &str, search: Value| (field.into(), operator.into(), search);
    let fetch = async |type_name: &str, filters: &[(Name, Name, Value)]| {
        let annotations = Value::Null;
        fake.fetch(
            &call("d", "f"),
            FetchRequest {
                type_name,
                filters,
                annotations: &annotations,
            },
        )
        .await
        .unwrap()
    };
    let all = fetch("test/network", &[filter("name", "=", "main".into())]).await;
    assert_eq!(
        all.applied,
        Vec::<usize>::new(),
        "the engine applies what the provider does not"
    );
    let names: Vec<&str> = all
        .candidates
        .iter()
        .filter_map(|found| found.filter_fields.get("name")?.as_text())
        .collect();
    assert_eq!(names, ["main", "side", "Main-old"]);
    assert_eq!(
        all.candidates[2].filter_fields.get("zone"),
        Some(&Value::Null)
    );
    assert_eq!(all.candidates[2].fields.get("zone"), None);
    assert_eq!(
        all.candidates[0].filter_fields.get("gateway.host"),
        Some(&"gw1".into())
    );
    let filters = [
        filter("subnetDetails[1].zone", "=", "z2".into()),
        filter("vpcId", "=", "vpc-1".into()),
    ];
    let one = fetch("test/network", &filters).await;
    assert_eq!(
        (one.applied.as_slice(), one.candidates.len()),
        ([1].as_slice(), 1)
    );
    assert_eq!(
        one.candidates[0].filter_fields.get("subnetDetails[1].zone"),
        Some(&"z2".into())
    );
    let image = fetch("test/image", &[]).await;
    assert_eq!(
        image.candidates[1].fields.get("meta.arch"),
        Some(&"amd64".into())
    );
}

#[tokio::test]
async fn functions_follow_their_rules() {
    let fake = provider(FakeOptions::default());
    for (name, arguments, result) in [
        ("test_double", "[4]", Some("8")),
        ("test_double", "[9223372036854775807]", None),
        ("test_tag", r#"["a", 2]"#, Some(r#""a#2""#)),
        ("test_weigh", "[1, 2, 3]", Some("7")),
        ("test_settings", r#"[{"a": 1}]"#, Some(r#"{"a": 1}"#)),
        ("test_none", "[]", None),
    ] {
        let arguments: Vec<Value> = serde_json::from_str(arguments).unwrap();
        let request = InvokeRequest {
            function: name,
            arguments: &arguments.into(),
            preview: false,
        };
        let found = fake.invoke(&call("r", "c"), request).await;
        assert_eq!(found.ok(), result.map(json), "{name}");
    }
}

#[tokio::test]
async fn a_world_in_a_file_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.world");
    let open = || FakeCloud::open(&path).unwrap().shared();
    let fake = fresh(&open());
    assert!(!path.exists(), "reading makes no file");
    let kept = create(&fake, "a", "1", "test/bucket", r#"{"name": "kept"}"#)
        .await
        .unwrap();
    let gone = create(&fake, "b", "2", "test/data", "{}").await.unwrap();
    apply(
        &fake,
        &call("a", "3"),
        Operation::Update,
        "test/bucket",
        Some(&kept.id),
        r#"{"name": "kept", "locked": true}"#,
    )
    .await
    .unwrap();
    apply(
        &fake,
        &call("b", "4"),
        Operation::Delete,
        "test/data",
        Some(&gone.id),
        "null",
    )
    .await
    .unwrap();
    drop(fake);

    let fake = fresh(&open());
    assert_eq!(fake.world().lock().unwrap().objects().count(), 1);
    let ReadOutcome::Present(Observed { fields, .. }) =
        read(&fake, "a", "test/bucket", None, Some("1")).await
    else {
        panic!("not there")
    };
    assert_eq!(fields.get("locked"), Some(&Value::Bool(true)));
    let error = create(&fake, "c", "5", "test/bucket", r#"{"name": "kept"}"#)
        .await
        .unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::Conflict,
        "unique values are remembered"
    );
    let again = create(&fake, "b", "6", "test/data", "{}").await.unwrap();
    assert_ne!(
        again.id, gone.id,
        "objects made at an address are counted on"
    );
    drop(fake);

    // A truncated line is ignored and overwritten.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let fake = fresh(&open());
    assert_eq!(fake.world().lock().unwrap().objects().count(), 1);
    assert_eq!(
        create(&fake, "b", "7", "test/data", "{}").await.unwrap().id,
        again.id
    );
    drop(fake);
    assert_eq!(open().lock().unwrap().objects().count(), 2);
    std::fs::write(&path, "something else\n").unwrap();
    assert!(
        FakeCloud::open(&path)
            .unwrap_err()
            .to_string()
            .contains("line 1")
    );
}

#[tokio::test]
async fn a_file_with_much_history_is_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.world");
    let open = || FakeCloud::open(&path).unwrap().shared();
    let fake = fresh(&open());
    let id = create(&fake, "r", "0", "test/data", "{}").await.unwrap().id;
    for at in 1..400 {
        let spec = format!(r#"{{"input": {at}}}"#);
        apply(
            &fake,
            &call("r", &at.to_string()),
            Operation::Update,
            "test/data",
            Some(&id),
            &spec,
        )
        .await
        .unwrap();
    }
    drop(fake);
    let before = std::fs::metadata(&path).unwrap().len();
    let fake = fresh(&open());
    create(&fake, "s", "s", "test/data", "{}").await.unwrap();
    drop(fake);
    assert!(std::fs::metadata(&path).unwrap().len() < before / 50);
    let world = open();
    let world = world.lock().unwrap();
    assert_eq!(
        world.object(&id).unwrap().fields.get("input"),
        Some(&Value::Int(399))
    );
    assert_eq!(world.objects().count(), 2);
}

#[tokio::test]
async fn another_catalogue_is_simulated_plausibly() {
    let text = include_str!("../../../conformance/blueprint/spec-examples/catalog.json");
    let other = Arc::new(provider::read_catalog(text).unwrap());
    let fake = provider(FakeOptions {
        catalog: Some(other),
        ..FakeOptions::default()
    });
    let made = create(&fake, "t", "1", "aws/sns/topic", r#"{"topicType": "fifo"}"#)
        .await
        .unwrap();
    assert!(made.id.starts_with("topic-") && made.fields.get("arn").is_some());
    let bare = r#"{"format": 1, "namespace": "x", "resourceTypes": {"x/a": {"fields": {"size": {"kind": "integer", "computed": true, "docs": "d"},
        "tags": {"kind": "array", "items": {"kind": "string"}, "computed": true}}}},
        "dataSourceTypes": {"x/d": {"filter": {"name": {"type": "string"}}, "fields": {"name": {"kind": "string"}, "size": {"kind": "integer"}}}}}"#;
    let fake = provider(FakeOptions {
        catalog: Some(Arc::new(provider::read_catalog(bare).unwrap())),
        ..FakeOptions::default()
    });
    let made = create(&fake, "r", "1", "x/a", "{}").await.unwrap();
    assert!(
        made.id.starts_with("a-")
            && made
                .fields
                .get("size")
                .is_some_and(|size| size.as_int().is_some())
    );
    let filters = [("name".into(), "=".into(), Value::from("n"))];
    let annotations = Value::Null;
    let request = FetchRequest {
        type_name: "x/d",
        filters: &filters,
        annotations: &annotations,
    };
    let found = fake.fetch(&call("d", "f"), request).await.unwrap();
    assert_eq!((found.candidates.len(), found.applied), (1, vec![0]));
    assert_eq!(found.candidates[0].fields.get("name"), Some(&"n".into()));
}

#[tokio::test]
async fn the_suite_reports_each_planted_bug() {
    for (fault, complaint) in [
        (
            r#"{"on": "create", "at": "thing0", "kind": "answer", "set": {"id": 5}}"#,
            "after create are not as declared: `id`",
        ),
        (
            r#"{"on": "create", "at": "thing0", "kind": "answer", "drop": ["id"]}"#,
            "not as declared: `id` is missing",
        ),
        (
            r#"{"on": "update", "at": "thing0", "kind": "answer", "set": {"input": 9}}"#,
            "changes `input`, which was sent",
        ),
        (
            r#"{"on": "create", "at": "thing0", "kind": "permanent", "times": 9}"#,
            "create failed",
        ),
        (
            r#"{"on": "delete", "at": "thing0", "kind": "permanent"}"#,
            "a delete failed",
        ),
        (
            r#"{"at": "thing0", "kind": "slow", "checks": null}"#,
            "not ready after 100 questions",
        ),
    ] {
        let world = SharedCloud::default();
        // One provider serves all calls, because a fault is used up once.
        let fake: Arc<dyn Provider> = Arc::new(with_faults(&world, &format!("[{fault}]")));
        let setup = Setup {
            documented: false,
            ..Setup::in_folder("/w")
        };
        let case = Case::new("test/data", json(r#"{"input": 1}"#)).changed(json(r#"{"input": 2}"#));
        let failures = contract_tests::provider::check(|| fake.clone(), &setup, &[case]).await;
        let own: Vec<&String> = failures
            .iter()
            .filter(|failure| !failure.ends_with("there is no case"))
            .collect();
        assert!(
            own.iter().any(|failure| failure.contains(complaint)),
            "{fault}: {own:#?}"
        );
    }
    let setup = Setup::in_folder("/w");
    let failures =
        contract_tests::provider::check(|| Arc::new(provider(FakeOptions::default())), &setup, &[])
            .await;
    assert!(
        failures.contains(&"test/topic: has no example".into())
            && failures.contains(&"test/topic: there is no case".into())
    );
}

#[tokio::test]
async fn every_transform_passes_the_conformance_suite() {
    let failures =
        contract_tests::provider::check_transforms(&provider(FakeOptions::default())).await;
    assert!(failures.is_empty(), "{failures:#?}");
}
