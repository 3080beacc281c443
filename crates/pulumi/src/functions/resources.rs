//! Facts about resources: `pulumiResourceName`, `pulumiResourceType`.

use blueprint::Value;

use super::function::{FunctionResult, PartialArgument, PulumiFunction, wrong_type};
use crate::reference::urn_of;

pub(super) const FUNCTIONS: &[PulumiFunction] = &[
    PulumiFunction {
        name: "pulumiResourceName",
        key: "fn::pulumiResourceName",
        items: None,
        call: |argument| {
            part("pulumiResourceName", argument, |urn| {
                urn.rsplit("::").next()
            })
        },
        parts: PartialArgument::Leaves,
        docs: "The logical name of a resource.",
        examples: &[("\"text\"", "! argument-type")],
    },
    PulumiFunction {
        name: "pulumiResourceType",
        key: "fn::pulumiResourceType",
        items: None,
        call: |argument| {
            part("pulumiResourceType", argument, |urn| {
                urn.split("::").nth(2)?.rsplit('$').next()
            })
        },
        parts: PartialArgument::Leaves,
        docs: "The token of the type of a resource, as its package writes it.",
        examples: &[("\"text\"", "! argument-type")],
    },
];

/// A part of the URN of the resource that the argument refers to.
fn part(name: &str, argument: &Value, part: fn(&str) -> Option<&str>) -> FunctionResult {
    let Some(urn) = urn_of(argument) else {
        let what = format!("the argument of `fn::{name}`");
        return Err(wrong_type(&what, "a resource", argument, &[]));
    };
    match urn.as_text() {
        Some(urn) => Ok(Value::text(part(urn).unwrap_or_default())),
        None => Ok(urn.clone()),
    }
}
