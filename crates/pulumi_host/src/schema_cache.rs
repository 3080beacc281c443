//! Caches schemas of plugins on disk, so that `cyan` knows their types without starting them.
//!
//! A cached schema belongs to one state of a program ([`plugin_host::identity`]).
//!
//! No function here fails: a file that cannot be read or written is not cached.

use std::fs;
use std::path::PathBuf;

use plugin_host::{cache_file, command_line, write_file};
use provider::HostedPackage;

/// The first words of a file. The number is the version of the format.
const FORMAT: &str = "cyan pulumi schema 1";

/// The cached schema of a package, if its program is still the same.
pub(crate) fn load(package: &HostedPackage, identity: &str) -> Option<String> {
    let whole = fs::read_to_string(place(package)?).ok()?;
    let (head, schema) = whole.split_once('\n')?;
    (head == head_of(identity, schema)).then(|| schema.to_owned())
}

/// Caches a schema. It replaces the schema of an earlier program at the same path.
pub(crate) fn store(package: &HostedPackage, identity: &str, schema: &str) {
    if let Some(place) = place(package) {
        let head = head_of(identity, schema) + "\n";
        // A schema that is not stored is asked for again.
        let _ = write_file(&place, &[head.as_bytes(), schema.as_bytes()]);
    }
}

fn head_of(identity: &str, schema: &str) -> String {
    format!("{FORMAT} {identity} {}", schema.len())
}

fn place(package: &HostedPackage) -> Option<PathBuf> {
    let key = format!("{}\0{}", package.name, command_line(package));
    cache_file(package, "pulumi", &key, "schema")
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
    fn a_schema_belongs_to_one_state_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        assert_eq!(load(&package, "first"), None);
        store(&package, "first", "{\n}");
        assert_eq!(load(&package, "first").as_deref(), Some("{\n}"));
        assert_eq!(load(&package, "later"), None);
        store(&package, "later", "{}");
        assert_eq!(
            load(&package, "first"),
            None,
            "the later schema replaces the earlier one"
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
