//! The stacks of a document: its instances, deployed or not, with the files that configure them.
//!
//! Not here: which instance a request has (`instance`), the values in the files (`stack_values`).

use std::path::PathBuf;

use diag::Files;
use state::{InstanceInfo, InstanceName, StoreError};

use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::frontend::Frontend;
use crate::key::fill_random;
use crate::phases::{Options, Refresh, StateEdit};
use crate::selected::{select, selected};
use crate::session::Session;
use crate::stage::PlannedOperation;
use crate::whole_file::{Readers, write_whole};

/// A stack of a document.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name, which is that of its instance.
    pub name: InstanceName,
    /// Whether requests for the document mean it if they name none.
    pub is_current: bool,
    /// The file with its configuration.
    pub file: Option<PathBuf>,
    /// Its instance, if it was ever deployed.
    pub info: Option<InstanceInfo>,
}

impl Stack {
    /// The number of its resources.
    pub fn resources(&self) -> u64 {
        self.info.as_ref().map_or(0, |info| info.records)
    }
}

impl Session {
    /// Returns the stacks of a document by name: those that have resources, those that have a file,
    /// and the selected one.
    pub async fn stacks(&self, source: &DocumentSource) -> Result<Vec<Stack>, Error> {
        let all = self.reading().instances().await?;
        let files = source.companion_files(&self.installed.dialects)?;
        let path = self.stored_path(source);
        let current = self.default_instance(source, &all)?;
        let mut names: Vec<InstanceName> = files.iter().map(|(name, _)| name.clone()).collect();
        let of_document = |info: &&InstanceInfo| {
            let is_used = info.records > 0 || matches!(&info.last, Some((_, None)));
            is_used && *info.document == *path
        };
        names.extend(all.iter().filter(of_document).map(|info| info.name.clone()));
        names.extend(selected(&self.place, &path)?);
        names.sort();
        names.dedup();
        let stack = |name: InstanceName| Stack {
            is_current: current.as_ref() == Some(&name),
            file: files
                .iter()
                .find(|(of, _)| *of == name)
                .map(|(_, path)| path.clone()),
            info: all.iter().find(|info| info.name == name).cloned(),
            name,
        };
        Ok(names.into_iter().map(stack).collect())
    }

    /// Returns a stack of a document: the named one, else the current one.
    pub async fn stack(
        &self,
        source: &DocumentSource,
        named: Option<&InstanceName>,
    ) -> Result<Stack, Error> {
        let mut stacks = self.stacks(source).await?;
        let names: Vec<String> = stacks.iter().map(|stack| stack.name.to_string()).collect();
        let found = stacks.iter().position(|stack| match named {
            Some(name) => stack.name == *name,
            None => stack.is_current,
        });
        if let Some(found) = found {
            return Ok(stacks.swap_remove(found));
        }
        match named {
            Some(name) => {
                let unknown = crate::codes::UNKNOWN_INSTANCE
                    .new(format!("`{}` has no stack `{name}`", source.shown))
                    .help_nearest(name.as_str(), names.iter().map(String::as_str))
                    .help(format!("make it: `cyan stack init {name}`"));
                Err(Error::Diagnosed(Box::new(unknown)))
            }
            None if names.is_empty() => Err(Error::Usage {
                message: format!("`{}` has no stack", source.shown),
                help: Some("make one: `cyan stack init NAME`".to_owned()),
            }),
            None => Err(Error::Usage {
                message: format!(
                    "`{}` has several stacks: {}",
                    source.shown,
                    names.join(", ")
                ),
                help: Some("select one: `cyan stack select NAME`".to_owned()),
            }),
        }
    }

    /// Makes a stack the one that requests for the document mean. It need not be deployed.
    pub fn select_stack(
        &self,
        source: &DocumentSource,
        instance: Option<&InstanceName>,
    ) -> Result<(), Error> {
        if let (Some(fixed), Some(_)) = (&self.config.instance, instance) {
            return Err(Error::Usage {
                message: format!("`{}` names the instance `{fixed}`", self.config.file()),
                help: Some("remove `instance` there, or name another one with `-i`".to_owned()),
            });
        }
        select(&self.place, &self.stored_path(source), instance)
    }

    /// Selects no stack for the document if this one is selected.
    pub fn deselect_stack(
        &self,
        source: &DocumentSource,
        instance: &InstanceName,
    ) -> Result<(), Error> {
        let path = self.stored_path(source);
        match selected(&self.place, &path)?.as_ref() == Some(instance) {
            true => select(&self.place, &path, None),
            false => Ok(()),
        }
    }

    /// Writes the file of a new stack, with the text of another one if there is one. Returns `None`
    /// if documents of this kind have no such files.
    pub fn write_stack_file(
        &self,
        source: &DocumentSource,
        instance: &InstanceName,
        copied: Option<&Stack>,
    ) -> Result<Option<PathBuf>, Error> {
        let Some((files, path)) = self.stack_file(source, instance) else {
            return Ok(None);
        };
        let text = match copied.and_then(|stack| stack.file.as_deref()) {
            Some(other) => crate::text::read_text(other)?,
            None => files.new_file(&mut fill_random).map_err(Error::Diagnosed)?,
        };
        write_whole(&path, &text, Readers::Kept)?;
        Ok(Some(path))
    }

    /// Renames the file of a stack. Returns the new file, if there is one.
    pub fn rename_stack_file(
        &self,
        source: &DocumentSource,
        stack: &Stack,
        new: &InstanceName,
    ) -> Result<Option<PathBuf>, Error> {
        let (Some(old), Some((_, path))) = (&stack.file, self.stack_file(source, new)) else {
            return Ok(None);
        };
        std::fs::rename(old, &path).map_err(|error| Error::Unwritable {
            name: path.display().to_string(),
            source: error,
        })?;
        Ok(Some(path))
    }

    /// Plans to forget all resources of a stack without deleting them.
    pub async fn stage_forgetting(
        &self,
        stack: &Stack,
        frontend: &mut dyn Frontend,
    ) -> Result<PlannedOperation, Error> {
        let snapshot = self.load_state(&stack.name, frontend).await?;
        let all = snapshot.records.keys().cloned().collect();
        let options = Options {
            refresh: Refresh::Never,
            state_edit: Some(StateEdit::Remove(all)),
            ..Options::default()
        };
        self.stage_state(stack.name.clone(), options, frontend)
            .await
    }

    /// Gives the instance of a stack another name in the state.
    pub async fn rename_instance(
        &self,
        stack: &Stack,
        new: &InstanceName,
        who: &str,
    ) -> Result<(), Error> {
        if stack.info.is_none() {
            return Ok(());
        }
        let store = self.writing();
        let lasts = std::time::Duration::from_secs(60);
        let lease = store.lease(&stack.name, who, lasts).await?;
        let renamed = store.rename(&lease, new).await;
        store.release(&lease).await?;
        match renamed {
            Err(StoreError::Moved { instance, .. }) => Err(Error::Usage {
                message: format!("the state already has an instance `{instance}`"),
                help: Some("choose another name".to_owned()),
            }),
            other => Ok(other?),
        }?;
        let folders = (
            self.place.calls_folder(&stack.name),
            self.place.calls_folder(new),
        );
        if let (Some(old), Some(path)) = folders
            && old.is_dir()
        {
            std::fs::rename(&old, &path).map_err(|source| Error::Unwritable {
                name: path.display().to_string(),
                source,
            })?;
        }
        Ok(())
    }

    /// How the files of the stacks of a document are made, and the path of that of an instance;
    /// `None` if documents of this kind have no such files.
    pub(crate) fn stack_file(
        &self,
        source: &DocumentSource,
        instance: &InstanceName,
    ) -> Option<(&'static dyn dialect::InstanceFiles, PathBuf)> {
        let document = source.main_file().filter(|_| !source.is_folder)?;
        let name = document.file_name()?.to_str()?;
        let files = self.installed.dialects.instance_files(name)?;
        let path = document.with_file_name(files.file_name(instance.as_str()));
        Some((files, path))
    }
}

/// Reports the mistakes of a file of a stack.
pub(crate) fn report(
    found: &diag::Diagnostics,
    files: &Files,
    frontend: &mut dyn Frontend,
) -> Result<(), Error> {
    frontend.found(found, files);
    match found.has_errors() {
        true => Err(Error::Reported),
        false => Ok(()),
    }
}
