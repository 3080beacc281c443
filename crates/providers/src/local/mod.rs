//! The provider `local`: files, folders, archives, links and commands of this machine.
//!
//! Paths that are written are relative to the root document's folder and stay in the fields as the user wrote them; paths
//! that are read are relative to the document they stand in. Nothing is deleted that was not made here.
//!
//! Not here: rendering a file's text (`std/template`), fetching things (`http`).

mod archive;
mod archive_list;
mod command;
mod data;
mod directory;
mod file;
mod place;
mod preflight;
mod process;
mod symlink;
mod unix;
mod whole_file;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckRequest, Checked, ErrorKind, FetchRequest, Fetched,
    Operation, PlanRequest, Planned, Preflight, PreflightRequest, Provider, ProviderError, ReadRequest, Seen,
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

/// Folders made since the program started: a create that is repeated knows its own folder again.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<HashSet<PathBuf>>>);

impl Made {
    fn remember(&self, path: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }

    fn forget(&self, path: &std::path::Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn has(&self, path: &std::path::Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
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
    id: Option<String>,
}

impl Change {
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
        Box::pin(async move { Ok(checked) })
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

    fn plan<'a>(&'a self, _call: &'a Call, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let planned = match request.type_name {
            "local/command" => command::plan(&request),
            _ => Planned::default(),
        };
        Box::pin(async move { Ok(planned) })
    }

    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let asked = preflight::Asked::of(&request);
        Box::pin(place::on_a_thread(call, move |place| preflight::look(place, &asked)))
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
