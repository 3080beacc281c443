//! Converts property specifications to fields.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, Schema, SupportStatus, Value};
use serde_json::Value as Json;

use super::package::PackageSchema;

/// The maximum depth of nested object types. Deeper parts accept any value.
const DEPTH: usize = 24;

/// Reads the types of one entry of a schema. Each object type is read once. Where a type contains itself, it accepts
/// any value.
pub(super) struct FieldReader<'a> {
    package: &'a PackageSchema,
    made: IndexMap<String, Field>,
    open: Vec<String>,
}

impl<'a> FieldReader<'a> {
    pub(super) fn new(package: &'a PackageSchema) -> FieldReader<'a> {
        FieldReader { package, made: IndexMap::default(), open: Vec::new() }
    }

    /// The fields of a map of property specifications.
    pub(super) fn object(&mut self, properties: &Json, required: &Json) -> IndexMap<Name, Field> {
        let required = texts(required);
        let mut fields = IndexMap::default();
        for (name, spec) in properties.as_object().into_iter().flatten() {
            let needed = required.contains(&name.as_str());
            let field = self.property(spec);
            fields.insert(Name::from(name.as_str()), Field { required: needed, nullable: !needed, ..field });
        }
        fields
    }

    /// The field of a property specification, without `required`.
    pub(super) fn property(&mut self, spec: &Json) -> Field {
        let mut field = self.of_type(spec);
        let constant = spec.get("const").filter(|constant| !constant.is_null()).map(value);
        if let Some(constant) = &constant {
            field.allowed = vec![constant.clone()];
        }
        field.default = constant;
        field.sensitive = spec["secret"] == true;
        field.must_recreate = spec["replaceOnChanges"] == true;
        field.docs = summary(&spec["description"]);
        field.support_status = status(spec);
        field
    }

    /// The field of a type specification.
    fn of_type(&mut self, spec: &Json) -> Field {
        if let Some(reference) = spec["$ref"].as_str() {
            return self.referenced(reference);
        }
        if let Some(members) = spec["oneOf"].as_array() {
            let members: Vec<Field> = members.iter().map(|member| self.of_type(member)).collect();
            let is_open = members.is_empty() || members.iter().any(|member| matches!(member.kind, Kind::Any));
            return Field::of(if is_open { Kind::Any } else { Kind::Union(Arc::new(members)) });
        }
        Field::of(match spec["type"].as_str() {
            Some("boolean") => Kind::Boolean,
            Some("integer") => Kind::Integer,
            Some("number") => number(),
            Some("string") => Kind::String,
            Some("array") => Kind::Array(Arc::new(self.item(&spec["items"]))),
            Some("object") => {
                let values = match spec.get("additionalProperties") {
                    Some(values) => self.item(values),
                    // Without a type, the values are texts.
                    None => Field { nullable: true, ..Field::of(Kind::String) },
                };
                Kind::Map(Arc::new(values))
            }
            _ => Kind::Any,
        })
    }

    fn item(&mut self, spec: &Json) -> Field {
        Field { nullable: true, ..self.of_type(spec) }
    }

    fn referenced(&mut self, reference: &str) -> Field {
        let any = || Field::of(Kind::Any);
        // Types of other packages, resources, assets and archives accept any value; the plugin decides.
        let Some(token) = reference.strip_prefix("#/types/") else { return any() };
        let token = decoded(token);
        if let Some(made) = self.made.get(&token) {
            return made.clone();
        }
        if self.open.len() >= DEPTH || self.open.contains(&token) {
            return any();
        }
        let Some(spec) = self.package.object_type(&token) else { return any() };
        self.open.push(token.clone());
        let field = match spec["enum"].as_array() {
            Some(members) => {
                let allowed = members.iter().map(|member| value(&member["value"])).collect();
                Field { allowed, ..self.of_type(&serde_json::json!({"type": spec["type"]})) }
            }
            None => {
                let fields = self.object(&spec["properties"], &spec["required"]);
                let open = spec.get("properties").is_none();
                Field::of(Kind::Object(Arc::new(Schema { fields, open })))
            }
        };
        self.open.pop();
        self.made.insert(token, field.clone());
        field
    }
}

fn number() -> Kind {
    Kind::Union(Arc::new(vec![Field::of(Kind::Integer), Field::of(Kind::Float)]))
}

/// Decodes the percent-encoding in a reference.
fn decoded(token: &str) -> String {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| token.to_owned())
}

/// The texts in a JSON list.
pub(super) fn texts(list: &Json) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

/// A constant of a schema.
fn value(json: &Json) -> Value {
    match json {
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .or_else(|| number.as_f64().map(Value::Float))
            .unwrap_or_else(|| Value::Decimal(number.to_string().into())),
        Json::String(text) => Value::from(text.as_str()),
        // A list or map is never a constant or a member of an enumeration.
        Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
    }
}

/// The first paragraph of a description as one line.
pub(super) fn summary(description: &Json) -> Name {
    let text = description.as_str().unwrap_or_default().trim_start();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ").into()
}

/// The support status of an entry or property.
pub(super) fn status(spec: &Json) -> SupportStatus {
    match spec["deprecationMessage"].as_str() {
        Some(message) if !message.is_empty() => SupportStatus::Deprecated,
        _ => SupportStatus::Supported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded() {
        assert_eq!(decoded("x:a%2Fb:C"), "x:a/b:C");
        assert_eq!(decoded("x:100%"), "x:100%");
        assert_eq!(decoded("%zz%"), "%zz%");
        assert_eq!(decoded("%ff"), "%ff");
    }
}
