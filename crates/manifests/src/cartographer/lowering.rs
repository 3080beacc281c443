//! Lowers a document as a whole: checks its platform, then stamps what each owner's chain lists.

use blueprint::Blueprint;
use cartographer::compat::Compat;
use diag::FileId;
use dialect::{Document, Lowered};

use super::faults::check;
use super::owners::OwnerLowering;
use super::parts::LoweredParts;
use super::platform::Platform;
use super::runnables::lower_runnables;
use super::schemas::KindSchemas;
use super::settings::{COMPAT, NAME, platform_files};
use super::together::{DefinedSchemas, check_together};
use crate::folder;
use crate::lowering::{declared, named};
use crate::objects::DeclaredObjects;

/// Lowers a stream or a folder. Returns its manifests and what its owners need as resources, and all
/// mistakes.
pub(super) fn lower(document: &Document<'_>) -> Lowered {
    let (declared, span) = declared(document);
    let mut parts = LoweredParts {
        found: declared.found,
        ..LoweredParts::default()
    };
    let (mut platform, others) = Platform::take(declared.objects, &mut parts.found);
    let defined = DefinedSchemas::read(&others);
    parts.resources = named(others, &mut parts.found);
    let mut schemas = KindSchemas::default();
    for object in platform.objects() {
        check(object, &mut schemas, &mut parts.found);
    }
    let settings = document.context.settings.of(NAME);
    let compat = match settings.switch(COMPAT) {
        Some(true) => Compat::Upstream,
        _ => Compat::Ours,
    };
    let outside = platform_files(document);
    let mut further = DeclaredObjects {
        found: outside.found,
        ..DeclaredObjects::default()
    };
    further.files(&outside.files);
    platform.extend(further.objects);
    let inside = folder::read(document).files;
    let files = inside.iter().chain(&outside.files);
    let texts: Vec<(FileId, &str)> = files
        .map(|file| (file.file, file.text.as_ref()))
        .chain([(document.file, document.text)])
        .collect();
    platform.find_ytt_lines(&texts);
    parts.found.append(further.found);
    let owners = OwnerLowering::new(&platform, compat);
    for owner in &platform.owners {
        owners.lower(owner, &mut parts);
    }
    lower_runnables(&platform, compat, &mut parts);
    check_together(&platform, &defined, &mut parts.found);
    let mut found = parts.found;
    found.sort();
    Lowered {
        blueprint: Blueprint {
            dialect: NAME,
            span: Some(span),
            resources: parts.resources,
            locals: parts.locals,
            ..Blueprint::default()
        },
        diagnostics: found,
    }
}
