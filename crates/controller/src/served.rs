//! The kinds that the server has, with their paths. Discovery documents are read once, and again
//! for a kind that they do not have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::Name;
use cartographer::reconcile::{Refusal, RefusalReason};
use http::Method;
use kubernetes::{ApiVersion, GroupKind, builtin, served_kinds};
use serde_json::Value as Json;

use crate::api::{ApiConnection, RequestFailure};
use crate::metrics::Counters;

/// A kind in a version of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServedKind {
    /// Group and version.
    pub(crate) version: ApiVersion,
    /// The kind.
    pub(crate) kind: Name,
    /// Its name in paths, for example `deployments`.
    pub(crate) plural: Name,
    /// Whether its objects are in namespaces.
    pub(crate) is_namespaced: bool,
}

impl ServedKind {
    /// The kind with its group.
    pub(crate) fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.version.group.clone(), self.kind.clone())
    }

    /// The plural and group, as in `deployments.apps`; for the core group only the plural.
    pub(crate) fn resource(&self) -> Name {
        match self.version.group.is_empty() {
            true => self.plural.clone(),
            false => format!("{}.{}", self.plural, self.version.group).into(),
        }
    }

    /// The path of all objects, in a namespace if the kind has one.
    pub(crate) fn collection(&self, namespace: Option<&str>) -> String {
        let (root, plural) = (root_of(&self.version), &self.plural);
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        }
    }

    /// The path of an object.
    pub(crate) fn path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}

fn root_of(version: &ApiVersion) -> String {
    match version.group.is_empty() {
        true => format!("/api/{version}"),
        false => format!("/apis/{version}"),
    }
}

/// The kinds that were discovered.
#[derive(Default)]
pub(crate) struct ServedKinds {
    known: Mutex<HashMap<(Name, Name), Arc<ServedKind>>>,
}

impl ServedKinds {
    /// A kind in a version.
    ///
    /// # Errors
    /// [`RefusalReason::KindMissing`] if the server does not have it; another reason if the server
    /// cannot be asked.
    pub(crate) async fn find(
        &self,
        connection: &ApiConnection,
        counters: &Counters,
        api_version: &Name,
        kind: &Name,
    ) -> Result<Arc<ServedKind>, Refusal> {
        let key = (api_version.clone(), kind.clone());
        if let Some(found) = self.known_kind(&key) {
            return Ok(found);
        }
        let version: ApiVersion = api_version.parse().map_err(|error| Refusal {
            reason: RefusalReason::Rejected,
            message: format!("`{api_version}` is not an API version: {error}"),
        })?;
        let missing = || Refusal {
            reason: RefusalReason::KindMissing,
            message: format!("the server has no kind `{kind}` in `{api_version}`"),
        };
        let found = match builtin_kind(&version, kind) {
            Some(found) => vec![found],
            None => {
                counters.count_request("get", "discovery");
                let path = root_of(&version);
                let asked = GroupKind::new("", "APIResourceList");
                match connection.send(Method::GET, &path, &asked, None).await {
                    Ok(list) => kinds_of(&version, &list),
                    Err(RequestFailure::Refused(failure)) if failure.code == 404 => Vec::new(),
                    Err(failure) => return Err(failure.refusal()),
                }
            }
        };
        self.remember(api_version, found);
        self.known_kind(&key).ok_or_else(missing)
    }

    fn known_kind(&self, key: &(Name, Name)) -> Option<Arc<ServedKind>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).cloned()
    }

    fn remember(&self, api_version: &Name, kinds: Vec<ServedKind>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in kinds {
            known.insert((api_version.clone(), kind.kind.clone()), Arc::new(kind));
        }
    }

    /// Forgets a kind, for example because a request for it said that it is missing.
    pub(crate) fn forget(&self, api_version: &Name, kind: &Name) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&(api_version.clone(), kind.clone()));
    }
}

/// A kind that every server has, so that it is not asked.
fn builtin_kind(version: &ApiVersion, kind: &Name) -> Option<ServedKind> {
    let info = builtin().kind(&GroupKind::new(version.group.clone(), kind.clone()))?;
    info.versions
        .contains(&version.version)
        .then(|| ServedKind {
            version: version.clone(),
            kind: kind.clone(),
            plural: info.plural.clone(),
            is_namespaced: info.is_namespaced,
        })
}

/// The kinds of an `APIResourceList`.
fn kinds_of(version: &ApiVersion, list: &Json) -> Vec<ServedKind> {
    let kinds = served_kinds(&Json::Null, [list]);
    let kinds = kinds.into_iter().map(|info| ServedKind {
        version: version.clone(),
        kind: info.kind.kind,
        plural: info.plural,
        is_namespaced: info.is_namespaced,
    });
    kinds.collect()
}
