//! What a form of another tool is.

use crate::phases::Taken;
use crate::phases::generation::SavedGeneration;
use dialects::Dialects;
use serde_json::Value as Json;
use state::{InstanceName, Snapshot};

/// What is written of an instance.
pub struct Whole<'a> {
    /// Its name.
    pub instance: &'a InstanceName,
    /// What is true now.
    pub snapshot: &'a Snapshot,
    /// The documents and inputs of the last operation that ended well.
    pub kept: &'a SavedGeneration,
    /// The languages of documents.
    pub dialects: &'a Dialects,
    /// Whether secrets are written in clear.
    pub reveal: bool,
}

/// What was written.
pub struct Written {
    /// The whole.
    pub tree: Json,
    /// The secrets that are not in it, as they are called.
    pub left_out: Vec<String>,
}

/// What another tool has stored of the resources that it managed.
pub struct ForeignStack {
    /// What it is called.
    pub instance: String,
    /// The name of its document among the files.
    pub document: String,
    /// The name of the environment that is given along, among the files.
    pub environment: Option<String>,
    /// Everything that is read, by name.
    pub files: Vec<(String, String)>,
    /// The resources.
    pub resources: Vec<Taken>,
}

/// A form of another tool.
pub trait Form: Sync {
    /// What `--as` calls it.
    fn name(&self) -> &'static str;

    /// Whether a text is of this form.
    fn recognises(&self, tree: &Json) -> bool;

    /// Reads the stack of the other tool. The error is a phrase that says why it cannot be used.
    fn read(&self, tree: &Json) -> Result<ForeignStack, String>;

    /// Writes an instance. None if it is not of a language that the other tool reads.
    fn write(&self, whole: &Whole<'_>) -> Option<Written>;
}
