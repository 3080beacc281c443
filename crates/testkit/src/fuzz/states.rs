//! Targets on stored data: plan files, exported states, journals, databases and their write-ahead
//! logs.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use blueprint::{IndexMap, Name, Value};
use contract_tests::store::TestHost;
use contract_tests::store::samples::{
    began, finished, full_operation, intent, outcome, record, sealer,
};
use engine::{Given, Options, plan_file};
use futures::executor::block_on;
use state::seal::Sealer;
use state::{
    Entry, Exported, ExportedError, InstanceName, Journal, Lease, OperationOutcome, Revision,
    Snapshot, Store as _, StoreError,
};
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{FileFailure, Mode, SqliteStore};

use super::target::{FILE, FuzzTarget, TEXT, number, roughly};
use crate::harness::Harness;

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "0",
    "-1",
    "\"format\":1",
    "\"format\":2",
    "\"kind\":\"plan\"",
    "\"kind\":\"state\"",
    "{\"$secret\":",
    "{\"$sealed\":\"",
    "{\"$map\":",
    "{\"$unknown\":",
    "{\"$bytes\":\"",
    "\"key\":\"",
    "\"address\":",
    "\"a\"",
    "\"a[0]\"",
    "\"a::b\"",
    "\"child/a\"",
    "\"op\":\"create\"",
    "\"op\":\"delete\"",
    "\"status\":{",
    "\"word\":\"ready\"",
    "\"revision\":",
    "\"generation\":",
    "18446744073709551615",
    "\"intent\":{",
    "\"outcome\":{",
    "\"finished\":{",
    "\"began\":{",
];

pub(super) const PLAN_FILE: FuzzTarget = FuzzTarget {
    name: "plan-file",
    invariant: "a damaged plan file is refused with a typed error, or says what it said, and what was sealed is what was sealed",
    run: plan_file,
    seeds: || plans().clone(),
    words: WORDS,
    cases: 1_500,
    longest: TEXT,
};

pub(super) const EXPORTED: FuzzTarget = FuzzTarget {
    name: "exported",
    invariant: "a damaged exported state is refused with a typed error, or is a state that can be written and read again",
    run: exported,
    seeds: || exports().clone(),
    words: WORDS,
    cases: 1_500,
    longest: TEXT,
};

pub(super) const JOURNAL: FuzzTarget = FuzzTarget {
    name: "journal",
    invariant: "any entries are refused or lead to a state that can be loaded, with the same answer from the rules and the store",
    run: journal,
    seeds: journals,
    words: WORDS,
    cases: 1_500,
    longest: TEXT,
};

pub(super) const DATABASE: FuzzTarget = FuzzTarget {
    name: "database",
    invariant: "a damaged database is read or refused with a typed error",
    run: database,
    seeds: || vec![databases().whole.clone(), databases().base.clone()],
    words: &[
        "SQLite format 3\0",
        "\0\0\0\0",
        "\u{10}\0",
        "{\"",
        "}",
        "CREATE TABLE",
        "entries",
        "shop",
        "operation-1",
        "NULL",
    ],
    cases: 150,
    longest: FILE,
};

pub(super) const LOG: FuzzTarget = FuzzTarget {
    name: "log",
    invariant: "a database with a damaged log opens at an earlier whole revision, or is refused with a typed error",
    run: log,
    seeds: || vec![databases().log.clone()],
    words: &["\0\0\0\0", "\u{7f}\u{6}\u{2}\0", "{\"", "shop"],
    cases: 60,
    longest: FILE,
};

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

/// Two plan files: one with a secret, one without.
fn plans() -> &'static Vec<Vec<u8>> {
    static PLANS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap_or_else(|error| panic!("a runtime can be had: {error}"));
        runtime.block_on(async {
            let mut plans = Vec::new();
            for secret in [true, false] {
                let text = format!(
                    "version: 2025-11-02\nvariables:\n  word: {{ type: string, secret: {secret} }}\nresources:\n  \
                     a: {{ type: test/record, spec: {{ title: t, note: '${{variables.word}}' }} }}\n  \
                     b: {{ type: test/data, spec: {{ input: ['${{a.spec.id}}', '${{uuid()}}'] }} }}\n\
                     exports:\n  id: {{ type: string, field: resources.a.spec.id }}\n"
                );
                let mut given: IndexMap<Name, Name> = IndexMap::default();
                given.insert("word".into(), "hush".into());
                let given = Given { text: given, ..Given::default() };
                let harness = Harness::new("/nowhere".into(), Vec::new());
                let stage = harness.stage("fuzz.yaml", &text, given, Options::default()).await;
                let staged = stage.staged.unwrap_or_else(|| panic!("no plan: {:?}", stage.diagnostics));
                let text = plan_file::write(&staged.plan, &sealer());
                plans.push(text.unwrap_or_else(|error| panic!("there is a key: {error}")).into_bytes());
            }
            plans
        })
    })
}

fn plan_file(input: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(input) else {
        return 0;
    };
    let looks = plan_file::looks_like_plan_file(text);
    let mut kinds = Vec::new();
    // The checksum refuses most changed files. A new one lets them pass.
    let body = text
        .rsplit_once(",\"checksum\":")
        .map(|(body, _)| format!("{body}}}"));
    let texts = [
        text.to_owned(),
        plan_file::with_checksum(body.as_deref().unwrap_or(text)),
    ];
    let sealers = || [sealer(), Sealer::none(), Sealer::with_key([9; 32])];
    for (text, sealer) in texts
        .iter()
        .flat_map(|text| sealers().map(|sealer| (text, sealer)))
    {
        kinds.push(match plan_file::read(text, &sealer) {
            Ok((file, made_from)) => {
                assert!(file.format <= plan_file::FORMAT, "a newer format was read");
                if file.made_from.get("sealed").is_some() {
                    let words: Vec<&str> = made_from.text.values().map(AsRef::as_ref).collect();
                    assert_eq!(words, ["hush"], "what was sealed is not what was sealed");
                }
                let written = serde_json::to_string(&made_from)
                    .unwrap_or_else(|error| panic!("written again: {error}"));
                let again: Result<plan_file::MadeFrom, _> = serde_json::from_str(&written);
                assert_eq!(
                    again.ok().as_ref(),
                    Some(&made_from),
                    "written and read again it says something else"
                );
                format!(
                    "read {} {}",
                    roughly(file.steps.len()),
                    made_from.document.is_some()
                )
            }
            Err(error) => error.to_string(),
        });
    }
    number((looks, kinds))
}

/// An exported state with every kind of content.
fn exports() -> &'static Vec<Vec<u8>> {
    static EXPORTS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    EXPORTS.get_or_init(|| {
        let (_, snapshot) = full_operation();
        let written = Exported::of(&shop(), &snapshot).write(&sealer());
        let small = Snapshot {
            records: [(
                contract_tests::store::samples::address("a"),
                Arc::new(record(Value::Int(1))),
            )]
            .into_iter()
            .collect(),
            ..Snapshot::default()
        };
        let small = Exported::of(&shop(), &small).write(&sealer());
        let text = |written: Result<String, _>| {
            written.unwrap_or_else(|error: ExportedError| panic!("there is a key: {error:?}"))
        };
        [written, small]
            .into_iter()
            .map(|written| text(written).into_bytes())
            .collect()
    })
}

fn exported(input: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(input) else {
        return 0;
    };
    let mut kinds = Vec::new();
    for sealer in [sealer(), Sealer::none()] {
        kinds.push(match Exported::read(text, &sealer) {
            Ok(exported) => {
                let written = exported.write(&contract_tests::store::samples::sealer());
                let written =
                    written.unwrap_or_else(|error| panic!("what was read can be written: {error}"));
                let again = Exported::read(&written, &contract_tests::store::samples::sealer());
                let again =
                    again.unwrap_or_else(|error| panic!("what was written can be read: {error}"));
                assert_eq!(
                    again, exported,
                    "written and read again it says something else"
                );
                format!(
                    "read {} {}",
                    roughly(exported.records.len()),
                    exported.has_secret()
                )
            }
            Err(error) => {
                let why = std::error::Error::source(&error)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let why: String = why
                    .chars()
                    .filter(|letter| letter.is_ascii_lowercase())
                    .take(24)
                    .collect();
                format!("{error} {why}")
            }
        });
    }
    number(kinds)
}

fn journals() -> Vec<Vec<u8>> {
    let (entries, _) = full_operation();
    let small = vec![
        began("op-1"),
        intent(1, "a"),
        outcome(1, "a", record(Value::Int(1))),
        intent(2, "b"),
        finished(1, OperationOutcome::Ready),
    ];
    [entries, small]
        .iter()
        .filter_map(|entries| serde_json::to_vec(entries).ok())
        .collect()
}

fn journal(input: &[u8]) -> u64 {
    let entries: Vec<Entry> = match serde_json::from_slice(input) {
        Ok(entries) => entries,
        Err(error) => {
            let why: String = error
                .to_string()
                .chars()
                .filter(|letter| letter.is_ascii_lowercase())
                .take(24)
                .collect();
            return number(why);
        }
    };
    let mut rules = Journal::default();
    let allowed = rules.check(1, &entries);
    if allowed.is_ok() {
        rules.follow(1, &entries);
        let (open, settled) = (rules.open(), rules.is_settled());
        assert!(
            !settled || open.is_empty() || rules.running().is_none(),
            "settled, with calls that are open: {open:?}"
        );
    }
    let memory = MemoryState::default();
    let store = MemoryStore::open(&memory, sealer());
    let Ok(lease) = block_on(store.lease(&shop(), "fuzz", Duration::from_secs(60))) else {
        panic!("an unknown instance has a holder");
    };
    let committed = block_on(store.commit(&lease, Revision(0), entries.clone()));
    let words = match (&allowed, &committed) {
        (Err(_), Ok(_)) => panic!("the store takes what the rules refuse: {allowed:?}"),
        (_, Ok(revision)) => {
            assert_eq!(*revision, Revision(1), "one commit makes one revision");
            let loaded = block_on(store.load(&shop()));
            let loaded =
                loaded.unwrap_or_else(|error| panic!("what was committed can be loaded: {error}"));
            let open: Vec<String> = rules.open().keys().map(ToString::to_string).collect();
            let stored: Vec<String> = loaded.open.keys().map(ToString::to_string).collect();
            assert_eq!(
                open, stored,
                "the rules and the store disagree on what is open"
            );
            format!(
                "{} {}",
                roughly(loaded.records.len()),
                roughly(loaded.open.len())
            )
        }
        (Err(why), Err(_)) => why
            .chars()
            .filter(char::is_ascii_lowercase)
            .take(24)
            .collect(),
        (Ok(()), Err(error)) => error
            .to_string()
            .chars()
            .filter(char::is_ascii_lowercase)
            .take(24)
            .collect(),
    };
    number((words, roughly(entries.len())))
}

/// A host whose clock stands still at a second.
fn host_at(now: i64) -> Arc<TestHost> {
    Arc::new(TestHost::at(now))
}

/// A database as files.
struct Databases {
    /// The file after all commits.
    whole: Vec<u8>,
    /// The file after the first commits.
    base: Vec<u8>,
    /// The write-ahead log with the later commits.
    log: Vec<u8>,
    /// The snapshot of each revision.
    revisions: Vec<Snapshot>,
}

fn databases() -> &'static Databases {
    static DATABASES: OnceLock<Databases> = OnceLock::new();
    DATABASES.get_or_init(|| {
        build_databases().unwrap_or_else(|error| panic!("a database can be made: {error}"))
    })
}

fn build_databases() -> Result<Databases, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("state.db");
    let mut revisions = vec![Snapshot::default()];
    let commit =
        |store: &SqliteStore, lease: &Lease, revisions: &mut Vec<Snapshot>, entries: Vec<Entry>| {
            let expected = Revision(revisions.len() as u64 - 1);
            let revision = block_on(store.commit(lease, expected, entries))?;
            revisions.push(block_on(store.load(&shop()))?);
            Ok::<_, StoreError>(revision)
        };
    let (full, _) = full_operation();
    {
        let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite).with_host(host_at(0));
        let lease = block_on(store.lease(&shop(), "fuzz", Duration::from_secs(60)))?;
        commit(&store, &lease, &mut revisions, full)?;
        block_on(store.release(&lease))?;
    }
    let base = std::fs::read(&path)?;
    let store = SqliteStore::open(&path, sealer(), Mode::ReadWrite).with_host(host_at(0));
    let lease = block_on(store.lease(&shop(), "fuzz", Duration::from_secs(60)))?;
    let mut operation = vec![began("operation-2")];
    for step in 1..6_u32 {
        operation.push(outcome(
            step,
            &format!("r{step}"),
            record(Value::Int(i64::from(step))),
        ));
        commit(
            &store,
            &lease,
            &mut revisions,
            std::mem::take(&mut operation),
        )?;
    }
    commit(
        &store,
        &lease,
        &mut revisions,
        vec![finished(2, OperationOutcome::Ready)],
    )?;
    let log = std::fs::read(folder.path().join("state.db-wal"))?;
    drop(store);
    let whole = std::fs::read(&path)?;
    Ok(Databases {
        whole,
        base,
        log,
        revisions,
    })
}

/// Whether an error names its cause. A panic in a thread of the store fails the target.
fn error_kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unreachable { source } => match source.downcast_ref::<FileFailure>() {
            Some(FileFailure::Stopped { .. }) => panic!("a thread of the store has panicked"),
            _ => "unreachable",
        },
        StoreError::Foreign { .. } => "foreign",
        StoreError::Newer { .. } => "newer",
        StoreError::Damaged { .. } | StoreError::Truncated { .. } => "damaged",
        StoreError::WrongKey | StoreError::KeyMissing => "wrong key",
        StoreError::NoKey => "no key",
        StoreError::Unknown { .. } => "unknown",
        StoreError::Busy { .. } => "busy",
        StoreError::Moved { .. } => "moved",
        _ => "other",
    }
}

/// Reads all instances in both modes.
fn read_instances(path: &Path) -> Vec<Result<Snapshot, &'static str>> {
    let mut seen = Vec::new();
    for mode in [Mode::ReadOnly, Mode::ReadWrite] {
        let store = SqliteStore::open(path, sealer(), mode).with_host(host_at(1_000_000));
        let _ = block_on(store.instances()).map_err(|error| error_kind(&error));
        let _ = block_on(store.head(&shop())).map_err(|error| error_kind(&error));
        let _ = block_on(store.history(&shop(), 10)).map_err(|error| error_kind(&error));
        let _ = block_on(store.log(&shop(), None, 100)).map_err(|error| error_kind(&error));
        seen.push(block_on(store.load(&shop())).map_err(|error| error_kind(&error)));
        if mode == Mode::ReadWrite {
            let lease = block_on(store.lease(&shop(), "fuzz", Duration::from_secs(60)));
            if let Ok(lease) = lease.map_err(|error| error_kind(&error)) {
                let head = block_on(store.head(&shop()))
                    .map_err(|error| error_kind(&error))
                    .unwrap_or_default();
                let entries = vec![
                    began("operation-9"),
                    outcome(1, "r9", record(Value::Int(9))),
                ];
                if block_on(store.commit(&lease, head, entries))
                    .map_err(|error| error_kind(&error))
                    .is_ok()
                {
                    let after = block_on(store.head(&shop())).map_err(|error| error_kind(&error));
                    assert_eq!(
                        after,
                        Ok(Revision(head.0 + 1)),
                        "a commit that was taken is not there"
                    );
                }
            }
        }
    }
    seen
}

fn database(input: &[u8]) -> u64 {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("there is a place for temporary files")
    };
    let path = folder.path().join("state.db");
    if std::fs::write(&path, input).is_err() {
        panic!("a temporary file can be written");
    }
    let seen = read_instances(&path);
    number(
        seen.iter()
            .map(|seen| match seen {
                Ok(snapshot) => format!(
                    "{} {}",
                    snapshot.revision.0.min(9),
                    roughly(snapshot.records.len())
                ),
                Err(what) => (*what).to_owned(),
            })
            .collect::<Vec<_>>(),
    )
}

/// Whether two snapshots, including their secrets, are equal.
fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let open = |snapshot: &Snapshot| {
        snapshot
            .open
            .keys()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    Exported::of(&shop(), one) == Exported::of(&shop(), other) && open(one) == open(other)
}

fn log(input: &[u8]) -> u64 {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("there is a place for temporary files")
    };
    let path = folder.path().join("state.db");
    let written = std::fs::write(&path, &databases().base)
        .and_then(|()| std::fs::write(folder.path().join("state.db-wal"), input));
    if written.is_err() {
        panic!("a temporary file can be written");
    }
    let seen = read_instances(&path);
    let mut words = Vec::new();
    for seen in &seen {
        match seen {
            Ok(snapshot) => {
                let revision = usize::try_from(snapshot.revision.0).unwrap_or(usize::MAX);
                let known = databases()
                    .revisions
                    .get(revision)
                    .is_some_and(|known| is_same(known, snapshot));
                assert!(known, "a torn state at {:?}", snapshot.revision);
                words.push(revision.to_string());
            }
            Err(what) => words.push((*what).to_owned()),
        }
    }
    number(words)
}
