//! Reads and edits the configuration of a stack, in its file beside the document.
//!
//! Not here: the form of the file (`dialect::InstanceFiles`).

use std::path::PathBuf;

use diag::{Diagnostics, Files};
use dialect::{ConfigEdit, ConfigEdited, ConfigEntry, ConfigKey, InstanceFile, InstanceFiles};

use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::frontend::Frontend;
use crate::key::fill_random;
use crate::session::Session;
use crate::stacks::{Stack, report};
use crate::text::read_text;
use crate::whole_file::{Readers, write_whole};

/// What a request does with a file.
type FileUse<'u, T> =
    &'u mut dyn FnMut(&dyn InstanceFiles, &InstanceFile<'_>, &mut Diagnostics) -> T;

impl Session {
    /// Returns the entries of a stack's configuration. Secrets are decrypted with `reveal`.
    pub fn stack_values(
        &self,
        source: &DocumentSource,
        stack: &Stack,
        reveal: bool,
        frontend: &mut dyn Frontend,
    ) -> Result<Vec<ConfigEntry>, Error> {
        let mut read =
            |files: &dyn InstanceFiles, file: &InstanceFile<'_>, found: &mut Diagnostics| {
                files.entries(file, reveal, found)
            };
        self.with_stack_file(source, stack, &mut read, frontend)
            .map(|(entries, _)| entries)
    }

    /// Returns the entry at a key of a stack's configuration.
    pub fn stack_value(
        &self,
        source: &DocumentSource,
        stack: &Stack,
        key: &ConfigKey<'_>,
        reveal: bool,
        frontend: &mut dyn Frontend,
    ) -> Result<Option<ConfigEntry>, Error> {
        let mut read =
            |files: &dyn InstanceFiles, file: &InstanceFile<'_>, found: &mut Diagnostics| {
                files.entry(file, key, reveal, found)
            };
        self.with_stack_file(source, stack, &mut read, frontend)
            .map(|(entry, _)| entry)
    }

    /// Edits a stack's configuration. The file is written completely or not at all.
    pub fn edit_stack_values(
        &self,
        source: &DocumentSource,
        stack: &Stack,
        edit: &ConfigEdit<'_>,
        frontend: &mut dyn Frontend,
    ) -> Result<(ConfigEdited, PathBuf), Error> {
        let mut change =
            |files: &dyn InstanceFiles, file: &InstanceFile<'_>, found: &mut Diagnostics| {
                match files.edit(file, edit, &mut fill_random) {
                    Ok(edited) => Some(edited),
                    Err(mistakes) => {
                        found.append(mistakes);
                        None
                    }
                }
            };
        let (edited, path) = self.with_stack_file(source, stack, &mut change, frontend)?;
        let edited = edited.ok_or(Error::Reported)?;
        write_whole(&path, &edited.text, Readers::Kept)?;
        Ok((edited, path))
    }

    /// Reads the file of a stack for one use, and reports the mistakes in it.
    fn with_stack_file<T>(
        &self,
        source: &DocumentSource,
        stack: &Stack,
        then: FileUse<'_, T>,
        frontend: &mut dyn Frontend,
    ) -> Result<(T, PathBuf), Error> {
        let Some((files, new)) = self.stack_file(source, &stack.name) else {
            return Err(Error::Usage {
                message: format!("`{}` has no files for its stacks", source.shown),
                help: Some("give values with `--var NAME=VALUE` or `--vars FILE`".to_owned()),
            });
        };
        let text = match &stack.file {
            Some(path) => read_text(path)?,
            None => String::new(),
        };
        let path = stack.file.clone().unwrap_or(new);
        let name = path.display().to_string();
        let mut all = Files::new();
        let root = all.add(source.shown.clone(), source.text.clone());
        // The file may hold secrets.
        let file = all.add_withheld(name.clone(), text.as_str());
        let dialects = &self.installed.dialects;
        let context = source.project_context(dialects, &mut all);
        let parsed = dialects.parse(root, &source.shown, &source.text, &context);
        let mut found = Diagnostics::new();
        let done = then(
            files,
            &InstanceFile {
                document: parsed.document(),
                file,
                name: &name,
                text: &text,
            },
            &mut found,
        );
        report(&found, &all, frontend)?;
        Ok((done, path))
    }
}
