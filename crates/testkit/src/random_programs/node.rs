//! A tree of YAML with its spelling, and the writer of its text.

/// A part of a document.
#[derive(Clone, Debug)]
pub(super) enum YamlPart {
    /// A scalar as it is written.
    Raw(String),
    List(Vec<YamlPart>),
    Map(Vec<(String, YamlPart)>),
}

impl YamlPart {
    /// A text in double quotes.
    pub(super) fn text(text: &str) -> YamlPart {
        YamlPart::Raw(quoted(text))
    }

    /// A map with one entry.
    pub(super) fn one(key: &str, value: YamlPart) -> YamlPart {
        YamlPart::Map(vec![(key.to_owned(), value)])
    }

    /// Writes the node in one line.
    pub(super) fn flow(&self) -> String {
        match self {
            YamlPart::Raw(text) => text.clone(),
            YamlPart::List(items) => {
                let items: Vec<String> = items.iter().map(YamlPart::flow).collect();
                format!("[{}]", items.join(", "))
            }
            YamlPart::Map(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", quoted(key), value.flow()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// A text in double quotes, as JSON and YAML read it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
