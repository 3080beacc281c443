//! Fits properties to the schema of their type (decisions/heat#types-of-properties).

use std::sync::Arc;

use blueprint::{Blueprint, Field, Kind, Map, Name, Schema, SupportStatus, TypeId, Value};
use diag::{Diagnostics, NativeMessage, Severity, Span, Spanned};
use expr::ValueStep;
use pycompat::{EqualityKey, Flags, Pattern};

use super::codes::{DEPRECATED, FACADE_MISMATCH, NOT_IMPLEMENTED};
use super::message_path::invalid;
use super::messages::property as property_words;
use super::parameters::{Custom, ParameterConstraint, ParameterKind as Property, Rule, property};
use super::refusal::ValueRefusal;
use dialect::codes::{MISSING_SPEC_FIELD, UNKNOWN_SPEC_FIELD};
use dialect::{ExpressionPart, SpecAt};

/// Fits the properties of a resource to its type. Unknown parts stay; a part in error stays
/// unchanged and is reported.
pub(super) fn fit_properties(
    map: &Map,
    at: SpecAt<'_>,
    schema: &Schema,
    found: &mut Diagnostics,
) -> Map {
    SpecFitter {
        at,
        found,
        path: Vec::new(),
    }
    .object(map, schema)
}

/// The state of fitting properties to their schema.
struct SpecFitter<'f> {
    at: SpecAt<'f>,
    found: &'f mut Diagnostics,
    path: Vec<ValueStep>,
}

impl SpecFitter<'_> {
    fn place(&self) -> Span {
        expr::span_at_path(self.at.expr, &self.path)
    }

    /// Heat's message about a property.
    fn words(&self, words: &str) -> NativeMessage {
        let part = if self.at.part == ExpressionPart::UpdatePolicy {
            "update_policy"
        } else {
            "properties"
        };
        property_words(&["resources", self.at.resource, part], &self.path, words)
    }

    fn object(&mut self, map: &Map, schema: &Schema) -> Map {
        let mut out = Map::with_capacity(map.len());
        // A misspelt required property is one mistake.
        let mut misspelt: Vec<Name> = Vec::new();
        for (key, value) in map.iter() {
            match schema.fields.get(key) {
                Some(field) if field.is_settable() => {
                    self.path.push(ValueStep::Key(key.clone()));
                    self.support_status(key, field);
                    let value = self.field(value, field);
                    self.path.pop();
                    out.insert(key.clone(), value);
                }
                // An open schema accepts all properties, without effect.
                _ if schema.open => {}
                _ => {
                    let words = self.words(&format!("Unknown Property {key}"));
                    self.path.push(ValueStep::Key(key.clone()));
                    let place = self.key_place(key);
                    self.path.pop();
                    let known = schema
                        .fields
                        .iter()
                        .filter(|(_, field)| field.is_settable());
                    let near = diag::nearest(key, known.map(|(name, _)| name.as_ref()));
                    misspelt.extend(near.map(Name::from));
                    let unknown = UNKNOWN_SPEC_FIELD
                        .new(format!("unknown property `{key}`"))
                        .label(place, "the type has no such property")
                        .with_native_message(words);
                    self.found.push(match near {
                        Some(near) => unknown.help(format!("did you mean `{near}`?")),
                        None => unknown.help("`cyan types TYPE` lists the properties of a type"),
                    });
                }
            }
        }
        // A value under an old name, or in a short form, belongs to the property that replaces it.
        for (name, field) in &schema.fields {
            let Some(stands_for) = &field.stands_for else {
                continue;
            };
            let Some(written) = out.shift_remove(name).filter(|written| !written.is_null()) else {
                continue;
            };
            if out.get(&stands_for.field).is_none_or(Value::is_null) {
                out.insert(stands_for.field.clone(), stands_for.value(&written));
            }
        }
        for (name, field) in &schema.fields {
            if out.contains_key(name) || !field.is_settable() {
                continue;
            }
            if let Some(default) = &field.default {
                out.insert(name.clone(), default.clone().tainted(field.sensitive));
            } else if field.required && !self.at.is_external && !misspelt.contains(name) {
                let mut words = self.words(&format!("Property {name} not assigned"));
                // Heat treats a written null as a value, not as a missing property.
                if self.is_written(name) {
                    words.path = format!("{}.{name}", words.path).into();
                }
                let holder = if self.path.is_empty() {
                    self.at.missing_part_span
                } else {
                    self.place()
                };
                self.found.push(
                    MISSING_SPEC_FIELD
                        .new(format!("the required property `{name}` is missing"))
                        .label(holder, format!("`{name}` is required in this map"))
                        .help(format!("add `{name}`"))
                        .with_native_message(words),
                );
            }
        }
        out
    }

    /// Whether the literal map at this place has an entry with this name.
    fn is_written(&self, name: &Name) -> bool {
        let mut at = self.at.expr;
        for step in &self.path {
            let next = match (&at.kind, step) {
                (blueprint::ExprKind::List(items), ValueStep::Index(index)) => items.get(*index),
                (blueprint::ExprKind::Map(entries), ValueStep::Key(key)) => entries
                    .iter()
                    .find(|(name, _)| name.item == *key)
                    .map(|(_, value)| value),
                _ => None,
            };
            let Some(next) = next else { return false };
            at = next;
        }
        matches!(&at.kind, blueprint::ExprKind::Map(entries) if entries.iter().any(|(key, _)| key.item == *name))
    }

    /// Warns about a property without effect, or a deprecated one.
    fn support_status(&mut self, key: &Name, field: &Field) {
        let diagnostic = match field.support_status {
            SupportStatus::NotImplemented => {
                NOT_IMPLEMENTED.new(format!("the property `{key}` does nothing"))
            }
            SupportStatus::Deprecated | SupportStatus::Hidden => {
                DEPRECATED.new(format!("the property `{key}` should not be used any more"))
            }
            SupportStatus::Supported | SupportStatus::Unsupported => return,
        };
        let place = self.key_place(key);
        self.found.push(
            diagnostic
                .label(place, "as its type states")
                .with_severity(Severity::Warning),
        );
    }

    /// The place of a key: just before its value, if the value is literal.
    fn key_place(&self, key: &Name) -> Span {
        let (_, above) = self
            .path
            .split_last()
            .map_or((None, &[][..]), |(last, above)| (Some(last), above));
        let mut at = self.at.expr;
        for step in above {
            at = match (&at.kind, step) {
                (blueprint::ExprKind::List(items), ValueStep::Index(index)) => {
                    match items.get(*index) {
                        Some(item) => item,
                        None => return at.span,
                    }
                }
                (blueprint::ExprKind::Map(entries), ValueStep::Key(key)) => {
                    match entries.iter().find(|(name, _)| name.item == *key) {
                        Some((_, value)) => value,
                        None => return at.span,
                    }
                }
                _ => return at.span,
            };
        }
        match &at.kind {
            blueprint::ExprKind::Map(entries) => entries
                .iter()
                .find(|(name, _)| name.item == *key)
                .map_or(at.span, |(name, _)| name.span),
            _ => at.span,
        }
    }

    fn field(&mut self, value: &Value, field: &Field) -> Value {
        let (bare, secret) = value.split_secret();
        let secret = secret || field.sensitive;
        if bare.is_unknown() {
            return value.clone().tainted(secret);
        }
        let taken = match property(kind_of(&field.kind), bare, field.default.as_ref()) {
            Ok(taken) => taken,
            Err(refusal) => {
                self.refuse(refusal, secret);
                return value.clone().tainted(secret);
            }
        };
        // The property has a default, which fits.
        let usual = field
            .default
            .as_ref()
            .is_some_and(|default| !default.is_null());
        if bare.is_null() && (usual || taken.is_null() && field.allowed.is_empty()) {
            return taken.tainted(secret);
        }
        let fitted = match (&field.kind, &taken) {
            (Kind::Object(schema), Value::Map(map)) => {
                Value::Map(Arc::new(self.object(map, schema)))
            }
            (Kind::Map(values), Value::Map(map)) => {
                let mut out = Map::with_capacity(map.len());
                for (key, value) in map.iter() {
                    self.path.push(ValueStep::Key(key.clone()));
                    out.insert(key.clone(), self.field(value, values));
                    self.path.pop();
                }
                Value::Map(Arc::new(out))
            }
            (Kind::Array(item), Value::List(items)) => {
                let mut out = Vec::with_capacity(items.len());
                for (at, value) in items.iter().enumerate() {
                    self.path.push(ValueStep::Index(at));
                    out.push(self.field(value, item));
                    self.path.pop();
                }
                Value::list(out)
            }
            _ => taken,
        };
        self.constraints(&fitted, field, secret);
        fitted.tainted(secret)
    }

    /// Checks a value against the limits of its property.
    fn constraints(&mut self, value: &Value, field: &Field, secret: bool) {
        if value.has_unknown() {
            return;
        }
        for rule in rules(field) {
            let constraint = ParameterConstraint {
                rule,
                description: None,
            };
            match constraint.check(kind_of(&field.kind), &value.revealed()) {
                Ok(None) => {}
                Ok(Some(note)) => self.refuse(note, secret),
                Err(refusal) => self.refuse(refusal, secret),
            }
        }
    }

    /// Reports a mistake in the current value, without showing a secret one.
    fn refuse(&mut self, mut refusal: ValueRefusal, secret: bool) {
        if secret {
            refusal.message = "the secret value does not fit its property".to_owned();
            refusal.heat = None;
        }
        let words = refusal.heat.take().map(|words| self.words(&words));
        let place = self.place();
        let mut diagnostic = refusal.at(place);
        diagnostic.native_message = words.map(Box::new);
        self.found.push(diagnostic);
    }
}

/// The kind of property for a field.
fn kind_of(kind: &Kind) -> Property {
    match kind {
        Kind::String => Property::String,
        Kind::Integer => Property::Integer,
        Kind::Float => Property::Number,
        Kind::Boolean => Property::Boolean,
        Kind::Array(_) => Property::List,
        Kind::Map(_) | Kind::Object(_) => Property::Map,
        Kind::Any | Kind::Union(_) => Property::Any,
    }
}

/// The limits of a field as rules of Heat.
fn rules(field: &Field) -> Vec<Rule> {
    let limits = &field.constraint;
    let number = |number: f64| {
        if number.fract() == 0.0 {
            Value::Int(number as i64)
        } else {
            Value::Float(number)
        }
    };
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let mut rules = Vec::new();
    if limits.min.is_some() || limits.max.is_some() {
        rules.push(Rule::Range(limits.min.map(number), limits.max.map(number)));
    }
    if limits.min_length.is_some() || limits.max_length.is_some() {
        rules.push(Rule::Length(
            limits.min_length.map(count),
            limits.max_length.map(count),
        ));
    }
    if limits.min_items.is_some() || limits.max_items.is_some() {
        rules.push(Rule::Length(
            limits.min_items.map(count),
            limits.max_items.map(count),
        ));
    }
    if let Some((step, offset)) = limits.modulo {
        rules.push(Rule::Modulo(Value::Int(step), Value::Int(offset)));
    }
    if !field.allowed.is_empty() {
        let keys = field.allowed.iter().map(EqualityKey::of).collect();
        rules.push(Rule::AllowedValues(field.allowed.clone(), keys));
    }
    if let Some(pattern) = &limits.pattern
        && let Ok(compiled) = Pattern::new(pattern, Flags::default())
    {
        rules.push(Rule::AllowedPattern(pattern.clone(), Box::new(compiled)));
    }
    rules.extend(
        limits
            .custom
            .iter()
            .map(|name| Rule::Custom(name.clone(), Custom::of(name))),
    );
    rules
}

/// Checks that a template fits the type that it is registered for (decisions/heat#facades).
pub(super) fn check_facade(
    document: &Blueprint,
    type_name: &Spanned<TypeId>,
    schema: &Schema,
    attributes: &[Name],
    found: &mut Diagnostics,
) {
    let ty = &type_name.item;
    let mut report = |message: String, words: String| {
        let diagnostic = FACADE_MISMATCH
            .new(message)
            .label(type_name.span, "a template is used for this type");
        found.push(diagnostic.with_native_message(invalid(words)));
    };
    for (name, field) in schema
        .fields
        .iter()
        .filter(|(_, field)| field.is_settable())
    {
        match document.inputs.get(name) {
            None if field.required => report(
                format!("the template has no parameter `{name}`, a required property of `{ty}`"),
                format!("Required property {name} for facade {ty} missing in provider"),
            ),
            None => {}
            Some(input) => {
                let given = input
                    .rules
                    .get("type")
                    .and_then(Value::as_text)
                    .and_then(Property::of_parameter);
                let wanted = kind_of(&field.kind);
                let Some(given) = given else { continue };
                let fits = wanted == Property::Any
                    || wanted == given
                    || (wanted, given) == (Property::Integer, Property::Number);
                if !fits {
                    report(
                        format!(
                            "the parameter `{name}` of the template is of another type than in `{ty}`"
                        ),
                        format!(
                            "Property {name} type mismatch between facade {ty} ({}) and provider ({})",
                            wanted.property_name(),
                            given.property_name()
                        ),
                    );
                }
            }
        }
    }
    for (name, input) in &document.inputs {
        if input.default.is_none() && !name.starts_with("OS::") && !schema.fields.contains_key(name)
        {
            report(
                format!("the template needs a parameter `{name}`, which is no property of `{ty}`"),
                format!("Provider requires property {name} unknown in facade {ty}"),
            );
        }
    }
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.as_ref() != "show")
    {
        if !document.exports.contains_key(attribute) {
            report(
                format!("the template has no output `{attribute}`, an attribute of `{ty}`"),
                format!("Attribute {attribute} for facade {ty} missing in provider"),
            );
        }
    }
}
