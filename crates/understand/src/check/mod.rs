//! From a blueprint to a checked one: everything that the document alone shows, all mistakes at once, each once.
//!
//! Names first (`names`), then what needs what (`edges`), then types: of named values in the order of need, then of
//! everything else in document order. A part in error has the type [`Type::Error`], fits everywhere and gives no second
//! diagnostic.
//!
//! Not here: the shape of a document (its dialect reports that), inputs given from outside, what becomes known at stage
//! or later. Two functions are for those stages: [`spec::conform`] and [`value::declared`].
//!
//! The work is linear: names by hash, a resource's type once per type name, each expression walked twice.

pub mod below;
pub use below::{Passed, pass_down};
mod by_value;
mod callbacks;
mod calls;
pub mod children;
pub use children::{child_failed, missing_input, not_allowed, substitutions};
pub mod codes;
mod conditions;
pub mod conform;
mod cycles;
mod data_sources;
mod each;
pub mod edges;
mod exports;
mod filters;
mod inputs;
mod limits;
pub mod links;
mod locals;
mod metadata;
mod names;
mod providers;
mod references;
mod resolutions;
pub use resolutions::{DefinitionKind, Resolution, Resolutions};
mod resources;
pub use resources::description_mismatch;
mod secrets;
pub use secrets::{handed_down, shown_from_above};
pub mod spec;
mod types;
pub mod value;
mod waits;

use std::cell::Cell;
use std::sync::Arc;

use blueprint::{Blueprint, Name, Schema, Type, Value};
use diag::{Diagnostics, Span};
use dialects::{CheckedBy, Checks, DialectRules};
use expr::FunctionTable;
use provider::{Catalogs, CustomType, DataSourceType, ResourceType};

use crate::graph::{Graph, Node};
use crate::links::Links;
use by_value::known::Known;
use limits::Patterns;

/// So many names are looked at for suggestions in one document.
const MOST_SUGGESTIONS: usize = 200_000;

/// A blueprint of which everything is known that the document alone shows.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What was checked.
    pub blueprint: Arc<Blueprint>,
    /// The rules of its dialect.
    pub rules: DialectRules,
    /// What needs what. References to metadata are edges as long as that makes no circle; where they would, they are
    /// left out, because they order nothing but evaluation (decision A10).
    pub graph: Arc<Graph>,
    /// The links that the document makes.
    pub links: Arc<Links>,
    /// The type of each resource, by position; none where it is unknown (and reported) or abstract.
    pub resource_types: Vec<Option<Arc<ResourceType>>>,
    /// The type of each named intermediate value, by position.
    pub local_types: Vec<Type>,
    /// The type of each input, by position: the declared one, or that of a custom type's values.
    pub input_types: Vec<Type>,
    /// The custom type of each input, by position, where it has one that some provider offers.
    pub custom_types: Vec<Option<Arc<CustomType>>>,
    /// The type of each data source, by position; none where it is unknown (and reported).
    pub data_source_types: Vec<Option<Arc<DataSourceType>>>,
    /// The digest of what transforms made of the document, once they have run.
    pub made: Option<Name>,
    /// The type of each export, by position: the declared one, made more exact by what is exported.
    pub export_types: Vec<Type>,
    /// Whether each export, by position, shows something secret, as far as the document alone tells.
    pub secret_exports: Vec<bool>,
    /// What each name in the document resolves to, by place.
    pub resolutions: Arc<Resolutions>,
}

/// A child document as its parent sees it.
#[derive(Clone, Debug)]
pub struct Included {
    /// Its meaning.
    pub checked: Arc<Checked>,
}

/// What a document is checked with.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// What providers offer.
    pub catalogs: &'a Catalogs,
    /// What expressions can call.
    pub functions: &'a FunctionTable,
    /// The rules of the document's dialect.
    pub rules: DialectRules,
    /// The places that documents can come from; none where these are not known.
    pub kinds: Option<&'a [&'static source::Kind]>,
}

impl<'a> CheckContext<'a> {
    /// For a document of that dialect. The places that documents can come from are not known.
    pub fn new(catalogs: &'a Catalogs, functions: &'a FunctionTable, rules: DialectRules) -> CheckContext<'a> {
        CheckContext { catalogs, functions, rules, kinds: None }
    }
}

/// Checks a document by itself: nothing is known of its children.
///
/// Reports everything at once, in document order.
pub fn check(blueprint: Arc<Blueprint>, context: &CheckContext<'_>, found: &mut Diagnostics) -> Checked {
    check_at(blueprint, &[], context, Stage::Written(None), found).0
}

/// Checks a document with its children, by position, as far as they could be read; they have been checked before.
pub fn check_with(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    found: &mut Diagnostics,
) -> Checked {
    check_at(blueprint, children, context, Stage::Written(None), found).0
}

/// The same of a document in a place where its inputs, by position, are known: its dialect may look at values too. With what
/// its children are passed, by position, as far as that can be told.
pub fn check_in_place(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    inputs: Option<&[Value]>,
    found: &mut Diagnostics,
) -> (Checked, Vec<Option<Passed>>) {
    check_at(blueprint, children, context, Stage::Written(inputs), found)
}

/// Checks what transforms have made of a document: types that only a transform knows may not be there any more.
pub fn check_transformed(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    found: &mut Diagnostics,
) -> Checked {
    check_at(blueprint, children, context, Stage::Transformed, found).0
}

/// What a document that still has abstract resources cannot be blamed for: transforms make names, labels and links.
const LEFT_TO_TRANSFORMS: &[&diag::Code] = &[
    &codes::UNKNOWN_RESOURCE,
    &codes::UNKNOWN_LINK,
    &codes::NO_LINK_KIND,
    &codes::LINK_DIRECTION,
    &codes::SELECTOR_MATCHES_NOTHING,
    &codes::LINK_CARDINALITY,
    &codes::LINK_CAPABILITY_MISSING,
    &codes::LINK_NEEDS_RESOURCE,
    &dialects::codes::UNKNOWN_ANNOTATION,
];

/// At which stage of its life a document is checked.
enum Stage<'k> {
    /// As it was written; with its inputs, where these are known.
    Written(Option<&'k [Value]>),
    /// As transforms have made it.
    Transformed,
}

fn check_at(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    stage: Stage<'_>,
    found: &mut Diagnostics,
) -> (Checked, Vec<Option<Passed>>) {
    let mut checker = Checker::new(&blueprint, context);
    let transformed = matches!(stage, Stage::Transformed);
    checker.transformed = transformed;
    let rules = context.rules;
    let inputs = if let Stage::Written(inputs) = stage { inputs } else { None };
    checker.included = children;
    checker.transforms();
    checker.resource_types();
    checker.data_source_types();
    match rules.checks.inputs {
        CheckedBy::Type => checker.inputs(),
        CheckedBy::Value => checker.inputs_by_value(),
    }
    let links = checker.links();
    let graph = checker.order(&links);
    let export_types = checker.elements(&graph, &links, inputs);
    checker.secrets();
    let secret_exports = checker.secret_exports();
    checker.resolutions.sort();
    let Checker {
        found: mut mine,
        resources,
        local_types,
        input_types,
        custom_types,
        data_sources,
        passed,
        resolutions,
        ..
    } = checker;
    let is_abstract = |ty: &TypeOf| matches!(ty, TypeOf::Abstract(_));
    if !transformed && !blueprint.transforms.is_empty() && resources.iter().any(is_abstract) {
        mine.retain(|diagnostic| !LEFT_TO_TRANSFORMS.iter().any(|code| code.name == diagnostic.code.name));
    }
    mine.sort();
    once(&mut mine);
    found.append(mine);
    let checked = Checked {
        graph: Arc::new(graph),
        links,
        resource_types: resources.into_iter().map(TypeOf::known).collect(),
        local_types,
        input_types,
        custom_types,
        data_source_types: data_sources,
        export_types,
        secret_exports,
        resolutions: Arc::new(resolutions),
        made: None,
        blueprint,
        rules,
    };
    (checked, passed)
}

/// Takes away what is said twice of one place, which aliases of YAML make two of.
fn once(found: &mut Diagnostics) {
    let mut place = Span::NONE;
    let mut said: Vec<(&'static str, String)> = Vec::new();
    found.retain(|diagnostic| {
        if diagnostic.span() != place {
            place = diagnostic.span();
            said.clear();
        }
        let this = (diagnostic.code.name, diagnostic.message.clone());
        let new = !said.contains(&this);
        said.push(this);
        new
    });
}

/// What is known of a resource's type.
#[derive(Clone, Debug)]
pub(super) enum TypeOf {
    /// A provider offers it.
    Known(Arc<ResourceType>),
    /// Only a transform knows it.
    Abstract(Arc<Schema>),
    /// Unknown, and reported where that is a mistake.
    Open,
}

impl TypeOf {
    pub(super) fn known(self) -> Option<Arc<ResourceType>> {
        match self {
            TypeOf::Known(found) => Some(found),
            _ => None,
        }
    }

    /// The fields, unless the type is open.
    pub(super) fn schema(&self) -> Option<&Arc<Schema>> {
        match self {
            TypeOf::Known(found) => Some(&found.schema),
            TypeOf::Abstract(schema) => Some(schema),
            TypeOf::Open => None,
        }
    }
}

/// What the checks share: what was declared, what its types are, and what is wrong so far.
struct Checker<'a> {
    blueprint: &'a Blueprint,
    catalogs: &'a Catalogs,
    functions: &'a FunctionTable,
    rules: DialectRules,
    found: Diagnostics,
    /// Children by position, as far as they could be read.
    included: &'a [Option<Included>],
    /// The kinds of places that documents can come from, where these are known.
    kinds: Option<&'a [&'static source::Kind]>,
    /// What each child is handed, by position, as far as that can be told.
    passed: Vec<Option<Passed>>,
    resources: Vec<TypeOf>,
    data_sources: Vec<Option<Arc<DataSourceType>>>,
    input_types: Vec<Type>,
    custom_types: Vec<Option<Arc<CustomType>>>,
    local_types: Vec<Type>,
    /// A listed transform is unknown, so nobody can say which types it would have known.
    unknown_transform: bool,
    /// Transforms have run.
    transformed: bool,
    /// The links of the document, once they are found.
    links: Arc<Links>,
    patterns: Patterns,
    /// What names resolve to, as far as they have been checked.
    resolutions: Resolutions,
    /// How many names may still be looked at for suggestions, so that a document full of unknown names stays linear.
    suggestions: Cell<usize>,
}

/// Where an expression stands, as far as its meaning depends on that.
#[derive(Clone, Copy)]
struct Place<'p> {
    /// The element whose evaluation it is a part of.
    owner: Option<Node>,
    /// What `elem` and `i` mean.
    repetition: Repetition<'p>,
    /// Descriptions order nothing, so they may read their own element (decision A10).
    description: bool,
    /// A direct argument of a call that takes an absent element for `none` (decision S31).
    guarded: bool,
}

/// What `elem` and `i` mean somewhere (decision S39).
#[derive(Clone, Copy)]
enum Repetition<'p> {
    /// An item of this type, and its position.
    Item(&'p Type),
    /// Nothing: the resource has no `each`.
    NoEach,
    /// Nothing in this part of a document, with or without `each`.
    NotHere(&'static str),
}

impl<'p> Place<'p> {
    /// Inside an element, in a part where `elem` and `i` mean nothing.
    fn of(owner: Node, part: &'static str) -> Place<'static> {
        Place { owner: Some(owner), repetition: Repetition::NotHere(part), description: false, guarded: false }
    }

    /// In no element that others can need.
    fn outside(part: &'static str) -> Place<'static> {
        Place { owner: None, repetition: Repetition::NotHere(part), description: false, guarded: false }
    }

    fn described(self) -> Place<'p> {
        Place { description: true, ..self }
    }

    fn guarded(self, guarded: bool) -> Place<'p> {
        Place { guarded, ..self }
    }
}

impl<'a> Checker<'a> {
    fn new(blueprint: &'a Blueprint, context: &CheckContext<'a>) -> Checker<'a> {
        Checker {
            blueprint,
            catalogs: context.catalogs,
            functions: context.functions,
            rules: context.rules,
            found: Diagnostics::new(),
            included: &[],
            kinds: context.kinds,
            passed: Vec::new(),
            resources: Vec::new(),
            data_sources: Vec::new(),
            input_types: Vec::new(),
            custom_types: Vec::new(),
            local_types: Vec::new(),
            unknown_transform: false,
            transformed: false,
            links: Arc::default(),
            patterns: Patterns::default(),
            resolutions: Resolutions::default(),
            suggestions: Cell::new(MOST_SUGGESTIONS),
        }
    }
    /// Checks the elements of a document, each as its dialect has it checked, and gives the types of the exports.
    fn elements(&mut self, graph: &Graph, links: &Links, inputs: Option<&[Value]>) -> Vec<Type> {
        let checks = self.rules.checks;
        // Values of locals that are checked by their types are needed as well, where something else is checked by its value.
        let mut of_locals = Diagnostics::new();
        let known = (checks != Checks::BY_TYPE)
            .then(|| Known::new(self.blueprint, inputs, self.functions, self.rules.messages, graph, &mut of_locals));
        match checks.locals {
            CheckedBy::Type => self.locals(graph),
            CheckedBy::Value => {
                self.local_types = vec![Type::Any; self.blueprint.locals.len()];
                self.found.append(of_locals);
            }
        }
        self.data_sources();
        match &known {
            Some(known) if checks.resources == CheckedBy::Value => self.resources_by_value(known),
            _ => self.resources(graph, links),
        }
        match &known {
            Some(known) if checks.children == CheckedBy::Value => self.children_by_value(known),
            _ => self.children(graph),
        }
        let export_types = match &known {
            Some(known) if checks.exports == CheckedBy::Value => self.exports_by_value(known),
            _ => self.exports(),
        };
        self.document_metadata();
        if checks != Checks::BY_TYPE {
            self.resolve_by_value();
        }
        export_types
    }
}
