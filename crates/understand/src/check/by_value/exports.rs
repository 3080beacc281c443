//! Checks exports by value: the attributes that they read must exist.

use blueprint::{ReferenceHead, Type};
use diag::{Diagnostic, Severity};
use dialect::{ExpressionPart, ExpressionPlace};

use super::known::KnownValues;
use crate::check::Checker;

impl Checker<'_> {
    /// Checks every export. Returns their types, all of which are unknown.
    pub(crate) fn exports_by_value(&mut self, known: &KnownValues<'_>) -> Vec<Type> {
        let blueprint = self.blueprint;
        for (name, export) in &blueprint.exports {
            let place = ExpressionPlace::new(ExpressionPart::Export, name, &export.field);
            // A hidden export may read anything. Its errors are reported when it is read.
            if !export.hidden {
                self.report_absent_attributes(place, &export.field, known);
            }
            if self.rules.specs.is_only_check() {
                let _ = known.value_at(place, &mut self.found);
            }
            export.field.references(&mut |reference| {
                let found = self.attribute(place, reference);
                // A missing export of a child fails only the output that reads it.
                let only_a_warning =
                    export.may_fail && matches!(reference.head, ReferenceHead::Child(_));
                let severity = |one: Diagnostic| {
                    if only_a_warning {
                        one.with_severity(Severity::Warning)
                    } else {
                        one
                    }
                };
                self.found.extend(found.map(severity));
            });
        }
        vec![Type::Any; blueprint.exports.len()]
    }
}
