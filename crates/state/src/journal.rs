//! The rules of every journal, in every store.
//!
//! A store calls [`Journal::check`] before it writes entries and [`Journal::follow`] afterwards. A
//! journal holds the running operation and the calls in flight.
//!
//! Not here: leases and revisions (each store's own), records (`fold`).

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};

use crate::{Entry, EntryKind, Generation, Intent, OpenIntent, Record, StatusOp};

/// The maximum nesting depth of a value that may be stored: a recursive parser must be able to read
/// it back.
pub const MAX_DEPTH: usize = 400;

/// The part of an instance's journal that its rules depend on.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    generation: Generation,
    /// The operation that runs, and the epoch of the lease under which it began.
    running: Option<(Name, u64)>,
    /// Calls in flight or left open.
    open: IndexMap<Address, OpenCall>,
    /// Calls made so far.
    made: u64,
}

#[derive(Clone, Debug)]
struct OpenCall {
    number: u64,
    operation: Name,
    step: u32,
    intent: Arc<Intent>,
}

impl Journal {
    /// Returns the journal of an instance with this number of finished operations and these open
    /// calls.
    pub fn with_open_calls(
        generation: Generation,
        open: impl IntoIterator<Item = (Name, u32, Arc<Intent>)>,
    ) -> Journal {
        let mut journal = Journal {
            generation,
            ..Journal::default()
        };
        for (operation, step, intent) in open {
            journal.call(operation, step, intent);
        }
        journal
    }

    /// The running operation, if its first entry came through this journal.
    pub fn running(&self) -> Option<&Name> {
        self.running.as_ref().map(|(id, _)| id)
    }

    /// Sets the running operation and the epoch of the lease under which it began.
    pub fn resume(&mut self, operation: Name, epoch: u64) {
        self.running = Some((operation, epoch));
    }

    fn call(&mut self, operation: Name, step: u32, intent: Arc<Intent>) {
        self.made += 1;
        self.open.insert(
            intent.address.clone(),
            OpenCall {
                number: self.made,
                operation,
                step,
                intent,
            },
        );
    }

    /// The calls in flight or left open, in the order in which they were made.
    pub fn open(&self) -> IndexMap<Address, OpenIntent> {
        let mut calls: Vec<&OpenCall> = self.open.values().collect();
        calls.sort_unstable_by_key(|call| call.number);
        let open = calls.into_iter().map(|call| call.intent.as_ref());
        open.map(|intent| {
            (
                intent.address.clone(),
                OpenIntent {
                    intent: intent.clone(),
                },
            )
        })
        .collect()
    }

    /// Whether no call is in flight or left open.
    pub fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Checks whether these entries may follow, under a lease of this epoch. The error is the
    /// broken rule, as a phrase.
    ///
    /// * `Began` is the first entry of an operation and comes once; nothing follows `Finished` in
    ///   the same commit.
    /// * An operation belongs to the lease under which it began. Another lease begins another
    ///   operation.
    /// * `Began` and `Finished` carry step 0, and `Finished` the next generation.
    /// * An address has at most one call in flight. An outcome of any operation settles it.
    /// * Inputs and private data of records and calls are known, apart from inputs of creates that
    ///   an earlier version wrote before the outcomes that they wait for. No value holds a function
    ///   or is nested deeper than [`MAX_DEPTH`].
    pub fn check(&self, epoch: u64, entries: &[Entry]) -> Result<(), String> {
        let (first, last) = match entries {
            [] => return Err("a commit needs an entry".into()),
            [first, ..] => (first, entries.len() - 1),
        };
        let runs = self
            .running
            .as_ref()
            .filter(|(_, began)| *began == epoch)
            .map(|(id, _)| id);
        let operation = match (&first.kind, runs) {
            (EntryKind::Began(began), None) => &began.id,
            (EntryKind::Began(_), Some(id)) => {
                return Err(format!("the operation `{id}` has not finished"));
            }
            (_, Some(id)) => id,
            (_, None) => return Err("no operation has begun".into()),
        };
        // The calls that these entries open, with step and token; `None` for calls that they
        // settle.
        let mut fresh: HashMap<&Address, Option<(u32, &Name)>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            let step = entry.step;
            match &entry.kind {
                EntryKind::Began(began) => {
                    if at != 0 {
                        return Err("an operation begins in the middle of a commit".into());
                    }
                    if step != 0 || began.id.is_empty() {
                        return Err("an operation begins with step 0 and an id".into());
                    }
                    check_storable(&began.desired, true)?;
                }
                EntryKind::Intent(intent) => {
                    let address = &intent.address;
                    if intent.token.is_empty() {
                        return Err(format!("the call for `{address}` has no token"));
                    }
                    let before = match fresh.get(address) {
                        Some(call) => *call,
                        None => {
                            let call = self
                                .open
                                .get(address)
                                .filter(|call| call.operation == *operation);
                            call.map(|call| (call.step, &call.intent.token))
                        }
                    };
                    if before.is_some_and(|(_, token)| *token != intent.token) {
                        return Err(format!("another call for `{address}` is in flight"));
                    }
                    let allow_unknown = intent.op == StatusOp::Create;
                    check_storable(&intent.inputs, allow_unknown)
                        .and_then(|()| check_storable(&intent.private, false))
                        .map_err(|what| format!("`{address}`: {what}"))?;
                    fresh.insert(address, Some((step, &intent.token)));
                }
                EntryKind::Outcome(outcome) => {
                    let address = &outcome.address;
                    let call = match fresh.get(address) {
                        Some(call) => call.map(|(step, _)| step),
                        None => self
                            .open
                            .get(address)
                            .filter(|call| call.operation == *operation)
                            .map(|call| call.step),
                    };
                    if let Some(of) = call
                        && of != step
                    {
                        return Err(format!(
                            "the outcome of `{address}` is of step {step}, its call of step {of}"
                        ));
                    }
                    let mut record = outcome.record.as_deref();
                    while let Some(it) = record {
                        check_record_storable(it).map_err(|what| format!("`{address}`: {what}"))?;
                        if let Some(attempt) = &it.attempt {
                            check_record_storable(attempt)
                                .map_err(|what| format!("`{address}`: {what}"))?;
                        }
                        record = it.deposed.as_deref();
                    }
                    fresh.insert(address, None);
                }
                EntryKind::Finished(finished) => {
                    if at != last {
                        return Err("something follows the end of the operation".into());
                    }
                    if step != 0 {
                        return Err("an operation ends with step 0".into());
                    }
                    if finished.generation.0 != self.generation.0 + 1 {
                        return Err(format!(
                            "generation {} follows {}",
                            finished.generation.0, self.generation.0
                        ));
                    }
                    let exports = finished.exports.iter().flat_map(|exports| exports.values());
                    let memoised = finished.memoised.values().map(|memoised| &memoised.value);
                    exports
                        .chain(memoised)
                        .chain([&finished.metadata])
                        .chain(finished.declared.values())
                        .try_for_each(|value| check_storable(value, true))?;
                }
            }
        }
        Ok(())
    }

    /// Applies entries that have passed [`check`](Journal::check) and were written.
    pub fn follow(&mut self, epoch: u64, entries: &[Entry]) {
        for entry in entries {
            match &entry.kind {
                EntryKind::Began(began) => self.running = Some((began.id.clone(), epoch)),
                EntryKind::Intent(intent) => {
                    let operation = self
                        .running
                        .as_ref()
                        .map(|(id, _)| id.clone())
                        .unwrap_or_default();
                    self.call(operation, entry.step, intent.clone());
                }
                EntryKind::Outcome(outcome) => {
                    self.open.swap_remove(&outcome.address);
                }
                EntryKind::Finished(finished) => {
                    self.generation = finished.generation;
                    self.running = None;
                }
            }
        }
    }
}

fn check_record_storable(record: &Record) -> Result<(), String> {
    check_storable(&record.inputs, false)?;
    // Outputs that were lost with a cut-off call stay unknown.
    check_storable(&record.outputs, true)?;
    check_storable(&record.private, false)?;
    check_storable(&record.metadata, true)
}

/// Whether a value can be stored and read back.
fn check_storable(value: &Value, allow_unknown: bool) -> Result<(), String> {
    fn walk(value: &Value, allow_unknown: bool, room: usize) -> Result<(), &'static str> {
        if room == 0 {
            return Err("a value is nested too deeply to be stored");
        }
        match value {
            Value::Function(_) => Err("a function cannot be stored"),
            Value::Unknown(_) if !allow_unknown => Err("a value is not known"),
            Value::Secret(inner) => walk(inner, allow_unknown, room - 1),
            Value::List(items) | Value::Set(items) => items
                .iter()
                .try_for_each(|item| walk(item, allow_unknown, room - 1)),
            Value::Map(entries) => entries
                .values()
                .try_for_each(|value| walk(value, allow_unknown, room - 1)),
            _ => Ok(()),
        }
    }
    walk(value, allow_unknown, MAX_DEPTH).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, OperationKind, Outcome};

    fn began(id: &str) -> Entry {
        let operation = Operation {
            id: id.into(),
            kind: OperationKind::Deploy,
            who: "a@b".into(),
            began: 1,
            document: "d".into(),
            memoised: Default::default(),
            stops: None,
            desired: Value::Null,
        };
        Entry {
            step: 0,
            kind: EntryKind::Began(Arc::new(operation)),
        }
    }

    fn intent(step: u32, token: &str, inputs: Value) -> Entry {
        let intent = Intent {
            address: Address::root("r"),
            op: StatusOp::Create,
            deposed: false,
            token: token.into(),
            id: "".into(),
            hides_id: false,
            retain: false,
            protect: false,
            delete_mode: blueprint::DeleteMode::Delete,
            type_name: "t".into(),
            inputs,
            private: Value::Null,
            folder: "".into(),
            urn: Default::default(),
            dependencies: Vec::new(),
            provider: None,
        };
        Entry {
            step,
            kind: EntryKind::Intent(Arc::new(intent)),
        }
    }

    fn outcome(step: u32) -> Entry {
        let outcome = Outcome {
            address: Address::root("r"),
            record: None,
            error: None,
        };
        Entry {
            step,
            kind: EntryKind::Outcome(Arc::new(outcome)),
        }
    }

    fn follow(journal: &mut Journal, epoch: u64, entries: &[Entry]) -> Result<(), String> {
        journal.check(epoch, entries)?;
        journal.follow(epoch, entries);
        Ok(())
    }

    #[test]
    fn calls_at_one_address_follow_each_other() {
        let mut journal = Journal::default();
        assert_eq!(
            follow(&mut journal, 1, &[intent(1, "t", Value::Null)]),
            Err("no operation has begun".into())
        );
        assert_eq!(
            follow(&mut journal, 1, &[began("o"), intent(1, "t1", Value::Null)]),
            Ok(())
        );
        assert_eq!(
            follow(&mut journal, 1, &[intent(2, "t2", Value::Null)]),
            Err("another call for `r` is in flight".into())
        );
        assert_eq!(
            follow(&mut journal, 1, &[outcome(2)]),
            Err("the outcome of `r` is of step 2, its call of step 1".into())
        );
        assert_eq!(
            follow(
                &mut journal,
                1,
                &[outcome(1), intent(2, "t2", Value::Null), outcome(2)]
            ),
            Ok(())
        );
        assert!(journal.is_settled());
    }

    #[test]
    fn another_lease_begins_another_operation_and_finds_the_open_calls() {
        let mut journal = Journal::default();
        follow(&mut journal, 1, &[began("o"), intent(1, "t1", Value::Null)]).unwrap();
        assert_eq!(
            follow(&mut journal, 2, &[outcome(1)]),
            Err("no operation has begun".into())
        );
        follow(&mut journal, 2, &[began("p")]).unwrap();
        assert_eq!(journal.open().len(), 1);
        follow(&mut journal, 2, &[outcome(7)]).unwrap();
        assert!(journal.is_settled());
    }

    #[test]
    fn values_that_cannot_be_read_back_are_refused() {
        let mut deep = Value::Null;
        for _ in 0..MAX_DEPTH {
            deep = Value::list([deep]);
        }
        for (value, why) in [
            (Value::unknown(None, None), "`r`: a value is not known"),
            (deep, "`r`: a value is nested too deeply to be stored"),
        ] {
            let mut call = intent(1, "t", value);
            let EntryKind::Intent(intent) = &mut call.kind else {
                panic!("it is an intent")
            };
            Arc::make_mut(intent).op = StatusOp::Update;
            let refused = Journal::default().check(1, &[began("o"), call]);
            assert_eq!(refused, Err(why.into()));
        }
        let unknown = intent(1, "t", Value::unknown(None, None));
        assert_eq!(
            Journal::default().check(1, &[began("o"), unknown]),
            Ok(()),
            "a create before its turn"
        );
    }
}
