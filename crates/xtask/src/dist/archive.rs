//! Archives with the same bytes for the same entries.

use std::collections::BTreeMap;
use std::io;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// The date of all entries of archives: 1980-01-01, the first date that a zip archive can express.
const DATE: u64 = 315_532_800;

/// A file of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Data,
    Program,
}

impl FileKind {
    /// The permissions of the file.
    pub(crate) fn mode(self) -> u32 {
        match self {
            Self::Data => 0o644,
            Self::Program => 0o755,
        }
    }
}

/// The files of an archive, by path.
pub(crate) type ArchiveFiles<'a> = BTreeMap<String, (FileKind, &'a [u8])>;

/// Which entries an archive has beside its files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folders {
    Omitted,
    Listed,
}

/// Returns a compressed tar archive.
///
/// # Errors
/// If a path is too long.
pub(crate) fn tar_gz(
    files: &ArchiveFiles<'_>,
    folders: Folders,
    level: u32,
) -> io::Result<Vec<u8>> {
    let stream = GzBuilder::new().write(Vec::new(), Compression::new(level));
    let mut tar = Builder::new(stream);
    let mut last = String::new();
    for (path, (kind, bytes)) in files {
        if folders == Folders::Listed {
            for (at, _) in path.match_indices('/') {
                let folder = &path[..=at];
                if !last.starts_with(folder) {
                    let mut header = header(EntryType::Directory, 0o755, 0);
                    tar.append_data(&mut header, folder, io::empty())?;
                }
            }
        }
        let mut header = header(EntryType::Regular, kind.mode(), bytes.len() as u64);
        tar.append_data(&mut header, path, *bytes)?;
        last.clone_from(path);
    }
    tar.into_inner()?.finish()
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(DATE);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Compresses a single file.
///
/// # Errors
/// Never, in memory.
pub(crate) fn gzip(bytes: &[u8], level: u32) -> io::Result<Vec<u8>> {
    let mut stream = GzBuilder::new().write(Vec::new(), Compression::new(level));
    io::Write::write_all(&mut stream, bytes)?;
    stream.finish()
}

/// Returns an archive of the format `ar`, in which packages of Debian are.
pub(crate) fn ar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        // Name, date, owner, group, mode, size: columns of fixed width, 60 bytes in total.
        let header = format!(
            "{name:<16}{DATE:<12}{:<6}{:<6}{:<8}{size:<10}`\n",
            0, 0, "100644"
        );
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        // Each member begins at an even offset.
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::{ArchiveFiles, FileKind, Folders, ar, tar_gz};

    #[test]
    fn members_of_ar_have_headers_of_60_bytes_and_even_offsets() {
        let archive = ar(&[("a", b"123".to_vec()), ("b", b"4".to_vec())]);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 2);
        assert_eq!(&archive[8 + 58..8 + 60], b"`\n");
        assert_eq!(archive[8 + 60 + 4], b'b');
    }

    #[test]
    fn each_folder_is_listed_once_before_its_files() {
        let files: ArchiveFiles<'_> = ["a/b/one", "a/b/two", "c/three"]
            .into_iter()
            .map(|path| (path.to_owned(), (FileKind::Program, b"x".as_slice())))
            .collect();
        let bytes = tar_gz(&files, Folders::Listed, 0).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let paths: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                assert_eq!(entry.header().mode().unwrap(), 0o755);
                assert_eq!(entry.header().mtime().unwrap(), super::DATE);
                String::from_utf8(entry.path_bytes().into_owned()).unwrap()
            })
            .collect();
        let listed = ["a/", "a/b/", "a/b/one", "a/b/two", "c/", "c/three"];
        assert_eq!(paths, listed);
    }
}
