//! The reasons why the YAML parser stopped.

/// The parser's errors.
pub(crate) type Kind = granit_parser::ErrorKind;

/// The reason why the parser stopped.
pub(crate) enum Trouble {
    /// A plain scalar ends at `end` inside the substitution that begins at `at`.
    Cut { at: usize, end: usize },
    /// An error of the parser.
    Error { at: usize, kind: Kind },
    /// A container exceeds the nesting limit.
    TooDeep { at: usize },
}
