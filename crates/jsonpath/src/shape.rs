//! The shape of a typed document. Cartographer evaluates paths over typed objects: a field that the
//! document does not have exists nevertheless if the type has it, with the zero value of its type.

use blueprint::Value;

/// What is known about a value besides the value itself.
#[derive(Debug, PartialEq)]
pub enum ValueShape {
    /// Nothing: the value is data.
    Data,
    /// A text; `""` if it is absent.
    Text,
    /// An integer; 0 if it is absent.
    Int,
    /// A boolean; false if it is absent.
    Flag,
    /// A value with nothing below it, such as a time; null if it is absent. It is printed even
    /// then.
    Opaque,
    /// Fields, each of which exists whether the document has it or not.
    Struct(&'static StructShape),
    /// Null with nothing below if it is absent, else a value of a shape.
    Optional(&'static ValueShape),
    /// A list; if it is absent, a list without elements whose value is null.
    List(&'static ValueShape),
    /// A map by key; if it is absent, a map without entries whose value is null.
    Map(&'static ValueShape),
    /// A map some of whose entries have shapes, by their keys. What is absent does not exist.
    Keyed(&'static [(&'static str, &'static ValueShape)]),
}

/// The fields of a type, in the order of their type.
#[derive(Debug, PartialEq)]
pub struct StructShape {
    /// The fields.
    pub fields: &'static [FieldShape],
}

/// A field of a type.
#[derive(Debug, PartialEq)]
pub struct FieldShape {
    /// Its name in documents. Empty: the fields of this field are fields of the outer type.
    pub name: &'static str,
    /// Its name in Cartographer's code, which is a name in paths, too.
    pub code_name: &'static str,
    /// The shape of its value.
    pub shape: ValueShape,
    /// Whether it is left out where the value is printed, if it has the zero value.
    pub omit_empty: bool,
    /// Whether the code names of the fields of this field are names of the outer type, too.
    pub embedded: bool,
}

impl FieldShape {
    /// A field that is left out if it has the zero value.
    pub const fn optional(
        name: &'static str,
        code_name: &'static str,
        shape: ValueShape,
    ) -> FieldShape {
        FieldShape {
            name,
            code_name,
            shape,
            omit_empty: true,
            embedded: false,
        }
    }

    /// A field that is always printed.
    pub const fn always(
        name: &'static str,
        code_name: &'static str,
        shape: ValueShape,
    ) -> FieldShape {
        FieldShape {
            name,
            code_name,
            shape,
            omit_empty: false,
            embedded: false,
        }
    }

    /// The same field, whose own fields have their code names in the outer type, too.
    pub const fn embedded(self) -> FieldShape {
        FieldShape {
            embedded: true,
            ..self
        }
    }
}

impl ValueShape {
    /// The value as it is printed: fields in the order of their type, without those that are left
    /// out. Data stays as it is.
    pub fn serialised(&self, value: &Value) -> Value {
        match value {
            Value::Secret(inner) => return self.serialised(inner).secret(),
            Value::Unknown(_) => return value.clone(),
            _ => {}
        }
        match (self, value) {
            (ValueShape::Text, Value::Null) => Value::from(""),
            (ValueShape::Int, Value::Null) => Value::Int(0),
            (ValueShape::Flag, Value::Null) => Value::Bool(false),
            (ValueShape::Struct(shape), Value::Null | Value::Map(_)) => {
                let fields = shape.printed(value).into_iter();
                Value::map(fields.map(|(field, child)| (field.name, field.shape.serialised(child))))
            }
            (ValueShape::Optional(shape), value) if !value.is_null() => shape.serialised(value),
            (ValueShape::List(shape), Value::List(items)) => {
                Value::list(items.iter().map(|item| shape.serialised(item)))
            }
            (ValueShape::Map(_) | ValueShape::Keyed(_), Value::Map(entries)) => Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), self.entry(key).serialised(value))),
            ),
            _ => value.clone(),
        }
    }

    /// The shape of an entry of a map.
    pub(crate) fn entry(&self, key: &str) -> &'static ValueShape {
        match self {
            ValueShape::Map(shape) => shape,
            ValueShape::Keyed(entries) => entries
                .iter()
                .find(|(name, _)| *name == key)
                .map_or(&ValueShape::Data, |(_, shape)| shape),
            _ => &ValueShape::Data,
        }
    }

    /// Whether the value is left out where empty ones are.
    fn is_empty(&self, value: &Value) -> bool {
        match (self, value.unmarked()) {
            (ValueShape::Struct(_) | ValueShape::Opaque, _) => false,
            (_, Value::Null) => true,
            (ValueShape::Text, Value::Text(text)) => text.is_empty(),
            (ValueShape::Int, Value::Int(number)) => *number == 0,
            (ValueShape::Flag, Value::Bool(flag)) => !flag,
            (ValueShape::List(_), Value::List(items)) => items.is_empty(),
            (ValueShape::Map(_), Value::Map(entries)) => entries.is_empty(),
            _ => false,
        }
    }
}

impl StructShape {
    /// The fields that are printed of a map or null, in order, with their values.
    fn printed<'a>(&self, value: &'a Value) -> Vec<(&'static FieldShape, &'a Value)> {
        let mut printed = Vec::with_capacity(self.fields.len());
        for field in self.fields {
            match field.shape {
                ValueShape::Struct(shape) if field.name.is_empty() => {
                    printed.extend(shape.printed(value));
                }
                _ => {
                    let child = value.get(field.name).unwrap_or(&Value::Null);
                    if !(field.omit_empty && field.shape.is_empty(child)) {
                        printed.push((field, child));
                    }
                }
            }
        }
        printed
    }
}
