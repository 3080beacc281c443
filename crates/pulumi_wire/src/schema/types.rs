//! The entries of a package schema as types of a catalogue. Names of properties stay as the package
//! spells them.

use std::fmt;
use std::sync::{Arc, Mutex};

use blueprint::{Field, IndexMap, Kind, Name, ReplaceOrder, Schema, Type, TypeId};
use expr::{FunctionDef, Parameter, Purity, Returns};
use provider::{
    Attributes, Capabilities, DataSourceType, FilterField, FilterType, Plans, ResourceType,
    Setting, TypeSource,
};
use serde_json::Value as Json;

use super::facts::{FunctionFacts, ResourceFacts};
use super::fields::{FieldReader, status, summary, texts};
use super::package::PackageSchema;
use super::tokens::TypeTokens;

/// The minimum number of types of a large package.
const LARGE: usize = 200;

/// The beginning of the token of the function that reads an object of a resource type: `(get)` and
/// the token of the type. Its arguments are `id` and, if the plugin needs more to find the object,
/// `state`. Its result is the object's outputs and its id.
const READ_PREFIX: &str = "(get)";

/// The name of the resource type that a function reads, if it is such a function.
pub fn read_resource_type(function: &str) -> Option<Name> {
    let (namespace, token) = function.rsplit_once(&format!("/{READ_PREFIX}"))?;
    Some(format!("{namespace}/{token}").into())
}

/// The types of a package, each created on first use.
pub struct PackageTypes {
    schema: Arc<PackageSchema>,
    tokens: TypeTokens,
    /// The names of the resource types in documents, in the order of the schema.
    resources: Vec<Name>,
    functions: Vec<Name>,
    made: Mutex<BuiltTypes>,
}

#[derive(Default)]
struct BuiltTypes {
    resources: IndexMap<Name, (Arc<ResourceType>, Arc<ResourceFacts>)>,
    functions: IndexMap<Name, (Arc<DataSourceType>, Arc<FunctionFacts>)>,
}

impl PackageTypes {
    /// Creates the types of a schema, with their names in a namespace.
    pub fn new(schema: Arc<PackageSchema>, namespace: impl Into<Name>) -> PackageTypes {
        let tokens = TypeTokens::new(namespace, schema.name());
        let resources = schema
            .resource_tokens()
            .map(|token| tokens.in_documents(token))
            .collect();
        let functions = schema
            .function_tokens()
            .map(|token| tokens.in_documents(token))
            .collect();
        PackageTypes {
            schema,
            tokens,
            resources,
            functions,
            made: Mutex::default(),
        }
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<PackageSchema> {
        &self.schema
    }

    /// The names of the types in documents.
    pub fn tokens(&self) -> &TypeTokens {
        &self.tokens
    }

    /// The facts about the resource type with this name in documents.
    pub fn resource_facts(&self, name: &str) -> Option<Arc<ResourceFacts>> {
        self.resource(name).map(|(_, facts)| facts)
    }

    /// The facts about the function with this name in documents.
    pub fn function_facts(&self, name: &str) -> Option<Arc<FunctionFacts>> {
        self.function_with_facts(name).map(|(_, facts)| facts)
    }

    /// The settings of the provider.
    pub fn settings(&self) -> Vec<Setting> {
        let (provider, config) = (self.schema.provider(), self.schema.config());
        let mut fields = FieldReader::new(&self.schema);
        let mut all = fields.object(&config["variables"], &config["defaults"]);
        all.extend(fields.object(&provider["inputProperties"], &provider["requiredInputs"]));
        // Settings that the plugin can take from its environment are optional.
        let specs = |name: &str| {
            [
                &config["variables"][name],
                &provider["inputProperties"][name],
            ]
        };
        let has_default = |name: &str| {
            specs(name)
                .iter()
                .any(|spec| !spec["defaultInfo"].is_null())
        };
        let setting = |(name, mut field): (Name, Field)| {
            field.required &= !has_default(&name);
            Setting { name, field }
        };
        all.into_iter().map(setting).collect()
    }

    fn resource(&self, name: &str) -> Option<(Arc<ResourceType>, Arc<ResourceFacts>)> {
        let token = self.resource_in_protocol(name)?;
        let mut made = self.made.lock().ok()?;
        if let Some(found) = made.resources.get(&token) {
            return Some(found.clone());
        }
        let entry = self.schema.resource(&token)?;
        let ty = resource_type(&self.schema, self.tokens.in_documents(&token), &entry);
        let both = (
            Arc::new(ty),
            Arc::new(resource_facts(&self.schema, token.clone(), &entry)),
        );
        made.resources.insert(token, both.clone());
        Some(both)
    }

    fn function_with_facts(&self, name: &str) -> Option<(Arc<DataSourceType>, Arc<FunctionFacts>)> {
        let token = self.function_in_protocol(name)?;
        let mut made = self.made.lock().ok()?;
        if let Some(found) = made.functions.get(&token) {
            return Some(found.clone());
        }
        let entry = self.schema.function(&token)?;
        let ty = data_source_type(&self.schema, self.tokens.in_documents(&token), &entry);
        let facts = FunctionFacts {
            token: token.clone(),
            secret_inputs: secrets(&entry["inputs"]["properties"]),
            single: single_result(&mut FieldReader::new(&self.schema), &entry).is_some(),
        };
        let both = (Arc::new(ty), Arc::new(facts));
        made.functions.insert(token, both.clone());
        Some(both)
    }

    fn function_in_protocol(&self, name: &str) -> Option<Name> {
        self.tokens
            .in_protocol(name, |token| self.schema.function_token(token))
    }

    fn resource_in_protocol(&self, name: &str) -> Option<Name> {
        self.tokens
            .in_protocol(name, |token| self.schema.resource_token(token))
    }
}

impl fmt::Debug for PackageTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackageTypes")
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

impl TypeSource for PackageTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        self.resource(name).map(|(ty, _)| ty)
    }

    fn has_resource_type(&self, name: &str) -> bool {
        self.resource_in_protocol(name).is_some()
    }

    fn is_large(&self) -> bool {
        self.resources.len() > LARGE
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.resources.iter().map(AsRef::as_ref))
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        self.function_with_facts(name).map(|(ty, _)| ty)
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.functions.iter().map(AsRef::as_ref))
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionDef>> {
        if let Some(resource) = read_resource_type(name) {
            let ty = self.resource_type(&resource)?;
            return Some(Arc::new(read_function(name, &ty)));
        }
        let token = self.function_in_protocol(name)?;
        let entry = self.schema.function(&token)?;
        let name = self.tokens.in_documents(&token);
        Some(Arc::new(function_def(&self.schema, name, &entry)))
    }

    fn function_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        self.data_source_type_names()
    }
}

/// The fields of a resource: inputs first, in the order of the schema, then properties that are
/// only outputs. Every resource has an `id`.
fn resource_fields(schema: &PackageSchema, entry: &Json) -> IndexMap<Name, Field> {
    let mut read = FieldReader::new(schema);
    let mut fields = read.object(&entry["inputProperties"], &entry["requiredInputs"]);
    let outputs = read.object(&entry["properties"], &entry["required"]);
    for (name, output) in outputs {
        match fields.get_mut(&name) {
            // The plugin may fill in inputs that the document leaves out.
            Some(input) => {
                let filled_in = !input.required && input.default.is_none();
                input.computed = filled_in;
                input.optional = filled_in;
                input.changes_on_update = filled_in;
                input.sensitive |= output.sensitive;
                input.must_recreate |= output.must_recreate;
            }
            None => {
                let field = Field {
                    required: false,
                    computed: true,
                    nullable: true,
                    changes_on_update: true,
                    default: None,
                    must_recreate: false,
                    ..output
                };
                fields.insert(name, field);
            }
        }
    }
    let id = || Field {
        computed: true,
        docs: "The id that the provider gave.".into(),
        ..Field::of(Kind::String)
    };
    fields.entry("id".into()).or_insert_with(id);
    fields
}

/// The beginning of the names of types that need no plugin. Their answers have the secrets of their
/// inputs only.
const BUILT_IN: &str = "pulumi:pulumi/";

/// Whether two resources of a type have different ids. Programs of Pulumi, whose packages have
/// namespaces of their own, may have types that give every resource the same id.
fn has_unique_ids(name: &str) -> bool {
    !name.starts_with("pulumi:")
}

fn resource_type(schema: &PackageSchema, name: Name, entry: &Json) -> ResourceType {
    let unique_ids = has_unique_ids(&name);
    let unannounced_secrets = !name.starts_with(BUILT_IN);
    // An entry that cannot be parsed accepts any fields: the plugin decides.
    let open = !entry.is_object();
    ResourceType {
        name: name.into(),
        former_names: former_types(entry),
        docs: summary(&entry["description"]),
        example: "".into(),
        schema: Arc::new(Schema {
            fields: resource_fields(schema, entry),
            open,
        }),
        id_field: Some("id".into()),
        replace_order: ReplaceOrder::CreateFirst,
        needs_stable: Vec::new(),
        rejects: Vec::new(),
        annotations: Vec::new(),
        capabilities: Capabilities {
            plans: Plans::Always,
            exact: false,
            outputs_decide: true,
            unique_ids,
            unannounced_secrets,
            described_only: entry["isComponent"] == true,
            ..Capabilities::default()
        },
        schema_version: 0,
        attributes: Attributes::Fields,
        update_policy: None,
        service: None,
        support_status: status(entry),
        waits: Vec::new(),
        replaces_where: Vec::new(),
        sources: IndexMap::default(),
        reads_with: None,
        ready_within: None,
        instead: None,
    }
}

/// The former tokens of a type.
fn former_types(entry: &Json) -> Vec<Name> {
    let aliases = entry["aliases"].as_array().into_iter().flatten();
    let names = aliases.filter_map(|alias| alias["type"].as_str());
    names.map(Name::from).collect()
}

fn resource_facts(schema: &PackageSchema, token: Name, entry: &Json) -> ResourceFacts {
    let (inputs, outputs) = (&entry["inputProperties"], &entry["properties"]);
    let mut read = FieldReader::new(schema);
    let typed = read
        .object(outputs, &Json::Null)
        .into_iter()
        .map(|(name, field)| (name, field.ty()));
    let constants = read.object(inputs, &Json::Null);
    let constants = constants
        .into_iter()
        .filter_map(|(name, field)| Some((name, field.default?)))
        .collect();
    let mut replace_on_changes = flagged(inputs, "replaceOnChanges");
    for name in flagged(outputs, "replaceOnChanges") {
        if !replace_on_changes.contains(&name) {
            replace_on_changes.push(name);
        }
    }
    ResourceFacts {
        token,
        secret_inputs: secrets(inputs),
        outputs: typed.collect(),
        secret_outputs: secrets(outputs),
        constants,
        replace_on_changes,
        own_id: outputs.get("id").is_some(),
        component: entry["isComponent"] == true,
    }
}

/// The function that reads an object of a resource type.
fn read_function(name: &str, ty: &ResourceType) -> FunctionDef {
    let parameter = |name: &str, ty: Type, optional: bool| Parameter {
        ty,
        optional,
        name: name.into(),
        callback: None,
        absent_as_none: false,
    };
    // The plugin needs few of the inputs to find the object, so all are optional.
    let inputs = ty.schema.fields.iter();
    let inputs = inputs
        .filter(|(_, field)| !field.computed || field.optional)
        .map(|(name, field)| (name.clone(), field.ty()));
    let state = Type::object(inputs.collect::<Vec<_>>());
    let mut fields = ty.schema.fields.clone();
    let urn = || Field {
        computed: true,
        docs: "The URN of the resource.".into(),
        ..Field::of(Kind::String)
    };
    fields.entry("urn".into()).or_insert_with(urn);
    package_function(
        name.into(),
        vec![
            parameter("id", Type::Text, false),
            parameter("state", state, true),
            parameter("name", Type::Text, true),
            parameter("project", Type::Text, true),
        ],
        fields,
        ty.docs.clone(),
    )
}

/// A function as `invoke` calls it: with arguments by name. Its result is a map.
fn function_def(schema: &PackageSchema, name: Name, entry: &Json) -> FunctionDef {
    let mut read = FieldReader::new(schema);
    let inputs = read.object(&entry["inputs"]["properties"], &entry["inputs"]["required"]);
    let parameter = |(name, field): (Name, Field)| Parameter {
        ty: field.ty(),
        optional: !field.required,
        name,
        callback: None,
        absent_as_none: false,
    };
    let mut parameters: Vec<Parameter> = inputs.into_iter().map(parameter).collect();
    parameters.sort_by_key(|parameter| parameter.optional);
    let docs = summary(&entry["description"]);
    if let Some(single) = single_result(&mut read, entry) {
        return FunctionDef {
            returns: Returns::Type(single.ty()),
            ..package_function(name, parameters, IndexMap::default(), docs)
        };
    }
    let fields = result_fields(&mut read, entry);
    package_function(name, parameters, fields, docs)
}

/// The result of a function that gives one value instead of a map of fields.
fn single_result(read: &mut FieldReader<'_>, entry: &Json) -> Option<Field> {
    let result = result_of(entry);
    // A map of values of one type is a single value, as a text is.
    let has_entries = result.get("additionalProperties").is_some();
    let is_record = result["type"] == "object" && !has_entries;
    let is_map = result.get("properties").is_some() || is_record;
    if is_map || !result.is_object() {
        return None;
    }
    let field = read.property(result);
    (!matches!(field.kind, Kind::Object(_))).then_some(field)
}

/// The specification of the result of a function.
fn result_of(entry: &Json) -> &Json {
    match entry.get("outputs") {
        Some(outputs) => outputs,
        None => &entry["returnType"],
    }
}

/// A function of a package, with arguments by name. `fields` are those of its result.
fn package_function(
    name: Name,
    parameters: Vec<Parameter>,
    fields: IndexMap<Name, Field>,
    docs: Name,
) -> FunctionDef {
    let id = TypeId::parse(name.clone());
    FunctionDef {
        min_arguments: parameters.iter().filter(|one| !one.optional).count(),
        parameters,
        rest: None,
        returns: Returns::Fields(Arc::new(Schema { fields, open: true })),
        returned_function: None,
        takes_index: false,
        named: true,
        none_propagates: false,
        purity: Purity::Provider {
            namespace: id.package_name().into(),
            name: name.clone(),
        },
        not_in_specification: false,
        docs,
        examples: Vec::new(),
        native: None,
        rehearsed: None,
        name,
    }
}

/// The fields of the result of a function.
fn result_fields(read: &mut FieldReader<'_>, entry: &Json) -> IndexMap<Name, Field> {
    let result = result_of(entry);
    read.object(&result["properties"], &result["required"])
}

fn data_source_type(schema: &PackageSchema, name: Name, entry: &Json) -> DataSourceType {
    let mut read = FieldReader::new(schema);
    let inputs = read.object(&entry["inputs"]["properties"], &entry["inputs"]["required"]);
    let outputs = result_fields(&mut read, entry);
    let filters = inputs.iter().map(|(name, field)| {
        (
            name.clone(),
            FilterField {
                ty: filter_type(field),
                push_down: vec!["=".into()],
                docs: field.docs.clone(),
            },
        )
    });
    let filters = filters.collect();
    let required = texts(&entry["inputs"]["required"])
        .into_iter()
        .map(Name::from)
        .collect();
    let mut fields: IndexMap<Name, Field> = inputs;
    for (name, output) in outputs {
        fields.insert(
            name,
            Field {
                computed: true,
                nullable: true,
                required: false,
                ..output
            },
        );
    }
    DataSourceType {
        name: name.into(),
        docs: summary(&entry["description"]),
        example: "".into(),
        filters,
        exclusive: Vec::new(),
        required,
        schema: Arc::new(Schema {
            fields,
            open: entry.get("outputs").is_none() && entry.get("returnType").is_none(),
        }),
        annotations: Vec::new(),
        rows: Vec::new(),
        acts: false,
    }
}

fn filter_type(field: &Field) -> FilterType {
    match &field.kind {
        Kind::Array(item) => FilterType::List(item.ty()),
        Kind::Map(value) => FilterType::Map(value.ty()),
        Kind::Object(_) => FilterType::Map(Type::Any),
        _ => FilterType::Scalar(field.ty()),
    }
}

fn secrets(properties: &Json) -> Vec<Name> {
    flagged(properties, "secret")
}

/// The properties whose specification sets a flag.
fn flagged(properties: &Json, flag: &str) -> Vec<Name> {
    let all = properties.as_object().into_iter().flatten();
    all.filter(|(_, spec)| spec[flag] == true)
        .map(|(name, _)| Name::from(name.as_str()))
        .collect()
}
