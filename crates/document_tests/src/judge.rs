//! Judges whether what came of a step meets its expectations.

use blueprint::{Name, Value};
use diag::{Diagnostic, Span, Spanned};

use crate::case::{Assertion, ExpectedActions, ExpectedAddresses, ExpectedRefusal, TestStep};
use crate::codes::TEST_FAILED;
use crate::compare::{contains, is_equal};
use crate::observed::{ObservedAssertion, ObservedMistake, ObservedStep};

/// The expectations of a step that are not met, one diagnostic each. A step that was refused
/// unexpectedly has one failure.
pub fn judge(step: &TestStep, observed: &ObservedStep) -> Vec<Diagnostic> {
    if let Some(expected) = &step.refused {
        return judge_refusal(expected, &observed.mistakes)
            .into_iter()
            .collect();
    }
    if let Some(first) = observed.mistakes.first() {
        let more = match observed.mistakes.len() - 1 {
            0 => String::new(),
            count => format!(", and {count} more"),
        };
        let failure = failed(
            step.span,
            format!("{}{more}", first.line()),
            "this step fails",
        );
        return vec![failure];
    }
    let mut failures = Vec::new();
    for expected in &step.actions {
        judge_actions(expected, observed, &mut failures);
    }
    for (expected, found, word) in [
        (&step.drifted, &observed.drifted, "drifted"),
        (&step.vanished, &observed.vanished, "vanished"),
    ] {
        if let Some(expected) = expected {
            judge_addresses(expected, found, word, observed, &mut failures);
        }
    }
    judge_specs(step, observed, &mut failures);
    judge_exports(step, observed, &mut failures);
    for (assertion, came) in step.assertions.iter().zip(&observed.assertions) {
        failures.extend(judge_assertion(assertion, came));
    }
    failures
}

fn failed(span: Span, message: String, label: impl Into<String>) -> Diagnostic {
    TEST_FAILED.new(message).label(span, label)
}

fn judge_refusal(expected: &ExpectedRefusal, mistakes: &[ObservedMistake]) -> Option<Diagnostic> {
    let wanted = match (&expected.code, &expected.message) {
        (Some(code), Some(message)) => format!("`{}` with `{}`", code.item, message.item),
        (Some(one), None) | (None, Some(one)) => format!("`{}`", one.item),
        (None, None) => "a mistake".to_owned(),
    };
    let fits = |mistake: &ObservedMistake| {
        let code = expected.code.as_ref();
        let message = expected.message.as_ref();
        code.is_none_or(|code| code.item == mistake.code)
            && message.is_none_or(|text| mistake.message.contains(&*text.item))
    };
    match mistakes {
        [] => Some(failed(
            expected.key,
            format!("nothing is refused; expected: {wanted}"),
            "expected here",
        )),
        _ if mistakes.iter().any(fits) => None,
        _ => {
            let lines: Vec<String> = mistakes.iter().map(ObservedMistake::line).collect();
            let message = format!(
                "another mistake is found: {}; expected: {wanted}",
                lines.join("; ")
            );
            Some(failed(expected.key, message, "expected here"))
        }
    }
}

fn judge_actions(
    expected: &ExpectedActions,
    observed: &ObservedStep,
    failures: &mut Vec<Diagnostic>,
) {
    let word = expected.action.participle();
    for address in &expected.resources.addresses {
        let Some(action) = observed.actions.get(&address.item) else {
            failures.push(no_resource(address, observed));
            continue;
        };
        if *action != Some(expected.action) {
            let is = action.map_or("something else", |action| action.participle());
            let message = format!("`{}` is {is}, not {word}", address.item);
            failures.push(failed(
                address.span,
                message,
                format!("expected to be {word}"),
            ));
        }
    }
    let with_action = observed
        .actions
        .iter()
        .filter(|(_, action)| **action == Some(expected.action));
    let others = with_action.map(|(address, _)| address);
    let verbs = ["is", "are"];
    failures.extend(unexpected(&expected.resources, others, verbs, word));
}

/// The failure for addresses that a complete list lacks.
fn unexpected<'a>(
    expected: &ExpectedAddresses,
    found: impl Iterator<Item = &'a Name>,
    [singular, plural]: [&str; 2],
    word: &str,
) -> Option<Diagnostic> {
    let listed = |address: &Name| expected.addresses.iter().any(|one| one.item == *address);
    let others: Vec<String> = found
        .filter(|address| !listed(address))
        .map(|address| format!("`{address}`"))
        .collect();
    let verb = if others.len() == 1 { singular } else { plural };
    (!others.is_empty()).then(|| {
        let message = format!("{} {verb} {word} too", others.join(", "));
        failed(expected.key, message, "not in this list")
    })
}

fn judge_addresses(
    expected: &ExpectedAddresses,
    found: &[Name],
    word: &str,
    observed: &ObservedStep,
    failures: &mut Vec<Diagnostic>,
) {
    for address in &expected.addresses {
        if found.contains(&address.item) {
            continue;
        }
        if !observed.actions.contains_key(&address.item) {
            failures.push(no_resource(address, observed));
            continue;
        }
        let message = format!("`{}` has not {word}", address.item);
        failures.push(failed(
            address.span,
            message,
            format!("expected to have {word}"),
        ));
    }
    let verbs = ["has", "have"];
    failures.extend(unexpected(expected, found.iter(), verbs, word));
}

fn no_resource(address: &Spanned<Name>, observed: &ObservedStep) -> Diagnostic {
    let all = observed.actions.keys().map(|known| &**known);
    failed(
        address.span,
        format!("there is no resource `{}`", address.item),
        "not in the plan",
    )
    .help_nearest(&address.item, all)
}

fn judge_specs(step: &TestStep, observed: &ObservedStep, failures: &mut Vec<Diagnostic>) {
    for expected in &step.specs {
        let address = &expected.address;
        let Some(spec) = observed.specs.get(&address.item) else {
            failures.push(no_resource(address, observed));
            continue;
        };
        for field in &expected.fields {
            let actual = spec.get(&field.name.item).unwrap_or(&Value::Null);
            if contains(&field.value, actual) {
                continue;
            }
            let message = format!(
                "`{}` of `{}` is {}, not {}",
                field.name.item,
                address.item,
                shown(actual),
                shown(&field.value)
            );
            let failure = failed(field.span, message, "expected");
            let names = spec.unmarked().as_map();
            let is_known = names.is_some_and(|fields| fields.contains_key(&field.name.item));
            let names = names.into_iter().flat_map(|fields| fields.keys());
            failures.push(match is_known {
                true => failure,
                false => failure.help_nearest(&field.name.item, names.map(|name| &**name)),
            });
        }
    }
}

fn judge_exports(step: &TestStep, observed: &ObservedStep, failures: &mut Vec<Diagnostic>) {
    for expected in &step.exports {
        let name = &expected.name;
        match observed.exports.get(&name.item) {
            Some(actual) if is_equal(&expected.value, actual) => {}
            Some(actual) => {
                let message = format!(
                    "the export `{}` is {}, not {}",
                    name.item,
                    shown(actual),
                    shown(&expected.value)
                );
                failures.push(failed(expected.span, message, "expected"));
            }
            // An export that is left out has no value.
            None if expected.value.is_null() => {}
            None => {
                let names = observed.exports.keys().map(|known| &**known);
                failures.push(
                    failed(
                        name.span,
                        format!("there is no export `{}`", name.item),
                        "the document does not export it",
                    )
                    .help_nearest(&name.item, names),
                );
            }
        }
    }
}

fn judge_assertion(assertion: &Assertion, came: &ObservedAssertion) -> Option<Diagnostic> {
    let (value, sides) = match came {
        ObservedAssertion::Value { value, sides } => (value, sides),
        ObservedAssertion::Failed(mistake) => {
            return Some(failed(assertion.span, mistake.line(), "this has no value"));
        }
    };
    if let Some(expected) = &assertion.expected {
        let is_met = is_equal(&expected.item, value);
        let message = || {
            format!(
                "the value is {}, not {}",
                shown(value),
                shown(&expected.item)
            )
        };
        return (!is_met).then(|| failed(assertion.span, message(), "expected another value"));
    }
    if value.unmarked().as_bool() == Some(true) {
        return None;
    }
    let message = match sides {
        Some((left, right)) => format!(
            "the assertion is {}: it compares {} with {}",
            shown(value),
            shown(left),
            shown(right)
        ),
        None => format!("the assertion is {}, not true", shown(value)),
    };
    Some(failed(assertion.span, message, "not true"))
}

/// A value in a message. Secrets are not shown.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        other => other.to_string(),
    }
}
