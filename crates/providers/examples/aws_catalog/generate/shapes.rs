//! Converts a resource schema to shapes and fields: only facts, no descriptions.
//!
//! The shapes of a type are numbered; a recursive definition refers to its own number. If a schema
//! is stricter than a catalogue can be (one of two fields, a field if another has some value), the
//! shape is weaker: it must not refuse a valid value.
//!
//! Not here: writing shapes to a file (`pack`).

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;
use providers::aws::format::{ability, flag};
use serde_json::Value as Json;

use super::{pattern, words};

/// The shape of a field's value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    pub(crate) set: bool,
    pub(crate) keyed_by: Option<String>,
    pub(crate) allowed: Vec<String>,
    pub(crate) min: Option<String>,
    pub(crate) max: Option<String>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) pattern: Option<String>,
}

/// The kind of a shape. Inner shapes are referenced by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    #[default]
    Any,
    String,
    Integer,
    Float,
    Boolean,
    Array(usize),
    Map(usize),
    Object(Vec<Member>),
    Union(Vec<usize>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) original: String,
    pub(crate) flags: u64,
    pub(crate) shape: usize,
}

/// A type of resource.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) original: String,
    /// The shapes of the type, by number.
    pub(crate) shapes: Vec<Shape>,
    pub(crate) shape: usize,
    pub(crate) abilities: u64,
    pub(crate) id_field: Option<String>,
    pub(crate) identifier: Vec<String>,
}

/// The maximum depth of references between schemas. A deeper reference accepts any value.
const MOST_REFERENCES: usize = 24;

/// Last words of the names of fields that hold a secret in plain text.
const SECRETS: &[&str] = &[
    "AccessToken",
    "ApiKeyValue",
    "ApiToken",
    "AuthToken",
    "BearerToken",
    "ClientSecret",
    "HECToken",
    "IdToken",
    "JwtToken",
    "OauthToken",
    "Passphrase",
    "Password",
    "Passwords",
    "PreSharedKey",
    "PrivateKey",
    "RefreshToken",
    "SasToken",
    "SecretAccessKey",
    "SecretKey",
    "SecretString",
    "SecretToken",
    "SharedSecret",
];

/// Last words of the names of computed fields that do not change during the life of the object.
const STEADY: &[&str] = &[
    "Arn",
    "ARN",
    "Id",
    "ID",
    "Uuid",
    "CreatedAt",
    "CreationTime",
    "CreationDate",
    "CreatedTime",
    "CreatedDate",
    "AccountId",
];

/// The special places in the spec of a type, as a tree of path steps; `*` is any item.
#[derive(Debug, Default)]
struct Marks {
    read_only: bool,
    create_only: bool,
    write_only: bool,
    inside: BTreeMap<String, Marks>,
}

static NOWHERE: Marks = Marks {
    read_only: false,
    create_only: false,
    write_only: false,
    inside: BTreeMap::new(),
};

impl Marks {
    fn of(schema: &Json) -> Marks {
        let mut marks = Marks::default();
        for (list, set) in [
            (
                "readOnlyProperties",
                (|marks| marks.read_only = true) as fn(&mut Marks),
            ),
            ("createOnlyProperties", |marks| marks.create_only = true),
            ("writeOnlyProperties", |marks| marks.write_only = true),
        ] {
            for path in texts(&schema[list]) {
                let mut place = &mut marks;
                for step in steps(path) {
                    place = place.inside.entry(step.to_owned()).or_default();
                }
                set(place);
            }
        }
        marks
    }

    fn field(&self, name: &str) -> &Marks {
        self.inside.get(name).unwrap_or(&NOWHERE)
    }

    /// The marks of the items of a list or the values of a map. Some paths leave the `*` out.
    fn items(&self) -> &Marks {
        self.inside.get("*").unwrap_or(if self.inside.is_empty() {
            &NOWHERE
        } else {
            self
        })
    }

    fn is_plain(&self) -> bool {
        self.inside.is_empty()
    }
}

/// The steps of a JSON pointer into the properties; items are `*`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    let mut steps = path.split('/').filter(|step| !step.is_empty()).peekable();
    steps.next_if(|step| *step == "properties");
    steps.filter(|step| *step != "properties").map(|step| {
        if step == "items" || step == "[]" {
            "*"
        } else {
            step
        }
    })
}

fn texts(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
}

/// Converts a schema to a type.
pub(crate) fn lower(schema: &Json) -> Type {
    let original = schema["typeName"].as_str().unwrap_or_default().to_owned();
    let marks = Marks::of(schema);
    let mut lowering = Lowering {
        root: schema,
        shapes: Vec::new(),
        definitions: HashMap::new(),
    };
    let flat = lowering.flat(&[schema]);
    let mut members = lowering.members(&flat, &marks);
    let handlers = &schema["handlers"];
    let mut abilities = 0;
    for (name, bit) in [
        ("create", ability::CREATE),
        ("read", ability::READ),
        ("update", ability::UPDATE),
        ("delete", ability::DELETE),
        ("list", ability::LIST),
    ] {
        abilities |= if handlers.get(name).is_some() { bit } else { 0 };
    }
    let identifier: Vec<String> = texts(&schema["primaryIdentifier"])
        .map(|path| steps(path).collect::<Vec<_>>().join("/"))
        .collect();
    let also: Vec<&str> = schema["additionalIdentifiers"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(texts)
        .collect();
    let written = |member: &Member| member.flags & flag::COMPUTED == 0;
    let named = !identifier.is_empty()
        && members
            .iter()
            .filter(|member| identifier.contains(&member.original))
            .all(written);
    for member in &mut members {
        let identifies = identifier.contains(&member.original);
        let text = lowering.shapes[member.shape].kind == Kind::String;
        if written(member) {
            if handlers.get("create").is_some() && handlers.get("update").is_none() {
                member.flags |= flag::MUST_RECREATE;
            }
            if identifies && identifier.len() == 1 && text {
                member.flags |= flag::UNIQUE;
            }
            if identifies && member.flags & flag::REQUIRED == 0 {
                member.flags |= flag::COMPUTED | flag::OPTIONAL;
            }
        } else {
            let known = identifies
                || also
                    .iter()
                    .any(|path| steps(path).eq([member.original.as_str()]));
            if !known && !STEADY.iter().any(|end| member.original.ends_with(end)) {
                member.flags |= flag::CHANGES_ON_UPDATE;
            }
        }
    }
    let parts: Vec<&Member> = members
        .iter()
        .filter(|member| identifier.contains(&member.original))
        .collect();
    let given: Vec<&&Member> = parts
        .iter()
        .filter(|member| member.flags & (flag::COMPUTED | flag::OPTIONAL) == flag::COMPUTED)
        .collect();
    let id_field = match (parts.as_slice(), given.as_slice()) {
        _ if parts.len() != identifier.len() => None,
        ([one], _) => Some(one.name.clone()),
        // Of several identifying fields, the only computed one. The others are known from the
        // parent of the resource.
        (_, [one]) => Some(one.name.clone()),
        _ => None,
    };
    abilities |= match schema["replacementStrategy"].as_str() {
        Some("create_then_delete") => ability::CREATE_FIRST,
        Some(_) => 0,
        // Two objects with the same name cannot exist at the same time.
        None if named => 0,
        None => ability::CREATE_FIRST,
    };
    let shape = lowering.add(Shape {
        kind: Kind::Object(members),
        ..Shape::default()
    });
    let mut ty = Type {
        name: words::type_name(&original),
        original,
        shapes: lowering.shapes,
        shape,
        abilities,
        id_field,
        identifier,
    };
    key_tags(schema, &mut ty);
    ty
}

/// Marks tags as a list of keys and values with unique keys.
fn key_tags(schema: &Json, ty: &mut Type) {
    let Some(path) = schema["tagging"]["tagProperty"].as_str() else {
        return;
    };
    let Kind::Object(members) = &ty.shapes[ty.shape].kind else {
        return;
    };
    let mut path = steps(path);
    let (Some(name), None) = (path.next(), path.next()) else {
        return;
    };
    let Some(tags) = members
        .iter()
        .find(|member| member.original == name)
        .map(|member| member.shape)
    else {
        return;
    };
    let Kind::Array(item) = ty.shapes[tags].kind else {
        return;
    };
    let Kind::Object(fields) = &ty.shapes[item].kind else {
        return;
    };
    let key = fields
        .iter()
        .find(|field| field.name == "key" && field.flags & flag::REQUIRED != 0)
        .map(|field| field.name.clone());
    if key.is_some() {
        let shape = &mut ty.shapes[tags];
        shape.keyed_by = key;
        shape.set = false;
    }
}

/// A schema, merged with the schemas that it refers to and those that apply at the same time.
#[derive(Clone, Debug, Default)]
struct Flat<'s> {
    types: Vec<&'s str>,
    /// The alternatives of each property, by name. Each alternative is a list of schemas that apply
    /// together.
    properties: IndexMap<&'s str, Vec<Vec<&'s Json>>>,
    required: Vec<&'s str>,
    /// The schemas of the values of a map.
    values: Vec<&'s Json>,
    /// Whether other properties are allowed.
    open: bool,
    items: Option<&'s Json>,
    allowed: Option<&'s Vec<Json>>,
    constant: Option<&'s Json>,
    any_case: bool,
    limits: HashMap<&'static str, &'s Json>,
    /// Lists of schemas; one of each list must apply.
    choices: Vec<&'s Vec<Json>>,
    /// Whether references are nested too deeply to be followed.
    too_deep: bool,
}

impl Flat<'_> {
    /// Whether the schema describes a value, rather than conditions for the presence of a value.
    fn says_something(&self) -> bool {
        self.too_deep
            || !self.types.is_empty()
            || !self.properties.is_empty()
            || !self.values.is_empty()
            || self.items.is_some()
            || self.allowed.is_some()
            || self.constant.is_some()
            || !self.choices.is_empty()
    }
}

struct Lowering<'s> {
    root: &'s Json,
    shapes: Vec<Shape>,
    /// The numbers of the definitions that are converted, or being converted.
    definitions: HashMap<&'s str, usize>,
}

impl<'s> Lowering<'s> {
    fn add(&mut self, shape: Shape) -> usize {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    /// The shape of schemas that apply together.
    fn shape(&mut self, schemas: &[&'s Json], marks: &Marks) -> usize {
        if let [one] = schemas
            && let Some(name) = alias(one)
            && marks.is_plain()
        {
            if let Some(number) = self.definitions.get(name) {
                return *number;
            }
            let number = self.add(Shape::default());
            self.definitions.insert(name, number);
            let flat = self.flat(schemas);
            let shape = self.built(&flat, marks);
            self.shapes[number] = shape;
            return number;
        }
        let flat = self.flat(schemas);
        let shape = self.built(&flat, marks);
        self.add(shape)
    }

    fn flat(&self, schemas: &[&'s Json]) -> Flat<'s> {
        let mut flat = Flat::default();
        for schema in schemas {
            self.flatten(schema, &mut flat, 0);
        }
        flat
    }

    fn flatten(&self, schema: &'s Json, flat: &mut Flat<'s>, depth: usize) {
        let Some(object) = schema.as_object() else {
            return;
        };
        if depth > MOST_REFERENCES {
            flat.too_deep = true;
            return;
        }
        // Keywords beside a reference override those of its target.
        match &schema["type"] {
            Json::String(one) if flat.types.is_empty() => flat.types.push(one),
            Json::Array(_) if flat.types.is_empty() => {
                flat.types = texts(&schema["type"]).collect()
            }
            _ => {}
        }
        for (name, property) in object
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
        {
            let alternatives = flat
                .properties
                .entry(name)
                .or_insert_with(|| vec![Vec::new()]);
            if let [all] = alternatives.as_mut_slice() {
                all.push(property);
            }
        }
        flat.required.extend(texts(&schema["required"]));
        if let Some(patterns) = object.get("patternProperties").and_then(Json::as_object) {
            flat.values.extend(patterns.values());
        }
        match object.get("additionalProperties") {
            Some(values @ Json::Object(_)) => flat.values.push(values),
            Some(Json::Bool(true)) => flat.open = true,
            _ => {}
        }
        if let Some(items @ Json::Object(_)) = object.get("items") {
            flat.items.get_or_insert(items);
        }
        if let Some(Json::Array(allowed)) = object.get("enum") {
            flat.allowed.get_or_insert(allowed);
        }
        if object.contains_key("enumCaseInsensitive") {
            flat.any_case = true;
        }
        if let Some(constant) = object.get("const") {
            flat.constant.get_or_insert(constant);
        }
        for key in LIMITS {
            if let Some(limit) = object.get(*key) {
                flat.limits.entry(key).or_insert(limit);
            }
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Json::Array(choice)) = object.get(key) {
                flat.choices.push(choice);
            }
        }
        if let Some(reference) = object.get("$ref").and_then(Json::as_str)
            && let Some(target) = self.target(reference)
        {
            self.flatten(target, flat, depth + 1);
        }
        for part in object
            .get("allOf")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            self.flatten(part, flat, depth + 1);
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Json> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn built(&mut self, flat: &Flat<'s>, marks: &Marks) -> Shape {
        if flat.too_deep {
            return Shape::default();
        }
        let mut branches: Vec<Flat<'s>> = flat
            .choices
            .iter()
            .flat_map(|choice| choice.iter())
            .map(|one| self.flat(&[one]))
            .collect();
        let mut flat = flat.clone();
        flat.choices.clear();
        let is_object = |flat: &Flat<'_>| {
            flat.types.iter().all(|ty| *ty == "object")
                && !flat.properties.is_empty()
                && flat.choices.is_empty()
        };
        // An alternative for old templates: a document as JSON text.
        let loose = |branch: &Flat<'_>| {
            branch.types.len() > 1
                && branch
                    .limits
                    .get("format")
                    .is_some_and(|format| *format == "json")
        };
        if branches
            .iter()
            .any(|branch| branch.says_something() && !loose(branch))
        {
            branches.retain(|branch| !loose(branch));
        }
        if !flat.says_something() && !branches.is_empty() {
            if branches.iter().any(|branch| !branch.says_something()) {
                return Shape::default();
            }
            if !branches.iter().all(is_object) {
                return self.union(&branches, marks);
            }
        }
        if branches.iter().any(|branch| !branch.properties.is_empty()) {
            merge(&mut flat, &branches);
        }
        self.plain(&flat, marks)
    }

    /// The shape of alternatives that are not all objects.
    fn union(&mut self, branches: &[Flat<'s>], marks: &Marks) -> Shape {
        let mut shapes: Vec<Shape> = Vec::new();
        for branch in branches {
            let shape = self.built(branch, marks);
            if shape.kind == Kind::Any {
                return Shape::default();
            }
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        // Several forms of text become plain text.
        let plain: Vec<&Kind> = shapes.iter().map(|shape| &shape.kind).collect();
        match plain.as_slice() {
            [_] => shapes.swap_remove(0),
            [first, rest @ ..]
                if matches!(first, Kind::String) && rest.iter().all(|kind| kind == first) =>
            {
                Shape {
                    kind: Kind::String,
                    ..Shape::default()
                }
            }
            _ => Shape {
                kind: Kind::Union(shapes.into_iter().map(|shape| self.add(shape)).collect()),
                ..Shape::default()
            },
        }
    }

    /// The shape of a schema without choices.
    fn plain(&mut self, flat: &Flat<'s>, marks: &Marks) -> Shape {
        let mut types: Vec<&str> = flat.types.clone();
        let nullable = types.contains(&"null");
        types.retain(|ty| *ty != "null");
        if types.is_empty() {
            let object = !flat.properties.is_empty() || !flat.values.is_empty() || flat.open;
            let texts = |list: &Vec<Json>| list.iter().all(Json::is_string);
            if object {
                types.push("object");
            } else if flat.items.is_some() {
                types.push("array");
            } else if flat.allowed.is_some_and(texts) || flat.constant.is_some_and(Json::is_string)
            {
                types.push("string");
            }
        }
        match types.as_slice() {
            [one] => Shape {
                nullable,
                ..self.of_type(one, flat, marks)
            },
            [] => Shape::default(),
            several => {
                let shapes: Vec<Shape> = several
                    .iter()
                    .map(|ty| self.of_type(ty, flat, marks))
                    .collect();
                if shapes.iter().any(|shape| shape.kind == Kind::Any) {
                    return Shape::default();
                }
                Shape {
                    kind: Kind::Union(shapes.into_iter().map(|shape| self.add(shape)).collect()),
                    nullable,
                    ..Shape::default()
                }
            }
        }
    }

    fn of_type(&mut self, ty: &str, flat: &Flat<'s>, marks: &Marks) -> Shape {
        let limit = |key: &str| flat.limits.get(key).copied();
        let count = |key: &str| {
            limit(key)
                .and_then(Json::as_f64)
                .filter(|number| *number >= 0.0)
                .map(|number| number as u64)
        };
        let number = |key: &str| {
            limit(key)
                .filter(|limit| limit.is_number())
                .map(|limit| limit.to_string())
        };
        let mut shape = Shape::default();
        match ty {
            "string" => {
                shape.kind = Kind::String;
                shape.min_length = count("minLength").filter(|least| *least > 0);
                shape.max_length = count("maxLength");
                shape.pattern = limit("pattern")
                    .and_then(Json::as_str)
                    .and_then(pattern::pattern);
                // The limits of a JSON text are dropped: they apply to the text before encoding, or
                // the document may be an object.
                if limit("format").is_some_and(|format| format == "json") {
                    (shape.min_length, shape.max_length, shape.pattern) = (None, None, None);
                }
            }
            "integer" => {
                shape.kind = Kind::Integer;
                (shape.min, shape.max) = (number("minimum"), number("maximum"));
            }
            "number" => {
                shape.kind = Kind::Float;
                (shape.min, shape.max) = (number("minimum"), number("maximum"));
            }
            "boolean" => shape.kind = Kind::Boolean,
            "array" => {
                let item = match flat.items {
                    Some(items) => self.shape(&[items], marks.items()),
                    None => self.add(Shape::default()),
                };
                shape.kind = Kind::Array(item);
                shape.set =
                    limit("insertionOrder").is_some_and(|ordered| *ordered == Json::Bool(false));
                shape.min_items = count("minItems").filter(|least| *least > 0);
                shape.max_items = count("maxItems");
            }
            "object" => shape.kind = self.object(flat, marks),
            _ => {}
        }
        crossed(&mut shape);
        if !flat.any_case {
            shape.allowed = allowed(&shape.kind, flat);
        }
        shape
    }

    fn object(&mut self, flat: &Flat<'s>, marks: &Marks) -> Kind {
        if !flat.properties.is_empty() && flat.values.is_empty() && !flat.open {
            return Kind::Object(self.members(flat, marks));
        }
        let alike = flat.values.windows(2).all(|pair| same(pair[0], pair[1]));
        let value = match flat.values.as_slice() {
            [first, ..] if flat.properties.is_empty() && !flat.open && alike => {
                self.shape(&[first], marks.items())
            }
            _ => self.add(Shape::default()),
        };
        Kind::Map(value)
    }

    fn members(&mut self, flat: &Flat<'s>, marks: &Marks) -> Vec<Member> {
        let mut members = Vec::new();
        for (original, alternatives) in &flat.properties {
            let marks = marks.field(original);
            let shape = match alternatives.as_slice() {
                [one] => self.shape(one, marks),
                several => {
                    let mut numbers = Vec::new();
                    for one in several {
                        let number = self.shape(one, marks);
                        if !numbers.iter().any(|other: &usize| {
                            *other == number || self.shapes[*other] == self.shapes[number]
                        }) {
                            numbers.push(number);
                        }
                    }
                    match numbers.as_slice() {
                        [one] => *one,
                        _ if numbers
                            .iter()
                            .any(|number| self.shapes[*number].kind == Kind::Any) =>
                        {
                            self.add(Shape::default())
                        }
                        _ => self.add(Shape {
                            kind: Kind::Union(numbers),
                            ..Shape::default()
                        }),
                    }
                }
            };
            let mut flags = 0;
            if marks.read_only || self.is_filled_in(shape) {
                flags |= flag::COMPUTED;
                // Some schemas list a field both as read-only and as create-only.
                if marks.create_only {
                    flags |= flag::OPTIONAL;
                }
            } else {
                flags |= if flat.required.contains(original) {
                    flag::REQUIRED
                } else {
                    0
                };
                flags |= if marks.create_only {
                    flag::MUST_RECREATE
                } else {
                    0
                };
            }
            flags |= if marks.write_only {
                flag::WRITE_ONLY
            } else {
                0
            };
            let holds_text = match &self.shapes[shape].kind {
                Kind::String => true,
                Kind::Array(item) => self.shapes[*item].kind == Kind::String,
                _ => false,
            };
            if holds_text && SECRETS.iter().any(|end| ends_with(original, end)) {
                flags |= flag::SENSITIVE;
            }
            members.push(Member {
                name: words::lower_camel(original),
                original: (*original).to_owned(),
                flags,
                shape,
            });
        }
        members
    }

    /// Whether a shape is an object with only computed fields.
    fn is_filled_in(&self, shape: usize) -> bool {
        match &self.shapes[shape].kind {
            Kind::Object(members) => {
                !members.is_empty()
                    && members.iter().all(|member| {
                        member.flags & (flag::COMPUTED | flag::OPTIONAL) == flag::COMPUTED
                    })
            }
            _ => false,
        }
    }
}

/// The keywords of limits that shapes may have.
const LIMITS: &[&str] = &[
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "insertionOrder",
    "format",
];

/// The definition for which a schema is only an alias.
fn alias(schema: &Json) -> Option<&str> {
    let object = schema.as_object()?;
    let only = object.keys().all(|key| {
        matches!(
            key.as_str(),
            "$ref" | "description" | "title" | "$comment" | "examples"
        )
    });
    object.get("$ref").filter(|_| only)?.as_str()
}

/// Adds the fields of alternatives. Each is allowed, and required only if every alternative
/// requires it.
fn merge<'s>(flat: &mut Flat<'s>, branches: &[Flat<'s>]) {
    let own: Vec<&str> = flat.properties.keys().copied().collect();
    for branch in branches {
        for (name, alternatives) in &branch.properties {
            if own.contains(name) {
                continue;
            }
            let all = flat.properties.entry(name).or_default();
            for one in alternatives {
                if !all.iter().any(|other| {
                    other.len() == one.len() && other.iter().zip(one).all(|(a, b)| same(a, b))
                }) {
                    all.push(one.clone());
                }
            }
        }
        flat.open |= branch.open;
        if !branch.values.is_empty() {
            flat.open = true;
        }
    }
    if own.is_empty()
        && let Some((first, rest)) = branches.split_first()
    {
        let by_all = first
            .required
            .iter()
            .filter(|name| rest.iter().all(|branch| branch.required.contains(name)));
        flat.required.extend(by_all);
    }
}

/// Whether two schemas are equal except for their prose.
fn same(one: &Json, other: &Json) -> bool {
    fn bare(schema: &Json) -> Json {
        match schema {
            Json::Object(object) => Json::Object(
                object
                    .iter()
                    .filter(|(key, value)| !(key.as_str() == "description" && value.is_string()))
                    .map(|(key, value)| (key.clone(), bare(value)))
                    .collect(),
            ),
            Json::Array(items) => Json::Array(items.iter().map(bare).collect()),
            plain => plain.clone(),
        }
    }
    one == other || bare(one) == bare(other)
}

/// Whether a name ends with a word, and the word is not the end of another word.
fn ends_with(name: &str, end: &str) -> bool {
    let Some(before) = name.len().checked_sub(end.len()) else {
        return false;
    };
    name.is_char_boundary(before)
        && name[before..].eq_ignore_ascii_case(end)
        && (before == 0 || name[before..].starts_with(|first: char| first.is_ascii_uppercase()))
}

/// The allowed values of the kind: texts as they are, others as JSON. Empty if a value is of
/// another kind.
fn allowed(kind: &Kind, flat: &Flat<'_>) -> Vec<String> {
    let values: Vec<&Json> = match (flat.constant, flat.allowed) {
        (Some(one), _) => vec![one],
        (None, Some(several)) => several.iter().collect(),
        (None, None) => return Vec::new(),
    };
    let mut texts = Vec::new();
    for value in values {
        let text = match (kind, value) {
            (Kind::String, Json::String(text)) => text.clone(),
            (Kind::Integer, Json::Number(number)) if number.is_i64() => number.to_string(),
            (Kind::Float, Json::Number(number)) => number.to_string(),
            (Kind::Boolean, Json::Bool(value)) => value.to_string(),
            _ => return Vec::new(),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Removes limits that exclude every value.
fn crossed(shape: &mut Shape) {
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    if number(&shape.min)
        .zip(number(&shape.max))
        .is_some_and(|(min, max)| min > max)
    {
        (shape.min, shape.max) = (None, None);
    }
    if shape
        .min_length
        .zip(shape.max_length)
        .is_some_and(|(min, max)| min > max)
    {
        (shape.min_length, shape.max_length) = (None, None);
    }
    if shape
        .min_items
        .zip(shape.max_items)
        .is_some_and(|(min, max)| min > max)
    {
        (shape.min_items, shape.max_items) = (None, None);
    }
}
