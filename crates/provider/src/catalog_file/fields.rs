//! Fields: kinds, flags and limits, and contradictions between them.

use std::sync::Arc;

use blueprint::{
    Constraint, Field, IndexMap, Kind, Name, Schema, StandsFor, SupportStatus, Type, Value,
};
use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::reader::{CatalogError, JsonObject, JsonPlace};
use crate::{Direction, FilterType, Fit};

/// The key of the support status of a type or field.
pub(super) const SUPPORT_STATUS: &str = "supportStatus";

/// The former name of [`SUPPORT_STATUS`]. Catalogues of users may still have it.
pub(super) const FORMER_SUPPORT_STATUS: &str = "standing";

const KEYS: &[&str] = &[
    "kind",
    "items",
    "values",
    "fields",
    "of",
    "required",
    "computed",
    "optional",
    "nullable",
    "default",
    "defaultWith",
    "sensitive",
    "unique",
    "mustRecreate",
    "immutable",
    SUPPORT_STATUS,
    FORMER_SUPPORT_STATUS,
    "standsFor",
    "changesOnUpdate",
    "ignoreDrift",
    "trackDrift",
    "links",
    "set",
    "keyedBy",
    "allowed",
    "min",
    "max",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "whole",
    "form",
    "modulo",
    "custom",
    "open",
    "value",
    "docs",
    "about",
];

/// Reads the fields under `key`; empty by default.
pub(super) fn schema(object: &JsonObject<'_>, key: &str) -> Result<Arc<Schema>, CatalogError> {
    let place = object.place.key(key);
    let mut fields = IndexMap::default();
    for (name, value) in object.entries(key)? {
        fields.insert(name.clone(), field(value, &place.key(name))?);
    }
    for (name, field) in &fields {
        let Some(stands_for) = &field.stands_for else {
            continue;
        };
        if stands_for.field == *name
            || fields
                .get(&stands_for.field)
                .is_none_or(|other| !other.is_settable())
        {
            let place = place.key(name);
            let place = place.key("standsFor");
            return Err(place.error(format!(
                "the object has no settable field `{}`",
                stands_for.field
            )));
        }
    }
    Ok(Arc::new(Schema {
        fields,
        open: object.flag("open")?,
    }))
}

/// Reads one field.
pub(super) fn field(value: &Value, place: &JsonPlace<'_>) -> Result<Field, CatalogError> {
    let object = JsonObject::new(value, place, KEYS)?;
    let kind = kind(&object)?;
    let constraint = Constraint {
        min: object.number("min")?,
        max: object.number("max")?,
        min_length: object.count("minLength")?,
        max_length: object.count("maxLength")?,
        min_items: object.count("minItems")?,
        max_items: object.count("maxItems")?,
        pattern: object.text("pattern")?,
        whole: object.flag("whole")?,
        form: object.text("form")?,
        modulo: modulo(&object)?,
        custom: object.texts("custom")?,
    };
    let field = Field {
        opaque: None,
        kind,
        required: object.flag("required")?,
        computed: object.flag("computed")?,
        optional: object.flag("optional")?,
        nullable: object.flag("nullable")?,
        // A written null is a default, because null may be a value.
        default: object
            .has("default")
            .then(|| object.get("default").cloned().unwrap_or_default()),
        default_with: default_with(&object)?,
        sensitive: object.flag("sensitive")?,
        unique: object.flag("unique")?,
        must_recreate: object.flag("mustRecreate")?,
        immutable: object.flag("immutable")?,
        support_status: support_status(&object)?,
        stands_for: stands_for(&object)?,
        changes_on_update: object.flag("changesOnUpdate")?,
        ignore_drift: object.flag("ignoreDrift")?,
        track_drift: object.flag("trackDrift")?,
        links: object.flag("links")?,
        set: object.flag("set")?,
        keyed_by: object.text("keyedBy")?,
        allowed: object.items("allowed")?.to_vec(),
        constraint,
        // A written null is the simulated value.
        simulated_value: object
            .has("value")
            .then(|| object.get("value").cloned().unwrap_or_default()),
        docs: object.docs()?,
    };
    contradictions(&object, &field)?;
    Ok(field)
}

/// Reads `defaultWith`: another field, and the default if that field is set.
fn default_with(object: &JsonObject<'_>) -> Result<Option<Arc<(Name, Value)>>, CatalogError> {
    let Some(value) = object.get("defaultWith") else {
        return Ok(None);
    };
    if !object.has("default") {
        return Err(object.error("defaultWith", "is only allowed together with `default`"));
    }
    let place = object.place.key("defaultWith");
    let object = JsonObject::new(value, &place, &["field", "value"])?;
    Ok(Some(Arc::new((
        object.need_text("field")?,
        object.need("value")?.clone(),
    ))))
}

/// Reads `modulo`: a step other than 0 and an offset.
fn modulo(object: &JsonObject<'_>) -> Result<Option<(i64, i64)>, CatalogError> {
    match object.items("modulo")? {
        [] if !object.has("modulo") => Ok(None),
        [Value::Int(step), Value::Int(offset)] if *step != 0 => Ok(Some((*step, *offset))),
        _ => Err(object.error(
            "modulo",
            "must be a list of a step other than 0 and an offset",
        )),
    }
}

/// Reads `standsFor`.
fn stands_for(object: &JsonObject<'_>) -> Result<Option<Arc<StandsFor>>, CatalogError> {
    let Some(value) = object.get("standsFor") else {
        return Ok(None);
    };
    let place = object.place.key("standsFor");
    let object = JsonObject::new(value, &place, &["field", "value"])?;
    Ok(Some(Arc::new(StandsFor {
        field: object.need_text("field")?,
        shape: object.get("value").cloned(),
    })))
}

/// Reads `supportStatus`, also under its former name.
///
/// # Errors
/// If both names are written, or the word is not a [`SupportStatus`].
pub(super) fn support_status(object: &JsonObject<'_>) -> Result<SupportStatus, CatalogError> {
    let key = match (
        object.has(SUPPORT_STATUS),
        object.has(FORMER_SUPPORT_STATUS),
    ) {
        (true, true) => {
            return Err(object.error(
                FORMER_SUPPORT_STATUS,
                format!("is the former name of `{SUPPORT_STATUS}`, which is written too"),
            ));
        }
        (false, true) => FORMER_SUPPORT_STATUS,
        (_, false) => SUPPORT_STATUS,
    };
    let Some(word) = object.text(key)? else {
        return Ok(SupportStatus::Supported);
    };
    SupportStatus::of_word(&word).ok_or_else(|| {
        let words: Vec<&str> = SupportStatus::ALL.iter().map(|(_, word)| *word).collect();
        object.error(
            key,
            format!("`{word}` is no support status: one of {}", words.join(", ")),
        )
    })
}

fn kind(object: &JsonObject<'_>) -> Result<Kind, CatalogError> {
    let inner = |key: &str| -> Result<Arc<Field>, CatalogError> {
        Ok(Arc::new(match object.get(key) {
            Some(value) => field(value, &object.place.key(key))?,
            None => Field::of(Kind::Any),
        }))
    };
    let word = object.need_text("kind")?;
    let kind = match word.as_ref() {
        "any" => Kind::Any,
        "string" => Kind::String,
        "integer" => Kind::Integer,
        "float" => Kind::Float,
        "boolean" => Kind::Boolean,
        "array" => Kind::Array(inner("items")?),
        "map" => Kind::Map(inner("values")?),
        "object" => {
            object.need("fields")?;
            Kind::Object(schema(object, "fields")?)
        }
        "union" => {
            object.need("of")?;
            let place = object.place.key("of");
            let branches: Result<Vec<Field>, CatalogError> = object
                .items("of")?
                .iter()
                .enumerate()
                .map(|(at, item)| field(item, &place.index(at)))
                .collect();
            let branches = branches?;
            if branches.is_empty() {
                return Err(place.error("a union needs at least one branch"));
            }
            Kind::Union(Arc::new(branches))
        }
        other => {
            return Err(object.error(
                "kind",
                format!("`{other}` is no kind: one of string, integer, float, boolean, array, map, object, union, any"),
            ));
        }
    };
    for (key, of) in [
        ("items", "array"),
        ("values", "map"),
        ("fields", "object"),
        ("open", "object"),
        ("of", "union"),
    ] {
        if object.has(key) && word.as_ref() != of {
            return Err(object.error(key, format!("only a field of kind {of} has `{key}`")));
        }
    }
    Ok(kind)
}

fn contradictions(object: &JsonObject<'_>, field: &Field) -> Result<(), CatalogError> {
    let of_kind =
        |keys: &[&str], fits: bool, wanted: &str| match keys.iter().find(|key| object.has(key)) {
            Some(key) if !fits => {
                Err(object.error(key, format!("is only allowed for a field of kind {wanted}")))
            }
            _ => Ok(()),
        };
    let array = matches!(field.kind, Kind::Array(_));
    of_kind(&["set", "keyedBy"], array, "array")?;
    of_kind(
        &["minItems", "maxItems"],
        array || matches!(field.kind, Kind::Map(_)),
        "array or map",
    )?;
    of_kind(
        &["min", "max"],
        matches!(field.kind, Kind::Integer | Kind::Float),
        "integer or float",
    )?;
    of_kind(&["modulo"], matches!(field.kind, Kind::Integer), "integer")?;
    of_kind(
        &["minLength", "maxLength", "pattern"],
        matches!(field.kind, Kind::String),
        "string",
    )?;
    if field.constraint.whole && field.constraint.pattern.is_none() {
        return Err(object.error("whole", "only says something about a `pattern`"));
    }
    if field.constraint.form.is_some() && field.constraint.pattern.is_none() {
        return Err(object.error("form", "only says something about a `pattern`"));
    }
    if field.immutable && field.must_recreate {
        return Err(object.error(
            "immutable",
            "a change is either refused or replaces the resource",
        ));
    }
    if field.computed && field.required {
        return Err(object.error("required", "a computed field cannot be required"));
    }
    if field.optional && !field.computed {
        return Err(object.error(
            "optional",
            "only says something about a computed field: others are optional anyway",
        ));
    }
    for key in ["changesOnUpdate", "trackDrift", "value"] {
        if object.has(key) && !field.computed {
            return Err(object.error(key, "only stands on a computed field"));
        }
    }
    for key in [
        "mustRecreate",
        "immutable",
        "standsFor",
        "unique",
        "links",
        "default",
    ] {
        if object.has(key) && !field.is_settable() {
            return Err(object.error(key, "only stands on a field that a document can set"));
        }
    }
    if field.default.is_some() && field.required {
        return Err(object.error("default", "a required field has no default"));
    }
    let limits = &field.constraint;
    for (key, crossed) in [
        (
            "min",
            limits
                .min
                .zip(limits.max)
                .is_some_and(|(min, max)| min > max),
        ),
        (
            "minLength",
            limits
                .min_length
                .zip(limits.max_length)
                .is_some_and(|(min, max)| min > max),
        ),
        (
            "minItems",
            limits
                .min_items
                .zip(limits.max_items)
                .is_some_and(|(min, max)| min > max),
        ),
    ] {
        if crossed {
            return Err(object.error(key, "is greater than the maximum"));
        }
    }
    if let Some(pattern) = &limits.pattern {
        // Catalogues are read at each start, and most patterns are not used. So a pattern is
        // parsed, and compiled only if the compilation could fail.
        let wrong = match regex_syntax::parse(pattern) {
            Err(error) => Some(error.to_string()),
            Ok(read) if size(&read) <= CERTAINLY_COMPILES => None,
            Ok(_) => Regex::new(pattern).err().map(|error| error.to_string()),
        };
        if let Some(error) = wrong {
            return Err(object.error(
                "pattern",
                format!("is no regular expression: {}", last_line(&error)),
            ));
        }
    }
    if let (Some(key), Kind::Array(item)) = (&field.keyed_by, &field.kind) {
        let Kind::Object(items) = &item.kind else {
            return Err(object.error("keyedBy", "the items are no objects"));
        };
        if !items.fields.contains_key(key) {
            return Err(object.error("keyedBy", format!("the items have no field `{key}`")));
        }
        if field.set {
            return Err(object.error("set", "a list identified by a field cannot also be a set"));
        }
    }
    values(object, field)?;
    match &field.simulated_value {
        Some(template) => filled_in(object, field, template),
        None => Ok(()),
    }
}

/// Patterns up to this size compile to far less than the limit of 10 MiB.
const CERTAINLY_COMPILES: u64 = 10_000;

/// The number of bytes and character ranges of a pattern with its repetitions expanded.
fn size(pattern: &Hir) -> u64 {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(text) => text.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            size(&repeated.sub).saturating_mul(times.into())
        }
        HirKind::Capture(group) => size(&group.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(1, |all, part| all.saturating_add(size(part))),
    }
}

/// Checks that the template of a simulated value matches the field's kind, as far as this is known
/// before it is filled in.
fn filled_in(object: &JsonObject<'_>, field: &Field, template: &Value) -> Result<(), CatalogError> {
    let wrong = |message: &str| Err(object.error("value", message));
    match template {
        Value::Text(text) if text.contains('{') => {
            let alone = text.starts_with('{') && text.find('}') == Some(text.len() - 1);
            let is_text = matches!(field.kind, Kind::String | Kind::Any | Kind::Union(_));
            match text.as_ref() {
                "{updates}" if matches!(field.kind, Kind::Integer | Kind::Any | Kind::Union(_)) => {
                    Ok(())
                }
                "{updates}" => wrong("gives an integer"),
                text if alone && text.starts_with("{spec.") => Ok(()),
                _ if is_text => Ok(()),
                _ => wrong("gives a text"),
            }
        }
        other if has_marks(other) => Ok(()),
        other => match Fit::new().field(other, field, Direction::Answered) {
            Some(misfit) if misfit.path.is_empty() => wrong(&misfit.message),
            Some(misfit) => wrong(&format!("`{}` {}", misfit.path, misfit.message)),
            None => Ok(()),
        },
    }
}

fn has_marks(template: &Value) -> bool {
    match template {
        Value::Text(text) => text.contains('{'),
        Value::List(items) => items.iter().any(has_marks),
        Value::Map(entries) => entries.values().any(has_marks),
        _ => false,
    }
}

/// Checks that the default and the allowed values match the field, and that the default is allowed.
fn values(object: &JsonObject<'_>, field: &Field) -> Result<(), CatalogError> {
    if field.default.is_none() && field.allowed.is_empty() {
        return Ok(());
    }
    let fit = Fit::new();
    let place = object.place.key("allowed");
    for (at, value) in field.allowed.iter().enumerate() {
        if let Some(misfit) = fit.field(value, field, Direction::Sent) {
            return Err(place.index(at).error(misfit.message));
        }
    }
    if let Some(default) = &field.default
        && let Some(misfit) = fit.field(default, field, Direction::Sent)
    {
        let at = if misfit.path.is_empty() {
            String::new()
        } else {
            format!("`{}` ", misfit.path)
        };
        return Err(object.error("default", format!("{at}{}", misfit.message)));
    }
    Ok(())
}

/// The last line of an error of several lines, which names the problem.
fn last_line(text: &str) -> &str {
    text.lines()
        .last()
        .unwrap_or(text)
        .trim_start_matches("error: ")
}

/// Parses a type such as `array of integer` or `string or integer`.
pub(super) fn type_of(text: &str) -> Option<Type> {
    if text.contains(" or ") {
        let branches: Option<Vec<Type>> = text.split(" or ").map(type_of).collect();
        return branches.map(Type::union);
    }
    Some(match text.trim() {
        "any" => Type::Any,
        "none" => Type::Null,
        "string" => Type::Text,
        "integer" => Type::Int,
        "float" => Type::Float,
        "boolean" => Type::Bool,
        "binary" => Type::Bytes,
        "array" => Type::list(Type::Any),
        "map" => Type::map(Type::Any),
        "object" => Type::object([]),
        other => match other.split_once(" of ") {
            Some(("array", item)) => Type::list(type_of(item)?),
            Some(("map", value)) => Type::map(type_of(value)?),
            _ => return None,
        },
    })
}

/// The type written under a key of an object.
pub(super) fn type_at(object: &JsonObject<'_>, key: &str) -> Result<Type, CatalogError> {
    let words = object.need_text(key)?;
    type_of(&words).ok_or_else(|| {
        object.error(
            key,
            format!("`{words}` is no type, such as `string` or `array of integer`"),
        )
    })
}

/// A scalar type written under a key of an object.
pub(super) fn scalar_at(object: &JsonObject<'_>, key: &str) -> Result<Type, CatalogError> {
    let ty = type_at(object, key)?;
    if matches!(ty, Type::Text | Type::Int | Type::Float | Type::Bool) {
        return Ok(ty);
    }
    Err(object.error(key, "must be string, integer, float or boolean"))
}

/// The type of a filterable field.
pub(super) fn filter_type(ty: Type) -> FilterType {
    match ty {
        Type::List(item) => FilterType::List((*item).clone()),
        Type::Map(value) => FilterType::Map((*value).clone()),
        scalar => FilterType::Scalar(scalar),
    }
}

/// Whether a value has that scalar type.
pub(super) fn of_type(value: &Value, ty: &Type) -> bool {
    Type::of(value) == *ty
}

/// The field at a path of names that are separated by dots.
pub(super) fn field_at<'a>(schema: &'a Schema, path: &str) -> Option<&'a Field> {
    if let Some(field) = schema.fields.get(path) {
        return Some(field);
    }
    let (first, rest) = path.split_once('.')?;
    match &schema.fields.get(first)?.kind {
        Kind::Object(inner) => field_at(inner, rest),
        _ => None,
    }
}

/// Whether a path leads to a field. It consists of names separated by dots; `[]` after a name means
/// every item.
pub(super) fn has_field(schema: &Schema, path: &str) -> bool {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let name = first.strip_suffix("[]").unwrap_or(first);
    let Some(field) = schema.fields.get(name) else {
        return false;
    };
    let inside = match (&field.kind, name.len() < first.len()) {
        (Kind::Array(item), true) => item,
        (_, true) => return false,
        (_, false) => field,
    };
    match (&inside.kind, rest) {
        (_, None) => true,
        (Kind::Object(inner), Some(rest)) => has_field(inner, rest),
        _ => false,
    }
}

/// The field at a path.
///
/// # Errors
/// With a suggestion, if there is none.
pub(super) fn need_field<'a>(
    schema: &'a Schema,
    name: &Name,
    place: &JsonPlace<'_>,
) -> Result<&'a Field, CatalogError> {
    field_at(schema, name).ok_or_else(|| {
        let near = match diag::nearest(name, schema.fields.keys().map(|name| name.as_ref())) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        place.error(format!("there is no field `{name}`{near}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_below_the_size_limit_compile() {
        for pattern in [
            r"[\u{80}-\u{10ffff}]{10000}",
            r"([\u{80}-\u{10ffff}]|b){2400}",
            r"x{0,10000}",
            r"(x){5000}",
            r".{5000}",
            r"[^x]{4999}",
            r"\w{12}",
            r"\P{Lu}{15}",
        ] {
            let size = size(&regex_syntax::parse(pattern).unwrap());
            assert!(
                (CERTAINLY_COMPILES / 2..=CERTAINLY_COMPILES).contains(&size),
                "{pattern}: {size}"
            );
            assert!(
                Regex::new(&format!(r"\A(?:{pattern})\z")).is_ok(),
                "{pattern}"
            );
        }
    }
}
