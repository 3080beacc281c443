//! Limits of the size and depth of values (decision A17), and of all values of a document.

use blueprint::{Expr, Value};
use diag::{Diagnostic, Span};

use crate::codes;

/// The default limit of one value in bytes.
pub(crate) const LIMIT: usize = 10 * 1024 * 1024;

/// The maximum limit of one value that can be set, in bytes. Functions never create a larger value, not even
/// temporarily.
pub const MAX_VALUE_BYTES: usize = 64 * 1024 * 1024;

/// The default limit of all values of a document in bytes.
const ALL: usize = 64 * 1024 * 1024;

/// The maximum nesting depth of lists and maps.
const DEPTH: usize = 256;

/// The size of a map entry in bytes, without key and value.
const ENTRY: usize = 48;

/// The limits of a document's values, and the bytes used so far.
///
/// Values that expressions create are counted. Reads are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    value: usize,
    all: usize,
    used: usize,
    full: Option<Span>,
}

/// The error for a document whose values exceed the limit. The meter records the place; its owner reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitExceeded;

impl Meter {
    /// A meter with these limits in bytes for one value and for all values; `None` selects the default.
    pub fn new(value: Option<usize>, all: Option<usize>) -> Meter {
        Meter { value: value.unwrap_or(LIMIT).min(MAX_VALUE_BYTES), all: all.unwrap_or(ALL), used: 0, full: None }
    }

    /// The limit of all values in bytes.
    pub fn all(&self) -> usize {
        self.all
    }

    /// The limit of one value in bytes.
    pub fn largest(&self) -> usize {
        self.value
    }

    /// Counts the bytes of a new value. Fails if the limit is exceeded. `place` is the place of the expression.
    pub fn take(&mut self, bytes: usize, place: Span) -> Result<(), LimitExceeded> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.all {
            return Ok(());
        }
        self.full.get_or_insert(place);
        Err(LimitExceeded)
    }

    /// Whether the limit has been exceeded. No further evaluation is needed then.
    pub fn is_full(&self) -> bool {
        self.full.is_some()
    }

    /// The diagnostic, if the limit has been exceeded.
    pub fn problem(&self) -> Option<Diagnostic> {
        let limit = bytes(self.all);
        let place = self.full?;
        let problem = codes::VALUES_TOO_LARGE
            .new(format!("the values of this document and those it includes take more than {limit} together"))
            .label(place, "goes beyond the limit")
            .help("make less of it, or raise `all-value-bytes` under `[documents]` in `cyan.toml`");
        Some(problem)
    }

    /// The bytes counted so far, for [`Meter::back_to`].
    pub fn used(&self) -> usize {
        self.used
    }

    /// Resets the count to an earlier one, because the values since then are evaluated again.
    pub fn back_to(&mut self, used: usize) {
        self.used = used;
    }

    /// Removes the limit of all values.
    pub fn lift(&mut self) {
        (self.all, self.full) = (usize::MAX, None);
    }
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new(None, None)
    }
}

/// The approximate size of a copy of an expression in bytes.
pub fn weight(expr: &Expr) -> usize {
    /// The size of one expression node in bytes.
    const PART: usize = 64;
    let mut bytes = 0_usize;
    expr.walk(&mut |part| {
        let literal = part.as_literal().map_or(0, |value| size(value, MAX_VALUE_BYTES).unwrap_or(MAX_VALUE_BYTES));
        bytes = bytes.saturating_add(PART).saturating_add(literal);
    });
    bytes
}

/// The approximate size of a value in bytes without sharing; `None` if it exceeds `most` or is too deep.
pub fn size(value: &Value, most: usize) -> Option<usize> {
    // The outermost value counts only its contents: the size of a text is its length.
    let all = most.saturating_add(std::mem::size_of::<Value>());
    let mut left = all;
    fits(value, &mut left, DEPTH).then(|| (all - left).saturating_sub(std::mem::size_of::<Value>()))
}

fn fits(value: &Value, left: &mut usize, depth: usize) -> bool {
    let own = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Map(entries) => entries.keys().map(|key| key.len() + ENTRY).sum(),
        _ => 0,
    };
    let Some(rest) = left.checked_sub(own + std::mem::size_of::<Value>()) else { return false };
    *left = rest;
    match value {
        Value::List(items) | Value::Set(items) => depth > 0 && items.iter().all(|item| fits(item, left, depth - 1)),
        Value::Map(entries) => depth > 0 && entries.values().all(|value| fits(value, left, depth - 1)),
        Value::Secret(inner) => fits(inner, left, depth),
        Value::Function(function) => depth > 0 && function.bound.iter().all(|value| fits(value, left, depth - 1)),
        _ => true,
    }
}

/// Formats a number of bytes with a unit.
pub(crate) fn bytes(count: usize) -> String {
    match (count % (1 << 20), count % (1 << 10)) {
        (0, _) => format!("{} MiB", count >> 20),
        (_, 0) => format!("{} KiB", count >> 10),
        _ => format!("{count} bytes"),
    }
}
