//! The ids of objects that templates name by their names. Each name is resolved once in a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::provider::{ErrorKind, ProviderError};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use crate::client::{Cloud, Service, ServiceRequest};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// By the parameter `name` of the query.
    ByQuery,
    /// By another parameter of the query: the objects have no names.
    ByField(&'static str),
    /// By the parameter `name`, among the objects of the project: administrators see others too.
    InProject,
    /// In the list of all objects. The parameter of the query makes the list complete.
    InList(Option<(&'static str, &'static str)>),
}

/// The ids of names, and objects that attributes of many others show.
#[derive(Default)]
pub(crate) struct NameCache {
    ids: CellMap<(&'static str, String), String>,
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
async fn find(
    cloud: &Cloud,
    kind: &'static ObjectKind,
    text: &str,
) -> Result<String, ProviderError> {
    let request = ServiceRequest::get(kind.service, kind.path);
    let request = match kind.search {
        Search::ByQuery => request.with_query("name", text),
        Search::ByField(field) => request.with_query(field, text),
        Search::InProject => {
            let request = request.with_query("name", text);
            request.with_query("project_id", cloud.project.clone())
        }
        Search::InList(Some((name, value))) => request.with_query(name, value),
        Search::InList(None) => request,
    };
    let answer = read(cloud, request).await?;
    let all = answer[kind.list].as_array();
    // An id goes before a name: another object may have the id as its name.
    let is_id = all.into_iter().flatten().any(|it| it["id"] == text);
    if is_id {
        return Ok(text.to_owned());
    }
    let matches = all.into_iter().flatten();
    let field = match kind.search {
        Search::ByField(field) => field,
        Search::ByQuery | Search::InProject | Search::InList(_) => "name",
    };
    let matches = matches.filter(|it| it[field] == text);
    let ids: Vec<&str> = matches.filter_map(|it| it["id"].as_str()).collect();
    let word = kind.word;
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => Err(ProviderError::new(
            ErrorKind::Document,
            format!("the cloud has no {word} with the name or id `{text}`"),
        )),
        several => {
            let message = format!(
                "{} {word}s have the name `{text}`: {}; name one by its id",
                several.len(),
                several.join(", ")
            );
            Err(ProviderError::new(ErrorKind::Document, message))
        }
    }
}

/// The body of the answer to a request that changes nothing.
async fn read(cloud: &Cloud, request: ServiceRequest) -> Result<Json, ProviderError> {
    let answer = cloud.send(request).await;
    answer
        .map(|answer| answer.body)
        .map_err(|error| error.into_provider_error(false))
}
