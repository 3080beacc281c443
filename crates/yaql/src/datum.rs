//! Values while an expression is evaluated: those of [`blueprint::Value`], and what only exists inside.
//!
//! Python tells lists from tuples and dictionaries from frozen ones, and users see it: a list is equal to no tuple, has another
//! text, and is no key of a map. So both are here.

use std::rc::Rc;

use blueprint::Name;
use foldhash::fast::FixedState;
use indexmap::{IndexMap, IndexSet};
use python::BigInt;

use crate::dates::{Moment, Timespan};
use crate::key::Key;
use crate::regex::Regex;
use crate::scope::{Lambda, Scope};
use crate::stream::{Memory, Ordering, Stream};

/// A value while an expression is evaluated. Cloning copies at most a pointer.
#[derive(Clone, Default)]
pub(crate) enum Datum {
    #[default]
    Null,
    /// What a parameter without an argument holds where the function tells that from null.
    Absent,
    Bool(bool),
    Int(i64),
    /// An integer that does not fit [`Datum::Int`].
    Big(Rc<BigInt>),
    Float(f64),
    Text(Name),
    List(Rc<List>),
    Map(Rc<Map>),
    Set(Rc<Set>),
    /// The keys, values or entries of a map.
    View(View, Rc<Map>),
    /// A lazy sequence: it can be iterated once.
    Stream(Stream),
    /// A lazy sequence that remembers its items.
    Memory(Rc<Memory>),
    /// A collection that is sorted when it is iterated.
    Ordering(Rc<Ordering>),
    Regex(Rc<Regex>),
    Moment(Rc<Moment>),
    Timespan(Timespan),
    /// What the left side of `->` gives.
    Scope(Rc<Scope>),
    /// `a => b` as an argument.
    Rule(Rc<(Datum, Datum)>),
    /// An argument that is called, not evaluated.
    Lambda(Rc<Lambda>),
}

/// Items in order.
pub(crate) struct List {
    pub(crate) items: Vec<Datum>,
    /// Python's tuple: it can be a key, and is equal to tuples only.
    pub(crate) tuple: bool,
    pub(crate) extent: Extent,
}

/// Entries in order.
pub(crate) struct Map {
    pub(crate) entries: Entries,
    /// It can be a key, as far as its values can.
    pub(crate) frozen: bool,
    pub(crate) extent: Extent,
}

/// Items without order and repetition; they keep the order in which they came.
pub(crate) struct Set {
    pub(crate) items: Keys,
    pub(crate) extent: Extent,
}

/// What is seen of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Keys,
    Values,
    Entries,
}

/// Entries by key, in order.
pub(crate) type Entries = IndexMap<Key, Datum, FixedState>;

/// Keys in order.
pub(crate) type Keys = IndexSet<Key, FixedState>;

/// How large a value is all the way down. It bounds how deep and how long walking through it can be; the same part counts as
/// often as it is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Levels.
    pub(crate) depth: u32,
    /// Values in all.
    pub(crate) weight: u32,
}

impl Extent {
    /// Of something around these values.
    pub(crate) fn around<'a>(items: impl IntoIterator<Item = &'a Datum>) -> Extent {
        let mut all = Extent { depth: 0, weight: 1 };
        for item in items {
            let extent = item.extent();
            all.depth = all.depth.max(extent.depth);
            all.weight = all.weight.saturating_add(extent.weight);
        }
        Extent { depth: all.depth + 1, weight: all.weight }
    }
}

impl Datum {
    /// A text.
    pub(crate) fn text(text: impl Into<Name>) -> Datum {
        Datum::Text(text.into())
    }

    /// Items that can be a key.
    pub(crate) fn tuple(items: Vec<Datum>) -> Datum {
        let extent = Extent::around(&items);
        Datum::List(Rc::new(List { items, tuple: true, extent }))
    }

    /// Items that can be no key.
    pub(crate) fn list(items: Vec<Datum>) -> Datum {
        let extent = Extent::around(&items);
        Datum::List(Rc::new(List { items, tuple: false, extent }))
    }

    /// A map that can be a key.
    pub(crate) fn map(entries: Entries) -> Datum {
        let extent = Extent::around(entries.values());
        Datum::Map(Rc::new(Map { entries, frozen: true, extent }))
    }

    /// A map that can be no key.
    pub(crate) fn open_map(entries: Entries) -> Datum {
        let extent = Extent::around(entries.values());
        Datum::Map(Rc::new(Map { entries, frozen: false, extent }))
    }

    /// A set.
    pub(crate) fn set(items: Keys) -> Datum {
        let extent = Extent::around(items.iter().map(|key| &key.value));
        Datum::Set(Rc::new(Set { items, extent }))
    }

    /// An integer of any size.
    pub(crate) fn integer(value: BigInt) -> Datum {
        match i64::try_from(&value) {
            Ok(value) => Datum::Int(value),
            Err(_) => Datum::Big(Rc::new(value)),
        }
    }

    /// A count of things in memory.
    pub(crate) fn count(value: usize) -> Datum {
        Datum::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// How large it is all the way down, as far as that is known without looking.
    pub(crate) fn extent(&self) -> Extent {
        let depth = match self {
            Datum::List(list) => return list.extent,
            Datum::Map(map) | Datum::View(_, map) => return map.extent,
            Datum::Set(set) => return set.extent,
            Datum::Rule(rule) => return Extent::around([&rule.0, &rule.1]),
            Datum::Stream(stream) => stream.depth(),
            Datum::Memory(memory) => memory.depth(),
            Datum::Ordering(ordering) => ordering.depth(),
            Datum::Scope(scope) => scope.depth(),
            Datum::Lambda(lambda) => lambda.depth(),
            _ => 0,
        };
        Extent { depth, weight: 1 }
    }

    /// How deeply it is nested; taking it down may recurse so often.
    pub(crate) fn depth(&self) -> u32 {
        self.extent().depth
    }

    /// How many bytes it counts for, without what is in it.
    pub(crate) fn size(&self) -> usize {
        match self {
            Datum::Text(text) => 49 + text.len(),
            Datum::Big(value) => 24 + (value.bits() / 30 * 4) as usize,
            Datum::List(list) => 56 + 8 * list.items.len(),
            Datum::Map(map) if !map.frozen => 56 + 8 * map.entries.len(),
            Datum::Set(set) => 56 + 8 * set.items.len(),
            Datum::Map(_) | Datum::View(..) | Datum::Stream(_) | Datum::Memory(_) | Datum::Ordering(_) => 56,
            _ => 28,
        }
    }

    /// Whether Python takes it for true.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Datum::Null => false,
            Datum::Bool(value) => *value,
            Datum::Int(value) => *value != 0,
            Datum::Float(value) => *value != 0.0,
            Datum::Text(text) => !text.is_empty(),
            Datum::List(list) => !list.items.is_empty(),
            Datum::Map(map) | Datum::View(_, map) => !map.entries.is_empty(),
            Datum::Set(set) => !set.items.is_empty(),
            Datum::Timespan(span) => *span != Timespan::ZERO,
            _ => true,
        }
    }

    /// The integer; booleans are 0 and 1.
    pub(crate) fn exact(&self) -> Option<BigInt> {
        match self {
            Datum::Bool(value) => Some(BigInt::from(u8::from(*value))),
            Datum::Int(value) => Some(BigInt::from(*value)),
            Datum::Big(value) => Some(BigInt::clone(value)),
            _ => None,
        }
    }

    /// The integer, or the nearest one that 64 bits hold; booleans are 0 and 1.
    pub(crate) fn index(&self) -> Option<i64> {
        match self {
            Datum::Bool(value) => Some(i64::from(*value)),
            Datum::Int(value) => Some(*value),
            Datum::Big(value) => Some(if value.sign() == python::Sign::Minus { i64::MIN } else { i64::MAX }),
            _ => None,
        }
    }

    /// Whether it is Python's `int`; booleans are.
    pub(crate) fn is_int(&self) -> bool {
        matches!(self, Datum::Bool(_) | Datum::Int(_) | Datum::Big(_))
    }

    /// Whether it is a number; booleans are none.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Datum::Int(_) | Datum::Big(_) | Datum::Float(_))
    }

    /// Whether it is a collection of items: no text and no map.
    pub(crate) fn is_iterable(&self) -> bool {
        matches!(
            self,
            Datum::List(_) | Datum::Set(_) | Datum::View(..) | Datum::Stream(_) | Datum::Memory(_) | Datum::Ordering(_)
        )
    }

    /// Whether it is a set, or acts as one.
    pub(crate) fn is_set(&self) -> bool {
        matches!(self, Datum::Set(_) | Datum::View(View::Keys | View::Entries, _))
    }

    /// Whether it is taken apart while it is iterated.
    pub(crate) fn is_iterator(&self) -> bool {
        matches!(self, Datum::Stream(_) | Datum::Memory(_))
    }

    /// The name of its type in Python, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Datum::Null => "NoneType",
            Datum::Absent => "object",
            Datum::Bool(_) => "bool",
            Datum::Int(_) | Datum::Big(_) => "int",
            Datum::Float(_) => "float",
            Datum::Text(_) => "str",
            Datum::List(list) if list.tuple => "tuple",
            Datum::List(_) => "list",
            Datum::Map(map) if map.frozen => "FrozenDict",
            Datum::Map(_) => "dict",
            Datum::Set(_) => "frozenset",
            Datum::View(View::Keys, _) => "KeysView",
            Datum::View(View::Values, _) => "ValuesView",
            Datum::View(View::Entries, _) => "ItemsView",
            Datum::Stream(_) | Datum::Memory(_) => "generator",
            Datum::Ordering(_) => "OrderingIterable",
            Datum::Regex(_) => "re.Pattern",
            Datum::Moment(_) => "datetime.datetime",
            Datum::Timespan(_) => "datetime.timedelta",
            Datum::Scope(_) => "Context",
            Datum::Rule(_) => "MappingRule",
            Datum::Lambda(_) => "function",
        }
    }
}
