//! Entries that wait to be written: at most one commit is in progress, and new entries gather for
//! the next one.
//!
//! Events about recorded facts wait until these facts are durable.
//!
//! Not here: the rules of a journal (`state`), writing the journal (`run`).

use evaluate::event::Event;
use state::{Entry, EntryKind};

use crate::model::Effect;

/// The consequence for a task when an entry is durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Durable {
    /// No consequence.
    Nothing,
    /// The intent of the task is durable: its call is made now.
    Intent(u32),
    /// The outcome of the task is durable: its resource is configured, but not ready yet.
    Configured(u32),
    /// The outcome of the task is durable: the task is done.
    Done(u32),
    /// The outcome of the task is durable: the task has failed.
    Failed(u32),
}

/// The journal as the state machine of an operation sees it.
#[derive(Default)]
pub(crate) struct RunJournal {
    gathering: Vec<(Entry, Durable)>,
    /// Events that are emitted once all gathered entries are durable.
    later: Vec<Event>,
    under_way: Option<(Vec<Durable>, Vec<Event>)>,
    /// Whether no entry can be written any more.
    broken: bool,
    /// Whether the last entry is recorded, or none will be.
    finishing: bool,
}

impl RunJournal {
    /// Adds an entry to the next commit. `step` is the number of its step from 1, or 0 for an entry
    /// of the operation.
    pub(crate) fn record(&mut self, step: u32, kind: EntryKind, durable: Durable) {
        self.gathering.push((Entry { step, kind }, durable));
    }

    /// Sends the gathered entries, unless a commit is in progress.
    pub(crate) fn commit(&mut self, effects: &mut Vec<Effect>) {
        if self.under_way.is_some() || self.gathering.is_empty() {
            return;
        }
        let (entries, durable) = std::mem::take(&mut self.gathering).into_iter().unzip();
        self.under_way = Some((durable, std::mem::take(&mut self.later)));
        effects.push(Effect::Commit(entries));
    }

    /// Emits an event after the events of everything that was recorded before it.
    pub(crate) fn emit(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match &mut self.under_way {
            _ if !self.gathering.is_empty() => self.later.push(event),
            Some((_, later)) => later.push(event),
            None => effects.push(Effect::Report(event)),
        }
    }

    /// Handles a durable commit. Returns the consequences of its entries, and the events that
    /// waited for it.
    pub(crate) fn committed(&mut self) -> Option<(Vec<Durable>, Vec<Event>)> {
        self.under_way.take()
    }

    /// Marks the last entry as recorded, also if no entry will be.
    pub(crate) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Whether the last entry is recorded, or none will be.
    pub(crate) fn is_finishing(&self) -> bool {
        self.finishing
    }

    /// Whether no entry can be written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether no commit is in progress and no entry has gathered.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.gathering.is_empty()
    }

    /// Whether no entry has gathered.
    pub(crate) fn is_empty(&self) -> bool {
        self.gathering.is_empty()
    }

    /// Drops all entries, because none can be written any more, and returns the events that waited
    /// for them.
    pub(crate) fn give_up(&mut self) -> Vec<Event> {
        let mut events = self
            .under_way
            .take()
            .map(|(_, later)| later)
            .unwrap_or_default();
        events.append(&mut self.later);
        self.gathering.clear();
        self.broken = true;
        self.finishing = false;
        events
    }
}
