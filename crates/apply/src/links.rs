//! Carries out the steps of links (decision 3.2).
//!
//! A write updates its target: the spec that was last sent, with or without what the link contributes. Before the call,
//! the link's record lists the contributions and marks them open. After the call it closes them. The record therefore
//! lists what was written, however the run ends.

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::{Diagnostic, Diagnostics};
use provider::{Applied, Operation as Verb, Ready};
use state::{EntryKind, Outcome, Record, RecordOrigin, Status, StatusOp, StatusWord};

use super::record::{Breach, breach};
use crate::codes;
use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::{CallRequest, Effect};
use crate::schedule::Progress;
use evaluate::event::Event;
use evaluate::resolve::Outputs;
use evaluate::resolve::links::LinkAt;
use plan::linked::{LinkWrite, Linked};
use plan::model::Action;
use plan::task::Decided;
use understand::compare::mark_fields;
use understand::links::address::link_of;
use understand::links::overlay::{Overlay, overlays_of, private_of};

impl Apply {
    /// Checks a link's requirements before its first step. `None` if one fails; the error goes to `found`.
    pub(crate) fn required(&mut self, link: LinkAt, decided: &Decided, found: &mut Diagnostics) -> Option<()> {
        let evaluation = self.evaluation.as_mut()?;
        let mut mistakes = Diagnostics::new();
        let holds = evaluation.requirements(link, &mut mistakes);
        mistakes.retain(Diagnostic::is_error);
        found.append(mistakes);
        match holds {
            Ok(Some(true)) => Some(()),
            Ok(Some(false)) | Err(_) => None,
            Ok(None) => {
                found.push(
                    codes::PROMISE_BROKEN
                        .new(format!("whether `{}` may be linked is still not known", decided.address))
                        .label(decided.span, "its kind requires something that has no value yet"),
                );
                None
            }
        }
    }

    /// Checks the requirements of links that write together with a resource and that were undecided at plan time.
    /// `None` if one fails, which is reported. A requirement that is still undecided is checked before the link's next
    /// step.
    pub(super) fn may_be_linked(&mut self, decided: &Decided) -> Option<()> {
        let Some(evaluation) = self.evaluation.as_mut().filter(|it| !it.links.unproven.is_empty()) else {
            return Some(());
        };
        let Some((index, position)) = decided.element else { return Some(()) };
        let mut mistakes = Diagnostics::new();
        let mut refused = false;
        for (number, at, target) in evaluation.links_of(index, position).to_vec() {
            let link = (number, at);
            let writes =
                evaluation.pair(number).is_some_and(|pair| pair.wiring.with.iter().any(|(into, _)| *into == target));
            if !writes || !evaluation.links.unproven.contains(&link) || evaluation.is_gone(link) {
                continue;
            }
            match evaluation.requirements(link, &mut mistakes) {
                Ok(Some(true)) => drop(evaluation.links.unproven.remove(&link)),
                Ok(None) => {}
                Ok(Some(false)) | Err(_) => refused = true,
            }
        }
        mistakes.retain(Diagnostic::is_error);
        self.results.found.append(mistakes);
        (!refused).then_some(())
    }

    /// Records the current overlays of a link in the next commit.
    pub(super) fn record_link(
        &mut self,
        task: u32,
        write: &LinkWrite,
        before: &Option<Arc<Record>>,
        mut overlays: Vec<Overlay>,
        failed: Option<&Name>,
        word: StatusWord,
    ) {
        // Overlays of other targets and writes stay.
        if let Some(before) = before.as_deref() {
            let others = overlays_of(before)
                .into_iter()
                .filter(|it| (it.target != write.target || it.phase != write.name) && !overlays.contains(it));
            let others: Vec<Overlay> = others.collect();
            overlays.splice(0..0, others);
        }
        let mut record = match before {
            Some(record) => Record::clone(record),
            None => self.first_record(&write.link),
        };
        record.status.word = word;
        if record.status.op == StatusOp::Delete {
            record.status.op = StatusOp::Update;
        }
        record.private = private_of(&overlays, failed);
        self.keep_link(task, &write.link, Some(Arc::new(record)), None);
    }

    /// The record of a link before its first step.
    fn first_record(&self, link: &Address) -> Record {
        let whole = self.links.wholes.get(link).and_then(|task| self.plan.tasks.get(*task as usize)?.decision.clone());
        Record {
            type_name: whole.as_ref().map_or_else(|| "".into(), |it| it.type_name.clone()),
            status: Status::new(StatusOp::Create, StatusWord::Running),
            id: link.to_string().into(),
            inputs: whole.as_ref().map_or(Value::Null, |it| known_part(&it.desired)),
            outputs: Value::Null,
            private: Value::Null,
            metadata: Value::Null,
            dependencies: whole.as_ref().map(|it| it.dependencies.clone()).unwrap_or_default(),
            retain: false,
            protect: false,
            deposed: None,
            token: None,
            attempt: None,
            attention: None,
            unhealthy: Vec::new(),
            schema_version: 0,
            duration_ms: 0,
            origin: RecordOrigin::default(),
            provider: None,
        }
    }

    /// Stores the record of a link in the snapshot and in the next commit.
    fn keep_link(&mut self, task: u32, link: &Address, record: Option<Arc<Record>>, error: Option<Name>) {
        if let Some(before) = self.snapshot.records.get(link) {
            self.links.let_go(link, before);
        }
        match &record {
            Some(record) => {
                self.links.hold(link, record);
                self.snapshot.records.insert(link.clone(), record.clone());
            }
            None => drop(self.snapshot.records.swap_remove(link)),
        }
        let outcome = Outcome { address: link.clone(), record, error };
        let step = self.plan.tasks[task as usize].step.map_or(0, |step| step + 1);
        self.journal.record(step, EntryKind::Outcome(Arc::new(outcome)), Durable::Nothing);
    }

    /// Fails a write that cannot be carried out. The reason has been reported.
    pub(super) fn write_failed(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        effects: &mut Vec<Effect>,
    ) {
        self.state.failed = true;
        self.schedule.running[task as usize].progress = Progress::Failed;
        let message: Name = "what it writes has no usable value".into();
        self.link_failed(task, &write.link, &write.name, message.clone());
        self.journal
            .emit(Event::Failed { address: decided.address.clone(), operation: Verb::Update, message }, effects);
        self.after_failure(task, effects);
    }

    /// Marks a link as failed at one of its link resources or writes.
    pub(super) fn link_failed(&mut self, task: u32, link: &Address, at: &Name, message: Name) {
        let mut record = match self.snapshot.records.get(link) {
            Some(record) => Record::clone(record),
            None => self.first_record(link),
        };
        let overlays = overlays_of(&record);
        record.status.word = StatusWord::Failed;
        record.private = private_of(&overlays, Some(at));
        self.keep_link(task, link, Some(Arc::new(record)), Some(message));
    }

    /// Fails the link of a failed link resource.
    pub(super) fn part_failed(&mut self, task: u32, decided: &Decided, message: &Name) {
        let part = decided.address.link.as_ref().and_then(|link| link.part.clone());
        if let (Some(Linked::Part { .. }), Some(link), Some(part)) =
            (decided.linked.as_deref(), link_of(&decided.address), part)
        {
            self.link_failed(task, &link, &part, message.clone());
        }
    }

    /// Handles the successful call of a write. Returns the diagnostic of an answer that breaks the contract or the
    /// plan.
    pub(super) fn write_applied(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        request: &CallRequest,
        applied: Applied,
    ) -> Result<(), Box<Diagnostic>> {
        if let Some(wrong) = decided.ty.as_ref().and_then(|ty| breach(ty, request, &applied)) {
            return Err(Box::new(match wrong {
                Breach::Contract(why) => codes::PROVIDER_BROKE_CONTRACT
                    .new(format!("the provider's answer about `{}` is not as its catalogue declares", write.target))
                    .note(why),
                Breach::Promise(field) => codes::PROMISE_BROKEN
                    .new(format!("`{field}` of `{}` came out differently than planned", write.target)),
            }));
        }
        let Some(before) = self.snapshot.records.get(&write.target).cloned() else { return Ok(()) };
        let mut record = Record::clone(&before);
        record.id = applied.id;
        record.inputs = applied.inputs.unwrap_or_else(|| request.desired.clone());
        record.outputs = match &decided.ty {
            Some(ty) => mark_fields(&ty.schema, &applied.fields, &request.desired),
            None => applied.fields,
        };
        record.private = applied.private;
        let is_ready = applied.ready == Ready::Yes;
        record.status.word = if is_ready { StatusWord::Ready } else { StatusWord::Configured };
        self.close_writes(task, write);
        let durable = if is_ready { Durable::Done(task) } else { Durable::Configured(task) };
        self.record(task, decided, Some(Arc::new(record)), None, durable);
        Ok(())
    }

    /// Handles a permanently refused write: the target is unchanged, and the link fails at this write.
    pub(super) fn write_refused(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        diagnostic: Diagnostic,
        effects: &mut Vec<Effect>,
    ) {
        let target = self.snapshot.records.get(&write.target).cloned();
        let message: Name = diagnostic.message.as_str().into();
        self.link_failed(task, &write.link, &write.name, message);
        self.fail(task, decided, target, diagnostic, effects);
    }

    /// Completes a link: evaluates and records what it exposes.
    pub(super) fn finish_link(&mut self, task: u32, decided: &Arc<Decided>, link: LinkAt, effects: &mut Vec<Effect>) {
        let mut mistakes = Diagnostics::new();
        let Some(evaluation) = self.evaluation.as_mut() else { return self.complete(task, effects) };
        if evaluation.is_gone(link) {
            evaluation.links.made.remove(&decided.address);
            self.results.absent.insert(decided.address.clone());
            self.journal.emit(
                Event::Unneeded { address: decided.address.clone(), reason: "an end of the link is not there".into() },
                effects,
            );
            return self.complete(task, effects);
        }
        let outcome = evaluation.link_data(link, &mut mistakes);
        let notes = evaluation.notes(link, &mut mistakes);
        mistakes.retain(Diagnostic::is_error);
        let failed = mistakes.has_errors();
        self.results.found.append(mistakes);
        let (Ok(data), Ok(Some(notes)), false) = (outcome, notes, failed) else {
            return self.link_unusable(task, decided, effects);
        };
        if data.has_unknown() || notes.has_unknown() {
            self.results.found.push(
                codes::PROMISE_BROKEN
                    .new(format!("what `{}` gives is still not known", decided.address))
                    .label(decided.span, "its kind reads something that has no value yet"),
            );
            return self.link_unusable(task, decided, effects);
        }
        let mut mistakes = Diagnostics::new();
        let holds = self.required(link, decided, &mut mistakes);
        self.results.found.append(mistakes);
        if holds.is_none() {
            return self.link_unusable(task, decided, effects);
        }
        let before = self.snapshot.records.get(&decided.address).cloned();
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
            && let Some(with) = self.evaluation.as_mut().and_then(|it| it.with_overlays(link))
        {
            inputs.insert("with".into(), with);
        }
        record.inputs = Value::Map(Arc::new(inputs));
        record.outputs = data;
        record.dependencies = self.still_used(&decided.dependencies);
        record.private = private_of(&overlays_of(&record), None);
        record.origin = self.origin(decided);
        if let Some(evaluation) = self.evaluation.as_mut() {
            evaluation.links.made.insert(decided.address.clone());
        }
        if before.as_deref() == Some(&record) {
            return self.complete(task, effects);
        }
        self.record(task, decided, Some(Arc::new(record)), None, Durable::Done(task));
    }

    fn link_unusable(&mut self, task: u32, decided: &Arc<Decided>, effects: &mut Vec<Effect>) {
        self.state.failed = true;
        self.schedule.running[task as usize].progress = Progress::Failed;
        let message: Name = "what its kind says of it has no usable value".into();
        self.link_failed(task, &decided.address, &"data".into(), message.clone());
        self.journal
            .emit(Event::Failed { address: decided.address.clone(), operation: Verb::Update, message }, effects);
        self.after_failure(task, effects);
    }

    /// The address whose record holds the outcome of a task: the target for a write, else the address of the task.
    pub(super) fn recorded_at(decided: &Decided) -> &Address {
        match decided.linked.as_deref() {
            Some(Linked::Write(write)) => &write.target,
            _ => &decided.address,
        }
    }

    /// Publishes the current fields of a resource that a link owns or writes into. Returns false if no link is
    /// involved.
    pub(super) fn set_linked_outputs(&mut self, decided: &Decided, record: &Record) -> bool {
        let Some(evaluation) = self.evaluation.as_mut() else { return false };
        let member = match decided.linked.as_deref() {
            Some(Linked::Part { link, part }) => evaluation.part_mut(*link, *part),
            Some(Linked::Write(write)) => {
                if let Some((resource, position)) = write.member
                    && let Some(member) = evaluation.member_mut(resource, position)
                {
                    // The spec stays that of the document: a field that links release returns to it.
                    member.outputs = Outputs::Known(record.outputs.clone());
                }
                return true;
            }
            Some(Linked::Whole(_)) => return true,
            None => return false,
        };
        if let Some(member) = member {
            member.spec = record.inputs.clone();
            member.outputs = Outputs::Known(record.outputs.clone());
        }
        true
    }

    /// The complete spec of a link resource. `None` if its evaluation fails, which is reported.
    pub(super) fn part_spec(&mut self, decided: &Decided, link: LinkAt, part: usize) -> Option<Value> {
        let mut mistakes = Diagnostics::new();
        let holds = self.required(link, decided, &mut mistakes);
        self.results.found.append(mistakes);
        holds?;
        if !decided.desired.has_unknown() {
            return Some(decided.desired.clone());
        }
        let mut mistakes = Diagnostics::new();
        let spec = self.evaluation.as_mut()?.part_spec(link, part, &mut mistakes).ok().flatten();
        mistakes.retain(Diagnostic::is_error);
        self.results.found.append(mistakes);
        let spec = spec?;
        if spec.has_unknown() {
            self.results.found.push(
                codes::PROMISE_BROKEN
                    .new(format!("the spec of `{}` is still not complete", decided.address))
                    .label(decided.span, "something it reads has no value yet"),
            );
            return None;
        }
        Some(spec)
    }

    /// Whether a link resource with an open condition exists.
    pub(super) fn part_holds(&mut self, decided: &Decided, link: LinkAt, part: usize) -> Option<bool> {
        let mut mistakes = Diagnostics::new();
        let evaluation = self.evaluation.as_mut()?;
        let holds = !evaluation.is_gone(link)
            && evaluation.link_part(link, part, &mut mistakes).ok().flatten().is_some_and(|part| !part.condition_open);
        mistakes.retain(Diagnostic::is_error);
        self.results.found.append(mistakes);
        if !holds {
            self.results.absent.insert(decided.address.clone());
        } else if let Some(part) = evaluation.part_mut(link, part) {
            part.condition_open = false;
        }
        Some(holds)
    }
}

/// The known entries of a link's inputs. The unknown ones are added when the link is complete.
fn known_part(inputs: &Value) -> Value {
    if !inputs.has_unknown() {
        return inputs.clone();
    }
    let known = |value: &&Value| !value.has_unknown();
    let entries = inputs.as_map().into_iter().flatten().map(|(key, value)| {
        let value = match value {
            Value::List(items) => Value::list(items.iter().filter(known).cloned()),
            Value::Map(entries) => {
                let entries = entries.iter().filter(|(_, value)| !value.has_unknown());
                Value::map(entries.map(|(key, value)| (key.clone(), value.clone())))
            }
            other => other.clone(),
        };
        (key.clone(), value)
    });
    Value::map(entries.filter(|(_, value)| !value.has_unknown()))
}
