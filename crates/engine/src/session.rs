//! A session: the configuration, the selected providers, the place of the state and its key.
//!
//! Not here: the requests of a session (`stage`, `operate`, ...).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::phases::run::{SettingsPlaces, Shell, call_records};
use blueprint::Name;
use diag::{Diagnostics, Files};
use provider::{CallRecords, InstanceReader};
use state::seal::Sealer;
use state::{InstanceName, Snapshot, Store};

use crate::catalog_files;
use crate::config::Config;
use crate::document::{Document, ReadingFacts};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::Findings;
use crate::frontend::FrontendRun;
use crate::installed::{Access, Installed};
use crate::key;
use crate::library::{Closer, Library, Selection};
use crate::paths::absolute;
use crate::phases::{CheckDepth, Documents};
use crate::place::StatePlace;
use crate::read_parts::read_parts;
use crate::recorded_instances::{RecordedInstances, open_store};
use crate::state_url;

/// The settings of a request, which override the configuration.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The URL of the state.
    pub state: Option<String>,
    /// Whether every provider is simulated.
    pub simulate: Option<bool>,
    /// Catalogue files of the user. They replace those of the configuration.
    pub catalogs: Vec<PathBuf>,
    /// Whether warnings are errors.
    pub strict: bool,
    /// Whether lists and suggestions include catalogues for tests and hosted packages.
    pub lists_all: bool,
}

impl SessionOptions {
    /// Returns the providers, catalogues and settings that the options and a configuration select.
    pub fn selection(&self, config: &Config, installed: &Installed) -> Result<Selection, Error> {
        let simulated = self.simulate.unwrap_or(config.simulate);
        let named = if self.catalogs.is_empty() {
            &config.catalog
        } else {
            &self.catalogs
        };
        let catalogs = catalog_files::read_all(named, simulated, config, installed)?;
        let mut selection = Selection {
            simulated,
            catalogs,
            lists_all: self.lists_all,
            ..Selection::default()
        };
        selection.plugins = config.plugins(installed)?;
        selection.families = config.families(installed, &selection.plugins);
        selection.local_access = config.local_access()?;
        selection.dialects = config.dialects(&installed.dialects)?;
        selection.limits = config.limits(|namespace| selection.knows(installed, namespace))?;
        Ok(selection)
    }
}

/// The shared context of all requests to one state.
pub struct Session {
    /// The installed providers, catalogues, stores and sources.
    pub installed: Arc<Installed>,
    /// The configuration file.
    pub config: Config,
    /// Catalogues, functions and providers.
    pub library: Library,
    /// The place of the state.
    pub place: StatePlace,
    /// Whether warnings are errors.
    pub strict: bool,
    /// How deep documents are checked.
    pub depth: CheckDepth,
    /// How long a request waits for another operation on its instance to end.
    pub lock_wait: Duration,
    /// Seals and opens secrets.
    sealer: Sealer,
    /// The state, opened for reading at the first request.
    reader: Mutex<Option<Arc<dyn Store>>>,
}

impl Session {
    /// Opens a session with a configuration, for documents in `folder`.
    pub fn new(
        installed: Arc<Installed>,
        config: Config,
        options: &SessionOptions,
        folder: &Path,
    ) -> Result<Session, Error> {
        let library = Library::new(installed.clone(), options.selection(&config, &installed)?);
        Session::with_library(installed, config, library, options, folder)
    }

    /// Opens a session with an existing library. The selection of the library takes precedence over
    /// that of the options.
    pub fn with_library(
        installed: Arc<Installed>,
        config: Config,
        library: Library,
        options: &SessionOptions,
        folder: &Path,
    ) -> Result<Session, Error> {
        let place = match (&options.state, &config.state) {
            (Some(url), _) => state_url::parse(url, Path::new(""), &installed)?,
            (None, Some(url)) => state_url::parse(url, config.folder(), &installed)?,
            (None, None) => state_url::default_place(folder, &installed),
        };
        let place = place.select_simulated(library.selection.simulated)?;
        let strict = options.strict || config.strict;
        let sealer = key::sealer()?;
        Ok(Session::of(
            installed, config, library, place, strict, sealer,
        ))
    }

    fn of(
        installed: Arc<Installed>,
        config: Config,
        library: Library,
        place: StatePlace,
        strict: bool,
        sealer: Sealer,
    ) -> Session {
        Session {
            installed,
            config,
            library,
            place,
            strict,
            depth: CheckDepth::default(),
            lock_wait: Duration::ZERO,
            sealer,
            reader: Mutex::default(),
        }
    }

    /// Opens a session for one case of a test: a simulation with its state in memory. It has a key
    /// of its own, because its secrets do not leave the process.
    pub(crate) fn for_case(
        installed: Arc<Installed>,
        config: Config,
        options: &SessionOptions,
    ) -> Result<Session, Error> {
        let options = SessionOptions {
            simulate: Some(true),
            ..options.clone()
        };
        let selection = options.selection(&config, &installed)?;
        let place = state_url::place_in_memory(&installed);
        let strict = options.strict || config.strict;
        let library = Library::new(installed.clone(), selection);
        let sealer = Sealer::with_key([1; 32]);
        Ok(Session::of(
            installed, config, library, place, strict, sealer,
        ))
    }

    /// Opens a session that only checks documents. It has no key, and its state is not used.
    pub fn without_state(
        installed: Arc<Installed>,
        config: Config,
        options: &SessionOptions,
        folder: &Path,
    ) -> Result<Session, Error> {
        let selection = options.selection(&config, &installed)?;
        let (place, strict) = (
            state_url::default_place(folder, &installed),
            options.strict || config.strict,
        );
        let (library, sealer) = (Library::new(installed.clone(), selection), Sealer::none());
        Ok(Session::of(
            installed, config, library, place, strict, sealer,
        ))
    }

    /// Creates a run with a new id and the clock of the program.
    pub fn new_run(&self) -> FrontendRun {
        let runtime = &self.installed.runtime;
        FrontendRun::new(&runtime.ids, &runtime.clock)
    }

    /// Whether every provider is simulated.
    pub fn is_simulated(&self) -> bool {
        self.library.selection.simulated
    }

    /// Reads and checks a document.
    pub async fn check(&self, source: DocumentSource, known: ReadingFacts<'_>) -> Document {
        Document::check(source, &self.library, known, self.installed.clone()).await
    }

    /// Opens the state with a new store.
    pub(crate) fn open(&self, access: Access) -> Box<dyn Store> {
        open_store(&self.installed, &self.place, &self.sealer, access)
    }

    /// The state, for reading.
    pub fn reading(&self) -> Arc<dyn Store> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader
            .get_or_insert_with(|| self.open(Access::Read).into())
            .clone()
    }

    /// Opens the state for writing. Drops the store that was opened for reading.
    pub fn writing(&self) -> Arc<dyn Store> {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.open(Access::Write).into()
    }

    /// The sealer of secrets.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Replaces the sealer of secrets.
    pub fn seal_with(&mut self, sealer: Sealer) {
        (self.sealer, self.reader) = (sealer, Mutex::default());
    }

    /// Returns the providers with their settings, for documents in the folder `root`. Fails if a
    /// plugin that was looked up cannot be used.
    pub fn shell(&self, instance: &InstanceName, root: &Path) -> Result<Shell, Error> {
        self.shell_of(instance, root, None)
    }

    /// As [`Session::shell`], for a plan of these documents.
    pub(crate) fn shell_of(
        &self,
        instance: &InstanceName,
        root: &Path,
        documents: Option<&Documents>,
    ) -> Result<Shell, Error> {
        self.refuse_unavailable()?;
        self.shell_with(instance, root, documents)
    }

    /// As [`Session::shell`], for a plan that calls no plugin: one that cannot be used is no error.
    pub(crate) fn shell_without_plugins(
        &self,
        instance: &InstanceName,
        root: &Path,
    ) -> Result<Shell, Error> {
        self.shell_with(instance, root, None)
    }

    fn shell_with(
        &self,
        instance: &InstanceName,
        root: &Path,
        documents: Option<&Documents>,
    ) -> Result<Shell, Error> {
        let knows = |namespace: &str| self.library.selection.knows(&self.installed, namespace);
        let providers = self.library.providers_at(&self.place, || {
            documents.map(read_parts).unwrap_or_default()
        })?;
        let settings = self
            .config
            .settings(instance, &self.library.catalogs, knows)?;
        let shell = self.library.shell(&self.installed, providers, root);
        settings
            .values()
            .for_each(|settings| shell.secrets.add_secrets_of(settings));
        let (places, of) = (self.config.places(), instance.clone());
        let catalogs = self.library.catalogs.clone();
        let places: SettingsPlaces = Arc::new(move |namespace, path| {
            let keys: Vec<&str> = catalogs.keys_of(namespace).collect();
            places.setting(&of, &keys, path).map(Name::from)
        });
        Ok(Shell {
            settings,
            places: Some(places),
            call_records: self.call_records(instance),
            instances: Some(self.instance_reader(instance)),
            instance: instance.name().clone(),
            ..shell
        })
    }

    /// The instances that documents of an instance may refer to.
    fn instance_reader(&self, instance: &InstanceName) -> Arc<dyn InstanceReader> {
        Arc::new(RecordedInstances {
            installed: self.installed.clone(),
            place: self.place.clone(),
            sealer: self.sealer.clone(),
            instance: instance.clone(),
            projects: self.config.projects.clone(),
            simulated: self.is_simulated(),
        })
    }

    /// Where providers record what became of the calls of an instance; `None` in a simulation, in
    /// which no process outlives the run, and for a store without a file.
    fn call_records(&self, instance: &InstanceName) -> Option<Arc<CallRecords>> {
        if self.is_simulated() {
            return None;
        }
        let folder = self.place.calls_folder(instance)?;
        Some(Arc::new(call_records(&folder, &self.sealer)))
    }

    /// Fails if the plugin of an opened catalogue cannot be used.
    fn refuse_unavailable(&self) -> Result<(), Error> {
        let missing = self
            .library
            .catalogs
            .opened()
            .filter_map(|catalog| catalog.unavailable.as_ref());
        let diagnostics: Diagnostics = missing.map(|why| why.diagnostic()).collect();
        if diagnostics.is_empty() {
            Ok(())
        } else {
            Err(Error::Catalogs(Findings {
                diagnostics,
                files: Files::new(),
            }))
        }
    }

    /// Closes the sessions of all providers, so that the processes of plugins end. The next use
    /// opens a session again. Plans, operations and rollbacks of this session, and the documents
    /// that it read, share the sessions.
    pub async fn close(&self) {
        self.closer().close().await;
    }

    /// Returns a closer for the sessions of all providers, which also works after this session is
    /// dropped.
    pub fn closer(&self) -> Closer {
        self.library.closer()
    }

    /// The folder of the document from which an instance was last deployed.
    pub fn root_of(&self, snapshot: &Snapshot) -> PathBuf {
        let base = self.place.base();
        match snapshot.document.as_ref() {
            "" | "-" => base,
            document => absolute(&base.join(document))
                .parent()
                .map(Path::to_owned)
                .unwrap_or(base),
        }
    }
}
