//! Reads a deployment as a state.
//!
//! Members without a counterpart are carried in the record, with secrets marked, and written back as
//! they were (decisions/pulumi#deployments).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use blueprint::{
    Address, IndexMap, Map as Entries, Name, ResourceMetadata, StatedPlugin, Timeouts, Value,
};
use dialect::{SecretManager, TextCipher};
use serde_json::{Map, Value as Json};
use state::{
    Keeping, ProviderRef, Record, RecordOrigin, RecordTies, Snapshot, Status, StatusOp, StatusWord,
};

use super::check::{Violation, is_true, resources, text, texts, violations};
use super::names::{FEATURES, ID, ResourceRole, UrnParts, namespace, settings};
use super::values::decode;
use super::{DEPLOYMENT, DeploymentError, PENDING, POSITION};

/// The token of a create of the other tool whose outcome is unknown.
const UNSETTLED: &str = "pulumi";

/// A deployment as a state.
#[derive(Debug)]
pub struct ReadDeployment {
    /// The name of its stack.
    pub stack: Name,
    /// The state.
    pub snapshot: Snapshot,
}

/// Members of a resource that a record has a place for.
const MAPPED: [&str; 19] = [
    "urn",
    "type",
    "custom",
    "delete",
    "id",
    "inputs",
    "outputs",
    "parent",
    "protect",
    "external",
    "dependencies",
    "retainOnDelete",
    "additionalSecretOutputs",
    "ignoreChanges",
    "replaceOnChanges",
    "hideDiff",
    "importID",
    "initErrors",
    "replacementTrigger",
];

/// Reads a deployment, from an export or from the file of a store.
pub fn read(tree: &Json, manager: &dyn SecretManager) -> Result<ReadDeployment, DeploymentError> {
    let deployment = whole(tree).map_err(DeploymentError::Shape)?;
    let found = violations(deployment);
    if !found.is_empty() {
        return Err(DeploymentError::Violations(found));
    }
    let cipher = cipher(deployment, manager)?;
    let all = resources(deployment);
    let mut reader = DeploymentReader {
        cipher: cipher.as_deref(),
        addresses: HashMap::new(),
        taken: HashSet::new(),
        roles: HashMap::new(),
        snapshot: Snapshot::default(),
        deposed: IndexMap::default(),
    };
    all.iter().for_each(|resource| reader.name(resource));
    for (at, resource) in all.iter().enumerate() {
        reader.add(at, resource, deployment).map_err(|message| {
            DeploymentError::Violations(vec![Violation {
                resource: Some(at),
                message,
            }])
        })?;
    }
    let pending = deployment
        .get("pending_operations")
        .and_then(Json::as_array);
    for (at, operation) in pending.into_iter().flatten().enumerate() {
        reader
            .interrupt(at, operation)
            .map_err(DeploymentError::Shape)?;
    }
    let first = all.first().and_then(|one| UrnParts::of(text(one, "urn")));
    Ok(ReadDeployment {
        stack: first.map_or("", |parts| parts.stack).into(),
        snapshot: reader.finished(),
    })
}

/// The deployment in its wrapper.
fn whole(tree: &Json) -> Result<&Map<String, Json>, String> {
    let version = tree.get("version").and_then(Json::as_u64).unwrap_or(0);
    match version {
        3 => {}
        4 => {
            let features = tree.get("features").and_then(Json::as_array);
            let mut features = features.into_iter().flatten().filter_map(Json::as_str);
            if let Some(feature) = features.find(|one| !FEATURES.contains(one)) {
                return Err(format!("needs the feature `{feature}`, which is not known"));
            }
        }
        other => {
            return Err(format!(
                "has the version {other}; versions 3 and 4 are read"
            ));
        }
    }
    let checkpoint = || tree.get("checkpoint")?.get("latest");
    let found = tree.get("deployment").or_else(checkpoint);
    found
        .and_then(Json::as_object)
        .ok_or_else(|| "has no deployment".to_owned())
}

fn cipher(
    deployment: &Map<String, Json>,
    manager: &dyn SecretManager,
) -> Result<Option<Box<dyn TextCipher>>, DeploymentError> {
    let Some(named) = deployment
        .get("secrets_providers")
        .and_then(Json::as_object)
    else {
        return Ok(None);
    };
    let kind = text(named, "type");
    // Without a secret, no key is needed.
    let sealed = "\"ciphertext\"";
    let has_secret = deployment
        .values()
        .any(|part| part.to_string().contains(sealed));
    if kind.is_empty() || !has_secret {
        return Ok(None);
    }
    let state = named.get("state").and_then(Json::as_object);
    let salt = state.map_or("", |state| text(state, "salt"));
    let cipher = manager.unlock(kind, salt);
    cipher.map(Some).map_err(DeploymentError::Locked)
}

struct DeploymentReader<'d> {
    cipher: Option<&'d dyn TextCipher>,
    /// The addresses of resources by their URNs.
    addresses: HashMap<String, Address>,
    taken: HashSet<Address>,
    /// The roles of resources by their URNs.
    roles: HashMap<String, ResourceRole>,
    snapshot: Snapshot,
    /// Old objects of replacements, by address, in the order of the deployment.
    deposed: IndexMap<Address, Vec<Record>>,
}

impl DeploymentReader<'_> {
    /// Gives a resource an address: its name, with a number if that is taken.
    fn name(&mut self, resource: &Map<String, Json>) {
        let urn = text(resource, "urn");
        if self.addresses.contains_key(urn) {
            return;
        }
        let role = ResourceRole::of(resource);
        let name = UrnParts::of(urn).map_or(urn, |parts| parts.name);
        let first = match role {
            ResourceRole::Configured => {
                let token = text(resource, "type");
                format!("default:{}", token.rsplit(':').next().unwrap_or(token))
            }
            _ => name.to_owned(),
        };
        let numbered =
            (2..).map(|number| Address::inside(&[], format!("{first}-{number}").as_str()));
        let address = std::iter::once(Address::inside(&[], first.as_str()))
            .chain(numbered)
            .find(|address| !self.taken.contains(address));
        if let Some(address) = address {
            self.taken.insert(address.clone());
            self.addresses.insert(urn.to_owned(), address);
            self.roles.insert(urn.to_owned(), role);
        }
    }

    fn address(&self, urn: &str) -> Option<Address> {
        self.addresses.get(urn).cloned()
    }

    fn decoded(&self, json: &Json) -> Result<Value, String> {
        decode(json, self.cipher)
    }

    fn add(
        &mut self,
        at: usize,
        resource: &Map<String, Json>,
        deployment: &Map<String, Json>,
    ) -> Result<(), String> {
        let urn = text(resource, "urn");
        let Some(address) = self.address(urn) else {
            return Err("has no URN".to_owned());
        };
        let mut extra = vec![(Name::from(POSITION), Value::Int(at as i64))];
        let role = ResourceRole::of(resource);
        if role == ResourceRole::Stack {
            self.read_exports(resource)?;
            let own = deployment
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "resources" | "pending_operations"));
            let own: Map<String, Json> = own
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            extra.push((DEPLOYMENT.into(), self.decoded(&Json::Object(own))?));
        }
        let record = self.record(resource, role, extra)?;
        match is_true(resource, "delete") {
            true => {
                let record = record.as_deposed();
                self.deposed.entry(address).or_default().push(record);
            }
            false => {
                self.snapshot.records.insert(address, Arc::new(record));
            }
        }
        Ok(())
    }

    fn read_exports(&mut self, stack: &Map<String, Json>) -> Result<(), String> {
        let outputs = stack.get("outputs").and_then(Json::as_object);
        for (name, value) in outputs.into_iter().flatten() {
            let value = self.decoded(value)?;
            self.snapshot.exports.insert(name.as_str().into(), value);
        }
        Ok(())
    }

    /// The record of a resource.
    fn record(
        &self,
        resource: &Map<String, Json>,
        role: ResourceRole,
        extra: Vec<(Name, Value)>,
    ) -> Result<Record, String> {
        let part = |key: &str| match resource.get(key) {
            Some(json) => self.decoded(json),
            None => Ok(Value::Null),
        };
        let token = text(resource, "type");
        let mut urn = Name::from(text(resource, "urn"));
        let mut id = Name::from(text(resource, "id"));
        let mut carried: Entries = extra.into_iter().collect();
        for (key, value) in resource {
            let is_mapped = MAPPED.contains(&key.as_str())
                || matches!(key.as_str(), "deletedWith" | "replaceWith")
                || key == "provider" && self.provider(resource).is_some();
            if !is_mapped {
                carried.insert(key.as_str().into(), self.decoded(value)?);
            }
        }
        let mut carry = |key: &str, value: Value| {
            carried.insert(key.into(), value);
        };
        if !resource.contains_key("parent") {
            carry("parent", Value::Null);
        }
        let waits = is_true(resource, "pendingReplacement");
        if (role.is_group() || waits) && !id.is_empty() {
            carry("id", Value::Text(id));
            id = Name::default();
        }
        if role == ResourceRole::Default {
            carry("custom", Value::Bool(true));
        }
        let (mut inputs, mut outputs) = (part("inputs")?, part("outputs")?);
        match role {
            ResourceRole::Stack => outputs = Value::Null,
            ResourceRole::Configured | ResourceRole::Provider => {
                carry("inputs", inputs);
                carry("outputs", outputs);
                (inputs, outputs) = self.configuration(resource, &id)?;
            }
            _ => {}
        }
        if role == ResourceRole::Configured
            && let Some(parts) = UrnParts::of(&urn)
        {
            // Here the name of a default provider has no version.
            let own = parts.default_provider(token.rsplit(':').next().unwrap_or(token));
            carry("urn", Value::Text(urn.clone()));
            urn = own;
        }
        let trigger = part("replacementTrigger")?;
        let metadata = match trigger.is_null() {
            true => Value::Null,
            false => Value::map([(ResourceMetadata::REPLACEMENT_TRIGGER, trigger)]),
        };
        let own_id = outputs.get(ID).filter(|_| role == ResourceRole::Object);
        let private = own_id.map_or(Value::Null, |own| Value::map([(ID, own.clone())]));
        let status = match waits {
            true => Status::new(StatusOp::Delete, StatusWord::Gone),
            false => Status::new(StatusOp::Create, StatusWord::Ready),
        };
        Ok(Record {
            type_name: role.type_name(token),
            status,
            id,
            inputs,
            outputs,
            private,
            metadata,
            dependencies: self.all(resource, "dependencies"),
            retain: is_true(resource, "retainOnDelete"),
            protect: is_true(resource, "protect"),
            delete_mode: blueprint::DeleteMode::Delete,
            deposed: None,
            token: None,
            attempt: None,
            attention: None,
            unhealthy: names(resource, "initErrors"),
            schema_version: 0,
            provider: self.provider(resource),
            duration_ms: 0,
            origin: RecordOrigin {
                urn,
                ties: Some(Box::new(self.ties(resource, role, carried))),
                ..RecordOrigin::default()
            },
        })
    }

    /// The inputs and outputs of a configuration of a provider.
    fn configuration(
        &self,
        resource: &Map<String, Json>,
        id: &Name,
    ) -> Result<(Value, Value), String> {
        let token = text(resource, "type");
        let package = token.rsplit(':').next().unwrap_or(token);
        let written = settings(resource)
            .map(|(key, value)| Ok((Name::from(key.as_str()), self.decoded(value)?)))
            .collect::<Result<Vec<_>, String>>()?;
        let mut fields = vec![
            (Name::from("namespace"), Value::text(namespace(package))),
            ("settings".into(), Value::map(written)),
        ];
        let inputs = Value::map(fields.clone());
        fields.push(("id".into(), Value::Text(id.clone())));
        Ok((inputs, Value::map(fields)))
    }

    /// The declared configuration that a resource is managed with.
    fn provider(&self, resource: &Map<String, Json>) -> Option<ProviderRef> {
        let (urn, id) = text(resource, "provider").rsplit_once("::")?;
        let role = self.roles.get(urn)?;
        let is_declared = matches!(role, ResourceRole::Configured | ResourceRole::Provider);
        is_declared.then_some(())?;
        Some(ProviderRef {
            address: self.address(urn)?,
            id: id.into(),
        })
    }

    /// The addresses of the resources that a member names.
    fn all(&self, resource: &Map<String, Json>, key: &str) -> Vec<Address> {
        let urns = texts(resource, key).into_iter();
        urns.filter_map(|urn| self.address(urn)).collect()
    }

    fn ties(
        &self,
        resource: &Map<String, Json>,
        role: ResourceRole,
        carried: Entries,
    ) -> RecordTies {
        let parent = text(resource, "parent");
        let parent = self.address(parent).filter(|_| {
            let role = self.roles.get(parent);
            role != Some(&ResourceRole::Stack)
        });
        let by_property = resource
            .get("propertyDependencies")
            .and_then(Json::as_object);
        let uses = by_property.into_iter().flatten().filter_map(|(field, _)| {
            let used = self.all(by_property?, field);
            (!used.is_empty()).then(|| (Name::from(field.as_str()), used))
        });
        let keeping = match role {
            role if role.is_group() => Keeping::Group,
            _ if is_true(resource, "external") => Keeping::Read,
            _ => Keeping::Managed,
        };
        RecordTies {
            parent,
            deleted_with: self.address(text(resource, "deletedWith")),
            replaced_with: self.all(resource, "replaceWith"),
            timeouts: timeouts(resource),
            secret_fields: names(resource, "additionalSecretOutputs"),
            ignore_changes: names(resource, "ignoreChanges"),
            replace_on_changes: names(resource, "replaceOnChanges"),
            hidden: names(resource, "hideDiff"),
            imported: Some(text(resource, "importID"))
                .filter(|id| !id.is_empty())
                .map(Name::from),
            uses: uses.collect(),
            // What is imported names its provider itself.
            plugin: StatedPlugin::default(),
            keeping,
            carried: Value::Map(Arc::new(carried)),
        }
    }

    /// Notes an operation whose outcome the other tool does not know.
    fn interrupt(&mut self, at: usize, operation: &Json) -> Result<(), String> {
        let resource = operation.get("resource").and_then(Json::as_object);
        let resource = resource.ok_or("has a pending operation without a resource")?;
        self.name(resource);
        let urn = text(resource, "urn");
        let kind = operation.get("type").and_then(Json::as_str).unwrap_or("");
        let Some(address) = self.address(urn) else {
            return Err("has a pending operation without a URN".to_owned());
        };
        let written = [
            (Name::from(POSITION), Value::Int(at as i64)),
            ("operation".into(), self.decoded(operation)?),
        ];
        let pending = (Name::from(PENDING), Value::list(vec![Value::map(written)]));
        let role = ResourceRole::of(resource);
        let is_there = self.snapshot.records.get_mut(&address);
        let op = match (kind, is_there) {
            ("creating", None) => {
                let mut record = self.record(resource, role, vec![pending])?;
                (record.id, record.token) = (Name::default(), Some(UNSETTLED.into()));
                record.status = Status::new(StatusOp::Create, StatusWord::Interrupted);
                self.snapshot.records.insert(address, Arc::new(record));
                return Ok(());
            }
            (_, None) => {
                return Err(format!(
                    "has a pending operation of `{urn}`, which it has not"
                ));
            }
            ("creating", Some(_)) => StatusOp::Create,
            ("updating", Some(_)) => StatusOp::Update,
            ("deleting", Some(_)) => StatusOp::Delete,
            // A read changes nothing.
            ("reading", Some(there)) => {
                carry_pending(Arc::make_mut(there), pending);
                return Ok(());
            }
            (other, _) => return Err(format!("has a pending operation of the kind `{other}`")),
        };
        let attempt = match op {
            StatusOp::Create => Some(self.record(resource, role, Vec::new())?),
            _ => None,
        };
        if let Some(there) = self.snapshot.records.get_mut(&address) {
            let there = Arc::make_mut(there);
            carry_pending(there, pending);
            match attempt {
                Some(mut attempt) => {
                    (attempt.id, attempt.token) = (Name::default(), Some(UNSETTLED.into()));
                    attempt.status = Status::new(StatusOp::Create, StatusWord::Interrupted);
                    there.attempt = Some(Box::new(attempt));
                }
                None => there.status = Status::new(op, StatusWord::Interrupted),
            }
        }
        Ok(())
    }

    /// The state, with old objects below the records of their resources.
    fn finished(mut self) -> Snapshot {
        for (address, mut objects) in std::mem::take(&mut self.deposed) {
            let Some(newest) = objects.first().cloned() else {
                continue;
            };
            let mut chain: Option<Box<Record>> = None;
            while let Some(mut object) = objects.pop() {
                object.deposed = chain.take();
                chain = Some(Box::new(object));
            }
            let records = &mut self.snapshot.records;
            let live = records.entry(address).or_insert_with(|| {
                let mut gone = newest;
                gone.id = Name::default();
                gone.outputs = Value::Null;
                gone.status = Status::new(StatusOp::Delete, StatusWord::Gone);
                if let Some(ties) = &mut gone.origin.ties {
                    ties.carried = Value::Null;
                }
                Arc::new(gone)
            });
            Arc::make_mut(live).deposed = chain;
        }
        self.snapshot
    }
}

/// Carries a pending operation beside the others of the record.
fn carry_pending(record: &mut Record, (key, pending): (Name, Value)) {
    let Some(ties) = &mut record.origin.ties else {
        return;
    };
    let mut carried = ties.carried.as_map().cloned().unwrap_or_default();
    let before = carried.get(&key).and_then(Value::as_list).unwrap_or(&[]);
    let all: Vec<Value> = before
        .iter()
        .chain(pending.as_list().unwrap_or(&[]))
        .cloned()
        .collect();
    carried.insert(key, Value::list(all));
    ties.carried = Value::Map(Arc::new(carried));
}

fn names(resource: &Map<String, Json>, key: &str) -> Vec<Name> {
    texts(resource, key).into_iter().map(Name::from).collect()
}

/// The time limits of a resource, which the deployment has in seconds.
fn timeouts(resource: &Map<String, Json>) -> Timeouts {
    let limit = |key: &str| {
        let seconds = resource.get("customTimeouts")?.get(key)?.as_f64()?;
        let limit = Duration::try_from_secs_f64(seconds).ok()?;
        (!limit.is_zero()).then_some(limit)
    };
    Timeouts {
        create: limit("create"),
        update: limit("update"),
        delete: limit("delete"),
        read: limit("read"),
    }
}
