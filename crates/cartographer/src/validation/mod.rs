//! What is wrong with one object of Cartographer by itself: what upstream's webhooks refuse
//! (decisions/cartographer#validation), and what they accept although it does not work, or works
//! otherwise here (decisions/cartographer#the-setting-compat).
//!
//! A part that is not known yet has no fault. Not here: types and required fields, which the
//! schemas check (`definitions`); what several objects show together (`checks`).

mod blueprint_rules;
mod cycles;
mod fault;
mod labels;
mod lint_rules;
mod paths;
mod selectors;
mod template_rules;

use blueprint::Value;

use crate::kinds::{CartoKind, KindFamily};
pub(crate) use blueprint_rules::INPUT_LISTS;
pub(crate) use fault::ObjectPlace;
pub use fault::{Fault, FaultClass, FaultLevel};
pub(crate) use labels::{key_mistake as label_key_mistake, value_mistake as label_value_mistake};

/// Every fault for which upstream's webhooks refuse an object, in the order in which they test.
/// Of these, only a key that starts with its owner is accepted here, with a lint. The object is
/// taken as it is: `definitions` has the schemas that add defaults before that.
/// None for an object of another group, and for owners and runnables, which have no webhook.
pub fn faults(object: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(kind) = CartoKind::of(object) else {
        return faults;
    };
    let spec = ObjectPlace::root(object).field("spec");
    match kind.family() {
        KindFamily::Blueprint => {
            if let Some(owner) = kind.owner() {
                blueprint_rules::blueprint_faults(kind, owner, &spec, &mut faults);
            }
        }
        KindFamily::Template => template_rules::template_faults(kind, &spec, &mut faults),
        KindFamily::RunTemplate => template_rules::run_template_faults(&spec, &mut faults),
        KindFamily::Owner | KindFamily::Runnable => {}
    }
    faults
}

/// What upstream accepts although it cannot work or works otherwise here
/// (decisions/cartographer#the-setting-compat). None for an object of another group.
pub fn lints(object: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(kind) = CartoKind::of(object) else {
        return faults;
    };
    let spec = ObjectPlace::root(object).field("spec");
    match kind.family() {
        KindFamily::Blueprint => lint_rules::blueprint_lints(kind, &spec, &mut faults),
        KindFamily::Template => lint_rules::template_lints(&spec, &mut faults),
        KindFamily::RunTemplate | KindFamily::Owner | KindFamily::Runnable => {}
    }
    faults
}

#[cfg(test)]
mod tests;
