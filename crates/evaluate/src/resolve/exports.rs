//! What an evaluation shows of a document: the values of its exports, and its descriptions.

use blueprint::{Expr, Value};
use diag::{Diagnostics, Severity};
use dialect::{ExpressionPart, ExpressionPlace};
use understand::check;
use understand::documents::DocumentInstance;

use super::{Evaluation, ExpressionSite, Halt, Members};
use crate::codes;

impl Evaluation {
    /// The value of an export of the root. `Ok(None)` after an error, and `Err(Halt::Absent)` if
    /// the export refers to something absent.
    pub fn export(&mut self, name: &str, found: &mut Diagnostics) -> Result<Option<Value>, Halt> {
        let documents = self.documents.clone();
        let Some(export) = documents.root().blueprint().exports.get(name) else {
            return Ok(None);
        };
        let owner = format!("exports.{name}");
        let mut mine = Diagnostics::new();
        let value = self.value(ExpressionSite::of(0, &owner), &export.field, &mut mine);
        self.complete_diagnostics(
            0,
            ExpressionPlace::new(ExpressionPart::Export, name, &export.field),
            &mut mine,
        );
        let failed = matches!(value, Err(Halt::Failed | Halt::Absent(_)));
        if failed && export.may_fail {
            // A failed export is not an error of the whole operation.
            found.extend(mine.iter().map(|one| {
                let one = one.clone().with_severity(Severity::Warning);
                one.note(format!("`{name}` is null therefore"))
            }));
            return Ok(Some(Value::Null));
        }
        found.append(mine);
        let value = match value {
            Ok(value) => value,
            Err(Halt::Failed) => return Ok(None),
            Err(other) => return Err(other),
        };
        if !self.count_bytes(&value, export.field.span) {
            return Ok(None);
        }
        // A field without a value is left out, as an absent one is
        // (decisions/blueprint#absent-elements, decisions/blueprint#none).
        Ok(check::value::exported(value, &export.ty, &export.field, found).ok())
    }

    /// Checks descriptions. A description without a value stays as written, with a warning
    /// (decisions/blueprint#references-that-cause-an-order).
    pub fn descriptions(&mut self, found: &mut Diagnostics) {
        let documents = self.documents.clone();
        // Report a document that is included several times only once.
        let mut reported: std::collections::HashSet<diag::Span, foldhash::fast::FixedState> =
            Default::default();
        for (number, unit) in (0..).zip(documents.units()) {
            for (owner, expr) in self.described(unit) {
                let mut ignored = Diagnostics::new();
                match self.value(
                    ExpressionSite::of(number, &unit.named(owner)),
                    expr,
                    &mut ignored,
                ) {
                    Ok(value)
                        if matches!(
                            value.unmarked(),
                            Value::List(_) | Value::Set(_) | Value::Map(_)
                        ) =>
                    {
                        if reported.insert(expr.span) {
                            found.push(check::description_mismatch(value.kind_word(), expr.span));
                        }
                    }
                    Ok(_) | Err(Halt::Need(_)) => {}
                    Err(Halt::Absent(_) | Halt::Failed) if !reported.insert(expr.span) => {}
                    Err(Halt::Absent(_) | Halt::Failed) => found.push(
                        codes::DESCRIPTION_UNRESOLVED
                            .new("the description is shown with unresolved references".to_owned())
                            .label(expr.span, "something in it has no value"),
                    ),
                }
            }
        }
    }

    /// The descriptions of a document that contain expressions, with their owners.
    fn described<'u>(&self, unit: &'u DocumentInstance) -> Vec<(String, &'u Expr)> {
        let blueprint = unit.blueprint();
        let mut every: Vec<(String, &Expr)> = Vec::new();
        let mut add = |owner: std::fmt::Arguments<'_>, description: Option<&'u Expr>| {
            if let Some(expr) = description
                && !matches!(expr.kind, blueprint::ExprKind::Literal(_))
            {
                every.push((owner.to_string(), expr));
            }
        };
        for (name, local) in &blueprint.locals {
            add(format_args!("values.{name}"), local.description.as_ref());
        }
        for (name, source) in &blueprint.data_sources {
            add(
                format_args!("datasources.{name}"),
                source.description.as_ref(),
            );
        }
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            // Skip absent resources, and repeated ones: `elem` has no single meaning for all
            // members.
            if matches!(
                self.resources.get(unit.resource(at) as usize),
                Some(Members::Single(_))
            ) {
                add(format_args!("{name}"), resource.description.as_deref());
            }
        }
        for (name, export) in &blueprint.exports {
            add(format_args!("exports.{name}"), export.description.as_ref());
        }
        every
    }
}
