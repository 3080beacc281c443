//! `local/archive`: many files packed into one. The same input gives the same bytes: entries are
//! sorted, times and owners are fixed, modes are 0644 or 0755.
//!
//! Each plan reads the packed files ([`digest_now`]), so that a changed file is a change of the
//! desired state although the document has not changed.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use blueprint::Value;
use flate2::{Compression, GzBuilder};
use provider::{
    Applied, CheckFindings, ErrorKind, Observed, Operation, ProviderError, ReadOutcome,
};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::archive_list::{ArchiveEntries, ArchiveEntry, entry_names, globs, parts};
use super::existing::{self, Existing};
use super::own_paths::OwnPaths;
use super::place::{PathContext, entries, failed, flag, id_of, is_set, text};
use super::requests::{OwnedApplyRequest, OwnedReadRequest, deleted};
use super::whole_file::{self, PathContent};
use crate::regular_file;

const MODE: u32 = 0o644;

#[derive(Clone, Copy, PartialEq)]
enum ArchiveFormat {
    Zip,
    Tar,
    TarGz,
}

/// The format of a spec: from `format`, else from the extension of `path`.
fn format(spec: &Value) -> Option<ArchiveFormat> {
    let path = text(spec, "path").unwrap_or_default();
    match text(spec, "format") {
        Some("zip") => Some(ArchiveFormat::Zip),
        Some("tar") => Some(ArchiveFormat::Tar),
        Some("tar.gz") => Some(ArchiveFormat::TarGz),
        Some(_) => None,
        None if path.ends_with(".zip") => Some(ArchiveFormat::Zip),
        None if path.ends_with(".tar") => Some(ArchiveFormat::Tar),
        None if path.ends_with(".tar.gz") || path.ends_with(".tgz") => Some(ArchiveFormat::TarGz),
        None => None,
    }
}

/// Checks the format, that there is something to pack, and the patterns.
pub(super) fn check(spec: &Value) -> CheckFindings {
    let mut checked = CheckFindings::default();
    let path_known = text(spec, "path").is_some();
    if path_known && !is_set(spec, "format") && format(spec).is_none() {
        checked.refuse(
            "path",
            "the name does not end in `.zip`, `.tar`, `.tar.gz` or `.tgz`: write `format`",
        );
    }
    if !is_set(spec, "root") && !is_set(spec, "entries") {
        checked.refuse(
            "",
            "there is nothing to pack: write `root`, `entries` or both",
        );
    }
    if let Err(error) = entry_names(spec) {
        checked.refuse("entries", error.message);
    }
    for field in ["include", "exclude"] {
        for (at, pattern) in spec
            .get(field)
            .and_then(Value::as_list)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            if let Some(Err(error)) = pattern.as_text().map(|pattern| globs(&[pattern], field)) {
                checked.refuse(format!("{field}[{at}]"), error.message);
            }
        }
        if is_set(spec, field) && !is_set(spec, "root") {
            checked.refuse(
                field,
                format!("`{field}` chooses among the files of `root`, which is not written"),
            );
        }
    }
    checked
}

/// The digest of all input: names, modes, contents.
fn inputs_digest(place: &PathContext, parts: &ArchiveEntries) -> Result<String, ProviderError> {
    let mut all = Sha256::new();
    for (name, part) in &parts.parts {
        place.check_cancelled()?;
        let (mode, digest) = match part {
            ArchiveEntry::File { path, executable } => (*executable, whole_file::digest_of(path)?),
            ArchiveEntry::Text(text) => (false, whole_file::digest(text.as_bytes())),
        };
        all.update(format!("{name}\0{mode}\0{digest}\n"));
    }
    Ok(whole_file::hex(&all.finalize()))
}

/// The digest of the current input of a spec, in the form of `inputsSha256`.
pub(super) fn digest_now(place: &PathContext, spec: &Value) -> Result<Value, ProviderError> {
    let own = place.target_path(text(spec, "path").unwrap_or_default())?;
    let secret = spec.get("entries").is_some_and(Value::has_secret);
    Ok(Value::from(inputs_digest(place, &parts(place, spec, &own)?)?).tainted(secret))
}

/// Whether the file at a path equals the archive that the spec packs now.
pub(super) fn is_packed_at(
    place: &PathContext,
    spec: &Value,
    path: &Path,
) -> Result<bool, ProviderError> {
    match (parts(place, spec, path), format(spec)) {
        (Ok(parts), Some(format)) => {
            Ok(pack_digest(place, &parts, format)? == whole_file::digest_of(path)?)
        }
        _ => Ok(false),
    }
}

/// Compares the object at the path of an archive to be created with the archive.
pub(super) fn existing(
    place: &PathContext,
    own: &OwnPaths,
    path: &Path,
    desired: &Value,
) -> Result<Existing, ProviderError> {
    match whole_file::inspect_path(path)? {
        PathContent::Nothing => return Ok(existing::nothing_at(path, own)),
        PathContent::File { link: false, .. } => {}
        _ => return Ok(Existing::Different),
    }
    // The same plan may create the packed files.
    let (false, Ok(parts), Some(format)) = (
        desired.has_unknown(),
        parts(place, desired, path),
        format(desired),
    ) else {
        return Ok(Existing::Undecided);
    };
    let is_wanted = whole_file::digest_of(path)? == pack_digest(place, &parts, format)?;
    Ok(if is_wanted {
        Existing::Matching
    } else {
        Existing::Different
    })
}

/// Reads the archive: its digest and size.
pub(super) fn read(
    place: &PathContext,
    own: &OwnPaths,
    recorded: OwnedReadRequest,
) -> Result<ReadOutcome, ProviderError> {
    let Some(path) = recorded.path(place)? else {
        return Ok(ReadOutcome::Unknown);
    };
    let private = own.ownership_of_read(&path, &recorded);
    let PathContent::File { size, .. } = whole_file::inspect_path(&path)? else {
        return Ok(ReadOutcome::Absent);
    };
    let digest = whole_file::digest_of(&path)?;
    let inputs = &recorded.inputs;
    // The outcome of the create is unknown. Packing again tells whether the create wrote this file.
    if recorded.id.is_none() && !is_packed_at(place, inputs, &path)? {
        return Ok(ReadOutcome::Absent);
    }
    let secret = inputs.get("entries").is_some_and(Value::has_secret);
    // The recorded digest of the input. A later change of the files is a change of the desired
    // state, not drift.
    let packed = recorded.outputs.get("inputsSha256").cloned();
    let packed = packed.or_else(|| {
        digest_now(place, inputs)
            .ok()
            .filter(|_| recorded.id.is_none())
    });
    let mut fields = entries(inputs);
    if fields.is_empty() {
        fields.insert("path".into(), place.as_written(&path).into());
    }
    fields.insert("id".into(), Value::Text(id_of(&path)));
    fields.insert("sha256".into(), Value::from(digest).tainted(secret));
    fields.insert(
        "inputsSha256".into(),
        packed.unwrap_or_default().tainted(secret),
    );
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

/// Packs the archive, or removes it.
pub(super) fn apply(
    place: &PathContext,
    own: &OwnPaths,
    change: OwnedApplyRequest,
) -> Result<Applied, ProviderError> {
    let path = change.path(place)?;
    let found = whole_file::inspect_path(&path)?;
    if change.operation == Operation::Delete {
        return match found {
            PathContent::Nothing => whole_file::remove(&path, own).map(|()| deleted(Vec::new())),
            _ if !existing::is_created_by_provider(&change.private) => Ok(existing::kept(&path)),
            PathContent::File { link: false, .. } => {
                whole_file::remove(&path, own).map(|()| deleted(Vec::new()))
            }
            _ => Ok(deleted(vec![format!(
                "`{}` is no archive of ours any more: it is kept",
                path.display()
            )])),
        };
    }
    let spec = &change.desired;
    let format = format(spec).ok_or_else(|| {
        ProviderError::new(ErrorKind::Document, "the format is not known").at("format")
    })?;
    let parts = parts(place, spec, &path)?;
    if !change.sources.is_empty() {
        change.check_source("root", &inputs_digest(place, &parts)?)?;
    }
    let create = change.operation == Operation::Create;
    let same = match found {
        PathContent::Nothing => false,
        PathContent::File { link, .. } if create => {
            let same =
                !link && whole_file::digest_of(&path)? == pack_digest(place, &parts, format)?;
            if !same && !flag(spec, "overwrite") {
                return Err(whole_file::in_the_way(&path, "a file"));
            }
            same
        }
        PathContent::File { .. } => false,
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
    if !same {
        let fresh = create && matches!(found, PathContent::Nothing);
        let above = whole_file::write(&path, MODE, fresh, own, |file| {
            pack(place, &parts, format, file)?;
            // The files are read twice. If the digest is the same before and after, the archive
            // contains the planned content.
            change.check_source("root", &inputs_digest(place, &parts)?)
        })?;
        if create {
            private = existing::ownership_of_created(above, &change.private);
        }
    } else if create {
        private = own.ownership_of_found(&path, &change.private);
    }
    let size = fs::metadata(&path)
        .map_err(|error| failed("look at", &path, &error))?
        .len();
    let secret = spec.get("entries").is_some_and(Value::has_secret);
    let id = change.id_at(&path);
    let mut fields = entries(spec);
    fields.insert("id".into(), Value::Text(id.clone()));
    fields.insert(
        "sha256".into(),
        Value::from(whole_file::digest_of(&path)?).tainted(secret),
    );
    fields.insert(
        "inputsSha256".into(),
        Value::from(inputs_digest(place, &parts)?).tainted(secret),
    );
    fields.insert(
        "size".into(),
        Value::Int(i64::try_from(size).unwrap_or(i64::MAX)),
    );
    existing::set_existed(&mut fields, &private);
    Ok(Applied::ready(id, Value::map(fields))
        .with_private(private)
        .with_warnings(parts.warnings))
}

fn pack_digest(
    place: &PathContext,
    parts: &ArchiveEntries,
    format: ArchiveFormat,
) -> Result<String, ProviderError> {
    let mut scratch = tempfile::tempfile()
        .map_err(|error| failed("write", Path::new("a temporary file"), &error))?;
    pack(place, parts, format, &mut scratch)?;
    scratch
        .rewind()
        .and_then(|()| whole_file::digest_all(&scratch))
        .map_err(|error| failed("read", Path::new("a temporary file"), &error))
}

fn pack(
    place: &PathContext,
    parts: &ArchiveEntries,
    format: ArchiveFormat,
    file: &mut fs::File,
) -> Result<(), ProviderError> {
    let buffered = io::BufWriter::new(file);
    let packed = match format {
        ArchiveFormat::Zip => pack_zip(place, parts, buffered),
        ArchiveFormat::Tar => pack_tar(place, parts, buffered).map(drop),
        ArchiveFormat::TarGz => pack_tar(
            place,
            parts,
            GzBuilder::new()
                .mtime(0)
                .operating_system(255)
                .write(buffered, Compression::new(6)),
        )
        .and_then(|gzip| Ok(gzip.finish()?.flush()?)),
    };
    packed.map_err(|failure| failure.0)
}

/// An error of packing, possibly one that a writer passed on.
struct PackFailure(ProviderError);

impl From<ProviderError> for PackFailure {
    fn from(error: ProviderError) -> PackFailure {
        PackFailure(error)
    }
}

impl From<io::Error> for PackFailure {
    fn from(error: io::Error) -> PackFailure {
        PackFailure(failed("write", Path::new("the archive"), &error))
    }
}

impl From<zip::result::ZipError> for PackFailure {
    fn from(error: zip::result::ZipError) -> PackFailure {
        PackFailure(ProviderError::new(
            ErrorKind::Permanent,
            format!("cannot pack the archive: {error}"),
        ))
    }
}

fn pack_zip(
    place: &PathContext,
    parts: &ArchiveEntries,
    out: impl Write + Seek,
) -> Result<(), PackFailure> {
    let mut zip = zip::ZipWriter::new(out);
    for (name, part) in &parts.parts {
        place.check_cancelled()?;
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(6))
            .last_modified_time(zip::DateTime::default())
            .large_file(matches!(part, ArchiveEntry::File { path, .. } if fs::metadata(path).is_ok_and(|file| file.len() >= u64::from(u32::MAX))))
            .unix_permissions(mode(part));
        zip.start_file(name.as_str(), options)?;
        match part {
            ArchiveEntry::Text(text) => zip.write_all(text.as_bytes())?,
            ArchiveEntry::File { path, .. } => {
                io::copy(&mut open(path)?, &mut zip)?;
            }
        }
    }
    zip.finish()?.flush()?;
    Ok(())
}

fn pack_tar<W: Write>(
    place: &PathContext,
    parts: &ArchiveEntries,
    out: W,
) -> Result<W, PackFailure> {
    let mut tar = tar::Builder::new(out);
    for (name, part) in &parts.parts {
        place.check_cancelled()?;
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(mode(part));
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        match part {
            ArchiveEntry::Text(text) => {
                header.set_size(text.len() as u64);
                tar.append_data(&mut header, name, text.as_bytes())?;
            }
            ArchiveEntry::File { path, .. } => {
                let file = open(path)?;
                let size = file.metadata()?.len();
                header.set_size(size);
                // A file that grows while it is packed must not exceed the size in its header.
                tar.append_data(&mut header, name, file.take(size))?;
            }
        }
    }
    let mut out = tar.into_inner()?;
    out.flush()?;
    Ok(out)
}

fn open(path: &Path) -> Result<fs::File, ProviderError> {
    regular_file::open(path).map_err(|error| failed("read", path, &error))
}

fn mode(part: &ArchiveEntry) -> u32 {
    if matches!(
        part,
        ArchiveEntry::File {
            executable: true,
            ..
        }
    ) {
        0o755
    } else {
        0o644
    }
}
