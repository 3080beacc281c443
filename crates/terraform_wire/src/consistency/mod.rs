//! Checks of a provider's answers against the requests.
//!
//! A plan keeps the values of the document; an apply keeps the values of the plan. A provider of
//! the legacy type system may break most of these rules ([`Violation::counts_for`]).
//!
//! Values must be in the shape of the schema ([`conform`](crate::conform)).

mod applied;
mod planned;

use std::fmt;

use blueprint::{Name, Value};

use crate::{Block, Path, same};

pub use applied::{check_apply, check_replan};
pub use planned::check_plan;

/// A place where an answer contradicts the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The place. It ends at a set whose elements contradict.
    pub path: Path,
    /// The problem at the place.
    pub problem: Problem,
    /// The expected value. Secret if the schema calls the place sensitive.
    pub expected: Value,
    /// The value of the answer. Secret if the schema calls the place sensitive.
    pub found: Value,
}

/// The problem at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A value is expected, and there is none.
    Vanished,
    /// No value is expected, and there is one.
    Appeared,
    /// The value of the document was changed.
    NotAsConfigured,
    /// A value was planned for an attribute that only the document can set, and that the document
    /// leaves out.
    NotComputed,
    /// The value differs from the planned one.
    NotAsPlanned,
    /// The value of a write-only attribute was returned.
    WriteOnly,
    /// The blocks are unknown as a whole.
    UnknownBlocks,
    /// The blocks are null. No blocks are expressed by an empty collection.
    NullBlocks,
    /// The number of blocks or items is wrong.
    Count {
        /// The expected number.
        expected: usize,
        /// The number in the answer.
        found: usize,
    },
    /// An entry of a map is missing.
    MissingKey(Name),
    /// A map has an entry that is not expected.
    ExtraKey(Name),
    /// An element of a set fits no element of the other side.
    Element,
    /// A value is unknown although all values must be known.
    StillUnknown,
}

impl Violation {
    /// Whether the violation counts for such a provider. With the legacy type system, only answers
    /// that cannot be recorded count.
    pub fn counts_for(&self, legacy_type_system: bool) -> bool {
        !legacy_type_system || matches!(self.problem, Problem::StillUnknown | Problem::WriteOnly)
    }
}

/// Shows one sentence for people, without the place.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, found) = (&self.expected, &self.found);
        match &self.problem {
            Problem::Vanished => write!(f, "expected {expected}, found no value"),
            Problem::Appeared => write!(f, "expected no value, found {found}"),
            Problem::NotAsConfigured => {
                write!(f, "the document has {expected}, the plan has {found}")
            }
            Problem::NotComputed => write!(f, "the document sets no value, the plan has {found}"),
            Problem::NotAsPlanned => write!(f, "the plan has {expected}, the answer has {found}"),
            Problem::WriteOnly => f.write_str("the value of a write-only attribute was returned"),
            Problem::UnknownBlocks => f.write_str("the blocks are unknown as a whole"),
            Problem::NullBlocks => f.write_str("the blocks are null instead of empty"),
            Problem::Count { expected, found } => {
                write!(f, "expected {expected} items, found {found}")
            }
            Problem::MissingKey(key) => write!(f, "the key {key:?} is missing"),
            Problem::ExtraKey(key) => write!(f, "the key {key:?} was not asked for"),
            Problem::Element => write!(f, "an element of the set fits nothing: {expected}{found}"),
            Problem::StillUnknown => f.write_str("the value is still unknown"),
        }
    }
}

/// Returns those of `paths` whose values differ between the prior and the planned object. The
/// provider says that a change at these paths forces a replacement. An update without such a path
/// is not a replacement.
pub fn replacing(prior: &Value, planned: &Value, paths: &[Path]) -> Vec<Path> {
    if prior.is_null() || planned.is_null() {
        return Vec::new();
    }
    let differs = |path: &&Path| match (path.select(prior), path.select(planned)) {
        (None, None) => false,
        (Some(before), Some(after)) => after.has_unknown() || !same(before, after),
        (Some(one), None) | (None, Some(one)) => !one.is_null(),
    };
    paths.iter().filter(differs).cloned().collect()
}

/// Collects violations of one answer.
struct AnswerFindings<'a> {
    schema: &'a Block,
    violations: Vec<Violation>,
}

impl<'a> AnswerFindings<'a> {
    fn new(schema: &'a Block) -> AnswerFindings<'a> {
        AnswerFindings {
            schema,
            violations: Vec::new(),
        }
    }

    fn add(&mut self, path: &Path, problem: Problem, expected: &Value, found: &Value) {
        let secret = self.schema.is_sensitive(path);
        self.violations.push(Violation {
            path: path.clone(),
            problem,
            expected: self.schema_marks(path, expected).tainted(secret),
            found: self.schema_marks(path, found).tainted(secret),
        });
    }

    /// Marks a value with sensitive parts as secret, because it is shown as a whole or not at all.
    fn schema_marks(&self, path: &Path, value: &Value) -> Value {
        let holds = matches!(
            value.unmarked(),
            Value::Map(_) | Value::List(_) | Value::Set(_)
        );
        value
            .clone()
            .tainted(holds && self.schema.has_sensitive_below(path))
    }
}

/// Returns the first element that fits no element of the other set. The flag is true for an element
/// of `expected`.
fn unmatched<'v>(
    expected: &'v [Value],
    found: &'v [Value],
    fits: &dyn Fn(&Value, &Value) -> bool,
) -> Option<(bool, &'v Value)> {
    let mut has_partner = vec![false; found.len()];
    for (at, one) in expected.iter().enumerate() {
        // Most providers return the elements in the order in which they were sent.
        if found.get(at).is_some_and(|other| fits(one, other)) {
            if let Some(partner) = has_partner.get_mut(at) {
                *partner = true;
            }
            continue;
        }
        let mut any = false;
        for (other, partner) in found.iter().zip(&mut has_partner) {
            if fits(one, other) {
                (any, *partner) = (true, true);
            }
        }
        if !any {
            return Some((true, one));
        }
    }
    let lonely = found
        .iter()
        .zip(has_partner)
        .filter(|(_, partner)| !partner)
        .map(|(other, _)| other);
    lonely
        .into_iter()
        .find(|other| !expected.iter().any(|one| fits(one, other)))
        .map(|other| (false, other))
}
