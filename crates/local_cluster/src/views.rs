//! The forms in which objects are shown, and answers.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::failure::RefusedRequest;
use crate::watching::WatchStream;

/// The answer of a cluster.
#[derive(Debug)]
pub enum ApiResponse {
    /// A whole answer.
    Whole {
        /// The HTTP code.
        status: u16,
        /// The type of the body.
        content_type: &'static str,
        /// The body.
        body: Bytes,
        /// Texts for the header `Warning`.
        warnings: Vec<String>,
    },
    /// The events of a watch: one JSON object in each line.
    Watch(WatchStream),
}

impl ApiResponse {
    /// An answer in JSON.
    pub(crate) fn json(status: u16, body: &Json) -> ApiResponse {
        ApiResponse::bytes(status, body.to_string().into())
    }

    pub(crate) fn bytes(status: u16, body: Bytes) -> ApiResponse {
        ApiResponse::Whole {
            status,
            content_type: "application/json",
            body,
            warnings: Vec::new(),
        }
    }

    /// The answer with another JSON body. Other answers stay as they are.
    pub(crate) fn map_json(mut self, change: impl FnOnce(Json) -> Json) -> ApiResponse {
        if let ApiResponse::Whole { body, .. } = &mut self
            && let Ok(whole) = serde_json::from_slice(body)
        {
            *body = change(whole).to_string().into();
        }
        self
    }

    pub(crate) fn with_warnings(mut self, all: Vec<String>) -> ApiResponse {
        if let ApiResponse::Whole { warnings, .. } = &mut self {
            *warnings = all;
        }
        self
    }
}

/// What is shown of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectView {
    /// All.
    Whole,
    /// `PartialObjectMetadata`.
    Metadata,
    /// A `Table`, which is made of the whole answer.
    Table,
}

impl ObjectView {
    /// The first form of the header `Accept` that the cluster writes.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn accepted(accept: &str) -> Result<ObjectView, RefusedRequest> {
        if accept.trim().is_empty() {
            return Ok(ObjectView::Whole);
        }
        let views = accept.split(',').filter_map(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let is_json = matches!(
                parts.next(),
                Some("application/json" | "application/*" | "*/*")
            );
            let form = parts.find_map(|part| part.strip_prefix("as="));
            match form {
                _ if !is_json => None,
                None => Some(ObjectView::Whole),
                Some("PartialObjectMetadata" | "PartialObjectMetadataList") => {
                    Some(ObjectView::Metadata)
                }
                Some("Table") if is_known_table(entry) => Some(ObjectView::Table),
                Some(_) => None,
            }
        });
        let mut views = views;
        views.next().ok_or_else(RefusedRequest::not_acceptable)
    }

    /// The object as the view shows it.
    pub(crate) fn of(self, object: &Arc<Json>) -> Arc<Json> {
        match self {
            ObjectView::Whole | ObjectView::Table => object.clone(),
            ObjectView::Metadata => Arc::new(json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": object["metadata"],
            })),
        }
    }
}

/// Whether an entry of the header `Accept` names the version of tables that the cluster writes.
fn is_known_table(entry: &str) -> bool {
    let mut parts = entry.split(';').map(str::trim);
    let version = parts.clone().find_map(|part| part.strip_prefix("v="));
    let group = parts.find_map(|part| part.strip_prefix("g="));
    version == Some("v1") && group == Some("meta.k8s.io")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_is_known_is_used() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        for (accept, expected) in [
            ("", ObjectView::Whole),
            ("*/*", ObjectView::Whole),
            (table, ObjectView::Table),
            (partial, ObjectView::Metadata),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                ObjectView::Whole,
            ),
        ] {
            assert_eq!(ObjectView::accepted(accept).unwrap(), expected, "{accept}");
        }
        for refused in [
            "application/vnd.kubernetes.protobuf",
            "application/json;as=Table",
        ] {
            assert!(ObjectView::accepted(refused).is_err(), "{refused}");
        }
    }
}
