//! A local cluster with objects, the controller and scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use cluster_scripts::{Pace, Player, Script, ScriptEvent, free_definition};
use controller::admission::{AdmissionVerdict, WEBHOOK_NAME};
use controller::{Controller, ControllerOptions};
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiResource, Scope, pinned_kind};
use kube::{Client, ResourceExt as _};
use kubernetes::{ApiVersion, GroupKind};
use local_cluster::{AdmissionAnswer, AdmissionHook, ClusterOptions, LocalCluster};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::play::clock;
use crate::exit::CommandError;

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// The field manager of the objects of documents.
const MANAGER: &str = "cyan";

/// A cluster in this process.
pub(super) struct Local {
    pub(super) cluster: LocalCluster,
    pub(super) client: Client,
    pub(super) controller: Controller,
    pub(super) player: Player,
    pub(super) happened: UnboundedReceiver<ScriptEvent>,
}

/// An object that the cluster refused.
#[derive(Debug)]
pub(super) struct RefusedObject {
    /// `Kind/namespace/name`.
    pub(super) object: String,
    /// The words of the cluster.
    pub(super) why: String,
}

impl Local {
    /// A cluster with the kinds of Cartographer.
    ///
    /// # Errors
    /// If the definitions are refused, which is a bug.
    pub(super) async fn new(scripts: Vec<Script>, pace: Pace) -> Result<Local, CommandError> {
        let cluster = LocalCluster::new(ClusterOptions {
            admission: Some(admission()),
            ..ClusterOptions::default()
        });
        let client = Client::new(cluster.service(), NAMESPACE);
        let (events, happened) = unbounded_channel();
        let local = Local {
            controller: Controller::new(client.clone(), ControllerOptions::new(clock())),
            player: Player::new(client.clone(), scripts.clone(), pace, clock(), events),
            cluster,
            client,
            happened,
        };
        for definition in controller::install::definitions() {
            local.define(definition).await?;
        }
        let kinds = scripts
            .iter()
            .map(|script| (script.api_version.clone(), script.kind.to_string()));
        local.define_missing(kinds).await?;
        Ok(local)
    }

    /// Applies objects, in order. A namespace that does not exist is created, and a kind that does
    /// not exist is defined with free fields. Returns what the cluster refused.
    ///
    /// # Errors
    /// If the cluster does not answer, which is a bug.
    pub(super) async fn apply(&self, objects: &[Json]) -> Result<Vec<RefusedObject>, CommandError> {
        let defined: Vec<&Json> = objects
            .iter()
            .filter(|object| is_definition(object))
            .collect();
        let mut refused = Vec::new();
        for definition in defined {
            if let Err(why) = self.put(definition).await {
                refused.push(why);
            }
        }
        let own = objects.iter().filter_map(kind_of);
        let stamped = objects.iter().flat_map(stamped_kinds);
        self.define_missing(own.chain(stamped)).await?;
        for object in objects.iter().filter(|object| !is_definition(object)) {
            if let Some(namespace) = object["metadata"]["namespace"].as_str() {
                self.create_namespace(namespace).await?;
            }
            if let Err(why) = self.put(object).await {
                refused.push(why);
            }
        }
        Ok(refused)
    }

    async fn create_namespace(&self, name: &str) -> Result<(), CommandError> {
        let kind = GroupVersionKind::gvk("", "v1", "Namespace");
        let all: Api<DynamicObject> =
            Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind));
        let found = all.get_opt(name).await.map_err(broken)?;
        if found.is_none() {
            let namespace = object_of(&json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
            }))?;
            all.create(&PostParams::default(), &namespace)
                .await
                .map_err(broken)?;
        }
        Ok(())
    }

    async fn define(&self, definition: Json) -> Result<(), CommandError> {
        let put = self.put(&definition).await;
        put.map_err(|refused| CommandError::Cluster(refused.why.into()))
    }

    /// Defines the kinds that the cluster does not have, one definition for all versions.
    async fn define_missing(
        &self,
        kinds: impl Iterator<Item = (ApiVersion, String)>,
    ) -> Result<(), CommandError> {
        let mut missing: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (api_version, kind) in kinds {
            let (group, version) = (
                api_version.group.to_string(),
                api_version.version.to_string(),
            );
            let asked = GroupVersionKind::gvk(&group, &version, &kind);
            if group.is_empty() || pinned_kind(&self.client, &asked).await.is_ok() {
                continue;
            }
            let versions = missing.entry((group, kind)).or_default();
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
        for ((group, kind), versions) in missing {
            let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
            let kind = GroupKind::new(group, kind);
            self.define(free_definition(&kind, &versions)).await?;
        }
        Ok(())
    }

    /// Applies one object.
    async fn put(&self, object: &Json) -> Result<(), RefusedObject> {
        let refuse = |why: String| RefusedObject {
            object: title(object),
            why,
        };
        let Some((api_version, kind)) = kind_of(object) else {
            return Err(refuse("it has no kind".to_owned()));
        };
        let asked = GroupVersionKind::gvk(&api_version.group, &api_version.version, &kind);
        let found = pinned_kind(&self.client, &asked).await;
        let (resource, capabilities) = found.map_err(|error| refuse(error.to_string()))?;
        let object = object_of(object).map_err(|error| refuse(error.to_string()))?;
        let client = self.client.clone();
        let objects: Api<DynamicObject> = match capabilities.scope {
            Scope::Cluster => Api::all_with(client, &resource),
            Scope::Namespaced => {
                let namespace = object.namespace().unwrap_or_else(|| NAMESPACE.to_owned());
                Api::namespaced_with(client, &namespace, &resource)
            }
        };
        let written = match &object.metadata.name {
            Some(name) => {
                let options = PatchParams::apply(MANAGER).force();
                objects.patch(name, &options, &Patch::Apply(&object)).await
            }
            None => objects.create(&PostParams::default(), &object).await,
        };
        written.map(drop).map_err(|error| match error {
            kube::Error::Api(status) => refuse(status.message.clone()),
            other => refuse(other.to_string()),
        })
    }
}

/// What the webhook of the controller does, without a server.
fn admission() -> AdmissionHook {
    let decide = |object: &Json| {
        let verdict = AdmissionVerdict::of(object);
        AdmissionAnswer {
            refused: verdict.refused,
            warnings: verdict.warnings,
        }
    };
    AdmissionHook {
        name: WEBHOOK_NAME.to_owned(),
        decide: Arc::new(decide),
    }
}

/// Every answer of a cluster in this process is one of its own.
fn broken(error: kube::Error) -> CommandError {
    CommandError::Cluster(Box::new(error))
}

fn object_of(json: &Json) -> Result<DynamicObject, CommandError> {
    serde_json::from_value(json.clone()).map_err(|error| CommandError::Cluster(Box::new(error)))
}

fn is_definition(object: &Json) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// An object in words: `Kind/namespace/name`.
pub(super) fn title(object: &Json) -> String {
    let part = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let name = match &metadata["name"] {
        Json::Null => format!("{}*", part(&metadata["generateName"])),
        name => part(name),
    };
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{}/{namespace}/{name}", part(&object["kind"])),
        None => format!("{}/{name}", part(&object["kind"])),
    }
}

fn kind_of(object: &Json) -> Option<(ApiVersion, String)> {
    let api_version = object["apiVersion"].as_str()?.parse().ok()?;
    let kind = object["kind"].as_str()?;
    // A kind with a tag of a template is known only when it is stamped.
    let is_word = !kind.is_empty() && kind.chars().all(|one| one.is_ascii_alphanumeric());
    is_word.then(|| (api_version, kind.to_owned()))
}

/// The kinds that a template stamps, as far as it writes them without tags.
fn stamped_kinds(object: &Json) -> Vec<(ApiVersion, String)> {
    if object["apiVersion"] != cartographer::kinds::API_VERSION {
        return Vec::new();
    }
    let spec = &object["spec"];
    let of_template = kind_of(&spec["template"]);
    let of_text = spec["ytt"].as_str().and_then(kind_in_text);
    of_template.into_iter().chain(of_text).collect()
}

/// The kind in the text of a template of ytt: the two keys without indentation.
fn kind_in_text(text: &str) -> Option<(ApiVersion, String)> {
    let value = |key: &str| {
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    kind_of(&json!({"apiVersion": value("apiVersion:")?, "kind": value("kind:")?}))
}
