//! Failures that only a file can have, and properties of the file beyond the contract.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blueprint::Value;
use contract_tests::store::samples::{
    address, began, full_operation, full_record, intent, outcome, record, sealer,
};
use futures::executor::block_on;
use rusqlite::Connection;
use state::seal::Sealer;
use state::{Entry, EntryKind, InstanceName, Lease, Record, Revision, Store, StoreError};
use stores::sqlite::{Mode, SqliteStore};

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

fn lease(store: &SqliteStore) -> Result<Lease, StoreError> {
    block_on(store.lease(&shop(), "ann@host (1)", Duration::from_secs(60)))
}

fn write(path: &Path, entries: Vec<Entry>) {
    let store = SqliteStore::open(path, sealer(), Mode::ReadWrite);
    let lease = lease(&store).unwrap();
    block_on(store.commit(&lease, Revision(0), entries)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn reading_creates_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".cyan/state.db");
    for mode in [Mode::ReadOnly, Mode::ReadWrite] {
        let store = SqliteStore::open(&path, sealer(), mode);
        assert!(block_on(store.instances()).unwrap().is_empty());
        assert!(block_on(store.load(&shop())).unwrap().records.is_empty());
        assert!(matches!(
            block_on(store.history(&shop(), 1)),
            Err(StoreError::Unknown { .. })
        ));
    }
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    assert_eq!(block_on(store.unlock(&shop())).unwrap(), None);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_store_for_reading_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    write(
        &path,
        vec![began("op-1"), outcome(1, "a", record(Value::Int(1)))],
    );
    let before = fs::read(&path).unwrap();
    {
        let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
        assert_eq!(block_on(store.load(&shop())).unwrap().records.len(), 1);
        let Err(StoreError::Unreachable { source }) = lease(&store) else {
            panic!("it writes")
        };
        assert!(
            source.to_string().ends_with("is open for reading only"),
            "{source}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["state.db"]);
}

#[test]
fn a_reader_finds_a_file_that_was_made_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let reader = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
    assert_eq!(block_on(reader.head(&shop())).unwrap(), Revision(0));
    write(&path, vec![began("op-1")]);
    assert_eq!(block_on(reader.head(&shop())).unwrap(), Revision(1));
}

/// Every plan that creates something queries the resources of other instances.
#[test]
fn managed_resources_are_read_without_documents_and_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    write(
        &path,
        vec![
            began("op-1"),
            outcome(1, "a", record(Value::Int(1))),
            intent(2, "open"),
        ],
    );
    let managed =
        || block_on(SqliteStore::open(&path, sealer(), Mode::ReadOnly).managed_by_others("other"));
    assert_eq!(managed().unwrap().len(), 1);
    let damage = |kind: &str| {
        let connection = Connection::open(&path).unwrap();
        let sql = "UPDATE entries SET body = body || ' ' WHERE kind = ?1";
        assert_eq!(connection.execute(sql, [kind]).unwrap(), 1);
    };
    damage("began");
    damage("intent");
    let load = |store: SqliteStore| block_on(store.load(&shop()));
    assert!(
        load(SqliteStore::open(&path, sealer(), Mode::ReadOnly)).is_err(),
        "a snapshot needs them"
    );
    assert_eq!(managed().unwrap()[0].id, record(Value::Int(1)).id);
    damage("outcome");
    assert!(matches!(managed(), Err(StoreError::Damaged { .. })));
}

/// The errors of a read-only and a writing store for a file.
fn refusals(path: &Path) -> [String; 2] {
    [Mode::ReadOnly, Mode::ReadWrite].map(|mode| {
        let store = SqliteStore::open(path, sealer(), mode);
        let error = match mode {
            Mode::ReadOnly => block_on(store.load(&shop())).unwrap_err(),
            Mode::ReadWrite => lease(&store).unwrap_err(),
        };
        let kind = match &error {
            StoreError::Foreign { .. } => "foreign",
            StoreError::Newer { .. } => "newer",
            StoreError::Unreachable { .. } => "unreachable",
            other => panic!("{other}"),
        };
        let source = std::error::Error::source(&error)
            .map(|source| format!(": {source}"))
            .unwrap_or_default();
        format!("{kind}: {error}{source}").replace(&path.display().to_string(), "PATH")
    })
}

#[test]
fn files_of_other_programs_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    fs::write(
        &text,
        "this is a letter, and long enough to be taken for the header of a database file"
            .repeat(40),
    )
    .unwrap();
    assert_eq!(
        refusals(&text),
        [
            "foreign: `PATH` is not a state file",
            "foreign: `PATH` is not a state file"
        ]
    );

    let other = folder.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    let before = fs::read(&other).unwrap();
    let said = "foreign: `PATH` is a database of something else";
    assert_eq!(refusals(&other), [said, said]);
    assert_eq!(fs::read(&other).unwrap(), before);

    let newer = folder.path().join("newer.db");
    write(&newer, vec![began("op-1")]);
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 5)
        .unwrap();
    let said = "newer: `PATH` was written by a newer version (format 5, this one reads up to 4)";
    assert_eq!(refusals(&newer), [said, said]);

    let [read, write] = refusals(folder.path());
    assert_eq!(read, "foreign: `PATH` is a folder, not a state file");
    assert!(
        write.starts_with("unreachable: the state cannot be reached: `PATH` cannot be opened"),
        "{write}"
    );
}

#[test]
fn a_folder_that_cannot_be_created_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let store = SqliteStore::open(
        folder.path().join("file/.cyan/state.db"),
        sealer(),
        Mode::ReadWrite,
    );
    let Err(StoreError::Unreachable { source }) = lease(&store) else {
        panic!("it was made")
    };
    assert!(
        source.to_string().ends_with("file/.cyan` cannot be made"),
        "{source}"
    );
    assert!(block_on(store.instances()).unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_an_error_wherever_the_damage_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let many =
        (0..40).map(|at| outcome(1, &format!("r[{at}]"), record(Value::from("x".repeat(300)))));
    write(&path, std::iter::once(began("op-1")).chain(many).collect());
    let whole = fs::read(&path).unwrap();
    let mut noticed = 0;
    for page in 0..whole.len() / 4096 {
        for damage in [0u8, 0xff] {
            let mut bytes = whole.clone();
            bytes[page * 4096..][..4096].fill(damage);
            fs::write(&path, &bytes).unwrap();
            let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
            match block_on(store.load(&shop())) {
                Ok(found) => assert!(found.records.len() <= 40),
                Err(
                    StoreError::Foreign { .. }
                    | StoreError::Newer { .. }
                    | StoreError::Damaged { .. }
                    | StoreError::Truncated { .. }
                    | StoreError::Unreachable { .. },
                ) => noticed += 1,
                Err(other) => panic!("{other}"),
            }
            let _ = block_on(store.instances());
            let _ = block_on(store.log(&shop(), None, 99));
        }
    }
    assert!(noticed > 4, "{noticed}");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(block_on(SqliteStore::open(&path, sealer(), Mode::ReadOnly).load(&shop())).is_err());
}

#[test]
fn no_secret_is_readable_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    let mut entries = full_operation().0;
    let rest = entries.split_off(1);
    block_on(store.commit(&held, Revision(0), entries)).unwrap();
    block_on(store.commit(&held, Revision(1), rest)).unwrap();
    // Checks the journal beside the file while it is open, and the file after it was closed.
    let contains_plain_text = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        (has(b"s3cret"), has(b"test/everything"))
    };
    assert_eq!(contains_plain_text("state.db-wal"), (false, true));
    drop(store);
    assert_eq!(names(folder.path()), ["state.db"]);
    assert_eq!(contains_plain_text("state.db"), (false, true));
}

#[test]
fn the_views_show_resources_and_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    write(
        &path,
        vec![
            began("op-1"),
            intent(1, "b"),
            outcome(2, "core/a[0]", full_record()),
            outcome(1, "b", record(Value::Null)),
        ],
    );
    let file = Connection::open(&path).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = file.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let resources = rows(
        "SELECT instance || ' ' || address || ' ' || type || ' ' || status || ' ' || id FROM resources",
    );
    assert_eq!(
        resources,
        [
            "shop core/a[0] test/everything update failed id-2",
            "shop b test/data create ready id-1"
        ]
    );
    let journal = rows(
        "SELECT sequence || ' ' || operation || ' ' || step || ' ' || kind || ' ' || coalesce(address, '-') FROM journal",
    );
    assert_eq!(
        journal,
        [
            "1 op-1 0 began -",
            "2 op-1 1 intent b",
            "3 op-1 2 outcome core/a[0]",
            "4 op-1 1 outcome b"
        ]
    );
}

#[test]
fn a_small_change_of_a_large_instance_writes_little() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let many =
        (0..2000).map(|at| outcome(1, &format!("r[{at}]"), record(Value::from("x".repeat(300)))));
    write(&path, std::iter::once(began("op-1")).chain(many).collect());
    let rows = || -> (i64, i64) {
        let file = Connection::open(&path).unwrap();
        file.query_row(
            "SELECT count(*), sum(length(body)) FROM entries",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap()
    };
    let before = rows();
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    block_on(store.unlock(&shop())).unwrap();
    let held = lease(&store).unwrap();
    let few = (0..10).map(|at| outcome(1, &format!("r[{at}]"), record(Value::Int(at))));
    block_on(store.commit(
        &held,
        Revision(1),
        std::iter::once(began("op-2")).chain(few).collect(),
    ))
    .unwrap();
    let pages: i64 = {
        let file = Connection::open(&path).unwrap();
        file.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
            .unwrap()
    };
    assert!((1..40).contains(&pages), "{pages} pages for ten records");
    drop(store);
    let after = rows();
    assert_eq!(after.0 - before.0, 11);
    assert!(after.1 - before.1 < 11 * 500);
}

#[test]
fn file_is_complete_if_the_store_is_not_dropped() {
    // Simulates a killed process: the file and its journal are copied while the store is open.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    let mut revision = Revision(0);
    let pair = |number: i64| {
        ["a", "b"]
            .map(|name| outcome(1, name, record(Value::Int(number))))
            .to_vec()
    };
    for number in 0..20 {
        let begin = (number == 0).then(|| began("op-1"));
        revision = block_on(store.commit(
            &held,
            revision,
            begin.into_iter().chain(pair(number)).collect(),
        ))
        .unwrap();
    }
    let (database, wal) = (
        fs::read(&path).unwrap(),
        fs::read(folder.path().join("state.db-wal")).unwrap(),
    );
    let mut seen = Vec::new();
    for cut in (0..=wal.len()).step_by(wal.len() / 50) {
        let crashed = tempfile::tempdir().unwrap();
        let path = crashed.path().join("state.db");
        fs::write(&path, &database).unwrap();
        fs::write(crashed.path().join("state.db-wal"), &wal[..cut]).unwrap();
        let found = match block_on(SqliteStore::open(&path, sealer(), Mode::ReadOnly).load(&shop()))
        {
            Ok(found) => found,
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        let value = |name: &str| {
            found
                .records
                .get(&address(name))
                .map(|record| record.inputs.clone())
        };
        assert_eq!(value("a"), value("b"), "cut at {cut}");
        if let Some(Value::Int(number)) = value("a") {
            assert_eq!(found.revision.0.cast_signed(), number + 1);
        }
        seen.push(found.revision.0);
    }
    assert!(
        seen.is_sorted() && seen.first() == Some(&0) && seen.len() > 40,
        "{seen:?}"
    );
}

#[test]
fn an_empty_file_and_a_link_that_leads_nowhere_become_a_state() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, link) = (
        folder.path().join("empty.db"),
        folder.path().join("link.db"),
    );
    fs::write(&empty, "").unwrap();
    std::os::unix::fs::symlink("elsewhere.db", &link).unwrap();
    for path in [&empty, &link] {
        write(
            path,
            vec![began("op-1"), outcome(1, "a", record(Value::Int(1)))],
        );
        let store = SqliteStore::open(path, sealer(), Mode::ReadOnly);
        assert_eq!(block_on(store.load(&shop())).unwrap().records.len(), 1);
    }
    assert_eq!(
        names(folder.path()),
        ["elsewhere.db", "empty.db", "link.db"]
    );
}

#[test]
fn a_wal_without_its_file_is_not_applied_to_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.commit(&held, Revision(0), vec![began("op-1"), intent(1, "a")])).unwrap();
    block_on(store.commit(
        &held,
        Revision(1),
        vec![outcome(1, "a", record(Value::Int(1))), intent(2, "b")],
    ))
    .unwrap();
    let log = fs::read(folder.path().join("state.db-wal")).unwrap();
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::write(folder.path().join("state.db-wal"), &log).unwrap();

    write(&path, vec![began("op-2")]);
    let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
    assert!(block_on(store.load(&shop())).unwrap().records.is_empty());
    let whole: String = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
}

/// Earlier versions kept preallocated blocks for the log under this name.
#[test]
fn the_spare_log_of_an_earlier_version_is_removed_by_the_next_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    write(&path, vec![began("op-1")]);
    fs::write(folder.path().join("state.db-spare"), [0; 8192]).unwrap();
    assert_eq!(
        block_on(SqliteStore::open(&path, sealer(), Mode::ReadOnly).head(&shop())).unwrap(),
        Revision(1)
    );
    assert_eq!(
        names(folder.path()),
        ["state.db", "state.db-spare"],
        "reading removes nothing"
    );
    block_on(SqliteStore::open(&path, sealer(), Mode::ReadWrite).unlock(&shop())).unwrap();
    assert_eq!(names(folder.path()), ["state.db"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_state() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".cyan/state.db");
    let modes = || {
        let names = names(&folder.path().join(".cyan"));
        let mode = |name: &str| {
            fs::metadata(folder.path().join(".cyan").join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        let found: Vec<(String, u32)> = names
            .into_iter()
            .map(|name| (name.clone(), mode(&name)))
            .collect();
        (mode(""), found)
    };
    let private = || {
        let all = ["state.db", "state.db-shm", "state.db-wal"].map(|name| (name.to_owned(), 0o600));
        (0o700, all.to_vec())
    };
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.commit(&held, Revision(0), vec![began("op-1")])).unwrap();
    assert_eq!(modes(), private());
    drop(store);
    // A file that an earlier version made readable for others becomes private.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    block_on(store.unlock(&shop())).unwrap();
    lease(&store).unwrap();
    assert_eq!(modes(), private());
}

#[test]
fn several_processes_create_the_file_at_once() {
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let names = ["a", "b", "c", "d"];
        let begin = std::sync::Barrier::new(names.len());
        std::thread::scope(|threads| {
            for name in names {
                let (path, begin) = (&path, &begin);
                threads.spawn(move || {
                    let store = SqliteStore::open(path, sealer(), Mode::ReadWrite);
                    let instance = InstanceName::from_free_text(name);
                    begin.wait();
                    let held =
                        block_on(store.lease(&instance, name, Duration::from_secs(60))).unwrap();
                    block_on(store.commit(&held, Revision(0), vec![began(name), intent(1, "a")]))
                        .unwrap();
                });
            }
        });
        let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
        assert_eq!(block_on(store.instances()).unwrap().len(), names.len());
    }
}

/// A file of format 1, written on 2026-11-21: it must stay readable.
#[test]
fn the_first_format_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/format-1.sql");
    Connection::open(&path)
        .unwrap()
        .execute_batch(&fs::read_to_string(sample).unwrap())
        .unwrap();
    let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
    let (mut entries, mut wanted) = full_operation();
    // Records of that time had no transforms, durations, attempts, providers, URNs and ties, and
    // states had no children.
    let forget = |record: &mut Arc<Record>| {
        let record = Arc::make_mut(record);
        (record.origin.made_from, record.duration_ms, record.attempt) = ("".into(), 0, None);
        (record.origin.folder, record.provider) = ("".into(), None);
        (record.origin.urn, record.origin.ties) = ("".into(), None);
        record.delete_mode = blueprint::DeleteMode::Delete;
    };
    wanted.records.values_mut().for_each(forget);
    for open in wanted.open.values_mut() {
        (
            open.intent.private,
            open.intent.folder,
            open.intent.provider,
        ) = (Value::Null, "".into(), None);
    }
    for entry in &mut entries {
        if let EntryKind::Outcome(outcome) = &mut entry.kind {
            Arc::make_mut(outcome).record.iter_mut().for_each(forget);
        }
        if let EntryKind::Intent(intent) = &mut entry.kind {
            let intent = Arc::make_mut(intent);
            (intent.private, intent.folder, intent.provider) = (Value::Null, "".into(), None);
        }
        if let EntryKind::Began(operation) = &mut entry.kind {
            let inputs = Value::map([("password", Value::from("s3cret").secret())]);
            Arc::make_mut(operation).desired = Value::map([("inputs", inputs)]);
        }
        if let EntryKind::Finished(finished) = &mut entry.kind {
            (
                Arc::make_mut(finished).declared,
                Arc::make_mut(finished).stops,
            ) = Default::default();
        }
    }
    let found = block_on(store.load(&shop())).unwrap();
    assert!(
        found.records.iter().eq(wanted.records.iter()),
        "{:?}",
        found.records
    );
    assert!(found.exports.iter().eq(wanted.exports.iter()));
    assert!(found.declared.is_empty());
    assert_eq!(
        (found.open, found.memoised, found.groups),
        (wanted.open, wanted.memoised, wanted.groups)
    );
    let log = block_on(store.log(&shop(), None, 99)).unwrap();
    assert!(log.iter().map(|line| &line.entry).eq(&entries));
    let store_with_other_key = SqliteStore::open(&path, Sealer::with_key([1; 32]), Mode::ReadOnly);
    assert!(matches!(
        block_on(store_with_other_key.load(&shop())),
        Err(StoreError::WrongKey)
    ));
    // The file can be written as well.
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&store).unwrap();
    block_on(store.commit(
        &held,
        Revision(1),
        vec![began("op-2"), outcome(1, "plain", None)],
    ))
    .unwrap();
    assert_eq!(block_on(store.load(&shop())).unwrap().records.len(), 1);
    let again = Connection::open(&path).unwrap();
    let number = |sql: &str| {
        again
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(number("PRAGMA user_version"), 4);
    assert_eq!(
        number("SELECT count(*) FROM resources WHERE address = 'core/everything'"),
        1
    );
}

/// A reader continues while another process rewrites the file.
#[test]
fn a_reader_outlives_the_rewriting_of_an_older_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/format-1.sql");
    Connection::open(&path)
        .unwrap()
        .execute_batch(&fs::read_to_string(sample).unwrap())
        .unwrap();
    let reader = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
    assert_eq!(block_on(reader.load(&shop())).unwrap().records.len(), 2);
    let writer = SqliteStore::open(&path, sealer(), Mode::ReadWrite);
    let held = lease(&writer).unwrap();
    block_on(writer.commit(
        &held,
        Revision(1),
        vec![began("op-2"), outcome(1, "plain", None)],
    ))
    .unwrap();
    assert_eq!(block_on(reader.load(&shop())).unwrap().records.len(), 1);
}
