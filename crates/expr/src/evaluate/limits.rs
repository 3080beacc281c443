//! Limits of the size and depth of a value (decisions/blueprint#limits-of-evaluation), and of the
//! total size of all values of a document and its children.

use blueprint::{Expr, Value};
use diag::{Diagnostic, Span};

use crate::codes;

/// The default limit of one value in bytes.
pub(crate) const DEFAULT_VALUE_BYTES: usize = 10 * 1024 * 1024;

/// The greatest limit of one value that users can set, in bytes. No function creates a value that
/// is larger than this, not even temporarily.
pub const MAX_VALUE_BYTES: usize = 64 * 1024 * 1024;

/// The default limit of all values together in bytes.
const DEFAULT_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// The maximum nesting depth of lists and maps.
const MAX_DEPTH: usize = 256;

/// The bytes that each entry of a map takes beside its key and value.
const ENTRY_OVERHEAD: usize = 48;

/// The limits of values, and the bytes of all values that expressions have created so far. Reading
/// an existing value creates none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    value_limit: usize,
    total_limit: usize,
    used: usize,
    /// The first place where the total limit was exceeded.
    exceeded_at: Option<Span>,
}

/// The error for values that exceed the limit together. The meter stores the place; the owner of
/// the meter reports the error ([`Meter::problem`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitExceeded;

impl Meter {
    /// A meter with these limits in bytes for one value and for all values; `None` selects the
    /// default.
    pub fn new(value: Option<usize>, all: Option<usize>) -> Meter {
        Meter {
            value_limit: value.unwrap_or(DEFAULT_VALUE_BYTES).min(MAX_VALUE_BYTES),
            total_limit: all.unwrap_or(DEFAULT_TOTAL_BYTES),
            used: 0,
            exceeded_at: None,
        }
    }

    /// The limit of all values together in bytes.
    pub fn total_limit(&self) -> usize {
        self.total_limit
    }

    /// The limit of one value in bytes.
    pub fn value_limit(&self) -> usize {
        self.value_limit
    }

    /// Counts the bytes of a new value, which the expression at `place` creates. Fails if the total
    /// then exceeds the limit; the bytes are counted anyway.
    pub fn charge(&mut self, bytes: usize, place: Span) -> Result<(), LimitExceeded> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.total_limit {
            return Ok(());
        }
        self.exceeded_at.get_or_insert(place);
        Err(LimitExceeded)
    }

    /// Whether the total limit has been exceeded. The evaluation has then failed and can stop.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded_at.is_some()
    }

    /// The diagnostic, if the limit has been exceeded.
    pub fn problem(&self) -> Option<Diagnostic> {
        let limit = bytes(self.total_limit);
        let place = self.exceeded_at?;
        let problem = codes::VALUES_TOO_LARGE
            .new(format!("the values of this document and of its child documents take more than {limit} together"))
            .label(place, "the limit is exceeded here")
            .help("create fewer or smaller values, or raise `all-value-bytes` under `[documents]` in `cyan.toml`");
        Some(problem)
    }

    /// The bytes counted so far, for [`Meter::reset_to`].
    pub fn used(&self) -> usize {
        self.used
    }

    /// Resets the count to an earlier result of [`Meter::used`], before an evaluation is repeated.
    /// Whether the limit has been exceeded is kept.
    pub fn reset_to(&mut self, used: usize) {
        self.used = used;
    }

    /// Removes the total limit, which a plan has checked: its operation must be able to continue.
    /// The limit of one value stays.
    pub fn lift_total_limit(&mut self) {
        (self.total_limit, self.exceeded_at) = (usize::MAX, None);
    }
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new(None, None)
    }
}

/// The approximate size of an expression in bytes: each item of `each` has a copy.
pub fn weight(expr: &Expr) -> usize {
    const NODE_BYTES: usize = 64;
    let mut bytes = 0_usize;
    expr.walk(&mut |part| {
        let literal = part.as_literal().map_or(0, |value| {
            size(value, MAX_VALUE_BYTES).unwrap_or(MAX_VALUE_BYTES)
        });
        bytes = bytes.saturating_add(NODE_BYTES).saturating_add(literal);
    });
    bytes
}

/// The approximate size of a value in bytes; `None` if it exceeds `most` or is too deep. A part
/// that is shared counts each time that it occurs.
pub fn size(value: &Value, most: usize) -> Option<usize> {
    // The outermost `Value` itself does not count, so the size of a text is its length.
    let all = most.saturating_add(std::mem::size_of::<Value>());
    let mut left = all;
    fits(value, &mut left, MAX_DEPTH)
        .then(|| (all - left).saturating_sub(std::mem::size_of::<Value>()))
}

fn fits(value: &Value, left: &mut usize, depth: usize) -> bool {
    let own = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Map(entries) => entries.keys().map(|key| key.len() + ENTRY_OVERHEAD).sum(),
        _ => 0,
    };
    let Some(rest) = left.checked_sub(own + std::mem::size_of::<Value>()) else {
        return false;
    };
    *left = rest;
    match value {
        Value::List(items) | Value::Set(items) => {
            depth > 0 && items.iter().all(|item| fits(item, left, depth - 1))
        }
        Value::Map(entries) => {
            depth > 0 && entries.values().all(|value| fits(value, left, depth - 1))
        }
        Value::Secret(inner) => fits(inner, left, depth),
        Value::Function(function) => {
            depth > 0
                && function
                    .bound
                    .iter()
                    .all(|value| fits(value, left, depth - 1))
        }
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
