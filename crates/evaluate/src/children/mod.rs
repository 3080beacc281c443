//! Reads the children of a document, and their children, in rounds. Each round requests all
//! documents that are known to be needed, concurrently.
//!
//! A document is read and loaded once, however many places include it. It is checked once for all
//! places in which its own children are the same. The location of a document identifies it, not the
//! path in the include.
//!
//! ```text
//! root ──> paths known now ──ask──> texts ──> paths known now ──> ..     until none is left
//! children first: check ──> exports ──> check of the documents that include it
//! ```
//!
//! Not here: the sources of documents (`source`); the evaluation of expressions (`known`); the
//! graph over all documents (`understand::documents`).

mod checking;
mod follow;
mod groups;
mod include_errors;
mod known;
mod placed_mistakes;
mod places;
mod reader;
pub mod reading;
mod searches;
mod settled;
mod wanted;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use blueprint::Value;
use diag::{Diagnostic, Diagnostics};
use state::Snapshot;

use self::known::DataSourceExports;
use crate::resolve::inputs::inputs_known;
use crate::retry::RetryingWorld;
use understand::documents::Documents;
use understand::load::Loaded;
use understand::pinned::Pinned;

use self::places::{IncludePlace, Text};
use self::reader::DocumentReader;
pub use self::reading::ReadingContext;
use self::wanted::load_with_answers;

/// Reads the children of a loaded root, checks all documents, and reports their errors. The errors
/// of the root come first, then those of each child with the includes that lead to it.
///
/// `None` if no dialect recognises the root, which is already reported.
pub async fn documents(
    root: Loaded,
    reading: ReadingContext<'_>,
    found: &mut Diagnostics,
) -> Option<Documents> {
    let mut reading = reading;
    let recorded = reading.before.into_iter().flat_map(Snapshot::values);
    reading.world.mask_all(recorded);
    let mut pinned = Pinned::default();
    let mut context = reading.context.clone();
    let location = reading.location.clone();
    let root = load_with_answers(
        &mut reading,
        &mut pinned,
        root,
        &mut context,
        location.as_ref(),
        found,
    )
    .await;
    // The limits of providers are known when the packages of the root are open.
    let patient = RetryingWorld::new(reading.world, reading.catalogs);
    let reading = ReadingContext {
        world: &patient,
        ..reading
    };
    let blueprint = root.blueprint?;
    let rules = reading.dialects.rules(blueprint.dialect);
    let mut wrong = Diagnostics::new();
    let inputs = match reading.given {
        Some(given) => inputs_known(&blueprint, &rules, given, reading.catalogs, &mut wrong),
        None => vec![Value::unknown(None, None); blueprint.inputs.len()],
    };
    reading.world.mask_all(&inputs);
    let mut of_location: HashMap<_, _, foldhash::fast::FixedState> = HashMap::default();
    of_location.extend(
        reading
            .location
            .clone()
            .map(|location| ((location, reading.context.identity()), Some(0))),
    );
    let text = Text {
        file: root.file,
        location: reading.location.clone(),
        blueprint,
        context,
        found: Diagnostics::new(),
        refused: Vec::new(),
    };
    let children = vec![None; text.blueprint.children.len()];
    let working_directory = reading.world.environment().working_directory();
    let room = reading.context.settings.limits;
    let meter = expr::Meter::new(room.value_bytes, room.all_value_bytes);
    let mut reader = DocumentReader {
        reading,
        working_directory,
        texts: vec![text],
        of_location,
        members: 0,
        samples: Vec::new(),
        reported_too_many_members: false,
        meter: Cell::new(meter),
        places: vec![IncludePlace {
            text: 0,
            parent: None,
            children,
            left_out: BTreeSet::new(),
            level: 0,
        }],
        pinned,
        inputs: inputs.clone(),
        data: DataSourceExports::default(),
        answers: Vec::new(),
        has_open_includes: false,
        is_fixed: true,
        reported_too_many_places: false,
    };
    // Report invalid inputs before errors that follow from them.
    if reader.reading.complete && wrong.has_errors() {
        wrong.retain(Diagnostic::is_error);
        found.append(wrong);
        reader.reading.complete = false;
    }
    reader.follow(&inputs).await;
    reader.read_samples().await;
    reader.settle(&inputs);
    Some(reader.finish(found))
}
