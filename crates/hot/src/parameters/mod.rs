//! Parameters: their schemas, their values, and the rules for values (decisions/heat#parameters).
//!
//! A [`HotParameterSchema`] is parsed once from the map under a parameter's name;
//! [`HotParameterSchema::value`] converts a given value to the value that functions see. Properties
//! use the same kinds of constraints and values (decisions/heat#types-of-properties).
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
pub use convert::{check_immutable, child_parameter_value};
pub use custom::Custom;
pub use property::property;
pub use schema::HotParameterSchema;

use super::functions::kind as kind_of;

/// The kinds of values of parameters and properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Text.
    String,
    /// An integer or a float.
    Number,
    /// An integer. Only properties have this kind.
    Integer,
    /// A boolean.
    Boolean,
    /// A list. As a parameter, a list of texts.
    List,
    /// A map. As a parameter, any JSON.
    Map,
    /// Any value. Only properties have this kind.
    Any,
}

/// The types of parameters, by their written names.
const TYPES: [(&str, ParameterKind); 5] = [
    ("string", ParameterKind::String),
    ("number", ParameterKind::Number),
    ("comma_delimited_list", ParameterKind::List),
    ("json", ParameterKind::Map),
    ("boolean", ParameterKind::Boolean),
];

impl ParameterKind {
    /// The kind for the `type` of a parameter.
    pub fn of_parameter(name: &str) -> Option<ParameterKind> {
        TYPES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }

    /// Heat's name of the kind for properties.
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

    /// The written type of a parameter; for a kind that only properties have, Heat's name.
    pub fn parameter_name(self) -> &'static str {
        let known = TYPES
            .iter()
            .find(|(_, kind)| *kind == self)
            .map(|(name, _)| *name);
        known.unwrap_or(if self == ParameterKind::Integer {
            "Integer"
        } else {
            "Any"
        })
    }
}

#[cfg(test)]
mod tests;
