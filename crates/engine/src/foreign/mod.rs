//! State formats of other tools. Each format is a file of this folder and a line in [`FORMS`].
//!
//! Not here: the format of this program (`state::Exported`); how the resources become managed
//! (`engine`).

mod adopt;
pub mod deployment;
mod form;
mod heat;
mod hidden;
mod source;

use serde_json::Value as Json;

pub use self::adopt::{FileWrite, lay_out, read};
pub use self::form::{ExportInput, ForeignExport, ForeignStack, Form, HiddenParameter};
use crate::error::Error;

/// All known formats.
pub const FORMS: &[&dyn Form] = &[&heat::HeatFormat];

/// Returns the format with a name.
pub fn form(name: &str) -> Result<&'static dyn Form, Error> {
    FORMS
        .iter()
        .find(|form| form.name() == name)
        .copied()
        .ok_or_else(|| {
            let known = FORMS.iter().map(|form| form.name());
            let known: Vec<&str> = known.chain([deployment::NAME]).collect();
            Error::usage(format!(
                "there is no form `{name}`; there is `{}`",
                known.join("`, `")
            ))
        })
}

/// Returns the format of a text; `None` if the text has none of the known formats.
pub fn recognised(text: &str) -> Option<&'static dyn Form> {
    let tree: Json = serde_json::from_str(text).ok()?;
    FORMS.iter().find(|form| form.recognises(&tree)).copied()
}
