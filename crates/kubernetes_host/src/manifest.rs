//! The manifest of a resource: what its spec says, as the API takes it.

use ::kubernetes::{ApiVersion, GroupKind, KindType};
use ::provider::{ErrorKind, ProviderError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blueprint::{FieldPath, Name, PathStep, Value};
use serde_json::{Map, Value as Json, json};

use crate::cluster::{Cluster, RequestError};
use crate::kinds::ApiKind;
use crate::problems::error_of;
use ::kubernetes::json::to_json;

/// What a spec says about its object.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) kind: GroupKind,
    /// The version that the spec writes. `None` for the preferred one.
    version: Option<Name>,
    /// The namespace that the spec writes.
    namespace: Option<Name>,
    /// The name; `None` if the server chooses it, or if it is not known yet.
    pub(crate) name: Option<Name>,
    /// The object without its unknown parts. Its secrets are not marked: it must not be shown.
    pub(crate) body: Json,
    /// The places of the unknown parts.
    pub(crate) unknown: Vec<FieldPath>,
}

/// The manifest of an object at its place in the API.
#[derive(Clone, Debug)]
pub(crate) struct PlacedManifest {
    pub(crate) api: ApiKind,
    /// The namespace; `None` for a kind without namespaces.
    pub(crate) namespace: Option<Name>,
    /// The name; `None` if the server chooses it.
    pub(crate) name: Option<Name>,
    /// The object as it is sent, without unknown parts.
    pub(crate) body: Json,
    pub(crate) unknown: Vec<FieldPath>,
}

fn refuse(path: impl Into<FieldPath>, why: impl Into<String>) -> ProviderError {
    ProviderError::new(ErrorKind::Document, why).at(path)
}

impl Manifest {
    /// Reads the spec of a resource of a type.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at the field that is missing or wrong.
    pub(crate) fn of(type_name: &str, spec: &Value) -> Result<Manifest, ProviderError> {
        let (mut body, mut unknown) =
            to_json(spec).map_err(|error| refuse(error.path.clone(), error.problem))?;
        let Some(entries) = body.as_object_mut() else {
            return Err(refuse("", "the spec of an object is a map"));
        };
        // A null at the top means that nothing is written.
        entries.retain(|_, value| !value.is_null());
        let written = entries.get("apiVersion").and_then(Json::as_str);
        let written = written
            .map(str::parse::<ApiVersion>)
            .transpose()
            .map_err(|error| refuse("apiVersion", error.to_string()))?;
        let kind = kind_of(type_name, entries, written.as_ref())?;
        let metadata = entries.entry("metadata").or_insert_with(|| json!({}));
        let Some(metadata) = metadata.as_object_mut() else {
            return Err(refuse("metadata", "`metadata` is a map"));
        };
        metadata.retain(|_, value| !value.is_null());
        // The server sets these. A manifest that was exported may have them.
        for name in [
            "managedFields",
            "resourceVersion",
            "uid",
            "generation",
            "creationTimestamp",
        ] {
            metadata.remove(name);
        }
        let is_unknown = |name: &str| {
            let path = FieldPath::field("metadata").join(PathStep::Field(name.into()));
            unknown.iter().any(|one| one.covers(&path))
        };
        let name = text(metadata, "name")?;
        let generated = metadata.contains_key("generateName") || is_unknown("generateName");
        if name.is_none() && !generated && !is_unknown("name") {
            return Err(refuse("metadata.name", "`metadata.name` is missing"));
        }
        let namespace = text(metadata, "namespace")?;
        entries.remove("status");
        if kind.is("", "Secret") {
            encode_string_data(entries, &mut unknown)?;
        }
        Ok(Manifest {
            kind,
            version: written.map(|written| written.version),
            namespace,
            name,
            body,
            unknown,
        })
    }

    /// Finds the kind in the cluster, and with it the place of the object. `None` if the cluster
    /// has no such kind.
    ///
    /// # Errors
    /// If the cluster cannot be asked, or if the object cannot have the namespace.
    pub(crate) async fn place(
        mut self,
        cluster: &Cluster,
    ) -> Result<Option<PlacedManifest>, ProviderError> {
        let found = cluster.kind(&self.kind, self.version.as_ref()).await;
        let found = found.map_err(|error: RequestError| error_of(error, cluster))?;
        let Some(api) = found else { return Ok(None) };
        let namespace = match (api.namespaced, self.namespace) {
            (true, written) => Some(written.unwrap_or_else(|| cluster.namespace.clone())),
            (false, None) => None,
            (false, Some(_)) => {
                let message = format!("objects of the kind `{}` have no namespace", api.kind);
                return Err(refuse("metadata.namespace", message));
            }
        };
        self.body["apiVersion"] = json!(api.version.to_string());
        self.body["kind"] = json!(api.kind.as_ref());
        if let Some(namespace) = &namespace {
            self.body["metadata"]["namespace"] = json!(namespace.as_ref());
        }
        Ok(Some(PlacedManifest {
            api,
            namespace,
            name: self.name,
            body: self.body,
            unknown: self.unknown,
        }))
    }

    /// The kind and version as a manifest writes them, for messages.
    pub(crate) fn kind_words(&self) -> String {
        match &self.version {
            Some(version) => format!("`{}` in version `{version}`", self.kind),
            None => format!("`{}`", self.kind),
        }
    }
}

/// Whether the kind of an object depends on values that are not known yet.
pub(crate) fn has_open_kind(type_name: &str, spec: &Value) -> bool {
    let is_open = |name: &str| spec.get(name).is_some_and(Value::has_unknown);
    matches!(type_name.parse(), Ok(KindType::Any)) && (is_open("apiVersion") || is_open("kind"))
}

impl PlacedManifest {
    /// The path of the object; `None` without a name.
    pub(crate) fn path(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(self.api.path(self.namespace.as_deref(), name))
    }

    /// Sets the name if the manifest has none.
    pub(crate) fn give_name(&mut self, name: &str) {
        if self.name.is_none() && !name.is_empty() {
            self.name = Some(name.into());
            self.body["metadata"]["name"] = json!(name);
        }
    }

    /// The manifest with the uid of the object, so that an apply never makes a new object.
    pub(crate) fn with_uid(&self, uid: Option<&str>) -> Json {
        let mut body = self.body.clone();
        if let Some(uid) = uid {
            body["metadata"]["uid"] = json!(uid);
        }
        body
    }

    /// The object in words: `ConfigMap shop/settings`.
    pub(crate) fn words(&self) -> String {
        let (kind, name) = (
            &self.api.kind,
            self.name.as_deref().unwrap_or("(named later)"),
        );
        match &self.namespace {
            Some(namespace) => format!("{kind} `{namespace}/{name}`"),
            None => format!("{kind} `{name}`"),
        }
    }
}

/// The kind: that of the type, which the manifest may repeat, or that of the manifest.
fn kind_of(
    type_name: &str,
    entries: &Map<String, Json>,
    version: Option<&ApiVersion>,
) -> Result<GroupKind, ProviderError> {
    let written = entries.get("kind").and_then(Json::as_str);
    let ty: KindType = type_name
        .parse()
        .map_err(|error: ::kubernetes::NameError| refuse("", error.to_string()))?;
    match ty {
        KindType::Kind(kind) => {
            if let Some(version) = version.filter(|version| version.group != kind.group) {
                let message =
                    format!("the type `{type_name}` is of another group than `{version}`");
                return Err(refuse("apiVersion", message));
            }
            if let Some(written) = written.filter(|written| *written != &*kind.kind) {
                let message = format!("the type `{type_name}` is not of the kind `{written}`");
                return Err(refuse("kind", message));
            }
            Ok(kind)
        }
        KindType::Any => {
            let version = version
                .ok_or_else(|| refuse("apiVersion", "`apiVersion` is missing: the type is open"))?;
            let kind =
                written.ok_or_else(|| refuse("kind", "`kind` is missing: the type is open"))?;
            Ok(GroupKind::new(version.group.clone(), kind))
        }
    }
}

fn text(metadata: &Map<String, Json>, name: &str) -> Result<Option<Name>, ProviderError> {
    let path = format!("metadata.{name}");
    match metadata.get(name) {
        None => Ok(None),
        Some(Json::String(text)) if text.is_empty() => Ok(None),
        Some(Json::String(text))
            if text.contains(['/', '%', '?', '#']) || text.starts_with('.') =>
        {
            Err(refuse(
                path,
                format!("`{text}` cannot be the name of an object"),
            ))
        }
        Some(Json::String(text)) => Ok(Some(text.as_str().into())),
        Some(_) => Err(refuse(path.clone(), format!("`{path}` is a text"))),
    }
}

/// Moves the entries of `stringData` to `data`, as the server does. Otherwise nobody could see that
/// they have changed, because the server does not return `stringData`.
fn encode_string_data(
    entries: &mut Map<String, Json>,
    unknown: &mut [FieldPath],
) -> Result<(), ProviderError> {
    for path in unknown.iter_mut() {
        if let Some(PathStep::Field(first)) = path.0.first_mut()
            && &**first == "stringData"
        {
            *first = "data".into();
        }
    }
    let Some(plain) = entries.shift_remove("stringData") else {
        return Ok(());
    };
    let Json::Object(plain) = plain else {
        return Err(refuse("stringData", "`stringData` is a map"));
    };
    let data = entries.entry("data").or_insert_with(|| json!({}));
    let Some(data) = data.as_object_mut() else {
        return Err(refuse("data", "`data` is a map"));
    };
    for (key, value) in plain {
        match value {
            Json::String(text) => data.insert(key, Json::String(STANDARD.encode(text))),
            Json::Null => data.shift_remove(&key),
            _ => return Err(refuse(format!("stringData.{key}"), "the value is a text")),
        };
    }
    Ok(())
}
