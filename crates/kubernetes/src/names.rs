//! Names: API versions, kinds, types of documents, and the identities of objects.
//!
//! Not here: which kinds exist and which version of a kind is preferred; whether a name follows the
//! rules of its kind, which the API server checks.

use std::fmt;
use std::str::FromStr;

use blueprint::{FieldPath, Name};
use serde_json::Value as Json;

/// The namespace of all types in documents.
pub const NAMESPACE: &str = "kubernetes";

/// The word for the core group, whose real name is empty.
pub const CORE: &str = "core";

/// The token of the type for any kind.
const ANY_KIND: &str = "object";

/// The error for a text that is not the name it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A part of the name is empty.
    #[error("a part of the name is empty")]
    Empty,
    /// A part of the name has a character that would change a path of the API, or is `.` or `..`.
    #[error("`{0}` cannot be part of a path of the API")]
    NotInPath(Name),
    /// The API version has more than two parts.
    #[error("an API version is written `VERSION` or `GROUP/VERSION`")]
    NotApiVersion,
    /// The API version names the core group.
    #[error("the core group is not written in an API version: `v1`, not `core/v1`")]
    CoreWritten,
    /// The kind does not have two parts.
    #[error("a kind is written `GROUP/KIND`, with `core` as the core group")]
    NotKind,
    /// The type is not one of the namespace `kubernetes`.
    #[error("a type is written `kubernetes/GROUP/KIND` or `kubernetes/object`")]
    NotType,
    /// The id does not have three or four parts.
    #[error(
        "an id is written `GROUP/KIND/NAMESPACE/NAME`, or `GROUP/KIND/NAME` without a namespace"
    )]
    NotId,
}

/// Returns a name that is one segment of a path of the API.
fn segment(text: &str) -> Result<Name, NameError> {
    match text {
        "" => Err(NameError::Empty),
        "." | ".." => Err(NameError::NotInPath(text.into())),
        _ if text.contains(['/', '%']) => Err(NameError::NotInPath(text.into())),
        _ => Ok(text.into()),
    }
}

/// The name of a group for people, and in types and ids: `core` for the core group.
fn group_word(group: &str) -> &str {
    if group.is_empty() { CORE } else { group }
}

/// Reads the word of [`group_word`].
fn group_of_word(word: &str) -> Result<Name, NameError> {
    if word == CORE {
        return Ok("".into());
    }
    segment(word)
}

/// A group and one of its versions: the `apiVersion` of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiVersion {
    /// The group. Empty for the core group.
    pub group: Name,
    /// The version, for example `v1` or `v1beta2`.
    pub version: Name,
}

impl ApiVersion {
    /// The `apiVersion` of a manifest.
    ///
    /// # Errors
    /// If the manifest has none, or one that is not an API version.
    pub fn of(manifest: &Json) -> Result<ApiVersion, ManifestError> {
        let text = required_text(manifest, IdentityPart::ApiVersion)?;
        text.parse()
            .map_err(|source| IdentityPart::ApiVersion.malformed(text, source))
    }
}

/// Reads `VERSION` or `GROUP/VERSION`.
impl FromStr for ApiVersion {
    type Err = NameError;

    fn from_str(text: &str) -> Result<ApiVersion, NameError> {
        let (group, version) = match text.split_once('/') {
            None => ("", text),
            Some(("", _)) => return Err(NameError::Empty),
            Some((CORE, _)) => return Err(NameError::CoreWritten),
            Some(both) => both,
        };
        if version.contains('/') {
            return Err(NameError::NotApiVersion);
        }
        Ok(ApiVersion {
            group: if group.is_empty() {
                "".into()
            } else {
                segment(group)?
            },
            version: segment(version)?,
        })
    }
}

/// Writes `VERSION` or `GROUP/VERSION`, as manifests do.
impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.version)
        } else {
            write!(f, "{}/{}", self.group, self.version)
        }
    }
}

/// A kind of objects, in any version of its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// The group. Empty for the core group.
    pub group: Name,
    /// The kind, for example `Deployment`.
    pub kind: Name,
}

impl GroupKind {
    /// A kind of a group; the empty group is the core group.
    pub fn new(group: impl Into<Name>, kind: impl Into<Name>) -> GroupKind {
        GroupKind {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// The kind of a manifest.
    ///
    /// # Errors
    /// If its `apiVersion` or `kind` is missing or not well formed.
    pub fn of(manifest: &Json) -> Result<GroupKind, ManifestError> {
        let ApiVersion { group, .. } = ApiVersion::of(manifest)?;
        let kind = required_segment(manifest, IdentityPart::Kind)?;
        Ok(GroupKind { group, kind })
    }

    /// The name of its type in documents: `kubernetes/GROUP/KIND`.
    pub fn type_name(&self) -> Name {
        format!("{NAMESPACE}/{self}").into()
    }

    /// Whether it is a kind of this group; the empty group is the core group.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        *self.group == *group && *self.kind == *kind
    }
}

/// Reads `GROUP/KIND`, with `core` as the core group.
impl FromStr for GroupKind {
    type Err = NameError;

    fn from_str(text: &str) -> Result<GroupKind, NameError> {
        let (group, kind) = text.split_once('/').ok_or(NameError::NotKind)?;
        if kind.contains('/') {
            return Err(NameError::NotKind);
        }
        Ok(GroupKind {
            group: group_of_word(group)?,
            kind: segment(kind)?,
        })
    }
}

/// Writes `GROUP/KIND`, with `core` as the core group.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", group_word(&self.group), self.kind)
    }
}

impl serde::Serialize for GroupKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for GroupKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<GroupKind, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The type of a resource in a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KindType {
    /// `kubernetes/object`: the manifest names the kind.
    Any,
    /// `kubernetes/GROUP/KIND`.
    Kind(GroupKind),
}

/// Reads the name of a type, with its namespace.
impl FromStr for KindType {
    type Err = NameError;

    fn from_str(text: &str) -> Result<KindType, NameError> {
        match text.split_once('/') {
            Some((NAMESPACE, ANY_KIND)) => Ok(KindType::Any),
            Some((NAMESPACE, token)) => token.parse().map(KindType::Kind),
            _ => Err(NameError::NotType),
        }
    }
}

/// Writes the name of the type, with its namespace.
impl fmt::Display for KindType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KindType::Any => write!(f, "{NAMESPACE}/{ANY_KIND}"),
            KindType::Kind(kind) => write!(f, "{NAMESPACE}/{kind}"),
        }
    }
}

/// The identity of an object in a cluster, in any version of its group.
///
/// Its text is `GROUP/KIND/NAMESPACE/NAME`, and `GROUP/KIND/NAME` for an object without a
/// namespace, with `core` as the core group. No part holds a `/`, so the number of parts tells the
/// two apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// The kind.
    pub kind: GroupKind,
    /// The namespace. `None` for an object of the cluster as a whole.
    pub namespace: Option<Name>,
    /// The name.
    pub name: Name,
}

impl FromStr for ObjectId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<ObjectId, NameError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (group, kind, namespace, name) = match parts.as_slice() {
            [group, kind, name] => (group, kind, None, name),
            [group, kind, namespace, name] => (group, kind, Some(segment(namespace)?), name),
            _ => return Err(NameError::NotId),
        };
        Ok(ObjectId {
            kind: GroupKind {
                group: group_of_word(group)?,
                kind: segment(kind)?,
            },
            namespace,
            name: segment(name)?,
        })
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "/{namespace}")?;
        }
        write!(f, "/{}", self.name)
    }
}

/// The place of an object in the API: its identity and the version that a manifest writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// The group. Empty for the core group.
    pub group: Name,
    /// The version.
    pub version: Name,
    /// The kind.
    pub kind: Name,
    /// The namespace, if the manifest has one.
    pub namespace: Option<Name>,
    /// The name.
    pub name: Name,
}

impl ObjectKey {
    /// The identity that a manifest writes. An empty namespace is none.
    ///
    /// # Errors
    /// If `apiVersion`, `kind` or `metadata.name` is missing, or a part is not well formed.
    pub fn of(manifest: &Json) -> Result<ObjectKey, ManifestError> {
        let ApiVersion { group, version } = ApiVersion::of(manifest)?;
        let kind = required_segment(manifest, IdentityPart::Kind)?;
        let namespace = match text(manifest, IdentityPart::Namespace)? {
            None | Some("") => None,
            Some(written) => Some(
                segment(written)
                    .map_err(|source| IdentityPart::Namespace.malformed(written, source))?,
            ),
        };
        Ok(ObjectKey {
            group,
            version,
            kind,
            namespace,
            name: required_segment(manifest, IdentityPart::Name)?,
        })
    }

    /// The API version.
    pub fn api_version(&self) -> ApiVersion {
        ApiVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// The kind with its group.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }

    /// The identity without the version.
    pub fn id(&self) -> ObjectId {
        ObjectId {
            kind: self.group_kind(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

/// Writes the `apiVersion` and the `kind` of a type into a manifest that leaves them out. A
/// manifest may name another version of the group.
///
/// # Errors
/// If the manifest is not a map, or names another kind or group.
pub fn complete(
    manifest: &mut Json,
    kind: &GroupKind,
    preferred: &ApiVersion,
) -> Result<(), ManifestError> {
    let other = |part: IdentityPart, text: &str, wanted: &str| ManifestError::OtherKind {
        path: part.path().into(),
        text: text.into(),
        wanted: wanted.into(),
    };
    let written_kind = text(manifest, IdentityPart::Kind)?;
    if let Some(written) = written_kind.filter(|written| **written != *kind.kind) {
        return Err(other(IdentityPart::Kind, written, &kind.kind));
    }
    let has_version = text(manifest, IdentityPart::ApiVersion)?.is_some();
    if has_version {
        let written = ApiVersion::of(manifest)?;
        if written.group != kind.group {
            let (written, wanted) = (written.to_string(), preferred.to_string());
            return Err(other(IdentityPart::ApiVersion, &written, &wanted));
        }
    }
    let fields = manifest.as_object_mut().ok_or(ManifestError::NotMap)?;
    if !has_version {
        fields.insert("apiVersion".to_owned(), preferred.to_string().into());
    }
    fields.insert("kind".to_owned(), (&*kind.kind).into());
    Ok(())
}

/// The error for a manifest that does not identify an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The manifest is not a map.
    #[error("a manifest is a map")]
    NotMap,
    /// `metadata` is not a map.
    #[error("`metadata` is a map")]
    MetadataNotMap,
    /// A part is missing or null.
    #[error("`{0}` is missing")]
    Missing(Name),
    /// A part is not text.
    #[error("`{0}` is a text")]
    NotText(Name),
    /// The manifest has another kind or group than its type.
    #[error("`{path}` is `{text}`, but the type needs `{wanted}`")]
    OtherKind {
        /// The path of the part.
        path: Name,
        /// What is written.
        text: Name,
        /// What would be right.
        wanted: Name,
    },
    /// A part is not well formed.
    #[error("`{path}` cannot be `{text}`")]
    Malformed {
        /// The path of the part.
        path: Name,
        /// What is written.
        text: Name,
        /// What is wrong with it.
        source: NameError,
    },
}

impl ManifestError {
    /// The field at which the mistake is.
    pub fn path(&self) -> FieldPath {
        match self {
            ManifestError::NotMap => FieldPath::default(),
            ManifestError::MetadataNotMap => FieldPath::field("metadata"),
            ManifestError::Missing(path)
            | ManifestError::NotText(path)
            | ManifestError::OtherKind { path, .. }
            | ManifestError::Malformed { path, .. } => FieldPath::parse(path),
        }
    }
}

/// A part of a manifest that identifies its object.
#[derive(Clone, Copy, Debug)]
enum IdentityPart {
    ApiVersion,
    Kind,
    Name,
    Namespace,
}

impl IdentityPart {
    fn path(self) -> &'static str {
        match self {
            IdentityPart::ApiVersion => "apiVersion",
            IdentityPart::Kind => "kind",
            IdentityPart::Name => "metadata.name",
            IdentityPart::Namespace => "metadata.namespace",
        }
    }

    fn malformed(self, text: &str, source: NameError) -> ManifestError {
        ManifestError::Malformed {
            path: self.path().into(),
            text: text.into(),
            source,
        }
    }
}

/// The text of a part; `None` if it is missing or null.
fn text(manifest: &Json, part: IdentityPart) -> Result<Option<&str>, ManifestError> {
    let mut at = manifest.as_object().ok_or(ManifestError::NotMap)?;
    let mut name = part.path();
    if let Some((_, inner)) = name.split_once('.') {
        at = match manifest.get("metadata") {
            None | Some(Json::Null) => return Ok(None),
            Some(Json::Object(metadata)) => metadata,
            Some(_) => return Err(ManifestError::MetadataNotMap),
        };
        name = inner;
    }
    match at.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(ManifestError::NotText(part.path().into())),
    }
}

fn required_text(manifest: &Json, part: IdentityPart) -> Result<&str, ManifestError> {
    text(manifest, part)?.ok_or_else(|| ManifestError::Missing(part.path().into()))
}

fn required_segment(manifest: &Json, part: IdentityPart) -> Result<Name, ManifestError> {
    let written = required_text(manifest, part)?;
    segment(written).map_err(|source| part.malformed(written, source))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn api_versions_read_back() {
        for (text, group, version) in [
            ("v1", "", "v1"),
            ("apps/v1", "apps", "v1"),
            ("cert-manager.io/v1alpha2", "cert-manager.io", "v1alpha2"),
        ] {
            let read: ApiVersion = text.parse().unwrap();
            assert_eq!((&*read.group, &*read.version), (group, version));
            assert_eq!(read.to_string(), text);
        }
        for (text, error) in [
            ("", NameError::Empty),
            ("/v1", NameError::Empty),
            ("apps/", NameError::Empty),
            ("core/v1", NameError::CoreWritten),
            ("apps/v1/x", NameError::NotApiVersion),
            ("../v1", NameError::NotInPath("..".into())),
        ] {
            assert_eq!(text.parse::<ApiVersion>(), Err(error), "{text}");
        }
    }

    #[test]
    fn types_read_back() {
        for (text, group, kind) in [
            ("kubernetes/core/ConfigMap", "", "ConfigMap"),
            ("kubernetes/apps/Deployment", "apps", "Deployment"),
            (
                "kubernetes/cert-manager.io/Certificate",
                "cert-manager.io",
                "Certificate",
            ),
        ] {
            let read: KindType = text.parse().unwrap();
            assert_eq!(read, KindType::Kind(GroupKind::new(group, kind)));
            assert_eq!(read.to_string(), text);
            assert_eq!(*GroupKind::new(group, kind).type_name(), *text);
        }
        assert_eq!("kubernetes/object".parse(), Ok(KindType::Any));
        assert_eq!(KindType::Any.to_string(), "kubernetes/object");
        for (text, error) in [
            ("kubernetes", NameError::NotType),
            ("local/file", NameError::NotType),
            ("kubernetes/ConfigMap", NameError::NotKind),
            ("kubernetes/apps/v1/Deployment", NameError::NotKind),
            ("kubernetes/apps/", NameError::Empty),
            ("kubernetes//ConfigMap", NameError::Empty),
        ] {
            assert_eq!(text.parse::<KindType>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_manifest_identifies_its_object() {
        let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "shop", "name": "web"}});
        let key = ObjectKey::of(&manifest).unwrap();
        assert_eq!(key.id().to_string(), "apps/Deployment/shop/web");
        assert_eq!(key.api_version().to_string(), "apps/v1");
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"namespace": "", "name": "system:node"}});
        let id = ObjectKey::of(&role).unwrap().id();
        assert_eq!(
            id.to_string(),
            "rbac.authorization.k8s.io/ClusterRole/system:node"
        );
        let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        let id = ObjectKey::of(&space).unwrap().id();
        assert_eq!(id.to_string(), "core/Namespace/shop");
        assert!(id.kind.is("", "Namespace"));
    }

    #[test]
    fn a_manifest_is_completed_by_its_type() {
        let kind = GroupKind::new("apps", "Deployment");
        let preferred: ApiVersion = "apps/v1".parse().unwrap();
        let completed = |mut manifest: Json| {
            complete(&mut manifest, &kind, &preferred)?;
            Ok::<_, ManifestError>((manifest["apiVersion"].clone(), manifest["kind"].clone()))
        };
        let both = (json!("apps/v1"), json!("Deployment"));
        assert_eq!(completed(json!({})), Ok(both.clone()));
        assert_eq!(
            completed(json!({"apiVersion": null, "kind": "Deployment"})),
            Ok(both)
        );
        assert_eq!(
            completed(json!({"apiVersion": "apps/v1beta1"})),
            Ok((json!("apps/v1beta1"), json!("Deployment")))
        );
        for (manifest, message) in [
            (
                json!({"kind": "Pod"}),
                "`kind` is `Pod`, but the type needs `Deployment`",
            ),
            (
                json!({"apiVersion": "v1"}),
                "`apiVersion` is `v1`, but the type needs `apps/v1`",
            ),
            (json!("x"), "a manifest is a map"),
        ] {
            assert_eq!(completed(manifest).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_mistake_of_a_manifest_has_its_place() {
        let (version, kind) = (json!("v1"), json!("ConfigMap"));
        for (manifest, path, message) in [
            (json!([]), "", "a manifest is a map"),
            (
                json!({"kind": kind}),
                "apiVersion",
                "`apiVersion` is missing",
            ),
            (
                json!({"apiVersion": 1, "kind": kind}),
                "apiVersion",
                "`apiVersion` is a text",
            ),
            (
                json!({"apiVersion": "core/v1", "kind": kind}),
                "apiVersion",
                "`apiVersion` cannot be `core/v1`",
            ),
            (json!({"apiVersion": version}), "kind", "`kind` is missing"),
            (
                json!({"apiVersion": version, "kind": kind}),
                "metadata.name",
                "`metadata.name` is missing",
            ),
            (
                json!({"apiVersion": version, "kind": kind, "metadata": "x"}),
                "metadata",
                "`metadata` is a map",
            ),
            (
                json!({"apiVersion": version, "kind": kind, "metadata": {"name": 3}}),
                "metadata.name",
                "`metadata.name` is a text",
            ),
            (
                json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a/b"}}),
                "metadata.name",
                "`metadata.name` cannot be `a/b`",
            ),
            (
                json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a", "namespace": {}}}),
                "metadata.namespace",
                "`metadata.namespace` is a text",
            ),
        ] {
            let error = ObjectKey::of(&manifest).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.path().to_string(), path, "{message}");
        }
    }

    proptest! {
        #[test]
        fn ids_read_back(group in "core|[a-z.]{3,9}", kind in "[A-Z][a-z]{0,9}",
            namespace in proptest::option::of("[a-z0-9-]{1,9}"), name in "[a-z0-9:-]{1,9}") {
            let id = ObjectId {
                kind: GroupKind::new(if group == CORE { "" } else { &group }, kind),
                namespace: namespace.map(Name::from),
                name: name.into(),
            };
            prop_assume!(&*id.kind.group != "..");
            prop_assert_eq!(id.to_string().parse::<ObjectId>(), Ok(id));
        }

        #[test]
        fn no_text_is_an_accident(text in ".{0,20}") {
            if let Ok(id) = text.parse::<ObjectId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
