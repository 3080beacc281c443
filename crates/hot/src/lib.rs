//! The dialect `hot`: OpenStack Heat's Orchestration Templates, versions 2013-05-23 to 2021-04-16.
//!
//! ```text
//! Tree ──> version ──> names ──> sections ──> Blueprint
//!          features    of all    calls read by the version
//! ```
//!
//! A template has the meaning that Heat gives it (docs/decisions/heat.md): values are read as in
//! YAML 1.1, a map with one key that names a function of the version is a call, and calls follow
//! the semantics of Python where users see it. Heat's message about a mistake is stored in the
//! diagnostic as its words.
//!
//! Not here: the types of resources; evaluating expressions, except the values that `rules`
//! computes.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod argument_form;
mod attributes;
mod calls;
mod codes;
mod computed_parts;
mod conditions;
mod context;
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
mod message_path;
mod messages;
mod naming;
mod native;
mod outputs;
mod package_functions;
pub mod parameters;
mod providers;
mod read;
mod references;
pub mod refusal;
mod refusal_expressions;
mod resources;
mod rules;
mod scalar;
mod settings;
mod shape;
mod template_text;
pub mod version;
mod yaql;

use blueprint::Packages;
use expr::FunctionTable;

pub use codes::CODES;
pub use context::TemplateContext;
pub use version::NAME;
use version::VERSION_KEYS;

use diag::Diagnostics;
use dialect::{
    Companion, Dialect, DialectRules, DialectSetting, DialectSettings, DialectText, Document,
    Explained, LoadedCompanions, Lowered, Shape,
};
use syntax::Tree;

/// OpenStack Heat's Orchestration Templates.
pub struct HotDialect;

impl Dialect for HotDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codes(&self) -> &'static [&'static [&'static diag::Code]] {
        static ALL: &[&[&diag::Code]] = &[
            codes::CODES,
            functions::codes::CODES,
            parameters::codes::CODES,
            environment::codes::CODES,
        ];
        ALL
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        if document.context.dialect == Some(NAME) {
            return 50;
        }
        let root = document.tree().root.as_ref();
        let has = |key: &str| root.is_some_and(|root| root.entry(key).is_some());
        if VERSION_KEYS.iter().any(|key| has(key)) {
            100
        } else {
            0
        }
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn may_parse(&self, text: &str) -> bool {
        template_text::may_be_template(text)
    }

    fn parse(&self, text: &DialectText<'_>) -> Option<(Tree, Diagnostics)> {
        template_text::parse(text)
    }

    fn settings(&self) -> &'static [DialectSetting] {
        &settings::SETTINGS
    }

    fn functions(&self) -> Vec<Explained> {
        functions::explained()
    }

    fn read_companions(
        &self,
        root: &Document<'_>,
        beside: &[Companion<'_>],
    ) -> Option<LoadedCompanions> {
        Some(context::read_companions(root, beside))
    }

    fn lower(
        &self,
        document: &Document<'_>,
        _functions: &FunctionTable,
        packages: &Packages,
    ) -> Lowered {
        let mut lowered = document::lower(document);
        lowered.blueprint.resolve_types(packages);
        lowered
    }

    fn rules(&self) -> DialectRules {
        rules::RULES
    }

    fn insert_functions(&self, table: &mut FunctionTable, settings: &DialectSettings) {
        native::insert_functions(table, settings);
    }

    fn data(&self, text: &str) -> Option<blueprint::Value> {
        read::data(text)
    }

    fn expression(
        &self,
        typed: &Document<'_>,
        of: &blueprint::Blueprint,
    ) -> Option<(blueprint::Expr, diag::Diagnostics)> {
        Some(document::expression(typed, of))
    }
}
