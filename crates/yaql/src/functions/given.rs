//! The arguments of a call, before and after they are assigned to parameters.

use std::rc::Rc;

use blueprint::Name;

use crate::failure::{Halt, Step};
use crate::model::{Cursor, Datum, Lambda, Machine, Map, Scope, Stream};
use crate::tree::NodeId;

/// What a function is called with.
pub(crate) enum Arguments<'a> {
    /// As they are written; `None` where one is left out.
    Written(&'a [Option<NodeId>]),
    /// As values, without and with names.
    Values(Vec<Datum>, Vec<(Name, Datum)>),
}

/// The arguments of a call, as its function takes them.
pub(crate) struct Given {
    /// One for each parameter.
    pub(crate) slots: Vec<Datum>,
    /// Further ones without a name.
    pub(crate) rest: Vec<Datum>,
    /// Further ones with a name.
    pub(crate) named: Vec<(Name, Datum)>,
    /// The place of the call.
    pub(crate) scope: Rc<Scope>,
    /// The how-manieth call of the expression it is, if it is written there.
    pub(crate) ordinal: Option<u32>,
}

impl Given {
    pub(crate) fn new(scope: Rc<Scope>, ordinal: Option<u32>, count: usize) -> Given {
        Given { slots: vec![Datum::Null; count], rest: Vec::new(), named: Vec::new(), scope, ordinal }
    }

    /// The argument of a parameter; null the second time.
    pub(super) fn take(&mut self, at: usize) -> Datum {
        self.slots.get_mut(at).map(std::mem::take).unwrap_or_default()
    }

    /// Two arguments.
    pub(super) fn pair(&mut self) -> (Datum, Datum) {
        (self.take(0), self.take(1))
    }

    /// An integer, the nearest one that fits.
    pub(super) fn int(&self, at: usize) -> i64 {
        self.slots.get(at).and_then(Datum::index).unwrap_or(0)
    }

    /// An integer that must be one of 64 bits.
    pub(super) fn small(&self, at: usize) -> Step<i64> {
        match self.slots.get(at) {
            Some(Datum::Big(_)) => Err(Halt::failed("Python int too large to convert to C ssize_t")),
            _ => Ok(self.int(at)),
        }
    }

    /// A boolean.
    pub(super) fn flag(&self, at: usize) -> bool {
        matches!(self.slots.get(at), Some(Datum::Bool(true)))
    }

    /// A text; empty for null.
    pub(super) fn text(&mut self, at: usize) -> Name {
        match self.take(at) {
            Datum::Text(text) => text,
            _ => "".into(),
        }
    }

    /// A text, or nothing for null.
    pub(super) fn text_or_null(&mut self, at: usize) -> Option<Name> {
        match self.take(at) {
            Datum::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An argument that is called.
    pub(super) fn lambda(&mut self, at: usize) -> Option<Rc<Lambda>> {
        match self.take(at) {
            Datum::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    /// A map; an empty one for anything else.
    pub(super) fn map(&mut self, at: usize) -> Rc<Map> {
        match self.take(at) {
            Datum::Map(map) => map,
            _ => Rc::new(Map { entries: Default::default(), frozen: true, extent: Default::default() }),
        }
    }

    /// The items of an argument.
    pub(super) fn items(&mut self, at: usize) -> Cursor {
        Cursor::of(self.take(at))
    }

    /// How deeply the arguments are nested: a sequence that holds them is one level deeper.
    pub(super) fn depth(&self) -> u32 {
        let all = self.slots.iter().chain(&self.rest).chain(self.named.iter().map(|(_, value)| value));
        all.map(Datum::depth).max().unwrap_or(0)
    }
}

/// A lazy sequence that holds values of a depth.
pub(super) fn stream(depth: u32, next: impl FnMut(&mut Machine<'_>) -> Step<Option<Datum>> + 'static) -> Step<Datum> {
    Ok(Datum::Stream(Stream::new(depth, next)))
}
