//! One writer at a time: who is refused, who is not made to wait, and what becomes of one whose hold was ended.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use state::seal::Sealer;
use state::{InstanceName, Store};
use stores::sqlite::{Mode, SqliteStore};

use crate::place::Place;

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// A run that was killed before its first step holds an instance that is in no list yet.
#[test]
fn a_hold_on_what_was_never_begun_can_be_ended() {
    let place = Place::with("shop.blueprint.yaml", ONE);
    place.ends(1, &["unlock", "--yes"]);
    let store = SqliteStore::open(place.path().join(".cyan/state.db"), Sealer::none(), Mode::ReadWrite);
    let lasts = Duration::from_secs(60);
    block_on(store.lease(&InstanceName::from_free_text("shop"), "ann@host (process 7)", now(), lasts)).unwrap();
    drop(store);
    let refused = place.ends(5, &["deploy", "--yes"]);
    assert!(
        refused.err.contains("held by ann@host (process 7)") && refused.err.contains("cyan unlock"),
        "{}",
        refused.err
    );
    place.ends(2, &["unlock"]);
    place.ends(1, &["unlock", "--yes", "-i", "other"]);
    assert!(place.ends(0, &["unlock", "--yes"]).err.contains("ann@host (process 7)"));
    assert_eq!(place.ends(0, &["deploy", "--yes"]).last_line(), "1 created, 0 updated, 0 deleted");
    assert!(place.ends(0, &["unlock"]).err.contains("Nobody holds `shop`"));
}
