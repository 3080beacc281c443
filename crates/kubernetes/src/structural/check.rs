//! Checks a value against its schema.

use blueprint::{FieldPath, Map, PathStep, Value};

use super::formats::TextFormat;
use super::lists::repeated;
use super::node::{Bound, Nulls, SchemaNode, SchemaType, SizeRange};
use super::numbers::{as_float, compare, is_whole};
use super::violation::{SchemaViolation, ViolationReason, shown, written_path};

/// The violations of a whole object.
pub(crate) fn violations(
    root: &SchemaNode,
    metadata: &SchemaNode,
    object: &Value,
) -> Vec<SchemaViolation> {
    let mut checker = Checker::new(metadata);
    checker.value(root, object);
    if let Some(entries) = object.as_map().filter(|_| !root.is_resource) {
        checker.meta_fields(entries, object);
    }
    checker.found
}

/// A check under way.
struct Checker<'a> {
    metadata: &'a SchemaNode,
    path: Vec<PathStep>,
    /// How many of the values on the way are secret.
    secrets: usize,
    /// The violations so far.
    found: Vec<SchemaViolation>,
}

impl<'a> Checker<'a> {
    fn new(metadata: &'a SchemaNode) -> Checker<'a> {
        Checker {
            metadata,
            path: Vec::new(),
            secrets: 0,
            found: Vec::new(),
        }
    }

    /// Adds a violation here.
    fn add(&mut self, reason: ViolationReason, message: String) {
        self.found.push(SchemaViolation {
            path: FieldPath(self.path.clone()),
            reason,
            message,
        });
    }

    /// Adds a violation of a rule about the value here.
    fn broken(&mut self, value: &Value, rule: String) {
        let value = self.shown(value);
        let rule = format!("Invalid value: {value}: {} in body {rule}", self.written());
        self.add(ViolationReason::Invalid, rule);
    }

    /// Adds a violation that names no field, because it is of a rule that combines schemas.
    fn add_combined(&mut self, rule: &str) {
        let message = format!("Invalid value: \"\": \"{}\" {rule}", self.written());
        self.found.push(SchemaViolation {
            path: FieldPath::default(),
            reason: ViolationReason::Invalid,
            message,
        });
    }

    fn written(&self) -> String {
        written_path(&self.path)
    }

    fn shown(&self, value: &Value) -> String {
        shown(value, self.secrets > 0)
    }

    fn inside(&mut self, step: PathStep, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    /// Checks a value. An unknown one is accepted.
    fn value(&mut self, node: &SchemaNode, value: &Value) {
        let (inner, is_secret) = value.split_secret();
        let Some(ty) = JsonType::of(inner) else {
            return;
        };
        self.secrets += usize::from(is_secret);
        self.type_of(node, inner, ty);
        if ty != JsonType::Null {
            self.rules(node, inner);
            self.combined(node, inner);
        }
        self.allowed(node, inner);
        self.secrets -= usize::from(is_secret);
    }

    fn type_of(&mut self, node: &SchemaNode, value: &Value, ty: JsonType) {
        let Some(wanted) = node.ty else {
            return;
        };
        let accepts = match (wanted, ty) {
            (_, JsonType::Null) => node.nulls == Nulls::Allowed,
            (SchemaType::Object, JsonType::Object)
            | (SchemaType::Array, JsonType::Array)
            | (SchemaType::Boolean, JsonType::Boolean)
            | (SchemaType::Text | SchemaType::IntegerOrText, JsonType::Text)
            | (SchemaType::Number, JsonType::Integer | JsonType::Number)
            | (SchemaType::Integer | SchemaType::IntegerOrText, JsonType::Integer) => true,
            (SchemaType::Integer | SchemaType::IntegerOrText, JsonType::Number) => is_whole(value),
            _ => false,
        };
        if !accepts {
            let (path, wanted, ty) = (self.written(), wanted.name(), ty.name());
            self.add(
                ViolationReason::TypeInvalid,
                format!(
                    "Invalid value: \"{ty}\": {path} in body must be of type {wanted}: \"{ty}\""
                ),
            );
        }
    }

    fn rules(&mut self, node: &SchemaNode, value: &Value) {
        match value {
            Value::Text(text) => self.text(node, value, text),
            Value::Int(_) | Value::Float(_) | Value::Decimal(_) => self.number(node, value),
            Value::List(items) | Value::Set(items) => self.list(node, items),
            Value::Map(entries) => self.object(node, value, entries),
            _ => {}
        }
    }

    fn text(&mut self, node: &SchemaNode, value: &Value, text: &str) {
        let SizeRange { least, most } = node.rules.length;
        // A byte is at least a character, so most texts need no counting.
        let count = || text.chars().count() as u64;
        if let Some(most) = most
            && text.len() as u64 > most
            && count() > most
        {
            let message = format!("Too long: may not be more than {most} bytes");
            self.add(ViolationReason::TooLong, message);
        }
        if let Some(least) = least
            && count() < least
        {
            self.broken(value, format!("should be at least {least} chars long"));
        }
        if let Some(pattern) = &node.rules.pattern
            && !pattern.regex.is_match(text)
        {
            self.broken(value, format!("should match '{}'", pattern.text));
        }
        if let Some(format) = node.rules.format
            && !format.accepts(text)
        {
            let (path, name) = (self.written(), format.name());
            let value = self.shown(value);
            let rule = format!("{path} in body must be of type {name}: {value}");
            let message = format!("Invalid value: {value}: {rule}");
            self.add(ViolationReason::Invalid, message);
        }
    }

    fn number(&mut self, node: &SchemaNode, value: &Value) {
        let rules = &node.rules;
        if let Some(Bound {
            limit,
            is_exclusive,
        }) = &rules.least
            && let Some(order) = compare(value, limit)
            && (order.is_lt() || (*is_exclusive && order.is_eq()))
        {
            let word = if *is_exclusive { "" } else { " or equal to" };
            let limit = shown(limit, false);
            self.broken(value, format!("should be greater than{word} {limit}"));
        }
        if let Some(Bound {
            limit,
            is_exclusive,
        }) = &rules.most
            && let Some(order) = compare(value, limit)
            && (order.is_gt() || (*is_exclusive && order.is_eq()))
        {
            let word = if *is_exclusive { "" } else { " or equal to" };
            let limit = shown(limit, false);
            self.broken(value, format!("should be less than{word} {limit}"));
        }
        if let Some(factor) = &rules.multiple_of
            && let (Some(number), Some(divisor)) = (as_float(value), as_float(factor))
            && (number / divisor).fract() != 0.0
        {
            let factor = shown(factor, false);
            self.broken(value, format!("should be a multiple of {factor}"));
        }
        let is_small = value.as_int().is_none_or(|own| i32::try_from(own).is_ok());
        if rules.format == Some(TextFormat::Int32) && !is_small {
            self.broken(value, "must fit 32 bits".to_owned());
        }
    }

    fn list(&mut self, node: &SchemaNode, items: &[Value]) {
        let SizeRange { least, most } = node.rules.items;
        let count = items.len() as u64;
        if let Some(least) = least.filter(|least| count < *least) {
            let count = Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
            self.broken(&count, format!("should have at least {least} items"));
        }
        if let Some(most) = most.filter(|most| count > *most) {
            let message = format!("Too many: {count}: must have at most {most} items");
            self.add(ViolationReason::TooMany, message);
        }
        if let Some(inner) = node.items.as_deref() {
            for (at, item) in items.iter().enumerate() {
                self.inside(PathStep::Index(at as u64), |own| own.value(inner, item));
            }
        }
        for (at, key) in repeated(node, items) {
            self.inside(PathStep::Index(at as u64), |own| {
                let message = format!("Duplicate value: {}", own.shown(&key));
                own.add(ViolationReason::Duplicate, message);
            });
        }
    }

    fn object(&mut self, node: &SchemaNode, value: &Value, entries: &Map) {
        let SizeRange { least, most } = node.rules.properties;
        let count = entries.len() as u64;
        if let Some(least) = least.filter(|least| count < *least) {
            self.broken(value, format!("should have at least {least} properties"));
        }
        if let Some(most) = most.filter(|most| count > *most) {
            let message = format!("Too many: {count}: must have at most {most} items");
            self.add(ViolationReason::TooMany, message);
        }
        for name in &node.rules.required {
            if !entries.contains_key(name) {
                self.inside(PathStep::Field(name.clone()), |own| {
                    own.add(ViolationReason::Required, "Required value".to_owned());
                });
            }
        }
        for (name, value) in entries {
            if let Some(inner) = node.field(name) {
                self.inside(PathStep::Field(name.clone()), |own| own.value(inner, value));
            }
        }
        if node.is_resource {
            self.resource(entries);
        }
    }

    /// Checks an object of an API inside another one.
    fn resource(&mut self, entries: &Map) {
        for name in ["apiVersion", "kind"] {
            let value = entries.get(name);
            let is_given = value.is_some_and(|value| {
                value.is_unknown() || value.as_text().is_some_and(|text| !text.is_empty())
            });
            if !is_given {
                self.inside(PathStep::Field(name.into()), |own| {
                    let message = "Required value: must not be empty".to_owned();
                    own.add(ViolationReason::Required, message);
                });
            }
        }
        if let Some(value) = entries.get("metadata") {
            let metadata = self.metadata;
            self.inside(PathStep::Field("metadata".into()), |own| {
                own.value(metadata, value);
            });
        }
    }

    /// Checks the metadata of the whole object, whose schema says nothing about it.
    fn meta_fields(&mut self, entries: &Map, object: &Value) {
        let metadata = self.metadata;
        if let Some(value) = entries.get("metadata").filter(|value| !value.is_null()) {
            self.secrets += usize::from(object.split_secret().1);
            self.inside(PathStep::Field("metadata".into()), |own| {
                if value.as_map().is_some() {
                    own.value(metadata, value);
                }
            });
            self.secrets -= usize::from(object.split_secret().1);
        }
    }

    /// Checks that the value is one of those that are allowed.
    fn allowed(&mut self, node: &SchemaNode, value: &Value) {
        let Some(allowed) = &node.rules.one_of_values else {
            return;
        };
        let is_equal = |other: &Value| {
            value == other || compare(value, other).is_some_and(std::cmp::Ordering::is_eq)
        };
        if allowed.iter().any(is_equal) || value.has_unknown() {
            return;
        }
        let listed: Vec<String> = allowed.iter().map(|value| shown(value, false)).collect();
        let message = format!(
            "Unsupported value: {}: supported values: {}",
            self.shown(value),
            listed.join(", ")
        );
        self.add(ViolationReason::NotSupported, message);
    }

    /// Checks the rules that combine schemas.
    fn combined(&mut self, node: &SchemaNode, value: &Value) {
        let rules = &node.rules;
        let mut failed = false;
        for part in &rules.all_of {
            let found = self.apart(part, value);
            failed |= !found.is_empty();
            self.found.extend(found);
        }
        if failed {
            self.add_combined("must validate all the schemas (allOf)");
        }
        if !rules.any_of.is_empty() {
            let (accepting, closest) = self.alternatives(&rules.any_of, value);
            if accepting == 0 {
                self.add_combined("must validate at least one schema (anyOf)");
                self.found.extend(closest);
            }
        }
        if !rules.one_of.is_empty() {
            let (accepting, closest) = self.alternatives(&rules.one_of, value);
            let rule = "must validate one and only one schema (oneOf).";
            if accepting == 0 {
                self.add_combined(&format!("{rule} Found none valid"));
                self.found.extend(closest);
            } else if accepting > 1 && !value.has_unknown() {
                self.add_combined(&format!("{rule} Found {accepting} valid alternatives"));
            }
        }
        if let Some(refused) = rules.not.as_deref()
            && !value.has_unknown()
            && self.apart(refused, value).is_empty()
        {
            self.add_combined("must not validate the schema (not)");
        }
    }

    /// How many of several schemas accept the value here, and the violations of the one with the
    /// fewest.
    fn alternatives(
        &mut self,
        nodes: &[SchemaNode],
        value: &Value,
    ) -> (usize, Vec<SchemaViolation>) {
        let mut accepting = 0;
        let mut closest: Option<Vec<SchemaViolation>> = None;
        for node in nodes {
            let found = self.apart(node, value);
            accepting += usize::from(found.is_empty());
            if closest.as_ref().is_none_or(|best| found.len() < best.len()) {
                closest = Some(found);
            }
        }
        (accepting, closest.unwrap_or_default())
    }

    /// The violations of one more schema for the value here.
    fn apart(&mut self, node: &SchemaNode, value: &Value) -> Vec<SchemaViolation> {
        let before = std::mem::take(&mut self.found);
        self.value(node, value);
        std::mem::replace(&mut self.found, before)
    }
}

/// The type of a value of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

impl JsonType {
    /// The type of a value; `None` if it is not known or has none.
    fn of(value: &Value) -> Option<JsonType> {
        Some(match value {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Int(_) => JsonType::Integer,
            Value::Float(_) | Value::Decimal(_) => JsonType::Number,
            Value::Text(_) | Value::Bytes(_) => JsonType::Text,
            Value::List(_) | Value::Set(_) => JsonType::Array,
            Value::Map(_) => JsonType::Object,
            Value::Asset(_) | Value::Resource(_) | Value::Function(_) | Value::Unknown(_) => {
                return None;
            }
            Value::Secret(inner) => return JsonType::of(inner),
        })
    }

    fn name(self) -> &'static str {
        match self {
            JsonType::Null => "null",
            JsonType::Boolean => "boolean",
            JsonType::Integer => "integer",
            JsonType::Number => "number",
            JsonType::Text => "string",
            JsonType::Array => "array",
            JsonType::Object => "object",
        }
    }
}
