//! What a function takes: its parameters, and which values fit them.

use crate::model::Datum;

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anything.
    Any,
    /// Null and nothing else.
    Null,
    /// True or false.
    Bool,
    /// An integer; true and false count as 1 and 0.
    Int,
    /// An integer that is no boolean.
    Integer,
    /// An integer or a float, no boolean.
    Number,
    /// Text.
    Text,
    /// A list, set or sequence; no text and no map.
    Iterable,
    /// A list or sequence.
    Ordered,
    /// A list.
    Sequence,
    /// A map.
    Map,
    /// A set, or the keys or entries of a map.
    Set,
    /// A sequence.
    Iterator,
    /// What `orderBy` gives.
    Ordering,
    /// A compiled regular expression.
    Regex,
    /// A point in time.
    Datetime,
    /// A length of time.
    Timespan,
    /// What `let` and its like give.
    Context,
    /// `a => b`.
    Rule,
    /// `a => b`, both sides evaluated only when needed.
    LazyRule,
    /// An expression that is evaluated for every item.
    Lambda,
}

const KINDS: [(&str, Kind); 21] = [
    ("any", Kind::Any),
    ("null", Kind::Null),
    ("bool", Kind::Bool),
    ("int", Kind::Int),
    ("integer", Kind::Integer),
    ("number", Kind::Number),
    ("text", Kind::Text),
    ("iterable", Kind::Iterable),
    ("ordered", Kind::Ordered),
    ("sequence", Kind::Sequence),
    ("map", Kind::Map),
    ("set", Kind::Set),
    ("iterator", Kind::Iterator),
    ("ordering", Kind::Ordering),
    ("regex", Kind::Regex),
    ("datetime", Kind::Datetime),
    ("timespan", Kind::Timespan),
    ("context", Kind::Context),
    ("rule", Kind::Rule),
    ("rules", Kind::LazyRule),
    ("lambda", Kind::Lambda),
];

/// What a parameter is when no argument is given for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// Null.
    Null,
    /// False or true.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Nothing, which the function tells from null.
    Absent,
    /// No time at all.
    NoTime,
}

/// How a parameter takes its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One argument, by position or name.
    One,
    /// All further arguments without a name.
    Rest,
    /// All further arguments with a name.
    Named,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, under which an argument can be given.
    pub name: &'static str,
    /// How it takes arguments.
    pub place: Place,
    /// What fits.
    pub kind: Kind,
    /// Whether null fits as well.
    pub nullable: bool,
    /// What it is without an argument; `None` if there must be one.
    pub default: Option<Default>,
}

impl Default {
    pub(crate) fn value(self) -> Datum {
        match self {
            Default::Null => Datum::Null,
            Default::Bool(value) => Datum::Bool(value),
            Default::Int(value) => Datum::Int(value),
            Default::Absent => Datum::Absent,
            Default::NoTime => Datum::Timespan(crate::dates::Timespan::ZERO),
        }
    }
}

/// The parameters that a signature lists: `collection: iterable, count: int = 1, *others: any?, **named: any?`.
/// `None` if it is no signature.
pub(crate) fn parse(signature: &'static str) -> Option<Vec<Parameter>> {
    signature.split(", ").filter(|part| !part.is_empty()).map(parameter).collect()
}

fn parameter(text: &'static str) -> Option<Parameter> {
    let (name, rest) = text.split_once(": ")?;
    let (kind, default) = match rest.split_once(" = ") {
        Some((kind, default)) => (kind, Some(default)),
        None => (rest, None),
    };
    let (name, place) = match (name.strip_prefix("**"), name.strip_prefix('*')) {
        (Some(name), _) => (name, Place::Named),
        (_, Some(name)) => (name, Place::Rest),
        _ => (name, Place::One),
    };
    let (kind, nullable) = match kind.strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind = KINDS.iter().find(|(word, _)| *word == kind)?.1;
    let default = match default {
        None => None,
        Some("null") => Some(Default::Null),
        Some("true") => Some(Default::Bool(true)),
        Some("false") => Some(Default::Bool(false)),
        Some("absent") => Some(Default::Absent),
        Some("0s") => Some(Default::NoTime),
        Some(number) => Some(Default::Int(number.parse().ok()?)),
    };
    Some(Parameter { name, place, kind, nullable: nullable || kind == Kind::Lambda, default })
}

impl Kind {
    /// The word for it in a signature.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("any", |(word, _)| word)
    }

    /// Whether its argument is not evaluated before the call.
    pub(crate) fn is_lazy(self) -> bool {
        matches!(self, Kind::Lambda | Kind::LazyRule)
    }

    /// Whether a value other than null fits.
    pub(crate) fn fits(self, value: &Datum) -> bool {
        match self {
            Kind::Any | Kind::Lambda => true,
            Kind::Null | Kind::LazyRule => false,
            Kind::Bool => matches!(value, Datum::Bool(_)),
            Kind::Int => value.is_int(),
            Kind::Integer => matches!(value, Datum::Int(_) | Datum::Big(_)),
            Kind::Number => value.is_number(),
            Kind::Text => matches!(value, Datum::Text(_)),
            Kind::Iterable => value.is_iterable(),
            Kind::Ordered => value.is_iterable() && !value.is_set(),
            Kind::Sequence => matches!(value, Datum::List(_)),
            Kind::Map => matches!(value, Datum::Map(_)),
            Kind::Set => value.is_set(),
            Kind::Iterator => value.is_iterator(),
            Kind::Ordering => matches!(value, Datum::Ordering(_)),
            Kind::Regex => matches!(value, Datum::Regex(_)),
            Kind::Datetime => matches!(value, Datum::Moment(_)),
            Kind::Timespan => matches!(value, Datum::Timespan(_)),
            Kind::Context => matches!(value, Datum::Scope(_)),
            Kind::Rule => matches!(value, Datum::Rule(_)),
        }
    }

    /// Whether every value that fits this one fits the other, and not the other way round.
    pub(crate) fn is_narrower_than(self, other: Kind) -> bool {
        match (self, other) {
            (Kind::Any | Kind::Lambda | Kind::LazyRule, _) => false,
            (_, Kind::Any) => true,
            (Kind::Bool, Kind::Int | Kind::Integer) => true,
            (
                Kind::Sequence | Kind::Set | Kind::Iterator | Kind::Ordering | Kind::Map,
                Kind::Iterable | Kind::Ordered,
            ) => true,
            _ => false,
        }
    }
}

impl Parameter {
    /// Whether a value fits.
    pub(crate) fn fits(&self, value: &Datum) -> bool {
        match value {
            Datum::Null => self.nullable,
            value => self.kind.fits(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_lists_parameters() {
        let parameters =
            parse("collection: iterable, count: int? = -1, *others: any?, **named: any").expect("a signature");
        let shown: Vec<_> =
            parameters.iter().map(|one| (one.name, one.place, one.kind, one.nullable, one.default)).collect();
        assert_eq!(
            shown,
            [
                ("collection", Place::One, Kind::Iterable, false, None),
                ("count", Place::One, Kind::Int, true, Some(Default::Int(-1))),
                ("others", Place::Rest, Kind::Any, true, None),
                ("named", Place::Named, Kind::Any, false, None),
            ]
        );
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("x: nothing"), None);
    }
}
