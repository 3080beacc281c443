//! How values are made: of parameters (reference, section 4.2), and of properties (section 9.3).

use std::sync::Arc;

use ::blueprint::{Field, Input, Kind, Map, Name, Schema, Value};
use diag::{Code, Diagnostic, Diagnostics, Span};
use expr::Step;
use expr::codes::TYPE_MISMATCH;

use crate::codes::{MISSING_SPEC_FIELD, UNKNOWN_RESOURCE, UNKNOWN_SPEC_FIELD};
use crate::{Conventions, Given, SpecAt};

/// Python's and Heat's ways.
pub(super) struct HotConventions;

impl Conventions for HotConventions {
    fn input(&self, name: &Name, input: &Input, given: Option<Given<'_>>, found: &mut Diagnostics) -> Option<Value> {
        super::inputs::value(name, input, given, found)
    }

    fn handed(
        &self,
        name: &Name,
        input: &Input,
        given: Option<&Value>,
        place: Span,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        super::inputs::handed(name, input, given, place, found)
    }

    fn spec(&self, value: &Value, at: SpecAt<'_>, schema: &Schema, found: &mut Diagnostics) -> Value {
        let (bare, secret) = value.exposed();
        let Value::Map(map) = bare else { return value.clone() };
        let mut fitting = Fitting { at, found, path: Vec::new() };
        Value::Map(Arc::new(fitting.object(map, schema))).tainted(secret)
    }

    fn instance(&self, name: &str) -> Option<Diagnostic> {
        let fits = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && name.len() <= 255;
        if fits {
            return None;
        }
        let diagnostic = crate::codes::INVALID_NAME
            .new(format!("`{name}` cannot be the name of a stack"))
            .help("begin with a letter; go on with letters, digits, `_`, `.` and `-`, 255 at most")
            .words(format!(
                "StackValidationFailed: Invalid stack name {name} must contain only alphanumeric or \"_-.\" characters, \
                 must start with alpha and must be 255 characters or less."
            ));
        Some(diagnostic)
    }

    fn absent(&self) -> &'static Code {
        &UNKNOWN_RESOURCE
    }
}

/// Properties being fitted to their schema.
struct Fitting<'f> {
    at: SpecAt<'f>,
    found: &'f mut Diagnostics,
    path: Vec<Step>,
}

impl Fitting<'_> {
    fn place(&self) -> Span {
        expr::within(self.at.expr, &self.path)
    }

    /// Heat's words for what is wrong with a property.
    fn words(&self, words: &str) -> String {
        let mut path = format!("resources.{}.properties", self.at.resource);
        for step in &self.path {
            match step {
                Step::Key(key) => {
                    path.push('.');
                    path.push_str(key);
                }
                Step::Index(at) => path.push_str(&format!("[{at}]")),
            }
        }
        format!("StackValidationFailed: Property error: {path}: {words}")
    }

    fn object(&mut self, map: &Map, schema: &Schema) -> Map {
        let mut out = Map::with_capacity(map.len());
        for (key, value) in map.iter() {
            match schema.fields.get(key) {
                Some(field) if field.is_settable() => {
                    self.path.push(Step::Key(key.clone()));
                    let value = self.field(value, field);
                    self.path.pop();
                    out.insert(key.clone(), value);
                }
                // It takes anything and makes nothing of it.
                None if schema.open => {}
                _ => {
                    let words = self.words(&format!("Unknown Property {key}"));
                    self.path.push(Step::Key(key.clone()));
                    let place = self.key_place(key);
                    self.path.pop();
                    let known = schema.fields.iter().filter(|(_, field)| field.is_settable());
                    self.found.push(
                        UNKNOWN_SPEC_FIELD
                            .new(format!("unknown property `{key}`"))
                            .label(place, "the type has no such property")
                            .help_nearest(key, known.map(|(name, _)| name.as_ref()))
                            .words(words),
                    );
                }
            }
        }
        for (name, field) in &schema.fields {
            if out.contains_key(name) || !field.is_settable() {
                continue;
            }
            if let Some(default) = &field.default {
                out.insert(name.clone(), default.clone().tainted(field.sensitive));
            } else if field.required {
                let words = self.words(&format!("Property {name} not assigned"));
                let holder = if self.path.is_empty() { self.at.holder } else { self.place() };
                self.found.push(
                    MISSING_SPEC_FIELD
                        .new(format!("the required property `{name}` is missing"))
                        .label(holder, format!("`{name}` must stand in this"))
                        .help(format!("add `{name}`"))
                        .words(words),
                );
            }
        }
        out
    }

    /// The place of a key: just before its value, where that is written out.
    fn key_place(&self, key: &Name) -> Span {
        let (_, above) = self.path.split_last().map_or((None, &[][..]), |(last, above)| (Some(last), above));
        let mut at = self.at.expr;
        for step in above {
            at = match (&at.kind, step) {
                (::blueprint::ExprKind::List(items), Step::Index(index)) => match items.get(*index) {
                    Some(item) => item,
                    None => return at.span,
                },
                (::blueprint::ExprKind::Map(entries), Step::Key(key)) => {
                    match entries.iter().find(|(name, _)| name.item == *key) {
                        Some((_, value)) => value,
                        None => return at.span,
                    }
                }
                _ => return at.span,
            };
        }
        match &at.kind {
            ::blueprint::ExprKind::Map(entries) => {
                entries.iter().find(|(name, _)| name.item == *key).map_or(at.span, |(name, _)| name.span)
            }
            _ => at.span,
        }
    }

    fn field(&mut self, value: &Value, field: &Field) -> Value {
        let (bare, secret) = value.exposed();
        let secret = secret || field.sensitive;
        if bare.is_unknown() {
            return value.clone().tainted(secret);
        }
        let fitted = match (&field.kind, bare) {
            (Kind::Any, _) => bare.clone(),
            (_, Value::Null) => match &field.default {
                Some(default) => default.clone(),
                None => empty(&field.kind),
            },
            (Kind::Object(schema), Value::Map(map)) => Value::Map(Arc::new(self.object(map, schema))),
            (Kind::Map(values), Value::Map(map)) => {
                let mut out = Map::with_capacity(map.len());
                for (key, value) in map.iter() {
                    self.path.push(Step::Key(key.clone()));
                    out.insert(key.clone(), self.field(value, values));
                    self.path.pop();
                }
                Value::Map(Arc::new(out))
            }
            (Kind::Array(item), Value::List(items)) => {
                let mut out = Vec::with_capacity(items.len());
                for (at, value) in items.iter().enumerate() {
                    self.path.push(Step::Index(at));
                    out.push(self.field(value, item));
                    self.path.pop();
                }
                Value::list(out)
            }
            (kind, bare) => match scalar(kind, bare) {
                Ok(value) => value,
                Err(words) => {
                    self.mismatch(&words, kind);
                    bare.clone()
                }
            },
        };
        fitted.tainted(secret)
    }

    fn mismatch(&mut self, words: &str, kind: &Kind) {
        let wanted = match kind {
            Kind::String => "text",
            Kind::Integer => "an integer",
            Kind::Float => "a number",
            Kind::Boolean => "true or false",
            Kind::Array(_) => "a list",
            _ => "a map",
        };
        let words = self.words(words);
        self.found.push(
            TYPE_MISMATCH.new(format!("{wanted} is needed here")).label(self.place(), "not of that kind").words(words),
        );
    }
}

/// What null is for a type that has no default.
fn empty(kind: &Kind) -> Value {
    match kind {
        Kind::String => Value::text(""),
        Kind::Integer | Kind::Float => Value::Int(0),
        Kind::Boolean => Value::Bool(false),
        Kind::Array(_) => Value::list([]),
        Kind::Map(_) | Kind::Object(_) => super::native::empty_map(),
        Kind::Any | Kind::Union(_) => Value::Null,
    }
}

/// A scalar as its property takes it, or Heat's words for why not.
fn scalar(kind: &Kind, value: &Value) -> Result<Value, String> {
    match (kind, value) {
        (Kind::String, Value::Text(_)) => Ok(value.clone()),
        (Kind::String, Value::Int(_) | Value::Decimal(_) | Value::Bool(_)) => Ok(Value::text(python::text(value))),
        (Kind::String, _) => Err(format!("Value must be a string; got {}", python::text(value))),
        (Kind::Integer, Value::Int(_) | Value::Decimal(_)) => Ok(value.clone()),
        (Kind::Integer, Value::Bool(value)) => Ok(Value::Int(i64::from(*value))),
        (Kind::Integer, Value::Float(number)) if number.is_finite() => Ok(Value::Int(number.trunc() as i64)),
        (Kind::Integer, Value::Text(text)) => match text.trim().parse::<i64>() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => Err(format!("Value '{text}' is not an integer")),
        },
        (Kind::Integer, _) => Err(format!("Value '{}' is not an integer", python::text(value))),
        (Kind::Float, Value::Int(_) | Value::Float(_) | Value::Decimal(_)) => Ok(value.clone()),
        (Kind::Float, Value::Bool(value)) => Ok(Value::Int(i64::from(*value))),
        (Kind::Float, Value::Text(text)) => match (text.trim().parse::<i64>(), text.trim().parse::<f64>()) {
            (Ok(number), _) => Ok(Value::Int(number)),
            (_, Ok(number)) => Ok(Value::Float(number)),
            _ => Err(format!("could not convert string to float: '{text}'")),
        },
        (Kind::Boolean, Value::Bool(_)) => Ok(value.clone()),
        (Kind::Boolean, Value::Text(text)) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
        (Kind::Boolean, Value::Text(text)) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
        (Kind::Boolean, _) => Err(format!("\"{}\" is not a valid boolean", python::text(value))),
        (Kind::Array(_), _) => Err(format!("\"{}\" is not a list", python::repr(value))),
        (Kind::Map(_) | Kind::Object(_), _) => Err(format!("\"{}\" is not a map", python::repr(value))),
        (Kind::Float, _) => Err(format!("float() argument must be a string or a number, not {}", python::text(value))),
        (Kind::Any | Kind::Union(_), _) => Ok(value.clone()),
    }
}
