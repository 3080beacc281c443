//! The objects of a project in a form that two projects can be compared by.
//!
//! Ids become the names of what they refer to. What each run draws anew is replaced or left out:
//! generated names, the marks of `cyan`, MACs, times, hosts, and addresses that the template does not
//! mention.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::project::{FoundObject, TestProject, is_default_group};
use super::template::TestTemplate;

/// Fields that differ between two runs of one program, at any depth.
const VOLATILE: &[&str] = &[
    "attached_at",
    "attachment_id",
    "binding:host_id",
    "cluster_name",
    "created",
    "created_at",
    // It contains the address in words.
    "dns_assignment",
    "fingerprint",
    "host",
    "host_name",
    "hostId",
    "launched_at",
    "links",
    // No machine carries a load balancer out, so the order of calls decides what Octavia shows.
    "operating_status",
    "locked_reason",
    "OS-EXT-SRV-ATTR:host",
    "OS-EXT-SRV-ATTR:hypervisor_hostname",
    "OS-EXT-SRV-ATTR:instance_name",
    "OS-EXT-SRV-ATTR:reservation_id",
    "OS-EXT-STS:task_state",
    "OS-SRV-USG:launched_at",
    "os-vol-host-attr:host",
    "project_id",
    "provider:segmentation_id",
    "revision_number",
    "service_uuid",
    "standard_attr_id",
    "tenant_id",
    "updated",
    "updated_at",
    "user_id",
];

/// Lists whose order is a part of their meaning.
const ORDERED: [&str; 1] = ["dns_nameservers"];

/// Kinds whose addresses do not depend on chance.
const ADDRESSED: [&str; 2] = ["subnet", "subnet pool"];

/// How the MACs begin that Neutron draws.
const DRAWN_MAC: &str = "fa:16:3e:";

/// How the marks of `cyan` begin.
const MARK: &str = "cyan-";

/// The key of a mark in a map.
const MARK_KEY: &str = "cyan";

/// The field that says whether an object was there after the last step too. It tells an update in
/// place from a replacement.
const KEPT: &str = "(kept)";

/// The length of the random part of a generated name.
const RANDOM: usize = 12;

/// An object of a project without what each run draws anew.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComparedObject {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) fields: BTreeMap<String, Value>,
}

impl ComparedObject {
    /// The form in which states are recorded.
    pub(super) fn record(&self) -> Value {
        let fields: Map<String, Value> = self.fields.clone().into_iter().collect();
        json!({"kind": self.kind, "name": self.name, "fields": fields})
    }

    /// Reads the form in which states are recorded. Returns nothing for another form.
    pub(super) fn recorded(value: &Value) -> Option<Self> {
        let fields = value["fields"].as_object()?.iter();
        Some(Self {
            kind: value["kind"].as_str()?.to_owned(),
            name: value["name"].as_str()?.to_owned(),
            fields: fields
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        })
    }

    /// What the order of objects depends on.
    fn key(&self) -> String {
        format!("{} {} {:?}", self.kind, self.name, self.fields)
    }
}

/// The ids of objects.
pub(super) fn ids(objects: &[FoundObject]) -> BTreeSet<String> {
    let ids = objects
        .iter()
        .filter_map(|object| object.value["id"].as_str());
    ids.map(str::to_owned).collect()
}

/// The objects of a project, in an order that does not depend on ids. `before` has the ids of those
/// after the last step.
pub(super) fn compared(
    template: &TestTemplate,
    project: &TestProject,
    objects: &[FoundObject],
    shared: &[FoundObject],
    before: &BTreeSet<String>,
) -> Vec<ComparedObject> {
    let mut labels = BTreeMap::new();
    labels.insert(project.id.clone(), "(project)".to_owned());
    labels.insert(project.user.clone(), "(user)".to_owned());
    for object in shared.iter().chain(objects) {
        if let Some(id) = object.value["id"].as_str() {
            labels.insert(
                id.to_owned(),
                format!("{} {}", object.kind, name_of(object)),
            );
        }
    }
    let rules = StateRules {
        template,
        labels,
        before,
    };
    let own = objects.iter().filter(|object| !is_default_group(object));
    let mut all: Vec<ComparedObject> = own.map(|object| rules.object(object)).collect();
    all.sort_by_key(ComparedObject::key);
    all
}

/// The name of an object without its random part.
fn name_of(object: &FoundObject) -> String {
    without_random(object.value["name"].as_str().unwrap_or_default())
}

/// What the values of one project are replaced by.
struct StateRules<'a> {
    template: &'a TestTemplate,
    /// What each id refers to.
    labels: BTreeMap<String, String>,
    /// The ids of the objects after the last step.
    before: &'a BTreeSet<String>,
}

impl StateRules<'_> {
    fn object(&self, object: &FoundObject) -> ComparedObject {
        let mut fields = BTreeMap::new();
        for (key, value) in object.value.as_object().into_iter().flatten() {
            // Ids of fields are references. The one of the object itself says nothing.
            if key == "id" || VOLATILE.contains(&key.as_str()) {
                continue;
            }
            if key == "OS-EXT-SRV-ATTR:user_data" {
                fields.insert(key.clone(), user_data(value));
                continue;
            }
            fields.insert(key.clone(), self.value(object.kind, key, value));
        }
        if let Some(id) = object.value["id"].as_str() {
            fields.insert(KEPT.to_owned(), json!(self.before.contains(id)));
        }
        ComparedObject {
            kind: object.kind.to_owned(),
            name: name_of(object),
            fields,
        }
    }

    fn value(&self, kind: &str, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(kind, text)),
            Value::Array(members) => {
                let marked = |value: &Value| value.as_str().is_some_and(is_mark);
                let members = members.iter().filter(|member| !marked(member));
                let mut members: Vec<Value> = members
                    .map(|member| self.value(kind, key, member))
                    .collect();
                if !ORDERED.contains(&key) {
                    members.sort_by_key(Value::to_string);
                }
                Value::Array(members)
            }
            Value::Object(entries) => {
                let kept = entries.iter().filter(|(key, value)| {
                    let mark = *key == MARK_KEY && value.as_str().is_some_and(is_mark);
                    !mark && !VOLATILE.contains(&key.as_str())
                });
                let mut kept: Vec<(String, Value)> = kept
                    .map(|(key, value)| (self.text(kind, key), self.value(kind, key, value)))
                    .collect();
                kept.sort_by(|(one, _), (other, _)| one.cmp(other));
                Value::Object(kept.into_iter().collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text with the ids, names, marks and addresses replaced.
    fn text(&self, kind: &str, text: &str) -> String {
        let drawn = text.parse::<IpAddr>().is_ok() && !ADDRESSED.contains(&kind);
        if drawn && !self.template.mentions(text) {
            return "(address)".to_owned();
        }
        if text.starts_with(DRAWN_MAC) && !self.template.mentions(text) {
            return "(mac)".to_owned();
        }
        let unmarked = if text.contains(MARK) {
            let words = text.split(' ').filter(|word| !is_mark(word));
            words.collect::<Vec<_>>().join(" ")
        } else {
            text.to_owned()
        };
        without_random(&self.without_ids(&unmarked))
    }

    /// A text with each id replaced by what it refers to.
    fn without_ids(&self, text: &str) -> String {
        let mut replaced = String::new();
        let inside = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(|letter| !inside(letter)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(word);
            match self.labels.get(word) {
                Some(label) => replaced.push_str(label),
                None if is_id(word) => replaced.push_str("(id)"),
                None => replaced.push_str(word),
            }
            let other = after.find(inside).unwrap_or(after.len());
            let (other, after) = after.split_at(other);
            replaced.push_str(other);
            rest = after;
        }
        replaced
    }
}

/// Whether a word is an id, with or without hyphens.
fn is_id(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_hexdigit).count();
    digits == 32 && matches!(word.len(), 32 | 36)
}

/// Whether a word is a mark of `cyan`: its prefix, a random part, and words that say what is marked.
fn is_mark(word: &str) -> bool {
    let mut parts = word.strip_prefix(MARK).unwrap_or_default().split('-');
    parts.next().is_some_and(is_random)
}

/// Whether a part of a name is one that nobody chose.
fn is_random(part: &str) -> bool {
    let drawn = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    part.len() == RANDOM && part.chars().all(drawn)
}

/// A text with the random parts of generated names replaced by `*`.
fn without_random(text: &str) -> String {
    let parts = text.split('-');
    let parts = parts.map(|part| if is_random(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("-")
}

/// User data as text. Of a message of several parts, only the script of the template counts: the
/// other parts are Heat's own, or `cyan`'s. A message without a script is none.
fn user_data(value: &Value) -> Value {
    let decoded = value.as_str().map(|text| text.replace('\n', ""));
    let decoded = decoded.and_then(|text| STANDARD.decode(text).ok());
    match decoded.map(|octets| String::from_utf8_lossy(&octets).into_owned()) {
        Some(text) if text.starts_with("Content-Type: multipart") => match script_of(&text) {
            Some("") => Value::Null,
            Some(script) => json!(format!("(message) {script}")),
            None => json!("(message)"),
        },
        Some(text) => json!(text),
        None => value.clone(),
    }
}

/// The script of the template in a message of several parts.
fn script_of(message: &str) -> Option<&str> {
    let (_, part) = message.split_once("filename=\"cfn-userdata\"")?;
    let (_, content) = part.split_once("\n\n")?;
    let (script, _) = content.split_once("\n--")?;
    Some(script.trim())
}

/// The differences between two states, one for each line: a field, or an object that one of them
/// does not have. `names` are those of the sides.
pub(super) fn differences(
    names: [&str; 2],
    expected: &[ComparedObject],
    found: &[ComparedObject],
) -> Vec<String> {
    let mut missing: Vec<&ComparedObject> = expected.iter().collect();
    let mut surplus = Vec::new();
    for object in found {
        match missing.iter().position(|one| *one == object) {
            Some(at) => {
                missing.remove(at);
            }
            None => surplus.push(object),
        }
    }
    let mut lines = Vec::new();
    for object in missing {
        let label = format!("{} {}", object.kind, object.name);
        // Of several objects with this name, the most similar one.
        let candidates = surplus.iter().enumerate();
        let candidates =
            candidates.filter(|(_, one)| one.kind == object.kind && one.name == object.name);
        let nearest = candidates.min_by_key(|(_, one)| different_fields(object, one).len());
        let Some((at, other)) = nearest else {
            lines.push(format!("{label}: only {} has it", names[0]));
            continue;
        };
        for field in different_fields(object, other) {
            let (one, other) =
                different_values(object.fields.get(&field), other.fields.get(&field));
            lines.push(format!(
                "{label} {field}: {} {one}, {} {other}",
                names[0], names[1]
            ));
        }
        surplus.remove(at);
    }
    let surplus = surplus.iter();
    lines.extend(surplus.map(|one| format!("{} {}: only {} has it", one.kind, one.name, names[1])));
    lines
}

/// The texts of two values of a field. Of two lists, only the members that the other one does not have.
fn different_values(one: Option<&Value>, other: Option<&Value>) -> (String, String) {
    let text =
        |value: Option<&Value>| value.map_or_else(|| "no such field".to_owned(), Value::to_string);
    let (Some(Value::Array(left)), Some(Value::Array(right))) = (one, other) else {
        return (text(one), text(other));
    };
    let (mut left, mut right) = (left.clone(), right.clone());
    left.retain(|member| match right.iter().position(|one| one == member) {
        Some(at) => {
            right.remove(at);
            false
        }
        None => true,
    });
    if left.is_empty() && right.is_empty() {
        return (text(one), text(other));
    }
    (
        Value::Array(left).to_string(),
        Value::Array(right).to_string(),
    )
}

/// The fields in which two objects differ.
fn different_fields(one: &ComparedObject, other: &ComparedObject) -> Vec<String> {
    let mut fields: Vec<String> = one
        .fields
        .keys()
        .chain(other.fields.keys())
        .cloned()
        .collect();
    fields.sort();
    fields.dedup();
    fields.retain(|field| one.fields.get(field) != other.fields.get(field));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::session::CloudLogin;
    use crate::cloud::template::TemplateForm;

    const NETWORK: &str = "11111111-1111-4111-8111-111111111111";

    fn project() -> TestProject {
        TestProject {
            login: CloudLogin {
                auth_url: String::new(),
                region: String::new(),
                user: String::new(),
                password: String::new(),
                project: String::new(),
            },
            id: "a".repeat(32),
            user: "b".repeat(32),
        }
    }

    fn template() -> TestTemplate {
        let form = TemplateForm {
            template: "ip_address: 10.0.0.7\n".to_owned(),
            environment: None,
        };
        TestTemplate {
            name: "case".to_owned(),
            forms: vec![form],
            files: Vec::new(),
            prepared: false,
            administrator: false,
        }
    }

    fn state(objects: &[(&'static str, Value)]) -> Vec<ComparedObject> {
        let objects = objects.iter().cloned();
        let objects: Vec<_> = objects
            .map(|(kind, value)| FoundObject { kind, value })
            .collect();
        compared(&template(), &project(), &objects, &[], &BTreeSet::new())
    }

    #[test]
    fn what_a_run_draws_is_replaced() {
        let network = json!({"id": NETWORK, "name": "case-net-abcdefghij12", "project_id": "x",
            "description": "cyan-0123456789ab", "tags": ["cyan-0123456789ab-port", "web"]});
        let port = json!({"id": "p", "name": "", "network_id": NETWORK, "mac_address": "fa:16:3e:1:2:3",
            "fixed_ips": [{"ip_address": "10.0.0.9"}, {"ip_address": "10.0.0.7"}],
            "metadata": {"cyan": "cyan-0123456789ab"}});
        let found = state(&[("network", network), ("port", port)]);
        assert_eq!(found[0].name, "case-net-*");
        assert_eq!(found[0].fields["description"], "");
        assert_eq!(found[0].fields["tags"], json!(["web"]));
        assert!(!found[0].fields.contains_key("project_id"));
        let port = &found[1].fields;
        assert_eq!(port["network_id"], "network case-net-*");
        assert_eq!(port["mac_address"], "(mac)");
        let addresses = json!([{"ip_address": "(address)"}, {"ip_address": "10.0.0.7"}]);
        assert_eq!(port["fixed_ips"], addresses);
        assert_eq!(port["metadata"], json!({}));
    }

    #[test]
    fn a_changed_field_and_a_missing_object_are_differences() {
        let one = state(&[
            ("network", json!({"name": "a", "mtu": 1450})),
            ("network", json!({"name": "b", "mtu": 1450})),
        ]);
        let other = state(&[
            ("network", json!({"name": "a", "mtu": 1400})),
            ("port", json!({"name": "c"})),
        ]);
        assert_eq!(
            differences(["Heat", "cyan"], &one, &other),
            [
                "network a mtu: Heat 1450, cyan 1400",
                "network b: only Heat has it",
                "port c: only cyan has it",
            ]
        );
        assert!(differences(["Heat", "cyan"], &one, &one.clone()).is_empty());
    }

    #[test]
    fn of_lists_the_different_members_are_shown() {
        let one = state(&[("network", json!({"name": "a", "tags": ["x", "y"]}))]);
        let other = state(&[("network", json!({"name": "a", "tags": ["x", "z", "z"]}))]);
        let lines = differences(["Heat", "cyan"], &one, &other);
        assert_eq!(lines, [r#"network a tags: Heat ["y"], cyan ["z","z"]"#]);
    }

    #[test]
    fn a_replaced_object_is_not_kept() {
        let found = [FoundObject {
            kind: "network",
            value: json!({"id": NETWORK, "name": "a"}),
        }];
        let kept = |before: &BTreeSet<String>| {
            let state = compared(&template(), &project(), &found, &[], before);
            state[0].fields[KEPT].clone()
        };
        assert_eq!(kept(&ids(&found)), true);
        assert_eq!(kept(&BTreeSet::new()), false);
    }

    #[test]
    fn a_doubled_object_is_a_difference() {
        let one = state(&[("network", json!({"name": "a"}))]);
        let two = state(&[
            ("network", json!({"name": "a"})),
            ("network", json!({"name": "a"})),
        ]);
        let lines = differences(["once", "twice"], &one, &two);
        assert_eq!(lines, ["network a: only twice has it"]);
    }

    #[test]
    fn user_data_is_decoded() {
        assert_eq!(user_data(&json!("IyEvYmluL3No")), json!("#!/bin/sh"));
        assert_eq!(user_data(&Value::Null), Value::Null);
    }

    #[test]
    fn a_recorded_object_is_read_again() {
        let object = state(&[("network", json!({"name": "a", "mtu": 1450}))]).remove(0);
        assert_eq!(ComparedObject::recorded(&object.record()), Some(object));
    }
}
