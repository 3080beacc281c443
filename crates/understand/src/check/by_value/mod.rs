//! Checks by value, for dialects that choose it: evaluates each expression as far as possible and
//! checks the value.
//!
//! A value that is not known before deployment is Unknown here, and fits everywhere. The code that
//! computes values at stage therefore also reports the errors of literals during the check.
//!
//! Not here: unresolved names in the document itself, which the dialect reports.

mod children;
mod exports;
pub(super) mod known;
mod policies;
pub use policies::no_snapshot;
mod references;
mod resolutions;
mod resources;

use std::sync::Arc;

use blueprint::{Schema, Type, Value};
use diag::Diagnostics;
use dialect::SpecAt;

use super::Checker;
use super::conform::conform_by;

impl Checker<'_> {
    /// Sets the types of inputs of a document whose dialect checks values, not types.
    pub(super) fn inputs_by_value(&mut self) {
        self.input_types = vec![Type::Any; self.blueprint.inputs.len()];
        self.custom_types = vec![None; self.blueprint.inputs.len()];
    }

    /// Converts a value to a schema by the dialect's rules, and reports the errors.
    fn fit(&self, value: &Value, at: SpecAt<'_>, schema: &Arc<Schema>, found: &mut Diagnostics) {
        let native = |value: &Value, found: &mut Diagnostics| {
            let place = (at.expr, at.missing_part_span);
            conform_by(self.rules.specs, value, place, schema, found)
        };
        self.rules.specs.fit(value, at, schema, &native, found);
    }
}
