//! Values that pass between a document and its child: inputs go down, exports come up
//! (decisions/documents#children).
//!
//! Not here: errors that are visible without values (`check::children`).

use blueprint::{Accessor, AccessorKind, Expr, ExprKind, ReferenceHead, Value};
use diag::{Diagnostic, Diagnostics, Severity};
use dialect::{Absence, CheckedBy, ExpressionPart, ExpressionPlace, Mistake};
use expr::{EvaluationStop, ResolvedHead};

use super::scope::Frame;
use super::{Evaluation, ExpressionSite, Halt, Need, Slot};
use understand::check;
use understand::documents::{Documents, PassedInput};

impl Evaluation {
    /// Settles an input of a child.
    pub fn settle_passed_input(
        &mut self,
        number: u32,
        found: &mut Diagnostics,
    ) -> Result<(), Need> {
        let documents = self.documents.clone();
        let Some(passed) = documents.passed_input(number) else {
            return Ok(());
        };
        let slot = match self.evaluate_passed_input(&passed, found) {
            Ok(value) if value.has_unknown() => Slot::Partial(value),
            Ok(value) => Slot::Value(value),
            Err(Halt::Need(need)) => return Err(need),
            Err(Halt::Failed | Halt::Absent(_)) => Slot::Failed,
        };
        self.passed_inputs[number as usize] = slot;
        Ok(())
    }

    /// Settles all inputs of children that are literals. They depend on nothing.
    pub fn settle_literal_inputs(&mut self, found: &mut Diagnostics) {
        let documents = self.documents.clone();
        for number in 0..self.passed_inputs.len() as u32 {
            if documents
                .passed_input(number)
                .is_some_and(|passed| passed.is_literal())
            {
                // A literal asks no question.
                let _ = self.settle_passed_input(number, found);
            }
        }
    }

    fn evaluate_passed_input(
        &mut self,
        passed: &PassedInput<'_>,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let PassedInput {
            unit,
            position,
            name,
            input,
            above,
            given,
            include,
        } = passed;
        let documents = self.documents.clone();
        let child = documents.unit(*unit);
        let custom = child
            .checked
            .custom_types
            .get(*position)
            .and_then(Option::as_ref);
        let mut passes_option = false;
        let mut given = given;
        let value = match given {
            None => Value::Null,
            Some(expr) => {
                // An option of a custom type passes unchanged to a variable of the same type.
                // Otherwise the value is the label of an option.
                passes_option = custom.is_some_and(|custom| {
                    let ExprKind::Ref(reference) = &expr.inner().kind else {
                        return false;
                    };
                    let ReferenceHead::Input(name) = &reference.head else {
                        return false;
                    };
                    let parent = &documents.unit(*above).checked;
                    let at = parent.blueprint.inputs.get_index_of(name);
                    let parent_type = at
                        .and_then(|at| parent.custom_types.get(at))
                        .and_then(Option::as_ref);
                    parent_type.is_some_and(|theirs| theirs.name == custom.name)
                });
                let owner = child.named(format_args!("variables.{name}"));
                let within = self.place_of_input(*above, *unit, name, expr, &documents);
                let mut mistakes = Diagnostics::new();
                let value = self.entry(ExpressionSite::of(*above, &owner), expr, &mut mistakes);
                self.complete_diagnostics(*above, within, &mut mistakes);
                found.append(mistakes);
                match value? {
                    Some(value) => value,
                    // An omitted entry counts as not given.
                    None => {
                        given = &None;
                        Value::Null
                    }
                }
            }
        };
        let native = |value: Option<&Value>, found: &mut Diagnostics| {
            let value = value.cloned().unwrap_or_default();
            let (value, written) = match (value.is_null(), given) {
                (false, Some(expr)) => (value, Some(*expr)),
                // `none` counts as not given, so the default applies (decisions/blueprint#none).
                _ => match &input.default {
                    Some(default) if !default.item.is_null() => (default.item.clone(), None),
                    _ => {
                        found.push(check::missing_input(name, *include));
                        return None;
                    }
                },
            };
            if passes_option && written.is_some() {
                return Some(value.tainted(input.secret));
            }
            let (bare, secret) = value.split_secret();
            let secret = secret || input.secret;
            if let (Some(expr), false) = (written, bare.is_unknown())
                && let Some(diagnostic) =
                    check::not_allowed(name, input, custom.map(AsRef::as_ref), bare)
            {
                found.push(diagnostic.label(
                    expr.span,
                    if secret {
                        "not among them"
                    } else {
                        "not one of them"
                    },
                ));
                return None;
            }
            if let Some(custom) = custom {
                let option = bare.as_text().and_then(|label| custom.option(label));
                return match (option, bare.is_unknown()) {
                    (Some(option), _) => Some(option.value.clone().tainted(secret)),
                    (None, true) => {
                        Some(Value::unknown(Some(custom.ty.clone()), None).tainted(secret))
                    }
                    (None, false) => None,
                };
            }
            let value = value.clone().tainted(secret);
            match written {
                Some(expr) => check::value::exported(value, &input.ty, expr, found).ok(),
                None => Some(
                    expr::convert(&value, &input.ty, expr::ValueOrigin::Literal).unwrap_or(value),
                ),
            }
        };
        let place = given.map_or(*include, |expr| expr.span);
        let mut mine = Diagnostics::new();
        let passed = child.checked.rules.inputs.passed(
            name,
            input,
            given.map(|_| &value),
            place,
            &native,
            &mut mine,
        );
        if let Some(expr) = given {
            self.complete_diagnostics(
                *above,
                self.place_of_input(*above, *unit, name, expr, &documents),
                &mut mine,
            );
        }
        found.append(mine);
        passed.ok_or(Halt::Failed)
    }

    /// The place of the value of a child's input. For a group, the value is a part of the
    /// definition.
    fn place_of_input<'d>(
        &self,
        above: u32,
        unit: u32,
        input: &'d str,
        expr: &'d Expr,
        documents: &'d Documents,
    ) -> ExpressionPlace<'d> {
        let child = documents.unit(unit).parent.and_then(|(_, include)| {
            documents
                .unit(above)
                .blueprint()
                .children
                .get_index(include as usize)
        });
        match child {
            Some((name, child)) => match &child.expansion {
                Some(expansion) => {
                    ExpressionPlace::new(ExpressionPart::Spec, name, &expansion.spec)
                }
                None => ExpressionPlace::given(name, input, expr),
            },
            None => ExpressionPlace::given("", input, expr),
        }
    }

    /// The value of an export of a child with its declared type; absent if it refers to something
    /// absent. If the export may fail, its errors become warnings, and only the elements that read
    /// it fail.
    pub fn child_export(
        &mut self,
        unit: u32,
        position: usize,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let documents = self.documents.clone();
        let Some((name, export)) = documents.unit(unit).blueprint().exports.get_index(position)
        else {
            return Err(Halt::Failed);
        };
        let owner = documents.unit(unit).named(format_args!("exports.{name}"));
        if !export.may_fail {
            let value = self.value(ExpressionSite::of(unit, &owner), &export.field, found)?;
            return check::value::exported(value, &export.ty, &export.field, found)
                .map_err(|_| Halt::Failed);
        }
        let mut mine = Diagnostics::new();
        if let (true, ExprKind::Map(entries)) = (export.by_entry, &export.field.kind) {
            let mut all = Vec::with_capacity(entries.len());
            for (name, entry) in entries {
                match self.value(
                    ExpressionSite::of(unit, &owner),
                    entry,
                    &mut Diagnostics::new(),
                ) {
                    Ok(value) => all.push((name.item.clone(), value)),
                    Err(Halt::Need(need)) => return Err(Halt::Need(need)),
                    Err(_) => all.push((name.item.clone(), Value::Null)),
                }
            }
            return Ok(Value::map(all));
        }
        let value = self.value(ExpressionSite::of(unit, &owner), &export.field, &mut mine);
        let value = match value {
            Err(Halt::Absent(diagnostic)) => {
                mine.push(*diagnostic);
                Err(Halt::Failed)
            }
            value => value,
        };
        self.complete_diagnostics(
            unit,
            ExpressionPlace::new(ExpressionPart::Export, name, &export.field),
            &mut mine,
        );
        found.extend(
            mine.iter()
                .map(|one| one.clone().with_severity(Severity::Warning)),
        );
        check::value::exported(value?, &export.ty, &export.field, found).map_err(|_| Halt::Failed)
    }
}

impl Frame<'_> {
    /// `children.c.export`: evaluates the export in the child's document.
    pub(super) fn export(
        &mut self,
        name: &str,
        path: &[Accessor],
    ) -> Result<ResolvedHead, EvaluationStop> {
        let documents = self.evaluation.documents.clone();
        let blueprint = documents.unit(self.site.unit).blueprint();
        let rules = &documents.unit(self.site.unit).checked.rules;
        let at = blueprint
            .children
            .get_index_of(name)
            .ok_or(EvaluationStop::Reported)?;
        let Some(child) = documents.unit(self.site.unit).child(at) else {
            let declared = blueprint.children.get_index(at).map(|(_, child)| child);
            let (Absence::Mistake(code), Some(declared)) = (rules.references.absence(), declared)
            else {
                return Err(EvaluationStop::Reported);
            };
            // The child was read, so its condition is false.
            let why = declared
                .condition
                .as_ref()
                .map_or("it could not be read", |_| "its condition is false");
            let span = path.first().map_or(declared.span, |accessor| accessor.span);
            let mut gone = code.new(format!("`{name}` is not there")).label(span, why);
            gone.native_message = rules.messages.of(&Mistake::Absent(name)).map(Box::new);
            return Err(gone.into());
        };
        let Some(Accessor {
            kind: AccessorKind::Name(export),
            span,
        }) = path.first()
        else {
            return Err(EvaluationStop::Reported);
        };
        let Some(position) = documents
            .unit(child)
            .blueprint()
            .exports
            .get_index_of(export)
        else {
            // The check by types has already reported the error.
            if rules.checks.children == CheckedBy::Type {
                return Err(EvaluationStop::Reported);
            }
            let mut nothing = expr::codes::UNKNOWN_FIELD
                .new(format!("`{name}` has no attribute `{export}`"))
                .label(*span, "its document has no such output");
            let mistake = Mistake::NoAttribute {
                of: name,
                attribute: export,
                at: None,
            };
            nothing.native_message = rules.messages.of(&mistake).map(Box::new);
            return Err(nothing.into());
        };
        let is_group = blueprint
            .children
            .get_index(at)
            .is_some_and(|(_, child)| child.expansion.is_some());
        let may_fail = documents
            .unit(child)
            .blueprint()
            .exports
            .get_index(position)
            .is_some_and(|(_, it)| it.may_fail);
        // Errors of an export are reported at the child, unless the export may fail.
        let mut mine = Diagnostics::new();
        let keeps_null = self.evaluation.functions.of(blueprint.dialect).keeps_null();
        match self.evaluation.child_export(child, position, &mut mine) {
            Ok(value) if value.is_null() && !keeps_null => {
                Err(left_out(name, export, *span, "it comes to nothing"))
            }
            Ok(value) => Ok(ResolvedHead { value, used: 1 }),
            Err(Halt::Absent(_)) => Err(left_out(
                name,
                export,
                *span,
                "the element that it refers to is absent",
            )),
            Err(Halt::Need(need)) => {
                self.need = Some(need);
                Err(EvaluationStop::Reported)
            }
            // Report a missing value of a group where it is read: the group's document is
            // generated, so it has no place in a text.
            Err(Halt::Failed) if may_fail || is_group => {
                Err(failed_output(name, export, *span, is_group, mine))
            }
            Err(Halt::Failed) => Err(EvaluationStop::Reported),
        }
    }
}

/// The error of reading a failed export. A group's export fails with the error of its member.
fn failed_output(
    child: &str,
    export: &str,
    span: diag::Span,
    is_group: bool,
    why: Diagnostics,
) -> EvaluationStop {
    let Some(why) = why
        .iter()
        .find(|one| one.is_error())
        .or_else(|| why.iter().next())
    else {
        return EvaluationStop::Reported;
    };
    if is_group {
        return EvaluationStop::Failed(Box::new(why.clone().with_severity(Severity::Error)));
    }
    let mut failed = Diagnostic::new(
        why.code,
        format!("the output `{export}` of `{child}` fails: {}", why.message),
    )
    .label(span, "read here")
    .with_severity(Severity::Error);
    failed.native_message = why.native_message.as_deref().map(|words| {
        let message = if words.message.starts_with("Error in ") && export.contains("::") {
            words.message.to_string()
        } else {
            format!("Error in {child} output {export}: {}", words.message)
        };
        Box::new(message.into())
    });
    EvaluationStop::Failed(Box::new(failed))
}

fn left_out(child: &str, export: &str, span: diag::Span, why: &str) -> EvaluationStop {
    let diagnostic: Diagnostic = expr::codes::ABSENT_ELEMENT
        .new(format!(
            "the child document `{child}` leaves out its export `{export}`"
        ))
        .label(span, why.to_owned())
        .help(
            "guard it with `coalesce(..)` or `if(..)`, or put the reader under the same condition",
        );
    EvaluationStop::Absent(Box::new(diagnostic))
}
