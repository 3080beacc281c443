//! Parameters: their schemas, their values, and the rules that values keep (decision Heat 4).
//!
//! A [`HotParameterSchema`] is read once from the map that is written under a parameter's name;
//! [`HotParameterSchema::value`] gives what functions see of a value given for it. The kinds of constraints and of
//! values are those of properties too (decision Heat 9.3).
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

pub use constraint::{ParameterConstraint, Rule};
pub use convert::{passed, unchanged};
pub use custom::Custom;
pub use property::property;
pub use schema::HotParameterSchema;

use super::functions::kind as kind_of;

/// The kinds of values that parameters and properties have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
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
const TYPES: [(&str, ParameterKind); 5] = [
    ("string", ParameterKind::String),
    ("number", ParameterKind::Number),
    ("comma_delimited_list", ParameterKind::List),
    ("json", ParameterKind::Map),
    ("boolean", ParameterKind::Boolean),
];

impl ParameterKind {
    /// The kind that a parameter's `type` names.
    pub fn of_parameter(name: &str) -> Option<ParameterKind> {
        TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// How Heat calls the kind as that of a property.
    pub fn property_name(self) -> &'static str {
        match self {
            ParameterKind::String => "String",
            ParameterKind::Number => "Number",
            ParameterKind::Integer => "Integer",
            ParameterKind::Boolean => "Boolean",
            ParameterKind::List => "List",
            ParameterKind::Map => "Map",
            ParameterKind::Any => "Any",
        }
    }

    /// How a parameter's type is written; for a kind that only properties have, how Heat calls that.
    pub fn parameter_name(self) -> &'static str {
        let known = TYPES.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name);
        known.unwrap_or(if self == ParameterKind::Integer { "Integer" } else { "Any" })
    }
}

#[cfg(test)]
mod tests;
