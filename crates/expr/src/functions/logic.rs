//! Logic, comparison and choice (decisions/functions#logic-comparison-choice).

use std::cmp::Ordering;

use blueprint::{Type, Value};

use super::define::{any_map, function, returns};
use crate::codes;
use crate::evaluate::{At, CallSite, Fault, FunctionBody, Machine, SuppliedArguments, unknown_of};
use crate::function::{FunctionDef, Returns};
use crate::scope::EvaluationStop;

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Any, Bool, Int};
    let compares = |name, docs| {
        function(name, docs, returns(Bool))
            .required("a", Type::number())
            .required("b", Type::number())
    };
    vec![
        function(
            "and",
            "Whether both are true; the second is looked at only if the first does not decide.",
            Returns::Rule(bool_type),
        )
        .required("a", Bool)
        .required("b", Bool)
        .handles_none()
        .example("and(true, false)", "false")
        .example("and(false, none)", "false"),
        function(
            "or",
            "Whether one is true; the second is looked at only if the first does not decide.",
            Returns::Rule(bool_type),
        )
        .required("a", Bool)
        .required("b", Bool)
        .handles_none()
        .example("or(false, true)", "true")
        .example("or(1, true)", "! argument-type"),
        function("not", "The opposite.", returns(Bool)).required("a", Bool).example("not(true)", "false"),
        function("eq", "Whether two values are equal; numbers by value, maps whatever their order.", returns(Bool))
            .required("a", Any)
            .required("b", Any)
            .handles_none()
            .example("eq(1, 1.0)", "true")
            .example("eq(object(a = 1, b = 2), object(b = 2, a = 1))", "true")
            .example(r#"eq("1", 1)"#, "! incomparable"),
        compares("gt", "Whether the first number is greater.").example("gt(2, 1.5)", "true"),
        compares("ge", "Whether the first number is greater or equal.").example("ge(2, 2)", "true"),
        compares("lt", "Whether the first number is less.")
            .example("lt(1, 1.5)", "true")
            .example(r#"lt("a", "b")"#, "! argument-type"),
        compares("le", "Whether the first number is less or equal.").example("le(3, 2)", "false"),
        function(
            "if",
            "The second argument if the first is true, otherwise the third; the other is not looked at.",
            Returns::Rule(if_type),
        )
        .required("condition", Bool)
        .required("then", Any)
        .required("otherwise", Any)
        .handles_none()
        .not_in_specification()
        .example(r#"if(eq("p", "p"), 60, 30)"#, "60")
        .example(r#"if(none, "x", "y")"#, r#""y""#)
        .example("if(0, 1, 2)", "! argument-type"),
        function(
            "first",
            "The first argument that is neither `none`, an empty text nor an empty array; otherwise the last.",
            Returns::Rule(any_of),
        )
        .variadic("value", Any, 1)
        .absent_as_none()
        .handles_none()
        .not_in_specification()
        .example(r#"first(none, "", list(), "v")"#, r#""v""#)
        .example(r#"first("")"#, r#""""#)
        .example("first(0, 1)", "0"),
        function("coalesce", "The first argument that is not `none`.", Returns::Rule(any_of))
            .variadic("value", Any, 1)
            .absent_as_none()
            .handles_none()
            .not_in_specification()
            .example(r#"coalesce(none, "", "v")"#, r#""""#)
            .example("coalesce(none)", "null"),
        function("lookup", "The entry of that key, or the default.", Returns::Rule(lookup_type))
            .required("map", any_map())
            .required("key", Type::Text)
            .optional("default", Any)
            .absent_as_none()
            .handles_none()
            .not_in_specification()
            .example(r#"lookup(object(a = 1), "a")"#, "1")
            .example(r#"lookup(object(), "a")"#, "null")
            .example(r#"lookup(object(), "a", 3)"#, "3"),
        function("compare", "-1, 0 or 1: the order of two numbers or of two texts by character.", returns(Int))
            .required("a", Type::union([Type::Int, Type::Float, Type::Text]))
            .required("b", Type::union([Type::Int, Type::Float, Type::Text]))
            .not_in_specification()
            .example(r#"compare("a", "b")"#, "-1"),
    ]
}

fn bool_type(arguments: &[Type]) -> Type {
    let none = arguments
        .iter()
        .any(|ty| ty.alternatives().contains(&Type::Null));
    if none {
        Type::union([Type::Bool, Type::Null])
    } else {
        Type::Bool
    }
}

fn if_type(arguments: &[Type]) -> Type {
    Type::union(arguments.iter().skip(1).cloned())
}

/// The union of the argument types. It contains `none` only if the last argument may be `none`.
fn any_of(arguments: &[Type]) -> Type {
    let last = arguments.len().saturating_sub(1);
    let types = arguments.iter().enumerate().flat_map(|(at, ty)| {
        ty.alternatives()
            .iter()
            .filter(move |ty| at == last || **ty != Type::Null)
            .cloned()
    });
    Type::union(types)
}

fn lookup_type(arguments: &[Type]) -> Type {
    let map = arguments.first().cloned().unwrap_or(Type::Any);
    let default = arguments.get(2).cloned().unwrap_or(Type::Null);
    let entries = map.alternatives().iter().flat_map(|ty| match ty {
        Type::Map(value) => vec![value.as_ref().clone()],
        Type::Object(object) => object.fields.values().cloned().collect(),
        Type::Null => Vec::new(),
        _ => vec![Type::Any],
    });
    Type::union(entries.chain([default]))
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "and" => FunctionBody::Lazy(|machine, def, site, arguments| {
            evaluate_and_or(machine, def, site, arguments, false)
        }),
        "or" => FunctionBody::Lazy(|machine, def, site, arguments| {
            evaluate_and_or(machine, def, site, arguments, true)
        }),
        "not" => FunctionBody::Plain(|arguments, _| {
            Ok((arguments.first().and_then(Value::as_bool) == Some(false)).into())
        }),
        "eq" => FunctionBody::Plain(eq),
        "gt" => FunctionBody::Plain(|arguments, _| {
            Ok((order(arguments) == Some(Ordering::Greater)).into())
        }),
        "ge" => FunctionBody::Plain(|arguments, _| {
            Ok(order(arguments).is_some_and(Ordering::is_ge).into())
        }),
        "lt" => {
            FunctionBody::Plain(
                |arguments, _| Ok((order(arguments) == Some(Ordering::Less)).into()),
            )
        }
        "le" => FunctionBody::Plain(|arguments, _| {
            Ok(order(arguments).is_some_and(Ordering::is_le).into())
        }),
        "if" => FunctionBody::Lazy(evaluate_if),
        "first" => FunctionBody::Lazy(|machine, def, site, arguments| {
            first_accepted_argument(machine, def, site, arguments, |value| {
                match value.unmarked() {
                    Value::Null => false,
                    Value::Text(text) => !text.is_empty(),
                    Value::List(items) | Value::Set(items) => !items.is_empty(),
                    _ => true,
                }
            })
        }),
        "coalesce" => FunctionBody::Lazy(|machine, def, site, arguments| {
            first_accepted_argument(machine, def, site, arguments, |value| !value.is_null())
        }),
        "lookup" => FunctionBody::Open(lookup),
        "compare" => FunctionBody::Plain(compare),
        _ => return None,
    })
}

/// Evaluates `and` (false decides) or `or` (true decides).
fn evaluate_and_or<'a>(
    machine: &mut Machine<'a>,
    def: &'a FunctionDef,
    site: &CallSite<'a>,
    arguments: &SuppliedArguments<'a>,
    decisive: bool,
) -> Result<Value, EvaluationStop> {
    let first = machine.argument(def, site, arguments, 0)?;
    let secret = first.has_secret();
    match first.unmarked() {
        Value::Bool(value) if *value == decisive => return Ok(first),
        Value::Unknown(_) => {
            machine.prefetch(def, site, arguments, 1)?;
            return Ok(unknown_of(Some(Type::Bool), std::slice::from_ref(&first)).tainted(secret));
        }
        _ => {}
    }
    let second = machine.argument(def, site, arguments, 1)?;
    let secret = secret || second.has_secret();
    let result = match (first.unmarked(), second.unmarked()) {
        (_, Value::Bool(value)) if *value == decisive => Value::Bool(decisive),
        (_, Value::Unknown(_)) => unknown_of(Some(Type::Bool), std::slice::from_ref(&second)),
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        _ => Value::Bool(!decisive),
    };
    Ok(result.tainted(secret))
}

fn evaluate_if<'a>(
    machine: &mut Machine<'a>,
    def: &'a FunctionDef,
    site: &CallSite<'a>,
    arguments: &SuppliedArguments<'a>,
) -> Result<Value, EvaluationStop> {
    let condition = machine.argument(def, site, arguments, 0)?;
    let secret = condition.has_secret();
    let branch = match condition.unmarked() {
        Value::Unknown(_) => {
            machine.prefetch(def, site, arguments, 1)?;
            machine.prefetch(def, site, arguments, 2)?;
            return Ok(unknown_of(None, std::slice::from_ref(&condition)).tainted(secret));
        }
        Value::Bool(true) => 1,
        _ => 2,
    };
    Ok(machine
        .argument(def, site, arguments, branch)?
        .tainted(secret))
}

/// Returns the first argument that satisfies `counts`, otherwise the last one.
fn first_accepted_argument<'a>(
    machine: &mut Machine<'a>,
    def: &'a FunctionDef,
    site: &CallSite<'a>,
    arguments: &SuppliedArguments<'a>,
    counts: fn(&Value) -> bool,
) -> Result<Value, EvaluationStop> {
    let mut secret = false;
    let mut value = Value::Null;
    for at in 0..arguments.len() {
        value = machine.argument(def, site, arguments, at)?;
        secret |= matches!(value, Value::Secret(_));
        if value.is_unknown() {
            for later in at + 1..arguments.len() {
                machine.prefetch(def, site, arguments, later)?;
            }
            // It is unknown which argument will be chosen, so the type is unknown too.
            let ty = if at + 1 == arguments.len() {
                crate::evaluate::known_type(&value)
            } else {
                None
            };
            return Ok(unknown_of(ty, std::slice::from_ref(&value)).tainted(secret));
        }
        if counts(&value) {
            break;
        }
    }
    Ok(value.tainted(secret))
}

fn lookup<'a>(
    _: &mut Machine<'a>,
    _: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let default = arguments.get(2).cloned().unwrap_or_default();
    let (Some(map), Some(key)) = (arguments.first(), arguments.get(1)) else {
        return Ok(Value::Null);
    };
    let secret = matches!(map, Value::Secret(_)) || key.has_secret();
    if map.is_unknown() || key.is_unknown() {
        return Ok(unknown_of(None, &[map.clone(), key.clone()]).tainted(secret));
    }
    if key.is_null() {
        return Ok(Value::Null.tainted(secret));
    }
    let entry = map
        .as_map()
        .zip(key.as_text())
        .and_then(|(entries, key)| entries.get(key));
    Ok(match entry {
        Some(value) if !value.is_null() => value.clone(),
        _ => default,
    }
    .tainted(secret))
}

/// Compares two numbers exactly, also an integer and a float.
pub(super) fn number_order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => integer_against_float(*a, *b),
        (Value::Float(a), Value::Int(b)) => integer_against_float(*b, *a).map(Ordering::reverse),
        _ => None,
    }
}

fn integer_against_float(a: i64, b: f64) -> Option<Ordering> {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= BOUND {
        return Some(Ordering::Less);
    }
    if b < -BOUND {
        return Some(Ordering::Greater);
    }
    let whole = b.trunc();
    let by_whole = a.cmp(&(whole as i64));
    let by_fraction = if b > whole {
        Ordering::Less
    } else if b < whole {
        Ordering::Greater
    } else {
        Ordering::Equal
    };
    Some(by_whole.then(by_fraction))
}

fn order(arguments: &[Value]) -> Option<Ordering> {
    number_order(arguments.first()?, arguments.get(1)?)
}

/// Whether nested values are equal. Values of different kinds are unequal.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            number_order(a, b) == Some(Ordering::Equal)
        }
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (Value::Secret(a), b) => equal(a, b),
        (a, Value::Secret(b)) => equal(a, b),
        (a, b) => a == b,
    }
}

fn eq(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let (Some(a), Some(b)) = (arguments.first(), arguments.get(1)) else {
        return Ok(Value::Null);
    };
    let kind = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => "number",
        other => other.kind_word(),
    };
    if !a.is_null() && !b.is_null() && kind(a) != kind(b) {
        return Err(Fault::new(
            &codes::INCOMPARABLE,
            At::Call,
            format!("values of kind {} and {} cannot be equal", kind(a), kind(b)),
        )
        .label("compares different kinds")
        .help("convert one of them first, for instance with `jsondecode`"));
    }
    Ok(equal(a, b).into())
}

fn compare(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let (Some(a), Some(b)) = (arguments.first(), arguments.get(1)) else {
        return Ok(Value::Null);
    };
    let order = match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => number_order(a, b),
    };
    match order {
        Some(order) => Ok(Value::Int(order as i64)),
        None => Err(Fault::new(
            &codes::ARGUMENT_TYPE,
            At::Argument(1),
            format!(
                "`compare` takes two numbers or two texts, not {} and {}",
                a.kind_word(),
                b.kind_word()
            ),
        )
        .label(format!("of kind {}", b.kind_word()))),
    }
}
