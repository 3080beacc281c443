//! Files of older versions: read as they are, kept as they were when they are rewritten; files of newer ones are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blueprint::Value;
use futures::executor::block_on;
use rusqlite::Connection;
use state::conformance::{address, began, outcome, record, sealer};
use state::{InstanceName, Lease, Revision, Store, StoreError};
use stores::sqlite::{Mode, SqliteStore};

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

/// A file as a version of before has left it.
fn sample(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join("state.db");
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    Connection::open(&path).unwrap().execute_batch(&fs::read_to_string(text).unwrap()).unwrap();
    path
}

fn lease(store: &SqliteStore) -> Result<Lease, StoreError> {
    block_on(store.lease(&shop(), "ann@host (1)", Duration::from_secs(60)))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// What is remembered in a file, as text.
fn held(path: &Path) -> String {
    let store = SqliteStore::open(path, sealer(), Mode::ReadOnly);
    format!("{:?}{:?}", block_on(store.load(&shop())).unwrap(), block_on(store.log(&shop(), None, 99)).unwrap())
}

#[test]
fn every_older_format_is_read_and_written_on() {
    for name in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")).unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = sample(folder.path(), &name);
        let before = fs::read(&path).unwrap();
        let read = held(&path);
        assert!(read.contains("core/everything") || read.contains("everything"), "{name}: {read}");
        assert!(fs::read(&path).unwrap() == before, "{name}: reading has changed it");
        assert_eq!(names(folder.path()), ["state.db"], "{name}");
        let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
        let held = lease(&store).unwrap();
        let entries = vec![began("op-2"), outcome(1, "new", record(Value::Int(1)))];
        block_on(store.commit(&held, Revision(1), entries)).unwrap();
        let found = block_on(store.load(&shop())).unwrap();
        assert!(found.records.contains_key(&address("new")) && found.records.len() > 1, "{name}: {:?}", found.records);
    }
}

#[test]
fn a_file_that_is_rewritten_is_kept_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-1.sql");
    let before = held(&path);
    // Copies of another time stay as they are.
    fs::write(folder.path().join("state.db.format-1"), "of another time").unwrap();
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    assert!(store.asides().is_empty());
    lease(&store).unwrap();
    let said = store.asides();
    let copy = folder.path().join("state.db.format-1-2");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].ends_with(&format!("as it was, it lies in `{}`", copy.display())), "{said:?}");
    assert!(store.asides().is_empty(), "it is said once");
    drop(store);
    assert_eq!(names(folder.path()), ["state.db", "state.db.format-1", "state.db.format-1-2"]);
    assert_eq!(fs::read(folder.path().join("state.db.format-1")).unwrap(), b"of another time");
    assert_eq!((number(&path, "PRAGMA user_version"), number(&copy, "PRAGMA user_version")), (2, 1));
    assert_eq!(held(&copy), before);
    assert_eq!(held(&path), before);
    // Who comes next rewrites nothing.
    lease(&SqliteStore::open(&path, sealer(), Mode::ReadWrite)).unwrap_err();
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn nothing_is_rewritten_that_cannot_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-1.sql");
    Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
    let before = held(&path);
    // So long a name that there is none for a copy.
    let long = folder.path().join("s".repeat(250));
    fs::rename(&path, &long).unwrap();
    let refused = lease(&SqliteStore::open(&long, sealer(), Mode::ReadWrite)).unwrap_err();
    let StoreError::Unreachable { source } = refused else { panic!("{refused}") };
    assert!(source.to_string().ends_with(".format-1` cannot be written"), "{source}");
    assert_eq!((number(&long, "PRAGMA user_version"), held(&long)), (1, before));
}

/// A version that knows no digests writes on in a file that has some.
#[test]
fn what_a_version_without_digests_writes_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-2.sql");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.commit(&held, Revision(1), vec![began("op-2"), outcome(1, "a", record(Value::Int(1)))])).unwrap();
    block_on(store.release(&held)).unwrap();
    drop(store);
    let with_digest = "SELECT count(*) FROM instances WHERE digest IS NOT NULL AND digest_of = revision";
    assert_eq!(number(&path, with_digest), 1);
    assert_eq!(names(folder.path()), ["state.db"], "nothing was rewritten, so nothing is kept");
    let file = Connection::open(&path).unwrap();
    file.execute_batch(
        "DELETE FROM records WHERE address = 'a'; UPDATE instances SET revision = revision + 1 WHERE name = 'shop'",
    )
    .unwrap();
    drop(file);
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    assert!(!block_on(store.load(&shop())).unwrap().records.contains_key(&address("a")));
    block_on(store.unlock(&shop())).unwrap();
    let held = block_on(store.lease(&shop(), "bob", Duration::from_secs(60))).unwrap();
    block_on(store.commit(&held, Revision(3), vec![began("op-3"), outcome(1, "b", record(Value::Int(1)))])).unwrap();
    assert_eq!(number(&path, with_digest), 1);
}

/// Rows of different revisions in one file, as only a damaged disk leaves them.
#[test]
fn what_is_of_different_revisions_is_refused() {
    let torn = [
        "UPDATE records SET entry = (SELECT min(entry) FROM records) WHERE address = 'b'",
        "DELETE FROM records WHERE address = 'b'",
        "UPDATE instances SET digest = digest + 1",
        "DELETE FROM entries WHERE id = (SELECT entry FROM records WHERE address = 'b')",
        "UPDATE operations SET outcome = NULL",
    ];
    for sql in torn {
        let folder = tempfile::tempdir().unwrap();
        let path = sample(folder.path(), "format-2.sql");
        let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
        let held = lease(&store).unwrap();
        let two = ["a", "b"].map(|name| outcome(1, name, record(Value::Int(1))));
        block_on(store.commit(&held, Revision(1), [vec![began("op-2")], two.to_vec()].concat())).unwrap();
        let end = vec![state::conformance::finished(2, state::OperationOutcome::Ready)];
        block_on(store.commit(&held, Revision(2), end)).unwrap();
        block_on(store.release(&held)).unwrap();
        drop(store);
        assert_eq!(Connection::open(&path).unwrap().execute(sql, []).unwrap().min(1), 1, "{sql}");
        let refused = |error: StoreError| {
            let StoreError::Foreign { what } = error else { panic!("{sql}: {error}") };
            assert!(what.ends_with("is damaged"), "{sql}: {what}");
        };
        let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
        refused(block_on(store.load(&shop())).unwrap_err());
        if !sql.contains("FROM entries") {
            let held = lease(&store).unwrap();
            let entries = vec![began("op-3"), outcome(1, "c", record(Value::Int(1)))];
            refused(block_on(store.commit(&held, Revision(3), entries)).unwrap_err());
        }
    }
}

/// Another process has made a newer format of it, in the middle of everything.
#[test]
fn a_newer_format_is_refused_by_who_has_it_open_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-2.sql");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.load(&shop())).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 3).unwrap();
    let newer = |error: StoreError| {
        let StoreError::Foreign { what } = error else { panic!("{error}") };
        assert!(what.ends_with("was written by a newer version (format 3, this one reads up to 2)"), "{what}");
    };
    newer(block_on(store.load(&shop())).unwrap_err());
    newer(block_on(store.commit(&held, Revision(1), vec![began("op-2")])).unwrap_err());
    newer(block_on(store.instances()).unwrap_err());
}
