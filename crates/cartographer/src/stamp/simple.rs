//! Simple templates: tags in strings are replaced by what their paths lead to. Keys are not looked
//! at, and results are not read again.

use std::ops::Range;

use blueprint::{FieldPath, PathStep, Value};
use jsonpath::{Path, PathFailure, json_text};

use super::request::{StampFailure, StampFailureClass};
use crate::context::TemplateContext;
use crate::tags::{StringTags, TagPlace, string_tags};

/// How deep a template may be.
const DEPTH: usize = 200;

/// The value of a part of a simple template, or every tag that fails.
pub fn evaluate(template: &Value, context: &TemplateContext) -> Result<Value, Vec<StampFailure>> {
    let mut walk = Walk {
        context,
        path: Vec::new(),
        failures: Vec::new(),
    };
    let value = walk.value(template);
    match walk.failures.is_empty() {
        true => Ok(value),
        false => Err(walk.failures),
    }
}

struct Walk<'a> {
    context: &'a TemplateContext,
    path: Vec<PathStep>,
    failures: Vec<StampFailure>,
}

impl Walk<'_> {
    fn value(&mut self, template: &Value) -> Value {
        if self.path.len() > DEPTH {
            let message = format!("the template is deeper than {DEPTH} levels");
            self.fail(StampFailureClass::TooDeep, message, None);
            return Value::Null;
        }
        match template {
            Value::Text(text) => self.text(text, template),
            Value::Secret(inner) => self.value(inner).secret(),
            Value::List(items) => {
                let items = items.iter().zip(0..);
                let items: Vec<Value> = items
                    .map(|(item, at)| self.below(PathStep::Index(at), item))
                    .collect();
                Value::list(items)
            }
            Value::Map(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| {
                        (key.clone(), self.below(PathStep::Field(key.clone()), value))
                    })
                    .collect();
                Value::map(entries)
            }
            other => other.clone(),
        }
    }

    fn below(&mut self, step: PathStep, template: &Value) -> Value {
        self.path.push(step);
        let value = self.value(template);
        self.path.pop();
        value
    }

    fn text(&mut self, text: &str, template: &Value) -> Value {
        match string_tags(text) {
            StringTags::Whole(place) => self.find(text, &place).unwrap_or_default(),
            StringTags::Inside(places) if places.is_empty() => template.clone(),
            StringTags::Inside(places) => self.replaced(text, &places),
        }
    }

    /// The text with its tags replaced: texts as they are, other values as compact JSON. If a part
    /// is unknown, the whole is.
    fn replaced(&mut self, text: &str, places: &[TagPlace]) -> Value {
        let mut replaced = String::new();
        let mut values = Vec::new();
        let mut from = 0;
        for place in places {
            replaced.push_str(text.get(from..place.tag.start).unwrap_or_default());
            from = place.tag.end;
            let Some(value) = self.find(text, place) else {
                continue;
            };
            if value.is_null() {
                let message = "the tag is null, which has no place inside of text";
                let inside = Some(place.path.clone());
                self.fail(StampFailureClass::NullInText, message.to_owned(), inside);
            } else if !value.has_unknown() {
                self.append(&value, place, &mut replaced);
            }
            values.push(value);
        }
        replaced.push_str(text.get(from..).unwrap_or_default());
        let values = Value::list(values);
        let result = match values.has_unknown() {
            true => values.as_unknown(),
            false => Value::from(replaced),
        };
        result.tainted(values.has_secret())
    }

    fn append(&mut self, value: &Value, place: &TagPlace, replaced: &mut String) {
        match value.as_text() {
            Some(part) => replaced.push_str(part),
            None => match json_text(value) {
                Ok(json) => replaced.push_str(&json),
                Err(failure) => self.path_failure(failure, place.path.clone()),
            },
        }
    }

    fn find(&mut self, text: &str, place: &TagPlace) -> Option<Value> {
        let path = text.get(place.path.clone()).unwrap_or_default();
        let parsed = match Path::parse(path) {
            Ok(parsed) => parsed,
            Err(mistake) => {
                let start = place.path.start;
                let span = start + mistake.span.start..start + mistake.span.end;
                // An empty span points at nothing: the whole tag is wrong.
                let inside = match span.is_empty() {
                    true => place.tag.clone(),
                    false => span,
                };
                self.path_failure(mistake.into(), inside);
                return None;
            }
        };
        match self.context.find(&parsed) {
            Ok(value) => Some(value),
            Err(failure) => {
                let message = format!("`{path}`: {}", failure.message);
                self.path_failure(PathFailure { message, ..failure }, place.path.clone());
                None
            }
        }
    }

    fn path_failure(&mut self, failure: PathFailure, inside: Range<usize>) {
        let class = StampFailureClass::Path(failure.class);
        self.fail(class, failure.message, Some(inside));
    }

    fn fail(&mut self, class: StampFailureClass, message: String, inside: Option<Range<usize>>) {
        self.failures.push(StampFailure {
            path: FieldPath(self.path.clone()),
            inside,
            ..StampFailure::new(class, message)
        });
    }
}
