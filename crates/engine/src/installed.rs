//! What a program has installed: providers, catalogues, the simulation, stores and sources. The program registers each;
//! this crate names none of them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::phases::shell::{Clock, HttpGet, ProviderLog, Rng, RunSecrets, Shell};
use blueprint::{Blueprint, IndexMap, Name, PackageFamily};
use dialects::{Dialects, LoadContext};
use provider::{BoxFuture, Catalog, Catalogs, HostedPackage, Provider, ProviderError, Providers};
use source::Sources;
use state::Store;
use state::seal::Sealer;
use tokio_util::sync::CancellationToken;

use crate::place::StatePlace;

/// Everything that is installed.
#[derive(Clone)]
pub struct Installed {
    /// Providers, in the order of lists.
    pub providers: Vec<InstalledProvider>,
    /// Catalogues without a provider: documents are checked and planned with them, and simulated.
    pub catalogs: Vec<InstalledCatalog>,
    /// What opens the packages under `[plugins]` in `cyan.toml`, one for each kind.
    pub hosts: Vec<InstalledHost>,
    /// The languages of documents.
    pub dialects: Dialects,
    /// The simulation that replaces providers.
    pub simulate: InstalledSimulation,
    /// Stores, by the scheme of their URLs. The first one that keeps a file is the default.
    pub stores: Vec<InstalledStore>,
    /// Makes the sources of documents.
    pub sources: Arc<dyn Fn() -> Sources + Send + Sync>,
    /// What the program gives to root documents besides their text.
    pub roots: Roots,
    /// The clock, the random numbers, the client for requests, the cache and the log.
    pub runtime: Runtime,
}

/// What a program gives to root documents besides their text. The default is nothing.
#[derive(Clone, Default)]
pub struct Roots {
    /// The load context of a root, before its environment files. Settings of dialects and the types of providers come
    /// from the session.
    pub context: LoadContext,
    /// Changes a root after it was lowered and before it is checked.
    pub change: Option<ChangeRoot>,
}

/// Changes the meaning of a root document.
pub type ChangeRoot = Arc<dyn Fn(&mut Blueprint) + Send + Sync>;

/// What plans and operations take from the machine. Tests install a virtual clock and fixed random numbers.
#[derive(Clone)]
pub struct Runtime {
    /// The clock of expressions, waits and leases.
    pub clock: Clock,
    /// The random numbers of expressions, tokens, pauses and ids of objects.
    pub rng: Rng,
    /// The random numbers of the ids of operations.
    pub ids: Rng,
    /// Makes the client for URLs in expressions; `None` if requests are not allowed.
    pub http: Option<Arc<dyn Fn() -> HttpGet + Send + Sync>>,
    /// The working directory of expressions.
    pub working_directory: WorkingDirectory,
    /// The folder for what can be read again, such as schemas of plugins; `None`: nothing is cached.
    pub cache: Option<PathBuf>,
    /// Receives log lines of providers' processes; `None` drops them.
    pub log: Option<ProviderLog>,
    /// The secrets of all runs, if something outside of the runs shows what plugins print. `None`: each run knows its
    /// own.
    pub known: Option<RunSecrets>,
}

/// The working directory of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkingDirectory {
    /// The current folder of the process.
    OfProcess,
    /// This folder; `None` if there is none.
    Fixed(Option<Name>),
}

impl WorkingDirectory {
    fn path(&self) -> Option<Name> {
        match self {
            WorkingDirectory::OfProcess => std::env::current_dir().ok()?.to_str().map(Name::from),
            WorkingDirectory::Fixed(folder) => folder.clone(),
        }
    }
}

impl Runtime {
    /// The clock and the random numbers of the machine, without requests, cache and log.
    pub fn system() -> Runtime {
        Runtime {
            clock: Clock::System,
            rng: Rng::System,
            ids: Rng::System,
            http: None,
            working_directory: WorkingDirectory::OfProcess,
            cache: None,
            log: None,
            known: None,
        }
    }
}

/// An installed provider.
#[derive(Clone)]
pub struct InstalledProvider {
    /// Its namespace.
    pub namespace: &'static str,
    /// Makes it. Called at most once in a session, when a name of the namespace is first used.
    pub make: Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>,
    /// Whether expressions call its functions by their names alone, so that its catalogue is read at the beginning.
    pub has_functions: bool,
}

/// An installed catalogue without a provider.
#[derive(Clone)]
pub struct InstalledCatalog {
    /// Its namespaces.
    pub namespaces: &'static [&'static str],
    /// Reads it.
    pub read: Arc<dyn Fn() -> Arc<Catalog> + Send + Sync>,
    /// Whether it is always simulated and in no list, as a catalogue for tests is.
    pub for_tests: bool,
}

/// Opens a package: reads its schema from the cache or from its plugin. The plugin may stay started for the session.
///
/// The error says why the plugin cannot be used, and names its program.
pub type OpenPackage =
    Arc<dyn Fn(HostedPackage) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>> + Send + Sync>;

/// An installed host for plugins of a family.
#[derive(Clone)]
pub struct InstalledHost {
    /// The word for `kind` in `cyan.toml`.
    pub kind: &'static str,
    /// The family of its plugins.
    pub family: PackageFamily,
    /// Opens a package. Called at most once in a session for each package, when a name of it is first used; on a thread
    /// with a runtime that lives as long as the session.
    pub open: OpenPackage,
}

impl InstalledProvider {
    /// A provider whose functions, if it has any, belong to no expression.
    pub fn new(
        namespace: &'static str,
        make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
    ) -> InstalledProvider {
        InstalledProvider { namespace, make: Arc::new(make), has_functions: false }
    }

    /// The same provider, with functions that expressions call by name.
    pub fn with_functions(self) -> InstalledProvider {
        InstalledProvider { has_functions: true, ..self }
    }
}

/// Opens the simulated world that is kept in a file. The error says why it cannot be read.
pub type OpenSimulation = fn(&Path) -> Result<Arc<dyn Simulation>, Box<dyn Error + Send + Sync>>;

/// How simulated worlds are opened.
#[derive(Clone)]
pub struct InstalledSimulation {
    /// Makes a world in memory.
    pub in_memory: Arc<dyn Fn() -> Arc<dyn Simulation> + Send + Sync>,
    /// Opens the world that is kept in a file. Creates nothing before something changes.
    pub open: OpenSimulation,
}

/// A simulated world. All its providers share it.
pub trait Simulation: Send + Sync {
    /// A provider that simulates a catalogue. `behind` is the provider that it replaces; its functions are called for
    /// real.
    fn provider(&self, catalog: Arc<Catalog>, behind: Option<Arc<dyn Provider>>) -> Arc<dyn Provider>;
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read: nothing is created.
    Read,
    /// To read and write.
    Write,
}

/// An installed kind of store.
#[derive(Clone)]
pub struct InstalledStore {
    /// The scheme of its URLs.
    pub scheme: &'static str,
    /// Whether the rest of a URL is the path of a file; otherwise it is empty.
    pub is_file: bool,
    /// Opens it.
    pub open: OpenStore,
}

/// Opens the store at a place.
pub type OpenStore = Arc<dyn Fn(&StatePlace, Sealer, Access) -> Box<dyn Store> + Send + Sync>;

impl Installed {
    /// Whether a provider manages resources of this namespace.
    pub fn manages(&self, namespace: &str) -> bool {
        self.providers.iter().any(|provider| provider.namespace == namespace)
    }

    /// Whether a provider or a catalogue has this namespace.
    pub fn has(&self, namespace: &str) -> bool {
        self.manages(namespace) || self.catalogs.iter().any(|catalog| catalog.namespaces.contains(&namespace))
    }

    /// Every installed catalogue, those for tests last.
    pub fn all_catalogs(&self) -> impl Iterator<Item = Arc<Catalog>> {
        let own = self.providers.iter().map(|provider| (provider.make)().catalog().clone());
        own.chain(self.catalogs.iter().map(|catalog| (catalog.read)()))
    }

    /// A shell for documents in the folder `root`, without settings and without the name of an instance.
    pub(crate) fn shell(&self, providers: Providers, catalogs: Arc<Catalogs>, root: &Path) -> Shell {
        Shell {
            providers,
            catalogs,
            settings: IndexMap::default(),
            places: None,
            offline: false,
            instance: "".into(),
            root: root.into(),
            working_directory: self.runtime.working_directory.path(),
            clock: self.runtime.clock.clone(),
            chance: self.runtime.rng.clone(),
            sources: (self.sources)(),
            http: self.runtime.http.as_ref().map(|make| make()),
            planning: None,
            log: self.runtime.log.clone(),
            known: self.runtime.known.clone().unwrap_or_default(),
            remarks: Default::default(),
            cancel: CancellationToken::new(),
        }
    }
}
