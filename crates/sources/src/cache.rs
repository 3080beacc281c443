//! A cache of fetched documents, addressed by their digest.
//!
//! A folder holds contents under their digests, and for each location its last digest and entity
//! tag. A content that a checksum pins is not requested again. For other contents the server is
//! asked whether they have changed. The folder may be emptied at any time. A failure of the cache
//! only means that a document is fetched again.
//!
//! Not here: files of this machine, which are read directly; retention (`cache_files`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use source::{Digest, Location, SourceError};

use crate::cache_files::{self, bounded};
use crate::limit::blocking;

/// A folder of fetched documents. Several processes may share it.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Arc<Path>,
    /// Whether this process has pruned the folder.
    pruned: Arc<AtomicBool>,
}

/// The content of a location when it was last fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheEntry {
    /// The location.
    pub(crate) location: Location,
    /// The entity tag that the server returned for the content.
    pub(crate) tag: String,
    /// The digest of the content.
    pub(crate) digest: Digest,
}

impl Cache {
    /// Creates a cache in a folder, which is created with the first document. Files that were not
    /// used for 90 days are removed, and the least recently used files if the total exceeds 256
    /// MiB. The check runs at most once a day, when a document is stored.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into().into(),
            pruned: Arc::default(),
        }
    }

    fn content(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        let (first, rest) = hex.split_at(2);
        self.folder.join("sha256").join(first).join(rest)
    }

    fn entry_path(&self, location: &Location) -> PathBuf {
        let name = Digest::of(format!("{} {}", location.kind(), location.identity()).as_bytes());
        self.folder.join("seen").join(name.hex())
    }

    /// The content with this digest, unless it is longer than `most` bytes.
    pub(crate) async fn get(&self, digest: Digest, most: u64) -> Option<Arc<[u8]>> {
        let path = self.content(&digest);
        let read = move || {
            let bytes = bounded(&path, most).map_err(|_| SourceError::Cancelled)?;
            if Digest::of(&bytes) != digest {
                // The file is damaged.
                let _ = fs::remove_file(&path);
                return Err(SourceError::Cancelled);
            }
            cache_files::mark_used(&path, SystemTime::now());
            Ok(bytes.into())
        };
        blocking(read).await.ok()
    }

    /// The last known content of a location.
    pub(crate) async fn last_entry(&self, location: &Location) -> Option<CacheEntry> {
        let path = self.entry_path(location);
        let location = location.clone();
        let read = move || {
            let bytes = bounded(&path, 64 * 1024).map_err(|_| SourceError::Cancelled)?;
            let seen: CacheEntry =
                serde_json::from_slice(&bytes).map_err(|_| SourceError::Cancelled)?;
            if seen.location != location {
                return Err(SourceError::Cancelled);
            }
            cache_files::mark_used(&path, SystemTime::now());
            Ok(seen)
        };
        blocking(read).await.ok()
    }

    /// Stores a content and, if it has an entity tag, the entry of its location.
    pub(crate) async fn store(&self, location: &Location, tag: Option<String>, bytes: Arc<[u8]>) {
        let digest = Digest::of(&bytes);
        let content = self.content(&digest);
        let seen = tag.map(|tag| {
            (
                self.entry_path(location),
                CacheEntry {
                    location: location.clone(),
                    tag,
                    digest,
                },
            )
        });
        let folder = (!self.pruned.swap(true, Ordering::Relaxed)).then(|| self.folder.clone());
        let write = move || {
            let kept = if content.exists() {
                Ok(())
            } else {
                cache_files::write(&content, &bytes)
            };
            if let (Ok(()), Some((path, seen))) = (kept, seen)
                && let Ok(text) = serde_json::to_vec(&seen)
            {
                let _ = cache_files::write(&path, &text);
            }
            if let Some(folder) = folder {
                cache_files::prune(&folder, cache_files::RETENTION, SystemTime::now());
            }
            Ok(())
        };
        let _ = blocking(write).await;
    }
}
