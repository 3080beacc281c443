//! `equals`, `not`, `and` and `or` on values. The lowering has replaced the names of conditions by
//! their values.

use blueprint::Value;

use super::function::{
    FunctionResult, HotFunction, PartialArgument, example, items, kind, wrong_type,
};
use crate::codes::UNKNOWN_CONDITION;
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "equals",
        since: Version::V2016_10_14,
        until: None,
        in_conditions: Some(Version::V2016_10_14),
        in_values: false,
        form: |argument, _| pair(argument).map(|_| ()),
        call: |argument, _| {
            pair(argument).map(|(left, right)| Value::Bool(pycompat::equal(left, right)))
        },
        parts: PartialArgument::Whole,
        docs: "`[a, b]`: whether both are equal. `1`, `1.0` and `true` are; a text and a number never; the order of a map's entries does not count.",
        examples: &[
            example("[1, true]", "true"),
            example(r#"["1", 1]"#, "false"),
            example(r#"[{"a": 1, "b": [2]}, {"b": [2.0], "a": true}]"#, "true"),
            example("[[1, 2], [2, 1]]", "false"),
            example("[null, null]", "true"),
            example("[null, false]", "false"),
            example("[1]", "! argument-type"),
            example("[1, 2, 3]", "! argument-type"),
            example("null", "! argument-type"),
            example(r#""ab""#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "not",
        since: Version::V2016_10_14,
        until: None,
        in_conditions: Some(Version::V2016_10_14),
        in_values: false,
        form: not_form,
        call: |argument, version| {
            not_form(argument, version)?;
            operand(argument).map(|value| Value::Bool(!value))
        },
        parts: PartialArgument::Whole,
        docs: "`condition`: whether the condition is false.",
        examples: &[
            example("true", "false"),
            example("null", "! argument-type"),
            example("[true]", "! unknown-condition"),
            example("1", "! unknown-condition"),
        ],
    },
    HotFunction {
        name: "and",
        since: Version::V2016_10_14,
        until: None,
        in_conditions: Some(Version::V2016_10_14),
        in_values: false,
        form: |argument, _| operands("and", argument).map(|_| ()),
        call: |argument, _| decide("and", argument, false),
        parts: PartialArgument::Whole,
        docs: "`[condition..]`: whether all of at least two conditions are true. What stands behind a false one is not looked at.",
        examples: &[
            example("[true, true, false]", "false"),
            example("[true, null]", "true"),
            example("[false, 5]", "false"),
            example("[true, 5]", "! unknown-condition"),
            example("[true]", "! argument-type"),
            example("true", "! argument-type"),
        ],
    },
    HotFunction {
        name: "or",
        since: Version::V2016_10_14,
        until: None,
        in_conditions: Some(Version::V2016_10_14),
        in_values: false,
        form: |argument, _| operands("or", argument).map(|_| ()),
        call: |argument, _| decide("or", argument, true),
        parts: PartialArgument::Whole,
        docs: "`[condition..]`: whether one of at least two conditions is true. What stands behind a true one is not looked at.",
        examples: &[
            example("[false, true]", "true"),
            example("[false, false]", "false"),
            example("[true, 5]", "true"),
            example(r#"[false, []]"#, "! unknown-condition"),
            example("[]", "! argument-type"),
        ],
    },
];

fn pair(argument: &Value) -> Result<(&Value, &Value), ValueRefusal> {
    match items(argument) {
        Some([left, right]) => Ok((left, right)),
        _ => Err(wrong_type(
            "`equals` takes a list of exactly two values",
            "Arguments to \"equals\" must be of the form: [value_1, value_2]",
        )),
    }
}

fn not_form(argument: &Value, _: Version) -> Result<(), ValueRefusal> {
    if argument.is_null() {
        return Err(wrong_type(
            "`not` takes a condition, not null",
            "Argument to \"not\" must be a condition",
        ));
    }
    Ok(())
}

fn operands<'a>(name: &str, argument: &'a Value) -> Result<&'a [Value], ValueRefusal> {
    let Some(items) = items(argument) else {
        let message = format!(
            "`{name}` takes a list of conditions, not {}",
            kind(argument)
        );
        return Err(wrong_type(
            message,
            format!("Arguments to \"{name}\" must be a list of conditions"),
        ));
    };
    if items.len() < 2 {
        let words = format!("The minimum number of condition arguments to \"{name}\" is 2.");
        return Err(wrong_type(
            format!("`{name}` takes at least two conditions"),
            words,
        ));
    }
    Ok(items)
}

/// The result of `and` or `or`: the first operand equal to `deciding` decides.
fn decide(name: &str, argument: &Value, deciding: bool) -> FunctionResult {
    for (at, item) in operands(name, argument)?.iter().enumerate() {
        if operand(item).map_err(|refusal| refusal.within(at))? == deciding {
            return Ok(Value::Bool(deciding));
        }
    }
    Ok(Value::Bool(!deciding))
}

/// The boolean value of an operand; null is true.
fn operand(value: &Value) -> Result<bool, ValueRefusal> {
    match value.unmarked() {
        Value::Bool(value) => Ok(*value),
        Value::Null => Ok(true),
        other => Err(ValueRefusal::new(
            &UNKNOWN_CONDITION,
            format!("{} is no condition", kind(other)),
        )
        .heat(format!("Invalid condition \"{}\"", pycompat::text(other)))),
    }
}
