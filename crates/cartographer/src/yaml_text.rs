//! Values as YAML the way Cartographer writes them for previews and digests
//! (decisions/cartographer#outputs): blocks with an indent of 4, keys sorted, strings quoted only
//! where they must be. All numbers are doubles there.
//!
//! Not here: anything that a value cannot have, such as comments and tags; long lines stay long.

mod order;
mod plain;
mod scalar;

use blueprint::{Map, Value};
use jsonpath::float_text;

use scalar::{ScalarStyle, style};

/// How deep a value may be that is written.
const DEPTH: usize = 500;

/// The indent of blocks.
const INDENT: usize = 4;

/// The text of a value; `None` if a part of it is unknown or has no form in YAML, or if it is
/// deeper than 500 levels. Secret marks are ignored.
pub(crate) fn yaml_text(value: &Value) -> Option<String> {
    let mut writer = YamlWriter {
        text: String::new(),
        column: 0,
        at_indent: true,
    };
    writer.node(value, None, Place::Root, 0)?;
    if writer.column > 0 {
        writer.line_break();
    }
    Some(writer.text)
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    Key,
    Entry,
}

struct YamlWriter {
    text: String,
    /// The column in characters.
    column: usize,
    /// Whether the line has only indentation and the dashes of lists so far.
    at_indent: bool,
}

impl YamlWriter {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn line_break(&mut self) {
        self.text.push('\n');
        self.column = 0;
        self.at_indent = true;
    }

    /// Goes to a column, on this line if only indentation is before it.
    fn indent(&mut self, indent: usize) {
        if !self.at_indent || self.column > indent {
            self.line_break();
        }
        while self.column < indent {
            self.put(" ");
        }
    }

    /// A sign, with a blank before it if something stands on the line.
    fn sign(&mut self, sign: &str) {
        if self.column > 0 && !self.text.ends_with(' ') {
            self.put(" ");
        }
        self.put(sign);
    }

    /// Writes a node that stands in a block with an indent, `None` for the root.
    fn node(
        &mut self,
        value: &Value,
        outer: Option<usize>,
        place: Place,
        depth: usize,
    ) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        match value.unmarked() {
            Value::Null => self.word("null"),
            Value::Bool(flag) => self.word(if *flag { "true" } else { "false" }),
            Value::Int(number) => self.word(&float_text(as_double(*number))),
            Value::Float(number) => self.word(&special_float(*number)),
            Value::Decimal(number) => self.word(&special_float(number.parse().ok()?)),
            Value::Text(text) => self.string(text, outer, place),
            Value::List(items) | Value::Set(items) if items.is_empty() => self.word("[]"),
            Value::Map(entries) if entries.is_empty() => self.word("{}"),
            Value::List(items) | Value::Set(items) => {
                let indent = inner_indent(outer, place).unwrap_or(0);
                for item in items.iter() {
                    self.indent(indent);
                    self.put("-");
                    self.node(item, Some(indent), Place::Item, depth + 1)?;
                }
            }
            Value::Map(entries) => {
                let indent = inner_indent(outer, place).unwrap_or(0);
                self.entries(entries, indent, depth)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn entries(&mut self, entries: &Map, indent: usize, depth: usize) -> Option<()> {
        for (key, value) in order::sorted(entries.iter().collect()) {
            self.indent(indent);
            let text = Value::Text(key.clone());
            if key.len() <= 128 && !scalar::has_break(key) {
                self.node(&text, Some(indent), Place::Key, depth + 1)?;
                self.at_indent = false;
                self.put(":");
            } else {
                self.put("?");
                self.node(&text, Some(indent), Place::Entry, depth + 1)?;
                self.indent(indent);
                self.put(":");
            }
            self.node(value, Some(indent), Place::Entry, depth + 1)?;
        }
        Some(())
    }

    fn word(&mut self, word: &str) {
        self.sign(word);
        self.at_indent = false;
    }

    fn string(&mut self, text: &str, outer: Option<usize>, place: Place) {
        let indent = inner_indent(outer, place).unwrap_or(INDENT);
        match style(text, place == Place::Key) {
            ScalarStyle::Plain => self.word(text),
            ScalarStyle::Single => self.word(&scalar::single_quoted(text, indent)),
            ScalarStyle::Double => self.word(&scalar::double_quoted(text)),
            ScalarStyle::Literal => {
                // A break at the start of the text ends this line, so it is lost, as upstream.
                self.word(&format!("|{}", scalar::literal_hints(text, INDENT)));
                self.literal(text, indent);
            }
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let mut starts_line = true;
        for character in text.chars() {
            if scalar::is_break(character) {
                match character {
                    '\n' => self.line_break(),
                    other => {
                        self.text.push(other);
                        self.column = 0;
                        self.at_indent = true;
                    }
                }
                starts_line = true;
                continue;
            }
            if starts_line {
                self.indent(indent);
                starts_line = false;
            }
            self.put(character.encode_utf8(&mut [0; 4]));
            self.at_indent = false;
        }
    }
}

/// The indent of a block in another one: after the dash of a list, else at the next multiple of 4.
fn inner_indent(outer: Option<usize>, place: Place) -> Option<usize> {
    let outer = outer?;
    Some(match place {
        Place::Item => outer + 2,
        _ => INDENT * ((outer + INDENT) / INDENT),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "previews have doubles, as upstream"
)]
fn as_double(number: i64) -> f64 {
    number as f64
}

fn special_float(number: f64) -> String {
    match number {
        f64::INFINITY => ".inf".to_owned(),
        f64::NEG_INFINITY => "-.inf".to_owned(),
        number if number.is_nan() => ".nan".to_owned(),
        number => float_text(number),
    }
}

#[cfg(test)]
mod tests;
