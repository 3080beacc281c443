//! The table of messages: what `messages.txt` says.

use std::collections::HashMap;
use std::sync::OnceLock;

static TABLE: &str = include_str!("messages.txt");

/// The messages by their names, such as `core.v1.Namespace`.
#[derive(Debug)]
pub(super) struct Messages {
    by_name: HashMap<&'static str, HashMap<u64, FieldSpec>>,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldSpec {
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) form: FieldForm,
    pub(super) of_type: FieldType,
}

/// How often a field stands in a message, and what JSON makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldForm {
    /// Once; JSON leaves a zero out.
    Single,
    /// Once or never; JSON has a zero.
    Optional,
    List,
    Map,
    /// Its fields stand in the map around it.
    Inline,
}

/// The type of a field, or of the items of a list or the values of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    Bytes,
    Integer,
    Boolean,
    Float,
    Time,
    Quantity,
    IntOrString,
    /// A message that is only a list of texts.
    Texts,
    /// JSON in a message.
    Raw,
    Message(&'static str),
}

/// The table.
pub(super) fn messages() -> &'static Messages {
    static MESSAGES: OnceLock<Messages> = OnceLock::new();
    MESSAGES.get_or_init(|| Messages::parse(TABLE))
}

impl Messages {
    /// Reads the table. A line that is not well formed is left out; a test finds it.
    fn parse(text: &'static str) -> Messages {
        let mut by_name: HashMap<&str, HashMap<u64, FieldSpec>> = HashMap::new();
        let mut current = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix(' ') {
                None => {
                    current = line;
                    by_name.entry(line).or_default();
                }
                Some(line) => {
                    let fields = by_name.entry(current).or_default();
                    fields.extend(field(line));
                }
            }
        }
        Messages { by_name }
    }

    pub(super) fn has(&self, message: &str) -> bool {
        self.by_name.contains_key(message)
    }

    pub(super) fn field(&self, message: &str, number: u64) -> Option<&FieldSpec> {
        self.by_name.get(message)?.get(&number)
    }
}

fn field(line: &'static str) -> Option<(u64, FieldSpec)> {
    let mut words = line.split(' ');
    let number = words.next()?.parse().ok()?;
    let name = words.next()?;
    let word = words.next()?;
    let (form, word) = match word {
        "list" => (FieldForm::List, words.next()?),
        "map" => (FieldForm::Map, words.next()?),
        "inline" => (FieldForm::Inline, words.next()?),
        word => match word.strip_suffix('?') {
            Some(word) => (FieldForm::Optional, word),
            None => (FieldForm::Single, word),
        },
    };
    let of_type = match word {
        "string" => FieldType::Text,
        "bytes" => FieldType::Bytes,
        "int" => FieldType::Integer,
        "bool" => FieldType::Boolean,
        "double" => FieldType::Float,
        "time" => FieldType::Time,
        "quantity" => FieldType::Quantity,
        "intstr" => FieldType::IntOrString,
        "texts" => FieldType::Texts,
        "raw" => FieldType::Raw,
        word => FieldType::Message(word.strip_prefix('.')?),
    };
    let spec = FieldSpec {
        name,
        form,
        of_type,
    };
    Some((number, spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_well_formed_and_every_message_exists() {
        let table = messages();
        let lines = TABLE.lines().filter(|line| line.starts_with(' '));
        let fields: usize = table.by_name.values().map(HashMap::len).sum();
        assert_eq!(fields, lines.count());
        for (name, fields) in &table.by_name {
            for field in fields.values() {
                if let FieldType::Message(inner) = field.of_type {
                    assert!(table.has(inner), "{name}.{}: {inner}", field.name);
                }
            }
        }
    }
}
