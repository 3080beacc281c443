//! Tests of the bare protocol: raw requests, status details, and answers that break the protocol.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Asset, Name, Value};
use plugins::Level;
use plugins::grpc::GrpcCode;
use pulumi_host::{AnswerProblem, Autonaming, CallFailure, DiffDecider, PluginSession, ReadResult};
use pulumi_wire::{Phase, PropertyPath};
use serde_json::Value as Json;

use crate::support::{APPLY, PLAN, Peer, SEED, desired, recorded, settings, text};

const KEY: &str = "4dabf18193072939515e22adb298388d";

async fn start(arguments: &[&str]) -> Option<(Peer, PluginSession)> {
    let peer = Peer::start("bare.py", arguments).await?;
    let log = peer.folder.path().join("log");
    let values = Value::map([
        ("log", Value::from(log.to_str().unwrap())),
        ("retries", Value::Int(3).secret()),
    ]);
    let session = peer
        .client
        .configure(&settings("bare", &values))
        .await
        .unwrap();
    Some((peer, session))
}

/// The requests of a method, as the plugin received them.
fn requests(peer: &Peer, method: &str) -> Vec<Json> {
    let log = std::fs::read_to_string(peer.folder.path().join("log")).unwrap();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    lines
        .filter(|line| line["method"] == method)
        .map(|line| line["request"].clone())
        .collect()
}

fn wanted(what: &str) -> Value {
    Value::map([("do", Value::from(what))])
}

#[tokio::test]
async fn capabilities_come_from_the_handshake_or_from_configure() {
    let Some((peer, session)) = start(&[]).await else {
        return;
    };
    assert!(peer.client.supports_handshake());
    let capabilities = session.capabilities();
    assert!(capabilities.preview && capabilities.autonaming);
    assert!(
        capabilities.accepts.secrets
            && capabilities.accepts.resources
            && capabilities.accepts.bytes
    );
    let shaken = &requests(&peer, "Handshake")[0];
    assert_eq!(shaken["engine_address"], peer.engine.address());
    for name in [
        "configure_with_urn",
        "supports_refresh_before_update",
        "invoke_with_preview",
        "accepts_byte_string",
    ] {
        assert_eq!(shaken[name], true, "{name}");
    }
    assert!(shaken.get("supports_views").is_none());
    let configured = &requests(&peer, "Configure")[0];
    assert_eq!(configured["variables"]["bare:config:retries"], "3");
    assert_eq!(configured["args"]["retries"], 3.0, "settings are sent bare");
    assert_eq!(configured["type"], "pulumi:providers:bare");
    for name in [
        "acceptSecrets",
        "acceptResources",
        "sends_old_inputs",
        "sends_old_inputs_to_delete",
    ] {
        assert_eq!(configured[name], true, "{name}");
    }

    let Some((_peer, session)) = start(&["--no-handshake"]).await else {
        return;
    };
    assert_eq!(
        session.capabilities(),
        pulumi_host::PluginCapabilities::default()
    );
}

#[tokio::test]
async fn a_plugin_that_is_not_ready_is_asked_again() {
    let Some((peer, _session)) = start(&["--late"]).await else {
        return;
    };
    assert!(peer.client.supports_handshake());
}

#[tokio::test]
async fn missing_settings_are_named() {
    let Some(peer) = Peer::start("bare.py", &[]).await else {
        return;
    };
    let none = Value::map::<Name>([]);
    // The plugin has no CheckConfig and no DiffConfig.
    let with = settings("bare", &none);
    let checked = peer
        .client
        .check_config(&with, &Value::Null, Phase::Planning)
        .await
        .unwrap();
    assert_eq!((checked.inputs, checked.failures.len()), (none.clone(), 0));
    let changed = Value::map([("a", Value::Int(1))]);
    assert!(
        !peer
            .client
            .diff_config(&with, &changed, Phase::Planning)
            .await
            .unwrap()
            .changed
    );
    assert_eq!(peer.client.schema().await.unwrap(), None);
    let failure = peer.client.configure(&with).await.err().unwrap();
    let CallFailure::Refused { code, missing, .. } = failure else {
        panic!("{failure}")
    };
    assert_eq!(
        (code, missing[0].name.as_str()),
        (GrpcCode::InvalidArgument, "bare:log")
    );
    assert_eq!(missing[0].description, "where requests are recorded");
}

#[tokio::test]
async fn an_unhealthy_resource_exists_and_can_be_repaired() {
    let Some((_peer, session)) = start(&[]).await else {
        return;
    };
    let sick = wanted("sick");
    let made = session.create(&APPLY, &desired(&sick)).await.unwrap();
    assert_eq!(made.id.as_deref(), Some("bare-1"));
    assert_eq!(made.problems, ["it does not answer", "it smokes"]);
    assert_eq!(
        (made.outputs.clone(), made.inputs.clone()),
        (sick.clone(), Some(sick.clone()))
    );
    let before = recorded("bare-1", &sick, &made.outputs);
    let ReadResult::Present { problems, .. } = session.read(&APPLY, &before, None).await.unwrap()
    else {
        panic!("it exists")
    };
    assert_eq!(problems.len(), 2);
    let still = session
        .update(&APPLY, &before, &desired(&sick))
        .await
        .unwrap();
    assert_eq!(still.problems.len(), 2);
    let repaired = session
        .update(&APPLY, &before, &desired(&wanted("nothing")))
        .await
        .unwrap();
    assert_eq!(
        (repaired.problems.len(), text(&repaired.outputs, "do")),
        (0, "\"nothing\"".into())
    );
}

#[tokio::test]
async fn codes_decide_whether_the_outcome_is_known() {
    let Some((_peer, session)) = start(&[]).await else {
        return;
    };
    for (code, unknown) in [
        ("INTERNAL", true),
        ("DATA_LOSS", true),
        ("UNKNOWN", true),
        ("INVALID_ARGUMENT", false),
        ("PERMISSION_DENIED", false),
        ("UNAVAILABLE", true),
        ("RESOURCE_EXHAUSTED", true),
        ("DEADLINE_EXCEEDED", true),
        ("CANCELLED", true),
        ("ABORTED", true),
        ("UNIMPLEMENTED", false),
    ] {
        let failure = session
            .create(&APPLY, &desired(&wanted(&format!("code:{code}"))))
            .await
            .unwrap_err();
        assert_eq!(failure.outcome_is_unknown(), unknown, "{code}");
        assert!(!failure.is_crash());
        if code != "UNIMPLEMENTED" {
            assert_eq!(failure.to_string(), "as you wish");
        }
    }
    let failure = session
        .create(&APPLY, &desired(&wanted("await")))
        .await
        .unwrap_err();
    assert!(
        !failure.outcome_is_unknown(),
        "the plugin says that nothing happened"
    );
    let failure = session
        .create(&APPLY, &desired(&wanted("input:a.b[0]")))
        .await
        .unwrap_err();
    let CallFailure::Refused { properties, .. } = failure else {
        panic!("{failure}")
    };
    assert_eq!(properties[0].path, PropertyPath::parse("a.b[0]").unwrap());
    assert_eq!(properties[0].reason, "it is wrong");
}

#[tokio::test]
async fn answers_that_break_the_protocol_are_refused() {
    let Some((_peer, session)) = start(&[]).await else {
        return;
    };
    let failure = async |what: &str| {
        session
            .create(&APPLY, &desired(&wanted(what)))
            .await
            .unwrap_err()
    };
    assert_eq!(
        failure("no-id").await,
        CallFailure::Answer {
            problem: AnswerProblem::NoId,
            id: None
        }
    );
    for what in ["unknown", "nan"] {
        let failure = failure(what).await;
        assert!(failure.outcome_is_unknown());
        let CallFailure::Answer {
            problem: AnswerProblem::Value(error),
            id,
        } = failure
        else {
            panic!("{failure}")
        };
        assert_eq!(
            (error.path.to_string().as_str(), id.as_deref()),
            ("x", Some("bare-1"))
        );
    }
    let deep = failure("deep").await;
    assert!(matches!(deep, CallFailure::Lost { .. }), "{deep}");
    // In a preview, a value may be unknown and the id may be missing.
    assert!(
        session
            .create(&PLAN, &desired(&wanted("unknown")))
            .await
            .unwrap()
            .outputs
            .has_unknown()
    );
    assert_eq!(
        session
            .create(&PLAN, &desired(&wanted("no-id")))
            .await
            .unwrap()
            .id,
        None
    );
}

#[tokio::test]
async fn a_secret_answer_is_understood_by_all() {
    for arguments in [&["--no-secrets"][..], &[]] {
        let Some((_peer, session)) = start(arguments).await else {
            return;
        };
        let made = session
            .create(&APPLY, &desired(&wanted("secret")))
            .await
            .unwrap();
        assert_eq!(text(&made.outputs, "x"), "(secret)");
        assert!(made.refresh_before_update);
    }
}

#[tokio::test]
async fn each_call_encodes_values_by_its_rules() {
    let Some((peer, session)) = start(&[]).await else {
        return;
    };
    let code = Value::Asset(Arc::new(Asset::Text("x".into())));
    let unknown = Value::unknown(None, None);
    let inputs = Value::map([
        ("code", code),
        ("secret", Value::from("s").secret()),
        ("bytes", Value::Bytes(vec![0xff].into())),
        ("unknown", unknown),
        ("null", Value::Null),
    ]);
    let autonaming = Some(Autonaming::Propose("lamp-7"));
    let checked = session
        .check(&PLAN, &Value::Null, &inputs, &SEED, autonaming)
        .await
        .unwrap();
    assert_eq!(checked.inputs, inputs);
    let request = &requests(&peer, "Check")[0];
    assert_eq!(
        request["olds"],
        serde_json::json!({}),
        "old inputs are never absent"
    );
    assert_eq!(request["news"]["code"]["text"], "x");
    assert_eq!(request["news"]["secret"]["value"], "s");
    assert_eq!(request["news"]["bytes"]["value"], "/w==");
    assert_eq!(request["news"]["unknown"], pulumi_wire::UNKNOWN_TEXT);
    assert_eq!(request["autonaming"]["proposed_name"], "lamp-7");
    assert_eq!(
        (request["name"].as_str(), request["type"].as_str()),
        (Some("lamp"), Some("shop:index:Item"))
    );
    assert_eq!(request["urn"], PLAN.urn);
    assert_eq!(request["randomSeed"].as_str().map(str::len), Some(44));

    let before = recorded("bare-1", &inputs, &inputs);
    let ignored = [PropertyPath::parse("a[*].b").unwrap()];
    let with = pulumi_host::Desired {
        inputs: &inputs,
        ignored: &ignored,
        timeout: Some(Duration::from_millis(1500)),
    };
    let diff = session.diff(&PLAN, &before, &with).await.unwrap();
    assert_eq!(
        (diff.decided, diff.changed),
        (DiffDecider::Inputs, true),
        "an unknown value may differ"
    );
    let request = &requests(&peer, "Diff")[0];
    for side in ["olds", "news", "old_inputs"] {
        assert!(
            request[side]["code"].get("text").is_none()
                && request[side]["code"].get("hash").is_some(),
            "{side}"
        );
    }
    assert_eq!(request["ignoreChanges"][0], "a[*].b");

    session.update(&PLAN, &before, &with).await.unwrap();
    session.update(&APPLY, &before, &with).await.unwrap();
    let [preview, real] = &requests(&peer, "Update")[..] else {
        panic!("two updates")
    };
    assert_eq!(
        (preview["preview"].as_bool(), real.get("preview")),
        (Some(true), None)
    );
    assert!(preview["news"].get("unknown").is_some() && real["news"].get("unknown").is_none());
    assert!(
        preview["olds"].get("unknown").is_none(),
        "what is recorded is known"
    );
    assert_eq!(
        (
            real["news"]["code"]["text"].as_str(),
            real["olds"]["code"].get("text")
        ),
        (Some("x"), None)
    );
    assert_eq!(real["timeout"], 1.5);

    session
        .read(
            &APPLY,
            &recorded("bare-1", &Value::Null, &Value::Null),
            None,
        )
        .await
        .unwrap();
    let request = &requests(&peer, "Read")[0];
    assert!(request.get("properties").is_none() && request.get("inputs").is_none());
    // An asset that returns as a digest gets its content back.
    let ReadResult::Present { outputs, .. } = session.read(&APPLY, &before, None).await.unwrap()
    else {
        panic!("it exists")
    };
    assert_eq!(outputs.get("code"), inputs.get("code"));
    session.delete(&APPLY, &before, None).await.unwrap();
    let request = &requests(&peer, "Delete")[0];
    assert!(
        request["old_inputs"]["code"].get("text").is_none()
            && request["properties"]["secret"].get(KEY).is_some()
    );
}

#[tokio::test]
async fn a_plugin_reaches_the_engine() {
    let Some((peer, session)) = start(&[]).await else {
        return;
    };
    session
        .create(&APPLY, &desired(&wanted("nothing")))
        .await
        .unwrap();
    let logged = peer.logged.lock().unwrap().clone();
    assert_eq!(logged[0].line.text, "creating below urn:root");
    assert_eq!(
        (logged[0].line.level, logged[0].urn.as_str()),
        (Level::Warn, APPLY.urn)
    );
    assert_eq!(
        (logged[1].line.text.as_str(), logged[1].line.level),
        ("UNIMPLEMENTED", Level::Debug)
    );
}

#[tokio::test]
async fn noise_progress_codes_and_carriage_returns_do_not_hide_the_port() {
    let Some((peer, _session)) = start(&["--noise", "--crlf"]).await else {
        return;
    };
    assert_eq!(
        peer.client.version().await.unwrap().as_deref(),
        Some("1.2.3")
    );
}

#[tokio::test]
async fn a_stop_cancels_calls_before_it_signals() {
    let Some((peer, _session)) = start(&[]).await else {
        return;
    };
    peer.client.cancel().await.unwrap();
    peer.plugin.stop().await;
    assert_eq!(requests(&peer, "Cancel").len(), 2);
    assert!(peer.plugin.exit().unwrap().requested);
}

#[tokio::test]
async fn a_running_provider_is_attached_to_and_left_running() {
    let Some(peer) = Peer::start("bare.py", &[]).await else {
        return;
    };
    let plugins::ListenAddress::Tcp(address) = peer.plugin.endpoint().address else {
        panic!("a port")
    };
    let variable = format!("other:1,bare:{}", address.port());
    let endpoint = pulumi_host::attached("bare", &variable).unwrap().unwrap();
    let plugin = plugins::attach("pulumi provider `bare`", endpoint);
    let connecting = pulumi_host::ConnectOptions {
        engine_address: peer.engine.address(),
        program_folder: None,
    };
    let client = pulumi_host::Client::connect(&plugin, &connecting)
        .await
        .unwrap();
    assert_eq!(client.version().await.unwrap().as_deref(), Some("1.2.3"));
    plugin.stop().await;
    assert_eq!(
        peer.client.version().await.unwrap().as_deref(),
        Some("1.2.3"),
        "it still runs"
    );
}

#[tokio::test]
async fn unencodable_value_makes_no_call() {
    let Some((peer, session)) = start(&[]).await else {
        return;
    };
    let inputs = Value::map([("size", Value::Int(i64::MAX))]);
    let failure = session
        .check(&PLAN, &Value::Null, &inputs, &SEED, None)
        .await
        .unwrap_err();
    let CallFailure::Request(error) = &failure else {
        panic!("{failure}")
    };
    assert_eq!(error.path, PropertyPath::property("size"));
    assert!(requests(&peer, "Check").is_empty());
}
