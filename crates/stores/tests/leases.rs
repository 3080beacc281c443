//! A lease is granted according to the clock of the machine and the liveness of the holding
//! process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blueprint::Name;
use contract_tests::store::samples::sealer;
use futures::executor::block_on;
use state::{Host, InstanceName, Lease, Liveness, Process, Store, StoreError};
use stores::sqlite::{Mode, SqliteStore};

const MINUTE: Duration = Duration::from_secs(60);

/// A machine that a test sets up: its boot, its clock, and the liveness of every process.
#[derive(Clone)]
struct Machine {
    boot: &'static str,
    seconds: u64,
    liveness: Liveness,
}

impl Host for Machine {
    fn boot(&self) -> Name {
        self.boot.into()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Wall-clock time may jump: here it goes backwards.
    fn wall(&self) -> i64 {
        1_000_000 - 50_000 * self.seconds.cast_signed()
    }

    fn process(&self) -> Option<Process> {
        let (host, namespace) = ("here".into(), "all".into());
        Some(Process {
            host,
            boot: self.boot.into(),
            namespace,
            pid: 7,
            started: 1,
        })
    }

    fn liveness(&self, _process: &Process) -> Liveness {
        self.liveness
    }
}

fn shop() -> InstanceName {
    InstanceName::from_free_text("shop")
}

fn store(folder: &Path, boot: &'static str, seconds: u64, liveness: Liveness) -> SqliteStore {
    let store = SqliteStore::open(folder.join("state.db"), sealer(), Mode::ReadWrite);
    store.with_host(Arc::new(Machine {
        boot,
        seconds,
        liveness,
    }))
}

fn lease(store: &SqliteStore) -> Result<Lease, StoreError> {
    block_on(store.lease(&shop(), "ann@host", MINUTE))
}

#[test]
fn only_a_process_that_may_have_ended_loses_a_lease() {
    for (seconds, liveness, is_taken) in [
        (1000, Liveness::Alive, false),
        (1, Liveness::Dead, true),
        (59, Liveness::Unknown, false),
        (60, Liveness::Unknown, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let first = lease(&store(folder.path(), "b", 0, Liveness::Unknown)).unwrap();
        let second = store(folder.path(), "b", seconds, liveness);
        let holder = block_on(second.holder(&shop())).unwrap().unwrap();
        assert_eq!(holder.is_active(), !is_taken, "{seconds} s, {liveness:?}");
        match lease(&second) {
            Ok(taken) => assert!(
                is_taken && taken.epoch > first.epoch,
                "{seconds} s, {liveness:?}"
            ),
            Err(StoreError::Busy {
                holder: Some(_), ..
            }) => assert!(!is_taken, "{seconds} s, {liveness:?}"),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Times of another boot cannot be compared: a lease from another boot expires a minute after it
/// was first seen.
#[test]
fn a_lease_of_another_boot_expires_after_it_was_first_seen() {
    let folder = tempfile::tempdir().unwrap();
    lease(&store(folder.path(), "there", 5, Liveness::Unknown)).unwrap();
    for seconds in [100_000, 100_059] {
        let refused = lease(&store(folder.path(), "here", seconds, Liveness::Unknown));
        assert!(
            matches!(refused, Err(StoreError::Busy { .. })),
            "{refused:?}"
        );
    }
    lease(&store(folder.path(), "here", 100_060, Liveness::Unknown)).unwrap();
}

/// The result of a commit or a renewal counts for a second.
#[test]
fn an_ended_lease_is_noticed_after_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let own = store(path, "b", 0, Liveness::Alive);
    let held = lease(&own).unwrap();
    block_on(own.check_lease(&held)).unwrap();
    block_on(store(path, "b", 0, Liveness::Alive).unlock(&shop())).unwrap();
    block_on(own.check_lease(&held)).unwrap();
    let later = own.with_host(Arc::new(Machine {
        boot: "b",
        seconds: 1,
        liveness: Liveness::Alive,
    }));
    let lost = block_on(later.check_lease(&held));
    assert!(
        matches!(lost, Err(StoreError::Busy { holder: None, .. })),
        "{lost:?}"
    );
    let again = lease(&store(path, "b", 2, Liveness::Alive)).unwrap();
    let lost = block_on(later.check_lease(&held));
    assert!(
        matches!(
            lost,
            Err(StoreError::Busy {
                holder: Some(_),
                ..
            })
        ),
        "{lost:?}"
    );
    block_on(later.check_lease(&again)).unwrap();
}

/// The lease of a process that waits for the calls of another one does not end with it.
#[test]
fn lease_that_was_taken_away_outlives_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    lease(&store(path, "b", 0, Liveness::Alive)).unwrap();
    let taking = store(path, "b", 1, Liveness::Alive);
    let second = Duration::from_secs(1);
    let taken = block_on(taking.take_away(&shop(), "eve@host", second, true)).unwrap();
    assert_eq!(&*taken.unwrap().0.who, "ann@host");
    let refused = lease(&store(path, "b", 1, Liveness::Dead));
    assert!(
        matches!(refused, Err(StoreError::Busy { .. })),
        "{refused:?}"
    );
    let later = store(path, "b", 2, Liveness::Dead);
    let holder = block_on(later.holder(&shop())).unwrap().unwrap();
    assert_eq!((holder.liveness, holder.expired), (Liveness::Unknown, true));
    lease(&later).unwrap();
}
