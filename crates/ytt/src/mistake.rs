//! The mistakes of a template as its reader sees them.

use std::ops::Range;

/// Why a template cannot be parsed or rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateMistake {
    /// The line in the text of the template, from 1.
    pub line: u32,
    /// The mistake, in one or more lines. It contains no secret.
    pub message: String,
    /// The bytes of the text of the template, if known.
    pub span: Option<Range<usize>>,
}

impl TemplateMistake {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> TemplateMistake {
        TemplateMistake {
            line: line.max(1),
            message: message.into(),
            span: None,
        }
    }

    /// The same with the span of its line in the text, without blanks around it.
    pub(crate) fn in_text(mut self, text: &str) -> TemplateMistake {
        if self.span.is_some() {
            return self;
        }
        let mut start = 0;
        for (at, line) in text.split_inclusive('\n').enumerate() {
            if at + 1 == self.line as usize {
                let content = line.trim();
                let from = start + (line.len() - line.trim_start().len());
                self.span = Some(from..from + content.len());
                break;
            }
            start += line.len();
        }
        self
    }
}

impl std::fmt::Display for TemplateMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TemplateMistake {}
