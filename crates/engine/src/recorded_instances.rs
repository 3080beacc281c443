//! The instances that the documents of a session may refer to: those of its own state, and those of
//! projects whose folders `cyan.toml` names under `[projects]`.
//!
//! Not here: what a document does with their exports (a provider).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{FileId, Files};
use dialect::Dialects;
use provider::{
    BoxFuture, ErrorKind, FoundResource, InstanceReader, InstanceReference, ProviderError,
};
use state::seal::Sealer;
use state::{InstanceName, Snapshot, Store};

use crate::config::Config;
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::foreign::deployment::{self, DIALECT, DeploymentError};
use crate::installed::{Access, Installed};
use crate::place::StatePlace;
use crate::state_url;

/// Reads recorded instances for the calls of one instance.
pub(crate) struct RecordedInstances {
    pub(crate) installed: Arc<Installed>,
    /// The place of the own state.
    pub(crate) place: StatePlace,
    pub(crate) sealer: Sealer,
    /// The instance of the calls.
    pub(crate) instance: InstanceName,
    /// The folders of other projects, by their names.
    pub(crate) projects: IndexMap<Name, PathBuf>,
    /// Whether providers are simulated. The simulated states are then read first.
    pub(crate) simulated: bool,
}

/// Opens the store of a place.
pub(crate) fn open_store(
    installed: &Installed,
    place: &StatePlace,
    sealer: &Sealer,
    access: Access,
) -> Box<dyn Store> {
    let mut stores = installed.stores.iter();
    let store = stores.find(|store| store.scheme == place.scheme);
    // `state_url` makes places only for installed stores.
    let store = store.expect("a place has the scheme of an installed store");
    (store.open)(place, sealer.clone(), access)
}

/// The project of the document at a path that is relative to the folder of a state. `None` if it
/// cannot be read, or names none.
pub(crate) fn project_of(place: &StatePlace, document: &str, dialects: &Dialects) -> Option<Name> {
    let path = place.base().join(document);
    let source = DocumentSource::find(Some(&path), dialects).ok()?;
    let mut files = Files::new();
    files.add(source.shown.clone(), source.text.clone());
    let context = source.project_context(dialects, &mut files);
    let parsed = dialects.parse(FileId::new(0), &source.shown, &source.text, &context);
    let document = parsed.document();
    let lowered = parsed
        .dialect?
        .lower(&document, &Default::default(), &Default::default());
    Some(lowered.blueprint.project).filter(|project| !project.is_empty())
}

impl RecordedInstances {
    /// An instance of the own state, with its project if it has one. `None` if it was never deployed.
    async fn own_instance(
        &self,
        instance: &InstanceName,
    ) -> Result<Option<(Snapshot, Option<Name>)>, ProviderError> {
        for place in self.readable_places(self.place.clone()) {
            let Some(snapshot) = self.load(&place, instance).await? else {
                continue;
            };
            let project = match project_in_urns(&snapshot) {
                Some(project) => Some(project),
                None => self.project_of_document(&place, &snapshot.document).await,
            };
            return Ok(Some((snapshot, project)));
        }
        Ok(None)
    }

    async fn project_of_document(&self, place: &StatePlace, document: &Name) -> Option<Name> {
        let (place, document) = (place.clone(), document.clone());
        let installed = self.installed.clone();
        let reading =
            tokio::task::spawn_blocking(move || project_of(&place, &document, &installed.dialects));
        reading.await.ok().flatten()
    }

    /// The exports of an instance of a project in another folder.
    async fn exports_in(
        &self,
        folder: &Path,
        project: &str,
        instance: &InstanceName,
    ) -> Result<Option<Value>, ProviderError> {
        let in_folder = |error| {
            let error = refused(error);
            ProviderError {
                message: format!("in `{}`: {}", folder.display(), error.message),
                ..error
            }
        };
        let config = Config::load(None, folder).map_err(in_folder)?;
        let place = match &config.state {
            Some(url) => state_url::parse(url, config.folder(), &self.installed),
            None => Ok(state_url::default_place(folder, &self.installed)),
        };
        for place in self.readable_places(place.map_err(in_folder)?) {
            if let Some(snapshot) = self.load(&place, instance).await? {
                return Ok(Some(exports_of(&snapshot)));
            }
        }
        let stacks = folder.join(".pulumi/stacks").join(project);
        let file = stacks.join(format!("{}.json", instance.as_str()));
        let installed = self.installed.clone();
        let reading =
            tokio::task::spawn_blocking(move || stack_exports(&file, &installed.dialects));
        match reading.await {
            Ok(exports) => exports,
            Err(_) => Err(ProviderError::new(
                ErrorKind::Permanent,
                format!("the reading of the stack `{instance}` was ended"),
            )),
        }
    }

    /// The places to read for this one: that of the real state, in a rehearsal after that of its
    /// simulated state.
    fn readable_places(&self, place: StatePlace) -> Vec<StatePlace> {
        let simulated = place.clone().select_simulated(true).ok();
        let simulated = simulated.filter(|_| self.simulated);
        let real = StatePlace {
            file: place.real_file(),
            ..place
        };
        simulated.into_iter().chain([real]).collect()
    }

    async fn load(
        &self,
        place: &StatePlace,
        instance: &InstanceName,
    ) -> Result<Option<Snapshot>, ProviderError> {
        let store = open_store(&self.installed, place, &self.sealer, Access::Read);
        let snapshot = store
            .load(instance)
            .await
            .map_err(|error| refused(error.into()))?;
        Ok(Some(snapshot).filter(|snapshot| !snapshot.uid.is_empty()))
    }

    fn unknown(&self, reference: &InstanceReference, project: &str) -> ProviderError {
        let (instance, place) = (&reference.instance, self.place.shown());
        let named = self.projects.get(project);
        let why = match named {
            Some(folder) => format!(
                "there is no instance `{instance}` of the project `{project}`, neither in {place} \
                 nor in `{}`",
                folder.display()
            ),
            None => format!(
                "there is no instance `{instance}` of the project `{project}` in {place}; name the \
                 folder of another project in `cyan.toml`: `[projects]` with `{project} = \
                 \"../{project}\"`"
            ),
        };
        ProviderError::new(ErrorKind::Document, why)
    }

    async fn exports_for(
        &self,
        reference: &InstanceReference,
        project: &str,
    ) -> Result<Value, ProviderError> {
        let wanted = reference.project.as_deref().unwrap_or(project);
        let Ok(instance) = reference.instance.parse::<InstanceName>() else {
            return Err(self.unknown(reference, wanted));
        };
        let own = self.own_instance(&instance).await?;
        let is_wanted = |project: &Name| project.as_ref() == wanted;
        if let Some((snapshot, Some(project))) = &own
            && is_wanted(project)
        {
            return Ok(exports_of(snapshot));
        }
        if let Some(folder) = self.projects.get(wanted)
            && let Some(exports) = self.exports_in(folder, wanted, &instance).await?
        {
            return Ok(exports);
        }
        // Documents of other dialects have no project: their instance is known by its name.
        if let Some((snapshot, None)) = &own
            && instance != self.instance
        {
            return Ok(exports_of(snapshot));
        }
        // Before its first deployment an instance has no exports.
        if wanted == project && instance == self.instance {
            return Ok(Value::map::<Name>([]));
        }
        Err(self.unknown(reference, wanted))
    }

    async fn find_resource(&self, urn: &str) -> Result<Option<FoundResource>, ProviderError> {
        let Some(snapshot) = self.load(&self.place, &self.instance).await? else {
            return Ok(None);
        };
        let mut records = snapshot.records.values();
        let found = records.find(|record| record.origin.urn.as_ref() == urn);
        Ok(found.map(|record| FoundResource {
            id: record.id.clone(),
            fields: record.outputs.clone(),
        }))
    }
}

impl InstanceReader for RecordedInstances {
    fn exports<'a>(
        &'a self,
        reference: &'a InstanceReference,
        project: &'a str,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(self.exports_for(reference, project))
    }

    fn resource<'a>(
        &'a self,
        urn: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundResource>, ProviderError>> {
        Box::pin(self.find_resource(urn))
    }
}

/// The project in the URNs of the records; `None` if none has a URN.
fn project_in_urns(snapshot: &Snapshot) -> Option<Name> {
    let mut urns = snapshot.records.values().map(|record| &record.origin.urn);
    let mut parts = urns.find(|urn| !urn.is_empty())?.split("::");
    parts.nth(1).map(Name::from)
}

fn exports_of(snapshot: &Snapshot) -> Value {
    let exports = snapshot.exports.iter();
    Value::map(exports.map(|(name, value)| (name.clone(), value.clone())))
}

/// The outputs in the file of a stack; `None` if there is no file.
fn stack_exports(file: &Path, dialects: &Dialects) -> Result<Option<Value>, ProviderError> {
    if !file.is_file() {
        return Ok(None);
    }
    let text = crate::text::read_text(file).map_err(refused)?;
    let unreadable = |why: &dyn std::fmt::Display| {
        let message = format!("`{}` cannot be read: {why}", file.display());
        ProviderError::new(ErrorKind::Document, message)
    };
    let tree = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let Some(manager) = dialects.secret_manager(DIALECT) else {
        return Err(unreadable(&format!(
            "the dialect `{DIALECT}` is not installed"
        )));
    };
    let read = deployment::read(&tree, manager).map_err(|error| match error {
        DeploymentError::Shape(what) | DeploymentError::Foreign(what) => unreadable(&what),
        DeploymentError::Locked(why) => unreadable(&why.message),
        DeploymentError::Violations(all) => {
            let first = all.first().map_or("", |violation| &violation.message);
            unreadable(&first)
        }
    })?;
    Ok(Some(exports_of(&read.snapshot)))
}

/// An error of a state, as a document's function reports it.
fn refused(error: Error) -> ProviderError {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(one) = cause {
        message = format!("{message}: {one}");
        cause = one.source();
    }
    ProviderError::new(ErrorKind::Document, message)
}
