//! Functions that take or return functions (decisions/functions#functions-that-take-functions).

use std::sync::Arc;

use blueprint::{Function, Type, Value};

use super::define::{any_list, any_map, function, returns};
use crate::codes;
use crate::convert::{ValueOrigin, convert_type};
use crate::evaluate::{At, CallSite, Fault, FunctionBody, Machine, bind};
use crate::function::{FunctionDef, Returns};
use crate::scope::EvaluationStop;

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Any, Bool, Int, Text};
    let a_function = || returns(Type::Function);
    let same_list = Returns::Rule(|arguments: &[Type]| match arguments.first() {
        Some(list @ Type::List(_)) => list.clone(),
        _ => any_list(),
    });
    vec![
        function(
            "map",
            "The results of a function for each item, in order; `none` results are left out.",
            returns(any_list()),
        )
        .required("items", any_list())
        .required_function("function", &[Any], Any, true)
        .example(r#"map(list("a"), to_upper)"#, r#"["A"]"#)
        .example("map(list(1), to_upper)", "! argument-type"),
        function(
            "filter",
            "The items for which a function gives true.",
            same_list.clone(),
        )
        .required("items", any_list())
        .required_function("function", &[Any], Bool, true)
        .example(r#"filter(list("a", "b"), has_prefix_g("a"))"#, r#"["a"]"#)
        .example(r#"filter(list("a"), to_upper)"#, "! callback-result"),
        function(
            "reduce",
            "What a function makes of a first value and each item in turn.",
            returns(Any),
        )
        .required("items", any_list())
        .required_function("function", &[Any, Any], Any, true)
        .required("first", Any)
        .example("reduce(list(1, 2), add, 10)", "13")
        .example("reduce(list(), add, 0)", "0"),
        function(
            "sort",
            "The items in the order that a comparing function gives; equal ones keep theirs.",
            same_list,
        )
        .required("items", any_list())
        .required_function("function", &[Any, Any], Int, false)
        .example("sort(list(3, 1, 2), compare)", "[1,2,3]"),
        function(
            "flatmap",
            "The items of all arrays that a function gives for each item.",
            returns(any_list()),
        )
        .required("items", any_list())
        .required_function("function", &[Any], any_list(), true)
        .example(
            r#"flatmap(list("h1,p1", "h2"), split_g(","))"#,
            r#"["h1","p1","h2"]"#,
        )
        .example(r#"flatmap(list("a"), to_upper)"#, "! callback-result"),
        function(
            "compose",
            "A function that applies these from right to left.",
            a_function(),
        )
        .variadic_functions("function")
        .returned_function(&[Any], Any)
        .example(
            r#"map(list(object(id = "a")), compose(to_upper, getattr("id")))"#,
            r#"["A"]"#,
        )
        .example("compose()", "! argument-count"),
        function(
            "pipe",
            "A function that applies these from left to right.",
            a_function(),
        )
        .variadic_functions("function")
        .returned_function(&[Any], Any)
        .example(
            r#"map(list(object(id = "a")), pipe(getattr("id"), to_upper))"#,
            r#"["A"]"#,
        ),
        function(
            "getattr",
            "A function that gives the entry of that name.",
            a_function(),
        )
        .required("name", Text)
        .returned_function(&[any_map()], Any)
        .example(
            r#"map(list(object(id = "s1")), getattr("id"))"#,
            r#"["s1"]"#,
        )
        .example(
            r#"map(list(object()), getattr("id"))"#,
            "! missing-attribute",
        ),
        function(
            "getelem",
            "A function that gives the item at that position.",
            a_function(),
        )
        .required("position", Int)
        .returned_function(&[any_list()], Any)
        .example(r#"map(list(list("a", "b")), getelem(1))"#, r#"["b"]"#)
        .example("map(list(list()), getelem(0))", "! index-out-of-range"),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "map" => FunctionBody::Open(map),
        "filter" => FunctionBody::Open(filter),
        "reduce" => FunctionBody::Open(reduce),
        "sort" => FunctionBody::Open(sort),
        "flatmap" => FunctionBody::Open(flatmap),
        "compose" | "pipe" => FunctionBody::Open(compose),
        "getattr" | "getelem" => FunctionBody::Open(bind),
        _ => return None,
    })
}

/// The items, the function, and whether the list of items as a whole is secret.
struct CallbackArguments {
    items: Arc<Vec<Value>>,
    function: Arc<Function>,
    secret: bool,
}

fn callback_arguments(arguments: &[Value], ty: Type) -> Result<CallbackArguments, Value> {
    let (items, secret) = arguments
        .first()
        .map(Value::split_secret)
        .unwrap_or((&Value::Null, false));
    let function = match arguments.get(1).map(Value::unmarked) {
        Some(Value::Function(function)) => function.clone(),
        _ => return Err(unknown_from(arguments, ty)),
    };
    match items {
        // If the list is secret, each item is secret too, also in messages.
        Value::List(items) | Value::Set(items) if secret => {
            let items = items.iter().map(|item| item.clone().secret()).collect();
            Ok(CallbackArguments {
                items: Arc::new(items),
                function,
                secret,
            })
        }
        Value::List(items) | Value::Set(items) => Ok(CallbackArguments {
            items: items.clone(),
            function,
            secret,
        }),
        _ => Err(unknown_from(arguments, ty)),
    }
}

/// The value with a single secret mark around it if the list was secret.
fn with_outer_secret_mark(value: Value, secret: bool) -> Value {
    if secret {
        value.revealed().secret()
    } else {
        value
    }
}

fn unknown_from(arguments: &[Value], ty: Type) -> Value {
    let secret = arguments.iter().any(Value::has_secret);
    crate::evaluate::unknown_of(Some(ty), arguments).tainted(secret)
}

/// Calls a function for each item and returns the results by position. Questions for all items are
/// asked together.
fn for_each<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    work: &CallbackArguments,
) -> Result<Vec<Value>, EvaluationStop> {
    let mut results = Vec::with_capacity(work.items.len());
    let mut asks = None;
    for (at, item) in work.items.iter().enumerate() {
        match machine.callback(site, 1, &work.function, vec![item.clone()], at) {
            Ok(result) => results.push(result),
            Err(ask @ EvaluationStop::Ask(_)) => asks = Some(ask),
            Err(stop) => return Err(asks.unwrap_or(stop)),
        }
    }
    asks.map_or(Ok(results), Err)
}

fn map<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let work = match callback_arguments(&arguments, any_list()) {
        Ok(work) => work,
        Err(unknown) => return Ok(unknown),
    };
    let mut results = Vec::with_capacity(work.items.len());
    for result in for_each(machine, site, &work)? {
        if let Value::Function(function) = result.unmarked() {
            return Err(machine.refuse_function(site, 1, function));
        }
        if !result.is_null() {
            results.push(result);
        }
    }
    machine.check_size_and_charge(
        site,
        with_outer_secret_mark(Value::list(results), work.secret),
    )
}

fn wrong_result(
    machine: &mut Machine<'_>,
    site: &CallSite<'_>,
    at: usize,
    needed: &str,
    result: &Value,
) -> EvaluationStop {
    let message = format!(
        "the function must give {needed}, for item {at} it gave one of kind {}",
        result.kind_word()
    );
    let fault = Fault::new(&codes::CALLBACK_RESULT, At::Argument(1), message)
        .label(format!("does not give {needed}"));
    machine.fail(site, fault, None)
}

fn filter<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let work = match callback_arguments(&arguments, any_list()) {
        Ok(work) => work,
        Err(unknown) => return Ok(unknown),
    };
    let mut secret = work.secret;
    let mut undecided = Vec::new();
    let mut kept = Vec::new();
    let given = for_each(machine, site, &work)?;
    for (at, (item, result)) in work.items.iter().zip(given).enumerate() {
        secret |= matches!(result, Value::Secret(_));
        match result.unmarked() {
            Value::Bool(true) => kept.push(item.clone()),
            Value::Bool(false) | Value::Null => {}
            Value::Unknown(_) => undecided.push(result),
            _ => return Err(wrong_result(machine, site, at, "a boolean", &result)),
        }
    }
    if !undecided.is_empty() {
        return Ok(crate::evaluate::unknown_of(Some(any_list()), &undecided).tainted(secret));
    }
    Ok(with_outer_secret_mark(Value::list(kept), secret))
}

fn reduce<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let work = match callback_arguments(&arguments, Type::Any) {
        Ok(work) => work,
        Err(unknown) => return Ok(unknown),
    };
    let mut total = arguments.get(2).cloned().unwrap_or_default();
    for (at, item) in work.items.iter().enumerate() {
        total = machine.callback(site, 1, &work.function, vec![total, item.clone()], at)?;
    }
    Ok(with_outer_secret_mark(total, work.secret))
}

/// Sorts with a stable merge sort, which terminates and keeps all items even if the comparing
/// function is inconsistent.
fn sort<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let work = match callback_arguments(&arguments, any_list()) {
        Ok(work) => work,
        Err(unknown) => return Ok(unknown),
    };
    let mut secret = work.secret;
    let mut items: Vec<Value> = work.items.as_ref().clone();
    let mut width = 1;
    while width < items.len() {
        let mut sorted = Vec::with_capacity(items.len());
        for run in items.chunks(width * 2) {
            let (left, right) = run.split_at(width.min(run.len()));
            let (mut l, mut r) = (0, 0);
            while let (Some(a), Some(b)) = (left.get(l), right.get(r)) {
                let position = sorted.len();
                let result = machine.callback(
                    site,
                    1,
                    &work.function,
                    vec![a.clone(), b.clone()],
                    position,
                )?;
                secret |= matches!(result, Value::Secret(_));
                match result.unmarked() {
                    Value::Int(order) if *order > 0 => {
                        sorted.push(b.clone());
                        r += 1;
                    }
                    Value::Int(_) => {
                        sorted.push(a.clone());
                        l += 1;
                    }
                    Value::Unknown(_) => {
                        return Ok(unknown_from(&arguments, any_list()).tainted(secret));
                    }
                    _ => return Err(wrong_result(machine, site, position, "an integer", &result)),
                }
            }
            sorted.extend(left.iter().skip(l).chain(right.iter().skip(r)).cloned());
        }
        items = sorted;
        width *= 2;
    }
    Ok(with_outer_secret_mark(Value::list(items), secret))
}

fn flatmap<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let work = match callback_arguments(&arguments, any_list()) {
        Ok(work) => work,
        Err(unknown) => return Ok(unknown),
    };
    let mut secret = work.secret;
    let mut undecided = Vec::new();
    let mut joined = Vec::new();
    for (at, result) in for_each(machine, site, &work)?.into_iter().enumerate() {
        secret |= matches!(result, Value::Secret(_));
        match result.unmarked() {
            Value::List(items) | Value::Set(items) => {
                joined.extend(items.iter().filter(|item| !item.is_null()).cloned())
            }
            Value::Null => {}
            Value::Unknown(_) => undecided.push(result),
            _ => return Err(wrong_result(machine, site, at, "an array", &result)),
        }
    }
    if !undecided.is_empty() {
        return Ok(crate::evaluate::unknown_of(Some(any_list()), &undecided).tainted(secret));
    }
    machine.check_size_and_charge(site, with_outer_secret_mark(Value::list(joined), secret))
}

/// Composes functions after checking that the result type of each fits the next.
fn compose<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let mut order: Vec<usize> = (0..arguments.len()).collect();
    if site.function == "compose" {
        order.reverse();
    }
    for pair in order.windows(2) {
        let &[first, next] = pair else { continue };
        let signatures = (
            arguments.get(first).and_then(|f| machine.signature(f)),
            arguments.get(next).and_then(|f| machine.signature(f)),
        );
        let (Some((_, result)), Some((parameters, _))) = signatures else {
            continue;
        };
        let fits = match parameters.as_slice() {
            [parameter, ..] => {
                result == Type::Null || convert_type(&result, parameter, ValueOrigin::Literal)
            }
            [] => false,
        };
        if !fits {
            let needed = parameters
                .first()
                .map_or("nothing".to_string(), Type::to_string);
            let message = format!("the function before gives {result}, this one takes {needed}");
            let fault = Fault::new(&codes::CALLBACK_TYPE, At::Argument(next), message)
                .label(format!("takes {needed}"));
            return Err(machine.fail(
                site,
                fault,
                Some((At::Argument(first), format!("gives {result}"))),
            ));
        }
    }
    bind(machine, site, arguments)
}
