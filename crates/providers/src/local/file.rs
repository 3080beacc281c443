//! `local/file`: one file, its content given as text, as base64, from a source file, or as
//! sensitive text.
//!
//! An existing file that equals the desired one is adopted (`adoption.rs`). Missing folders above
//! the file are created, and stay when the file is deleted.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blueprint::Value;
use provider::{
    Applied, CheckFindings, ErrorKind, Observed, Operation, ProviderError, ReadOutcome,
};

use super::existing::{self, Existing};
use super::own_paths::OwnPaths;
use super::place::{PathContext, entries, failed, flag, id_of, is_set, text};
use super::requests::{OwnedApplyRequest, OwnedReadRequest, deleted};
use super::whole_file::{self, PathContent};
use crate::regular_file;

const CONTENT_FIELDS: [&str; 4] = ["content", "contentBase64", "source", "sensitiveContent"];
const DEFAULT_MODE: u32 = 0o644;
/// Maximum number of bytes of a changed file that are read as its content.
const MOST_SHOWN: u64 = 10 << 20;

/// Checks that the content is given in exactly one way, and that base64 is valid.
pub(super) fn check(spec: &Value) -> CheckFindings {
    let mut checked = CheckFindings::default();
    let written: Vec<&str> = CONTENT_FIELDS
        .into_iter()
        .filter(|way| is_set(spec, way))
        .collect();
    match written.as_slice() {
        [] => checked.refuse(
            "",
            "the content of the file is missing: write one of `content`, `contentBase64`, `source` and `sensitiveContent`",
        ),
        [_] => {}
        [first, others @ ..] => {
            for other in others {
                checked.refuse(*other, format!("`{other}` cannot be combined with `{first}`: a file has one content"));
            }
        }
    }
    if text(spec, "contentBase64").is_some_and(|encoded| decode(encoded).is_none()) {
        checked.refuse("contentBase64", "this is not base64");
    }
    checked
}

fn decode(encoded: &str) -> Option<Vec<u8>> {
    let plain: String = encoded
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .collect();
    STANDARD.decode(plain).ok()
}

/// The desired content.
struct DesiredContent {
    body: ContentBody,
    /// The digest of the content, as hexadecimal text.
    digest: String,
    /// The number of bytes.
    size: u64,
    /// Whether even the digest is secret.
    secret: bool,
}

/// Where the bytes of a content are.
enum ContentBody {
    /// In the spec.
    Given(Vec<u8>),
    /// In a source file, which may be larger than the memory.
    Source(PathBuf),
}

impl DesiredContent {
    fn is_from_source(&self) -> bool {
        matches!(self.body, ContentBody::Source(_))
    }

    /// Writes the content to a new file at `path`.
    ///
    /// # Errors
    /// If reading or writing fails, or if the source has changed since its digest was computed.
    fn write(&self, file: &mut File, path: &Path) -> Result<(), ProviderError> {
        let source = match &self.body {
            ContentBody::Given(bytes) => {
                return file
                    .write_all(bytes)
                    .map_err(|error| failed("write", path, &error));
            }
            ContentBody::Source(source) => source,
        };
        let unreadable = |error| failed("read", source, &error).at("source");
        let mut reader = regular_file::open(source).map_err(unreadable)?;
        let mut hash = whole_file::ContentHash::default();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error)),
            };
            let read = buffer.get(..count).unwrap_or_default();
            hash.update(read);
            file.write_all(read)
                .map_err(|error| failed("write", path, &error))?;
        }
        let (digest, _) = hash.finish();
        if digest != self.digest {
            let text = format!("`{}` has changed while it was copied", source.display());
            return Err(ProviderError::new(ErrorKind::Transient, text).at("source"));
        }
        Ok(())
    }
}

fn content(place: &PathContext, spec: &Value) -> Result<DesiredContent, ProviderError> {
    for way in CONTENT_FIELDS {
        let Some(value) = spec.get(way).filter(|value| !value.is_null()) else {
            continue;
        };
        let Some(text) = value.as_text() else {
            continue;
        };
        let secret = value.has_secret() || way == "sensitiveContent";
        let bytes = match way {
            "contentBase64" => decode(text).ok_or_else(|| {
                ProviderError::new(ErrorKind::Document, "this is not base64").at(way)
            })?,
            "source" => {
                let source = place.source(text)?;
                let (digest, size) = regular_file::open(&source)
                    .and_then(whole_file::hash_all)
                    .map_err(|error| failed("read", &source, &error).at(way))?;
                return Ok(DesiredContent {
                    body: ContentBody::Source(source),
                    digest,
                    size,
                    secret,
                });
            }
            _ => text.as_bytes().to_vec(),
        };
        return Ok(DesiredContent {
            digest: whole_file::digest(&bytes),
            size: bytes.len() as u64,
            body: ContentBody::Given(bytes),
            secret,
        });
    }
    Err(ProviderError::new(
        ErrorKind::Document,
        "the content of the file is missing",
    ))
}

fn mode(spec: &Value) -> Result<u32, ProviderError> {
    match text(spec, "mode") {
        Some(mode) => whole_file::parse_mode(mode).ok_or_else(|| {
            ProviderError::new(
                ErrorKind::Document,
                "`mode` must be octal digits such as `0644`",
            )
            .at("mode")
        }),
        None => Ok(DEFAULT_MODE),
    }
}

/// Compares the object at the path of a file to be created with the file.
pub(super) fn existing(
    place: &PathContext,
    own: &OwnPaths,
    path: &Path,
    desired: &Value,
) -> Result<Existing, ProviderError> {
    let (found, link) = match whole_file::inspect_path(path)? {
        PathContent::Nothing => return Ok(existing::nothing_at(path, own)),
        PathContent::File { mode, link, .. } => (mode, link),
        _ => return Ok(Existing::Different),
    };
    if link {
        return Ok(Existing::Different);
    }
    // The same plan may create the source of the content.
    let (Ok(content), Ok(mode)) = (content(place, desired), mode(desired)) else {
        return Ok(Existing::Undecided);
    };
    if desired.has_unknown() {
        return Ok(Existing::Undecided);
    }
    let is_wanted = found == mode && whole_file::digest_of(path)? == content.digest;
    Ok(if is_wanted {
        Existing::Matching
    } else {
        Existing::Different
    })
}

/// Reads the file. The content is returned in the form in which it was sent, unless it is secret.
pub(super) fn read(
    place: &PathContext,
    own: &OwnPaths,
    recorded: OwnedReadRequest,
) -> Result<ReadOutcome, ProviderError> {
    let Some(path) = recorded.path(place)? else {
        return Ok(ReadOutcome::Unknown);
    };
    let private = own.ownership_of_read(&path, &recorded);
    let (mode, size) = match whole_file::inspect_path(&path)? {
        PathContent::File { mode, size, .. } => (mode, size),
        _ => return Ok(ReadOutcome::Absent),
    };
    let digest = whole_file::digest_of(&path)?;
    let inputs = &recorded.inputs;
    if recorded.id.is_none() && !matches_spec(place, inputs, &digest, mode) {
        // The outcome of the create is unknown. A create writes its file completely or not at all,
        // so another program wrote this file.
        return Ok(ReadOutcome::Absent);
    }
    let mut fields = entries(inputs);
    let mut secret = false;
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
        let (way, value) = shown(&path)?;
        fields.insert(way.into(), value);
    } else {
        for way in ["content", "contentBase64"] {
            let Some(sent) = fields.get(way).filter(|sent| !sent.is_null()).cloned() else {
                continue;
            };
            secret |= sent.has_secret();
            let bytes = if way == "content" {
                sent.as_text().map(|text| text.as_bytes().to_vec())
            } else {
                sent.as_text().and_then(decode)
            };
            if bytes.map(|bytes| whole_file::digest(&bytes)).as_deref() != Some(digest.as_str()) {
                let bytes = beginning(&path)?;
                let seen = if way == "content" {
                    String::from_utf8_lossy(&bytes).into_owned()
                } else {
                    STANDARD.encode(&bytes)
                };
                fields.insert(way.into(), Value::from(seen).tainted(sent.has_secret()));
            }
        }
        secret |= is_set(inputs, "sensitiveContent");
    }
    // The recorded digest of the source. A later change of the source is a change of the desired
    // state, not drift.
    let copied = recorded.outputs.get("sourceSha256").cloned();
    let copied = copied.or_else(|| is_set(inputs, "source").then(|| Value::from(digest.as_str())));
    fields.insert("sourceSha256".into(), copied.unwrap_or_default());
    fields.insert(
        "mode".into(),
        whole_file::observed_mode(text(inputs, "mode"), mode).into(),
    );
    fields.insert("id".into(), Value::Text(id_of(&path)));
    fields.insert("sha256".into(), Value::from(digest).tainted(secret));
    fields.insert(
        "size".into(),
        Value::Int(i64::try_from(size).unwrap_or(i64::MAX)),
    );
    existing::set_existed(&mut fields, &private);
    Ok(ReadOutcome::Present(Observed {
        id: id_of(&path),
        fields: Value::map(fields),
        private,
        expired: None,
        ..Observed::default()
    }))
}

fn matches_spec(place: &PathContext, inputs: &Value, digest: &str, found: u32) -> bool {
    content(place, inputs).is_ok_and(|content| content.digest == digest)
        && mode(inputs).is_ok_and(|mode| mode == found)
}

fn beginning(path: &Path) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::new();
    regular_file::open(path)
        .and_then(|file| file.take(MOST_SHOWN).read_to_end(&mut bytes))
        .map_err(|error| failed("read", path, &error))?;
    Ok(bytes)
}

fn shown(path: &Path) -> Result<(&'static str, Value), ProviderError> {
    Ok(match String::from_utf8(beginning(path)?) {
        Ok(text) => ("content", text.into()),
        Err(error) => ("contentBase64", STANDARD.encode(error.as_bytes()).into()),
    })
}

/// Writes or removes the file.
pub(super) fn apply(
    place: &PathContext,
    own: &OwnPaths,
    change: OwnedApplyRequest,
) -> Result<Applied, ProviderError> {
    let path = change.path(place)?;
    if change.operation == Operation::Delete {
        return delete(&path, own, &change.private);
    }
    let content = content(place, &change.desired)?;
    let mode = mode(&change.desired)?;
    let digest = &content.digest;
    if content.is_from_source() {
        change.check_source("source", digest)?;
    }
    let create = change.operation == Operation::Create;
    let found = whole_file::inspect_path(&path)?;
    let there_already = match found {
        PathContent::Nothing => false,
        PathContent::File {
            mode: found, link, ..
        } => {
            let same = !link && found == mode && whole_file::digest_of(&path)? == *digest;
            if create && !same && !flag(&change.desired, "overwrite") {
                return Err(whole_file::in_the_way(&path, "a file"));
            }
            same
        }
        PathContent::Folder { .. } => return Err(whole_file::never_replaced(&path, "a folder")),
        PathContent::Other => {
            return Err(whole_file::never_replaced(
                &path,
                "something that is no file",
            ));
        }
    };
    let mut private = if create {
        Value::Null
    } else {
        change.private.clone()
    };
    if !there_already {
        let fresh = create && matches!(found, PathContent::Nothing);
        let parents =
            whole_file::write(&path, mode, fresh, own, |file| content.write(file, &path))?;
        if create {
            private = existing::ownership_of_created(parents, &change.private);
        }
    } else if create {
        private = own.ownership_of_found(&path, &change.private);
    }
    let mut fields = entries(&change.desired);
    let id = change.id_at(&path);
    fields.insert("id".into(), Value::Text(id.clone()));
    fields.insert(
        "size".into(),
        Value::Int(i64::try_from(content.size).unwrap_or(i64::MAX)),
    );
    fields.insert(
        "sourceSha256".into(),
        if content.is_from_source() {
            digest.as_str().into()
        } else {
            Value::Null
        },
    );
    fields.insert(
        "sha256".into(),
        Value::from(digest.as_str()).tainted(content.secret),
    );
    existing::set_existed(&mut fields, &private);
    Ok(Applied::ready(id, Value::map(fields)).with_private(private))
}

fn delete(path: &Path, own: &OwnPaths, private: &Value) -> Result<Applied, ProviderError> {
    let kept = |what: &str| {
        deleted(vec![format!(
            "`{}` is {what} by now, which was not made here: it is kept",
            path.display()
        )])
    };
    match whole_file::inspect_path(path)? {
        PathContent::Nothing => whole_file::remove(path, own).map(|()| deleted(Vec::new())),
        _ if !existing::is_created_by_provider(private) => Ok(existing::kept(path)),
        PathContent::File { link: false, .. } => {
            whole_file::remove(path, own).map(|()| deleted(Vec::new()))
        }
        PathContent::File { link: true, .. } => Ok(kept("a link")),
        PathContent::Folder { .. } => Ok(kept("a folder")),
        PathContent::Other => Ok(kept("no file")),
    }
}
