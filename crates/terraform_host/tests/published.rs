//! Life cycles of resources of two published providers: protocol 5, made with HashiCorp's
//! framework.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod host;

use std::fs;
use std::path::PathBuf;

use blueprint::Value;
use host::{Host, map, text, unknown};
use plugins::ProcessEnding;
use terraform_host::{
    CallFailure, ChangeVerdict, ImportBy, PlanRequest, ProtocolVersion, ReplacePolicy, Returned,
    Stored,
};

const TIME: &str = "time";
const LOCAL: &str = "local";

fn names(paths: &[terraform_wire::Path]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_file_lives_from_create_to_delete() {
    let Some(host) = Host::start(LOCAL).await else {
        return;
    };
    assert_eq!(host.client.version(), ProtocolVersion::Five);
    let path: PathBuf = host.folder.path().join("a/b.txt");
    let file = |content: Value| {
        map([
            ("filename", Value::text(path.to_string_lossy())),
            ("content", content),
        ])
    };

    // Parts of the configuration are unknown when the create is planned.
    host.client
        .validate_resource("local_file", &file(unknown()))
        .await
        .unwrap();
    let planned = host.plan("local_file", None, &file(unknown())).await;
    assert_eq!(planned.verdict, ChangeVerdict::Create);
    assert!(planned.object.value.get("content").unwrap().is_unknown());
    assert!(planned.object.value.get("id").unwrap().is_unknown());
    assert_eq!(
        planned.object.value.get("file_permission"),
        Some(&Value::from("0777"))
    );

    let config = file(Value::from("one"));
    let again = host.plan("local_file", None, &config).await;
    let contradictions = host
        .client
        .contradictions("local_file", &planned.object.value, &again.object.value)
        .unwrap();
    assert_eq!(contradictions, []);
    let applied = host.apply("local_file", None, &again.object, &config).await;
    assert!(applied.is_done() && !applied.broken);
    let first = applied.object;
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    assert_eq!(
        text(&first, "content_md5"),
        "f97c5d29941bfb1b2fdab0874906ab82"
    );

    // The object is stored and used again.
    let envelope = host.client.envelope("local_file", &first).unwrap();
    let stored = Stored::restore(&first.value, &envelope).unwrap();
    let upgraded = host
        .client
        .upgrade("local_file", &stored)
        .await
        .unwrap()
        .value;
    assert_eq!(upgraded, first);
    let read = host.read("local_file", &upgraded).await;
    assert_eq!(read, first);
    assert_eq!(
        host.plan("local_file", Some(&read), &config).await.verdict,
        ChangeVerdict::Same
    );

    // Other content requires another file.
    let config = file(Value::from("two"));
    let planned = host.plan("local_file", Some(&read), &config).await;
    let ChangeVerdict::Replace { paths } = &planned.verdict else {
        panic!("{planned:?}")
    };
    assert_eq!(names(paths), ["content"]);
    assert!(planned.object.value.get("id").unwrap().is_unknown());
    host.delete("local_file", &read).await;
    assert!(!path.exists());
    let second = host.change("local_file", None, &config).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");

    // This provider identifies a file by its content: after a change from outside the old file does
    // not exist.
    fs::write(&path, "three").unwrap();
    assert!(host.read("local_file", &second).await.is_absent());
    fs::remove_file(&path).unwrap();
    assert!(host.read("local_file", &second).await.is_absent());
    let third = host.create("local_file", &config).await;
    host.delete("local_file", &third).await;
    assert!(!path.exists());
    host.end().await;
}

#[tokio::test]
async fn a_timestamp_lives_from_create_to_delete() {
    let Some(host) = Host::start(TIME).await else {
        return;
    };
    let offset = |days: i64| {
        map([
            ("base_rfc3339", Value::from("2026-01-30T00:00:00Z")),
            ("offset_days", Value::Int(days)),
        ])
    };
    let first = host.create("time_offset", &offset(3)).await;
    assert_eq!(text(&first, "rfc3339"), "2026-02-02T00:00:00Z");
    assert_eq!(first.value.get("month"), Some(&Value::Int(2)));
    let read = host.read("time_offset", &first).await;
    assert_eq!(
        host.plan("time_offset", Some(&read), &offset(3))
            .await
            .verdict,
        ChangeVerdict::Same
    );

    // The object is changed in place: the plan contains the result.
    let planned = host.plan("time_offset", Some(&read), &offset(4)).await;
    assert_eq!(planned.verdict, ChangeVerdict::Update);
    let second = host.change("time_offset", Some(&read), &offset(4)).await;
    assert_eq!(text(&second, "rfc3339"), "2026-02-03T00:00:00Z");
    assert_eq!(text(&second, "id"), text(&first, "id"));

    // An unknown value may force a replacement.
    let triggered = |value: Value| {
        let mut config = offset(4).as_map().unwrap().clone();
        config.insert("triggers".into(), map([("k", value)]));
        Value::Map(std::sync::Arc::new(config))
    };
    let planned = host
        .plan("time_offset", Some(&second), &triggered(unknown()))
        .await;
    let ChangeVerdict::Replace { paths } = &planned.verdict else {
        panic!("{planned:?}")
    };
    assert_eq!(names(paths), ["triggers"]);

    // The object is imported by its id, with its present values.
    let id = "2026-01-30T00:00:00Z,0,0,4,0,0,0";
    let imported = host
        .client
        .import("time_offset", ImportBy::Id(id))
        .await
        .unwrap()
        .value;
    assert_eq!(imported.len(), 1);
    assert_eq!(text(&imported[0].object, "rfc3339"), "2026-02-03T00:00:00Z");
    host.delete("time_offset", &second).await;
    host.end().await;
}

#[tokio::test]
async fn a_replacement_can_be_forced() {
    let Some(host) = Host::start(TIME).await else {
        return;
    };
    // A resource with the time of its create.
    let config = map([]);
    let made = host.create("time_static", &config).await;
    assert_eq!(
        host.plan("time_static", Some(&made), &config).await.verdict,
        ChangeVerdict::Same
    );
    for replacing in [ReplacePolicy::Always, ReplacePolicy::Broken] {
        let request = PlanRequest {
            type_name: "time_static",
            prior: Some(&made),
            config: &config,
            replacing,
        };
        let planned = host.client.plan(request).await.unwrap().value;
        assert_eq!(
            planned.verdict,
            ChangeVerdict::Replace { paths: Vec::new() }
        );
        assert!(
            planned.object.value.get("rfc3339").unwrap().is_unknown(),
            "{replacing:?}"
        );
    }
    host.end().await;
}

#[tokio::test]
async fn a_provider_names_the_attribute_that_it_refuses() {
    let Some(host) = Host::start(TIME).await else {
        return;
    };
    let config = map([("rfc3339", Value::from("tomorrow"))]);
    let failure = host
        .client
        .validate_resource("time_static", &config)
        .await
        .unwrap_err();
    let [diagnostic] = failure.diagnostics() else {
        panic!("{failure}")
    };
    assert!(diagnostic.is_error());
    assert_eq!(diagnostic.path.to_string(), "rfc3339");
    assert!(!failure.is_outcome_unknown());
    let failure = host
        .client
        .import("time_static", ImportBy::Id("nonsense"))
        .await
        .unwrap_err();
    assert!(matches!(failure, CallFailure::Rejected(_)), "{failure}");
    let failure = host
        .client
        .validate_resource("time_machine", &config)
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the provider has no resource type `time_machine`"
    );
    let config = map([("rfc3339", Value::list([]))]);
    let failure = host
        .client
        .validate_resource("time_static", &config)
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the value does not fit the provider's schema: `rfc3339`: must be a string, found array"
    );
    host.end().await;
}

#[tokio::test]
async fn data_sources_and_functions_answer() {
    let Some(host) = Host::start(LOCAL).await else {
        return;
    };
    let path = host.folder.path().join("data.txt");
    fs::write(&path, "content").unwrap();
    let config = map([("filename", Value::text(path.to_string_lossy()))]);
    host.client
        .validate_data("local_file", &config)
        .await
        .unwrap();
    let read = host
        .client
        .read_data("local_file", &config)
        .await
        .unwrap()
        .value;
    assert_eq!(read.get("content"), Some(&Value::from("content")));
    let read = host
        .client
        .read_data("local_sensitive_file", &config)
        .await
        .unwrap()
        .value;
    assert!(matches!(read.get("content"), Some(Value::Secret(_))));
    fs::remove_file(&path).unwrap();
    let failure = host
        .client
        .read_data("local_file", &config)
        .await
        .unwrap_err();
    assert!(matches!(failure, CallFailure::Rejected(_)), "{failure}");

    let folder = Value::text(host.folder.path().to_string_lossy());
    let exists = |argument: Value| {
        host.client
            .call_function("direxists", vec![argument].leak())
    };
    assert_eq!(
        exists(folder.clone()).await.unwrap(),
        Returned::Value(Value::Bool(true))
    );
    assert_eq!(
        exists(folder.secret()).await.unwrap(),
        Returned::Value(Value::Bool(true).secret())
    );
    assert!(matches!(
        exists(unknown()).await.unwrap(),
        Returned::Value(Value::Unknown(_))
    ));
    let Returned::Failed(failure) = exists(Value::Null).await.unwrap() else {
        panic!()
    };
    assert_eq!(failure.argument, Some(0));
    let Returned::Failed(failure) = host.client.call_function("direxists", &[]).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(failure.text, "takes 1 arguments, found 0");
    host.end().await;
}

#[tokio::test]
async fn large_messages_go_both_ways() {
    let Some(host) = Host::start(LOCAL).await else {
        return;
    };
    let path = host.folder.path().join("large");
    let content = "0123456789abcdef".repeat(1 << 19);
    let config = map([
        ("filename", Value::text(path.to_string_lossy())),
        ("content", Value::text(content.as_str())),
    ]);
    let made = host.create("local_file", &config).await;
    assert_eq!(fs::metadata(&path).unwrap().len(), 8 << 20);
    assert_eq!(text(&made, "content"), content);
    host.delete("local_file", &made).await;
    host.end().await;
}

#[tokio::test]
async fn sensitive_values_are_marked_in_answers() {
    let Some(host) = Host::start(LOCAL).await else {
        return;
    };
    let path = host.folder.path().join("secret");
    let config = map([
        ("filename", Value::text(path.to_string_lossy()).secret()),
        ("content", Value::from("hidden")),
    ]);
    let made = host.create("local_sensitive_file", &config).await;
    assert_eq!(
        made.value.get("content"),
        Some(&Value::from("hidden").secret())
    );
    assert!(
        matches!(made.value.get("filename"), Some(Value::Secret(_))),
        "a mark of the document is lost"
    );
    host.end().await;
}

#[tokio::test]
async fn a_process_ends_by_the_call_that_asks_it() {
    let Some(host) = Host::start(LOCAL).await else {
        return;
    };
    host.plugin.stop().await;
    let exit = host.plugin.exited().await;
    assert_eq!(exit.ending, ProcessEnding::Code(0), "{exit:?}");
}
