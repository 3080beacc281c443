//! An applied object compared with the planned one: every known planned value must come back equal.

use blueprint::Value;

use super::{AnswerFindings, Problem, Violation, unmatched};
use crate::{AttributeKind, Block, BlockType, NestedObject, Nesting, Path, same};

/// Returns the contradictions between the object after an apply and the planned one. The object
/// must be fully known.
pub fn check_apply(schema: &Block, planned: &Value, actual: &Value) -> Vec<Violation> {
    let mut check = Check {
        findings: AnswerFindings::new(schema),
        may_be_unknown: false,
    };
    // A returned write-only value is one violation, and not also a contradiction of the plan.
    check.object(
        schema,
        planned,
        &schema.without_write_only(actual),
        &Path::default(),
    );
    check.write_only(schema, actual, &Path::default());
    check.findings.violations
}

/// Returns the contradictions between a plan and a second plan that was made with more known
/// values.
pub fn check_replan(schema: &Block, first: &Value, second: &Value) -> Vec<Violation> {
    let mut check = Check {
        findings: AnswerFindings::new(schema),
        may_be_unknown: true,
    };
    check.object(schema, first, second, &Path::default());
    check.findings.violations
}

struct Check<'a> {
    findings: AnswerFindings<'a>,
    /// Whether the answer may be unknown in places that were unknown in the plan.
    may_be_unknown: bool,
}

impl<'a> Check<'a> {
    /// Returns the same check without findings.
    fn fork(&self) -> Check<'a> {
        Check {
            findings: AnswerFindings::new(self.findings.schema),
            may_be_unknown: self.may_be_unknown,
        }
    }

    /// Checks a value without a schema of its own, which is part of a plain attribute.
    fn value(&mut self, planned: &Value, actual: &Value, path: &Path) {
        if planned.is_unknown() {
            return self.known(actual, path);
        }
        match (planned.is_null(), actual.is_null()) {
            (true, true) => return,
            (false, true) => return self.findings.add(path, Problem::Vanished, planned, actual),
            (true, false) => return self.findings.add(path, Problem::Appeared, planned, actual),
            (false, false) => {}
        }
        if !planned.has_unknown() && same(planned, actual) {
            return;
        }
        match (planned.unmarked(), actual.unmarked()) {
            (_, Value::Unknown(_)) => {
                self.findings
                    .add(path, self.unknown_problem(), planned, actual)
            }
            (Value::Map(expected), Value::Map(found)) => {
                self.keys(planned, actual, path);
                for (key, planned) in expected.iter() {
                    if let Some(actual) = found.get(key) {
                        self.value(planned, actual, &path.key(key));
                    }
                }
            }
            (Value::Set(expected), Value::Set(found)) => {
                let fork = self.fork();
                let fits = |planned: &Value, actual: &Value| {
                    fork.is_clean(|check| check.value(planned, actual, path))
                };
                self.set(expected, found, path, &fits);
            }
            (Value::List(expected), Value::List(found)) => {
                if self.count(expected, found, path) {
                    for (at, (planned, actual)) in expected.iter().zip(found.iter()).enumerate() {
                        self.value(planned, actual, &path.index(at));
                    }
                }
            }
            _ => self
                .findings
                .add(path, Problem::NotAsPlanned, planned, actual),
        }
    }

    fn object(&mut self, schema: &Block, planned: &Value, actual: &Value, path: &Path) {
        if self.is_decided(planned, actual, path) {
            return;
        }
        for (name, attribute) in &schema.attributes {
            let path = path.attribute(name);
            let (planned, actual) = (part(planned, name), part(actual, name));
            match &attribute.kind {
                AttributeKind::Plain(_) => self.value(planned, actual, &path),
                AttributeKind::Nested(object) => self.nested(object, planned, actual, &path),
            }
        }
        for (name, inner) in &schema.blocks {
            self.blocks(
                inner,
                part(planned, name),
                part(actual, name),
                &path.attribute(name),
            );
        }
    }

    fn blocks(&mut self, inner: &BlockType, planned: &Value, actual: &Value, path: &Path) {
        let block = &inner.block;
        self.places(
            inner.nesting,
            planned,
            actual,
            path,
            &|check, planned, actual, path| {
                check.object(block, planned, actual, path);
            },
        );
    }

    fn nested(&mut self, object: &NestedObject, planned: &Value, actual: &Value, path: &Path) {
        self.places(
            object.nesting,
            planned,
            actual,
            path,
            &|check, planned, actual, path| {
                if check.is_decided(planned, actual, path) {
                    return;
                }
                for (name, attribute) in &object.attributes {
                    let path = path.attribute(name);
                    let (planned, actual) = (part(planned, name), part(actual, name));
                    match &attribute.kind {
                        AttributeKind::Plain(_) => check.value(planned, actual, &path),
                        AttributeKind::Nested(object) => {
                            check.nested(object, planned, actual, &path)
                        }
                    }
                }
            },
        );
    }

    fn places(
        &mut self,
        nesting: Nesting,
        planned: &Value,
        actual: &Value,
        path: &Path,
        one: &dyn Fn(&mut Check<'_>, &Value, &Value, &Path),
    ) {
        if matches!(nesting, Nesting::Single | Nesting::Group) {
            return one(self, planned, actual, path);
        }
        if self.is_decided(planned, actual, path) {
            return;
        }
        match (planned.unmarked(), actual.unmarked()) {
            (Value::Map(expected), Value::Map(found)) => {
                self.keys(planned, actual, path);
                for (key, planned) in expected.iter() {
                    if let Some(actual) = found.get(key) {
                        one(self, planned, actual, &path.key(key));
                    }
                }
            }
            (Value::Set(expected), Value::Set(found)) => {
                let fork = self.fork();
                let fits = |planned: &Value, actual: &Value| {
                    fork.is_clean(|check| one(check, planned, actual, path))
                };
                self.set(expected, found, path, &fits);
            }
            (planned, actual) => {
                let (expected, found) = (
                    planned.as_list().unwrap_or_default(),
                    actual.as_list().unwrap_or_default(),
                );
                if self.count(expected, found, path) {
                    for (at, (planned, actual)) in expected.iter().zip(found).enumerate() {
                        one(self, planned, actual, &path.index(at));
                    }
                }
            }
        }
    }

    /// Whether the values agree or contradict as a whole, so that their parts need no check.
    fn is_decided(&mut self, planned: &Value, actual: &Value, path: &Path) -> bool {
        if planned.is_unknown() {
            self.known(actual, path);
            return true;
        }
        match (planned.is_null(), actual.is_null()) {
            (true, true) => {}
            (false, true) => self.findings.add(path, Problem::Vanished, planned, actual),
            (true, false) => self.findings.add(path, Problem::Appeared, planned, actual),
            (false, false) if actual.is_unknown() => {
                self.findings
                    .add(path, self.unknown_problem(), planned, actual);
            }
            (false, false) => return false,
        }
        true
    }

    /// Checks a set. It may have fewer elements than planned if some were unknown, because they may
    /// turn out equal.
    fn set(
        &mut self,
        expected: &[Value],
        found: &[Value],
        path: &Path,
        fits: &dyn Fn(&Value, &Value) -> bool,
    ) {
        let may_merge = expected.iter().any(Value::has_unknown);
        if !may_merge && !self.count(expected, found, path) {
            return;
        }
        match unmatched(expected, found, fits) {
            Some((true, element)) => {
                self.findings
                    .add(path, Problem::Element, element, &Value::Null)
            }
            Some((false, element)) => {
                self.findings
                    .add(path, Problem::Element, &Value::Null, element)
            }
            None => {}
        }
    }

    fn is_clean(&self, run: impl FnOnce(&mut Check<'_>)) -> bool {
        let mut inner = self.fork();
        run(&mut inner);
        inner.findings.violations.is_empty()
    }

    /// Checks a value that may be anything, as long as it is known.
    fn known(&mut self, actual: &Value, path: &Path) {
        if !self.may_be_unknown && actual.has_unknown() {
            self.findings
                .add(path, Problem::StillUnknown, &Value::Null, actual);
        }
    }

    fn unknown_problem(&self) -> Problem {
        if self.may_be_unknown {
            Problem::NotAsPlanned
        } else {
            Problem::StillUnknown
        }
    }

    fn count(&mut self, expected: &[Value], found: &[Value], path: &Path) -> bool {
        let is_equal = expected.len() == found.len();
        if !is_equal {
            let problem = Problem::Count {
                expected: expected.len(),
                found: found.len(),
            };
            self.findings.add(path, problem, &Value::Null, &Value::Null);
        }
        is_equal
    }

    fn keys(&mut self, planned: &Value, actual: &Value, path: &Path) {
        let (Some(planned), Some(actual)) = (planned.as_map(), actual.as_map()) else {
            return;
        };
        for key in planned.keys().filter(|key| !actual.contains_key(key)) {
            self.findings.add(
                path,
                Problem::MissingKey(key.clone()),
                &Value::Null,
                &Value::Null,
            );
        }
        for key in actual.keys().filter(|key| !planned.contains_key(key)) {
            self.findings.add(
                path,
                Problem::ExtraKey(key.clone()),
                &Value::Null,
                &Value::Null,
            );
        }
    }

    /// Checks that no answer contains the value of a write-only attribute.
    fn write_only(&mut self, schema: &Block, actual: &Value, path: &Path) {
        for name in schema
            .attributes
            .iter()
            .filter(|(_, one)| one.write_only)
            .map(|(name, _)| name)
        {
            if !part(actual, name).is_null() {
                self.findings.add(
                    &path.attribute(name),
                    Problem::WriteOnly,
                    &Value::Null,
                    &Value::Null,
                );
            }
        }
        for (name, inner) in &schema.blocks {
            let path = path.attribute(name);
            match (inner.nesting, part(actual, name).unmarked()) {
                (Nesting::Single | Nesting::Group, value) => {
                    self.write_only(&inner.block, value, &path)
                }
                (Nesting::Map, Value::Map(entries)) => {
                    entries.iter().for_each(|(key, value)| {
                        self.write_only(&inner.block, value, &path.key(key))
                    });
                }
                (Nesting::Set, value) => {
                    let items = value.as_list().unwrap_or_default();
                    items
                        .iter()
                        .for_each(|value| self.write_only(&inner.block, value, &path));
                }
                (_, value) => {
                    let items = value.as_list().unwrap_or_default().iter().enumerate();
                    items.for_each(|(at, value)| {
                        self.write_only(&inner.block, value, &path.index(at))
                    });
                }
            }
        }
    }
}

/// The part of an object. It is null in a null object.
fn part<'v>(object: &'v Value, name: &str) -> &'v Value {
    object.get(name).unwrap_or(if object.is_unknown() {
        object
    } else {
        &Value::Null
    })
}
