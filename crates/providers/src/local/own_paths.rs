//! The paths that this run, or an interrupted one, created: they distinguish the provider's own
//! files from those of others.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{temporary, unix};

/// The maximum number of times that the delete of a folder is postponed because of own resources in
/// it, which the same run may delete.
const MAX_POSTPONED_DELETES: usize = 2;

/// The own paths. All calls share them, and they live as long as the provider.
#[derive(Clone, Default)]
pub(super) struct OwnPaths(Arc<Mutex<PathMemory>>);

#[derive(Default)]
struct PathMemory {
    /// Paths that this run or an interrupted one created. A file at such a path belongs to the
    /// provider.
    paths: HashSet<PathBuf>,
    /// Folders that were searched for temporary files of killed runs.
    swept: HashSet<PathBuf>,
    /// Folders to be deleted that were not empty. They are deleted after the same run has emptied
    /// them.
    waiting: HashSet<PathBuf>,
    /// The number of times that the delete of a folder was postponed because own resources were
    /// still in it.
    postponed_deletes: HashMap<PathBuf, usize>,
}

impl OwnPaths {
    fn memory(&self) -> MutexGuard<'_, PathMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a path.
    pub(super) fn add(&self, path: PathBuf) {
        self.memory().paths.insert(path);
    }

    /// Creates a folder and adds its path in one step.
    pub(super) fn create_folder(&self, path: &Path) -> std::io::Result<()> {
        let mut memory = self.memory();
        std::fs::create_dir(path)?;
        memory.paths.insert(path.to_path_buf());
        Ok(())
    }

    /// Adds the `levels` folders above a path.
    pub(super) fn add_parents(&self, path: &Path, levels: usize) {
        if levels > 0 {
            let above = path.ancestors().skip(1).take(levels).map(Path::to_path_buf);
            self.memory().paths.extend(above);
        }
    }

    /// Removes a path.
    pub(super) fn forget(&self, path: &Path) {
        self.memory().paths.remove(path);
    }

    /// Whether the provider created the path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.memory().paths.contains(path)
    }

    /// Removes temporary files of killed runs from a folder, once per folder.
    pub(super) fn sweep(&self, folder: &Path) {
        if self.memory().swept.insert(folder.to_path_buf()) {
            temporary::sweep(folder);
        }
    }

    /// Removes temporary files of killed runs from the folder above a path, once per folder.
    pub(super) fn sweep_parent(&self, path: &Path) {
        if let Some(folder) = path.parent() {
            self.sweep(folder);
        }
    }

    /// Whether a folder contains only own resources, which the same run may delete. Returns `false`
    /// after some tries, because the resources may be meant to stay.
    ///
    /// Until then the folder stays in the state, so that a killed run leaves nothing behind.
    pub(super) fn may_become_empty(&self, folder: &Path) -> bool {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return false;
        };
        let mut memory = self.memory();
        if !entries
            .flatten()
            .all(|entry| memory.paths.contains(&entry.path()))
        {
            return false;
        }
        let tries = memory
            .postponed_deletes
            .entry(folder.to_path_buf())
            .or_default();
        *tries += 1;
        *tries <= MAX_POSTPONED_DELETES
    }

    /// Marks an own folder for deletion once it is empty.
    pub(super) fn delete_when_empty(&self, folder: &Path) {
        self.memory().waiting.insert(folder.to_path_buf());
    }

    /// Deletes the folders above a removed path that are marked for deletion and empty now.
    pub(super) fn delete_emptied_parents(&self, path: &Path) {
        for folder in path.ancestors().skip(1) {
            if !self.memory().waiting.contains(folder) || std::fs::remove_dir(folder).is_err() {
                return;
            }
            self.memory().waiting.remove(folder);
            // The deletion is recorded already, so a failure to make it durable is not an error.
            let _ = unix::sync_folder_of(folder);
        }
    }
}
