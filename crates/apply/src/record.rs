//! The record of a resource after a step.

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use provider::{Applied, Operation as Verb, Ready, ResourceType, Verdict};
use state::{EntryKind, OperationKind, Record, RecordOrigin, Status, StatusOp, StatusWord};

use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::CallRequest;
use crate::schedule::Progress;
use plan::model::Action;
use plan::task::{Decided, TaskKind, Until};
use understand::compare::{contradiction, mark_fields, same_field};

/// How an answer breaks the provider contract or the plan.
pub(super) enum Breach {
    /// The answer does not match the catalogue. The text is the reason.
    Contract(String),
    /// The field with this name differs from its planned value.
    Promise(String),
}

impl Apply {
    /// The time since the first call of a task in milliseconds, rounded as in a record.
    pub(crate) fn duration_ms(&self, task: u32) -> Option<u32> {
        Some(kept(self.timers.millis()?.saturating_sub(self.schedule.running[task as usize].called_at?)))
    }

    /// Adds an outcome to the next commit and to the snapshot of this run.
    ///
    /// Dependants go on at once. Their intents follow in the same commit or a later one, and their calls wait until
    /// both are durable.
    pub(crate) fn record(
        &mut self,
        task: u32,
        decided: &Decided,
        mut record: Option<Arc<Record>>,
        error: Option<Name>,
        durable: Durable,
    ) {
        let undo = self.plan.kind == OperationKind::Rollback;
        if let Some(record) = record.as_mut().filter(|record| record.status.undo != undo) {
            Arc::make_mut(record).status.undo = undo;
        }
        self.schedule.running[task as usize].progress = Progress::Recording;
        self.schedule.running[task as usize].record = record.clone();
        let address = Apply::recorded_at(decided).clone();
        if self.plan.tasks[task as usize].kind == TaskKind::LinkWrite {
            self.links.touched.insert(address.clone());
        }
        match &record {
            Some(record) => {
                self.snapshot.records.insert(address.clone(), record.clone());
            }
            None => {
                // The order of the records does not matter during a run.
                self.snapshot.records.swap_remove(&address);
            }
        }
        let outcome = state::Outcome { address, record, error };
        let step = self.plan.tasks[task as usize].step.map_or(0, |step| step + 1);
        if let (Some(record), Durable::Done(_) | Durable::Configured(_)) = (&outcome.record, durable)
            && matches!(
                self.plan.tasks[task as usize].kind,
                TaskKind::Create | TaskKind::Update | TaskKind::Record | TaskKind::LinkWrite | TaskKind::PollUntilReady
            )
        {
            self.set_outputs(decided, record);
        }
        self.journal.record(step, EntryKind::Outcome(Arc::new(outcome)), durable);
        match durable {
            Durable::Done(_) => self.schedule.release(task, None),
            Durable::Configured(_) => self.schedule.release(task, Some(Until::Configured)),
            Durable::Failed(_) | Durable::Intent(_) | Durable::Nothing => {}
        }
    }

    pub(crate) fn origin(&self, decided: &Decided) -> RecordOrigin {
        match &self.plan.document {
            Some(document) if decided.span.is_some() => RecordOrigin {
                path: document.path.clone(),
                start: decided.span.start,
                end: decided.span.end,
                made_from: decided.made_from.clone().unwrap_or_default(),
                folder: self.folder_of(decided),
            },
            // Without a document the origin stays as recorded.
            _ => match self.snapshot.records.get(&decided.address) {
                Some(record) => record.origin.clone(),
                None => {
                    RecordOrigin { made_from: decided.made_from.clone().unwrap_or_default(), ..RecordOrigin::default() }
                }
            },
        }
    }

    /// A new record with the document's settings, before any answer of the provider.
    pub(super) fn fresh(&self, decided: &Decided, inputs: Value, status: Status) -> Record {
        Record {
            type_name: decided.type_name.clone(),
            status,
            id: "".into(),
            inputs,
            outputs: Value::Null,
            private: Value::Null,
            metadata: self.results.metadata.get(&decided.address).unwrap_or(&decided.metadata).clone(),
            dependencies: self.still_used(&decided.dependencies),
            retain: decided.retain,
            protect: decided.protect,
            deposed: None,
            token: None,
            // It stays until a plan has polled the resource up and settled the attempt.
            attempt: decided.prior.as_ref().and_then(|prior| prior.attempt.clone()),
            attention: None,
            unhealthy: Vec::new(),
            schema_version: decided.ty.as_ref().map_or(0, |ty| ty.schema_version),
            provider: self.provider_ref(decided),
            duration_ms: self.snapshot.records.get(&decided.address).map_or(0, |record| record.duration_ms),
            origin: self.origin(decided),
        }
    }

    /// The dependencies of a resource, without those whose condition is false.
    pub(super) fn still_used(&self, dependencies: &[Address]) -> Vec<Address> {
        dependencies.iter().filter(|used| !self.results.absent.contains(*used)).cloned().collect()
    }

    /// The record after a successful call.
    pub(super) fn answered_record(&self, decided: &Decided, request: &CallRequest, applied: Applied) -> Record {
        let op = match request.operation {
            Verb::Create => StatusOp::Create,
            _ => StatusOp::Update,
        };
        let word = if applied.ready == Ready::Pending { StatusWord::Configured } else { StatusWord::Ready };
        let inputs = applied.inputs.unwrap_or_else(|| request.desired.clone());
        let mut record = self.fresh(decided, inputs, Status::new(op, word));
        if let Ready::Broken(why) = applied.ready {
            record.unhealthy = why;
        }
        record.id = applied.id;
        record.outputs = match &decided.ty {
            Some(ty) => mark_fields(&ty.schema, &applied.fields, &request.desired),
            None => applied.fields,
        };
        record.private = applied.private;
        record.deposed = self.deposed_by(decided, request);
        record
    }

    /// The other address whose record has the id of an answer. Only asked about providers that decide: those of the
    /// program itself derive an id from each resource.
    pub(super) fn owner_of_id(&mut self, decided: &Decided, applied: &Applied) -> Option<Address> {
        let unique = decided.ty.as_ref().is_some_and(|ty| ty.capabilities.unique_ids);
        if !unique || !Apply::provider_decides(decided) || applied.id.is_empty() {
            return None;
        }
        let records = &self.snapshot.records;
        let owners = self.results.owners.get_or_insert_with(|| {
            let named = records.iter().filter(|(_, record)| !record.id.is_empty());
            named.map(|(address, record)| ((record.type_name.clone(), record.id.clone()), address.clone())).collect()
        });
        let (claim, own) = ((decided.type_name.clone(), applied.id.clone()), Apply::recorded_at(decided));
        let owner = owners.get(&claim).filter(|owner| *owner != own);
        // Its record may have another id since.
        let owner = owner.filter(|owner| records.get(*owner).is_some_and(|record| record.id == applied.id)).cloned();
        if owner.is_none() {
            owners.insert(claim, own.clone());
        }
        owner
    }

    /// The deposed resource that a create-first replacement leaves to be deleted.
    fn deposed_by(&self, decided: &Decided, request: &CallRequest) -> Option<Box<Record>> {
        let before = self.snapshot.records.get(&decided.address)?;
        if request.operation != Verb::Create
            || decided.action != Action::Replace
            || before.id.is_empty()
            || decided.retain
        {
            return before.deposed.clone();
        }
        Some(Box::new(before.as_deposed()))
    }

    /// The record after a failed call. `partial` holds what exists nevertheless.
    pub(super) fn failed_record(
        &self,
        decided: &Decided,
        request: &CallRequest,
        partial: Option<Applied>,
    ) -> Option<Arc<Record>> {
        let before = self.snapshot.records.get(&decided.address);
        let record = match (request.operation, partial) {
            (Verb::Create, Some(applied)) => {
                let mut record = self.answered_record(decided, request, applied);
                record.status.word = StatusWord::Failed;
                record
            }
            (Verb::Create, None) => match before.filter(|record| !record.id.is_empty()) {
                // The create of a create-first replacement failed. The old resource still exists.
                Some(old) => {
                    let mut old = Record::clone(old);
                    old.status = Status::new(StatusOp::Update, StatusWord::Failed);
                    old
                }
                None => {
                    let mut record =
                        self.fresh(decided, request.desired.clone(), Status::new(StatusOp::Create, StatusWord::Failed));
                    record.deposed = before.and_then(|record| record.deposed.clone());
                    record
                }
            },
            (Verb::Update, partial) => {
                let mut record = Record::clone(before?);
                record.status = Status::new(StatusOp::Update, StatusWord::Failed);
                // The update may be partly done: keep both the old and the new dependencies.
                let uses: indexmap::IndexSet<Address, foldhash::fast::FixedState> =
                    record.dependencies.drain(..).chain(self.still_used(&decided.dependencies)).collect();
                record.dependencies.extend(uses);
                if let Some(applied) = partial {
                    record.outputs = match &decided.ty {
                        Some(ty) => mark_fields(&ty.schema, &applied.fields, &request.desired),
                        None => applied.fields,
                    };
                    record.private = applied.private;
                }
                record
            }
            (Verb::Delete, _) => {
                let mut record = Record::clone(before?);
                // The delete of a deposed resource does not change the status of the current one.
                if request.id.as_ref() == Some(&record.id) {
                    record.status = Status::new(StatusOp::Delete, StatusWord::Failed);
                }
                record
            }
        };
        Some(Arc::new(record))
    }

    /// The record that remains after a delete; `None` if nothing remains.
    pub(super) fn deleted_record(&self, decided: &Decided, request: &CallRequest) -> Option<Arc<Record>> {
        let now = self.snapshot.records.get(&decided.address)?;
        now.without(request.id.as_deref().unwrap_or_default()).map(Arc::new)
    }

    /// The record of a resource that needs no call.
    pub(super) fn unchanged_record(&self, decided: &Decided, desired: Value) -> Record {
        let op = decided.prior.as_ref().map_or(StatusOp::Create, |record| record.status.op);
        let mut record = self.fresh(decided, desired, Status::new(op, StatusWord::Ready));
        let now = self.snapshot.records.get(&decided.address).filter(|_| self.written_in_this_run(decided));
        if let Some(prior) = now.or(decided.prior.as_ref()) {
            let planned = |value: &Value, prior: &Value| match value {
                value if value.is_null() || now.is_some() => prior.clone(),
                value => value.clone(),
            };
            record.status = prior.status;
            record.id = prior.id.clone();
            record.outputs = planned(&decided.outputs, &prior.outputs);
            // Data that the provider planned for a call belongs to no record without the call.
            record.private = match self.opinion_of(decided) {
                Some(opinion) if opinion.verdict == Verdict::Same => planned(&opinion.private, &prior.private),
                Some(_) => prior.private.clone(),
                None => planned(&decided.private, &prior.private),
            };
            record.deposed = prior.deposed.clone();
            record.schema_version = prior.schema_version;
        }
        record
    }
}

/// Checks an answer against the contract: every computed field is present and of its type, and every planned field has
/// its planned value (decision 5.3). `None` if the answer is correct.
pub(super) fn breach(ty: &ResourceType, request: &CallRequest, applied: &Applied) -> Option<Breach> {
    if applied.id.is_empty() {
        return Some(Breach::Contract("the answer names no id".to_owned()));
    }
    let Some(fields) = applied.fields.as_map() else {
        return Some(Breach::Contract("the answer holds no fields".to_owned()));
    };
    if !ty.capabilities.exact || request.inexact {
        return None;
    }
    if let Some(path) = contradiction(&request.planned, &applied.fields) {
        return Some(Breach::Promise(path.to_string()));
    }
    let sent = if request.planned.is_null() { request.desired.as_map() } else { None };
    for (name, value) in sent.into_iter().flatten() {
        let Some(field) = ty.schema.fields.get(name) else { continue };
        let same = match fields.get(name) {
            Some(answered) => same_field(field, answered, value),
            None => value.is_null(),
        };
        if !same {
            return Some(Breach::Promise(name.to_string()));
        }
    }
    for (name, field) in ty.schema.fields.iter().filter(|(_, field)| field.computed) {
        match fields.get(name).filter(|value| !value.is_null()) {
            Some(value) => {
                let fits = expr::convert(&value.revealed(), &field.ty(), expr::Source::Literal).is_ok();
                if !fits {
                    return Some(Breach::Contract(format!(
                        "`{name}` is {}, declared as {}",
                        value.kind_word(),
                        field.ty()
                    )));
                }
            }
            None if field.nullable || field.optional => {}
            None => return Some(Breach::Contract(format!("`{name}` is missing"))),
        }
    }
    None
}

/// Rounds a duration in milliseconds down to two significant digits. Below 10 ms it is 0, which stands for unknown.
fn kept(millis: u32) -> u32 {
    let mut unit = 1;
    while millis / unit >= 100 {
        unit *= 10;
    }
    if millis < 10 { 0 } else { millis / unit * unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_kept_to_two_digits() {
        for (millis, wanted) in [(0, 0), (9, 0), (10, 10), (99, 99), (1_234, 1_200), (987_654, 980_000)] {
            assert_eq!(kept(millis), wanted);
        }
        assert_eq!(kept(u32::MAX), 4_200_000_000);
    }
}
