//! Reports the faults of single objects of Cartographer at their places.

use cartographer::validation::{Fault, FaultClass, FaultLevel, faults, lints};
use diag::{Code, Diagnostic, Diagnostics};

use super::codes;
use super::platform::CartoObject;
use super::written::{place_at, place_inside};

/// Reports all faults of an object.
pub(super) fn check(object: &CartoObject, found: &mut Diagnostics) {
    let all = faults(&object.value)
        .into_iter()
        .chain(lints(&object.value));
    for fault in all {
        found.push(diagnostic(object, fault));
    }
}

fn diagnostic(object: &CartoObject, fault: Fault) -> Diagnostic {
    let path = &fault.path.0;
    let place = match &fault.inside {
        Some(inside) => place_inside(&object.written, path, inside),
        None => place_at(&object.written, path),
    };
    let label = format!("in `{}`", object.shown());
    let diagnostic = code_of(fault.class).new(fault.message).label(place, label);
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
