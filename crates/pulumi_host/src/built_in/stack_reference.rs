//! References to other stacks.

use blueprint::{Name, Value};
use provider::{Call, ErrorKind, InstanceReference, ProviderError};

use crate::names::existing_urn;

/// The token of the type in URNs.
const TOKEN: &str = "pulumi:pulumi:StackReference";

/// The stack that a text names: `STACK`, `ORGANIZATION/STACK` or `ORGANIZATION/PROJECT/STACK`.
/// `None` for every other text.
fn parse(name: &str) -> Option<InstanceReference> {
    let parts: Vec<&str> = name.split('/').collect();
    let (project, instance) = match parts.as_slice() {
        [instance] | [_, instance] => (None, instance),
        [_, project, instance] => (Some(Name::from(*project)), instance),
        _ => return None,
    };
    let is_complete = parts.iter().all(|part| !part.is_empty());
    is_complete.then(|| InstanceReference {
        project,
        instance: (*instance).into(),
    })
}

/// The fields of a stack reference. The arguments are those of the function that reads an object.
pub(super) async fn referred_stack(call: &Call, arguments: &Value) -> Result<Value, ProviderError> {
    let text = |name: &str| {
        let value = arguments.get(name).map(Value::unmarked);
        value.and_then(Value::as_text)
    };
    let refused = |why: String| ProviderError::new(ErrorKind::Document, why).at("id");
    let Some(name) = text("id") else {
        return Err(refused("the name of a stack is a text".to_owned()));
    };
    let Some(reference) = parse(name) else {
        return Err(refused(format!(
            "`{name}` names no stack; write `STACK`, `ORGANIZATION/STACK` or \
             `ORGANIZATION/PROJECT/STACK`"
        )));
    };
    let project = text("project").unwrap_or_default();
    let Some(instances) = &call.instances else {
        return Err(refused(format!(
            "the stack `{name}` cannot be read: there is no state"
        )));
    };
    let exports = instances.exports(&reference, project).await?;
    let entries = exports.as_map();
    let secret = entries.into_iter().flat_map(|map| map.iter());
    let secret = secret
        .filter(|(_, value)| value.has_secret())
        .map(|(name, _)| Value::Text(name.clone()));
    let secret = Value::list(secret);
    let urn = text("name").map(|own| existing_urn(&call.instance, project, TOKEN, own));
    Ok(Value::map([
        (Name::from("id"), Value::Text(name.into())),
        ("urn".into(), urn.map_or(Value::Null, Value::Text)),
        ("name".into(), Value::Text(name.into())),
        ("outputs".into(), exports),
        ("secretOutputNames".into(), secret),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_named_with_or_without_its_project() {
        let read = |name: &str| parse(name).map(|one| (one.project, one.instance));
        assert_eq!(read("dev"), Some((None, "dev".into())));
        assert_eq!(read("acme/dev"), Some((None, "dev".into())));
        assert_eq!(
            read("acme/net/dev"),
            Some((Some("net".into()), "dev".into()))
        );
        for wrong in ["", "a//b", "/", "a/b/c/d"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
