//! Engines with a fault on purpose: each must be found by the simulation, or the simulation is no net.
//!
//! A fault is made where the engine meets the world, in what it commits and calls, as if it had decided so. No product
//! code knows of any of this.

use std::collections::HashSet;
use std::sync::Arc;

use blueprint::Name;
use provider::Call;
use state::{Entry, EntryKind, Outcome, Record, Snapshot, StatusOp};

/// What the engine does wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// Intents are not committed.
    SkipIntent,
    /// Every third commit is written after the one that follows it.
    SwapCommits,
    /// A commit is said to be durable before it is: it goes with the next one.
    AcknowledgeEarly,
    /// The old half of a replacement is forgotten.
    ForgetDeposed,
    /// What a thing depends on is not recorded.
    ForgetDependencies,
    /// Every third outcome is not committed.
    ForgetOutcome,
    /// A thing that could not be deleted is forgotten.
    ForgetUndeleted,
    /// What was sent by an update is not recorded.
    ForgetInputs,
    /// A call that is tried again is another call to the provider.
    TokenPerTry,
    /// What a run left open when it was cut off is not looked at.
    ForgetInterrupted,
    /// What exists although its call failed is not recorded.
    ForgetPartial,
    /// Which actions are under way is not recorded where operations stop at breakpoints.
    ForgetStops,
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 12] = [
        Sabotage::SkipIntent,
        Sabotage::SwapCommits,
        Sabotage::AcknowledgeEarly,
        Sabotage::ForgetDeposed,
        Sabotage::ForgetDependencies,
        Sabotage::ForgetOutcome,
        Sabotage::ForgetUndeleted,
        Sabotage::ForgetInputs,
        Sabotage::TokenPerTry,
        Sabotage::ForgetInterrupted,
        Sabotage::ForgetPartial,
        Sabotage::ForgetStops,
    ];

    /// Its word in scripts.
    pub fn word(self) -> &'static str {
        match self {
            Sabotage::SkipIntent => "skip-intent",
            Sabotage::SwapCommits => "swap-commits",
            Sabotage::AcknowledgeEarly => "acknowledge-early",
            Sabotage::ForgetDeposed => "forget-deposed",
            Sabotage::ForgetDependencies => "forget-dependencies",
            Sabotage::ForgetOutcome => "forget-outcome",
            Sabotage::ForgetUndeleted => "forget-undeleted",
            Sabotage::ForgetInputs => "forget-inputs",
            Sabotage::TokenPerTry => "token-per-try",
            Sabotage::ForgetInterrupted => "forget-interrupted",
            Sabotage::ForgetPartial => "forget-partial",
            Sabotage::ForgetStops => "forget-stops",
        }
    }

    /// The one of a word.
    pub fn of(word: &str) -> Option<Sabotage> {
        Sabotage::ALL.into_iter().find(|it| it.word() == word)
    }

    /// What is committed in place of `entries`, the commit of this number; nothing is not committed at all.
    pub(super) fn commit(self, mut entries: Vec<Entry>, held: &mut Vec<Entry>, number: u32) -> Vec<Entry> {
        let outer = |entry: &Entry| matches!(entry.kind, EntryKind::Began(_) | EntryKind::Finished(_));
        let finishes = matches!(entries.last().map(|entry| &entry.kind), Some(EntryKind::Finished(_)));
        match self {
            Sabotage::SkipIntent => entries.retain(|entry| !matches!(entry.kind, EntryKind::Intent(_))),
            Sabotage::SwapCommits | Sabotage::AcknowledgeEarly if !finishes && held.is_empty() => {
                let early = self == Sabotage::AcknowledgeEarly || number.is_multiple_of(3);
                if early && !entries.iter().any(outer) {
                    *held = std::mem::take(&mut entries);
                }
            }
            Sabotage::SwapCommits | Sabotage::AcknowledgeEarly => {
                let before = std::mem::take(held);
                let at = match self {
                    Sabotage::AcknowledgeEarly => 0,
                    _ => entries.len() - usize::from(finishes),
                };
                entries.splice(at..at, before);
            }
            Sabotage::ForgetOutcome if number.is_multiple_of(3) => {
                entries.retain(|entry| !matches!(entry.kind, EntryKind::Outcome(_)));
            }
            Sabotage::ForgetDeposed => {
                entries.iter_mut().for_each(|entry| change(entry, |record| record.deposed = None))
            }
            Sabotage::ForgetDependencies => {
                entries.iter_mut().for_each(|entry| change(entry, |record| record.dependencies.clear()));
            }
            Sabotage::ForgetStops => {
                for entry in &mut entries {
                    if let EntryKind::Began(operation) = &mut entry.kind {
                        Arc::make_mut(operation).stops = None;
                    }
                }
            }
            Sabotage::ForgetInputs => entries.iter_mut().for_each(|entry| {
                change(entry, |record| {
                    if record.status.op == StatusOp::Update {
                        record.inputs = blueprint::Value::Null;
                    }
                });
            }),
            Sabotage::ForgetUndeleted => entries.iter_mut().for_each(|entry| {
                with(entry, |outcome| {
                    let deleting = outcome.record.as_ref().is_some_and(|it| it.status.op == StatusOp::Delete);
                    if deleting && outcome.error.is_some() {
                        outcome.record = None;
                    }
                });
            }),
            Sabotage::ForgetPartial => entries.iter_mut().for_each(|entry| {
                with(entry, |outcome| {
                    let creating = outcome.record.as_ref().is_some_and(|it| it.status.op == StatusOp::Create);
                    if creating && outcome.error.is_some() {
                        outcome.record = None;
                    }
                });
            }),
            _ => {}
        }
        entries
    }

    /// What is called in its place. `said` holds the tokens of the calls before.
    pub(super) fn call(self, call: &mut Call, said: &mut HashSet<Name>) {
        if self == Sabotage::TokenPerTry && !said.insert(call.token.clone()) {
            call.token = format!("{}-{}", call.token, said.len()).into();
        }
    }

    /// What is planned from in place of a state.
    pub(crate) fn snapshot(self, snapshot: &mut Snapshot) {
        if self == Sabotage::ForgetInterrupted {
            snapshot.open.clear();
        }
    }
}

fn with(entry: &mut Entry, change: impl FnOnce(&mut Outcome)) {
    if let EntryKind::Outcome(outcome) = &mut entry.kind {
        change(Arc::make_mut(outcome));
    }
}

fn change(entry: &mut Entry, change: impl FnOnce(&mut Record)) {
    with(entry, |outcome| {
        if let Some(record) = &mut outcome.record {
            change(Arc::make_mut(record));
        }
    });
}
