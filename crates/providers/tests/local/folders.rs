//! `local/directory` and `local/symlink`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provider::{ErrorKind, ReadOutcome};

use crate::world::{World, mode, spec, text, warnings};

#[tokio::test]
async fn a_folder_is_kept_until_it_is_empty() {
    let world = World::new();
    let inputs = spec([("path", "a/d".into()), ("mode", "0750".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(mode(&world.path("a/d")), 0o750);
    world.write("a/d/theirs.txt", "");
    let warnings = world
        .delete("local/directory", &made, &inputs)
        .await
        .unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("still in it: `theirs.txt`"),
        "{warnings:?}"
    );
    fs::remove_file(world.path("a/d/theirs.txt")).unwrap();
    assert_eq!(
        world
            .delete("local/directory", &made, &inputs)
            .await
            .unwrap(),
        [""; 0]
    );
    assert!(!world.path("a/d").exists() && world.path("a").is_dir());
}

#[tokio::test]
async fn an_existing_folder_is_neither_changed_nor_removed() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o711)).unwrap();
    let inputs = spec([("path", "d".into()), ("mode", "0755".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(warnings(&made.diagnostics).len(), 1);
    assert_eq!(mode(&world.path("d")), 0o711);
    assert_eq!(
        text(
            &world.fields("local/directory", &made, &inputs).await,
            "mode"
        ),
        "0755"
    );
    assert_eq!(
        world
            .delete("local/directory", &made, &inputs)
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(world.path("d").is_dir());
}

#[tokio::test]
async fn a_created_folder_shows_its_mode() {
    let world = World::new();
    let inputs = spec([("path", "d".into()), ("mode", "0755".into())]);
    let made = world.create("local/directory", &inputs).await.unwrap();
    let again = world.create("local/directory", &inputs).await.unwrap();
    assert_eq!(made.private, again.private);
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(
        text(
            &world.fields("local/directory", &made, &inputs).await,
            "mode"
        ),
        "0700"
    );
    world
        .update("local/directory", &made, &inputs, &inputs)
        .await
        .unwrap();
    assert_eq!(mode(&world.path("d")), 0o755);
}

#[tokio::test]
async fn parents_are_created_only_if_requested() {
    let world = World::new();
    let error = world
        .create(
            "local/directory",
            &spec([("path", "a/b".into()), ("parents", false.into())]),
        )
        .await
        .unwrap_err();
    assert_eq!(
        (
            error.kind,
            error.field.as_ref().map(ToString::to_string).as_deref()
        ),
        (ErrorKind::NotFound, Some("path"))
    );
    assert!(!world.path("a").exists());
}

#[tokio::test]
async fn a_link_is_created_changed_and_removed() {
    let world = World::new();
    let inputs = spec([("path", "l".into()), ("target", "one".into())]);
    let made = world.create("local/symlink", &inputs).await.unwrap();
    let turned = spec([("path", "l".into()), ("target", "two".into())]);
    world
        .update("local/symlink", &made, &inputs, &turned)
        .await
        .unwrap();
    assert_eq!(fs::read_link(world.path("l")).unwrap(), Path::new("two"));
    assert_eq!(
        text(
            &world.fields("local/symlink", &made, &inputs).await,
            "target"
        ),
        "two"
    );
    let error = world.create("local/symlink", &inputs).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    fs::remove_file(world.path("l")).unwrap();
    world.write("l", "a file by now");
    assert!(matches!(
        world.see("local/symlink", &made, &inputs).await.unwrap(),
        ReadOutcome::Absent
    ));
    assert_eq!(
        world
            .delete("local/symlink", &made, &inputs)
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(world.path("l").is_file());
}
