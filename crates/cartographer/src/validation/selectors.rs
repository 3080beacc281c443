//! Selectors of blueprints and options (decisions/cartographer#selection): labels, expressions and
//! field requirements.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use blueprint::Value;

use super::fault::{Fault, FaultClass, ObjectPlace};
use super::labels::{key_mistake, value_mistake};
use super::paths::template_mistake;
use crate::kinds::CartoKind;

/// The names of the three parts of a selector.
pub(crate) struct SelectorFields {
    pub(crate) labels: &'static str,
    pub(crate) expressions: &'static str,
    pub(crate) fields: &'static str,
}

/// The parts of the selector of a blueprint, which are fields of its `spec`.
pub(crate) const BLUEPRINT_SELECTOR: SelectorFields = SelectorFields {
    labels: "selector",
    expressions: "selectorMatchExpressions",
    fields: "selectorMatchFields",
};

/// The parts of the selector of an option.
pub(crate) const OPTION_SELECTOR: SelectorFields = SelectorFields {
    labels: "matchLabels",
    expressions: "matchExpressions",
    fields: "matchFields",
};

impl SelectorFields {
    /// Whether no part of a selector has a requirement.
    pub(crate) fn are_empty(&self, selector: &ObjectPlace<'_>) -> bool {
        [self.labels, self.expressions, self.fields]
            .iter()
            .all(|part| selector.field(part).is_empty())
    }

    /// The faults of the parts, in the order in which upstream tests them.
    pub(crate) fn faults(
        &self,
        selector: &ObjectPlace<'_>,
        owner: CartoKind,
        faults: &mut Vec<Fault>,
    ) {
        label_faults(&selector.field(self.labels), faults);
        for expression in selector.field(self.expressions).items() {
            expression_faults(&expression, faults);
        }
        for requirement in selector.field(self.fields).items() {
            requirement_faults(&requirement, owner, faults);
        }
    }
}

fn label_faults(labels: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    for (key, value) in labels.entries() {
        if let Some(why) = key_mistake(key) {
            let quoted = value.quoted_part(key);
            let message = format!("{quoted} is not a valid key of a label: {why}");
            faults.push(value.fault(FaultClass::LabelSelector, message));
        }
        value_faults(&value, faults);
    }
}

fn value_faults(value: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    if let Some(why) = value.text().and_then(value_mistake) {
        let message = format!("{} is not a valid value of a label: {why}", value.quoted());
        faults.push(value.fault(FaultClass::LabelSelector, message));
    }
}

fn expression_faults(expression: &ObjectPlace<'_>, faults: &mut Vec<Fault>) {
    let class = FaultClass::LabelSelector;
    let (key, operator) = (expression.field("key"), expression.field("operator"));
    let values = expression.field("values");
    match operator.text() {
        None => {}
        Some("In" | "NotIn") if values.is_empty() => {
            let message = format!("the operator {} needs values", operator.quoted());
            faults.push(values.fault(class, message).helped("add `values`"));
        }
        Some("Exists" | "DoesNotExist") if !values.is_empty() && !values.is_unknown() => {
            let message = format!("the operator {} takes no values", operator.quoted());
            faults.push(values.fault(class, message).helped("remove `values`"));
        }
        Some("In" | "NotIn" | "Exists" | "DoesNotExist") => {}
        Some(_) => faults.push(unknown_operator(&operator, class)),
    }
    if let Some(why) = key.text().and_then(key_mistake) {
        let message = format!("{} is not a valid key of a label: {why}", key.quoted());
        faults.push(key.fault(class, message));
    }
    for value in values.items() {
        value_faults(&value, faults);
    }
}

fn unknown_operator(operator: &ObjectPlace<'_>, class: FaultClass) -> Fault {
    let message = format!("{} is not an operator", operator.quoted());
    operator
        .fault(class, message)
        .helped("use `In`, `NotIn`, `Exists` or `DoesNotExist`")
}

fn requirement_faults(requirement: &ObjectPlace<'_>, owner: CartoKind, faults: &mut Vec<Fault>) {
    let (key, operator) = (requirement.field("key"), requirement.field("operator"));
    let values = requirement.field("values");
    match operator.text() {
        None => {}
        Some("In" | "NotIn") if values.is_empty() => {
            let message = format!("the operator {} needs values", operator.quoted());
            let fault = values.fault(FaultClass::FieldValues, message);
            faults.push(fault.helped("add `values`"));
        }
        Some("Exists" | "DoesNotExist") if !values.is_empty() && !values.is_unknown() => {
            let message = format!("the operator {} takes no values", operator.quoted());
            let fault = values.fault(FaultClass::FieldValues, message);
            faults.push(fault.helped("remove `values`"));
        }
        Some("In" | "NotIn" | "Exists" | "DoesNotExist") => {}
        Some(_) => faults.push(unknown_operator(&operator, FaultClass::FieldOperator)),
    }
    if let Some(path) = key.text() {
        faults.extend(key_fault(&key, path, owner));
    }
}

/// The fields of every owner that a requirement may name.
const OWNER_PATHS: [&str; 10] = [
    "spec.source",
    "spec.source.git",
    "spec.source.git.url",
    "spec.source.git.ref",
    "spec.source.git.ref.branch",
    "spec.source.git.ref.tag",
    "spec.source.git.ref.commit",
    "spec.source.image",
    "spec.source.subPath",
    "spec.serviceAccountName",
];

/// What a key may start with.
const OWNER_PREFIXES: [&str; 2] = ["spec.params", "metadata"];

/// The further fields of a workload that a requirement may name.
const WORKLOAD_PATHS: [&str; 2] = ["spec.build", "spec.image"];

/// What a key for workloads may start with besides.
const WORKLOAD_PREFIXES: [&str; 4] = [
    "spec.build.env",
    "spec.env",
    "spec.resources",
    "spec.serviceClaims",
];

/// Whether a requirement may name a field of owners of a kind.
pub(crate) fn is_selectable(path: &str, owner: CartoKind) -> bool {
    let of_workload = owner == CartoKind::Workload;
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| path.starts_with(prefix));
    OWNER_PATHS.contains(&path)
        || starts(&OWNER_PREFIXES)
        || (of_workload && (WORKLOAD_PATHS.contains(&path) || starts(&WORKLOAD_PREFIXES)))
}

fn key_fault(key: &ObjectPlace<'_>, path: &str, owner: CartoKind) -> Option<Fault> {
    let kind = owner.name();
    let mistake = if is_selectable(path, owner) {
        template_mistake(path)?
    } else if let Some(rest) = without_owner(path, owner) {
        let message = format!(
            "{} starts with the owner, which upstream refuses",
            key.quoted()
        );
        let mut fault = key.fault(FaultClass::SelectorOwnerPrefix, message);
        fault.inside = u32::try_from(path.len() - rest.len())
            .ok()
            .map(|end| 0..end);
        return Some(fault.helped("write the key without the owner"));
    } else {
        let quoted = key.quoted();
        let message = format!("{quoted} is not a field of `{kind}` that a selector may name");
        let fault = key.fault(FaultClass::FieldPath, message);
        let help = "name a field of `spec.source`, `spec.serviceAccountName`, `spec.params` or \
                    `metadata`, without a dot before it";
        return Some(fault.helped(help));
    };
    let reason = key.reason(&mistake.message);
    let message = format!("{} cannot be read{reason}", key.quoted());
    let mut fault = key.fault(FaultClass::FieldPath, message);
    fault.inside = Some(mistake.span);
    Some(fault)
}

/// What follows the name of the owner in a key, if it is a field that a requirement may name.
fn without_owner(path: &str, owner: CartoKind) -> Option<&str> {
    let rest = path.strip_prefix(owner.singular().as_str())?;
    let rest = rest.strip_prefix('.')?;
    let is_good = is_selectable(rest, owner) && template_mistake(rest).is_none();
    is_good.then_some(rest)
}

/// A text that is equal for equal selectors of options: labels in any order, the rest in its own.
/// `None` if a part is unknown.
pub(crate) fn selector_identity(selector: &ObjectPlace<'_>) -> Option<String> {
    if selector.value().is_some_and(Value::has_unknown) {
        return None;
    }
    let mut identity = String::new();
    let labels = selector.field(OPTION_SELECTOR.labels);
    if labels.is_set() {
        let labels = labels.entries();
        let sorted: BTreeMap<_, _> = labels
            .iter()
            .map(|(key, value)| (*key, value.text()))
            .collect();
        let _ = write!(identity, "{sorted:?}");
    }
    for part in [OPTION_SELECTOR.expressions, OPTION_SELECTOR.fields] {
        let part = selector.field(part);
        identity.push(if part.is_set() { ';' } else { '-' });
        for requirement in part.items() {
            let values = requirement.field("values");
            let (key, operator) = (requirement.field("key"), requirement.field("operator"));
            let texts: Vec<_> = values.items().iter().map(ObjectPlace::text).collect();
            let values = values.is_set().then_some(texts);
            let _ = write!(identity, "{:?}", (key.text(), operator.text(), values));
        }
    }
    Some(identity)
}
