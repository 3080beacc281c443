//! Names of stamped objects that do not fit the lifecycle of their template
//! (decisions/cartographer#runs).

use super::object_set::{ObjectSet, SetFault};
use crate::kinds::KindFamily;
use crate::validation::{Fault, FaultClass, ObjectPlace};

/// Adds the faults of the names in templates.
pub(crate) fn check(set: &ObjectSet<'_>, found: &mut Vec<SetFault>) {
    for object in set.all() {
        let spec = object.spec();
        let is_run_again = match object.kind.family() {
            KindFamily::Template => match spec.field("lifecycle").text() {
                Some("" | "mutable") => false,
                Some("immutable" | "tekton") => true,
                _ => continue,
            },
            KindFamily::RunTemplate => true,
            _ => continue,
        };
        let template = spec.field("template");
        if !template.is_set() || template.is_unknown() {
            continue;
        }
        let fault = name_fault(&template.field("metadata"), is_run_again);
        found.extend(fault.map(|fault| object.with(fault)));
    }
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
