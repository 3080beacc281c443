//! Parameters of functions and their types.

use crate::model::Datum;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// Anything.
    Any,
    /// Null only.
    Null,
    /// True or false.
    Bool,
    /// An integer; true and false count as 1 and 0.
    Int,
    /// An integer; booleans do not count.
    Integer,
    /// An integer or a float; booleans do not count.
    Number,
    /// Text.
    Text,
    /// A list, set or sequence; text and maps do not count.
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
    /// The result of `orderBy`.
    Ordering,
    /// A compiled regular expression.
    Regex,
    /// A point in time.
    Datetime,
    /// A length of time.
    Timespan,
    /// The result of `let` and similar functions.
    Context,
    /// `a => b`.
    Rule,
    /// `a => b`, with both sides evaluated only when needed.
    LazyRule,
    /// An expression that is evaluated for every item.
    Lambda,
}

const KINDS: [(&str, ParameterType); 21] = [
    ("any", ParameterType::Any),
    ("null", ParameterType::Null),
    ("bool", ParameterType::Bool),
    ("int", ParameterType::Int),
    ("integer", ParameterType::Integer),
    ("number", ParameterType::Number),
    ("text", ParameterType::Text),
    ("iterable", ParameterType::Iterable),
    ("ordered", ParameterType::Ordered),
    ("sequence", ParameterType::Sequence),
    ("map", ParameterType::Map),
    ("set", ParameterType::Set),
    ("iterator", ParameterType::Iterator),
    ("ordering", ParameterType::Ordering),
    ("regex", ParameterType::Regex),
    ("datetime", ParameterType::Datetime),
    ("timespan", ParameterType::Timespan),
    ("context", ParameterType::Context),
    ("rule", ParameterType::Rule),
    ("rules", ParameterType::LazyRule),
    ("lambda", ParameterType::Lambda),
];

/// The value of a parameter without an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// Null.
    Null,
    /// False or true.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// No value, which the function distinguishes from null.
    Absent,
    /// A timespan of zero.
    NoTime,
}

/// The number of arguments that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterPlace {
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
    /// The name, also for named arguments.
    pub name: &'static str,
    /// The number of arguments that the parameter takes.
    pub place: ParameterPlace,
    /// The type.
    pub kind: ParameterType,
    /// Whether null fits too.
    pub nullable: bool,
    /// The value if there is no argument; `None` if an argument is required.
    pub default: Option<DefaultValue>,
}

impl DefaultValue {
    pub(crate) fn value(self) -> Datum {
        match self {
            DefaultValue::Null => Datum::Null,
            DefaultValue::Bool(value) => Datum::Bool(value),
            DefaultValue::Int(value) => Datum::Int(value),
            DefaultValue::Absent => Datum::Absent,
            DefaultValue::NoTime => Datum::Timespan(crate::dates::Timespan::ZERO),
        }
    }
}

/// Parses the parameters of a signature: `collection: iterable, count: int = 1, *others: any?,
/// **named: any?`. Returns `None` if the text is not a signature.
pub(crate) fn parse(signature: &'static str) -> Option<Vec<Parameter>> {
    signature
        .split(", ")
        .filter(|part| !part.is_empty())
        .map(parameter)
        .collect()
}

fn parameter(text: &'static str) -> Option<Parameter> {
    let (name, rest) = text.split_once(": ")?;
    let (kind, default) = match rest.split_once(" = ") {
        Some((kind, default)) => (kind, Some(default)),
        None => (rest, None),
    };
    let (name, place) = match (name.strip_prefix("**"), name.strip_prefix('*')) {
        (Some(name), _) => (name, ParameterPlace::Named),
        (_, Some(name)) => (name, ParameterPlace::Rest),
        _ => (name, ParameterPlace::One),
    };
    let (kind, nullable) = match kind.strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind = KINDS.iter().find(|(word, _)| *word == kind)?.1;
    let default = match default {
        None => None,
        Some("null") => Some(DefaultValue::Null),
        Some("true") => Some(DefaultValue::Bool(true)),
        Some("false") => Some(DefaultValue::Bool(false)),
        Some("absent") => Some(DefaultValue::Absent),
        Some("0s") => Some(DefaultValue::NoTime),
        Some(number) => Some(DefaultValue::Int(number.parse().ok()?)),
    };
    Some(Parameter {
        name,
        place,
        kind,
        nullable: nullable || kind == ParameterType::Lambda,
        default,
    })
}

impl ParameterType {
    /// The name of the type in a signature.
    pub fn word(self) -> &'static str {
        KINDS
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("any", |(word, _)| word)
    }

    /// Whether the argument is not evaluated before the call.
    pub(crate) fn is_lazy(self) -> bool {
        matches!(self, ParameterType::Lambda | ParameterType::LazyRule)
    }

    /// Whether a value other than null fits.
    pub(crate) fn fits(self, value: &Datum) -> bool {
        match self {
            ParameterType::Any | ParameterType::Lambda => true,
            ParameterType::Null | ParameterType::LazyRule => false,
            ParameterType::Bool => matches!(value, Datum::Bool(_)),
            ParameterType::Int => value.is_int(),
            ParameterType::Integer => matches!(value, Datum::Int(_) | Datum::Big(_)),
            ParameterType::Number => value.is_number(),
            ParameterType::Text => matches!(value, Datum::Text(_)),
            ParameterType::Iterable => value.is_iterable(),
            ParameterType::Ordered => value.is_iterable() && !value.is_set(),
            ParameterType::Sequence => matches!(value, Datum::List(_)),
            ParameterType::Map => matches!(value, Datum::Map(_)),
            ParameterType::Set => value.is_set(),
            ParameterType::Iterator => value.is_iterator(),
            ParameterType::Ordering => matches!(value, Datum::Ordering(_)),
            ParameterType::Regex => matches!(value, Datum::Regex(_)),
            ParameterType::Datetime => matches!(value, Datum::Moment(_)),
            ParameterType::Timespan => matches!(value, Datum::Timespan(_)),
            ParameterType::Context => matches!(value, Datum::Scope(_)),
            ParameterType::Rule => matches!(value, Datum::Rule(_)),
        }
    }

    /// Whether this type is a strict subset of the other.
    pub(crate) fn is_narrower_than(self, other: ParameterType) -> bool {
        match (self, other) {
            (ParameterType::Any | ParameterType::Lambda | ParameterType::LazyRule, _) => false,
            (_, ParameterType::Any) => true,
            (ParameterType::Bool, ParameterType::Int | ParameterType::Integer) => true,
            (
                ParameterType::Sequence
                | ParameterType::Set
                | ParameterType::Iterator
                | ParameterType::Ordering
                | ParameterType::Map,
                ParameterType::Iterable | ParameterType::Ordered,
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
    fn signature_is_parsed_into_parameters() {
        let parameters =
            parse("collection: iterable, count: int? = -1, *others: any?, **named: any")
                .expect("a signature");
        let shown: Vec<_> = parameters
            .iter()
            .map(|one| (one.name, one.place, one.kind, one.nullable, one.default))
            .collect();
        assert_eq!(
            shown,
            [
                (
                    "collection",
                    ParameterPlace::One,
                    ParameterType::Iterable,
                    false,
                    None
                ),
                (
                    "count",
                    ParameterPlace::One,
                    ParameterType::Int,
                    true,
                    Some(DefaultValue::Int(-1))
                ),
                (
                    "others",
                    ParameterPlace::Rest,
                    ParameterType::Any,
                    true,
                    None
                ),
                (
                    "named",
                    ParameterPlace::Named,
                    ParameterType::Any,
                    false,
                    None
                ),
            ]
        );
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("x: nothing"), None);
    }
}
