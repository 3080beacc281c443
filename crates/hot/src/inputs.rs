//! Parameters as inputs: their schemas are checked in the template, their values when they are
//! given.

use blueprint::{Input, Name, Value};
use diag::{Diagnostics, Severity, Span};
use expr::ValueStep;
use syntax::Node;

use super::parameters::{HotParameterSchema, child_parameter_value as passed_down, codes};
use super::read::{TextEntry, value_span};
use super::refusal::ValueRefusal;
use super::version::Version;
use dialect::GivenValue;
use dialect::codes::{MISSING_FIELD, MISSING_SPEC_FIELD, NEWER_THAN_VERSION, UNKNOWN_KEY};
use dialect::rules::InputQuestion;

/// Parses the schema of a parameter and reports its mistakes.
pub(super) fn schema(
    pair: &TextEntry<'_>,
    written: &Value,
    version: Version,
    found: &mut Diagnostics,
) -> Option<HotParameterSchema> {
    let mut refusals = Vec::new();
    let schema = HotParameterSchema::parse(&pair.key.item, written, version, &mut refusals);
    for refusal in refusals {
        let place = refusal_span(pair, &refusal);
        found.push(refusal.invalid().at(place));
    }
    schema
}

/// A schema without the constraints that its version does not have, for code that does not know the
/// version.
pub(super) fn without_later(written: Value, version: Version) -> Value {
    if version >= Version::V2017_02_24 {
        return written;
    }
    let Some(constraints) = written.get("constraints").and_then(Value::as_list) else {
        return written;
    };
    let known = constraints.iter().map(|constraint| match constraint {
        Value::Map(entries) if entries.contains_key("modulo") => {
            let mut entries = (**entries).clone();
            entries.shift_remove("modulo");
            Value::Map(entries.into())
        }
        other => other.clone(),
    });
    let known = Value::list(known);
    let Value::Map(entries) = &written else {
        return written;
    };
    let mut entries = (**entries).clone();
    entries.insert("constraints".into(), known);
    Value::Map(entries.into())
}

/// The place of a mistake in a schema: the wrong key, the wrong value, or the name of the parameter
/// if a key is missing.
fn refusal_span(pair: &TextEntry<'_>, refusal: &ValueRefusal) -> Span {
    if refusal.code.name == MISSING_FIELD.name {
        return pair.key.span;
    }
    let of_keys = [
        &UNKNOWN_KEY,
        &NEWER_THAN_VERSION,
        &codes::CONSTRAINT_IGNORED,
    ];
    let at_key = of_keys.iter().any(|code| code.name == refusal.code.name);
    span_at_path(pair.value, &refusal.path, at_key)
}

/// The place at the end of a path, as far as the path can be followed.
fn span_at_path(node: &Node, path: &[ValueStep], at_key: bool) -> Span {
    let Some((step, rest)) = path.split_first() else {
        return value_span(node);
    };
    let next = match step {
        ValueStep::Key(key) => match node.entry(key) {
            Some(entry) if rest.is_empty() && at_key => return value_span(&entry.key),
            entry => entry.map(|entry| &entry.value),
        },
        ValueStep::Index(at) => node.as_list().and_then(|items| items.get(*at)),
    };
    next.map_or_else(|| value_span(node), |next| span_at_path(next, rest, at_key))
}

/// The schema of an input. Its mistakes were reported when the template was read.
fn schema_of(name: &str, input: &Input) -> Option<HotParameterSchema> {
    HotParameterSchema::parse(name, &input.rules, Version::V2021_04_16, &mut Vec::new())
}

/// Whether a parameter must not change once the stack exists.
pub(super) fn is_immutable(name: &str, input: &Input) -> bool {
    // Most schemas do not have this key, so parsing is avoided.
    input.rules.get("immutable").is_some()
        && schema_of(name, input).is_some_and(|schema| schema.immutable)
}

/// The function that finds an object of the cloud by its name or id, and refuses other values.
const OBJECT_FUNCTION: &str = "openstack/object_id";

/// The questions about the objects of the cloud that the constraints of a parameter ask for.
pub(super) fn questions(name: &str, input: &Input, value: &Value) -> Vec<InputQuestion> {
    // Most schemas do not have this key, so parsing is avoided.
    if input.rules.get("constraints").is_none() {
        return Vec::new();
    }
    let Some(schema) = schema_of(name, input) else {
        return Vec::new();
    };
    let bare = value.revealed();
    let texts: Vec<Value> = match &bare {
        Value::List(items) => items.iter().cloned().collect(),
        one => vec![one.clone()],
    };
    let rules = schema.constraints.iter().filter_map(|it| it.cloud_rule());
    let questions = rules.flat_map(|rule| {
        // Heat takes the empty text for no key pair.
        let asked = texts.iter().map(pycompat::text);
        let asked = asked.filter(move |text| rule != "nova.keypair" || !text.is_empty());
        asked.map(move |text| InputQuestion {
            function: OBJECT_FUNCTION,
            arguments: vec![Value::text(rule), Value::from(text)],
            note: &codes::NOT_CHECKED_OFFLINE,
        })
    });
    questions.collect()
}

/// The value from `parameter_defaults` that replaces the schema's own default.
fn other_default<'i>(schema: &HotParameterSchema, input: &'i Input) -> Option<&'i Value> {
    let default = input.default.as_ref().map(|default| &default.item);
    default.filter(|default| schema.default.as_ref() != Some(*default))
}

/// The value of an input of the root. `None` if it is in error, which was reported.
pub(super) fn value(
    name: &Name,
    input: &Input,
    given: Option<GivenValue<'_>>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let given = match given {
        Some(GivenValue::Typed(value)) => Some(value.clone()),
        Some(GivenValue::Text(text)) => Some(Value::text(text)),
        None => None,
    };
    let Some(schema) = schema_of(name, input) else {
        // The type is unknown, which is reported at the schema.
        let default = input.default.as_ref().map(|default| default.item.clone());
        return given.or(default).map(|value| value.tainted(input.secret));
    };
    let mut refusals = Vec::new();
    let value = schema.value(
        name,
        given.as_ref(),
        other_default(&schema, input),
        &mut refusals,
    );
    for refusal in refusals {
        let at = at_default(input, &refusal).unwrap_or(input.span);
        found.push(with_parameter_name(name, refusal).invalid().at(at));
    }
    value.map(|value| value.tainted(input.secret))
}

/// The place of the default, if the default was refused.
fn at_default(input: &Input, refusal: &ValueRefusal) -> Option<Span> {
    let default = input
        .default
        .as_ref()
        .filter(|_| refusal.code.name == codes::INVALID_DEFAULT.name)?;
    Some(default.span)
}

/// The refusal with the parameter's name in its message.
fn with_parameter_name(name: &str, mut refusal: ValueRefusal) -> ValueRefusal {
    if refusal.severity == Severity::Error && !refusal.message.contains(&format!("`{name}`")) {
        refusal.message = format!("the value of `{name}` does not fit: {}", refusal.message);
    } else if refusal.help.is_none() && refusal.severity == Severity::Error {
        refusal = refusal.help(format!(
            "give one with `--var {name}=..`, or in a file with `-e`"
        ));
    }
    refusal
}

/// The value of an input of a child, from what its parent passes at `place`. `None` if it is in
/// error, which was reported.
pub(super) fn child_input_value(
    name: &Name,
    input: &Input,
    given: Option<&Value>,
    place: Span,
    found: &mut Diagnostics,
) -> Option<Value> {
    let Some(schema) = schema_of(name, input) else {
        let default = input.default.as_ref().map(|default| &default.item);
        return given
            .or(default)
            .cloned()
            .map(|value| value.tainted(input.secret));
    };
    let mut refusals = Vec::new();
    let default = other_default(&schema, input);
    let value = match given {
        Some(given) => {
            schema.unused_default(&mut refusals);
            passed_down(&schema, given, &mut refusals)
        }
        None if input.default.is_none() && default.is_none() => {
            let refusal = ValueRefusal::new(
                &MISSING_SPEC_FIELD,
                format!("the required property `{name}` is missing"),
            );
            refusals.push(refusal.help(format!("add `{name}`")));
            None
        }
        None => schema.value(name, None, default, &mut refusals),
    };
    for refusal in refusals {
        let at_default = at_default(input, &refusal);
        let refusal = with_parameter_name(name, refusal);
        // A mistake in a given value is reported for the property that passes it.
        let refusal = if given.is_some() && at_default.is_none() {
            refusal
        } else {
            refusal.invalid()
        };
        found.push(refusal.at(at_default.unwrap_or(place)));
    }
    value.map(|value| value.tainted(input.secret))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dialect::rules::InputQuestion;

    #[test]
    fn constraints_on_objects_of_the_cloud_are_questions() {
        let constraint = |name: &str| Value::map([("custom_constraint", Value::text(name))]);
        let input = |names: &[&str]| Input {
            rules: Value::map([
                ("type", Value::text("comma_delimited_list")),
                (
                    "constraints",
                    Value::list(names.iter().map(|it| constraint(it))),
                ),
            ]),
            ..Input::optional_untyped(Span::NONE)
        };
        let asked = |names: &[&str], values: &[&str]| {
            let value = Value::list(values.iter().copied().map(Value::text));
            let questions = questions("p", &input(names), &value).into_iter();
            let texts = questions.map(|InputQuestion { arguments, .. }| {
                let texts = arguments.iter().filter_map(Value::as_text);
                texts.collect::<Vec<_>>().join(" ")
            });
            texts.collect::<Vec<_>>()
        };
        assert_eq!(
            asked(&["net_cidr", "neutron.network"], &["a", "b"]),
            ["neutron.network a", "neutron.network b"]
        );
        assert_eq!(asked(&["nova.keypair"], &["", "k"]), ["nova.keypair k"]);
        assert!(asked(&["ip_addr"], &["a"]).is_empty());
    }
}
