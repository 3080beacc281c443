//! The trait, and the requests and answers of its calls. The file is ordered for reading from top
//! to bottom.

use std::sync::Arc;
use std::time::Duration;

use blueprint::Name;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Digest, FolderEntry, Location, SourceError};

/// A kind of source, as data. Checks, pages and messages are derived from it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceKind {
    /// The name in `metadata.sourceType`. Documents never write [`DISK`](crate::DISK).
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// The schemes of its addresses, without `://`.
    pub schemes: &'static [&'static str],
    /// The keys besides `sourceType` and `checksum`.
    pub keys: &'static [SourceKey],
}

/// A key of a kind of source.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceKey {
    /// The name of the key.
    pub name: &'static str,
    /// Whether the key is required.
    pub required: bool,
    /// A description in one sentence.
    pub about: &'static str,
}

impl SourceKind {
    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&'static SourceKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Names of the required keys.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(|key| key.required)
            .map(|key| key.name)
    }
}

/// A request for a document, or for the listing of a folder. All parts are evaluated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The document that contains the path, which is relative to the document's folder
    /// (decisions/blueprint#relative-paths). `None` for a document without a location, such as
    /// standard input: the path is then relative to the working directory.
    pub from: Option<Location>,
    /// The path, key or address as written.
    pub path: Name,
    /// `metadata.sourceType`. `None` means the kind of the scheme of an address, or else of the
    /// including document.
    pub kind: Option<Name>,
    /// The keys of the kind, without `sourceType` and `checksum`, in written order.
    pub keys: Vec<(Name, Name)>,
    /// `metadata.checksum` as written.
    pub checksum: Option<Name>,
    /// Whether the listing of a folder is requested. The answer is then the text of a
    /// [`FolderListing`](crate::FolderListing).
    pub is_folder: bool,
}

impl Request {
    /// A request for a path in a document.
    pub fn path(from: Option<Location>, path: impl Into<Name>) -> Request {
        Request {
            from,
            path: path.into(),
            kind: None,
            keys: Vec::new(),
            checksum: None,
            is_folder: false,
        }
    }

    /// The same request for the listing of a folder.
    pub fn for_folder(&self) -> Request {
        Request {
            is_folder: true,
            ..self.clone()
        }
    }

    /// The value of a key.
    pub fn key(&self, name: &str) -> Option<&Name> {
        self.keys
            .iter()
            .find(|(key, _)| &**key == name)
            .map(|(_, value)| value)
    }
}

/// The limits of a read.
#[derive(Clone, Debug)]
pub struct ReadLimits {
    /// Maximum number of bytes. A longer document is [`SourceError::TooLarge`], and is not read to
    /// its end.
    pub bytes: u64,
    /// Maximum number of entries of a folder. A folder with more is
    /// [`SourceError::TooManyEntries`].
    pub entries: usize,
    /// Time limit for resolving and for fetching, each including redirects and retries.
    pub time: Duration,
    /// Whether the content must be a document: an HTML or XML page is then
    /// [`SourceError::NotDocument`].
    pub only_documents: bool,
    /// Cancelled when the caller no longer waits.
    pub cancel: CancellationToken,
}

impl ReadLimits {
    /// Maximum size of a document: 32 MiB.
    pub const DOCUMENT_BYTES: u64 = 32 * 1024 * 1024;

    /// Maximum size of a file for `file()`: 16 MiB.
    pub const FILE_BYTES: u64 = 16 * 1024 * 1024;

    /// Maximum number of entries of a folder: 10,000.
    pub const FOLDER_ENTRIES: usize = 10_000;

    /// The default time limit: 30 s.
    pub const TIME: Duration = Duration::from_secs(30);

    /// The limits for a document.
    pub fn document(cancel: CancellationToken) -> ReadLimits {
        ReadLimits {
            bytes: ReadLimits::DOCUMENT_BYTES,
            entries: ReadLimits::FOLDER_ENTRIES,
            time: ReadLimits::TIME,
            only_documents: true,
            cancel,
        }
    }

    /// The limits for `file()`.
    pub fn file(cancel: CancellationToken) -> ReadLimits {
        ReadLimits {
            bytes: ReadLimits::FILE_BYTES,
            only_documents: false,
            ..ReadLimits::document(cancel)
        }
    }
}

/// A fetched document, or the listing of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedDocument {
    /// The location of the document.
    pub location: Location,
    /// The content of the document.
    pub bytes: Arc<[u8]>,
    /// The digest of the content.
    pub digest: Digest,
}

impl FetchedDocument {
    /// Creates a document and computes its digest.
    pub fn new(location: Location, bytes: impl Into<Arc<[u8]>>) -> FetchedDocument {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        FetchedDocument {
            location,
            bytes,
            digest,
        }
    }
}

/// A source of documents of one kind.
///
/// Requests run concurrently, and do not block their thread for long. A source reads only addresses
/// that a document names, and writes nothing. Requests to sources of other kinds never lead to the
/// disk. Callers use [`Sources`](crate::Sources), which checks the keys and compares the checksum.
pub trait Source: Send + Sync {
    /// The kind. Returns the same value each time.
    fn kind(&self) -> &'static SourceKind;

    /// The location of a request of this kind, without reading the document. The request has one of
    /// three forms: its keys name the whole place; its path is an address; or its path is relative
    /// to `request.from`, which then is of this kind (on the disk, `None` means the working
    /// directory). In the first two forms `request.from` only names the requester.
    ///
    /// # Errors
    /// [`SourceError::Settings`] at `path` for a path that leads out of the place. The document
    /// need not exist.
    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>>;

    /// The bytes at a location of this kind, within the limits. `pinned` is the expected digest: a
    /// source that has this content in its cache need not request it. A different content is
    /// returned too.
    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        pinned: Option<&'a Digest>,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;

    /// The entries of the folder at a location of this kind, in any order, within the limits. A
    /// source without folders does not implement this.
    ///
    /// # Errors
    /// [`SourceError::NotFolder`] for a document, [`SourceError::TooManyEntries`], and the errors of
    /// [`Source::fetch`].
    fn list<'a>(
        &'a self,
        _location: &'a Location,
        _limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Vec<FolderEntry>, SourceError>> {
        let kind = self.kind().name;
        Box::pin(std::future::ready(Err(SourceError::NoFolders { kind })))
    }
}
