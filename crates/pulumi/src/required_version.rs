//! The versions of Pulumi that a program needs, `pulumi.requiredVersion`: a range such as
//! `>=3.0.0 <4.0.0 || 5.1.0` (decisions/pulumi#required-versions).

use diag::{Diagnostic, Span};

use crate::codes::REQUIRED_VERSION;

/// The version of Pulumi whose programs this dialect reads.
const COMPATIBLE: &str = "3.255.0";

/// The mistake of a program that needs another version; `None` if this one fits.
pub(crate) fn refusal(range: &str, place: Span) -> Option<Diagnostic> {
    match is_in_range(range) {
        Some(true) => None,
        Some(false) => Some(
            REQUIRED_VERSION
                .new(format!("the program needs Pulumi `{range}`"))
                .label(place, format!("this is Pulumi {COMPATIBLE}"))
                .help("use a version of the program for this one"),
        ),
        None => Some(
            REQUIRED_VERSION
                .new(format!("`{range}` is no range of versions"))
                .label(place, "cannot be compared")
                .help("write a range such as `>=3.0.0 <4.0.0`"),
        ),
    }
}

type VersionNumbers = [u64; 3];

/// Whether the version is in the range. `None` if the text is no range.
fn is_in_range(range: &str) -> Option<bool> {
    let version = version(COMPATIBLE)?;
    if range.trim().is_empty() {
        return Some(true);
    }
    let mut any = false;
    for alternative in range.split("||") {
        any |= all_fit(alternative, version)?;
    }
    Some(any)
}

/// Whether a version fits all comparisons, which blanks separate.
fn all_fit(text: &str, own: VersionNumbers) -> Option<bool> {
    let mut all = true;
    let mut count = 0;
    let mut pending = String::new();
    for word in text.split_whitespace() {
        // Blanks may stand between an operator and its version.
        pending.push_str(word);
        if pending.ends_with(['<', '>', '=', '!', '~', '^']) {
            continue;
        }
        all &= fits(&pending, own)?;
        count += 1;
        pending.clear();
    }
    (count > 0 && pending.is_empty()).then_some(all)
}

fn fits(comparison: &str, own: VersionNumbers) -> Option<bool> {
    let split = comparison.find(|letter: char| letter.is_ascii_alphanumeric())?;
    let (operator, number) = comparison.split_at(split);
    let wanted = version(number)?;
    Some(match operator {
        "" | "=" | "==" => own == wanted,
        "!" | "!=" => own != wanted,
        ">" => own > wanted,
        ">=" | "=>" => own >= wanted,
        "<" => own < wanted,
        "<=" | "=<" => own <= wanted,
        _ => return None,
    })
}

/// The three numbers of a version; later ones may be missing. A label after `-` is not compared.
fn version(text: &str) -> Option<VersionNumbers> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let numbers = text.split(['-', '+']).next()?;
    let mut version = [0; 3];
    let mut parts = numbers.split('.');
    for (at, number) in version.iter_mut().enumerate() {
        match parts.next() {
            Some("x" | "X" | "*") => {}
            Some(part) => *number = part.parse().ok()?,
            None if at > 0 => {}
            None => return None,
        }
    }
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_compared() {
        for (range, fits) in [
            (">=3.1.0", Some(true)),
            (">= 3.1.0 <4.0.0", Some(true)),
            (">=4.0.0", Some(false)),
            ("<3.0.0 || >=3.255.0", Some(true)),
            ("!3.255.0", Some(false)),
            ("3.255.0", Some(true)),
            ("newest", None),
            ("", Some(true)),
            (">=", None),
        ] {
            assert_eq!(is_in_range(range), fits, "{range}");
        }
    }
}
