//! Manifests as data, and the places of their parts: the objects of a platform hold no references.

use std::ops::Range;

use blueprint::{Expr, ExprKind, PathStep, Value};
use diag::Span;

/// The value of an expression without references. A part whose mistake is reported is null.
pub(super) fn value_of(expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Literal(value) => value.clone(),
        ExprKind::List(items) => Value::list(items.iter().map(value_of)),
        ExprKind::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.item.clone(), value_of(entry))),
        ),
        _ => Value::Null,
    }
}

/// The part of an expression at a path; `None` if there is none.
pub(super) fn part_at<'e>(expr: &'e Expr, path: &[PathStep]) -> Option<&'e Expr> {
    path.iter().try_fold(expr, step_into)
}

/// The place of the part at a path, or of the nearest part above it that exists.
pub(super) fn place_at(expr: &Expr, path: &[PathStep]) -> Span {
    let mut place = expr;
    let mut span = expr.span;
    for step in path {
        let Some(part) = step_into(place, step) else {
            // The map of a missing entry can be long: its key is the better place.
            return span;
        };
        span = match &part.kind {
            ExprKind::Map(_) | ExprKind::List(_) => key_span(place, step).unwrap_or(part.span),
            _ => part.span,
        };
        place = part;
    }
    span
}

/// The place of the bytes `inside` the text at a path: of the whole text if it is quoted with
/// escapes or has several lines, so that bytes of the value are no bytes of the document.
pub(super) fn place_inside(expr: &Expr, path: &[PathStep], inside: &Range<u32>) -> Span {
    let whole = place_at(expr, path);
    let text = part_at(expr, path).and_then(|part| part.as_literal()?.as_text());
    let Some(text) = text else { return whole };
    let written = whole.end - whole.start;
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    // A plain text is written as it is, a quoted one has a quote before and after it.
    let offset = match written.checked_sub(length) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return whole,
    };
    let start = whole.start + offset + inside.start.min(length);
    let end = whole.start + offset + inside.end.min(length);
    Span {
        start,
        end,
        ..whole
    }
}

fn step_into<'e>(expr: &'e Expr, step: &PathStep) -> Option<&'e Expr> {
    match (&expr.kind, step) {
        (ExprKind::Map(entries), PathStep::Field(key) | PathStep::Key(key)) => entries
            .iter()
            .find(|(name, _)| name.item == *key)
            .map(|(_, entry)| entry),
        (ExprKind::List(items), PathStep::Index(at)) => items.get(usize::try_from(*at).ok()?),
        _ => None,
    }
}

fn key_span(map: &Expr, step: &PathStep) -> Option<Span> {
    let (ExprKind::Map(entries), PathStep::Field(key) | PathStep::Key(key)) = (&map.kind, step)
    else {
        return None;
    };
    let entry = entries.iter().find(|(name, _)| name.item == *key);
    entry.map(|(name, _)| name.span)
}

/// The place of the key of the last step of a path; `None` if there is none.
pub(super) fn key_at(expr: &Expr, path: &[PathStep]) -> Option<Span> {
    let (last, above) = path.split_last()?;
    key_span(part_at(expr, above)?, last)
}

/// The places of the lines of a literal block, without their indentation; empty for a text that is
/// written otherwise, whose lines are not those of the document.
pub(super) fn block_lines(text: &str, block: Span) -> Vec<Span> {
    let written = text.get(block.start as usize..block.end as usize);
    let Some(written) = written.filter(|written| written.starts_with('|')) else {
        return Vec::new();
    };
    let mut start = block.start;
    let mut lines = Vec::new();
    for line in written.split_inclusive('\n') {
        let content = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let from = start + offset(if content.is_empty() { 0 } else { indentation });
        let end = from + offset(content.len());
        lines.push(Span::new(block.file, from, end));
        start += offset(line.len());
    }
    // The first line has the indicator.
    lines.remove(0);
    lines
}
