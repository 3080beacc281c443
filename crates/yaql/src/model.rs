//! The types of an evaluation that refer to each other: values, keys, lazy sequences, scopes and
//! the machine.
//!
//! A value can be a lazy sequence, a function of the machine creates a lazy sequence, and the
//! machine holds values. Therefore these types are in one file. Their operations are in `datum`,
//! `key`, `stream`, `scope`, `machine`, `evaluate` and `resolve`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use blueprint::Name;
use foldhash::fast::FixedState;
use indexmap::{IndexMap, IndexSet};
use pycompat::BigInt;

use crate::budget::Budget;
use crate::dates::{Moment, Timespan};
use crate::drawing::ExternalValues;
use crate::failure::Evaluated;
use crate::regex::{PatternCache, Regex};
use crate::tree::{NodeId, Tree, Variable};

/// A value while an expression is evaluated. Cloning copies at most a pointer.
#[derive(Clone, Default)]
pub(crate) enum Datum {
    #[default]
    Null,
    /// The value of a parameter without an argument, where the function must distinguish the
    /// missing argument from null.
    Absent,
    Bool(bool),
    Int(i64),
    /// An integer that does not fit [`Datum::Int`].
    Big(Rc<BigInt>),
    Float(f64),
    Text(Name),
    List(Rc<DatumList>),
    Map(Rc<DatumMap>),
    Set(Rc<DatumSet>),
    /// The keys, values or entries of a map.
    View(View, Rc<DatumMap>),
    /// A lazy sequence: it can be iterated once.
    Stream(Stream),
    /// A lazy sequence that stores its items.
    Memory(Rc<ReplayableSequence>),
    /// A collection that is sorted when it is iterated.
    Ordering(Rc<Ordering>),
    Regex(Rc<Regex>),
    Moment(Rc<Moment>),
    Timespan(Timespan),
    /// The value of the left side of `->`.
    Scope(Rc<Scope>),
    /// `a => b` as an argument.
    Rule(Rc<(Datum, Datum)>),
    /// An argument that the function calls itself.
    Lambda(Rc<Lambda>),
}

/// A list or tuple.
pub(crate) struct DatumList {
    pub(crate) items: Vec<Datum>,
    /// Whether the list is a Python tuple: it can be a key, and it equals tuples only.
    pub(crate) tuple: bool,
    pub(crate) extent: Extent,
}

/// A map, with its entries in order.
pub(crate) struct DatumMap {
    pub(crate) entries: DatumEntries,
    /// Whether the map can be a key if its values can.
    pub(crate) frozen: bool,
    pub(crate) extent: Extent,
}

/// A set of distinct items, in the order of insertion.
pub(crate) struct DatumSet {
    pub(crate) items: Keys,
    pub(crate) extent: Extent,
}

/// The part of a map that a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Keys,
    Values,
    Entries,
}

/// Entries by key, in order.
pub(crate) type DatumEntries = IndexMap<DatumKey, Datum, FixedState>;

/// Keys in order.
pub(crate) type Keys = IndexSet<DatumKey, FixedState>;

/// The nested size of a value, which bounds the depth and the length of a walk through the value. A
/// shared part counts each time it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Levels of nesting.
    pub(crate) depth: u32,
    /// Number of values.
    pub(crate) weight: u32,
}

/// A value that can be a key, with its hash.
#[derive(Clone)]
pub(crate) struct DatumKey {
    pub(crate) hash: u64,
    pub(crate) value: Datum,
}

/// A function that computes the next item of a lazy sequence; `None` at its end.
pub(crate) type Next = Box<dyn FnMut(&mut Machine<'_>) -> Evaluated<Option<Datum>>>;

/// A lazy sequence. All clones take from the same items: each item is returned only once in total.
#[derive(Clone)]
pub(crate) struct Stream(pub(crate) Rc<StreamSource>);

/// The shared state of the clones of a lazy sequence.
pub(crate) struct StreamSource {
    pub(crate) depth: u32,
    /// Whether the sequence itself counts its items against the limit.
    pub(crate) limited: bool,
    /// The function for the next item; `None` when the sequence has ended.
    pub(crate) next: RefCell<Option<Next>>,
}

/// A sequence that stores its items, so that it can be iterated again.
///
/// The machine holds the items, because an item may refer to the sequence itself and chains of
/// items may be long.
pub(crate) struct ReplayableSequence {
    pub(crate) source: RefCell<Cursor>,
    pub(crate) depth: u32,
    /// The index of the items in [`SequenceStore::memories`].
    pub(crate) slot: usize,
}

/// A collection that is sorted when it is iterated. The machine holds its sort keys, for the same
/// reason as for [`ReplayableSequence`].
pub(crate) struct Ordering {
    pub(crate) collection: Datum,
    pub(crate) depth: u32,
    /// The index of the sort keys in [`SequenceStore::sortings`].
    pub(crate) slot: usize,
}

/// The sort keys of a collection, and its items once they are sorted.
#[derive(Default)]
pub(crate) struct Sorting {
    /// The selector of each sort key, and whether the order is ascending.
    pub(crate) fields: Vec<(Rc<Lambda>, bool)>,
    pub(crate) sorted: Option<Rc<DatumList>>,
}

/// The items and sort keys of all sequences of an evaluation.
#[derive(Default)]
pub(crate) struct SequenceStore {
    pub(crate) memories: Vec<Vec<Datum>>,
    pub(crate) sortings: Vec<Sorting>,
}

/// A walk over the items of a value.
pub(crate) enum Cursor {
    List(Rc<DatumList>, usize),
    Set(Rc<DatumSet>, usize),
    View(View, Rc<DatumMap>, usize),
    Stream(Stream),
    Memory(Rc<ReplayableSequence>, usize),
    /// A collection that is not sorted yet.
    Ordering(Rc<Ordering>),
    /// The remaining characters, the last one first.
    Text(Vec<Datum>),
    /// The name of the type of a value that has no items.
    NotIterable(&'static str),
}

/// The variables and functions of one scope, and the enclosing scope.
pub(crate) struct Scope {
    pub(crate) parent: Option<Rc<Scope>>,
    pub(crate) variables: RefCell<Vec<(Variable, Datum)>>,
    pub(crate) functions: RefCell<Vec<(Name, LambdaBody)>>,
    /// Whether this scope or an enclosing one may define functions.
    pub(crate) defines: Cell<bool>,
    pub(crate) depth: Cell<u32>,
}

/// An argument that is called instead of evaluated.
pub(crate) enum Lambda {
    /// An expression with the scope in which it is written.
    Written(NodeId, Rc<Scope>),
    /// A constant result.
    Always(Datum),
}

/// The body of a function that an expression defines. The machine evaluates the body in the scope
/// that defines the function, so the body holds no scope.
#[derive(Clone)]
pub(crate) enum LambdaBody {
    /// An expression.
    Written(NodeId),
    /// A constant result.
    Always(Datum),
}

/// The state of one evaluation of an expression.
pub(crate) struct Machine<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) budget: Budget<'a>,
    pub(crate) drawing: &'a mut dyn ExternalValues,
    /// The number of draws of each call, by the ordinal of the call.
    pub(crate) turns: Vec<(u32, u32)>,
    pub(crate) sequences: SequenceStore,
    pub(crate) patterns: PatternCache,
}
