//! Parameters: their schemas, their values, and the rules that values keep (decision Heat 4).
//!
//! A [`Schema`] is read once from the map that is written under a parameter's name; [`Schema::value`] gives what
//! functions see of a value given for it. The kinds of constraints and of values are those of properties too (decision
//! Heat 9.3).
//!
//! Not here: pseudo-parameters and groups, which have no schema; environments (`environment`).

pub mod codes;
mod constraint;
mod convert;
mod custom;
mod moments;
mod property;
mod scalars;
mod schema;

pub use constraint::{Constraint, Rule};
pub use convert::{passed, unchanged};
pub use custom::Custom;
pub use property::property;
pub use schema::Schema;

use super::functions::kind as kind_of;

/// The kinds of values that parameters and properties have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    String,
    /// An integer or a float.
    Number,
    /// An integer: properties only.
    Integer,
    /// A boolean.
    Boolean,
    /// A list: as a parameter, of texts.
    List,
    /// A map: as a parameter, any JSON.
    Map,
    /// Anything: properties only.
    Any,
}

/// The types of parameters, by the names under which they are written.
const TYPES: [(&str, Kind); 5] = [
    ("string", Kind::String),
    ("number", Kind::Number),
    ("comma_delimited_list", Kind::List),
    ("json", Kind::Map),
    ("boolean", Kind::Boolean),
];

impl Kind {
    /// The kind that a parameter's `type` names.
    pub fn of_parameter(name: &str) -> Option<Kind> {
        TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// How Heat calls the kind as that of a property.
    pub fn property_name(self) -> &'static str {
        match self {
            Kind::String => "String",
            Kind::Number => "Number",
            Kind::Integer => "Integer",
            Kind::Boolean => "Boolean",
            Kind::List => "List",
            Kind::Map => "Map",
            Kind::Any => "Any",
        }
    }

    /// How a parameter's type is written; for a kind that only properties have, how Heat calls that.
    pub fn parameter_name(self) -> &'static str {
        let known = TYPES.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name);
        known.unwrap_or(if self == Kind::Integer { "Integer" } else { "Any" })
    }
}

#[cfg(test)]
mod tests;
