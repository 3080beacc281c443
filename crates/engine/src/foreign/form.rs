//! The trait for state formats of other tools.

use crate::phases::ForeignObject;
use crate::phases::generation::SavedGeneration;
use blueprint::{Name, Value};
use dialect::Dialects;
use serde_json::Value as Json;
use state::{InstanceName, Snapshot};

/// An instance to export.
pub struct ExportInput<'a> {
    /// Its name.
    pub instance: &'a InstanceName,
    /// The current state.
    pub snapshot: &'a Snapshot,
    /// The documents and inputs of the last successful operation.
    pub kept: &'a SavedGeneration,
    /// The dialects.
    pub dialects: &'a Dialects,
    /// Whether secrets are written in clear.
    pub reveal: bool,
}

/// An exported instance.
pub struct ForeignExport {
    /// The document of the other tool.
    pub tree: Json,
    /// The names of the secrets that the export leaves out.
    pub left_out: Vec<String>,
}

/// A stack that another tool has exported.
pub struct ForeignStack {
    /// The name of the stack.
    pub instance: String,
    /// The name of its document among the files.
    pub document: String,
    /// The name of its environment among the files.
    pub environment: Option<String>,
    /// All texts of the stack, by name.
    pub files: Vec<(String, String)>,
    /// The resources to adopt.
    pub resources: Vec<ForeignObject>,
    /// The parameters whose values the tool does not give. They are in no file.
    pub hidden: Vec<HiddenParameter>,
    /// What the dialect would remember of each group with these members: the addresses of groups,
    /// with names between `/`, and their memory.
    pub groups: Vec<(Name, Value)>,
}

/// A parameter whose value the tool does not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenParameter {
    /// Its name.
    pub name: Name,
    /// Whether the document declares it. If not, documents below it do, and only an environment
    /// file can set it.
    pub is_input: bool,
}

/// A state format of another tool.
pub trait Form: Sync {
    /// The name of the format for `--as`.
    fn name(&self) -> &'static str;

    /// Whether a text has this format.
    fn recognises(&self, tree: &Json) -> bool;

    /// Reads the stack of the other tool. An error is a phrase that says why the stack cannot be
    /// used.
    fn read(&self, tree: &Json) -> Result<ForeignStack, String>;

    /// Writes an instance. Returns `None` if the other tool cannot read its dialect.
    fn write(&self, whole: &ExportInput<'_>) -> Option<ForeignExport>;
}
