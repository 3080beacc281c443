//! The remembered definition of a group's members, and the policy for rolling updates
//! (decisions/heat#groups).
//!
//! Not here: the order in which members are changed, which depends on the state (`engine`'s
//! planner).

use std::collections::BTreeSet;
use std::time::Duration;

use blueprint::{Batches, Name, Value};
use diag::Span;

use crate::naming::digest;
use dialect::UNFINISHED;

/// The limit for the pauses of an update: the default timeout of a stack.
const LONGEST: Duration = Duration::from_secs(3600);
const TOO_LONG: &str = "ValueError: The current update policy will result in stack update timeout.";

/// The remembered group, compared with its current definition.
pub(super) struct PreviousGroup<'a> {
    memory: &'a Value,
    /// A digest of the current definition of members; null if the definition is not known before
    /// the deployment.
    definition: Value,
    /// Whether the group was never created completely.
    pub(super) never_completed: bool,
    /// Whether the definition of members changes, or an earlier change is unfinished.
    pub(super) definition_changed: bool,
}

impl<'a> PreviousGroup<'a> {
    pub(super) fn new(memory: &'a Value, definition: &Value) -> PreviousGroup<'a> {
        let definition = definition_digest(definition);
        let unfinished = memory.get(UNFINISHED);
        let making = unfinished.and_then(|unfinished| unfinished.get("making"));
        let same = memory
            .get("definition")
            .is_some_and(|known| known.revealed() == definition.revealed());
        PreviousGroup {
            memory,
            never_completed: memory.is_null() || making == Some(&Value::Bool(true)),
            definition_changed: unfinished.is_some() || definition.is_null() || !same,
            definition,
        }
    }

    /// The previous number of members.
    pub(super) fn previous_size(&self) -> usize {
        names(self.memory, "names").len() + self.pending_deletions().len()
    }

    /// Members that were to be deleted and may still exist.
    fn pending_deletions(&self) -> Vec<Name> {
        self.memory
            .get(UNFINISHED)
            .map_or_else(Vec::new, |unfinished| names(unfinished, "leaving"))
    }

    /// Members that may exist and are not in `stay`, the oldest first.
    pub(super) fn members_to_delete(&self, stay: &[Name]) -> Vec<Name> {
        let stay: BTreeSet<&Name> = stay.iter().collect();
        self.pending_deletions()
            .into_iter()
            .chain(names(self.memory, "names"))
            .filter(|name| !stay.contains(name))
            .collect()
    }

    /// The entries to remember for the next operation, besides the names.
    pub(super) fn next_memory(&self, stay: &[Name]) -> Vec<(&'static str, Value)> {
        let leaving = Value::list(self.members_to_delete(stay).into_iter().map(Value::Text));
        let unfinished = Value::map([
            ("making", Value::Bool(self.never_completed)),
            ("leaving", leaving),
        ]);
        vec![
            ("definition", self.definition.clone()),
            (UNFINISHED, unfinished),
        ]
    }
}

/// A digest of a definition, secret if a part of it is secret; null if a part of it is unknown.
fn definition_digest(definition: &Value) -> Value {
    if definition.has_unknown() {
        return Value::Null;
    }
    let text = pycompat::json(definition);
    let short = digest(&text, &[])
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    Value::text(short).tainted(definition.has_secret())
}

/// The names in the memory under a key.
pub(super) fn names(memory: &Value, key: &str) -> Vec<Name> {
    let names = memory.get(key).and_then(Value::as_list).unwrap_or_default();
    names
        .iter()
        .filter_map(Value::as_text)
        .map(Name::from)
        .collect()
}

/// An update policy.
#[derive(Debug, PartialEq)]
pub(super) struct Policy {
    size: usize,
    in_service: usize,
    pause: Duration,
}

impl Policy {
    /// Reads a policy. `None` without a policy, and for an invalid policy, which was reported.
    pub(super) fn of(policy: Option<&Value>) -> Option<Policy> {
        let policy = policy.filter(|policy| !policy.is_null())?;
        let whole = |key: &str, usual: usize| match policy.get(key) {
            Some(value) if !value.is_null() => {
                usize::try_from(pycompat::integer(value).ok()?.as_int()?).ok()
            }
            _ => Some(usual),
        };
        let pause = match policy.get("pause_time") {
            Some(value) if !value.is_null() => {
                Duration::try_from_secs_f64(pycompat::float(value).ok()?).ok()?
            }
            _ => Duration::ZERO,
        };
        let size = whole("max_batch_size", 1).filter(|size| *size > 0)?;
        Some(Policy {
            size,
            in_service: whole("min_in_service", 0)?,
            pause,
        })
    }

    /// The batches of these members, all of which stay.
    pub(super) fn batches(&self, members: Vec<Name>, span: Span) -> Batches {
        Batches {
            members,
            beyond: Vec::new(),
            size: self.size,
            in_service: self.in_service,
            backwards: false,
            new_ones_last: false,
            pause: self.pause,
            longest: LONGEST,
            too_long: TOO_LONG.into(),
            span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        pycompat::parse_json(text).unwrap()
    }

    #[test]
    fn policy_has_defaults() {
        let of = |text: &str| Policy::of(Some(&value(text)));
        let usual = Policy {
            size: 1,
            in_service: 0,
            pause: Duration::ZERO,
        };
        assert_eq!(of("{}"), Some(usual));
        let all = r#"{"max_batch_size": "2", "min_in_service": 3, "pause_time": 1.5}"#;
        assert_eq!(
            of(all),
            Some(Policy {
                size: 2,
                in_service: 3,
                pause: Duration::from_millis(1500)
            })
        );
        assert_eq!(
            (of("null"), Policy::of(None), of(r#"{"max_batch_size": 0}"#)),
            (None, None, None)
        );
    }

    #[test]
    fn changed_member_definition_is_detected() {
        let one = value(r#"{"type": "T", "properties": {"a": 1, "b": 2}}"#);
        let same = value(r#"{"properties": {"b": 2, "a": 1}, "type": "T"}"#);
        let other = value(r#"{"type": "T", "properties": {"a": 2, "b": 2}}"#);
        let first = PreviousGroup::new(&Value::Null, &one);
        assert!(first.never_completed);
        let memory: Vec<(&str, Value)> = first.next_memory(&[]);
        let known = Value::map(memory.iter().filter(|(key, _)| *key != UNFINISHED).cloned());
        let (again, changed) = (
            PreviousGroup::new(&known, &same),
            PreviousGroup::new(&known, &other),
        );
        assert!(!again.never_completed && !again.definition_changed && changed.definition_changed);
        // An unfinished operation continues.
        let known = Value::map(memory);
        let again = PreviousGroup::new(&known, &one);
        assert!(again.never_completed && again.definition_changed);
    }

    #[test]
    fn pending_deletions_are_kept_until_done() {
        let memory = value(r#"{"names": ["c", "d"], "unfinished": {"leaving": ["a", "b"]}}"#);
        let stay: [Name; 1] = ["d".into()];
        let leaving = PreviousGroup::new(&memory, &Value::Null).members_to_delete(&stay);
        assert_eq!(leaving, ["a", "b", "c"].map(Name::from));
        let memory = value(r#"{"names": ["c", "d"]}"#);
        assert_eq!(
            PreviousGroup::new(&memory, &Value::Null).members_to_delete(&stay),
            ["c"].map(Name::from)
        );
    }
}
