//! The outline of a schema: what it says about itself, and the place of each entry in its text. It can
//! be stored, so that later only the entries that a document uses are read.

use std::ops::Range;
use std::sync::Arc;

use blueprint::{IndexMap, Name};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The text of a schema, of which parts are read.
pub trait SchemaText: Send + Sync {
    /// The part at this place, in bytes. `None` if it cannot be read.
    fn part(&self, place: Range<usize>) -> Option<String>;
}

impl SchemaText for Arc<str> {
    fn part(&self, place: Range<usize>) -> Option<String> {
        self.get(place).map(str::to_owned)
    }
}

/// Where the parts of a schema are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SchemaOutline {
    pub(crate) name: Name,
    pub(crate) version: Option<Name>,
    pub(crate) description: Name,
    pub(crate) config: Option<Range<usize>>,
    pub(crate) provider: Option<Range<usize>>,
    pub(crate) types: SectionPlaces,
    pub(crate) resources: SectionPlaces,
    pub(crate) functions: SectionPlaces,
}

/// The places of the entries of a section, by token.
pub(crate) type SectionPlaces = IndexMap<Name, Range<usize>>;

#[derive(Deserialize)]
struct Top<'a> {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, borrow)]
    config: Option<&'a RawValue>,
    #[serde(default, borrow)]
    provider: Option<&'a RawValue>,
    #[serde(default, borrow)]
    types: Option<IndexMap<String, &'a RawValue>>,
    #[serde(default, borrow)]
    resources: Option<IndexMap<String, &'a RawValue>>,
    #[serde(default, borrow)]
    functions: Option<IndexMap<String, &'a RawValue>>,
}

impl SchemaOutline {
    /// Reads the outline of a text.
    pub(crate) fn of(text: &str) -> Result<SchemaOutline, serde_json::Error> {
        let top: Top<'_> = serde_json::from_str(text)?;
        let place = |raw: &RawValue| place(text, raw);
        let section = |entries: Option<IndexMap<String, &RawValue>>| -> SectionPlaces {
            let entries = entries.into_iter().flatten();
            let placed = entries.map(|(token, raw)| (Name::from(token), place(raw)));
            placed.collect()
        };
        Ok(SchemaOutline {
            name: top.name.into(),
            version: top.version.map(Name::from),
            description: top.description.unwrap_or_default().into(),
            config: top.config.map(place),
            provider: top.provider.map(place),
            types: section(top.types),
            resources: section(top.resources),
            functions: section(top.functions),
        })
    }
}

/// The place of a borrowed part in its text.
fn place(text: &str, raw: &RawValue) -> Range<usize> {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + raw.get().len()
}
