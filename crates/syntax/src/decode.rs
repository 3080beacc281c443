//! From the decoded text of a scalar back to its source.

use diag::{Span, TextMap};

use crate::{Scalar, Style};

pub(crate) fn text_map(span: Span, scalar: &Scalar, source: &str) -> TextMap {
    let _ = source;
    let start = match scalar.style {
        Style::SingleQuoted | Style::DoubleQuoted | Style::JsonString => span.start + 1,
        _ => span.start,
    };
    TextMap::identity(span.file, start, scalar.text.len() as u32)
}
