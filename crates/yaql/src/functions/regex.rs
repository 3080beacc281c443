//! Functions of regular expressions.

use std::rc::Rc;

use pycompat::{Flags, PatternMatch};

use super::given::{CallArguments, stream};
use super::row::{Row, method, operator, plain};
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, DatumEntries, DatumKey, Lambda, Machine, Scope};
use crate::regex::{Regex, escape};
use crate::tree::Variable;

pub(super) const ROWS: &[Row] = &[
    plain(
        "regex",
        "pattern: text, ignoreCase: bool? = false, multiLine: bool? = false, dotAll: bool? = false",
        regex,
    )
    .documented("A compiled regular expression.", "regex('B', ignoreCase => true).matches(abc)", "true"),
    method("matches", "regexp: regex, string: text", matches).documented(
        "Whether the expression matches a part of a text.",
        "regex('b+').matches(abc)",
        "true",
    ),
    method("matches", "string: text, regexp: text", matches_text).documented(
        "Whether an expression matches a part of the text.",
        "abc.matches('^b')",
        "false",
    ),
    operator("#operator_=~", "string: text, regexp: regex", matches_operator).documented(
        "Whether the expression matches a part of the text.",
        "abc =~ regex(b)",
        "true",
    ),
    operator("#operator_=~", "string: text, pattern: text", matches_text).documented(
        "Whether an expression matches a part of the text.",
        "abc =~ 'b|x'",
        "true",
    ),
    operator("#operator_!~", "string: text, regexp: regex", differs_operator).documented(
        "Whether the expression matches no part of the text.",
        "abc !~ regex(b)",
        "false",
    ),
    operator("#operator_!~", "string: text, pattern: text", differs_text).documented(
        "Whether an expression matches no part of the text.",
        "abc !~ z",
        "true",
    ),
    method("search", "regexp: regex, string: text, selector: lambda = null", search).documented(
        "The first part of a text that fits, or what an expression makes of it: `$` is the whole part, `$2` its first group, \
         each with `value`, `start` and `end`; null if none fits.",
        "regex('a(.)').search('xab', $2.value + str($.start))",
        r#""b1""#,
    ),
    method("searchAll", "regexp: regex, string: text, selector: lambda = null", search_all).documented(
        "All matches in a text, or the value of an expression for each.",
        "regex('[0-9]').searchAll('a1b2')",
        r#"["1", "2"]"#,
    ),
    method("split", "regexp: regex, string: text, maxSplit: int = 0", split).documented(
        "The parts of a text between the matches, with the texts of groups.",
        "regex(',').split('a,b')",
        r#"["a", "b"]"#,
    ),
    method("split", "string: text, regexp: regex, maxSplit: int = 0", split_text).documented(
        "The parts of the text between the matches.",
        "'a1b2c'.split(regex('[0-9]'), 1)",
        r#"["a", "b2c"]"#,
    ),
    method("replace", "regexp: regex, string: text, repl: text, count: int = 0", replace).documented(
        r"A text with another for each part that fits; `\1` in that is the first group.",
        r"regex('(a)b').replace('abab', '\\1')",
        r#""aa""#,
    ),
    method("replace", "string: text, regexp: regex, repl: text, count: int = 0", replace_text).documented(
        "The text with each match replaced.",
        "abab.replace(regex(b), x, 1)",
        r#""axab""#,
    ),
    method("replaceBy", "regexp: regex, string: text, repl: lambda, count: int = 0", replace_by).documented(
        "A text with each match replaced by the value of an expression.",
        "regex(b).replaceBy(abc, $.value.toUpper())",
        r#""aBc""#,
    ),
    method("replaceBy", "string: text, regexp: regex, repl: lambda, count: int = 0", replace_by_text).documented(
        "The text with each match replaced by the value of an expression.",
        "abc.replaceBy(regex(b), $.value.toUpper())",
        r#""aBc""#,
    ),
    plain("escapeRegex", "string: text", escape_regex).documented(
        "A regular expression that matches exactly a text.",
        "escapeRegex('a.b')",
        r#""a\\.b""#,
    ),
    plain("isRegex", "value: any?", is_regex).documented(
        "Whether a value is a compiled regular expression.",
        "isRegex(a)",
        "false",
    ),
];

fn regex(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let flags = Flags {
        ignore_case: given.flag(1),
        multi_line: given.flag(2),
        dot_all: given.flag(3),
        ..Flags::default()
    };
    machine
        .patterns
        .compile(given.text(0), flags, &mut machine.budget)
        .map(Datum::Regex)
}

/// Returns a regular expression argument; a text is compiled.
fn compiled(
    machine: &mut Machine<'_>,
    given: &mut CallArguments,
    at: usize,
) -> Evaluated<Rc<Regex>> {
    match given.take(at) {
        Datum::Regex(regex) => Ok(regex),
        Datum::Text(text) => machine
            .patterns
            .compile(text, Flags::default(), &mut machine.budget),
        other => Err(Halt::failed(format!(
            "'{}' object is no regular expression",
            other.type_name()
        ))),
    }
}

fn found(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    regex: usize,
    text: usize,
) -> Evaluated<bool> {
    let regex = compiled(machine, &mut given, regex)?;
    regex.found_in(&given.text(text), &mut machine.budget)
}

fn matches(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    found(machine, given, 0, 1).map(Datum::Bool)
}

fn matches_text(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    found(machine, given, 1, 0).map(Datum::Bool)
}

fn matches_operator(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    found(machine, given, 1, 0).map(Datum::Bool)
}

fn differs_operator(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    found(machine, given, 1, 0).map(|found| Datum::Bool(!found))
}

fn differs_text(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    found(machine, given, 1, 0).map(|found| Datum::Bool(!found))
}

/// Sets the variables of a match: `$` and `$1` are the whole match, `$2` is the first group, and
/// groups have their names (decisions/yaql#named-groups).
fn publish(scope: &Scope, regex: &Regex, text: &str, found: &PatternMatch) {
    for (at, range) in found.groups.iter().enumerate() {
        let place = |byte: usize| Datum::count(text[..byte].chars().count());
        let (value, start, end) = match range {
            Some((start, end)) => (Datum::text(&text[*start..*end]), place(*start), place(*end)),
            None => (Datum::Null, Datum::Int(-1), Datum::Int(-1)),
        };
        let entries: DatumEntries = [("value", value), ("start", start), ("end", end)]
            .into_iter()
            .map(|(key, value)| (DatumKey::text(key.into()), value))
            .collect();
        let entry = Datum::open_map(entries);
        if let Some(Some(name)) = regex.group_names().get(at) {
            scope.set(Variable::of(name), entry.clone());
        }
        scope.set(Variable::Number(at as u32 + 1), entry);
    }
}

fn selected(
    machine: &mut Machine<'_>,
    selector: Option<&Rc<Lambda>>,
    scope: &Rc<Scope>,
    (regex, text): (&Regex, &str),
    found: &PatternMatch,
) -> Evaluated<Datum> {
    match selector {
        None => Ok(Datum::text(&text[found.start..found.end])),
        Some(selector) => {
            let scope = Scope::inside(scope, Vec::new());
            publish(&scope, regex, text, found);
            machine.apply_in(selector, &scope)
        }
    }
}

fn search(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let (regex, text, selector) = (
        compiled(machine, &mut given, 0)?,
        given.text(1),
        given.lambda(2),
    );
    match regex.find(&text, &mut machine.budget)? {
        Some(found) => selected(
            machine,
            selector.as_ref(),
            &given.scope,
            (&regex, &text),
            &found,
        ),
        None => Ok(Datum::Null),
    }
}

fn search_all(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let depth = given.depth();
    let (regex, text, selector) = (
        compiled(machine, &mut given, 0)?,
        given.text(1),
        given.lambda(2),
    );
    let scope = given.scope;
    let mut all = regex
        .find_all(&text, usize::MAX, &mut machine.budget)?
        .into_iter();
    stream(depth, move |machine: &mut Machine<'_>| match all.next() {
        Some(found) => {
            selected(machine, selector.as_ref(), &scope, (&regex, &text), &found).map(Some)
        }
        None => Ok(None),
    })
}

/// Returns the first `count` matches: all for 0, none for a negative count.
fn first_matches(
    machine: &mut Machine<'_>,
    regex: &Regex,
    text: &str,
    count: i64,
) -> Evaluated<Vec<PatternMatch>> {
    let most = match count {
        0 => usize::MAX,
        count => usize::try_from(count).unwrap_or(0),
    };
    regex.find_all(text, most, &mut machine.budget)
}

fn parts(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    regex: usize,
    text: usize,
) -> Evaluated<Datum> {
    let count = given.small(2)?;
    let (regex, text) = (compiled(machine, &mut given, regex)?, given.text(text));
    let mut parts = Vec::new();
    let mut from = 0;
    for found in first_matches(machine, &regex, &text, count)? {
        parts.push(Datum::text(&text[from..found.start]));
        let groups = found.groups.iter().skip(1);
        parts.extend(
            groups.map(|range| {
                range.map_or(Datum::Null, |(start, end)| Datum::text(&text[start..end]))
            }),
        );
        from = found.end;
    }
    parts.push(Datum::text(&text[from..]));
    Ok(Datum::list(parts))
}

fn split(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    parts(machine, given, 0, 1)
}

fn split_text(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    parts(machine, given, 1, 0)
}

fn replaced(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    regex: usize,
    text: usize,
) -> Evaluated<Datum> {
    let count = given.small(3)?;
    let (regex, text, template) = (
        compiled(machine, &mut given, regex)?,
        given.text(text),
        given.text(2),
    );
    let template = regex.template(&template)?;
    let mut out = String::new();
    let mut from = 0;
    for found in first_matches(machine, &regex, &text, count)? {
        out.push_str(&text[from..found.start]);
        template.write(&text, &found, &mut out);
        from = found.end;
        machine.weigh(49 + out.len())?;
    }
    out.push_str(&text[from..]);
    Ok(Datum::text(out))
}

fn replace(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    replaced(machine, given, 0, 1)
}

fn replace_text(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    replaced(machine, given, 1, 0)
}

fn replaced_by(
    machine: &mut Machine<'_>,
    mut given: CallArguments,
    regex: usize,
    text: usize,
) -> Evaluated<Datum> {
    let count = given.small(3)?;
    let (regex, text, selector) = (
        compiled(machine, &mut given, regex)?,
        given.text(text),
        given.lambda(2),
    );
    let selector = selector.ok_or_else(|| Halt::failed("'NoneType' object is not callable"))?;
    let mut out = String::new();
    // Python joins the parts at the end, so a part that is not text causes the failure only after
    // all replacements.
    let (mut from, mut parts, mut wrong) = (0, 0, None);
    for found in first_matches(machine, &regex, &text, count)? {
        out.push_str(&text[from..found.start]);
        parts += usize::from(found.start > from);
        match selected(
            machine,
            Some(&selector),
            &given.scope,
            (&regex, &text),
            &found,
        )? {
            Datum::Null => {}
            Datum::Text(text) => {
                parts += 1;
                out.push_str(&text);
            }
            other => {
                wrong.get_or_insert_with(|| {
                    format!(
                        "sequence item {parts}: expected str instance, {} found",
                        other.type_name()
                    )
                });
                parts += 1;
            }
        }
        from = found.end;
        machine.weigh(49 + out.len())?;
    }
    out.push_str(&text[from..]);
    wrong.map_or_else(|| Ok(Datum::text(out)), |words| Err(Halt::failed(words)))
}

fn replace_by(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    replaced_by(machine, given, 0, 1)
}

fn replace_by_text(machine: &mut Machine<'_>, given: CallArguments) -> Evaluated<Datum> {
    replaced_by(machine, given, 1, 0)
}

fn escape_regex(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::text(escape(&given.text(0))))
}

fn is_regex(_: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    Ok(Datum::Bool(matches!(given.take(0), Datum::Regex(_))))
}
