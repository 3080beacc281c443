//! Finds and reads the files with clouds: `clouds.yaml`, `secure.yaml`, `clouds-public.yaml`.
//!
//! Values keep their lines, so that a mistake is reported at its place. The text of a file never
//! appears in an error, because it holds secrets.
//!
//! Not here: which of the clouds is used, and what its options mean (`clouds`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use diag::FileId;
use syntax::{Content, Node};

use super::environment::CloudEnvironment;
use super::options::Origin;

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FileValue {
    Map(BTreeMap<String, FileNode>),
    List(Vec<FileNode>),
    /// A scalar as it is written. Null is the empty text.
    Text(String),
}

/// A value of a file, with its line, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileNode {
    pub(super) line: usize,
    pub(super) value: FileValue,
}

impl FileNode {
    /// The entries of a map; of null, none.
    pub(super) fn entries(&self) -> Option<&BTreeMap<String, FileNode>> {
        match &self.value {
            FileValue::Map(entries) => Some(entries),
            FileValue::List(_) | FileValue::Text(_) => None,
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            FileValue::Text(text) => Some(text),
            FileValue::Map(_) | FileValue::List(_) => None,
        }
    }
}

/// A file with clouds.
#[derive(Clone, Debug)]
pub(super) struct CloudFile {
    /// The file as messages name it.
    pub(super) name: String,
    pub(super) path: PathBuf,
    root: FileNode,
}

impl CloudFile {
    /// The clouds by their names, which stand below a key.
    ///
    /// # Errors
    /// A message with the place, if they are no map.
    pub(super) fn clouds(&self, key: &str) -> Result<BTreeMap<String, FileNode>, String> {
        let root = self.root.entries().and_then(|entries| entries.get(key));
        let Some(clouds) = root else {
            let at = self.at(&self.root);
            return Err(format!(
                "{at}: there is no key `{key}`, which holds the clouds by their names"
            ));
        };
        let empty = clouds.text().is_some_and(str::is_empty);
        let entries = clouds.entries().cloned();
        let entries = entries.or_else(|| empty.then(BTreeMap::default));
        entries.ok_or_else(|| {
            format!(
                "{}: `{key}` is a map of clouds by their names",
                self.at(clouds)
            )
        })
    }

    /// The place of a value.
    pub(super) fn at(&self, node: &FileNode) -> Origin {
        Origin::File {
            file: self.name.clone(),
            line: node.line,
        }
    }
}

/// Reads the file at a path. `Ok(None)` if there is none.
///
/// # Errors
/// A message with the place, if it cannot be read or is not YAML.
pub(super) fn read(path: &Path) -> Result<Option<CloudFile>, String> {
    let name = path.display().to_string();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{name} cannot be read: {error}")),
    };
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is no text in UTF-8"))?;
    let root = parsed(&name, &text)?;
    let path = path.to_owned();
    Ok(Some(CloudFile { name, path, root }))
}

/// The first file with one of the endings of openstacksdk in the folders.
///
/// # Errors
/// As [`read`].
pub(super) fn first_in(folders: &[PathBuf], stem: &str) -> Result<Option<CloudFile>, String> {
    for folder in folders {
        for ending in ["yaml", "yml", "json"] {
            if let Some(file) = read(&folder.join(format!("{stem}.{ending}")))? {
                return Ok(Some(file));
            }
        }
    }
    Ok(None)
}

/// The file that a variable names, which must exist. `Ok(None)` if the variable is not set.
///
/// # Errors
/// A message, if the file does not exist; else as [`read`].
pub(super) fn of_variable(
    environment: &CloudEnvironment,
    name: &str,
) -> Result<Option<CloudFile>, String> {
    let Some(path) = environment.variable(name) else {
        return Ok(None);
    };
    let path = environment.expanded(path);
    let file = read(&path)?;
    let missing = || {
        format!(
            "the file {} does not exist; the variable `{name}` names it",
            path.display()
        )
    };
    file.ok_or_else(missing).map(Some)
}

/// The root of a text, read as PyYAML reads it.
fn parsed(name: &str, text: &str) -> Result<FileNode, String> {
    let (tree, problems) = syntax::parse_libyaml(FileId::NONE, text, 0..text.len());
    let line = |offset: u32| {
        let before = text.as_bytes().iter().take(offset as usize);
        1 + before.filter(|byte| **byte == b'\n').count()
    };
    if let Some(problem) = problems
        .iter()
        .find(|it| it.severity == diag::Severity::Error)
    {
        let at = problem
            .labels
            .first()
            .map_or(1, |label| line(label.span.start));
        // Backticks quote the text, which may be a secret.
        let why = Some(problem.message.as_str()).filter(|why| !why.contains('`'));
        return Err(match why {
            Some(why) => format!("{name}:{at}: the file is not valid YAML: {why}"),
            None => format!("{name}:{at}: the file is not valid YAML"),
        });
    }
    let root = tree.root.as_ref().map(|root| node(root, &line, 0));
    Ok(root.unwrap_or(FileNode {
        line: 1,
        value: FileValue::Map(BTreeMap::default()),
    }))
}

/// The greatest nesting of values. Deeper ones count as empty.
const MAX_DEPTH: usize = 32;

fn node(of: &Node, line: &dyn Fn(u32) -> usize, depth: usize) -> FileNode {
    let value = match &of.content {
        Content::Map(entries) if depth < MAX_DEPTH => {
            let mut map = BTreeMap::default();
            let mut merged = Vec::new();
            for entry in entries {
                let key = entry.key.text().unwrap_or_default();
                let value = node(&entry.value, line, depth + 1);
                match key {
                    "<<" => merged.push(value),
                    // Of equal keys, the last one counts, as in PyYAML.
                    _ => _ = map.insert(key.to_owned(), value),
                }
            }
            merged.into_iter().for_each(|below| merge(&mut map, below));
            FileValue::Map(map)
        }
        Content::List(items) if depth < MAX_DEPTH => FileValue::List(
            items
                .iter()
                .map(|item| node(item, line, depth + 1))
                .collect(),
        ),
        Content::Scalar(scalar) => {
            let plain = !scalar.style.is_text();
            let is_null = plain && ["~", "null", "Null", "NULL"].contains(&&*scalar.text);
            FileValue::Text(if is_null {
                String::new()
            } else {
                scalar.text.to_string()
            })
        }
        Content::Map(_) | Content::List(_) | Content::Missing => FileValue::Text(String::new()),
    };
    FileNode {
        line: line(of.span.start),
        value,
    }
}

/// Adds the entries of a merge key that the map does not have.
fn merge(map: &mut BTreeMap<String, FileNode>, below: FileNode) {
    match below.value {
        FileValue::Map(entries) => {
            for (key, value) in entries {
                map.entry(key).or_insert(value);
            }
        }
        FileValue::List(all) => all.into_iter().for_each(|one| merge(map, one)),
        FileValue::Text(_) => {}
    }
}
