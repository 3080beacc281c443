//! Server-side apply, and which manager holds which field.
//!
//! The semantics are those of the API server: a manager holds the fields that it applied or wrote.
//! A field that a manager no longer applies goes, unless another one holds it. Applying another
//! value to a field that another manager holds is a conflict.
//!
//! Not here: storing objects, defaults, and which fields a subresource may write. The caller leaves
//! out what a request may not write before it calls.

mod comparison;
mod failure;
mod granularity;
mod manager;
mod managers;
mod merging;
#[cfg(test)]
mod tests;

use blueprint::Name;
use kubernetes::schema::ValueForms;
use kubernetes::{FieldElement, FieldSet, ManagedFields, ManagerOperation};
use serde_json::{Map, Value as Json};

pub use failure::{ApplyFailure, HeldField};
pub use manager::{ConflictPolicy, FieldManager};

use comparison::Comparison;
use granularity::{element, equal, is_atomic_map, is_granular_list};
use managers::{Managers, take_managed_fields, with_entries};
use merging::{drop_nulls, fields_of, merged, with_declared, without_fields};

/// The annotation in which `kubectl apply` without server-side apply keeps what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The manager that continues what such an annotation says.
const KUBECTL: &str = "kubectl";

/// The manager of what an object without managers had before it was first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Applies a configuration to a live object, or to none. Returns the object with its
/// `metadata.managedFields`.
///
/// The object is equal to `live`, with equal times of its managers, if the configuration changes
/// nothing.
///
/// # Errors
/// If other managers hold fields with other values and the policy refuses, or the configuration
/// cannot be merged.
pub fn apply(
    live: Option<&Json>,
    applied: &Json,
    manager: &FieldManager<'_>,
    policy: ConflictPolicy,
    forms: &ValueForms,
) -> Result<Json, ApplyFailure> {
    if applied
        .pointer("/metadata/managedFields")
        .is_some_and(|entries| !entries.is_null())
    {
        let why = "metadata.managedFields must be nil";
        return Err(ApplyFailure::Invalid(why.to_owned()));
    }
    let mut applied = applied.clone();
    take_managed_fields(&mut applied);
    check_lists(&applied, Some(forms), "")?;
    let mut base = live.cloned().unwrap_or_else(|| Json::Object(Map::new()));
    let managed = ManagedFields::of(&base).map_err(|error| {
        ApplyFailure::Invalid(format!("failed to decode managed fields: {error}"))
    })?;
    take_managed_fields(&mut base);
    let mut managers = Managers::new(managed);
    if managers.is_empty() && live.is_some() {
        let first = FieldManager {
            name: BEFORE_FIRST_APPLY,
            ..*manager
        };
        let nothing = Json::Object(Map::new());
        let comparison = Comparison::of(&nothing, &base, forms);
        let fields = of_endpoint(&comparison.written(), manager);
        managers.add_update(&first, fields);
    }
    let request = AppliedConfiguration {
        base: &base,
        applied: &applied,
        manager,
        forms,
    };
    let mut object = match request.run(managers.clone(), policy) {
        Err(ApplyFailure::Conflicts(held)) if manager.name == KUBECTL => {
            let held = request.not_last_applied(held);
            if !held.is_empty() {
                return Err(ApplyFailure::Conflicts(held));
            }
            request.run(managers, ConflictPolicy::TakeOver)?
        }
        result => result?,
    };
    if manager.name == KUBECTL {
        update_last_applied(&mut object, &applied);
    }
    Ok(object)
}

/// Writes the managers of a plain create, update or patch into the object that it makes. `before`
/// is the live object; `after` is the whole new one.
///
/// A request through a subresource cannot set `metadata.managedFields`; others can, and an empty
/// list there removes all managers.
pub fn track_update(
    before: Option<&Json>,
    after: &mut Json,
    manager: &FieldManager<'_>,
    forms: &ValueForms,
) {
    let given = take_managed_fields(after).filter(|entries| !entries.is_null());
    let mut base = before.cloned().unwrap_or_else(|| Json::Object(Map::new()));
    let live = ManagedFields::of(&base).unwrap_or_default();
    take_managed_fields(&mut base);
    let managed = match given {
        Some(entries) if manager.subresource.is_none() => {
            if is_reset(&entries) {
                ManagedFields::default()
            } else {
                let given = ManagedFields::of(&with_entries(&entries)).unwrap_or_default();
                if given.entries.is_empty() {
                    live
                } else {
                    given
                }
            }
        }
        _ => live,
    };
    let mut managers = Managers::new(managed);
    // The managers of an object without any are not tracked before the first apply.
    if managers.is_empty() && before.is_some() {
        return;
    }
    let comparison = Comparison::of(&base, after, forms);
    managers.take(&comparison, None);
    managers.add_update(manager, comparison.written());
    managers.bound_updates();
    managers.write(after);
}

/// The fields that a request through the endpoint of the manager can write: `status` through its
/// subresource, the rest through the object itself.
fn of_endpoint(fields: &FieldSet, manager: &FieldManager<'_>) -> FieldSet {
    let is_status = |element: &FieldElement| *element == FieldElement::Field("status".into());
    let mut rest = FieldSet::default();
    for (element, part) in fields.parts() {
        if is_status(element) == (manager.subresource == Some("status")) {
            rest.put(element.clone(), part.clone());
        }
    }
    rest
}

/// Whether the entries of a request remove all managers.
fn is_reset(entries: &Json) -> bool {
    match entries.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

struct AppliedConfiguration<'a> {
    /// The live object without its managers.
    base: &'a Json,
    applied: &'a Json,
    manager: &'a FieldManager<'a>,
    forms: &'a ValueForms,
}

impl AppliedConfiguration<'_> {
    fn run(&self, mut managers: Managers, policy: ConflictPolicy) -> Result<Json, ApplyFailure> {
        let forms = Some(self.forms);
        let object = merged(Some(self.base), Some(self.applied), forms);
        let object = object.unwrap_or_else(|| Json::Object(Map::new()));
        let last = managers.fields(self.manager, ManagerOperation::Apply);
        let applied = fields_of(self.applied, forms);
        let keeps_all = applied.contains(&last);
        managers.set_applied(self.manager, applied);
        let mut object = if keeps_all {
            object
        } else {
            self.pruned(&object, &managers.all_fields(), &last)
        };
        let comparison = Comparison::of(self.base, &object, self.forms);
        if policy == ConflictPolicy::Refuse {
            let holders = managers.holders_of(&comparison.written(), self.manager);
            if !holders.is_empty() {
                return Err(ApplyFailure::Conflicts(failure::conflicts(
                    &holders, self.base,
                )));
            }
        }
        managers.take(&comparison, Some(self.manager));
        managers.drop_untracked(self.manager);
        if !equal(self.base, &object) {
            managers.set_time(self.manager);
        }
        self.drop_nulls(&mut object);
        managers.write(&mut object);
        Ok(object)
    }

    /// Removes the nulls that the server does not store: those of metadata, and of the kinds whose
    /// objects always have some fields, which are the built-in ones. Objects of other kinds keep
    /// nulls, and their schemas may refuse them.
    fn drop_nulls(&self, object: &mut Json) {
        if self.forms.always_there.is_empty() {
            object.get_mut("metadata").into_iter().for_each(drop_nulls);
        } else {
            drop_nulls(object);
        }
    }

    /// The merged object without the fields that the manager applied last and does not apply now,
    /// unless another manager holds them.
    fn pruned(&self, object: &Json, held: &FieldSet, last: &FieldSet) -> Json {
        let forms = Some(self.forms);
        let fields = |object: &Json| with_declared(&fields_of(object, forms), forms);
        let without = |set: &FieldSet| without_fields(object, set, forms);
        let last = with_declared(last, forms);
        let all = fields(object);
        let kept = fields(&without(&last)).union(&with_declared(held, forms));
        let kept = fields(&without(&all.minus(&kept)));
        // What goes was applied by this manager: fields that nobody holds stay.
        without(&all.minus(&kept).intersection(&last))
    }

    /// The conflicts about fields that differ from what the annotation of `kubectl apply` says:
    /// its fields belong to whoever applies as `kubectl`.
    fn not_last_applied(&self, held: Vec<HeldField>) -> Vec<HeldField> {
        let Some(allowed) = self.last_applied() else {
            return held;
        };
        let is_allowed = |held: &HeldField| allowed.contains(&held.conflict.written);
        held.into_iter().filter(|held| !is_allowed(held)).collect()
    }

    fn last_applied(&self) -> Option<Vec<Name>> {
        let text = self.base["metadata"]["annotations"][LAST_APPLIED].as_str()?;
        let last: Json = serde_json::from_str(text).ok()?;
        if last["apiVersion"] != self.manager.api_version {
            return None;
        }
        let comparison = Comparison::of(&last, self.base, self.forms);
        let fields = fields_of(&last, Some(self.forms))
            .minus(&comparison.written())
            .minus(&comparison.removed);
        let mut paths = Vec::new();
        failure::written_paths(&fields, "", &mut paths);
        Some(paths.into_iter().map(Name::from).collect())
    }
}

/// Brings the annotation of `kubectl apply` up to date, if the object has it.
fn update_last_applied(object: &mut Json, applied: &Json) {
    let annotation = object
        .pointer_mut("/metadata/annotations")
        .and_then(|annotations| annotations.get_mut(LAST_APPLIED))
        .filter(|text| text.as_str().is_some_and(|text| !text.is_empty()));
    let Some(annotation) = annotation else {
        return;
    };
    let mut applied = applied.clone();
    if let Some(annotations) = applied
        .pointer_mut("/metadata/annotations")
        .and_then(Json::as_object_mut)
    {
        annotations.shift_remove(LAST_APPLIED);
        if annotations.is_empty()
            && let Some(metadata) = applied["metadata"].as_object_mut()
        {
            metadata.shift_remove("annotations");
        }
    }
    applied.sort_all_objects();
    *annotation = format!("{applied}\n").into();
}

/// Checks that the items of the lists of a configuration can be told apart.
fn check_lists(value: &Json, forms: Option<&ValueForms>, path: &str) -> Result<(), ApplyFailure> {
    match value {
        Json::Object(fields) if !is_atomic_map(forms) => {
            for (name, value) in fields {
                let forms = forms.and_then(|forms| forms.field(name));
                check_lists(value, forms, &format!("{path}.{name}"))?;
            }
        }
        Json::Array(items) if is_granular_list(forms) => {
            let mut seen = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let Some(element) = element(item, forms) else {
                    return Err(ApplyFailure::Invalid(format!(
                        "{path}: element {index}: the item has no value for any key of the list"
                    )));
                };
                let text = element.in_path();
                if seen.contains(&text) {
                    return Err(ApplyFailure::Invalid(format!(
                        "{path}: duplicate entries for key {text}"
                    )));
                }
                let forms = forms.and_then(ValueForms::item);
                check_lists(item, forms, &format!("{path}{text}"))?;
                seen.push(text);
            }
        }
        _ => {}
    }
    Ok(())
}
