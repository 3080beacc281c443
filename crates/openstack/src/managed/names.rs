//! The ids of objects that templates name by their names. Each name is resolved once in a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::provider::{ErrorKind, ProviderError};
use tokio::sync::OnceCell;

use super::CloudCall;
use crate::client::{Service, ServiceRequest};

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
    /// In the list of all objects. The parameter of the query makes the list complete.
    InList(Option<(&'static str, &'static str)>),
}

/// The ids of names.
#[derive(Default)]
pub(crate) struct NameCache(Mutex<HashMap<(&'static str, String), Arc<OnceCell<String>>>>);

impl NameCache {
    /// The id of an object that a template names by its id or its name.
    ///
    /// # Errors
    /// As [`CloudCall::id_of`].
    pub(super) async fn id_of(
        &self,
        on: &CloudCall<'_>,
        kind: &'static ObjectKind,
        text: &str,
    ) -> Result<String, ProviderError> {
        // Ids are UUIDs, with hyphens or without. Whether the object exists is for the request that
        // uses the id.
        if uuid::Uuid::try_parse(text).is_ok() {
            return Ok(text.to_owned());
        }
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (kind.path, text.to_owned());
            known.entry(key).or_default().clone()
        };
        let found = cell.get_or_try_init(|| find(on, kind, text)).await?;
        Ok(found.clone())
    }
}

/// Finds the object with a name, or with an id that is no UUID.
async fn find(
    on: &CloudCall<'_>,
    kind: &'static ObjectKind,
    text: &str,
) -> Result<String, ProviderError> {
    let request = ServiceRequest::get(kind.service, kind.path);
    let request = match kind.search {
        Search::ByQuery => request.with_query("name", text),
        Search::InList(Some((name, value))) => request.with_query(name, value),
        Search::InList(None) => request,
    };
    let answer = on.get(request).await?;
    let all = answer[kind.list].as_array();
    // An id goes before a name: another object may have the id as its name.
    let is_id = all.into_iter().flatten().any(|it| it["id"] == text);
    if is_id {
        return Ok(text.to_owned());
    }
    let matches = all.into_iter().flatten();
    let matches = matches.filter(|it| it["name"] == text);
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
