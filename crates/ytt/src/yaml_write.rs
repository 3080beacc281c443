//! Writes values as YAML, as ytt writes them: maps and lists in lines, strings without quotes where
//! that is possible, several lines in a block.

use std::sync::LazyLock;

use regex::Regex;

use crate::go_float;
use crate::halt::{Evaluated, fail};
use crate::heap::{DictEntries, Heap};
use crate::keys::key_of;
use crate::scalar::plain;
use crate::value::{NodeRef, StarValue};
use crate::yaml_tree::{YamlKind, YamlScalar};

static BASE_60: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$")
        .expect("the expression is valid")
});

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})?)?$",
    )
    .expect("the expression is valid")
});

/// A plain value without YAML nodes: they become dicts and lists.
///
/// # Errors
/// If a key occurs twice, or the value is too large.
pub(crate) fn without_nodes(heap: &Heap, value: &StarValue) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        StarValue::List(list) => {
            let items = list.items.borrow().clone();
            let items = items.iter().map(|item| without_nodes(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        StarValue::Dict(dict) => {
            let mut entries = dict.entries.borrow().clone();
            for (_, value) in entries.values_mut() {
                *value = without_nodes(heap, value)?;
            }
            heap.dict(entries)
        }
        StarValue::Fragment(Some(node)) => node_value(heap, node),
        other => Ok(other.clone()),
    })
}

fn node_value(heap: &Heap, node: &NodeRef) -> Evaluated<StarValue> {
    let node = node.borrow();
    match node.kind {
        YamlKind::Map => {
            let mut entries = DictEntries::default();
            for item in &node.items {
                let (key, value) = {
                    let item = item.borrow();
                    (item.key.clone(), item.value.clone())
                };
                let own = key_of(heap, &key)?;
                if entries
                    .insert(own, (key, without_nodes(heap, &value)?))
                    .is_some()
                {
                    return fail("Unexpected duplicate key");
                }
            }
            heap.dict(entries)
        }
        YamlKind::Array => {
            let items = node.items.iter().map(|item| {
                let value = item.borrow().value.clone();
                without_nodes(heap, &value)
            });
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        kind => fail(format!(
            "Unexpected {} value within a document",
            kind.words()
        )),
    }
}

/// Writes a plain value: the documents of a set, or one document. Empty documents are left out.
///
/// # Errors
/// If the value is too large.
pub(crate) fn write(heap: &Heap, value: &StarValue) -> Evaluated<String> {
    let documents: Vec<StarValue> = match value {
        StarValue::Fragment(Some(node)) if node.borrow().kind == YamlKind::DocumentSet => {
            let node = node.borrow();
            node.items
                .iter()
                .map(|item| item.borrow().value.clone())
                .collect()
        }
        value => vec![value.clone()],
    };
    let mut text = String::new();
    for document in documents {
        let is_empty = match &document {
            StarValue::None => true,
            StarValue::Fragment(node) => node
                .as_ref()
                .is_none_or(|node| node.borrow().items.is_empty()),
            _ => false,
        };
        if is_empty {
            continue;
        }
        if !text.is_empty() {
            text.push_str("---\n");
        }
        let mut writer = YamlWriter { heap, text };
        writer.value(&without_nodes(heap, &document)?, WritePlace::Root, 0)?;
        text = writer.text;
    }
    Ok(text)
}

/// Where a value is written.
#[derive(Clone, Copy, PartialEq)]
enum WritePlace {
    Root,
    /// Behind `key:`.
    AfterKey,
    /// Behind `-`.
    AfterDash,
}

struct YamlWriter<'h> {
    heap: &'h Heap,
    text: String,
}

impl YamlWriter<'_> {
    /// Writes a value and the line break behind it. `indent` is that of the lines of a container.
    fn value(&mut self, value: &StarValue, place: WritePlace, indent: usize) -> Evaluated<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.value_inside(value, place, indent);
        heap.work.leave();
        result
    }

    fn value_inside(
        &mut self,
        value: &StarValue,
        place: WritePlace,
        indent: usize,
    ) -> Evaluated<()> {
        self.heap.work.bytes(indent + 16)?;
        match value {
            StarValue::List(list) if !list.items.borrow().is_empty() => {
                let items = list.items.borrow().clone();
                if place == WritePlace::AfterKey {
                    self.text.push('\n');
                }
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || place != WritePlace::AfterDash {
                        self.text.push_str(&" ".repeat(indent));
                    }
                    self.text.push_str("- ");
                    self.value(item, WritePlace::AfterDash, indent + 2)?;
                }
            }
            StarValue::Dict(dict) if !dict.entries.borrow().is_empty() => {
                let entries: Vec<_> = dict.entries.borrow().values().cloned().collect();
                if place == WritePlace::AfterKey {
                    self.text.push('\n');
                }
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 || place != WritePlace::AfterDash {
                        self.text.push_str(&" ".repeat(indent));
                    }
                    self.key(key)?;
                    self.text.push(':');
                    let inner = match value {
                        // Lists in maps are not indented.
                        StarValue::List(_) => indent,
                        _ => indent + 2,
                    };
                    if !is_block(value) {
                        self.text.push(' ');
                    }
                    self.value(value, WritePlace::AfterKey, inner)?;
                }
            }
            StarValue::List(_) => self.text.push_str("[]\n"),
            StarValue::Dict(_) => self.text.push_str("{}\n"),
            StarValue::Text(text) => {
                let indent = if place == WritePlace::Root { 2 } else { indent };
                self.string(text, indent)?;
                self.text.push('\n');
            }
            other => {
                let text = scalar(other)?;
                self.text.push_str(&text);
                self.text.push('\n');
            }
        }
        Ok(())
    }

    fn key(&mut self, key: &StarValue) -> Evaluated<()> {
        match key {
            StarValue::Text(text) => {
                self.heap.work.bytes(text.len())?;
                let written = match text.contains('\n') {
                    true => double_quoted(text),
                    false => one_line(text),
                };
                self.text.push_str(&written);
            }
            other => {
                let text = scalar(other)?;
                self.text.push_str(&text);
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &str, indent: usize) -> Evaluated<()> {
        self.heap.work.bytes(text.len())?;
        if !text.contains('\n') {
            self.text.push_str(&one_line(text));
            return Ok(());
        }
        let form = StringForm::of(text);
        if !form.may_be_block {
            self.text.push_str(&double_quoted(text));
            return Ok(());
        }
        let lines = text.split('\n').count();
        self.heap.work.bytes(lines.saturating_mul(indent))?;
        self.text.push('|');
        if text.starts_with([' ', '\n']) {
            self.text.push('2');
        }
        if !text.ends_with('\n') {
            self.text.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.text.push('+');
        }
        let content = text.strip_suffix('\n').unwrap_or(text);
        for line in content.split('\n') {
            self.text.push('\n');
            if !line.is_empty() {
                self.text.push_str(&" ".repeat(indent));
                self.text.push_str(line);
            }
        }
        Ok(())
    }
}

/// Whether a value begins on the line below its key.
fn is_block(value: &StarValue) -> bool {
    match value {
        StarValue::List(list) => !list.items.borrow().is_empty(),
        StarValue::Dict(dict) => !dict.entries.borrow().is_empty(),
        _ => false,
    }
}

fn scalar(value: &StarValue) -> Evaluated<String> {
    Ok(match value {
        StarValue::None => "null".into(),
        StarValue::Bool(flag) => flag.to_string(),
        StarValue::Int(number) => number.to_string(),
        StarValue::Float(number) if number.is_nan() => ".nan".into(),
        StarValue::Float(number) if number.is_infinite() => {
            if *number > 0.0 {
                ".inf".into()
            } else {
                "-.inf".into()
            }
        }
        StarValue::Float(number) => go_float::general(*number, None),
        other => return fail(format!("a {} is no YAML", other.type_name())),
    })
}

/// A string of one line in the simplest form that is read as a string again.
fn one_line(text: &str) -> String {
    let is_string = matches!(plain(text), YamlScalar::Text(_)) && !text.is_empty();
    if !is_string || BASE_60.is_match(text) || DATE.is_match(text) {
        return double_quoted(text);
    }
    let form = StringForm::of(text);
    if form.may_be_plain {
        text.to_owned()
    } else if form.may_be_single {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

/// The forms that a string may have.
struct StringForm {
    may_be_plain: bool,
    may_be_single: bool,
    may_be_block: bool,
}

impl StringForm {
    fn of(text: &str) -> StringForm {
        let letters: Vec<char> = text.chars().collect();
        let is_break =
            |letter: char| matches!(letter, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let is_blank_at = |at: usize| {
            letters
                .get(at)
                .is_none_or(|letter| matches!(letter, ' ' | '\t') || is_break(*letter))
        };
        let mut has_indicator = text.starts_with("---") || text.starts_with("...");
        let (mut has_break, mut has_special) = (false, false);
        let (mut space_break, mut break_space) = (false, false);
        let (mut after_space, mut after_break) = (false, false);
        for (at, letter) in letters.iter().enumerate() {
            let ends_word = is_blank_at(at + 1);
            has_indicator |= match letter {
                '#' if at > 0 => is_blank_at(at - 1),
                ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                | '%' | '@' | '`' => at == 0,
                '?' | '-' => at == 0 && ends_word,
                ':' => ends_word,
                _ => false,
            };
            has_special |= !is_printable(*letter);
            if *letter == ' ' {
                break_space |= after_break;
                (after_space, after_break) = (true, false);
            } else if is_break(*letter) {
                has_break = true;
                space_break |= after_space;
                (after_space, after_break) = (false, true);
            } else {
                (after_space, after_break) = (false, false);
            }
        }
        let is_edge = |letter: Option<&char>| {
            letter.is_some_and(|letter| *letter == ' ' || is_break(*letter))
        };
        let edges = is_edge(letters.first()) || is_edge(letters.last());
        let ends_with_space = letters.last() == Some(&' ');
        let is_odd = space_break || has_special;
        StringForm {
            may_be_plain: !(edges || break_space || is_odd || has_break || has_indicator),
            may_be_single: !(break_space || is_odd),
            may_be_block: !(ends_with_space || is_odd),
        }
    }
}

fn is_printable(letter: char) -> bool {
    matches!(letter, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\0' => quoted.push_str("\\0"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            '\u{1b}' => quoted.push_str("\\e"),
            '\u{85}' => quoted.push_str("\\N"),
            '\u{2028}' => quoted.push_str("\\L"),
            '\u{2029}' => quoted.push_str("\\P"),
            letter if is_printable(letter) => quoted.push(letter),
            letter if (letter as u32) < 0x100 => {
                quoted.push_str(&format!("\\x{:02X}", letter as u32));
            }
            letter if (letter as u32) < 0x1_0000 => {
                quoted.push_str(&format!("\\u{:04X}", letter as u32));
            }
            letter => quoted.push_str(&format!("\\U{:08X}", letter as u32)),
        }
    }
    quoted.push('"');
    quoted
}
