//! The identity of a package's program, and the files that are cached for it.
//!
//! The identity is that of one state of a program: its path, size, time of change and inode, and
//! those of arguments that are files, such as a script. Changes of files that a script imports are
//! not detected.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use provider::HostedPackage;
use sha2::{Digest as _, Sha256};

/// The length of a digest in bytes.
const DIGEST: usize = 32;

/// The number of bytes of a program that are read at once.
const CHUNK: usize = 256 << 10;

/// A SHA-256 digest, for example of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramDigest([u8; DIGEST]);

/// The reason why a program has no digest.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read", path.display())]
pub struct CacheError {
    /// The file.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl ProgramDigest {
    /// The length of a digest in bytes.
    pub const LENGTH: usize = DIGEST;

    /// Returns the digest of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> ProgramDigest {
        ProgramDigest(Sha256::digest(bytes).into())
    }

    /// Returns the digest of a file. Reads the whole file and blocks meanwhile.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(path: &Path) -> Result<ProgramDigest, CacheError> {
        let read = || {
            let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
            let mut buffer = vec![0; CHUNK];
            loop {
                match file.read(&mut buffer)? {
                    0 => return Ok(ProgramDigest(hasher.finalize().into())),
                    length => hasher.update(buffer.get(..length).unwrap_or_default()),
                }
            }
        };
        read().map_err(|source| CacheError {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns the digest of a package's program and of those of its arguments that are files.
    /// Reads these files and blocks meanwhile. `None` if the program cannot be read.
    pub fn of_package(package: &HostedPackage) -> Option<ProgramDigest> {
        let program = ProgramDigest::of_file(package.program_path()).ok()?;
        if package.arguments.is_empty() {
            return Some(program);
        }
        let content = |path: &Path| Some(ProgramDigest::of_file(path).ok()?.to_hex());
        let text = with_arguments(package, program.to_hex(), content);
        Some(ProgramDigest::of(text))
    }

    /// Parses a digest in hexadecimal digits.
    pub fn of_hex(text: &str) -> Option<ProgramDigest> {
        HEXLOWER
            .decode(text.as_bytes())
            .ok()?
            .try_into()
            .ok()
            .map(ProgramDigest)
    }

    /// Returns the digest in hexadecimal digits.
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Returns the bytes of the digest.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the identity of a package's program. It changes when the program changes.
pub fn identity(package: &HostedPackage) -> String {
    let program = file_fingerprint(package.program_path());
    let text = with_arguments(package, program, |path| Some(file_fingerprint(path)));
    ProgramDigest::of(text).to_hex()
}

/// Returns the digest of an unattached package's program and arguments by their contents, noted for
/// the identity of the program so that the files are read once. It blocks. `None` if the program
/// cannot be read.
pub fn noted_digest(package: &HostedPackage, identity: &str) -> Option<ProgramDigest> {
    let place = cache_file(package, "digests", &command_line(package), "digest");
    let noted = place.as_ref().and_then(|place| {
        let text = fs::read_to_string(place).ok()?;
        let (noted_identity, digest) = text.trim_end().split_once(' ')?;
        ProgramDigest::of_hex(digest).filter(|_| noted_identity == identity)
    });
    if noted.is_some() {
        return noted;
    }
    let digest = ProgramDigest::of_package(package)?;
    if let Some(place) = place {
        let note = format!("{identity} {}\n", digest.to_hex());
        // Without a note, the program is read again next time.
        let _ = write_file(&place, &[note.as_bytes()]);
    }
    Some(digest)
}

/// Appends the arguments of a package to `text`. `of_file` gives the text of an argument that is a
/// file. Without one, the argument counts as it is written.
fn with_arguments(
    package: &HostedPackage,
    mut text: String,
    of_file: impl Fn(&Path) -> Option<String>,
) -> String {
    for argument in &package.arguments {
        let path = package.folder.join(argument);
        let file = path.is_file().then(|| of_file(&path)).flatten();
        let _ = write!(text, "\0{}", file.as_ref().unwrap_or(argument));
    }
    text
}

/// Returns the path of a file with its length, its time of change and its number. A later state of the
/// file has other ones.
pub fn file_fingerprint(path: &Path) -> String {
    let Ok(known) = fs::metadata(path) else {
        return path.display().to_string();
    };
    let changed = known
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&known);
    #[cfg(not(unix))]
    let inode = 0;
    format!(
        "{}\0{}\0{}\0{inode}",
        path.display(),
        known.len(),
        changed.map_or(0, |time| time.as_nanos())
    )
}

/// Returns the program and the arguments of a package as one text.
pub fn command_line(package: &HostedPackage) -> String {
    let program = package.program_path().display().to_string();
    package
        .arguments
        .iter()
        .fold(program, |text, argument| text + "\0" + argument)
}

/// Returns the path of a cached file: `FAMILY-DIGEST.EXTENSION`, with a digest of `key`. `None` if
/// the package has no cache.
pub fn cache_file(
    package: &HostedPackage,
    family: &str,
    key: &str,
    extension: &str,
) -> Option<PathBuf> {
    let digest = ProgramDigest::of(key).to_hex();
    let name = format!("{family}-{}.{extension}", digest.get(..32)?);
    Some(package.cache.as_ref()?.join(name))
}

/// Writes a file atomically, with the folder in which it is. Blocks meanwhile.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn write_file(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for part in parts {
        file.write_all(part)?;
    }
    // The temporary file is removed if it cannot be renamed.
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn package(folder: &Path) -> HostedPackage {
        HostedPackage {
            name: "shop".into(),
            program: Some(folder.join("program")),
            schema: None,
            settings: blueprint::Value::Null,
            arguments: vec!["script.py".into(), "--flag".into()],
            environment: Vec::new(),
            inherits: None,
            memory: None,
            start_within: Duration::from_secs(1),
            folder: folder.to_owned(),
            cache: Some(folder.join("cache/inner")),
        }
    }

    #[test]
    fn a_changed_program_or_script_has_another_identity_and_digest() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        fs::write(package.program_path(), "1").unwrap();
        fs::write(folder.path().join("script.py"), "1").unwrap();
        let known = || (identity(&package), ProgramDigest::of_package(&package));
        assert_eq!(known(), known());
        for file in ["script.py", "program"] {
            let before = known();
            fs::write(folder.path().join(file), format!("longer {file}")).unwrap();
            let after = known();
            assert_ne!(after.0, before.0, "{file}");
            assert_ne!(after.1, before.1, "{file}");
        }
    }

    #[test]
    fn a_cached_file_replaces_the_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        let path = cache_file(&package, "toy", &command_line(&package), "schema").unwrap();
        for parts in [["1\n", "a"], ["2\n", "b"]] {
            write_file(&path, &parts.map(str::as_bytes)).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), parts.concat());
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let nowhere = HostedPackage {
            cache: None,
            ..package
        };
        assert_eq!(cache_file(&nowhere, "toy", "", "schema"), None);
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_its_bytes() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"abc").unwrap();
        assert_eq!(
            ProgramDigest::of_file(file.path()).unwrap(),
            ProgramDigest::of("abc")
        );
        assert!(ProgramDigest::of("abc").to_hex().starts_with("ba7816bf"));
        let error = ProgramDigest::of_file(Path::new("/nothing/here")).unwrap_err();
        assert_eq!(error.to_string(), "/nothing/here cannot be read");
    }
}
