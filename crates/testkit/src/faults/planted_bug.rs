//! Bugs that are planted into the simulated engine, to show that the simulation finds such bugs.
//!
//! A bug changes what the engine commits, calls or reads from the state. Product code does not
//! contain these bugs.

use std::collections::HashSet;
use std::sync::Arc;

use blueprint::{Name, Value};
use provider::{Call, Operation, PlanPhase};
use state::{Entry, EntryKind, Outcome, Record, Snapshot, StatusOp, StatusWord};

/// A bug of the simulated engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// Intents are not committed.
    SkipIntent,
    /// Every third commit is written after the one that follows it.
    SwapCommits,
    /// A commit is acknowledged before it is written: its entries are written with the next commit.
    AcknowledgeEarly,
    /// The deposed resource of a replacement is not recorded.
    ForgetDeposed,
    /// Dependencies are not recorded.
    ForgetDependencies,
    /// Every third outcome is not committed.
    ForgetOutcome,
    /// The record of a resource that could not be deleted is dropped.
    ForgetUndeleted,
    /// The inputs of an update are not recorded.
    ForgetInputs,
    /// Each try of a call has a token of its own.
    TokenPerTry,
    /// Open intents of an interrupted run are ignored.
    ForgetInterrupted,
    /// A resource that exists although its create failed is not recorded.
    ForgetPartial,
    /// The actions in progress at breakpoints are not recorded.
    ForgetStops,
    /// Private data of providers is not recorded.
    DropPrivate,
    /// The new resource of a replacement gets the private data of the planned update.
    PrivateOfUpdate,
    /// Generated names have another seed in the run than in the preview.
    OtherSeed,
    /// Secret marks in answers are dropped.
    DropSecretMarks,
    /// Each delete is called twice.
    RepeatDelete,
    /// A failed update is not recorded.
    ForgetFailure,
    /// The record of a failed create does not say that the create may have succeeded.
    ForgetAttempt,
    /// Providers do not get the outputs that they planned.
    DropPlanned,
}

impl PlantedBug {
    /// All bugs.
    pub const ALL: [PlantedBug; 20] = [
        PlantedBug::SkipIntent,
        PlantedBug::SwapCommits,
        PlantedBug::AcknowledgeEarly,
        PlantedBug::ForgetDeposed,
        PlantedBug::ForgetDependencies,
        PlantedBug::ForgetOutcome,
        PlantedBug::ForgetUndeleted,
        PlantedBug::ForgetInputs,
        PlantedBug::TokenPerTry,
        PlantedBug::ForgetInterrupted,
        PlantedBug::ForgetPartial,
        PlantedBug::ForgetStops,
        PlantedBug::DropPrivate,
        PlantedBug::PrivateOfUpdate,
        PlantedBug::OtherSeed,
        PlantedBug::DropSecretMarks,
        PlantedBug::RepeatDelete,
        PlantedBug::ForgetFailure,
        PlantedBug::ForgetAttempt,
        PlantedBug::DropPlanned,
    ];

    /// Whether the bug shows only with resources of providers that decide and plan, as the toy
    /// providers do.
    pub fn is_about_hosted(self) -> bool {
        matches!(
            self,
            PlantedBug::DropPrivate
                | PlantedBug::PrivateOfUpdate
                | PlantedBug::OtherSeed
                | PlantedBug::DropSecretMarks
                | PlantedBug::RepeatDelete
                | PlantedBug::ForgetFailure
                | PlantedBug::ForgetAttempt
                | PlantedBug::DropPlanned
        )
    }

    /// The name in scripts.
    pub fn word(self) -> &'static str {
        match self {
            PlantedBug::SkipIntent => "skip-intent",
            PlantedBug::SwapCommits => "swap-commits",
            PlantedBug::AcknowledgeEarly => "acknowledge-early",
            PlantedBug::ForgetDeposed => "forget-deposed",
            PlantedBug::ForgetDependencies => "forget-dependencies",
            PlantedBug::ForgetOutcome => "forget-outcome",
            PlantedBug::ForgetUndeleted => "forget-undeleted",
            PlantedBug::ForgetInputs => "forget-inputs",
            PlantedBug::TokenPerTry => "token-per-try",
            PlantedBug::ForgetInterrupted => "forget-interrupted",
            PlantedBug::ForgetPartial => "forget-partial",
            PlantedBug::ForgetStops => "forget-stops",
            PlantedBug::DropPrivate => "drop-private",
            PlantedBug::PrivateOfUpdate => "private-of-update",
            PlantedBug::OtherSeed => "other-seed",
            PlantedBug::DropSecretMarks => "drop-secret-marks",
            PlantedBug::RepeatDelete => "repeat-delete",
            PlantedBug::ForgetFailure => "forget-failure",
            PlantedBug::ForgetAttempt => "forget-attempt",
            PlantedBug::DropPlanned => "drop-planned",
        }
    }

    /// The bug with a name in scripts.
    pub fn from_word(word: &str) -> Option<PlantedBug> {
        PlantedBug::ALL.into_iter().find(|it| it.word() == word)
    }

    /// The entries that are committed in place of `entries` in the commit of this number. An empty
    /// list is not committed.
    pub(super) fn change_commit(
        self,
        mut entries: Vec<Entry>,
        delayed_entries: &mut Vec<Entry>,
        number: u32,
    ) -> Vec<Entry> {
        let outer =
            |entry: &Entry| matches!(entry.kind, EntryKind::Began(_) | EntryKind::Finished(_));
        let finishes = matches!(
            entries.last().map(|entry| &entry.kind),
            Some(EntryKind::Finished(_))
        );
        match self {
            PlantedBug::SkipIntent => {
                entries.retain(|entry| !matches!(entry.kind, EntryKind::Intent(_)))
            }
            PlantedBug::SwapCommits | PlantedBug::AcknowledgeEarly
                if !finishes && delayed_entries.is_empty() =>
            {
                let early = self == PlantedBug::AcknowledgeEarly || number.is_multiple_of(3);
                if early && !entries.iter().any(outer) {
                    *delayed_entries = std::mem::take(&mut entries);
                }
            }
            PlantedBug::SwapCommits | PlantedBug::AcknowledgeEarly => {
                let before = std::mem::take(delayed_entries);
                let at = match self {
                    PlantedBug::AcknowledgeEarly => 0,
                    _ => entries.len() - usize::from(finishes),
                };
                entries.splice(at..at, before);
            }
            PlantedBug::ForgetOutcome if number.is_multiple_of(3) => {
                entries.retain(|entry| !matches!(entry.kind, EntryKind::Outcome(_)));
            }
            PlantedBug::ForgetDeposed => entries
                .iter_mut()
                .for_each(|entry| change(entry, |record| record.deposed = None)),
            PlantedBug::ForgetDependencies => {
                entries
                    .iter_mut()
                    .for_each(|entry| change(entry, |record| record.dependencies.clear()));
            }
            PlantedBug::ForgetStops => {
                for entry in &mut entries {
                    if let EntryKind::Began(operation) = &mut entry.kind {
                        Arc::make_mut(operation).stops = None;
                    }
                }
            }
            PlantedBug::ForgetInputs => entries.iter_mut().for_each(|entry| {
                change(entry, |record| {
                    if record.status.op == StatusOp::Update {
                        record.inputs = Value::Null;
                    }
                });
            }),
            PlantedBug::DropPrivate => {
                entries
                    .iter_mut()
                    .for_each(|entry| change(entry, |record| record.private = Value::Null));
            }
            PlantedBug::ForgetAttempt => entries.iter_mut().for_each(|entry| {
                change(entry, |record| {
                    (record.token, record.attempt) = (None, None)
                });
            }),
            PlantedBug::ForgetFailure => entries.iter_mut().for_each(|entry| {
                change(entry, |record| {
                    let status = &mut record.status;
                    if status.op == StatusOp::Update && status.word == StatusWord::Failed {
                        status.word = StatusWord::Ready;
                    }
                });
            }),
            PlantedBug::ForgetUndeleted => entries.iter_mut().for_each(|entry| {
                with(entry, |outcome| {
                    let deleting = outcome
                        .record
                        .as_ref()
                        .is_some_and(|it| it.status.op == StatusOp::Delete);
                    if deleting && outcome.error.is_some() {
                        outcome.record = None;
                    }
                });
            }),
            PlantedBug::ForgetPartial => entries.iter_mut().for_each(|entry| {
                with(entry, |outcome| {
                    let creating = outcome
                        .record
                        .as_ref()
                        .is_some_and(|it| it.status.op == StatusOp::Create);
                    if creating && outcome.error.is_some() {
                        outcome.record = None;
                    }
                });
            }),
            _ => {}
        }
        entries
    }

    /// Changes a call. `tokens` holds the tokens of earlier calls.
    pub(super) fn change_call(self, call: &mut Call, tokens: &mut HashSet<Name>) {
        if self == PlantedBug::TokenPerTry && !tokens.insert(call.token.clone()) {
            call.token = format!("{}-{}", call.token, tokens.len()).into();
        }
    }

    /// Changes the seed of a planning question.
    pub(super) fn change_seed(self, phase: PlanPhase, seed: &mut String) {
        if self == PlantedBug::OtherSeed && phase == PlanPhase::Apply {
            seed.insert(0, 'x');
        }
    }

    /// Changes the private data and the planned outputs of a call. `of_update` is the private data
    /// of the last planned update.
    pub(super) fn change_request(
        self,
        operation: Operation,
        of_update: Option<Value>,
        private: &mut Value,
        planned: &mut Value,
    ) {
        match (self, of_update) {
            (PlantedBug::PrivateOfUpdate, Some(of_update)) if operation == Operation::Create => {
                *private = of_update
            }
            (PlantedBug::DropPlanned, _) => *planned = Value::Null,
            _ => {}
        }
    }

    /// Changes the state from which the engine plans.
    pub(crate) fn change_snapshot(self, snapshot: &mut Snapshot) {
        if self == PlantedBug::ForgetInterrupted {
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
