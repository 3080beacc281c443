//! The objects that a command is given, as documents.

use std::path::{Path, PathBuf};

use engine::{DocumentSource, Options, Session, SessionOptions, StageRequest};
use serde_json::Value as Json;

use crate::arguments::Global;
use crate::commands::render::for_rendering;
use crate::exit::CommandError;
use crate::open;
use crate::rendering::{SecretParts, rank, render};
use crate::view::report::Report;

/// The dialect of Cartographer's objects, and its settings.
const DIALECT: &str = "cartographer";
const PLAIN: &str = "plain";
const PLATFORM: &str = "platform";

/// The objects of documents, those of Cartographer as they are, and those of the platforms that
/// the documents name in `cyan.toml`. Namespaces and definitions of kinds come first. `None` if a
/// document has a mistake, which is reported.
///
/// # Errors
/// If a document cannot be read or staged.
pub(super) async fn objects(
    paths: &[PathBuf],
    global: &Global,
    report: &mut Report,
) -> Result<Option<Vec<Json>>, CommandError> {
    let global = for_rendering(global);
    let mut read: Vec<PathBuf> = Vec::new();
    let mut open: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    let mut objects = Vec::new();
    let mut failed = false;
    while let Some(path) = open.pop() {
        let whole = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        if read.contains(&whole) {
            continue;
        }
        read.push(whole);
        let source = open::source(Some(&path))?;
        let platform = platform(&source, &global)?;
        open.extend(platform.into_iter().rev());
        match of_document(source, &global, report).await? {
            Some(found) => objects.extend(found),
            None => failed = true,
        }
    }
    objects.sort_by_key(rank);
    Ok(Some(objects).filter(|_| !failed))
}

fn platform(source: &DocumentSource, global: &Global) -> Result<Vec<PathBuf>, CommandError> {
    let config = open::configuration(global, &source.project_folder())?;
    Ok(config.dialect_paths(DIALECT, PLATFORM))
}

async fn of_document(
    source: DocumentSource,
    global: &Global,
    report: &mut Report,
) -> Result<Option<Vec<Json>>, CommandError> {
    let folder = source.project_folder();
    let session = plain_session(global, &folder, report)?;
    let request = StageRequest {
        options: Options::default(),
        ..StageRequest::new(source)
    };
    // The objects stay in this process, or go to a cluster on loopback that ends with it.
    let rendering = render(&session, request, SecretParts::Written, report).await?;
    Ok(rendering.map(|rendering| rendering.objects))
}

/// A session in which owners and chains are objects as any other.
fn plain_session(
    global: &Global,
    folder: &Path,
    report: &mut Report,
) -> Result<Session, CommandError> {
    let config = open::configuration(global, folder)?;
    let config = config.with_dialect_switch(DIALECT, PLAIN, true);
    let options = SessionOptions {
        state: global.state.clone(),
        simulate: global.simulate,
        catalogs: global.catalog.clone(),
        strict: global.strict,
        lists_all: false,
    };
    let session = Session::new(report.installed.clone(), config, &options, folder)?;
    report.opened.push(session.closer());
    Ok(session)
}
