//! Correct and incorrect behaviour of a provider: protocol 6, with the provider of this repository
//! (`peer/main.go`).

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod host;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blueprint::Value;
use host::{Host, PEER_NAME, launch, map, program, text, unknown};
use plugins::{Endpoint, Logs, PluginError, ProcessEnding, attach};
use terraform_host::{
    AppliedChange, ApplyRequest, CallFailure, ChangeVerdict, Client, Handshake, ImportBy, Moved,
    Object, OpenOptions, PlanRequest, ProgramDigest, ProtocolVersion, ReplacePolicy, Returned,
    SchemaCache, Stored, StoredIdentity,
};

const THING: &str = "peer_thing";

/// The time limit for waiting for a condition.
const APPEARS_WITHIN: Duration = Duration::from_secs(30);

fn thing(mode: &str) -> Value {
    map([
        ("name", Value::from("n")),
        ("size", Value::Int(1)),
        ("mode", Value::from(mode)),
    ])
}

fn with(value: &Value, name: &str, part: Value) -> Value {
    let mut entries = value.as_map().unwrap().clone();
    entries.insert(name.into(), part);
    Value::Map(Arc::new(entries))
}

fn size(object: &Object) -> Option<i64> {
    object.value.get("size").and_then(Value::as_int)
}

/// Creates an object in a mode, with any result.
async fn created(host: &Host, mode: &str) -> AppliedChange {
    let planned = host.plan(THING, None, &thing(mode)).await;
    host.apply(THING, None, &planned.object, &thing(mode)).await
}

async fn refused(host: &Host, mode: &str) -> CallFailure {
    let config = thing(mode);
    let request = PlanRequest {
        type_name: THING,
        prior: None,
        config: &config,
        replacing: ReplacePolicy::IfRequired,
    };
    host.client.plan(request).await.unwrap_err()
}

/// Waits until a file exists.
async fn appears(path: &Path) {
    let wait = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(APPEARS_WITHIN, wait).await.unwrap();
}

#[tokio::test]
async fn private_data_is_kept_from_create_to_delete() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    assert_eq!(host.client.version(), ProtocolVersion::Six);
    let config = map([
        ("name", Value::from("n")),
        ("any", Value::list([Value::Int(1), Value::from("x")])),
        ("code", Value::from("never stored").secret()),
        ("password", Value::from("p")),
        ("nested", Value::list([map([("key", Value::from("k"))])])),
        (
            "tag",
            Value::Set(Arc::new(vec![map([("label", Value::from("l"))])])),
        ),
    ]);
    let planned = host.plan(THING, None, &config).await;
    assert_eq!(planned.verdict, ChangeVerdict::Create);
    assert!(planned.object.value.get("size").unwrap().is_unknown());
    assert_eq!(planned.object.private, [0xff, 0, b'p']);
    let applied = host.apply(THING, None, &planned.object, &config).await;
    assert!(applied.is_done(), "{applied:?}");
    let first = applied.object;
    assert_eq!(first.private, [0xff, 0, b'p', b'a']);
    assert_eq!(first.identity, Some(map([("id", Value::from("n"))])));
    assert_eq!(first.value.get("code"), Some(&Value::Null));
    assert_eq!(
        first.value.get("password"),
        Some(&Value::from("p").secret())
    );
    let token = first.value.get("nested").unwrap().as_list().unwrap()[0]
        .get("token")
        .cloned();
    assert_eq!(token, Some(Value::from("made")));

    // The object is stored and read back.
    let stored =
        Stored::restore(&first.value, &host.client.envelope(THING, &first).unwrap()).unwrap();
    let upgraded = host.client.upgrade(THING, &stored).await.unwrap().value;
    assert_eq!(upgraded, first);
    let read = host.read(THING, &upgraded).await;
    assert_eq!(read.private, [0xff, 0, b'p', b'a', b'r']);
    let planned = host.plan(THING, Some(&read), &config).await;
    assert_eq!(planned.verdict, ChangeVerdict::Same);

    // Drift is found and corrected.
    fs::write(host.folder.path().join("n"), "7").unwrap();
    let drifted = host.read(THING, &first).await;
    assert_eq!(size(&drifted), Some(7));
    let sized = with(&config, "size", Value::Int(1));
    assert_eq!(
        host.plan(THING, Some(&drifted), &sized).await.verdict,
        ChangeVerdict::Update
    );
    let second = host.change(THING, Some(&drifted), &sized).await;
    assert_eq!(size(&second), Some(1));
    assert_eq!(second.private, [0xff, 0, b'p', b'a', b'r', b'p', b'a']);

    // The provider always names several paths. Only the path that differs counts.
    let renamed = with(&sized, "name", Value::from("m"));
    let planned = host.plan(THING, Some(&second), &renamed).await;
    let ChangeVerdict::Replace { paths } = &planned.verdict else {
        panic!("{planned:?}")
    };
    assert_eq!(
        paths.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["name"]
    );
    assert!(planned.object.value.get("id").unwrap().is_unknown());
    // The second plan received the private data of the first.
    assert_eq!(planned.object.private[second.private.len()..], *b"pp");

    let delete = host.plan(THING, Some(&second), &Value::Null).await;
    assert_eq!(delete.verdict, ChangeVerdict::Delete);
    assert_eq!(delete.object.private.last(), Some(&b'd'));
    host.delete(THING, &second).await;
    assert!(!host.folder.path().join("n").exists());
    assert!(host.read(THING, &second).await.is_absent());
    host.end().await;
}

#[tokio::test]
async fn stored_objects_are_upgraded_before_they_are_used() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let stored = Stored {
        version: 1,
        json: br#"{"id":"n","label":"n","size":1.0,"mode":null,"code":null,"password":"p","any":null,"nested":null,"tag":[]}"#.to_vec(),
        private: vec![7],
        identity: Some(StoredIdentity { version: 0, value: map([("key", Value::from("n"))]) }),
    };
    let object = host.client.upgrade(THING, &stored).await.unwrap().value;
    assert_eq!(
        (text(&object, "name").as_str(), size(&object)),
        ("n", Some(1))
    );
    assert_eq!(object.private, [7]);
    assert_eq!(object.identity, Some(map([("id", Value::from("n"))])));
    assert_eq!(
        object.value.get("password"),
        Some(&Value::from("p").secret())
    );

    let newer = Stored {
        version: 3,
        ..stored.clone()
    };
    let failure = host.client.upgrade(THING, &newer).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the stored object has version 3 of its schema; the provider knows version 2"
    );
    let broken = Stored {
        version: 2,
        json: b"{".to_vec(),
        ..stored
    };
    assert!(matches!(
        host.client.upgrade(THING, &broken).await.unwrap_err(),
        CallFailure::Rejected(_)
    ));
    host.end().await;
}

#[tokio::test]
async fn objects_are_imported_by_id_and_by_identity_and_taken_over() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let nothing = host
        .client
        .import(THING, ImportBy::Id("n"))
        .await
        .unwrap_err();
    assert!(matches!(nothing, CallFailure::NothingImported), "{nothing}");
    fs::write(host.folder.path().join("n"), "5").unwrap();
    let identity = map([("id", Value::from("n"))]);
    for by in [ImportBy::Id("n"), ImportBy::Identity(&identity)] {
        let imported = host.client.import(THING, by).await.unwrap().value;
        assert_eq!(imported.len(), 1);
        let object = &imported[0].object;
        assert_eq!(
            (size(object), object.private.as_slice()),
            (Some(5), [0xff, 0, b'i', b'r'].as_slice())
        );
        assert_eq!(object.identity.as_ref(), Some(&identity));
    }
    let stored = Stored {
        version: 0,
        json: br#"{"title":"n"}"#.to_vec(),
        private: b"x".to_vec(),
        identity: None,
    };
    let from = Moved {
        provider: "registry.example/test/other",
        type_name: "other_thing",
    };
    let object = host
        .client
        .move_state(THING, &from, &stored)
        .await
        .unwrap()
        .value;
    assert_eq!(
        (text(&object, "name").as_str(), object.private.as_slice()),
        ("n", b"xm".as_slice())
    );
    let from = Moved {
        provider: "registry.example/test/another",
        type_name: "other_thing",
    };
    assert!(matches!(
        host.client
            .move_state(THING, &from, &stored)
            .await
            .unwrap_err(),
        CallFailure::Rejected(_)
    ));
    host.end().await;
}

#[tokio::test]
async fn a_plan_that_contradicts_the_configuration_is_refused() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let failure = refused(&host, "plan-lie").await;
    let expected = "PlanResourceChange: the provider contradicts itself: `size`: the document has 1, the plan has 999";
    assert_eq!(failure.to_string(), expected);
    let failure = refused(&host, "plan-code").await;
    assert!(
        failure
            .to_string()
            .ends_with("`code`: the value of a write-only attribute was returned"),
        "{failure}"
    );
    let failure = refused(&host, "plan-null").await;
    assert!(
        failure.to_string().ends_with("the planned state is null"),
        "{failure}"
    );
    // The framework of the provider detects that the host does not let it defer.
    let failure = refused(&host, "defer").await;
    assert!(failure.to_string().contains("Deferred"), "{failure}");
    let failure = refused(&host, "plan-error").await;
    assert_eq!(
        failure.to_string(),
        "the provider refused: `mode`: the plan fails: The detail."
    );
    // A provider of the legacy type system may contradict the configuration.
    let planned = host.plan(THING, None, &thing("plan-legacy")).await;
    assert_eq!(planned.tolerated.len(), 1);
    assert_eq!(size(&planned.object), Some(999));
    host.end().await;
}

#[tokio::test]
async fn an_apply_that_contradicts_its_plan_is_recorded_and_reported() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let lie = created(&host, "lie").await;
    assert_eq!(
        (size(&lie.object), lie.broken, lie.violations.len()),
        (Some(999), true, 1)
    );
    assert_eq!(lie.violations[0].path.to_string(), "size");
    let legacy = created(&host, "legacy").await;
    assert!(legacy.is_done());
    assert_eq!(
        (size(&legacy.object), legacy.broken, legacy.tolerated.len()),
        (Some(999), false, 1)
    );
    let null = created(&host, "null").await;
    assert_eq!(
        (null.object.is_absent(), null.broken, null.violations.len()),
        (true, false, 1)
    );
    let code = created(&host, "code").await;
    assert_eq!(code.object.value.get("code"), Some(&Value::Null));
    assert_eq!((code.broken, code.violations.len()), (true, 1));
    let unknown = created(&host, "unknown").await;
    assert_eq!(unknown.object.value.get("id"), Some(&Value::Null));
    assert!(unknown.broken);
    // A delete that leaves the object in place.
    let kept = created(&host, "keep").await.object;
    let planned = host.plan(THING, Some(&kept), &Value::Null).await;
    let applied = host
        .apply(THING, Some(&kept), &planned.object, &Value::Null)
        .await;
    assert!(!applied.is_done() && !applied.object.is_absent());
    host.end().await;
}

#[tokio::test]
async fn failed_change_keeps_the_existing_object() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let partial = created(&host, "partial").await;
    assert!(partial.broken && !partial.is_done());
    assert_eq!(text(&partial.object, "id"), "n");
    assert_eq!(partial.diagnostics[0].path.to_string(), "tag");
    let failed = created(&host, "fail").await;
    assert!(failed.object.is_absent() && !failed.broken && !failed.is_done());
    // An update that fails without a state leaves the object unchanged.
    let made = host.create(THING, &thing("")).await;
    let config = with(&thing("fail"), "size", Value::Int(2));
    let planned = host.plan(THING, Some(&made), &config).await;
    let failed = host
        .apply(THING, Some(&made), &planned.object, &config)
        .await;
    assert_eq!((failed.object, failed.broken), (made, false));
    host.end().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_unknown_outcome() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    for (mode, expected) in [
        ("garbage", "is not in the form of the protocol"),
        ("status", "no answer"),
    ] {
        let config = thing(mode);
        let planned = host.plan(THING, None, &config).await.object;
        let request = ApplyRequest {
            type_name: THING,
            prior: None,
            planned: &planned,
            config: &config,
        };
        let failure = host.client.apply(request).await.unwrap_err();
        assert!(failure.is_outcome_unknown(), "{failure}");
        assert!(failure.to_string().contains(expected), "{failure}");
    }
    let made = created(&host, "read-unknown").await.object;
    let failure = host.client.read(THING, &made).await.unwrap_err();
    assert!(
        failure.to_string().ends_with("`size` is unknown"),
        "{failure}"
    );
    host.end().await;
}

#[tokio::test]
async fn a_crash_during_an_apply_is_an_unknown_outcome() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let config = thing("crash");
    let planned = host.plan(THING, None, &config).await.object;
    let request = ApplyRequest {
        type_name: THING,
        prior: None,
        planned: &planned,
        config: &config,
    };
    let failure = host.client.apply(request).await.unwrap_err();
    assert!(failure.is_outcome_unknown(), "{failure}");
    assert_eq!(
        failure.to_string(),
        "ApplyResourceChange: the plugin gave no answer: it exited with code 2"
    );
    let exit = host.plugin.exited().await;
    assert_eq!(exit.ending, ProcessEnding::Code(2));
    assert!(exit.output.contains("the peer crashes"), "{exit:?}");
    // The object exists, so that a new process can find it.
    assert!(host.folder.path().join("n").exists());
    // The process has ended, so no call is sent.
    let failure = host
        .client
        .validate_resource(THING, &config)
        .await
        .unwrap_err();
    assert!(!failure.is_outcome_unknown(), "{failure}");
}

#[tokio::test]
async fn a_killed_process_ends_its_calls() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let config = thing("hang");
    let planned = host.plan(THING, None, &config).await.object;
    let request = ApplyRequest {
        type_name: THING,
        prior: None,
        planned: &planned,
        config: &config,
    };
    let kill = async {
        appears(&host.folder.path().join("hangs")).await;
        host.plugin.kill().await;
    };
    let (answer, ()) = tokio::join!(host.client.apply(request), kill);
    let failure = answer.unwrap_err();
    assert!(failure.is_outcome_unknown(), "{failure}");
    assert!(
        failure.to_string().ends_with("it was ended by signal 9"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_stopped_call_answers_with_what_it_has_done() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let stop = async {
        appears(&host.folder.path().join("hangs")).await;
        host.client.stop().await.unwrap()
    };
    let (applied, said) = tokio::join!(created(&host, "hang"), stop);
    assert_eq!(said, None);
    assert!(applied.broken && !applied.object.is_absent(), "{applied:?}");
    // The process continues to serve.
    host.create(THING, &thing("")).await;
    host.end().await;
}

#[tokio::test]
async fn a_provider_that_prints_much_is_not_held_up() {
    let Some(program) = program(PEER_NAME) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let plugin = host::start(launch(&program, folder.path())).await;
    let (lines, mut printed) = tokio::sync::mpsc::unbounded_channel();
    let output: terraform_host::Output = Arc::new(move |line| {
        // The test may have ended.
        let _ = lines.send(line.to_owned());
    });
    let client = Client::open(
        &plugin,
        OpenOptions {
            output: Some(output),
            ..OpenOptions::default()
        },
    )
    .await
    .unwrap();
    client
        .configure(&map([(
            "folder",
            Value::text(folder.path().to_string_lossy()),
        )]))
        .await
        .unwrap();
    let config = thing("print");
    let request = PlanRequest {
        type_name: THING,
        prior: None,
        config: &config,
        replacing: ReplacePolicy::IfRequired,
    };
    let planned = client.plan(request).await.unwrap().value.object;
    let request = ApplyRequest {
        type_name: THING,
        prior: None,
        planned: &planned,
        config: &config,
    };
    assert!(client.apply(request).await.unwrap().is_done());
    for at in 0..20_000 {
        assert_eq!(printed.recv().await, Some(format!("printed line {at}")));
    }
    plugin.stop().await;
}

#[tokio::test]
async fn diagnostics_have_a_severity_and_a_path() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let config = |name: &str| with(&thing(""), "name", Value::from(name));
    let failure = host
        .client
        .validate_resource(THING, &config("bad"))
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the provider refused: `nested[0].key`: bad name: The detail."
    );
    let answer = host
        .client
        .validate_resource(THING, &config("odd"))
        .await
        .unwrap();
    assert_eq!(answer.warnings.len(), 1);
    assert!(!answer.warnings[0].is_error());
    let failure = host.client.configure(&Value::Null).await.unwrap_err();
    assert_eq!(failure.diagnostics()[0].path.to_string(), "folder");
    host.end().await;
}

#[tokio::test]
async fn functions_take_further_and_dynamic_arguments() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let join = |parts: &'static [&str]| {
        let arguments: Vec<Value> = parts.iter().map(|part| Value::from(*part)).collect();
        let client = host.client.clone();
        async move { client.call_function("join", &arguments).await.unwrap() }
    };
    assert_eq!(
        join(&["-", "a", "b", "c"]).await,
        Returned::Value(Value::from("a-b-c"))
    );
    assert_eq!(join(&["-"]).await, Returned::Value(Value::from("")));
    let Returned::Failed(failure) = join(&["-", "a", "bad"]).await else {
        panic!()
    };
    assert_eq!(
        (failure.text.as_str(), failure.argument),
        ("a bad part", Some(2))
    );
    let kind = async |argument: Value| {
        host.client
            .call_function("kind", &[argument])
            .await
            .unwrap()
    };
    assert_eq!(
        kind(Value::Int(3)).await,
        Returned::Value(Value::from("tftypes.Number"))
    );
    assert_eq!(
        kind(unknown()).await,
        Returned::Value(Value::from("unknown"))
    );
    assert!(matches!(kind(Value::Null).await, Returned::Value(_)));
    let failure = host.client.call_function("split", &[]).await.unwrap_err();
    assert_eq!(failure.to_string(), "the provider has no function `split`");
    host.end().await;
}

/// The number of times that a process was asked for its schemas.
async fn asked(host: &Host) -> i64 {
    let config = map([("method", Value::from("GetProviderSchema"))]);
    host.client
        .read_data("peer_calls", &config)
        .await
        .unwrap()
        .value
        .get("count")
        .and_then(Value::as_int)
        .unwrap()
}

#[tokio::test]
async fn a_cached_schema_is_asked_for_only_if_the_provider_needs_it() {
    let Some(program) = program(PEER_NAME) else {
        return;
    };
    let digest = ProgramDigest::of_file(&program).unwrap();
    for (schema, expected) in [("optional", 0), ("needed", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(folder.path());
        let cold = Host::peer(schema, Some((&cache, &digest))).await.unwrap();
        assert_eq!(asked(&cold).await, 1, "{schema}");
        let warm = Host::peer(schema, Some((&cache, &digest))).await.unwrap();
        assert_eq!(asked(&warm).await, expected, "{schema}");
        assert_eq!(warm.client.schemas(), cold.client.schemas());
        warm.create(THING, &thing("")).await;
        cold.end().await;
        warm.end().await;
    }
}

#[tokio::test]
async fn a_large_schema_is_read() {
    let Some(host) = Host::peer("large", None).await else {
        return;
    };
    assert_eq!(
        host.client.schemas().provider.resources[THING]
            .block
            .docs
            .len(),
        9 << 20
    );
    host.end().await;
}

#[tokio::test]
async fn a_process_that_runs_already_is_attached() {
    let Some(host) = Host::peer("", None).await else {
        return;
    };
    let plugin = attach("the provider", host.plugin.endpoint().clone());
    let client = Client::open(&plugin, OpenOptions::default()).await.unwrap();
    client.validate_resource(THING, &thing("")).await.unwrap();
    // Unsupported versions of the protocol.
    for (protocol, expected) in [
        (Some(7), "protocol 7"),
        (None, "an unknown version of the protocol"),
    ] {
        let endpoint = Endpoint {
            protocol,
            ..host.plugin.endpoint().clone()
        };
        let Err(failure) =
            Client::open(&attach("the provider", endpoint), OpenOptions::default()).await
        else {
            panic!()
        };
        assert_eq!(
            failure.to_string(),
            format!("the plugin speaks {expected}; supported are versions 5 and 6")
        );
    }
    host.end().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_that_speaks_another_protocol_is_refused() {
    for (line, expected) in [
        (
            "1|4|unix|/tmp/none|grpc|",
            "the provider cannot be used: it uses protocol 4, not 5 or 6",
        ),
        (
            "1|5|unix|/tmp/none|netrpc|",
            "the provider cannot be used: it is called by `netrpc`, not by gRPC",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut launch = launch(Path::new("/bin/sh"), folder.path());
        launch.arguments = vec!["-c".into(), format!("echo '{line}'; exec sleep 600").into()];
        let Err(error) = plugins::start(launch, Arc::new(Handshake), Logs::default()).await else {
            panic!()
        };
        assert!(matches!(error, PluginError::Refused { .. }));
        assert_eq!(error.to_string(), expected);
    }
}
