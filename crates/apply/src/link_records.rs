//! The executor of links, and the records that it writes
//! (decisions/links#effects-after-the-target).
//!
//! The record of a link lists the contributions that the link has written. They are marked open
//! before a call and closed after it. The record is therefore correct however the run ends.
//!
//! Not here: the writes (`link_writes`), the end of a link (`link_ends`), the journal: the executor
//! returns its entries.

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use plan::linked::{LinkWrite, Linked};
use plan::task::Decided;
use state::{Outcome, Record, RecordOrigin, Status, StatusOp, StatusWord};
use understand::links::address::link_of;
use understand::links::overlay::{Overlay, overlays_of, private_of};

use crate::facts::Facts;
use crate::link_state::LinkState;
use crate::progress::Results;
use crate::run_values::RunValues;

/// Carries out one step of a link. Changes the records of links, and collects the entries for the
/// journal.
pub(crate) struct LinkExecutor<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) known: &'a mut RunValues,
    pub(crate) links: &'a mut LinkState,
    pub(crate) results: &'a mut Results,
    /// Entries for the journal, each with the task that it belongs to.
    pub(crate) outcomes: Vec<(u32, Outcome)>,
}

impl LinkExecutor<'_> {
    /// Records the current overlays of a link in the next commit.
    pub(crate) fn record(
        &mut self,
        task: u32,
        write: &LinkWrite,
        before: &Option<Arc<Record>>,
        mut overlays: Vec<Overlay>,
        failed: Option<&Name>,
        word: StatusWord,
    ) {
        // Overlays of other targets and other writes stay.
        if let Some(before) = before.as_deref() {
            let others = overlays_of(before).into_iter().filter(|it| {
                (it.target != write.target || it.phase != write.name) && !overlays.contains(it)
            });
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
        self.store_record(task, &write.link, Some(Arc::new(record)), None);
    }

    /// The record of a link before its first step.
    pub(crate) fn first_record(&self, link: &Address) -> Record {
        let whole = self
            .links
            .link_task(link)
            .and_then(|task| self.facts.decided(task));
        Record {
            type_name: whole
                .as_ref()
                .map_or_else(|| "".into(), |it| it.type_name.clone()),
            status: Status::new(StatusOp::Create, StatusWord::Running),
            id: link.to_string().into(),
            inputs: whole
                .as_ref()
                .map_or(Value::Null, |it| known_part(&it.desired)),
            outputs: Value::Null,
            private: Value::Null,
            metadata: Value::Null,
            dependencies: whole
                .as_ref()
                .map(|it| it.dependencies.clone())
                .unwrap_or_default(),
            retain: false,
            protect: false,
            delete_mode: blueprint::DeleteMode::Delete,
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
    fn store_record(
        &mut self,
        task: u32,
        link: &Address,
        record: Option<Arc<Record>>,
        error: Option<Name>,
    ) {
        if let Some(before) = self.known.record(link) {
            self.links.remove_holder(link, before);
        }
        if let Some(record) = &record {
            self.links.add_holder(link, record);
        }
        self.known.set_record(link, record.as_ref());
        let outcome = Outcome {
            address: link.clone(),
            record,
            error,
        };
        self.outcomes.push((task, outcome));
    }

    /// Marks a link as failed at one of its link resources or writes.
    pub(crate) fn fail(&mut self, task: u32, link: &Address, at: &Name, message: Name) {
        let mut record = match self.known.record(link) {
            Some(record) => Record::clone(record),
            None => self.first_record(link),
        };
        let overlays = overlays_of(&record);
        record.status.word = StatusWord::Failed;
        record.private = private_of(&overlays, Some(at));
        self.store_record(task, link, Some(Arc::new(record)), Some(message));
    }

    /// Fails the link of a failed link resource.
    pub(crate) fn fail_part(&mut self, task: u32, decided: &Decided, message: &Name) {
        let part = decided
            .address
            .link
            .as_ref()
            .and_then(|link| link.part.clone());
        if let (Some(Linked::Part { .. }), Some(link), Some(part)) =
            (decided.linked.as_deref(), link_of(&decided.address), part)
        {
            self.fail(task, &link, &part, message.clone());
        }
    }
}

/// The known entries of a link's inputs. Unknown entries are added when the link is complete.
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
