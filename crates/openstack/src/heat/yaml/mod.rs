//! Writes data as YAML in block style, in the exact form of Heat's own writer:
//!
//! - It sorts keys by code point.
//! - It does not indent the items of a list below the key of the list.
//! - It folds a line at a space after 80 characters.
//! - It quotes a text that YAML 1.1 would read as another type.
//! - It puts a text in double quotes if it holds a character other than line feeds and printable
//!   ASCII, and escapes that character.
//!
//! Not here: reading YAML; anchors, tags, comments; flow style except for empty lists and maps.

mod scalar;

use blueprint::Value;
use pycompat::{float_text, text as python_text};

use self::scalar::{Style, style_of};

/// The writer folds a line at a space only after this column.
const WIDTH: usize = 80;

/// The number of columns of one level of indentation.
const STEP: usize = 2;

/// The maximum length in bytes of a key that shares a line with its value.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Writes a value as a document with a final line end. The value must hold no unknown parts. The
/// writer ignores secret marks.
pub(super) fn write(value: &Value) -> String {
    let mut writer = HeatYamlWriter {
        out: String::new(),
        column: 0,
        indent: 0,
        whitespace: true,
        indention: true,
    };
    writer.node(value, None, YamlPosition::Root);
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    writer.out
}

/// The position of a value in the document. It determines the indentation of lists and the style of
/// scalars.
#[derive(Clone, Copy, PartialEq)]
enum YamlPosition {
    Root,
    Item,
    /// A key that shares a line with its value.
    Key,
    /// A value of a map, or a key on a line of its own.
    Entry,
}

/// The output and the current position in it.
struct HeatYamlWriter {
    out: String,
    /// The number of characters in the current line.
    column: usize,
    /// The column at which the next line starts.
    indent: usize,
    /// Whether the next token needs no space before it.
    whitespace: bool,
    /// Whether the current line contains only indentation and the indicators `-`, `?` and `:` of a
    /// block collection.
    indention: bool,
}

impl HeatYamlWriter {
    /// Writes a value. `around` is the indentation of the enclosing collection; `None` at the root.
    fn node(&mut self, value: &Value, around: Option<usize>, place: YamlPosition) {
        match value.unmarked() {
            Value::Map(entries) if entries.is_empty() => self.indicator("{}", true, false, false),
            Value::Map(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_unstable_by_key(|(key, _)| *key);
                let indent = around.map_or(0, |indent| indent + STEP);
                for (key, value) in sorted {
                    self.indent = indent;
                    self.line();
                    if is_simple(key) {
                        self.scalar(key, true, indent, YamlPosition::Key);
                        self.indicator(":", false, false, false);
                    } else {
                        self.indicator("?", true, false, true);
                        self.scalar(key, true, indent, YamlPosition::Entry);
                        self.indent = indent;
                        self.line();
                        self.indicator(":", true, false, true);
                    }
                    self.node(value, Some(indent), YamlPosition::Entry);
                }
            }
            Value::List(items) | Value::Set(items) if items.is_empty() => {
                self.indicator("[]", true, false, false)
            }
            Value::List(items) | Value::Set(items) => {
                let is_flush = place == YamlPosition::Entry && !self.indention;
                let indent =
                    around.map_or(0, |indent| if is_flush { indent } else { indent + STEP });
                for item in items.iter() {
                    self.indent = indent;
                    self.line();
                    self.indicator("-", true, false, true);
                    self.node(item, Some(indent), YamlPosition::Item);
                }
            }
            Value::Text(text) => self.scalar(text, true, around.unwrap_or(0), place),
            Value::Null => self.scalar("null", false, around.unwrap_or(0), place),
            Value::Bool(value) => self.scalar(
                if *value { "true" } else { "false" },
                false,
                around.unwrap_or(0),
                place,
            ),
            Value::Float(number) => self.scalar(&float(*number), false, around.unwrap_or(0), place),
            other => self.scalar(&python_text(other), false, around.unwrap_or(0), place),
        }
    }

    /// Writes a scalar. With `is_text`, a reader gets a text back, also if the scalar looks like
    /// another type.
    fn scalar(&mut self, text: &str, is_text: bool, around: usize, place: YamlPosition) {
        self.indent = around + STEP;
        let folds = place != YamlPosition::Key;
        match style_of(text, is_text, place == YamlPosition::Key) {
            Style::Plain => self.plain(text, folds),
            Style::Single => self.single(text, folds),
            Style::Double => self.double(text, folds),
        }
    }

    fn write_char(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn write_str(&mut self, text: &str) {
        text.chars()
            .for_each(|character| self.write_char(character));
    }

    fn line_end(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Moves to the column `indent`. Stays on the current line if it holds only indentation and
    /// indicators and ends before that column, or at that column with `whitespace`. Otherwise
    /// starts a new line.
    fn line(&mut self) {
        if !self.indention
            || self.column > self.indent
            || (self.column == self.indent && !self.whitespace)
        {
            self.line_end();
        }
        while self.column < self.indent {
            self.write_char(' ');
        }
        (self.whitespace, self.indention) = (true, true);
    }

    /// Writes an indicator, with `apart` after a space if one is needed. `whitespace`: the next
    /// token needs no space before it. `indention`: a block collection may continue on this line.
    fn indicator(&mut self, text: &str, apart: bool, whitespace: bool, indention: bool) {
        if apart && !self.whitespace {
            self.write_char(' ');
        }
        self.write_str(text);
        self.whitespace = whitespace;
        self.indention &= indention;
    }

    fn plain(&mut self, text: &str, folds: bool) {
        if !self.whitespace && !text.is_empty() {
            self.write_char(' ');
        }
        let mut spaces = false;
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            if character == ' ' {
                if folds && !spaces && self.column > WIDTH && rest.peek() != Some(&' ') {
                    self.line();
                } else {
                    self.write_char(' ');
                }
                spaces = true;
            } else {
                self.write_char(character);
                (self.indention, spaces) = (false, false);
            }
        }
        (self.whitespace, self.indention) = (false, false);
    }

    fn single(&mut self, text: &str, folds: bool) {
        self.indicator("'", true, false, false);
        let (mut spaces, mut breaks, mut first) = (false, false, true);
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            match character {
                ' ' => {
                    let next = rest.peek();
                    if folds
                        && !spaces
                        && self.column > WIDTH
                        && !first
                        && next.is_some_and(|next| *next != ' ')
                    {
                        self.line();
                    } else {
                        self.write_char(' ');
                    }
                    spaces = true;
                }
                '\n' => {
                    // A reader folds one line end into a space, so the first line end of a sequence
                    // is written twice.
                    if !breaks {
                        self.line_end();
                    }
                    self.line_end();
                    (self.indention, breaks) = (true, true);
                }
                _ => {
                    if breaks {
                        self.line();
                    }
                    if character == '\'' {
                        self.write_char('\'');
                    }
                    self.write_char(character);
                    self.indention = false;
                    (spaces, breaks) = (false, false);
                }
            }
            first = false;
        }
        if breaks {
            self.line();
        }
        self.indicator("'", false, false, false);
    }

    fn double(&mut self, text: &str, folds: bool) {
        self.indicator("\"", true, false, false);
        let (mut spaces, mut first) = (false, true);
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            match character {
                ' ' => {
                    let next = rest.peek().copied();
                    if folds && !spaces && self.column > WIDTH && !first && next.is_some() {
                        self.line();
                        if next == Some(' ') {
                            // A reader drops spaces at the start of a line. The backslash protects
                            // this space.
                            self.write_char('\\');
                        }
                    } else {
                        self.write_char(' ');
                    }
                    spaces = true;
                }
                '"' | '\\' => {
                    self.write_char('\\');
                    self.write_char(character);
                    spaces = false;
                }
                '!'..='~' => {
                    self.write_char(character);
                    spaces = false;
                }
                _ => {
                    self.write_str(&scalar::escape(character));
                    spaces = false;
                }
            }
            first = false;
        }
        self.indicator("\"", false, false, false);
    }
}

/// Whether a key shares a line with its value.
fn is_simple(key: &str) -> bool {
    !key.contains(scalar::is_break) && key.len() <= LONGEST_SIMPLE_KEY
}

/// Formats a float so that YAML 1.1 reads it as a float: with a point also before an exponent.
fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            ".inf".into()
        } else {
            "-.inf".into()
        };
    }
    let text = float_text(number);
    if text.contains('.') {
        text
    } else {
        text.replacen('e', ".0e", 1)
    }
}

#[cfg(test)]
mod tests;
