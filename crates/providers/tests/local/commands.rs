//! `local/command`.

use std::fs;
use std::time::{Duration, Instant};

use blueprint::Value;
use provider::{
    Call, ErrorKind, Observed, PlanMode, PlanPhase, PlanRequest, Planned, ReadOutcome, ReadRequest,
    Session,
};

use crate::world::{World, spec, text, texts, warnings};

#[tokio::test]
async fn a_command_gets_its_environment_and_returns_its_output() {
    let world = World::new();
    fs::create_dir(world.path("sub")).unwrap();
    let script = "echo \"$CYAN_ACTION $CYAN_ADDRESS $CYAN_TOKEN $COLOUR $(basename \"$PWD\")\"; echo oops >&2";
    let inputs = spec([
        ("create", script.into()),
        ("update", script.into()),
        ("delete", "echo \"$CYAN_ACTION\" > deleted".into()),
        ("environment", spec([("COLOUR", "blue".into())])),
        ("workingDir", "sub".into()),
    ]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(text(&made.fields, "stdout"), "create thing token blue sub");
    assert_eq!(text(&made.fields, "stderr"), "oops");
    assert_eq!(made.fields.get("exitCode"), Some(&Value::Int(0)));
    assert_eq!(made.fields.get("json"), Some(&Value::Null));
    let mut said = world.said();
    said.sort();
    assert_eq!(said, ["create thing token blue sub", "oops"]);
    let updated = world
        .update("local/command", &made, &inputs, &inputs)
        .await
        .unwrap();
    assert_eq!(
        text(&updated.fields, "stdout"),
        "update thing token blue sub"
    );
    assert_eq!(updated.id, made.id);
    world.delete("local/command", &made, &inputs).await.unwrap();
    assert_eq!(world.text("sub/deleted"), "delete\n");
}

#[tokio::test]
async fn lists_run_directly_and_text_runs_through_the_interpreter() {
    let world = World::new();
    let made = world
        .create(
            "local/command",
            &spec([("create", texts(&["echo", "$HOME", "a  b"]))]),
        )
        .await
        .unwrap();
    assert_eq!(text(&made.fields, "stdout"), "$HOME a  b");
    let inputs = spec([
        ("create", "x y".into()),
        ("interpreter", texts(&["echo", "-n", "got"])),
    ]);
    assert_eq!(
        text(
            &world.create("local/command", &inputs).await.unwrap().fields,
            "stdout"
        ),
        "got x y"
    );
}

#[tokio::test]
async fn json_output_is_decoded() {
    let world = World::new();
    let made = world
        .create(
            "local/command",
            &spec([(
                "create",
                "echo '{\"n\": 3, \"f\": 1.5, \"l\": [null]}'".into(),
            )]),
        )
        .await
        .unwrap();
    let wanted = spec([
        ("n", Value::Int(3)),
        ("f", Value::Float(1.5)),
        ("l", Value::list([Value::Null])),
    ]);
    assert_eq!(made.fields.get("json"), Some(&wanted));
}

#[tokio::test]
async fn the_error_of_a_failed_command_holds_its_exit_code_and_stderr() {
    let world = World::new();
    let inputs = spec([(
        "create",
        "echo starting; echo no such luck >&2; exit 7".into(),
    )]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Permanent, Some("create"))
    );
    assert_eq!(
        error.message,
        "the command `create` ended with exit code 7:\nno such luck"
    );
    let error = world
        .create(
            "local/command",
            &spec([("create", texts(&["no-such-program-here"]))]),
        )
        .await
        .unwrap_err();
    assert_eq!(error.message, "there is no program `no-such-program-here`");
    let error = world
        .create("local/command", &spec([("create", "kill -9 $$".into())]))
        .await
        .unwrap_err();
    assert_eq!(error.message, "the command `create` was ended by signal 9");
    let error = world
        .create(
            "local/command",
            &spec([("create", "true".into()), ("workingDir", "no".into())]),
        )
        .await
        .unwrap_err();
    assert_eq!(
        error.field.as_ref().map(ToString::to_string).as_deref(),
        Some("workingDir")
    );
}

#[tokio::test]
async fn secrets_are_removed_from_progress_and_errors() {
    let world = World::new();
    let inputs = spec([
        (
            "create",
            "echo \"key is $KEY\"; echo \"bad $KEY\" >&2; exit 1".into(),
        ),
        (
            "environment",
            spec([("KEY", Value::from("hunter2").secret())]),
        ),
    ]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert!(error.message.ends_with("bad (secret)"), "{error}");
    assert!(
        world.said().contains(&"key is (secret)".to_owned()),
        "{:?}",
        world.said()
    );
    let inputs = spec([
        ("create", "echo \"$KEY\"".into()),
        (
            "environment",
            spec([("KEY", Value::from("hunter2").secret())]),
        ),
    ]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(
        made.fields.get("stdout"),
        Some(&Value::from("hunter2").secret())
    );
}

#[tokio::test]
async fn the_exit_code_of_read_means_present_absent_or_error() {
    let world = World::new();
    let inputs = spec([
        ("create", "touch c".into()),
        ("read", "test -f bad && exit 5; test -f c || exit 3".into()),
    ]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(
        world.fields("local/command", &made, &inputs).await,
        made.fields
    );
    fs::remove_file(world.path("c")).unwrap();
    assert!(matches!(
        world.see("local/command", &made, &inputs).await.unwrap(),
        ReadOutcome::Absent
    ));
    world.write("bad", "");
    assert_eq!(
        world
            .see("local/command", &made, &inputs)
            .await
            .unwrap_err()
            .field
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("read")
    );
    let without = spec([("create", "touch c".into())]);
    let made = world.create("local/command", &without).await.unwrap();
    assert_eq!(
        world.fields("local/command", &made, &without).await,
        made.fields
    );
}

#[tokio::test]
async fn an_interrupted_command_is_read_if_it_has_a_read_command() {
    let world = World::new();
    let inputs = spec([
        ("create", "touch c".into()),
        ("read", "test -f c || exit 3".into()),
    ]);
    let without = spec([("create", "touch c".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    let read = async |id: Option<&str>, inputs: &Value, outputs: &Value| {
        let private = &Value::Null;
        let request = ReadRequest {
            type_name: "local/command",
            id,
            inputs,
            outputs,
            private,
            token: Some("token"),
            schema_version: 0,
        };
        world.provider.read(&world.call(), request).await.unwrap()
    };
    let ReadOutcome::Present(Observed { id, fields, .. }) = read(None, &inputs, &Value::Null).await
    else {
        panic!("not found")
    };
    assert_eq!(id, made.id);
    for lost in ["stdout", "stderr", "json", "exitCode"] {
        assert!(
            fields.get(lost).is_some_and(Value::has_unknown),
            "its {lost} is unknown"
        );
    }
    assert!(matches!(
        read(None, &without, &Value::Null).await,
        ReadOutcome::Unknown
    ));
    assert!(
        matches!(
            read(Some(&made.id), &without, &without).await,
            ReadOutcome::Unknown
        ),
        "an update"
    );
    let deletes = spec([("create", "touch c".into()), ("delete", "rm c".into())]);
    assert!(
        matches!(
            read(Some(&made.id), &Value::Null, &deletes).await,
            ReadOutcome::Unknown
        ),
        "a delete"
    );
    assert!(
        matches!(
            read(Some(&made.id), &Value::Null, &without).await,
            ReadOutcome::Present(_)
        ),
        "a delete that runs nothing"
    );
    fs::remove_file(world.path("c")).unwrap();
    assert!(
        matches!(read(None, &inputs, &Value::Null).await, ReadOutcome::Absent),
        "a create"
    );
    assert!(
        matches!(
            read(Some(&made.id), &Value::Null, &made.fields).await,
            ReadOutcome::Absent
        ),
        "a delete"
    );
}

#[tokio::test]
async fn some_changes_are_only_recorded() {
    let world = World::new();
    let plan = async |prior: &Value, desired: &Value| -> Planned {
        let request = PlanRequest {
            type_name: "local/command",
            prior_inputs: prior,
            prior,
            desired,
            mode: if prior.is_null() {
                PlanMode::Create
            } else {
                PlanMode::Update
            },
            phase: PlanPhase::Preview,
            id: None,
            schema_version: 0,
            private: &Value::Null,
            unhealthy: &[],
            ignored: &[],
            replacing: &[],
            seed: "",
        };
        world.provider.plan(&world.call(), request).await.unwrap()
    };
    let before = spec([
        ("create", "a".into()),
        ("read", "b".into()),
        ("timeout", "1m".into()),
    ]);
    let after = spec([
        ("create", "x".into()),
        ("delete", "d".into()),
        ("timeout", "2m".into()),
        ("read", "b".into()),
    ]);
    let planned = plan(&before, &after).await;
    assert_eq!(
        planned
            .only_recorded
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["delete", "timeout"]
    );
    assert!(plan(&Value::Null, &after).await.only_recorded.is_empty());
}

#[tokio::test]
async fn without_update_create_runs_again() {
    let world = World::new();
    let inputs = spec([("create", "echo x >> log".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    world
        .update("local/command", &made, &inputs, &inputs)
        .await
        .unwrap();
    assert_eq!(world.text("log"), "x\nx\n");
    world.delete("local/command", &made, &inputs).await.unwrap();
}

/// Whether the command line of any process contains this text.
fn running(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    })
}

async fn ends(mark: &str) -> bool {
    for _ in 0..100 {
        if !running(mark) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn the_whole_group_ends_on_timeout_cancel_deadline_and_drop() {
    let world = World::new();
    let script = |mark: &str| Value::from(format!("sleep {mark} & sleep {mark}; true"));
    let begin = Instant::now();

    let inputs = spec([("create", script("98761")), ("timeout", "100ms".into())]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::Permanent, Some("timeout"))
    );
    assert!(ends("98761").await, "timeout");

    let call = world.call();
    let cancel = call.cancel.clone();
    let inputs = spec([("create", script("98762"))]);
    let (result, ()) = tokio::join!(world.create_with(&call, "local/command", &inputs), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(ends("98762").await, "cancel");

    let call = Call {
        deadline: Some(Duration::from_millis(100)),
        ..world.call()
    };
    let error = world
        .create_with(&call, "local/command", &spec([("create", script("98763"))]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert!(ends("98763").await, "deadline");

    let inputs = spec([("create", script("98764"))]);
    let dropped = tokio::time::timeout(
        Duration::from_millis(100),
        world.create("local/command", &inputs),
    )
    .await;
    assert!(dropped.is_err() && ends("98764").await, "dropped");
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn a_background_process_does_not_delay_the_step() {
    let world = World::new();
    let begin = Instant::now();
    let inputs = spec([(
        "create",
        "echo up; { sleep 1.5; echo late; sleep 3; } & true".into(),
    )]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(text(&made.fields, "stdout"), "up");
    assert!(begin.elapsed() < Duration::from_secs(3));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.said(), ["up"]);
}

#[tokio::test]
async fn output_beyond_the_limit_is_dropped() {
    let world = World::new();
    let made = world
        .create(
            "local/command",
            &spec([("create", "yes 1234567 | head -c 3000000".into())]),
        )
        .await
        .unwrap();
    assert!(text(&made.fields, "stdout").len() <= 1 << 20);
    assert_eq!(warnings(&made.diagnostics).len(), 1);
}

#[tokio::test]
async fn invalid_commands_are_rejected_at_their_fields() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/command", &fields).await;
    assert_eq!(
        at(spec([("create", " ".into()), ("timeout", "soon".into())])).await,
        ["create", "timeout"]
    );
    assert_eq!(
        at(spec([("create", "x".into()), ("interpreter", texts(&[]))])).await,
        ["interpreter"]
    );
}
