//! A cluster: requests to its API and their answers.
//!
//! Requests are not repeated here: the engine decides about that, and records each try.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::kubernetes::{ApiFailure, ApiVersion, FailedRequest, FailureReason, GroupKind};
use blueprint::Name;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::{AuthError, Body};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use crate::kinds::{ApiKind, KindsOfVersion};

/// The form of a body that is applied. JSON is a part of YAML.
const APPLY: &str = "application/apply-patch+yaml";

/// The form of a part that is merged into an object.
const MERGE: &str = "application/merge-patch+json";

/// The form of any other body.
const JSON: &str = "application/json";

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The request was not sent, for example because no connection can be made.
    #[error("{0}")]
    NotSent(String),
    /// The credentials cannot be used: a program or a file that should give them failed.
    #[error("{0}")]
    Credentials(String),
    /// The request was sent, and no complete answer came.
    #[error("{0}")]
    Lost(String),
    /// The server refused.
    #[error("{}", .0.message)]
    Refused(Box<ApiFailure>),
}

impl RequestError {
    /// Whether the object, its namespace or its kind does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        let RequestError::Refused(failure) = self else {
            return false;
        };
        matches!(
            failure.reason,
            FailureReason::ObjectMissing
                | FailureReason::NamespaceMissing(_)
                | FailureReason::KindMissing
        )
    }

    /// Whether the account has no right for the request.
    pub(crate) fn is_no_right(&self) -> bool {
        let RequestError::Refused(failure) = self else {
            return false;
        };
        failure.reason == FailureReason::NoRight
    }

    /// Whether the object that a request names by its uid does not exist any more.
    pub(crate) fn is_gone(&self) -> bool {
        let RequestError::Refused(failure) = self else {
            return false;
        };
        self.is_not_found()
            || matches!(
                failure.reason,
                FailureReason::Vanished | FailureReason::MadeAnew
            )
    }
}

/// A successful answer.
pub(crate) struct ApiAnswer {
    /// Whether the object was made by the request.
    pub(crate) created: bool,
    pub(crate) body: Json,
}

/// How an object is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApplyOptions<'a> {
    /// The field manager.
    pub(crate) manager: &'a str,
    /// Whether nothing is stored.
    pub(crate) dry_run: bool,
    /// Whether fields of other managers are taken over.
    pub(crate) force: bool,
}

/// The versions of a group, the preferred one first.
type GroupVersions = Arc<[Name]>;

/// A connection to the API of a cluster.
pub(crate) struct Cluster {
    client: Client,
    /// The context and the address of the server, for messages.
    pub(crate) title: String,
    /// The namespace of objects that name none.
    pub(crate) namespace: Name,
    identity: OnceCell<Option<Name>>,
    groups: Mutex<HashMap<Name, Arc<OnceCell<GroupVersions>>>>,
    versions: Mutex<HashMap<ApiVersion, Arc<OnceCell<KindsOfVersion>>>>,
}

impl Cluster {
    pub(crate) fn new(client: Client, title: String, namespace: Name) -> Cluster {
        Cluster {
            client,
            title,
            namespace,
            identity: OnceCell::new(),
            groups: Mutex::default(),
            versions: Mutex::default(),
        }
    }

    /// The uid of the namespace `kube-system`, which identifies a cluster. `None` if it may not be
    /// read.
    pub(crate) async fn identity(&self) -> Result<Option<Name>, RequestError> {
        let found = self.identity.get_or_try_init(|| async {
            let kind = GroupKind::new("", "Namespace");
            match self.get(&kind, "/api/v1/namespaces/kube-system").await {
                Ok(found) => Ok(uid_of(&found).map(Name::from)),
                // An account without rights for the cluster as a whole may manage a namespace.
                Err(RequestError::Refused(failure)) if failure.reason == FailureReason::NoRight => {
                    Ok(None)
                }
                Err(error) if error.is_not_found() => Ok(None),
                Err(other) => Err(other),
            }
        });
        found.await.cloned()
    }

    /// The object at a path.
    pub(crate) async fn get(&self, kind: &GroupKind, path: &str) -> Result<Json, RequestError> {
        let answer = self.request(Method::GET, path, kind, None).await?;
        Ok(answer.body)
    }

    /// The objects of a collection that have a label.
    pub(crate) async fn list(
        &self,
        kind: &GroupKind,
        collection: &str,
        label: &str,
    ) -> Result<Json, RequestError> {
        let path = format!("{collection}?labelSelector={}", label.replace('/', "%2F"));
        self.get(kind, &path).await
    }

    /// Applies an object, as [server-side apply] does.
    ///
    /// [server-side apply]: https://kubernetes.io/docs/reference/using-api/server-side-apply/
    pub(crate) async fn apply(
        &self,
        kind: &GroupKind,
        path: &str,
        object: &Json,
        with: ApplyOptions<'_>,
    ) -> Result<ApiAnswer, RequestError> {
        let manager = with.manager;
        let mut query = format!("{path}?fieldManager={manager}&fieldValidation=Strict");
        if with.dry_run {
            query.push_str("&dryRun=All");
        }
        if with.force {
            query.push_str("&force=true");
        }
        self.request(Method::PATCH, &query, kind, Some((APPLY, object)))
            .await
    }

    /// Creates an object whose name the server chooses.
    pub(crate) async fn create(
        &self,
        kind: &GroupKind,
        collection: &str,
        object: &Json,
        with: ApplyOptions<'_>,
    ) -> Result<ApiAnswer, RequestError> {
        let manager = with.manager;
        let mut query = format!("{collection}?fieldManager={manager}&fieldValidation=Strict");
        if with.dry_run {
            query.push_str("&dryRun=All");
        }
        self.request(Method::POST, &query, kind, Some((JSON, object)))
            .await
    }

    /// Merges a part into an object. Returns the object.
    pub(crate) async fn merge(
        &self,
        kind: &GroupKind,
        path: &str,
        part: &Json,
        manager: &str,
    ) -> Result<Json, RequestError> {
        let query = format!("{path}?fieldManager={manager}");
        let body = Some((MERGE, part));
        self.request(Method::PATCH, &query, kind, body)
            .await
            .map(|answer| answer.body)
    }

    /// Asks for the deletion of an object, and of what it owns before it.
    pub(crate) async fn delete(
        &self,
        kind: &GroupKind,
        path: &str,
        uid: Option<&str>,
    ) -> Result<(), RequestError> {
        let mut options = serde_json::json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
        });
        if let Some(uid) = uid {
            options["preconditions"] = serde_json::json!({ "uid": uid });
        }
        let body = Some((JSON, &options));
        self.request(Method::DELETE, path, kind, body)
            .await
            .map(|_| ())
    }

    /// The kind in the API: in the stated version, or else in the preferred one of its group.
    /// `None` if the cluster has no such kind.
    pub(crate) async fn kind(
        &self,
        kind: &GroupKind,
        version: Option<&Name>,
    ) -> Result<Option<ApiKind>, RequestError> {
        if let Some(builtin) = ApiKind::builtin(kind, version.map(AsRef::as_ref)) {
            return Ok(Some(builtin));
        }
        let versions: GroupVersions = match version {
            Some(version) => [version.clone()].into(),
            None if kind.group.is_empty() => ["v1".into()].into(),
            None => self.versions_of(&kind.group).await?,
        };
        // A kind need not be in the preferred version of its group.
        for version in versions.iter() {
            let found = self.kind_in(kind, version).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    async fn kind_in(
        &self,
        kind: &GroupKind,
        version: &Name,
    ) -> Result<Option<ApiKind>, RequestError> {
        let version = ApiVersion {
            group: kind.group.clone(),
            version: version.clone(),
        };
        let cell = {
            let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            versions.entry(version.clone()).or_default().clone()
        };
        let known = cell.get_or_try_init(|| self.discover(&version)).await;
        let found = match known {
            Ok(kinds) => kinds.kind(&kind.kind),
            Err(error) if error.is_not_found() => None,
            Err(other) => return Err(other),
        };
        if found.is_none() {
            // A definition may add the kind later, and a version to the group.
            let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            versions.remove(&version);
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            groups.remove(&kind.group);
        }
        Ok(found)
    }

    async fn discover(&self, version: &ApiVersion) -> Result<KindsOfVersion, RequestError> {
        let kind = GroupKind::new("", "APIResourceList");
        let list = self.get(&kind, &crate::kinds::root_of(version)).await?;
        Ok(KindsOfVersion::read(version, &list))
    }

    /// The versions of a group; none if the cluster has no such group.
    async fn versions_of(&self, group: &Name) -> Result<GroupVersions, RequestError> {
        let cell = {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            groups.entry(group.clone()).or_default().clone()
        };
        let found = cell.get_or_try_init(|| async {
            let kind = GroupKind::new("", "APIGroup");
            let answer = self.get(&kind, &format!("/apis/{group}")).await?;
            Ok::<_, RequestError>(versions_in(&answer))
        });
        match found.await {
            Ok(versions) => Ok(versions.clone()),
            Err(error) if error.is_not_found() => Ok(GroupVersions::default()),
            Err(other) => Err(other),
        }
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        kind: &GroupKind,
        body: Option<(&str, &Json)>,
    ) -> Result<ApiAnswer, RequestError> {
        let mut request = Request::builder().method(method).uri(path);
        let bytes = match body {
            Some((form, body)) => {
                request = request.header(http::header::CONTENT_TYPE, form);
                body.to_string().into_bytes()
            }
            None => Vec::new(),
        };
        let request = request
            .body(Body::from(bytes))
            .map_err(|error| RequestError::NotSent(format!("no request can be made: {error}")))?;
        let answer = self.client.send(request).await.map_err(sending_failed)?;
        let status = answer.status();
        let pause = answer.headers().get(http::header::RETRY_AFTER);
        let pause = pause.and_then(|pause| pause.to_str().ok()?.parse().ok());
        let bytes = answer.into_body().collect().await;
        let bytes = bytes.map_err(|error| {
            RequestError::Lost(format!("the answer of the server is incomplete: {error}"))
        })?;
        let bytes = bytes.to_bytes();
        if !status.is_success() {
            let text = String::from_utf8_lossy(&bytes);
            let request = FailedRequest {
                kind,
                object: body.map(|(_, object)| object),
            };
            let mut failure = ApiFailure::of_answer(status.as_u16(), &text, request);
            // A server without time, or a proxy before it, answers without a body that says this.
            failure.retry_after_seconds = failure.retry_after_seconds.or(pause);
            if failure.message.is_empty() {
                failure.message = format!("the server answers `{status}`");
            }
            return Err(RequestError::Refused(Box::new(failure)));
        }
        let body = serde_json::from_slice(&bytes).map_err(|error| {
            RequestError::Lost(format!(
                "the server answers with something else than JSON: {error}"
            ))
        })?;
        Ok(ApiAnswer {
            created: status == StatusCode::CREATED,
            body,
        })
    }
}

/// The versions of an `APIGroup`, the preferred one first.
fn versions_in(group: &Json) -> GroupVersions {
    let preferred = group["preferredVersion"]["version"].as_str();
    let all = group["versions"].as_array().into_iter().flatten();
    let all = all.filter_map(|version| version["version"].as_str());
    let others = all.filter(|version| Some(*version) != preferred);
    preferred
        .into_iter()
        .chain(others)
        .map(Name::from)
        .collect()
}

/// The uid of an object.
pub(crate) fn uid_of(object: &Json) -> Option<&str> {
    object["metadata"]["uid"].as_str()
}

/// Why credentials cannot be used. What their program printed is left out but for the end of its
/// errors: it may be a token.
pub(crate) fn credentials_problem(error: &kube::Error) -> String {
    let kube::Error::Auth(AuthError::AuthExecRun { out, .. }) = error else {
        return messages_of(error);
    };
    let said = String::from_utf8_lossy(&out.stderr);
    let said = said.trim().lines().last().map(|line| format!(": {line}"));
    format!(
        "the program that should give the credentials failed ({}){}",
        out.status,
        said.unwrap_or_default()
    )
}

/// Sorts the failure to get an answer by whether the request was sent.
fn sending_failed(error: kube::Error) -> RequestError {
    let chain = messages_of(&error);
    match error {
        kube::Error::Auth(_) => RequestError::Credentials(credentials_problem(&error)),
        kube::Error::Service(error) => {
            let connecting = error
                .downcast_ref::<hyper_util::client::legacy::Error>()
                .is_some_and(hyper_util::client::legacy::Error::is_connect);
            match connecting {
                true => RequestError::NotSent(chain),
                false => RequestError::Lost(chain),
            }
        }
        _ => RequestError::Lost(chain),
    }
}

/// The messages of an error and of its causes, each once.
fn messages_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    // The outermost message only names a layer of the client.
    let mut at = error.source().or(Some(error));
    while let Some(error) = at {
        let text = error.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        at = error.source();
    }
    texts.join(": ")
}
