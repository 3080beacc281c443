//! Texts of several lines: `|` and `>` blocks, and plain or quoted scalars that span several lines.
//!
//! The content of the lines stays. Only their indentation changes, and blanks that are not content
//! are removed.

use super::lines::STEP;
use crate::{Scalar, Style, decode};

/// A block scalar as the lines below its key.
pub(super) struct BlockScalar {
    /// `|` or `>` with its indicators.
    pub(super) header: String,
    /// The lines of content; empty ones have no blanks.
    pub(super) lines: Vec<String>,
    /// Whether empty lines below would become part of the block.
    pub(super) keeps_trailing_lines: bool,
}

/// The `|` or `>` block whose indicator is at `start` of the source.
pub(super) fn block(source: &str, start: usize, scalar: &Scalar) -> Option<BlockScalar> {
    let body = scalar.text.trim_end_matches('\n');
    let breaks = scalar.text.len() - body.len();
    let mut lines: Vec<String> = match scalar.style {
        _ if body.is_empty() => Vec::new(),
        Style::Literal => body.split('\n').map(str::to_owned).collect(),
        _ => folded_lines(source, start, &scalar.text)?,
    };
    let deeper = lines
        .iter()
        .find(|line| !line.is_empty())
        .is_some_and(|line| line.starts_with(' '));
    let header = source.get(start..decode::line_end(source.as_bytes(), start))?;
    let indicators = header.split([' ', '\t']).next().unwrap_or_default();
    let chomping = match breaks {
        0 if body.is_empty() && !indicators.contains(['-', '+']) => "",
        0 => "-",
        1 if !body.is_empty() && !indicators.contains('+') => "",
        _ => "+",
    };
    // Each line has one break. Only additional breaks need empty lines.
    let further = if body.is_empty() {
        breaks
    } else {
        breaks.saturating_sub(1)
    };
    lines.extend(std::iter::repeat_n(String::new(), further));
    let indentation = if deeper {
        STEP.to_string()
    } else {
        String::new()
    };
    let style = indicators.chars().next()?;
    Some(BlockScalar {
        header: format!("{style}{indentation}{chomping}"),
        lines,
        keeps_trailing_lines: chomping == "+",
    })
}

/// The lines of a folded block without their common indentation. They come from the source, because
/// the folded text does not show them.
fn folded_lines(source: &str, start: usize, text: &str) -> Option<Vec<String>> {
    let bytes = source.as_bytes();
    let mut at = decode::line_end(bytes, start);
    at += decode::line_break(bytes, at);
    let indent = decode::block_indent(bytes, at, text.as_bytes());
    let mut lines: Vec<String> = Vec::new();
    while at < bytes.len() {
        let end = decode::line_end(bytes, at);
        let line = source.get(at..end)?;
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if spaces < indent && spaces < line.len() {
            break;
        }
        lines.push(line.get(indent.min(spaces)..)?.to_owned());
        at = end + decode::line_break(bytes, end).max(1);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    Some(lines)
}

/// The lines of a plain or quoted scalar as written, starting with the first one.
pub(super) fn lines(written: &str, style: Style) -> Vec<String> {
    let normal = written.replace("\r\n", "\n").replace('\r', "\n");
    let count = normal.split('\n').count();
    let blanks = [' ', '\t'];
    normal
        .split('\n')
        .enumerate()
        .map(|(at, line)| {
            let line = if at == 0 {
                line
            } else {
                line.trim_start_matches(blanks)
            };
            if at + 1 == count {
                return line.to_owned();
            }
            let trimmed = line.trim_end_matches(blanks);
            let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
            // An escaped blank is content.
            let escaped =
                style == Style::DoubleQuoted && backslashes % 2 == 1 && trimmed.len() < line.len();
            line.get(..trimmed.len() + usize::from(escaped))
                .unwrap_or(trimmed)
                .to_owned()
        })
        .collect()
}
