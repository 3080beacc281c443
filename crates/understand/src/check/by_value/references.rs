//! Checks the attributes that expressions read: the attributes and their resources must exist.

use blueprint::{AccessorKind, Expr, ExprKind, Ref, ReferenceHead, Value};
use diag::{Diagnostic, Diagnostics};
use dialect::{Absence, ExpressionPlace, Mistake};

use super::known::KnownValues;
use crate::check::Checker;
use crate::check::TypeOf;

impl Checker<'_> {
    /// Reports attributes of absent elements, if the dialect rejects them even where no other check
    /// would fail.
    pub(super) fn report_absent_attributes(
        &mut self,
        place: ExpressionPlace<'_>,
        expr: &Expr,
        known: &KnownValues<'_>,
    ) {
        match &expr.kind {
            ExprKind::Choice(choice) => {
                match known.value(&choice.condition, &mut Diagnostics::new()) {
                    Some(Value::Bool(true)) => {
                        self.report_absent_attributes(place, &choice.then, known)
                    }
                    Some(Value::Bool(false)) => {
                        self.report_absent_attributes(place, &choice.otherwise, known)
                    }
                    _ => {}
                }
            }
            ExprKind::List(items) => items
                .iter()
                .for_each(|item| self.report_absent_attributes(place, item, known)),
            ExprKind::Map(entries) => {
                entries
                    .iter()
                    .for_each(|(_, value)| self.report_absent_attributes(place, value, known));
            }
            ExprKind::Call(call) => {
                let arguments = call.arguments.iter();
                arguments.for_each(|argument| {
                    self.report_absent_attributes(place, &argument.value, known)
                });
            }
            ExprKind::Access(inner, _) => self.report_absent_attributes(place, inner, known),
            ExprKind::Ref(reference) => {
                let (name, condition) = match &reference.head {
                    ReferenceHead::Resource { name, .. } => (
                        name,
                        self.blueprint
                            .resources
                            .get(name)
                            .and_then(|it| it.condition.as_deref()),
                    ),
                    ReferenceHead::Child(name) => (
                        name,
                        self.blueprint
                            .children
                            .get(name)
                            .and_then(|it| it.condition.as_ref()),
                    ),
                    _ => return,
                };
                let Some(condition) = condition.filter(|it| known.is_false(it)) else {
                    return;
                };
                let Absence::Mistake(code) = self.rules.references.absence() else {
                    return;
                };
                if !self.rules.references.reads_attribute(reference) {
                    return;
                }
                let mistake = Mistake::AbsentAttribute {
                    of: name,
                    at: (place, reference.head_span),
                };
                let words = self.rules.messages.of(&mistake);
                let mut gone = code.new(format!("`{name}` is not there"));
                gone = gone
                    .label(reference.head_span, "read here")
                    .label(condition.span, "this is false");
                gone.native_message = words.map(Box::new);
                self.found.push(gone);
            }
            _ => {}
        }
    }

    /// Reports fields of resources and exports of children that do not exist.
    pub(super) fn attributes(&self, place: ExpressionPlace<'_>, found: &mut Diagnostics) {
        place
            .expr
            .references(&mut |reference| found.extend(self.attribute(place, reference)));
    }

    pub(super) fn attribute(
        &self,
        place: ExpressionPlace<'_>,
        reference: &Ref,
    ) -> Option<Diagnostic> {
        let words = |of: &str, attribute: &str| {
            let at = Some((place, reference.head_span));
            self.rules
                .messages
                .of(&Mistake::NoAttribute { of, attribute, at })
                .map(Box::new)
        };
        match &reference.head {
            ReferenceHead::Resource { name, .. } => {
                let at = self.blueprint.resources.get_index_of(name)?;
                let TypeOf::Known(ty) = &self.resources[at] else {
                    return None;
                };
                let accessor = reference.path.get(1)?;
                let AccessorKind::Name(attribute) = &accessor.kind else {
                    return None;
                };
                if ty.attribute(attribute).is_some() {
                    return None;
                }
                let mut nothing = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{name}` has no attribute `{attribute}`"))
                    .label(
                        accessor.span,
                        format!("`{}` has no such attribute", ty.name),
                    )
                    .help_nearest(
                        attribute,
                        ty.attribute_names().map(|(name, _)| name.as_ref()),
                    );
                nothing.native_message = words(name, attribute);
                Some(nothing)
            }
            ReferenceHead::Child(name) => {
                let at = self.blueprint.children.get_index_of(name)?;
                let included = self.child(at)?;
                let accessor = reference.path.first()?;
                let AccessorKind::Name(export) = &accessor.kind else {
                    return None;
                };
                if included.checked.blueprint.exports.contains_key(export) {
                    return None;
                }
                let exports = &included.checked.blueprint.exports;
                let shown = exports
                    .iter()
                    .filter(|(_, export)| !export.hidden)
                    .map(|(name, _)| name.as_ref());
                let mut nothing = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{name}` has no attribute `{export}`"))
                    .label(accessor.span, "its document has no such output")
                    .help_nearest(export, shown);
                nothing.native_message = words(name, export);
                Some(nothing)
            }
            _ => None,
        }
    }
}
