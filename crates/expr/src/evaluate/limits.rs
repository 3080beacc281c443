//! How large and how deep a value may be (decision A17), and how much all values of a document may take.

use blueprint::{Expr, Value};
use diag::{Diagnostic, Span};

use crate::codes;

/// The largest value, in bytes, where nothing else is set.
pub(crate) const LIMIT: usize = 10 * 1024 * 1024;

/// The largest that anybody may set for one value. Functions make no more, not even to have it refused.
pub const MOST: usize = 64 * 1024 * 1024;

/// What all values of a document may take, in bytes, where nothing else is set.
const ALL: usize = 64 * 1024 * 1024;

/// The greatest depth of lists and maps in each other.
const DEPTH: usize = 256;

/// What an entry of a map takes beside its key and its value.
const ENTRY: usize = 48;

/// What values of a document may take, and what they have taken so far.
///
/// Counted is what expressions make. What they only read costs nothing, however often it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    value: usize,
    all: usize,
    used: usize,
    full: Option<Span>,
}

/// All values of a document take more than they may. The meter says where; its owner reports that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Meter {
    /// With these limits for one value and for all, in bytes; without one the usual.
    pub fn new(value: Option<usize>, all: Option<usize>) -> Meter {
        Meter { value: value.unwrap_or(LIMIT).min(MOST), all: all.unwrap_or(ALL), used: 0, full: None }
    }

    /// What all values may take.
    pub fn all(&self) -> usize {
        self.all
    }

    /// The largest that one value may be.
    pub fn largest(&self) -> usize {
        self.value
    }

    /// Counts so many bytes of a value that is made there.
    pub fn take(&mut self, bytes: usize, place: Span) -> Result<(), Full> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.all {
            return Ok(());
        }
        self.full.get_or_insert(place);
        Err(Full)
    }

    /// Whether all values have taken more than they may at some time. Nothing needs to be evaluated then.
    pub fn is_full(&self) -> bool {
        self.full.is_some()
    }

    /// What to report if they have.
    pub fn problem(&self) -> Option<Diagnostic> {
        let limit = bytes(self.all);
        let place = self.full?;
        let problem = codes::VALUES_TOO_LARGE
            .new(format!("the values of this document and those it includes take more than {limit} together"))
            .label(place, "goes beyond the limit")
            .help("make less of it, or raise `all-value-bytes` under `[documents]` in `cyan.toml`");
        Some(problem)
    }

    /// What was counted so far, to go back to.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Forgets what was counted since: it is evaluated again.
    pub fn back_to(&mut self, used: usize) {
        self.used = used;
    }

    /// From here on all values together may take anything.
    pub fn lift(&mut self) {
        (self.all, self.full) = (usize::MAX, None);
    }
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new(None, None)
    }
}

/// About how many bytes a copy of an expression takes.
pub fn weight(expr: &Expr) -> usize {
    /// A part of an expression, with its place.
    const PART: usize = 64;
    let mut bytes = 0_usize;
    expr.walk(&mut |part| {
        let literal = part.as_literal().map_or(0, |value| size(value, MOST).unwrap_or(MOST));
        bytes = bytes.saturating_add(PART).saturating_add(literal);
    });
    bytes
}

/// About how many bytes a value takes where nothing in it is shared; none for more than `most`, or one that is too deep.
pub fn size(value: &Value, most: usize) -> Option<usize> {
    // Of the whole only what is in it counts: a text is as large as it is long.
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

/// A number of bytes for people.
pub(crate) fn bytes(count: usize) -> String {
    match (count % (1 << 20), count % (1 << 10)) {
        (0, _) => format!("{} MiB", count >> 20),
        (_, 0) => format!("{} KiB", count >> 10),
        _ => format!("{count} bytes"),
    }
}
