//! Carries out the requests of a reconcile.
//!
//! Invariant: a list is complete, or it is refused.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use cartographer::reconcile::{
    AccountName, Call, ClusterAnswer, FoundObject, Identity, ObjectName, Refusal, RefusalReason,
};
use http::Method;
use kube::Client;
use kubernetes::json;
use serde_json::Value as Json;

use crate::accounts::AccountTokens;
use crate::api::{APPLY, ApiConnection, JSON, RequestBody, RequestFailure, body_of, query_part};
use crate::caches::ObjectCaches;
use crate::metrics::Counters;
use crate::options::ControllerOptions;
use crate::served::{ServedKind, ServedKinds};

/// The field manager of all writes.
pub(crate) const MANAGER: &str = "cyan";

/// The number of objects of one page of a list.
const PAGE: usize = 500;

/// The way to the cluster.
pub(crate) struct ClusterAccess {
    /// The connection of the controller itself.
    pub(crate) controller: ApiConnection,
    /// The kinds that the server has.
    pub(crate) kinds: ServedKinds,
    /// What is counted.
    pub(crate) counters: Counters,
    tokens: AccountTokens,
}

impl ClusterAccess {
    pub(crate) fn new(client: Client) -> ClusterAccess {
        ClusterAccess {
            controller: ApiConnection::of_client(client.clone()),
            kinds: ServedKinds::default(),
            counters: Counters::default(),
            tokens: AccountTokens::new(client),
        }
    }

    /// Carries out a call.
    pub(crate) async fn carry_out(
        &self,
        identity: &Identity,
        call: &Call,
        caches: &ObjectCaches,
        options: &ControllerOptions,
    ) -> ClusterAnswer {
        let account = match (call, identity) {
            (Call::Account(account), _) | (_, Identity::Account(account)) => Some(account),
            (_, Identity::Controller) => None,
        };
        let connection = match account {
            None => self.controller.clone(),
            Some(account) => match self.account(account, caches, options).await {
                Ok(Some(connection)) => connection,
                Ok(None) if matches!(call, Call::Account(_)) => return ClusterAnswer::Missing,
                Ok(None) => {
                    return ClusterAnswer::Refused(Refusal {
                        reason: RefusalReason::Unavailable,
                        message: "the service account does not exist any more".to_owned(),
                    });
                }
                Err(refusal) => return ClusterAnswer::Refused(refusal),
            },
        };
        let answer = match call {
            Call::Account(_) => Ok(ClusterAnswer::Done),
            Call::Get(object) => self.get(&connection, object).await,
            Call::List {
                api_version,
                kind,
                namespace,
                labels,
            } => {
                let (namespace, labels) = (namespace.as_deref(), Some(labels));
                self.list(&connection, api_version, kind, namespace, labels)
                    .await
            }
            Call::Apply(object) => self.write(&connection, object, Write::Apply).await,
            Call::Create(object) => self.write(&connection, object, Write::Create).await,
            Call::Delete { object, uid } => self.delete(&connection, object, uid).await,
        };
        match answer {
            Ok(answer) => answer,
            Err(UnansweredCall::Refusal(refusal)) => ClusterAnswer::Refused(refusal),
            Err(UnansweredCall::Request(failure)) => {
                if let Some(account) = account.filter(|_| failure.is_unauthorized()) {
                    self.tokens.forget(account);
                }
                ClusterAnswer::Refused(failure.refusal())
            }
        }
    }

    async fn account(
        &self,
        account: &AccountName,
        caches: &ObjectCaches,
        options: &ControllerOptions,
    ) -> Result<Option<ApiConnection>, Refusal> {
        let Some(uid) = caches.account(account) else {
            return Ok(None);
        };
        self.tokens
            .connection(account, &uid, options, &self.counters)
            .await
    }

    async fn kind(
        &self,
        api_version: &Name,
        kind: &Name,
    ) -> Result<Arc<ServedKind>, UnansweredCall> {
        let found = self
            .kinds
            .find(&self.controller, &self.counters, api_version, kind);
        found.await.map_err(UnansweredCall::Refusal)
    }

    async fn get(
        &self,
        connection: &ApiConnection,
        object: &ObjectName,
    ) -> Result<ClusterAnswer, UnansweredCall> {
        let kind = self.kind(&object.api_version, &object.kind).await?;
        let path = kind.path(object.namespace.as_deref(), &object.name);
        self.counters.count_request("get", &kind.resource());
        match self.send(connection, Method::GET, &path, &kind, None).await {
            Ok(found) => Ok(ClusterAnswer::Object(found_object(&kind, &found))),
            Err(failure) if failure.is_missing() => Ok(ClusterAnswer::Missing),
            Err(failure) => Err(failure.into()),
        }
    }

    async fn list(
        &self,
        connection: &ApiConnection,
        api_version: &Name,
        kind: &Name,
        namespace: Option<&str>,
        labels: Option<&Map>,
    ) -> Result<ClusterAnswer, UnansweredCall> {
        let served = self.kind(api_version, kind).await?;
        let selector = selector_of(labels).map_err(UnansweredCall::Refusal)?;
        let collection = served.collection(namespace);
        let first = format!("{collection}?limit={PAGE}&labelSelector={selector}");
        let mut path = first.clone();
        let mut all = Vec::new();
        loop {
            self.counters.count_request("list", &served.resource());
            let page = self
                .send(connection, Method::GET, &path, &served, None)
                .await?;
            let Some(items) = page["items"].as_array() else {
                let message = "the server answers a list without its items";
                return Err(RequestFailure::Lost(message.to_owned()).into());
            };
            for item in items {
                all.push(found_object(&served, item));
            }
            match page["metadata"]["continue"].as_str() {
                Some(token) if !token.is_empty() => {
                    path = format!("{first}&continue={}", query_part(token));
                }
                _ => return Ok(ClusterAnswer::List(all)),
            }
        }
    }

    async fn write(
        &self,
        connection: &ApiConnection,
        object: &Value,
        write: Write,
    ) -> Result<ClusterAnswer, UnansweredCall> {
        let mut body = body_of(object).map_err(UnansweredCall::Refusal)?;
        let text = |at: &Json| at.as_str().map(Name::from);
        let (Some(api_version), Some(name)) = (text(&body["apiVersion"]), text(&body["kind"]))
        else {
            return Err(UnansweredCall::Refusal(Refusal {
                reason: RefusalReason::Rejected,
                message: "the object has no `apiVersion` or no `kind`".to_owned(),
            }));
        };
        let kind = self.kind(&api_version, &name).await?;
        let namespace = text(&body["metadata"]["namespace"]);
        if !kind.is_namespaced
            && let Some(metadata) = body["metadata"].as_object_mut()
        {
            metadata.remove("namespace");
        }
        let (method, path, form) = match write {
            Write::Apply => {
                let Some(name) = body["metadata"]["name"].as_str() else {
                    return Err(UnansweredCall::Refusal(Refusal {
                        reason: RefusalReason::Rejected,
                        message: "the object has no name".to_owned(),
                    }));
                };
                let path = kind.path(namespace.as_deref(), &query_part(name));
                let path = format!("{path}?fieldManager={MANAGER}&force=true");
                (Method::PATCH, path, APPLY)
            }
            Write::Create => {
                let path = kind.collection(namespace.as_deref());
                (Method::POST, format!("{path}?fieldManager={MANAGER}"), JSON)
            }
        };
        self.counters.count_request(write.verb(), &kind.resource());
        let body = RequestBody {
            form,
            object: &body,
        };
        let found = self
            .send(connection, method, &path, &kind, Some(body))
            .await?;
        Ok(ClusterAnswer::Object(found_object(&kind, &found)))
    }

    async fn delete(
        &self,
        connection: &ApiConnection,
        object: &ObjectName,
        uid: &Name,
    ) -> Result<ClusterAnswer, UnansweredCall> {
        let kind = self.kind(&object.api_version, &object.kind).await?;
        let path = kind.path(object.namespace.as_deref(), &object.name);
        let options = serde_json::json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": &**uid},
        });
        let body = RequestBody {
            form: JSON,
            object: &options,
        };
        self.counters.count_request("delete", &kind.resource());
        match self
            .send(connection, Method::DELETE, &path, &kind, Some(body))
            .await
        {
            Ok(_) => Ok(ClusterAnswer::Done),
            // A conflict says that the object with this name has another uid.
            Err(failure) if failure.is_missing() || failure.is_conflict() => {
                Ok(ClusterAnswer::Missing)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Sends a request, and forgets the kind if the server says that it does not have it.
    async fn send(
        &self,
        connection: &ApiConnection,
        method: Method,
        path: &str,
        kind: &ServedKind,
        body: Option<RequestBody<'_>>,
    ) -> Result<Json, RequestFailure> {
        let group_kind = kind.group_kind();
        let answer = connection.send(method, path, &group_kind, body).await;
        if let Err(failure) = &answer
            && failure.refusal().reason == RefusalReason::KindMissing
        {
            let api_version = Name::from(kind.version.to_string());
            self.kinds.forget(&api_version, &kind.kind);
        }
        answer
    }
}

/// How an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    Apply,
    Create,
}

impl Write {
    fn verb(self) -> &'static str {
        match self {
            Write::Apply => "patch",
            Write::Create => "create",
        }
    }
}

/// Why a call gives no answer of its own.
enum UnansweredCall {
    /// A request failed.
    Request(RequestFailure),
    /// No request was sent, or a request that only prepared it failed.
    Refusal(Refusal),
}

impl From<RequestFailure> for UnansweredCall {
    fn from(failure: RequestFailure) -> UnansweredCall {
        UnansweredCall::Request(failure)
    }
}

/// An object of an answer. The objects of a list do not name their kind.
fn found_object(kind: &ServedKind, found: &Json) -> FoundObject {
    let mut object = json::from_json(found);
    if object.get("kind").is_none() {
        let version = Value::text(kind.version.to_string());
        let named = [
            (Name::from("apiVersion"), version),
            (Name::from("kind"), Value::Text(kind.kind.clone())),
        ];
        let rest = object.as_map().into_iter().flat_map(|map| map.iter());
        let rest = rest.filter(|(name, _)| &***name != "apiVersion");
        let rest = rest.map(|(name, value)| (name.clone(), value.clone()));
        object = Value::map(named.into_iter().chain(rest));
    }
    FoundObject {
        object: Arc::new(object),
        resource: kind.resource(),
    }
}

/// The labels as the part of a query.
fn selector_of(labels: Option<&Map>) -> Result<String, Refusal> {
    let mut selector = String::new();
    for (name, value) in labels.into_iter().flat_map(|labels| labels.iter()) {
        let Some(value) = value.as_text() else {
            return Err(Refusal {
                reason: RefusalReason::Rejected,
                message: format!("the value of the label `{name}` is not a text"),
            });
        };
        if !selector.is_empty() {
            selector.push(',');
        }
        selector.push_str(&format!("{name}={value}"));
    }
    Ok(query_part(&selector))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use local_cluster::{ClusterOptions, LocalCluster};

    use super::*;

    async fn list(access: &ClusterAccess, kind: &str) -> ClusterAnswer {
        let call = Call::List {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: Some("default".into()),
            labels: [(Name::from("app"), Value::text("web"))]
                .into_iter()
                .collect(),
        };
        let options = ControllerOptions::new(Arc::new(|| Timestamp::UNIX_EPOCH));
        let caches = ObjectCaches::default();
        access
            .carry_out(&Identity::Controller, &call, &caches, &options)
            .await
    }

    #[tokio::test]
    async fn list_has_the_objects_of_all_pages() {
        let cluster = LocalCluster::new(ClusterOptions::default());
        let access = ClusterAccess::new(Client::new(cluster.service(), "default"));
        let total = 2 * PAGE + 3;
        for number in 0..=total {
            // The last one has another label.
            let app = if number < total { "web" } else { "other" };
            let object = serde_json::json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": format!("c-{number}"), "labels": {"app": app}},
            });
            let body = RequestBody {
                form: JSON,
                object: &object,
            };
            let path = "/api/v1/namespaces/default/configmaps";
            let kind = kubernetes::GroupKind::new("", "ConfigMap");
            let created = access
                .controller
                .send(Method::POST, path, &kind, Some(body));
            created.await.unwrap();
        }
        let ClusterAnswer::List(found) = list(&access, "ConfigMap").await else {
            panic!("the list is refused");
        };
        assert_eq!(found.len(), total);
        assert_eq!(access.counters.counts().requests_of("list"), 3);
        let named = found.iter().all(|one| {
            one.object.get("kind").and_then(Value::as_text) == Some("ConfigMap")
                && one.object.get("apiVersion").and_then(Value::as_text) == Some("v1")
        });
        assert!(named, "each object names its kind");
    }

    #[tokio::test]
    async fn kind_that_the_server_does_not_have_is_refused() {
        let cluster = LocalCluster::new(ClusterOptions::default());
        let access = ClusterAccess::new(Client::new(cluster.service(), "default"));
        let ClusterAnswer::Refused(refusal) = list(&access, "Unheard").await else {
            panic!("the list is answered");
        };
        assert_eq!(refusal.reason, RefusalReason::KindMissing);
    }
}
