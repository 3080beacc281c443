//! The dialects that there are.

use diag::Code;

use blueprint::{Name, Value};

use crate::{Beside, Conventions, Dialect, Document, Settings, Surrounded};

/// All dialects, in the order in which they are asked.
pub fn dialects() -> &'static [&'static dyn Dialect] {
    &[&crate::blueprint::BlueprintDialect, &crate::hot::HotDialect]
}

/// The dialect of that name.
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    dialects().iter().find(|known| known.name() == name).copied()
}

/// The conventions of the dialect of that name, where it has its own.
pub fn conventions(dialect: &str) -> Option<&'static dyn Conventions> {
    crate::list::dialect(dialect)?.conventions()
}

/// The dialect that recognises a document best; `None` if none does.
pub fn dialect_of(document: &Document<'_>) -> Option<&'static dyn Dialect> {
    let best =
        dialects().iter().map(|dialect| (dialect.recognise(document), *dialect)).rev().max_by_key(|(sure, _)| *sure);
    best.filter(|(sure, _)| *sure > 0).map(|(_, dialect)| dialect)
}

/// Whether a text is certainly a document: by its version or its name, not only by keys that other files may have too.
pub fn is_document(document: &Document<'_>) -> bool {
    /// A name alone makes a dialect as sure as that.
    const BY_NAME: u8 = 60;
    dialects().iter().any(|dialect| dialect.recognise(document) >= BY_NAME)
}

/// What files that are given along with a root come to. A root whose own dialect has no such files hands them down to its
/// children, and takes from them what is given for its inputs. Empty where no dialect has such files.
pub fn surround(root: &Document<'_>, beside: &[Beside<'_>]) -> Surrounded {
    let own = dialect_of(root).and_then(|dialect| dialect.surround(root, beside));
    let other = || dialects().iter().find_map(|dialect| dialect.surround(root, beside));
    own.or_else(other).unwrap_or_default()
}

/// Every diagnostic code that a dialect reports: those that several share, then those of one alone.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let own = dialects().iter().flat_map(|dialect| dialect.codes().iter().copied());
    crate::codes::CODES.iter().copied().chain(own.flatten().copied())
}

impl Settings {
    /// From what is written for a dialect, by name. Else why not, as a sentence goes on behind the place of the settings.
    pub fn read(dialect: &str, written: &[(Name, Value)]) -> Result<Settings, String> {
        match crate::list::dialect(dialect) {
            Some(dialect) => Settings::of(dialect.settings(), written),
            None => Err("is about no dialect".to_owned()),
        }
    }
}
