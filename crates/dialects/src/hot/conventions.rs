//! How values are made: of parameters (reference, section 4.2), and of properties (section 9.3).

use std::sync::Arc;

use ::blueprint::{AccessorKind, Blueprint, Child, Head, Input, Name, Ref, Schema, Value};
use diag::{Code, Diagnostic, Diagnostics, Span, Spanned, Words};

use super::codes::TOO_LARGE;
use super::fitting::fitted;
use super::messages;
use super::parameters::{Kind, property};
use super::version::Version;
use super::way::invalid;
use crate::codes::UNKNOWN_RESOURCE;
use crate::{Conventions, Given, Limits, Mistake, Place, SpecAt};

/// So many resources Heat takes in a stack with all nested ones.
const MOST_RESOURCES: usize = 1000;

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
        Value::Map(Arc::new(fitted(map, at, schema, found))).tainted(secret)
    }

    fn instance(&self, name: &str, document: Option<Span>) -> Option<Diagnostic> {
        let fits = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && name.len() <= 255;
        if fits {
            return None;
        }
        let diagnostic = crate::codes::INVALID_NAME
            .new(format!("`{name}` cannot be the name of a stack"))
            .help("begin with a letter; go on with letters, digits, `_`, `.` and `-`, 255 at most")
            .words(invalid(format!(
                "Invalid stack name {name} must contain only alphanumeric or \"_-.\" characters, must start with alpha \
                 and must be 255 characters or less."
            )));
        Some(document.into_iter().fold(diagnostic, |diagnostic, span| diagnostic.label(span, "a template of Heat")))
    }

    fn stands_for(
        &self,
        document: &Blueprint,
        type_name: &Spanned<Name>,
        schema: &Schema,
        attributes: &[Name],
        found: &mut Diagnostics,
    ) {
        super::fitting::stands_for(document, type_name, schema, attributes, found);
    }

    fn reads_of(&self, child: &mut Blueprint) {
        super::outputs::reads_of(child);
    }

    fn most_levels(&self) -> u32 {
        // As in Heat, which counts every nested stack.
        5
    }

    fn size(&self, resources: usize, limits: &Limits, place: Span) -> Option<Diagnostic> {
        let most = limits.resources.unwrap_or(MOST_RESOURCES);
        if resources <= most {
            return None;
        }
        let who = if limits.resources.is_some() { "more than the settings allow" } else { "more than Heat takes" };
        let diagnostic = TOO_LARGE
            .new(format!("the template has more than {most} resources with those below it, {who}"))
            .label(place, "the root of them all")
            .help("divide it into stacks of their own")
            .words(Words::of("RequestLimitExceeded", "Request limit exceeded: Maximum resources per stack exceeded."));
        Some(diagnostic)
    }

    fn is_immutable(&self, name: &Name, input: &Input) -> bool {
        super::inputs::is_immutable(name, input)
    }

    fn words(&self, mistake: &Mistake<'_>) -> Option<Words> {
        messages::of(mistake)
    }

    fn placed(&self, found: &mut Diagnostic, at: &Place<'_>) {
        messages::placed(found, at);
    }

    fn below(&self, found: &mut Diagnostic, name: &str, child: &Child, nearest: bool) {
        messages::below(found, name, child, nearest);
    }

    fn is_handed_unasked(&self, input: &str) -> bool {
        // What the engine knows, and what the template reads of the resource that it is.
        input.starts_with("OS::")
    }

    fn shown(&self, type_name: &str, given: &Value) -> Value {
        // Its `type` only checks, and yet Heat shows what the value would be as one of that type.
        let kind = given.get("type").and_then(Value::as_text).and_then(Kind::of_parameter);
        let (Some(kind), Value::Map(fields), "OS::Heat::Value") = (kind, given.bare(), type_name) else {
            return given.clone();
        };
        let mut fields = (**fields).clone();
        if let Some(value) = fields.get("value")
            && let Ok(value) = property(kind, value, None)
        {
            fields.insert("value".into(), value);
        }
        Value::Map(fields.into()).tainted(matches!(given, Value::Secret(_)))
    }

    fn shown_input(&self, input: &Input, written: &Value) -> Option<Value> {
        let is_json = input.rules.get("type").and_then(Value::as_text) == Some("json");
        match written.bare() {
            Value::List(_) if is_json && !written.has_unknown() => {
                let text = python::json_in_order(&written.revealed());
                Some(Value::text(text).tainted(written.has_secret()))
            }
            Value::Text(_) if is_json => Some(written.clone()),
            Value::List(_) | Value::Map(_) => Some(written.clone()),
            _ => None,
        }
    }

    fn data(&self, text: &str) -> Option<Value> {
        super::read::data(text)
    }

    fn called(&self, instance: &str, path: &[Name]) -> (String, String) {
        (super::naming::stack_name(instance, path), super::naming::stack_identifier(instance, path))
    }

    fn absent(&self) -> &'static Code {
        &UNKNOWN_RESOURCE
    }

    fn reads_attribute(&self, reference: &Ref) -> bool {
        match (&reference.head, reference.path.first().map(|accessor| &accessor.kind)) {
            (Head::Child(_), Some(AccessorKind::Name(name))) => name.as_ref() != "OS::stack_id",
            (_, first) => first.is_some(),
        }
    }

    fn children_are_whole(&self) -> bool {
        true
    }

    fn removal(&self, said: &Value, version: &str) -> Option<Diagnostic> {
        // What comes to nothing says nothing.
        if said.is_null() {
            return None;
        }
        super::resources::removal(said, Version::of(version).unwrap_or(Version::V2021_04_16))
    }
}
