//! Constructors and properties of values.
//!
//! Users can see that Python has lists and tuples, dictionaries and frozen ones: a list equals no
//! tuple, has another text, and cannot be a key of a map. For this reason there are values of both
//! kinds.

use std::rc::Rc;

use blueprint::Name;
use pycompat::BigInt;

use crate::dates::Timespan;
use crate::model::{Datum, DatumEntries, DatumList, DatumMap, DatumSet, Extent, Keys, View};
use crate::tree::Constant;

impl Extent {
    /// The extent of a container with these values.
    pub(crate) fn around<'a>(items: impl IntoIterator<Item = &'a Datum>) -> Extent {
        let mut all = Extent {
            depth: 0,
            weight: 1,
        };
        for item in items {
            let extent = item.extent();
            all.depth = all.depth.max(extent.depth);
            all.weight = all.weight.saturating_add(extent.weight);
        }
        Extent {
            depth: all.depth + 1,
            weight: all.weight,
        }
    }
}

impl Datum {
    /// Creates a text.
    pub(crate) fn text(text: impl Into<Name>) -> Datum {
        Datum::Text(text.into())
    }

    /// Creates a tuple, which can be a key.
    pub(crate) fn tuple(items: Vec<Datum>) -> Datum {
        let extent = Extent::around(&items);
        Datum::List(Rc::new(DatumList {
            items,
            tuple: true,
            extent,
        }))
    }

    /// Creates a list, which cannot be a key.
    pub(crate) fn list(items: Vec<Datum>) -> Datum {
        let extent = Extent::around(&items);
        Datum::List(Rc::new(DatumList {
            items,
            tuple: false,
            extent,
        }))
    }

    /// Creates a frozen map, which can be a key.
    pub(crate) fn map(entries: DatumEntries) -> Datum {
        let extent = Extent::around(entries.values());
        Datum::Map(Rc::new(DatumMap {
            entries,
            frozen: true,
            extent,
        }))
    }

    /// Creates a mutable map, which cannot be a key.
    pub(crate) fn open_map(entries: DatumEntries) -> Datum {
        let extent = Extent::around(entries.values());
        Datum::Map(Rc::new(DatumMap {
            entries,
            frozen: false,
            extent,
        }))
    }

    /// Creates a set.
    pub(crate) fn set(items: Keys) -> Datum {
        let extent = Extent::around(items.iter().map(|key| &key.value));
        Datum::Set(Rc::new(DatumSet { items, extent }))
    }

    /// Creates an integer of any size.
    pub(crate) fn integer(value: BigInt) -> Datum {
        match i64::try_from(&value) {
            Ok(value) => Datum::Int(value),
            Err(_) => Datum::Big(Rc::new(value)),
        }
    }

    /// Creates an integer from a count.
    pub(crate) fn count(value: usize) -> Datum {
        Datum::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// The nested size, as far as it is known without iterating.
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

    /// The levels of nesting, which bound the recursion of a drop.
    pub(crate) fn depth(&self) -> u32 {
        self.extent().depth
    }

    /// The size in bytes that counts against the limit, without the items
    /// (decisions/yaql#sizes-in-memory).
    pub(crate) fn size(&self) -> usize {
        match self {
            Datum::Text(text) => 49 + text.len(),
            Datum::Big(value) => 24 + (value.bits() / 30 * 4) as usize,
            Datum::List(list) => 56 + 8 * list.items.len(),
            Datum::Map(map) if !map.frozen => 56 + 8 * map.entries.len(),
            Datum::Set(set) => 56 + 8 * set.items.len(),
            Datum::Map(_)
            | Datum::View(..)
            | Datum::Stream(_)
            | Datum::Memory(_)
            | Datum::Ordering(_) => 56,
            _ => 28,
        }
    }

    /// Whether Python treats the value as true.
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

    /// The exact integer; booleans are 0 and 1. `None` for other values.
    pub(crate) fn exact(&self) -> Option<BigInt> {
        match self {
            Datum::Bool(value) => Some(BigInt::from(u8::from(*value))),
            Datum::Int(value) => Some(BigInt::from(*value)),
            Datum::Big(value) => Some(BigInt::clone(value)),
            _ => None,
        }
    }

    /// The integer, or the nearest one that fits 64 bits; booleans are 0 and 1. `None` for other
    /// values.
    pub(crate) fn index(&self) -> Option<i64> {
        match self {
            Datum::Bool(value) => Some(i64::from(*value)),
            Datum::Int(value) => Some(*value),
            Datum::Big(value) => Some(if value.sign() == pycompat::Sign::Minus {
                i64::MIN
            } else {
                i64::MAX
            }),
            _ => None,
        }
    }

    /// Whether the value is Python's `int`, which includes booleans.
    pub(crate) fn is_int(&self) -> bool {
        matches!(self, Datum::Bool(_) | Datum::Int(_) | Datum::Big(_))
    }

    /// Whether the value is a number; booleans are not numbers.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Datum::Int(_) | Datum::Big(_) | Datum::Float(_))
    }

    /// Whether the value is a collection of items; text and maps are not collections.
    pub(crate) fn is_iterable(&self) -> bool {
        matches!(
            self,
            Datum::List(_)
                | Datum::Set(_)
                | Datum::View(..)
                | Datum::Stream(_)
                | Datum::Memory(_)
                | Datum::Ordering(_)
        )
    }

    /// Whether the value is a set, or a view that acts as a set.
    pub(crate) fn is_set(&self) -> bool {
        matches!(
            self,
            Datum::Set(_) | Datum::View(View::Keys | View::Entries, _)
        )
    }

    /// Whether the value is a lazy sequence.
    pub(crate) fn is_iterator(&self) -> bool {
        matches!(self, Datum::Stream(_) | Datum::Memory(_))
    }

    /// The name of the value's type in Python, for messages.
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

impl Constant {
    pub(crate) fn value(&self) -> Datum {
        match self {
            Constant::Null => Datum::Null,
            Constant::Bool(value) => Datum::Bool(*value),
            Constant::Int(value) => Datum::Int(*value),
            Constant::Big(value) => Datum::integer(value.clone()),
            Constant::Float(value) => Datum::Float(*value),
            Constant::Text(text) => Datum::Text(text.clone()),
        }
    }
}
