//! Every store passes the suite of its contract.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use contract_tests::store::StoreOpener;
use futures::executor::block_on;
use state::Store;
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

fn check(make: &dyn Fn() -> StoreOpener) {
    let failures = block_on(contract_tests::store::check(make));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn memory() {
    check(&|| {
        let state = MemoryState::default();
        Box::new(move |sealer, host| {
            Box::new(MemoryStore::open(&state, sealer).with_host(host)) as Box<dyn Store>
        })
    });
}

#[test]
fn sqlite() {
    check(&|| {
        let folder = tempfile::tempdir().unwrap();
        Box::new(move |sealer, host| {
            let path = folder.path().join(".cyan/state.db");
            Box::new(SqliteStore::open(path, sealer, Mode::ReadWrite).with_host(host))
                as Box<dyn Store>
        })
    });
}
