//! Writes a state as a deployment.
//!
//! A record that was imported and not changed since is written with the members that it carries;
//! those of another record are made from it.

use std::collections::{HashMap, HashSet};

use blueprint::{
    Address, IndexMap, Name, PROVIDER_TYPE, ResourceMetadata, StatedPlugin, Timeouts, Value,
};
use dialect::{FillRandom, NewKey, SecretManager};
use serde_json::{Map, Value as Json, json};
use state::{InstanceName, Keeping, OpenIntent, Record, Snapshot, StatusOp, StatusWord};
use understand::documents::group_key;

use super::check::{magic, text, violations};
use super::names::{
    FAMILY, FEATURES, ID, PROGRAM_KEYS, PROVIDERS, READ_INPUTS, STACK, UrnParts, package_of, token,
};
use super::values::{SecretForm, ValueWriter};
use super::{DEPLOYMENT, DeploymentError, PENDING, POSITION};

/// The version of the format for a deployment with features.
const VERSION_WITH_FEATURES: u64 = 4;

/// The version of the format.
const VERSION: u64 = 3;

/// A state to write.
pub struct DeploymentRequest<'a> {
    /// The name of the instance.
    pub instance: &'a InstanceName,
    /// The state.
    pub snapshot: &'a Snapshot,
    /// Whether the last operation deleted the instance. It has no stack then.
    pub destroyed: bool,
    /// The project of the document.
    pub project: &'a str,
    /// Encrypts secrets; `None` writes them in clear text.
    pub manager: Option<&'a dyn SecretManager>,
}

/// Writes a state.
pub fn write(
    request: &DeploymentRequest<'_>,
    random: FillRandom<'_>,
) -> Result<Json, DeploymentError> {
    let own = deployment_of(request.snapshot);
    let has_secret = request.snapshot.values().any(Value::has_secret);
    let key = match request.manager.filter(|_| has_secret) {
        Some(manager) => Some(key_of(own, manager, &mut *random)?),
        None => None,
    };
    let snapshot = request.snapshot;
    let reference = |address: &Address| {
        let record = snapshot.records.get(address)?;
        Some((urn_of(record), record.id.clone()))
    };
    let secrets = match &key {
        Some(key) => SecretForm::Sealed {
            cipher: key.cipher.as_ref(),
            random,
        },
        None => SecretForm::Plain,
    };
    let mut writer = DeploymentWriter {
        request,
        values: ValueWriter {
            secrets,
            reference: &reference,
        },
        known: known_urns(snapshot),
        resources: Vec::new(),
        pending: Vec::new(),
    };
    let parts = parts_of(request);
    writer.add_all(&parts)?;
    let mut deployment = Map::new();
    for (name, value) in own.into_iter().flat_map(|own| own.iter()) {
        if name.as_ref() != "secrets_providers" {
            let value = writer
                .values
                .encode(value)
                .map_err(DeploymentError::Shape)?;
            deployment.insert(name.to_string(), value);
        }
    }
    if own.is_none() {
        let version = concat!("cyan-", env!("CARGO_PKG_VERSION"));
        deployment.insert(
            "manifest".to_owned(),
            json!({"time": "0001-01-01T00:00:00Z", "magic": magic(version), "version": version}),
        );
    }
    let kept = own.and_then(|own| own.get("secrets_providers"));
    match (&key, kept) {
        (Some(key), _) => {
            let provider = json!({"type": key.kind, "state": {"salt": key.data}});
            deployment.insert("secrets_providers".to_owned(), provider);
        }
        (None, Some(kept)) if !has_secret => {
            let kept = writer.values.encode(kept).map_err(DeploymentError::Shape)?;
            deployment.insert("secrets_providers".to_owned(), kept);
        }
        _ => {}
    }
    let DeploymentWriter {
        resources,
        mut pending,
        ..
    } = writer;
    pending.sort_by_key(|(position, _)| *position);
    let pending: Vec<Json> = pending
        .into_iter()
        .map(|(_, operation)| operation)
        .collect();
    deployment.insert("resources".to_owned(), Json::Array(ordered(resources)));
    if !pending.is_empty() {
        deployment.insert("pending_operations".to_owned(), Json::Array(pending));
    }
    let found = violations(&deployment);
    match found.is_empty() {
        true => Ok(wrapped(deployment)),
        false => Err(DeploymentError::Violations(found)),
    }
}

/// Whether the settings of a provider changed since its import: they are not those that its record
/// carries.
fn has_other_settings(record: &Record, carried: &blueprint::Map) -> bool {
    let settings = record.inputs.get("settings").and_then(Value::as_map);
    let carried = carried
        .iter()
        .filter(|(name, _)| !PROGRAM_KEYS.contains(&name.as_ref()));
    let count = carried.clone().count();
    let is_same = |(name, value): (&Name, &Value)| {
        settings.and_then(|settings| settings.get(name)) == Some(value)
    };
    count != settings.map_or(0, |settings| settings.len()) || !carried.clone().all(is_same)
}

/// The deployment in its wrapper, which names the features that its resources use.
fn wrapped(deployment: Map<String, Json>) -> Json {
    let resources = deployment.get("resources").and_then(Json::as_array);
    let uses = |feature: &&str| {
        let mut resources = resources.into_iter().flatten();
        resources.any(|one| {
            one.get(*feature)
                .is_some_and(|value| value != &json!(false))
        })
    };
    let features: Vec<&str> = FEATURES.into_iter().filter(uses).collect();
    match features.is_empty() {
        true => json!({"version": VERSION, "deployment": deployment}),
        false => json!({
            "version": VERSION_WITH_FEATURES, "features": features, "deployment": deployment,
        }),
    }
}

/// What the record of the stack carries of its deployment.
fn deployment_of(snapshot: &Snapshot) -> Option<&blueprint::Map> {
    let mut records = snapshot.records.values();
    records.find_map(|record| carried(record)?.get(DEPLOYMENT)?.as_map())
}

fn carried(record: &Record) -> Option<&blueprint::Map> {
    record.origin.ties.as_deref()?.carried.as_map()
}

/// The key with which the deployment was encrypted, else a new one.
fn key_of(
    own: Option<&blueprint::Map>,
    manager: &dyn SecretManager,
    random: FillRandom<'_>,
) -> Result<NewKey, DeploymentError> {
    let named = own.and_then(|own| own.get("secrets_providers"));
    let kind = named.and_then(|named| named.get("type")?.as_text());
    let salt = named.and_then(|named| named.get("state")?.get("salt")?.as_text());
    if let (Some("passphrase"), Some(salt)) = (kind, salt)
        && let Ok(cipher) = manager.unlock("passphrase", salt)
    {
        return Ok(NewKey {
            kind: "passphrase",
            cipher,
            data: salt.to_owned(),
        });
    }
    manager.create(random).map_err(DeploymentError::Locked)
}

/// The URN of a record in the other tool.
fn urn_of(record: &Record) -> Name {
    let own = carried(record).and_then(|carried| carried.get("urn")?.as_text());
    let urn = own.map_or_else(|| record.origin.urn.clone(), Name::from);
    // The name of a default provider states its plugin.
    match urn.strip_suffix(DEFAULT_NAME) {
        Some(before) if own.is_none() && record.type_name.name().as_ref() == PROVIDER_TYPE => {
            format!("{before}::{}", default_name(plugin_of(record))).into()
        }
        _ => urn,
    }
}

/// The plugin that the document of a record asked for.
fn plugin_of(record: &Record) -> Option<&StatedPlugin> {
    let ties = record.origin.ties.as_deref();
    ties.map(|ties| &ties.plugin)
}

/// The URNs of all records and of their former objects.
fn known_urns(snapshot: &Snapshot) -> HashSet<Name> {
    let records = snapshot.records.values();
    let all = records.flat_map(|record| {
        let live = record.as_ref();
        std::iter::once(live).chain(live.deposed_objects())
    });
    all.map(urn_of).collect()
}

/// The names that all URNs of a deployment share, as the URN of some resource.
fn parts_of(request: &DeploymentRequest<'_>) -> (String, String) {
    let mut records = request.snapshot.records.values();
    let urn = records.find_map(|record| {
        let parts = UrnParts::of(&record.origin.urn)?;
        Some((parts.stack.to_owned(), parts.project.to_owned()))
    });
    urn.unwrap_or_else(|| {
        let stack = request.instance.as_str().to_owned();
        (stack, request.project.to_owned())
    })
}

/// A written resource with its position in the deployment that it was imported from.
struct Written {
    position: usize,
    resource: Map<String, Json>,
}

struct DeploymentWriter<'w> {
    request: &'w DeploymentRequest<'w>,
    values: ValueWriter<'w>,
    /// The URNs of all records.
    known: HashSet<Name>,
    resources: Vec<Written>,
    /// Pending operations with their positions.
    pending: Vec<(i64, Json)>,
}

impl DeploymentWriter<'_> {
    fn add_all(&mut self, (stack, project): &(String, String)) -> Result<(), DeploymentError> {
        let parts = UrnParts {
            stack,
            project,
            name: "",
        };
        let records = &self.request.snapshot.records;
        let has_stack = records.values().any(|record| is_stack(record));
        if !has_stack && !self.request.destroyed {
            self.add_stack(&parts)?;
        }
        let mut defaults = DefaultProviders::default();
        for (address, record) in records {
            let is_gone = record.id.is_empty() && record.status.word == StatusWord::Gone;
            let waits = carried(record).is_some_and(|own| own.get("pendingReplacement").is_some());
            let is_begun = record.id.is_empty() && record.token.is_some();
            if !(is_gone && !waits || is_begun) {
                let written = self.record(address, record, &parts, &mut defaults)?;
                self.resources.push(written);
            }
            for old in record.deposed_objects() {
                let mut written = self.record(address, old, &parts, &mut defaults)?;
                written.resource.insert("delete".to_owned(), json!(true));
                self.resources.push(written);
            }
            let kept = carried(record).and_then(|own| own.get(PENDING)?.as_list());
            for kept in kept.unwrap_or(&[]) {
                let operation = self.encode(kept.get("operation").unwrap_or(&Value::Null))?;
                let position = match kept.get(POSITION) {
                    Some(Value::Int(at)) => *at,
                    _ => i64::MAX,
                };
                self.pending.push((position, operation));
            }
        }
        for open in self.request.snapshot.open.values() {
            self.add_open(open, &parts, &mut defaults)?;
        }
        for (package, plugin) in &self.request.snapshot.declared.called_plugins {
            let package = package.strip_prefix(FAMILY).unwrap_or(package);
            default_provider(&parts, package, plugin.clone(), &mut defaults);
        }
        for (urn, provider) in defaults {
            let mut resource = json!({
                "urn": urn,
                "custom": true,
                "id": id_of(&urn),
                "type": format!("{PROVIDERS}{}", provider.package),
            });
            let (mut inputs, mut outputs) = (json!({}), json!({}));
            add_plugin(&provider.plugin, &mut inputs, &mut outputs);
            if inputs != json!({}) {
                resource["inputs"] = inputs;
                resource["outputs"] = outputs;
            }
            self.push(resource);
        }
        Ok(())
    }

    fn push(&mut self, resource: Json) {
        if let Json::Object(resource) = resource {
            self.resources.push(Written {
                position: 0,
                resource,
            });
        }
    }

    fn encode(&mut self, value: &Value) -> Result<Json, DeploymentError> {
        self.values.encode(value).map_err(DeploymentError::Shape)
    }

    fn add_stack(&mut self, parts: &UrnParts<'_>) -> Result<(), DeploymentError> {
        let urn = parts.stack_urn();
        let mut resource = json!({"urn": urn, "custom": false, "type": STACK});
        let outputs = self.outputs()?;
        if !outputs.is_empty() {
            resource["outputs"] = Json::Object(outputs);
        }
        self.push(resource);
        Ok(())
    }

    /// The outputs of the stack.
    fn outputs(&mut self) -> Result<Map<String, Json>, DeploymentError> {
        let exports = &self.request.snapshot.exports;
        let mut outputs = Map::new();
        for (name, value) in exports {
            outputs.insert(name.to_string(), self.encode(value)?);
        }
        Ok(outputs)
    }

    fn record(
        &mut self,
        address: &Address,
        record: &Record,
        parts: &UrnParts<'_>,
        defaults: &mut DefaultProviders,
    ) -> Result<Written, DeploymentError> {
        let own = carried(record);
        let namespace = record.inputs.get("namespace").and_then(Value::as_text);
        let urn = urn_of(record);
        let Some(kind) = token(&record.type_name, namespace).filter(|_| !urn.is_empty()) else {
            return Err(DeploymentError::Foreign(format!(
                "`{address}` is a `{}`, which Pulumi cannot manage",
                record.type_name
            )));
        };
        let ties = record.origin.ties.as_deref();
        let keeping = ties.map(|ties| ties.keeping).unwrap_or_default();
        let mut resource = Map::new();
        let mut put = |key: &str, value: Json| insert_unless_empty(&mut resource, key, value);
        put("urn", json!(urn));
        put("custom", json!(keeping != Keeping::Group));
        put("id", json!(record.id));
        put("type", json!(kind));
        let is_provider = record.type_name.name().as_ref() == PROVIDER_TYPE;
        let (inputs, outputs) = match (is_provider, is_stack(record)) {
            (true, _) => {
                let settings = record.inputs.get("settings").cloned().unwrap_or_default();
                let settings = self.values.encode(&settings);
                let settings = settings.map_err(DeploymentError::Shape)?;
                let (mut inputs, mut outputs) = (settings.clone(), settings);
                if let Some(plugin) = plugin_of(record).filter(|_| own.is_none()) {
                    add_plugin(plugin, &mut inputs, &mut outputs);
                }
                (inputs, outputs)
            }
            (_, true) => (Json::Null, Json::Object(self.outputs()?)),
            _ => {
                let encode = |writer: &mut ValueWriter<'_>, value| {
                    writer.encode(value).map_err(DeploymentError::Shape)
                };
                // What a refresh has read is in the private data of the host.
                let read = record.private.get(READ_INPUTS);
                let inputs = encode(&mut self.values, read.unwrap_or(&record.inputs))?;
                (inputs, encode(&mut self.values, &own_outputs(record))?)
            }
        };
        for (key, fields) in [("inputs", &inputs), ("outputs", &outputs)] {
            let is_stack_without = is_stack(record) && fields == &json!({});
            if !fields.is_null() && !is_stack_without {
                resource.insert(key.to_owned(), fields.clone());
            }
        }
        let mut put = |key: &str, value: Json| insert_unless_empty(&mut resource, key, value);
        let records = &self.request.snapshot.records;
        let urns = |addresses: &[Address]| -> Vec<Name> {
            let known = addresses.iter().filter_map(|address| records.get(address));
            known.map(|record| urn_of(record)).collect()
        };
        let has_own = own.is_some();
        let parent = ties.and_then(|ties| ties.parent.clone());
        let parent_urn = parent
            .as_ref()
            .and_then(|parent| urns(std::slice::from_ref(parent)).pop());
        let is_default = is_provider && is_default_name(&urn);
        if !is_stack(record) && !is_default {
            put(
                "parent",
                json!(parent_urn.unwrap_or_else(|| self.stack_urn(parts))),
            );
        }
        put("protect", json!(record.protect));
        put("external", json!(keeping == Keeping::Read));
        put("retainOnDelete", json!(record.retain));
        put("initErrors", json!(record.unhealthy));
        let used = self.used(record, parent.as_ref(), has_own);
        put("dependencies", json!(urns(&used)));
        if let Some(ties) = ties {
            put("additionalSecretOutputs", json!(ties.secret_fields));
            put("ignoreChanges", json!(ties.ignore_changes));
            put("replaceOnChanges", json!(ties.replace_on_changes));
            put("hideDiff", json!(ties.hidden));
            put("importID", json!(ties.imported));
            put("replaceWith", json!(urns(&ties.replaced_with)));
            let with = ties.deleted_with.iter().cloned().collect::<Vec<_>>();
            put("deletedWith", json!(urns(&with).pop()));
        }
        if keeping != Keeping::Group && !is_provider {
            put(
                "provider",
                json!(self.provider(record, &kind, parts, defaults)),
            );
        }
        let trigger = record.metadata.get(ResourceMetadata::REPLACEMENT_TRIGGER);
        if let Some(trigger) = trigger {
            let trigger = self.values.encode(trigger);
            put(
                "replacementTrigger",
                trigger.map_err(DeploymentError::Shape)?,
            );
        }
        if !has_own && keeping != Keeping::Group && !is_default {
            put(
                "customTimeouts",
                limits(ties.map(|ties| ties.timeouts).unwrap_or_default()),
            );
            let fields = ties.into_iter().flat_map(|ties| &ties.uses);
            let by_field = fields.map(|(field, used)| (field.to_string(), json!(urns(used))));
            put("propertyDependencies", Json::Object(by_field.collect()));
        }
        let mut position = usize::MAX;
        for (key, value) in own.into_iter().flat_map(|own| own.iter()) {
            match (key.as_ref(), value) {
                (POSITION, Value::Int(at)) => position = usize::try_from(*at).unwrap_or(position),
                (DEPLOYMENT | PENDING | POSITION, _) => {}
                ("provider", _) if keeping != Keeping::Group && !is_provider => {}
                ("propertyDependencies", value) => {
                    let mut by_field = self.encode(value)?;
                    // Addresses follow a resource that got another URN.
                    for (field, used) in ties.into_iter().flat_map(|ties| &ties.uses) {
                        by_field[field.as_ref()] = json!(urns(used));
                    }
                    resource.insert("propertyDependencies".to_owned(), self.known_in(by_field));
                }
                ("parent", Value::Null) => {
                    resource.remove("parent");
                }
                ("inputs" | "outputs", Value::Map(carried))
                    if is_provider && has_other_settings(record, carried) =>
                {
                    let chosen = PROGRAM_KEYS
                        .iter()
                        .filter_map(|name| Some((*name, carried.get(name)?)));
                    for (name, value) in chosen {
                        let value = self.values.encode(value).map_err(DeploymentError::Shape)?;
                        resource[key.as_ref()][name] = value;
                    }
                }
                (key, value) => {
                    let value = self.values.encode(value).map_err(DeploymentError::Shape)?;
                    match value.is_null() && matches!(key, "inputs" | "outputs") {
                        true => drop(resource.remove(key)),
                        false => drop(resource.insert(key.to_owned(), value)),
                    }
                }
            }
        }
        Ok(Written { position, resource })
    }

    /// The reference to the provider of a resource. A default provider that was imported has no
    /// record any more after a deployment.
    fn provider(
        &self,
        record: &Record,
        kind: &str,
        parts: &UrnParts<'_>,
        defaults: &mut DefaultProviders,
    ) -> String {
        let records = &self.request.snapshot.records;
        let declared = record.provider.as_ref();
        if let Some((provider, id)) =
            declared.and_then(|of| Some((records.get(&of.address)?, &of.id)))
        {
            return format!("{}::{id}", urn_of(provider));
        }
        let own = carried(record);
        let named = own.and_then(|own| own.get("provider")?.as_text());
        let named = named.unwrap_or_default();
        let urn = named.rsplit_once("::").map_or("", |(urn, _)| urn);
        match own.is_none() || !named.is_empty() && !self.known.contains(urn) {
            true => {
                let plugin = plugin_of(record).cloned().unwrap_or_default();
                default_provider(parts, kind, plugin, defaults)
            }
            false => named.to_owned(),
        }
    }

    /// The resources by field, without those that the state no longer has.
    fn known_in(&self, mut by_field: Json) -> Json {
        let fields = by_field.as_object_mut().into_iter().flatten();
        for used in fields.filter_map(|(_, used)| used.as_array_mut()) {
            used.retain(|urn| urn.as_str().is_some_and(|urn| self.known.contains(urn)));
        }
        by_field
    }

    fn stack_urn(&self, parts: &UrnParts<'_>) -> Name {
        let mut records = self.request.snapshot.records.values();
        let own = records.find(|record| is_stack(record));
        own.map_or_else(|| parts.stack_urn(), |record| urn_of(record))
    }

    /// The resources that a resource depends on. A deployment does not name the provider among them, and
    /// the parent only if a property reads it; what was imported is written as it was.
    fn used(&self, record: &Record, parent: Option<&Address>, is_imported: bool) -> Vec<Address> {
        if is_imported {
            return record.dependencies.clone();
        }
        let provider = record.provider.as_ref().map(|of| &of.address);
        let groups = &self.request.snapshot.groups;
        let mut used: IndexMap<Address, ()> = IndexMap::default();
        // A named value stands for the resources that it used, and may have used other values.
        let mut seen: HashSet<Address> = HashSet::new();
        let mut waiting: Vec<&Address> = record.dependencies.iter().rev().collect();
        while let Some(address) = waiting.pop() {
            match group_key(address) {
                Some(group) if seen.insert(address.clone()) => {
                    waiting.extend(groups.get(group.as_ref()).into_iter().flatten().rev());
                }
                Some(_) => {}
                None => drop(used.insert(address.clone(), ())),
            }
        }
        // A parent or a tie alone is no dependency there.
        let ties = record.origin.ties.as_deref();
        let is_tie = |address: &Address| {
            ties.is_some_and(|ties| {
                let tied = ties.deleted_with.iter().chain(&ties.replaced_with);
                let mut named = tied.chain(parent);
                let mut read = ties.uses.values().flatten();
                named.any(|one| one == address) && !read.any(|one| one == address)
            })
        };
        used.into_keys()
            .filter(|address| Some(address) != provider && !is_tie(address))
            .collect()
    }

    /// Adds a call whose outcome is not known as a pending operation.
    fn add_open(
        &mut self,
        open: &OpenIntent,
        parts: &UrnParts<'_>,
        defaults: &mut DefaultProviders,
    ) -> Result<(), DeploymentError> {
        let intent = &open.intent;
        let kind = match intent.op {
            StatusOp::Create => "creating",
            StatusOp::Update => "updating",
            StatusOp::Delete => "deleting",
        };
        let Some(token) = token(&intent.type_name, None) else {
            return Ok(());
        };
        let inputs = self.encode(&intent.inputs)?;
        let mut resource = json!({
            "urn": intent.urn,
            "custom": true,
            "type": token,
            "inputs": inputs,
            "parent": self.stack_urn(parts),
        });
        let declared = intent.provider.as_ref().and_then(|of| {
            let provider = self.request.snapshot.records.get(&of.address)?;
            Some(format!("{}::{}", urn_of(provider), of.id))
        });
        let any = StatedPlugin::default();
        let provider = declared.unwrap_or_else(|| default_provider(parts, &token, any, defaults));
        resource["provider"] = json!(provider);
        if !intent.id.is_empty() {
            resource["id"] = json!(intent.id);
        }
        let operation = json!({"resource": resource, "type": kind});
        self.pending.push((i64::MAX, operation));
        Ok(())
    }
}

/// The reference to the default provider of a token's package, which is noted.
fn default_provider(
    parts: &UrnParts<'_>,
    token: &str,
    plugin: StatedPlugin,
    defaults: &mut DefaultProviders,
) -> String {
    let package = package_of(token);
    let parts = UrnParts {
        name: &default_name(Some(&plugin)),
        ..*parts
    };
    let urn = parts.provider(package);
    let reference = format!("{urn}::{}", id_of(&urn));
    let package = package.to_owned();
    defaults.insert(urn, DefaultProvider { package, plugin });
    reference
}

/// A default provider without a record.
struct DefaultProvider {
    package: String,
    plugin: StatedPlugin,
}

/// The default providers without a record, by URN.
type DefaultProviders = IndexMap<Name, DefaultProvider>;

/// The end of the URN of a default provider.
const DEFAULT_NAME: &str = "::default";

/// The name of a default provider, which states its plugin.
fn default_name(plugin: Option<&StatedPlugin>) -> String {
    let mut name = "default".to_owned();
    if let Some(version) = plugin.and_then(|plugin| plugin.version.as_deref()) {
        let version = version.strip_prefix('v').unwrap_or(version);
        name += "_";
        name.extend(version.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        }));
    }
    if let Some(url) = plugin.and_then(|plugin| plugin.url.as_deref()) {
        name += "_";
        name.extend(url.replace("//", "/").chars().map(|letter| match letter {
            '-' | '.' | '/' => letter,
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        }));
    }
    name
}

/// An id for a provider that has none here.
fn id_of(urn: &str) -> String {
    let id = super::check::magic(urn);
    [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..32]].join("-")
}

/// Adds the members that choose a plugin to the inputs and outputs of its provider.
fn add_plugin(plugin: &StatedPlugin, inputs: &mut Json, outputs: &mut Json) {
    if plugin.is_empty() {
        return;
    }
    inputs["__internal"] = match &plugin.url {
        Some(url) => json!({"pluginDownloadURL": url}),
        None => json!({}),
    };
    if let Some(version) = &plugin.version {
        inputs["version"] = json!(version);
        outputs["version"] = json!(version);
    }
}

/// Inserts a member. The other tool leaves out empty ones, except `custom`.
fn insert_unless_empty(resource: &mut Map<String, Json>, key: &str, value: Json) {
    let is_empty = match &value {
        Json::Null => true,
        Json::Bool(is) => !is && key != "custom",
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
        Json::Number(_) => false,
    };
    if !is_empty {
        resource.insert(key.to_owned(), value);
    }
}

fn is_stack(record: &Record) -> bool {
    token(&record.type_name, None).as_deref() == Some(STACK)
}

fn limits(limits: Timeouts) -> Json {
    let mut written = Map::new();
    for (key, limit) in [
        ("create", limits.create),
        ("update", limits.update),
        ("delete", limits.delete),
        ("read", limits.read),
    ] {
        if let Some(limit) = limit {
            written.insert(key.to_owned(), json!(limit.as_secs_f64()));
        }
    }
    Json::Object(written)
}

/// The resources in an order in which each comes behind those that it names, as close to their
/// positions as possible.
fn ordered(mut all: Vec<Written>) -> Vec<Json> {
    let is_stack = |written: &Written| text(&written.resource, "type") == STACK;
    all.sort_by_key(|written| (!is_stack(written), written.position));
    let mut by_urn: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, written) in all.iter().enumerate() {
        let urn = text(&written.resource, "urn").to_owned();
        by_urn.entry(urn).or_default().push(at);
    }
    let named: Vec<Vec<usize>> = all
        .iter()
        .map(|written| {
            let urns = named_urns(&written.resource);
            // The first object with a URN is enough.
            let first = urns.iter().filter_map(|urn| by_urn.get(urn)?.first());
            first.copied().collect()
        })
        .collect();
    let mut order = Vec::with_capacity(all.len());
    let mut is_entered = vec![false; all.len()];
    for start in 0..all.len() {
        if std::mem::replace(&mut is_entered[start], true) {
            continue;
        }
        let mut open = vec![(start, 0)];
        while let Some((at, next)) = open.pop() {
            let Some(&other) = named[at].get(next) else {
                order.push(at);
                continue;
            };
            open.push((at, next + 1));
            if !std::mem::replace(&mut is_entered[other], true) {
                open.push((other, 0));
            }
        }
    }
    let mut resources: Vec<Option<Map<String, Json>>> = all
        .into_iter()
        .map(|written| Some(written.resource))
        .collect();
    order
        .into_iter()
        .filter_map(|at| resources[at].take())
        .map(Json::Object)
        .collect()
}

/// The URNs that a resource names.
fn named_urns(resource: &Map<String, Json>) -> Vec<String> {
    let mut urns: Vec<String> = Vec::new();
    if let Some((provider, _)) = text(resource, "provider").rsplit_once("::") {
        urns.push(provider.to_owned());
    }
    urns.extend(["parent", "deletedWith"].map(|key| text(resource, key).to_owned()));
    for key in ["dependencies", "replaceWith"] {
        urns.extend(
            super::check::texts(resource, key)
                .into_iter()
                .map(str::to_owned),
        );
    }
    let by_property = resource
        .get("propertyDependencies")
        .and_then(Json::as_object);
    for used in by_property.into_iter().flat_map(Map::values) {
        let used = used.as_array().into_iter().flatten();
        urns.extend(used.filter_map(Json::as_str).map(str::to_owned));
    }
    urns
}

/// The outputs as the plugin gave them. A host adds the id, unless the plugin gave one itself, and null
/// for each output that the plugin left out.
fn own_outputs(record: &Record) -> Value {
    let (Value::Map(entries), secret) = record.outputs.split_secret() else {
        return record.outputs.clone();
    };
    let is_hosted = entries.contains_key(ID) && record.private.get(ID).is_none();
    if !is_hosted {
        return record.outputs.clone();
    }
    let given = entries
        .iter()
        .filter(|(name, value)| name.as_ref() != ID && !value.is_null());
    Value::map(given.map(|(name, value)| (name.clone(), value.clone()))).tainted(secret)
}

/// Whether the name in a URN is that of a default provider, which has no parent.
fn is_default_name(urn: &str) -> bool {
    let name = urn.rsplit("::").next().unwrap_or_default();
    name == "default" || name.starts_with("default_")
}
