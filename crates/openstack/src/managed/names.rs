//! The ids of objects that templates name by their names. Each name is resolved once in a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::provider::{BoxFuture, ErrorKind, ProviderError};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use crate::client::{Cloud, Service, ServiceRequest, path_segment};

/// A kind of object that templates name.
#[derive(Debug)]
pub(crate) struct ObjectKind {
    /// The kind for people: `network`.
    pub(crate) word: &'static str,
    pub(crate) service: Service,
    /// The path of all objects.
    pub(crate) path: &'static str,
    /// The key of the list in an answer.
    pub(crate) list: &'static str,
    pub(crate) search: Search,
}

/// How objects are found by their name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Search {
    /// By the parameter `name` of the query.
    ByQuery,
    /// By another parameter of the query: the objects have no names.
    ByField(&'static str),
    /// By the parameter `name`, among the objects of the project: administrators see others too.
    InProject,
    /// By the parameter `name`, in the domain of this kind that `name{domain}` names; without it, in
    /// all domains. The ids may be any texts.
    InDomain(&'static ObjectKind),
    /// By the parameter `name` of the query, or by an id, which may be any text.
    ByNameOrId,
    /// By the last part of its path alone, which is this field and may be any text.
    ByPath(&'static str),
    /// In the list of all objects. The parameter of the query makes the list complete.
    InList(Option<(&'static str, &'static str)>),
}

impl Search {
    /// The field of an object that templates name it by.
    fn field(self) -> &'static str {
        match self {
            Search::ByField(field) | Search::ByPath(field) => field,
            Search::ByQuery
            | Search::InProject
            | Search::InDomain(_)
            | Search::ByNameOrId
            | Search::InList(_) => "name",
        }
    }
}

/// The ids of names, and objects that attributes of many others show.
#[derive(Default)]
pub(crate) struct NameCache {
    ids: CellMap<(&'static str, String), String>,
    /// The ids that objects have.
    known: CellMap<(&'static str, String), String>,
    objects: CellMap<String, Json>,
}

/// Values that are looked up once.
type CellMap<K, V> = Mutex<HashMap<K, Arc<OnceCell<V>>>>;

impl NameCache {
    /// The id of an object that a template names by its id or its name.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if no object, or more than one, has the name.
    pub(super) async fn id_of(
        &self,
        cloud: &Cloud,
        kind: &'static ObjectKind,
        text: &str,
    ) -> Result<String, ProviderError> {
        // Ids are UUIDs, with hyphens or without. Whether the object exists is for the request that
        // uses the id.
        if uuid::Uuid::try_parse(text).is_ok() {
            return Ok(text.to_owned());
        }
        let cell = {
            let mut known = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (kind.path, text.to_owned());
            known.entry(key).or_default().clone()
        };
        let found = cell.get_or_try_init(|| find(cloud, kind, text)).await?;
        Ok(found.clone())
    }

    /// The id of an object as by [`NameCache::id_of`], which exists: an id is asked for, too.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] if no object has the id, or the name, or if several have the name.
    pub(crate) async fn existing(
        &self,
        cloud: &Cloud,
        kind: &'static ObjectKind,
        text: &str,
    ) -> Result<String, ProviderError> {
        if uuid::Uuid::try_parse(text).is_err() {
            return self.id_of(cloud, kind, text).await;
        }
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (kind.path, text.to_owned());
            known.entry(key).or_default().clone()
        };
        let ask = || async {
            match with_id(cloud, kind, text).await {
                // Who may use an object need not be allowed to read it.
                Err(error) if error.kind == ErrorKind::Permanent => Ok(text.to_owned()),
                found => found,
            }
        };
        let found = cell.get_or_try_init(ask).await?;
        Ok(found.clone())
    }

    /// Notes that an object with this id was read, so that nobody asks whether it exists.
    pub(super) fn note(&self, path: &'static str, id: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = OnceCell::new_with(Some(id.to_owned()));
        known
            .entry((path, id.to_owned()))
            .or_insert_with(|| Arc::new(cell));
    }

    /// The answer to a request for an object. It is asked once in a session.
    ///
    /// # Errors
    /// The error of the request.
    pub(super) async fn object(
        &self,
        cloud: &Cloud,
        request: ServiceRequest,
    ) -> Result<Json, ProviderError> {
        let cell = {
            let mut known = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(request.path.clone()).or_default().clone()
        };
        let found = cell.get_or_try_init(|| read(cloud, request)).await?;
        Ok(found.clone())
    }
}

/// Finds the object with a name, or with an id that is no UUID.
fn find<'a>(
    cloud: &'a Cloud,
    kind: &'static ObjectKind,
    text: &'a str,
) -> BoxFuture<'a, Result<String, ProviderError>> {
    Box::pin(async move {
        let request = ServiceRequest::get(kind.service, kind.path);
        let (name, request) = match kind.search {
            Search::ByQuery | Search::ByNameOrId => (text, request.with_query("name", text)),
            Search::ByField(field) => (text, request.with_query(field, text)),
            Search::InProject => {
                let request = request.with_query("name", text);
                let project = cloud.project.clone();
                (text, request.with_query("project_id", project))
            }
            Search::InDomain(domains) => match with_domain(text) {
                Some((name, domain)) => {
                    let domain = find(cloud, domains, domain).await?;
                    let request = request.with_query("name", name);
                    (name, request.with_query("domain_id", domain))
                }
                None => (text, request.with_query("name", text)),
            },
            Search::ByPath(_) => return with_id(cloud, kind, text).await,
            Search::InList(Some((field, value))) => (text, request.with_query(field, value)),
            Search::InList(None) => (text, request),
        };
        let answer = read(cloud, request).await?;
        let all = answer[kind.list].as_array();
        // An id goes before a name: another object may have the id as its name.
        let is_id = all.into_iter().flatten().any(|it| it["id"] == text);
        if is_id {
            return Ok(text.to_owned());
        }
        let matches = all.into_iter().flatten();
        let field = kind.search.field();
        let matches = matches.filter(|it| it[field] == name);
        let ids: Vec<&str> = matches.filter_map(|it| it["id"].as_str()).collect();
        match ids.as_slice() {
            [id] => Ok((*id).to_owned()),
            [] => match kind.search {
                Search::InDomain(_) | Search::ByNameOrId => with_id(cloud, kind, text).await,
                _ => Err(no_object(cloud, kind, text).await),
            },
            several => {
                let message = format!(
                    "{} {}s have the name `{text}`: {}; name one by its id",
                    several.len(),
                    kind.word,
                    several.join(", ")
                );
                Err(ProviderError::new(ErrorKind::Document, message))
            }
        }
    })
}

/// The name and the domain of `name{domain}`; `None` for another text.
fn with_domain(text: &str) -> Option<(&str, &str)> {
    let (name, domain) = text.strip_suffix('}')?.split_once('{')?;
    (!domain.is_empty()).then_some((name, domain))
}

/// The id of the object that has it. It is asked for by the id.
async fn with_id(
    cloud: &Cloud,
    kind: &'static ObjectKind,
    id: &str,
) -> Result<String, ProviderError> {
    // The path of an empty id is that of all objects.
    if id.is_empty() {
        return Err(no_object(cloud, kind, id).await);
    }
    let path = format!("{}/{}", kind.path, path_segment(id));
    match cloud.send(ServiceRequest::get(kind.service, path)).await {
        Ok(_) => Ok(id.to_owned()),
        Err(error) if error.is_not_found() => Err(no_object(cloud, kind, id).await),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

/// An object of a list. Some lists have an envelope around each one.
fn inner(object: &Json) -> &Json {
    let entries = object.as_object().filter(|entries| entries.len() == 1);
    let only = entries.and_then(|entries| entries.values().next());
    only.filter(|inner| inner.is_object()).unwrap_or(object)
}

/// The error for a name or id that no object has, with a similar name if there is one.
async fn no_object(cloud: &Cloud, kind: &'static ObjectKind, text: &str) -> ProviderError {
    let field = kind.search.field();
    let similar = match uuid::Uuid::try_parse(text) {
        Ok(_) => None,
        Err(_) => {
            let request = ServiceRequest::get(kind.service, kind.path);
            let request = match kind.search {
                Search::InList(Some((name, value))) => request.with_query(name, value),
                _ => request,
            };
            // The error is about the name, also if the list is refused.
            let mut answer = read(cloud, request).await.unwrap_or_default();
            Some(answer[kind.list].take())
        }
    };
    let names = similar.as_ref().and_then(Json::as_array).into_iter();
    let names = names.flatten().filter_map(|it| inner(it)[field].as_str());
    let word = kind.word;
    let message = match diag::nearest(text, names) {
        Some(near) => format!("the cloud has no {word} `{text}`; a similar one is `{near}`"),
        None => format!("the cloud has no {word} with the name or id `{text}`"),
    };
    ProviderError::new(ErrorKind::Document, message)
}

/// The body of the answer to a request that changes nothing.
async fn read(cloud: &Cloud, request: ServiceRequest) -> Result<Json, ProviderError> {
    let answer = cloud.send(request).await;
    answer
        .map(|answer| answer.body)
        .map_err(|error| error.into_provider_error(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_a_domain() {
        assert_eq!(with_domain("jane{staff}"), Some(("jane", "staff")));
        assert_eq!(with_domain("jane"), None);
        assert_eq!(with_domain("jane{}"), None);
        assert_eq!(with_domain("{staff}jane"), None);
    }
}
