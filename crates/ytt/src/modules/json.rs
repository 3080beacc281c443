//! The module `json`.

use crate::convert::plain;
use crate::go_float;
use crate::halt::{Evaluated, fail};
use crate::heap::{DictEntries, Heap};
use crate::native_call::NativeCall;
use crate::value::{StarKey, StarValue};
use crate::yaml_write::without_nodes;

/// Calls a function.
///
/// # Errors
/// If the argument does not fit.
pub(super) fn call(heap: &Heap, function: &str, call: &NativeCall) -> Evaluated<StarValue> {
    call.exactly(1)?;
    if function == "decode" {
        let text = call.text(0)?;
        heap.work.bytes(text.len())?;
        return match serde_json::from_str::<serde_json::Value>(text) {
            Ok(json) => decoded(heap, &json),
            Err(error) => fail(format!("invalid JSON: {error}")),
        };
    }
    call.only_named(&["indent", "escape_html"])?;
    let value = without_nodes(heap, &plain(heap, call.item(0))?)?;
    let indent = match call.named("indent") {
        None => 0,
        Some(StarValue::Int(indent @ 0..=8)) => *indent as usize,
        Some(StarValue::Int(_)) => return fail("indent value must be between 0 and 8"),
        Some(_) => return fail("expected starlark.Int"),
    };
    let mut writer = GoJsonWriter {
        heap,
        text: String::new(),
        indent,
        escapes_html: call.flag("escape_html", true)?,
    };
    writer.write(&value, 1)?;
    heap.text(writer.text)
}

/// JSON as dicts with sorted keys, and lists. All numbers are floats.
fn decoded(heap: &Heap, json: &serde_json::Value) -> Evaluated<StarValue> {
    heap.work.nested(|| match json {
        serde_json::Value::Null => Ok(StarValue::None),
        serde_json::Value::Bool(flag) => Ok(StarValue::Bool(*flag)),
        serde_json::Value::Number(number) => {
            Ok(StarValue::Float(number.as_f64().unwrap_or_default()))
        }
        serde_json::Value::String(text) => heap.text(text.as_str()),
        serde_json::Value::Array(items) => {
            let items = items.iter().map(|item| decoded(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        serde_json::Value::Object(object) => {
            let mut names: Vec<&String> = object.keys().collect();
            names.sort();
            let mut entries = DictEntries::default();
            for name in names {
                let value = object.get(name).unwrap_or(&serde_json::Value::Null);
                let key = StarKey::Text(name.as_str().into());
                let written = StarValue::text(name.as_str());
                entries.insert(key, (written, decoded(heap, value)?));
            }
            heap.dict(entries)
        }
    })
}

struct GoJsonWriter<'h> {
    heap: &'h Heap,
    text: String,
    indent: usize,
    escapes_html: bool,
}

impl GoJsonWriter<'_> {
    fn line(&mut self, level: usize) {
        if self.indent > 0 {
            self.text.push('\n');
            self.text.push_str(&" ".repeat(self.indent * level));
        }
    }

    fn write(&mut self, value: &StarValue, level: usize) -> Evaluated<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.write_inside(value, level);
        heap.work.leave();
        result
    }

    fn write_inside(&mut self, value: &StarValue, level: usize) -> Evaluated<()> {
        self.heap.work.bytes(8 + self.indent * level)?;
        match value {
            StarValue::None => self.text.push_str("null"),
            StarValue::Bool(flag) => self.text.push_str(if *flag { "true" } else { "false" }),
            StarValue::Int(number) => self.text.push_str(&number.to_string()),
            StarValue::Float(number) if !number.is_finite() => {
                return fail("json: unsupported value");
            }
            StarValue::Float(number) => self.text.push_str(&go_float::json(*number)),
            StarValue::Text(text) => self.string(text)?,
            StarValue::List(list) => {
                let items = list.items.borrow().clone();
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.text.push(',');
                    }
                    self.line(level);
                    self.write(item, level + 1)?;
                }
                if !items.is_empty() {
                    self.line(level - 1);
                }
                self.text.push(']');
            }
            StarValue::Dict(dict) => {
                let mut entries = Vec::new();
                for (key, value) in dict.entries.borrow().values() {
                    match key.as_text() {
                        Some(name) => entries.push((name.clone(), value.clone())),
                        None => return fail("Expected key to be string"),
                    }
                }
                entries.sort_by(|one, other| one.0.cmp(&other.0));
                self.text.push('{');
                for (at, (name, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        self.text.push(',');
                    }
                    self.line(level);
                    self.string(name)?;
                    self.text.push(':');
                    if self.indent > 0 {
                        self.text.push(' ');
                    }
                    self.write(value, level + 1)?;
                }
                if !entries.is_empty() {
                    self.line(level - 1);
                }
                self.text.push('}');
            }
            other => return fail(format!("a {} is no JSON", other.type_name())),
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Evaluated<()> {
        self.heap.work.bytes(text.len())?;
        self.text.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '<' | '>' | '&' if self.escapes_html => {
                    self.text.push_str(&format!("\\u{:04x}", letter as u32));
                }
                '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                    self.text.push_str(&format!("\\u{:04x}", letter as u32));
                }
                letter => self.text.push(letter),
            }
        }
        self.text.push('"');
        Ok(())
    }
}
