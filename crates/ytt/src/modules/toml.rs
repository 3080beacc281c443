//! The module `toml`.

use crate::convert::plain;
use crate::go_float;
use crate::halt::{Evaluated, fail};
use crate::heap::{DictEntries, Heap};
use crate::native_call::NativeCall;
use crate::text_form::quoted;
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
        return match text.parse::<toml::Table>() {
            Ok(table) => decoded(heap, &toml::Value::Table(table)),
            Err(error) => fail(format!("toml: {}", error.message())),
        };
    }
    call.only_named(&["indent"])?;
    let indent = match call.named("indent") {
        None | Some(StarValue::Int(0)) => 2,
        Some(StarValue::Int(indent @ 1..=8)) => *indent as usize,
        Some(StarValue::Int(_)) => return fail("indent value must be between 0 and 8"),
        Some(_) => return fail("expected starlark.Int"),
    };
    let value = without_nodes(heap, &plain(heap, call.item(0))?)?;
    let mut writer = TomlWriter {
        heap,
        indent,
        text: String::new(),
    };
    let StarValue::Dict(_) = &value else {
        return fail("toml: top-level values must be a map");
    };
    writer.table(&value, &mut Vec::new())?;
    heap.text(writer.text)
}

fn decoded(heap: &Heap, value: &toml::Value) -> Evaluated<StarValue> {
    heap.work.nested(|| match value {
        toml::Value::String(text) => heap.text(text.as_str()),
        toml::Value::Integer(number) => Ok(StarValue::Int(i128::from(*number))),
        toml::Value::Float(number) => Ok(StarValue::Float(*number)),
        toml::Value::Boolean(flag) => Ok(StarValue::Bool(*flag)),
        toml::Value::Datetime(_) => fail("unknown type time.Time for conversion to starlark value"),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| decoded(heap, item));
            heap.list(items.collect::<Evaluated<_>>()?)
        }
        toml::Value::Table(table) => {
            let mut names: Vec<(&String, &toml::Value)> = table.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            let mut entries = DictEntries::default();
            for (name, value) in names {
                let key = StarKey::Text(name.as_str().into());
                let written = StarValue::text(name.as_str());
                entries.insert(key, (written, decoded(heap, value)?));
            }
            heap.dict(entries)
        }
    })
}

struct TomlWriter<'h> {
    heap: &'h Heap,
    indent: usize,
    text: String,
}

/// The entries of a dict, sorted by key.
fn sorted(value: &StarValue) -> Evaluated<Vec<(blueprint::Name, StarValue)>> {
    let StarValue::Dict(dict) = value else {
        return fail("toml: a table must be a map");
    };
    let mut entries = Vec::new();
    for (key, value) in dict.entries.borrow().values() {
        match key.as_text() {
            Some(name) => entries.push((name.clone(), value.clone())),
            None => return fail("Expected key to be string"),
        }
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(entries)
}

fn is_table(value: &StarValue) -> bool {
    matches!(value, StarValue::Dict(_))
}

/// Whether a list has only tables.
fn is_table_list(value: &StarValue) -> bool {
    match value {
        StarValue::List(list) => {
            let items = list.items.borrow();
            !items.is_empty() && items.iter().all(is_table)
        }
        _ => false,
    }
}

impl TomlWriter<'_> {
    /// Writes the entries of a table: values first, then the tables in it.
    fn table(&mut self, value: &StarValue, path: &mut Vec<String>) -> Evaluated<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.table_inside(value, path);
        heap.work.leave();
        result
    }

    fn table_inside(&mut self, value: &StarValue, path: &mut Vec<String>) -> Evaluated<()> {
        let entries = sorted(value)?;
        let margin = " ".repeat(self.indent * path.len());
        self.heap.work.bytes(entries.len() * (margin.len() + 8))?;
        for (name, value) in &entries {
            if is_table(value) || is_table_list(value) || matches!(value, StarValue::None) {
                continue;
            }
            self.text.push_str(&format!("{margin}{} = ", key(name)));
            self.value(value)?;
            self.text.push('\n');
        }
        for (name, value) in &entries {
            let tables = match value {
                StarValue::List(list) if is_table_list(value) => list.items.borrow().clone(),
                value if is_table(value) => vec![value.clone()],
                _ => continue,
            };
            path.push(key(name));
            let margin = " ".repeat(self.indent * (path.len() - 1));
            let whole = path.join(".");
            for table in tables {
                self.heap.work.bytes(whole.len() + margin.len())?;
                if !self.text.is_empty() && (path.len() == 1 || is_table_list(value)) {
                    self.text.push('\n');
                }
                let header = match is_table_list(value) {
                    true => format!("{margin}[[{whole}]]\n"),
                    false => format!("{margin}[{whole}]\n"),
                };
                self.text.push_str(&header);
                self.table(&table, path)?;
            }
            path.pop();
        }
        Ok(())
    }

    fn value(&mut self, value: &StarValue) -> Evaluated<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.value_inside(value);
        heap.work.leave();
        result
    }

    fn value_inside(&mut self, value: &StarValue) -> Evaluated<()> {
        self.heap.work.bytes(8)?;
        match value {
            StarValue::Bool(flag) => self.text.push_str(&flag.to_string()),
            StarValue::Int(number) => self.text.push_str(&number.to_string()),
            StarValue::Float(number) => {
                let mut text = go_float::general(*number, None);
                if number.is_finite() && !text.contains(['.', 'e']) {
                    text.push_str(".0");
                }
                self.text.push_str(&text.to_lowercase());
            }
            StarValue::Text(text) => {
                self.heap.work.bytes(text.len())?;
                self.text.push_str(&quoted(text));
            }
            StarValue::List(list) => {
                let items = list.items.borrow().clone();
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.text.push_str(", ");
                    }
                    self.value(item)?;
                }
                self.text.push(']');
            }
            StarValue::Dict(_) => {
                self.text.push('{');
                for (at, (name, value)) in sorted(value)?.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    self.text.push_str(&format!("{comma}{} = ", key(name)));
                    self.value(value)?;
                }
                self.text.push('}');
            }
            other => return fail(format!("toml: a {} has no form", other.type_name())),
        }
        Ok(())
    }
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if is_bare {
        name.to_owned()
    } else {
        quoted(name)
    }
}
