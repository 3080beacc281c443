//! The provider `local`: the suite of the contract, and what its types promise.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use blueprint::{Address, Value};
use provider::conformance::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, ErrorKind, FetchRequest, Operation, PlanRequest, Planned, Provider,
    ProviderError, ReadRequest, Seen,
};
use providers::local::{LocalProvider, provider};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

fn texts(items: &[&str]) -> Value {
    Value::list(items.iter().map(|item| Value::from(*item)))
}

/// A folder, a provider, and calls that are made in them.
struct World {
    folder: TempDir,
    provider: LocalProvider,
    said: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn new() -> World {
        World { folder: tempfile::tempdir().unwrap(), provider: provider(), said: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn call(&self) -> Call {
        let said = self.said.clone();
        Call {
            instance: "test".into(),
            address: Address::root("thing"),
            token: "token".into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.folder.path().to_path_buf(),
            folder: self.folder.path().to_path_buf(),
            settings: Value::Null,
            now: 0,
            progress: Arc::new(move |line| said.lock().unwrap().push(line.to_owned())),
        }
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    async fn create(&self, type_name: &str, desired: &Value) -> Result<Applied, ProviderError> {
        self.create_with(&self.call(), type_name, desired).await
    }

    async fn create_with(&self, call: &Call, type_name: &str, desired: &Value) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Create,
            type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired,
            private: &Value::Null,
            sources: &[],
        };
        self.provider.apply(call, request).await
    }

    async fn update(
        &self,
        type_name: &str,
        made: &Applied,
        prior_inputs: &Value,
        desired: &Value,
    ) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Update,
            type_name,
            id: Some(&made.id),
            prior_inputs,
            prior: &made.fields,
            desired,
            private: &made.private,
            sources: &[],
        };
        self.provider.apply(&self.call(), request).await
    }

    async fn delete(&self, type_name: &str, made: &Applied, inputs: &Value) -> Result<Vec<String>, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Delete,
            type_name,
            id: Some(&made.id),
            prior_inputs: inputs,
            prior: &made.fields,
            desired: &Value::Null,
            private: &made.private,
            sources: &[],
        };
        self.provider.apply(&self.call(), request).await.map(|applied| applied.warnings)
    }

    async fn see(&self, type_name: &str, made: &Applied, inputs: &Value) -> Result<Seen, ProviderError> {
        let request = ReadRequest {
            type_name,
            id: Some(&made.id),
            inputs,
            outputs: &made.fields,
            private: &made.private,
            token: None,
        };
        self.provider.read(&self.call(), request).await
    }

    /// The fields that are there now.
    async fn fields(&self, type_name: &str, made: &Applied, inputs: &Value) -> Value {
        match self.see(type_name, made, inputs).await.unwrap() {
            Seen::There { fields, .. } => fields,
            other => panic!("{other:?}"),
        }
    }

    async fn fetch(&self, type_name: &str, filters: &[(&str, Value)]) -> Result<Value, ProviderError> {
        let filters: Vec<_> =
            filters.iter().map(|(field, value)| ((*field).into(), "=".into(), value.clone())).collect();
        let request = FetchRequest { type_name, filters: &filters, annotations: &Value::Null };
        let fetched = self.provider.fetch(&self.call(), request).await?;
        assert_eq!(fetched.candidates.len(), 1);
        assert_eq!(fetched.applied.len(), filters.len());
        Ok(fetched.candidates.into_iter().next().unwrap().fields)
    }

    async fn rejected(&self, type_name: &str, spec: &Value) -> Vec<String> {
        let checked = self.provider.check(&self.call(), CheckRequest { type_name, spec }).await.unwrap();
        checked.rejected.into_iter().map(|(path, _)| path).collect()
    }
}

fn text<'a>(fields: &'a Value, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_text).unwrap_or_else(|| panic!("no text in `{name}`"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn every_type_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/a.txt"), "a").unwrap();
    let setup = Setup::in_folder(folder.path());
    let cases = [
        Case::new("local/directory", spec([("path", "made/d".into())]))
            .changed(spec([("path", "made/d".into()), ("mode", "0700".into())])),
        Case::new("local/file", spec([("path", "deep/f".into()), ("content", "one".into())])).changed(spec([
            ("path", "deep/f".into()),
            ("content", "two".into()),
            ("mode", "600".into()),
        ])),
        Case::new("local/file", spec([("path", "f2".into()), ("contentBase64", "AP8=".into())])),
        Case::new("local/file", spec([("path", "f3".into()), ("source", "in/a.txt".into())])),
        Case::new("local/file", spec([("path", "f4".into()), ("sensitiveContent", "hunter2".into())]))
            .changed(spec([("path", "f4".into()), ("sensitiveContent", "hunter3".into())])),
        Case::new("local/archive", spec([("path", "a.zip".into()), ("root", "in".into())]))
            .changed(spec([("path", "a.zip".into()), ("entries", spec([("x", "y".into())]))])),
        Case::new("local/symlink", spec([("path", "l".into()), ("target", "in".into())]))
            .changed(spec([("path", "l".into()), ("target", "nowhere".into())])),
        Case::new(
            "local/command",
            spec([
                ("create", "touch c; echo '{\"a\": [1, 2.5]}'".into()),
                ("read", texts(&["sh", "-c", "test -f c || exit 3"])),
                ("delete", "rm -f c".into()),
            ]),
        )
        .changed(spec([
            ("create", "echo again".into()),
            ("read", texts(&["sh", "-c", "test -f c || exit 3"])),
            ("delete", "rm -f c".into()),
        ]))
        .forgets_tokens(),
    ];
    let failures = provider::conformance::provider(|| Arc::new(provider()), &setup, &cases).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

// ---- files

#[tokio::test]
async fn a_file_is_written_with_its_folders_and_mode() {
    let world = World::new();
    let inputs = spec([("path", "a/b/c.txt".into()), ("content", "hi".into()), ("mode", "0640".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    assert_eq!(world.text("a/b/c.txt"), "hi");
    assert_eq!(mode(&world.path("a/b/c.txt")), 0o640);
    assert_eq!(text(&made.fields, "path"), "a/b/c.txt");
    assert_eq!(text(&made.fields, "id"), world.path("a/b/c.txt").to_str().unwrap());
    assert_eq!(text(&made.fields, "sha256"), "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4");
    assert_eq!(made.fields.get("size"), Some(&Value::Int(2)));
    let left: Vec<_> = fs::read_dir(world.path("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing temporary is left");
    assert_eq!(world.delete("local/file", &made, &inputs).await.unwrap(), [""; 0]);
    assert!(!world.path("a/b/c.txt").exists() && world.path("a/b").is_dir());
}

#[tokio::test]
async fn what_is_read_is_relative_to_the_document_and_what_is_written_to_the_root() {
    let world = World::new();
    world.write("child/in.txt", "from the child");
    let call = Call { folder: world.path("child"), ..world.call() };
    let inputs = spec([("path", "out.txt".into()), ("source", "in.txt".into())]);
    world.create_with(&call, "local/file", &inputs).await.unwrap();
    assert_eq!(world.text("out.txt"), "from the child");
}

#[tokio::test]
async fn a_file_of_somebody_else_is_refused_unless_overwrite() {
    let world = World::new();
    world.write("f", "theirs");
    let inputs = spec([("path", "f".into()), ("content", "ours".into())]);
    let error = world.create("local/file", &inputs).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Conflict, Some("path")));
    assert!(error.message.contains("write `overwrite: true` to replace it"), "{error}");
    assert_eq!(world.text("f"), "theirs");
    let inputs = spec([("path", "f".into()), ("content", "ours".into()), ("overwrite", true.into())]);
    world.create("local/file", &inputs).await.unwrap();
    assert_eq!(world.text("f"), "ours");
}

#[tokio::test]
async fn a_folder_or_a_file_in_the_way_is_never_replaced() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    world.write("plain", "");
    for path in ["d", "plain/below"] {
        let inputs = spec([("path", path.into()), ("content", "x".into()), ("overwrite", true.into())]);
        let error = world.create("local/file", &inputs).await.unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Conflict, Some("path")), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_create_that_is_tried_again_finds_its_file() {
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
    };
    assert!(matches!(world.provider.read(&world.call(), lost(&inputs)).await.unwrap(), Seen::There { .. }));
    fs::write(world.path("f"), "other").unwrap();
    assert!(matches!(world.provider.read(&world.call(), lost(&inputs)).await.unwrap(), Seen::Gone));
    assert!(matches!(world.provider.read(&world.call(), lost(&Value::Null)).await.unwrap(), Seen::CannotTell));
}

#[tokio::test]
async fn a_change_by_somebody_else_shows_in_every_form_of_content() {
    let world = World::new();
    world.write("source", "x");
    for (way, value) in [("content", "x"), ("contentBase64", "eA=="), ("source", "source"), ("sensitiveContent", "x")] {
        let inputs = spec([("path", "f".into()), (way, value.into()), ("overwrite", true.into())]);
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
        let updated = world.update("local/file", &made, &inputs, &inputs).await.unwrap();
        assert_eq!(world.text("f"), "x");
        assert_eq!((updated.fields, mode(&world.path("f"))), (made.fields, 0o644));
    }
}

#[tokio::test]
async fn a_changed_source_is_no_drift() {
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
async fn a_mode_is_compared_by_what_it_means() {
    let world = World::new();
    let inputs = spec([("path", "f".into()), ("content", "x".into()), ("mode", "600".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    assert_eq!(text(&world.fields("local/file", &made, &inputs).await, "mode"), "600");
}

#[tokio::test]
async fn secret_content_stays_secret() {
    let world = World::new();
    for (way, value) in [("content", Value::from("hunter2").secret()), ("sensitiveContent", "hunter2".into())] {
        let inputs = spec([("path", way.into()), (way, value)]);
        let made = world.create("local/file", &inputs).await.unwrap();
        assert_eq!(world.text(way), "hunter2");
        fs::write(world.path(way), "other secret").unwrap();
        let now = world.fields("local/file", &made, &inputs).await;
        for fields in [&made.fields, &now] {
            assert!(matches!(fields.get("sha256"), Some(Value::Secret(_))), "{way}");
        }
        if way == "content" {
            assert_eq!(now.get(way), Some(&Value::from("other secret").secret()));
        }
    }
}

#[tokio::test]
async fn what_is_no_file_any_more_is_kept_and_what_is_gone_is_gone() {
    let world = World::new();
    let inputs = spec([("path", "f".into()), ("content", "x".into())]);
    let made = world.create("local/file", &inputs).await.unwrap();
    fs::remove_file(world.path("f")).unwrap();
    assert!(matches!(world.see("local/file", &made, &inputs).await.unwrap(), Seen::Gone));
    fs::create_dir(world.path("f")).unwrap();
    assert_eq!(world.delete("local/file", &made, &inputs).await.unwrap().len(), 1);
    assert!(world.path("f").is_dir());
}

#[tokio::test]
async fn a_project_may_be_moved_with_its_state() {
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
async fn nothing_begins_once_it_is_cancelled() {
    let world = World::new();
    let call = world.call();
    call.cancel.cancel();
    for (type_name, inputs) in [
        ("local/file", spec([("path", "f".into()), ("content", "x".into())])),
        ("local/command", spec([("create", "touch f".into())])),
    ] {
        assert_eq!(world.create_with(&call, type_name, &inputs).await.unwrap_err().kind, ErrorKind::Cancelled);
    }
    assert!(!world.path("f").exists());
}

#[tokio::test]
async fn a_file_is_imported_as_it_is() {
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
    };
    let Seen::There { fields, .. } = world.provider.read(&world.call(), request).await.unwrap() else {
        panic!("not there")
    };
    assert_eq!((text(&fields, "path"), text(&fields, "content"), text(&fields, "mode")), ("have.txt", "text", "0644"));
}

#[tokio::test]
async fn a_file_has_exactly_one_content() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/file", &fields).await;
    assert_eq!(at(spec([("path", "f".into())])).await, [""]);
    assert_eq!(at(spec([("content", "a".into()), ("source", "b".into())])).await, ["source"]);
    assert_eq!(at(spec([("contentBase64", "???".into())])).await, ["contentBase64"]);
    assert_eq!(at(spec([("content", Value::unknown(None, None)), ("source", Value::Null)])).await, [""; 0]);
}

#[tokio::test]
async fn a_source_that_is_not_there_is_named() {
    let world = World::new();
    let error = world.create("local/file", &spec([("path", "f".into()), ("source", "no".into())])).await.unwrap_err();
    assert_eq!(error.field.as_deref(), Some("source"));
    assert_eq!(error.message, format!("cannot read `{}`: it is not there", world.path("no").display()));
}

// ---- folders and links

#[tokio::test]
async fn a_folder_is_kept_while_something_is_in_it() {
    let world = World::new();
    let inputs = spec([("path", "a/d".into()), ("mode", "0750".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(mode(&world.path("a/d")), 0o750);
    world.write("a/d/theirs.txt", "");
    let warnings = world.delete("local/directory", &made, &inputs).await.unwrap();
    assert!(warnings.len() == 1 && warnings[0].ends_with("still in it: `theirs.txt`"), "{warnings:?}");
    fs::remove_file(world.path("a/d/theirs.txt")).unwrap();
    assert_eq!(world.delete("local/directory", &made, &inputs).await.unwrap(), [""; 0]);
    assert!(!world.path("a/d").exists() && world.path("a").is_dir());
}

#[tokio::test]
async fn a_folder_that_was_there_is_neither_changed_nor_removed() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o711)).unwrap();
    let inputs = spec([("path", "d".into()), ("mode", "0755".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(mode(&world.path("d")), 0o711);
    assert_eq!(text(&world.fields("local/directory", &made, &inputs).await, "mode"), "0755");
    assert_eq!(world.delete("local/directory", &made, &inputs).await.unwrap().len(), 1);
    assert!(world.path("d").is_dir());
}

#[tokio::test]
async fn a_folder_made_here_shows_its_mode() {
    let world = World::new();
    let inputs = spec([("path", "d".into()), ("mode", "0755".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    let again = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(made.private, again.private);
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(text(&world.fields("local/directory", &made, &inputs).await, "mode"), "0700");
    world.update("local/directory", &made, &inputs, &inputs).await.unwrap();
    assert_eq!(mode(&world.path("d")), 0o755);
}

#[tokio::test]
async fn parents_are_made_only_if_wanted() {
    let world = World::new();
    let error =
        world.create("local/directory", &spec([("path", "a/b".into()), ("parents", false.into())])).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("path")));
    assert!(!world.path("a").exists());
}

#[tokio::test]
async fn a_link_is_made_turned_and_removed() {
    let world = World::new();
    let inputs = spec([("path", "l".into()), ("target", "one".into())]);
    let made = world.create("local/symlink", &inputs).await.unwrap();
    let turned = spec([("path", "l".into()), ("target", "two".into())]);
    world.update("local/symlink", &made, &inputs, &turned).await.unwrap();
    assert_eq!(fs::read_link(world.path("l")).unwrap(), Path::new("two"));
    assert_eq!(text(&world.fields("local/symlink", &made, &inputs).await, "target"), "two");
    let error = world.create("local/symlink", &inputs).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    fs::remove_file(world.path("l")).unwrap();
    world.write("l", "a file by now");
    assert!(matches!(world.see("local/symlink", &made, &inputs).await.unwrap(), Seen::Gone));
    assert_eq!(world.delete("local/symlink", &made, &inputs).await.unwrap().len(), 1);
    assert!(world.path("l").is_file());
}

// ---- archives

fn packed_names(path: &Path) -> Vec<String> {
    let zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    zip.file_names().map(|name| name.unwrap().into_owned()).collect()
}

#[tokio::test]
async fn the_same_input_gives_the_same_archive() {
    let world = World::new();
    for (number, names) in [("1", ["b/x.txt", "a.txt", "run.sh"]), ("2", ["run.sh", "a.txt", "b/x.txt"])] {
        for name in names {
            world.write(&format!("in{number}/{name}"), name);
        }
        fs::set_permissions(world.path(&format!("in{number}/run.sh")), fs::Permissions::from_mode(0o700)).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    for end in ["zip", "tar", "tar.gz"] {
        let mut made = Vec::new();
        for number in ["1", "2"] {
            let inputs = spec([
                ("path", format!("{number}.{end}").into()),
                ("root", format!("in{number}").into()),
                ("entries", spec([("extra/note", "n".into())])),
            ]);
            made.push(world.create("local/archive", &inputs).await.unwrap().fields);
            assert_eq!(made[0].get("sha256"), made[made.len() - 1].get("sha256"), "{end}");
        }
        assert_eq!(
            fs::read(world.path(&format!("1.{end}"))).unwrap(),
            fs::read(world.path(&format!("2.{end}"))).unwrap()
        );
    }
    let mut zip = zip::ZipArchive::new(fs::File::open(world.path("1.zip")).unwrap()).unwrap();
    assert_eq!(packed_names(&world.path("1.zip")), ["a.txt", "b/x.txt", "extra/note", "run.sh"]);
    assert_eq!(zip.by_name("run.sh").unwrap().unix_mode().map(|mode| mode & 0o777), Some(0o755));
    assert_eq!(std::io::read_to_string(zip.by_name("extra/note").unwrap()).unwrap(), "n");
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(world.path("1.tar.gz")).unwrap()));
    let names: Vec<_> =
        tar.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect();
    assert_eq!(names, ["a.txt", "b/x.txt", "extra/note", "run.sh"]);
}

#[tokio::test]
async fn patterns_choose_what_is_packed() {
    let world = World::new();
    for name in ["a.txt", "a.log", "sub/b.txt", "sub/deep/c.txt", "skip/d.txt", "out.zip"] {
        world.write(&format!("in/{name}"), name);
    }
    let packed = async |fields: Vec<(&str, Value)>| {
        let all = [("path", "in/out.zip".into()), ("root", "in".into()), ("overwrite", true.into())]
            .into_iter()
            .chain(fields);
        world.create("local/archive", &Value::map(all)).await.unwrap();
        packed_names(&world.path("in/out.zip"))
    };
    assert_eq!(packed(vec![]).await, ["a.log", "a.txt", "skip/d.txt", "sub/b.txt", "sub/deep/c.txt"]);
    assert_eq!(packed(vec![("include", texts(&["*.txt"]))]).await, ["a.txt"]);
    assert_eq!(
        packed(vec![("include", texts(&["**/*.txt"])), ("exclude", texts(&["skip/", "sub/deep"]))]).await,
        ["a.txt", "sub/b.txt"]
    );
    assert_eq!(packed(vec![("include", texts(&["sub"]))]).await, ["sub/b.txt", "sub/deep/c.txt"]);
}

#[tokio::test]
async fn a_changed_archive_is_drift_and_a_changed_part_is_none() {
    let world = World::new();
    world.write("in/a", "1");
    let inputs = spec([("path", "a.tar".into()), ("root", "in".into())]);
    let made = world.create("local/archive", &inputs).await.unwrap();
    let seen = async || {
        let fields = world.fields("local/archive", &made, &inputs).await;
        ["sha256", "inputsSha256"].map(|field| fields.get(field) == made.fields.get(field))
    };
    assert_eq!(seen().await, [true, true]);
    world.write("in/a", "2");
    assert_eq!(seen().await, [true, true]);
    world.update("local/archive", &made, &inputs, &inputs).await.unwrap();
    assert_eq!(seen().await, [false, true]);
    fs::remove_dir_all(world.path("in")).unwrap();
    assert_eq!(seen().await, [false, true]);
    let error = world.update("local/archive", &made, &inputs, &inputs).await.unwrap_err();
    assert_eq!(error.field.as_deref(), Some("root"));
}

#[tokio::test]
async fn faulty_archives_are_refused_at_their_fields() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/archive", &fields).await;
    assert_eq!(at(spec([("path", "a.rar".into()), ("root", ".".into())])).await, ["path"]);
    assert_eq!(at(spec([("path", "a.zip".into())])).await, [""]);
    assert_eq!(
        at(spec([("path", "a.zip".into()), ("root", ".".into()), ("include", texts(&["ok", "a["]))])).await,
        ["include[1]"]
    );
}

// ---- commands

#[tokio::test]
async fn a_command_sees_its_surroundings_and_gives_its_output() {
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
    let updated = world.update("local/command", &made, &inputs, &inputs).await.unwrap();
    assert_eq!(text(&updated.fields, "stdout"), "update thing token blue sub");
    assert_eq!(updated.id, made.id);
    world.delete("local/command", &made, &inputs).await.unwrap();
    assert_eq!(world.text("sub/deleted"), "delete\n");
}

#[tokio::test]
async fn lists_run_as_they_are_and_text_through_the_interpreter() {
    let world = World::new();
    let made = world.create("local/command", &spec([("create", texts(&["echo", "$HOME", "a  b"]))])).await.unwrap();
    assert_eq!(text(&made.fields, "stdout"), "$HOME a  b");
    let inputs = spec([("create", "x y".into()), ("interpreter", texts(&["echo", "-n", "got"]))]);
    assert_eq!(text(&world.create("local/command", &inputs).await.unwrap().fields, "stdout"), "got x y");
}

#[tokio::test]
async fn json_output_is_decoded() {
    let world = World::new();
    let made = world
        .create("local/command", &spec([("create", "echo '{\"n\": 3, \"f\": 1.5, \"l\": [null]}'".into())]))
        .await
        .unwrap();
    let wanted = spec([("n", Value::Int(3)), ("f", Value::Float(1.5)), ("l", Value::list([Value::Null]))]);
    assert_eq!(made.fields.get("json"), Some(&wanted));
}

#[tokio::test]
async fn a_failing_command_says_why() {
    let world = World::new();
    let inputs = spec([("create", "echo starting; echo no such luck >&2; exit 7".into())]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Permanent, Some("create")));
    assert_eq!(error.message, "the command `create` ended with exit code 7:\nno such luck");
    let error = world.create("local/command", &spec([("create", texts(&["no-such-program-here"]))])).await.unwrap_err();
    assert_eq!(error.message, "there is no program `no-such-program-here`");
    let error = world.create("local/command", &spec([("create", "kill -9 $$".into())])).await.unwrap_err();
    assert_eq!(error.message, "the command `create` was ended by signal 9");
    let error = world
        .create("local/command", &spec([("create", "true".into()), ("workingDir", "no".into())]))
        .await
        .unwrap_err();
    assert_eq!(error.field.as_deref(), Some("workingDir"));
}

#[tokio::test]
async fn secrets_are_scrubbed_from_what_people_see() {
    let world = World::new();
    let inputs = spec([
        ("create", "echo \"key is $KEY\"; echo \"bad $KEY\" >&2; exit 1".into()),
        ("environment", spec([("KEY", Value::from("hunter2").secret())])),
    ]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert!(error.message.ends_with("bad (secret)"), "{error}");
    assert!(world.said().contains(&"key is (secret)".to_owned()), "{:?}", world.said());
    let inputs =
        spec([("create", "echo \"$KEY\"".into()), ("environment", spec([("KEY", Value::from("hunter2").secret())]))]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(made.fields.get("stdout"), Some(&Value::from("hunter2").secret()));
}

#[tokio::test]
async fn read_says_there_gone_or_an_error() {
    let world = World::new();
    let inputs = spec([("create", "touch c".into()), ("read", "test -f bad && exit 5; test -f c || exit 3".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(world.fields("local/command", &made, &inputs).await, made.fields);
    fs::remove_file(world.path("c")).unwrap();
    assert!(matches!(world.see("local/command", &made, &inputs).await.unwrap(), Seen::Gone));
    world.write("bad", "");
    assert_eq!(world.see("local/command", &made, &inputs).await.unwrap_err().field.as_deref(), Some("read"));
    let without = spec([("create", "touch c".into())]);
    let made = world.create("local/command", &without).await.unwrap();
    assert_eq!(world.fields("local/command", &made, &without).await, made.fields);
}

#[tokio::test]
async fn a_command_that_was_cut_off_is_looked_at_where_it_can_be() {
    let world = World::new();
    let inputs = spec([("create", "touch c".into()), ("read", "test -f c || exit 3".into())]);
    let without = spec([("create", "touch c".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    let read = async |id: Option<&str>, inputs: &Value, outputs: &Value| {
        let private = &Value::Null;
        let request = ReadRequest { type_name: "local/command", id, inputs, outputs, private, token: Some("token") };
        world.provider.read(&world.call(), request).await.unwrap()
    };
    let Seen::There { id, fields, .. } = read(None, &inputs, &Value::Null).await else { panic!("not found") };
    assert_eq!(id, made.id);
    for lost in ["stdout", "stderr", "json", "exitCode"] {
        assert!(fields.get(lost).is_some_and(Value::has_unknown), "nobody has heard its {lost}");
    }
    assert!(matches!(read(None, &without, &Value::Null).await, Seen::CannotTell));
    assert!(matches!(read(Some(&made.id), &without, &without).await, Seen::CannotTell), "an update");
    let deletes = spec([("create", "touch c".into()), ("delete", "rm c".into())]);
    assert!(matches!(read(Some(&made.id), &Value::Null, &deletes).await, Seen::CannotTell), "a delete");
    assert!(
        matches!(read(Some(&made.id), &Value::Null, &without).await, Seen::There { .. }),
        "a delete that runs nothing"
    );
    fs::remove_file(world.path("c")).unwrap();
    assert!(matches!(read(None, &inputs, &Value::Null).await, Seen::Gone), "a create");
    assert!(matches!(read(Some(&made.id), &Value::Null, &made.fields).await, Seen::Gone), "a delete");
}

#[tokio::test]
async fn some_changes_are_only_recorded() {
    let world = World::new();
    let plan = async |prior: &Value, desired: &Value| -> Planned {
        let request = PlanRequest { type_name: "local/command", prior_inputs: prior, prior, desired };
        world.provider.plan(&world.call(), request).await.unwrap()
    };
    let before = spec([("create", "a".into()), ("read", "b".into()), ("timeout", "1m".into())]);
    let after = spec([("create", "x".into()), ("delete", "d".into()), ("timeout", "2m".into()), ("read", "b".into())]);
    assert_eq!(plan(&before, &after).await.only_recorded, ["delete", "timeout"]);
    assert!(plan(&Value::Null, &after).await.only_recorded.is_empty());
}

#[tokio::test]
async fn without_update_create_runs_again() {
    let world = World::new();
    let inputs = spec([("create", "echo x >> log".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    world.update("local/command", &made, &inputs, &inputs).await.unwrap();
    assert_eq!(world.text("log"), "x\nx\n");
    world.delete("local/command", &made, &inputs).await.unwrap();
}

/// Whether any process still has this text in its command line.
fn running(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        fs::read(process.path().join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
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
async fn the_whole_group_ends_on_timeout_cancel_and_deadline() {
    let world = World::new();
    let script = |mark: &str| Value::from(format!("sleep {mark} & sleep {mark}; true"));
    let begin = Instant::now();

    let inputs = spec([("create", script("98761")), ("timeout", "100ms".into())]);
    let error = world.create("local/command", &inputs).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Permanent, Some("timeout")));
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

    let call = Call { deadline: Some(Duration::from_millis(100)), ..world.call() };
    let error = world.create_with(&call, "local/command", &spec([("create", script("98763"))])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert!(ends("98763").await, "deadline");

    let inputs = spec([("create", script("98764"))]);
    let dropped = tokio::time::timeout(Duration::from_millis(100), world.create("local/command", &inputs)).await;
    assert!(dropped.is_err() && ends("98764").await, "dropped");
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn something_left_running_does_not_hold_the_step() {
    let world = World::new();
    let begin = Instant::now();
    let inputs = spec([("create", "echo up; { sleep 1.5; echo late; sleep 3; } & true".into())]);
    let made = world.create("local/command", &inputs).await.unwrap();
    assert_eq!(text(&made.fields, "stdout"), "up");
    assert!(begin.elapsed() < Duration::from_secs(3));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.said(), ["up"]);
}

#[tokio::test]
async fn much_output_is_cut_and_nobody_waits() {
    let world = World::new();
    let made =
        world.create("local/command", &spec([("create", "yes 1234567 | head -c 3000000".into())])).await.unwrap();
    assert!(text(&made.fields, "stdout").len() <= 1 << 20);
    assert_eq!(made.warnings.len(), 1);
}

#[tokio::test]
async fn faulty_commands_are_refused_at_their_fields() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/command", &fields).await;
    assert_eq!(at(spec([("create", " ".into()), ("timeout", "soon".into())])).await, ["create", "timeout"]);
    assert_eq!(at(spec([("create", "x".into()), ("interpreter", texts(&[]))])).await, ["interpreter"]);
}

// ---- data sources

#[tokio::test]
async fn a_file_is_read_as_text() {
    let world = World::new();
    world.write("a.txt", "héllo");
    let fields = world.fetch("local/file", &[("path", "a.txt".into())]).await.unwrap();
    assert_eq!((text(&fields, "content"), fields.get("size")), ("héllo", Some(&Value::Int(6))));
    fs::write(world.path("b"), [0x61, 0xff]).unwrap();
    let error = world.fetch("local/file", &[("path", "b".into())]).await.unwrap_err();
    assert!(error.message.contains("is not UTF-8 text (byte 1)"), "{error}");
    let error = world.fetch("local/file", &[("path", "c".into())]).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("path")));
}

#[tokio::test]
async fn a_folder_is_listed_in_order() {
    let world = World::new();
    for name in ["conf/b.yaml", "conf/a.yaml", "conf/c.txt", "conf/sub/d.yaml"] {
        world.write(name, "");
    }
    let list = async |filters: &[(&str, Value)]| {
        let fields = world.fetch("local/directory", filters).await.unwrap();
        ["names", "paths"].map(|field| fields.get(field).cloned().unwrap())
    };
    let [names, _] = list(&[("path", "conf".into())]).await;
    assert_eq!(names, texts(&["a.yaml", "b.yaml", "c.txt", "sub"]));
    let wanted = [texts(&["a.yaml", "b.yaml"]), texts(&["conf/a.yaml", "conf/b.yaml"])];
    assert_eq!(list(&[("path", "conf/*.yaml".into())]).await, wanted);
    assert_eq!(list(&[("path", "conf/".into()), ("glob", "*.yaml".into())]).await, wanted);
    let [names, _] = list(&[("path", "conf/**/*.yaml".into())]).await;
    assert_eq!(names, texts(&["a.yaml", "b.yaml", "sub/d.yaml"]));
    let [_, paths] = list(&[("path", "*/c.txt".into())]).await;
    assert_eq!(paths, texts(&["conf/c.txt"]));
    let absolute = format!("{}/conf/c*", world.folder.path().display());
    let [_, paths] = list(&[("path", absolute.into())]).await;
    assert_eq!(paths, texts(&[world.path("conf/c.txt").to_str().unwrap()]));
    assert_eq!(world.fetch("local/directory", &[("path", "no".into())]).await.unwrap_err().kind, ErrorKind::NotFound);
    let both = [("path", "conf/*".into()), ("glob", "*".into())];
    assert_eq!(world.fetch("local/directory", &both).await.unwrap_err().field.as_deref(), Some("glob"));
}

#[tokio::test]
async fn a_variable_is_read_from_the_environment() {
    let world = World::new();
    let fields = world.fetch("local/environment", &[("name", "PATH".into())]).await.unwrap();
    assert_eq!(text(&fields, "value"), std::env::var("PATH").unwrap());
    assert!(!fields.has_secret());
    let error = world.fetch("local/environment", &[("name", "NO_SUCH_TOKEN".into())]).await.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::NotFound, "the environment variable `NO_SUCH_TOKEN` is not set")
    );
}

#[tokio::test]
async fn a_command_is_asked() {
    let world = World::new();
    world.write("sub/f", "");
    let fields = world.fetch("local/command", &[("command", "ls".into()), ("workingDir", "sub".into())]).await.unwrap();
    assert_eq!(text(&fields, "stdout"), "f");
    let error = world.fetch("local/command", &[("command", "echo why >&2; exit 2".into())]).await.unwrap_err();
    assert_eq!(error.message, "the command ended with exit code 2:\nwhy");
    let secret = world.fetch("local/command", &[("command", Value::from("echo hunter2").secret())]).await.unwrap();
    assert!(secret.has_secret());
}

#[tokio::test]
async fn arguments_take_one_operator() {
    let world = World::new();
    let filters = [("path".into(), "contains".into(), "x".into())];
    let request = FetchRequest { type_name: "local/file", filters: &filters, annotations: &Value::Null };
    let error = world.provider.fetch(&world.call(), request).await.unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Document, Some("path")));
}

#[tokio::test]
async fn links_to_folders_are_left_out_of_archives() {
    let world = World::new();
    world.write("in/a", "a");
    symlink(world.path("in"), world.path("in/loop")).unwrap();
    symlink("a", world.path("in/b")).unwrap();
    let made = world.create("local/archive", &spec([("path", "x.zip".into()), ("root", "in".into())])).await.unwrap();
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(packed_names(&world.path("x.zip")), ["a", "b"]);
}
