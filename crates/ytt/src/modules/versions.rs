//! The module `version`.

use std::sync::LazyLock;

use regex::Regex;

use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::value::StarValue;

/// The version whose language this is.
const VERSION: [u64; 3] = [0, 49, 0];

static SEMANTIC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$",
    )
    .expect("the expression is valid")
});

/// `version.require_at_least`
///
/// # Errors
/// If the version is newer, or the text is no version.
pub(super) fn require(call: &NativeCall) -> Evaluated<StarValue> {
    call.exactly(1)?;
    let text = call.text(0)?;
    let Some(parts) = SEMANTIC.captures(text) else {
        return fail(format!("version string '{text}' must be a valid semver"));
    };
    let number = |at: usize| parts[at].parse::<u64>().unwrap_or(u64::MAX);
    let wanted = [number(1), number(2), number(3)];
    if VERSION < wanted {
        return fail(format!(
            "ytt version '0.49.0' does not meet the minimum required version '{text}'"
        ));
    }
    Ok(StarValue::None)
}
