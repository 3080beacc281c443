//! The module `regexp`.

use regex::{Captures, Regex, RegexBuilder};

use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::value::StarValue;

/// Calls a function.
///
/// # Errors
/// If the expression is invalid, or the arguments do not fit.
pub(super) fn call(
    evaluator: &mut Evaluator<'_>,
    function: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    if function == "match" {
        call.exactly(2)?;
        let expression = compiled(evaluator, call.text(0)?)?;
        let text = call.text(1)?;
        charge(evaluator, call.text(0)?, text)?;
        return Ok(StarValue::Bool(expression.is_match(text)));
    }
    call.exactly(3)?;
    let expression = compiled(evaluator, call.text(0)?)?;
    let text = call.text(1)?.clone();
    charge(evaluator, call.text(0)?, &text)?;
    let mut found = String::new();
    let mut from = 0;
    let replacement = call.item(2);
    for captures in expression.captures_iter(&text) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        found.push_str(&text[from..whole.start()]);
        from = whole.end();
        if replacement.is_callable() {
            let part = evaluator.heap.text(whole.as_str())?;
            let result = evaluator.call_with(replacement, vec![part])?;
            match result.as_text() {
                Some(part) => found.push_str(part),
                None => {
                    let kind = result.type_name();
                    return fail(format!("expected a string, but was {kind}"));
                }
            }
        } else {
            let written = call.text(2)?;
            expand(written, &expression, &captures, &mut found);
        }
        evaluator.heap.work.bytes(found.len() / 64)?;
    }
    found.push_str(&text[from..]);
    evaluator.heap.text(found)
}

/// Charges a search: its time is that of the text for each part of the pattern.
fn charge(evaluator: &Evaluator<'_>, pattern: &str, text: &str) -> Evaluated<()> {
    let rounds = 1 + pattern.len() / 16;
    evaluator.heap.work.steps(text.len().saturating_mul(rounds))
}

fn compiled(evaluator: &Evaluator<'_>, pattern: &str) -> Evaluated<Regex> {
    evaluator
        .heap
        .work
        .steps(1_000 + pattern.len().saturating_mul(10))?;
    let built = RegexBuilder::new(pattern).size_limit(1 << 20).build();
    match built {
        Ok(expression) => Ok(expression),
        Err(_) => fail(format!("error parsing regexp: `{pattern}`")),
    }
}

/// Adds a replacement, in which `$1`, `$name` and `${name}` stand for parts of the match.
fn expand(written: &str, expression: &Regex, captures: &Captures<'_>, found: &mut String) {
    let mut rest = written;
    while let Some(at) = rest.find('$') {
        found.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            found.push('$');
            rest = after;
            continue;
        }
        let (name, after) = match rest.strip_prefix('{') {
            Some(inner) => match inner.split_once('}') {
                Some((name, after)) => (name, after),
                None => ("", rest),
            },
            None => {
                let end = rest
                    .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                    .unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        if name.is_empty() {
            found.push('$');
            continue;
        }
        rest = after;
        let part = match name.parse::<usize>() {
            Ok(number) => captures.get(number),
            Err(_) if expression.capture_names().flatten().any(|own| own == name) => {
                captures.name(name)
            }
            Err(_) => None,
        };
        found.push_str(part.map_or("", |part| part.as_str()));
    }
    found.push_str(rest);
}
