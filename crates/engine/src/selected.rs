//! The instance that is selected for a document (`cyan stack select`), in a file beside the state.
//!
//! ```text
//! .cyan/state.selected     {"version": 1, "selected": {"Pulumi.yaml": "dev"}}
//! ```
//!
//! A rehearsal reads the file of the real state: the choice belongs to the document.
//!
//! Not here: which instance a request has without a selection (`instance`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use state::InstanceName;

use crate::error::Error;
use crate::place::StatePlace;
use crate::whole_file::{Readers, write_whole};

/// The version of the file.
const VERSION: u32 = 1;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct SelectionFile {
    version: u32,
    /// Names of instances by the paths of their documents, relative to the state.
    selected: BTreeMap<String, InstanceName>,
}

/// Returns the instance that is selected for the document at a stored path.
pub(crate) fn selected(place: &StatePlace, document: &str) -> Result<Option<InstanceName>, Error> {
    let Some(path) = file_of(place) else {
        return Ok(None);
    };
    Ok(read(&path)?.selected.remove(document))
}

/// Selects an instance for the document at a stored path, or none.
pub(crate) fn select(
    place: &StatePlace,
    document: &str,
    instance: Option<&InstanceName>,
) -> Result<(), Error> {
    let Some(path) = file_of(place) else {
        return match instance {
            Some(_) => Err(Error::Usage {
                message: format!("{} keeps no selection: it has no file", place.shown()),
                help: Some("name the instance with `-i`".to_owned()),
            }),
            None => Ok(()),
        };
    };
    let mut file = read(&path)?;
    let before = match instance {
        Some(instance) => file.selected.insert(document.to_owned(), instance.clone()),
        None => file.selected.remove(document),
    };
    if before.as_ref() == instance {
        return Ok(());
    }
    let unwritable = |source| Error::Unwritable {
        name: path.display().to_string(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let text = serde_json::to_string(&file).map_err(|error| unwritable(error.into()))?;
    write_whole(&path, &format!("{text}\n"), Readers::Kept)
}

/// The file of a state; `None` for a state without a file.
fn file_of(place: &StatePlace) -> Option<PathBuf> {
    Some(place.real_file()?.with_extension("selected"))
}

fn read(path: &Path) -> Result<SelectionFile, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(SelectionFile {
                version: VERSION,
                selected: BTreeMap::new(),
            });
        }
        Err(source) => {
            return Err(Error::Unreadable {
                name: path.display().to_string(),
                source,
            });
        }
    };
    match serde_json::from_str::<SelectionFile>(&text) {
        Ok(file) if file.version == VERSION => Ok(file),
        _ => Err(Error::Unfit {
            name: path.display().to_string(),
            what: "is no selection of instances that this version reads".to_owned(),
            help: Some("remove the file, then select an instance again".to_owned()),
        }),
    }
}
