//! The configuration of a stack: the block `config` of `Pulumi.STACK.yaml`.
//!
//! Not here: the file around the block, decryption, the types of entries (`config`).

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, Span, Spanned};
use serde_json::{Map, Value as Json};
use syntax::{Content, Node};

use crate::read::{RepeatedKey, entries, node_kind, value_span};
use crate::scalar;
use dialect::codes::{INVALID_NAME, WRONG_SHAPE};

/// The key of an encrypted value.
pub(crate) const SECURE: &str = "secure";

/// What stands for a secret in texts for people.
const REDACTED: &str = "[secret]";

/// A value of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum StackValue {
    /// A scalar. At the top level it is always text, as it is written.
    Scalar(Value),
    /// An encrypted text, and its place: a map with the only key `secure`.
    Secure(Name, Span),
    /// A list.
    List(Vec<StackValue>),
    /// A map.
    Map(IndexMap<Name, StackValue>),
}

/// The entries of a configuration by their full keys `NAMESPACE:NAME`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackConfig {
    entries: IndexMap<Name, Spanned<StackValue>>,
}

impl StackConfig {
    /// Reads the block. A key without a namespace belongs to the project, and `NAMESPACE:config:NAME`
    /// is the old form of a key. Mistakes are returned beside the entries that can be read.
    pub fn read(block: &Node, project: &str) -> (StackConfig, Diagnostics) {
        let mut found = Diagnostics::default();
        let mut config = StackConfig::default();
        let Some(all) = entries(block, RepeatedKey::Mistake, &mut found) else {
            if !block.is_missing() && !crate::read::is_null(block) {
                let kind = node_kind(block);
                found.push(
                    WRONG_SHAPE
                        .new(format!("`config` must be a map, found {kind}"))
                        .label(value_span(block), kind),
                );
            }
            return (config, found);
        };
        for entry in all {
            let Some(key) = full_key(&entry.key.item, project) else {
                found.push(
                    INVALID_NAME
                        .new(format!("`{}` is no key of a configuration", entry.key.item))
                        .label(entry.key.span, "a namespace and a name are needed")
                        .help("write `NAME` or `NAMESPACE:NAME`"),
                );
                continue;
            };
            let value = match entry.value.as_scalar() {
                Some(_) if crate::read::is_null(entry.value) => StackValue::Scalar(Value::text("")),
                Some(scalar) => StackValue::Scalar(Value::text(&*scalar.text)),
                None => value(entry.value, &mut found),
            };
            let value = Spanned::new(value, entry.key.span);
            config.entries.insert(key, value);
        }
        (config, found)
    }

    /// All entries in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&Name, &StackValue)> {
        self.entries.iter().map(|(key, value)| (key, &value.item))
    }

    /// All entries with the places of their keys.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Name, Spanned<StackValue>)> {
        self.entries.into_iter()
    }

    /// The value at a path: a full key, then steps such as `.name`, `["name"]` and `[0]`. `None` if
    /// there is none.
    pub fn get(&self, path: &str) -> Option<&StackValue> {
        let (namespace, rest) = path.split_once(':')?;
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        self.at(&format!("{namespace}:{name}"), &steps(rest)?)
    }

    /// The value at the steps below a full key.
    pub(crate) fn at(&self, key: &str, steps: &[PathStep<'_>]) -> Option<&StackValue> {
        let mut value = &self.entries.get(key)?.item;
        for step in steps {
            value = match (step, value) {
                (PathStep::Name(name), StackValue::Map(entries)) => entries.get(*name)?,
                (PathStep::Position(at), StackValue::List(items)) => items.get(*at)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

impl StackValue {
    /// Whether it is a list or a map.
    pub fn is_object(&self) -> bool {
        matches!(self, StackValue::List(_) | StackValue::Map(_))
    }

    /// The encrypted texts in it, in the order of keys and positions.
    pub fn secure_values(&self) -> Vec<&Name> {
        let mut all = Vec::new();
        self.collect_secure(&mut all);
        all
    }

    /// The value with its encrypted texts replaced by what `decrypt` returns; `None` if that is
    /// `None` for one of them.
    pub(crate) fn revealed(
        &self,
        decrypt: &mut dyn FnMut(&str, Span) -> Option<String>,
    ) -> Option<StackValue> {
        Some(match self {
            StackValue::Scalar(value) => StackValue::Scalar(value.clone()),
            StackValue::Secure(text, place) => {
                StackValue::Scalar(Value::text(decrypt(text, *place)?))
            }
            StackValue::List(items) => {
                let items = items.iter().map(|item| item.revealed(decrypt));
                StackValue::List(items.collect::<Option<_>>()?)
            }
            StackValue::Map(entries) => {
                let revealed = entries
                    .iter()
                    .map(|(key, entry)| Some((key.clone(), entry.revealed(decrypt)?)));
                StackValue::Map(revealed.collect::<Option<_>>()?)
            }
        })
    }

    fn collect_secure<'v>(&'v self, all: &mut Vec<&'v Name>) {
        match self {
            StackValue::Scalar(_) => {}
            StackValue::Secure(text, _) => all.push(text),
            StackValue::List(items) => items.iter().for_each(|item| item.collect_secure(all)),
            StackValue::Map(entries) => {
                sorted(entries).for_each(|(_, entry)| entry.collect_secure(all));
            }
        }
    }

    /// The value in JSON as the file writes it. Keys are sorted.
    pub fn to_json(&self) -> Json {
        self.json(&|secure| {
            let entry = (SECURE.to_owned(), Json::String(secure.to_string()));
            Json::Object(Map::from_iter([entry]))
        })
    }

    /// The text that a program receives: that of a scalar, and JSON for a list or map.
    pub fn to_text(&self) -> String {
        match self {
            StackValue::Scalar(value) => scalar_text(value),
            StackValue::Secure(text, _) => text.to_string(),
            object => go_json(&object.to_json()),
        }
    }

    /// The text for people, without secrets.
    pub fn to_redacted_text(&self) -> String {
        match self {
            StackValue::Scalar(value) => scalar_text(value),
            StackValue::Secure(..) => REDACTED.to_owned(),
            object => go_json(&object.json(&|_| Json::String(REDACTED.to_owned()))),
        }
    }

    fn json(&self, secure: &dyn Fn(&Name) -> Json) -> Json {
        match self {
            StackValue::Scalar(value) => serde_json::to_value(value).unwrap_or(Json::Null),
            StackValue::Secure(text, _) => secure(text),
            StackValue::List(items) => items.iter().map(|item| item.json(secure)).collect(),
            StackValue::Map(entries) => {
                let entries =
                    sorted(entries).map(|(key, entry)| (key.to_string(), entry.json(secure)));
                Json::Object(entries.collect())
            }
        }
    }
}

/// The entries of a map in the order of their keys.
fn sorted(entries: &IndexMap<Name, StackValue>) -> impl Iterator<Item = (&Name, &StackValue)> {
    let mut all: Vec<_> = entries.iter().collect();
    all.sort_by_key(|(key, _)| *key);
    all.into_iter()
}

/// The full key of an entry. `None` if it has no name or too many parts.
pub(crate) fn full_key(written: &str, project: &str) -> Option<Name> {
    let parts: Vec<&str> = written.split(':').collect();
    let (namespace, name) = match parts.as_slice() {
        [name] => (project, *name),
        [namespace, name] | [namespace, "config", name] => (*namespace, *name),
        _ => return None,
    };
    let is_complete = !namespace.is_empty() && !name.is_empty();
    is_complete.then(|| format!("{namespace}:{name}").into())
}

fn value(node: &Node, found: &mut Diagnostics) -> StackValue {
    match &node.content {
        Content::Missing => StackValue::Scalar(Value::Null),
        Content::Scalar(scalar) => StackValue::Scalar(scalar::typed(node, scalar)),
        Content::List(items) => {
            StackValue::List(items.iter().map(|item| value(item, found)).collect())
        }
        Content::Map(_) => {
            let all = entries(node, RepeatedKey::Mistake, found).unwrap_or_default();
            if let [only] = all.as_slice()
                && only.key.item.as_ref() == SECURE
                && let Some(text) = crate::read::text(only.value)
            {
                return StackValue::Secure(text.into(), value_span(node));
            }
            let read = |entry: crate::read::TextEntry<'_>| {
                let read = value(entry.value, found);
                (entry.key.item, read)
            };
            StackValue::Map(all.into_iter().map(read).collect())
        }
    }
}

fn scalar_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.to_string(),
        Value::Float(float) => scalar::float_text(*float),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// JSON as Go writes it: compact, with `<`, `>` and `&` escaped.
fn go_json(value: &Json) -> String {
    let escape = |text: String| {
        text.replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
    };
    escape(value.to_string())
}

/// A step of a path.
#[derive(Clone, Copy)]
pub(crate) enum PathStep<'p> {
    /// An entry of a map.
    Name(&'p str),
    /// An item of a list.
    Position(usize),
}

/// The steps of a path below its first part. `None` if the path is malformed.
pub(crate) fn steps(mut path: &str) -> Option<Vec<PathStep<'_>>> {
    let mut steps = Vec::new();
    while !path.is_empty() {
        let (step, rest) = next_step(path)?;
        steps.push(step);
        path = rest;
    }
    Some(steps)
}

/// The first step of a path, and the rest. `None` if the path is malformed.
fn next_step(path: &str) -> Option<(PathStep<'_>, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        return (!name.is_empty()).then_some((PathStep::Name(name), rest));
    }
    let rest = path.strip_prefix('[')?;
    if let Some(rest) = rest.strip_prefix('"') {
        let (name, rest) = rest.split_once("\"]")?;
        return Some((PathStep::Name(name), rest));
    }
    let (position, rest) = rest.split_once(']')?;
    Some((PathStep::Position(position.parse().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (StackConfig, Diagnostics) {
        let (tree, found) = syntax::parse(diag::FileId::new(0), text, syntax::Format::Yaml);
        assert!(found.is_empty());
        StackConfig::read(&tree.root.expect("a document"), "demo")
    }

    #[test]
    fn keys_belong_to_namespaces() {
        let (config, found) = read("size: 3\naws:region: eu\ngcp:config:zone: b\n");
        assert!(found.is_empty());
        let keys: Vec<&str> = config.entries().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(keys, ["demo:size", "aws:region", "gcp:zone"]);
        let (_, found) = read("a:b:c: 1\n':x': 1\n");
        assert_eq!(found.iter().count(), 2);
    }

    #[test]
    fn a_scalar_of_the_top_level_is_text_as_written() {
        let (config, _) = read("a: 1.0\nb: 007\nc: ~\n");
        let text = |path: &str| config.get(path).map(StackValue::to_text);
        assert_eq!(text("demo:a").as_deref(), Some("1.0"));
        assert_eq!(text("demo:b").as_deref(), Some("007"));
        assert_eq!(text("demo:c").as_deref(), Some(""));
        assert_eq!(text("demo:d"), None);
    }

    #[test]
    fn secrets_are_not_in_texts_for_people() {
        let (config, _) = read("a: {x: [{secure: s1}], y: {secure: s2, z: 1}}\n");
        let value = config.get("demo:a").expect("it was read");
        let secure: Vec<&str> = value
            .secure_values()
            .into_iter()
            .map(AsRef::as_ref)
            .collect();
        assert_eq!(secure, ["s1"]);
        assert_eq!(
            value.to_redacted_text(),
            r#"{"x":["[secret]"],"y":{"secure":"s2","z":1}}"#
        );
        let first = config.get("demo:a.x[0]");
        assert!(matches!(first, Some(StackValue::Secure(text, _)) if **text == *"s1"));
        assert!(config.get("demo:a.x[").is_none());
    }
}
