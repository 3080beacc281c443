//! Requests in owned form, for work on another thread, and answers that all types share.

use std::path::{Path, PathBuf};

use blueprint::{Name, Value};
use provider::{Applied, ErrorKind, Operation, ProviderError};

use super::place::{PathContext, id_of, text};

/// A read request, owned, so that another thread can work on it.
pub(super) struct OwnedReadRequest {
    pub(super) id: Option<String>,
    pub(super) inputs: Value,
    pub(super) outputs: Value,
    pub(super) private: Value,
}

/// An apply request, owned, so that another thread can work on it.
pub(super) struct OwnedApplyRequest {
    pub(super) operation: Operation,
    pub(super) prior_inputs: Value,
    pub(super) prior: Value,
    pub(super) desired: Value,
    pub(super) private: Value,
    pub(super) sources: Vec<(Name, Value)>,
    pub(super) id: Option<String>,
}

impl OwnedApplyRequest {
    /// The path of the resource that is changed or deleted.
    pub(super) fn path(&self, place: &PathContext) -> Result<PathBuf, ProviderError> {
        first_path(
            place,
            &[&self.desired, &self.prior_inputs, &self.prior],
            self.id.as_deref(),
        )?
        .ok_or_else(|| ProviderError::new(ErrorKind::Document, "`path` is missing").at("path"))
    }

    /// Refuses a source whose digest differs from the one in the plan.
    pub(super) fn check_source(&self, field: &str, digest: &str) -> Result<(), ProviderError> {
        let pinned = self
            .sources
            .iter()
            .find(|(name, _)| name.as_ref() == field)
            .and_then(|(_, it)| it.as_text());
        if pinned.is_none_or(|pinned| pinned == digest) {
            return Ok(());
        }
        let name = text(&self.desired, field).unwrap_or(field);
        let text =
            format!("`{name}` has changed since the plan was made; nothing is written, plan again");
        Err(ProviderError::new(ErrorKind::Conflict, text).at(field))
    }

    /// The id of the resource at a path. An update keeps the recorded id, which the plan may
    /// contain. That id differs from the path only if the project was moved and not read since.
    pub(super) fn id_at(&self, path: &Path) -> Name {
        match (&self.operation, self.id.as_deref()) {
            (Operation::Update, Some(id)) if !id.is_empty() => id.into(),
            _ => id_of(path),
        }
    }
}

impl OwnedReadRequest {
    /// The path of a recorded resource: from its `path` field, so that a project can be moved with
    /// its state; else from its id. `None` without either.
    pub(super) fn path(&self, place: &PathContext) -> Result<Option<PathBuf>, ProviderError> {
        first_path(place, &[&self.inputs, &self.outputs], self.id.as_deref())
    }
}

fn first_path(
    place: &PathContext,
    fields: &[&Value],
    id: Option<&str>,
) -> Result<Option<PathBuf>, ProviderError> {
    match fields.iter().find_map(|fields| text(fields, "path")).or(id) {
        Some(path) => place.target_path(path).map(Some),
        None => Ok(None),
    }
}

/// The error for a type that is not of this provider.
pub(super) fn unknown_type(name: &str) -> ProviderError {
    ProviderError::new(
        ErrorKind::Document,
        format!("there is no type `{name}` here"),
    )
}

/// The answer to a delete.
pub(super) fn deleted(warnings: Vec<String>) -> Applied {
    Applied::ready("", Value::Null).with_warnings(warnings)
}
