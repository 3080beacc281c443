//! The functions that every program has.

use crate::access;
use crate::compare::order;
use crate::evaluator::{Evaluator, truth};
use crate::halt::{Evaluated, fail};
use crate::heap::DictEntries;
use crate::keys::{self, set_entries};
use crate::methods::methods;
use crate::native_call::NativeCall;
use crate::text_form::{repr, str};
use crate::value::{StarRange, StarValue, StructKind};

const FUNCTIONS: [&str; 28] = [
    "any",
    "all",
    "bool",
    "chr",
    "dict",
    "dir",
    "enumerate",
    "fail",
    "float",
    "getattr",
    "hasattr",
    "hash",
    "int",
    "len",
    "list",
    "max",
    "min",
    "ord",
    "print",
    "range",
    "repr",
    "reversed",
    "set",
    "sorted",
    "str",
    "tuple",
    "type",
    "zip",
];

/// The function with a name.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().copied().find(|own| *own == name)
}

/// Calls a function.
///
/// # Errors
/// If the arguments do not fit.
pub(crate) fn call(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    // Functions that call back are apart, so that their levels take little of the stack.
    match call.name {
        "max" | "min" => extreme(evaluator, call),
        "sorted" => sorted(evaluator, call),
        _ => call_once(evaluator, call),
    }
}

fn call_once(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    match call.name {
        "any" | "all" => {
            call.positional(1, 1)?;
            let wanted = call.name == "any";
            for item in access::items(heap, call.item(0))? {
                if truth(&item)? == wanted {
                    return Ok(StarValue::Bool(wanted));
                }
            }
            Ok(StarValue::Bool(!wanted))
        }
        "bool" => {
            call.positional(0, 1)?;
            Ok(StarValue::Bool(truth(call.item(0))?))
        }
        "chr" => {
            call.positional(1, 1)?;
            let letter = match call.item(0) {
                StarValue::Int(code) => u32::try_from(*code).ok().and_then(char::from_u32),
                _ => None,
            };
            match letter {
                Some(letter) => heap.text(letter.to_string()),
                None => fail("chr: not a Unicode code point"),
            }
        }
        "ord" => {
            call.positional(1, 1)?;
            let letters = call.item(0).as_text().map(|text| text.chars());
            match letters.map(|mut letters| (letters.next(), letters.next())) {
                Some((Some(letter), None)) => Ok(StarValue::Int(i128::from(letter as u32))),
                _ => fail("ord: string is not one character"),
            }
        }
        "dict" => dict(evaluator, call),
        "dir" => dir(evaluator, call),
        "enumerate" => {
            call.positional(1, 2)?;
            let first = match call.get(1) {
                None => 0,
                Some(StarValue::Int(first)) => *first,
                Some(_) => return fail("enumerate: for parameter 2: want int"),
            };
            let items = access::items(heap, call.item(0))?;
            let pairs = (first..).zip(items);
            let pairs = pairs.map(|(at, item)| heap.tuple(vec![StarValue::Int(at), item]));
            heap.list(pairs.collect::<Evaluated<_>>()?)
        }
        "fail" => {
            let mut words = Vec::new();
            for value in &call.items {
                words.push(shown(evaluator, value)?);
            }
            fail(format!("fail: {}", words.join(" ")))
        }
        "print" => Ok(StarValue::None),
        "float" => float(call),
        "int" => int(call),
        "getattr" => getattr(evaluator, call),
        "hasattr" => {
            call.positional(2, 2)?;
            if call.item(0).unknown().is_some() {
                return Ok(call.item(0).clone());
            }
            let name = call.text(1)?;
            let found = access::find_attribute(heap, call.item(0), name)?;
            Ok(StarValue::Bool(found.is_some()))
        }
        "hash" => {
            call.positional(1, 1)?;
            let text = call.text(0)?;
            heap.work.steps(text.len())?;
            let hash = text.chars().fold(0_i32, |hash, letter| {
                hash.wrapping_mul(31).wrapping_add(letter as i32)
            });
            Ok(StarValue::Int(i128::from(hash)))
        }
        "len" => len(call),
        "list" => {
            call.positional(0, 1)?;
            match call.get(0) {
                None => heap.list(Vec::new()),
                Some(value) => heap.list(access::items(heap, value)?),
            }
        }
        "tuple" => {
            call.positional(0, 1)?;
            match call.get(0) {
                None => heap.tuple(Vec::new()),
                Some(value) => heap.tuple(access::items(heap, value)?),
            }
        }
        "set" => {
            call.positional(0, 1)?;
            let items = match call.get(0) {
                None => Vec::new(),
                Some(value) => access::items(heap, value)?,
            };
            heap.set(set_entries(heap, items)?)
        }
        "reversed" => {
            call.positional(1, 1)?;
            let mut items = access::items(heap, call.item(0))?;
            items.reverse();
            heap.list(items)
        }
        "range" => range(call),
        "repr" => {
            call.positional(1, 1)?;
            let text = repr(heap, call.item(0))?;
            heap.text(text)
        }
        "str" => {
            call.positional(1, 1)?;
            match call.item(0) {
                StarValue::Text(text) => Ok(StarValue::Text(text.clone())),
                value => {
                    let text = str(heap, value)?;
                    heap.text(text)
                }
            }
        }
        "type" => {
            call.positional(1, 1)?;
            match call.item(0).unknown() {
                Some(_) => Ok(call.item(0).clone()),
                None => heap.text(call.item(0).type_name()),
            }
        }
        "zip" => zip(evaluator, call),
        name => fail(format!("undefined: {name}")),
    }
}

/// A value in a message: without what must not be shown.
fn shown(evaluator: &Evaluator<'_>, value: &StarValue) -> Evaluated<String> {
    let mut found = crate::convert::ValueMarks::default();
    crate::convert::marks(&evaluator.heap, value, &mut found)?;
    if found.has_secret {
        return Ok("(secret)".into());
    }
    str(&evaluator.heap, value)
}

fn dict(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    if call.items.len() > 1 {
        let count = call.items.len();
        return fail(format!("dict: got {count} arguments, want at most 1"));
    }
    let mut entries = DictEntries::default();
    if let Some(from) = call.get(0) {
        add_entries(evaluator, &mut entries, from)?;
    }
    for (name, value) in &call.named {
        keys::insert(
            heap,
            &mut entries,
            StarValue::Text(name.clone()),
            value.clone(),
        )?;
    }
    heap.dict(entries)
}

/// Adds the entries of a mapping, or of a list of pairs.
///
/// # Errors
/// If the value is neither.
pub(crate) fn add_entries(
    evaluator: &Evaluator<'_>,
    entries: &mut DictEntries,
    from: &StarValue,
) -> Evaluated<()> {
    let heap = &evaluator.heap;
    if let Some(found) = access::entries(heap, from)? {
        for (key, value) in found {
            keys::insert(heap, entries, key, value)?;
        }
        return Ok(());
    }
    for (at, pair) in access::items(heap, from)?.into_iter().enumerate() {
        let parts = match access::is_iterable(&pair) {
            true => access::items(heap, &pair)?,
            false => Vec::new(),
        };
        let Ok([key, value]) = <[StarValue; 2]>::try_from(parts) else {
            return fail(format!(
                "dict: dictionary update sequence element #{at} is not iterable with length 2"
            ));
        };
        keys::insert(heap, entries, key, value)?;
    }
    Ok(())
}

fn dir(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 1)?;
    let heap = &evaluator.heap;
    let mut names: Vec<StarValue> = match call.item(0).open() {
        StarValue::Struct(data) => data.fields.keys().cloned().map(StarValue::Text).collect(),
        StarValue::Unknown(_) => return Ok(call.item(0).clone()),
        value => methods(value)
            .filter_map(|method| method.split_once('.'))
            .map(|(_, name)| StarValue::text(name))
            .collect(),
    };
    names.sort_by(|one, other| one.as_text().cmp(&other.as_text()));
    heap.list(names)
}

fn getattr(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(2, 3)?;
    let of = call.item(0);
    if of.unknown().is_some() {
        return Ok(of.clone());
    }
    let name = call.text(1)?;
    let found = access::find_attribute(&evaluator.heap, of, name)?;
    match (found, call.get(2)) {
        (Some(value), _) => Ok(value),
        (None, Some(usual)) => Ok(usual.clone()),
        (None, None) => fail(format!(
            "getattr: {} has no .{name} field or method",
            of.type_name()
        )),
    }
}

fn len(call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 1)?;
    let value = call.item(0);
    if value.unknown().is_some() {
        return Ok(value.clone());
    }
    let (inner, secrecy) = value.split();
    let count = length(inner).map_err(|halt| halt.within("len"))?;
    Ok(StarValue::count(count).marked(secrecy))
}

/// The number of items of a value, or of bytes of a text.
///
/// # Errors
/// If the value has no items.
pub(crate) fn length(value: &StarValue) -> Evaluated<usize> {
    Ok(match value {
        StarValue::Text(text) => text.len(),
        StarValue::List(list) => list.items.borrow().len(),
        StarValue::Tuple(items) => items.len(),
        StarValue::Dict(dict) | StarValue::Set(dict) => dict.entries.borrow().len(),
        StarValue::Range(range) => usize::try_from(range.len).unwrap_or_default(),
        StarValue::Struct(data) if data.kind == StructKind::Plain => data.fields.len(),
        StarValue::Fragment(node) => node.as_ref().map_or(0, |node| node.borrow().items.len()),
        other => return fail(format!("value of type {} has no len", other.type_name())),
    })
}

#[expect(clippy::cast_precision_loss, reason = "the conversion asks for it")]
fn float(call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(0, 1)?;
    Ok(StarValue::Float(match call.get(0) {
        None => 0.0,
        Some(StarValue::Bool(flag)) => f64::from(u8::from(*flag)),
        Some(StarValue::Int(number)) => *number as f64,
        Some(StarValue::Float(number)) => *number,
        Some(StarValue::Text(text)) => match text.parse::<f64>() {
            Ok(number) => number,
            Err(_) => return fail(format!("float: invalid literal: {text}")),
        },
        Some(other) => {
            let kind = other.type_name();
            return fail(format!("float: got {kind}, want number or string"));
        }
    }))
}

#[expect(clippy::cast_possible_truncation, reason = "the number is in range")]
fn int(call: &NativeCall) -> Evaluated<StarValue> {
    let value = call.either(0, "x");
    let base = call.either(1, "base");
    let Some(value) = value else {
        return fail("int: missing argument for x");
    };
    let number = match value {
        StarValue::Text(text) => {
            let base = match base {
                None => 10,
                Some(StarValue::Int(base)) if *base == 0 || (2..=36).contains(base) => *base as u32,
                Some(_) => return fail("int: invalid base (must be 0, or from 2 to 36)"),
            };
            match parsed_int(text, base) {
                Some(number) => number,
                None => return fail(format!("int: invalid literal with base {base}: {text}")),
            }
        }
        _ if base.is_some() => {
            return fail("int: can't convert non-string with explicit base");
        }
        StarValue::Bool(flag) => i128::from(*flag),
        StarValue::Int(number) => *number,
        StarValue::Float(number) if number.is_finite() && number.abs() < 1e38 => {
            number.trunc() as i128
        }
        StarValue::Float(_) => return fail("int: cannot convert float to integer"),
        other => return fail(format!("int: cannot convert {} to int", other.type_name())),
    };
    Ok(StarValue::Int(number))
}

/// An integer with a sign and a prefix of its base. Base 0 means that of the prefix.
fn parsed_int(text: &str, base: u32) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix)));
    let (digits, radix) = match prefixed {
        Some((digits, radix)) if base == 0 || base == radix => (digits, radix),
        _ if base == 0 => {
            let is_octal = lower.len() > 1 && lower.starts_with('0');
            if is_octal && lower.bytes().any(|digit| digit != b'0') {
                return None;
            }
            (lower.as_str(), 10)
        }
        _ => (lower.as_str(), base),
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).ok()?;
    Some(if is_negative { -number } else { number })
}

fn range(call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 3)?;
    let mut numbers = [0_i64; 3];
    for (number, value) in numbers.iter_mut().zip(&call.items) {
        *number = match value {
            StarValue::Int(value) => match i32::try_from(*value) {
                Ok(value) => i64::from(value),
                Err(_) => return fail("range: an integer of more than 32 bits"),
            },
            other => return fail(format!("range: got {}, want int", other.type_name())),
        };
    }
    let (start, stop, step) = match call.items.len() {
        1 => (0, numbers[0], 1),
        2 => (numbers[0], numbers[1], 1),
        _ => (numbers[0], numbers[1], numbers[2]),
    };
    if step == 0 {
        return fail("range: step argument must not be zero");
    }
    let distance = if step > 0 { stop - start } else { start - stop };
    let size = step.abs();
    let len = if distance > 0 {
        (distance - 1) / size + 1
    } else {
        0
    };
    Ok(StarValue::Range(StarRange { start, step, len }))
}

/// The keys by which items are ordered.
fn sort_keys(
    evaluator: &mut Evaluator<'_>,
    key: Option<&StarValue>,
    items: &[StarValue],
) -> Evaluated<Vec<StarValue>> {
    match key {
        None | Some(StarValue::None) => Ok(items.to_vec()),
        Some(key) => items
            .iter()
            .map(|item| evaluator.call_with(key, vec![item.clone()]))
            .collect(),
    }
}

fn extreme(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let name = call.name;
    call.only_named(&["key"])?;
    let items = match call.items.len() {
        0 => return fail(format!("{name} requires at least one positional argument")),
        1 => access::items(&evaluator.heap, call.item(0))?,
        _ => call.items.clone(),
    };
    let keys = sort_keys(evaluator, call.named("key"), &items)?;
    let mut best: Option<usize> = None;
    for (at, key) in keys.iter().enumerate() {
        let Some(old) = best else {
            best = Some(at);
            continue;
        };
        let is_better = match order(&evaluator.heap, key, &keys[old])? {
            Some(order) if name == "max" => order.is_gt(),
            Some(order) => order.is_lt(),
            None => return incomparable(key, &keys[old]),
        };
        if is_better {
            best = Some(at);
        }
    }
    match best {
        Some(at) => Ok(items[at].clone()),
        None => fail(format!("{name}: argument is an empty sequence")),
    }
}

fn incomparable<T>(one: &StarValue, other: &StarValue) -> Evaluated<T> {
    let (one, other) = (one.type_name(), other.type_name());
    fail(format!("{one} < {other} not implemented"))
}

fn sorted(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    call.only_named(&["key", "reverse"])?;
    if call.items.len() != 1 {
        return fail("sorted: want one positional argument");
    }
    let items = access::items(&evaluator.heap, call.item(0))?;
    let keys = sort_keys(evaluator, call.named("key"), &items)?;
    let is_reversed = match call.named("reverse") {
        Some(value) => truth(value)?,
        None => false,
    };
    let places = sorted_places(evaluator, &keys, is_reversed)?;
    let items = places.into_iter().map(|at| items[at].clone()).collect();
    evaluator.heap.list(items)
}

/// The places of keys in their order.
fn sorted_places(
    evaluator: &Evaluator<'_>,
    keys: &[StarValue],
    is_reversed: bool,
) -> Evaluated<Vec<usize>> {
    // A mistake of a comparison is kept until the sort ends.
    let mut failed = None;
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|one, other| {
        if failed.is_some() {
            return std::cmp::Ordering::Equal;
        }
        let compared = match is_reversed {
            false => order(&evaluator.heap, &keys[*one], &keys[*other]),
            true => order(&evaluator.heap, &keys[*other], &keys[*one]),
        };
        match compared {
            Ok(Some(order)) => order,
            Ok(None) => {
                failed = incomparable::<()>(&keys[*one], &keys[*other]).err();
                std::cmp::Ordering::Equal
            }
            Err(halt) => {
                failed = Some(halt);
                std::cmp::Ordering::Equal
            }
        }
    });
    match failed {
        Some(halt) => Err(halt),
        None => Ok(places),
    }
}

fn zip(evaluator: &Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let columns = call.items.iter().map(|value| access::items(heap, value));
    let columns: Vec<Vec<StarValue>> = columns.collect::<Evaluated<_>>()?;
    let rows = columns.iter().map(Vec::len).min().unwrap_or_default();
    let rows = (0..rows).map(|at| {
        let row = columns.iter().map(|column| column[at].clone());
        heap.tuple(row.collect())
    });
    heap.list(rows.collect::<Evaluated<_>>()?)
}
