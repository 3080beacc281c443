//! The dialect `hot`: OpenStack Heat's Orchestration Templates, versions 2013-05-23 to 2021-04-16.
//!
//! ```text
//! Tree ──> version ──> names ──> sections ──> Blueprint
//!          features    of all    calls read by the version
//! ```
//!
//! A template means what Heat takes it to mean (reference `hot`): values are read as YAML 1.1 does, a map with one key that
//! names a function of the version is a call, and calls follow Python where that shows. What Heat says of a mistake goes
//! along as the words of the diagnostic.
//!
//! Not here: what types of resources there are; evaluating anything but what [`conventions`] are asked for.

mod argument_form;
mod around;
mod attributes;
mod calls;
mod codes;
mod conditions;
mod conventions;
mod document;
pub mod environment;
mod expressions;
mod fitting;
mod form;
mod function_versions;
pub mod functions;
mod groups;
mod inputs;
mod kinds;
mod lowering;
mod messages;
mod naming;
mod native;
mod outputs;
pub mod parameters;
mod read;
mod references;
pub mod refusal;
mod refusing;
mod resources;
mod scalar;
mod settings;
mod settle;
mod shape;
pub mod version;
mod way;
mod yaql;

use ::blueprint::{Packages, Wanted};
use expr::FunctionTable;

pub use around::Around;
pub use codes::CODES;
pub use native::insert_functions;
pub use version::NAME;
use version::VERSION_KEYS;

use crate::{
    Beside, Conventions, Dialect, Document, Expanded, Expanding, Explained, Lowered, Setting, Shape, Surrounded,
};

/// OpenStack Heat's Orchestration Templates.
pub struct HotDialect;

impl Dialect for HotDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codes(&self) -> &'static [&'static [&'static diag::Code]] {
        static ALL: &[&[&diag::Code]] =
            &[codes::CODES, functions::codes::CODES, parameters::codes::CODES, environment::codes::CODES];
        ALL
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        if document.around.dialect == Some(NAME) {
            return 50;
        }
        let root = document.tree.root.as_ref();
        let has = |key: &str| root.is_some_and(|root| root.entry(key).is_some());
        if VERSION_KEYS.iter().any(|key| has(key)) { 100 } else { 0 }
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn reads_json_first(&self) -> bool {
        true
    }

    fn settings(&self) -> &'static [Setting] {
        &settings::SETTINGS
    }

    fn functions(&self) -> Vec<Explained> {
        functions::explained()
    }

    fn surround(&self, root: &Document<'_>, beside: &[Beside<'_>]) -> Option<Surrounded> {
        Some(around::surround(root, beside))
    }

    fn wants(&self, _document: &Document<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    fn lower(&self, document: &Document<'_>, _functions: &FunctionTable, packages: &Packages) -> Lowered {
        let mut lowered = document::lower(document);
        lowered.blueprint.resolve_types(packages);
        lowered
    }

    fn conventions(&self) -> Option<&'static dyn Conventions> {
        Some(&conventions::HotConventions)
    }

    fn expression(
        &self,
        typed: &Document<'_>,
        of: &::blueprint::Blueprint,
    ) -> Option<(::blueprint::Expr, diag::Diagnostics)> {
        Some(document::expression(typed, of))
    }

    fn settle(
        &self,
        blueprint: &::blueprint::Blueprint,
        complete: bool,
        value: crate::Evaluating<'_>,
        found: &mut diag::Diagnostics,
    ) -> ::blueprint::Blueprint {
        settle::settle(blueprint, complete, value, found)
    }

    fn expand(&self, expansion: &::blueprint::Expansion, place: &Expanding<'_>) -> Expanded {
        groups::expand(expansion, place)
    }
}
