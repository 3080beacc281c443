//! The dialect-free meaning of a document.

use std::time::Duration;

use diag::{Span, Spanned};

use crate::{Address, Batches, Breakpoints, Expr, IndexMap, Name, Packages, Type, TypeId, Value};

/// Where something was written, and in which dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the element if it has one, else the element.
    pub span: Span,
    /// The dialect of the document.
    pub dialect: &'static str,
}

/// One resource graph, as a document declares it. Everything is in document order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blueprint {
    /// The dialect it was written in.
    #[serde(skip)]
    pub dialect: &'static str,
    /// The version the document names, as text; empty if none.
    pub version: Name,
    /// The place of the document as a whole: its first key.
    #[serde(rename = "at")]
    pub span: Option<Span>,
    /// Transforms to run, in order.
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
    /// Free metadata of the document: a map, or nothing.
    pub metadata: Option<Expr>,
    /// Some references say what they refer to only once inputs are known: the dialect settles them then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// What is wrong with parts of the document, if these parts are there: the dialect says so once it settles that.
    #[serde(skip)]
    pub guarded: Vec<Guarded>,
    /// Things that had another address before, beside those that resources name themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
    /// The name of its instance, where the document states one; each dialect says how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Spanned<Name>>,
    /// Its elements are made and changed some at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Box<Batches>>,
}

impl Blueprint {
    /// Resolves the types of all elements: of a blueprint that was read from its wire form only the names are known.
    pub fn resolve_types(&mut self, packages: &Packages) {
        if packages.is_empty() {
            return;
        }
        let resources = self.resources.values_mut().map(|resource| &mut resource.type_name);
        let sources = self.data_sources.values_mut().map(|source| &mut source.type_name);
        let inputs = self.inputs.values_mut().filter_map(|input| input.custom_type.as_mut());
        for written in resources.chain(sources).chain(inputs) {
            written.item = packages.resolve(written.item.name().clone());
        }
    }
}

/// Mistakes that count only if a condition holds.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The condition.
    pub condition: Expr,
    /// The mistakes.
    pub found: Vec<diag::Diagnostic>,
}

/// A thing had another address before.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Move {
    /// The address of before.
    pub from: Address,
    /// The address of now.
    pub to: Address,
    /// Where that is written.
    pub span: Span,
}

/// A value that is given from outside.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Its type: primitive, or the value type of a custom one.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The name of a custom type of some provider; its values are then given by label (decision 4.2).
    pub custom_type: Option<Spanned<TypeId>>,
    /// Taken where nothing is given.
    pub default: Option<Spanned<Value>>,
    /// The only values allowed, if any are written.
    pub allowed: Vec<Spanned<Value>>,
    /// Must not be shown.
    pub secret: bool,
    /// What else its dialect holds it to, as data for the conventions of that dialect; null for nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub rules: Value,
    /// For people.
    pub description: Option<Name>,
}

impl Input {
    /// One that takes anything, and is null where nothing is given.
    pub fn free(span: Span) -> Input {
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
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type; text is parsed to it (decision S48).
    #[serde(rename = "type")]
    pub ty: Type,
    /// The expression.
    pub value: Expr,
    /// Must not be shown.
    pub secret: bool,
    /// For people; filled in last.
    pub description: Option<Expr>,
}

/// A thing outside that is read, not managed.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataSource {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Its type; empty where none could be read, which was reported.
    #[serde(rename = "type")]
    pub type_name: Spanned<TypeId>,
    /// All must hold.
    pub filters: Vec<Filter>,
    /// What is exported, by name.
    pub exports: IndexMap<Name, DataSourceExport>,
    /// Export everything that the catalogue lists: where `"*"` stands.
    pub export_all: Option<Span>,
    /// Annotations, display name and custom data.
    pub metadata: ResourceMetadata,
    /// For people.
    pub description: Option<Expr>,
}

/// One comparison that a candidate must meet.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Path of the field; empty where none could be read, which was reported.
    pub field: Spanned<Name>,
    /// The operator, as written; an unknown or empty one was reported.
    pub operator: Spanned<Name>,
    /// What to compare with.
    pub search: Expr,
}

/// One exported field of a data source.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataSourceExport {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type.
    #[serde(rename = "type")]
    pub ty: Spanned<Type>,
    /// The field it stands for, if not that of its own name; empty where none could be read, which was reported.
    pub alias_for: Option<Spanned<Name>>,
    /// For people.
    pub description: Option<Expr>,
}

/// A thing to manage.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Its type; empty where none could be read, which was reported.
    #[serde(rename = "type")]
    pub type_name: Spanned<TypeId>,
    /// The name of the type as it is written, where something makes another one of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Box<Spanned<TypeId>>>,
    /// Its fields: a map expression, or one in error where there was no map, which was reported.
    pub spec: Expr,
    /// Where the key `spec` stands; the name's place if it is missing.
    pub spec_key: Span,
    /// One thing for each item of a list.
    pub each: Option<Box<Each>>,
    /// Whether it is there at all: boolean, none counting as false.
    pub condition: Option<Box<Expr>>,
    /// Names of resources, and of children, that must be ready first.
    pub depends_on: Vec<Spanned<Name>>,
    /// What links select by.
    pub link_selector: Option<Box<LinkSelector>>,
    /// Labels, annotations, display name, custom data.
    pub metadata: ResourceMetadata,
    /// How its life is led.
    pub lifecycle: Lifecycle,
    /// What becomes of the thing when it is no longer declared, where that is said by a word that may be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Box<Expr>>,
    /// How updates are carried out, where its type lets documents say that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<Box<Expr>>,
    /// The id by which the thing exists already, where that is computed: the dialect settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<Box<Expr>>,
    /// What its fields would be if it were there, where its dialect has settled that it is not.
    #[serde(skip)]
    pub switched_off: Option<Box<Expr>>,
    /// For people; filled in last.
    pub description: Option<Box<Expr>>,
    /// The abstract resource of the document that a transform made this one from (decision 4.2). Set by the engine, by
    /// where the resource says that it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Name>,
}

impl Resource {
    /// A resource of which nothing but its type and its fields is said.
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
            link_selector: None,
            metadata: Default::default(),
            lifecycle: Default::default(),
            removal: None,
            update_policy: None,
            external: None,
            switched_off: None,
            description: None,
            made_from: None,
        }
    }
}

/// A repetition.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Each {
    /// Gives the list.
    pub list: Expr,
    /// Gives a member's key, where members are addressed by key (`cyan.eachKey`).
    pub key: Option<Expr>,
}

/// Data about a resource or data source.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceMetadata {
    /// A name for people.
    pub display_name: Option<Expr>,
    /// Labels, which links select by.
    pub labels: Vec<(Spanned<Name>, Spanned<Name>)>,
    /// Annotations.
    pub annotations: Vec<(Spanned<Name>, Expr)>,
    /// Free data.
    pub custom: Option<Expr>,
}

/// Which resources a resource links to.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkSelector {
    /// Where the key `linkSelector` stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Labels that the others must have, all of them.
    pub by_label: Vec<(Spanned<Name>, Spanned<Name>)>,
    /// Names that are skipped.
    pub exclude: Vec<Spanned<Name>>,
}

/// The union of what dialects offer about a resource's life; the planner honours all, a provider never sees it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// Never delete or replace.
    pub protect: bool,
    /// Leave the thing in the world when it is no longer declared.
    pub retain: bool,
    /// What may not be done to it; a plan that would is refused.
    #[serde(default)]
    pub restricted: Restricted,
    /// Where operations stop until a person lets them go on.
    #[serde(default, skip_serializing_if = "Breakpoints::is_empty")]
    pub breakpoints: Breakpoints,
    /// Read it, never change it, by this id.
    pub external: Option<Name>,
    /// Which half of a replacement comes first, if not the type's own order.
    pub replace_order: Option<ReplaceOrder>,
    /// Replace it if its last operation failed, instead of going on with it.
    pub replace_if_failed: bool,
    /// Paths inside the spec whose changes do not count.
    pub ignore_changes: Vec<Name>,
    /// Limits of time, if not the type's own.
    pub timeouts: Timeouts,
    /// Adopt the thing with this id of the provider.
    pub import: Option<Name>,
    /// Had these addresses before, as text that reads as an address.
    pub moved_from: Vec<Name>,
}

/// Actions that are forbidden for a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Restricted {
    /// It may not be updated in place.
    pub update: bool,
    /// It may not be made anew.
    pub replace: bool,
}

/// Limits of time by action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// For a create.
    pub create: Option<Duration>,
    /// For an update.
    pub update: Option<Duration>,
    /// For a delete.
    pub delete: Option<Duration>,
}

/// Which half of a replacement comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplaceOrder {
    /// The old thing goes, then the new one comes.
    DeleteFirst,
    /// The new thing comes, then the old one goes.
    CreateFirst,
}

/// Another document as a part of this one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Where to find it, relative to this document.
    pub path: Expr,
    /// The name of a type in whose place it stands, where that is how it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Spanned<Name>>,
    /// Its inputs.
    pub inputs: Vec<(Spanned<Name>, Expr)>,
    /// From what kind of place.
    pub source: Option<SourceMetadata>,
    /// Whether it is there at all.
    pub condition: Option<Expr>,
    /// Names of resources and children that must be ready first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Spanned<Name>>,
    /// What becomes of everything in it when it is no longer declared, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Box<Expr>>,
    /// How it is written out, where it is a group.
    pub expansion: Option<Box<Expansion>>,
    /// Where operations stop that do something in it; they hold for the child as a whole.
    #[serde(default, skip_serializing_if = "Breakpoints::is_empty")]
    pub breakpoints: Breakpoints,
    /// For people.
    pub description: Option<Expr>,
}

/// Where a child document comes from.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceMetadata {
    /// Where the key `metadata` stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// Its entries.
    pub entries: Vec<(Spanned<Name>, Expr)>,
}

/// How a child is made that stands in no text of its own: its dialect writes it out once what it is made from is known, from
/// the definition and from what is remembered of it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    /// What kind of group it is, in a word of its dialect: a type name.
    pub kind: Spanned<Name>,
    /// Its definition, in the document that declares it.
    pub spec: Expr,
    /// Where the key of the definition stands.
    pub spec_key: Span,
    /// How members are defined. What is computed in it is an input of the child, so that nothing in it reads the document above.
    pub member: Expr,
    /// How changes are carried out, if something is said of that.
    pub policy: Option<Expr>,
    /// What others read of it, by the names of exports.
    pub reads: Vec<Spanned<Name>>,
}

/// A value that others may read.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// Where its name stands.
    #[serde(rename = "at")]
    pub span: Span,
    /// The declared type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// What is exported.
    pub field: Expr,
    /// Where it comes to nothing it is null, with a warning, and the operation is unharmed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// Not shown: it is there for those who include the document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The entries of the map that it is may fail one by one: these are null.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_entry: bool,
    /// For people.
    pub description: Option<Expr>,
}
