//! Forms of other tools for what is remembered of an instance: `cyan state export --as FORM`, and `import`, which recognises them.
//!
//! A form is a file of this folder and a line in [`FORMS`].
//!
//! Not here: our own form (`state::Exported`); what becomes of what was read.

mod heat;

use engine::Taken;
use engine::generation::Kept;
use serde_json::Value as Json;
use state::{InstanceName, Snapshot};

use crate::exit::CommandError;

/// Every form that is known.
pub(crate) const FORMS: &[&dyn Form] = &[&heat::Abandoned];

/// What is written of an instance.
pub(crate) struct Whole<'a> {
    /// Its name.
    pub(crate) instance: &'a InstanceName,
    /// What is true now.
    pub(crate) snapshot: &'a Snapshot,
    /// The documents and inputs of the last operation that ended well.
    pub(crate) kept: &'a Kept,
    /// Whether secrets are written in clear.
    pub(crate) reveal: bool,
}

/// What was written.
pub(crate) struct Written {
    /// The whole.
    pub(crate) tree: Json,
    /// The secrets that are not in it, as they are called.
    pub(crate) left_out: Vec<String>,
}

/// What another tool has told of what it managed.
pub(crate) struct Told {
    /// What it is called.
    pub(crate) instance: String,
    /// The name of its document among the files.
    pub(crate) document: String,
    /// The name of the environment that is given along, among the files.
    pub(crate) environment: Option<String>,
    /// Everything that is read, by name.
    pub(crate) files: Vec<(String, String)>,
    /// What is there.
    pub(crate) things: Vec<Taken>,
}

/// A form of another tool.
pub(crate) trait Form: Sync {
    /// What `--as` calls it.
    fn name(&self) -> &'static str;

    /// Whether a text is of this form.
    fn recognises(&self, tree: &Json) -> bool;

    /// Reads what the other tool has told. Why it cannot be used, as a phrase.
    fn read(&self, tree: &Json) -> Result<Told, String>;

    /// Writes an instance. None if it is not of a language that the other tool reads.
    fn write(&self, whole: &Whole<'_>) -> Option<Written>;
}

/// The form of that name.
pub(crate) fn form(name: &str) -> Result<&'static dyn Form, CommandError> {
    FORMS.iter().find(|form| form.name() == name).copied().ok_or_else(|| {
        let known: Vec<&str> = FORMS.iter().map(|form| form.name()).collect();
        CommandError::usage(format!("there is no form `{name}`; there is `{}`", known.join("`, `")))
    })
}

/// The form that a text is of.
pub(crate) fn recognised(text: &str) -> Option<&'static dyn Form> {
    let tree: Json = serde_json::from_str(text).ok()?;
    FORMS.iter().find(|form| form.recognises(&tree)).copied()
}
