//! Entries that wait to be written: at most one commit is in progress, and new entries gather for the next one.
//!
//! Events that report something recorded wait until it is durable.
//!
//! Not here: the rules of a journal (`state`), writing it (`run`).

use evaluate::event::Event;
use state::{Entry, EntryKind};

use crate::model::Effect;

/// The meaning of an entry for its task once it is durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Durable {
    /// Nothing.
    Nothing,
    /// Its intent is durable: the call is made now.
    Intent(u32),
    /// Its outcome is durable: configured, not ready yet.
    Configured(u32),
    /// Its outcome is durable: done.
    Done(u32),
    /// Its outcome is durable: failed.
    Failed(u32),
}

/// The journal of an operation as the machine sees it.
#[derive(Default)]
pub(crate) struct RunJournal {
    gathering: Vec<(Entry, Durable)>,
    /// Events that are emitted once everything that gathers is durable.
    later: Vec<Event>,
    under_way: Option<(Vec<Durable>, Vec<Event>)>,
    /// Nothing can be written any more.
    broken: bool,
    /// The last entry has been written, or none will be.
    finishing: bool,
}

impl RunJournal {
    /// Adds an entry to the next commit. `step` is the number of its step from 1, or 0 for an entry of the operation.
    pub(crate) fn record(&mut self, step: u32, kind: EntryKind, durable: Durable) {
        self.gathering.push((Entry { step, kind }, durable));
    }

    /// Sends what has gathered, unless a commit is under way.
    pub(crate) fn commit(&mut self, effects: &mut Vec<Effect>) {
        if self.under_way.is_some() || self.gathering.is_empty() {
            return;
        }
        let (entries, durable) = std::mem::take(&mut self.gathering).into_iter().unzip();
        self.under_way = Some((durable, std::mem::take(&mut self.later)));
        effects.push(Effect::Commit(entries));
    }

    /// Emits an event after those of everything that was recorded before it.
    pub(crate) fn emit(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match &mut self.under_way {
            _ if !self.gathering.is_empty() => self.later.push(event),
            Some((_, later)) => later.push(event),
            None => effects.push(Effect::Tell(event)),
        }
    }

    /// The commit under way is durable: what its entries mean, and the events that waited for it.
    pub(crate) fn committed(&mut self) -> Option<(Vec<Durable>, Vec<Event>)> {
        self.under_way.take()
    }

    /// The last entry is recorded, or none will be.
    pub(crate) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Whether the last entry is recorded, or none will be.
    pub(crate) fn is_finishing(&self) -> bool {
        self.finishing
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether no commit is under way and nothing has gathered.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.gathering.is_empty()
    }

    /// Whether nothing has gathered.
    pub(crate) fn is_empty(&self) -> bool {
        self.gathering.is_empty()
    }

    /// Drops everything, because nothing can be written any more, and returns the events that waited for it.
    pub(crate) fn give_up(&mut self) -> Vec<Event> {
        let mut events = self.under_way.take().map(|(_, later)| later).unwrap_or_default();
        events.append(&mut self.later);
        self.gathering.clear();
        self.broken = true;
        self.finishing = false;
        events
    }
}
