//! The normal form of generated names: the prefix and `<N>`, numbered in order of creation.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// The generated names that were seen.
#[derive(Default)]
pub(crate) struct GeneratedNames {
    /// The normal form of each name.
    normal: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl GeneratedNames {
    /// Numbers the generated names among objects that were not seen before.
    pub(crate) fn learn(&mut self, objects: &[Json]) {
        let mut new: Vec<(String, u64, String, String)> = Vec::new();
        for object in objects {
            let metadata = &object["metadata"];
            let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
            let prefix = text("generateName");
            if prefix.is_empty() || self.normal.contains_key(&text("name")) {
                continue;
            }
            let version = text("resourceVersion").parse().unwrap_or(0);
            new.push((text("creationTimestamp"), version, prefix, text("name")));
        }
        new.sort();
        for (_, _, prefix, name) in new {
            let count = self.counts.entry(prefix.clone()).or_default();
            *count += 1;
            self.normal.insert(name, format!("{prefix}<{count}>"));
        }
    }

    /// Some JSON with names in normal form.
    pub(crate) fn normal(&self, json: &Json) -> Json {
        let pairs = self.normal.iter();
        replaced(json, pairs)
    }

    /// Some JSON with the names of this run.
    pub(crate) fn actual(&self, json: &Json) -> Json {
        let pairs = self.normal.iter();
        replaced(json, pairs.map(|(name, normal)| (normal, name)))
    }
}

fn replaced<'n>(json: &Json, pairs: impl Iterator<Item = (&'n String, &'n String)>) -> Json {
    let mut text = json.to_string();
    for (from, to) in pairs {
        text = text.replace(from.as_str(), to);
    }
    serde_json::from_str(&text).expect("names are plain texts")
}
