//! Values as text: `str` and `repr`.

use crate::go_float;
use crate::halt::Outcome;
use crate::heap::Heap;
use crate::value::{StarValue, StructKind};
use crate::yaml_tree::YamlKind;

/// The text of a value: a text as it is, everything else as in code.
///
/// # Errors
/// If the text is too long or too deep.
pub(crate) fn str(heap: &Heap, value: &StarValue) -> Outcome<String> {
    match value.open() {
        StarValue::Text(text) => Ok(text.to_string()),
        other => repr(heap, other),
    }
}

/// The text of a value as in code.
///
/// # Errors
/// If the text is too long or too deep.
pub(crate) fn repr(heap: &Heap, value: &StarValue) -> Outcome<String> {
    let mut writer = Writer {
        heap,
        text: String::new(),
        path: Vec::new(),
    };
    writer.write(value)?;
    Ok(writer.text)
}

struct Writer<'h> {
    heap: &'h Heap,
    text: String,
    /// The containers around, to find those that hold themselves.
    path: Vec<*const ()>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) -> Outcome<()> {
        self.heap.work.bytes(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn write(&mut self, value: &StarValue) -> Outcome<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.write_inside(value);
        heap.work.leave();
        result
    }

    fn write_inside(&mut self, value: &StarValue) -> Outcome<()> {
        match value.open() {
            StarValue::None => self.push("None"),
            StarValue::Bool(true) => self.push("True"),
            StarValue::Bool(false) => self.push("False"),
            StarValue::Int(number) => self.push(&number.to_string()),
            StarValue::Float(number) => self.push(&go_float::general(*number, Some(6))),
            StarValue::Text(text) => self.push(&quoted(text)),
            StarValue::List(list) => {
                let place = std::rc::Rc::as_ptr(list).cast();
                let items = list.items.borrow().clone();
                self.container(place, "[", "]", |writer| writer.items(&items))
            }
            StarValue::Tuple(items) => {
                self.push("(")?;
                self.items(items)?;
                self.push(if items.len() == 1 { ",)" } else { ")" })
            }
            StarValue::Dict(dict) => {
                let place = std::rc::Rc::as_ptr(dict).cast();
                let entries: Vec<_> = dict.entries.borrow().values().cloned().collect();
                self.container(place, "{", "}", |writer| {
                    for (at, (key, value)) in entries.iter().enumerate() {
                        if at > 0 {
                            writer.push(", ")?;
                        }
                        writer.write(key)?;
                        writer.push(": ")?;
                        writer.write(value)?;
                    }
                    Ok(())
                })
            }
            StarValue::Set(set) => {
                let place = std::rc::Rc::as_ptr(set).cast();
                let items: Vec<_> = set
                    .entries
                    .borrow()
                    .values()
                    .map(|own| own.0.clone())
                    .collect();
                self.container(place, "set([", "])", |writer| writer.items(&items))
            }
            StarValue::Range(range) => {
                let stop = range
                    .start
                    .saturating_add(range.step.saturating_mul(range.len));
                let text = match range.step {
                    1 => format!("range({}, {stop})", range.start),
                    step => format!("range({}, {stop}, {step})", range.start),
                };
                self.push(&text)
            }
            StarValue::Struct(data) => match &data.kind {
                StructKind::Module(name) => self.push(&format!("<module {}>", quoted(name))),
                _ => self.push("struct(...)"),
            },
            StarValue::Function(function) => {
                let text = format!("<function {}>", function.code.name);
                self.push(&text)
            }
            StarValue::Native(native) => {
                let name = native.name.rsplit('.').next().unwrap_or_default();
                let text = match native.bound.first() {
                    Some(bound) => {
                        format!("<built-in method {name} of {} value>", bound.type_name())
                    }
                    None => format!("<built-in function {}>", native.name),
                };
                self.push(&text)
            }
            StarValue::Fragment(node) => {
                let kind = match node.as_ref().map(|node| node.borrow().kind) {
                    Some(YamlKind::DocumentSet) => "*yamlmeta.DocumentSet",
                    Some(YamlKind::Map) => "*yamlmeta.Map",
                    Some(YamlKind::Array) => "*yamlmeta.Array",
                    _ => "<nil>",
                };
                self.push(&format!("yamlfragment({kind})"))
            }
            StarValue::Replaced => self.push("noop"),
            StarValue::Unknown(_) | StarValue::Secret(_) => self.push("(known on deploy)"),
        }
    }

    fn container(
        &mut self,
        place: *const (),
        open: &str,
        close: &str,
        content: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        self.push(open)?;
        if self.path.contains(&place) {
            self.push("...")?;
        } else {
            self.path.push(place);
            content(self)?;
            self.path.pop();
        }
        self.push(close)
    }

    fn items(&mut self, items: &[StarValue]) -> Outcome<()> {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ")?;
            }
            self.write(item)?;
        }
        Ok(())
    }
}

/// A text in quotes, as Go quotes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            letter if (letter as u32) < 0x20 || letter == '\u{7f}' => {
                quoted.push_str(&format!("\\x{:02x}", letter as u32));
            }
            letter
                if letter.is_control()
                    || matches!(letter, '\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}' | '\u{ad}') =>
            {
                quoted.push_str(&format!("\\u{:04x}", letter as u32));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
