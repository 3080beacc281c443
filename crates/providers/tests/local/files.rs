//! `local/file`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use blueprint::Value;
use provider::{Call, ErrorKind, Observed, ReadOutcome, ReadRequest, Session};

use crate::world::{World, mode, spec, text};

#[tokio::test]
async fn a_file_is_written_with_its_folders_and_mode() {
    let world = World::new();
    let inputs = spec([
        ("path", "a/b/c.txt".into()),
        ("content", "hi".into()),
        ("mode", "0640".into()),
    ]);
    let made = world.create("local/file", &inputs).await.unwrap();
    assert_eq!(world.text("a/b/c.txt"), "hi");
    assert_eq!(mode(&world.path("a/b/c.txt")), 0o640);
    assert_eq!(text(&made.fields, "path"), "a/b/c.txt");
    assert_eq!(
        text(&made.fields, "id"),
        world.path("a/b/c.txt").to_str().unwrap()
    );
    assert_eq!(
        text(&made.fields, "sha256"),
        "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    );
    assert_eq!(made.fields.get("size"), Some(&Value::Int(2)));
    let left: Vec<_> = fs::read_dir(world.path("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing temporary is left");
    assert_eq!(
        world.delete("local/file", &made, &inputs).await.unwrap(),
        [""; 0]
    );
    assert!(!world.path("a/b/c.txt").exists() && world.path("a/b").is_dir());
}

#[tokio::test]
async fn sources_are_relative_to_the_document_and_targets_to_the_root() {
    let world = World::new();
    world.write("child/in.txt", "from the child");
    let call = Call {
        folder: world.path("child").into(),
        ..world.call()
    };
    let inputs = spec([("path", "out.txt".into()), ("source", "in.txt".into())]);
    world
        .create_with(&call, "local/file", &inputs)
        .await
        .unwrap();
    assert_eq!(world.text("out.txt"), "from the child");
}

#[tokio::test]
async fn a_foreign_file_is_refused_unless_overwrite_is_set() {
    let world = World::new();
    world.write("f", "theirs");
    let inputs = spec([("path", "f".into()), ("content", "ours".into())]);
    let error = world.create("local/file", &inputs).await.unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Conflict, Some("path"))
    );
    assert!(
        error
            .message
            .contains("write `overwrite: true` to replace it"),
        "{error}"
    );
    assert_eq!(world.text("f"), "theirs");
    let inputs = spec([
        ("path", "f".into()),
        ("content", "ours".into()),
        ("overwrite", true.into()),
    ]);
    world.create("local/file", &inputs).await.unwrap();
    assert_eq!(world.text("f"), "ours");
}

#[tokio::test]
async fn a_folder_in_the_way_is_never_replaced() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    world.write("plain", "");
    for path in ["d", "plain/below"] {
        let inputs = spec([
            ("path", path.into()),
            ("content", "x".into()),
            ("overwrite", true.into()),
        ]);
        let error = world.create("local/file", &inputs).await.unwrap_err();
        assert_eq!(
            (
                error.kind,
                error.field.as_ref().map(ToString::to_string).as_deref()
            ),
            (ErrorKind::Conflict, Some("path")),
            "{path}: {error}"
        );
    }
}

#[tokio::test]
async fn a_repeated_create_finds_its_own_file() {
    let world = World::new();
    let inputs = spec([("path", "f".into()), ("content", "x".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    let again = world.create("local/file", &inputs).await.unwrap();
    assert_eq!((made.id, made.fields), (again.id, again.fields));
    let lost = |inputs| ReadRequest {
        type_name: "local/file",
        id: None,
        inputs,
        outputs: &Value::Null,
        private: &Value::Null,
        token: Some("token"),
        schema_version: 0,
    };
    assert!(matches!(
        world
            .provider
            .read(&world.call(), lost(&inputs))
            .await
            .unwrap(),
        ReadOutcome::Present(_)
    ));
    fs::write(world.path("f"), "other").unwrap();
    assert!(matches!(
        world
            .provider
            .read(&world.call(), lost(&inputs))
            .await
            .unwrap(),
        ReadOutcome::Absent
    ));
    assert!(matches!(
        world
            .provider
            .read(&world.call(), lost(&Value::Null))
            .await
            .unwrap(),
        ReadOutcome::Unknown
    ));
}

#[tokio::test]
async fn a_foreign_change_is_read_in_every_form_of_content() {
    let world = World::new();
    world.write("source", "x");
    for (way, value) in [
        ("content", "x"),
        ("contentBase64", "eA=="),
        ("source", "source"),
        ("sensitiveContent", "x"),
    ] {
        let inputs = spec([
            ("path", "f".into()),
            (way, value.into()),
            ("overwrite", true.into()),
        ]);
        let made = world.create("local/file", &inputs).await.unwrap();
        let same = world.fields("local/file", &made, &inputs).await;
        assert_eq!(same.get("sha256"), made.fields.get("sha256"), "{way}");
        assert_eq!(text(&same, way), value);
        fs::write(world.path("f"), "changed").unwrap();
        fs::set_permissions(world.path("f"), fs::Permissions::from_mode(0o600)).unwrap();
        let now = world.fields("local/file", &made, &inputs).await;
        assert_ne!(now.get("sha256"), made.fields.get("sha256"), "{way}");
        assert_eq!(text(&now, "mode"), "0600");
        let shown = match way {
            "content" => "changed",
            "contentBase64" => "Y2hhbmdlZA==",
            _ => value,
        };
        assert_eq!(text(&now, way), shown);
        let updated = world
            .update("local/file", &made, &inputs, &inputs)
            .await
            .unwrap();
        assert_eq!(world.text("f"), "x");
        assert_eq!(
            (updated.fields, mode(&world.path("f"))),
            (made.fields, 0o644)
        );
    }
}

#[tokio::test]
async fn a_changed_source_is_not_drift() {
    let world = World::new();
    world.write("source", "v1");
    let inputs = spec([("path", "f".into()), ("source", "source".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    world.write("source", "v2");
    let now = world.fields("local/file", &made, &inputs).await;
    assert_eq!(now.get("sha256"), made.fields.get("sha256"));
    assert_eq!(now.get("sourceSha256"), made.fields.get("sourceSha256"));
}

#[tokio::test]
async fn modes_are_compared_by_value() {
    let world = World::new();
    let inputs = spec([
        ("path", "f".into()),
        ("content", "x".into()),
        ("mode", "600".into()),
    ]);
    let made = world.create("local/file", &inputs).await.unwrap();
    assert_eq!(
        text(&world.fields("local/file", &made, &inputs).await, "mode"),
        "600"
    );
}

#[tokio::test]
async fn secret_content_stays_secret() {
    let world = World::new();
    for (way, value) in [
        ("content", Value::from("hunter2").secret()),
        ("sensitiveContent", "hunter2".into()),
    ] {
        let inputs = spec([("path", way.into()), (way, value)]);
        let made = world.create("local/file", &inputs).await.unwrap();
        assert_eq!(world.text(way), "hunter2");
        fs::write(world.path(way), "other secret").unwrap();
        let now = world.fields("local/file", &made, &inputs).await;
        for fields in [&made.fields, &now] {
            assert!(
                matches!(fields.get("sha256"), Some(Value::Secret(_))),
                "{way}"
            );
        }
        if way == "content" {
            assert_eq!(now.get(way), Some(&Value::from("other secret").secret()));
        }
    }
}

#[tokio::test]
async fn delete_keeps_an_object_that_is_no_longer_a_file() {
    let world = World::new();
    let inputs = spec([("path", "f".into()), ("content", "x".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    fs::remove_file(world.path("f")).unwrap();
    assert!(matches!(
        world.see("local/file", &made, &inputs).await.unwrap(),
        ReadOutcome::Absent
    ));
    fs::create_dir(world.path("f")).unwrap();
    assert_eq!(
        world
            .delete("local/file", &made, &inputs)
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(world.path("f").is_dir());
}

#[tokio::test]
async fn a_project_can_be_moved_with_its_state() {
    let (old, new) = (World::new(), World::new());
    let inputs = spec([("path", "f".into()), ("content", "x".into())]);
    let made = old.create("local/file", &inputs).await.unwrap();
    fs::rename(old.path("f"), new.path("f")).unwrap();
    let now = new.fields("local/file", &made, &inputs).await;
    assert_eq!(text(&now, "id"), new.path("f").to_str().unwrap());
    new.delete("local/file", &made, &inputs).await.unwrap();
    assert!(!new.path("f").exists());
}

#[tokio::test]
async fn a_cancelled_call_starts_nothing() {
    let world = World::new();
    let call = world.call();
    call.cancel.cancel();
    for (type_name, inputs) in [
        (
            "local/file",
            spec([("path", "f".into()), ("content", "x".into())]),
        ),
        ("local/command", spec([("create", "touch f".into())])),
    ] {
        assert_eq!(
            world
                .create_with(&call, type_name, &inputs)
                .await
                .unwrap_err()
                .kind,
            ErrorKind::Cancelled
        );
    }
    assert!(!world.path("f").exists());
}

#[tokio::test]
async fn an_existing_file_is_imported() {
    let world = World::new();
    world.write("have.txt", "text");
    let id = world.path("have.txt").to_str().unwrap().to_owned();
    let request = ReadRequest {
        type_name: "local/file",
        id: Some(&id),
        inputs: &Value::Null,
        outputs: &Value::Null,
        private: &Value::Null,
        token: None,
        schema_version: 0,
    };
    let ReadOutcome::Present(Observed { fields, .. }) =
        world.provider.read(&world.call(), request).await.unwrap()
    else {
        panic!("not there")
    };
    assert_eq!(
        (
            text(&fields, "path"),
            text(&fields, "content"),
            text(&fields, "mode")
        ),
        ("have.txt", "text", "0644")
    );
}

#[tokio::test]
async fn a_file_has_exactly_one_content() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/file", &fields).await;
    assert_eq!(at(spec([("path", "f".into())])).await, [""]);
    assert_eq!(
        at(spec([("content", "a".into()), ("source", "b".into())])).await,
        ["source"]
    );
    assert_eq!(
        at(spec([("contentBase64", "???".into())])).await,
        ["contentBase64"]
    );
    assert_eq!(
        at(spec([
            ("content", Value::unknown(None, None)),
            ("source", Value::Null)
        ]))
        .await,
        [""; 0]
    );
}

#[tokio::test]
async fn the_error_names_a_missing_source() {
    let world = World::new();
    let error = world
        .create(
            "local/file",
            &spec([("path", "f".into()), ("source", "no".into())]),
        )
        .await
        .unwrap_err();
    assert_eq!(
        error.field.as_ref().map(ToString::to_string).as_deref(),
        Some("source")
    );
    assert_eq!(
        error.message,
        format!(
            "cannot read `{}`: it is not there",
            world.path("no").display()
        )
    );
}
