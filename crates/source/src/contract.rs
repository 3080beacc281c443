//! The trait, and the data that goes in and out of it. Read from top to bottom.

use std::sync::Arc;
use std::time::Duration;

use blueprint::Name;
use tokio_util::sync::CancellationToken;

use crate::{Digest, Location, SourceError};

/// A future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

/// A kind of place, as data: what checks, pages and messages are made from.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// What `metadata.sourceType` calls it; [`DISK`](crate::DISK) is never written.
    pub name: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// Schemes of addresses that lead there, without `://`.
    pub schemes: &'static [&'static str],
    /// The keys beside `sourceType`; `checksum` may always stand there and is not among them.
    pub keys: &'static [Key],
}

/// A key of a kind of place.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be written.
    pub required: bool,
    /// One sentence for people.
    pub about: &'static str,
}

impl Kind {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Names of the keys that must be written.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| key.required).map(|key| key.name)
    }
}

/// A document is wanted. Everything in it is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The document in which the path stands: a relative path is relative to its folder (decision S70). None for a
    /// document that has no place, such as one from standard input: then it is the working directory.
    pub from: Option<Location>,
    /// The path, key or address as written.
    pub path: Name,
    /// `metadata.sourceType`. None: the place of the including document, or the one that the scheme of an address
    /// names.
    pub kind: Option<Name>,
    /// The keys of that kind, without `sourceType` and `checksum`, in the order in which they are written.
    pub keys: Vec<(Name, Name)>,
    /// `metadata.checksum` as written.
    pub checksum: Option<Name>,
}

impl Request {
    /// A path that stands in a document.
    pub fn path(from: Option<Location>, path: impl Into<Name>) -> Request {
        Request { from, path: path.into(), kind: None, keys: Vec::new(), checksum: None }
    }

    /// A key of the request.
    pub fn key(&self, name: &str) -> Option<&Name> {
        self.keys.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }
}

/// How much is spent on a document.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes that are taken; a longer document is [`SourceError::TooLarge`], and is not read to its end.
    pub bytes: u64,
    /// The longest time that resolving and fetching may take each, redirects and retries included.
    pub time: Duration,
    /// Whether it must be able to be a document: then an HTML or XML page is [`SourceError::NotDocument`].
    pub only_documents: bool,
    /// Ended when nobody waits any more.
    pub cancel: CancellationToken,
}

impl Limits {
    /// The most bytes of a document: 32 MiB.
    pub const DOCUMENT_BYTES: u64 = 32 * 1024 * 1024;

    /// The most bytes of what `file()` reads: 16 MiB.
    pub const FILE_BYTES: u64 = 16 * 1024 * 1024;

    /// The usual time: 30 s.
    pub const TIME: Duration = Duration::from_secs(30);

    /// The limits of a document.
    pub fn document(cancel: CancellationToken) -> Limits {
        Limits { bytes: Limits::DOCUMENT_BYTES, time: Limits::TIME, only_documents: true, cancel }
    }

    /// The limits of what `file()` reads.
    pub fn file(cancel: CancellationToken) -> Limits {
        Limits { bytes: Limits::FILE_BYTES, only_documents: false, ..Limits::document(cancel) }
    }
}

/// A document as it was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where it is.
    pub location: Location,
    /// All of it.
    pub bytes: Arc<[u8]>,
    /// Its digest.
    pub digest: Digest,
}

impl Document {
    /// A document with its digest.
    pub fn new(location: Location, bytes: impl Into<Arc<[u8]>>) -> Document {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        Document { location, bytes, digest }
    }
}

/// One kind of place that documents come from.
///
/// Requests run at the same time, and never block the thread for long. Nothing but an address that the document names
/// is asked, and nothing is ever written there. What is asked of a place that is not the disk never leads to the disk.
/// ([`Sources`](crate::Sources) is what callers use: it has checked the keys, and compares the checksum.)
pub trait Source: Send + Sync {
    /// The kind. The same every time.
    fn kind(&self) -> &'static Kind;

    /// The location that a request of this kind leads to, without reading the document. `request.keys` say the whole
    /// place, or the path is an address, or it is relative to `request.from`, which then is of this kind; on the disk
    /// without one to the working directory. Otherwise `request.from` only says who asks. A path that leads out of the
    /// place is [`SourceError::Settings`] at `path`. Whether something is there need not be known yet.
    fn resolve<'a>(&'a self, request: &'a Request, limits: &'a Limits) -> BoxFuture<'a, Result<Location, SourceError>>;

    /// The bytes at a location of this kind, within the limits. `pinned`: the digest that is wanted; whoever keeps that
    /// content need not ask again. What differs from it is returned as it is.
    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        pinned: Option<&'a Digest>,
        limits: &'a Limits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>>;
}
