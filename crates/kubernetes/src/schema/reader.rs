//! Converts schemas to fields and forms.

use std::sync::Arc;

use blueprint::{Constraint, Field, IndexMap, Kind, Name, Schema, SupportStatus, Value};
use serde_json::{Map, Value as Json};

use super::forms::{ListForm, ListPatch, ValueForms};
use super::object_meta::object_meta;

/// The beginning of a reference to another schema of the same document.
const REFERENCE: &str = "#/components/schemas/";

/// The maximum depth of nested values. Deeper parts accept any value.
const DEPTH: usize = 64;

/// Where the schemas come from that others refer to.
pub(super) trait Schemas {
    /// The schema of that name; `None` if there is none.
    fn schema(&self, name: &str) -> Option<Json>;

    /// Whether the schemas are those of the server's own kinds.
    fn is_of_server(&self) -> bool;
}

/// No schemas: those of a CustomResourceDefinition refer to none.
pub(super) struct NoSchemas;

impl Schemas for NoSchemas {
    fn schema(&self, _name: &str) -> Option<Json> {
        None
    }

    fn is_of_server(&self) -> bool {
        false
    }
}

/// A schema as a field, and its forms.
pub(super) type ReadSchema = (Field, Arc<ValueForms>);

/// Reads the schemas of one kind. Where a schema contains itself, it accepts any value.
pub(super) struct SchemaReader<'a> {
    schemas: &'a dyn Schemas,
    finished: IndexMap<Name, ReadSchema>,
    in_progress: Vec<Name>,
    depth: usize,
}

impl<'a> SchemaReader<'a> {
    pub(super) fn new(schemas: &'a dyn Schemas) -> SchemaReader<'a> {
        SchemaReader {
            schemas,
            finished: IndexMap::default(),
            in_progress: Vec::new(),
            depth: 0,
        }
    }

    /// The fields of a schema with properties, and their forms.
    pub(super) fn fields(&mut self, spec: &Json) -> (IndexMap<Name, Field>, ValueForms) {
        let mut fields = IndexMap::default();
        let mut forms = ValueForms::default();
        let required: Vec<&str> = texts(&spec["required"]).collect();
        for (name, property) in spec["properties"].as_object().into_iter().flatten() {
            let (field, form) = self.value(property);
            let form = form_of_property(form, property);
            let has_default = property.get("default").is_some_and(|value| !is_zero(value));
            let needed = required.contains(&name.as_str()) && !has_default;
            let name = Name::from(name.as_str());
            forms.declared.push(name.clone());
            if self.schemas.is_of_server() {
                let value = value_if_absent(property, needed, &field.kind);
                forms
                    .always_there
                    .extend(value.map(|value| (name.clone(), value)));
            }
            if !form.is_plain() {
                forms.fields.insert(name.clone(), form);
            }
            let field = Field {
                required: needed,
                nullable: !needed || property["nullable"] == true,
                ..field
            };
            fields.insert(name, field);
        }
        (fields, forms)
    }

    /// The field of a schema, without `required` and `nullable`.
    pub(super) fn value(&mut self, spec: &Json) -> ReadSchema {
        if self.depth >= DEPTH {
            return any();
        }
        self.depth += 1;
        let (mut field, forms) = self.of_kind(spec);
        self.depth -= 1;
        let docs = sentence(&spec["description"]);
        if !docs.is_empty() {
            field.docs = docs;
        }
        if spec["deprecated"] == true {
            field.support_status = SupportStatus::Deprecated;
        }
        (field, forms)
    }

    fn of_kind(&mut self, spec: &Json) -> ReadSchema {
        if let Some(reference) = reference(spec) {
            return self.referenced(reference);
        }
        let is_open = spec["x-kubernetes-preserve-unknown-fields"] == true
            || spec["x-kubernetes-embedded-resource"] == true;
        if spec["x-kubernetes-int-or-string"] == true || spec["format"] == "int-or-string" {
            return plain(Kind::Union(Arc::new(vec![
                Field::of(Kind::Integer),
                Field::of(Kind::String),
            ])));
        }
        let kind = match spec["type"].as_str() {
            Some("object") => return self.object(spec, is_open),
            Some("array") => return self.list(spec),
            Some("string") => Kind::String,
            Some("integer") => Kind::Integer,
            Some("number") => number(),
            Some("boolean") => Kind::Boolean,
            _ if is_quantity(spec) => return quantity(),
            _ if spec["properties"].is_object() => return self.object(spec, is_open),
            _ => return any(),
        };
        let field = Field {
            allowed: spec["enum"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(scalar)
                .collect(),
            constraint: constraint(spec),
            ..Field::of(kind)
        };
        (field, Arc::default())
    }

    fn object(&mut self, spec: &Json, is_open: bool) -> ReadSchema {
        let values = &spec["additionalProperties"];
        if spec["properties"].is_object() {
            let (fields, mut forms) = self.fields(spec);
            forms.is_atomic = is_atomic_map(spec);
            let open = is_open || values.is_object() || *values == true;
            if values.is_object() {
                let (_, form) = self.value(values);
                forms.every = Some(form).filter(|form| !form.is_plain());
            }
            let kind = Kind::Object(Arc::new(Schema { fields, open }));
            return (Field::of(kind), Arc::new(forms));
        }
        if !values.is_object() || is_open {
            let (field, _) = open_object();
            let forms = ValueForms {
                is_atomic: is_atomic_map(spec),
                ..ValueForms::default()
            };
            return (field, Arc::new(forms));
        }
        let (value, form) = self.value(values);
        let field = Field {
            constraint: constraint(spec),
            ..Field::of(Kind::Map(Arc::new(value)))
        };
        let forms = ValueForms {
            is_collection: true,
            is_atomic: is_atomic_map(spec),
            every: Some(form).filter(|form| !form.is_plain()),
            ..ValueForms::default()
        };
        (field, Arc::new(forms))
    }

    fn list(&mut self, spec: &Json) -> ReadSchema {
        let (item, form) = self.value(&spec["items"]);
        let keys: Vec<Name> = texts(&spec["x-kubernetes-list-map-keys"])
            .map(Name::from)
            .collect();
        let list = match spec["x-kubernetes-list-type"].as_str() {
            Some("map") if !keys.is_empty() => ListForm::Map(keys),
            Some("set") => ListForm::Set,
            _ => ListForm::Atomic,
        };
        let key = match &list {
            ListForm::Map(keys) if keys.len() == 1 => keys.first().cloned(),
            _ => None,
        };
        let field = Field {
            constraint: constraint(spec),
            set: list == ListForm::Set,
            keyed_by: key,
            ..Field::of(Kind::Array(Arc::new(item)))
        };
        let forms = ValueForms {
            list: Some(list),
            is_collection: true,
            every: Some(form).filter(|form| !form.is_plain()),
            ..ValueForms::default()
        };
        (field, Arc::new(forms))
    }

    fn referenced(&mut self, name: &str) -> ReadSchema {
        if name.ends_with(".meta.v1.ObjectMeta") {
            return object_meta();
        }
        if name.ends_with(".resource.Quantity") {
            return quantity();
        }
        if let Some(finished) = self.finished.get(name) {
            return finished.clone();
        }
        if self.in_progress.iter().any(|open| **open == *name) {
            return any();
        }
        let Some(spec) = self.schemas.schema(name) else {
            return any();
        };
        self.in_progress.push(name.into());
        let read = self.value(&spec);
        self.in_progress.pop();
        self.finished.insert(name.into(), read.clone());
        read
    }
}

/// The forms of a value with what only the property says about it.
fn form_of_property(form: Arc<ValueForms>, property: &Json) -> Arc<ValueForms> {
    let default = property.get("default").filter(|value| !is_zero(value));
    let patch = list_patch(property);
    let is_atomic = is_atomic_map(property);
    if default.is_none() && patch.is_none() && !is_atomic {
        return form;
    }
    let mut form = Arc::unwrap_or_clone(form);
    form.default = default.cloned();
    form.patch = patch;
    form.is_atomic |= is_atomic;
    Arc::new(form)
}

/// The value that the program of the server has where a document lacks a field: structures, whose
/// default is an empty map, and lists and maps that are never left out. `None` for other fields.
fn value_if_absent(property: &Json, needed: bool, kind: &Kind) -> Option<Json> {
    let is_empty = |value: &Json| value.as_object().is_some_and(Map::is_empty);
    if reference(property).is_some() && property.get("default").is_some_and(is_empty) {
        return matches!(kind, Kind::Object(_)).then(|| Json::Object(Map::new()));
    }
    let is_collection = matches!(kind, Kind::Array(_) | Kind::Map(_));
    (needed && is_collection).then_some(Json::Null)
}

fn is_atomic_map(spec: &Json) -> bool {
    spec["x-kubernetes-map-type"] == "atomic"
}

/// The strategies of a property are one text, with commas between them.
fn list_patch(property: &Json) -> Option<ListPatch> {
    let strategies = property["x-kubernetes-patch-strategy"].as_str()?;
    let merges = strategies.split(',').any(|strategy| strategy == "merge");
    if !merges || property["type"] != "array" {
        return None;
    }
    let key = property["x-kubernetes-patch-merge-key"].as_str();
    Some(key.map_or(ListPatch::ByValue, |key| ListPatch::ByKey(key.into())))
}

/// The name of the schema that a schema stands for. A reference with a description of its own is
/// the only member of `allOf`.
pub(super) fn reference(spec: &Json) -> Option<&str> {
    let target = match spec["allOf"].as_array().map(Vec::as_slice) {
        Some([only]) if spec.get("type").is_none() => only,
        _ => spec,
    };
    target["$ref"].as_str()?.strip_prefix(REFERENCE)
}

/// Any value.
fn any() -> ReadSchema {
    plain(Kind::Any)
}

fn plain(kind: Kind) -> ReadSchema {
    (Field::of(kind), Arc::default())
}

fn open_object() -> ReadSchema {
    plain(Kind::Object(Arc::new(Schema {
        fields: IndexMap::default(),
        open: true,
    })))
}

fn number() -> Kind {
    Kind::Union(Arc::new(vec![
        Field::of(Kind::Integer),
        Field::of(Kind::Float),
    ]))
}

/// A quantity is a text; documents may write a number in its place.
fn quantity() -> ReadSchema {
    let kinds = [Kind::String, Kind::Integer, Kind::Float];
    let kind = Kind::Union(Arc::new(kinds.into_iter().map(Field::of).collect()));
    let forms = ValueForms {
        is_quantity: true,
        ..ValueForms::default()
    };
    (Field::of(kind), Arc::new(forms))
}

/// Whether a schema without a type is the one of quantities: a text or a number.
fn is_quantity(spec: &Json) -> bool {
    let Some([one, other]) = spec["oneOf"].as_array().map(Vec::as_slice) else {
        return false;
    };
    one["type"] == "string" && other["type"] == "number"
}

/// Whether a default is what the server has without one. Schemas of built-in kinds state it also
/// for fields that must be written.
fn is_zero(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Bool(true) => false,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
    }
}

fn scalar(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .or_else(|| number.as_f64().map(Value::Float)),
        Json::String(text) => Some(Value::from(text.as_str())),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn constraint(spec: &Json) -> Constraint {
    let count = |name: &str, other: &str| spec[name].as_u64().or(spec[other].as_u64());
    // The limits of numbers that are excluded are checked by the server.
    let limit = |name: &str, excluded: &str| {
        let limit = spec[name].as_f64();
        limit.filter(|_| spec[excluded] != true)
    };
    Constraint {
        min: limit("minimum", "exclusiveMinimum"),
        max: limit("maximum", "exclusiveMaximum"),
        min_length: spec["minLength"].as_u64(),
        max_length: spec["maxLength"].as_u64(),
        min_items: count("minItems", "minProperties"),
        max_items: count("maxItems", "maxProperties"),
        pattern: spec["pattern"].as_str().map(Name::from),
        modulo: spec["multipleOf"]
            .as_i64()
            .filter(|step| *step != 0)
            .map(|step| (step, 0)),
        ..Constraint::default()
    }
}

/// The texts in a JSON list.
fn texts(list: &Json) -> impl Iterator<Item = &str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Json::as_str)
}

/// The first sentence of a description, without a line break.
pub(super) fn sentence(description: &Json) -> Name {
    let text = description.as_str().unwrap_or_default().trim_start();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    let ends = |at: usize| {
        let abbreviates = ["e.g.", "i.e.", "etc.", "vs."].contains(&words[at]);
        let next = words.get(at + 1).and_then(|word| word.chars().next());
        words[at].ends_with('.') && !abbreviates && next.is_some_and(char::is_uppercase)
    };
    let end = (0..words.len()).find(|at| ends(*at));
    words[..end.map_or(words.len(), |at| at + 1)]
        .join(" ")
        .into()
}
