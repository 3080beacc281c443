//! Comparison of an object with what was desired or recorded of it.
//!
//! Only what the desired object writes counts: others fill in the rest. Items of a list are paired
//! as the schema tells them apart, and quantities are compared by their amounts.
//!
//! Not here: who holds a field that differs.

use blueprint::{FieldPath, IndexMap, PathStep};
use serde_json::{Map, Value as Json};

use crate::quantity::same_amount;
use crate::schema::{ListForm, ValueForms};

/// The leaves of the desired object that the live one does not have as desired: their paths in the
/// desired object. `forms` are those of the object.
///
/// A desired null wants that the field is absent.
pub fn differences(desired: &Json, live: &Json, forms: &ValueForms) -> Vec<FieldPath> {
    let mut found = Vec::new();
    compare(
        desired,
        Some(live),
        Some(forms),
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn compare(
    desired: &Json,
    live: Option<&Json>,
    forms: Option<&ValueForms>,
    path: &mut Vec<PathStep>,
    found: &mut Vec<FieldPath>,
) {
    match (desired, live) {
        (Json::Null, None | Some(Json::Null)) => {}
        (desired, None | Some(Json::Null)) if is_left_out(desired, forms) => {}
        (Json::Object(fields), Some(Json::Object(live))) => {
            for (name, value) in fields {
                path.push(PathStep::Field(name.as_str().into()));
                let forms = forms.and_then(|forms| forms.field(name));
                compare(value, live.get(name), forms, path, found);
                path.pop();
            }
        }
        (Json::Array(items), Some(Json::Array(live))) if is_paired(forms) => {
            let partners = Partners::of(live, forms);
            let item_forms = forms.and_then(ValueForms::item);
            for (index, item) in (0_u64..).zip(items) {
                path.push(PathStep::Index(index));
                compare(item, partners.of_item(item, live), item_forms, path, found);
                path.pop();
            }
        }
        (desired, Some(live)) if same(desired, live, forms) => {}
        _ => found.push(FieldPath(path.clone())),
    }
}

/// Whether two values mean the same as a whole.
fn same(one: &Json, other: &Json, forms: Option<&ValueForms>) -> bool {
    if one == other || forms.is_some_and(|forms| forms.is_quantity) && same_amount(one, other) {
        return true;
    }
    match (one, other) {
        (Json::Object(fields), Json::Object(others)) => {
            fields.len() == others.len()
                && fields.iter().all(|(name, value)| {
                    let forms = forms.and_then(|forms| forms.field(name));
                    others
                        .get(name)
                        .is_some_and(|other| same(value, other, forms))
                })
        }
        (Json::Array(items), Json::Array(others)) => {
            let item_forms = forms.and_then(ValueForms::item);
            let mut pairs = items.iter().zip(others);
            items.len() == others.len() && pairs.all(|(item, other)| same(item, other, item_forms))
        }
        (Json::Number(one), Json::Number(other)) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// Whether the server leaves out a value that a document writes.
fn is_left_out(written: &Json, forms: Option<&ValueForms>) -> bool {
    let is_empty = match written {
        Json::Object(fields) => fields.is_empty(),
        Json::Array(items) => items.is_empty(),
        other => return other.is_null(),
    };
    is_empty && forms.is_some_and(|forms| forms.is_collection)
}

/// Whether the items of a list are paired; others are compared as one value.
fn is_paired(forms: Option<&ValueForms>) -> bool {
    let list = forms.and_then(|forms| forms.list.as_ref());
    matches!(list, Some(ListForm::Set | ListForm::Map(_)))
}

/// The live object as the recorded one is written, where both mean the same: quantities have the
/// recorded text, the items of keyed lists and sets have the recorded order, before further ones,
/// and empty lists and maps that the server leaves out are there. A later comparison of the two by
/// value then finds only what differs in meaning.
pub fn spelled_like(live: &Json, recorded: &Json, forms: &ValueForms) -> Json {
    spelled(live, recorded, Some(forms))
}

fn spelled(live: &Json, recorded: &Json, forms: Option<&ValueForms>) -> Json {
    match (live, recorded) {
        (Json::Object(fields), Json::Object(recorded)) => {
            let field = |(name, value): (&String, &Json)| {
                let forms = forms.and_then(|forms| forms.field(name));
                let value = match recorded.get(name) {
                    Some(recorded) => spelled(value, recorded, forms),
                    None => value.clone(),
                };
                (name.clone(), value)
            };
            let mut written: Map<String, Json> = fields.iter().map(field).collect();
            for (name, value) in recorded {
                let forms = forms.and_then(|forms| forms.field(name));
                if !written.contains_key(name) && is_left_out(value, forms) {
                    written.insert(name.clone(), value.clone());
                }
            }
            Json::Object(written)
        }
        (Json::Array(items), Json::Array(recorded)) if is_paired(forms) => {
            let item_forms = forms.and_then(ValueForms::item);
            let partners = Partners::of(items, forms);
            let mut left: Vec<Option<&Json>> = items.iter().map(Some).collect();
            let mut ordered = Vec::with_capacity(items.len());
            for wanted in recorded {
                let partner = partners.position(wanted);
                if let Some(item) = partner.and_then(|at| left.get_mut(at)?.take()) {
                    ordered.push(spelled(item, wanted, item_forms));
                }
            }
            ordered.extend(left.into_iter().flatten().cloned());
            Json::Array(ordered)
        }
        (Json::Array(items), Json::Array(recorded)) if items.len() == recorded.len() => {
            let item_forms = forms.and_then(ValueForms::item);
            let pairs = items.iter().zip(recorded);
            pairs
                .map(|(item, recorded)| spelled(item, recorded, item_forms))
                .collect()
        }
        (live, recorded) if same(live, recorded, forms) => recorded.clone(),
        (live, _) => live.clone(),
    }
}

/// The items of a list by their keys.
struct Partners<'f> {
    list: Option<&'f ListForm>,
    by_key: IndexMap<String, usize>,
    /// By the keys of which the server fills one in: the position, or `None` if several fit.
    by_part: IndexMap<String, Option<usize>>,
}

impl<'f> Partners<'f> {
    fn of(items: &[Json], forms: Option<&'f ValueForms>) -> Partners<'f> {
        let list = forms.and_then(|forms| forms.list.as_ref());
        let mut partners = Partners {
            list,
            by_key: IndexMap::default(),
            by_part: IndexMap::default(),
        };
        for (at, item) in items.iter().enumerate() {
            for mask in partners.masks() {
                let Some(key) = partners.key(item, mask) else {
                    continue;
                };
                if mask == 0 {
                    partners.by_key.entry(key).or_insert(at);
                } else {
                    partners
                        .by_part
                        .entry(key)
                        .and_modify(|known| *known = None)
                        .or_insert(Some(at));
                }
            }
        }
        partners
    }

    /// Which of the first key fields are left out: none, and each of them alone.
    fn masks(&self) -> Vec<u32> {
        let count = match self.list {
            Some(ListForm::Map(names)) if names.len() > 1 => names.len().min(8),
            _ => 0,
        };
        std::iter::once(0)
            .chain((0..count).map(|at| 1 << at))
            .collect()
    }

    /// The key of an item without some of its fields. `None` if one of the others is missing.
    fn key(&self, item: &Json, without: u32) -> Option<String> {
        let Some(ListForm::Map(names)) = self.list else {
            return Some(item.to_string());
        };
        let mut key = without.to_string();
        for (at, name) in names.iter().enumerate() {
            if at >= 32 || without & (1 << at) == 0 {
                key.push('/');
                key.push_str(&item.get(&**name)?.to_string());
            }
        }
        Some(key)
    }

    /// The position of the item that is meant by a desired one. The desired item may lack one key
    /// field if the others tell the items apart: the server fills it in.
    fn position(&self, item: &Json) -> Option<usize> {
        if let Some(key) = self.key(item, 0) {
            return self.by_key.get(&key).copied();
        }
        let missing = |mask: &u32| *mask != 0;
        self.masks()
            .into_iter()
            .filter(missing)
            .find_map(|mask| *self.by_part.get(&self.key(item, mask)?)?)
    }

    fn of_item<'v>(&self, item: &Json, items: &'v [Json]) -> Option<&'v Json> {
        items.get(self.position(item)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{GroupKind, builtin};

    fn forms(kind: &str) -> ValueForms {
        let kind: GroupKind = kind.parse().unwrap();
        let schema = builtin().object_schema(&kind, None).unwrap();
        (*schema.forms).clone()
    }

    fn paths(desired: &Json, live: &Json, forms: &ValueForms) -> Vec<String> {
        let found = differences(desired, live, forms);
        found.iter().map(ToString::to_string).collect()
    }

    fn live() -> Json {
        json!({
            "metadata": {"name": "web", "finalizers": ["a", "b"], "labels": {"app": "web", "other": "x"}},
            "spec": {"ports": [
                    {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30000},
                    {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                    {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53}],
                "externalIPs": ["192.0.2.1", "192.0.2.2"], "type": "ClusterIP"}
        })
    }

    #[test]
    fn only_what_is_desired_counts() {
        let forms = forms("core/Service");
        for (desired, expected) in [
            (json!({"metadata": {"labels": {"app": "web"}}}), vec![]),
            (json!({"metadata": {"finalizers": ["b"]}}), vec![]),
            (
                json!({"metadata": {"finalizers": ["c"]}}),
                vec!["metadata.finalizers[0]"],
            ),
            (
                json!({"metadata": {"labels": {"app": "api", "new": "x"}}}),
                vec!["metadata.labels.app", "metadata.labels.new"],
            ),
            // The server fills in the protocol.
            (json!({"spec": {"ports": [{"port": 80}]}}), vec![]),
            (
                json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "udp"}, {"port": 80, "name": "http"}]}}),
                vec!["spec.ports[0].name"],
            ),
            (
                json!({"spec": {"ports": [{"port": 53}]}}),
                vec!["spec.ports[0]"],
            ),
            (
                json!({"spec": {"ports": [{"port": 81}]}}),
                vec!["spec.ports[0]"],
            ),
            // An atomic list is one value.
            (
                json!({"spec": {"externalIPs": ["192.0.2.1"]}}),
                vec!["spec.externalIPs"],
            ),
            (json!({"spec": {"clusterIP": null}}), vec![]),
            // The server leaves out an empty map or list, but no empty object.
            (json!({"metadata": {"annotations": {}}}), vec![]),
            (
                json!({"spec": {"selector": {}, "loadBalancerSourceRanges": []}}),
                vec![],
            ),
            (
                json!({"spec": {"sessionAffinityConfig": {}}}),
                vec!["spec.sessionAffinityConfig"],
            ),
            (json!({"spec": {"type": null}}), vec!["spec.type"]),
            (json!({"spec": "x"}), vec!["spec"]),
            (live(), vec![]),
        ] {
            assert_eq!(paths(&desired, &live(), &forms), expected, "{desired}");
        }
    }

    #[test]
    fn quantities_with_equal_amounts_are_the_same() {
        let forms = forms("core/Pod");
        let pod = |cpu: Json| {
            json!({"spec": {"containers": [{"name": "a", "image": "1000m",
                "resources": {"limits": {"cpu": cpu, "memory": "1Gi"}}}]}})
        };
        assert!(paths(&pod(json!("1000m")), &pod(json!("1")), &forms).is_empty());
        assert_eq!(
            paths(&pod(json!("2")), &pod(json!("1")), &forms),
            ["spec.containers[0].resources.limits.cpu"]
        );
        assert_eq!(
            spelled_like(&pod(json!("1")), &pod(json!(1)), &forms),
            pod(json!(1))
        );
        let mut other = pod(json!("1"));
        other["spec"]["containers"][0]["image"] = json!("1");
        assert_eq!(
            paths(&pod(json!("1")), &other, &forms),
            ["spec.containers[0].image"]
        );
    }

    #[test]
    fn a_live_object_is_written_like_the_record() {
        let forms = forms("core/Service");
        let recorded = json!({"metadata": {"finalizers": ["b", "gone"]},
            "spec": {"ports": [{"port": 53, "protocol": "TCP"}, {"port": 80}]}});
        let written = spelled_like(&live(), &recorded, &forms);
        assert_eq!(written["metadata"]["finalizers"], json!(["b", "a"]));
        let ports = written["spec"]["ports"].as_array().unwrap();
        let names: Vec<_> = ports
            .iter()
            .filter_map(|port| port["name"].as_str())
            .collect();
        assert_eq!(names, ["dns-tcp", "http", "dns"]);
        assert_eq!(written["spec"]["type"], "ClusterIP");
        let recorded =
            json!({"metadata": {"annotations": {}}, "spec": {"sessionAffinityConfig": {}}});
        let written = spelled_like(&live(), &recorded, &forms);
        assert_eq!(written["metadata"]["annotations"], json!({}));
        assert!(written["spec"].get("sessionAffinityConfig").is_none());
    }

    fn ports() -> impl Strategy<Value = Vec<Json>> {
        let port = (1..5_u8, prop_oneof![Just("TCP"), Just("UDP")], 0..3_u8);
        let keyed = proptest::collection::vec(port, 0..5);
        keyed.prop_map(|ports| {
            let unique: std::collections::BTreeMap<_, _> = ports
                .into_iter()
                .map(|(port, protocol, target)| ((port, protocol), target))
                .collect();
            let port = |((port, protocol), target)| json!({"port": port, "protocol": protocol, "targetPort": target});
            unique.into_iter().map(port).collect()
        })
    }

    proptest! {
        #[test]
        fn the_order_of_a_keyed_list_decides_nothing(ports in ports(), other in ports(), turn in 0..5_usize) {
            let forms = forms("core/Service");
            let service = |ports: &[Json]| json!({"spec": {"ports": ports}});
            let mut turned = ports.clone();
            if !turned.is_empty() {
                let by = turn % turned.len();
                turned.rotate_left(by);
            }
            prop_assert!(differences(&service(&turned), &service(&ports), &forms).is_empty());
            prop_assert_eq!(spelled_like(&service(&ports), &service(&turned), &forms), service(&turned));
            // Writing an object like another one changes no meaning.
            let written = spelled_like(&service(&other), &service(&ports), &forms);
            prop_assert!(differences(&service(&other), &written, &forms).is_empty());
            prop_assert!(differences(&written, &service(&other), &forms).is_empty());
        }
    }
}
