//! Comparing the cloud with the state.

use std::collections::{BTreeMap, BTreeSet};

use super::Harness;
use blueprint::Value;

impl Harness {
    /// Describes the resources of the instance in the cloud whose id or token is not in the state,
    /// one sentence each.
    pub(super) async fn orphaned_resources(&self) -> Vec<String> {
        let snapshot = self.store().load(&self.name).await.unwrap_or_default();
        let tokens: BTreeSet<&str> = snapshot
            .open
            .values()
            .map(|open| open.intent.token.as_ref())
            .chain(
                snapshot
                    .records
                    .values()
                    .filter_map(|record| record.attempt.as_ref()?.token.as_deref()),
            )
            .chain(
                snapshot
                    .records
                    .values()
                    .filter_map(|record| record.token.as_deref()),
            )
            .collect();
        let mut ids: BTreeSet<&str> = snapshot
            .open
            .values()
            .map(|open| open.intent.id.as_ref())
            .collect();
        for record in snapshot.records.values() {
            ids.insert(&record.id);
            ids.extend(record.deposed_objects().map(|old| old.id.as_ref()));
        }
        let world = self
            .world
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let own = format!("{}/", self.name.as_str());
        let objects = world
            .objects()
            .filter(|object| object.place.starts_with(&own));
        let orphans = objects
            .filter(|object| !ids.contains(object.id.as_ref()) && !tokens.contains(object.token()));
        orphans
            .map(|object| {
                format!(
                    "{} {} exists and the state does not know it",
                    object.place, object.id
                )
            })
            .collect()
    }

    /// The resources in the cloud by place. Ids and hashes are replaced by the places that they
    /// stand for, and lists of maps are sorted, because their order depends on the order of calls.
    pub fn cloud(&self) -> BTreeMap<String, String> {
        let world = self
            .world
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut objects: Vec<_> = world.objects().collect();
        objects.sort_by(|a, b| (&a.place, &a.id).cmp(&(&b.place, &b.id)));
        for object in &objects {
            let hash = object
                .id
                .rsplit(['-', '/'])
                .next()
                .unwrap_or_default()
                .to_owned();
            names.insert(hash, format!("<{}>", object.place));
        }
        let mut cloud = BTreeMap::new();
        for object in objects {
            let count = counts.entry(object.place.to_string()).or_default();
            *count += 1;
            // The number of updates does not count, and generated names differ in each plan.
            let generated: &[&str] = if object.type_name.package_name() == "checker" {
                &["name", "url", "revision"]
            } else {
                &["revision"]
            };
            let fields = object.fields.as_map().into_iter().flatten();
            let fields = fields.filter(|(name, _)| !generated.contains(&name.as_ref()));
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{name}: {}", plain(value, &names)))
                .collect();
            cloud.insert(
                format!("{} #{count}", object.place),
                format!("{} {}", object.type_name, fields.join(", ")),
            );
        }
        cloud
    }

    /// The ids of the instance's resources in the cloud, and the ids in the state.
    pub async fn ids(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (snapshot, own) = (self.snapshot().await, format!("{}/", self.name.as_str()));
        let mut known = BTreeSet::new();
        // A link is not a resource in the cloud.
        for (_, record) in snapshot
            .records
            .iter()
            .filter(|(_, record)| !record.id.contains("::"))
        {
            known.insert(record.id.to_string());
            known.extend(record.deposed_objects().map(|old| old.id.to_string()));
        }
        known.remove("");
        let world = self
            .world
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        (
            world
                .objects()
                .filter(|object| object.place.starts_with(&own))
                .map(|object| object.id.to_string())
                .collect(),
            known,
        )
    }
}

/// A value as text, with ids replaced by the places that they stand for.
fn plain(value: &Value, names: &BTreeMap<String, String>) -> String {
    match value.unmarked() {
        Value::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, entry)| format!("{name}: {}", plain(entry, names)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::List(items) | Value::Set(items) => {
            let mut texts: Vec<String> = items.iter().map(|item| plain(item, names)).collect();
            if items.iter().all(|item| item.as_map().is_some()) {
                texts.sort_unstable();
            }
            format!("[{}]", texts.join(", "))
        }
        other => {
            let text = format!("{other:?}");
            names.iter().fold(text, |text, (hash, place)| {
                if text.contains(hash.as_str()) {
                    text.replace(hash.as_str(), place)
                } else {
                    text
                }
            })
        }
    }
}
