//! Caches schemas of plugins on disk, so that `cyan` knows their types without starting them.
//!
//! A cached schema belongs to one state of a program: its path, size, time of change and inode, and
//! those of arguments that are files, such as a script. Changes of files that a script imports are
//! not detected.
//!
//! No function here fails: a file that cannot be read or written is not cached.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use provider::HostedPackage;
use sha2::{Digest as _, Sha256};

/// The first words of a file. The number is the version of the format.
const FORMAT: &str = "cyan pulumi schema 1";

/// The identity of a package's program. It changes when the program changes.
pub(crate) fn identity(package: &HostedPackage) -> String {
    let mut text = file_fingerprint(package.program_path());
    for argument in &package.arguments {
        let path = package.folder.join(argument);
        // An argument that is not a file counts as it is written.
        let known = if path.is_file() {
            file_fingerprint(&path)
        } else {
            argument.clone()
        };
        let _ = write!(text, "\0{known}");
    }
    digest(&text)
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

/// The SHA-256 of a text in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

/// The cached schema of a package, if its program is still the same.
pub(crate) fn load(package: &HostedPackage, identity: &str) -> Option<String> {
    let whole = fs::read_to_string(place(package)?).ok()?;
    let (head, schema) = whole.split_once('\n')?;
    (head == head_of(identity, schema)).then(|| schema.to_owned())
}

/// Caches a schema. It replaces the schema of an earlier program at the same path.
pub(crate) fn store(package: &HostedPackage, identity: &str, schema: &str) {
    let (Some(folder), Some(place)) = (&package.cache, place(package)) else {
        return;
    };
    if fs::create_dir_all(folder).is_err() {
        return;
    }
    let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else {
        return;
    };
    let written = writeln!(file, "{}", head_of(identity, schema))
        .and_then(|()| file.write_all(schema.as_bytes()));
    if written.is_ok() {
        // The temporary file is removed if it cannot be renamed.
        let _ = file.persist(place);
    }
}

fn head_of(identity: &str, schema: &str) -> String {
    format!("{FORMAT} {identity} {}", schema.len())
}

fn place(package: &HostedPackage) -> Option<PathBuf> {
    let mut text = format!("{}\0{}", package.name, package.program_path().display());
    package.arguments.iter().for_each(|argument| {
        let _ = write!(text, "\0{argument}");
    });
    Some(
        package
            .cache
            .as_ref()?
            .join(format!("pulumi-{}.schema", digest(&text).get(..32)?)),
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
    fn a_changed_program_or_script_makes_a_schema_stale() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        fs::write(package.program_path(), "1").unwrap();
        fs::write(folder.path().join("script.py"), "1").unwrap();
        let first = identity(&package);
        assert_eq!(first, identity(&package));
        assert_eq!(load(&package, &first), None);
        store(&package, &first, "{\n}");
        assert_eq!(load(&package, &first).as_deref(), Some("{\n}"));
        for file in ["script.py", "program"] {
            let before = identity(&package);
            fs::write(folder.path().join(file), "longer").unwrap();
            assert_ne!(identity(&package), before, "{file}");
        }
        assert_eq!(load(&package, &identity(&package)), None);
        store(&package, &identity(&package), "{}");
        assert_eq!(
            load(&package, &first),
            None,
            "the later schema replaces the earlier one"
        );
        assert_eq!(
            fs::read_dir(package.cache.as_ref().unwrap())
                .unwrap()
                .count(),
            1
        );
    }

    #[test]
    fn a_damaged_file_is_no_schema() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        store(&package, "i", "{}");
        let path = place(&package).unwrap();
        for damaged in [
            "",
            "cyan pulumi schema 1 i 2\n{",
            "cyan pulumi schema 2 i 2\n{}",
            "cyan pulumi schema 1 i 2",
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(load(&package, "i"), None, "{damaged}");
        }
        fs::write(&path, [0xff, b'\n']).unwrap();
        assert_eq!(load(&package, "i"), None);
        let nowhere = HostedPackage {
            cache: None,
            ..package
        };
        store(&nowhere, "i", "{}");
        assert_eq!(load(&nowhere, "i"), None);
    }
}
