//! Data sources.

use std::fs;

use blueprint::Value;
use provider::{ErrorKind, FetchRequest, Session};

use crate::world::{World, text, texts};

#[tokio::test]
async fn a_file_is_read_as_text() {
    let world = World::new();
    world.write("a.txt", "héllo");
    let fields = world
        .fetch("local/file", &[("path", "a.txt".into())])
        .await
        .unwrap();
    assert_eq!(
        (text(&fields, "content"), fields.get("size")),
        ("héllo", Some(&Value::Int(6)))
    );
    fs::write(world.path("b"), [0x61, 0xff]).unwrap();
    let error = world
        .fetch("local/file", &[("path", "b".into())])
        .await
        .unwrap_err();
    assert!(
        error.message.contains("is not UTF-8 text (byte 1)"),
        "{error}"
    );
    let error = world
        .fetch("local/file", &[("path", "c".into())])
        .await
        .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::NotFound, Some("path"))
    );
}

#[tokio::test]
async fn a_folder_is_listed_in_order() {
    let world = World::new();
    for name in [
        "conf/b.yaml",
        "conf/a.yaml",
        "conf/c.txt",
        "conf/sub/d.yaml",
    ] {
        world.write(name, "");
    }
    let list = async |filters: &[(&str, Value)]| {
        let fields = world.fetch("local/directory", filters).await.unwrap();
        ["names", "paths"].map(|field| fields.get(field).cloned().unwrap())
    };
    let [names, _] = list(&[("path", "conf".into())]).await;
    assert_eq!(names, texts(&["a.yaml", "b.yaml", "c.txt", "sub"]));
    let wanted = [
        texts(&["a.yaml", "b.yaml"]),
        texts(&["conf/a.yaml", "conf/b.yaml"]),
    ];
    assert_eq!(list(&[("path", "conf/*.yaml".into())]).await, wanted);
    assert_eq!(
        list(&[("path", "conf/".into()), ("glob", "*.yaml".into())]).await,
        wanted
    );
    let [names, _] = list(&[("path", "conf/**/*.yaml".into())]).await;
    assert_eq!(names, texts(&["a.yaml", "b.yaml", "sub/d.yaml"]));
    let [_, paths] = list(&[("path", "*/c.txt".into())]).await;
    assert_eq!(paths, texts(&["conf/c.txt"]));
    let absolute = format!("{}/conf/c*", world.folder.path().display());
    let [_, paths] = list(&[("path", absolute.into())]).await;
    assert_eq!(paths, texts(&[world.path("conf/c.txt").to_str().unwrap()]));
    assert_eq!(
        world
            .fetch("local/directory", &[("path", "no".into())])
            .await
            .unwrap_err()
            .kind,
        ErrorKind::NotFound
    );
    let both = [("path", "conf/*".into()), ("glob", "*".into())];
    assert_eq!(
        world
            .fetch("local/directory", &both)
            .await
            .unwrap_err()
            .field
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("glob")
    );
}

#[tokio::test]
async fn an_environment_variable_is_read() {
    let world = World::new();
    let fields = world
        .fetch("local/environment", &[("name", "PATH".into())])
        .await
        .unwrap();
    assert_eq!(text(&fields, "value"), std::env::var("PATH").unwrap());
    assert!(!fields.has_secret());
    let error = world
        .fetch("local/environment", &[("name", "NO_SUCH_TOKEN".into())])
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::NotFound,
            "the environment variable `NO_SUCH_TOKEN` is not set"
        )
    );
}

#[tokio::test]
async fn the_output_of_a_command_is_fetched() {
    let world = World::new();
    world.write("sub/f", "");
    let fields = world
        .fetch(
            "local/command",
            &[("command", "ls".into()), ("workingDir", "sub".into())],
        )
        .await
        .unwrap();
    assert_eq!(text(&fields, "stdout"), "f");
    let error = world
        .fetch(
            "local/command",
            &[("command", "echo why >&2; exit 2".into())],
        )
        .await
        .unwrap_err();
    assert_eq!(error.message, "the command ended with exit code 2:\nwhy");
    let secret = world
        .fetch(
            "local/command",
            &[("command", Value::from("echo hunter2").secret())],
        )
        .await
        .unwrap();
    assert!(secret.has_secret());
}

#[tokio::test]
async fn filters_accept_only_the_equality_operator() {
    let world = World::new();
    let filters = [("path".into(), "contains".into(), "x".into())];
    let request = FetchRequest {
        type_name: "local/file",
        filters: &filters,
        annotations: &Value::Null,
    };
    let error = world
        .provider
        .fetch(&world.call(), request)
        .await
        .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Document, Some("path"))
    );
}
