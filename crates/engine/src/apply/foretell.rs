//! Intents that are stated before their turn comes.
//!
//! What waits for something cannot be called before that is answered, but where the world can tell later whether a call was
//! made, its intent may be durable by then. A chain of things does not wait for the journal at each of its links so: one commit
//! holds the outcomes of many and foretells as many again. What an intent does not know yet is read back from the thing, should
//! the run be cut off. What is not called after all is taken back at the end.

use std::sync::Arc;

use blueprint::Value;
use provider::Operation as Verb;
use state::{Entry, EntryKind};

use super::{Apply, Durable, Effect, Progress};
use crate::plan::{Action, Decided, TaskKind};

/// How far the intent of a task is that was stated before its turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foretold {
    /// It was not, or its turn has come.
    No,
    /// It is in the commit under way, or in the next.
    Gathering,
    /// It is durable.
    Durable,
    /// Its turn has come before it is durable.
    Awaited,
}

impl Apply {
    /// A task will be done, as far as anybody can see: those who wait for nothing else may be foretold.
    pub(super) fn foresee(&mut self, task: u32) {
        if std::mem::replace(&mut self.running[task as usize].foreseen, true) {
            return;
        }
        for (waiter, _) in &self.after[task as usize] {
            let running = &mut self.running[*waiter as usize];
            running.unforeseen = running.unforeseen.saturating_sub(1);
            if running.unforeseen == 0 {
                self.foreseeable.push_back(*waiter, &self.ranks);
            }
        }
    }

    /// States what will be done once what is under way has been answered, as far as there may be more intents than calls.
    pub(super) fn foretell(&mut self) {
        while !self.stopping && self.in_flight + self.foretold < self.settings.parallelism + self.ahead {
            let Some(task) = self.foreseeable.pop() else { break };
            if !matches!(self.running[task as usize].progress, Progress::Waiting(_)) || !self.may_be_ahead(task) {
                continue;
            }
            let of = &self.plan.tasks[task as usize];
            let Some((decided, verb)) =
                of.decision.as_ref().and_then(|it| Some((it.clone(), foretellable(of.kind, it)?)))
            else {
                continue;
            };
            let kind = of.kind;
            let prior = self.prior_of_call(kind, &decided, verb);
            let inputs = if verb == Verb::Delete { Value::Null } else { decided.desired.clone() };
            let intent = self.intent_of(task, kind, &decided, verb, prior.as_deref(), inputs);
            self.running[task as usize].token = Some(intent.token.clone());
            let step = self.step_of(task);
            self.gathering.push((Entry { step, kind: EntryKind::Intent(Arc::new(intent)) }, Durable::Foretold(task)));
            self.running[task as usize].foretold = Foretold::Gathering;
            self.foretold += 1;
            self.foresee(task);
        }
    }

    /// What was foretold is durable.
    pub(super) fn foretold(&mut self, task: u32, effects: &mut Vec<Effect>) {
        match self.running[task as usize].foretold {
            Foretold::Gathering => self.running[task as usize].foretold = Foretold::Durable,
            Foretold::Awaited => {
                self.running[task as usize].foretold = Foretold::No;
                if self.running[task as usize].progress == Progress::Intending {
                    self.stated(task, effects);
                }
            }
            Foretold::No | Foretold::Durable => {}
        }
    }

    /// The turn of a task has come, or something else is recorded of it: whether, and how far, it was foretold.
    pub(super) fn was_foretold(&mut self, task: u32) -> Foretold {
        let before = std::mem::replace(&mut self.running[task as usize].foretold, Foretold::No);
        if matches!(before, Foretold::Gathering | Foretold::Durable) {
            self.foretold = self.foretold.saturating_sub(1);
        }
        before
    }

    /// What was foretold and not called is as it was.
    pub(super) fn take_back_what_was_foretold(&mut self) {
        if self.foretold == 0 {
            return;
        }
        for task in 0..self.running.len() as u32 {
            if matches!(self.was_foretold(task), Foretold::Gathering | Foretold::Durable) {
                self.take_back(task);
            }
        }
    }
}

/// What will be called for a task, if that is certain before what it waits for has been answered, and if everything of the
/// intent that is not known yet can be read back.
fn foretellable(kind: TaskKind, decided: &Decided) -> Option<Verb> {
    if decided.linked.is_some() {
        return None;
    }
    match kind {
        TaskKind::Delete => Some(Verb::Delete),
        TaskKind::Create if decided.action == Action::Create && !decided.condition_open => {
            let schema = &decided.ty.as_ref()?.schema;
            let reads_back = |(name, value): (&_, &Value)| {
                !value.has_unknown()
                    || !hides_unknown(value) && schema.fields.get(name).is_some_and(|field| !field.sensitive)
            };
            decided.desired.as_map()?.iter().all(reads_back).then_some(Verb::Create)
        }
        _ => None,
    }
}

/// Whether something in it is a secret that is not known yet, or a set of which not all is known: it has no order by which what
/// is missing could be found.
fn hides_unknown(value: &Value) -> bool {
    match value {
        Value::Secret(inner) => inner.has_unknown(),
        Value::Set(_) => value.has_unknown(),
        Value::List(items) => items.iter().any(hides_unknown),
        Value::Map(entries) => entries.values().any(hides_unknown),
        _ => false,
    }
}
