//! What a schema makes of an object that is written: defaults, dropped fields, and why it is
//! refused.

use kubernetes::schema::ValueForms;
use serde_json::Value as Json;

use crate::failure::{FieldCause, RefusedRequest};
use crate::kinds::{
    KindOrigin, ServedKind, ServedVersion, StatusForm, definition_problems, undeclared_fields,
};
use crate::metadata::{metadata_problems, metadata_type_problem};
use crate::object::{meta_text, set_field};
use crate::request::FieldValidation;
use crate::state::is_definition;
use crate::values::{json_of, value_of};

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
        let pruned = schema.prune(&schema.default(&value_of(&object)));
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
        let pruned = schema.prune(&value_of(object));
        pruned.dropped.iter().map(written).collect()
    } else if let Some(schema) = version.builtin() {
        undeclared_fields(&schema.resource_type.schema, &mut object.clone())
    } else {
        Vec::new()
    }
}

/// A path of a structural schema as messages write it.
fn written(path: &blueprint::FieldPath) -> String {
    use blueprint::PathStep;
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
    let mut found = metadata_problems(&kind.resource, object);
    if let Some(schema) = version.structural() {
        let violations = schema.validate(&value_of(object));
        found.extend(violations.into_iter().map(|violation| FieldCause {
            field: violation.field(),
            reason: violation.reason.as_str(),
            message: violation.message,
        }));
    }
    if is_definition(&kind.resource) {
        found.extend(definition_problems(object));
    }
    if found.is_empty() {
        return Ok(());
    }
    let name = meta_text(object, "name");
    Err(RefusedRequest::invalid(&kind.type_name, name, &found))
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
