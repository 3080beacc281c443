//! Sources of documents for tests: one in memory, and ones that never answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use source::{
    BoxFuture, DISK, Digest, FolderEntry, Location, ReadLimits, Request, Source, SourceError,
    SourceKey, SourceKind,
};

static KIND: SourceKind = SourceKind {
    name: DISK,
    about: "Documents in memory.",
    schemes: &[],
    keys: &[],
};

/// A source that reads from memory in place of the disk.
#[derive(Clone, Debug, Default)]
pub struct InMemorySource {
    texts: Arc<BTreeMap<String, String>>,
}

impl InMemorySource {
    /// A source of these texts. A path is absolute and has no `.` or `..`.
    pub fn new(texts: impl IntoIterator<Item = (String, String)>) -> InMemorySource {
        InMemorySource {
            texts: Arc::new(texts.into_iter().collect()),
        }
    }
}

impl Source for InMemorySource {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        _: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        let folder = request.from.as_ref().and_then(Location::base);
        let path = match folder {
            Some(folder) if !request.path.starts_with('/') => {
                Location::disk(&*request.path).resolve_in(folder)
            }
            _ => Location::disk(&*request.path).resolve_in("/"),
        };
        Box::pin(async move { Ok(path) })
    }

    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        _: Option<&'a Digest>,
        _: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        let text = self.texts.get(&**location.identity());
        let bytes = text.map(|text| text.as_bytes().into());
        Box::pin(async move {
            bytes.ok_or(SourceError::NotFound {
                words: String::new(),
            })
        })
    }

    fn list<'a>(
        &'a self,
        location: &'a Location,
        _: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Vec<FolderEntry>, SourceError>> {
        let prefix = format!("{}/", location.identity().trim_end_matches('/'));
        let mut entries: Vec<FolderEntry> = self
            .texts
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => (folder, true),
                None => (rest, false),
            })
            .map(|(name, is_folder)| FolderEntry {
                name: name.into(),
                is_folder,
            })
            .collect();
        entries.dedup();
        Box::pin(async move {
            if entries.is_empty() {
                return Err(SourceError::NotFound {
                    words: String::new(),
                });
            }
            Ok(entries)
        })
    }
}

/// A source that accepts requests and fails every fetch, as without a network.
#[derive(Clone, Copy, Debug)]
pub struct UnreachableSource(pub &'static SourceKind);

/// The kinds of remote sources that documents name.
pub static UNREACHABLE_KINDS: [SourceKind; 4] = [
    SourceKind {
        name: "https",
        about: "Servers.",
        schemes: &["https"],
        keys: &[required("host")],
    },
    SourceKind {
        name: "aws/s3",
        about: "Buckets.",
        schemes: &[],
        keys: &[required("bucket"), required("region")],
    },
    SourceKind {
        name: "googlecloud/storage",
        about: "Buckets.",
        schemes: &[],
        keys: &[required("bucket")],
    },
    SourceKind {
        name: "azure/blob",
        about: "Containers.",
        schemes: &[],
        keys: &[required("container")],
    },
];

const fn required(name: &'static str) -> SourceKey {
    SourceKey {
        name,
        required: true,
        about: "",
    }
}

impl Source for UnreachableSource {
    fn kind(&self) -> &'static SourceKind {
        self.0
    }

    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        _: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        Box::pin(async move { Ok(Location::new(self.0.name, &*request.path)) })
    }

    fn fetch<'a>(
        &'a self,
        _: &'a Location,
        _: Option<&'a Digest>,
        _: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        Box::pin(async { Err(SourceError::broken("there is no network here")) })
    }
}
