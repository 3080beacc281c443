//! Checks of what the dialect has checked by its value: what each expression comes to as far as everything is known,
//! and whether that fits.
//!
//! A value that is not known before anything exists is Unknown here, and fits everywhere. So the same code that makes
//! values at stage reports at check what is wrong with those that are written out.
//!
//! Not here: names that lead nowhere in the document itself, which the dialect reports.

mod children;
mod exports;
pub(super) mod known;
mod policies;
mod references;
mod resolutions;
mod resources;

use std::sync::Arc;

use blueprint::{Schema, Type, Value};
use diag::Diagnostics;
use dialects::SpecAt;

use super::Checker;
use super::conform::conform_schema;

impl Checker<'_> {
    /// The inputs of a document whose dialect judges their values, not their types.
    pub(super) fn inputs_by_value(&mut self) {
        self.input_types = vec![Type::Any; self.blueprint.inputs.len()];
        self.custom_types = vec![None; self.blueprint.inputs.len()];
    }

    /// Fits a value to a schema as the dialect does it, for what is wrong with it.
    fn fit(&self, value: &Value, at: SpecAt<'_>, schema: &Arc<Schema>, found: &mut Diagnostics) {
        let native = |value: &Value, found: &mut Diagnostics| conform_schema(value, at.expr, at.holder, schema, found);
        self.rules.specs.fit(value, at, schema, &native, found);
    }
}
