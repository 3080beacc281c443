//! The kinds that a cluster has, with their paths in the API.

use ::kubernetes::{ApiVersion, GroupKind, builtin};
use blueprint::Name;
use serde_json::Value as Json;

/// A kind in a version of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiKind {
    pub(crate) version: ApiVersion,
    pub(crate) kind: Name,
    /// Its name in paths, for example `deployments`.
    pub(crate) plural: Name,
    /// Whether its objects are in namespaces.
    pub(crate) namespaced: bool,
}

impl ApiKind {
    /// The kind, if every cluster has it: a cluster is not asked about it.
    pub(crate) fn builtin(kind: &GroupKind, version: Option<&str>) -> Option<ApiKind> {
        let info = builtin().kind(kind)?;
        let version = match version {
            Some(version) => info.versions.iter().find(|own| ***own == *version)?,
            None => info.versions.first()?,
        };
        Some(ApiKind {
            version: ApiVersion {
                group: kind.group.clone(),
                version: version.clone(),
            },
            kind: kind.kind.clone(),
            plural: info.plural.clone(),
            namespaced: info.is_namespaced,
        })
    }

    /// The kind with its group, in any version.
    pub(crate) fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.version.group.clone(), self.kind.clone())
    }

    /// The path of all objects of the kind, in a namespace if the kind has one.
    pub(crate) fn collection(&self, namespace: Option<&str>) -> String {
        let (root, plural) = (root_of(&self.version), &self.plural);
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        }
    }

    /// The path of an object.
    pub(crate) fn path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}

/// The path of a version of a group.
pub(crate) fn root_of(version: &ApiVersion) -> String {
    match version.group.is_empty() {
        true => format!("/api/{version}"),
        false => format!("/apis/{version}"),
    }
}

/// The kinds of a version of a group, as a cluster lists them.
pub(crate) struct KindsOfVersion {
    kinds: Vec<ApiKind>,
}

impl KindsOfVersion {
    /// Reads an `APIResourceList`. Parts of kinds, such as `deployments/status`, are left out.
    pub(crate) fn read(version: &ApiVersion, list: &Json) -> KindsOfVersion {
        let resources = list["resources"].as_array().map_or(&[][..], Vec::as_slice);
        let kind = |resource: &Json| {
            let plural = resource["name"].as_str()?;
            Some(ApiKind {
                version: version.clone(),
                kind: resource["kind"].as_str()?.into(),
                plural: Some(plural).filter(|name| !name.contains('/'))?.into(),
                namespaced: resource["namespaced"].as_bool().unwrap_or(true),
            })
        };
        KindsOfVersion {
            kinds: resources.iter().filter_map(kind).collect(),
        }
    }

    /// The kind of that name.
    pub(crate) fn kind(&self, kind: &str) -> Option<ApiKind> {
        self.kinds.iter().find(|one| &*one.kind == kind).cloned()
    }
}
