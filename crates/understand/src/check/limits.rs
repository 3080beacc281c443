//! Checks a field's allowed values and limits (decisions/blueprint#specs-against-the-schema), for
//! literals and for evaluated values.
//!
//! Not here: the type of the value.

use blueprint::{Field, IndexMap, Name, Value};
use diag::{Code, Diagnostic, Span, nearest};
use dialect::codes as document;
use regex::Regex;

use super::codes;

/// Patterns of catalogues, each compiled once.
#[derive(Default)]
pub(super) struct Patterns {
    compiled: IndexMap<Name, Option<Regex>>,
    /// Patterns that must match the whole text.
    whole: IndexMap<Name, Option<Regex>>,
}

impl Patterns {
    /// Whether a pattern matches in a text, or the whole text if `whole` is set. A pattern that
    /// does not compile is an error of the catalogue and matches everything.
    fn matches(&mut self, pattern: &Name, whole: bool, text: &str) -> bool {
        let compiled = if whole {
            &mut self.whole
        } else {
            &mut self.compiled
        };
        if !compiled.contains_key(pattern) {
            let regex = if whole {
                Regex::new(&format!(r"\A(?:{pattern})\z"))
            } else {
                Regex::new(pattern)
            };
            compiled.insert(pattern.clone(), regex.ok());
        }
        compiled
            .get(pattern)
            .and_then(Option::as_ref)
            .is_none_or(|regex| regex.is_match(text))
    }

    /// Whether a text fits the field's pattern.
    pub(super) fn accept(&mut self, text: &str, field: &Field) -> bool {
        let limits = &field.constraint;
        limits
            .pattern
            .as_ref()
            .is_none_or(|pattern| self.matches(pattern, limits.whole, text))
    }

    /// The diagnostic for a value of the right type outside the field's allowed values or limits.
    /// It does not contain secret values.
    pub(super) fn problem(
        &mut self,
        value: &Value,
        field: &Field,
        span: Span,
    ) -> Option<Diagnostic> {
        let (value, secret) = value.split_secret();
        let secret = secret || field.sensitive;
        if !field.allowed.is_empty()
            && !value.is_null()
            && !field.allowed.iter().any(|allowed| same(allowed, value))
        {
            let shown = if secret {
                "the value".to_owned()
            } else {
                format!("`{}`", plain(value))
            };
            let diagnostic = document::VALUE_NOT_ALLOWED
                .new(format!("{shown} is not allowed here"))
                .label(span, "not an allowed value");
            let names = || field.allowed.iter().filter_map(Value::as_text);
            let near = value
                .as_text()
                .filter(|_| !secret)
                .and_then(|text| nearest(text, names()));
            let list = field
                .allowed
                .iter()
                .map(plain)
                .collect::<Vec<_>>()
                .join(", ");
            return Some(match near {
                Some(near) => diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .note(format!("allowed: {list}")),
                None => diagnostic.help(format!("use one of: {list}")),
            });
        }
        let text = self.limit(value, field)?;
        Some(constraint(&codes::VALUE_CONSTRAINT, text, span))
    }

    fn limit(&mut self, value: &Value, field: &Field) -> Option<String> {
        let limits = &field.constraint;
        match value {
            Value::Int(_) | Value::Float(_) => {
                let below = limits.min.filter(|min| compare(value, *min).is_lt());
                let above = limits.max.filter(|max| compare(value, *max).is_gt());
                match (below, above) {
                    (Some(min), _) => Some(format!("must be at least {}", number(min))),
                    (_, Some(max)) => Some(format!("must be at most {}", number(max))),
                    _ => {
                        let (step, offset) = limits
                            .modulo
                            .filter(|modulo| !is_multiple(value, *modulo))?;
                        let more = if offset == 0 {
                            String::new()
                        } else {
                            format!(" and {offset} more")
                        };
                        Some(format!("must be a multiple of {step}{more}"))
                    }
                }
            }
            Value::Text(text) => {
                let count = || text.chars().count() as u64;
                if let Some(least) = limits.min_length.filter(|least| count() < *least) {
                    return Some(format!(
                        "must have at least {least} character{}",
                        plural(least)
                    ));
                }
                if let Some(most) = limits.max_length.filter(|most| count() > *most) {
                    return Some(format!(
                        "must have at most {most} character{}, not {}",
                        plural(most),
                        count()
                    ));
                }
                let pattern = limits
                    .pattern
                    .as_ref()
                    .filter(|pattern| !self.matches(pattern, limits.whole, text))?;
                Some(match &limits.form {
                    Some(form) => format!("must be {form}"),
                    None => format!("must match `{pattern}`"),
                })
            }
            Value::List(items) | Value::Set(items) => {
                items_problem(items.len(), items.len(), field)
            }
            Value::Map(entries) => entries_problem(entries.len(), entries.len(), field),
            _ => None,
        }
    }
}

/// Whether a number minus an offset is a multiple of a step. A step of 0 accepts every number.
fn is_multiple(value: &Value, (step, offset): (i64, i64)) -> bool {
    match value {
        Value::Int(number) if step != 0 => {
            (i128::from(*number) - i128::from(offset)) % i128::from(step) == 0
        }
        _ => true,
    }
}

/// The problem of a list with between `least` and `most` items, if it certainly has too few or too
/// many.
pub(super) fn items_problem(least: usize, most: usize, field: &Field) -> Option<String> {
    count_problem(least, most, field, ["item", "items"])
}

/// The problem of a map with between `least` and `most` entries, if it certainly has too few or too
/// many.
pub(super) fn entries_problem(least: usize, most: usize, field: &Field) -> Option<String> {
    count_problem(least, most, field, ["entry", "entries"])
}

fn count_problem(
    least: usize,
    most: usize,
    field: &Field,
    [one, many]: [&str; 2],
) -> Option<String> {
    let limits = &field.constraint;
    let noun = |count: u64| if count == 1 { one } else { many };
    if let Some(wanted) = limits.min_items.filter(|wanted| (most as u64) < *wanted) {
        return Some(format!("must have at least {wanted} {}", noun(wanted)));
    }
    let wanted = limits.max_items.filter(|wanted| (least as u64) > *wanted)?;
    Some(format!(
        "must have at most {wanted} {}, not {least}",
        noun(wanted)
    ))
}

/// The diagnostic for a value outside its limits.
pub(super) fn constraint(code: &'static Code, text: String, span: Span) -> Diagnostic {
    code.new(format!("the value {text}"))
        .label(span, "outside the limits of this field")
}

/// Whether two values are equal. An integer equals a float of the same value.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

fn compare(value: &Value, limit: f64) -> std::cmp::Ordering {
    let order = match value {
        // Limits in catalogues are below 2^53, so the cast is exact for values near them.
        Value::Int(value) => (*value as f64).partial_cmp(&limit),
        Value::Float(value) => value.partial_cmp(&limit),
        _ => None,
    };
    order.unwrap_or(std::cmp::Ordering::Equal)
}

fn number(limit: f64) -> String {
    if limit.fract() == 0.0 && limit.abs() < 1e15 {
        format!("{limit:.0}")
    } else {
        blueprint::format_float(limit)
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The value without quotes.
fn plain(value: &Value) -> String {
    value
        .as_text()
        .map_or_else(|| value.to_string(), str::to_owned)
}
