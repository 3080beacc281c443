//! Checks a blueprint. Reports all errors that the document alone shows, each once.
//!
//! The check resolves names first (`names`), then finds dependencies (`edges`), then infers types:
//! first the types of named values in the order of dependency, then all others in document order. A
//! part with an error has the type [`Type::Error`], which fits everywhere and causes no second
//! diagnostic.
//!
//! Not here: the shape of a document (its dialect reports that), inputs from outside, and values
//! that become known at stage or later. [`spec::conform`] and [`value::declared`] are for those
//! stages.
//!
//! The work is linear: names are hashed, a resource's type is resolved once per type name, and each
//! expression is walked twice.

pub mod passed_inputs;
pub use passed_inputs::{PassedInputs, compute_passed_inputs};
mod by_value;
pub use by_value::no_snapshot;
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
mod hints;
pub use hints::{FormerAddress, circles_of_moves};
mod inputs;
mod invoke;
mod limits;
pub mod links;
mod locals;
mod metadata;
mod names;
mod provider_names;
pub(crate) mod provider_settings;
mod providers;
mod references;
mod resolutions;
pub use resolutions::{DefinitionKind, Resolution, Resolutions, resolutions};
mod resources;
pub use resources::description_mismatch;
mod secrets;
pub use secrets::{errors_of_passed_secrets, secrets_passed_down};
mod implicit_dependencies;
pub mod spec;
mod types;
pub mod value;

use std::cell::Cell;
use std::sync::Arc;

use blueprint::{Blueprint, IndexMap, Name, Schema, Type, Value};
use diag::{Diagnostics, Span};
use dialect::{CheckedBy, Checks, DialectRules};
use expr::{FunctionDef, FunctionTable};
use provider::{Catalogs, CustomType, DataSourceType, ProviderNames, ResourceType};

use crate::graph::{Graph, GraphNode};
use crate::links::Links;
use by_value::known::{KnownTypes, KnownValues};
use limits::Patterns;

/// The maximum number of names that are compared for suggestions in one document.
const MOST_SUGGESTIONS: usize = 200_000;

/// A checked blueprint with all facts that the document alone shows.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The blueprint.
    pub blueprint: Arc<Blueprint>,
    /// The rules of its dialect.
    pub rules: DialectRules,
    /// The dependencies of elements. A reference to metadata is an edge unless it closes a cycle:
    /// it orders only evaluation (decisions/blueprint#references-that-cause-an-order).
    pub graph: Arc<Graph>,
    /// The links that the document declares.
    pub links: Arc<Links>,
    /// The type of each resource, by position; `None` if it is unknown (which is reported) or
    /// abstract.
    pub resource_types: Vec<Option<Arc<ResourceType>>>,
    /// The type of each named intermediate value, by position.
    pub local_types: Vec<Type>,
    /// The type of each input, by position: the declared type, or that of a custom type's values.
    pub input_types: Vec<Type>,
    /// The custom type of each input, by position, if a provider offers it.
    pub custom_types: Vec<Option<Arc<CustomType>>>,
    /// The type of each data source, by position; `None` if it is unknown (which is reported).
    pub data_source_types: Vec<Option<Arc<DataSourceType>>>,
    /// The functions of packages that the expressions call, by name; without unknown ones (which
    /// are reported).
    pub package_functions: IndexMap<Name, Arc<FunctionDef>>,
    /// The names of providers.
    pub providers: ProviderNames,
    /// The digest of the result of the transforms, once they have run.
    pub transform_digest: Option<Name>,
    /// The type of each export, by position: the declared type, refined by the type of its value.
    pub export_types: Vec<Type>,
    /// Whether each export, by position, contains a secret, as far as the document alone shows.
    pub secret_exports: Vec<bool>,
}

/// A child document as its parent sees it.
#[derive(Clone, Debug)]
pub struct Included {
    /// The checked document.
    pub checked: Arc<Checked>,
}

/// The context of a check.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The providers' catalogues.
    pub catalogs: &'a Catalogs,
    /// The functions that expressions can call.
    pub functions: &'a FunctionTable,
    /// The rules of the document's dialect.
    pub rules: DialectRules,
    /// The kinds of sources of documents; `None` if they are not known.
    pub kinds: Option<&'a [&'static source::SourceKind]>,
}

impl<'a> CheckContext<'a> {
    /// A context for a document of a dialect, without kinds of sources.
    pub fn new(
        catalogs: &'a Catalogs,
        functions: &'a FunctionTable,
        rules: DialectRules,
    ) -> CheckContext<'a> {
        CheckContext {
            catalogs,
            functions,
            rules,
            kinds: None,
        }
    }
}

/// Checks a document without knowledge of its children.
///
/// Reports all errors in document order.
pub fn check(
    blueprint: Arc<Blueprint>,
    context: &CheckContext<'_>,
    found: &mut Diagnostics,
) -> Checked {
    check_at(blueprint, &[], context, CheckStage::Written(None), found).0
}

/// Checks a document with its children. `children` are by position, already checked; `None` for a
/// child that could not be read.
pub fn check_with(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    found: &mut Diagnostics,
) -> Checked {
    check_at(
        blueprint,
        children,
        context,
        CheckStage::Written(None),
        found,
    )
    .0
}

/// Checks a document in a place with known inputs, by position. Its dialect may check values too.
/// Also returns the inputs that its children receive, by position, as far as they are known.
pub fn check_in_place(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    inputs: Option<&[Value]>,
    found: &mut Diagnostics,
) -> (Checked, Vec<Option<PassedInputs>>) {
    check_at(
        blueprint,
        children,
        context,
        CheckStage::Written(inputs),
        found,
    )
}

/// Checks the result of transforms. Types that only a transform knows are now errors.
pub fn check_transformed(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    found: &mut Diagnostics,
) -> Checked {
    check_at(blueprint, children, context, CheckStage::Transformed, found).0
}

/// Errors that are ignored while a document has abstract resources: transforms generate names,
/// labels and links.
const LEFT_TO_TRANSFORMS: &[&diag::Code] = &[
    &codes::UNKNOWN_RESOURCE,
    &codes::UNKNOWN_LINK,
    &codes::NO_LINK_KIND,
    &codes::LINK_DIRECTION,
    &codes::SELECTOR_MATCHES_NOTHING,
    &codes::LINK_CARDINALITY,
    &codes::LINK_CAPABILITY_MISSING,
    &codes::LINK_NEEDS_RESOURCE,
    &dialect::codes::UNKNOWN_ANNOTATION,
];

/// The stage at which a document is checked.
enum CheckStage<'k> {
    /// As written, with its inputs if they are known.
    Written(Option<&'k [Value]>),
    /// After its transforms.
    Transformed,
}

fn check_at(
    blueprint: Arc<Blueprint>,
    children: &[Option<Included>],
    context: &CheckContext<'_>,
    stage: CheckStage<'_>,
    found: &mut Diagnostics,
) -> (Checked, Vec<Option<PassedInputs>>) {
    let mut checker = Checker::new(&blueprint, children, context);
    let transformed = matches!(stage, CheckStage::Transformed);
    checker.transformed = transformed;
    let rules = context.rules;
    let inputs = if let CheckStage::Written(inputs) = stage {
        inputs
    } else {
        None
    };
    let CheckedElements {
        graph,
        links,
        export_types,
    } = checker.elements(inputs);
    checker.secrets();
    let secret_exports = checker.secret_exports();
    let Checker {
        found: mut mine,
        resources,
        local_types,
        input_types,
        custom_types,
        data_sources,
        passed,
        package_functions,
        ..
    } = checker;
    let is_abstract = |ty: &TypeOf| matches!(ty, TypeOf::Abstract(_));
    if !transformed && !blueprint.transforms.is_empty() && resources.iter().any(is_abstract) {
        mine.retain(|diagnostic| {
            !LEFT_TO_TRANSFORMS
                .iter()
                .any(|code| code.name == diagnostic.code.name)
        });
    }
    mine.sort();
    remove_duplicates(&mut mine);
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
        package_functions,
        providers: context.catalogs.names().clone(),
        transform_digest: None,
        blueprint,
        rules,
    };
    (checked, passed)
}

/// Removes duplicate diagnostics of one place. Aliases of YAML cause them.
fn remove_duplicates(found: &mut Diagnostics) {
    let mut place = Span::NONE;
    let mut reported: Vec<(&'static str, String)> = Vec::new();
    found.retain(|diagnostic| {
        if diagnostic.span() != place {
            place = diagnostic.span();
            reported.clear();
        }
        let this = (diagnostic.code.name, diagnostic.message.clone());
        let new = !reported.contains(&this);
        reported.push(this);
        new
    });
}

/// The type of a resource, as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum TypeOf {
    /// A provider offers the type.
    Known(Arc<ResourceType>),
    /// Only a transform knows the type.
    Abstract(Arc<Schema>),
    /// Unknown; reported if that is an error.
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

/// The results of the check of all elements, without their types.
struct CheckedElements {
    graph: Graph,
    links: Arc<Links>,
    export_types: Vec<Type>,
}

/// The shared state of the checks: declarations, types, and diagnostics so far.
struct Checker<'a> {
    blueprint: &'a Blueprint,
    catalogs: &'a Catalogs,
    functions: &'a FunctionTable,
    rules: DialectRules,
    found: Diagnostics,
    /// Children by position; `None` for a child that could not be read.
    included: &'a [Option<Included>],
    /// The kinds of sources of documents, if they are known.
    kinds: Option<&'a [&'static source::SourceKind]>,
    /// The inputs of each child, by position, as far as they are known.
    passed: Vec<Option<PassedInputs>>,
    resources: Vec<TypeOf>,
    data_sources: Vec<Option<Arc<DataSourceType>>>,
    input_types: Vec<Type>,
    custom_types: Vec<Option<Arc<CustomType>>>,
    local_types: Vec<Type>,
    package_functions: IndexMap<Name, Arc<FunctionDef>>,
    /// Whether a listed transform is unknown, so that its abstract types are unknown too.
    unknown_transform: bool,
    /// Whether the transforms have run.
    transformed: bool,
    /// The links of the document, once they are resolved.
    links: Arc<Links>,
    patterns: Patterns,
    /// The resolutions so far; `None` unless an editor asks for them.
    resolutions: Option<Resolutions>,
    /// The remaining number of comparisons for suggestions. The limit keeps the work for a document
    /// full of unknown names linear.
    suggestions: Cell<usize>,
}

/// The context of an expression, as far as its meaning depends on it.
#[derive(Clone, Copy)]
struct ExpressionContext<'p> {
    /// The element whose evaluation includes the expression.
    owner: Option<GraphNode>,
    /// The meaning of `elem` and `i`.
    repetition: Repetition<'p>,
    /// Whether the expression is in a description. Descriptions order nothing, so they may read
    /// their own element (decisions/blueprint#references-that-cause-an-order).
    description: bool,
    /// Whether the expression is a direct argument of a call that treats an absent element as
    /// `none` (decisions/blueprint#absent-elements).
    guarded: bool,
}

/// The meaning of `elem` and `i` in a context (decisions/blueprint#elem-and-i).
#[derive(Clone, Copy)]
enum Repetition<'p> {
    /// An item of this type, and its position.
    Item(&'p Type),
    /// No meaning: the resource has no `each`.
    NoEach,
    /// No meaning in this part of a document, with or without `each`.
    NotHere(&'static str),
}

impl<'p> ExpressionContext<'p> {
    /// A context in an element, in a part without `elem` and `i`.
    fn of(owner: GraphNode, part: &'static str) -> ExpressionContext<'static> {
        ExpressionContext {
            owner: Some(owner),
            repetition: Repetition::NotHere(part),
            description: false,
            guarded: false,
        }
    }

    /// A context outside of all elements that others can depend on.
    fn outside(part: &'static str) -> ExpressionContext<'static> {
        ExpressionContext {
            owner: None,
            repetition: Repetition::NotHere(part),
            description: false,
            guarded: false,
        }
    }

    fn described(self) -> ExpressionContext<'p> {
        ExpressionContext {
            description: true,
            ..self
        }
    }

    fn guarded(self, guarded: bool) -> ExpressionContext<'p> {
        ExpressionContext { guarded, ..self }
    }
}

impl<'a> Checker<'a> {
    fn new(
        blueprint: &'a Blueprint,
        included: &'a [Option<Included>],
        context: &CheckContext<'a>,
    ) -> Checker<'a> {
        Checker {
            blueprint,
            catalogs: context.catalogs,
            functions: context.functions.of(blueprint.dialect),
            rules: context.rules,
            found: Diagnostics::new(),
            included,
            kinds: context.kinds,
            passed: Vec::new(),
            resources: Vec::new(),
            data_sources: Vec::new(),
            input_types: Vec::new(),
            custom_types: Vec::new(),
            local_types: Vec::new(),
            package_functions: IndexMap::default(),
            unknown_transform: false,
            transformed: false,
            links: Arc::default(),
            patterns: Patterns::default(),
            resolutions: None,
            suggestions: Cell::new(MOST_SUGGESTIONS),
        }
    }

    /// Checks all elements of the document, each by type or by value, as its dialect says.
    fn elements(&mut self, inputs: Option<&[Value]>) -> CheckedElements {
        let checks = self.rules.checks;
        self.transforms();
        self.resource_types();
        self.data_source_types();
        self.package_functions();
        match checks.inputs {
            CheckedBy::Type => self.inputs(),
            CheckedBy::Value => self.inputs_by_value(),
        }
        let links = self.links();
        let graph = self.order(&links);
        // Checks by value need the values of locals, even if locals are checked by type.
        let mut of_locals = Diagnostics::new();
        let is_typed = self.rules.specs.is_only_check();
        let known_types = self.resources.iter().map(|ty| ty.clone().known()).collect();
        let types = is_typed.then(|| KnownTypes::new(known_types, &self.package_functions));
        let known = (checks != Checks::BY_TYPE).then(|| {
            KnownValues::new(
                self.blueprint,
                inputs,
                self.functions,
                self.rules.messages,
                types,
                &graph,
                &mut of_locals,
            )
        });
        match checks.locals {
            CheckedBy::Type => self.locals(&graph),
            CheckedBy::Value => {
                self.local_types = vec![Type::Any; self.blueprint.locals.len()];
                self.found.append(of_locals);
            }
        }
        self.data_sources();
        match &known {
            Some(known) if checks.resources == CheckedBy::Value => self.resources_by_value(known),
            _ => self.resources(&graph, &links),
        }
        match &known {
            Some(known) if checks.children == CheckedBy::Value => self.children_by_value(known),
            _ => self.children(&graph),
        }
        self.provider_names();
        self.hints();
        let export_types = match &known {
            Some(known) if checks.exports == CheckedBy::Value => self.exports_by_value(known),
            _ => self.exports(),
        };
        self.document_metadata();
        CheckedElements {
            graph,
            links,
            export_types,
        }
    }
}
