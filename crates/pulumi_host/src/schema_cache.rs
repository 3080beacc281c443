//! Caches schemas of plugins on disk, so that `cyan` knows their types without starting them, and reads
//! only the entries that a document uses.
//!
//! A cached file has a line with the identity of what was cached, an outline, and the text. The text of
//! a file of the user stays where it is: only its outline is cached.
//!
//! No function here fails: a file that cannot be read or written is not cached.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use plugin_host::{ProgramDigest, cache_file, command_line, file_fingerprint, write_file};
use provider::HostedPackage;
use pulumi_wire::schema::{PackageSchema, SchemaText};

/// The first words of a file. The number is the version of the format.
const FORMAT: &str = "cyan pulumi schema 2";

/// The length of the longest first line.
const LONGEST_HEAD: u64 = 1 << 12;

/// The size of a user's file whose outline is cached. A smaller one is read in no time.
const LARGE: u64 = 1 << 20;

/// A file that was changed more recently may change again within the precision of its time.
const SETTLED: Duration = Duration::from_secs(2);

/// The cached schema of a package, if its program is still the same.
pub(crate) fn load(package: &HostedPackage, identity: &str) -> Option<PackageSchema> {
    let cached = Cached::open(&place(package)?, identity)?;
    let is_whole = cached.file.metadata().ok()?.len() == cached.end.checked_add(cached.text)?;
    let text = TextInFile {
        file: Mutex::new(cached.file),
        begins: cached.end,
    };
    PackageSchema::of_outline(&cached.outline, Box::new(text)).filter(|_| is_whole)
}

/// Caches a schema with its text. It replaces the schema of an earlier program at the same path.
pub(crate) fn store(package: &HostedPackage, identity: &str, text: &str, schema: &PackageSchema) {
    if let Some(place) = place(package) {
        write(&place, identity, text, schema);
    }
}

/// The schema in a file of the user whose outline is cached for this state of the file.
pub(crate) fn load_file(
    package: &HostedPackage,
    path: &Path,
    identity: &str,
) -> Option<PackageSchema> {
    let cached = Cached::open(&place_of_file(package, path)?, identity)?;
    let text = TextInFile {
        file: Mutex::new(File::open(path).ok()?),
        begins: 0,
    };
    PackageSchema::of_outline(&cached.outline, Box::new(text))
}

/// Caches the outline of a user's file in this state.
pub(crate) fn store_file(
    package: &HostedPackage,
    path: &Path,
    identity: &str,
    schema: &PackageSchema,
) {
    if let Some(place) = place_of_file(package, path) {
        write(&place, identity, "", schema);
    }
}

/// The state of a file of the user whose outline may be cached: a large one that did not change recently.
pub(crate) fn state_of_file(path: &Path) -> Option<String> {
    let known = fs::metadata(path).ok()?;
    let age = SystemTime::now().duration_since(known.modified().ok()?);
    let is_settled = age.is_ok_and(|age| age >= SETTLED);
    let digest = || ProgramDigest::of(file_fingerprint(path)).to_hex();
    (known.len() >= LARGE && is_settled).then(digest)
}

fn write(place: &Path, identity: &str, text: &str, schema: &PackageSchema) {
    let outline = schema.outline();
    let head = format!("{FORMAT} {identity} {} {}\n", outline.len(), text.len());
    let parts = [head.as_bytes(), outline.as_bytes(), text.as_bytes()];
    // What is not stored is asked for again.
    let _ = write_file(place, &parts);
}

fn place(package: &HostedPackage) -> Option<PathBuf> {
    let key = format!("{}\0{}", package.name, command_line(package));
    cache_file(package, "pulumi", &key, "schema")
}

fn place_of_file(package: &HostedPackage, path: &Path) -> Option<PathBuf> {
    let key = package.folder.join(path).display().to_string();
    cache_file(package, "pulumi", &key, "outline")
}

/// A cached file up to its text.
struct Cached {
    file: File,
    outline: String,
    /// Where the outline ends, and the length of the text behind it.
    end: u64,
    text: u64,
}

impl Cached {
    /// Opens a file that was cached for this identity.
    fn open(path: &Path, identity: &str) -> Option<Cached> {
        let mut reader = BufReader::new(File::open(path).ok()?);
        let mut head = String::new();
        (&mut reader).take(LONGEST_HEAD).read_line(&mut head).ok()?;
        let words = head.strip_prefix(FORMAT)?.strip_suffix('\n')?;
        let mut words = words.split(' ').skip(1);
        let is_same = words.next() == Some(identity);
        let mut length = || words.next()?.parse::<u64>().ok();
        let (length, text) = (length()?, length()?);
        let mut outline = String::new();
        (&mut reader)
            .take(length)
            .read_to_string(&mut outline)
            .ok()?;
        let end = u64::try_from(head.len()).ok()?.checked_add(length)?;
        is_same.then(|| Cached {
            file: reader.into_inner(),
            outline,
            end,
            text,
        })
    }
}

/// A text that stays in its file.
struct TextInFile {
    file: Mutex<File>,
    /// Where it begins.
    begins: u64,
}

impl SchemaText for TextInFile {
    fn part(&self, place: Range<usize>) -> Option<String> {
        let start = u64::try_from(place.start).ok()?.checked_add(self.begins)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut part = String::with_capacity(place.len().min(1 << 20));
        let length = u64::try_from(place.len()).ok()?;
        (&mut *file).take(length).read_to_string(&mut part).ok()?;
        (part.len() == place.len()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
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

    fn keep(package: &HostedPackage, identity: &str, text: &str) {
        store(
            package,
            identity,
            text,
            &PackageSchema::parse(text).unwrap(),
        );
    }

    /// The cached name and tokens of a package.
    fn cached(package: &HostedPackage, identity: &str) -> Option<String> {
        load(package, identity).map(|schema| shown(&schema))
    }

    fn shown(schema: &PackageSchema) -> String {
        let tokens: Vec<String> = schema.resource_tokens().map(ToString::to_string).collect();
        format!("{} {tokens:?}", schema.name())
    }

    #[test]
    fn a_schema_belongs_to_one_state_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        assert_eq!(cached(&package, "first"), None);
        let text = "{\"name\": \"é\",\n \"resources\": {\"x:index:A\": {}}}";
        keep(&package, "first", text);
        assert_eq!(cached(&package, "first").unwrap(), "é [\"x:index:A\"]");
        assert_eq!(cached(&package, "later"), None);
        keep(&package, "later", "{}");
        assert_eq!(
            cached(&package, "first"),
            None,
            "the later schema replaces the earlier one"
        );
        assert_eq!(cached(&package, "later").unwrap(), " []");
    }

    #[test]
    fn a_damaged_file_is_no_schema() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        keep(&package, "i", "{}");
        let path = place(&package).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        let damaged = [
            "",
            "cyan pulumi schema 2 i 2 2",
            "cyan pulumi schema 2 i 2 2\n{}{}",
            "cyan pulumi schema 2 i 18446744073709551615 2\n{}{}",
            &whole[..whole.len() - 1],
            &format!("{whole} "),
            &whole.replacen("schema 2", "schema 1", 1),
        ];
        for damaged in damaged {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cached(&package, "i"), None, "{damaged}");
        }
        fs::write(&path, [0xff, b'\n']).unwrap();
        assert_eq!(cached(&package, "i"), None);
        let nowhere = HostedPackage {
            cache: None,
            ..package
        };
        keep(&nowhere, "i", "{}");
        assert_eq!(cached(&nowhere, "i"), None);
    }

    #[test]
    fn the_outline_of_a_large_file_belongs_to_one_state_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let package = package(folder.path());
        let path = folder.path().join("large.json");
        let long = "d".repeat(1 << 20);
        let text =
            format!("{{\"name\": \"x\", \"description\": \"{long}\", \"provider\": {{\"a\": 1}}}}");
        let write = |text: &str, age: Duration| {
            fs::write(&path, text).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
            let state = state_of_file(&path)?;
            store_file(
                &package,
                &path,
                &state,
                &PackageSchema::parse(text).unwrap(),
            );
            load_file(&package, &path, &state).map(|schema| shown(&schema))
        };
        assert_eq!(write(&text, Duration::ZERO), None, "it may still change");
        assert_eq!(write(&text, SETTLED * 2).unwrap(), "x []");
        assert!(load_file(&package, &path, "later").is_none());
        assert_eq!(write("{}", SETTLED * 2), None, "it is small");
    }
}
