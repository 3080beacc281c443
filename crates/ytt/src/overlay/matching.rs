//! The annotations `match` and `match-child-defaults`: which items of the left side an item of the
//! right side is about.

use crate::access;
use crate::convert::plain;
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::as_bool;
use crate::overlay::subset::is_same_leaf;
use crate::value::{NodeRef, StarValue};
use crate::yaml_tree::YamlKind;

/// The name of the annotation.
const MATCH: &str = "overlay/match";
/// The annotation that sets the defaults of the items inside.
const DEFAULTS: &str = "overlay/match-child-defaults";

/// How many items must match.
#[derive(Clone, Default)]
pub(super) struct Expectation {
    expects: Option<StarValue>,
    missing_ok: Option<StarValue>,
    when: Option<StarValue>,
}

impl Expectation {
    fn set(&mut self, name: &str, value: &StarValue) -> bool {
        let place = match name {
            "expects" => &mut self.expects,
            "missing_ok" => &mut self.missing_ok,
            "when" => &mut self.when,
            _ => return false,
        };
        *place = Some(value.clone());
        true
    }

    fn fill(&mut self, defaults: &Expectation) {
        let own = [&mut self.expects, &mut self.missing_ok, &mut self.when];
        let others = [&defaults.expects, &defaults.missing_ok, &defaults.when];
        for (own, other) in own.into_iter().zip(others) {
            if own.is_none() {
                own.clone_from(other);
            }
        }
    }

    /// The expectation for the items inside of a node.
    ///
    /// # Errors
    /// If the annotation has an unknown argument.
    pub(super) fn inside(node: &NodeRef, around: &Expectation) -> Evaluated<Expectation> {
        let mut own = Expectation::default();
        if let Some(annotation) = node.borrow().annotation(DEFAULTS) {
            for (name, value) in &annotation.named {
                if !own.set(name, value) {
                    return fail(format!(
                        "Unknown '{DEFAULTS}' annotation keyword argument '{name}'"
                    ));
                }
            }
        }
        own.fill(around);
        Ok(own)
    }

    /// Whether a number of matches is as expected; `None` if a condition says that nothing is to be
    /// done.
    fn check(&self, evaluator: &mut Evaluator<'_>, count: usize) -> Evaluated<Option<()>> {
        let several = match (&self.missing_ok, &self.expects, &self.when) {
            (Some(_), Some(_), _) => Some(("missing_ok", "expects")),
            (Some(_), _, Some(_)) => Some(("missing_ok", "when")),
            (_, Some(_), Some(_)) => Some(("when", "expects")),
            _ => None,
        };
        if let Some((one, other)) = several {
            return fail(format!(
                "Expected only one of keyword arguments ('{one}', '{other}') specified"
            ));
        }
        let refusal = if let Some(missing_ok) = &self.missing_ok {
            match missing_ok {
                StarValue::Bool(true) if count <= 1 => None,
                StarValue::Bool(true) => Some(number_message("1", count)),
                StarValue::Bool(false) => refused(evaluator, &StarValue::Int(1), count, 0)?,
                _ => return fail("Expected keyword argument 'missing_ok' to be a boolean"),
            }
        } else if let Some(when) = &self.when {
            return Ok(match refused(evaluator, when, count, 0)? {
                Some(_) => None,
                None => Some(()),
            });
        } else {
            let expects = self.expects.clone().unwrap_or(StarValue::Int(1));
            refused(evaluator, &expects, count, 0)?
        };
        match refusal {
            Some(message) => fail(message),
            None => Ok(Some(())),
        }
    }
}

fn number_message(wanted: &str, count: usize) -> String {
    format!("Expected number of matched nodes to be {wanted}, but was {count}")
}

/// Why a number of matches is not as expected.
fn refused(
    evaluator: &mut Evaluator<'_>,
    expected: &StarValue,
    count: usize,
    depth: usize,
) -> Evaluated<Option<String>> {
    if depth > 10 {
        return fail("the expected numbers are nested too deep");
    }
    match expected {
        StarValue::Int(wanted) => Ok(match *wanted == count as i128 {
            true => None,
            false => Some(number_message(&wanted.to_string(), count)),
        }),
        StarValue::Text(text) => {
            let least = text
                .strip_suffix('+')
                .and_then(|text| text.parse::<usize>().ok());
            match least {
                Some(least) if count < least => {
                    Ok(Some(number_message(&format!(">= {least}"), count)))
                }
                Some(_) => Ok(None),
                None => fail(format!(
                    "Expected '{text}' to be in format 'i+' where i is an integer"
                )),
            }
        }
        StarValue::List(list) => {
            let items = list.items.borrow().clone();
            let mut last = None;
            for item in &items {
                last = refused(evaluator, item, count, depth + 1)?;
                if last.is_none() {
                    return Ok(None);
                }
            }
            Ok(last)
        }
        expected if expected.is_callable() => {
            let result = evaluator.call_with(expected, vec![StarValue::count(count)])?;
            match result {
                StarValue::Bool(true) => Ok(None),
                StarValue::Bool(false) => {
                    Ok(Some("Expectation of number of matched nodes failed".into()))
                }
                _ => fail("Expected keyword argument to have a function that returns a boolean"),
            }
        }
        other => {
            let kind = other.type_name();
            fail(format!(
                "Expected '{MATCH}' annotation keyword argument to be either int, string or \
                 function, but was {kind}"
            ))
        }
    }
}

/// The places of the items of a collection that a new item is about; `None` if nothing is to be
/// done.
///
/// # Errors
/// If the annotation is invalid, or the number of matches is not as expected.
pub(super) fn places(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    defaults: &Expectation,
) -> Evaluated<Option<Vec<usize>>> {
    let (kind, annotation) = {
        let item = item.borrow();
        (item.kind, item.annotation(MATCH).cloned())
    };
    let mut matcher = None;
    let mut expectation = Expectation::default();
    let is_annotated = annotation.is_some();
    let named = annotation
        .map(|annotation| annotation.named)
        .unwrap_or_default();
    if kind == YamlKind::ArrayItem && !is_annotated {
        return Ok(Some(Vec::new()));
    }
    if kind != YamlKind::MapItem && named.is_empty() {
        return fail(format!(
            "Expected '{MATCH}' annotation to have at least one keyword argument (by=..., \
             expects=...)"
        ));
    }
    for (name, value) in &named {
        if &**name == "by" {
            matcher = Some(value.clone());
        } else if !expectation.set(name, value) {
            return fail(format!(
                "Unknown '{MATCH}' annotation keyword argument '{name}'"
            ));
        }
    }
    expectation.fill(defaults);
    let found = match matcher {
        None if kind == YamlKind::MapItem => same_keys(evaluator, left, item)?,
        None => {
            return fail(format!(
                "Expected '{MATCH}' annotation keyword argument 'by' to be specified"
            ));
        }
        Some(matcher) => matched(evaluator, left, item, matcher)?,
    };
    let is_wanted = expectation.check(evaluator, found.len())?;
    Ok(is_wanted.map(|()| found))
}

fn same_keys(evaluator: &Evaluator<'_>, left: &NodeRef, item: &NodeRef) -> Evaluated<Vec<usize>> {
    let heap = &evaluator.heap;
    let key = item.borrow().key.clone();
    let left = left.borrow();
    heap.work.steps(left.items.len())?;
    let mut found = Vec::new();
    for (at, own) in left.items.iter().enumerate() {
        if is_same_leaf(heap, &own.borrow().key, &key)? {
            found.push(at);
        }
    }
    Ok(found)
}

fn matched(
    evaluator: &mut Evaluator<'_>,
    left: &NodeRef,
    item: &NodeRef,
    matcher: StarValue,
) -> Evaluated<Vec<usize>> {
    let (kind, new) = {
        let item = item.borrow();
        (item.kind, item.value.clone())
    };
    let matcher = match &matcher {
        StarValue::Text(_) if kind != YamlKind::Document => evaluator
            .heap
            .native("overlay.map_key_matcher", vec![matcher])?,
        matcher if matcher.is_callable() => matcher.clone(),
        other => {
            let name = other.type_name();
            return fail(format!(
                "Expected '{MATCH}' annotation keyword argument 'by' to be a function, but was \
                 {name}"
            ));
        }
    };
    let items = left.borrow().items.clone();
    evaluator.heap.work.items(items.len())?;
    let mut found = Vec::new();
    for (at, own) in items.iter().enumerate() {
        let (key, value) = {
            let own = own.borrow();
            (own.key.clone(), own.value.clone())
        };
        let first = match kind {
            YamlKind::MapItem => key,
            _ => StarValue::count(at),
        };
        let old = plain(&evaluator.heap, &value)?;
        let new = plain(&evaluator.heap, &new)?;
        let result = evaluator.call_with(&matcher, vec![first, old, new])?;
        if result.unknown().is_some() {
            // The condition decides about the tree.
            access::items(&evaluator.heap, &result)?;
        }
        if as_bool(&result)? {
            found.push(at);
        }
    }
    Ok(found)
}
