//! What dialects want besides the text of a document: it is asked for, and the text is loaded again with the answers.
//!
//! A file that a dialect wants is pinned like a document that is included, so that a saved plan reads the same content.

use std::sync::Arc;

use crate::world::World;
use blueprint::Name;
use diag::{Diagnostics, Files, Span};
use dialects::{Answer, Dialects, Surroundings, Wanted};
use expr::FunctionTable;
use provider::{Catalogs, TypeRef};
use source::{Location, Request};
use understand::load::{Loaded, load};
use understand::pinned::{Frozen, FrozenChild, FrozenRequest};

/// A dialect may ask so often about one document, each time knowing the answers so far.
const MOST_ROUNDS: usize = 16;

/// What texts are loaded with, and where answers come from.
pub(super) struct Answering<'a> {
    pub(super) files: &'a mut Files,
    pub(super) dialects: &'a Dialects,
    pub(super) functions: &'a FunctionTable,
    pub(super) catalogs: &'a Catalogs,
    pub(super) world: &'a dyn World,
    /// The folder of the root document.
    pub(super) folder: &'a Name,
    /// Files that were pinned by a saved plan.
    pub(super) kept: &'a Frozen,
    /// Receives the files that are read.
    pub(super) pinned: &'a mut Frozen,
}

/// Loads a text again until its dialect wants nothing more. `context` receives the answers.
pub(super) async fn answered(
    mut with: Answering<'_>,
    mut loaded: Loaded,
    context: &mut Surroundings,
    location: Option<&Location>,
    found: &mut Diagnostics,
) -> Loaded {
    for _ in 0..MOST_ROUNDS {
        if loaded.wanted.is_empty() {
            return loaded;
        }
        let dialect = loaded.blueprint.as_ref().map_or("", |blueprint| blueprint.dialect);
        let mut answers = Vec::with_capacity(loaded.wanted.len());
        for wanted in std::mem::take(&mut loaded.wanted) {
            let answer = match &wanted {
                Wanted::File(path) => match file(&mut with, location, path).await {
                    Ok(text) => Answer::File(text),
                    Err(why) => Answer::Missing(why),
                },
                Wanted::Setting(name) => Answer::Setting(context.settings.of(dialect).value(name).unwrap_or_default()),
                Wanted::Schema(name) => {
                    match with.catalogs.resource_type(&with.catalogs.packages().resolve(name.clone())) {
                        TypeRef::Known(ty) => Answer::Schema(ty.schema.clone()),
                        _ => Answer::Missing("no provider offers it".into()),
                    }
                }
            };
            answers.push((wanted, answer));
        }
        context.answers = context.answers.with(answers);
        let packages = with.catalogs.packages();
        loaded = load(with.files, loaded.file, with.dialects, with.functions, packages, context, found);
    }
    if !loaded.wanted.is_empty() {
        found.push(
            dialects::codes::UNSUPPORTED_FEATURE
                .new("the document cannot be read: its dialect does not stop asking")
                .label(Span::new(loaded.file, 0, 0), format!("it asked more than {MOST_ROUNDS} times")),
        );
    }
    loaded
}

/// The text of a file beside a document. Else why it cannot be had, as a phrase.
async fn file(with: &mut Answering<'_>, location: Option<&Location>, path: &Name) -> Result<Name, Name> {
    let request = Request::path(location.cloned(), path.clone());
    let of_request = FrozenRequest::new(&request, with.folder);
    let key = of_request.key();
    let document = match with.kept.documents.get(&key) {
        Some(kept) => {
            let location = kept.location.seen_from(with.folder);
            Ok(source::Document { location, bytes: kept.text.as_bytes().into(), digest: kept.digest })
        }
        None => with.world.document(&request).await,
    };
    let document = document.map_err(|error| Name::from(error.to_string()))?;
    let bytes: Arc<[u8]> = document.bytes;
    let text: Name = std::str::from_utf8(&bytes).map_err(|_| Name::from("it is not UTF-8 text"))?.into();
    let child = FrozenChild {
        request: of_request,
        location: document.location.relative_to(with.folder),
        digest: document.digest,
        text: text.clone(),
    };
    with.pinned.documents.insert(key, child);
    Ok(text)
}
