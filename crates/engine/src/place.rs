//! The place of a state, and the paths derived from it.
//!
//! Not here: URLs (`state_url`).

use std::path::{Path, PathBuf};

use state::InstanceName;

use crate::error::Error;
use crate::paths::{STATE_FOLDER, absolute};

/// The suffix of file names of simulated state.
const SIMULATED_STATE: &str = ".simulated.db";

/// The place of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// The scheme of the store.
    pub scheme: &'static str,
    /// The file; `None` for a store without a file.
    pub file: Option<PathBuf>,
}

impl StatePlace {
    /// The folder that paths in the state are relative to: the folder of the file, or the folder
    /// that contains `.cyan`.
    pub fn base(&self) -> PathBuf {
        let Some(file) = &self.file else {
            return absolute(Path::new(""));
        };
        let folder = absolute(file.parent().unwrap_or(Path::new("")));
        match folder.file_name() {
            Some(name) if name == STATE_FOLDER => {
                folder.parent().map(Path::to_owned).unwrap_or(folder)
            }
            _ => folder,
        }
    }

    /// The file of the simulated world of this state.
    pub fn simulation_file(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| file.with_extension("world"))
    }

    /// The file of the real state, also for the place of a rehearsal; `None` for a store without a
    /// file.
    pub(crate) fn real_file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let name = file.file_name()?.to_str()?;
        Some(match name.strip_suffix(SIMULATED_STATE) {
            Some(stem) => file.with_file_name(format!("{stem}.db")),
            None => file.clone(),
        })
    }

    /// The folder with what became of the calls of an instance, beside the file of the state.
    pub fn calls_folder(&self, instance: &InstanceName) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let mut name = file.file_name()?.to_owned();
        name.push(".calls");
        Some(absolute(file).with_file_name(name).join(instance.as_str()))
    }

    /// Returns this place for real state, or its sibling for simulated state. The two are never
    /// mixed.
    pub fn select_simulated(self, simulated: bool) -> Result<StatePlace, Error> {
        let Some(file) = &self.file else {
            return Ok(self);
        };
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_simulated = name.ends_with(SIMULATED_STATE);
        if is_simulated && !simulated {
            return Err(Error::Usage {
                message: format!("`{}` is the state of a rehearsal", file.display()),
                help: Some(
                    "say `--simulate`, or name another place with `--state sqlite:PATH`".to_owned(),
                ),
            });
        }
        if is_simulated || !simulated {
            return Ok(self);
        }
        let stem = name.strip_suffix(".db").unwrap_or(&name);
        Ok(StatePlace {
            file: Some(file.with_file_name(format!("{stem}{SIMULATED_STATE}"))),
            ..self
        })
    }

    /// Advice for the case that no instance was found: look in the simulated state, or rehearse
    /// first.
    pub fn hint(&self) -> Option<&'static str> {
        let file = self.file.as_ref()?;
        let name = file.file_name()?.to_str()?;
        if name.ends_with(SIMULATED_STATE) {
            return Some("rehearse something first, with `cyan deploy --simulate`");
        }
        let simulated_file = file.with_file_name(format!(
            "{}{SIMULATED_STATE}",
            name.strip_suffix(".db").unwrap_or(name)
        ));
        simulated_file
            .exists()
            .then_some("what was rehearsed is shown with `--simulate`")
    }

    /// The place in messages.
    pub fn shown(&self) -> String {
        match &self.file {
            None => self.scheme.to_owned(),
            Some(file) => format!("`{}`", file.display()),
        }
    }
}
