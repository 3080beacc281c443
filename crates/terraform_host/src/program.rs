//! The identity of a package's program, and a note that avoids reading the program at each start.
//!
//! Schemas are cached by the digest of the program ([`SchemaCache`]). A program has tens of
//! megabytes, so the digest is noted with the identity of the program ([`plugin_host::identity`])
//! and its protocol version.
//!
//! Nothing here fails: data that cannot be read or written is not cached.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use plugin_host::{ProgramDigest, cache_file, command_line, identity, noted_digest, write_file};
use provider::HostedPackage;

use crate::{ProtocolVersion, SchemaCache, Schemas};

/// The first words of a note. The number is the version of the format.
const FORMAT: &str = "cyan terraform program 1";

/// The data about a program before it is started.
#[derive(Clone, Default)]
pub(crate) struct KnownProgram {
    /// Its identity.
    pub(crate) identity: String,
    /// The digest of its contents; `None` if it cannot be read.
    pub(crate) contents: Option<ProgramDigest>,
    /// Its digest; `None` if nothing is cached.
    pub(crate) digest: Option<ProgramDigest>,
    /// Its schemas, if they are cached.
    pub(crate) known: Option<(ProtocolVersion, Arc<Schemas>)>,
}

impl KnownProgram {
    /// Looks a program up. It blocks.
    pub(crate) fn look_up(package: &HostedPackage) -> KnownProgram {
        let identity = identity(package);
        let contents = noted_digest(package, &identity);
        let Some(folder) = &package.cache else {
            return KnownProgram {
                identity,
                contents,
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
                contents,
                digest: Some(digest),
                known,
            };
        }
        let digest = contents;
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
            contents,
            digest,
            known,
        }
    }
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
    if let Some(place) = place(package) {
        let note = format!("{FORMAT} {identity} {} {version}\n", digest.to_hex());
        // Without a note, the program is read again next time.
        let _ = write_file(&place, &[note.as_bytes()]);
    }
}

fn place(package: &HostedPackage) -> Option<PathBuf> {
    cache_file(package, "terraform", &command_line(package), "program")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
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
    fn a_note_counts_while_the_program_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        fs::write(package.program_path(), "1").unwrap();
        fs::write(folder.path().join("script.py"), "1").unwrap();
        let first = KnownProgram::look_up(&package);
        assert_eq!(first.digest, ProgramDigest::of_package(&package));
        assert_eq!(read_note(&package, &first.identity), None);
        // The digest is taken from the note: the program is not read.
        let other = ProgramDigest::of(b"other");
        note(&package, &first.identity, &other, ProtocolVersion::Six);
        assert_eq!(KnownProgram::look_up(&package).digest, Some(other));
        fs::write(folder.path().join("script.py"), "longer").unwrap();
        let after = KnownProgram::look_up(&package);
        assert_eq!(after.digest, ProgramDigest::of_package(&package));
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
