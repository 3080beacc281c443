//! Inputs that may not change once an instance exists: their values are stored, and a different
//! value is refused.

use blueprint::{Name, Value};
use diag::Diagnostics;
use evaluate::answers::Answers;
use evaluate::resolve::{Evaluation, Slot};
use state::Memoised;
use understand::check::Checked;
use understand::documents::NumberedKind;

/// The prefix of the key under which an input is stored.
const INPUT: &str = "input|";

/// Compares inputs that may not change with the stored values of all inputs, and stores the new
/// values; their keys go to `used`. The document as it is now decides which ones may not change.
pub(crate) fn refuse_changed_inputs(
    checked: &Checked,
    inputs: &[Value],
    answers: &mut Answers,
    used: &mut Vec<Name>,
    found: &mut Diagnostics,
) {
    let blueprint = &checked.blueprint;
    let rules = &checked.rules;
    if !rules.inputs.are_stored() {
        return;
    }
    for ((name, input), value) in blueprint.inputs.iter().zip(inputs) {
        let key: Name = format!("{INPUT}{name}").into();
        if rules.inputs.is_immutable(name, input)
            && let Some(before) = answers.memoised.get(&key)
            && before.value.revealed() != value.revealed()
        {
            let mut changed = dialect::codes::IMMUTABLE_CHANGED
                .new(format!("`{name}` may not change"))
                .label(input.span, "declared immutable")
                .help("give the value of before, or make another instance");
            changed.native_message = rules
                .messages
                .of(&dialect::Mistake::ImmutableInput(name))
                .map(Box::new);
            found.push(changed);
        }
        answers.memoised.insert(
            key.clone(),
            Memoised {
                fingerprint: 0,
                value: value.clone(),
            },
        );
        used.push(key);
    }
}

/// Does the same for the inputs of children, of which only digests are stored.
pub(crate) fn refuse_changed_child_inputs(evaluation: &mut Evaluation, found: &mut Diagnostics) {
    let documents = evaluation.documents.clone();
    for unit in &documents.units()[1..] {
        let Some((above, include)) = unit.parent else {
            continue;
        };
        let rules = &unit.checked.rules;
        if !rules.inputs.are_stored() {
            continue;
        }
        let above_here = documents.unit(above);
        let mut mistakes = Diagnostics::new();
        let Some((child, included)) = above_here.blueprint().children.get_index(include as usize)
        else {
            continue;
        };
        // The inputs that the members of a group share are not written in a document.
        if included.expansion.is_some() {
            continue;
        }
        for (position, (name, input)) in unit.blueprint().inputs.iter().enumerate() {
            let number = unit.number(NumberedKind::Input, position);
            let Slot::Value(value) = &evaluation.passed_inputs[number as usize] else {
                continue;
            };
            if rules.children.is_passed_undeclared(name) {
                continue;
            }
            let key: Name = format!("{INPUT}{}/{name}", unit.path.join("/")).into();
            let mut text = String::new();
            write_canonical(value, &mut text);
            let short =
                Value::text(evaluate::answers::digest(text.as_bytes())).tainted(value.has_secret());
            if rules.inputs.is_immutable(name, input)
                && let Some(before) = evaluation.answers.memoised.get(&key)
                && before.value.revealed() != short.revealed()
            {
                let given = included
                    .inputs
                    .iter()
                    .find(|(given, _)| given.item == *name);
                let place = given.map_or(included.span, |(_, expr)| expr.span);
                let written = included
                    .stands_for
                    .as_ref()
                    .map(|written| written.item.as_ref());
                let type_name = written
                    .or_else(|| included.path.as_literal()?.as_text())
                    .unwrap_or_default();
                let mut changed = dialect::codes::IMMUTABLE_CHANGED
                    .new(format!("`{name}` of `{child}` may not change"))
                    .label(place, "given here")
                    .label(input.span, "declared immutable")
                    .help("give the value of before, or make another instance");
                let mistake = dialect::Mistake::Immutable {
                    field: name,
                    resource: child,
                    type_name,
                };
                changed.native_message = rules.messages.of(&mistake).map(Box::new);
                mistakes.push(changed);
            }
            let memoised = Memoised {
                fingerprint: 0,
                value: short,
            };
            evaluation.answers.memoised.insert(key.clone(), memoised);
            evaluation
                .sites
                .entry("group".into())
                .or_default()
                .insert(key);
        }
        documents.add_trails(above, &mut mistakes);
        found.append(mistakes);
    }
}

/// Writes a value as a text that is the same for equal values, in whatever order their entries are.
fn write_canonical(value: &Value, text: &mut String) {
    let (bare, _) = value.split_secret();
    match bare {
        Value::List(items) | Value::Set(items) => {
            text.push('[');
            items.iter().for_each(|item| write_canonical(item, text));
            text.push(']');
        }
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| (*key).clone());
            text.push('{');
            for (key, value) in entries {
                text.push_str(&format!("{key:?}:"));
                write_canonical(value, text);
            }
            text.push('}');
        }
        other => text.push_str(&format!("{other:?},")),
    }
}
