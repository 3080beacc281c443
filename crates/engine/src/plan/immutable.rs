//! Inputs that may not change once an instance exists: their values are remembered, and another one is refused.

use blueprint::{Blueprint, Name, Value};
use diag::Diagnostics;
use state::Remembered;

use crate::answers::Answers;

/// Under what an input is remembered, before its name.
const INPUT: &str = "input|";

/// Compares inputs that may not change with what is remembered of all inputs, and remembers them; their names in memory go to
/// `used`. Which ones may not change is what the document says now.
pub(super) fn heed(
    blueprint: &Blueprint,
    inputs: &[Value],
    answers: &mut Answers,
    used: &mut Vec<Name>,
    found: &mut Diagnostics,
) {
    let Some(conventions) = dialects::conventions(blueprint.dialect) else { return };
    for ((name, input), value) in blueprint.inputs.iter().zip(inputs) {
        let key: Name = format!("{INPUT}{name}").into();
        if conventions.is_immutable(name, input)
            && let Some(before) = answers.remembered.get(&key)
            && before.value.revealed() != value.revealed()
        {
            let mut changed = dialects::codes::IMMUTABLE_CHANGED
                .new(format!("`{name}` may not change"))
                .label(input.span, "declared immutable")
                .help("give the value of before, or make another instance");
            changed.words = conventions.words(&dialects::Mistake::ImmutableInput(name)).map(Box::new);
            found.push(changed);
        }
        answers.remembered.insert(key.clone(), Remembered { fingerprint: 0, value: value.clone() });
        used.push(key);
    }
}
