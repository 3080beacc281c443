//! The dialect `manifests`: manifests of Kubernetes, as `kubectl apply` reads them.
//!
//! ```text
//! stream ──> trees ──┐
//!                    ├──> objects ──> names ──> Blueprint
//! folder ──> files ──┘    lists unfolded
//! ```
//!
//! A document is a file with one or more manifests, or a folder of such files. Each object is a
//! resource of the type of its kind; its spec is the manifest itself. Nothing is interpolated.
//!
//! Not here: which kinds exist and what their fields mean (`kubernetes_host`); the order of objects,
//! which the types declare as implicit dependencies; rendering charts and kustomizations.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod cartographer;
mod codes;
mod folder;
mod identity;
mod lowering;
mod objects;
mod recognition;
mod scalar;
mod shape;
#[cfg(test)]
mod tests;
mod values;

use blueprint::Packages;
use diag::Code;
use dialect::{Dialect, DialectSetting, Document, Lowered, Shape, Wanted};
use expr::FunctionTable;

pub use codes::CODES;
pub use shape::NAME;

/// Manifests of Kubernetes.
pub struct ManifestsDialect;

impl Dialect for ManifestsDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codes(&self) -> &'static [&'static [&'static Code]] {
        static ALL: &[&[&Code]] = &[codes::CODES];
        ALL
    }

    fn reads_streams(&self) -> bool {
        true
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        recognition::recognise(document)
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn settings(&self) -> &'static [DialectSetting] {
        &folder::SETTINGS
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        folder::read(document).wanted
    }

    fn lower(
        &self,
        document: &Document<'_>,
        _functions: &FunctionTable,
        packages: &Packages,
    ) -> Lowered {
        let mut lowered = lowering::lower(document);
        lowered.blueprint.resolve_types(packages);
        lowered
    }
}
