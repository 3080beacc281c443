//! Documents that were fetched once, kept by their digest.
//!
//! A folder holds contents under their digests, and for each location the digest and entity tag that it last had. What
//! is pinned by a checksum need not be asked for again; for the rest the place is asked whether it has changed. The
//! folder may be emptied at any time. Whatever goes wrong with it only means that a document is fetched again.
//!
//! Not here: files of this machine, which are read as they are; how long anything is kept (`prune`).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use source::{Digest, Location, SourceError};

use crate::limit::blocking;
use crate::prune;

/// A folder of documents that were fetched once. Several processes may share it.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Arc<Path>,
    /// This process has looked whether anything is too old.
    pruned: Arc<AtomicBool>,
}

/// What a location was when it was last asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Where.
    pub(crate) location: Location,
    /// The place's own mark of this content.
    pub(crate) tag: String,
    /// The content.
    pub(crate) digest: Digest,
}

impl Cache {
    /// A cache in a folder, which is made when the first document comes. What nobody has used for 90 days goes, and the
    /// longest unused as long as there are more than 256 MiB; that is looked at once a day, when a document comes.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into().into(), pruned: Arc::default() }
    }

    fn content(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        let (first, rest) = hex.split_at(2);
        self.folder.join("sha256").join(first).join(rest)
    }

    fn seen_file(&self, location: &Location) -> PathBuf {
        let name = Digest::of(format!("{} {}", location.kind(), location.identity()).as_bytes());
        self.folder.join("seen").join(name.hex())
    }

    /// The content of that digest, unless it is longer than `most` bytes.
    pub(crate) async fn get(&self, digest: Digest, most: u64) -> Option<Arc<[u8]>> {
        let path = self.content(&digest);
        let read = move || {
            let bytes = bounded(&path, most).map_err(|_| SourceError::Cancelled)?;
            if Digest::of(&bytes) != digest {
                // A damaged file.
                let _ = fs::remove_file(&path);
                return Err(SourceError::Cancelled);
            }
            prune::used(&path, SystemTime::now());
            Ok(bytes.into())
        };
        blocking(read).await.ok()
    }

    /// What that location last was.
    pub(crate) async fn seen(&self, location: &Location) -> Option<Seen> {
        let path = self.seen_file(location);
        let location = location.clone();
        let read = move || {
            let bytes = bounded(&path, 64 * 1024).map_err(|_| SourceError::Cancelled)?;
            let seen: Seen = serde_json::from_slice(&bytes).map_err(|_| SourceError::Cancelled)?;
            if seen.location != location {
                return Err(SourceError::Cancelled);
            }
            prune::used(&path, SystemTime::now());
            Ok(seen)
        };
        blocking(read).await.ok()
    }

    /// Keeps a content, and what its location was.
    pub(crate) async fn put(&self, location: &Location, tag: Option<String>, bytes: Arc<[u8]>) {
        let digest = Digest::of(&bytes);
        let content = self.content(&digest);
        let seen = tag.map(|tag| (self.seen_file(location), Seen { location: location.clone(), tag, digest }));
        let folder = (!self.pruned.swap(true, Ordering::Relaxed)).then(|| self.folder.clone());
        let write = move || {
            let kept = if content.exists() { Ok(()) } else { write(&content, &bytes) };
            if let (Ok(()), Some((path, seen))) = (kept, seen)
                && let Ok(text) = serde_json::to_vec(&seen)
            {
                let _ = self::write(&path, &text);
            }
            if let Some(folder) = folder {
                prune::prune(&folder, prune::KEEP, SystemTime::now());
            }
            Ok(())
        };
        let _ = blocking(write).await;
    }
}

fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if path.metadata()?.len() > most { Err(io::ErrorKind::FileTooLarge.into()) } else { fs::read(path) }
}

/// Writes a whole file or nothing. Documents may be meant for this person alone.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
