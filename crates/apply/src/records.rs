//! Builds the record of a resource after a step.
//!
//! Not here: storing the record (`parts`), the records of links (`link_records`).

use std::sync::Arc;

use blueprint::{Address, Value};
use plan::model::Action;
use plan::task::Decided;
use provider::{Applied, Operation as Verb, Ready, Verdict};
use state::{Record, RecordOrigin, Status, StatusOp, StatusWord};
use understand::secret_marks::mark_fields;

use crate::facts::Facts;
use crate::model::CallRequest;
use crate::run_values::RunValues;

/// Builds new records from the values that the run knows.
pub(crate) struct Records<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) known: &'a RunValues,
}

impl Records<'_> {
    pub(crate) fn origin(&self, decided: &Decided) -> RecordOrigin {
        match &self.facts.plan.document {
            Some(document) if decided.span.is_some() => {
                let site = self.known.site_of(decided);
                RecordOrigin {
                    path: document.path.clone(),
                    start: decided.span.start,
                    end: decided.span.end,
                    made_from: decided.made_from.clone().unwrap_or_default(),
                    folder: site.folder,
                    urn: site.urn,
                    ties: self.known.ties_of(decided),
                }
            }
            // Without a document, the origin stays as recorded.
            _ => match self.known.record(&decided.address) {
                Some(record) => record.origin.clone(),
                None => RecordOrigin {
                    made_from: decided.made_from.clone().unwrap_or_default(),
                    ..RecordOrigin::default()
                },
            },
        }
    }

    /// A new record with the document's settings, before any answer of the provider.
    pub(crate) fn new_record(&self, decided: &Decided, inputs: Value, status: Status) -> Record {
        Record {
            type_name: decided.type_name.clone(),
            status,
            id: "".into(),
            inputs,
            outputs: Value::Null,
            private: Value::Null,
            metadata: self.known.metadata_of(decided),
            dependencies: self.known.still_used(&decided.dependencies),
            retain: decided.retain,
            protect: decided.protect,
            delete_mode: decided.delete_mode,
            deposed: None,
            token: None,
            // The attempt stays until a plan has looked the resource up and settled the attempt.
            attempt: decided
                .prior
                .as_ref()
                .and_then(|prior| prior.attempt.clone()),
            attention: None,
            unhealthy: Vec::new(),
            schema_version: decided.ty.as_ref().map_or(0, |ty| ty.schema_version),
            provider: self.known.provider_ref(decided),
            duration_ms: self
                .known
                .record(&decided.address)
                .map_or(0, |record| record.duration_ms),
            origin: self.origin(decided),
        }
    }

    /// The record after a successful call.
    pub(crate) fn record_after_call(
        &self,
        decided: &Decided,
        request: &CallRequest,
        applied: Applied,
    ) -> Record {
        let op = match request.operation {
            Verb::Create => StatusOp::Create,
            _ => StatusOp::Update,
        };
        let word = if applied.ready == Ready::Pending {
            StatusWord::Configured
        } else {
            StatusWord::Ready
        };
        let inputs = applied.inputs.unwrap_or_else(|| request.desired.clone());
        let mut record = self.new_record(decided, inputs, Status::new(op, word));
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

    /// The deposed object that a create-first replacement leaves to be deleted.
    fn deposed_by(&self, decided: &Decided, request: &CallRequest) -> Option<Box<Record>> {
        let before = self.known.record(&decided.address)?;
        if request.operation != Verb::Create
            || decided.action != Action::Replace
            || before.id.is_empty()
            || decided.retain
        {
            return before.deposed.clone();
        }
        Some(Box::new(before.as_deposed()))
    }

    /// The record after a failed call. `partial` holds the object that exists in spite of the
    /// failure.
    pub(crate) fn record_after_failure(
        &self,
        decided: &Decided,
        request: &CallRequest,
        partial: Option<Applied>,
    ) -> Option<Arc<Record>> {
        let before = self.known.record(&decided.address);
        let record = match (request.operation, partial) {
            (Verb::Create, Some(applied)) => {
                let mut record = self.record_after_call(decided, request, applied);
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
                    let mut record = self.new_record(
                        decided,
                        request.desired.clone(),
                        Status::new(StatusOp::Create, StatusWord::Failed),
                    );
                    record.deposed = before.and_then(|record| record.deposed.clone());
                    record
                }
            },
            (Verb::Update, partial) => {
                let mut record = Record::clone(before?);
                record.status = Status::new(StatusOp::Update, StatusWord::Failed);
                // The update may be partly done: keep both the old and the new dependencies.
                let uses: indexmap::IndexSet<Address, foldhash::fast::FixedState> = record
                    .dependencies
                    .drain(..)
                    .chain(self.known.still_used(&decided.dependencies))
                    .collect();
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
    pub(crate) fn record_after_delete(
        &self,
        decided: &Decided,
        request: &CallRequest,
    ) -> Option<Arc<Record>> {
        let now = self.known.record(&decided.address)?;
        now.without(request.id.as_deref().unwrap_or_default())
            .map(Arc::new)
    }

    /// The record of a resource that needs no call.
    pub(crate) fn record_without_call(&self, decided: &Decided, desired: Value) -> Record {
        let op = decided
            .prior
            .as_ref()
            .map_or(StatusOp::Create, |record| record.status.op);
        let mut record = self.new_record(decided, desired, Status::new(op, StatusWord::Ready));
        let now = self
            .known
            .record(&decided.address)
            .filter(|_| self.known.is_written(decided));
        if let Some(prior) = now.or(decided.prior.as_ref()) {
            let planned = |value: &Value, prior: &Value| match value {
                value if value.is_null() || now.is_some() => prior.clone(),
                value => value.clone(),
            };
            record.status = prior.status;
            record.id = prior.id.clone();
            record.outputs = planned(&decided.outputs, &prior.outputs);
            // Private data that the provider planned for a call is not recorded without the call.
            let same = self
                .known
                .opinion_of(&self.facts.plan, decided)
                .filter(|it| it.verdict == Verdict::Same);
            let private = same
                .map(|opinion| &opinion.private)
                .filter(|private| !private.is_null());
            record.private = planned(private.unwrap_or(&decided.private), &prior.private);
            record.deposed = prior.deposed.clone();
            record.schema_version = prior.schema_version;
        }
        record
    }

    /// Keeps in the record of a failed create the data that is needed to find the resource, if the
    /// create may have succeeded. The next plan looks the resource up by its token.
    pub(crate) fn keep_attempt(
        &self,
        failed: &mut Arc<Record>,
        decided: &Decided,
        request: &CallRequest,
        unsure: bool,
    ) {
        let token = Some(request.token.clone()).filter(|_| unsure);
        let private = request.private.clone();
        if failed.id.is_empty() {
            // Keep the private data that the provider returned before the call: see
            // `Provider::set_recorded_objects`.
            let failed = Arc::make_mut(failed);
            (failed.token, failed.private) = (token, private);
        } else if unsure {
            let status = Status::new(StatusOp::Create, StatusWord::Failed);
            let attempt = self.new_record(decided, request.desired.clone(), status);
            Arc::make_mut(failed).attempt = Some(Box::new(Record {
                token,
                private,
                attempt: None,
                ..attempt
            }));
        }
    }
}

/// Rounds a duration in milliseconds down to two significant digits. A duration below 10 ms becomes
/// 0, which means unknown.
pub(crate) fn rounded(millis: u32) -> u32 {
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
    fn durations_are_rounded_to_two_digits() {
        for (millis, wanted) in [
            (0, 0),
            (9, 0),
            (10, 10),
            (99, 99),
            (1_234, 1_200),
            (987_654, 980_000),
        ] {
            assert_eq!(rounded(millis), wanted);
        }
        assert_eq!(rounded(u32::MAX), 4_200_000_000);
    }
}
