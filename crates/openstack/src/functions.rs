//! The functions of the provider: facts about a cloud that documents ask for.

use ::provider::json::from_json;
use ::provider::{ErrorKind, InvokeRequest, ProviderError};
use blueprint::Value;
use expr::Arguments;

use crate::client::Cloud;
use crate::heat_stacks::read_stack;
use crate::managed::NameCache;
use crate::types::constraints::{kind_of_rule, rules};

/// The function with the project of a configuration, for `OS::project_id` in templates.
pub(crate) const PROJECT: &str = "openstack/project_id";

/// The function with the id of an object, for custom constraints of parameters.
pub(crate) const OBJECT: &str = "openstack/object_id";

/// The function that returns a stack of Heat, by its name or id. It is no function of documents, so
/// it is not in the catalogue.
pub const STACK_FUNCTION: &str = "openstack/stack";

/// The functions of the catalogue.
pub(crate) const ALL: [&str; 2] = [PROJECT, OBJECT];

/// Calls a function.
///
/// # Errors
/// [`ErrorKind::Document`] for an unknown function, and for an object that does not exist.
pub(crate) async fn invoke(
    cloud: &Cloud,
    names: &NameCache,
    request: InvokeRequest<'_>,
) -> Result<Value, ProviderError> {
    match request.function.rsplit('/').next() {
        Some("project_id") => Ok(Value::text(cloud.project.as_str())),
        Some("object_id") => {
            let texts = texts(request.arguments);
            let (Some(rule), Some(text)) = (texts.first(), texts.get(1)) else {
                let message = "the kind of the object and its name are needed";
                return Err(ProviderError::new(ErrorKind::Document, message));
            };
            let Some(kind) = kind_of_rule(rule) else {
                let near = diag::nearest(rule, rules());
                let near = near.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                let message = format!("no objects are known by `{rule}`{near}");
                return Err(ProviderError::new(ErrorKind::Document, message));
            };
            // Services find objects without a name by it.
            if text.is_empty() {
                let message = format!("an empty text names no {}", kind.word);
                return Err(ProviderError::new(ErrorKind::Document, message));
            }
            Ok(Value::text(names.existing(cloud, kind, text).await?))
        }
        Some("stack") => {
            let texts = texts(request.arguments);
            let stack = read_stack(cloud, texts.first().copied().unwrap_or_default()).await?;
            Ok(from_json(&stack))
        }
        _ => {
            let message = format!("there is no function `{}` here", request.function);
            Err(ProviderError::new(ErrorKind::Document, message))
        }
    }
}

/// The arguments that are texts, without marks of secrets.
fn texts(arguments: &Arguments) -> Vec<&str> {
    let values = arguments.values().map(Value::unmarked);
    values.filter_map(Value::as_text).collect()
}
