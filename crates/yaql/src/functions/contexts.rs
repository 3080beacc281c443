//! Functions that define variables and functions.

use std::rc::Rc;

use blueprint::Name;

use super::given::{CallArguments, SuppliedArguments};
use super::row::{Row, method, operator, plain};
use crate::failure::{Evaluated, Halt};
use crate::lexer;
use crate::model::{Datum, Lambda, LambdaBody, Machine, ReplayableSequence, Scope};
use crate::tree::Variable;

pub(super) const ROWS: &[Row] = &[
    plain("let", "*values: any?, **named: any?", let_).documented(
        "Sets variables: `$1`, `$2` and so on, and those of named arguments.",
        "let(2, x => 3) -> $1 * $x",
        "6",
    ),
    plain("with", "*values: any?", with).documented(
        "Sets the variables `$1`, `$2` and so on.",
        "with(2, 3) -> $1 * $2",
        "6",
    ),
    method("unpack", "sequence: iterable, *names: text", unpack).documented(
        "Sets variables to the items of a list; without names, `$1`, `$2` and so on.",
        "[2, 3].unpack(a, b) -> $a * $b",
        "6",
    ),
    plain("def", "name: text, func: lambda", def).documented(
        "Defines a function; its arguments are `$1`, `$2` and so on.",
        "def(double, $ * 2) -> double(4)",
        "8",
    ),
    operator("#operator_->", "left: context, right: lambda", send).documented(
        "Evaluates the right side with the variables that the left side sets.",
        "let(x => 1) -> $x",
        "1",
    ),
    method(
        "assert",
        "obj: any?, condition: lambda, message: text = absent",
        assert,
    )
    .documented(
        "The value, if the condition is true for it; else the expression fails.",
        "5.assert($ > 3)",
        "5",
    ),
    plain(
        "call",
        "name: text, args: sequence, kwargs: map, receiver: any? = absent",
        call,
    )
    .documented(
        "Calls a function, or a method of a receiver, by its name.",
        "call(len, [[1, 2]], {})",
        "2",
    ),
];

fn numbered(scope: &Scope, values: Vec<Datum>) {
    for (at, value) in (1..).zip(values) {
        scope.set(Variable::Number(at), value);
    }
}

fn let_(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let scope = Scope::inside(&given.scope, Vec::new());
    numbered(&scope, given.rest);
    for (name, value) in given.named {
        scope.set(Variable::of(&name), value);
    }
    Ok(Datum::Scope(scope))
}

fn with(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let scope = Scope::inside(&given.scope, Vec::new());
    numbered(&scope, given.rest);
    Ok(Datum::Scope(scope))
}

fn unpack(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let scope = Scope::inside(&given.scope, Vec::new());
    let taken_apart = given.slots.first().is_some_and(Datum::is_iterator);
    let mut items = given.items(0);
    let names = given.rest;
    let mut values = Vec::new();
    while names.is_empty() || values.len() <= names.len() {
        match items.next(machine)? {
            Some(value) => values.push(value),
            None => break,
        }
    }
    if names.is_empty() {
        // yaql reads the first item before it numbers the items, so a lazy sequence loses its first
        // item.
        values.drain(..usize::from(taken_apart && !values.is_empty()));
        numbered(&scope, values);
        return Ok(Datum::Scope(scope));
    }
    if names.len() != values.len() {
        return Err(Halt::failed(format!(
            "Cannot unpack {} elements into {}",
            values.len(),
            names.len()
        )));
    }
    for (name, value) in names.iter().zip(values) {
        if let Datum::Text(name) = name {
            scope.set(Variable::of(name), value);
        }
    }
    Ok(Datum::Scope(scope))
}

/// The stored name of a function: underscores between words become capitals, as in all names of
/// yaql.
fn camel_case(name: &str) -> Name {
    let name = name.trim_end_matches('_');
    let (sign, rest) = match name.chars().next() {
        Some(first) if !first.is_alphabetic() => match name[first.len_utf8()..].find(first) {
            Some(at) if at > 0 => name.split_at(at + 2 * first.len_utf8()),
            _ => return name.into(),
        },
        _ => ("", name),
    };
    let mut out = String::from(sign);
    let mut characters = rest.chars().enumerate().peekable();
    while let Some((at, character)) = characters.next() {
        match characters.peek() {
            Some((_, next)) if at > 0 && character == '_' && lexer::is_word(*next) => {
                out.extend(next.to_uppercase());
                characters.next();
            }
            _ => out.push(character),
        }
    }
    out.into()
}

fn def(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let name = given.text(0);
    let scope = Scope::inside(&given.scope, Vec::new());
    let body = match given.lambda(1).as_deref() {
        Some(Lambda::Written(node, _)) => LambdaBody::Written(*node),
        Some(Lambda::Always(value)) => LambdaBody::Always(value.clone()),
        None => return Err(Halt::failed("'NoneType' object is not callable")),
    };
    scope.define(camel_case(&name), body);
    Ok(Datum::Scope(scope))
}

fn send(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match (given.take(0), given.lambda(1)) {
        (Datum::Scope(scope), Some(right)) => machine.apply_in(&right, &scope),
        _ => Err(Halt::failed("'NoneType' object is not callable")),
    }
}

fn assert(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let mut value = given.take(0);
    if let Datum::Stream(_) = value {
        value = Datum::Memory(Rc::new(ReplayableSequence::new(value, machine)));
    }
    let condition = given
        .lambda(1)
        .ok_or_else(|| Halt::failed("'NoneType' object is not callable"))?;
    if machine
        .apply(&condition, std::slice::from_ref(&value))?
        .truth()
    {
        return Ok(value);
    }
    Err(Halt::failed(match given.take(2) {
        Datum::Text(message) => message.to_string(),
        _ => "Assertion failed".to_owned(),
    }))
}

fn call(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let name = given.text(0);
    let arguments = machine.collect(given.take(1))?;
    let mut named = Vec::new();
    for (key, value) in &given.map(2).entries {
        match &key.value {
            Datum::Text(name) if lexer::is_bare_word(name) => {
                named.push((name.clone(), value.clone()))
            }
            Datum::Text(_) => return Err(Halt::failed("dictionary changed size during iteration")),
            other => {
                return Err(Halt::failed(format!(
                    "expected string or bytes-like object, got '{}'",
                    other.type_name()
                )));
            }
        }
    }
    let receiver = match given.take(3) {
        Datum::Absent => None,
        receiver => Some(receiver),
    };
    machine.call_by_name(
        &name,
        receiver,
        SuppliedArguments::Values(arguments, named),
        &given.scope,
        given.ordinal,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_camel_case() {
        for (name, expected) in [
            ("my_func", "myFunc"),
            ("a__b", "a_b"),
            ("f_", "f"),
            ("_x_y", "_x_y"),
            ("#property#my_x", "#property#myX"),
        ] {
            assert_eq!(&*camel_case(name), expected);
        }
    }
}
