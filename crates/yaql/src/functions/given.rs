//! The arguments of a call, before and after they are assigned to parameters.

use std::rc::Rc;

use blueprint::Name;

use crate::failure::{Evaluated, Halt};
use crate::model::{Cursor, Datum, DatumMap, Lambda, Machine, Scope, Stream};
use crate::tree::NodeId;

/// The arguments of a call before they are assigned.
pub(crate) enum SuppliedArguments<'a> {
    /// The arguments as written; `None` for an omitted argument.
    Written(&'a [Option<NodeId>]),
    /// The arguments as values: positional and named.
    Values(Vec<Datum>, Vec<(Name, Datum)>),
}

/// The arguments of a call, assigned to the parameters of its function.
pub(crate) struct CallArguments {
    /// One value for each parameter.
    pub(crate) slots: Vec<Datum>,
    /// Further positional arguments.
    pub(crate) rest: Vec<Datum>,
    /// Further named arguments.
    pub(crate) named: Vec<(Name, Datum)>,
    /// The scope of the call.
    pub(crate) scope: Rc<Scope>,
    /// The index of the call in the expression; `None` if the call is not written there.
    pub(crate) ordinal: Option<u32>,
}

impl CallArguments {
    pub(crate) fn new(scope: Rc<Scope>, ordinal: Option<u32>, count: usize) -> CallArguments {
        CallArguments {
            slots: vec![Datum::Null; count],
            rest: Vec::new(),
            named: Vec::new(),
            scope,
            ordinal,
        }
    }

    /// Takes the argument of a parameter; a second call returns null.
    pub(super) fn take(&mut self, at: usize) -> Datum {
        self.slots
            .get_mut(at)
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Takes the first two arguments.
    pub(super) fn pair(&mut self) -> (Datum, Datum) {
        (self.take(0), self.take(1))
    }

    /// Returns an integer argument, clamped to 64 bits.
    pub(super) fn int(&self, at: usize) -> i64 {
        self.slots.get(at).and_then(Datum::index).unwrap_or(0)
    }

    /// Returns an integer argument. Fails if the integer exceeds 64 bits.
    pub(super) fn small(&self, at: usize) -> Evaluated<i64> {
        match self.slots.get(at) {
            Some(Datum::Big(_)) => {
                Err(Halt::failed("Python int too large to convert to C ssize_t"))
            }
            _ => Ok(self.int(at)),
        }
    }

    /// Returns a boolean argument; `false` for another value.
    pub(super) fn flag(&self, at: usize) -> bool {
        matches!(self.slots.get(at), Some(Datum::Bool(true)))
    }

    /// Takes a text argument; empty for null.
    pub(super) fn text(&mut self, at: usize) -> Name {
        match self.take(at) {
            Datum::Text(text) => text,
            _ => "".into(),
        }
    }

    /// Takes a text argument; `None` for null.
    pub(super) fn text_or_null(&mut self, at: usize) -> Option<Name> {
        match self.take(at) {
            Datum::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Takes a lambda argument.
    pub(super) fn lambda(&mut self, at: usize) -> Option<Rc<Lambda>> {
        match self.take(at) {
            Datum::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    /// Takes a map argument; an empty map for another value.
    pub(super) fn map(&mut self, at: usize) -> Rc<DatumMap> {
        match self.take(at) {
            Datum::Map(map) => map,
            _ => Rc::new(DatumMap {
                entries: Default::default(),
                frozen: true,
                extent: Default::default(),
            }),
        }
    }

    /// Takes an argument and returns a cursor over its items.
    pub(super) fn items(&mut self, at: usize) -> Cursor {
        Cursor::of(self.take(at))
    }

    /// The depth of the arguments; a sequence that holds them is one level deeper.
    pub(super) fn depth(&self) -> u32 {
        let all = self
            .slots
            .iter()
            .chain(&self.rest)
            .chain(self.named.iter().map(|(_, value)| value));
        all.map(Datum::depth).max().unwrap_or(0)
    }
}

/// Creates a lazy sequence; `depth` is the depth of the values that it holds.
pub(super) fn stream(
    depth: u32,
    next: impl FnMut(&mut Machine<'_>) -> Evaluated<Option<Datum>> + 'static,
) -> Evaluated<Datum> {
    Ok(Datum::Stream(Stream::new(depth, next)))
}
