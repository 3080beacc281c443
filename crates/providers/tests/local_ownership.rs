//! The provider `local`: ownership of resources, interrupted runs, inputs of commands.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{Address, Value};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, FetchRequest, Finding, Observed, Operation,
    PlanMode, PlanPhase, PlanRequest, Planned, PreflightRequest, ProviderDiagnostic, ProviderError,
    ProviderSeverity, ReadOutcome, ReadRequest, Session, SourceContent, SourceRead,
};
use providers::local::{LocalProvider, provider};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

/// The path and text of each diagnostic. Checks that all are warnings.
fn warnings(diagnostics: &[ProviderDiagnostic]) -> Vec<(String, String)> {
    assert!(
        diagnostics
            .iter()
            .all(|it| it.severity == ProviderSeverity::Warning),
        "{diagnostics:?}"
    );
    diagnostics
        .iter()
        .map(|it| (it.path.to_string(), it.text()))
        .collect()
}

/// A folder, and one process that works in it.
struct World {
    folder: TempDir,
    provider: LocalProvider,
}

impl World {
    fn new() -> World {
        World {
            folder: tempfile::tempdir().unwrap(),
            provider: provider(),
        }
    }

    /// Simulates a new process after a kill: only the state and the folder remain.
    fn restart(&mut self) {
        self.provider = provider();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self) -> Call {
        Call {
            call_records: None,
            instances: None,
            instance: "test".into(),
            address: Address::root("thing"),
            urn: Default::default(),
            token: "token".into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.folder.path().into(),
            folder: self.folder.path().into(),
            settings: Value::Null,
            files: provider::FileAccess::default(),
            now: 0,
            progress: Arc::new(|_| {}),
        }
    }

    async fn plan(&self, type_name: &str, desired: &Value) -> Planned {
        let nothing = &Value::Null;
        let request = PlanRequest {
            type_name,
            prior_inputs: nothing,
            prior: nothing,
            desired,
            mode: PlanMode::Update,
            phase: PlanPhase::Preview,
            id: None,
            schema_version: 0,
            private: &Value::Null,
            unhealthy: &[],
            ignored: &[],
            replacing: &[],
            seed: "",
        };
        self.provider.plan(&self.call(), request).await.unwrap()
    }

    async fn create(
        &self,
        type_name: &str,
        desired: &Value,
        private: &Value,
    ) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Create,
            type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired,
            private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        self.provider.apply(&self.call(), request).await
    }

    async fn delete(
        &self,
        type_name: &str,
        inputs: &Value,
        id: &str,
        private: &Value,
    ) -> Vec<String> {
        let request = ApplyRequest {
            operation: Operation::Delete,
            type_name,
            id: Some(id),
            prior_inputs: inputs,
            prior: &Value::Null,
            desired: &Value::Null,
            private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        for _ in 0..3 {
            let request = ApplyRequest { ..request };
            match self.provider.apply(&self.call(), request).await {
                Ok(applied) => {
                    return warnings(&applied.diagnostics)
                        .into_iter()
                        .map(|(_, why)| why)
                        .collect();
                }
                // The call is repeated, as the engine does after a retryable error.
                Err(error) => assert!(error.kind.is_retryable(), "{error}"),
            }
        }
        panic!("put off again and again")
    }

    /// Reads after an interrupted create.
    async fn found(
        &self,
        type_name: &str,
        inputs: &Value,
        private: &Value,
    ) -> Option<(String, Value, Value)> {
        let nothing = &Value::Null;
        let request = ReadRequest {
            type_name,
            id: None,
            inputs,
            outputs: nothing,
            private,
            token: Some("token"),
            schema_version: 0,
        };
        match self.provider.read(&self.call(), request).await.unwrap() {
            ReadOutcome::Present(Observed {
                id,
                fields,
                private,
                ..
            }) => Some((id.to_string(), fields, private)),
            _ => None,
        }
    }

    async fn printed(&self, filters: &[(&str, Value)]) -> Result<String, ProviderError> {
        let filters: Vec<_> = filters
            .iter()
            .map(|(field, value)| ((*field).into(), "=".into(), value.clone()))
            .collect();
        let request = FetchRequest {
            type_name: "local/command",
            filters: &filters,
            annotations: &Value::Null,
        };
        let fetched = self.provider.fetch(&self.call(), request).await?;
        Ok(fetched.candidates[0]
            .fields
            .get("stdout")
            .and_then(Value::as_text)
            .unwrap()
            .to_owned())
    }
}

/// One resource of each type, all at `d/thing`.
fn of_each_type() -> [(&'static str, Value); 4] {
    let path = || ("path", Value::from("d/thing"));
    [
        ("local/file", spec([path(), ("content", "x".into())])),
        ("local/symlink", spec([path(), ("target", "x".into())])),
        ("local/directory", spec([path(), ("mode", "0755".into())])),
        (
            "local/archive",
            spec([
                path(),
                ("format", "tar".into()),
                ("entries", spec([("a", "b".into())])),
                ("overwrite", false.into()),
            ]),
        ),
    ]
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[tokio::test]
async fn what_a_killed_create_made_is_owned_and_deleted() {
    for (type_name, inputs) in of_each_type() {
        let mut world = World::new();
        let planned = world.plan(type_name, &inputs).await;
        assert!(!planned.adopts, "{type_name}");
        world
            .create(type_name, &inputs, &planned.private)
            .await
            .unwrap();
        world.restart();
        let (id, fields, private) = world
            .found(type_name, &inputs, &planned.private)
            .await
            .unwrap();
        assert_eq!(fields.get("existed"), Some(&Value::Null), "{type_name}");
        let warnings = world.delete(type_name, &inputs, &id, &private).await;
        assert!(
            warnings.is_empty() && !is_there(&world.path("d/thing")),
            "{type_name}: {warnings:?}"
        );
    }
}

#[tokio::test]
async fn existing_files_are_adopted_and_kept() {
    for (type_name, inputs) in of_each_type() {
        let mut world = World::new();
        world
            .create(type_name, &inputs, &Value::Null)
            .await
            .unwrap();
        world.restart();
        let planned = world.plan(type_name, &inputs).await;
        assert!(planned.adopts, "{type_name}");
        let adopted = world
            .create(type_name, &inputs, &planned.private)
            .await
            .unwrap();
        assert_eq!(
            adopted.fields.get("existed"),
            Some(&Value::Bool(true)),
            "{type_name}"
        );
        world.restart();
        let (id, fields, private) = world
            .found(type_name, &inputs, &planned.private)
            .await
            .unwrap();
        assert_eq!(
            (&private, fields.get("existed")),
            (&adopted.private, Some(&Value::Bool(true))),
            "{type_name}"
        );
        let warnings = world.delete(type_name, &inputs, &id, &private).await;
        assert!(
            warnings.len() == 1 && is_there(&world.path("d/thing")),
            "{type_name}: {warnings:?}"
        );
    }
}

#[tokio::test]
async fn a_file_overwritten_by_a_killed_run_is_owned() {
    let mut world = World::new();
    fs::write(world.path("f"), "theirs").unwrap();
    let inputs = spec([
        ("path", "f".into()),
        ("content", "ours".into()),
        ("overwrite", true.into()),
    ]);
    let planned = world.plan("local/file", &inputs).await;
    assert!(!planned.adopts);
    world
        .create("local/file", &inputs, &planned.private)
        .await
        .unwrap();
    world.restart();
    let (id, _, private) = world
        .found("local/file", &inputs, &planned.private)
        .await
        .unwrap();
    assert!(
        world
            .delete("local/file", &inputs, &id, &private)
            .await
            .is_empty()
    );
    assert!(!is_there(&world.path("f")));
}

#[tokio::test]
async fn a_replacement_at_the_same_path_adopts_nothing() {
    let world = World::new();
    let inputs = spec([("path", "f".into()), ("content", "x".into())]);
    world
        .create("local/file", &inputs, &Value::Null)
        .await
        .unwrap();
    let other = provider();
    let request = PlanRequest {
        type_name: "local/file",
        prior_inputs: &inputs,
        prior: &Value::Null,
        desired: &inputs,
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
    assert!(!other.plan(&world.call(), request).await.unwrap().adopts);
}

#[tokio::test]
async fn a_folder_created_for_a_file_belongs_to_the_resource_that_declares_it() {
    let mut world = World::new();
    let folder = spec([("path", "a/b".into()), ("mode", "0750".into())]);
    let file = spec([("path", "a/b/c/f".into()), ("content", "x".into())]);
    // The create of the file in the same run comes first.
    let (of_folder, of_file) = (
        world.plan("local/directory", &folder).await,
        world.plan("local/file", &file).await,
    );
    world
        .create("local/file", &file, &of_file.private)
        .await
        .unwrap();
    let made = world
        .create("local/directory", &folder, &of_folder.private)
        .await
        .unwrap();
    assert_eq!(made.fields.get("existed"), Some(&Value::Null));
    assert_eq!(
        fs::metadata(world.path("a/b"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o750
    );
    // The run was killed before the create of the folder. The record of the file counts the created
    // folders.
    world.restart();
    world
        .found("local/file", &file, &of_file.private)
        .await
        .unwrap();
    assert!(!world.plan("local/directory", &folder).await.adopts);
    let again = world
        .create("local/directory", &folder, &Value::Null)
        .await
        .unwrap();
    assert_eq!(again.private.get("made"), Some(&Value::Bool(true)));
}

#[tokio::test]
async fn a_folder_and_its_files_may_be_created_and_deleted_in_any_order() {
    let world = Arc::new(World::new());
    let folder = |at: usize| spec([("path", format!("top/d{at}").into())]);
    let file = |at: usize, nr: usize| {
        spec([
            ("path", format!("top/d{at}/f{nr}").into()),
            ("content", "x".into()),
        ])
    };
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for at in 0..40 {
        folders.push(("local/directory", folder(at)));
        files.extend((0..4).map(|nr| ("local/file", file(at, nr))));
    }
    let all: Vec<_> = files.into_iter().chain(folders).collect();
    let mut facts = Vec::new();
    for (type_name, inputs) in &all {
        facts.push(world.plan(type_name, inputs).await.private);
    }
    let mut under_way = JoinSet::new();
    for ((type_name, inputs), fact) in all.into_iter().zip(facts) {
        let world = world.clone();
        under_way.spawn(async move {
            let made = world.create(type_name, &inputs, &fact).await.unwrap();
            (type_name, inputs, made)
        });
    }
    let mut made = under_way.join_all().await;
    // Folders are deleted before their content.
    made.sort_by_key(|(type_name, ..)| *type_name);
    let mut under_way = JoinSet::new();
    for (type_name, inputs, made) in made {
        assert_eq!(
            made.fields.get("existed"),
            Some(&Value::Null),
            "{type_name}"
        );
        let world = world.clone();
        under_way.spawn(async move {
            world
                .delete(type_name, &inputs, &made.id, &made.private)
                .await
        });
    }
    under_way.join_all().await;
    assert_eq!(
        fs::read_dir(world.path("top")).unwrap().count(),
        0,
        "no folder is left"
    );
}

#[tokio::test]
async fn the_next_run_removes_temporary_files_of_a_killed_run() {
    let mut world = World::new();
    let inputs = spec([("path", "d/f".into()), ("content", "x".into())]);
    let folder = spec([("path", "d".into())]);
    let planned = world.plan("local/directory", &folder).await;
    let made = world
        .create("local/directory", &folder, &planned.private)
        .await
        .unwrap();
    let left = |world: &World| {
        fs::write(world.path("d/.cyan-aB3dE6"), "half").unwrap();
        fs::create_dir(world.path("d/.cyan-xY9zW0")).unwrap();
        symlink("x", world.path("d/.cyan-xY9zW0/link")).unwrap();
    };
    left(&world);
    let file = world
        .create("local/file", &inputs, &Value::Null)
        .await
        .unwrap();
    let names = |world: &World| -> Vec<_> {
        fs::read_dir(world.path("d"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    };
    assert_eq!(names(&world), ["f"]);
    left(&world);
    world.restart();
    world
        .delete("local/file", &inputs, &file.id, &file.private)
        .await;
    assert!(names(&world).is_empty());
    left(&world);
    world.restart();
    assert!(
        world
            .delete("local/directory", &folder, &made.id, &made.private)
            .await
            .is_empty()
    );
    assert!(!is_there(&world.path("d")));
}

#[tokio::test]
async fn a_secret_can_be_passed_by_standard_input() {
    let world = World::new();
    let secret = Value::from("hunter2\n").secret();
    let inputs = spec([("create", "cat > got".into()), ("stdin", secret.clone())]);
    world
        .create("local/command", &inputs, &Value::Null)
        .await
        .unwrap();
    assert_eq!(fs::read_to_string(world.path("got")).unwrap(), "hunter2\n");
    let printed = world
        .printed(&[("command", "cat".into()), ("stdin", "said".into())])
        .await
        .unwrap();
    assert_eq!(printed, "said");
    // A program that does not read its input is not delayed, whatever the size of the input.
    let much = Value::from("x".repeat(1 << 20));
    let inputs = spec([("create", "true".into()), ("stdin", much)]);
    world
        .create("local/command", &inputs, &Value::Null)
        .await
        .unwrap();
    let inputs = spec([
        ("create", Value::from("echo hunter2").secret()),
        ("stdin", secret),
    ]);
    let request = CheckRequest {
        type_name: "local/command",
        spec: &inputs,
    };
    let checked = world.provider.check(&world.call(), request).await.unwrap();
    let warnings = warnings(&checked.diagnostics);
    let [(field, why)] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!(
        field == "create" && why.contains("list of processes"),
        "{why}"
    );
}

#[tokio::test]
async fn a_data_source_warns_about_secrets_in_commands() {
    let world = World::new();
    let fetch = async |filters: &[(&str, Value)]| {
        let filters: Vec<_> = filters
            .iter()
            .map(|(field, value)| ((*field).into(), "=".into(), value.clone()))
            .collect();
        let request = FetchRequest {
            type_name: "local/command",
            filters: &filters,
            annotations: &Value::Null,
        };
        warnings(
            &world
                .provider
                .fetch(&world.call(), request)
                .await
                .unwrap()
                .diagnostics,
        )
    };
    let secret = || Value::from("echo hunter2").secret();
    let warnings = fetch(&[("command", secret())]).await;
    let [(field, why)] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!(
        field == "command" && why.contains("list of processes") && !why.contains("environment"),
        "{why}"
    );
    assert!(
        fetch(&[("command", "cat".into()), ("stdin", secret())])
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn source_with_another_digest_than_the_plan_saw_is_not_copied() {
    let world = World::new();
    fs::create_dir(world.path("in")).unwrap();
    fs::write(world.path("in/a"), "as planned").unwrap();
    let file = spec([("path", "out/f".into()), ("source", "in/a".into())]);
    let archive = spec([("path", "out/a.tar".into()), ("root", "in".into())]);
    for (type_name, inputs, field) in [
        ("local/file", &file, "source"),
        ("local/archive", &archive, "root"),
    ] {
        fs::write(world.path("in/a"), "as planned").unwrap();
        let request = PreflightRequest {
            operation: Operation::Create,
            type_name,
            id: None,
            prior_inputs: &Value::Null,
            desired: inputs,
            changing: &Arc::default(),
            text_limit: 0,
        };
        let seen = world
            .provider
            .preflight(&world.call(), request)
            .await
            .unwrap();
        let [
            SourceRead {
                content: SourceContent::Digest(digest),
                ..
            },
        ] = seen.sources.as_slice()
        else {
            panic!("{seen:?}")
        };
        let sources = [(field.into(), digest.clone())];
        let create = async || {
            let request = ApplyRequest {
                operation: Operation::Create,
                type_name,
                id: None,
                prior_inputs: &Value::Null,
                prior: &Value::Null,
                desired: inputs,
                private: &Value::Null,
                sources: &sources,
                metadata: &Value::Null,
                delete_mode: blueprint::DeleteMode::Delete,
                schema_version: 0,
                planned: &Value::Null,
            };
            world.provider.apply(&world.call(), request).await
        };
        fs::write(world.path("in/a"), "edited since").unwrap();
        let error = create().await.unwrap_err();
        assert!(
            error
                .message
                .contains("has changed since the plan was made"),
            "{type_name}: {error}"
        );
        assert!(!is_there(&world.path("out")), "{type_name}");
        fs::write(world.path("in/a"), "as planned").unwrap();
        create().await.unwrap();
        fs::remove_dir_all(world.path("out")).unwrap();
    }
}

#[tokio::test]
async fn a_path_must_not_begin_with_the_home_folder() {
    let world = World::new();
    for (type_name, inputs) in [
        (
            "local/file",
            spec([("path", "~/f".into()), ("content", "x".into())]),
        ),
        (
            "local/file",
            spec([("path", "$HOME/f".into()), ("content", "x".into())]),
        ),
        ("local/directory", spec([("path", "~".into())])),
        (
            "local/symlink",
            spec([("path", "l".into()), ("target", "~/x".into())]),
        ),
        (
            "local/command",
            spec([("create", "true".into()), ("workingDir", "~/x".into())]),
        ),
    ] {
        let checked = world
            .provider
            .check(
                &world.call(),
                CheckRequest {
                    type_name,
                    spec: &inputs,
                },
            )
            .await
            .unwrap();
        let [refusal] = checked.diagnostics.as_slice() else {
            panic!("{type_name}: {:?}", checked.diagnostics)
        };
        assert_eq!(
            (refusal.severity, refusal.finding),
            (ProviderSeverity::Error, Finding::Refused),
            "{type_name}"
        );
        assert!(
            refusal
                .summary
                .contains("does not mean the home folder here"),
            "{}",
            refusal.summary
        );
    }
    assert!(
        world
            .create(
                "local/file",
                &spec([("path", "~/f".into()), ("content", "x".into())]),
                &Value::Null
            )
            .await
            .is_err()
    );
    assert!(!is_there(&world.path("~")));
    world
        .create(
            "local/file",
            &spec([("path", "./~/f".into()), ("content", "x".into())]),
            &Value::Null,
        )
        .await
        .unwrap();
    assert!(is_there(&world.path("~/f")));
}
