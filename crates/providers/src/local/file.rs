//! `local/file`: one file, its content given as text, as base64, from a source file, or as
//! sensitive text.
//!
//! An existing file that equals the desired one is adopted (`adoption.rs`). Missing folders above
//! the file are created, and stay when the file is deleted.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

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

/// The desired content: its bytes, and whether even their digest is secret.
struct DesiredContent {
    bytes: Vec<u8>,
    secret: bool,
    from_source: bool,
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
                fs::read(&source).map_err(|error| failed("read", &source, &error).at(way))?
            }
            _ => text.as_bytes().to_vec(),
        };
        return Ok(DesiredContent {
            bytes,
            secret,
            from_source: way == "source",
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
    let is_wanted =
        found == mode && whole_file::digest_of(path)? == whole_file::digest(&content.bytes);
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
    content(place, inputs).is_ok_and(|content| whole_file::digest(&content.bytes) == digest)
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
    let digest = whole_file::digest(&content.bytes);
    if content.from_source {
        change.check_source("source", &digest)?;
    }
    let create = change.operation == Operation::Create;
    let found = whole_file::inspect_path(&path)?;
    let there_already = match found {
        PathContent::Nothing => false,
        PathContent::File {
            mode: found, link, ..
        } => {
            let same = !link && found == mode && whole_file::digest_of(&path)? == digest;
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
        let parents = whole_file::write(&path, mode, fresh, own, |file| {
            file.write_all(&content.bytes)
                .map_err(|error| failed("write", &path, &error))
        })?;
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
        Value::Int(i64::try_from(content.bytes.len()).unwrap_or(i64::MAX)),
    );
    fields.insert(
        "sourceSha256".into(),
        if content.from_source {
            digest.clone().into()
        } else {
            Value::Null
        },
    );
    fields.insert("sha256".into(), Value::from(digest).tainted(content.secret));
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
