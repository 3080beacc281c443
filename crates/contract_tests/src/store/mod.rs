//! The suite of stores.
//!
//! [`check`] runs all cases on places that the caller makes, and returns the failures. A correct
//! store has none. The clock is set, keys are fixed, and nothing is random, so a failure is
//! repeatable.
//!
//! Not here: failures that only one kind of place can have (a full disk, a damaged file).

#[macro_use]
mod harness;

mod concurrent;
mod content;
mod fencing;
mod folded;
mod host;
mod journal;
mod leases;
mod pruned;
mod renamed;
mod restored;
pub mod samples;
mod secrets;

use futures::future::LocalBoxFuture;

use harness::{Failed, StorePlace};

pub use harness::StoreOpener;
pub use host::TestHost;

type ContractCase = for<'p> fn(&'p StorePlace) -> LocalBoxFuture<'p, Result<(), Failed>>;

const CASES: &[(&str, ContractCase)] = &[
    ("an unused place is empty", |place| {
        Box::pin(content::unused_place_is_empty(place))
    }),
    ("commits are read back", |place| {
        Box::pin(content::commits_are_read_back(place))
    }),
    ("secrets need their key", |place| {
        Box::pin(secrets::secrets_need_their_key(place))
    }),
    ("rekeying seals secrets again", |place| {
        Box::pin(secrets::rekeying_seals_again(place))
    }),
    ("one writer at a time", |place| {
        Box::pin(leases::one_writer_at_a_time(place))
    }),
    ("an expired lease can be taken over", |place| {
        Box::pin(leases::expired_lease_is_taken_over(place))
    }),
    ("a lease is taken away in one step", |place| {
        Box::pin(leases::lease_is_taken_away(place))
    }),
    ("a writer that was taken over cannot commit", |place| {
        Box::pin(fencing::fenced_writer_cannot_commit(place))
    }),
    ("epochs outlive the process", |place| {
        Box::pin(fencing::epochs(place))
    }),
    ("rekeying ends expired leases", |place| {
        Box::pin(fencing::rekeyed(place))
    }),
    ("a stale revision is refused", |place| {
        Box::pin(journal::stale_revision_is_refused(place))
    }),
    ("the rules of the journal are kept", |place| {
        Box::pin(journal::journal_rules_are_kept(place))
    }),
    ("open intents are found", |place| {
        Box::pin(journal::open_intents_are_found(place))
    }),
    ("stops of a running operation are known", |place| {
        Box::pin(journal::stops_of_running_operations(place))
    }),
    ("a destroyed instance continues", |place| {
        Box::pin(content::destroyed_instance_continues(place))
    }),
    ("history and log are in order", |place| {
        Box::pin(journal::history_and_log_are_in_order(place))
    }),
    ("records keep their order", |place| {
        Box::pin(content::records_keep_their_order(place))
    }),
    ("exports are those of the last success", |place| {
        Box::pin(content::exports_are_of_the_last_success(place))
    }),
    ("instances are isolated", |place| {
        Box::pin(concurrent::instances_are_isolated(place))
    }),
    ("readers see whole revisions", |place| {
        Box::pin(concurrent::readers_see_whole_revisions(place))
    }),
    ("a journal is restored as a whole or not at all", |place| {
        Box::pin(restored::refused(place))
    }),
    ("one of several writers wins", |place| {
        Box::pin(concurrent::one_of_several_writers_wins(place))
    }),
    ("a renamed instance goes on", |place| {
        Box::pin(renamed::renamed_instance_goes_on(place))
    }),
    ("a taken name is refused", |place| {
        Box::pin(renamed::taken_names_are_refused(place))
    }),
    ("pruning keeps the state", |place| {
        Box::pin(pruned::pruning_keeps_the_state(place))
    }),
    ("pruning needs the lease and keeps open intents", |place| {
        Box::pin(pruned::leases_and_open_calls(place))
    }),
];

/// Runs every case, each on a place of its own from `make`. Returns one message for each failure.
pub async fn check(make: &dyn Fn() -> StoreOpener) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, case) in CASES {
        let place = StorePlace::new(make());
        let result = match case(&place).await {
            Ok(()) => folded::journals_lead_to_snapshots(&place).await,
            failed => failed,
        };
        if let Err(Failed(what)) = result {
            failures.push(format!("{name}: {what}"));
        }
    }
    if let Err(Failed(what)) =
        restored::restore_in_another_store(&StorePlace::new(make()), &StorePlace::new(make())).await
    {
        failures.push(format!("a whole journal is restored elsewhere: {what}"));
    }
    if let Err(Failed(what)) =
        pruned::restore_in_another_store(&StorePlace::new(make()), &StorePlace::new(make())).await
    {
        failures.push(format!("a pruned journal is restored elsewhere: {what}"));
    }
    failures
}
