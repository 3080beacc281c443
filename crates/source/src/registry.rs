//! Selects the source for a request.
//!
//! Not here: limits of depth, cycles, and handling of errors.

use std::str::FromStr as _;
use std::sync::Arc;

use crate::page::web_page;
use crate::{
    DISK, Digest, FetchedDocument, FolderListing, Location, ReadLimits, Request, Source,
    SourceError, SourceKind,
};

/// The registered sources, one for each kind.
#[derive(Clone, Default)]
pub struct Sources {
    sources: Vec<Arc<dyn Source>>,
}

impl Sources {
    /// Registers sources. Of two sources with the same kind, the first is used.
    pub fn new(sources: impl IntoIterator<Item = Arc<dyn Source>>) -> Sources {
        Sources {
            sources: sources.into_iter().collect(),
        }
    }

    /// The kinds that a document may name with `metadata.sourceType`, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &'static SourceKind> {
        self.sources
            .iter()
            .map(|source| source.kind())
            .filter(|kind| kind.name != DISK)
    }

    /// The location of an address. `None` if the text is not an address, or no source has its
    /// scheme.
    pub fn location(&self, address: &str) -> Option<Location> {
        let kind = self.kind_of_scheme(scheme_of(address)?)?;
        Some(Location::new(kind.name, address))
    }

    /// The location of a request, without reading the document.
    ///
    /// A named kind decides, or else the scheme of an address, or else the kind of the including
    /// document, or else the disk is used. A remote document therefore reaches no file of this
    /// machine.
    ///
    /// # Errors
    /// [`SourceError::UnknownKind`], [`SourceError::Settings`] for keys that do not match the kind,
    /// and errors of the source.
    pub async fn resolve(
        &self,
        request: &Request,
        limits: &ReadLimits,
    ) -> Result<Location, SourceError> {
        pinned(request)?;
        let source = self.source(self.kind_of(request)?)?;
        let kind = source.kind();
        if request.kind.is_some() || !request.keys.is_empty() {
            if let Some(missing) = kind
                .required()
                .find(|key| request.key(key).is_none_or(|value| value.is_empty()))
            {
                return Err(SourceError::settings(missing, "is missing"));
            }
            if let Some((wrong, _)) = request.keys.iter().find(|(key, _)| kind.key(key).is_none()) {
                return Err(SourceError::settings(
                    &**wrong,
                    "is no key of this kind of source",
                ));
            }
        }
        if request.path.is_empty() {
            return Err(SourceError::settings("path", "is empty"));
        }
        if request.path.contains('\0') {
            return Err(SourceError::settings("path", "holds a null character"));
        }
        source.resolve(request, limits).await
    }

    /// The current document at a location.
    ///
    /// # Errors
    /// Errors of the source; [`SourceError::NotDocument`] for a web page, if a document is
    /// required; [`SourceError::Checksum`] if the content differs from the pinned one.
    pub async fn fetch(
        &self,
        location: Location,
        pinned: Option<&Digest>,
        limits: &ReadLimits,
    ) -> Result<FetchedDocument, SourceError> {
        if limits.cancel.is_cancelled() {
            return Err(SourceError::Cancelled);
        }
        let bytes = self
            .source(location.kind())?
            .fetch(&location, pinned, limits)
            .await?;
        if bytes.len() as u64 > limits.bytes {
            return Err(SourceError::TooLarge {
                limit: limits.bytes,
            });
        }
        if limits.only_documents
            && let Some(page) = web_page(&bytes)
        {
            return Err(SourceError::not_document(page));
        }
        with_digest(FetchedDocument::new(location, bytes), pinned)
    }

    /// The listing of the folder at a location, as a document whose location is that of the folder.
    ///
    /// # Errors
    /// Errors of the source; [`SourceError::Checksum`] if the listing differs from the pinned one.
    pub async fn list(
        &self,
        location: Location,
        pinned: Option<&Digest>,
        limits: &ReadLimits,
    ) -> Result<FetchedDocument, SourceError> {
        if limits.cancel.is_cancelled() {
            return Err(SourceError::Cancelled);
        }
        let entries = self
            .source(location.kind())?
            .list(&location, limits)
            .await?;
        let text = FolderListing::new(entries).to_text();
        let listing = FetchedDocument::new(location.into_folder(), text.into_bytes());
        with_digest(listing, pinned)
    }

    /// Resolves a request, and fetches the document or lists the folder.
    ///
    /// # Errors
    /// The errors of [`Sources::resolve`], and of [`Sources::fetch`] or [`Sources::list`].
    pub async fn read(
        &self,
        request: &Request,
        limits: &ReadLimits,
    ) -> Result<FetchedDocument, SourceError> {
        let location = self.resolve(request, limits).await?;
        let pinned = pinned(request)?;
        if request.is_folder {
            self.list(location, pinned.as_ref(), limits).await
        } else {
            self.fetch(location, pinned.as_ref(), limits).await
        }
    }

    fn kind_of<'r>(&self, request: &'r Request) -> Result<&'r str, SourceError> {
        if let Some(kind) = &request.kind {
            // The kind of files cannot be named, because a remote document could then request
            // files.
            return if &**kind == DISK {
                Err(unknown(kind))
            } else {
                Ok(kind)
            };
        }
        if let Some(scheme) = scheme_of(&request.path) {
            let problem =
                || format!("has the scheme `{scheme}://`, which no source that is known here has");
            let kind = self
                .kind_of_scheme(scheme)
                .ok_or_else(|| SourceError::settings("path", problem()))?;
            return Ok(kind.name);
        }
        Ok(request.from.as_ref().map_or(DISK, |from| from.kind()))
    }

    fn kind_of_scheme(&self, scheme: &str) -> Option<&'static SourceKind> {
        let mut kinds = self.sources.iter().map(|source| source.kind());
        kinds.find(|kind| {
            kind.schemes
                .iter()
                .any(|one| one.eq_ignore_ascii_case(scheme))
        })
    }

    fn source(&self, kind: &str) -> Result<&Arc<dyn Source>, SourceError> {
        self.sources
            .iter()
            .find(|source| source.kind().name == kind)
            .ok_or_else(|| unknown(kind))
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list()
            .entries(self.sources.iter().map(|source| source.kind().name))
            .finish()
    }
}

fn unknown(kind: &str) -> SourceError {
    SourceError::UnknownKind {
        kind: kind.to_owned(),
    }
}

fn pinned(request: &Request) -> Result<Option<Digest>, SourceError> {
    Ok(request
        .checksum
        .as_deref()
        .map(Digest::from_str)
        .transpose()?)
}

/// Returns a document, or an error if its digest is not the pinned one.
fn with_digest(
    document: FetchedDocument,
    pinned: Option<&Digest>,
) -> Result<FetchedDocument, SourceError> {
    match pinned {
        Some(expected) if *expected != document.digest => Err(SourceError::Checksum {
            expected: *expected,
            found: document.digest,
        }),
        _ => Ok(document),
    }
}

/// The scheme of an address.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}
