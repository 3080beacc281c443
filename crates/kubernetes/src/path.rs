//! Field paths as the API server writes them, as paths of `blueprint`.
//!
//! The server has two forms. Validation writes `spec.containers[0].image` and `data[a.b]`.
//! Server-side apply writes `.spec.containers[name="web"].image` and `.data.a.b`, where nothing
//! marks the end of a name with dots. So the object that the path leads into decides where a name
//! ends and which item of a list is meant.

use blueprint::{FieldPath, PathStep};
use serde_json::{Map, Value as Json};

/// The path of a text of the API server. `object` is the object that the path leads into, if it is
/// known.
///
/// Where the item of a list cannot be found, the path ends at the list. A text that is not a path
/// is the name of one field.
pub fn field_path(text: &str, object: Option<&Json>) -> FieldPath {
    let mut reader = PathReader {
        rest: text.trim(),
        at: object,
        steps: Vec::new(),
    };
    while reader.step() {}
    FieldPath(reader.steps)
}

struct PathReader<'a> {
    rest: &'a str,
    /// The value at the end of the steps, if it is known.
    at: Option<&'a Json>,
    steps: Vec<PathStep>,
}

/// What is written in brackets.
enum Selector<'a> {
    /// An item by its position, or an entry of a map whose key is a number.
    Number(u64, &'a str),
    /// An entry of a map.
    Key(String),
    /// The item of a list with these values of its key fields.
    Keys(Map<String, Json>),
    /// The item of a list that has this value.
    Item(Json),
}

impl<'a> PathReader<'a> {
    /// Reads one step. Returns `false` at the end of the path.
    fn step(&mut self) -> bool {
        if let Some(inside) = self.rest.strip_prefix('[')
            && let Some(end) = closing_bracket(inside)
        {
            self.rest = &inside[end + 1..];
            return match selector(&inside[..end]) {
                Selector::Number(_, key) if self.at.is_some_and(Json::is_object) => {
                    self.entry(key);
                    true
                }
                Selector::Number(index, _) => {
                    self.item(usize::try_from(index).ok());
                    true
                }
                Selector::Key(key) => {
                    self.entry(&key);
                    true
                }
                Selector::Keys(keys) => self.found(|items| item_with_keys(items, &keys)),
                Selector::Item(value) => {
                    self.found(|items| items.iter().position(|item| *item == value))
                }
            };
        }
        self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        let name = self.name();
        if name.is_empty() {
            return false;
        }
        self.rest = &self.rest[name.len()..];
        self.at = self.at.and_then(|at| at.get(name));
        self.steps.push(PathStep::Field(name.into()));
        true
    }

    /// The next name: the longest key of the object here, else the text before the next `.` or `[`.
    fn name(&self) -> &'a str {
        let rest = self.rest;
        let ends_here = |key: &str| {
            rest.strip_prefix(key)
                .is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
        };
        let keys = self.at.and_then(Json::as_object).into_iter().flatten();
        let known = keys
            .map(|(key, _)| key.as_str())
            .filter(|key| !key.is_empty() && ends_here(key))
            .map(str::len)
            .max();
        // A bracket that opens no step belongs to the name.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = known.unwrap_or_else(|| {
            rest[first..]
                .find(['.', '['])
                .map_or(rest.len(), |at| at + first)
        });
        &rest[..end]
    }

    fn entry(&mut self, key: &str) {
        self.at = self.at.and_then(|at| at.get(key));
        self.steps.push(PathStep::Key(key.into()));
    }

    fn item(&mut self, index: Option<usize>) {
        self.at = index.and_then(|index| self.at?.get(index));
        let step = index.and_then(|index| u64::try_from(index).ok());
        self.steps.extend(step.map(PathStep::Index));
    }

    /// Goes to an item of the list here. Ends the path if there is no such item.
    fn found(&mut self, position: impl FnOnce(&[Json]) -> Option<usize>) -> bool {
        let items = self.at.and_then(Json::as_array);
        match items.and_then(|items| position(items)) {
            Some(index) => {
                self.item(Some(index));
                true
            }
            None => {
                self.rest = "";
                false
            }
        }
    }
}

/// The position of the bracket that closes one which was opened before the text.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn selector(text: &str) -> Selector<'_> {
    let parsed = |text: &str| serde_json::from_str::<Json>(text).ok();
    if let Some(Json::Object(keys)) = text.strip_prefix("k:").and_then(parsed) {
        return Selector::Keys(keys);
    }
    let item = text.strip_prefix("v:").or(text.strip_prefix('='));
    if let Some(value) = item.and_then(parsed) {
        return Selector::Item(value);
    }
    if let Ok(index) = text.strip_prefix("i:").unwrap_or(text).parse() {
        return Selector::Number(index, text);
    }
    if let Some(Json::String(key)) = parsed(text) {
        return Selector::Key(key);
    }
    match key_pairs(text) {
        Some(keys) => Selector::Keys(keys),
        None => Selector::Key(text.to_owned()),
    }
}

/// Reads `name="web",port=80`.
fn key_pairs(text: &str) -> Option<Map<String, Json>> {
    let mut keys = Map::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Json>();
        let value = values.next()?.ok()?;
        keys.insert(name.to_owned(), value);
        let after = after.get(values.byte_offset()..)?;
        rest = match after.strip_prefix(',') {
            Some(more) if !more.is_empty() => more,
            Some(_) => return None,
            None if after.is_empty() => "",
            None => return None,
        };
    }
    (!keys.is_empty()).then_some(keys)
}

/// The position of the item of a list with these values of its key fields. The server fills in key
/// fields with a default, such as `protocol`, so an item may lack some of them if it is the only
/// one that fits.
fn item_with_keys(items: &[Json], keys: &Map<String, Json>) -> Option<usize> {
    let equal = |item: &Json| {
        keys.iter()
            .filter(|(name, value)| item.get(*name) == Some(*value))
            .count()
    };
    if let Some(exact) = items.iter().position(|item| equal(item) == keys.len()) {
        return Some(exact);
    }
    let fits = |item: &Json| {
        let differs = |(name, value)| item.get::<&String>(name).is_some_and(|own| own != value);
        equal(item) > 0 && !keys.iter().any(differs)
    };
    let mut fitting = items.iter().enumerate().filter(|(_, item)| fits(item));
    match (fitting.next(), fitting.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_of_both_forms_are_read() {
        let object = json!({
            "metadata": {"annotations": {"a.example/b": "x", "a": "y"}},
            "data": {"app.yaml": "x", "7": "y"},
            "spec": {"template": {"spec": {"containers": [
                {"name": "one"},
                {"name": "web", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]},
            ]}}, "finalizers": ["x", "y"]},
        });
        for (text, with, without) in [
            (
                "spec.template.spec.containers[1].image",
                "spec.template.spec.containers[1].image",
                "spec.template.spec.containers[1].image",
            ),
            (
                r#".spec.template.spec.containers[name="web"].image"#,
                "spec.template.spec.containers[1].image",
                "spec.template.spec.containers",
            ),
            (
                r#"spec.template.spec.containers[k:{"name":"web"}].ports[k:{"containerPort":80,"protocol":"TCP"}]"#,
                "spec.template.spec.containers[1].ports[0]",
                "spec.template.spec.containers",
            ),
            (
                r#".spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="UDP"].name"#,
                "spec.template.spec.containers[1].ports[1].name",
                "spec.template.spec.containers",
            ),
            (
                r#".spec.template.spec.containers[name="two"].image"#,
                "spec.template.spec.containers",
                "spec.template.spec.containers",
            ),
            (".data.app.yaml", r#"data["app.yaml"]"#, "data.app.yaml"),
            (
                ".metadata.annotations.a.example/b",
                r#"metadata.annotations["a.example/b"]"#,
                r#"metadata.annotations.a["example/b"]"#,
            ),
            (
                "metadata.annotations[a.example/b]",
                r#"metadata.annotations["a.example/b"]"#,
                r#"metadata.annotations["a.example/b"]"#,
            ),
            ("data[7]", "data.7", "data[7]"),
            (
                r#".spec.finalizers[="y"]"#,
                "spec.finalizers[1]",
                "spec.finalizers",
            ),
            (
                r#".spec.finalizers[v:"y"]"#,
                "spec.finalizers[1]",
                "spec.finalizers",
            ),
            (
                ".spec.finalizers[i:0]",
                "spec.finalizers[0]",
                "spec.finalizers[0]",
            ),
            ("", "", ""),
            (".", "", ""),
        ] {
            assert_eq!(field_path(text, Some(&object)).to_string(), with, "{text}");
            assert_eq!(field_path(text, None).to_string(), without, "{text}");
        }
    }

    #[test]
    fn an_item_with_missing_keys_must_be_the_only_one() {
        let keys = |keys: &str| key_pairs(keys).unwrap();
        let two = [
            json!({"port": 1, "name": "a"}),
            json!({"port": 1, "name": "b"}),
        ];
        assert_eq!(
            item_with_keys(&two, &keys(r#"port=1,protocol="TCP""#)),
            None
        );
        assert_eq!(
            item_with_keys(&two[..1], &keys(r#"port=1,protocol="TCP""#)),
            Some(0)
        );
        assert_eq!(item_with_keys(&two, &keys("port=2")), None);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_path(text in r#"[a-c.="\[\]{}:,k0-9\\é]{0,24}"#) {
            field_path(&text, Some(&json!({"a": {"b.c": [{"k": "a"}]}, "[": 1})));
        }
    }
}
