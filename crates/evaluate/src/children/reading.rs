//! The context for reading documents.

use blueprint::Name;
use diag::Files;
use dialect::{Dialects, LoadContext};
use expr::FunctionTable;
use provider::Catalogs;
use source::{FetchedDocument, Location, Request, SourceError};
use state::Snapshot;

use crate::resolve::inputs::Given;
use crate::world::World;
use understand::pinned::{Pinned, PinnedRequest};

/// The context for reading documents.
pub struct ReadingContext<'a> {
    /// Receives the texts that diagnostics may show.
    pub files: &'a mut Files,
    /// The providers' catalogues.
    pub catalogs: &'a Catalogs,
    /// The functions that expressions can call.
    pub functions: &'a FunctionTable,
    /// The dialects of documents.
    pub dialects: &'a Dialects,
    /// The given inputs of the root, as far as they are known. With `None`, not even defaults
    /// apply, and includes that depend on inputs stay open.
    pub given: Option<&'a Given>,
    /// The load context of the root.
    pub context: &'a LoadContext,
    /// The world that answers the questions.
    pub world: &'a dyn World,
    /// The location of the root; `None` for a text without a location.
    pub location: Option<Location>,
    /// The folder of the root.
    pub folder: Name,
    /// Whether all inputs are given, so that every child must be found in this run.
    pub complete: bool,
    /// The results of earlier reads, for example of a saved plan.
    pub earlier_reads: &'a Pinned,
    /// The state, with the recorded groups and the ids of their members. `None` if the instance has
    /// no state yet.
    pub before: Option<&'a Snapshot>,
}

impl ReadingContext<'_> {
    /// Reads a document or the listing of a folder, unless an earlier read has it. `key` is the key
    /// of the request.
    pub(super) async fn fetch(
        &self,
        key: &Name,
        request: &Request,
    ) -> Result<FetchedDocument, SourceError> {
        match self.fetched_earlier(key) {
            Some(earlier) => Ok(earlier),
            None => self.world.document(request).await,
        }
    }

    /// Reads an included document, as [`ReadingContext::fetch`] does. A folder gives its listing, if
    /// a dialect reads folders.
    pub(super) async fn fetch_included(
        &self,
        key: &Name,
        request: &Request,
    ) -> Result<FetchedDocument, SourceError> {
        if let Some(earlier) = self.fetched_earlier(key) {
            return Ok(earlier);
        }
        if !self.dialects.read_folders() {
            return self.world.document(request).await;
        }
        let of_folder = request.for_folder();
        let folder_key = PinnedRequest::new(&of_folder, &self.folder).key();
        if let Some(earlier) = self.fetched_earlier(&folder_key) {
            return Ok(earlier);
        }
        match self.world.document(request).await {
            Err(SourceError::Folder) => self.world.document(&of_folder).await,
            document => document,
        }
    }

    fn fetched_earlier(&self, key: &Name) -> Option<FetchedDocument> {
        let earlier = self.earlier_reads.documents.get(key)?;
        Some(FetchedDocument {
            location: earlier.location.resolve_in(&self.folder),
            bytes: earlier.text.as_bytes().into(),
            digest: earlier.digest,
        })
    }
}
