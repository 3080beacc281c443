//! The life cycle of a resource of a provider that uses the official framework.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{IndexMap, Name, Type, Value};
use pulumi_host::{CallFailure, ChangeKind, Created, DiffDecider, ReadResult};
use pulumi_wire::schema::{PackageSchema, PackageTypes};
use pulumi_wire::{NoLookups, Phase, PropertyPath};

use crate::support::{APPLY, PLAN, Peer, SEED, desired, recorded, settings, text};

fn inputs(entries: &[(&str, Value)]) -> Value {
    let all: IndexMap<Name, Value> = entries
        .iter()
        .map(|(name, value)| (Name::from(*name), value.clone()))
        .collect();
    Value::map(all)
}

/// Checks and creates an item.
async fn create(
    session: &pulumi_host::PluginSession,
    entries: &[(&str, Value)],
) -> (Value, Created) {
    let checked = session
        .check(&APPLY, &Value::Null, &inputs(entries), &SEED, None)
        .await
        .unwrap();
    assert_eq!(checked.failures, []);
    let made = session
        .create(&APPLY, &desired(&checked.inputs))
        .await
        .unwrap();
    (checked.inputs, made)
}

fn id(made: &Created) -> &str {
    made.id.as_deref().unwrap()
}

#[tokio::test]
async fn a_schema_becomes_types() {
    let Some(peer) = Peer::start("shop.py", &[]).await else {
        return;
    };
    assert!(
        !peer.client.supports_handshake(),
        "the framework does not know Handshake"
    );
    assert_eq!(
        peer.client.version().await.unwrap().as_deref(),
        Some("0.1.0")
    );
    let schema = peer.client.schema().await.unwrap().unwrap();
    let types = PackageTypes::new(Arc::new(PackageSchema::parse(schema).unwrap()), "shop");
    let item = types.resource_facts("shop/Item").unwrap();
    assert_eq!(
        (item.token.as_ref(), &item.secret_inputs[..]),
        ("shop:index:Item", &["password".into()][..])
    );
    assert!(item.outputs.contains_key("serial"));
    assert_eq!(types.settings().len(), 3);
}

#[tokio::test]
async fn settings_are_checked_compared_and_set() {
    let Some(peer) = Peer::start("shop.py", &[]).await else {
        return;
    };
    let none = Value::map::<Name>([]);
    let checked = peer
        .client
        .check_config(&settings("shop", &none), &Value::Null, Phase::Planning)
        .await
        .unwrap();
    assert_eq!(checked.failures[0].path, PropertyPath::property("folder"));
    assert_eq!(checked.failures[0].reason, "the folder is missing");
    let folder = peer.folder.path().to_str().unwrap();
    let values = inputs(&[
        ("folder", Value::from(folder)),
        ("token", Value::from("t0k3n").secret()),
    ]);
    let with = settings("shop", &values);
    let checked = peer
        .client
        .check_config(&with, &Value::Null, Phase::Planning)
        .await
        .unwrap();
    assert_eq!(
        (checked.failures.len(), checked.inputs),
        (0, values.clone()),
        "the secret mark is put back"
    );
    // The framework cannot compare the settings, so the engine compares them.
    let same = peer
        .client
        .diff_config(&with, &values, Phase::Planning)
        .await
        .unwrap();
    assert_eq!((same.changed, same.decided), (false, DiffDecider::Inputs));
    let old = inputs(&[("folder", Value::from("/elsewhere"))]);
    let other = peer
        .client
        .diff_config(&with, &old, Phase::Planning)
        .await
        .unwrap();
    assert!(other.changed && other.replaces.is_empty() && other.changes.len() == 2);
    let session = peer.client.configure(&with).await.unwrap();
    let capabilities = session.capabilities();
    assert!(capabilities.preview && capabilities.accepts.secrets && capabilities.accepts.outputs);
    assert!(!capabilities.accepts.bytes && session.is_configured());
}

#[tokio::test]
async fn unknown_settings_are_not_sent() {
    let Some(peer) = Peer::start("shop.py", &[]).await else {
        return;
    };
    let values = inputs(&[("folder", Value::unknown(Some(Type::Text), None))]);
    let session = peer
        .client
        .configure(&settings("shop", &values))
        .await
        .unwrap();
    assert!(!session.is_configured());
    let news = inputs(&[("label", Value::from("a"))]);
    let checked = session
        .check(&PLAN, &Value::Null, &news, &SEED, None)
        .await
        .unwrap();
    assert_eq!(checked.inputs, news);
    let planned = session.create(&PLAN, &desired(&news)).await.unwrap();
    assert_eq!(
        (planned.id, planned.outputs),
        (None, Value::map::<Name>([]))
    );
    let before = recorded("i", &news, &news);
    let diff = session.diff(&PLAN, &before, &desired(&news)).await.unwrap();
    assert_eq!((diff.changed, diff.decided), (true, DiffDecider::Nothing));
    assert_eq!(
        session.read(&PLAN, &before, None).await.unwrap(),
        ReadResult::Unknown
    );
    let invoked = session
        .invoke("shop:index:getItem", &news, Phase::Planning, &NoLookups)
        .await
        .unwrap();
    assert!(invoked.result.is_unknown());
    let refused = session.create(&APPLY, &desired(&news)).await.unwrap_err();
    assert!(matches!(refused, CallFailure::NotAsked { .. }) && !refused.outcome_is_unknown());
    assert_eq!(peer.items().len(), 0);
}

#[tokio::test]
async fn resource_lifecycle_from_check_to_update() {
    let Some((peer, session)) = Peer::shop().await else {
        return;
    };
    // Plan of a create with an unknown input.
    let news = inputs(&[
        ("label", Value::unknown(Some(Type::Text), None)),
        ("size", Value::Int(3)),
    ]);
    let checked = session
        .check(&PLAN, &Value::Null, &news, &SEED, None)
        .await
        .unwrap();
    assert_eq!(
        (text(&checked.inputs, "name"), text(&checked.inputs, "size")),
        ("\"lamp-abababa\"".into(), "3".into())
    );
    assert!(checked.inputs.get("label").unwrap().is_unknown());
    let planned = session
        .create(&PLAN, &desired(&checked.inputs))
        .await
        .unwrap();
    assert_eq!(planned.id, None);
    for (name, known) in [
        ("serial", "(known on deploy)"),
        ("digest", "(known on deploy)"),
        ("revision", "0"),
    ] {
        assert_eq!(text(&planned.outputs, name), known, "{name}");
    }
    assert_eq!(peer.items().len(), 0, "a preview creates nothing");

    // Create, with the same seed and everything known.
    let (inputs_1, made) = create(
        &session,
        &[("label", Value::from("red")), ("size", Value::Int(3))],
    )
    .await;
    assert_eq!(text(&inputs_1, "name"), "\"lamp-abababa\"");
    assert_eq!(
        (text(&made.outputs, "serial"), text(&made.outputs, "key")),
        ("1".into(), "(secret)".into())
    );
    assert_eq!(peer.items().len(), 1);

    // No change.
    let before = recorded(id(&made), &inputs_1, &made.outputs);
    let news = inputs(&[("label", Value::from("red")), ("size", Value::Int(3))]);
    let checked = session
        .check(&PLAN, &inputs_1, &news, &[7; 32], None)
        .await
        .unwrap();
    assert_eq!(
        checked.inputs, inputs_1,
        "the name stays although the seed differs"
    );
    let diff = session
        .diff(&PLAN, &before, &desired(&checked.inputs))
        .await
        .unwrap();
    assert_eq!((diff.changed, diff.decided), (false, DiffDecider::Plugin));

    // Update.
    let news = inputs(&[("label", Value::from("blue")), ("size", Value::Int(3))]);
    let checked = session
        .check(&PLAN, &inputs_1, &news, &SEED, None)
        .await
        .unwrap();
    let diff = session
        .diff(&PLAN, &before, &desired(&checked.inputs))
        .await
        .unwrap();
    assert!(diff.changed && diff.replaces.is_empty());
    assert_eq!(
        (
            diff.changes[0].path.to_string().as_str(),
            diff.changes[0].kind
        ),
        ("label", ChangeKind::Update)
    );
    let planned = session
        .update(&PLAN, &before, &desired(&checked.inputs))
        .await
        .unwrap();
    assert_eq!(
        (
            text(&planned.outputs, "serial"),
            text(&planned.outputs, "revision")
        ),
        ("1".into(), "(known on deploy)".into())
    );
    assert_eq!(peer.items()[0]["revision"], 0);
    let updated = session
        .update(&APPLY, &before, &desired(&checked.inputs))
        .await
        .unwrap();
    assert_eq!(text(&updated.outputs, "revision"), "1");
    assert_eq!(peer.items()[0]["inputs"]["label"], "blue");
}

#[tokio::test]
async fn resource_lifecycle_from_replacement_to_delete() {
    let Some((peer, session)) = Peer::shop().await else {
        return;
    };
    let (made_from, made) = create(
        &session,
        &[("label", Value::from("blue")), ("size", Value::Int(3))],
    )
    .await;
    let before = recorded(id(&made), &made_from, &made.outputs);

    // An ignored change is not a change.
    let news = inputs(&[("label", Value::from("green")), ("size", Value::Int(3))]);
    let ignored = [PropertyPath::property("label")];
    let with = pulumi_host::Desired {
        inputs: &news,
        ignored: &ignored,
        timeout: Some(Duration::from_secs(60)),
    };
    let news = session
        .check(&PLAN, &made_from, with.inputs, &SEED, None)
        .await
        .unwrap()
        .inputs;
    let diff = session
        .diff(
            &PLAN,
            &before,
            &pulumi_host::Desired {
                inputs: &news,
                ..with
            },
        )
        .await
        .unwrap();
    assert!(!diff.changed);

    // Replacements of both orders.
    for (name, delete_first) in [("shape", false), ("slot", true)] {
        let news = inputs(&[
            ("label", Value::from("blue")),
            ("size", Value::Int(3)),
            (name, Value::from("x")),
        ]);
        let news = session
            .check(&PLAN, &made_from, &news, &SEED, None)
            .await
            .unwrap()
            .inputs;
        let diff = session.diff(&PLAN, &before, &desired(&news)).await.unwrap();
        assert_eq!(diff.replaces, [PropertyPath::property(name)]);
        assert_eq!(diff.delete_before_replace, delete_first);
    }

    // Read after drift.
    peer.change(id(&made), |item| item["inputs"]["label"] = "black".into());
    let ReadResult::Present {
        outputs,
        inputs: read,
        ..
    } = session.read(&APPLY, &before, None).await.unwrap()
    else {
        panic!("it exists")
    };
    assert_eq!(
        (text(&outputs, "label"), text(&read.unwrap(), "label")),
        ("\"black\"".into(), "\"black\"".into())
    );

    // Import by its id alone.
    let imported = session
        .read(
            &APPLY,
            &recorded(id(&made), &Value::Null, &Value::Null),
            None,
        )
        .await
        .unwrap();
    let ReadResult::Present {
        id: found,
        inputs: Some(read),
        ..
    } = imported
    else {
        panic!("it exists")
    };
    assert_eq!(
        (found.as_ref(), text(&read, "size")),
        (id(&made), "3".into())
    );

    // Delete, twice.
    session.delete(&APPLY, &before, None).await.unwrap();
    session.delete(&APPLY, &before, None).await.unwrap();
    assert_eq!(peer.items().len(), 0);
    assert_eq!(
        session.read(&APPLY, &before, None).await.unwrap(),
        ReadResult::Absent
    );
}

#[tokio::test]
async fn create_first_fails_for_a_delete_first_replacement() {
    let Some((peer, session)) = Peer::shop().await else {
        return;
    };
    let (old, made) = create(&session, &[("slot", Value::from("a"))]).await;
    let again = session.create(&APPLY, &desired(&old)).await.unwrap_err();
    assert!(again.to_string().contains("slot a is taken"), "{again}");
    session
        .delete(&APPLY, &recorded(id(&made), &old, &made.outputs), None)
        .await
        .unwrap();
    session.create(&APPLY, &desired(&old)).await.unwrap();
    assert_eq!(peer.items().len(), 1);
}

#[tokio::test]
async fn secrets_keep_their_mark_whether_the_plugin_takes_them_or_not() {
    let Some(peer) = Peer::start("shop.py", &[]).await else {
        return;
    };
    for plain in [false, true] {
        let session = peer.configure_shop(plain).await;
        assert_eq!(
            (
                session.capabilities().accepts.secrets,
                session.capabilities().preview
            ),
            (!plain, !plain)
        );
        let secret = Value::from("hunter2").secret();
        let (checked, made) = create(
            &session,
            &[
                ("password", secret.clone()),
                ("tags", inputs(&[("a", secret.clone())])),
            ],
        )
        .await;
        let nested = |value: &Value| value.get("tags").and_then(|tags| tags.get("a")).cloned();
        for value in [&checked, &made.outputs] {
            assert_eq!(value.get("password"), Some(&secret), "plain: {plain}");
            assert_eq!(nested(value), Some(secret.clone()), "plain: {plain}");
        }
        assert!(!format!("{checked:?} {made:?}").contains("hunter2"));
        let before = recorded(id(&made), &checked, &made.outputs);
        let ReadResult::Present { outputs, .. } =
            session.read(&APPLY, &before, None).await.unwrap()
        else {
            panic!("it exists")
        };
        assert_eq!(outputs.get("password"), Some(&secret), "plain: {plain}");
        // Without previews, the inputs are the only known outputs.
        let planned = session.create(&PLAN, &desired(&checked)).await.unwrap();
        assert_eq!(planned.outputs.get("serial").is_some(), !plain);
        assert_eq!(planned.outputs.get("password"), Some(&secret));
    }
}

#[tokio::test]
async fn refused_properties_have_structured_places() {
    let Some((_peer, session)) = Peer::shop().await else {
        return;
    };
    let news = inputs(&[
        ("size", Value::Int(-1)),
        (
            "tags",
            inputs(&[("a b", Value::from("")), ("c", Value::from("d"))]),
        ),
    ]);
    let checked = session
        .check(&PLAN, &Value::Null, &news, &SEED, None)
        .await
        .unwrap();
    let failures: Vec<(String, &str)> = checked
        .failures
        .iter()
        .map(|failure| (failure.path.to_string(), failure.reason.as_str()))
        .collect();
    let tags = ("tags[\"a b\"]".to_owned(), "a tag must not be empty");
    assert_eq!(
        failures,
        [("size".to_owned(), "the size must not be negative"), tags]
    );
    let closed = inputs(&[("fail", Value::from("check"))]);
    let checked = session
        .check(&PLAN, &Value::Null, &closed, &SEED, None)
        .await
        .unwrap();
    assert!(checked.failures[0].path.0.is_empty());
}

#[tokio::test]
async fn an_exception_leaves_the_outcome_open() {
    let Some((peer, session)) = Peer::shop().await else {
        return;
    };
    let news = inputs(&[
        ("name", Value::from("n")),
        ("size", Value::Int(1)),
        ("fail", Value::from("create")),
    ]);
    let failure = session.create(&APPLY, &desired(&news)).await.unwrap_err();
    assert!(matches!(failure, CallFailure::Failed { .. }) && failure.outcome_is_unknown());
    assert!(
        failure.to_string().contains("the create fails"),
        "{failure}"
    );
    assert_eq!(peer.items().len(), 0);
    // The plugin remains usable.
    create(&session, &[]).await;
}

#[tokio::test]
async fn functions_answer_refuse_and_keep_secrets() {
    let Some((_peer, session)) = Peer::shop().await else {
        return;
    };
    let (_, made) = create(
        &session,
        &[("name", Value::from("n")), ("label", Value::from("red"))],
    )
    .await;
    let invoke = async |name: Value, phase| {
        session
            .invoke(
                "shop:index:getItem",
                &inputs(&[("name", name)]),
                phase,
                &NoLookups,
            )
            .await
            .unwrap()
    };
    let found = invoke(Value::from("n"), Phase::Planning).await;
    assert_eq!(
        (text(&found.result, "id"), text(&found.result, "size")),
        (format!("\"{}\"", id(&made)), "1".into())
    );
    let secret = invoke(Value::from("n").secret(), Phase::Applying).await;
    assert_eq!(
        secret.result.to_string(),
        r#"{"id": (secret), "label": (secret), "size": (secret)}"#
    );
    let missing = invoke(Value::from("other"), Phase::Planning).await;
    assert_eq!(missing.failures[0].path, PropertyPath::property("name"));
    let unknown = invoke(Value::unknown(None, None), Phase::Planning).await;
    assert!(unknown.result.is_unknown());
    let none = session
        .invoke("shop:index:none", &inputs(&[]), Phase::Planning, &NoLookups)
        .await
        .unwrap_err();
    assert!(none.to_string().contains("there is no function"));
}

#[tokio::test]
async fn a_plugin_that_ends_in_a_call_leaves_the_outcome_open() {
    let Some((mut peer, session)) = Peer::shop().await else {
        return;
    };
    for (fail, exist) in [("exit-create", 0), ("exit-after-create", 1)] {
        let session = if exist == 0 {
            session.clone()
        } else {
            peer.configure_shop(false).await
        };
        let news = inputs(&[
            ("name", Value::from("n")),
            ("size", Value::Int(1)),
            ("fail", Value::from(fail)),
        ]);
        let failure = session.create(&APPLY, &desired(&news)).await.unwrap_err();
        assert!(
            failure.outcome_is_unknown() && failure.is_crash(),
            "{failure}"
        );
        let exit = failure.exit().unwrap();
        assert_eq!(
            (exit.ending.to_string().as_str(), exit.requested),
            ("exited with code 3", false)
        );
        assert!(
            exit.output.contains("the process ends in create"),
            "{}",
            exit.output
        );
        assert_eq!(peer.items().len(), exist);
        let after = session.create(&APPLY, &desired(&news)).await.unwrap_err();
        assert!(!after.outcome_is_unknown() && after.is_crash(), "{after}");
        peer.restart().await;
    }
    let session = peer.configure_shop(false).await;
    create(&session, &[]).await;
    assert_eq!(peer.items().len(), 2);
}

#[tokio::test]
async fn a_plugin_that_is_killed_in_a_call_can_be_asked_again_after_a_restart() {
    let Some((mut peer, session)) = Peer::shop().await else {
        return;
    };
    let news = inputs(&[
        ("name", Value::from("n")),
        ("size", Value::Int(1)),
        ("waitAfter", Value::Int(600)),
    ]);
    let making = tokio::spawn(async move { session.create(&APPLY, &desired(&news)).await });
    // The item exists, but the answer is not sent yet.
    while peer.items().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    peer.plugin.kill().await;
    let failure = making.await.unwrap().unwrap_err();
    assert!(matches!(failure, CallFailure::Lost { .. }), "{failure}");
    let found = peer.items()[0]["id"].as_str().unwrap().to_owned();
    peer.restart().await;
    let session = peer.configure_shop(false).await;
    let read = session
        .read(&APPLY, &recorded(&found, &Value::Null, &Value::Null), None)
        .await
        .unwrap();
    assert!(matches!(read, ReadResult::Present { .. }));
}
