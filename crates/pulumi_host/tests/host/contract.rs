//! Plugins through the contract of providers: the life cycle of a resource, settings, the schema
//! cache.

use std::time::Duration;

use blueprint::{Type, Value};
use provider::{
    Arguments, ErrorKind, FetchRequest, InvokeRequest, Operation, PlanMode, PlanPhase, Plans,
    ReadOutcome, Ready, SettingsChange, Verdict,
};

use crate::contract_support::{Package, Record, Things, recorded, spec};
use crate::support::text;

fn lamp(label: &str) -> Value {
    spec(&[("label", Value::from(label)), ("size", Value::Int(3))])
}

#[tokio::test]
async fn a_schema_becomes_a_catalogue() {
    let Some(package) = Package::of("shop", &[]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let catalog = provider.catalog();
    let hosted = catalog.hosted.as_ref().unwrap();
    assert_eq!(
        (hosted.family.as_ref(), hosted.version.as_deref()),
        (pulumi_host::FAMILY, Some("0.1.0"))
    );
    let ty = catalog.resource_type("shop/index:Item").unwrap();
    let says = ty.capabilities;
    assert_eq!(
        (says.plans, says.exact, says.checks, says.finds),
        (Plans::Always, false, false, false)
    );
    assert!(says.reads && says.imports && ty.field("id").unwrap().computed);
    assert_eq!(
        catalog
            .settings
            .iter()
            .map(|it| &*it.name)
            .collect::<Vec<_>>(),
        ["folder", "token", "plain"]
    );
    assert!(
        catalog.functions.is_empty() && catalog.data_source_type("shop/index:getItem").is_some()
    );
}

#[tokio::test]
async fn resource_lifecycle_from_plan_to_update() {
    let Some((package, things)) = Package::shop().await else {
        return;
    };
    // A create with an unknown input.
    let desired = spec(&[
        ("label", Value::unknown(Some(Type::Text), None)),
        ("size", Value::Int(3)),
    ]);
    let planned = things
        .plan(
            PlanMode::Create,
            PlanPhase::Preview,
            &Record::default(),
            &desired,
        )
        .await
        .unwrap();
    let (inputs, outputs) = (planned.inputs.unwrap(), planned.outputs.unwrap());
    assert_eq!(planned.verdict, Verdict::Update);
    let name = text(&inputs, "name");
    assert!(
        name.starts_with("\"lamp-") && inputs.get("label").unwrap().is_unknown(),
        "{inputs}"
    );
    for (field, known) in [
        ("id", None),
        ("serial", None),
        ("digest", None),
        ("slot", None),
        ("revision", Some("0")),
    ] {
        assert_eq!(
            text(&outputs, field),
            known.unwrap_or("(known on deploy)"),
            "{field}"
        );
    }
    assert_eq!(package.contents().len(), 0, "a plan creates nothing");

    // With all inputs known, the same seed gives the same name.
    let made = things.create(&lamp("red")).await;
    assert_eq!(
        (text(&made.inputs, "name"), text(&made.fields, "serial")),
        (name.clone(), "1".into())
    );
    assert_eq!(
        made.fields.get("id").and_then(Value::as_text),
        Some(&*made.id)
    );
    assert!(made.private.is_null());

    // Secret marks and numbers of another kind are not changes.
    for same in [
        lamp("red"),
        spec(&[
            ("label", Value::from("red").secret()),
            ("size", Value::Float(3.0)),
        ]),
    ] {
        let planned = things.update(&made, &same).await;
        assert_eq!((planned.verdict, planned.outputs), (Verdict::Same, None));
    }

    // Update.
    let planned = things.update(&made, &lamp("blue")).await;
    let outputs = planned.outputs.unwrap();
    assert_eq!(planned.verdict, Verdict::Update);
    assert_eq!(
        (text(&outputs, "label"), text(&outputs, "serial")),
        ("\"blue\"".into(), "1".into())
    );
    assert_eq!(
        (text(&outputs, "revision"), outputs.get("id")),
        ("(known on deploy)".into(), made.fields.get("id"))
    );
    assert_eq!(
        package.contents()[0]["revision"],
        0,
        "a plan updates nothing"
    );
    let inputs = planned.inputs.unwrap();
    let applied = things
        .apply(Operation::Update, &made, &inputs)
        .await
        .unwrap();
    assert_eq!(
        (&applied.id, text(&applied.fields, "revision")),
        (&made.id, "1".into())
    );
    things.delete(&recorded(applied, inputs)).await.unwrap();
    assert_eq!(package.contents().len(), 0);
}

#[tokio::test]
async fn resource_lifecycle_from_replacement_to_delete() {
    let Some((package, things)) = Package::shop().await else {
        return;
    };
    let made = things.create(&lamp("blue")).await;

    // An ignored change is not a change.
    let ignoring = Things {
        ignored: vec!["tags[\"a b\"]".into(), "label".into()],
        ..things_of(&things)
    };
    assert_eq!(
        ignoring.update(&made, &lamp("green")).await.verdict,
        Verdict::Same
    );

    // Replacements of both orders.
    for (field, delete_first) in [("shape", None), ("slot", Some(true))] {
        let desired = spec(&[
            ("label", "blue".into()),
            ("size", Value::Int(3)),
            (field, "x".into()),
        ]);
        let planned = things.update(&made, &desired).await;
        assert_eq!(
            (planned.verdict, planned.outputs),
            (Verdict::Replace { delete_first }, None)
        );
        assert_eq!(
            planned
                .replaces
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            [field]
        );
        let new = things
            .plan(PlanMode::Replace, PlanPhase::Preview, &made, &desired)
            .await
            .unwrap();
        assert!(new.outputs.unwrap().get("id").unwrap().is_unknown());
        let now = things
            .plan(PlanMode::Update, PlanPhase::Apply, &made, &desired)
            .await
            .unwrap();
        assert_eq!(now.verdict, Verdict::Replace { delete_first });
    }

    // Drift is read, and the plan reverts it.
    package.drift(&made.id, "label", "black");
    let ReadOutcome::Present(seen) = things.read(&made).await.unwrap() else {
        panic!("it exists")
    };
    assert_eq!(
        (text(&seen.fields, "label"), &seen.id),
        ("\"black\"".into(), &made.id)
    );
    let drifted = Record {
        fields: seen.fields,
        private: seen.private,
        ..made.clone()
    };
    assert_eq!(
        things.update(&drifted, &lamp("blue")).await.verdict,
        Verdict::Update
    );
    let as_it_is = things.update(&drifted, &lamp("black")).await;
    assert_eq!((as_it_is.verdict, as_it_is.outputs), (Verdict::Same, None));

    // Import.
    let found = things.import(&made.id).await;
    let observed = &found[0].observed;
    assert_eq!(
        (found.len(), text(observed.inputs.as_ref().unwrap(), "name")),
        (1, text(&made.inputs, "name"))
    );
    assert_eq!(observed.fields.get("id"), made.fields.get("id"));
    assert_eq!(things.import("nothing").await.len(), 0);

    // Delete, twice.
    things.delete(&made).await.unwrap();
    things.delete(&made).await.unwrap();
    assert_eq!(package.contents().len(), 0);
    assert!(matches!(
        things.read(&made).await.unwrap(),
        ReadOutcome::Absent
    ));
    assert!(matches!(
        things.read(&Record::default()).await.unwrap(),
        ReadOutcome::Unknown
    ));
}

#[tokio::test]
async fn messages_show_no_secrets_of_settings_and_private_data() {
    let Some((package, _)) = Package::shop().await else {
        return;
    };
    let provider = package.open().await.unwrap();
    let settings = package.settings(&[("token", Value::from("the read fails").secret())]);
    let configured = package
        .configure(&provider, settings, Value::Null)
        .await
        .unwrap();
    let things = Things::new(configured.session, "shop/index:Item");
    let desired = spec(&[("fail", "read".into())]);
    let made = Record {
        private: spec(&[("readFirst", true.into())]),
        ..things.create(&desired).await
    };
    let planned = things
        .plan(PlanMode::Update, PlanPhase::Preview, &made, &desired)
        .await
        .unwrap_err();
    let updated = things
        .apply(Operation::Update, &made, &made.inputs)
        .await
        .unwrap_err();
    for error in [planned, updated] {
        let said = format!("{error:?}");
        assert!(
            said.contains("(secret)") && !said.contains("the read fails"),
            "{said}"
        );
    }
    let read = spec(&[("label", Value::from("the shop is closed").secret())]);
    let made = Record {
        private: spec(&[("readInputs", read)]),
        ..made
    };
    let desired = spec(&[("fail", "check".into())]);
    let refused = things
        .plan(PlanMode::Update, PlanPhase::Preview, &made, &desired)
        .await
        .unwrap_err();
    assert_eq!(refused.message, "(secret)");

    let Some(package) = Package::of("bare", &["--schema"]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let log = package.folder.path().join("log");
    let settings = spec(&[
        ("log", log.to_str().unwrap().into()),
        ("token", Value::from("it smokes").secret()),
    ]);
    let session = package
        .configure(&provider, settings, Value::Null)
        .await
        .unwrap()
        .session;
    let things = Things::new(session, "bare/index:Thing");
    let sick = spec(&[("do", "sick".into())]);
    let made = things
        .apply(Operation::Create, &Record::default(), &sick)
        .await
        .unwrap();
    assert_eq!(
        made.ready,
        Ready::Broken(vec!["it does not answer".into(), "(secret)".into()])
    );
}

/// The same session and type, without the other settings.
fn things_of(things: &Things) -> Things {
    Things::new(things.session.clone(), things.type_name)
}

#[tokio::test]
async fn secrets_keep_their_marks() {
    let Some((package, things)) = Package::shop().await else {
        return;
    };
    let provider = package.open().await.unwrap();
    let plain = package
        .configure(
            &provider,
            package.settings(&[("plain", true.into())]),
            Value::Null,
        )
        .await
        .unwrap();
    let plain = Things::new(plain.session, things.type_name);
    for (things, takes_secrets) in [(things, true), (plain, false)] {
        let tags = spec(&[
            ("a", Value::from("hunter2-hunter2").secret()),
            ("b", "open".into()),
        ]);
        let desired = spec(&[
            ("label", "x".into()),
            ("password", "hunter2-hunter2".into()),
            ("tags", tags),
        ]);
        let planned = things
            .plan(
                PlanMode::Create,
                PlanPhase::Preview,
                &Record::default(),
                &desired,
            )
            .await
            .unwrap();
        let made = things.create(&desired).await;
        let ReadOutcome::Present(seen) = things.read(&made).await.unwrap() else {
            panic!("it exists")
        };
        let planned = [planned.inputs.unwrap(), planned.outputs.unwrap()];
        for value in planned
            .iter()
            .chain([&made.inputs, &made.fields, &seen.fields])
        {
            assert_eq!(
                text(value, "password"),
                "(secret)",
                "the schema says so: {takes_secrets}"
            );
            assert_eq!(
                text(value, "tags"),
                r#"{"a": (secret), "b": "open"}"#,
                "{takes_secrets}"
            );
            assert_eq!(text(value, "label"), "\"x\"");
        }
        // A computed secret is marked.
        assert_eq!(text(&made.fields, "key"), "(secret)");
        assert_eq!(things.update(&made, &desired).await.verdict, Verdict::Same);
        // An error does not repeat the secret.
        let fails = spec(&[
            ("fail", Value::from("create")),
            ("name", Value::from("create").secret()),
        ]);
        let error = things
            .apply(Operation::Create, &Record::default(), &fails)
            .await
            .unwrap_err();
        assert!(
            error.message.contains("the (secret) fails"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn plan_is_undecided_with_unknown_settings() {
    let Some(package) = Package::of("shop", &[]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let settings = spec(&[("folder", Value::unknown(Some(Type::Text), None))]);
    let configured = package
        .configure(&provider, settings, Value::Null)
        .await
        .unwrap();
    assert!(
        configured.diagnostics[0]
            .summary
            .contains("the settings of `shop` are not known yet")
    );
    let things = Things::new(configured.session, "shop/index:Item");
    let old = Record {
        id: "i".into(),
        inputs: lamp("red"),
        fields: spec(&[("id", "i".into()), ("label", "red".into())]),
        private: Value::Null,
    };
    for mode in [PlanMode::Create, PlanMode::Update, PlanMode::Replace] {
        let planned = things
            .plan(mode, PlanPhase::Preview, &old, &lamp("red"))
            .await
            .unwrap();
        assert_eq!(
            planned.verdict,
            Verdict::Undecided {
                needs: "the settings of `shop`".into()
            }
        );
        let outputs = planned.outputs.unwrap();
        assert!(
            outputs.get("label").unwrap().is_unknown()
                && outputs.get("serial").unwrap().is_unknown()
        );
        assert_eq!(
            outputs.get("id").unwrap().is_unknown(),
            mode != PlanMode::Update
        );
    }
    let ReadOutcome::Present(seen) = things.read(&old).await.unwrap() else {
        panic!("as recorded")
    };
    assert_eq!(seen.fields, old.fields);
    let refused = things
        .apply(Operation::Create, &Record::default(), &lamp("red"))
        .await
        .unwrap_err();
    assert!(refused.message.contains("not known yet"), "{refused}");
    let found = fetch(&things, "any", true).await.unwrap();
    assert!(
        found.candidates[0]
            .fields
            .get("label")
            .unwrap()
            .is_unknown()
    );
    // Once the settings are known, they use the process that read the schema.
    let known = package
        .configure(&provider, package.settings(&[]), Value::Null)
        .await
        .unwrap();
    Things::new(known.session, "shop/index:Item")
        .create(&lamp("red"))
        .await;
    assert_eq!((package.starts().len(), package.contents().len()), (1, 1));
}

#[tokio::test]
async fn settings_are_refused_at_their_place_and_compared() {
    let Some(package) = Package::of("shop", &[]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let refused = package
        .configure(&provider, Value::Null, Value::Null)
        .await
        .err()
        .unwrap();
    assert_eq!(
        (refused.kind, refused.message.as_str()),
        (ErrorKind::Document, "the folder is missing")
    );
    assert_eq!(refused.field.unwrap().to_string(), "folder");
    let settings = package.settings(&[]);
    let change = async |former| {
        package
            .configure(&provider, settings.clone(), former)
            .await
            .unwrap()
            .change
    };
    assert_eq!(change(Value::Null).await, SettingsChange::Same);
    assert_eq!(change(settings.clone()).await, SettingsChange::Same);
    assert_eq!(
        change(spec(&[("folder", "/elsewhere".into())])).await,
        SettingsChange::Update
    );
    assert_eq!(package.starts().len(), 1, "equal settings share a process");

    let Some(bare) = Package::of("bare", &["--schema"]) else {
        return;
    };
    let provider = bare.open().await.unwrap();
    let missing = bare
        .configure(&provider, Value::Null, Value::Null)
        .await
        .err()
        .unwrap();
    assert_eq!(
        (missing.kind, missing.diagnostics.len()),
        (ErrorKind::Document, 1)
    );
    assert_eq!(missing.diagnostics[0].path.to_string(), "log");
    assert_eq!(missing.diagnostics[0].detail, "where requests are recorded");
}

#[tokio::test]
async fn a_warm_cache_starts_no_process() {
    let Some(mut package) = Package::of("shop", &[]) else {
        return;
    };
    for (run, starts) in [(0, 1), (1, 0)] {
        let before = package.starts().len();
        let provider = package.open().await.unwrap();
        assert_eq!(package.starts().len() - before, starts, "run {run}");
        assert!(provider.catalog().has_resource_type("shop/index:Item"));
        let session = package
            .configure(&provider, package.settings(&[]), Value::Null)
            .await
            .unwrap()
            .session;
        Things::new(session, "shop/index:Item")
            .create(&lamp("red"))
            .await;
        assert_eq!(
            package.starts().len() - before,
            1,
            "one process for schema and session, run {run}"
        );
        package.next_run().await;
    }
    // Other arguments are another program, and a changed script is too.
    let other = package.folder.path().join("other.py");
    std::fs::copy(&package.package.arguments[0], &other).unwrap();
    package.package.arguments = vec!["other.py".into()];
    for change in [
        "",
        "
# changed
",
    ] {
        let before = package.starts().len();
        let text = std::fs::read_to_string(&other).unwrap() + change;
        std::fs::write(&other, text).unwrap();
        package.open().await.unwrap();
        package.open().await.unwrap();
        assert_eq!(package.starts().len(), before + 1);
    }
}

#[tokio::test]
async fn a_closed_session_ends_its_process() {
    let Some(package) = Package::of("shop", &[]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let configure = async |more: &[(&str, Value)]| {
        package
            .configure(&provider, package.settings(more), Value::Null)
            .await
            .unwrap()
            .session
    };
    let (first, second) = (configure(&[]).await, configure(&[]).await);
    let other = configure(&[("plain", true.into())]).await;
    let starts = package.starts();
    assert_eq!(starts.len(), 2, "other settings have another process");
    let runs = |process: &str| {
        let asked = std::process::Command::new("kill")
            .args(["-0", process])
            .output();
        asked.unwrap().status.success()
    };
    first.close().await;
    assert!(runs(&starts[0]) && runs(&starts[1]));
    second.close().await;
    assert!(!runs(&starts[0]) && runs(&starts[1]));
    Things::new(configure(&[]).await, "shop/index:Item")
        .create(&lamp("red"))
        .await;
    assert_eq!(package.starts().len(), 3);
    other.close().await;
    package.pool.close().await;
    assert!(package.starts().iter().all(|process| !runs(process)));
}

async fn fetch(
    things: &Things,
    name: &str,
    secret: bool,
) -> Result<provider::Fetched, provider::ProviderError> {
    let name = Value::from(name);
    let name = if secret { name.secret() } else { name };
    let filters = [
        ("name".into(), "=".into(), name),
        ("label".into(), "startsWith".into(), "r".into()),
    ];
    let request = FetchRequest {
        type_name: "shop/index:getItem",
        filters: &filters,
        annotations: &Value::Null,
    };
    things.session.fetch(&things.call(), request).await
}

#[tokio::test]
async fn functions_are_data_sources() {
    let Some((_package, things)) = Package::shop().await else {
        return;
    };
    things
        .create(&spec(&[("name", "n".into()), ("label", "red".into())]))
        .await;
    let found = fetch(&things, "n", false).await.unwrap();
    assert_eq!(
        (found.applied, text(&found.candidates[0].fields, "label")),
        (vec![0], "\"red\"".into())
    );
    let found = fetch(&things, "n", true).await.unwrap();
    assert_eq!(text(&found.candidates[0].fields, "label"), "(secret)");
    let missing = fetch(&things, "other", false).await.err().unwrap();
    assert_eq!(
        (missing.kind, missing.message.as_str()),
        (ErrorKind::Document, "there is no such item")
    );
    assert_eq!(missing.field.unwrap().to_string(), "name");
    let call = things.call();
    let invoke = async |function: &str, arguments: &Arguments| {
        let request = InvokeRequest {
            function,
            arguments,
            preview: false,
        };
        things.session.invoke(&call, request).await
    };
    let found = invoke(
        "shop/index:getItem",
        &Arguments::named([("name", "n".into())]),
    )
    .await
    .unwrap();
    assert_eq!(text(&found, "size"), "1");
    for (function, arguments) in [
        ("shop/none", Arguments::named::<&str>([])),
        ("shop/index:getItem", vec![Value::Int(1)].into()),
    ] {
        assert_eq!(
            invoke(function, &arguments).await.unwrap_err().kind,
            ErrorKind::Document,
            "{function}"
        );
    }
}

#[tokio::test]
async fn refusals_have_places() {
    let Some((_package, things)) = Package::shop().await else {
        return;
    };
    let tags = spec(&[("a b", "".into()), ("c", "d".into())]);
    let desired = spec(&[
        ("size", Value::Int(-1)),
        ("tags", tags),
        ("fail", "check".into()),
    ]);
    for (mode, phase) in [
        (PlanMode::Create, PlanPhase::Preview),
        (PlanMode::Update, PlanPhase::Apply),
    ] {
        let old = Record {
            id: "i".into(),
            inputs: lamp("red"),
            ..Record::default()
        };
        let refused = things.plan(mode, phase, &old, &desired).await.unwrap_err();
        let said = refused
            .diagnostics
            .iter()
            .map(|said| (said.path.to_string(), said.summary.as_str()));
        let expected = [
            ("size".to_owned(), "the size must not be negative"),
            ("tags[\"a b\"]".to_owned(), "a tag must not be empty"),
            (String::new(), "the shop is closed"),
        ];
        assert_eq!(
            (refused.kind, said.collect::<Vec<_>>()),
            (ErrorKind::Document, expected.to_vec())
        );
    }
    let none = Things::new(things.session.clone(), "shop/index:None");
    let refused = none
        .plan(
            PlanMode::Create,
            PlanPhase::Preview,
            &Record::default(),
            &desired,
        )
        .await
        .unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Document);
}

#[tokio::test]
async fn a_stopped_call_ends() {
    let Some((package, things)) = Package::shop().await else {
        return;
    };
    let cancelled = things_of(&things);
    cancelled.cancel.cancel();
    let error = cancelled
        .apply(Operation::Create, &Record::default(), &lamp("red"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, package.contents().len()),
        (ErrorKind::Cancelled, 0)
    );
    // A call that changes something may end after its deadline.
    let late = Things {
        deadline: Some(Duration::ZERO),
        ..things_of(&things)
    };
    let slow = spec(&[
        ("name", "n".into()),
        ("size", Value::Int(1)),
        ("waitAfter", Value::Float(0.05)),
    ]);
    late.apply(Operation::Create, &Record::default(), &slow)
        .await
        .unwrap();
    let error = late
        .plan(
            PlanMode::Create,
            PlanPhase::Preview,
            &Record::default(),
            &slow,
        )
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
}

#[tokio::test]
async fn an_unhealthy_resource_is_kept_and_repaired() {
    let Some(package) = Package::of("bare", &["--schema"]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let log = package.folder.path().join("log");
    let settings = spec(&[("log", log.to_str().unwrap().into())]);
    let session = package
        .configure(&provider, settings, Value::Null)
        .await
        .unwrap()
        .session;
    let things = Things::new(session, "bare/index:Thing");
    let desired = |what: &str| spec(&[("do", what.into())]);
    let applied = things
        .apply(Operation::Create, &Record::default(), &desired("sick"))
        .await
        .unwrap();
    let Ready::Broken(why) = &applied.ready else {
        panic!("{applied:?}")
    };
    assert_eq!(
        why.iter().map(|why| &**why).collect::<Vec<_>>(),
        ["it does not answer", "it smokes"]
    );
    let sick = Things {
        unhealthy: why.clone(),
        ..things_of(&things)
    };
    let made = recorded(applied, desired("sick"));
    assert_eq!(&*made.id, "bare-1");
    let ReadOutcome::Present(seen) = things.read(&made).await.unwrap() else {
        panic!("it exists")
    };
    assert!(seen.diagnostics[0].summary.contains("it does not answer"));
    // The inputs are as desired, and the resource is still updated.
    assert_eq!(
        things
            .plan(PlanMode::Update, PlanPhase::Apply, &made, &made.inputs)
            .await
            .unwrap()
            .verdict,
        Verdict::Same
    );
    assert_eq!(
        sick.plan(PlanMode::Update, PlanPhase::Apply, &made, &made.inputs)
            .await
            .unwrap()
            .verdict,
        Verdict::Update
    );
    let planned = sick.update(&made, &desired("work")).await;
    assert_eq!(planned.verdict, Verdict::Update);
    let applied = sick
        .apply(Operation::Update, &made, &desired("work"))
        .await
        .unwrap();
    assert_eq!((applied.ready.clone(), &applied.id), (Ready::Yes, &made.id));

    // A resource whose plugin demands it is read before each comparison.
    let made = things
        .apply(Operation::Create, &Record::default(), &desired("work"))
        .await
        .unwrap();
    assert_eq!(made.private.to_string(), r#"{"readFirst": true}"#);
    let made = recorded(made, desired("work"));
    std::fs::write(&log, "").unwrap();
    assert_eq!(
        things.update(&made, &desired("work")).await.verdict,
        Verdict::Same
    );
    let methods = |log: &std::path::Path| -> Vec<String> {
        let text = std::fs::read_to_string(log).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|line| line["method"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(methods(&log), ["Check", "Read", "Diff"]);

    // Answers that break the protocol.
    let error = things
        .apply(Operation::Create, &Record::default(), &desired("no-id"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.partial.is_none()),
        (ErrorKind::OutcomeUnknown, true),
        "{error}"
    );
    let error = things
        .apply(Operation::Create, &Record::default(), &desired("unknown"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, &*error.partial.unwrap().id),
        (ErrorKind::OutcomeUnknown, "bare-1")
    );

    // Refusals and failures, by their codes.
    for (what, kind) in [
        ("code:INTERNAL", ErrorKind::OutcomeUnknown),
        ("code:DATA_LOSS", ErrorKind::OutcomeUnknown),
        ("code:FAILED_PRECONDITION", ErrorKind::Permanent),
        ("code:UNAUTHENTICATED", ErrorKind::Credentials),
        ("code:RESOURCE_EXHAUSTED", ErrorKind::OutcomeUnknown),
        ("await", ErrorKind::Permanent),
        ("input:x.y[0]", ErrorKind::Document),
    ] {
        for operation in [Operation::Create, Operation::Update] {
            let prior = if operation == Operation::Create {
                Record::default()
            } else {
                made.clone()
            };
            let error = things
                .apply(operation, &prior, &desired(what))
                .await
                .unwrap_err();
            assert_eq!(error.kind, kind, "{what} {operation:?}");
            let place = error.field.map(|field| field.to_string());
            assert_eq!(place.as_deref(), what.strip_prefix("input:"), "{what}");
        }
    }
    let gone = Record {
        fields: desired("code:NOT_FOUND"),
        ..made
    };
    things.delete(&gone).await.unwrap();
    assert!(
        package
            .log
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains("creating below urn:pulumi:cyan::cyan::"))
    );
    things.session.close().await;
    assert_eq!(methods(&log).last().map(String::as_str), Some("Cancel"));
}

#[tokio::test]
async fn crash_is_classified_by_its_possible_effect() {
    let Some((package, things)) = Package::shop().await else {
        return;
    };
    let made = things.create(&lamp("red")).await;
    let with = |fail: &str| {
        spec(&[
            ("name", "n".into()),
            ("size", Value::Int(1)),
            ("fail", fail.into()),
        ])
    };
    let mut starts = package.starts().len();
    let mut crashed = |error: provider::ProviderError, kind: ErrorKind, call: &str| {
        assert_eq!(error.kind, kind, "{call}: {error}");
        assert!(
            error
                .message
                .contains(&format!("the process ends in {call}")),
            "{error}"
        );
        starts += 1;
    };
    for (mode, call) in [
        (PlanMode::Create, "check"),
        (PlanMode::Create, "preview"),
        (PlanMode::Update, "diff"),
    ] {
        let error = things
            .plan(
                mode,
                PlanPhase::Preview,
                &made,
                &with(&format!("exit-{call}")),
            )
            .await
            .unwrap_err();
        crashed(error, ErrorKind::Transient, call);
    }
    let error = fetch(&things, "exit-invoke", false).await.err().unwrap();
    crashed(error, ErrorKind::Transient, "invoke");
    for fail in ["exit-create", "exit-after-create"] {
        let error = things
            .apply(Operation::Create, &Record::default(), &with(fail))
            .await
            .unwrap_err();
        crashed(error, ErrorKind::OutcomeUnknown, "create");
    }
    assert_eq!(package.contents().len(), 2, "the second create was made");
    let error = things
        .apply(Operation::Update, &made, &with("exit-update"))
        .await
        .unwrap_err();
    crashed(error, ErrorKind::OutcomeUnknown, "update");
    let trap = Record {
        fields: with("exit-delete"),
        ..made.clone()
    };
    crashed(
        things.delete(&trap).await.unwrap_err(),
        ErrorKind::OutcomeUnknown,
        "delete",
    );
    package.drift(&made.id, "fail", "exit-read");
    crashed(
        things.read(&made).await.unwrap_err(),
        ErrorKind::Transient,
        "read",
    );
    package.drift(&made.id, "fail", "");
    // Each next call starts a new process, which is configured again.
    things.delete(&made).await.unwrap();
    assert_eq!(
        (package.contents().len(), package.starts().len()),
        (1, starts)
    );

    let provider = package.open().await.unwrap();
    for call in ["check-config", "configure"] {
        let settings = package.settings(&[("token", Value::from(format!("exit-{call}")))]);
        let error = package
            .configure(&provider, settings, Value::Null)
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind, ErrorKind::Transient, "{call}: {error}");
        assert!(
            error
                .message
                .contains(&format!("the process ends in {call}")),
            "{error}"
        );
    }
    let mut package = package;
    package.package.cache = None;
    package
        .package
        .environment
        .push(("SHOP_FAIL".into(), "schema".into()));
    let error = package.open().await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Transient);
    assert!(
        error.message.contains("the process ends in schema"),
        "{error}"
    );
}

#[tokio::test]
async fn a_traceback_of_python_follows_its_message() {
    let Some((_package, things)) = Package::shop().await else {
        return;
    };
    let fails = spec(&[
        ("name", "n".into()),
        ("size", Value::Int(1)),
        ("fail", "create".into()),
    ]);
    let error = things
        .apply(Operation::Create, &Record::default(), &fails)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    let said = &error.diagnostics[0];
    assert!(
        said.summary.ends_with("the create fails"),
        "{}",
        said.summary
    );
    assert!(
        said.detail.contains("shop.py") && !said.summary.contains('\n'),
        "{}",
        said.detail
    );
}

#[tokio::test]
async fn the_conformance_suite_passes() {
    let Some(package) = Package::of("shop", &[]) else {
        return;
    };
    let provider = package.open().await.unwrap();
    let setup = contract_tests::provider::Setup {
        settings: package.settings(&[]),
        // Schemas of plugins have no examples.
        documented: false,
        ..contract_tests::provider::Setup::in_folder(package.folder.path())
    };
    let of = |label: &str| {
        spec(&[
            ("name", "n".into()),
            ("size", Value::Int(2)),
            ("label", label.into()),
            ("password", "s3cr3t-text".into()),
        ])
    };
    let case = contract_tests::provider::Case::new("shop/index:Item", of("red"))
        .changed(of("blue"))
        .forgets_tokens();
    let failures = contract_tests::provider::check(|| provider.clone(), &setup, &[case]).await;
    assert!(failures.is_empty(), "{failures:#?}");
}
