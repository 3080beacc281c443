//! The digests of the files and folders that a program passes as assets and archives. A plugin
//! notices a change of their content by them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use blueprint::{Asset, Name, Value};
use provider::{Call, ErrorKind, ProviderError};
use pulumi_wire::{ArchiveDigest, Lookups, asset_hash, content_digest};

/// The endings of archive files.
const ARCHIVES: [&str; 5] = [".tar", ".tgz", ".tar.gz", ".zip", ".jar"];

/// A folder of Pulumi's own data.
const OWN_FOLDER: &str = ".pulumi";

/// The files of a program.
pub(crate) struct ProgramFiles<'c> {
    /// The folder of the program; `None` if it may not read files of this machine.
    folder: Option<&'c Path>,
}

impl ProgramFiles<'_> {
    /// The files of the program that a call is about.
    pub(crate) fn of_call(call: &Call) -> ProgramFiles<'_> {
        ProgramFiles {
            folder: call.files.local.then_some(call.folder.as_ref()),
        }
    }

    /// Refuses inputs with a file or folder that does not exist.
    pub(crate) fn refuse_missing(&self, inputs: &Value) -> Result<(), ProviderError> {
        match inputs {
            Value::Secret(inner) => self.refuse_missing(inner),
            Value::List(items) | Value::Set(items) => {
                items.iter().try_for_each(|item| self.refuse_missing(item))
            }
            Value::Map(entries) => entries
                .values()
                .try_for_each(|entry| self.refuse_missing(entry)),
            Value::Asset(asset) => self.refuse_missing_asset(asset),
            _ => Ok(()),
        }
    }

    fn refuse_missing_asset(&self, asset: &Asset) -> Result<(), ProviderError> {
        let written = match asset {
            Asset::File(path) | Asset::LocalArchive(path) => path,
            Asset::Archive(entries) => {
                return entries
                    .values()
                    .try_for_each(|entry| self.refuse_missing_asset(entry));
            }
            _ => return Ok(()),
        };
        let Some(path) = self.path(written) else {
            return Ok(());
        };
        match fs::metadata(&path) {
            Ok(_) => Ok(()),
            Err(error) => {
                let message = format!("`{written}` cannot be read: {}", reason(&error));
                Err(ProviderError::new(ErrorKind::Document, message))
            }
        }
    }

    /// Refuses inputs with a file or folder whose content is not that of the plan any more.
    pub(crate) fn refuse_changed(&self, inputs: &Value) -> Result<(), ProviderError> {
        match inputs {
            Value::Secret(inner) => self.refuse_changed(inner),
            Value::List(items) | Value::Set(items) => {
                items.iter().try_for_each(|item| self.refuse_changed(item))
            }
            Value::Map(entries) => entries
                .values()
                .try_for_each(|entry| self.refuse_changed(entry)),
            Value::Asset(asset) => match asset.as_ref() {
                Asset::Sent(sent, digest) => self.refuse_other(sent, digest),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn refuse_other(&self, asset: &Asset, digest: &Name) -> Result<(), ProviderError> {
        if asset_hash(asset, self).is_none_or(|now| now == *digest) {
            return Ok(());
        }
        let what = match asset {
            Asset::File(path) | Asset::LocalArchive(path) => format!("`{path}` has"),
            _ => "the files of an archive have".to_owned(),
        };
        let message = format!("{what} changed since the plan was made");
        Err(ProviderError::new(ErrorKind::Permanent, message).without_effect())
    }

    fn path(&self, written: &str) -> Option<PathBuf> {
        Some(self.folder?.join(written))
    }
}

impl Lookups for ProgramFiles<'_> {
    fn content_hash(&self, asset: &Asset) -> Option<Name> {
        // A plugin reports a file that cannot be read.
        match asset {
            Asset::File(path) => file_digest(&self.path(path)?).ok(),
            Asset::LocalArchive(path) => {
                let path = self.path(path)?;
                if !path.is_dir() {
                    return file_digest(&path).ok();
                }
                let mut digest = ArchiveDigest::default();
                add_folder(&path, "", &mut digest).ok()?;
                Some(digest.finish())
            }
            _ => None,
        }
    }

    fn add_content(&self, asset: &Asset, name: &str, digest: &mut ArchiveDigest) -> Option<()> {
        match asset {
            Asset::File(path) => add_file(&self.path(path)?, name, digest).ok(),
            Asset::LocalArchive(path) => {
                let path = self.path(path)?;
                // The entries of an archive file would have to be unpacked.
                if ARCHIVES
                    .iter()
                    .any(|ending| path.to_string_lossy().ends_with(ending))
                {
                    return None;
                }
                add_folder(&path, name, digest).ok()
            }
            _ => None,
        }
    }
}

/// The reason why a file cannot be read, as a phrase.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => error.to_string(),
    }
}

fn file_digest(path: &Path) -> io::Result<Name> {
    let (file, _) = regular(path)?;
    content_digest(file)
}

/// Opens a regular file, and returns its size.
fn regular(path: &Path) -> io::Result<(File, u64)> {
    // A pipe or a device is not opened: that could wait for ever.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((File::open(path)?, metadata.len()))
}

fn add_file(path: &Path, name: &str, digest: &mut ArchiveDigest) -> io::Result<()> {
    let (file, size) = regular(path)?;
    digest.add_from(name, size, file)
}

/// Adds the files of a folder in the order of a walk that sorts the names of each folder. Links to
/// folders are left out.
fn add_folder(folder: &Path, prefix: &str, digest: &mut ArchiveDigest) -> io::Result<()> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        if name == OWN_FOLDER {
            continue;
        }
        let inside = match prefix {
            "" => name.to_owned(),
            prefix => format!("{prefix}/{name}"),
        };
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_folder(&path, &inside, digest)?;
        } else if !path.is_dir() {
            add_file(&path, &inside, digest)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest is that of Go's `archive/tar` for these files.
    #[test]
    fn a_folder_has_the_digest_of_its_tar_stream() {
        let place = tempfile::tempdir().unwrap();
        let app = place.path().join("app");
        fs::create_dir_all(app.join("d")).unwrap();
        fs::create_dir_all(app.join(OWN_FOLDER)).unwrap();
        fs::write(app.join("a.txt"), "A").unwrap();
        fs::write(app.join("d/b.txt"), "file content\n").unwrap();
        fs::write(app.join(".pulumi/x"), "not part of it").unwrap();
        let files = ProgramFiles {
            folder: Some(place.path()),
        };
        let archive = Asset::LocalArchive("app".into());
        let digest = "dfa7fa0fd1bdd3f3123ed352d0781fe78f5319184123a56a74d017fbbd29f2db";
        assert_eq!(files.content_hash(&archive).as_deref(), Some(digest));
        let entries = [
            ("a.txt".into(), Asset::Text("A".into())),
            ("d".into(), Asset::LocalArchive("app/d".into())),
        ];
        let same = Asset::Archive(entries.into_iter().collect());
        assert_eq!(asset_hash(&same, &files).as_deref(), Some(digest));
        fs::write(app.join("a.txt"), "B").unwrap();
        assert_ne!(files.content_hash(&archive).as_deref(), Some(digest));
    }

    #[test]
    fn what_is_no_regular_file_or_not_to_be_read_has_no_digest() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a"), "A").unwrap();
        let folder = Some(place.path());
        let hash =
            |folder, path: &str| ProgramFiles { folder }.content_hash(&Asset::File(path.into()));
        assert!(hash(folder, "a").is_some());
        assert!(hash(None, "a").is_none());
        for path in ["missing", ".", "/dev/zero"] {
            assert!(hash(folder, path).is_none(), "{path}");
        }
    }
}
