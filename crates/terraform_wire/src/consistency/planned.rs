//! A plan compared with the document: the plan keeps every value that the document sets.

use blueprint::{IndexMap, Name, Value};

use super::{AnswerFindings, Problem, Violation, unmatched};
use crate::{Block, BlockType, NestedObject, Nesting, Path, SchemaAttribute, same};

/// Returns the contradictions between a planned object and the configuration. `prior` is null for a
/// create, `config` for a destroy.
///
/// A planned value may differ from the configured one if it equals the prior value: the provider
/// then considers the two equivalent.
pub fn check_plan(
    schema: &Block,
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<Violation> {
    let mut check = Check {
        findings: AnswerFindings::new(schema),
    };
    check.block(schema, prior, config, planned, &Path::default());
    check.findings.violations
}

struct Check<'a> {
    findings: AnswerFindings<'a>,
}

/// The part of an object. It is null in a null object.
fn part<'v>(object: &'v Value, name: &str) -> &'v Value {
    object.get(name).unwrap_or(if object.is_unknown() {
        object
    } else {
        &Value::Null
    })
}

impl Check<'_> {
    fn block(
        &mut self,
        schema: &Block,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        match (config.is_null(), planned.is_null()) {
            (true, true) => return,
            (false, true) => return self.findings.add(path, Problem::Vanished, config, planned),
            (true, false) => return self.findings.add(path, Problem::Appeared, config, planned),
            (false, false) => {}
        }
        self.attributes(&schema.attributes, prior, config, planned, path);
        for (name, inner) in &schema.blocks {
            self.blocks(
                inner,
                part(prior, name),
                part(config, name),
                part(planned, name),
                &path.attribute(name),
            );
        }
    }

    fn blocks(
        &mut self,
        inner: &BlockType,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        if same(planned, config) {
            return;
        }
        if config.is_unknown() {
            return self
                .findings
                .add(path, Problem::NotAsConfigured, config, planned);
        }
        if planned.is_unknown() {
            return self
                .findings
                .add(path, Problem::UnknownBlocks, config, planned);
        }
        let schema = &inner.block;
        if matches!(inner.nesting, Nesting::Single | Nesting::Group) {
            return self.block(schema, prior, config, planned, path);
        }
        if planned.is_null() {
            return self
                .findings
                .add(path, Problem::NullBlocks, config, planned);
        }
        match (planned.unmarked(), config.unmarked()) {
            (Value::Map(planned_map), _) => {
                self.keys(config, planned, path);
                for (key, planned) in planned_map.iter() {
                    if let Some(config) = config.get(key) {
                        self.element(schema, part(prior, key), config, planned, &path.key(key));
                    }
                }
            }
            (Value::Set(found), config) => {
                let expected = config.as_list().unwrap_or_default();
                if !self.count(expected, found, path) {
                    return;
                }
                let fits = |config: &Value, planned: &Value| {
                    let mut inner = Check {
                        findings: AnswerFindings::new(self.findings.schema),
                    };
                    inner.block(schema, &Value::Null, config, planned, path);
                    inner.findings.violations.is_empty()
                };
                self.pair(unmatched(expected, found, &fits), path);
            }
            (planned, config) => {
                let (expected, found) = (
                    config.as_list().unwrap_or_default(),
                    planned.as_list().unwrap_or_default(),
                );
                if self.count(expected, found, path) {
                    for (at, (config, planned)) in expected.iter().zip(found).enumerate() {
                        self.element(schema, item(prior, at), config, planned, &path.index(at));
                    }
                }
            }
        }
    }

    fn element(
        &mut self,
        schema: &Block,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        match planned.is_unknown() && !config.is_unknown() {
            true => self
                .findings
                .add(path, Problem::UnknownBlocks, config, planned),
            false => self.block(schema, prior, config, planned, path),
        }
    }

    fn attributes(
        &mut self,
        attributes: &IndexMap<Name, SchemaAttribute>,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        for (name, attribute) in attributes {
            let (prior, config, planned) =
                (part(prior, name), part(config, name), part(planned, name));
            self.attribute(attribute, prior, config, planned, &path.attribute(name));
        }
    }

    fn attribute(
        &mut self,
        attribute: &SchemaAttribute,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        if attribute.write_only {
            if !planned.is_null() {
                self.findings
                    .add(path, Problem::WriteOnly, &Value::Null, &Value::Null);
            }
            return;
        }
        let is_equivalent = !prior.is_null() && !config.is_null() && same(planned, prior);
        if same(planned, config) || is_equivalent || (attribute.computed && config.is_null()) {
            return;
        }
        if config.is_null() {
            return self
                .findings
                .add(path, Problem::NotComputed, config, planned);
        }
        match attribute.nested() {
            Some(object) => self.objects(object, prior, config, planned, path),
            None => self
                .findings
                .add(path, Problem::NotAsConfigured, config, planned),
        }
    }

    /// Checks the objects of a nested attribute. `config` is not null.
    fn objects(
        &mut self,
        object: &NestedObject,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        if planned.is_null() {
            return self.findings.add(path, Problem::Vanished, config, planned);
        }
        if config.is_unknown() || planned.is_unknown() {
            return self
                .findings
                .add(path, Problem::NotAsConfigured, config, planned);
        }
        match (object.nesting, config.unmarked(), planned.unmarked()) {
            (Nesting::Single | Nesting::Group, ..) => {
                self.object(object, prior, config, planned, path)
            }
            (Nesting::Map, _, Value::Map(planned_map)) => {
                self.keys(config, planned, path);
                for (key, planned) in planned_map.iter() {
                    if let Some(config) = config.get(key) {
                        self.object(object, part(prior, key), config, planned, &path.key(key));
                    }
                }
            }
            (Nesting::Set, config, planned) => {
                let (expected, found) = (
                    config.as_list().unwrap_or_default(),
                    planned.as_list().unwrap_or_default(),
                );
                if !self.count(expected, found, path) {
                    return;
                }
                let fits = |config: &Value, planned: &Value| {
                    let mut inner = Check {
                        findings: AnswerFindings::new(self.findings.schema),
                    };
                    inner.object(object, &Value::Null, config, planned, path);
                    inner.findings.violations.is_empty()
                };
                self.pair(unmatched(expected, found, &fits), path);
            }
            (_, config, planned) => {
                let (expected, found) = (
                    config.as_list().unwrap_or_default(),
                    planned.as_list().unwrap_or_default(),
                );
                if self.count(expected, found, path) {
                    for (at, (config, planned)) in expected.iter().zip(found).enumerate() {
                        self.object(object, item(prior, at), config, planned, &path.index(at));
                    }
                }
            }
        }
    }

    fn object(
        &mut self,
        object: &NestedObject,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &Path,
    ) {
        if same(planned, config) || (!prior.is_null() && same(planned, prior)) {
            return;
        }
        match (config.is_null(), planned.is_null()) {
            (false, true) => return self.findings.add(path, Problem::Vanished, config, planned),
            (true, false) => return self.findings.add(path, Problem::Appeared, config, planned),
            _ => {}
        }
        if planned.is_unknown() {
            return self
                .findings
                .add(path, Problem::NotAsConfigured, config, planned);
        }
        self.attributes(&object.attributes, prior, config, planned, path);
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

    fn keys(&mut self, config: &Value, planned: &Value, path: &Path) {
        let (Some(config), Some(planned)) = (config.as_map(), planned.as_map()) else {
            return;
        };
        for key in planned.keys().filter(|key| !config.contains_key(key)) {
            self.findings.add(
                path,
                Problem::ExtraKey(key.clone()),
                &Value::Null,
                &Value::Null,
            );
        }
        for key in config.keys().filter(|key| !planned.contains_key(key)) {
            self.findings.add(
                path,
                Problem::MissingKey(key.clone()),
                &Value::Null,
                &Value::Null,
            );
        }
    }

    fn pair(&mut self, unmatched: Option<(bool, &Value)>, path: &Path) {
        match unmatched {
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
}

fn item(list: &Value, at: usize) -> &Value {
    list.as_list()
        .and_then(|items| items.get(at))
        .unwrap_or(&Value::Null)
}
