//! Completes a link: evaluates the data that the link exposes, for its record.
//!
//! Not here: the writes of a link (`link_writes`).

use std::sync::Arc;

use blueprint::{Name, Value};
use diag::Diagnostics;
use evaluate::resolve::links::slots::LinkAt;
use plan::model::Action;
use plan::task::Decided;
use state::{Record, StatusOp, StatusWord};
use understand::links::overlay::{overlays_of, private_of};

use crate::codes;
use crate::link_records::LinkExecutor;
use crate::link_values::required;
use crate::records::Records;

/// The result of completing a link.
pub(crate) enum LinkEndState {
    /// The link is absent, because one of its ends is.
    Gone,
    /// The record of the link is complete already.
    Unchanged,
    /// The new record of the link.
    Record(Arc<Record>),
    /// The link failed, for this reason. The error has been reported.
    Failed(Name),
}

impl LinkExecutor<'_> {
    /// Completes a link: evaluates the data that the link exposes.
    pub(crate) fn finish(&mut self, task: u32, decided: &Decided, link: LinkAt) -> LinkEndState {
        let mut mistakes = Diagnostics::new();
        let Some(evaluation) = self.known.evaluation.as_mut() else {
            return LinkEndState::Unchanged;
        };
        if evaluation.has_absent_end(link) {
            evaluation.links.ready_links.remove(&decided.address);
            self.known.mark_absent(&decided.address);
            return LinkEndState::Gone;
        }
        let outcome = evaluation.link_data(link, &mut mistakes);
        let notes = evaluation.annotations(link, &mut mistakes);
        let failed = self.results.report_errors(mistakes);
        let (Ok(data), Ok(Some(notes)), false) = (outcome, notes, failed) else {
            return self.refuse(task, decided);
        };
        if data.has_unknown() || notes.has_unknown() {
            self.results.report(
                codes::PROMISE_BROKEN
                    .new(format!(
                        "what `{}` gives is still not known",
                        decided.address
                    ))
                    .label(
                        decided.span,
                        "its kind reads something that has no value yet",
                    ),
            );
            return self.refuse(task, decided);
        }
        let mut mistakes = Diagnostics::new();
        let holds = required(self.known, link, decided, &mut mistakes);
        self.results.diagnostics().append(mistakes);
        if holds.is_none() {
            return self.refuse(task, decided);
        }
        let before = self.known.record(&decided.address).cloned();
        let mut record = match &before {
            Some(record) => Record::clone(record),
            None => self.first_record(&decided.address),
        };
        if decided.action == Action::Relink {
            record.status.op = StatusOp::Update;
        }
        record.type_name = decided.type_name.clone();
        record.status.word = StatusWord::Ready;
        let mut inputs = decided.desired.as_map().cloned().unwrap_or_default();
        inputs.insert("notes".into(), notes);
        if decided.desired.has_unknown()
            && let Some(with) = self
                .known
                .evaluation
                .as_mut()
                .and_then(|it| it.with_overlays(link))
        {
            inputs.insert("with".into(), with);
        }
        record.inputs = Value::Map(Arc::new(inputs));
        record.outputs = data;
        record.dependencies = self.known.still_used(&decided.dependencies);
        record.private = private_of(&overlays_of(&record), None);
        record.origin = Records {
            facts: self.facts,
            known: self.known,
        }
        .origin(decided);
        if let Some(evaluation) = self.known.evaluation.as_mut() {
            evaluation.links.ready_links.insert(decided.address.clone());
        }
        if before.as_deref() == Some(&record) {
            return LinkEndState::Unchanged;
        }
        LinkEndState::Record(Arc::new(record))
    }

    fn refuse(&mut self, task: u32, decided: &Decided) -> LinkEndState {
        let message: Name = "what its kind says of it has no usable value".into();
        self.fail(task, &decided.address, &"data".into(), message.clone());
        LinkEndState::Failed(message)
    }
}
