//! The dialect `cartographer`: supply chains and deliveries of Cartographer with their templates, and
//! the workloads and deliverables that they serve, among other manifests.
//!
//! ```text
//! stream, folder ──> objects ──┬─> platform: chains, templates ──> checked
//!                              ├─> owners ── a chain is selected ──> resources, outputs
//!                              └─> other manifests ──> resources
//! ```
//!
//! Each resource of the selected chain becomes a resource of the blueprint. What its template says is
//! stamped when the document is lowered, as far as it does not read the outputs of other resources;
//! those are values of the blueprint. The objects of the platform and the owners are not written to a
//! cluster.
//!
//! Not here: the rules of the kinds (`cartographer`); reading manifests (the dialect `manifests`).

mod calls;
mod chain_resource;
mod codes;
mod faults;
mod functions;
mod lowering;
mod owners;
mod parts;
mod platform;
mod producers;
mod recognition;
mod runnables;
mod runs;
mod schemas;
mod settings;
mod stamping;
#[cfg(test)]
mod tests;
mod together;
mod written;

use blueprint::Packages;
use diag::Code;
use dialect::{Dialect, DialectSetting, DialectSettings, Document, Lowered, Shape, Wanted};
use expr::FunctionTable;

use crate::{folder, shape};

pub use codes::CODES;
pub use settings::NAME;

/// Supply chains of Cartographer.
pub struct CartographerDialect;

impl Dialect for CartographerDialect {
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

    fn shares_folders_of(&self) -> Option<&'static str> {
        Some(shape::NAME)
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        recognition::recognise(document)
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn settings(&self) -> &'static [DialectSetting] {
        &settings::SETTINGS
    }

    fn insert_functions(&self, table: &mut FunctionTable, _settings: &DialectSettings) {
        functions::insert_functions(table);
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        let mut wanted = folder::read(document).wanted;
        wanted.extend(settings::platform_files(document).wanted);
        wanted
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
