//! Rules for the metadata of objects.

use serde_json::{Value as Json, json};

use crate::failure::FieldCause;
use crate::naming::ResourceName;
use crate::object::{meta_list, meta_text};

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
     alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
     characters or '-', and must start and end with an alphanumeric character";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric \
     characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const KEY_RULE: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and \
     must start and end with an alphanumeric character";

/// The largest annotations of an object, in bytes.
const MOST_ANNOTATIONS: usize = 256 * 1024;

/// Why the metadata is refused; none if it is not.
pub(crate) fn metadata_problems(resource: &ResourceName, object: &Json) -> Vec<FieldCause> {
    let mut found = Vec::new();
    let name = meta_text(object, "name");
    if name.is_empty() {
        let rule = "name or generateName is required";
        found.push(FieldCause::required("metadata.name", rule));
    } else if let Some(rule) = name_problem(resource, name) {
        found.push(FieldCause::invalid("metadata.name", &name.into(), &rule));
    }
    let metadata = &object["metadata"];
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        if let Some(rule) = key_problem(key) {
            found.push(FieldCause::invalid(
                "metadata.labels",
                &key.as_str().into(),
                &rule,
            ));
        }
        let text = value.as_str().unwrap_or_default();
        if text.len() > 63 {
            let rule = "must be no more than 63 bytes";
            found.push(FieldCause::invalid("metadata.labels", value, rule));
        } else if !text.is_empty() && !is_qualified(text) {
            found.push(FieldCause::invalid("metadata.labels", value, VALUE_RULE));
        }
    }
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        if let Some(rule) = key_problem(&key.to_lowercase()) {
            let key = key.as_str().into();
            found.push(FieldCause::invalid("metadata.annotations", &key, &rule));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MOST_ANNOTATIONS {
        found.push(FieldCause {
            field: "metadata.annotations".to_owned(),
            reason: "FieldValueTooLong",
            message: format!("Too long: may not be more than {MOST_ANNOTATIONS} bytes"),
        });
    }
    found.extend(owner_problems(&metadata["ownerReferences"]));
    for finalizer in meta_list(object, "finalizers") {
        if let Some(rule) = key_problem(finalizer) {
            let value = finalizer.into();
            found.push(FieldCause::invalid("metadata.finalizers", &value, &rule));
        }
    }
    found
}

fn owner_problems(owners: &Json) -> Vec<FieldCause> {
    let mut found = Vec::new();
    let mut controllers = 0;
    for (at, owner) in owners.as_array().into_iter().flatten().enumerate() {
        for (field, rule) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if owner[field].as_str().is_none_or(str::is_empty) {
                let field = format!("metadata.ownerReferences[{at}].{field}");
                found.push(FieldCause::invalid(field, &json!(""), rule));
            }
        }
        controllers += usize::from(owner["controller"] == true);
    }
    if controllers > 1 {
        let rule = "Only one reference can have Controller set to true.";
        found.push(FieldCause::invalid(
            "metadata.ownerReferences",
            owners,
            rule,
        ));
    }
    found
}

/// Whether the metadata has the types that every object must have. The message of the first
/// problem.
pub(crate) fn metadata_type_problem(object: &Json) -> Option<String> {
    let metadata = match &object["metadata"] {
        Json::Null => return None,
        Json::Object(metadata) => metadata,
        _ => return Some("metadata must be an object".to_owned()),
    };
    for (field, value) in metadata {
        let is_right = match field.as_str() {
            "labels" | "annotations" => match value {
                Json::Object(entries) => entries
                    .values()
                    .all(|value| value.is_string() || value.is_null()),
                other => other.is_null(),
            },
            "finalizers" => match value {
                Json::Array(items) => items.iter().all(Json::is_string),
                other => other.is_null(),
            },
            "ownerReferences" | "managedFields" => match value {
                Json::Array(items) => items.iter().all(Json::is_object),
                other => other.is_null(),
            },
            "name" | "generateName" | "namespace" | "uid" | "resourceVersion" => {
                value.is_string() || value.is_null()
            }
            _ => true,
        };
        if !is_right {
            return Some(format!("metadata.{field} has a value of another type"));
        }
    }
    None
}

/// Why a name is refused.
fn name_problem(resource: &ResourceName, name: &str) -> Option<String> {
    let path_like = matches!(
        (&*resource.group, &*resource.plural),
        (
            "rbac.authorization.k8s.io",
            "roles" | "rolebindings" | "clusterroles" | "clusterrolebindings"
        )
    );
    if path_like {
        let fits = !name.contains(['/', '%']) && name != "." && name != "..";
        return (!fits).then(|| "may not contain '/' or '%'".to_owned());
    }
    if matches!(
        (&*resource.group, &*resource.plural),
        ("", "namespaces" | "services")
    ) {
        if name.len() > 63 {
            return Some("must be no more than 63 bytes".to_owned());
        }
        let fits = !name.contains('.') && is_subdomain(name);
        return (!fits).then(|| LABEL_RULE.to_owned());
    }
    if name.len() > 253 {
        return Some("must be no more than 253 bytes".to_owned());
    }
    (!is_subdomain(name)).then(|| SUBDOMAIN_RULE.to_owned())
}

/// Why a key of labels or annotations, or a finalizer, is refused.
fn key_problem(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| prefix.is_empty() || !is_subdomain(prefix)) {
        return Some(format!("prefix part {SUBDOMAIN_RULE}"));
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 bytes".to_owned());
    }
    (!is_qualified(name)).then(|| KEY_RULE.to_owned())
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(|part| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}

fn is_qualified(text: &str) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    is_end(text.bytes().next())
        && is_end(text.bytes().last())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
