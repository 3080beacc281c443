//! Describes a dialect and its types as a JSON Schema (draft 2020-12) for editors.
//!
//! The schema is generated from the tables that drive the checks: the dialect's shape and the
//! providers' catalogues. Each type has its own definition; `if` and `then` choose it by the value
//! of `type`. A text with `${` is allowed wherever a substitution may stand.
//!
//! A schema checks less than `check`: no names, no types of expressions, and no rules about two
//! places.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Constraint, Field, Kind, Schema, TypeId, Value};
use dialect::{Detail, KeyForm, Offer, Section, SectionKey, Shape};
use provider::{Catalogs, DataSourceType, TypeRef};
use serde_json::{Map, Value as Json, json};

/// Returns the schema of a dialect's documents, with the types whose names `wanted` accepts. Other
/// types of their namespaces are allowed too; the schema does not constrain their fields.
pub fn json_schema(
    title: &str,
    shape: &Shape,
    catalogs: &Catalogs,
    wanted: impl Fn(&str) -> bool,
) -> Json {
    let mut open: Vec<String> = Vec::new();
    let mut described = |names: &mut dyn Iterator<Item = &str>| -> Vec<TypeId> {
        let mut described = Vec::new();
        for name in names {
            let id = TypeId::parse(name);
            if wanted(name) {
                described.push(id);
            } else if open.last().is_none_or(|last| last != id.package_name()) {
                open.push(id.package_name().to_owned());
            }
        }
        described
    };
    let transforms = || {
        catalogs
            .transform_names()
            .filter_map(|name| catalogs.transform(name))
    };
    let abstract_types = || transforms().flat_map(|transform| &transform.abstract_types);
    let mut names = catalogs
        .resource_type_names()
        .chain(abstract_types().map(|(name, _)| name.as_ref()));
    let resources = described(&mut names);
    drop(names);
    let data_sources = described(&mut catalogs.data_source_type_names());
    let variables = described(&mut catalogs.variable_type_names());
    let loose = catalogs.iter().filter(|catalog| catalog.loose_names);
    open.extend(loose.flat_map(|catalog| catalog.namespaces.iter().map(|name| name.to_string())));
    // The types of a package that is not open are not known.
    open.extend(catalogs.closed_namespaces().map(str::to_owned));
    open.sort();
    open.dedup();
    let maker = SchemaBuilder {
        resources,
        data_sources,
        variables,
        open,
    };
    let values = values_of(shape);
    let mut definitions = Map::new();
    definitions.insert(
        "substitution".to_owned(),
        json!({"description": "A text that is worked out: `${..}` reads something else.", "type": "string", "pattern": "\\$\\{"}),
    );
    definitions.insert(
        "scalar".to_owned(),
        json!({"description": "A single value.", "type": ["string", "number", "boolean"]}),
    );
    for section in shape.sections.iter().skip(1) {
        definitions.insert(definition(section.name), maker.section(section));
    }
    for name in &maker.resources {
        if let TypeRef::Known(ty) = catalogs.resource_type(name) {
            let mut spec =
                FieldDefinitions::of(name, &ty.schema, values, &mut definitions).object(&ty.schema);
            spec["title"] = json!(name);
            spec["description"] = json!(&*ty.docs);
            definitions.insert(format!("resource:{name}"), spec);
        }
    }
    for (name, ty) in abstract_types().filter(|(name, _)| wanted(name)) {
        let mut spec =
            FieldDefinitions::of(name, &ty.schema, values, &mut definitions).object(&ty.schema);
        spec["title"] = json!(&**name);
        definitions.insert(format!("resource:{name}"), spec);
    }
    for name in &maker.data_sources {
        if let TypeRef::Known(ty) = catalogs.data_source_type(name) {
            definitions.insert(format!("filter:{name}"), filter(&ty));
        }
    }
    let mut root = Map::new();
    root.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    root.insert("title".to_owned(), json!(title));
    if let Some(document) = shape.sections.first()
        && let Json::Object(document) = maker.section(document)
    {
        root.extend(document);
    }
    root.insert("$defs".to_owned(), Json::Object(definitions));
    Json::Object(root)
}

struct SchemaBuilder {
    resources: Vec<TypeId>,
    data_sources: Vec<TypeId>,
    variables: Vec<TypeId>,
    /// Namespaces with unlisted types, because `wanted` rejects some or because names may be spelt
    /// loosely.
    open: Vec<String>,
}

impl SchemaBuilder {
    /// A mapping with fixed keys.
    fn section(&self, section: &Section) -> Json {
        let properties: Map<String, Json> = section
            .keys
            .iter()
            .filter(|key| key.name != SectionKey::OTHERS)
            .map(|key| (key.name.to_owned(), self.described(key)))
            .collect();
        let required: Vec<&str> = section
            .keys
            .iter()
            .filter(|key| key.required)
            .map(|key| key.name)
            .collect();
        let others = section.key(SectionKey::OTHERS);
        // The fields of an object of another tool have any names.
        let is_free = others.is_some_and(|key| key.form != KeyForm::Any);
        let others = others.map_or_else(|| json!(false), |key| self.key(key));
        let mut schema =
            json!({"type": "object", "properties": properties, "additionalProperties": others});
        if is_free {
            schema["propertyNames"] = json!({"not": {"$ref": "#/$defs/substitution"}});
        }
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        let offers = |offer: Offer| section.keys.iter().find(|key| key.offer == offer);
        let chosen = |names: &[TypeId],
                      by: &SectionKey,
                      key: &SectionKey,
                      kind: &str|
         -> Vec<Json> {
            let choice = |name: &TypeId| {
                json!({
                    "if": {"properties": {by.name: {"const": name}}, "required": [by.name]},
                    "then": {"properties": {key.name: {"$ref": reference(&format!("{kind}:{name}"))}}},
                })
            };
            names.iter().map(choice).collect()
        };
        let mut choices = Vec::new();
        if let (Some(by), Some(key)) = (offers(Offer::ResourceType), offers(Offer::Spec)) {
            choices.extend(chosen(&self.resources, by, key, "resource"));
        }
        if let (Some(by), Some(key)) = (offers(Offer::DataSourceType), offers(Offer::Filter)) {
            choices.extend(chosen(&self.data_sources, by, key, "filter"));
        }
        choices.extend(by_type(section));
        if section.keys.iter().any(|key| key.detail == Detail::OnlyKey) {
            schema["minProperties"] = json!(1);
            schema["maxProperties"] = json!(1);
        }
        if !choices.is_empty() {
            schema["allOf"] = Json::Array(choices);
        }
        schema
    }

    fn described(&self, key: &SectionKey) -> Json {
        let since = if key.since.is_empty() {
            String::new()
        } else {
            format!(" Since version {}.", key.since)
        };
        let mut schema = self.key(key);
        if schema.get("$ref").is_some() {
            schema = json!({"allOf": [schema]});
        }
        schema["description"] = json!(format!("{}{since}", key.docs));
        schema
    }

    fn key(&self, key: &SectionKey) -> Json {
        match key.offer {
            Offer::ResourceType if key.detail == Detail::AnyType => {
                let listed: Vec<&str> =
                    self.resources.iter().map(|id| id.name().as_ref()).collect();
                return json!({"anyOf": [{"enum": listed}, {"type": "string"}]});
            }
            Offer::ResourceType => return self.names(&self.resources, &[]),
            Offer::DataSourceType => return self.names(&self.data_sources, &[]),
            Offer::VariableType => return self.names(&self.variables, key.values),
            Offer::Nothing | Offer::Spec | Offer::Filter => {}
        }
        if !key.values.is_empty() {
            return json!({"enum": key.values});
        }
        if !key.section.is_empty() {
            return self.leads_to(key);
        }
        if let Some(schema) = detailed(key.detail) {
            return schema;
        }
        let text = if key.substitutions {
            json!({"type": "string"})
        } else {
            json!({"type": "string", "not": {"$ref": "#/$defs/substitution"}})
        };
        let scalar = json!({"$ref": "#/$defs/scalar"});
        let map = json!({"type": "object"});
        let list = json!({"type": "array"});
        let any_of = |one: Json, other: Json| json!({"anyOf": [one, other]});
        match key.form {
            KeyForm::Text => text,
            KeyForm::Scalar => scalar,
            KeyForm::ScalarOrList => any_of(scalar, list),
            KeyForm::ScalarOrMap => any_of(scalar, map),
            KeyForm::Map => map,
            KeyForm::List => list,
            KeyForm::MapOrList => any_of(map, list),
            KeyForm::Any => json!({}),
        }
    }

    /// The schema of a key that holds a section, or definitions of one.
    fn leads_to(&self, key: &SectionKey) -> Json {
        let section = json!({"$ref": reference(&definition(key.section))});
        if key.definitions {
            let names = json!({
                "type": "object",
                "additionalProperties": section,
                "propertyNames": {"pattern": "^[A-Za-z0-9_.-]+$"},
            });
            // `exports: "*"` exports everything.
            return match key.form {
                KeyForm::Any => {
                    let mut names = names;
                    names["minProperties"] = json!(1);
                    json!({"anyOf": [names, {"const": "*"}]})
                }
                _ => names,
            };
        }
        let scalar = json!({"anyOf": [{"$ref": "#/$defs/substitution"}, {"type": "boolean"}, {"enum": ["true", "false"]}]});
        match key.form {
            KeyForm::ScalarOrMap => json!({"anyOf": [section, scalar]}),
            KeyForm::MapOrList => {
                json!({"anyOf": [section, {"type": "array", "minItems": 1, "items": section}]})
            }
            // An item of a list of conditions is a section or a single value.
            KeyForm::List => {
                json!({"type": "array", "minItems": 1, "items": {"anyOf": [section, scalar]}})
            }
            _ => section,
        }
    }

    /// The schema of a type's name: a listed one, or any name of an open namespace.
    fn names(&self, known: &[TypeId], first: &[&str]) -> Json {
        let listed: Vec<&str> = first
            .iter()
            .copied()
            .chain(known.iter().map(|id| id.name().as_ref()))
            .collect();
        if self.open.is_empty() {
            return json!({"enum": listed});
        }
        // Other spellings are valid too: some providers ignore capitals and hyphens.
        let spelt = |name: &String| -> String {
            name.chars()
                .map(|letter| match letter {
                    'a'..='z' => format!("[{letter}{}]-?", letter.to_ascii_uppercase()),
                    other => format!("{other}-?"),
                })
                .collect()
        };
        let spaces: Vec<String> = self.open.iter().map(spelt).collect();
        json!({"anyOf": [{"enum": listed}, {"type": "string", "pattern": format!("^(?:{})(?:/|::)", spaces.join("|"))}]})
    }
}

/// The schema of a key's value by its detail; `None` if its form is enough.
fn detailed(detail: Detail) -> Option<Json> {
    let fixed = || json!({"type": "string", "not": {"$ref": "#/$defs/substitution"}});
    let scalar = || json!({"$ref": "#/$defs/scalar"});
    let map = |values: Json| {
        json!({
            "type": "object",
            "additionalProperties": values,
            "propertyNames": {"not": {"$ref": "#/$defs/substitution"}},
        })
    };
    let one_or_many = |item: Json| json!({"anyOf": [item, {"type": "array", "items": item}]});
    Some(match detail {
        Detail::Boolean => json!({"type": "boolean"}),
        Detail::NonEmptyText => json!({"type": "string", "minLength": 1}),
        Detail::Substitution => {
            json!({"type": "string", "pattern": "^\\s*\\$\\{[\\s\\S]*\\}\\s*$"})
        }
        Detail::Texts => one_or_many(fixed()),
        Detail::FixedTexts => map(fixed()),
        Detail::Scalars => map(scalar()),
        Detail::ScalarList => one_or_many(scalar()),
        Detail::Literal => json!({"anyOf": [{"type": ["number", "boolean"]}, fixed()]}),
        Detail::Literals => {
            json!({"type": "array", "items": {"anyOf": [{"type": ["number", "boolean"]}, fixed()]}})
        }
        Detail::Path => json!({
            "type": "string",
            "pattern": "^[A-Za-z_][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+|\\[[^\\]]+\\])*$",
            "not": {"enum": ["variables", "values", "resources", "datasources", "children"]},
        }),
        Detail::Typed
        | Detail::OnlyKey
        | Detail::AnyType
        | Detail::ConvertedFields
        | Detail::Nothing => return None,
    })
}

/// The schemas of a section's values that depend on its key `type`.
fn by_type(section: &Section) -> Vec<Json> {
    let Some(by) = section.key("type") else {
        return Vec::new();
    };
    let mut choices = Vec::new();
    for ty in by.values {
        let mut properties = Map::new();
        for key in section.keys {
            let value = match key.detail {
                Detail::Literal => literal(ty),
                // A boolean has no list of literals.
                Detail::Literals if *ty == "boolean" => Some(json!(false)),
                Detail::Literals => literal(ty).map(|items| json!({"items": items})),
                Detail::Typed => typed(ty),
                _ => None,
            };
            properties.extend(value.map(|value| (key.name.to_owned(), value)));
        }
        if !properties.is_empty() {
            choices.push(json!({
                "if": {"properties": {"type": {"const": ty}}, "required": ["type"]},
                "then": {"properties": properties},
            }));
        }
    }
    choices
}

/// A literal of a type.
fn literal(ty: &str) -> Option<Json> {
    Some(match ty {
        "string" => json!({"type": "string"}),
        "integer" => json!({"type": "integer"}),
        "float" => json!({"type": "number"}),
        "boolean" => json!({"type": "boolean"}),
        _ => return None,
    })
}

/// The schema of a value of a type: a literal, a text that is parsed as the type, or a text with a
/// substitution.
fn typed(ty: &str) -> Option<Json> {
    let (kind, text) = match ty {
        "string" => return Some(json!({"type": "string"})),
        "integer" => ("integer", "^\\s*[-+]?[0-9]"),
        "float" => ("number", "^\\s*[-+.]?[0-9]"),
        "boolean" => ("boolean", "^\\s*(?:true|True|TRUE|false|False|FALSE)\\s*$"),
        "array" => ("array", "^\\s*\\["),
        "object" => ("object", "^\\s*\\{"),
        _ => return None,
    };
    let text = json!({"type": "string", "pattern": text});
    Some(json!({"anyOf": [{"type": kind}, text, {"$ref": "#/$defs/substitution"}]}))
}

/// The schema of the filters of a data source: the allowed and the required fields.
fn filter(ty: &DataSourceType) -> Json {
    // `[]` in a path stands for any position. In a document it may be missing.
    let paths: Vec<&str> = ty.filters.keys().map(|path| path.as_ref()).collect();
    let field = if paths.iter().any(|path| path.contains("[]")) {
        json!({})
    } else {
        json!({"enum": paths})
    };
    let one = json!({"properties": {"field": field}});
    json!({
        "title": &*ty.name,
        "description": &*ty.docs,
        "if": {"type": "array"},
        "then": {"items": one},
        "else": one,
    })
}

/// How the values of fields are written in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldValues {
    /// As their types say, or as a text with a substitution.
    Typed,
    /// In any form: the dialect converts them, or computes them with calls in their place. The
    /// schema then only proposes values, and requires no field.
    Converted,
}

/// How the values of fields are written in the dialect of a shape.
fn values_of(shape: &Shape) -> FieldValues {
    let mut keys = shape.sections.iter().flat_map(|section| section.keys);
    match keys.any(|key| key.detail == Detail::ConvertedFields) {
        true => FieldValues::Converted,
        false => FieldValues::Typed,
    }
}

/// The fields of one type. An object that several fields share gets its own definition. Repeating
/// it would make some schemas very large.
struct FieldDefinitions<'t, 'd> {
    name: &'t str,
    values: FieldValues,
    /// The number of fields with an object, by the object's address in memory.
    uses: HashMap<*const Schema, usize>,
    defined: HashMap<*const Schema, String>,
    definitions: &'d mut Map<String, Json>,
}

impl<'t, 'd> FieldDefinitions<'t, 'd> {
    fn of(
        name: &'t str,
        schema: &Schema,
        values: FieldValues,
        definitions: &'d mut Map<String, Json>,
    ) -> FieldDefinitions<'t, 'd> {
        let mut fields = FieldDefinitions {
            name,
            values,
            uses: HashMap::new(),
            defined: HashMap::new(),
            definitions,
        };
        fields.count(schema);
        fields
    }

    fn count(&mut self, schema: &Schema) {
        for field in schema.fields.values() {
            self.count_in(field);
        }
    }

    fn count_in(&mut self, field: &Field) {
        match &field.kind {
            Kind::Array(inside) | Kind::Map(inside) => self.count_in(inside),
            Kind::Union(branches) => branches.iter().for_each(|branch| self.count_in(branch)),
            Kind::Object(schema) => {
                let uses = self.uses.entry(Arc::as_ptr(schema)).or_default();
                *uses += 1;
                if *uses == 1 {
                    self.count(schema);
                }
            }
            _ => {}
        }
    }

    fn shared(&mut self, schema: &Arc<Schema>) -> Json {
        let place = Arc::as_ptr(schema);
        if self.uses.get(&place).is_none_or(|uses| *uses < 2) {
            return self.object(schema);
        }
        if let Some(name) = self.defined.get(&place) {
            return json!({"$ref": reference(name)});
        }
        let name = format!("resource:{}:{}", self.name, self.defined.len() + 1);
        self.defined.insert(place, name.clone());
        let object = self.object(schema);
        self.definitions.insert(name.clone(), object);
        json!({"$ref": reference(&name)})
    }

    /// The schema of the fields that a document may set.
    fn object(&mut self, schema: &Schema) -> Json {
        let written = || {
            schema
                .fields
                .iter()
                .filter(|(_, field)| field.is_settable())
        };
        let properties: Map<String, Json> = written()
            .map(|(name, one)| (name.to_string(), self.field(one)))
            .collect();
        let required: Vec<&str> = written()
            .filter(|(_, one)| one.required)
            .map(|(name, _)| name.as_ref())
            .collect();
        let is_converted = self.values == FieldValues::Converted;
        // A type without fields is one that the language had once.
        let is_open = schema.open || is_converted && properties.is_empty();
        let mut object =
            json!({"type": "object", "properties": properties, "additionalProperties": is_open});
        if !required.is_empty() && !is_converted {
            object["required"] = json!(required);
        }
        object
    }

    fn field(&mut self, field: &Field) -> Json {
        let mut schema = match self.values {
            FieldValues::Typed => self.typed(field),
            FieldValues::Converted => proposed(self.bare(field)),
        };
        let mut docs = field.docs.to_string();
        for (word, is) in [
            (
                "Filled in where nothing is written.",
                field.computed && field.optional,
            ),
            ("Secret.", field.sensitive),
            ("A change replaces the resource.", field.must_recreate),
        ] {
            if is {
                docs = format!("{docs} {word}");
            }
        }
        if !docs.is_empty() {
            schema["description"] = json!(docs.trim());
        }
        if let Some(default) = &field.default {
            schema["default"] = plain(default);
        }
        schema
    }

    /// The schema of a value as its type says, or of a text with a substitution.
    fn typed(&mut self, field: &Field) -> Json {
        let mut schema = or_substitution(self.bare(field));
        if field.nullable && schema.get("anyOf").is_some() {
            if let Some(branches) = schema["anyOf"].as_array_mut() {
                branches.push(json!({"type": "null"}));
            }
        } else if field.nullable && schema.as_object().is_some_and(|schema| !schema.is_empty()) {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        schema
    }

    fn bare(&mut self, field: &Field) -> Json {
        let limits = &field.constraint;
        let mut schema = match &field.kind {
            Kind::Any => json!({}),
            Kind::String => json!({"type": "string"}),
            Kind::Integer => json!({"type": "integer"}),
            Kind::Float => json!({"type": "number"}),
            Kind::Boolean => json!({"type": "boolean"}),
            Kind::Array(item) => json!({"type": "array", "items": self.field(item)}),
            Kind::Map(value) => {
                json!({"type": "object", "additionalProperties": self.field(value)})
            }
            Kind::Object(fields) => self.shared(fields),
            Kind::Union(branches) => {
                json!({"anyOf": branches.iter().map(|branch| self.bare(branch)).collect::<Vec<_>>()})
            }
        };
        limit(&mut schema, &field.kind, limits);
        if !field.allowed.is_empty() {
            schema["enum"] = Json::Array(field.allowed.iter().map(plain).collect());
        }
        schema
    }
}

/// A schema that accepts each value, and proposes those that another schema lists or describes.
fn proposed(schema: Json) -> Json {
    let proposes = ["enum", "properties", "items", "$ref", "anyOf"];
    let is_boolean = schema["type"] == json!("boolean");
    match is_boolean || proposes.iter().any(|key| schema.get(key).is_some()) {
        true => json!({"anyOf": [schema, {}]}),
        false => json!({}),
    }
}

/// The schema, or a text with a substitution.
fn or_substitution(schema: Json) -> Json {
    let is_open = schema.as_object().is_none_or(Map::is_empty);
    let is_text = schema == json!({"type": "string"});
    if is_open || is_text {
        schema
    } else {
        json!({"anyOf": [schema, {"$ref": "#/$defs/substitution"}]})
    }
}

fn limit(schema: &mut Json, kind: &Kind, limits: &Constraint) {
    let mut set = |name: &str, limit: Option<Json>| {
        if let Some(limit) = limit {
            schema[name] = limit;
        }
    };
    match kind {
        Kind::String => {
            set("minLength", limits.min_length.map(Json::from));
            set("maxLength", limits.max_length.map(Json::from));
            // Editors use ECMAScript patterns, so leave out patterns with syntax that only this
            // project's engine has.
            let common = |pattern: &&blueprint::Name| {
                !["(?", "\\z", "\\A", "\\p", "\\P", "[[", "&&"]
                    .iter()
                    .any(|odd| pattern.contains(odd))
            };
            set(
                "pattern",
                limits
                    .pattern
                    .as_ref()
                    .filter(common)
                    .map(|pattern| json!(&**pattern)),
            );
        }
        Kind::Integer | Kind::Float => {
            set("minimum", limits.min.map(Json::from));
            set("maximum", limits.max.map(Json::from));
        }
        Kind::Array(_) => {
            set("minItems", limits.min_items.map(Json::from));
            set("maxItems", limits.max_items.map(Json::from));
        }
        Kind::Map(_) => {
            set("minProperties", limits.min_items.map(Json::from));
            set("maxProperties", limits.max_items.map(Json::from));
        }
        Kind::Any | Kind::Boolean | Kind::Object(_) | Kind::Union(_) => {}
    }
}

/// A value of a catalogue as JSON. Catalogues contain only values that JSON has.
fn plain(value: &Value) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

/// The name of a section's definition: `data-source`.
fn definition(section: &str) -> String {
    section.replace(' ', "-")
}

/// The pointer to a definition.
fn reference(name: &str) -> String {
    format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"))
}
