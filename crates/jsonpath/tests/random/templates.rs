//! Random templates. Most follow a document, so that they find something; some are changed at random
//! places or made of pieces of the syntax, so that the parser meets what nobody writes.

use serde_json::Value as Json;

use crate::documents::{KEYS, TEXTS};
use crate::seeded::SeededChoice;

/// Pieces of the syntax.
const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "[?(",
    ")]",
    "..",
    ".",
    "*",
    "[*]",
    "@",
    "$",
    ",",
    ":",
    "'",
    "\"",
    "\\",
    " ",
    "==",
    "<",
    "!",
    "=",
    "a",
    ".b",
    "c",
    "0",
    "-1",
    "+2",
    "1.5",
    "true",
    "range",
    "end",
    "{range .a[*]}",
    "{end}",
    "{.a}",
    "\n",
    "\t",
    "é",
    "٣",
    "/",
    "['a','b']",
    "..*",
];

/// Comparisons; the last ones do not exist.
const OPERATORS: [&str; 10] = ["==", "!=", "<", "<=", ">", ">=", "==", "=", "===", "=!"];

/// Steps that most values do not have.
const STEPS_THAT_OFTEN_FAIL: [&str; 10] = [
    "[0]",
    "[9]",
    "[1:0]",
    "[::0]",
    "[?(@)]",
    "[?(@==1)]",
    "[0,1]",
    ".*",
    "word",
    "..",
];

/// A template for a document.
pub(crate) fn template(document: &Json, choice: &mut SeededChoice) -> String {
    let mut text = match choice.below(100) {
        0..6 => soup(choice),
        _ => TemplateWriter::write(document, choice),
    };
    if choice.chance(16) {
        for _ in 0..=choice.below(3) {
            text = changed(&text, choice);
        }
    }
    text
}

fn soup(choice: &mut SeededChoice) -> String {
    let length = 1 + choice.below(12);
    let pieces: String = (0..length).map(|_| choice.text(&PIECES)).collect();
    match choice.chance(60) {
        true => format!("{{{pieces}}}"),
        false => pieces,
    }
}

/// The text with a character or a piece more, less or in another place.
fn changed(text: &str, choice: &mut SeededChoice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = choice.below(characters.len() + 1);
    match choice.below(4) {
        0 if at < characters.len() => {
            characters.remove(at);
        }
        1 if at + 1 < characters.len() => characters.swap(at, at + 1),
        2 if at < characters.len() => {
            let end = (at + 1 + choice.below(6)).min(characters.len());
            let again = characters[at..end].to_vec();
            characters.splice(at..at, again);
        }
        _ => {
            characters.splice(at..at, choice.text(&PIECES).chars());
        }
    }
    characters.into_iter().collect()
}

/// Writes a template along a document.
struct TemplateWriter<'a> {
    choice: &'a mut SeededChoice,
    text: String,
}

impl TemplateWriter<'_> {
    fn write(document: &Json, choice: &mut SeededChoice) -> String {
        let text = String::new();
        let mut writer = TemplateWriter { choice, text };
        match writer.choice.chance(60) {
            // One query, as most users write.
            true => writer.query(document, 2),
            false => writer.parts(document, 2),
        }
        writer.text
    }

    fn parts(&mut self, document: &Json, depth: usize) {
        for _ in 0..=self.choice.below(3) {
            match self.choice.below(10) {
                0..=2 => self.text += self.choice.text(&["x", " ", "a: ", "}", "\n"]),
                3..=5 if depth > 0 => self.range(document, depth - 1),
                6 if self.choice.chance(20) => self.text += "{end}",
                7 => {
                    self.text.push('{');
                    self.literal();
                    self.text.push('}');
                }
                _ => self.query(document, 2),
            }
        }
    }

    fn range(&mut self, document: &Json, depth: usize) {
        self.text += "{range ";
        let inner = self.steps(document, 2);
        self.text.push('}');
        let inner = match inner {
            Json::Array(items) if !items.is_empty() && self.choice.chance(30) => {
                self.choice.of_all(&items).clone()
            }
            other => other,
        };
        self.parts(&inner, depth);
        if self.choice.chance(90) {
            self.text += "{end}";
        }
    }

    fn query(&mut self, document: &Json, depth: usize) {
        self.text.push('{');
        if self.choice.chance(25) {
            self.text.push(*self.choice.of_all(&['$', '@', ' ']));
        }
        self.steps(document, depth);
        self.text.push('}');
    }

    /// Writes steps from a value on. Returns a value that they lead to.
    fn steps(&mut self, from: &Json, depth: usize) -> Json {
        let mut value = from.clone();
        for _ in 0..self.choice.below(4) + usize::from(self.choice.chance(90)) {
            let is_leaf = !value.is_array() && !value.is_object();
            if is_leaf && self.choice.chance(75) {
                break;
            }
            if self.choice.chance(3) {
                self.text.push(' ');
            }
            value = self.step(&value, depth);
        }
        value
    }

    fn step(&mut self, value: &Json, depth: usize) -> Json {
        match (value, self.choice.below(20)) {
            (_, 0) => {
                self.text += ".*";
                self.child(value)
            }
            (_, 1) => self.recursive(value),
            (_, 2) if self.choice.chance(15) => {
                self.literal();
                value.clone()
            }
            (_, 3) if self.choice.chance(60) => self.union(value),
            (Json::Array(_), 4..=10) if depth > 0 => self.filter(value, depth - 1),
            (Json::Array(_), 11..=13) => {
                self.text += "[*]";
                self.child(value)
            }
            (Json::Array(items), 14..=18) => {
                self.text.push('[');
                self.bounds(items.len());
                self.text.push(']');
                self.child(value)
            }
            (Json::Object(_), 4..=18) => self.field(value),
            (_, 4 | 5) if depth > 0 => self.filter(value, depth - 1),
            (_, 6) => {
                self.text += "[0]";
                Json::Null
            }
            _ => self.field(value),
        }
    }

    /// A value directly below.
    fn child(&mut self, value: &Json) -> Json {
        let children: Vec<&Json> = match value {
            Json::Array(items) => items.iter().collect(),
            Json::Object(entries) => entries.values().collect(),
            _ => Vec::new(),
        };
        match children.is_empty() {
            true => Json::Null,
            false => (*self.choice.of_all(&children)).clone(),
        }
    }

    /// A key of the value, or any other.
    fn key(&mut self, value: &Json) -> String {
        let keys: Vec<&String> = value
            .as_object()
            .into_iter()
            .flatten()
            .map(|one| one.0)
            .collect();
        match keys.is_empty() || self.choice.chance(7) {
            true => self.choice.text(&KEYS).to_owned(),
            false => (*self.choice.of_all(&keys)).clone(),
        }
    }

    fn field(&mut self, value: &Json) -> Json {
        let key = self.key(value);
        let escaped = match self.choice.chance(90) {
            true => key.replace('.', "\\.").replace('$', "\\$"),
            false => key.clone(),
        };
        match self.choice.chance(75) {
            true => self.text += &format!(".{escaped}"),
            false => self.text += &format!("['{escaped}']"),
        }
        value.get(&key).cloned().unwrap_or_default()
    }

    fn recursive(&mut self, value: &Json) -> Json {
        self.text += "..";
        let inner = self.child(value);
        match self.choice.below(4) {
            0 => inner,
            1 => {
                self.text.push('*');
                inner
            }
            _ => {
                let key = self.key(&inner);
                self.text += &key.replace('.', "\\.");
                inner.get(&key).cloned().unwrap_or_default()
            }
        }
    }

    fn union(&mut self, value: &Json) -> Json {
        self.text.push('[');
        for at in 0..2 + self.choice.below(2) {
            if at > 0 {
                self.text += self.choice.text(&[",", ", "]);
            }
            match value {
                Json::Array(items) => self.bounds(items.len()),
                _ => {
                    let key = self.key(value).replace('.', "\\.");
                    self.text += &format!("'{key}'");
                }
            }
        }
        self.text.push(']');
        self.child(value)
    }

    /// Writes an index or a slice.
    fn bounds(&mut self, length: usize) {
        self.bound(length);
        if self.choice.chance(40) {
            self.text.push(':');
            if self.choice.chance(70) {
                self.bound(length);
            }
            if self.choice.chance(30) {
                self.text.push(':');
                if self.choice.chance(80) {
                    self.text += self.choice.text(&["1", "2", "3", "0", "-1"]);
                }
            }
        }
    }

    /// Writes a bound, which is mostly inside of a list of this length.
    fn bound(&mut self, length: usize) {
        if self.choice.chance(6) {
            return;
        }
        if self.choice.chance(25) {
            self.text.push('-');
        }
        let end = length + usize::from(self.choice.chance(20)) * 2;
        self.text += &self.choice.below(end.max(1)).to_string();
    }

    fn filter(&mut self, value: &Json, depth: usize) -> Json {
        let element = self.child(value);
        self.text += "[?(";
        if self.choice.chance(90) {
            self.text.push('@');
        }
        let left = self.steps_of_condition(&element, depth);
        if self.choice.chance(75) {
            self.blank();
            self.text += self.choice.text(&OPERATORS);
            self.blank();
            if self.choice.chance(95) {
                self.right(&element, &left, depth);
            }
        }
        self.text += ")]";
        element
    }

    /// Writes the steps of a side of a condition, which are few.
    fn steps_of_condition(&mut self, element: &Json, depth: usize) -> Json {
        let value = match (element, self.choice.below(10)) {
            (_, 0) => self.steps(element, depth),
            (Json::Object(_), _) => self.field(element),
            _ => element.clone(),
        };
        // A step that fails counts as a result in some conditions.
        if self.choice.chance(15) {
            self.text += self.choice.text(&STEPS_THAT_OFTEN_FAIL);
        }
        value
    }

    fn right(&mut self, element: &Json, left: &Json, depth: usize) {
        match self.choice.below(10) {
            0 | 1 => self.literal(),
            2 => {
                self.text.push('@');
                self.steps_of_condition(element, depth);
            }
            _ => match left {
                Json::String(text) => self.quoted(text),
                Json::Number(_) | Json::Bool(_) => self.text += &left.to_string(),
                _ => self.literal(),
            },
        }
    }

    fn literal(&mut self) {
        match self.choice.below(6) {
            0 => self.text += self.choice.text(&["true", "false", "null", "truer"]),
            1 | 2 => {
                let numbers = [
                    "0", "1", "-1", "+2", "97", "1.0", "1.5", "1.", "-.5", "1.2.3",
                ];
                self.text += self.choice.text(&numbers);
            }
            _ => {
                let text = self.choice.text(&TEXTS);
                self.quoted(text);
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        let quote = self.choice.text(&["'", "\""]);
        let text = match self.choice.chance(90) {
            true => text
                .replace('\\', "\\\\")
                .replace(quote, &format!("\\{quote}"))
                .replace('\n', "\\n"),
            false => text.to_owned(),
        };
        self.text += &format!("{quote}{text}{quote}");
        if self.choice.chance(3) {
            self.text.pop();
            self.text += self
                .choice
                .text(&["\\x41", "\\u00e9", "\\101", "\\q", "\\U0001f600"]);
            self.text += quote;
        }
    }

    fn blank(&mut self) {
        if self.choice.chance(50) {
            self.text.push(' ');
        }
    }
}
