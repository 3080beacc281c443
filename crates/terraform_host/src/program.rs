//! The identity of a package's program, and a note that avoids reading the program at each start.
//!
//! Schemas are cached by the digest of the program ([`SchemaCache`]). A program has tens of
//! megabytes, so the digest is noted with the path, size, modification time and inode of the
//! program, and with its protocol version. Arguments that are files count as parts of the program.
//! If a script reads other files, changes of only these files are not detected.
//!
//! Nothing here fails: data that cannot be read or written is not cached.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use provider::HostedPackage;

use crate::{ProgramDigest, ProtocolVersion, SchemaCache, Schemas};

/// The first words of a note. The number is the version of the format.
const FORMAT: &str = "cyan terraform program 1";

/// The data about a program before it is started.
#[derive(Clone, Default)]
pub(crate) struct KnownProgram {
    /// A digest of its path, size, modification time and inode, and of those of its arguments.
    pub(crate) identity: String,
    /// Its digest; `None` if nothing is cached.
    pub(crate) digest: Option<ProgramDigest>,
    /// Its schemas, if they are cached.
    pub(crate) known: Option<(ProtocolVersion, Arc<Schemas>)>,
}

impl KnownProgram {
    /// Looks a program up. It blocks.
    pub(crate) fn look_up(package: &HostedPackage) -> KnownProgram {
        let identity = identity(package);
        let Some(folder) = &package.cache else {
            return KnownProgram {
                identity,
                ..KnownProgram::default()
            };
        };
        let cache = SchemaCache::new(folder);
        let load = |digest: &ProgramDigest, version| {
            Some((version, Arc::new(cache.load(digest, version)?)))
        };
        if let Some((digest, version)) = read_note(package, &identity) {
            let known = load(&digest, version);
            return KnownProgram {
                identity,
                digest: Some(digest),
                known,
            };
        }
        let digest = digest(package);
        let known = digest.as_ref().and_then(|digest| {
            ProtocolVersion::ALL
                .into_iter()
                .find_map(|one| load(digest, one))
        });
        if let (Some(digest), Some((version, _))) = (&digest, &known) {
            note(package, &identity, digest, *version);
        }
        KnownProgram {
            identity,
            digest,
            known,
        }
    }
}

/// The identity of a package's program. It changes when the program changes.
fn identity(package: &HostedPackage) -> String {
    let mut text = file_fingerprint(package.program_path());
    for argument in &package.arguments {
        let path = package.folder.join(argument);
        let _ = write!(
            text,
            "\0{}",
            if path.is_file() {
                file_fingerprint(&path)
            } else {
                argument.clone()
            }
        );
    }
    ProgramDigest::of(text.as_bytes()).to_hex()
}

fn file_fingerprint(path: &Path) -> String {
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

/// The digest of a program and its arguments.
fn digest(package: &HostedPackage) -> Option<ProgramDigest> {
    let program = ProgramDigest::of_file(package.program_path()).ok()?;
    if package.arguments.is_empty() {
        return Some(program);
    }
    let mut text = program.to_hex();
    for argument in &package.arguments {
        let path = package.folder.join(argument);
        let content = path
            .is_file()
            .then(|| ProgramDigest::of_file(&path).ok())
            .flatten();
        let _ = write!(
            text,
            "\0{}",
            content.map_or_else(|| argument.clone(), |digest| digest.to_hex())
        );
    }
    Some(ProgramDigest::of(text.as_bytes()))
}

/// The noted digest of an unchanged program, and the version of its protocol.
fn read_note(package: &HostedPackage, identity: &str) -> Option<(ProgramDigest, ProtocolVersion)> {
    let text = fs::read_to_string(place(package)?).ok()?;
    let rest = text
        .strip_prefix(FORMAT)?
        .strip_prefix(' ')?
        .strip_prefix(identity)?
        .strip_prefix(' ')?;
    let (digest, version) = rest.strip_suffix('\n')?.split_once(' ')?;
    Some((
        ProgramDigest::of_hex(digest)?,
        ProtocolVersion::of(version.parse().ok()?)?,
    ))
}

/// Notes the digest of a program. It blocks.
pub(crate) fn note(
    package: &HostedPackage,
    identity: &str,
    digest: &ProgramDigest,
    version: ProtocolVersion,
) {
    let (Some(folder), Some(place)) = (&package.cache, place(package)) else {
        return;
    };
    if fs::create_dir_all(folder).is_err() {
        return;
    }
    let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else {
        return;
    };
    if writeln!(file, "{FORMAT} {identity} {} {version}", digest.to_hex()).is_ok() {
        // The temporary file is removed if it cannot be renamed.
        let _ = file.persist(place);
    }
}

fn place(package: &HostedPackage) -> Option<PathBuf> {
    let mut text = package.program_path().display().to_string();
    for argument in &package.arguments {
        let _ = write!(text, "\0{argument}");
    }
    let name = ProgramDigest::of(text.as_bytes()).to_hex();
    Some(
        package
            .cache
            .as_ref()?
            .join(format!("terraform-{}.program", name.get(..32)?)),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn package(folder: &Path) -> HostedPackage {
        HostedPackage {
            name: "shop".into(),
            program: Some(folder.join("program")),
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
    fn a_note_counts_while_the_program_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        fs::write(package.program_path(), "1").unwrap();
        fs::write(folder.path().join("script.py"), "1").unwrap();
        let first = KnownProgram::look_up(&package);
        assert_eq!(first.digest, digest(&package));
        assert_eq!(read_note(&package, &first.identity), None);
        // The digest is taken from the note: the program is not read.
        let other = ProgramDigest::of(b"other");
        note(&package, &first.identity, &other, ProtocolVersion::Six);
        assert_eq!(KnownProgram::look_up(&package).digest, Some(other));
        for file in ["script.py", "program"] {
            let before = KnownProgram::look_up(&package);
            fs::write(folder.path().join(file), format!("longer {file}")).unwrap();
            let after = KnownProgram::look_up(&package);
            assert_ne!(after.identity, before.identity, "{file}");
            assert_ne!(after.digest, before.digest, "{file}");
        }
    }

    #[test]
    fn a_damaged_note_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        note(
            &package,
            "i",
            &ProgramDigest::of(b"x"),
            ProtocolVersion::Five,
        );
        assert_eq!(
            read_note(&package, "i"),
            Some((ProgramDigest::of(b"x"), ProtocolVersion::Five))
        );
        let path = place(&package).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        for damaged in [
            "".to_owned(),
            whole.replace(" 1 i", " 2 i"),
            whole.replace(" 5\n", " 7\n"),
            whole.replace('\n', ""),
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(read_note(&package, "i"), None);
        }
        let nowhere = HostedPackage {
            cache: None,
            ..package
        };
        note(
            &nowhere,
            "i",
            &ProgramDigest::of(b"x"),
            ProtocolVersion::Five,
        );
        assert_eq!(read_note(&nowhere, "i"), None);
    }
}
