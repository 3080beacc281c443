//! Files of this machine.
//!
//! A path may lead to any file that the user may read, as `../shared/network.yaml` does. A server
//! restricts the folders. Only regular files are documents, because opening other files may block
//! or have side effects.
//!
//! Not here: expansion of `~`, variables or patterns, which paths in documents do not have.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use source::{
    BoxFuture, DISK, Digest, FolderEntry, FolderListing, Location, ReadLimits, Request, Source,
    SourceError, SourceKind,
};

use crate::limit::{blocking, run_limited};

static KIND: SourceKind = SourceKind {
    name: DISK,
    about: "Files of this machine.",
    schemes: &[],
    keys: &[],
};

/// The files of this machine.
#[derive(Clone, Debug)]
pub struct Disk {
    working_directory: PathBuf,
    allowed: Option<Arc<[PathBuf]>>,
}

impl Disk {
    /// Reads all files. A path outside of any document is relative to `working_directory`, which is
    /// an absolute path.
    pub fn new(working_directory: impl Into<PathBuf>) -> Disk {
        Disk {
            working_directory: working_directory.into(),
            allowed: None,
        }
    }

    /// Reads only files in these folders (absolute, canonical), after links and dots of a path are
    /// resolved.
    pub fn only_in(self, folders: impl IntoIterator<Item = PathBuf>) -> Disk {
        Disk {
            allowed: Some(folders.into_iter().collect()),
            ..self
        }
    }
}

impl Source for Disk {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        let folder = match request.from.as_ref().and_then(Location::base) {
            Some(folder) => Path::new(folder),
            None => &self.working_directory,
        };
        if let Some(why) = blueprint::home_mistake(&request.path) {
            return Box::pin(async { Err(SourceError::broken(why)) });
        }
        let path = folder.join(&*request.path);
        let allowed = self.allowed.clone();
        Box::pin(run_limited(
            limits,
            blocking(move || locate(&path, allowed.as_deref())),
        ))
    }

    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        _pinned: Option<&'a Digest>,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        let path = PathBuf::from(&**location.identity());
        let most = limits.bytes;
        Box::pin(run_limited(limits, blocking(move || read(&path, most))))
    }

    fn list<'a>(
        &'a self,
        location: &'a Location,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Vec<FolderEntry>, SourceError>> {
        let path = PathBuf::from(&**location.identity());
        let most = limits.entries;
        Box::pin(run_limited(limits, blocking(move || list(&path, most))))
    }
}

fn locate(path: &Path, allowed: Option<&[PathBuf]>) -> Result<Location, SourceError> {
    let canonical = path.canonicalize().map_err(|error| refused(&error, path))?;
    if allowed.is_some_and(|folders| !folders.iter().any(|folder| canonical.starts_with(folder))) {
        return Err(SourceError::Denied {
            words: "it lies outside of the folders that are allowed here".into(),
        });
    }
    let text = canonical
        .to_str()
        .ok_or_else(|| SourceError::broken("a link leads to a path that is not UTF-8"))?;
    Ok(Location::disk(text))
}

/// The entries of a folder. Hidden names do not count; what is neither a file nor a folder is left
/// out.
fn list(path: &Path, most: usize) -> Result<Vec<FolderEntry>, SourceError> {
    let about = path.metadata().map_err(|error| refused(&error, path))?;
    if !about.is_dir() {
        return Err(SourceError::NotFolder);
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| refused(&error, path))? {
        let entry = entry.map_err(|error| refused(&error, path))?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !FolderListing::lists(&name) {
            continue;
        }
        if entries.len() == most {
            return Err(SourceError::TooManyEntries { limit: most });
        }
        // The kind of what a link leads to; a dangling link is left out.
        let is_folder = match entry.path().metadata() {
            Ok(about) if about.is_dir() => true,
            Ok(about) if about.is_file() => false,
            _ => continue,
        };
        entries.push(FolderEntry {
            name: name.into(),
            is_folder,
        });
    }
    Ok(entries)
}

fn read(path: &Path, most: u64) -> Result<Arc<[u8]>, SourceError> {
    // The file is checked before it is opened, because opening a device may have side effects, and
    // again afterwards, because the file may have changed in between.
    regular(&path.metadata().map_err(|error| refused(&error, path))?)?;
    let file = open(path).map_err(|error| refused(&error, path))?;
    let about = file.metadata().map_err(|error| refused(&error, path))?;
    regular(&about)?;
    if about.len() > most {
        return Err(SourceError::TooLarge { limit: most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default() + 1);
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&error, path))?;
    if bytes.len() as u64 > most {
        Err(SourceError::TooLarge { limit: most })
    } else {
        Ok(bytes.into())
    }
}

/// Opens for reading, without blocking on a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    options.open(path)
}

fn regular(about: &Metadata) -> Result<(), SourceError> {
    if about.is_file() {
        Ok(())
    } else {
        Err(not_regular(about.file_type()))
    }
}

fn not_regular(kind: FileType) -> SourceError {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return SourceError::not_document("a pipe");
        }
        if kind.is_socket() {
            return SourceError::not_document("a socket");
        }
        if kind.is_block_device() || kind.is_char_device() {
            return SourceError::not_document("a device");
        }
    }
    if kind.is_dir() {
        SourceError::Folder
    } else {
        SourceError::not_document("no regular file")
    }
}

fn refused(error: &io::Error, path: &Path) -> SourceError {
    match error.kind() {
        // A part of the path that is not a folder contains nothing.
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            let windows = path.to_str().is_some_and(|path| path.contains('\\'));
            let words = if windows {
                "folders are separated by `/`, not by `\\`"
            } else {
                ""
            };
            SourceError::NotFound {
                words: words.into(),
            }
        }
        ErrorKind::PermissionDenied => SourceError::Denied {
            words: String::new(),
        },
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            SourceError::broken("its links lead in a circle")
        }
        ErrorKind::IsADirectory => SourceError::Folder,
        ErrorKind::InvalidFilename => SourceError::NotFound {
            words: "no file can have such a name".into(),
        },
        _ => SourceError::broken(error.to_string()),
    }
}
