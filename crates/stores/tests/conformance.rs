//! Every store under the conformance suite of its contract.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures::executor::block_on;
use state::conformance::Place;
use state::{Store, conformance};
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

fn check(make: &dyn Fn() -> Place) {
    let failures = block_on(conformance::store(make));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn memory() {
    check(&|| {
        let state = MemoryState::default();
        Box::new(move |sealer| Box::new(MemoryStore::open(&state, sealer)) as Box<dyn Store>)
    });
}

#[test]
fn sqlite() {
    check(&|| {
        let folder = tempfile::tempdir().unwrap();
        Box::new(move |sealer| {
            let path = folder.path().join(".cyan/state.db");
            Box::new(SqliteStore::open(path, sealer, Mode::ReadWrite)) as Box<dyn Store>
        })
    });
}
