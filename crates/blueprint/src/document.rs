//! The meaning of a document, independent of its dialect.

use std::time::Duration;

use diag::{Span, Spanned};

use crate::{
    Address, Batches, Breakpoints, Expr, ExprKind, FieldPath, IndexMap, Name, PROVIDER_TYPE,
    Packages, StatedPlugin, Ties, Type, TypeId, Value,
};

/// The place and dialect of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The place of the element's name; of the element itself if it has no name.
    pub span: Span,
    /// The dialect of the document.
    pub dialect: &'static str,
}

/// A resource graph as a document declares it. All elements are in document order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blueprint {
    /// The dialect of the document.
    #[serde(skip)]
    pub dialect: &'static str,
    /// The version that the document names; empty if it names none.
    pub version: Name,
    /// The place of the document: its first key.
    #[serde(rename = "at")]
    pub span: Option<Span>,
    /// Transforms that are applied, in order.
    pub transforms: Vec<Spanned<Name>>,
    /// Inputs by name.
    pub inputs: IndexMap<Name, Input>,
    /// Named intermediate values by name.
    pub locals: IndexMap<Name, Local>,
    /// Data sources by name.
    pub data_sources: IndexMap<Name, DataSource>,
    /// Resources by name.
    pub resources: IndexMap<Name, Resource>,
    /// Child documents by name.
    pub children: IndexMap<Name, Child>,
    /// Exported values by name.
    pub exports: IndexMap<Name, Export>,
    /// Free metadata of the document: a map expression.
    pub metadata: Option<Expr>,
    /// Whether the targets of some references depend on inputs. The dialect settles them once the
    /// inputs are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// The versions of the dialect's own tool that the document needs, where they are computed. The
    /// dialect settles them once the inputs are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_versions: Vec<Expr>,
    /// Mistakes in conditional parts of the document. The dialect reports them once their
    /// conditions are settled.
    #[serde(skip)]
    pub guarded: Vec<ConditionalErrors>,
    /// Renamed elements, in addition to those that resources name in `moved_from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
    /// The name of the instance, if the document states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Spanned<Name>>,
    /// The project of the document, in dialects that name one; empty in others.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub project: Name,
    /// The plugins of the packages whose functions are called with the default configuration, by
    /// namespace, in dialects whose states list them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub called_plugins: IndexMap<Name, StatedPlugin>,
    /// Set if the elements are created and changed in batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Box<Batches>>,
}

impl Blueprint {
    /// Resolves the types of all elements. A blueprint that was read from its wire form holds only
    /// their names.
    pub fn resolve_types(&mut self, packages: &Packages) {
        if packages.is_empty() {
            return;
        }
        let resources = self.resources.values_mut().flat_map(|resource| {
            [&mut resource.type_name]
                .into_iter()
                .chain(resource.stands_for.as_deref_mut())
        });
        let children = self.children.values_mut().flat_map(|child| {
            let group = child
                .expansion
                .as_mut()
                .map(|expansion| &mut expansion.kind);
            child.stands_for.iter_mut().chain(group)
        });
        let sources = self
            .data_sources
            .values_mut()
            .map(|source| &mut source.type_name);
        let inputs = self
            .inputs
            .values_mut()
            .filter_map(|input| input.custom_type.as_mut());
        for written in resources.chain(children).chain(sources).chain(inputs) {
            written.item = packages.resolve(written.item.name().clone());
        }
    }

    /// Returns the packages that the document names, each as often as it is named: those of its types,
    /// and those that its resources of type [`PROVIDER_TYPE`] configure.
    pub fn package_names(&self) -> impl Iterator<Item = &str> {
        let resources = self.resources.values().flat_map(|resource| {
            let written = resource.stands_for.as_deref();
            let configured = resource.configured_namespace();
            let types = [&resource.type_name].into_iter().chain(written);
            types
                .map(|written| written.item.package_name())
                .chain(configured)
        });
        let children = self.children.values().flat_map(|child| {
            let group = child.expansion.as_ref().map(|expansion| &expansion.kind);
            child.stands_for.iter().chain(group)
        });
        let sources = self.data_sources.values().map(|source| &source.type_name);
        let inputs = self.inputs.values().flat_map(|input| &input.custom_type);
        let others = children.chain(sources).chain(inputs);
        resources.chain(others.map(|written| written.item.package_name()))
    }
}

/// Mistakes that are reported only if a condition is true.
#[derive(Clone, Debug)]
pub struct ConditionalErrors {
    /// The condition.
    pub condition: Expr,
    /// The mistakes.
    pub found: Vec<diag::Diagnostic>,
}

/// A former address of an element.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Move {
    /// The former address.
    pub from: Address,
    /// The current address.
    pub to: Address,
    /// The place of the declaration.
    pub span: Span,
}

/// An input of the document.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The place of the input's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The type: a primitive type, or the value type of a custom type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The name of a provider's custom type. Its values are given by label
    /// (decisions/documents#custom-types).
    pub custom_type: Option<Spanned<TypeId>>,
    /// The value if no input is given.
    pub default: Option<Spanned<Value>>,
    /// The only allowed values; empty if all are allowed.
    pub allowed: Vec<Spanned<Value>>,
    /// Whether the value must not be shown.
    pub secret: bool,
    /// Further rules of the dialect, as data that the dialect interprets; null if there are none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub rules: Value,
    /// A description for people.
    pub description: Option<Name>,
}

impl Input {
    /// An input of any type, whose default is null.
    pub fn optional_untyped(span: Span) -> Input {
        Input {
            span,
            ty: Type::Any,
            custom_type: None,
            default: Some(Spanned::new(Value::Null, span)),
            allowed: Vec::new(),
            secret: false,
            rules: Value::Null,
            description: None,
        }
    }
}

/// A named intermediate value.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Local {
    /// The place of the value's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type; text is parsed to it (decisions/blueprint#text-of-typed-values).
    #[serde(rename = "type")]
    pub ty: Type,
    /// The expression.
    pub value: Expr,
    /// Whether the value must not be shown.
    pub secret: bool,
    /// A description for people. Evaluated last.
    pub description: Option<Expr>,
}

/// An existing object in the world that is read, not managed.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataSource {
    /// The place of the data source's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The type; empty if it was invalid, which has been reported.
    #[serde(rename = "type")]
    pub type_name: Spanned<TypeId>,
    /// Filters. A candidate must match all of them.
    pub filters: Vec<Filter>,
    /// The exported fields, by name.
    pub exports: IndexMap<Name, DataSourceExport>,
    /// The place of `"*"`: exports all fields of the catalogue.
    pub export_all: Option<Span>,
    /// The resource that declares the provider's configuration; `None` for the configuration of the
    /// document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Box<Spanned<Name>>>,
    /// Annotations, display name and custom data.
    pub metadata: ResourceMetadata,
    /// A description for people.
    pub description: Option<Expr>,
}

/// A comparison that a candidate must match.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// The path of the field; empty if it was invalid, which has been reported.
    pub field: Spanned<Name>,
    /// The operator as written. Unknown and empty operators have been reported.
    pub operator: Spanned<Name>,
    /// The value to compare with.
    pub search: Expr,
}

/// One exported field of a data source.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataSourceExport {
    /// The place of the export's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type.
    #[serde(rename = "type")]
    pub ty: Spanned<Type>,
    /// The source field, if its name differs; empty if it was invalid, which has been reported.
    pub alias_for: Option<Spanned<Name>>,
    /// A description for people.
    pub description: Option<Expr>,
}

/// A managed resource.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The place of the resource's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The type; empty if it was invalid, which has been reported.
    #[serde(rename = "type")]
    pub type_name: Spanned<TypeId>,
    /// The type name as written, if it was replaced by another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Box<Spanned<TypeId>>>,
    /// The fields: a map expression. An error expression if there was no map, which has been
    /// reported.
    pub spec: Expr,
    /// The place of the key `spec`; the place of the name if the key is missing.
    pub spec_key: Span,
    /// The list, if the resource has one member for each item.
    pub each: Option<Box<Each>>,
    /// Whether the resource exists: boolean. None counts as false.
    pub condition: Option<Box<Expr>>,
    /// The names of resources and children that must be ready first.
    pub depends_on: Vec<Spanned<Name>>,
    /// The resource that declares the provider's configuration; `None` for the configuration of the
    /// document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Box<Spanned<Name>>>,
    /// The dialect's rule for when the object is ready; `None` if its provider decides that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Box<ReadinessRule>>,
    /// The resource that it belongs to. The names of plugins say so; dependencies do not follow from
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Spanned<Name>>>,
    /// The name of the resource for plugins, if it differs from the name in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_name: Option<Name>,
    /// Its ties to other resources and to former identities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<Box<Ties>>,
    /// The selector of links.
    pub link_selector: Option<Box<LinkSelector>>,
    /// Labels, annotations, display name, custom data.
    pub metadata: ResourceMetadata,
    /// Lifecycle settings.
    pub lifecycle: Lifecycle,
    /// Whether the resource must never be deleted or replaced, if that is computed: boolean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<Box<Expr>>,
    /// The deletion policy, if it may be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Box<Expr>>,
    /// The update policy, if the type lets documents set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<Box<Expr>>,
    /// The id of the existing resource, if it is computed. The dialect settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<Box<Expr>>,
    /// The values that the fields would have, if the dialect has settled that the resource does not
    /// exist.
    #[serde(skip)]
    pub switched_off: Option<Box<Expr>>,
    /// Settings that are computed: a map whose keys only the dialect knows. The dialect settles them
    /// once the inputs are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Box<Expr>>,
    /// A description for people. Evaluated last.
    pub description: Option<Box<Expr>>,
    /// The abstract resource of the document from which a transform made this one
    /// (decisions/documents#transforms). The engine sets it from the place of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Name>,
}

impl Resource {
    /// The namespace of the provider that the resource configures, if it is a literal; `None` unless
    /// its type is [`PROVIDER_TYPE`].
    pub fn configured_namespace(&self) -> Option<&str> {
        if self.type_name.item.name().as_ref() != PROVIDER_TYPE {
            return None;
        }
        let ExprKind::Map(entries) = &self.spec.inner().kind else {
            return None;
        };
        let (_, namespace) = entries
            .iter()
            .find(|(key, _)| key.item.as_ref() == "namespace")?;
        namespace.inner().as_literal()?.as_text()
    }

    /// A resource with only a type and fields.
    pub fn new(span: Span, type_name: Spanned<TypeId>, spec_key: Span, spec: Expr) -> Resource {
        Resource {
            span,
            type_name,
            stands_for: None,
            spec,
            spec_key,
            each: None,
            condition: None,
            depends_on: Vec::new(),
            provider: None,
            readiness: None,
            parent: None,
            logical_name: None,
            ties: None,
            link_selector: None,
            metadata: Default::default(),
            lifecycle: Default::default(),
            protection: None,
            removal: None,
            update_policy: None,
            external: None,
            switched_off: None,
            computed: None,
            description: None,
            made_from: None,
        }
    }
}

/// A rule of a dialect for when an object is ready (decisions/apply#rules-for-readiness).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessRule {
    /// A function of the dialect. It is called with the rule, all fields of the object, and whether
    /// they are simulated, and returns null if the object is ready, or a text that says what it waits
    /// for.
    pub function: Name,
    /// The rule, as data of the dialect.
    pub rule: Value,
}

/// A repetition of a resource.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Each {
    /// The list.
    pub list: Expr,
    /// The key of a member, if members are addressed by key (`cyan.eachKey`).
    pub key: Option<Expr>,
}

/// Data about a resource or data source.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceMetadata {
    /// A name for people.
    pub display_name: Option<Expr>,
    /// Labels. Links select by them.
    pub labels: Vec<(Spanned<Name>, Spanned<Name>)>,
    /// Annotations.
    pub annotations: Vec<(Spanned<Name>, Expr)>,
    /// Free data.
    pub custom: Option<Expr>,
    /// A value whose change replaces the resource. Null on either side changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement_trigger: Option<Box<Expr>>,
}

impl ResourceMetadata {
    /// The key of the replacement trigger in evaluated metadata.
    pub const REPLACEMENT_TRIGGER: &str = "replacementTrigger";
}

/// The resources that a resource links to.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkSelector {
    /// The place of the key `linkSelector`.
    #[serde(rename = "at")]
    pub span: Span,
    /// Labels of the other resources. All must match.
    pub by_label: Vec<(Spanned<Name>, Spanned<Name>)>,
    /// Names of excluded resources.
    pub exclude: Vec<Spanned<Name>>,
}

/// The lifecycle settings of all dialects. The planner applies them all; providers never receive
/// them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// Whether the resource must never be deleted or replaced.
    pub protect: bool,
    /// Whether the object is kept when the resource is no longer declared.
    pub retain: bool,
    /// Forbidden actions. A plan that needs one of them is refused.
    #[serde(default)]
    pub restricted: Restricted,
    /// Breakpoints at which operations stop until a person resumes them.
    #[serde(default, skip_serializing_if = "Breakpoints::is_empty")]
    pub breakpoints: Breakpoints,
    /// The id of an existing resource that is read and never changed.
    pub external: Option<Spanned<Name>>,
    /// The order of a replacement, if it differs from that of the type.
    pub replace_order: Option<ReplaceOrder>,
    /// Whether the resource is replaced, instead of continued, if its last operation failed.
    pub replace_if_failed: bool,
    /// Paths inside the spec whose changes are ignored.
    pub ignore_changes: Vec<Name>,
    /// Fields whose values must not be shown, besides those that the type calls sensitive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_fields: Vec<Name>,
    /// Paths inside the spec whose changes replace the resource, although the provider could update
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace_on_changes: Vec<FieldPath>,
    /// Time limits, if they differ from those of the type.
    pub timeouts: Timeouts,
    /// The provider's id of an existing resource to import.
    pub import: Option<Name>,
    /// Former addresses, as text.
    pub moved_from: Vec<Name>,
}

/// Actions that are forbidden for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Restricted {
    /// Whether updates in place are forbidden.
    pub update: bool,
    /// Whether replacements are forbidden.
    pub replace: bool,
}

/// Time limits by action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// The limit of a create.
    pub create: Option<Duration>,
    /// The limit of an update.
    pub update: Option<Duration>,
    /// The limit of a delete.
    pub delete: Option<Duration>,
    /// The limit of a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Duration>,
}

/// The order of the two halves of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplaceOrder {
    /// Delete the old resource, then create the new one.
    DeleteFirst,
    /// Create the new resource, then delete the old one.
    CreateFirst,
}

/// How an object is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeleteMode {
    /// It is deleted.
    #[default]
    Delete,
    /// A snapshot of it is taken, then it is deleted. The snapshot stays in the world, and no
    /// instance manages it.
    SnapshotFirst,
}

impl DeleteMode {
    /// Whether nothing is done besides the delete. Records leave this mode out.
    pub fn is_plain(&self) -> bool {
        *self == DeleteMode::Delete
    }
}

/// A child document.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// The place of the child's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The path of the document, relative to the including document.
    pub path: Expr,
    /// The type name that the child replaces, if it is written as a resource of a type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Spanned<TypeId>>,
    /// The inputs.
    pub inputs: Vec<(Spanned<Name>, Expr)>,
    /// The kind of source it is read from.
    pub source: Option<SourceMetadata>,
    /// Whether the child exists.
    pub condition: Option<Expr>,
    /// The names of resources and children that must be ready first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Spanned<Name>>,
    /// The resources that declare the configurations of providers, for all resources in the child
    /// that choose none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<Spanned<Name>>,
    /// The deletion policy of everything in the child, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Box<Expr>>,
    /// The expansion, if the child is a group.
    pub expansion: Option<Box<Expansion>>,
    /// Breakpoints at which operations on the contents stop. They apply to the child as a whole.
    #[serde(default, skip_serializing_if = "Breakpoints::is_empty")]
    pub breakpoints: Breakpoints,
    /// A description for people.
    pub description: Option<Expr>,
}

/// The source of a child document.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceMetadata {
    /// The place of the key `metadata`.
    #[serde(rename = "at")]
    pub span: Span,
    /// The entries of the metadata.
    pub entries: Vec<(Spanned<Name>, Expr)>,
}

/// The expansion of a child without a text of its own. The dialect generates it from the definition
/// and the stored members once the inputs of the definition are known.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    /// The kind of group, as a type of the dialect.
    pub kind: Spanned<TypeId>,
    /// The definition, in the document that declares the group.
    pub spec: Expr,
    /// The place of the key of the definition.
    pub spec_key: Span,
    /// The definition of members. Computed parts of it become inputs of the child, so that the
    /// child does not read its parent.
    pub member: Expr,
    /// The update policy, if there is one.
    pub policy: Option<Expr>,
    /// The exports that other elements read.
    pub reads: Vec<Spanned<Name>>,
}

/// An exported value.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// The place of the export's name.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The exported value.
    pub field: Expr,
    /// Whether a failed evaluation makes the export null, with a warning, instead of failing the
    /// operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// Whether the export is not shown, because only the including document reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether the entries of the export's map may fail one by one. A failed entry is null.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_entry: bool,
    /// A description for people.
    pub description: Option<Expr>,
}
