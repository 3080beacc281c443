//! The types that a catalogue declares: resource types, data source types, variable types, abstract
//! types.
//!
//! Not here: looking a type up by its name ([`Catalog`](crate::Catalog)); link kinds
//! (`link_kind.rs`).

use std::sync::Arc;

use blueprint::{
    Field, IndexMap, Kind, Name, Package, ReplaceOrder, Schema, SupportStatus, Type, TypeId, Value,
};

/// A type of resource.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// Its name, for example `local/file`.
    pub name: TypeId,
    /// Former names of the type, as its package writes them.
    pub former_names: Vec<Name>,
    /// One sentence for people.
    pub docs: Name,
    /// A complete YAML document that uses the type. Tests run it.
    pub example: Name,
    /// The fields of its spec, including computed ones.
    pub schema: Arc<Schema>,
    /// The field that stands for the resource as a whole (decisions/blueprint#resources-as-values).
    pub id_field: Option<Name>,
    /// The order of the two halves of a replacement.
    pub replace_order: ReplaceOrder,
    /// Types that must be ready, not only configured, before a resource of this type is created
    /// (decisions/apply#configured-and-ready).
    pub needs_stable: Vec<Name>,
    /// Values that the provider refuses: its own validation as data.
    pub rejects: Vec<Rejection>,
    /// Annotations that the type itself reads.
    pub annotations: Vec<Annotation>,
    /// The calls that the engine may make for the type.
    pub capabilities: Capabilities,
    /// The version of its records.
    pub schema_version: u32,
    /// The readable attributes, for dialects that tell attributes from fields.
    pub attributes: Attributes,
    /// The schema of the settings that a document may give for the execution of updates. `None` if
    /// there are none.
    pub update_policy: Option<Arc<Schema>>,
    /// The service behind the type, if it is known.
    pub service: Option<Name>,
    /// Its support status.
    pub support_status: SupportStatus,
    /// Dependencies beyond the references and those that the document declares.
    pub waits: Vec<ImplicitDependency>,
    /// Fields whose change replaces the resource depending on another field.
    pub replaces_where: Vec<ReplacesWhere>,
    /// Fields that name files which an operation reads, each with the computed field that holds the
    /// digest last read. A changed file is a change of the desired state, not drift.
    pub sources: IndexMap<Name, Name>,
    /// The field that must be set for a resource to be readable. `None` if every resource of the
    /// type can be read.
    pub reads_with: Option<Name>,
    /// The field with the number of seconds in which the provider says whether a resource becomes
    /// ready. Polling lasts a minute longer, whatever the settings of a run say, unless the document
    /// limits the operation. `None` if the settings decide.
    pub ready_within: Option<Name>,
    /// For a type that is only described: what does the same, as a phrase that follows `instead`.
    pub instead: Option<Name>,
}

/// A rule: a change of one field replaces the resource if another field has a certain value
/// afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplacesWhere {
    /// The field that changes.
    pub field: Name,
    /// The field that decides.
    pub policy: Name,
    /// The value of the deciding field.
    pub value: Value,
}

/// An implicit dependency: a resource waits for those resources of another type, in the same
/// document, that concern the same third resource. For example a port waits for the subnets of its
/// network.
///
/// Two fields concern the same resource if they are written alike: the same text, or the same
/// reference.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitDependency {
    /// The type of the resources that are waited for.
    pub type_name: Name,
    /// Fields of the waiting resource, any of which may name the third resource: names separated by
    /// dots; `[]` after a name stands for every item.
    pub own_fields: Vec<Name>,
    /// Fields of the awaited resource, any of which may name the third resource.
    pub awaited_fields: Vec<Name>,
    /// An intermediate step: the own fields name a resource of this type, whose fields at these
    /// paths name the third one.
    pub through: Option<(Name, Vec<Name>)>,
}

/// The readable attributes of a type, for dialects that tell attributes from fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Attributes {
    /// Every field, under its own name.
    #[default]
    Fields,
    /// Only these, each with the field that holds it.
    Listed(IndexMap<Name, Name>),
    /// These, each with the field that holds it, and any other name, whose value only the service
    /// knows.
    Open(IndexMap<Name, Name>),
    /// Any name; the value is always null.
    Anything,
}

/// The source of the value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// From this field.
    Field(&'a str),
    /// The attribute exists and is always null.
    Nothing,
}

/// The calls that the engine may or must make for a type. The engine makes no call that is not
/// declared here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether `Session::check` is implemented for the type.
    pub checks: bool,
    /// The changes for which `Session::plan` is called.
    pub plans: Plans,
    /// Whether `Session::plan` is called for deletes.
    pub plans_deletes: bool,
    /// Whether answers hold every field exactly as it was sent or planned. A provider without this
    /// may return other values, for example normalised ones.
    pub exact: bool,
    /// Whether a field that is read has the value that the provider returned or plans, although the
    /// document sets the field. Otherwise the value of the document counts.
    pub outputs_decide: bool,
    /// Whether a spec controls only the parts of its object that it writes, as others control the
    /// rest. Only these parts are compared with the object.
    pub partial: bool,
    /// Whether readers of the resource wait until it is ready, because others than its provider
    /// fill in the fields that they read. Readers of other resources wait until it is configured.
    pub complete_when_ready: bool,
    /// Whether no two resources of the type have the same id. Some types of Terraform's providers
    /// derive ids from values, such as a time.
    pub unique_ids: bool,
    /// Whether answers to operations may contain secrets that neither the schema nor a plan marks,
    /// such as private data. They need a key to be stored, so an operation without a key is
    /// refused.
    pub unannounced_secrets: bool,
    /// Whether `Session::plan` reports before a create the object that already exists at its place.
    pub adopts: bool,
    /// Whether resources can be read back by their id.
    pub reads: bool,
    /// Whether existing resources can be imported by their id.
    pub imports: bool,
    /// Whether the import of an object that a document declares needs the declaration: the provider
    /// gets it with the id, and answers how the object has what it declares. Only that is recorded,
    /// as others control the rest. Such objects can be imported even if [`Capabilities::imports`]
    /// is not set, because their id alone does not lead to them.
    pub imports_declared: bool,
    /// Whether the token of a create always tells afterwards if the create was made.
    pub finds: bool,
    /// Whether a snapshot can be taken before a delete.
    pub snapshots: bool,
    /// Whether the type is only described: no provider here manages it, even if its namespace has a
    /// provider.
    pub described_only: bool,
    /// Whether `Session::preflight` is implemented for the type.
    pub preflights: bool,
    /// Whether objects of the type exist only in the state, as a random text does: no configuration
    /// of the provider applies to them, and a session without settings manages them.
    pub state_only: bool,
    /// Whether another update completes one that failed or was cut off. A document's rule to replace
    /// objects whose last operation failed does not apply to such updates.
    pub repairs_updates: bool,
}

impl Capabilities {
    /// Whether the provider is asked about the old object before a replacement that the catalogue or
    /// the engine demands. It then says which order the replacement needs, and which changes mean
    /// the same object ([`Planned::only_recorded`](crate::Planned::only_recorded)). A type that
    /// adopts is asked about the new object instead.
    pub fn judges_replacements(&self) -> bool {
        self.plans == Plans::Updates && !self.adopts
    }
}

/// The changes for which a provider's plan is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plans {
    /// None: the engine compares by the catalogue.
    #[default]
    Never,
    /// Updates that the engine has found by the catalogue.
    Updates,
    /// All: the provider decides whether a resource differs, and how it is changed.
    Always,
}

impl Default for Capabilities {
    fn default() -> Capabilities {
        Capabilities {
            checks: false,
            plans: Plans::Never,
            plans_deletes: false,
            exact: true,
            outputs_decide: false,
            partial: false,
            complete_when_ready: false,
            unique_ids: true,
            unannounced_secrets: false,
            adopts: false,
            reads: true,
            imports: true,
            imports_declared: false,
            finds: false,
            snapshots: false,
            described_only: false,
            preflights: false,
            state_only: false,
            repairs_updates: false,
        }
    }
}

/// A field value that the provider refuses.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The field.
    pub field: Name,
    /// The refused value.
    pub equals: Value,
    /// The provider's message.
    pub message: Name,
}

/// An annotation that a type or a link kind reads.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name that the expressions of a link kind use for it. Empty for an annotation of a type.
    pub alias: Name,
    /// The end of a link that carries it: `a` or `b`. Empty for an annotation of a type.
    pub side: Name,
    /// The key. It may hold one placeholder `<a>` or `<b>` for a linked name.
    pub key: Name,
    /// Its scalar type.
    pub ty: Type,
    /// Whether the annotation must be written.
    pub required: bool,
    /// The value if the annotation is not written.
    pub default: Option<Value>,
    /// The allowed values. Empty if all are.
    pub allowed: Vec<Value>,
}

/// A type of data source.
#[derive(Clone, Debug)]
pub struct DataSourceType {
    /// Its name.
    pub name: TypeId,
    /// One sentence for people.
    pub docs: Name,
    /// A complete YAML document that uses the type. Tests run it.
    pub example: Name,
    /// Filterable paths; `[]` in a path stands for every position.
    pub filters: IndexMap<Name, FilterField>,
    /// Groups of fields that exclude each other.
    pub exclusive: Vec<Vec<Name>>,
    /// Fields that a document must filter on. They are arguments rather than filters.
    pub required: Vec<Name>,
    /// Exportable fields. A name may have dots.
    pub schema: Arc<Schema>,
    /// Annotations that the type reads.
    pub annotations: Vec<Annotation>,
    /// Candidates of a simulated provider, in order.
    pub rows: Vec<Value>,
    /// Whether a read runs a command or sends a request. The user is told before a stage does this.
    pub acts: bool,
}

/// A field that a data source can be filtered on.
#[derive(Clone, Debug)]
pub struct FilterField {
    /// The type of the field.
    pub ty: FilterType,
    /// Operators that the provider applies itself.
    pub push_down: Vec<Name>,
    /// One sentence for people.
    pub docs: Name,
}

/// The type of a filterable field (decisions/documents#filters-of-data-sources).
#[derive(Clone, Debug, PartialEq)]
pub enum FilterType {
    /// A scalar.
    Scalar(Type),
    /// A list with items of this type.
    List(Type),
    /// A map with values of this type.
    Map(Type),
}

/// A custom variable type: a closed list of labels and values.
#[derive(Clone, Debug)]
pub struct CustomType {
    /// Its name.
    pub name: TypeId,
    /// One sentence for people.
    pub docs: Name,
    /// The type of all values.
    pub ty: Type,
    /// The options, in order.
    pub options: Vec<OptionOf>,
}

/// One option of a custom variable type.
#[derive(Clone, Debug)]
pub struct OptionOf {
    /// The text that a document writes.
    pub label: Name,
    /// The value of a reference.
    pub value: Value,
    /// One sentence for people.
    pub docs: Name,
}

impl CustomType {
    /// The option of that label.
    pub fn option(&self, label: &str) -> Option<&OptionOf> {
        self.options
            .iter()
            .find(|option| option.label.as_ref() == label)
    }
}

/// A transform and its abstract types.
#[derive(Clone, Debug)]
pub struct TransformDef {
    /// Its name.
    pub name: Name,
    /// One sentence for people.
    pub docs: Name,
    /// The types that only this transform declares.
    pub abstract_types: IndexMap<Name, AbstractType>,
}

/// A type that a transform turns into resource types.
#[derive(Clone, Debug)]
pub struct AbstractType {
    /// One sentence for people.
    pub docs: Name,
    /// The fields of its spec.
    pub schema: Arc<Schema>,
}

/// A setting of a provider.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its key.
    pub name: Name,
    /// The field that describes its value.
    pub field: Field,
}

/// The data of the hosted packages that a catalogue describes. A document may write any token after
/// the package's name and `/`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hosted {
    /// The family of the host that executes the calls, such as `pulumi`.
    pub family: Name,
    /// The version of the packages.
    pub version: Option<Name>,
    /// The parameters of a parameterized package: a map, or null.
    pub parameters: Value,
}

impl Hosted {
    /// The package of a namespace of the catalogue.
    pub fn package(&self, namespace: &Name) -> Package {
        Package {
            family: self.family.clone(),
            name: namespace.clone(),
            version: self.version.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

impl ResourceType {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.schema.fields.get(name)
    }

    /// Whether the type accepts any field and uses none. Its specs need no evaluation.
    pub fn takes_anything(&self) -> bool {
        self.schema.open && !self.schema.fields.values().any(Field::is_settable)
    }

    /// The attribute of that name, if it exists.
    pub fn attribute<'a>(&'a self, name: &str) -> Option<Attribute<'a>> {
        let own = || {
            self.schema
                .fields
                .get_key_value(name)
                .map(|(name, _)| Attribute::Field(name))
        };
        match &self.attributes {
            Attributes::Fields => own(),
            Attributes::Listed(listed) => listed.get(name).map(|field| Attribute::Field(field)),
            Attributes::Open(listed) => Some(
                listed
                    .get(name)
                    .map_or(Attribute::Nothing, |field| Attribute::Field(field)),
            ),
            Attributes::Anything => Some(Attribute::Nothing),
        }
    }

    /// The field that holds the value of a property where the document does not set it: the
    /// attribute of the same name, if the type keeps it in another field.
    pub fn filled_in(&self, property: &str) -> Option<&str> {
        match self.attribute(property)? {
            Attribute::Field(field) => (field != property).then_some(field),
            Attribute::Nothing => None,
        }
    }

    /// The named attributes, each with the field that holds it.
    pub fn attribute_names(&self) -> impl Iterator<Item = (&Name, &Name)> {
        let listed = match &self.attributes {
            Attributes::Listed(listed) | Attributes::Open(listed) => Some(listed),
            Attributes::Fields | Attributes::Anything => None,
        };
        let fields = (self.attributes == Attributes::Fields).then_some(&self.schema.fields);
        listed.into_iter().flatten().chain(
            fields
                .into_iter()
                .flat_map(|fields| fields.keys().map(|name| (name, name))),
        )
    }

    /// The changed fields that replace the resource because of
    /// [`replaces_where`](ResourceType::replaces_where).
    pub fn replaced_by_policy(&self, prior: &Value, desired: &Value) -> Vec<Name> {
        let applies = |rule: &&ReplacesWhere| {
            let changes = desired.get(&rule.field) != prior.get(&rule.field);
            changes
                && desired
                    .get(&rule.policy)
                    .is_some_and(|policy| *policy.unmarked() == rule.value)
        };
        self.replaces_where
            .iter()
            .filter(applies)
            .map(|rule| rule.field.clone())
            .collect()
    }

    /// Fields of the spec whose values must be unique among all resources of the type.
    pub fn unique_fields(&self) -> impl Iterator<Item = &Name> {
        self.schema
            .fields
            .iter()
            .filter(|(_, field)| field.unique)
            .map(|(name, _)| name)
    }
}

/// Whether the simulated value of a computed field depends on one of the changed paths of the spec,
/// or on the number of updates. `changed` are paths with dots and `[n]`.
pub fn depends_on_changes(field: &Field, changed: &[&str]) -> bool {
    let inside = |field: &Field| match &field.kind {
        Kind::Object(schema) => schema
            .fields
            .values()
            .any(|field| depends_on_changes(field, changed)),
        _ => false,
    };
    field
        .simulated_value
        .as_ref()
        .map_or_else(|| inside(field), |template| depends_on(template, changed))
}

fn depends_on(template: &Value, changed: &[&str]) -> bool {
    let under = |a: &str, b: &str| {
        a.strip_prefix(b)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match template {
        Value::Text(text) => text
            .split('{')
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('}')?.0))
            .any(|mark| {
                let is_changed = |path: &str| {
                    changed
                        .iter()
                        .any(|changed| under(path, changed) || under(changed, path))
                };
                mark == "updates" || mark.strip_prefix("spec.").is_some_and(is_changed)
            }),
        Value::List(items) => items.iter().any(|item| depends_on(item, changed)),
        Value::Map(entries) => entries.values().any(|value| depends_on(value, changed)),
        _ => false,
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    fn resource_type(more: &str) -> Result<Arc<ResourceType>, String> {
        let text = format!(
            r#"{{"format": 1, "namespace": ["OS::Shop", "OS::Shop::Far"], "resourceTypes": {{"OS::Shop::Rack": {{
                "fields": {{"width": {{"kind": "integer"}}, "id": {{"kind": "string", "computed": true}}}}, {more}}}}}}}"#
        );
        let catalog = read_catalog(&text).map_err(|error| error.to_string())?;
        Ok(catalog
            .resource_type("OS::Shop::Rack")
            .expect("it was just read"))
    }

    #[test]
    fn attributes_are_the_fields_unless_they_are_listed() {
        let fields = resource_type(r#""docs": """#).unwrap();
        assert_eq!(fields.attribute("width"), Some(Attribute::Field("width")));
        assert_eq!(fields.attribute_names().count(), 2);
        let listed = resource_type(r#""attributes": {"ref": "id"}"#).unwrap();
        assert_eq!(
            (listed.attribute("ref"), listed.attribute("width")),
            (Some(Attribute::Field("id")), None)
        );
        assert_eq!(
            listed
                .attribute_names()
                .map(|(name, _)| name.as_ref())
                .collect::<Vec<_>>(),
            ["ref"]
        );
        let any = resource_type(r#""attributes": "any""#).unwrap();
        assert_eq!(
            (any.attribute("id"), any.attribute("x")),
            (Some(Attribute::Nothing), Some(Attribute::Nothing))
        );
        assert!(
            resource_type(r#""attributes": {"ref": "ids"}"#)
                .unwrap_err()
                .contains("there is no field `ids`")
        );
        assert!(resource_type(r#""attributes": "all""#).is_err());
    }

    #[test]
    fn all_facts_of_a_type_are_read() {
        let ty = resource_type(
            r#""supportStatus": "deprecated", "service": "shop", "updatePolicy": {"batch": {"kind": "integer"}},
            "capabilities": {"snapshots": true, "describedOnly": true}"#,
        )
        .unwrap();
        assert_eq!(
            (ty.support_status, ty.service.as_deref()),
            (SupportStatus::Deprecated, Some("shop"))
        );
        assert!(
            ty.update_policy
                .as_ref()
                .is_some_and(|policy| policy.fields.contains_key("batch"))
        );
        assert!(ty.capabilities.snapshots && ty.capabilities.described_only);
        let waits = resource_type(
            r#""waits": [{"for": "OS::Shop::Till", "own": ["width"], "its": ["a.b"]}]"#,
        )
        .unwrap();
        assert_eq!(waits.waits[0].awaited_fields, ["a.b".into()]);
        let wrong = resource_type(
            r#""waits": [{"for": "OS::Shop::Till", "own": ["width[]"], "its": ["a"]}]"#,
        )
        .unwrap_err();
        assert!(wrong.contains("`width[]` leads to no field"), "{wrong}");
        assert!(
            resource_type(r#""supportStatus": "odd""#)
                .unwrap_err()
                .contains("`odd` is no support status")
        );
    }

    #[test]
    fn the_support_status_is_read_under_its_former_name() {
        let ty = resource_type(r#""standing": "hidden""#).unwrap();
        assert_eq!(ty.support_status, SupportStatus::Hidden);
        assert!(
            resource_type(r#""standing": "hidden", "supportStatus": "hidden""#)
                .unwrap_err()
                .contains("the former name of `supportStatus`")
        );
    }

    #[test]
    fn a_simulated_value_follows_the_fields_of_its_template() {
        let of = |template: &str| Field {
            computed: true,
            simulated_value: Some(template.into()),
            ..Field::of(Kind::String)
        };
        for (template, changed, expected) in [
            ("https://{spec.name}/", &["name"][..], true),
            ("https://{spec.name}/", &["names"], false),
            ("{spec.a.b}", &["a"], true),
            ("{spec.a}", &["a.b[0]"], true),
            ("{updates}", &[], true),
            ("{hash}-{id}", &["name"], false),
            ("fixed", &["name"], false),
        ] {
            assert_eq!(
                depends_on_changes(&of(template), changed),
                expected,
                "{template} {changed:?}"
            );
        }
    }
}
