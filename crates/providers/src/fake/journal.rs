//! The calls to a simulated provider, in order, for tests.

use std::collections::BTreeMap;

use blueprint::Name;
use provider::Operation;

/// An event in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoggedEvent {
    /// A call started.
    Began(Operation, Name),
    /// The last call of this operation at the address succeeded.
    Ended(Operation, Name),
    /// The resource at the address became ready.
    Ready(Name),
}

/// All events, in order.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    /// The events in order.
    pub events: Vec<LoggedEvent>,
    /// The maximum number of concurrent calls.
    pub most_in_flight: u32,
    pub(super) in_flight: u32,
    pub(super) is_off: bool,
}

impl EventLog {
    /// Records an event if the journal is enabled.
    pub(super) fn push(&mut self, happened: impl FnOnce() -> LoggedEvent) {
        if !self.is_off {
            self.events.push(happened());
        }
    }

    /// Calls by operation and address, such as `create r`, with their number, including failed
    /// tries.
    pub fn calls(&self) -> BTreeMap<String, u32> {
        let mut calls = BTreeMap::new();
        for event in &self.events {
            if let LoggedEvent::Began(operation, address) = event {
                *calls
                    .entry(format!("{} {address}", operation.word()))
                    .or_insert(0) += 1;
            }
        }
        calls
    }

    /// Whether the first event, such as `create a` or `ready a`, ended before the second began.
    /// `None` if one of them did not occur. Only successful calls count, and of several calls the
    /// last one.
    pub fn before(&self, first: &str, second: &str) -> Option<bool> {
        Some(self.ended(first)? < self.began(second)?)
    }

    fn ended(&self, what: &str) -> Option<usize> {
        let (word, address) = what.split_once(' ')?;
        self.events.iter().rposition(|event| match event {
            LoggedEvent::Ended(operation, at) => operation.word() == word && at.as_ref() == address,
            LoggedEvent::Ready(at) => word == "ready" && at.as_ref() == address,
            LoggedEvent::Began(..) => false,
        })
    }

    /// The position at which the successful try began.
    fn began(&self, what: &str) -> Option<usize> {
        let end = self.ended(what)?;
        let (word, address) = what.split_once(' ')?;
        if word == "ready" {
            return Some(end);
        }
        self.events[..end]
            .iter()
            .rposition(|event| matches!(event, LoggedEvent::Began(operation, at) if operation.word() == word && at.as_ref() == address))
    }
}
