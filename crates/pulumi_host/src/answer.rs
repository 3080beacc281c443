//! The meaning of answers: capabilities, checked inputs, differences.

use blueprint::{Address, Name, Value};
use prost_types::Struct;
use pulumi_wire::{Accepts, Decoding, Lookups, Phase, PropertyPath, decode, differences};

use crate::failure::{CallFailure, PropertyFailure, property};
use crate::messages::{CheckFailure, DiffResponse};

/// The capabilities of a plugin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PluginCapabilities {
    /// The special values that it accepts.
    pub accepts: Accepts,
    /// Whether it previews creates and updates. Without previews, the inputs are the only known
    /// outputs.
    pub preview: bool,
    /// Whether it accepts the names that the engine generates.
    pub autonaming: bool,
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckAnswer {
    /// The inputs with defaults filled in: a map.
    pub inputs: Value,
    /// The refused properties.
    pub failures: Vec<PropertyFailure>,
}

/// The party that decided whether a resource differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffDecider {
    /// The plugin.
    Plugin,
    /// The engine, which compared the old and new inputs, because the plugin could not tell.
    Inputs,
    /// No party, because the settings of the provider are unknown. The resource may differ.
    Nothing,
}

/// The answer of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Whether the resource differs.
    pub changed: bool,
    /// The party that decided `changed`.
    pub decided: DiffDecider,
    /// The properties that cause a replacement. Empty without changes.
    pub replaces: Vec<PropertyPath>,
    /// The properties that stay as they are in an update.
    pub stables: Vec<PropertyPath>,
    /// Whether a replacement deletes the old object first.
    pub delete_before_replace: bool,
    /// The individual changes, as far as known.
    pub changes: Vec<PropertyChange>,
}

/// The change of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyChange {
    /// The path of the property.
    pub path: PropertyPath,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// Whether the change causes a replacement.
    pub replaces: bool,
    /// Whether the old and new inputs differ, rather than the old outputs and the new inputs.
    pub input: bool,
}

/// The kind of a change of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The property is added.
    Add,
    /// The property is deleted.
    Delete,
    /// The value of the property changes.
    Update,
}

impl CheckAnswer {
    pub(crate) fn unchanged(inputs: &Value) -> CheckAnswer {
        CheckAnswer {
            inputs: inputs.clone(),
            failures: Vec::new(),
        }
    }
}

impl Diff {
    /// An answer without differences.
    pub(crate) fn none() -> Diff {
        Diff {
            changed: false,
            decided: DiffDecider::Plugin,
            replaces: Vec::new(),
            stables: Vec::new(),
            delete_before_replace: false,
            changes: Vec::new(),
        }
    }
}

/// Decodes an answer. `id` is part of the error if the answer cannot be read.
pub(crate) fn decode_answer(
    answer: Struct,
    phase: Phase,
    waits_for: Option<&Address>,
    lookups: &dyn Lookups,
    id: Option<Name>,
) -> Result<Value, CallFailure> {
    decode(
        answer,
        &Decoding {
            phase,
            waits_for,
            lookups,
        },
    )
    .map_err(|error| CallFailure::of_answer(error, id))
}

/// Interprets an answer of Diff or DiffConfig.
pub(crate) fn diff_of(
    answer: DiffResponse,
    old_inputs: &Value,
    new_inputs: &Value,
    ignored: &[PropertyPath],
) -> Diff {
    let mut changes: Vec<PropertyChange> = answer
        .detailed_diff
        .iter()
        .map(|(path, diff)| PropertyChange {
            path: PropertyPath::parse_or_name(path),
            kind: match diff.kind {
                0 | 1 => ChangeKind::Add,
                2 | 3 => ChangeKind::Delete,
                _ => ChangeKind::Update,
            },
            replaces: matches!(diff.kind, 1 | 3 | 5),
            input: diff.input_diff,
        })
        .collect();
    let change = |path: PropertyPath| PropertyChange {
        path,
        kind: ChangeKind::Update,
        replaces: false,
        input: true,
    };
    if changes.is_empty() {
        changes = answer
            .diffs
            .iter()
            .map(|path| change(PropertyPath::parse_or_name(path)))
            .collect();
    }
    let (changed, decided) = match answer.changes {
        1 => (false, DiffDecider::Plugin),
        2 => (true, DiffDecider::Plugin),
        _ => {
            let found = differences(old_inputs, new_inputs, ignored);
            let changed = !found.is_empty();
            if changes.is_empty() {
                changes = found.into_iter().map(change).collect();
            }
            (changed, DiffDecider::Inputs)
        }
    };
    if !changed {
        return Diff {
            decided,
            ..Diff::none()
        };
    }
    let mut replaces = paths(&answer.replaces);
    for change in changes.iter().filter(|change| change.replaces) {
        if !replaces.contains(&change.path) {
            replaces.push(change.path.clone());
        }
    }
    Diff {
        changed,
        decided,
        replaces,
        stables: paths(&answer.stables),
        delete_before_replace: answer.delete_before_replace,
        changes,
    }
}

fn paths(texts: &[String]) -> Vec<PropertyPath> {
    texts
        .iter()
        .map(|text| PropertyPath::parse_or_name(text))
        .collect()
}

/// The refused properties of an answer.
pub(crate) fn failures(answered: Vec<CheckFailure>) -> Vec<PropertyFailure> {
    answered
        .into_iter()
        .map(|failure| property(&failure.property, failure.reason))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::PropertyDiff;

    fn of(answer: DiffResponse) -> Diff {
        let old = Value::map([("a", Value::Int(1)), ("b", Value::from("x").secret())]);
        let new = Value::map([("a", Value::Int(2)), ("b", Value::from("x"))]);
        diff_of(answer, &old, &new, &[])
    }

    #[test]
    fn inputs_decide_if_the_diff_is_unknown() {
        let diff = of(DiffResponse::default());
        assert_eq!((diff.changed, diff.decided), (true, DiffDecider::Inputs));
        assert_eq!(
            diff.changes
                .iter()
                .map(|change| change.path.to_string())
                .collect::<Vec<_>>(),
            ["a"]
        );
        let ignored = [PropertyPath::property("a")];
        let old = Value::map([("a", Value::Int(1))]);
        let same = diff_of(
            DiffResponse::default(),
            &old,
            &Value::map([("a", Value::Int(2))]),
            &ignored,
        );
        assert!(!same.changed && same.changes.is_empty());
    }

    #[test]
    fn a_plugin_that_sees_no_change_replaces_nothing() {
        let diff = of(DiffResponse {
            changes: 1,
            replaces: vec!["a".into()],
            ..DiffResponse::default()
        });
        assert_eq!(diff, Diff::none());
    }

    #[test]
    fn a_replacement_may_be_in_the_list_or_in_the_details() {
        let detail = |kind: i32| PropertyDiff {
            kind,
            input_diff: true,
        };
        let diff = of(DiffResponse {
            changes: 2,
            replaces: vec!["a[0]".into()],
            detailed_diff: [
                ("b.c".into(), detail(5)),
                ("a[0]".into(), detail(3)),
                ("d".into(), detail(0)),
            ]
            .into(),
            delete_before_replace: true,
            ..DiffResponse::default()
        });
        let texts: Vec<String> = diff.replaces.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["a[0]", "b.c"]);
        assert!(diff.delete_before_replace);
        let kinds: Vec<ChangeKind> = diff.changes.iter().map(|change| change.kind).collect();
        assert_eq!(
            kinds,
            [ChangeKind::Delete, ChangeKind::Update, ChangeKind::Add]
        );
    }
}
