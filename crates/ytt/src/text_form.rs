//! Values as text: `str` and `repr`.

use crate::go_float;
use crate::halt::Evaluated;
use crate::heap::Heap;
use crate::value::{StarValue, StructKind};
use crate::yaml_tree::YamlKind;

/// The text of a value: a text as it is, everything else as in code.
///
/// # Errors
/// If the text is too long or too deep.
pub(crate) fn str(heap: &Heap, value: &StarValue) -> Evaluated<String> {
    match value.open() {
        StarValue::Text(text) => Ok(text.to_string()),
        other => repr(heap, other),
    }
}

/// The text of a value as in code.
///
/// # Errors
/// If the text is too long or too deep.
pub(crate) fn repr(heap: &Heap, value: &StarValue) -> Evaluated<String> {
    let mut writer = TextFormWriter {
        heap,
        text: String::new(),
        path: Vec::new(),
    };
    writer.write(value)?;
    Ok(writer.text)
}

struct TextFormWriter<'h> {
    heap: &'h Heap,
    text: String,
    /// The containers around, to find those that hold themselves.
    path: Vec<*const ()>,
}

impl TextFormWriter<'_> {
    fn push(&mut self, text: &str) -> Evaluated<()> {
        self.heap.work.bytes(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn write(&mut self, value: &StarValue) -> Evaluated<()> {
        let heap = self.heap;
        heap.work.enter()?;
        let result = self.write_inside(value);
        heap.work.leave();
        result
    }

    fn write_inside(&mut self, value: &StarValue) -> Evaluated<()> {
        match value.open() {
            StarValue::List(list) => {
                let place = std::rc::Rc::as_ptr(list).cast();
                let items = list.items.borrow().clone();
                self.container(place, "[", "]", &items)
            }
            StarValue::Tuple(items) => {
                self.push("(")?;
                self.items(items)?;
                self.push(if items.len() == 1 { ",)" } else { ")" })
            }
            StarValue::Dict(dict) => {
                let place = std::rc::Rc::as_ptr(dict).cast();
                let entries = dict.entries.borrow();
                let items = entries
                    .values()
                    .flat_map(|(key, value)| [key.clone(), value.clone()]);
                let items: Vec<_> = items.collect();
                drop(entries);
                self.container(place, "{", "}", &items)
            }
            StarValue::Set(set) => {
                let place = std::rc::Rc::as_ptr(set).cast();
                let items: Vec<_> = set
                    .entries
                    .borrow()
                    .values()
                    .map(|own| own.0.clone())
                    .collect();
                self.container(place, "set([", "])", &items)
            }
            leaf => self.push(&leaf_text(leaf)),
        }
    }

    fn container(
        &mut self,
        place: *const (),
        open: &str,
        close: &str,
        items: &[StarValue],
    ) -> Evaluated<()> {
        self.push(open)?;
        if self.path.contains(&place) {
            self.push("...")?;
        } else {
            self.path.push(place);
            match open {
                "{" => self.entries(items)?,
                _ => self.items(items)?,
            }
            self.path.pop();
        }
        self.push(close)
    }

    /// Keys and values in turn.
    fn entries(&mut self, items: &[StarValue]) -> Evaluated<()> {
        for (at, item) in items.iter().enumerate() {
            let separator = match (at, at % 2) {
                (0, _) => "",
                (_, 0) => ", ",
                _ => ": ",
            };
            self.push(separator)?;
            self.write(item)?;
        }
        Ok(())
    }

    fn items(&mut self, items: &[StarValue]) -> Evaluated<()> {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ")?;
            }
            self.write(item)?;
        }
        Ok(())
    }
}

/// The text of a value that is no collection.
fn leaf_text(value: &StarValue) -> String {
    match value {
        StarValue::None => "None".into(),
        StarValue::Bool(true) => "True".into(),
        StarValue::Bool(false) => "False".into(),
        StarValue::Int(number) => number.to_string(),
        StarValue::Float(number) => go_float::general(*number, Some(6)),
        StarValue::Text(text) => quoted(text),
        StarValue::Range(range) => {
            let stop = range
                .start
                .saturating_add(range.step.saturating_mul(range.len));
            match range.step {
                1 if range.start == 0 => format!("range({stop})"),
                1 => format!("range({}, {stop})", range.start),
                step => format!("range({}, {stop}, {step})", range.start),
            }
        }
        StarValue::Struct(data) => match &data.kind {
            StructKind::Module(name) => format!("<module {}>", quoted(name)),
            _ => "struct(...)".into(),
        },
        StarValue::Function(function) => format!("<function {}>", function.code.name),
        StarValue::Native(native) => {
            let name = native.name.rsplit('.').next().unwrap_or_default();
            match native.bound.first() {
                Some(bound) => format!("<built-in method {name} of {} value>", bound.type_name()),
                None => format!("<built-in function {}>", native.name),
            }
        }
        StarValue::Fragment(node) => {
            let kind = match node.as_ref().map(|node| node.borrow().kind) {
                Some(YamlKind::DocumentSet) => "*yamlmeta.DocumentSet",
                Some(YamlKind::Map) => "*yamlmeta.Map",
                Some(YamlKind::Array) => "*yamlmeta.Array",
                _ => "<nil>",
            };
            format!("yamlfragment({kind})")
        }
        StarValue::Replaced => "noop".into(),
        _ => "(known on deploy)".into(),
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
