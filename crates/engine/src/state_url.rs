//! URLs of states, by the schemes of the installed stores.

use std::path::Path;

use crate::error::Error;
use crate::installed::Installed;
use crate::paths::{STATE_FOLDER, refuse_tilde};
use crate::place::StatePlace;

/// Parses the URL of a state. Paths are relative to `base`.
pub(crate) fn parse(url: &str, base: &Path, installed: &Installed) -> Result<StatePlace, Error> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    let store = installed
        .stores
        .iter()
        .find(|store| store.scheme == scheme && store.is_file != rest.is_empty());
    let Some(store) = store.filter(|_| url.contains(':')) else {
        let forms = installed.stores.iter().map(|store| {
            if store.is_file {
                format!("`{}:PATH`", store.scheme)
            } else {
                format!("`{}:`", store.scheme)
            }
        });
        return Err(Error::Usage {
            message: format!("`{url}` is no place for state"),
            help: Some(format!("write {}", forms.collect::<Vec<_>>().join(" or "))),
        });
    };
    if !store.is_file {
        return Ok(StatePlace {
            scheme: store.scheme,
            file: None,
        });
    }
    // A URL may have slashes in front of the path: `sqlite:///var/state.db`.
    let path = rest.strip_prefix("//").unwrap_or(rest);
    refuse_tilde(Path::new(path))?;
    Ok(StatePlace {
        scheme: store.scheme,
        file: Some(base.join(path)),
    })
}

/// Returns the place of a state in memory: that of the first store without a file.
pub(crate) fn place_in_memory(installed: &Installed) -> StatePlace {
    let store = installed.stores.iter().find(|store| !store.is_file);
    StatePlace {
        scheme: store.map_or("", |store| store.scheme),
        file: None,
    }
}

/// Returns the default place of the state of documents in a folder.
pub(crate) fn default_place(folder: &Path, installed: &Installed) -> StatePlace {
    match installed.stores.iter().find(|store| store.is_file) {
        Some(store) => StatePlace {
            scheme: store.scheme,
            file: Some(folder.join(STATE_FOLDER).join("state.db")),
        },
        None => StatePlace {
            scheme: installed.stores.first().map_or("", |store| store.scheme),
            file: None,
        },
    }
}
