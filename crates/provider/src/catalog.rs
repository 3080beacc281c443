//! All fixed facts of a provider, as data.

use std::sync::Arc;

use blueprint::{
    Expr, Field, IndexMap, Kind, Name, Package, PackageFamily, Packages, ReplaceOrder, Schema, Standing, Type, Value,
};
use expr::FunctionDef;

use crate::lazy::plain_name;
use crate::{Rate, RetryPolicy, TypeSource};

/// What a provider offers. Read from a catalogue file with [`read_catalog`](crate::read_catalog).
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The namespaces of everything in it.
    pub namespaces: Vec<Name>,
    /// A sentence for people.
    pub docs: Name,
    /// Resource types by name, those that lie ready: [`Catalog::resource_type`] finds all.
    pub resource_types: IndexMap<Name, Arc<ResourceType>>,
    /// Data source types by name, those that lie ready: [`Catalog::data_source_type`] finds all.
    pub data_source_types: IndexMap<Name, Arc<DataSourceType>>,
    /// Custom variable types by name, those that lie ready: [`Catalog::variable_type`] finds all.
    pub variable_types: IndexMap<Name, Arc<CustomType>>,
    /// Functions, in order.
    pub functions: Vec<FunctionDef>,
    /// Link kinds, in order.
    pub link_kinds: Vec<Arc<LinkKind>>,
    /// Transforms by name.
    pub transforms: IndexMap<Name, Arc<TransformDef>>,
    /// Keys of `[providers.NAMESPACE]` in `cyan.toml`.
    pub settings: Vec<Setting>,
    /// At most this many calls at once; 0 for no limit of its own.
    pub max_parallel: u32,
    /// How often it may be called; none for as often as anybody likes.
    pub rate: Option<Rate>,
    /// How calls that were refused are made again.
    pub retries: RetryPolicy,
    /// Type names match without regard to case and hyphens within a segment (ruling A7).
    pub loose_names: bool,
    /// Shown by `cyan types` only with `--all`.
    pub hidden: bool,
    /// Its namespaces are hosted packages; none for those of a built-in provider.
    pub hosted: Option<Hosted>,
    /// Further types, read when they are first asked for.
    pub source: Option<Arc<dyn TypeSource>>,
}

/// A catalogue whose types belong to hosted packages: a document may write any token behind the package's name and `/`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hosted {
    /// What carries out the calls; never [`PackageFamily::BuiltIn`].
    pub family: PackageFamily,
    /// The version of the packages.
    pub version: Option<Name>,
    /// What makes a parameterized package out of its plugin: a map, or null.
    pub parameters: Value,
}

/// A type of resource.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// Its name: `local/file`.
    pub name: Name,
    /// One sentence for people.
    pub docs: Name,
    /// A document that uses it, in YAML, and that runs.
    pub example: Name,
    /// The fields of its spec, computed ones included.
    pub schema: Arc<Schema>,
    /// The field that stands for the thing as a whole (ruling S21).
    pub id_field: Option<Name>,
    /// Which half of a replacement comes first.
    pub replace_order: ReplaceOrder,
    /// Types on which this one waits until they are ready, not only configured (reference 5.3).
    pub needs_stable: Vec<Name>,
    /// Refusals that are known beforehand: the provider's own validation as data.
    pub rejects: Vec<Rejection>,
    /// Annotations that the type itself knows.
    pub annotations: Vec<Annotation>,
    /// What the engine may ask about it.
    pub capabilities: Capabilities,
    /// The version of its records.
    pub schema_version: u32,
    /// What may be read of a thing, for dialects that tell attributes from fields.
    pub attributes: Attributes,
    /// What a document may say of how updates are carried out; none if nothing.
    pub update_policy: Option<Arc<Schema>>,
    /// The service that it talks to, where one is known.
    pub service: Option<Name>,
    /// How far it is meant to be used.
    pub standing: Standing,
    /// What a thing waits for beyond what it reads and what its document says.
    pub waits: Vec<Wait>,
    /// Fields of which a change replaces the thing where another field says so.
    pub replaces_where: Vec<ReplacesWhere>,
    /// Fields that name files which are read when the thing is made or changed, each with the computed field that holds their
    /// digest as last read. A change of such a file is a change of what is wanted, not drift.
    pub sources: IndexMap<Name, Name>,
    /// The field that must be set for a thing to be read at all; none where every thing of the type can be read.
    pub reads_with: Option<Name>,
}

/// A change of a field replaces the thing where another field has a certain value by then: a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplacesWhere {
    /// The field that is changed.
    pub field: Name,
    /// The field that says so.
    pub policy: Name,
    /// Its value.
    pub value: Value,
}

/// Things of one type wait for those of another type, in the same document, that have to do with the same third thing: a port for the
/// subnets of its network.
///
/// That two fields mean the same is told from what is written there: the same text, or the same reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The type of what is waited for.
    pub type_name: Name,
    /// Fields of the thing that waits, any of which may name the third thing: names with dots, `[]` behind one for every item.
    pub own: Vec<Name>,
    /// Fields of what is waited for, any of which may name it.
    pub its: Vec<Name>,
    /// The third thing is not named by the own fields themselves: they name a thing of this type, whose fields at these paths do.
    pub through: Option<(Name, Vec<Name>)>,
}

/// What may be read of a thing, for dialects that tell attributes from fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Attributes {
    /// Every field, under its own name.
    #[default]
    Fields,
    /// These alone, each with the field that holds it.
    Listed(IndexMap<Name, Name>),
    /// These, each with the field that holds it, and any other name, which the service answers itself.
    Open(IndexMap<Name, Name>),
    /// Any name, and each of them is null.
    Anything,
}

/// What an attribute of a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// A field holds it.
    Field(&'a str),
    /// It is there and always null.
    Nothing,
}

/// What the engine may or must ask about a type; what is not said here is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// `Provider::check` has something to say.
    pub checks: bool,
    /// `Provider::plan` has something to say.
    pub plans: bool,
    /// `Provider::plan` says before a create what is at its place.
    pub adopts: bool,
    /// Things can be read back by their id.
    pub reads: bool,
    /// A thing can be adopted by its id.
    pub imports: bool,
    /// Whether a create was made can always be told afterwards, by its token.
    pub finds: bool,
    /// A snapshot of a thing can be taken before it is deleted.
    pub snapshots: bool,
    /// Only described: nobody here can manage such a thing, even where the namespace has a provider.
    pub described_only: bool,
    /// `Provider::preflight` has something to say.
    pub preflights: bool,
}

impl Default for Capabilities {
    fn default() -> Capabilities {
        Capabilities {
            checks: false,
            plans: false,
            adopts: false,
            reads: true,
            imports: true,
            finds: false,
            snapshots: false,
            described_only: false,
            preflights: false,
        }
    }
}

/// A field value that the provider refuses.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The field.
    pub field: Name,
    /// The value.
    pub equals: Value,
    /// The provider's words.
    pub message: Name,
}

/// An annotation that somebody reads.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name under which a link kind's expressions know it; empty for one of a type.
    pub alias: Name,
    /// Whose annotation it is: `a` or `b` of a link kind; empty for one of a type.
    pub side: Name,
    /// The key; may hold one placeholder `<a>` or `<b>` for a linked name.
    pub key: Name,
    /// Its type: a scalar one.
    pub ty: Type,
    /// Must be written.
    pub required: bool,
    /// Taken where it is not written.
    pub default: Option<Value>,
    /// The only values allowed.
    pub allowed: Vec<Value>,
}

/// A type of data source.
#[derive(Clone, Debug)]
pub struct DataSourceType {
    /// Its name.
    pub name: Name,
    /// One sentence for people.
    pub docs: Name,
    /// A document that uses it, in YAML, and that runs.
    pub example: Name,
    /// Filterable paths; `[]` in one stands for every position.
    pub filters: IndexMap<Name, FilterField>,
    /// Fields that may not stand together.
    pub exclusive: Vec<Vec<Name>>,
    /// Fields that must be filtered on, being arguments rather than filters.
    pub required: Vec<Name>,
    /// Exportable fields; a name may have dots.
    pub schema: Arc<Schema>,
    /// Annotations that the type knows.
    pub annotations: Vec<Annotation>,
    /// Candidates of a simulated provider, in order.
    pub rows: Vec<Value>,
    /// Runs a command or sends a request when read; said before a stage does so.
    pub acts: bool,
}

/// A field that can be filtered on.
#[derive(Clone, Debug)]
pub struct FilterField {
    /// What it holds.
    pub ty: FilterType,
    /// Operators that the provider applies itself.
    pub push_down: Vec<Name>,
    /// One sentence for people.
    pub docs: Name,
}

/// What a filterable field holds (reference 4.1).
#[derive(Clone, Debug, PartialEq)]
pub enum FilterType {
    /// A scalar.
    Scalar(Type),
    /// A list of one kind.
    List(Type),
    /// A map with values of one kind.
    Map(Type),
}

/// A custom variable type: a closed list of labels and values.
#[derive(Clone, Debug)]
pub struct CustomType {
    /// Its name.
    pub name: Name,
    /// One sentence for people.
    pub docs: Name,
    /// The kind of all values.
    pub ty: Type,
    /// The options, in order.
    pub options: Vec<OptionOf>,
}

/// One option of a custom variable type.
#[derive(Clone, Debug)]
pub struct OptionOf {
    /// What a document writes.
    pub label: Name,
    /// What a reference gives.
    pub value: Value,
    /// For people.
    pub docs: Name,
}

impl CustomType {
    /// The option of that label.
    pub fn option(&self, label: &str) -> Option<&OptionOf> {
        self.options.iter().find(|option| option.label.as_ref() == label)
    }
}

/// A kind of link between two types (reference 3.2).
#[derive(Clone, Debug)]
pub struct LinkKind {
    /// The type on side a.
    pub a: Name,
    /// The type on side b.
    pub b: Name,
    /// Which end must be there first; none for a soft link.
    pub first: Option<LinkEnd>,
    /// Least and greatest number of such links per a.
    pub per_a: (u32, Option<u32>),
    /// Least and greatest number of such links per b.
    pub per_b: (u32, Option<u32>),
    /// Guarantees given: side and name.
    pub gives: Vec<(LinkEnd, Name)>,
    /// Guarantees needed: side, name, and whether somebody must give it.
    pub needs: Vec<(LinkEnd, Name, bool)>,
    /// Annotations it reads.
    pub annotations: Vec<Annotation>,
    /// What must be true, and the text otherwise.
    pub require: Vec<(Expr, Expr)>,
    /// Neighbours it writes to, by name.
    pub uses: IndexMap<Name, LinkUse>,
    /// Intermediary resources, by name.
    pub parts: IndexMap<Name, LinkPart>,
    /// Contributions to specs.
    pub effects: Vec<LinkEffect>,
    /// What `link(a, b)` gives.
    pub data: Option<Expr>,
}

/// An end of a link.
pub type LinkEnd = Side;

/// Side a or b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one with the selector.
    A,
    /// The selected one.
    B,
}

/// An existing resource that a link writes to.
#[derive(Clone, Debug)]
pub struct LinkUse {
    /// On which end the reference stands.
    pub of: LinkEnd,
    /// In which field.
    pub field: Name,
    /// Its type.
    pub type_name: Name,
}

/// A resource that a link owns.
#[derive(Clone, Debug)]
pub struct LinkPart {
    /// Its type.
    pub type_name: Name,
    /// Its spec.
    pub spec: Expr,
    /// Whether it is there at all.
    pub condition: Option<Expr>,
}

/// A contribution of a link to a spec.
#[derive(Clone, Debug)]
pub struct LinkEffect {
    /// `a`, `b`, or `use.NAME`.
    pub into: Name,
    /// How it writes.
    pub opinion: Opinion,
    /// What it writes.
    pub value: Expr,
    /// A step of its own once the target is ready, instead of a part of the target's desired spec.
    pub after: bool,
}

/// How a contribution writes.
#[derive(Clone, Debug)]
pub enum Opinion {
    /// One field.
    Set(Name),
    /// One entry of a map: path and key.
    Put(Name, Expr),
    /// One item of a list: path and identifying field.
    Add(Name, Option<Name>),
}

/// A transform and the abstract types it knows.
#[derive(Clone, Debug)]
pub struct TransformDef {
    /// Its name.
    pub name: Name,
    /// One sentence for people.
    pub docs: Name,
    /// Types that only it knows.
    pub abstract_types: IndexMap<Name, AbstractType>,
}

/// A type that a transform turns into real ones.
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
    /// What it holds.
    pub field: Field,
}

/// What to do to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Make it.
    Create,
    /// Change it in place.
    Update,
    /// Take it away.
    Delete,
}

impl Operation {
    /// The word: `create`, `update` or `delete`.
    pub fn word(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// What a written type name turned out to be.
#[derive(Clone, Debug)]
pub enum TypeRef<T> {
    /// Found.
    Known(Arc<T>),
    /// The namespace is known, the type is not.
    UnknownType,
    /// Nobody offers the namespace.
    UnknownNamespace,
}

/// The catalogues of all providers at hand, looked up by type.
#[derive(Clone, Debug, Default)]
pub struct Catalogs {
    by_namespace: IndexMap<Name, Arc<Catalog>>,
    packages: Packages,
    /// Link kinds by the types on side a and b, in this order.
    link_kinds: IndexMap<Name, IndexMap<Name, Arc<LinkKind>>>,
}

impl Catalogs {
    /// From the catalogues in the order in which their providers are registered. A namespace claimed twice stays with the first;
    /// the namespaces claimed again are returned.
    pub fn new(catalogs: impl IntoIterator<Item = Arc<Catalog>>) -> (Catalogs, Vec<Name>) {
        let mut by_namespace = IndexMap::default();
        let mut link_kinds: IndexMap<Name, IndexMap<Name, Arc<LinkKind>>> = IndexMap::default();
        let mut packages = Packages::new();
        let mut twice = Vec::new();
        for catalog in catalogs {
            for kind in &catalog.link_kinds {
                let of_a = link_kinds.entry(kind.a.clone()).or_default();
                of_a.entry(kind.b.clone()).or_insert_with(|| kind.clone());
            }
            for namespace in &catalog.namespaces {
                if by_namespace.contains_key(namespace) {
                    twice.push(namespace.clone());
                } else {
                    if let Some(hosted) = &catalog.hosted {
                        packages.add(Arc::new(hosted.package(namespace)));
                    }
                    by_namespace.insert(namespace.clone(), catalog.clone());
                }
            }
        }
        (Catalogs { by_namespace, packages, link_kinds }, twice)
    }

    /// The namespace of a type name: what stands before the first `/`; where there is none, before the last `::`, as in
    /// `OS::Heat::Value`. A name with neither is itself one of a namespace.
    pub fn namespace_of(type_name: &str) -> &str {
        let parts = type_name.split_once('/').or_else(|| type_name.rsplit_once("::"));
        parts.map_or(type_name, |(namespace, _)| namespace)
    }

    /// What a type is called within its group: what stands behind the last `/` or `::`.
    pub fn last_name_of(type_name: &str) -> &str {
        let last = type_name.rsplit('/').next().unwrap_or(type_name);
        last.rsplit("::").next().unwrap_or(last)
    }

    /// The hosted packages among the namespaces, to resolve written types with.
    pub fn packages(&self) -> &Packages {
        &self.packages
    }

    /// The catalogue that offers a namespace.
    pub fn of(&self, namespace: &str) -> Option<&Arc<Catalog>> {
        self.by_namespace.get(namespace)
    }

    /// The catalogues, each once.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Catalog>> {
        self.by_namespace
            .iter()
            .filter(|(name, catalog)| catalog.namespaces.first() == Some(*name))
            .map(|(_, catalog)| catalog)
    }

    /// All namespaces.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.by_namespace.keys().map(|name| name.as_ref())
    }

    /// The catalogue that a written type name belongs to: by its namespace, spelt loosely where the catalogue says so.
    fn owner(&self, type_name: &str) -> Option<&Arc<Catalog>> {
        let namespace = Self::namespace_of(type_name);
        self.by_namespace.get(namespace).or_else(|| {
            let mut loose = self.by_namespace.iter().filter(|(_, catalog)| catalog.loose_names).peekable();
            loose.peek()?;
            let wanted = plain_name(namespace);
            loose.find(|(name, _)| plain_name(name) == wanted).map(|(_, catalog)| catalog)
        })
    }

    fn find<T>(&self, name: &str, look: impl Fn(&Catalog) -> Option<Arc<T>>) -> TypeRef<T> {
        let Some(catalog) = self.owner(name) else { return TypeRef::UnknownNamespace };
        look(catalog).map_or(TypeRef::UnknownType, TypeRef::Known)
    }

    /// The resource type of that name. Its own name is the catalogue's spelling.
    pub fn resource_type(&self, name: &str) -> TypeRef<ResourceType> {
        self.find(name, |catalog| catalog.resource_type(name))
    }

    /// The data source type of that name. Its own name is the catalogue's spelling.
    pub fn data_source_type(&self, name: &str) -> TypeRef<DataSourceType> {
        self.find(name, |catalog| catalog.data_source_type(name))
    }

    /// The custom variable type of that name. Its own name is the catalogue's spelling.
    pub fn variable_type(&self, name: &str) -> TypeRef<CustomType> {
        self.find(name, |catalog| catalog.variable_type(name))
    }

    /// All resource type names, for suggestions; no type is read for it.
    pub fn resource_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter().flat_map(|catalog| catalog.resource_type_names())
    }

    /// All custom variable type names, for suggestions.
    pub fn variable_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter().flat_map(|catalog| catalog.variable_type_names())
    }

    /// All data source type names, for suggestions; no type is read for it.
    pub fn data_source_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter().flat_map(|catalog| catalog.data_source_type_names())
    }

    /// The link kind for an ordered pair of types.
    pub fn link_kind(&self, a: &str, b: &str) -> Option<&Arc<LinkKind>> {
        self.link_kinds.get(a)?.get(b)
    }

    /// All link kinds whose side a is of this type.
    pub fn link_kinds_from(&self, a: &str) -> impl Iterator<Item = &Arc<LinkKind>> {
        self.link_kinds.get(a).into_iter().flat_map(|kinds| kinds.values())
    }

    /// All link kinds.
    pub fn link_kinds(&self) -> impl Iterator<Item = &Arc<LinkKind>> {
        self.link_kinds.values().flat_map(|kinds| kinds.values())
    }

    /// The transform of that name.
    pub fn transform(&self, name: &str) -> Option<&Arc<TransformDef>> {
        self.iter().find_map(|catalog| catalog.transforms.get(name))
    }

    /// The abstract type of that name, and the transform that knows it.
    pub fn abstract_type(&self, name: &str) -> Option<(&Arc<TransformDef>, &AbstractType)> {
        let transforms = self.iter().flat_map(|catalog| catalog.transforms.values());
        transforms.filter_map(|transform| Some((transform, transform.abstract_types.get(name)?))).next()
    }

    /// All transform names, for suggestions.
    pub fn transform_names(&self) -> impl Iterator<Item = &str> {
        self.iter().flat_map(|catalog| catalog.transforms.keys().map(|name| name.as_ref()))
    }
}

impl Hosted {
    /// The package that a namespace of the catalogue is.
    fn package(&self, namespace: &Name) -> Package {
        Package {
            family: self.family,
            name: namespace.clone(),
            version: self.version.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

impl ResourceType {
    /// The field at a path of names and positions; `None` where the path leaves the schema or enters free content.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.schema.fields.get(name)
    }

    /// Whether it takes any field and makes nothing of any: nothing that is said of it needs to be looked at.
    pub fn takes_anything(&self) -> bool {
        self.schema.open && !self.schema.fields.values().any(Field::is_settable)
    }

    /// What an attribute of that name is; none if there is no such attribute.
    pub fn attribute<'a>(&'a self, name: &str) -> Option<Attribute<'a>> {
        let own = || self.schema.fields.get_key_value(name).map(|(name, _)| Attribute::Field(name));
        match &self.attributes {
            Attributes::Fields => own(),
            Attributes::Listed(listed) => listed.get(name).map(|field| Attribute::Field(field)),
            Attributes::Open(listed) => {
                Some(listed.get(name).map_or(Attribute::Nothing, |field| Attribute::Field(field)))
            }
            Attributes::Anything => Some(Attribute::Nothing),
        }
    }

    /// The attributes that have a name, each with the field that holds it.
    pub fn attribute_names(&self) -> impl Iterator<Item = (&Name, &Name)> {
        let listed = match &self.attributes {
            Attributes::Listed(listed) | Attributes::Open(listed) => Some(listed),
            Attributes::Fields | Attributes::Anything => None,
        };
        let fields = (self.attributes == Attributes::Fields).then_some(&self.schema.fields);
        listed.into_iter().flatten().chain(fields.into_iter().flat_map(|fields| fields.keys().map(|name| (name, name))))
    }

    /// Changed fields that replace the thing because of what other fields say: what `Provider::plan` says of them.
    pub fn replaced_by_policy(&self, prior: &Value, desired: &Value) -> Vec<Name> {
        let says = |rule: &&ReplacesWhere| {
            let changes = desired.get(&rule.field) != prior.get(&rule.field);
            changes && desired.get(&rule.policy).is_some_and(|policy| *policy.bare() == rule.value)
        };
        self.replaces_where.iter().filter(says).map(|rule| rule.field.clone()).collect()
    }

    /// Fields of the spec whose values no two things may share.
    pub fn unique_fields(&self) -> impl Iterator<Item = &Name> {
        self.schema.fields.iter().filter(|(_, field)| field.unique).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    #[test]
    fn a_namespace_ends_at_the_first_slash_or_the_last_pair_of_colons() {
        for (name, namespace, last) in [
            ("local/file", "local", "file"),
            ("aws/ec2/vpc", "aws", "vpc"),
            ("OS::Heat::Value", "OS::Heat", "Value"),
            ("OS::Neutron::LBaaS::Pool", "OS::Neutron::LBaaS", "Pool"),
            ("AWS::EC2::Instance", "AWS::EC2", "Instance"),
            ("OS::Nova", "OS", "Nova"),
            ("a::b/c::d", "a::b", "d"),
            ("alone", "alone", "alone"),
            ("", "", ""),
        ] {
            assert_eq!((Catalogs::namespace_of(name), Catalogs::last_name_of(name)), (namespace, last), "{name}");
        }
    }

    fn shelf(more: &str) -> Result<Arc<ResourceType>, String> {
        let text = format!(
            r#"{{"format": 1, "namespace": ["OS::Shop", "OS::Shop::Far"], "resourceTypes": {{"OS::Shop::Shelf": {{
                "fields": {{"width": {{"kind": "integer"}}, "id": {{"kind": "string", "computed": true}}}}, {more}}}}}}}"#
        );
        let catalog = read_catalog(&text).map_err(|error| error.to_string())?;
        Ok(catalog.resource_type("OS::Shop::Shelf").expect("it was just read"))
    }

    #[test]
    fn types_are_found_by_names_with_colons() {
        let text = r#"{"format": 1, "namespace": ["OS::Shop", "OS::Shop::Far"],
            "resourceTypes": {"OS::Shop::Shelf": {}, "OS::Shop::Far::Shelf": {}}}"#;
        let (catalogs, twice) = Catalogs::new([Arc::new(read_catalog(text).unwrap())]);
        assert!(twice.is_empty());
        assert!(matches!(catalogs.resource_type("OS::Shop::Far::Shelf"), TypeRef::Known(_)));
        assert!(matches!(catalogs.resource_type("OS::Shop::Till"), TypeRef::UnknownType));
        assert!(matches!(catalogs.resource_type("OS::Shoe::Shelf"), TypeRef::UnknownNamespace));
        for (namespace, name) in [("OS::Shop", "OS::Shop"), ("OS::Shop", "OS::Shop::"), ("OS::Shop", "OS::Shop::A::B")]
        {
            let text = format!(r#"{{"format": 1, "namespace": "{namespace}", "resourceTypes": {{"{name}": {{}}}}}}"#);
            assert!(read_catalog(&text).is_err(), "{name}");
        }
        assert!(read_catalog(r#"{"format": 1, "namespace": "OS::"}"#).is_err());
    }

    #[test]
    fn attributes_are_fields_unless_they_are_listed() {
        let fields = shelf(r#""docs": """#).unwrap();
        assert_eq!(fields.attribute("width"), Some(Attribute::Field("width")));
        assert_eq!(fields.attribute_names().count(), 2);
        let listed = shelf(r#""attributes": {"ref": "id"}"#).unwrap();
        assert_eq!((listed.attribute("ref"), listed.attribute("width")), (Some(Attribute::Field("id")), None));
        assert_eq!(listed.attribute_names().map(|(name, _)| name.as_ref()).collect::<Vec<_>>(), ["ref"]);
        let any = shelf(r#""attributes": "any""#).unwrap();
        assert_eq!((any.attribute("id"), any.attribute("x")), (Some(Attribute::Nothing), Some(Attribute::Nothing)));
        assert!(shelf(r#""attributes": {"ref": "ids"}"#).unwrap_err().contains("there is no field `ids`"));
        assert!(shelf(r#""attributes": "all""#).is_err());
    }

    #[test]
    fn what_else_is_said_of_a_type_is_kept() {
        let ty = shelf(
            r#""standing": "deprecated", "service": "shop", "updatePolicy": {"batch": {"kind": "integer"}},
            "capabilities": {"snapshots": true, "describedOnly": true}"#,
        )
        .unwrap();
        assert_eq!((ty.standing, ty.service.as_deref()), (Standing::Deprecated, Some("shop")));
        assert!(ty.update_policy.as_ref().is_some_and(|policy| policy.fields.contains_key("batch")));
        assert!(ty.capabilities.snapshots && ty.capabilities.described_only);
        let waits = shelf(r#""waits": [{"for": "OS::Shop::Till", "own": ["width"], "its": ["a.b"]}]"#).unwrap();
        assert_eq!(waits.waits[0].its, ["a.b".into()]);
        let wrong = shelf(r#""waits": [{"for": "OS::Shop::Till", "own": ["width[]"], "its": ["a"]}]"#).unwrap_err();
        assert!(wrong.contains("`width[]` leads to no field"), "{wrong}");
        assert!(shelf(r#""standing": "odd""#).unwrap_err().contains("`odd` is no standing"));
    }
}

/// Whether the value that a simulation fills into a computed field is made from one of these paths of the spec, or from how
/// often the thing was updated.
pub fn follows(field: &Field, changed: &[&str]) -> bool {
    let inside = |field: &Field| match &field.kind {
        Kind::Object(schema) => schema.fields.values().any(|field| follows(field, changed)),
        _ => false,
    };
    field.value.as_ref().map_or_else(|| inside(field), |template| reads(template, changed))
}

fn reads(template: &Value, changed: &[&str]) -> bool {
    let under =
        |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    match template {
        Value::Text(text) => text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).any(|mark| {
            let is_changed = |path: &str| changed.iter().any(|changed| under(path, changed) || under(changed, path));
            mark == "updates" || mark.strip_prefix("spec.").is_some_and(is_changed)
        }),
        Value::List(items) => items.iter().any(|item| reads(item, changed)),
        Value::Map(entries) => entries.values().any(|value| reads(value, changed)),
        _ => false,
    }
}

#[cfg(test)]
mod simulated_values {
    use super::*;

    #[test]
    fn a_simulated_value_follows_the_fields_that_it_is_made_from() {
        let of = |template: &str| Field { computed: true, value: Some(template.into()), ..Field::of(Kind::String) };
        for (template, changed, expected) in [
            ("https://{spec.name}/", &["name"][..], true),
            ("https://{spec.name}/", &["names"], false),
            ("{spec.a.b}", &["a"], true),
            ("{spec.a}", &["a.b[0]"], true),
            ("{updates}", &[], true),
            ("{hash}-{id}", &["name"], false),
            ("fixed", &["name"], false),
        ] {
            assert_eq!(follows(&of(template), changed), expected, "{template} {changed:?}");
        }
    }
}
