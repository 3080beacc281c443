//! Names of stamped objects that do not fit the lifecycle of their template (section 10).

use blueprint::Value;

use super::object_set::{ObjectSet, SetFault};
use crate::kinds::{CartoKind, KindFamily};
use crate::validation::{Fault, FaultClass, ObjectPlace};

/// Adds the faults of the names in templates.
pub(crate) fn check(set: &ObjectSet<'_>, found: &mut Vec<SetFault>) {
    for object in set.all() {
        let fault = template_name_fault(object.kind, object.object);
        found.extend(fault.map(|fault| object.with(fault)));
    }
}

/// What is wrong with the name in a template, a whole manifest; `None` for a template of ytt and for
/// an object of another kind.
pub fn template_name_fault(kind: CartoKind, object: &Value) -> Option<Fault> {
    let spec = ObjectPlace::root(object).field("spec");
    let is_run_again = match kind.family() {
        KindFamily::Template => match spec.field("lifecycle").text() {
            Some("" | "mutable") => false,
            Some("immutable" | "tekton") => true,
            _ => return None,
        },
        KindFamily::RunTemplate => true,
        _ => return None,
    };
    let template = spec.field("template");
    if !template.is_set() || template.is_unknown() {
        return None;
    }
    name_fault(&template.field("metadata"), is_run_again)
}

fn name_fault(metadata: &ObjectPlace<'_>, is_run_again: bool) -> Option<Fault> {
    let (name, prefix) = (metadata.field("name"), metadata.field("generateName"));
    if metadata.is_unknown() || name.is_unknown() || prefix.is_unknown() {
        return None;
    }
    let class = FaultClass::GenerateName;
    if is_run_again && !name.is_empty() {
        let message = "each run makes a new object, so its name cannot be fixed";
        let help = "use `generateName` instead of `name`";
        return Some(name.fault(class, message).helped(help));
    }
    if is_run_again && prefix.is_empty() {
        let message = "each run makes a new object, so the template needs `generateName`";
        return Some(prefix.fault(class, message).helped("add `generateName`"));
    }
    if !is_run_again && name.is_empty() && !prefix.is_empty() {
        let message = "a mutable template has one object, which needs a fixed name";
        let help = "use `name`, or set `lifecycle` to `immutable` or `tekton`";
        return Some(prefix.fault(class, message).helped(help));
    }
    None
}
