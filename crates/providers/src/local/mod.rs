//! The provider `local`: files, folders, archives, links and commands of this machine.
//!
//! Paths of written files are relative to the root document's folder. Paths of files that are read
//! are relative to the document that names them. Both stay in the fields as the user wrote them.
//! The provider deletes only what it created.
//!
//! Not here: templates (`std/template`), downloads (`http`).

mod adoption;
mod archive;
mod archive_list;
mod command;
mod data;
mod directory;
mod existing;
mod file;
mod own_paths;
mod place;
mod preflight;
mod process;
mod requests;
mod symlink;
mod temporary;
mod unix;
mod whole_file;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, FetchRequest, Fetched, PlanRequest, Planned, Preflight, PreflightRequest, Provider,
    ProviderError, ReadOutcome, ReadRequest, RecordedObject, Session, configured,
};

use self::own_paths::OwnPaths;
use self::place::PathContext;
use self::requests::{OwnedApplyRequest, OwnedReadRequest, unknown_type};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(
        provider::read_catalog(include_str!("catalog.json"))
            .expect("the catalogue of `local` is part of the program"),
    )
});

/// The provider `local`.
pub fn provider() -> LocalProvider {
    LocalProvider {
        own: OwnPaths::default(),
    }
}

/// Manages files and runs commands on this machine.
pub struct LocalProvider {
    own: OwnPaths,
}

impl Provider for LocalProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn set_recorded_objects(&self, root: &Path, objects: &[RecordedObject<'_>]) {
        adoption::recall(root, &self.own, objects);
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for LocalProvider {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let checked = match request.type_name {
            "local/file" => file::check(request.spec),
            "local/archive" => archive::check(request.spec),
            "local/command" => command::check(request.spec),
            _ => CheckFindings::default(),
        };
        let checked = place::check_paths(request.spec, checked);
        let (name, spec) = (request.type_name, request.spec);
        let checked = place::check_access(call.files, name, spec, checked);
        Box::pin(async move { Ok(checked) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return command::read(call, request).await;
            }
            let recorded = OwnedReadRequest {
                id: request.id.map(str::to_owned),
                inputs: request.inputs.clone(),
                outputs: request.outputs.clone(),
                private: request.private.clone(),
            };
            let read: fn(
                &PathContext,
                &OwnPaths,
                OwnedReadRequest,
            ) -> Result<ReadOutcome, ProviderError> = match request.type_name {
                "local/file" => file::read,
                "local/directory" => directory::read,
                "local/archive" => archive::read,
                "local/symlink" => symlink::read,
                other => return Err(unknown_type(other)),
            };
            let own = self.own.clone();
            place::run_blocking(call, move |place| read(place, &own, recorded)).await
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return Ok(command::plan(&request));
            }
            let (type_name, own) = (request.type_name.to_owned(), self.own.clone());
            let (replaced, desired) = (request.prior_inputs.clone(), request.desired.clone());
            place::run_blocking(call, move |place| {
                adoption::plan(place, &own, &type_name, &replaced, &desired)
            })
            .await
        })
    }

    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        let owned = preflight::OwnedRequest::of(&request);
        let own = self.own.clone();
        Box::pin(place::run_blocking(call, move |place| {
            preflight::preflight(place, &own, &owned)
        }))
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.type_name == "local/command" {
                return command::apply(call, request).await;
            }
            let change = OwnedApplyRequest {
                operation: request.operation,
                prior_inputs: request.prior_inputs.clone(),
                prior: request.prior.clone(),
                desired: request.desired.clone(),
                private: request.private.clone(),
                sources: request.sources.to_vec(),
                id: request.id.map(str::to_owned),
            };
            let apply: fn(
                &PathContext,
                &OwnPaths,
                OwnedApplyRequest,
            ) -> Result<Applied, ProviderError> = match request.type_name {
                "local/file" => file::apply,
                "local/directory" => directory::apply,
                "local/archive" => archive::apply,
                "local/symlink" => symlink::apply,
                other => return Err(unknown_type(other)),
            };
            let own = self.own.clone();
            place::run_blocking(call, move |place| apply(place, &own, change)).await
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(data::fetch(call, request))
    }
}
