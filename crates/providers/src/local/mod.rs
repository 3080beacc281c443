//! The provider `local`: files, folders, archives, links and commands of this machine.
//!
//! Paths that are written are relative to the root document's folder and stay in the fields as the user wrote them; paths
//! that are read are relative to the document they stand in. Nothing is deleted that was not made here.
//!
//! Not here: rendering a file's text (`std/template`), fetching things (`http`).

mod archive;
mod archive_list;
mod before;
mod command;
mod data;
mod directory;
mod file;
mod place;
mod preflight;
mod process;
mod symlink;
mod temporary;
mod unix;
mod whole_file;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckRequest, Checked, ErrorKind, FetchRequest, Fetched,
    Operation, PlanRequest, Planned, Preflight, PreflightRequest, Provider, ProviderError, ReadRequest, Recalled, Seen,
};

use place::Place;

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(
        provider::read_catalog(include_str!("catalog.json")).expect("the catalogue of `local` is part of the program"),
    )
});

/// The provider `local`.
pub fn provider() -> LocalProvider {
    LocalProvider { made: Made::default() }
}

/// Manages files and runs commands on this machine.
pub struct LocalProvider {
    made: Made,
}

/// What is known for as long as the program runs.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Memory>>);

#[derive(Default)]
struct Memory {
    /// What was made by this run, or by one that was cut off: a create that finds it there knows its own work.
    paths: HashSet<PathBuf>,
    /// Folders in which temporary files of killed runs have been looked for.
    swept: HashSet<PathBuf>,
    /// Folders that were to be deleted while something was still in them, which may be deleted later in the same run.
    waiting: HashSet<PathBuf>,
    /// How often a delete was put off because things of ours were still in the folder.
    put_off: HashMap<PathBuf, usize>,
}

/// How often a delete of a folder is put off for the things in it, which the same run may delete.
const MOST_PUT_OFF: usize = 2;

impl Made {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, path: PathBuf) {
        self.memory().paths.insert(path);
    }

    /// Makes a folder. Whoever finds it from now on knows that it was made here.
    fn create_folder(&self, path: &Path) -> std::io::Result<()> {
        let mut memory = self.memory();
        std::fs::create_dir(path)?;
        memory.paths.insert(path.to_path_buf());
        Ok(())
    }

    /// The folders above a path, so many levels up, were made for it.
    fn remember_parents(&self, path: &Path, levels: usize) {
        if levels > 0 {
            let above = path.ancestors().skip(1).take(levels).map(Path::to_path_buf);
            self.memory().paths.extend(above);
        }
    }

    fn forget(&self, path: &Path) {
        self.memory().paths.remove(path);
    }

    fn has(&self, path: &Path) -> bool {
        self.memory().paths.contains(path)
    }

    /// Removes what killed runs left in a folder; once for each folder.
    fn sweep(&self, folder: &Path) {
        if self.memory().swept.insert(folder.to_path_buf()) {
            temporary::sweep(folder);
        }
    }

    /// The same for the folder above a path.
    fn sweep_beside(&self, path: &Path) {
        if let Some(folder) = path.parent() {
            self.sweep(folder);
        }
    }

    /// Whether everything in a folder is ours, so that the same run may delete it. That is not waited for without end: the
    /// things may be meant to stay.
    ///
    /// The folder stays in the state meanwhile, so that a run that is killed leaves nothing behind.
    fn may_become_empty(&self, folder: &Path) -> bool {
        let Ok(entries) = std::fs::read_dir(folder) else { return false };
        let mut memory = self.memory();
        if !entries.flatten().all(|entry| memory.paths.contains(&entry.path())) {
            return false;
        }
        let often = memory.put_off.entry(folder.to_path_buf()).or_default();
        *often += 1;
        *often <= MOST_PUT_OFF
    }

    /// A folder of ours goes once it is empty.
    fn wait_for(&self, folder: &Path) {
        self.memory().waiting.insert(folder.to_path_buf());
    }

    /// Something was removed: the folder above it goes too if it was waiting for that.
    fn remove_waiting_folder_of(&self, path: &Path) {
        for folder in path.ancestors().skip(1) {
            if !self.memory().waiting.contains(folder) || std::fs::remove_dir(folder).is_err() {
                return;
            }
            self.memory().waiting.remove(folder);
            // Its deletion is recorded already; that it survives a power cut is worth a try, not an error.
            let _ = whole_file::sync_folder_of(folder);
        }
    }
}

/// What a read is about, owned, for a thread of its own.
struct Recorded {
    id: Option<String>,
    inputs: Value,
    outputs: Value,
    private: Value,
}

/// What is to be done, owned, for a thread of its own.
struct Change {
    operation: Operation,
    prior_inputs: Value,
    prior: Value,
    desired: Value,
    private: Value,
    sources: Vec<(Name, Value)>,
    id: Option<String>,
}

impl Change {
    /// Refuses a source that has another digest than the plan saw.
    fn check_source(&self, field: &str, digest: &str) -> Result<(), ProviderError> {
        let pinned = self.sources.iter().find(|(name, _)| name.as_ref() == field).and_then(|(_, it)| it.as_text());
        if pinned.is_none_or(|pinned| pinned == digest) {
            return Ok(());
        }
        let name = place::text(&self.desired, field).unwrap_or(field);
        let text = format!("`{name}` has changed since the plan was made; nothing is written, plan again");
        Err(ProviderError::new(ErrorKind::Conflict, text).at(field))
    }

    /// The id of the thing at a path. An update keeps the one it has, which the plan may have promised: it differs from the
    /// path only where a project was moved and has not been looked at since.
    fn id_at(&self, path: &std::path::Path) -> Name {
        match (&self.operation, self.id.as_deref()) {
            (Operation::Update, Some(id)) if !id.is_empty() => id.into(),
            _ => place::id_of(path),
        }
    }
}

impl Provider for LocalProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn check<'a>(
        &'a self,
        _call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<Checked, ProviderError>> {
        let checked = match request.type_name {
            "local/file" => file::check(request.spec),
            "local/archive" => archive::check(request.spec),
            "local/command" => command::check(request.spec),
            _ => Checked::default(),
        };
        let checked = place::check_paths(request.spec, checked);
        Box::pin(async move { Ok(checked) })
    }

    fn recall(&self, root: &Path, things: &[Recalled<'_>]) {
        before::recall(root, &self.made, things);
    }

    fn read<'a>(&'a self, call: &'a Call, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Seen, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return command::read(call, request).await;
            }
            let recorded = Recorded {
                id: request.id.map(str::to_owned),
                inputs: request.inputs.clone(),
                outputs: request.outputs.clone(),
                private: request.private.clone(),
            };
            let read: fn(&Place, &Made, Recorded) -> Result<Seen, ProviderError> = match request.type_name {
                "local/file" => file::read,
                "local/directory" => directory::read,
                "local/archive" => archive::read,
                "local/symlink" => symlink::read,
                other => return Err(unknown_type(other)),
            };
            let made = self.made.clone();
            place::on_a_thread(call, move |place| read(place, &made, recorded)).await
        })
    }

    fn plan<'a>(&'a self, call: &'a Call, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return Ok(command::plan(&request));
            }
            let (type_name, made) = (request.type_name.to_owned(), self.made.clone());
            let (replaced, desired) = (request.prior_inputs.clone(), request.desired.clone());
            place::on_a_thread(call, move |place| before::plan(place, &made, &type_name, &replaced, &desired)).await
        })
    }

    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let asked = preflight::Asked::of(&request);
        let made = self.made.clone();
        Box::pin(place::on_a_thread(call, move |place| preflight::look(place, &made, &asked)))
    }

    fn apply<'a>(&'a self, call: &'a Call, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return command::apply(call, request).await;
            }
            let change = Change {
                operation: request.operation,
                prior_inputs: request.prior_inputs.clone(),
                prior: request.prior.clone(),
                desired: request.desired.clone(),
                private: request.private.clone(),
                sources: request.sources.to_vec(),
                id: request.id.map(str::to_owned),
            };
            let apply: fn(&Place, &Made, Change) -> Result<Applied, ProviderError> = match request.type_name {
                "local/file" => file::apply,
                "local/directory" => directory::apply,
                "local/archive" => archive::apply,
                "local/symlink" => symlink::apply,
                other => return Err(unknown_type(other)),
            };
            let made = self.made.clone();
            place::on_a_thread(call, move |place| apply(place, &made, change)).await
        })
    }

    fn fetch<'a>(&'a self, call: &'a Call, request: FetchRequest<'a>) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(data::fetch(call, request))
    }
}

fn unknown_type(name: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Document, format!("there is no type `{name}` here"))
}

/// What is answered after a delete.
fn deleted(warnings: Vec<String>) -> Applied {
    Applied { id: "".into(), fields: Value::Null, private: Value::Null, stable: true, warnings }
}
