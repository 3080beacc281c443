//! Reports the faults of single objects of Cartographer at their places.

use cartographer::validation::{Fault, FaultClass, FaultLevel, faults, lints};
use diag::{Code, Diagnostic, Diagnostics};

use super::codes;
use super::platform::CartoObject;
use super::schemas::{KindSchemas, refused_field, unknown_field};
use super::written::{place_at, place_inside};

/// Reports everything that is wrong with an object. A part for which its kind has a rule is not
/// reported a second time by the schema, which says less.
pub(super) fn check(object: &CartoObject, schemas: &mut KindSchemas, found: &mut Diagnostics) {
    let admitted = schemas.admit(object);
    let faults = faults(&admitted.object);
    for path in &admitted.dropped {
        found.push(unknown_field(object, path));
    }
    for violation in &admitted.violations {
        let is_explained = faults.iter().any(|fault| fault.path == violation.path);
        if !is_explained {
            found.push(refused_field(object, violation));
        }
    }
    let lints = match admitted.violations.is_empty() {
        true => lints(&admitted.object),
        false => Vec::new(),
    };
    for fault in faults.into_iter().chain(lints) {
        found.push(diagnostic(object, fault));
    }
}

fn diagnostic(object: &CartoObject, fault: Fault) -> Diagnostic {
    diagnostic_with(code_of(fault.class), object, fault)
}

/// Reports a fault of an object with a code.
pub(super) fn diagnostic_with(
    code: &'static Code,
    object: &CartoObject,
    fault: Fault,
) -> Diagnostic {
    let path = &fault.path.0;
    let place = match &fault.inside {
        Some(inside) => place_inside(&object.written, path, inside),
        None => place_at(&object.written, path),
    };
    let label = format!("in `{}`", object.shown());
    let diagnostic = code.new(fault.message).label(place, label);
    match fault.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// The code of a class of faults.
fn code_of(class: FaultClass) -> &'static Code {
    if class.level() == FaultLevel::Lint {
        return &codes::CHAIN_LINT;
    }
    match class {
        FaultClass::SelectorMissing
        | FaultClass::LabelSelector
        | FaultClass::OptionSelectorEmpty => &codes::CHAIN_SELECTOR,
        FaultClass::FieldOperator | FaultClass::FieldValues | FaultClass::FieldPath => {
            &codes::FIELD_REQUIREMENT
        }
        FaultClass::Param => &codes::CHAIN_PARAM,
        FaultClass::DuplicateOption
        | FaultClass::DuplicateOptionSelector
        | FaultClass::OptionShape
        | FaultClass::SingleOption
        | FaultClass::SeveralPassThrough
        | FaultClass::PassThroughUnknown
        | FaultClass::PassThroughKind => &codes::TEMPLATE_OPTIONS,
        FaultClass::TemplateOrYtt
        | FaultClass::TemplateNotAnObject
        | FaultClass::TemplateNamespace
        | FaultClass::RunTemplateSpec => &codes::TEMPLATE_CONTENT,
        FaultClass::HealthRule | FaultClass::Retention | FaultClass::Observed => {
            &codes::TEMPLATE_RULES
        }
        _ => &codes::CHAIN_RESOURCE,
    }
}
