//! Converts property specifications to fields.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, OpaqueKind, Schema, SupportStatus, Value};
use serde_json::Value as Json;

use super::package::PackageSchema;

/// The maximum depth of nested object types. Deeper parts accept any value.
const DEPTH: usize = 24;

/// The maximum number of types that are read for one entry. Further ones accept any value. Without
/// it, the number of reads could grow exponentially with the types of a cycle.
const MOST_TYPES: usize = 10_000;

/// Reads the types of one entry of a schema. Where a type contains itself, it accepts any value.
/// Types of a cycle are read in each place where they are used; other types are read once.
pub(super) struct FieldReader<'a> {
    package: &'a PackageSchema,
    /// The types that have the same fields in each place.
    finished_types: IndexMap<String, Field>,
    /// The types that are being read, outermost first.
    types_in_progress: Vec<String>,
    /// The number of open types at the outermost one that the fields read so far depend on: a type
    /// that contains itself through others, or 0 where a limit is reached. `usize::MAX` if they
    /// depend on none.
    depends_on: usize,
    /// The number of types that were read.
    count: usize,
}

impl<'a> FieldReader<'a> {
    pub(super) fn new(package: &'a PackageSchema) -> FieldReader<'a> {
        FieldReader {
            package,
            finished_types: IndexMap::default(),
            types_in_progress: Vec::new(),
            depends_on: usize::MAX,
            count: 0,
        }
    }

    /// The fields of a map of property specifications.
    pub(super) fn object(&mut self, properties: &Json, required: &Json) -> IndexMap<Name, Field> {
        let required = texts(required);
        let mut fields = IndexMap::default();
        for (name, spec) in properties.as_object().into_iter().flatten() {
            let needed = required.contains(&name.as_str());
            let field = self.property(spec);
            fields.insert(
                Name::from(name.as_str()),
                Field {
                    required: needed,
                    nullable: !needed,
                    ..field
                },
            );
        }
        fields
    }

    /// The field of a property specification, without `required`.
    pub(super) fn property(&mut self, spec: &Json) -> Field {
        let mut field = self.of_type(spec);
        let constant = spec
            .get("const")
            .filter(|constant| !constant.is_null())
            .map(value);
        if let Some(constant) = &constant {
            field.allowed = vec![constant.clone()];
        }
        // The constants of nested types are written by the program.
        field.default = constant.filter(|_| self.types_in_progress.is_empty());
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
            let is_open = members.is_empty()
                || members
                    .iter()
                    .any(|member| matches!(member.kind, Kind::Any));
            return Field::of(if is_open {
                Kind::Any
            } else {
                Kind::Union(Arc::new(members))
            });
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
                    None => Field {
                        nullable: true,
                        ..Field::of(Kind::String)
                    },
                };
                Kind::Map(Arc::new(values))
            }
            _ => Kind::Any,
        })
    }

    fn item(&mut self, spec: &Json) -> Field {
        Field {
            nullable: true,
            ..self.of_type(spec)
        }
    }

    fn referenced(&mut self, reference: &str) -> Field {
        let any = || Field::of(Kind::Any);
        let opaque = match reference {
            "pulumi.json#/Asset" => Some(OpaqueKind::AssetOrArchive),
            "pulumi.json#/Archive" => Some(OpaqueKind::Archive),
            _ if reference.contains("#/resources/") => Some(OpaqueKind::Resource),
            _ => None,
        };
        if opaque.is_some() {
            return Field { opaque, ..any() };
        }
        // Types of other packages accept any value; the plugin decides.
        let Some(token) = reference.strip_prefix("#/types/") else {
            return any();
        };
        let token = decoded(token);
        if let Some(made) = self.finished_types.get(&token) {
            return made.clone();
        }
        // A direct reference to itself is the same in each place.
        if self.types_in_progress.last() == Some(&token) {
            return any();
        }
        let limited = self.types_in_progress.len() >= DEPTH || self.count >= MOST_TYPES;
        let depends_on = if limited {
            Some(0)
        } else {
            self.types_in_progress
                .iter()
                .position(|open| *open == token)
                .map(|at| at + 1)
        };
        if let Some(depends_on) = depends_on {
            self.depends_on = self.depends_on.min(depends_on);
            return any();
        }
        let Some(spec) = self.package.object_type(&token) else {
            return any();
        };
        self.types_in_progress.push(token.clone());
        self.count += 1;
        let outer = std::mem::replace(&mut self.depends_on, usize::MAX);
        let field = match spec["enum"].as_array() {
            Some(members) => {
                let allowed = members
                    .iter()
                    .map(|member| value(&member["value"]))
                    .collect();
                Field {
                    allowed,
                    ..self.of_type(&serde_json::json!({"type": spec["type"]}))
                }
            }
            None => {
                let fields = self.object(&spec["properties"], &spec["required"]);
                let open = spec.get("properties").is_none();
                Field::of(Kind::Object(Arc::new(Schema { fields, open })))
            }
        };
        let depends_on = std::mem::replace(&mut self.depends_on, outer);
        if depends_on == usize::MAX {
            self.finished_types.insert(token, field.clone());
        } else if depends_on < self.types_in_progress.len() {
            self.depends_on = outer.min(depends_on);
        }
        self.types_in_progress.pop();
        field
    }
}

fn number() -> Kind {
    Kind::Union(Arc::new(vec![
        Field::of(Kind::Integer),
        Field::of(Kind::Float),
    ]))
}

/// Decodes the percent-encoding in a reference.
fn decoded(token: &str) -> String {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok());
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
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect()
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
    first
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .into()
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

    /// The fields of types, read in this order. Each type has fields of other types.
    fn read(types: &[(&str, &[&str])], used: &[&str]) -> IndexMap<Name, Field> {
        let reference = |name: &str| serde_json::json!({"$ref": format!("#/types/x::{name}")});
        let object = |fields: &[&str]| {
            let properties: Json = fields
                .iter()
                .map(|name| ((*name).to_owned(), reference(name)))
                .collect();
            serde_json::json!({"type": "object", "properties": properties})
        };
        let types: Json = types
            .iter()
            .map(|(name, fields)| (format!("x::{name}"), object(fields)))
            .collect();
        let text = serde_json::json!({"name": "x", "types": types}).to_string();
        let package = PackageSchema::parse(text).expect("a schema");
        let mut reader = FieldReader::new(&package);
        used.iter()
            .map(|name| (Name::from(*name), reader.property(&reference(name))))
            .collect()
    }

    /// The type of a field as text, without `nullable`.
    fn shape(field: &Field) -> String {
        let Kind::Object(schema) = &field.kind else {
            return "any".to_owned();
        };
        let fields = schema
            .fields
            .iter()
            .map(|(name, field)| format!("{name}: {}", shape(field)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn fields_do_not_depend_on_the_order_of_properties() {
        let types: &[(&str, &[&str])] = &[
            ("a", &["b", "leaf"]),
            ("b", &["a", "b", "leaf"]),
            ("c", &["a"]),
            ("leaf", &[]),
        ];
        let wanted = [
            ("a", "{b: {a: any, b: any, leaf: {}}, leaf: {}}"),
            ("b", "{a: {b: any, leaf: {}}, b: any, leaf: {}}"),
            ("c", "{a: {b: {a: any, b: any, leaf: {}}, leaf: {}}}"),
        ];
        for used in [
            ["a", "b", "c"],
            ["a", "c", "b"],
            ["b", "a", "c"],
            ["b", "c", "a"],
            ["c", "a", "b"],
            ["c", "b", "a"],
        ] {
            let fields = read(types, &used);
            for (name, shape_of) in wanted {
                assert_eq!(shape(&fields[name]), shape_of, "{name} in {used:?}");
            }
        }
    }

    #[test]
    fn a_type_below_the_maximum_depth_is_read_elsewhere() {
        let names: Vec<String> = (0..=DEPTH).map(|at| format!("t{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let types: Vec<(&str, &[&str])> = (0..=DEPTH)
            .map(|at| (names[at], &names[at + 1..(at + 2).min(DEPTH + 1)]))
            .collect();
        let fields = read(&types, &[names[0], names[DEPTH], names[DEPTH - 1]]);
        assert!(shape(&fields[names[0]]).ends_with(&format!(
            "{{{}: any{}",
            names[DEPTH],
            "}".repeat(DEPTH)
        )));
        assert_eq!(shape(&fields[names[DEPTH]]), "{}");
        assert_eq!(
            shape(&fields[names[DEPTH - 1]]),
            format!("{{{}: {{}}}}", names[DEPTH])
        );
    }

    #[test]
    fn the_number_of_types_that_contain_each_other_is_limited() {
        let names: Vec<String> = (0..DEPTH).map(|at| format!("t{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let types: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, &names[..])).collect();
        let opened = shape(&read(&types, &names)["t0"]).matches('{').count();
        assert_eq!(opened, MOST_TYPES);
    }

    #[test]
    fn references_are_decoded() {
        assert_eq!(decoded("x:a%2Fb:C"), "x:a/b:C");
        assert_eq!(decoded("x:100%"), "x:100%");
        assert_eq!(decoded("%zz%"), "%zz%");
        assert_eq!(decoded("%ff"), "%ff");
    }
}
