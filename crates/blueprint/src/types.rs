//! The types of values. The documentation of a variant gives its name in the blueprint dialect.
//!
//! Not here: conversion of values and types (`expr`); types that a provider defines
//! (`provider::CustomType`).

use std::fmt;
use std::sync::Arc;

use crate::Name;
use crate::map::IndexMap;

/// The type of an input, of a provider's field, of a function's argument or result, or of an
/// expression.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Type {
    /// `any`: the check waits until the value is known.
    Any,
    /// `none`.
    Null,
    /// `boolean`.
    Bool,
    /// `integer`.
    Int,
    /// `float`.
    Float,
    /// `string`.
    Text,
    /// `binary`.
    Bytes,
    /// `array`: items of one type.
    List(Arc<Type>),
    /// `map`: any keys, values of one type.
    Map(Arc<Type>),
    /// `object`: known keys, each with its own type.
    Object(Arc<ObjectType>),
    /// One of several types. Two unions with a different order are not equal.
    Union(Arc<[Type]>),
    /// `function`.
    Function,
    /// The type of an expression whose error has been reported. It is compatible with every type
    /// and causes no second diagnostic.
    Error,
}

/// The known keys of an object.
#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct ObjectType {
    /// The type of the value of each key.
    pub fields: IndexMap<Name, Type>,
}

impl Type {
    /// An array type with items of a type.
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    /// A map type with values of a type.
    pub fn map(value: Type) -> Type {
        Type::Map(Arc::new(value))
    }

    /// An object type with these fields.
    pub fn object(fields: impl IntoIterator<Item = (Name, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType {
            fields: fields.into_iter().collect(),
        }))
    }

    /// The union of types: the members of unions instead of the unions themselves, without
    /// duplicates, in order. If `Error` is among the types, the union is `Error`; otherwise, if
    /// `Any` is among them, it is `Any`. The union of one type is that type.
    pub fn union(types: impl IntoIterator<Item = Type>) -> Type {
        let mut flat: Vec<Type> = Vec::new();
        for ty in types {
            match ty {
                Type::Union(inner) => {
                    for ty in inner.iter() {
                        if !flat.contains(ty) {
                            flat.push(ty.clone());
                        }
                    }
                }
                other if !flat.contains(&other) => flat.push(other),
                _ => {}
            }
        }
        if flat.contains(&Type::Error) {
            return Type::Error;
        }
        if flat.contains(&Type::Any) {
            return Type::Any;
        }
        if flat.len() == 1 {
            flat.remove(0)
        } else {
            Type::Union(flat.into())
        }
    }

    /// The union of integer and float.
    pub fn number() -> Type {
        Type::union([Type::Int, Type::Float])
    }

    /// The members of a union. For any other type: the type as the only member.
    pub fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(types) => types,
            other => std::slice::from_ref(other),
        }
    }

    /// Whether the type gives no information about the value: `Any` or `Error`.
    pub fn is_open(&self) -> bool {
        matches!(self, Type::Any | Type::Error)
    }

    /// Whether a value can belong to both types without conversion. Integer and float do not
    /// overlap. Two lists always overlap, and so do a map and an object, two maps, or two objects.
    pub fn overlaps(&self, other: &Type) -> bool {
        if self.is_open() || other.is_open() {
            return true;
        }
        self.alternatives()
            .iter()
            .any(|a| other.alternatives().iter().any(|b| a.overlaps_one(b)))
    }

    fn overlaps_one(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Any | Type::Error, _) | (_, Type::Any | Type::Error) => true,
            // An empty list or map belongs to every list or map type.
            (Type::List(_), Type::List(_)) => true,
            (Type::Map(_) | Type::Object(_), Type::Map(_) | Type::Object(_)) => true,
            (Type::Union(_), _) | (_, Type::Union(_)) => self.overlaps(other),
            (a, b) => a == b,
        }
    }
}

/// Writes the type as the blueprint dialect does: `string`, `array of integer`,
/// `string or integer`. An object is `object` without its keys.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any | Type::Error => f.write_str("any"),
            Type::Null => f.write_str("none"),
            Type::Bool => f.write_str("boolean"),
            Type::Int => f.write_str("integer"),
            Type::Float => f.write_str("float"),
            Type::Text => f.write_str("string"),
            Type::Bytes => f.write_str("binary"),
            Type::List(item) if **item == Type::Any => f.write_str("array"),
            Type::List(item) => write!(f, "array of {item}"),
            Type::Map(value) if **value == Type::Any => f.write_str("map"),
            Type::Map(value) => write!(f, "map of {value}"),
            Type::Object(_) => f.write_str("object"),
            Type::Union(types) => {
                for (at, ty) in types.iter().enumerate() {
                    write!(f, "{}{ty}", if at == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
            Type::Function => f.write_str("function"),
        }
    }
}
