//! Checks answers of providers against the contract and the plan.

use blueprint::Address;
use diag::Diagnostic;
use provider::{Applied, ResourceType};
use understand::compare::{contradiction, has_sent};

use crate::codes;
use crate::model::CallRequest;

/// A violation of the provider contract or of the plan by an answer.
pub(crate) enum Breach {
    /// The answer does not match the catalogue. The text is the reason.
    Contract(String),
    /// The field with this name differs from its planned value.
    Promise(String),
}

impl Breach {
    /// The diagnostic for an answer about a resource.
    pub(crate) fn diagnostic(self, address: &Address) -> Diagnostic {
        match self {
            Breach::Contract(why) => codes::PROVIDER_BROKE_CONTRACT
                .new(format!(
                    "the provider's answer about `{address}` is not as its catalogue declares"
                ))
                .note(why),
            Breach::Promise(field) => codes::PROMISE_BROKEN.new(format!(
                "`{field}` of `{address}` came out differently than planned"
            )),
        }
    }
}

/// Checks an answer against the contract: every computed field is present and of its type, and
/// every planned field has its planned value (decisions/apply#promises-of-a-provider). `None` if
/// the answer is correct.
pub(crate) fn breach(
    ty: &ResourceType,
    request: &CallRequest,
    applied: &Applied,
) -> Option<Breach> {
    if applied.id.is_empty() {
        return Some(Breach::Contract("the answer names no id".to_owned()));
    }
    let Some(fields) = applied.fields.as_map() else {
        return Some(Breach::Contract("the answer holds no fields".to_owned()));
    };
    if !ty.capabilities.exact || request.inexact {
        return None;
    }
    if let Some(path) = contradiction(&request.planned, &applied.fields) {
        return Some(Breach::Promise(path.to_string()));
    }
    let sent = if request.planned.is_null() {
        request.desired.as_map()
    } else {
        None
    };
    for (name, value) in sent.into_iter().flatten() {
        let Some(field) = ty.schema.fields.get(name) else {
            continue;
        };
        let same = match fields.get(name) {
            Some(answered) => has_sent(field, answered, value),
            None => value.is_null(),
        };
        if !same {
            return Some(Breach::Promise(name.to_string()));
        }
    }
    for (name, field) in ty.schema.fields.iter().filter(|(_, field)| field.computed) {
        match fields.get(name).filter(|value| !value.is_null()) {
            Some(value) => {
                let fits =
                    expr::convert(&value.revealed(), &field.ty(), expr::ValueOrigin::Literal)
                        .is_ok();
                if !fits {
                    return Some(Breach::Contract(format!(
                        "`{name}` is {}, declared as {}",
                        value.kind_word(),
                        field.ty()
                    )));
                }
            }
            None if field.nullable || field.optional => {}
            None => return Some(Breach::Contract(format!("`{name}` is missing"))),
        }
    }
    None
}
