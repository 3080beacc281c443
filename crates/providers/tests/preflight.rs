//! Preflights of `local` and `std`: sources, and objects in the way.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, Name, Value};
use provider::{Call, Operation, Preflight, PreflightRequest, Session, SourceContent};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

fn call(folder: &Path) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root("thing"),
        urn: Default::default(),
        token: "token".into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: folder.into(),
        folder: folder.into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now: 0,
        progress: Arc::new(|_| {}),
    }
}

async fn look(
    folder: &Path,
    provider: &dyn Session,
    operation: Operation,
    type_name: &str,
    desired: &Value,
    changing: &[String],
) -> Preflight {
    look_at_texts(folder, provider, operation, type_name, desired, changing, 0).await
}

async fn look_at_texts(
    folder: &Path,
    provider: &dyn Session,
    operation: Operation,
    type_name: &str,
    desired: &Value,
    changing: &[String],
    text_limit: u64,
) -> Preflight {
    let changing: Arc<BTreeSet<Name>> =
        Arc::new(changing.iter().map(|id| Name::from(id.as_str())).collect());
    let (prior_inputs, desired) = if operation == Operation::Delete {
        (desired, &Value::Null)
    } else {
        (&Value::Null, desired)
    };
    let request = PreflightRequest {
        operation,
        type_name,
        id: None,
        prior_inputs,
        desired,
        changing: &changing,
        text_limit,
    };
    provider.preflight(&call(folder), request).await.unwrap()
}

async fn create(folder: &Path, type_name: &str, desired: &Value) -> Preflight {
    look(
        folder,
        &providers::local::provider(),
        Operation::Create,
        type_name,
        desired,
        &[],
    )
    .await
}

#[tokio::test]
async fn an_id_does_not_depend_on_the_spelling_of_the_path() {
    let place = TempDir::new().unwrap();
    fs::create_dir(place.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", place.path().join("linked")).unwrap();
    let whole = place.path().join("real/f").display().to_string();
    for path in ["real/f", "./real/f", "real/x/../f", "linked/f", &whole] {
        let desired = spec([("path", path.into()), ("content", "x".into())]);
        let looked = create(place.path(), "local/file", &desired).await;
        let real = place.path().canonicalize().unwrap().join("real/f");
        assert_eq!(looked.id.as_deref(), Some(real.to_str().unwrap()), "{path}");
        assert_eq!((looked.existing, looked.refused), (Value::Null, None));
    }
    // A resource may be a link. Its id is its own path, not that of its target.
    std::os::unix::fs::symlink("real/f", place.path().join("link")).unwrap();
    let desired = spec([("path", "link".into()), ("target", "real/f".into())]);
    assert!(
        create(place.path(), "local/symlink", &desired)
            .await
            .id
            .unwrap()
            .ends_with("/link")
    );
}

#[tokio::test]
async fn a_source_is_readable_open_or_unreadable() {
    let place = TempDir::new().unwrap();
    let (local, std) = (providers::local::provider(), providers::std::provider());
    let cases: [(&dyn Session, &str, Value, &str); 2] = [
        (
            &local,
            "local/file",
            spec([("path", "f".into()), ("source", "src".into())]),
            "src",
        ),
        (
            &std,
            "std/template",
            spec([("source", "src".into())]),
            "src",
        ),
    ];
    for (provider, type_name, desired, source) in cases {
        let content = async |changing: &[String]| {
            let looked = look(
                place.path(),
                provider,
                Operation::Create,
                type_name,
                &desired,
                changing,
            )
            .await;
            looked
                .sources
                .into_iter()
                .map(|it| it.content)
                .next()
                .unwrap()
        };
        let path = place.path().join(source);
        let _ = fs::remove_file(&path);
        assert!(
            matches!(content(&[]).await, SourceContent::Unreadable(why) if why.contains("it is not there"))
        );
        fs::write(&path, "1").unwrap();
        let SourceContent::Digest(one) = content(&[]).await else {
            panic!("it can be read")
        };
        fs::write(&path, "2").unwrap();
        let SourceContent::Digest(two) = content(&[]).await else {
            panic!("it can be read")
        };
        assert_ne!(one, two);
        let id = path.canonicalize().unwrap().display().to_string();
        assert_eq!(content(&[id]).await, SourceContent::Open);
    }
}

#[tokio::test]
async fn an_archive_is_open_if_a_packed_file_changes() {
    let place = TempDir::new().unwrap();
    fs::create_dir_all(place.path().join("in/sub")).unwrap();
    fs::write(place.path().join("in/a.txt"), "1").unwrap();
    let root = place.path().canonicalize().unwrap();
    let desired = spec([
        ("path", "a.tar".into()),
        ("root", "in".into()),
        ("include", Value::list([Value::from("**/*.txt")])),
        ("exclude", Value::list([Value::from("sub")])),
    ]);
    for (changing, open) in [
        ("in/a.txt", true),
        ("in/new.txt", true),
        ("in/deep/new.txt", true),
        ("in/a.log", false),
        ("in/sub/b.txt", false),
        ("inner/a.txt", false),
        ("in", false),
        ("a.txt", false),
    ] {
        let changing = [root.join(changing).display().to_string()];
        let local = providers::local::provider();
        let looked = look(
            place.path(),
            &local,
            Operation::Create,
            "local/archive",
            &desired,
            &changing,
        )
        .await;
        assert_eq!(
            looked.sources[0].content == SourceContent::Open,
            open,
            "{changing:?}"
        );
    }
}

#[tokio::test]
async fn a_digest_of_secret_parts_is_secret() {
    let place = TempDir::new().unwrap();
    fs::create_dir(place.path().join("in")).unwrap();
    let entries = Value::map([("key", Value::from("hunter2").secret())]);
    let desired = spec([
        ("path", "a.tar".into()),
        ("root", "in".into()),
        ("entries", entries),
    ]);
    let looked = create(place.path(), "local/archive", &desired).await;
    assert!(
        matches!(&looked.sources[0].content, SourceContent::Digest(digest) if digest.has_secret())
    );
}

#[tokio::test]
async fn a_folder_to_be_deleted_lists_its_content() {
    let place = TempDir::new().unwrap();
    fs::create_dir(place.path().join("d")).unwrap();
    let inputs = spec([("path", "d".into())]);
    let local = providers::local::provider();
    let empty = look(
        place.path(),
        &local,
        Operation::Delete,
        "local/directory",
        &inputs,
        &[],
    )
    .await;
    fs::write(place.path().join("d/foreign"), "").unwrap();
    let full = look(
        place.path(),
        &local,
        Operation::Delete,
        "local/directory",
        &inputs,
        &[],
    )
    .await;
    assert!(empty.existing != full.existing && full.refused.is_none());
}

#[tokio::test]
async fn a_source_has_the_texts_that_others_may_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = TempDir::new().unwrap();
    let provider = providers::local::provider();
    let write = |name: &str, content: &[u8], mode: u32| {
        let path = place.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let texts = async |operation, mode: &str, limit| {
        let desired = spec([
            ("path", "f".into()),
            ("source", "src".into()),
            ("mode", mode.into()),
        ]);
        let looked = look_at_texts(
            place.path(),
            &provider,
            operation,
            "local/file",
            &desired,
            &[],
            limit,
        )
        .await;
        let texts = looked.sources.into_iter().next().unwrap().texts;
        texts.map(|texts| (texts.before.to_string(), texts.after.to_string()))
    };
    write("f", b"old\n", 0o644);
    write("src", b"new\n", 0o644);
    let shown = Some((r#""old\n""#.to_owned(), r#""new\n""#.to_owned()));
    assert_eq!(texts(Operation::Update, "0644", 100).await, shown);
    assert_eq!(texts(Operation::Update, "0644", 4).await, shown);
    assert_eq!(texts(Operation::Update, "0644", 3).await, None, "too long");
    assert_eq!(
        texts(Operation::Update, "0644", 0).await,
        None,
        "not wanted"
    );
    assert_eq!(texts(Operation::Create, "0644", 100).await, None, "new");
    assert_eq!(texts(Operation::Update, "0600", 100).await, None, "private");
    write("src", b"new\n", 0o600);
    assert_eq!(texts(Operation::Update, "0644", 100).await, None, "private");
    write("src", b"n\0w\n", 0o644);
    assert_eq!(texts(Operation::Update, "0644", 100).await, None, "no text");
    write("src", b"n\xffw\n", 0o644);
    assert_eq!(texts(Operation::Update, "0644", 100).await, None, "no text");
    write("src", b"old\n", 0o644);
    assert_eq!(texts(Operation::Update, "0644", 100).await, None, "equal");
}
