//! Why the YAML parser was stopped.

/// The parser's errors.
pub(crate) type Kind = granit_parser::ErrorKind;

/// Why the parser was stopped.
pub(crate) enum Trouble {
    /// A plain scalar that ends at `end` inside the substitution that begins at `at`.
    Cut { at: usize, end: usize },
    /// The parser's own error.
    Error { at: usize, kind: Kind },
    /// A container inside too many others.
    TooDeep { at: usize },
}
