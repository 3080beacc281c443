//! An object of the cluster as the contract takes it: its fields, and the private data of its
//! record.

use ::kubernetes::{FieldSet, GroupKind, ManagedFields, ManagerOperation, ObjectId, owned};
use blueprint::{Name, Value};
use data_encoding::HEXLOWER;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::cluster::{Cluster, uid_of};
use ::kubernetes::json::from_json;

/// The private data of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectFacts {
    /// The uid of the object.
    pub(crate) uid: Option<Name>,
    /// The uid of the namespace `kube-system` of its cluster.
    pub(crate) cluster: Option<Name>,
    /// The context and server of that cluster, for messages.
    pub(crate) server: Option<Name>,
    /// Whether the object existed before its resource: a delete keeps it.
    pub(crate) adopted: bool,
    /// The digest of the fields of the manager after the last change.
    pub(crate) applied: Option<Name>,
    /// The digest of the fields of the manager when the object was last read.
    pub(crate) seen: Option<Name>,
}

impl ObjectFacts {
    /// Reads private data. Missing parts are not known.
    pub(crate) fn read(private: &Value) -> ObjectFacts {
        let text = |name: &str| private.get(name).and_then(Value::as_text).map(Name::from);
        ObjectFacts {
            uid: text("uid"),
            cluster: text("cluster"),
            server: text("server"),
            adopted: private.get("adopted").and_then(Value::as_bool) == Some(true),
            applied: text("applied"),
            seen: text("seen"),
        }
    }

    /// The private data. The digests of secret fields are secret.
    pub(crate) fn to_value(&self, kind: &GroupKind) -> Value {
        let text = |text: &Option<Name>| text.clone().map(Value::Text);
        let digest = |value: &Option<Name>| {
            let value = value.clone().map(Value::Text);
            value.map(|value| value.tainted(holds_secrets(kind)))
        };
        let entries = [
            ("uid", text(&self.uid)),
            ("cluster", text(&self.cluster)),
            ("server", text(&self.server)),
            ("adopted", self.adopted.then_some(Value::Bool(true))),
            ("applied", digest(&self.applied)),
            ("seen", digest(&self.seen)),
        ];
        let known = entries
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        Value::map(known)
    }
}

/// Whether the data of a kind are secret.
pub(crate) fn holds_secrets(kind: &GroupKind) -> bool {
    kind.is("", "Secret")
}

/// The annotation in which `kubectl apply` keeps a copy of the manifest, with the data of secrets.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The object without the bookkeeping of managers.
pub(crate) fn without_bookkeeping(object: &Json) -> Json {
    let mut object = object.clone();
    let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) else {
        return object;
    };
    metadata.shift_remove("managedFields");
    let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Json::as_object_mut)
    else {
        return object;
    };
    annotations.shift_remove(LAST_APPLIED);
    if annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
    object
}

/// The fields of an object, without the bookkeeping of managers. Data of secrets are marked.
pub(crate) fn fields_of(kind: &GroupKind, object: &Json) -> Value {
    let fields = from_json(&without_bookkeeping(object));
    if !holds_secrets(kind) {
        return fields;
    }
    let entries = fields.as_map().into_iter().flat_map(|map| map.iter());
    Value::map(entries.map(|(name, value)| {
        let is_data = matches!(&**name, "data" | "stringData");
        let value = match (is_data, value.as_map()) {
            (true, Some(data)) => Value::map(
                data.iter()
                    .map(|(key, value)| (key.clone(), value.clone().secret())),
            ),
            _ => value.clone(),
        };
        (name.clone(), value)
    }))
}

/// The fields of a manager in an object. `None` if it has none.
pub(crate) fn fields_of_manager(object: &Json, manager: &str) -> Option<FieldSet> {
    let managers = ManagedFields::of(object).ok()?;
    let set = managers.set(manager, ManagerOperation::Apply);
    (!set.is_empty()).then_some(set)
}

/// Whether an object may have been made by an apply of this manifest. The server records no
/// manager at all for an apply that declares nothing but a name, as that of a namespace.
pub(crate) fn is_made_by(object: &Json, manager: &str, manifest: &Json) -> bool {
    if fields_of_manager(object, manager).is_some() {
        return true;
    }
    let has_managers = ManagedFields::of(object).is_ok_and(|managers| !managers.entries.is_empty());
    !has_managers && declares_nothing(manifest)
}

/// Whether a manifest only says which object it is.
fn declares_nothing(manifest: &Json) -> bool {
    let only = |json: &Json, names: &[&str]| {
        let mut entries = json.as_object().into_iter().flatten();
        entries.all(|(name, _)| names.contains(&name.as_str()))
    };
    only(manifest, &["apiVersion", "kind", "metadata"])
        && only(&manifest["metadata"], &["name", "namespace"])
}

/// The digest of the fields of a manager, with their values. Two objects with the same digest are
/// the same to the manager. A manager without fields has a digest too.
pub(crate) fn digest_of(object: &Json, manager: &str) -> Name {
    let set = fields_of_manager(object, manager).unwrap_or_default();
    digest_of_json(&owned(object, &set))
}

/// The digest of some JSON. The order of names does not count.
pub(crate) fn digest_of_json(json: &Json) -> Name {
    let digest = Sha256::digest(canonical(json).to_string().as_bytes());
    HEXLOWER.encode(&digest).into()
}

/// The same JSON with sorted names.
fn canonical(json: &Json) -> Json {
    match json {
        Json::Object(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            let sorted = sorted.into_iter();
            Json::Object(
                sorted
                    .map(|(name, value)| (name.clone(), canonical(value)))
                    .collect(),
            )
        }
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

/// The identity of an object that the server returned.
pub(crate) fn id_of(kind: &GroupKind, object: &Json) -> ObjectId {
    let text = |name: &str| {
        let text = object["metadata"][name].as_str();
        text.filter(|text| !text.is_empty()).map(Name::from)
    };
    ObjectId {
        kind: kind.clone(),
        namespace: text("namespace"),
        name: text("name").unwrap_or_default(),
    }
}

/// The facts about an object directly after a change.
pub(crate) fn facts_after(
    object: &Json,
    manager: &str,
    cluster: &Cluster,
    identity: Option<Name>,
    adopted: bool,
) -> ObjectFacts {
    let digest = Some(digest_of(object, manager));
    ObjectFacts {
        uid: uid_of(object).map(Name::from),
        cluster: identity,
        server: Some(cluster.title.as_str().into()),
        adopted,
        applied: digest.clone(),
        seen: digest,
    }
}
