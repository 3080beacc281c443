//! The format that `openstack stack abandon` prints and `stack adopt` reads: a stack with its
//! template, environment, files, and the ids of its resources. Nested stacks are nested as in Heat.
//!
//! Hidden parameters and secret values of resources are left out unless they are to be revealed:
//! Heat has no format for a sealed value. The project is left out, too: the state has none, and
//! `stack adopt` does not read it.
//!
//! Not here: how Heat's API is asked for a stack, which gives the same tree (`source`).

use std::collections::{BTreeMap, BTreeSet};

use crate::phases::ForeignObject;
use blueprint::{Address, Name, Value};
use dialect::{Dialects, UNFINISHED};
use serde_json::{Map, Value as Json, json};
use state::{Record, StatusOp, StatusWord};

use super::form::{ExportInput, ForeignExport, ForeignStack, Form, HiddenParameter};
use crate::json;

/// The format of an abandoned stack.
pub(super) struct HeatFormat;

/// Sections of an environment that are maps. Entries of later files override those of earlier
/// files.
const SECTIONS: [&str; 3] = ["parameter_defaults", "resource_registry", "parameters"];

impl Form for HeatFormat {
    fn name(&self) -> &'static str {
        "heat"
    }

    fn recognises(&self, tree: &Json) -> bool {
        tree.get("resources").is_some_and(Json::is_object)
            && tree.get("template").is_some_and(Json::is_object)
            && tree.get("action").is_some_and(Json::is_string)
            && tree.get("status").is_some_and(Json::is_string)
    }

    fn read(&self, tree: &Json) -> Result<ForeignStack, String> {
        let instance = tree
            .get("name")
            .and_then(Json::as_str)
            .ok_or("has no name")?
            .to_owned();
        let given = tree
            .get("files")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        let document = format!("{instance}.json");
        let environment_name = format!("{instance}.environment.json");
        let names = given.keys().map(String::as_str);
        let local = local_names(names, &[&document, &environment_name]);
        let renamed = |text: String| {
            local
                .iter()
                .filter(|(from, to)| from != to)
                .fold(text, |text, (from, to)| text.replace(from.as_str(), to))
        };
        let pretty = |tree: &Json| {
            serde_json::to_string_pretty(tree)
                .map(&renamed)
                .unwrap_or_default()
                + "\n"
        };
        let mut files = vec![(
            document.clone(),
            pretty(tree.get("template").unwrap_or(&Json::Null)),
        )];
        let environment = tree
            .get("environment")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        let mut environment: Map<String, Json> = environment
            .into_iter()
            .filter(|(section, _)| IMPORTED_SECTIONS.contains(&section.as_str()))
            .collect();
        let hidden = take_hidden(tree, &mut environment);
        environment.retain(|_, said| !is_empty(said));
        let environment = (!environment.is_empty()).then(|| {
            let text = pretty(&Json::Object(environment));
            files.push((environment_name.clone(), text));
            environment_name.clone()
        });
        for (name, to) in &local {
            let text = given.get(name).and_then(Json::as_str);
            files.push((to.clone(), renamed(text.unwrap_or_default().to_owned())));
        }
        let mut names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("has two files that would be `{}` here", twice[0]));
        }
        let mut found = FoundObjects::default();
        found.add_stack(tree, &[]);
        Ok(ForeignStack {
            instance,
            document,
            environment,
            files,
            resources: found.resources,
            hidden,
            groups: found.groups,
        })
    }

    fn write(&self, whole: &ExportInput<'_>) -> Option<ForeignExport> {
        let template = data(whole.dialects, &whole.kept.document.text)?;
        template.get("heat_template_version")?;
        let mut writer = Writer {
            whole,
            left_out: Vec::new(),
            below: BTreeMap::new(),
        };
        for (address, record) in &whole.snapshot.records {
            // Heat has no links, and deleted resources are not part of the stack.
            if address.link.is_none() && record.status.word != StatusWord::Gone {
                writer
                    .below
                    .entry(address.path.to_vec())
                    .or_default()
                    .push((address.clone(), record.clone()));
            }
        }
        let environment = writer.environment(&template);
        let mut tree = writer.stack(&[], &template, Some(environment));
        tree.insert("files".into(), writer.files());
        Some(ForeignExport {
            tree: Json::Object(tree),
            left_out: writer.left_out,
        })
    }
}

/// Sections of an environment that are imported.
const IMPORTED_SECTIONS: [&str; 4] = [
    "parameters",
    "parameter_defaults",
    "resource_registry",
    "encrypted_param_names",
];

/// Whether a section has no content. Heat writes a `resources` entry into every registry.
fn is_empty(section: &Json) -> bool {
    match section {
        Json::Object(entries) => entries
            .iter()
            .all(|(name, said)| name == "resources" && is_empty(said)),
        Json::Array(items) => items.is_empty(),
        other => other.is_null(),
    }
}

/// The type of resources without an id.
const DELAY: &str = "OS::Heat::Delay";

/// The value that Heat's API shows of a hidden parameter.
const HIDDEN: &str = "******";

/// Takes the values out of an environment that Heat does not show. Returns their parameters.
fn take_hidden(stack: &Json, environment: &mut Map<String, Json>) -> Vec<HiddenParameter> {
    let declared = stack["template"]["parameters"].as_object();
    let is_input = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    let mut hidden = Vec::new();
    for section in ["parameters", "parameter_defaults"] {
        let Some(values) = environment.get_mut(section).and_then(Json::as_object_mut) else {
            continue;
        };
        values.retain(|name, value| {
            let is_hidden = value.as_str() == Some(HIDDEN);
            if is_hidden
                && hidden
                    .iter()
                    .all(|one: &HiddenParameter| *one.name != **name)
            {
                hidden.push(HiddenParameter {
                    name: name.as_str().into(),
                    is_input: is_input(name),
                });
            }
            !is_hidden
        });
    }
    hidden
}

/// The names of files below the current folder. Heat's client names files by their URLs on the
/// machine that created the stack: of such a name, only the last segments are kept that tell the
/// file from the `others` and those before. The longest names come first, so that none is replaced
/// inside another one.
fn local_names<'n>(names: impl Iterator<Item = &'n str>, others: &[&str]) -> Vec<(String, String)> {
    let (urls, plain): (Vec<&str>, Vec<&str>) = names.partition(|name| name.contains("://"));
    let mut used: BTreeSet<String> = others.iter().map(|name| (*name).to_owned()).collect();
    used.extend(plain.iter().map(|name| (*name).to_owned()));
    let mut local: Vec<(String, String)> = plain
        .into_iter()
        .map(|name| (name.to_owned(), name.to_owned()))
        .collect();
    for name in urls {
        let segments: Vec<&str> = name.split('/').filter(|one| !one.is_empty()).collect();
        let mut candidates = (0..segments.len())
            .rev()
            .map(|from| segments[from..].join("-"));
        let free = candidates.find(|candidate| !used.contains(candidate));
        let chosen = free.unwrap_or_else(|| segments.join("-"));
        used.insert(chosen.clone());
        local.push((name.to_owned(), chosen));
    }
    local.sort_by(|(one, _), (other, _)| other.len().cmp(&one.len()).then(one.cmp(other)));
    local
}

/// What a stack and its nested stacks contain.
#[derive(Default)]
struct FoundObjects {
    resources: Vec<ForeignObject>,
    groups: Vec<(Name, Value)>,
}

impl FoundObjects {
    /// Adds the resources of a stack and of its nested stacks.
    fn add_stack(&mut self, stack: &Json, path: &[Name]) {
        let resources = stack.get("resources").and_then(Json::as_object);
        for (name, resource) in resources.into_iter().flatten() {
            if resource.get("resources").is_some_and(Json::is_object) {
                let inner: Vec<Name> = path.iter().cloned().chain([name.as_str().into()]).collect();
                let address: Name = inner.join("/").into();
                self.groups.push((address, group_memory(resource)));
                self.add_stack(resource, &inner);
                continue;
            }
            let id = resource["resource_id"].as_str();
            // Heat gives a delay no id: a reference to it is its name.
            let is_delay = resource["type"] == DELAY && resource["status"] == "COMPLETE";
            let id = id.or(Some(name.as_str()).filter(|_| is_delay));
            let data = resource["resource_data"].as_object().into_iter().flatten();
            let fields = data.filter_map(|(name, text)| {
                Some((name.as_str().into(), Value::text(text.as_str()?)))
            });
            self.resources.push(ForeignObject {
                address: Address::inside(path, name.as_str()),
                id: id.map(Name::from),
                fields: fields.collect(),
            });
        }
    }
}

/// What the dialect would remember of a group with the members of this nested stack: their names,
/// the oldest first, and the names of removed ones, which are not used again. Stacks of templates
/// are no groups; nobody reads the memory of those.
fn group_memory(stack: &Json) -> Value {
    let members = stack["resources"].as_object().into_iter().flatten();
    let mut members: Vec<(&str, &String)> = members
        .map(|(name, member)| (member["creation_time"].as_str().unwrap_or_default(), name))
        .collect();
    members.sort();
    let removed = stack["resource_data"]["name_blacklist"].as_str();
    let removed = removed.unwrap_or_default().split(',');
    let removed = removed.filter(|name| !name.is_empty());
    let unfinished = Value::map([("making", Value::Bool(true))]);
    Value::map([
        (
            "names",
            Value::list(
                members
                    .into_iter()
                    .map(|(_, name)| Value::text(name.as_str())),
            ),
        ),
        ("removed", Value::list(removed.map(Value::text))),
        // The definition of its members is not known to have changed.
        (UNFINISHED, unfinished),
    ])
}

/// The dialect of exported instances.
const DIALECT: &str = "hot";

/// Parses a text with the rules of the dialect.
fn data(dialects: &Dialects, text: &str) -> Option<Value> {
    dialects.get(DIALECT)?.data(text)
}

struct Writer<'a> {
    whole: &'a ExportInput<'a>,
    left_out: Vec<String>,
    /// The resources of each document, by the path of its children.
    below: BTreeMap<Vec<Name>, Vec<(Address, std::sync::Arc<Record>)>>,
}

impl Writer<'_> {
    /// Writes a stack with its resources and nested stacks.
    fn stack(
        &mut self,
        path: &[Name],
        template: &Value,
        environment: Option<Json>,
    ) -> Map<String, Json> {
        let own = self.below.get(path).cloned().unwrap_or_default();
        let mut resources = Map::new();
        for (address, record) in &own {
            resources.insert(
                address.name.to_string(),
                self.resource(address, record, template),
            );
        }
        let nested: Vec<Name> = self
            .below
            .keys()
            .filter(|below| below.len() > path.len() && below[..path.len()] == *path)
            .map(|below| below[path.len()].clone())
            .collect();
        for name in nested {
            if !resources.contains_key(name.as_ref()) {
                let inner: Vec<Name> = path.iter().chain([&name]).cloned().collect();
                let written = type_of(template, &name);
                let nested = self.document(&written).unwrap_or_default();
                let stack = self.stack(&inner, &nested, None);
                resources.insert(name.to_string(), Json::Object(stack));
            }
        }
        let (action, status) = stack_status(own.iter().map(|(_, record)| record.as_ref()));
        let instance = self.whole.instance.as_str();
        let dialect::rules::DocumentName { name, id } = self
            .whole
            .dialects
            .rules(DIALECT)
            .naming
            .document(instance, path);
        let mut tree = Map::new();
        tree.insert("name".into(), json!(name));
        tree.insert("id".into(), json!(id));
        tree.insert("action".into(), json!(action));
        tree.insert("status".into(), json!(status));
        // A stack without a template is generated from a resource, which has all this information.
        if !template.is_null() {
            tree.insert("template".into(), json::value(template, true));
        }
        tree.extend(environment.map(|environment| ("environment".into(), environment)));
        tree.insert("resources".into(), Json::Object(resources));
        tree.insert("stack_user_project_id".into(), Json::Null);
        tree.insert("tags".into(), json!([]));
        tree
    }

    fn resource(&mut self, address: &Address, record: &Record, template: &Value) -> Json {
        let (action, status) = state_of(record);
        let written = type_of(template, &address.name);
        let mut data = Map::new();
        for (name, value) in record
            .outputs
            .as_map()
            .into_iter()
            .flat_map(|fields| fields.iter())
        {
            // Inputs are in the template. Heat stores only texts.
            let is_id = value.as_text() == Some(record.id.as_ref());
            if record.inputs.get(name).is_some() || value.is_null() || is_id {
                continue;
            }
            if value.has_secret() && !self.whole.reveal {
                self.left_out.push(format!("{address}.{name}"));
                continue;
            }
            let value = value.revealed();
            let text = value
                .as_text()
                .map_or_else(|| json::value(&value, true).to_string(), str::to_owned);
            data.insert(name.to_string(), json!(text));
        }
        let mut metadata = record.metadata.get("custom").cloned().unwrap_or_default();
        if metadata.has_secret() && !self.whole.reveal {
            self.left_out.push(format!("the metadata of {address}"));
            metadata = Value::Null;
        }
        let metadata = if metadata.is_null() {
            json!({})
        } else {
            json::value(&metadata, true)
        };
        let mut id = record.id.to_string();
        if !self.whole.reveal && record.hides_id() {
            id = String::new();
        }
        json!({
            "name": address.name,
            "resource_id": if id.is_empty() { Json::Null } else { json!(id) },
            "type": if written.is_empty() { record.type_name.as_ref() } else { written.as_ref() },
            "action": action,
            "status": status,
            "metadata": metadata,
            "resource_data": data,
        })
    }

    /// Merges the environment files. Parameters of the request override those of the files.
    fn environment(&mut self, template: &Value) -> Json {
        let mut sections: BTreeMap<&str, Map<String, Json>> = BTreeMap::new();
        let mut hidden: Vec<String> = Vec::new();
        for (_, text) in &self.whole.kept.document.companions {
            let Some(environment) = data(self.whole.dialects, text) else {
                continue;
            };
            for section in SECTIONS {
                for (name, value) in environment
                    .get(section)
                    .and_then(Value::as_map)
                    .into_iter()
                    .flat_map(|all| all.iter())
                {
                    sections
                        .entry(section)
                        .or_default()
                        .insert(name.to_string(), json::value(value, true));
                }
            }
            let encrypted = environment
                .get("encrypted_param_names")
                .and_then(Value::as_list)
                .unwrap_or_default();
            hidden.extend(
                encrypted
                    .iter()
                    .filter_map(Value::as_text)
                    .map(str::to_owned),
            );
        }
        let parameters = sections.entry("parameters").or_default();
        for (name, value) in &self.whole.kept.given.typed {
            parameters.insert(name.to_string(), json::value(value, true));
        }
        for (name, text) in &self.whole.kept.given.text {
            parameters.insert(name.to_string(), json!(text));
        }
        let is_true = |value: &Value| match value {
            Value::Bool(is) => *is,
            other => other
                .as_text()
                .is_some_and(|text| text.eq_ignore_ascii_case("true")),
        };
        let declared = template.get("parameters").and_then(Value::as_map);
        for (name, schema) in declared.into_iter().flat_map(|all| all.iter()) {
            if schema.get("hidden").is_some_and(is_true) {
                hidden.push(name.to_string());
            }
        }
        for section in ["parameters", "parameter_defaults"] {
            let Some(values) = sections.get_mut(section).filter(|_| !self.whole.reveal) else {
                continue;
            };
            for name in &hidden {
                if values.remove(name).is_some() {
                    self.left_out.push(format!("the parameter {name}"));
                }
            }
        }
        let mut of = |section: &str| Json::Object(sections.remove(section).unwrap_or_default());
        json!({
            "parameters": of("parameters"),
            "parameter_defaults": of("parameter_defaults"),
            "resource_registry": of("resource_registry"),
            "encrypted_param_names": hidden,
            "event_sinks": [],
        })
    }

    /// Returns the files that the templates read.
    fn files(&self) -> Json {
        let answers = &self.whole.kept.answers;
        let mut files = Map::new();
        for child in answers.documents.values() {
            files.insert(child.request.path.to_string(), json!(&*child.text));
        }
        for bytes in answers.bytes.values() {
            if let Value::Bytes(content) = bytes.value.revealed()
                && let Ok(text) = std::str::from_utf8(&content)
            {
                files.insert(bytes.path.to_string(), json!(text));
            }
        }
        Json::Object(files)
    }

    /// Returns the template whose path is used as a type.
    fn document(&self, path: &str) -> Option<Value> {
        let documents = &self.whole.kept.answers.documents;
        let child = documents
            .values()
            .find(|child| child.request.path.as_ref() == path)?;
        data(self.whole.dialects, &child.text)
    }
}

/// The type of a resource in its template; empty if the template does not declare the resource.
fn type_of(template: &Value, name: &str) -> Name {
    let declared = template
        .get("resources")
        .and_then(|all| all.get(name))
        .and_then(|one| one.get("type"));
    declared.and_then(Value::as_text).unwrap_or_default().into()
}

/// Returns Heat's action and status of a resource.
fn state_of(record: &Record) -> (&'static str, &'static str) {
    let action = match record.status.op {
        StatusOp::Create => "CREATE",
        StatusOp::Update => "UPDATE",
        StatusOp::Delete => "DELETE",
    };
    let status = match record.status.word {
        StatusWord::Ready | StatusWord::Retained | StatusWord::Gone | StatusWord::Configured => {
            "COMPLETE"
        }
        StatusWord::Failed | StatusWord::Interrupted => "FAILED",
        _ => "IN_PROGRESS",
    };
    (action, status)
}

/// Returns Heat's action and status of a stack, derived from its resources.
fn stack_status<'r>(records: impl Iterator<Item = &'r Record>) -> (&'static str, &'static str) {
    let mut whole = ("CREATE", "COMPLETE");
    for (action, status) in records.map(state_of) {
        if action != "CREATE" {
            whole.0 = "UPDATE";
        }
        if status == "FAILED" || status == "IN_PROGRESS" && whole.1 != "FAILED" {
            whole.1 = status;
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_equal_names_get_different_ones() {
        let names = [
            "file:///a/x.yaml",
            "file:///a/b/x.yaml",
            "y.yaml",
            "file:///c/y.yaml",
        ];
        let local = local_names(names.into_iter(), &["shop.json"]);
        let of = |name: &str| {
            let found = local.iter().find(|(from, _)| from == name);
            found.map(|(_, to)| to.as_str())
        };
        assert_eq!(
            names.map(of),
            ["x.yaml", "b-x.yaml", "y.yaml", "c-y.yaml"].map(Some)
        );
        // A name that begins as another one is replaced first.
        assert_eq!(local[0].0, "file:///a/b/x.yaml");
    }

    #[test]
    fn members_of_a_group_are_remembered_in_the_order_of_their_ages() {
        let member = |time: &str| json!({"creation_time": time, "resource_id": "i"});
        let stack = json!({"resources": {"group": {
            "resource_data": {"name_blacklist": "0,3"},
            "resources": {"young": member("2026-02-01"), "old": member("2026-01-01")},
        }}});
        let mut found = FoundObjects::default();
        found.add_stack(&stack, &[]);
        let [(address, memory)] = &found.groups[..] else {
            panic!("{:?}", found.groups);
        };
        let texts = |key: &str| memory.get(key).map(ToString::to_string);
        assert_eq!(address.as_ref(), "group");
        assert_eq!(texts("names").as_deref(), Some(r#"["old", "young"]"#));
        assert_eq!(texts("removed").as_deref(), Some(r#"["0", "3"]"#));
        let addresses: Vec<String> = found
            .resources
            .iter()
            .map(|one| one.address.to_string())
            .collect();
        assert_eq!(addresses, ["group/young", "group/old"]);
    }

    #[test]
    fn only_a_delay_needs_no_id() {
        let stack = json!({"resources": {
            "pause": {"type": DELAY, "status": "COMPLETE", "resource_id": null},
            "other": {"type": "OS::Heat::Value", "status": "COMPLETE", "resource_id": null},
        }});
        let mut found = FoundObjects::default();
        found.add_stack(&stack, &[]);
        let ids: Vec<Option<&str>> = found
            .resources
            .iter()
            .map(|one| one.id.as_deref())
            .collect();
        assert_eq!(ids, [Some("pause"), None]);
    }
}
