//! Reads objects and lists.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kept::KeptObject;
use crate::object::meta_text;
use crate::request::ApiRequest;
use crate::selector::ObjectFilter;
use crate::state::ClusterState;
use crate::store::ObjectPlace;
use crate::views::{ApiResponse, ObjectView};
use crate::writing::{RequestTarget, in_version};

/// Answers with an object.
///
/// # Errors
/// If it does not exist.
pub(crate) fn read(
    state: &ClusterState,
    target: &RequestTarget,
    name: &str,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let object = state.store.get(&target.address(name));
    let object = object.ok_or_else(|| RefusedRequest::not_found(&target.kind.resource, name))?;
    let shown = view.of(&in_version(&object, &target.kind, &target.version));
    Ok(ApiResponse::json(200, &shown))
}

/// The selectors of a list or a watch.
///
/// # Errors
/// If one is not well formed.
pub(crate) fn filter_of(
    request: &ApiRequest,
    target: &RequestTarget,
) -> Result<ObjectFilter, RefusedRequest> {
    ObjectFilter::read(
        request.parameter("labelSelector"),
        request.parameter("fieldSelector"),
        &target.kind.resource,
    )
}

/// Where a list continues.
struct ListCursor {
    /// The revision of the first part of the list.
    revision: u64,
    last: ObjectPlace,
}

impl ListCursor {
    fn write(&self) -> String {
        let (namespace, name) = &self.last;
        let cursor = json!({"rv": self.revision, "namespace": **namespace, "name": **name});
        URL_SAFE_NO_PAD.encode(cursor.to_string())
    }

    fn read(text: &str) -> Option<ListCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let cursor: Json = serde_json::from_slice(&bytes).ok()?;
        Some(ListCursor {
            revision: cursor["rv"].as_u64()?,
            last: (
                cursor["namespace"].as_str()?.into(),
                cursor["name"].as_str()?.into(),
            ),
        })
    }
}

/// Answers with a list. A list in parts shows each part as it is when it is read; its resource
/// version is that of the first part, so a watch from there hears of every later change.
///
/// # Errors
/// If an option has a wrong value, or the list continues from a forgotten revision.
pub(crate) fn list(
    state: &ClusterState,
    target: &RequestTarget,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let filter = filter_of(request, target)?;
    let resource = &target.kind.resource;
    let limit = request.number("limit")?.filter(|limit| *limit > 0);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let cursor = match request.parameter("continue") {
        Some(text) => {
            let cursor = ListCursor::read(text);
            Some(cursor.ok_or_else(|| {
                RefusedRequest::bad_request("continue key is not valid: it cannot be read")
            })?)
        }
        None => None,
    };
    if let Some(cursor) = &cursor
        && state
            .store
            .changes_after(resource, cursor.revision)
            .is_err()
    {
        return Err(RefusedRequest::continue_expired());
    }
    let revision = match &cursor {
        Some(cursor) => cursor.revision,
        None => listed_revision(state, target, request)?,
    };
    let after = cursor.map(|cursor| cursor.last);
    let mut found = state
        .store
        .select(resource, &target.namespace, &filter, after.as_ref());
    let shown: Vec<&Arc<KeptObject>> = match limit {
        Some(limit) => found.by_ref().take(limit).collect(),
        None => found.by_ref().collect(),
    };
    let mut metadata = json!({"resourceVersion": revision.max(1).to_string()});
    let rest = found.count();
    if let Some(last) = shown.last().filter(|_| rest > 0) {
        let last = last.object();
        let cursor = ListCursor {
            revision,
            last: (
                meta_text(&last, "namespace").into(),
                meta_text(&last, "name").into(),
            ),
        };
        metadata["continue"] = cursor.write().into();
        if filter == ObjectFilter::default() {
            metadata["remainingItemCount"] = rest.into();
        }
    }
    let objects = shown.into_iter().map(|kept| kept.object());
    let items = objects.map(|object| view.of(&in_version(&object, &target.kind, &target.version)));
    Ok(ApiResponse::bytes(
        200,
        written_list(target, view, &metadata, items).into(),
    ))
}

/// The revision of a list.
///
/// # Errors
/// If the query asks for one that the cluster cannot show.
fn listed_revision(
    state: &ClusterState,
    target: &RequestTarget,
    request: &ApiRequest,
) -> Result<u64, RefusedRequest> {
    let current = state.store.revision();
    let asked = request.number("resourceVersion")?.unwrap_or(0);
    if asked > current {
        return Err(RefusedRequest::too_large_version(asked, current));
    }
    if request.parameter("resourceVersionMatch") == Some("Exact") && asked > 0 {
        // Only the present is kept, so the kind must not have changed since.
        let changes = state.store.changes_after(&target.kind.resource, asked);
        return match changes {
            Ok(changes) if changes.is_empty() => Ok(asked),
            _ => Err(RefusedRequest::expired(asked, current)),
        };
    }
    Ok(current)
}

/// The text of a list. The items are written one after the other, without a copy of all.
pub(crate) fn written_list(
    target: &RequestTarget,
    view: ObjectView,
    metadata: &Json,
    items: impl Iterator<Item = Arc<Json>>,
) -> String {
    let (kind, api_version) = match view {
        ObjectView::Whole | ObjectView::Table => (
            target.kind.names.list_kind.clone(),
            target.kind.api_version(&target.version),
        ),
        ObjectView::Metadata => (
            "PartialObjectMetadataList".to_owned(),
            "meta.k8s.io/v1".to_owned(),
        ),
    };
    let head = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata});
    let mut text = head.to_string();
    // Without the end of the object.
    text.pop();
    text.push_str(",\"items\":[");
    for (at, item) in items.enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&item.to_string());
    }
    text.push_str("]}");
    text
}
