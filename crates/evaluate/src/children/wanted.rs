//! Answers the requests of dialects for data besides the text of a document, and loads the text
//! again with the answers. Opens the packages that the document names.
//!
//! A file that a dialect wants is pinned like an included document, so that a saved plan reads the
//! same content. So is the listing of a folder, so that a saved plan has the same files.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use blueprint::{IndexMap, Name};
use diag::{Diagnostic, Diagnostics, FileId, Files, Span};
use dialect::{Answer, FolderEntry, LoadContext, PackageRequest, Wanted};
use provider::TypeRef;
use source::{Location, Request};
use understand::codes;
use understand::load::{Loaded, load};
use understand::pinned::{Pinned, PinnedChild, PinnedRequest};

use super::reading::ReadingContext;
use crate::packages::open_packages;

/// The maximum size of all texts that a dialect wants as parts of one document.
const MOST_TEXT_BYTES: u64 = source::ReadLimits::DOCUMENT_BYTES;

/// The maximum number of rounds of questions of a dialect about one document.
const MOST_ROUNDS: usize = 16;

/// Loads a text again until its dialect has no more requests. The answers are added to `context`.
pub(super) async fn load_with_answers(
    reading: &mut ReadingContext<'_>,
    pinned: &mut Pinned,
    mut loaded: Loaded,
    context: &mut LoadContext,
    location: Option<&Location>,
    found: &mut Diagnostics,
) -> Loaded {
    let mut text_bytes = 0;
    for _ in 0..MOST_ROUNDS {
        if loaded.wanted.is_empty() {
            break;
        }
        let dialect = loaded
            .blueprint
            .as_ref()
            .map_or("", |blueprint| blueprint.dialect);
        let mut answers: IndexMap<Wanted, Answer> = IndexMap::default();
        for wanted in &loaded.wanted {
            if answers.contains_key(wanted) {
                continue;
            }
            let answer = match wanted {
                Wanted::File(path) => {
                    let request = Request::path(location.cloned(), path.clone());
                    match fetch(reading, pinned, &request).await {
                        Ok(text) => Answer::File(text),
                        Err(why) => Answer::Missing(why),
                    }
                }
                Wanted::Text(path) => {
                    let request = Request::path(location.cloned(), path.clone());
                    match fetch(reading, pinned, &request).await {
                        Ok(text) => {
                            text_bytes += text.len() as u64;
                            if text_bytes > MOST_TEXT_BYTES {
                                found.push(too_large(loaded.file));
                                return loaded;
                            }
                            let shown = shown_beside(reading.files, loaded.file, path);
                            Answer::Text(reading.files.add(shown, text.clone()), text)
                        }
                        Err(why) => Answer::Missing(why),
                    }
                }
                Wanted::Folder(path) => {
                    let request = Request::path(location.cloned(), path.clone()).for_folder();
                    match fetch(reading, pinned, &request).await {
                        Ok(listing) => Answer::Folder(FolderEntry::of_listing(&listing)),
                        Err(why) => Answer::Missing(why),
                    }
                }
                Wanted::Setting(name) => {
                    Answer::Setting(context.settings.of(dialect).value(name).unwrap_or_default())
                }
                Wanted::Schema(name) => schema(reading, name).await,
                Wanted::Package(request) => package(reading, request, location).await,
            };
            answers.insert(wanted.clone(), answer);
        }
        context.answers = context.answers.with(answers);
        let ReadingContext {
            dialects,
            functions,
            catalogs,
            ..
        } = *reading;
        loaded = load(
            reading.files,
            loaded.file,
            dialects,
            functions,
            catalogs.packages(),
            context,
            found,
        );
    }
    if !loaded.wanted.is_empty() {
        found.push(
            dialect::codes::UNSUPPORTED_FEATURE
                .new("the document cannot be loaded: its dialect requests more data in every round")
                .label(
                    Span::new(loaded.file, 0, 0),
                    format!("it asked more than {MOST_ROUNDS} times"),
                ),
        );
    }
    if let Some(blueprint) = &loaded.blueprint {
        open_packages(blueprint, reading.catalogs, reading.world).await;
    }
    loaded
}

/// The schema of a resource type, whose package is opened first.
async fn schema(reading: &ReadingContext<'_>, name: &Name) -> Answer {
    let id = reading.catalogs.packages().resolve(name.clone());
    if reading.catalogs.is_closed(id.package_name()) {
        let request = PackageRequest::named(id.package_name());
        if let Err(why) = reading.world.open_package(&request).await {
            return Answer::Missing(why);
        }
    }
    match reading.catalogs.resource_type(&id) {
        TypeRef::Known(ty) => Answer::Schema(ty.schema.clone()),
        _ => Answer::Missing("no provider offers it".into()),
    }
}

/// A hosted package, which is opened. A path of its program is resolved in the folder of the document.
async fn package(
    reading: &ReadingContext<'_>,
    request: &PackageRequest,
    location: Option<&Location>,
) -> Answer {
    let mut request = Cow::Borrowed(request);
    if let Some(path) = &request.path {
        let folder = match location {
            Some(location) => location.base().map(Name::from),
            None => reading.world.environment().working_directory(),
        };
        let Some(folder) = folder else {
            let why = "only a document on this machine can state the path of a plugin";
            return Answer::Missing(why.into());
        };
        let path = Path::new(folder.as_ref()).join(path.as_ref());
        request.to_mut().path = path.to_str().map(Name::from);
    }
    match reading.world.open_package(&request).await {
        Ok(package) => Answer::Package(package),
        Err(why) => Answer::Missing(why),
    }
}

/// The text of a file, or the listing of a folder, which is pinned. The error is the reason as a
/// phrase.
async fn fetch(
    reading: &ReadingContext<'_>,
    pinned: &mut Pinned,
    request: &Request,
) -> Result<Arc<str>, Name> {
    let of_request = PinnedRequest::new(request, &reading.folder);
    let key = of_request.key();
    let document = reading
        .fetch(&key, request)
        .await
        .map_err(|error| Name::from(error.to_string()))?;
    let text: Arc<str> = std::str::from_utf8(&document.bytes)
        .map_err(|_| Name::from("it is not UTF-8 text"))?
        .into();
    let child = PinnedChild {
        request: of_request,
        location: document.location.relative_to(&reading.folder),
        digest: document.digest,
        text: text.clone(),
    };
    pinned.documents.insert(key, child);
    Ok(text)
}

/// The displayed path of a file, given its path relative to a document.
fn shown_beside(files: &Files, document: FileId, path: &str) -> String {
    let document = files.get(document).map_or("", |file| file.name());
    match document.rsplit_once('/') {
        Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

fn too_large(document: FileId) -> Diagnostic {
    codes::DOCUMENT_TOO_LARGE
        .new("the texts of a document may have 32 MiB together, these have more")
        .label(
            Span::new(document, 0, 0),
            "not read: the document consists of several files",
        )
        .help("divide it into several documents")
}
