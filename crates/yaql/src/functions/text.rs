//! Functions of text. Positions and lengths count characters.

use super::given::CallArguments;
use super::row::{Row, both, method, operator, plain};
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, DatumKey, Keys, Machine};
use crate::text;

pub(super) const ROWS: &[Row] = &[
    operator("#operator_+", "*args: text", concat).documented("Texts joined.", "a + b", r#""ab""#),
    plain("concat", "*args: text", concat).documented("Texts joined.", "concat(a, b, c)", r#""abc""#),
    operator("#operator_*", "left: text, right: int", times).documented("A text repeated.", "ab * 3", r#""ababab""#),
    operator("#operator_*", "left: int, right: text", times_reversed).documented("A text repeated.", "2 * a", r#""aa""#),
    operator("#operator_in", "left: text, right: text", within).documented(
        "Whether a text is part of another.",
        "ell in hello",
        "true",
    ),
    both("len", "string: text", len).documented("The number of characters of a text.", "len('日本')", "2"),
    method("toUpper", "string: text", to_upper).documented("The text in upper case.", "abc.toUpper()", r#""ABC""#),
    method("toLower", "string: text", to_lower).documented("The text in lower case.", "ABC.toLower()", r#""abc""#),
    method("split", "string: text, separator: text? = null, maxSplits: int = -1", split).documented(
        "The parts between separators; without a separator, between white space.",
        "'a,b,c'.split(',', 1)",
        r#"["a", "b,c"]"#,
    ),
    method("rightSplit", "string: text, separator: text? = null, maxSplits: int = -1", right_split).documented(
        "The same, counting from the end.",
        "'a,b,c'.rightSplit(',', 1)",
        r#"["a,b", "c"]"#,
    ),
    method("join", "sequence: iterable, separator: text", join).documented(
        "The texts of all items with a separator between them.",
        "[1, true, x].join('-')",
        r#""1-true-x""#,
    ),
    method("join", "separator: text, sequence: iterable", join_reversed).documented(
        "The same, called on the separator.",
        "','.join([1, 2])",
        r#""1,2""#,
    ),
    plain("str", "value: any?", str_).documented(
        "The text of a value as in Python; null, true and false as in yaql.",
        "str([1, a])",
        r#""(1, 'a')""#,
    ),
    method("trim", "string: text, chars: text? = null", trim).documented(
        "The text without white space, or given characters, at both ends.",
        "'  x '.trim()",
        r#""x""#,
    ),
    method("trimLeft", "string: text, chars: text? = null", trim_left).documented(
        "The same at the beginning only.",
        "xxa.trimLeft(x)",
        r#""a""#,
    ),
    method("trimRight", "string: text, chars: text? = null", trim_right).documented(
        "The same at the end only.",
        "'a  '.trimRight()",
        r#""a""#,
    ),
    both("norm", "string: text?, chars: text? = null", norm).documented(
        "The text trimmed; null if nothing is left.",
        "norm('  ')",
        "null",
    ),
    both("isEmpty", "string: text?, trim: bool = true, chars: text? = null", is_empty).documented(
        "Whether a text is null, or empty when trimmed.",
        "'  '.isEmpty()",
        "true",
    ),
    method("replace", "string: text, old: text, new: text, count: int = -1", replace).documented(
        "The text with a part replaced everywhere, or a number of times.",
        "aaa.replace(a, b, 2)",
        r#""bba""#,
    ),
    method("replace", "string: text, replacements: map, count: int = -1", replace_all).documented(
        "The text with each key of a map replaced by its value, in order.",
        "abc.replace({a => 1, b => null})",
        r#""1nullc""#,
    ),
    method("substring", "string: text, start: int, length: int = -1", substring).documented(
        "A number of characters from a position on; a negative position counts from the end.",
        "hello.substring(1, 3)",
        r#""ell""#,
    ),
    method("indexOf", "string: text, sub: text, start: int = 0", index_of).documented(
        "The first position of a part, from a position on; -1 if there is none.",
        "hello.indexOf(l)",
        "2",
    ),
    method("indexOf", "string: text, sub: text, start: int, length: int", index_of_within).documented(
        "The same, within a number of characters.",
        "hello.indexOf(o, 0, 3)",
        "-1",
    ),
    method("lastIndexOf", "string: text, sub: text, start: int = 0", last_index_of).documented(
        "The last position of a part, not before a position; -1 if there is none.",
        "hello.lastIndexOf(l)",
        "3",
    ),
    method("lastIndexOf", "string: text, sub: text, start: int, length: int", last_index_of_within).documented(
        "The same, within a number of characters.",
        "hello.lastIndexOf(l, 0, 3)",
        "2",
    ),
    method("toCharArray", "string: text", to_char_array).documented("The characters.", "abc.toCharArray()", r#"["a", "b", "c"]"#),
    plain("isString", "arg: any?", is_string).documented("Whether a value is text.", "isString(1)", "false"),
    method("startsWith", "string: text, *prefixes: text", starts_with).documented(
        "Whether the text begins with one of these.",
        "abc.startsWith(x, ab)",
        "true",
    ),
    method("endsWith", "string: text, *suffixes: text", ends_with).documented(
        "Whether the text ends with one of these.",
        "abc.endsWith(bc)",
        "true",
    ),
    plain(
        "characters",
        "digits: bool? = false, hexdigits: bool? = false, asciiLowercase: bool? = false, asciiUppercase: bool? = false, \
         asciiLetters: bool? = false, letters: bool? = false, octdigits: bool? = false, punctuation: bool? = false, \
         printable: bool? = false, lowercase: bool? = false, uppercase: bool? = false, whitespace: bool? = false",
        characters,
    )
    .documented("The characters of given kinds, each once.", "characters(octdigits => true).len()", "8"),
];

fn concat(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    let texts = given.rest.iter().filter_map(|value| match value {
        Datum::Text(text) => Some(&**text),
        _ => None,
    });
    let mut all = String::new();
    for text in texts {
        all.push_str(text);
        machine.weigh(49 + all.len())?;
    }
    Ok(Datum::text(all))
}

/// Returns the repetition count of a value of `bytes` bytes. Fails if the count exceeds 64 bits.
pub(super) fn times_of(given: &CallArguments, at: usize, bytes: usize) -> Evaluated<i64> {
    given
        .small(at)
        .map_err(|_| match (given.int(at) > 0, bytes) {
            (true, 1..) => Halt::memory(),
            _ => Halt::failed("cannot fit 'int' into an index-sized integer"),
        })
}

fn repeated(
    machine: &mut Machine<'_>,
    given: &mut CallArguments,
    text: usize,
    count: usize,
) -> Evaluated<Datum> {
    let text = given.text(text);
    let count = usize::try_from(times_of(given, count, text.len())?).unwrap_or(0);
    machine.weigh(text.len().saturating_mul(count).saturating_add(49))?;
    Ok(Datum::text(text.repeat(if text.is_empty() {
        0
    } else {
        count
    })))
}

fn times(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    repeated(machine, &mut given, 0, 1)
}

fn times_reversed(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    repeated(machine, &mut given, 1, 0)
}

fn within(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (part, whole) = (given.text(0), given.text(1));
    Ok(Datum::Bool(whole.contains(&*part)))
}

fn len(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::count(given.text(0).chars().count()))
}

fn to_upper(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(given.text(0).to_uppercase()))
}

fn to_lower(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(given.text(0).to_lowercase()))
}

fn texts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Datum {
    Datum::list(parts.into_iter().map(Datum::text).collect())
}

fn split(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, separator, most) = (given.text(0), given.text_or_null(1), given.small(2)?);
    // The number of parts is one more than the number of separators. Without a limit all parts are
    // returned.
    let most = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1));
    match separator {
        Some(separator) if separator.is_empty() => Err(Halt::failed("empty separator")),
        Some(separator) => Ok(texts(text.splitn(most, &*separator))),
        None => {
            let mut parts = Vec::new();
            let mut rest = text.trim_start_matches(pycompat::is_space);
            while !rest.is_empty() && parts.len() + 1 < most {
                let end = rest.find(pycompat::is_space).unwrap_or(rest.len());
                parts.push(&rest[..end]);
                rest = rest[end..].trim_start_matches(pycompat::is_space);
            }
            if !rest.is_empty() {
                parts.push(rest.trim_end_matches(if most == usize::MAX {
                    pycompat::is_space
                } else {
                    |_| false
                }));
            }
            Ok(texts(parts))
        }
    }
}

fn right_split(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, separator, most) = (given.text(0), given.text_or_null(1), given.small(2)?);
    let most = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<&str> = match &separator {
        Some(separator) if separator.is_empty() => return Err(Halt::failed("empty separator")),
        Some(separator) => text.rsplitn(most, &**separator).collect(),
        None => {
            let mut parts = Vec::new();
            let mut rest = text.trim_end_matches(pycompat::is_space);
            while !rest.is_empty() && parts.len() + 1 < most {
                let start = rest
                    .char_indices()
                    .rev()
                    .find(|(_, one)| pycompat::is_space(*one));
                let start = start.map_or(0, |(at, one)| at + one.len_utf8());
                parts.push(&rest[start..]);
                rest = rest[..start].trim_end_matches(pycompat::is_space);
            }
            if !rest.is_empty() {
                parts.push(rest);
            }
            parts
        }
    };
    parts.reverse();
    Ok(texts(parts))
}

fn joined(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    items: usize,
    separator: usize,
) -> Evaluated<Datum> {
    let separator = given.text(separator);
    let mut items = given.items(items);
    let mut all = String::new();
    let mut first = true;
    while let Some(item) = items.next(machine)? {
        if !first {
            all.push_str(&separator);
        }
        first = false;
        let text = shown(&item);
        machine.weigh(49 + text.len())?;
        all.push_str(&text);
        machine.weigh(49 + all.len())?;
    }
    Ok(Datum::text(all))
}

fn join(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    joined(machine, given, 0, 1)
}

fn join_reversed(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    joined(machine, given, 1, 0)
}

/// Python's `str`.
pub(super) fn shown(value: &Datum) -> String {
    match value {
        Datum::Null => "null".into(),
        Datum::Bool(true) => "true".into(),
        Datum::Bool(false) => "false".into(),
        other => text::text(other),
    }
}

fn str_(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    match given.take(0) {
        value @ Datum::Text(_) => Ok(value),
        value => Ok(Datum::text(shown(&value))),
    }
}

fn trimmed<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let goes =
        |one: char| chars.map_or_else(|| pycompat::is_space(one), |chars| chars.contains(one));
    let text = if left {
        text.trim_start_matches(goes)
    } else {
        text
    };
    if right {
        text.trim_end_matches(goes)
    } else {
        text
    }
}

fn trim(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(trimmed(
        &given.text(0),
        given.text_or_null(1).as_deref(),
        true,
        true,
    )))
}

fn trim_left(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(trimmed(
        &given.text(0),
        given.text_or_null(1).as_deref(),
        true,
        false,
    )))
}

fn trim_right(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(trimmed(
        &given.text(0),
        given.text_or_null(1).as_deref(),
        false,
        true,
    )))
}

fn norm(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let Some(text) = given.text_or_null(0) else {
        return Ok(Datum::Null);
    };
    let text = trimmed(&text, given.text_or_null(1).as_deref(), true, true);
    Ok(if text.is_empty() {
        Datum::Null
    } else {
        Datum::text(text)
    })
}

fn is_empty(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let Some(text) = given.text_or_null(0) else {
        return Ok(Datum::Bool(true));
    };
    let trims = given.flag(1);
    let chars = given.text_or_null(2);
    Ok(Datum::Bool(
        trimmed(&text, chars.as_deref(), trims, trims).is_empty(),
    ))
}

/// Replaces a part of a text `count` times, or everywhere if `count` is negative. Fails before it
/// builds a text that is too large.
fn replaced(
    machine: &Machine<'_>,
    text: &str,
    old: &str,
    new: &str,
    count: i64,
) -> Evaluated<String> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found = if old.is_empty() {
        text.chars().count() + 1
    } else {
        text.matches(old).count()
    };
    machine.weigh(
        49 + text.len()
            + found
                .min(count)
                .saturating_mul(new.len().saturating_sub(old.len())),
    )?;
    Ok(text.replacen(old, new, count))
}

fn replace(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, old, new) = (given.text(0), given.text(1), given.text(2));
    replaced(machine, &text, &old, &new, given.small(3)?).map(Datum::text)
}

fn replace_all(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, replacements, count) = (given.text(0), given.map(1), given.small(2)?);
    let mut text = text.to_string();
    for (key, value) in &replacements.entries {
        machine.step(1)?;
        text = replaced(machine, &text, &shown(&key.value), &shown(value), count)?;
    }
    Ok(Datum::text(text))
}

/// The byte index of a character; the length of the text for an index behind the last character.
fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices()
        .nth(character)
        .map_or(text.len(), |(at, _)| at)
}

/// The byte range of a Python slice; negative positions count from the end.
fn slice(text: &str, start: i64, end: i64) -> (usize, usize) {
    let count = text.chars().count() as i64;
    let place = |at: i64| {
        usize::try_from(if at < 0 { at.saturating_add(count) } else { at }.max(0))
            .unwrap_or(usize::MAX)
    };
    let (start, end) = (place(start), place(end));
    (byte_of(text, start), byte_of(text, end.max(start)))
}

fn substring(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, mut start, mut length) = (given.text(0), given.int(1), given.int(2));
    let count = text.chars().count() as i64;
    if length < 0 {
        length = count;
    }
    if start < 0 {
        start = start.saturating_add(count);
    }
    let (start, end) = slice(&text, start, start.saturating_add(length));
    Ok(Datum::text(&text[start..end]))
}

/// The position of a part within a slice; -1 if there is none.
fn find(text: &str, part: &str, start: i64, end: i64, last: bool) -> Datum {
    let count = text.chars().count() as i64;
    if start > count || (end < start && end >= 0) {
        return Datum::Int(-1);
    }
    let (from, to) = slice(text, start, end);
    let negative_end = if end < 0 {
        end.saturating_add(count).max(0)
    } else {
        end
    };
    let clamped_start = if start < 0 {
        start.saturating_add(count).max(0)
    } else {
        start
    };
    if negative_end < clamped_start {
        return Datum::Int(-1);
    }
    let within = &text[from..to];
    let found = if last {
        within.rfind(part)
    } else {
        within.find(part)
    };
    found.map_or(Datum::Int(-1), |at| {
        Datum::count(text[..from + at].chars().count())
    })
}

fn index_of(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, part, start) = (given.text(0), given.text(1), given.int(2));
    Ok(find(&text, &part, start, i64::MAX, false))
}

fn last_index_of(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, part, start) = (given.text(0), given.text(1), given.int(2));
    Ok(find(&text, &part, start, i64::MAX, true))
}

/// Returns the slice to search: from a position, which may count from the end, with a length or to
/// the end.
fn range(given: &CallArguments, text: &str) -> (i64, i64) {
    let (mut start, mut length) = (given.int(2), given.int(3));
    let count = text.chars().count() as i64;
    if start < 0 {
        start = start.saturating_add(count);
    }
    if length < 0 {
        length = count.saturating_sub(start);
    }
    (start, start.saturating_add(length))
}

fn index_of_within(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, part) = (given.text(0), given.text(1));
    let (start, end) = range(&given, &text);
    Ok(find(&text, &part, start, end, false))
}

fn last_index_of_within(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (text, part) = (given.text(0), given.text(1));
    let (start, end) = range(&given, &text);
    Ok(find(&text, &part, start, end, true))
}

fn to_char_array(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let text = given.text(0);
    machine.weigh(56 + 8 * text.chars().count())?;
    Ok(Datum::tuple(
        text.chars()
            .map(|one| Datum::text(one.encode_utf8(&mut [0; 4]) as &str))
            .collect(),
    ))
}

fn is_string(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Text(_))))
}

fn any_text(given: &CallArguments, test: impl Fn(&str) -> bool) -> Datum {
    Datum::Bool(
        given
            .rest
            .iter()
            .any(|one| matches!(one, Datum::Text(text) if test(text))),
    )
}

fn starts_with(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let text = given.text(0);
    Ok(any_text(&given, |prefix| text.starts_with(prefix)))
}

fn ends_with(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let text = given.text(0);
    Ok(any_text(&given, |suffix| text.ends_with(suffix)))
}

fn characters(_: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    const DIGITS: &str = "0123456789";
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    const SPACE: &str = " \t\n\r\x0b\x0c";
    // Python 3 no longer has `letters`, `lowercase` and `uppercase`.
    let kinds: [Result<&[&str], &str>; 12] = [
        Ok(&[DIGITS]),
        Ok(&[DIGITS, "abcdef", "ABCDEF"]),
        Ok(&[LOWER]),
        Ok(&[UPPER]),
        Ok(&[LOWER, UPPER]),
        Err("letters"),
        Ok(&["01234567"]),
        Ok(&[PUNCTUATION]),
        Ok(&[DIGITS, LOWER, UPPER, PUNCTUATION, SPACE]),
        Err("lowercase"),
        Err("uppercase"),
        Ok(&[SPACE]),
    ];
    let mut found = Keys::default();
    for (_, kind) in kinds
        .into_iter()
        .enumerate()
        .filter(|(at, _)| given.flag(*at))
    {
        let texts = kind
            .map_err(|name| Halt::failed(format!("module 'string' has no attribute '{name}'")))?;
        for one in texts.iter().flat_map(|text| text.chars()) {
            found.insert(DatumKey::text(one.encode_utf8(&mut [0; 4]).into()));
        }
    }
    Ok(Datum::tuple(
        found.into_iter().map(|key| key.value).collect(),
    ))
}
