//! Adopts a stack that another tool has exported: its documents become files, and a plan adopts its
//! resources.
//!
//! Not here: how existing resources become managed (`plan::imports`).

use std::path::{Component, Path};

use serde_json::Value as Json;

use super::form::{ForeignStack, Form};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::inputs::Inputs;
use crate::named_file::NamedFile;
use crate::phases::Options;
use crate::stage::StageRequest;

/// The result of writing a file of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWrite {
    /// It was written.
    Written,
    /// The file existed and was kept: the user may have corrected it.
    Present,
}

/// Reads an export.
pub fn read(form: &dyn Form, text: &str) -> Result<ForeignStack, Error> {
    read_tree(form, &serde_json::from_str(text).unwrap_or_default())
}

/// Reads an export that is parsed.
pub(super) fn read_tree(form: &dyn Form, tree: &Json) -> Result<ForeignStack, Error> {
    form.read(tree).map_err(|what| unusable(form, what, None))
}

/// Writes a file of an export below the current folder, unless the file exists. Refuses a path
/// outside of the folder.
pub fn lay_out(form: &dyn Form, name: &str, text: &str) -> Result<FileWrite, Error> {
    let path = Path::new(name);
    if name.is_empty()
        || !path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    {
        let help = "give it another name there, and where it is named";
        return Err(unusable(
            form,
            format!("has a file `{name}`, which is not below this folder"),
            Some(help),
        ));
    }
    if path.exists() {
        return Ok(FileWrite::Present);
    }
    let unwritable = |source| Error::Unwritable {
        name: name.to_owned(),
        source,
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    std::fs::write(path, text).map_err(unwritable)?;
    Ok(FileWrite::Written)
}

impl ForeignStack {
    /// Returns the request that deploys the document of the stack and adopts its resources. `given`
    /// overrides what the stack has. The caller sets the instance.
    pub fn request(self, source: DocumentSource, given: Inputs) -> StageRequest {
        let own = self.environment.into_iter().map(NamedFile::new);
        let inputs = Inputs {
            environments: own.chain(given.environments).collect(),
            written: given.written,
            variables: given.variables,
        };
        let options = Options {
            taken: self.resources,
            ..Options::default()
        };
        StageRequest {
            inputs,
            options,
            groups: self.groups,
            ..StageRequest::new(source)
        }
    }
}

/// Returns the error for an export that cannot be imported. `what` is a phrase about the format.
fn unusable(form: &dyn Form, what: String, help: Option<&str>) -> Error {
    Error::Unfit {
        name: format!("the {} form", form.name()),
        what,
        help: help.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::heat::HeatFormat;

    #[test]
    fn unwritable_file_is_reported() {
        // Tests run in the folder of the crate.
        let error =
            lay_out(&HeatFormat, "Cargo.toml/a.yaml", "").expect_err("a file is in the way");
        assert_eq!(error.to_string(), "`Cargo.toml/a.yaml` cannot be written");
    }
}
