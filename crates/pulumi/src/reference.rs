//! References to resources as values: `${resource}` (decisions/pulumi#references-to-resources).
//!
//! A reference is a map in the form of Pulumi's protocol, with the URN of the resource and its id.
//! `pulumi_wire` sends it as a reference, or as the id to plugins that accept no references.

use blueprint::{Name, Value};
use expr::Refusal;

/// The key that makes a map a special value of the protocol.
const KEY: &str = "4dabf18193072939515e22adb298388d";
/// The text under the key for a reference to a resource.
const KIND: &str = "5cf8f73096256a8f31e491e813e4eb8e";

/// The reference to a resource with a URN and an id.
pub(crate) fn reference(arguments: &[Value]) -> Result<Value, Refusal> {
    let [urn, id] = arguments else {
        return Ok(Value::Null);
    };
    let entries = [
        (Name::from(KEY), Value::text(KIND)),
        ("urn".into(), urn.clone()),
        ("id".into(), id.clone()),
    ];
    Ok(Value::map(
        entries.into_iter().filter(|(_, value)| !value.is_null()),
    ))
}

/// Whether a value is a reference to a resource.
pub(crate) fn is_reference(value: &Value) -> bool {
    let kind = value
        .unmarked()
        .as_map()
        .and_then(|entries| entries.get(KEY));
    kind.and_then(Value::as_text) == Some(KIND)
}

/// The URN of the resource that a value refers to.
pub(crate) fn urn_of(value: &Value) -> Option<&Value> {
    is_reference(value).then(|| value.unmarked().get("urn"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_the_urn_and_the_id_if_there_is_one() {
        let urn = Value::text("urn:pulumi:dev::shop::shop:index:Item::one");
        let made = |id: Value| reference(&[urn.clone(), id]).unwrap();
        let with_id = made(Value::text("7"));
        assert!(is_reference(&with_id));
        assert_eq!(urn_of(&with_id), Some(&urn));
        assert_eq!(with_id.get("id"), Some(&Value::text("7")));
        assert_eq!(made(Value::Null).get("id"), None);
        assert!(made(Value::unknown(None, None)).has_unknown());
        assert!(!is_reference(&Value::map([("urn", urn)])));
    }
}
