//! What was asked of a simulated provider, in order, for tests that expect it.

use std::collections::BTreeMap;

use blueprint::Name;
use provider::Operation;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A call came in.
    Began(Operation, Name),
    /// The last call of that kind at the address succeeded.
    Ended(Operation, Name),
    /// The thing at the address was found stable.
    Ready(Name),
}

/// Everything that happened, in order.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// In order.
    pub events: Vec<Happened>,
    /// The most calls that were under way at once.
    pub most_in_flight: u32,
    pub(super) in_flight: u32,
    pub(super) is_off: bool,
}

impl Journal {
    /// Writes down what happened, if anybody will ask.
    pub(super) fn push(&mut self, happened: impl FnOnce() -> Happened) {
        if !self.is_off {
            self.events.push(happened());
        }
    }

    /// Calls by operation and address, such as `create r`, with their number; tries that failed count too.
    pub fn calls(&self) -> BTreeMap<String, u32> {
        let mut calls = BTreeMap::new();
        for event in &self.events {
            if let Happened::Began(operation, address) = event {
                *calls.entry(format!("{} {address}", operation.word())).or_insert(0) += 1;
            }
        }
        calls
    }

    /// Whether the first event, such as `create a` or `ready a`, has ended before the second begins. `None` if one of
    /// the two never happened. Only calls that succeeded count; of several the last.
    pub fn before(&self, first: &str, second: &str) -> Option<bool> {
        Some(self.ended(first)? < self.began(second)?)
    }

    fn ended(&self, what: &str) -> Option<usize> {
        let (word, address) = what.split_once(' ')?;
        self.events.iter().rposition(|event| match event {
            Happened::Ended(operation, at) => operation.word() == word && at.as_ref() == address,
            Happened::Ready(at) => word == "ready" && at.as_ref() == address,
            Happened::Began(..) => false,
        })
    }

    /// Where the try that succeeded began.
    fn began(&self, what: &str) -> Option<usize> {
        let end = self.ended(what)?;
        let (word, address) = what.split_once(' ')?;
        if word == "ready" {
            return Some(end);
        }
        self.events[..end]
            .iter()
            .rposition(|event| matches!(event, Happened::Began(operation, at) if operation.word() == word && at.as_ref() == address))
    }
}
