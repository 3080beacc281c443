//! A journal that was cut short or damaged: the file opens at an earlier whole revision, or is
//! refused with one error.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says where from it draws"
)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use blueprint::{Address, IndexMap, Value};
use contract_tests::store::samples::{began, finished, intent, outcome, record, sealer};
use futures::executor::block_on;
use rusqlite::Connection;
use state::{Entry, InstanceName, Lease, OperationOutcome, Revision, Snapshot, Store, StoreError};
use stores::sqlite::{Mode, SqliteStore};

/// The approximate number of resources.
const MANY: i64 = 200;

/// The seed of the damage.
const SEED: u64 = 20_230_420;

/// A sequence of numbers without a pattern (SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

/// Takes the lease, even from another holder.
fn lease(store: &SqliteStore) -> Result<Lease, StoreError> {
    block_on(store.unlock(&shop()))?;
    block_on(store.lease(&shop(), "ann@host (1)", Duration::from_secs(60)))
}

/// The content of an instance at one revision.
#[derive(Clone, Debug, PartialEq)]
struct Whole {
    records: IndexMap<Address, Value>,
    open: usize,
    generation: u64,
    log: usize,
}

fn whole(store: &SqliteStore) -> Result<(Revision, Whole), StoreError> {
    let Snapshot {
        revision,
        generation,
        records,
        open,
        ..
    } = block_on(store.load(&shop()))?;
    let log = match block_on(store.log(&shop(), None, usize::MAX)) {
        Ok(log) => log.len(),
        Err(StoreError::Unknown { .. }) => 0,
        Err(error) => return Err(error),
    };
    let records = records
        .iter()
        .map(|(address, record)| (address.clone(), record.inputs.clone()))
        .collect();
    Ok((
        revision,
        Whole {
            records,
            open: open.len(),
            generation: generation.0,
            log,
        },
    ))
}

/// A file in use, with its content at each revision.
struct JournaledStore {
    store: SqliteStore,
    lease: Lease,
    at: Vec<Whole>,
    operations: u64,
}

impl JournaledStore {
    fn begin(path: &Path) -> JournaledStore {
        let store = SqliteStore::open(path, sealer(), Mode::ReadWrite);
        let lease = lease(&store).unwrap();
        let none = whole(&store).unwrap().1;
        JournaledStore {
            store,
            lease,
            at: vec![none],
            operations: 0,
        }
    }

    fn commit(&mut self, entries: Vec<Entry>) {
        let expected = Revision(self.at.len() as u64 - 1);
        block_on(self.store.commit(&self.lease, expected, entries)).unwrap();
        self.at.push(whole(&self.store).unwrap().1);
    }

    /// Runs an operation of several commits: resources change, appear and disappear; one of them is
    /// large.
    fn operate(&mut self, commits: i64) {
        self.operations += 1;
        let number = self.operations as i64 * 100;
        self.commit(vec![
            began(&format!("op-{number}")),
            intent(1, "a"),
            intent(2, "b"),
        ]);
        let all = (0..MANY + 5)
            .map(|resource| outcome(4, &format!("r[{resource}]"), record(Value::Int(0))));
        let ends = [(1, "a"), (2, "b")]
            .map(|(step, name)| outcome(step, name, record(Value::Int(number))));
        self.commit(
            ends.into_iter()
                .chain(all.filter(|_| self.operations == 1))
                .collect(),
        );
        for at in number..number + commits {
            let large = Value::from("x".repeat(at as usize % 7 * 1500));
            // Each commit changes a few of many resources: it writes some pages and leaves others.
            let first = (at * 37) % MANY;
            let many = (first..first + 5)
                .map(|resource| outcome(4, &format!("r[{resource}]"), record(Value::Int(at))));
            let mut entries = vec![
                outcome(3, "a", record(Value::Int(at))),
                outcome(3, "large", record(large)),
            ];
            entries.extend(many);
            let comes = (at % 2 == 0).then(|| record(Value::Int(at)));
            entries.push(outcome(5, "comes-and-goes", comes));
            self.commit(entries);
        }
        self.commit(vec![finished(self.operations, OperationOutcome::Ready)]);
    }

    /// Closes the file and opens it again: the WAL starts empty.
    fn reopen(self, path: &Path) -> JournaledStore {
        let JournaledStore {
            store,
            lease,
            at,
            operations,
        } = self;
        block_on(store.release(&lease)).unwrap();
        drop(store);
        let store = SqliteStore::open(path, sealer(), Mode::ReadWrite);
        let lease = self::lease(&store).unwrap();
        JournaledStore {
            store,
            lease,
            at,
            operations,
        }
    }
}

/// Returns the revision that is found after the damage, or the error as text.
fn read_revision(path: &Path, at: &[Whole], what: &str) -> Result<u64, String> {
    let refused = |error: StoreError| match error {
        StoreError::Foreign { what }
        | StoreError::Newer { what }
        | StoreError::Damaged { what }
        | StoreError::Truncated { what } => what,
        other => panic!("{what}: {other}: {:?}", std::error::Error::source(&other)),
    };
    let (revision, found) =
        whole(&SqliteStore::open(path, sealer(), Mode::ReadOnly)).map_err(refused)?;
    assert_eq!(
        found, at[revision.0 as usize],
        "{what}: torn at revision {}",
        revision.0
    );
    // The instance accepts a commit at that revision.
    let store = SqliteStore::open(path, sealer(), Mode::ReadWrite);
    let lease = lease(&store).map_err(refused)?;
    let entries = vec![began(what), outcome(1, "after", record(Value::Int(1)))];
    let gone_on = block_on(store.commit(&lease, revision, entries)).map_err(refused)?;
    assert_eq!(gone_on, Revision(revision.0 + 1), "{what}");
    let (_, after) = whole(&store).map_err(refused)?;
    assert_eq!(after.records.len(), found.records.len() + 1, "{what}");
    Ok(revision.0)
}

/// A folder in memory if there is one: a disk that syncs makes no difference to the damage here.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn wal(path: &Path) -> std::path::PathBuf {
    path.with_file_name("state.db-wal")
}

/// Damages copies of the present file and its journal, as a killed process leaves them. Returns how
/// many were refused, and at how many different revisions the others opened.
fn damage(path: &Path, at: &[Whole], draw: &mut Draw, word: &str) -> (usize, usize) {
    let (database, journal) = (fs::read(path).unwrap(), fs::read(wal(path)).unwrap());
    let mut refused = 0;
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..36 {
        let mut journal = journal.clone();
        let place = draw.below(journal.len());
        let how = match number % 3 {
            0 => {
                journal.truncate(place);
                "cut"
            }
            1 => {
                journal[place] ^= 1 << draw.below(8);
                "a bit at"
            }
            _ => {
                let end = (place + 1 + draw.below(5000)).min(journal.len());
                journal[place..end].fill(if number % 2 == 0 { 0 } else { 0xff });
                "from"
            }
        };
        let crashed = folder();
        let path = crashed.path().join("state.db");
        fs::write(&path, &database).unwrap();
        fs::write(wal(&path), &journal).unwrap();
        match read_revision(&path, at, &format!("{word}, {how} {place}")) {
            Ok(revision) => drop(seen.insert(revision)),
            Err(_) => refused += 1,
        }
    }
    (refused, seen.len())
}

#[test]
fn a_wal_cut_short_gives_an_earlier_whole_revision() {
    println!("damage drawn from {SEED}");
    let mut draw = Draw(SEED);
    let folder = folder();
    let path = folder.path().join("state.db");
    let mut life = JournaledStore::begin(&path);
    life.operate(12);
    let (refused, revisions) = damage(&path, &life.at, &mut draw, "a new file");
    assert!(
        refused == 0 && revisions > 10,
        "{refused} refused, {revisions} revisions"
    );
    let mut life = life.reopen(&path);
    life.operate(12);
    let (refused, revisions) = damage(&path, &life.at, &mut draw, "a file opened again");
    assert!(
        refused == 0 && revisions > 10,
        "{refused} refused, {revisions} revisions"
    );
    // A journal that is cut short does not undo pages that a checkpoint has written to the file.
    let into_the_file = |how: &str| {
        let other = Connection::open(&path).unwrap();
        other
            .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))
            .unwrap();
    };
    into_the_file("PASSIVE");
    let (refused, revisions) = damage(&path, &life.at, &mut draw, "taken in");
    assert!(
        refused > 0 && revisions > 1,
        "{refused} refused, {revisions} revisions"
    );
    let mut life = life.reopen(&path);
    life.operate(6);
    into_the_file("PASSIVE");
    life.operate(6);
    let (refused, revisions) = damage(&path, &life.at, &mut draw, "taken in half");
    assert!(revisions > 5, "{refused} refused, {revisions} revisions");
}

/// Pruning is one transaction: it is done or not, and the current state is the same.
#[test]
fn a_wal_cut_short_while_pruning_loses_nothing() {
    let folder = folder();
    let path = folder.path().join("state.db");
    let mut life = JournaledStore::begin(&path);
    (0..4).for_each(|_| life.operate(2));
    let mut life = life.reopen(&path);
    life.operate(2);
    let last = life.at.pop().unwrap();
    let before = fs::read(wal(&path)).unwrap().len();
    block_on(life.store.prune(&life.lease, "op-400")).unwrap();
    let (revision, pruned) = whole(&life.store).unwrap();
    assert_eq!(
        (&pruned.records, pruned.generation),
        (&last.records, last.generation)
    );
    assert!(
        pruned.log < last.log,
        "{} entries of {} are left",
        pruned.log,
        last.log
    );
    let (database, journal) = (fs::read(&path).unwrap(), fs::read(wal(&path)).unwrap());
    let mut logs = std::collections::BTreeSet::new();
    let (step, mut draw) = ((journal.len() - before) / 12, Draw(SEED));
    for end in (before..journal.len())
        .step_by(step)
        .map(|from| from + draw.below(step))
        .chain([journal.len()])
    {
        let crashed = self::folder();
        let path = crashed.path().join("state.db");
        fs::write(&path, &database).unwrap();
        fs::write(wal(&path), &journal[..end.min(journal.len())]).unwrap();
        let store = SqliteStore::open(&path, sealer(), Mode::ReadOnly);
        let (found_revision, found) = whole(&store).unwrap();
        assert_eq!(found_revision, revision);
        assert_eq!(
            Whole {
                log: last.log,
                ..found.clone()
            },
            last
        );
        logs.insert(found.log);
        let verified = block_on(store.verify()).unwrap();
        assert!(verified.damaged.is_empty(), "{:?}", verified.damaged);
        assert!(
            block_on(store.operation(&shop(), "op-500"))
                .unwrap()
                .is_some_and(|it| !it.desired.is_null())
        );
    }
    assert_eq!(
        logs.into_iter().collect::<Vec<_>>(),
        [pruned.log, last.log],
        "before and after"
    );
}
