//! The blueprint dialect: the Blueprint Specification, versions 2023-04-20 and 2025-11-02.
//!
//! ```text
//! Tree ──> survey ──> version ──> sections ──> hints ──> Blueprint
//!          keys and    features    by `shape`
//!          YAML
//! ```
//!
//! The lowering reports every mistake that is visible in the shape of a document; it does not check
//! names, types or catalogues. A reported value becomes
//! [`ExprKind::Error`](blueprint::ExprKind::Error), a reported type becomes
//! [`Type::Error`](blueprint::Type::Error) or an empty type name, so that one mistake gives one
//! diagnostic.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod conditions;
mod document;
mod hints;
mod includes_and_exports;
mod lowering;
mod names;
mod resources;
mod scalar;
mod shape;
mod survey;
mod values;
mod version;
mod version_differences;

use blueprint::Packages;
use expr::FunctionTable;

use dialect::rules::DialectRules;
use dialect::{Dialect, Document, Lowered, Shape};

/// The Blueprint Specification, versions 2023-04-20 and 2025-11-02.
pub struct BlueprintDialect;

/// Top-level keys that identify other document languages, and states of other tools.
const FOREIGN: &[&str] = &[
    "heat_template_version",
    "HeatTemplateFormatVersion",
    "runtime",
    "apiVersion",
    "kind",
    "deployment",
    "checkpoint",
];

impl Dialect for BlueprintDialect {
    fn name(&self) -> &'static str {
        "blueprint"
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        let root = document.tree().root.as_ref();
        let version = root
            .and_then(|root| root.get("version"))
            .and_then(|version| version.text());
        if version.is_some_and(|version| version::Version::of(version).is_some()) {
            return 100;
        }
        if is_native_name(document.name) {
            return 60;
        }
        let Some(entries) = root.and_then(|root| root.as_map()) else {
            return 0;
        };
        let has = |key: &str| entries.iter().any(|entry| entry.key.text() == Some(key));
        if FOREIGN.iter().any(|key| has(key)) {
            return 0;
        }
        let own = shape::DOCUMENT.keys.iter().any(|key| has(key.name));
        if own || version.is_some_and(version::is_date) {
            30
        } else {
            0
        }
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn lower(
        &self,
        document: &Document<'_>,
        functions: &FunctionTable,
        packages: &Packages,
    ) -> Lowered {
        document::lower(document, functions, packages)
    }

    fn rules(&self) -> DialectRules {
        DialectRules::NATIVE
    }
}

/// Whether a file name is that of a blueprint: `blueprint.yaml`, `orders.blueprint.jsonc`, ...
fn is_native_name(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let known = ["yaml", "yml", "json", "jsonc", "hujson"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known));
    known && (stem == "blueprint" || stem.ends_with(".blueprint"))
}
