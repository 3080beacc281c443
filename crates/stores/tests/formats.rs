//! Files of older versions are read without a change, and keep their content when they are
//! rewritten. Files of newer versions are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blueprint::Value;
use contract_tests::store::samples::{address, began, outcome, record, sealer};
use futures::executor::block_on;
use rusqlite::Connection;
use state::seal::Sealer;
use state::{Assurance, InstanceName, Lease, Revision, Store, StoreError};
use stores::sqlite::{Mode, SqliteStore};

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

/// Creates a file in the form that an earlier version has left.
fn sample(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join("state.db");
    let text = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(name);
    Connection::open(&path)
        .unwrap()
        .execute_batch(&fs::read_to_string(text).unwrap())
        .unwrap();
    path
}

fn lease(store: &SqliteStore) -> Result<Lease, StoreError> {
    block_on(store.lease(&shop(), "ann@host (1)", Duration::from_secs(60)))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path)
        .unwrap()
        .query_row(sql, [], |row| row.get(0))
        .unwrap()
}

/// The content of a file, as text.
fn held(path: &Path) -> String {
    let store = SqliteStore::open(path, sealer(), Mode::ReadOnly);
    format!(
        "{:?}{:?}",
        block_on(store.load(&shop())).unwrap(),
        block_on(store.log(&shop(), None, 99)).unwrap()
    )
}

#[test]
fn every_format_is_read_and_can_be_written() {
    for name in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")).unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = sample(folder.path(), &name);
        let before = fs::read(&path).unwrap();
        let read = held(&path);
        assert!(
            read.contains("core/everything") || read.contains("everything"),
            "{name}: {read}"
        );
        assert!(
            fs::read(&path).unwrap() == before,
            "{name}: reading has changed it"
        );
        assert_eq!(names(folder.path()), ["state.db"], "{name}");
        let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
        // The lease of the sample was held on another machine.
        block_on(store.unlock(&shop())).unwrap();
        let held = lease(&store).unwrap();
        let entries = vec![began("op-2"), outcome(1, "new", record(Value::Int(1)))];
        block_on(store.commit(&held, Revision(1), entries)).unwrap();
        let found = block_on(store.load(&shop())).unwrap();
        assert!(
            found.records.contains_key(&address("new")) && found.records.len() > 1,
            "{name}: {:?}",
            found.records
        );
    }
}

#[test]
fn a_copy_is_kept_of_a_file_that_is_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-1.sql");
    let before = held(&path);
    // Copies that existed before stay as they are.
    fs::write(folder.path().join("state.db.format-1"), "of another time").unwrap();
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    assert!(store.notices().is_empty());
    lease(&store).unwrap();
    let said = store.notices();
    let copy = folder.path().join("state.db.format-1-2");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].ends_with(&format!("a copy in the old format is `{}`", copy.display())),
        "{said:?}"
    );
    assert!(store.notices().is_empty(), "it is said once");
    drop(store);
    assert_eq!(
        names(folder.path()),
        ["state.db", "state.db.format-1", "state.db.format-1-2"]
    );
    assert_eq!(
        fs::read(folder.path().join("state.db.format-1")).unwrap(),
        b"of another time"
    );
    assert_eq!(
        (
            number(&path, "PRAGMA user_version"),
            number(&copy, "PRAGMA user_version")
        ),
        (4, 1)
    );
    assert_eq!(held(&copy), before);
    assert_eq!(held(&path), before);
    // The next writer does not rewrite the file.
    lease(&SqliteStore::open(&path, sealer(), Mode::ReadWrite)).unwrap_err();
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_file_that_cannot_be_copied_is_not_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-1.sql");
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "journal_mode", "WAL")
        .unwrap();
    let before = held(&path);
    // The name is so long that the name of a copy would be too long.
    let long = folder.path().join("s".repeat(250));
    fs::rename(&path, &long).unwrap();
    let refused = lease(&SqliteStore::open(&long, sealer(), Mode::ReadWrite)).unwrap_err();
    let StoreError::Unreachable { source } = refused else {
        panic!("{refused}")
    };
    assert!(
        source.to_string().ends_with(".format-1` cannot be written"),
        "{source}"
    );
    assert_eq!(
        (number(&long, "PRAGMA user_version"), held(&long)),
        (1, before)
    );
}

/// Executes `sql` on a file of the current format and checks that the store then reports damage.
fn refused_after(sql: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-2.sql");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    let two = ["a", "b"].map(|name| outcome(1, name, record(Value::Int(1))));
    block_on(store.commit(
        &held,
        Revision(1),
        [vec![began("op-2")], two.to_vec()].concat(),
    ))
    .unwrap();
    let end = vec![contract_tests::store::samples::finished(
        2,
        state::OperationOutcome::Ready,
    )];
    block_on(store.commit(&held, Revision(2), end)).unwrap();
    block_on(store.release(&held)).unwrap();
    drop(store);
    let file = Connection::open(&path).unwrap();
    file.pragma_update(None, "foreign_keys", false).unwrap();
    assert!(file.execute(sql, []).unwrap() > 0, "{sql}");
    drop(file);
    let refused = |what: &str, answer: Result<(), StoreError>| match answer {
        Err(StoreError::Damaged { what }) => assert!(what.contains("is damaged"), "{sql}: {what}"),
        other => panic!("{sql}: {what}: {other:?}"),
    };
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let all = async {
        store.load(&shop()).await?;
        store.history(&shop(), 9).await?;
        store.log(&shop(), None, usize::MAX).await?;
        store.instances().await?;
        let held = store
            .lease(&shop(), "ann@host (1)", Duration::from_secs(60))
            .await?;
        store
            .commit(
                &held,
                Revision(3),
                vec![began("op-3"), outcome(1, "a", record(Value::Int(2)))],
            )
            .await
            .map(|_| ())
    };
    refused("a look at all of it", block_on(all));
    match block_on(store.verify()) {
        Ok(verified) => assert!(!verified.damaged.is_empty(), "{sql}: {verified:?}"),
        Err(StoreError::Damaged { .. }) => {}
        Err(other) => panic!("{sql}: {other:?}"),
    }
}

/// The store detects a single row that was changed or moved.
#[test]
fn changed_moved_added_or_removed_row_is_refused() {
    const LAST: &str = "(SELECT max(id) FROM entries)";
    for sql in [
        "UPDATE records SET entry = (SELECT min(entry) FROM records) WHERE address = 'b'",
        "UPDATE records SET address = 'c' WHERE address = 'b'",
        "UPDATE records SET address = iif(address = 'a', 'b', 'a') WHERE address IN ('a', 'b')",
        "DELETE FROM records WHERE address = 'b'",
        "INSERT INTO records SELECT (id >> 40 << 40) + 1, 'd', entry FROM records WHERE address = 'b'",
        "UPDATE instances SET live = zeroblob(16)",
        "UPDATE instances SET revision = revision - 1",
        "UPDATE instances SET document = 'other.blueprint.yaml'",
        "UPDATE instances SET auth = ''",
        "UPDATE instances SET name = 'other'",
        "DELETE FROM instances",
        "UPDATE store SET instances = 2",
        "DELETE FROM store",
        "DELETE FROM entries WHERE id = (SELECT entry FROM records WHERE address = 'b')",
        "UPDATE entries SET body = replace(body, 'test/data', 'test/date') WHERE id = (SELECT entry FROM records WHERE address = 'b')",
        &format!("UPDATE entries SET kind = 'intent' WHERE id = {LAST}"),
        &format!("UPDATE entries SET step = 7 WHERE id = {LAST} - 1"),
        &format!("UPDATE entries SET mac = zeroblob(16) WHERE id = {LAST}"),
        &format!("UPDATE entries SET mac = NULL WHERE id = {LAST}"),
        &format!("DELETE FROM entries WHERE id = {LAST}"),
        "UPDATE operations SET outcome = NULL",
        "UPDATE operations SET who = 'eve'",
        "UPDATE operations SET epoch = epoch + 1",
        "DELETE FROM operations WHERE number = 1",
        "DELETE FROM operations WHERE number = 2",
        "UPDATE documents SET body = replace(body, 'long', 'wide') WHERE NOT sealed",
        "UPDATE documents SET sealed = NOT sealed",
        "UPDATE documents SET mac = zeroblob(16)",
        "UPDATE documents SET digest = randomblob(16)",
        "UPDATE documents SET id = id + 100",
        "DELETE FROM documents",
        "UPDATE instances SET documents = documents + 1",
        "UPDATE instances SET pruned = 3",
        "UPDATE instances SET pruned_operations = 1",
        "UPDATE leases SET epoch = 0",
        "DELETE FROM leases",
    ] {
        refused_after(sql);
    }
}

/// A row that was made without the key is refused. Rows that were written without a key are tagged
/// by the first commit with a key.
#[test]
fn rows_are_authenticated_since_the_first_commit_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let keyed = |sql: &str| number(&path, &format!("SELECT count(*) FROM {sql}"));
    let none = SqliteStore::open(&path, Sealer::none(), Mode::ReadWrite);
    let held = lease(&none).unwrap();
    block_on(none.commit(
        &held,
        Revision(0),
        vec![began("op-1"), outcome(1, "a", record(Value::Int(1)))],
    ))
    .unwrap();
    block_on(none.release(&held)).unwrap();
    assert_eq!(keyed("instances WHERE auth != ''"), 0);
    let verified = block_on(none.verify()).unwrap();
    assert_eq!(
        (verified.damaged.len(), verified.instances[0].assurance),
        (0, Assurance::Hash)
    );
    drop(none);

    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    assert_eq!(block_on(store.load(&shop())).unwrap().records.len(), 1);
    let held = lease(&store).unwrap();
    block_on(store.commit(
        &held,
        Revision(1),
        vec![began("op-2"), outcome(1, "b", record(Value::Int(1)))],
    ))
    .unwrap();
    block_on(store.release(&held)).unwrap();
    assert_eq!(keyed("instances WHERE auth != ''"), 1);
    let verified = block_on(store.verify()).unwrap();
    assert_eq!(
        (verified.damaged, verified.instances[0].assurance),
        (Vec::new(), Assurance::Key)
    );
    assert_eq!(block_on(store.load(&shop())).unwrap().records.len(), 2);
    drop(store);

    // Without the key, the state can be listed, but not loaded or written.
    let none = SqliteStore::open(&path, Sealer::none(), Mode::ReadWrite);
    assert!(!block_on(none.info(&shop())).unwrap().unwrap().verified);
    assert!(!block_on(none.instances()).unwrap()[0].verified);
    assert!(matches!(
        block_on(none.load(&shop())),
        Err(StoreError::KeyMissing)
    ));
    assert!(matches!(lease(&none), Err(StoreError::KeyMissing)));
    let other = InstanceName::from_free_text("other");
    let new = block_on(none.lease(&other, "ann@host (1)", Duration::from_secs(60)));
    assert!(matches!(new, Err(StoreError::KeyMissing)));
    assert!(matches!(
        block_on(none.verify()),
        Err(StoreError::KeyMissing)
    ));
}

/// Another process converts the file to a newer format while the store is open.
#[test]
fn a_newer_format_is_refused_by_a_store_that_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "format-2.sql");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.load(&shop())).unwrap();
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 5)
        .unwrap();
    let newer = |error: StoreError| {
        let StoreError::Newer { what } = error else {
            panic!("{error}")
        };
        assert!(
            what.ends_with("was written by a newer version (format 5, this one reads up to 4)"),
            "{what}"
        );
    };
    newer(block_on(store.load(&shop())).unwrap_err());
    newer(block_on(store.commit(&held, Revision(1), vec![began("op-2")])).unwrap_err());
    newer(block_on(store.instances()).unwrap_err());
}

/// Format 2 had intents of creates with unknown inputs. They can still be read and settled.
#[test]
fn intents_with_unknown_inputs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/speculated/format-2.sql");
    let path = folder.path().join("state.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(&fs::read_to_string(text).unwrap())
        .unwrap();
    let chain = InstanceName::from_free_text("chain");
    let unknown = |store: &SqliteStore| {
        let open = block_on(store.load(&chain)).unwrap().open;
        (
            open.len(),
            open.values()
                .filter(|open| open.intent.inputs.has_unknown())
                .count(),
        )
    };
    let found = unknown(&SqliteStore::open(&path, sealer(), Mode::ReadOnly));
    assert_eq!(found, (11, 11));
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = block_on(store.lease(&chain, "ann@host (1)", Duration::from_secs(60))).unwrap();
    assert_eq!(unknown(&store), found);
    block_on(store.commit(
        &held,
        held.revision,
        vec![began("op-2"), outcome(1, "r1", None)],
    ))
    .unwrap();
    assert_eq!(unknown(&store), (10, 10));
    assert!(block_on(store.verify()).unwrap().damaged.is_empty());
}
