//! The method `format` of texts, which yaql had before version 3 and older templates use. It is there by a setting only (D16).
//!
//! Places are filled by position or name. Unlike in the old days nothing looks into an argument, and nothing says how wide or
//! precise a value is to be written.

use super::given::Given;
use super::row::{Row, method};
use crate::failure::{Halt, Step};
use crate::model::{Datum, Machine};
use crate::words;

pub(super) const ROWS: &[Row] =
    &[method("format", "string: text, *args: any?, **kwargs: any?", format).needing_text_format().says(
        "The text with arguments in its places, `{0}` or `{name}`; only where the settings allow it.",
        "'{0}:{port}'.format(host, port => 80)",
        r#""host:80""#,
    )];

fn format(machine: &mut Machine<'_>, mut given: Given) -> Step<Datum> {
    let template = given.text(0);
    let mut out = String::new();
    let mut rest = &*template;
    // How places without a number are counted; not at all once one has a number.
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
            let index = if place.is_empty() { next } else { place.parse().unwrap_or(usize::MAX) };
            next += 1;
            let words = || Halt::failed(format!("Replacement index {index} out of range for positional args tuple"));
            given.rest.get(index).ok_or_else(words)?
        } else if place.contains(['.', '[', ':', '!', '{']) {
            return Err(Halt::failed(format!("`{{{place}}}` does more than name an argument")));
        } else {
            let found = given.named.iter().find(|(name, _)| **name == *place);
            &found.ok_or_else(|| Halt::failed(python::repr_text(place)))?.1
        };
        out.push_str(&words::text(value));
        machine.weigh(49 + out.len())?;
    }
    out.push_str(rest);
    Ok(Datum::text(out))
}
