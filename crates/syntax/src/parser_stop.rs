//! The reasons why the YAML parser stopped.

/// The parser's errors.
pub(crate) type ParserErrorKind = granit_parser::ErrorKind;

/// The reason why the parser stopped.
pub(crate) enum ParserStop {
    /// A plain scalar ends at `end` inside the substitution that begins at `at`.
    Cut { at: usize, end: usize },
    /// An error of the parser.
    Error { at: usize, kind: ParserErrorKind },
    /// A container exceeds the nesting limit.
    TooDeep { at: usize },
}
