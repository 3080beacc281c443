//! The method `format` of text, which yaql had before version 3. The method exists with a setting
//! only (decisions/yaql#the-method-format).
//!
//! Placeholders are filled by position or name. Unlike in yaql 2 they cannot access attributes and
//! have no format specification.

use super::given::CallArguments;
use super::row::{Row, method};
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, Machine};
use crate::text;

pub(super) const ROWS: &[Row] = &[method(
    "format",
    "string: text, *args: any?, **kwargs: any?",
    format,
)
.needing_text_format()
.documented(
    "The text with arguments in place of `{0}` or `{name}`; needs a setting.",
    "'{0}:{port}'.format(host, port => 80)",
    r#""host:80""#,
)];

fn format(machine: &mut Machine<'_>, mut given: CallArguments) -> Evaluated<Datum> {
    let template = given.text(0);
    let mut out = String::new();
    let mut rest = &*template;
    // Counts placeholders without a number; `None` once a placeholder has a number.
    let mut counted: Option<bool> = None;
    let mut next = 0;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (sign, behind) = rest[at..].split_at(1);
        if let Some(behind) = behind.strip_prefix(sign) {
            out.push_str(sign);
            rest = behind;
            continue;
        }
        if sign == "}" {
            return Err(Halt::failed("Single '}' encountered in format string"));
        }
        let Some((place, behind)) = behind.split_once('}') else {
            let words = if behind.is_empty() {
                "Single '{' encountered in format string"
            } else {
                "expected '}' before end of string"
            };
            return Err(Halt::failed(words));
        };
        rest = behind;
        let numbered = place.bytes().all(|byte| byte.is_ascii_digit());
        if numbered {
            let automatic = place.is_empty();
            if *counted.get_or_insert(automatic) != automatic {
                let (from, to) = if automatic {
                    ("manual field specification", "automatic field numbering")
                } else {
                    ("automatic field numbering", "manual field specification")
                };
                return Err(Halt::failed(format!("cannot switch from {from} to {to}")));
            }
        }
        let value = if numbered {
            let index = if place.is_empty() {
                next
            } else {
                place.parse().unwrap_or(usize::MAX)
            };
            next += 1;
            let words = || {
                Halt::failed(format!(
                    "Replacement index {index} out of range for positional args tuple"
                ))
            };
            given.rest.get(index).ok_or_else(words)?
        } else if place.contains(['.', '[', ':', '!', '{']) {
            return Err(Halt::failed(format!(
                "`{{{place}}}` does more than name an argument"
            )));
        } else {
            let found = given.named.iter().find(|(name, _)| **name == *place);
            &found
                .ok_or_else(|| Halt::failed(pycompat::repr_text(place)))?
                .1
        };
        out.push_str(&text::text(value));
        machine.weigh(49 + out.len())?;
    }
    out.push_str(rest);
    Ok(Datum::text(out))
}
