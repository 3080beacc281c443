//! What a schema makes of an object that is written: defaults, dropped fields, and why it is
//! refused.

use blueprint::{FieldPath, PathStep};
use kubernetes::json::from_json;
use kubernetes::schema::ValueForms;
use kubernetes::structural::{SchemaViolation, ViolationReason};
use serde_json::Value as Json;

use crate::failure::{FieldCause, RefusedRequest};
use crate::kinds::{
    KindOrigin, ServedKind, ServedVersion, StatusForm, definition_problems, undeclared_fields,
};
use crate::metadata::{metadata_problems, metadata_type_problem};
use crate::object::{meta_text, set_field};
use crate::request::FieldValidation;
use crate::state::is_definition;
use crate::values::json_of;

/// An object with the defaults of its schema, and what the client should know.
#[derive(Debug)]
pub(crate) struct AdmittedContent {
    pub(crate) object: Json,
    pub(crate) warnings: Vec<String>,
}

/// The form in which a request states an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatedForm {
    /// The whole object.
    Whole,
    /// A patch.
    Patch,
}

/// Drops undeclared fields, and adds defaults.
///
/// # Errors
/// If the metadata has values of other types, or, with strict validation, if a field is not
/// declared.
pub(crate) fn conform(
    kind: &ServedKind,
    version: &ServedVersion,
    mut object: Json,
    validation: FieldValidation,
    form: StatedForm,
) -> Result<AdmittedContent, RefusedRequest> {
    if let Some(problem) = metadata_type_problem(&object) {
        return Err(unreadable(kind, version, &problem));
    }
    let dropped: Vec<String> = if let Some(schema) = version.structural() {
        let pruned = schema.prune(&schema.default(&from_json(&object)));
        object = json_of(&pruned.object);
        pruned.dropped.iter().map(written).collect()
    } else if let Some(schema) = version.builtin() {
        let dropped = undeclared_fields(&schema.resource_type.schema, &mut object);
        drop_empty_collections(&mut object, &schema.forms);
        dropped
    } else {
        Vec::new()
    };
    let mut warnings = Vec::new();
    let unknown = |path: &String| format!("unknown field \"{path}\"");
    match validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => warnings.extend(dropped.iter().map(unknown)),
        FieldValidation::Strict if dropped.is_empty() => {}
        FieldValidation::Strict => {
            let all: Vec<String> = dropped.iter().map(unknown).collect();
            let problem = format!("strict decoding error: {}", all.join(", "));
            return Err(match form {
                StatedForm::Whole => unreadable(kind, version, &problem),
                StatedForm::Patch => RefusedRequest::strict_patch(&problem),
            });
        }
    }
    Ok(AdmittedContent { object, warnings })
}

/// Leaves out empty lists and maps where the server does so. Managers are left alone.
fn drop_empty_collections(value: &mut Json, forms: &ValueForms) {
    let inside = |name: &str, value: &mut Json| {
        let Some(own) = forms.field(name) else {
            return true;
        };
        drop_empty_collections(value, own);
        let is_empty = match value {
            Json::Object(entries) => entries.is_empty(),
            Json::Array(items) => items.is_empty(),
            _ => false,
        };
        name == "managedFields" || !(own.is_collection && is_empty)
    };
    match value {
        Json::Object(entries) => entries.retain(|name, value| inside(name, value)),
        Json::Array(items) => {
            if let Some(own) = forms.item() {
                for item in items {
                    drop_empty_collections(item, own);
                }
            }
        }
        _ => {}
    }
}

/// The paths of the fields that a schema does not declare.
pub(crate) fn undeclared(version: &ServedVersion, object: &Json) -> Vec<String> {
    if let Some(schema) = version.structural() {
        let pruned = schema.prune(&from_json(object));
        pruned.dropped.iter().map(written).collect()
    } else if let Some(schema) = version.builtin() {
        undeclared_fields(&schema.resource_type.schema, &mut object.clone())
    } else {
        Vec::new()
    }
}

/// A path of a structural schema as messages write it.
fn written(path: &FieldPath) -> String {
    let mut text = String::new();
    for step in &path.0 {
        match step {
            PathStep::Index(at) => text.push_str(&format!("[{at}]")),
            PathStep::Field(name) | PathStep::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
        }
    }
    text
}

fn unreadable(kind: &ServedKind, version: &ServedVersion, problem: &str) -> RefusedRequest {
    let name = &kind.type_name.kind;
    RefusedRequest::bad_request(format!(
        "{name} in version \"{}\" cannot be handled as a {name}: {problem}",
        version.name
    ))
}

/// Checks a whole object as it would be stored.
///
/// # Errors
/// If the metadata or a value is not valid.
pub(crate) fn validate(
    kind: &ServedKind,
    version: &ServedVersion,
    object: &Json,
) -> Result<(), RefusedRequest> {
    refuse(kind, object, &problems(kind, version, object))
}

/// Checks what an apply request has made of an object of a defined kind. A list or map that lost
/// its last part is null, and the schema may refuse that; requests of other kinds drop such nulls.
///
/// # Errors
/// If the object has such a null. The other problems are named, too.
pub(crate) fn check_nulls(
    kind: &ServedKind,
    version: &ServedVersion,
    object: &Json,
) -> Result<(), RefusedRequest> {
    let Some(schema) = version.structural() else {
        return Ok(());
    };
    let value = from_json(object);
    let violations = schema.validate(&value);
    let nulls = violations.into_iter().filter(|violation| {
        violation.reason == ViolationReason::TypeInvalid && is_null_at(object, &violation.path)
    });
    let mut found: Vec<FieldCause> = nulls.map(cause_of).collect();
    if !found.is_empty() {
        let completed = json_of(&schema.default(&value));
        found.extend(problems(kind, version, &completed));
    }
    refuse(kind, object, &found)
}

fn refuse(kind: &ServedKind, object: &Json, found: &[FieldCause]) -> Result<(), RefusedRequest> {
    if found.is_empty() {
        return Ok(());
    }
    let name = meta_text(object, "name");
    Err(RefusedRequest::invalid(&kind.type_name, name, found))
}

fn problems(kind: &ServedKind, version: &ServedVersion, object: &Json) -> Vec<FieldCause> {
    let mut found = metadata_problems(&kind.resource, object);
    if let Some(schema) = version.structural() {
        let violations = schema.validate(&from_json(object));
        found.extend(violations.into_iter().map(cause_of));
    }
    if is_definition(&kind.resource) {
        found.extend(definition_problems(object));
    }
    found
}

fn cause_of(violation: SchemaViolation) -> FieldCause {
    FieldCause {
        field: violation.field(),
        reason: violation.reason.as_str(),
        message: violation.message,
    }
}

fn is_null_at(object: &Json, path: &FieldPath) -> bool {
    let found = path.0.iter().try_fold(object, |at, step| match step {
        PathStep::Field(name) | PathStep::Key(name) => at.get(&**name),
        PathStep::Index(index) => at.get(usize::try_from(*index).ok()?),
    });
    found.is_some_and(Json::is_null)
}

/// Checks that an object is of the kind and version of its path, and writes both into an object of
/// a built-in kind that leaves them out.
///
/// # Errors
/// If it is not.
pub(crate) fn check_type(
    kind: &ServedKind,
    version: &ServedVersion,
    object: &mut Json,
) -> Result<(), RefusedRequest> {
    if !object.is_object() {
        return Err(RefusedRequest::bad_request("the body is no object"));
    }
    let expected = kind.api_version(&version.name);
    for (field, expected, noun) in [
        ("apiVersion", expected.as_str(), "API version"),
        ("kind", &*kind.type_name.kind, "kind"),
    ] {
        match object[field].as_str().filter(|text| !text.is_empty()) {
            Some(given) if given == expected => {}
            Some(given) => {
                return Err(RefusedRequest::bad_request(format!(
                    "the {noun} in the data ({given}) does not match the expected {noun} \
                     ({expected})"
                )));
            }
            None if kind.origin == KindOrigin::Builtin => {
                set_field(object, field, Some(expected.into()));
            }
            None => {
                let field = if field == "kind" { "Kind" } else { field };
                return Err(RefusedRequest::bad_request(format!(
                    "Object '{field}' is missing in the body"
                )));
            }
        }
    }
    Ok(())
}

/// Removes the status from an object that states it, if it is a subresource.
pub(crate) fn drop_status(version: &ServedVersion, object: &mut Json) {
    if version.status == StatusForm::Subresource {
        set_field(object, "status", None);
    }
}
