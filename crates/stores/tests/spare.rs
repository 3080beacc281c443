//! The blocks of the log are kept from one run to the next, and what is left in them never comes back.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blueprint::Value;
use futures::executor::block_on;
use rusqlite::Connection;
use state::conformance::{began, outcome, record, sealer};
use state::seal::Sealer;
use state::{InstanceName, Lease, Revision, Store};
use stores::sqlite::{Mode, SqliteStore};

const SPARE: &str = "state.db-spare";
const LOG: &str = "state.db-wal";

/// A folder with a state file in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file("state.db"), sealer(), Mode::ReadWrite)
    }

    /// The number of the file and how many names it has.
    fn inode(&self, name: &str) -> (u64, u64) {
        let about = fs::metadata(self.file(name)).unwrap();
        (about.ino(), about.nlink())
    }

    /// One more commit to an instance, by a store of its own; its revision then.
    fn commit(&self, name: &str, text: &str) -> u64 {
        let store = self.open();
        let lease = lease(&store, name);
        let revision = block_on(store.head(&lease.instance)).unwrap();
        commit(&store, &lease, revision, text)
    }

    fn revision(&self, name: &str) -> u64 {
        block_on(self.open().head(&InstanceName::from_free_text(name))).unwrap().0
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn is_whole(&self) -> bool {
        let connection = Connection::open(self.file("state.db")).unwrap();
        connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap() == "ok"
    }
}

fn lease(store: &SqliteStore, name: &str) -> Lease {
    let instance = InstanceName::from_free_text(name);
    block_on(store.lease(&instance, "ann@host (1)", 1_700_000_000, Duration::ZERO)).unwrap()
}

fn commit(store: &SqliteStore, lease: &Lease, revision: Revision, text: &str) -> u64 {
    let id = format!("{}-{}", lease.instance, revision.0);
    let entries = vec![began(&id), outcome(1, "a", record(Value::from(text)))];
    block_on(store.commit(lease, revision, entries)).unwrap().0
}

fn copy(from: &Path, to: &Path) {
    fs::write(to, fs::read(from).unwrap()).unwrap();
}

#[test]
fn one_run_after_the_other_writes_over_the_same_blocks() {
    let place = Place::new();
    place.commit("shop", "one");
    assert_eq!(place.names(), ["state.db", SPARE]);
    let (number, names) = place.inode(SPARE);
    assert_eq!(names, 1);
    for run in 2..5 {
        let store = place.open();
        store.prepare();
        // Who reads at once waits until the log is there: it would have another one made.
        assert_eq!(block_on(store.head(&InstanceName::from_free_text("shop"))).unwrap(), Revision(run - 1));
        let held = lease(&store, "shop");
        assert_eq!((place.inode(LOG), place.inode(SPARE)), ((number, 2), (number, 2)));
        assert_eq!(commit(&store, &held, Revision(run - 1), "more"), run);
        drop(store);
        assert_eq!((place.names(), place.inode(SPARE)), (vec!["state.db".to_owned(), SPARE.to_owned()], (number, 1)));
    }
    assert!(place.is_whole());
}

/// A copy of the file is put back while a log lies there that was of a later one.
#[test]
fn what_is_left_in_a_spare_log_is_not_taken_into_another_file() {
    let place = Place::new();
    place.commit("shop", "one");
    copy(&place.file("state.db"), &place.file("kept"));
    place.commit("shop", "two");
    assert_eq!(place.commit("shop", "three"), 3);
    copy(&place.file("kept"), &place.file("state.db"));
    // Who writes makes a log of it; who reads does not.
    assert_eq!(place.revision("shop"), 1);
    let store = place.open();
    store.prepare();
    assert_eq!(lease(&store, "shop").revision, Revision(1));
    assert_eq!(place.inode(LOG).1, 2);
    drop(store);
    assert_eq!((place.revision("shop"), place.commit("shop", "other")), (1, 2));
    assert!(place.is_whole());
    // It alone is nothing.
    fs::remove_file(place.file("state.db")).unwrap();
    assert_eq!((place.revision("shop"), place.commit("shop", "anew")), (0, 1));
    assert!(place.is_whole());
}

/// A process that was killed leaves its log under both names: it counts.
#[test]
fn a_log_that_is_in_use_is_left_alone() {
    let place = Place::new();
    place.commit("shop", "one");
    let store = place.open();
    let held = lease(&store, "shop");
    commit(&store, &held, Revision(1), "two");
    let crashed = Place::new();
    copy(&place.file("state.db"), &crashed.file("state.db"));
    copy(&place.file(LOG), &crashed.file(LOG));
    fs::hard_link(crashed.file(LOG), crashed.file(SPARE)).unwrap();
    assert_eq!(crashed.revision("shop"), 2);
    // Even where its first name is not seen any more, but another one is.
    copy(&place.file(LOG), &crashed.file(LOG));
    let (head, hidden) = (fs::read(crashed.file(LOG)).unwrap(), crashed.file("hidden"));
    for name in [SPARE, LOG] {
        let _ = fs::remove_file(crashed.file(name));
    }
    fs::write(&hidden, &head).unwrap();
    fs::hard_link(&hidden, crashed.file(SPARE)).unwrap();
    assert_eq!(crashed.commit("other", "one"), 1);
    assert_eq!(fs::read(&hidden).unwrap(), head);
}

#[test]
fn many_at_once_share_a_log_and_lose_nothing() {
    const ROUNDS: u64 = 12;
    let place = Place::new();
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let place = &place;
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    assert_eq!(place.commit(name, "more"), round);
                    assert_eq!(place.revision(name), round);
                }
            });
        }
    });
    assert!(place.is_whole());
    assert_eq!(["a", "b", "c", "d"].map(|name| place.revision(name)), [ROUNDS; 4]);
}

#[test]
fn a_large_log_and_one_of_another_key_are_not_kept() {
    let place = Place::new();
    place.commit("shop", &"x".repeat(6 << 20));
    assert_eq!(place.names(), ["state.db"]);
    place.commit("shop", "small");
    assert_eq!(place.names(), ["state.db", SPARE]);
    let store = place.open();
    block_on(store.rekey(&Sealer::with_key([9; 32]), 1_800_000_000)).unwrap();
    drop(store);
    assert_eq!(place.names(), ["state.db"]);
}
