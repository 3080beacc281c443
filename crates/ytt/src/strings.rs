//! The methods of texts. Indexes count bytes, as in ytt.

use crate::access;
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::heap::Heap;
use crate::native_call::NativeCall;
use crate::string_format::format;
use crate::value::StarValue;

/// Calls a method.
///
/// # Errors
/// If the arguments do not fit.
pub(crate) fn call(
    evaluator: &mut Evaluator<'_>,
    method: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    let Some(text) = call.receiver().as_text() else {
        return fail(format!("{method} has no receiver"));
    };
    let heap = &evaluator.heap;
    heap.work.steps(text.len() / 8)?;
    match method {
        "format" => return format(heap, text, &call.items, &call.named),
        "count" | "find" | "index" | "rfind" | "rindex" => return search(method, text, call),
        "endswith" | "startswith" => return affix(heap, method, text, call),
        "join" => return join(heap, text, call),
        "partition" | "rpartition" => return partition(heap, method, text, call),
        "replace" => return replace(heap, text, call),
        "split" | "rsplit" => return split(heap, method, text, call),
        "splitlines" => return splitlines(heap, text, call),
        "strip" | "lstrip" | "rstrip" => return strip(heap, method, text, call),
        _ => call.positional(0, 0)?,
    }
    match method {
        "capitalize" => {
            let mut letters = text.chars();
            let mut found: String = letters.next().map(upper).into_iter().collect();
            found.push_str(&cased(letters.as_str(), lower));
            heap.text(found)
        }
        "lower" => heap.text(cased(text, lower)),
        "upper" => heap.text(cased(text, upper)),
        "title" => heap.text(title(text)),
        "codepoints" => {
            let letters = text
                .chars()
                .map(|letter| StarValue::text(letter.to_string()));
            heap.list(letters.collect())
        }
        "codepoint_ords" => {
            let letters = text
                .chars()
                .map(|letter| StarValue::Int(i128::from(letter as u32)));
            heap.list(letters.collect())
        }
        "elems" => {
            let bytes = text.as_bytes().chunks(1);
            let bytes = bytes.map(|byte| StarValue::text(String::from_utf8_lossy(byte).as_ref()));
            heap.list(bytes.collect())
        }
        "elem_ords" => {
            let bytes = text.bytes().map(|byte| StarValue::Int(i128::from(byte)));
            heap.list(bytes.collect())
        }
        _ => Ok(StarValue::Bool(has_class(method, text))),
    }
}

/// A text with another case. A letter whose other form has several letters stays, as in Go.
fn cased(text: &str, case: fn(char) -> char) -> String {
    text.chars().map(case).collect()
}

fn upper(letter: char) -> char {
    let mut letters = letter.to_uppercase();
    match (letters.next(), letters.next()) {
        (Some(upper), None) => upper,
        _ => letter,
    }
}

fn lower(letter: char) -> char {
    let mut letters = letter.to_lowercase();
    match (letters.next(), letters.next()) {
        (Some(lower), None) => lower,
        _ => letter,
    }
}

fn has_class(method: &str, text: &str) -> bool {
    let all = |is_one: fn(char) -> bool| !text.is_empty() && text.chars().all(is_one);
    match method {
        "isalnum" => all(char::is_alphanumeric),
        "isalpha" => all(char::is_alphabetic),
        "isdigit" => all(char::is_numeric),
        "isspace" => all(char::is_whitespace),
        "islower" => text.chars().any(char::is_lowercase) && cased(text, lower) == text,
        "isupper" => text.chars().any(char::is_uppercase) && cased(text, upper) == text,
        _ => is_title(text),
    }
}

fn is_title(text: &str) -> bool {
    let mut after_cased = false;
    let mut found = false;
    for letter in text.chars() {
        let fits = match (letter.is_uppercase(), letter.is_lowercase()) {
            (true, _) => !after_cased,
            (_, true) => after_cased,
            _ => true,
        };
        if !fits {
            return false;
        }
        after_cased = letter.is_uppercase() || letter.is_lowercase();
        found |= after_cased;
    }
    found
}

fn title(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut after_letter = false;
    for letter in text.chars() {
        match after_letter {
            true => found.push(lower(letter)),
            false => found.push(upper(letter)),
        }
        after_letter = letter.is_alphabetic();
    }
    found
}

fn text_argument<'c>(call: &'c NativeCall, at: usize, method: &str) -> Evaluated<&'c str> {
    match call.item(at).as_text() {
        Some(text) => Ok(text),
        None => {
            let kind = call.item(at).type_name();
            fail(format!(
                "{method}: for parameter {}: got {kind}, want string",
                at + 1
            ))
        }
    }
}

/// The part of a text between two bounds, and where it begins.
fn bounded<'t>(text: &'t str, call: &NativeCall, at: usize) -> Evaluated<(&'t str, usize)> {
    let count = text.len() as i128;
    let bound = |value: Option<&StarValue>, usual: i128| match value.map(StarValue::open) {
        None | Some(StarValue::None) => Ok(usual),
        Some(StarValue::Int(at)) if *at < 0 => Ok(at.saturating_add(count).max(0)),
        Some(StarValue::Int(at)) => Ok((*at).min(count)),
        Some(other) => fail(format!("got {}, want int", other.type_name())),
    };
    let start = bound(call.get(at), 0)?;
    let end = bound(call.get(at + 1), count)?.max(start);
    let start = usize::try_from(start).unwrap_or_default();
    let end = usize::try_from(end).unwrap_or_default();
    Ok((text.get(start..end).unwrap_or_default(), start))
}

fn search(method: &str, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 3)?;
    let part = text_argument(call, 0, method)?;
    let (within, start) = bounded(text, call, 1)?;
    if method == "count" {
        let count = match part.is_empty() {
            true => within.chars().count() + 1,
            false => within.matches(part).count(),
        };
        return Ok(StarValue::count(count));
    }
    let found = match method.starts_with('r') {
        true => within.rfind(part),
        false => within.find(part),
    };
    match found {
        Some(at) => Ok(StarValue::count(start + at)),
        None if method.ends_with("index") => fail(format!("{method}: substring not found")),
        None => Ok(StarValue::Int(-1)),
    }
}

fn affix(heap: &Heap, method: &str, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 3)?;
    let (within, _) = bounded(text, call, 1)?;
    let fits = |part: &str| match method {
        "startswith" => within.starts_with(part),
        _ => within.ends_with(part),
    };
    if let StarValue::Tuple(parts) = call.item(0) {
        heap.work.steps(parts.len())?;
        for part in parts.iter() {
            match part.as_text() {
                Some(part) if fits(part) => return Ok(StarValue::Bool(true)),
                Some(_) => {}
                None => {
                    let kind = part.type_name();
                    return fail(format!("{method}: want string, got {kind}"));
                }
            }
        }
        return Ok(StarValue::Bool(false));
    }
    Ok(StarValue::Bool(fits(text_argument(call, 0, method)?)))
}

fn join(heap: &Heap, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 1)?;
    let mut joined = String::new();
    for (at, item) in access::items(heap, call.item(0))?.iter().enumerate() {
        let Some(part) = item.as_text() else {
            let kind = item.type_name();
            return fail(format!("join: in list, want string, got {kind}"));
        };
        if at > 0 {
            joined.push_str(text);
        }
        heap.work.bytes(part.len() + text.len())?;
        joined.push_str(part);
    }
    heap.text(joined)
}

fn partition(heap: &Heap, method: &str, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(1, 1)?;
    let part = text_argument(call, 0, method)?;
    if part.is_empty() {
        return fail(format!("{method}: empty separator"));
    }
    let found = match method {
        "partition" => text.split_once(part),
        _ => text.rsplit_once(part),
    };
    let parts = match found {
        Some((before, after)) => [before, part, after],
        None if method == "partition" => [text, "", ""],
        None => ["", "", text],
    };
    heap.tuple(parts.into_iter().map(StarValue::text).collect())
}

fn replace(heap: &Heap, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(2, 3)?;
    let old = text_argument(call, 0, "replace")?;
    let new = text_argument(call, 1, "replace")?;
    let most = match call.get(2).map(StarValue::open) {
        None => usize::MAX,
        Some(StarValue::Int(most)) => usize::try_from(*most).unwrap_or(usize::MAX),
        Some(other) => return fail(format!("replace: got {}, want int", other.type_name())),
    };
    let count = match old.is_empty() {
        true => text.chars().count() + 1,
        false => text.matches(old).count(),
    };
    let size = text
        .len()
        .saturating_add(count.min(most).saturating_mul(new.len()));
    heap.work.bytes(size)?;
    Ok(StarValue::text(text.replacen(old, new, most)))
}

fn split(heap: &Heap, method: &str, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(0, 2)?;
    let most = match call.get(1).map(StarValue::open) {
        None => usize::MAX,
        Some(StarValue::Int(most)) => usize::try_from(*most).unwrap_or(usize::MAX),
        Some(other) => return fail(format!("{method}: got {}, want int", other.type_name())),
    };
    let parts: Vec<&str> = match call.get(0) {
        None | Some(StarValue::None) => match (method, most) {
            (_, usize::MAX) => text.split_whitespace().collect(),
            ("split", most) => split_blanks(text, most),
            (_, most) => rsplit_blanks(text, most),
        },
        Some(_) => {
            let separator = text_argument(call, 0, method)?;
            if separator.is_empty() {
                return fail(format!("{method}: empty separator"));
            }
            let pieces = most.saturating_add(1);
            match method {
                "split" => text.splitn(pieces, separator).collect(),
                _ => {
                    let mut parts: Vec<&str> = text.rsplitn(pieces, separator).collect();
                    parts.reverse();
                    parts
                }
            }
        }
    };
    heap.work.items(parts.len())?;
    heap.list(parts.into_iter().map(StarValue::text).collect())
}

fn split_blanks(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace);
        match end {
            Some(end) if parts.len() < most => {
                parts.push(&rest[..end]);
                rest = rest[end..].trim_start();
            }
            _ => {
                parts.push(rest);
                break;
            }
        }
    }
    parts
}

fn rsplit_blanks(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let start = rest.rfind(char::is_whitespace);
        match start {
            Some(start) if parts.len() < most => {
                let width = rest[start..].chars().next().map_or(1, char::len_utf8);
                parts.push(&rest[start + width..]);
                rest = rest[..start].trim_end();
            }
            _ => {
                parts.push(rest);
                break;
            }
        }
    }
    parts.reverse();
    parts
}

fn splitlines(heap: &Heap, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(0, 1)?;
    let keeps_ends = crate::evaluator::truth(call.item(0))?;
    let lines = text.split_inclusive('\n').map(|line| match keeps_ends {
        true => line,
        false => line.strip_suffix('\n').unwrap_or(line),
    });
    heap.list(lines.map(StarValue::text).collect())
}

fn strip(heap: &Heap, method: &str, text: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.positional(0, 1)?;
    let letters = match call.get(0) {
        None => None,
        Some(_) => Some(text_argument(call, 0, method)?),
    };
    let compared = letters.map_or(0, str::len).saturating_mul(text.len());
    heap.work.steps(compared / 64)?;
    let is_stripped = |letter: char| match letters {
        Some(letters) => letters.contains(letter),
        None => letter.is_whitespace(),
    };
    heap.text(match method {
        "strip" => text.trim_matches(is_stripped),
        "lstrip" => text.trim_start_matches(is_stripped),
        _ => text.trim_end_matches(is_stripped),
    })
}
