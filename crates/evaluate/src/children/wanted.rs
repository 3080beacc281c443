//! Answers the requests of dialects for data besides the text of a document, and loads the text
//! again with the answers.
//!
//! A file that a dialect wants is pinned like an included document, so that a saved plan reads the
//! same content.

use std::sync::Arc;

use blueprint::Name;
use diag::{Diagnostics, Span};
use dialect::{Answer, LoadContext, Wanted};
use provider::TypeRef;
use source::{Location, Request};
use understand::load::{Loaded, load};
use understand::pinned::{Pinned, PinnedChild, PinnedRequest};

use super::reading::ReadingContext;

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
    for _ in 0..MOST_ROUNDS {
        if loaded.wanted.is_empty() {
            return loaded;
        }
        let dialect = loaded
            .blueprint
            .as_ref()
            .map_or("", |blueprint| blueprint.dialect);
        let mut answers = Vec::with_capacity(loaded.wanted.len());
        for wanted in std::mem::take(&mut loaded.wanted) {
            let answer = match &wanted {
                Wanted::File(path) => match file(reading, pinned, location, path).await {
                    Ok(text) => Answer::File(text),
                    Err(why) => Answer::Missing(why),
                },
                Wanted::Setting(name) => {
                    Answer::Setting(context.settings.of(dialect).value(name).unwrap_or_default())
                }
                Wanted::Schema(name) => {
                    match reading
                        .catalogs
                        .resource_type(&reading.catalogs.packages().resolve(name.clone()))
                    {
                        TypeRef::Known(ty) => Answer::Schema(ty.schema.clone()),
                        _ => Answer::Missing("no provider offers it".into()),
                    }
                }
            };
            answers.push((wanted, answer));
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
    loaded
}

/// The text of a file, relative to a document. The error is the reason as a phrase.
async fn file(
    reading: &ReadingContext<'_>,
    pinned: &mut Pinned,
    location: Option<&Location>,
    path: &Name,
) -> Result<Name, Name> {
    let request = Request::path(location.cloned(), path.clone());
    let of_request = PinnedRequest::new(&request, &reading.folder);
    let key = of_request.key();
    let document = match reading.earlier_reads.documents.get(&key) {
        Some(earlier) => {
            let location = earlier.location.resolve_in(&reading.folder);
            Ok(source::FetchedDocument {
                location,
                bytes: earlier.text.as_bytes().into(),
                digest: earlier.digest,
            })
        }
        None => reading.world.document(&request).await,
    };
    let document = document.map_err(|error| Name::from(error.to_string()))?;
    let bytes: Arc<[u8]> = document.bytes;
    let text: Name = std::str::from_utf8(&bytes)
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
