//! The state of a translation: the pattern to read, and the written pattern.

use std::collections::HashMap;

/// The flags of a pattern; a pattern can set them too, as in `(?i)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags {
    /// `re.IGNORECASE`: letters match in both cases.
    pub ignore_case: bool,
    /// `re.MULTILINE`: `^` and `$` match at every line.
    pub multi_line: bool,
    /// `re.DOTALL`: `.` matches line ends too.
    pub dot_all: bool,
    /// `re.ASCII`: `\w`, `\d` and `\s` match ASCII only.
    pub ascii: bool,
    /// `re.VERBOSE`: white space and comments in the pattern are ignored.
    pub verbose: bool,
}

/// A syntax error of a pattern with Python's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// Python's message, such as `nothing to repeat`.
    pub message: String,
    /// The index of the character in the pattern, from 0.
    pub at: usize,
    /// The form in which Python prints the position.
    pub(super) place: ErrorPlace,
}

/// The form in which Python prints the position of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorPlace {
    /// No position.
    None,
    /// The index of the character.
    Position,
    /// The index of the character, and the line and column from 1, in a pattern of several lines.
    Line(usize, usize),
}

/// Formats the error as Python prints it: `nothing to repeat at position 0`.
impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PatternError { message, at, place } = self;
        match place {
            ErrorPlace::None => f.write_str(message),
            ErrorPlace::Position => write!(f, "{message} at position {at}"),
            ErrorPlace::Line(line, column) => write!(
                f,
                "{message} at position {at} (line {line}, column {column})"
            ),
        }
    }
}

impl std::error::Error for PatternError {}

/// The minimum and maximum number of characters that an item matches.
#[derive(Clone, Copy)]
pub(super) struct Width(pub(super) u32, pub(super) u32);

impl Width {
    pub(super) const NONE: Width = Width(0, 0);
    pub(super) const ONE: Width = Width(1, 1);

    pub(super) fn then(self, other: Width) -> Width {
        Width(
            self.0.saturating_add(other.0),
            self.1.saturating_add(other.1),
        )
    }

    pub(super) fn or(self, other: Width) -> Width {
        Width(self.0.min(other.0), self.1.max(other.1))
    }
}

/// The kind of item before a quantifier.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum PrecedingItem {
    Nothing,
    Anchor,
    Repeated,
    Item,
}

pub(super) struct Translator {
    pub(super) characters: Vec<char>,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) names: Vec<Option<String>>,
    /// The width of each group; `None` for a group that is still open.
    pub(super) widths: Vec<Option<Width>>,
    pub(super) by_name: HashMap<String, usize>,
    /// The groups that conditions refer to, each with the position of the reference.
    pub(super) referenced_groups: Vec<(usize, usize)>,
    /// Whether a look-behind has no fixed width. Python reports this error last.
    pub(super) variable_look_behind: bool,
    pub(super) depth: usize,
}

pub(super) type Translation<T> = Result<T, PatternError>;

impl Translator {
    /// Begins a translation.
    pub(super) fn new(pattern: &str) -> Translator {
        Translator {
            characters: pattern.chars().collect(),
            at: 0,
            out: String::with_capacity(pattern.len() + 8),
            names: vec![None],
            widths: vec![None],
            by_name: HashMap::new(),
            referenced_groups: Vec::new(),
            variable_look_behind: false,
            depth: 0,
        }
    }

    pub(super) fn error(&self, message: impl Into<String>, at: usize) -> PatternError {
        PatternError {
            message: message.into(),
            at,
            place: ErrorPlace::Position,
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.characters[self.at..]
            .iter()
            .copied()
            .take(text.len())
            .eq(text.chars());
        if found {
            self.at += text.len();
        }
        found
    }
}
