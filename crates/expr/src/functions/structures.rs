//! Functions that create lists and maps, or read their contents.

use std::sync::Arc;

use blueprint::{Map, ObjectType, Type, Value};

use super::define::{any_list, any_map, function, returns};
use crate::codes;
use crate::evaluate::{At, CallSite, Fault, FunctionBody, Machine, SuppliedArguments, unknown_of};
use crate::function::{FunctionDef, Returns};
use crate::scope::EvaluationStop;

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Any, Int, Text};
    vec![
        function(
            "len",
            "The number of characters, items or entries.",
            returns(Int),
        )
        .required("value", Type::union([Text, any_list(), any_map()]))
        .example(r#"len("héllo")"#, "5")
        .example("len(list())", "0")
        .example("len(5)", "! argument-type"),
        function(
            "list",
            "An array of these items, which are of one kind; `none` is left out.",
            Returns::Rule(list_type),
        )
        .variadic("item", Any, 0)
        .handles_none()
        .example(r#"list("a", "b")"#, r#"["a","b"]"#)
        .example("list()", "[]")
        .example(r#"list(1, "a")"#, "! mixed-list"),
        named(function(
            "object",
            "An object with these entries, in this order; `none` is left out.",
            returns(any_map()),
        ))
        .variadic("entry", Any, 0)
        .handles_none()
        .example(r#"object(a = 1, b = "x")"#, r#"{"a":1,"b":"x"}"#)
        .example("object()", "{}")
        .example("object(1)", "! argument-type"),
        function(
            "keys",
            "The keys of a map, in order.",
            returns(Type::list(Text)),
        )
        .required("map", any_map())
        .example(r#"keys(jsondecode("{\"b\":1,\"a\":2}"))"#, r#"["b","a"]"#)
        .example("keys(list(1))", "! argument-type"),
        function(
            "vals",
            "The values of a map, in order.",
            Returns::Rule(vals_type),
        )
        .required("map", any_map())
        .example("vals(object(b = 1, a = 2))", "[1,2]"),
        function(
            "merge",
            "One map of all entries: later ones win, the first place is kept.",
            Returns::Rule(merge_type),
        )
        .variadic("map", any_map(), 1)
        .not_in_specification()
        .example(
            "merge(object(a = 1, b = 2), object(a = 3))",
            r#"{"a":3,"b":2}"#,
        ),
    ]
}

fn named(mut definition: FunctionDef) -> FunctionDef {
    definition.named = true;
    definition
}

fn list_type(arguments: &[Type]) -> Type {
    let items: Vec<Type> = arguments
        .iter()
        .flat_map(Type::alternatives)
        .filter(|ty| **ty != Type::Null)
        .cloned()
        .collect();
    if items.is_empty() {
        any_list()
    } else {
        Type::list(Type::union(items))
    }
}

fn vals_type(arguments: &[Type]) -> Type {
    let items = arguments
        .first()
        .map(Type::alternatives)
        .unwrap_or_default()
        .iter()
        .map(|ty| match ty {
            Type::Map(value) => value.as_ref().clone(),
            Type::Object(object) => entry_type(object),
            _ => Type::Any,
        });
    Type::list(Type::union(items))
}

/// The union of the types of an object's entries.
fn entry_type(object: &ObjectType) -> Type {
    if object.fields.is_empty() {
        Type::Any
    } else {
        Type::union(object.fields.values().cloned())
    }
}

fn merge_type(arguments: &[Type]) -> Type {
    let objects: Option<Vec<&ObjectType>> = arguments
        .iter()
        .map(|ty| {
            if let Type::Object(object) = ty {
                Some(object.as_ref())
            } else {
                None
            }
        })
        .collect();
    match objects {
        Some(objects) => {
            let mut fields = ObjectType::default().fields;
            for object in objects {
                fields.extend(
                    object
                        .fields
                        .iter()
                        .map(|(key, ty)| (key.clone(), ty.clone())),
                );
            }
            Type::Object(Arc::new(ObjectType { fields }))
        }
        None => any_map(),
    }
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "len" => FunctionBody::Open(len),
        "list" => FunctionBody::Open(list),
        "object" => FunctionBody::Lazy(object),
        "keys" => FunctionBody::Open(keys),
        "vals" => FunctionBody::Open(vals),
        "merge" => FunctionBody::Open(merge),
        _ => return None,
    })
}

fn len<'a>(
    _: &mut Machine<'a>,
    _: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let value = arguments.first().unwrap_or(&Value::Null);
    if value.is_unknown() {
        return Ok(unknown_result(&arguments, Type::Int));
    }
    let length = match value.unmarked() {
        Value::Text(text) => text.chars().count(),
        Value::List(items) | Value::Set(items) => items.len(),
        Value::Map(entries) => entries.len(),
        _ => 0,
    };
    Ok(Value::Int(length as i64).tainted(value.has_secret()))
}

/// The unknown result for an argument that is unknown as a whole.
fn unknown_result(arguments: &[Value], ty: Type) -> Value {
    unknown_of(Some(ty), arguments).tainted(arguments.iter().any(Value::has_secret))
}

/// The kind of an item. All items of a list must have the same kind
/// (decisions/blueprint#time-format-and-mixed-lists).
fn kind(value: &Value) -> Option<&'static str> {
    match value.unmarked() {
        Value::Unknown(unknown) => match &unknown.ty {
            Some(Type::Bool) => Some("boolean"),
            Some(Type::Int | Type::Float) => Some("number"),
            Some(Type::Text) => Some("string"),
            Some(Type::Bytes) => Some("binary"),
            Some(Type::List(_)) => Some("array"),
            Some(Type::Map(_) | Type::Object(_)) => Some("object"),
            _ => None,
        },
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => Some("number"),
        Value::Null => None,
        other => Some(other.kind_word()),
    }
}

fn list<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let mut first: Option<(usize, &'static str)> = None;
    for (at, item) in arguments.iter().enumerate() {
        match (first, kind(item)) {
            (Some((earlier, wanted)), Some(found)) if wanted != found => {
                let fault = Fault::new(
                    &codes::MIXED_LIST,
                    At::Argument(at),
                    format!("a list holds one kind of item, not {wanted} and {found}"),
                )
                .label(format!("of kind {found}"))
                .help("make the items of one kind, or use `object`");
                return Err(machine.fail(
                    site,
                    fault,
                    Some((
                        At::Argument(earlier),
                        format!("the first is of kind {wanted}"),
                    )),
                ));
            }
            (None, Some(found)) => first = Some((at, found)),
            _ => {}
        }
    }
    machine.check_size_and_charge(
        site,
        Value::list(arguments.into_iter().filter(|item| !item.is_null())),
    )
}

fn object<'a>(
    machine: &mut Machine<'a>,
    def: &'a FunctionDef,
    site: &CallSite<'a>,
    arguments: &SuppliedArguments<'a>,
) -> Result<Value, EvaluationStop> {
    let mut entries = Map::default();
    for at in 0..arguments.len() {
        let Some(name) = arguments.name(at) else {
            let fault = Fault::new(
                &codes::ARGUMENT_TYPE,
                At::Argument(at),
                "`object` needs a name for each entry",
            )
            .label("has no name")
            .help("write it as `name = value`");
            return Err(machine.fail(site, fault, None));
        };
        let value = machine.argument(def, site, arguments, at)?;
        if !value.is_null() {
            entries.insert(name.clone(), value);
        }
    }
    machine.check_size_and_charge(site, Value::Map(Arc::new(entries)))
}

fn keys<'a>(
    _: &mut Machine<'a>,
    _: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let (map, secret) = arguments
        .first()
        .map(Value::split_secret)
        .unwrap_or((&Value::Null, false));
    if map.is_unknown() {
        return Ok(unknown_result(&arguments, Type::list(Type::Text)));
    }
    let keys = map
        .as_map()
        .into_iter()
        .flat_map(Map::keys)
        .map(|key| Value::Text(key.clone()));
    Ok(Value::list(keys).tainted(secret))
}

fn vals<'a>(
    _: &mut Machine<'a>,
    _: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let (map, secret) = arguments
        .first()
        .map(Value::split_secret)
        .unwrap_or((&Value::Null, false));
    if map.is_unknown() {
        return Ok(unknown_result(&arguments, any_list()));
    }
    let values = map.as_map().into_iter().flat_map(Map::values).cloned();
    Ok(Value::list(values).tainted(secret))
}

fn merge<'a>(
    _: &mut Machine<'a>,
    _: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    if arguments.iter().any(Value::is_unknown) {
        return Ok(unknown_result(&arguments, any_map()));
    }
    let mut arguments = arguments.into_iter();
    let first = arguments.next().unwrap_or_default();
    let mut secret = matches!(first, Value::Secret(_));
    let mut entries = match first.unmarked() {
        Value::Map(entries) => entries.as_ref().clone(),
        _ => Map::default(),
    };
    for map in arguments {
        secret |= matches!(map, Value::Secret(_));
        entries.extend(
            map.as_map()
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    Ok(Value::Map(Arc::new(entries)).tainted(secret))
}
