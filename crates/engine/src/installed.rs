//! The components that a program has installed: providers, catalogues, the simulation, stores and
//! sources. The program registers each component; this crate names none of them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::phases::run::{Clock, HttpGet, ProviderLog, Rng, RunSecrets};
use blueprint::{Blueprint, Map, Name, Value};
use dialect::{Dialects, LoadContext};
use provider::{
    BoxFuture, Catalog, FoundProgram, HostedPackage, ProgramQuery, Provider, ProviderError,
};
use source::Sources;
use state::Store;
use state::seal::Sealer;

use crate::place::StatePlace;
pub use crate::read_parts::ReadPart;

/// The installed components.
#[derive(Clone)]
pub struct Installed {
    /// Providers, in display order.
    pub providers: Vec<InstalledProvider>,
    /// Catalogues without a provider. Documents can be checked, planned and simulated with them.
    pub catalogs: Vec<InstalledCatalog>,
    /// The hosts of packages, one for each family.
    pub hosts: Vec<InstalledHost>,
    /// The dialects.
    pub dialects: Dialects,
    /// The other tools that are asked for their stacks.
    pub stack_sources: Vec<InstalledStackSource>,
    /// The simulation that replaces providers.
    pub simulate: InstalledSimulation,
    /// Stores, by the scheme of their URLs. The first one that uses a file is the default.
    pub stores: Vec<InstalledStore>,
    /// Makes the sources of documents.
    pub sources: Arc<dyn Fn() -> Sources + Send + Sync>,
    /// The load context that the program adds to root documents.
    pub roots: RootOptions,
    /// The clock, the random numbers, the client for requests, the cache and the log.
    pub runtime: Runtime,
}

/// The load context and the change that a program applies to root documents. The default is
/// neither.
#[derive(Clone, Default)]
pub struct RootOptions {
    /// The load context of a root, before its environment files. Settings of dialects and the types
    /// of providers come from the session.
    pub context: LoadContext,
    /// Changes a root after it is lowered and before it is checked.
    pub change: Option<RootTransform>,
}

/// A function that changes the blueprint of a root document.
pub type RootTransform = Arc<dyn Fn(&mut Blueprint) + Send + Sync>;

/// The services of the machine that plans and operations use. Tests install a virtual clock and
/// fixed random numbers.
#[derive(Clone)]
pub struct Runtime {
    /// The clock of expressions, waits and leases.
    pub clock: Clock,
    /// The random numbers of expressions, tokens, pauses and ids of objects.
    pub rng: Rng,
    /// The random numbers of the ids of operations.
    pub ids: Rng,
    /// Creates the client for URLs in expressions; `None` if requests are not allowed.
    pub http: Option<Arc<dyn Fn() -> HttpGet + Send + Sync>>,
    /// The working directory of expressions.
    pub working_directory: WorkingDirectory,
    /// The cache folder, for example for schemas of plugins; `None` disables the cache.
    pub cache: Option<PathBuf>,
    /// Receives log lines of providers' processes; `None` drops them.
    pub log: Option<ProviderLog>,
    /// The secrets of all runs, if output of plugins is also shown outside of the runs. With
    /// `None`, each run has its own secrets.
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
    pub(crate) fn path(&self) -> Option<Name> {
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
    /// Its name, if it has one: that of its catalogue. The key of its settings and limits, and of
    /// the one configuration that all its namespaces share.
    pub name: Option<&'static str>,
    /// Its namespaces: those of its catalogue. They share one provider, its settings and its limits.
    pub namespaces: &'static [&'static str],
    /// Creates the provider. Called at most once in a session, when a name of a namespace is first
    /// used.
    pub make: Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>,
    /// Whether expressions call its functions by their plain names. If so, its catalogue is read at
    /// the beginning.
    pub has_functions: bool,
}

/// An installed catalogue without a provider.
#[derive(Clone)]
pub struct InstalledCatalog {
    /// Its namespaces.
    pub namespaces: &'static [&'static str],
    /// Reads the catalogue.
    pub read: Arc<dyn Fn() -> Arc<Catalog> + Send + Sync>,
    /// Whether it is a catalogue for tests: always simulated and not listed.
    pub for_tests: bool,
}

/// Another tool that is asked for a stack, which is taken over. A provider asks it.
#[derive(Clone, Copy, Debug)]
pub struct InstalledStackSource {
    /// The form of its stacks, as in [`crate::foreign::FORMS`].
    pub form: &'static str,
    /// The name or a namespace of the provider.
    pub provider: &'static str,
    /// The function of the provider that returns a stack in that form. Its only argument is the
    /// name of the stack, or another text by which the tool finds it.
    pub function: &'static str,
}

/// A function that opens a package: it reads the schema from the cache or from the plugin. The
/// plugin may keep running for the session.
///
/// The error names the program of the plugin and says why it cannot be used.
pub type OpenPackage = Arc<
    dyn Fn(HostedPackage) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>>
        + Send
        + Sync,
>;

/// A function that finds the program of a package on the machine. It may block.
///
/// The error says where the function looked and how the user gets the program.
pub type FindProgram = Arc<dyn Fn(&ProgramQuery) -> Result<FoundProgram, String> + Send + Sync>;

/// The host of a family of packages, such as the plugins of Terraform.
#[derive(Clone)]
pub struct InstalledHost {
    /// The word of the family: the value of `kind` under `[plugins]` in `cyan.toml`.
    pub family: &'static str,
    /// A short word for the beginning of a package's name, for proposals of names.
    pub prefix: &'static str,
    /// Whether its packages are programs.
    pub program: PackageProgram,
    /// The packages that every document may use without a table under `[plugins]`.
    pub implied: &'static [&'static str],
    /// Finds the program of a package that a document names as `FAMILY:NAME`, without a table under
    /// `[plugins]`. `None` if each package of the family needs a table.
    pub find: Option<FindProgram>,
    /// Opens a package. Called at most once in a session for each package, before its types are
    /// looked up. `None` if this build of the program cannot host the family.
    pub open: Option<OpenPackage>,
}

/// Whether a package of a family is a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageProgram {
    /// Each package is a program, whose `path` is configured.
    Required,
    /// Each package is a program. A file with its schema, without the program, serves checks and
    /// simulations.
    OrSchema,
    /// A package has no program: its types come from a server, for example.
    None,
}

impl InstalledProvider {
    /// Creates an installed provider whose functions, if it has any, cannot be called by their
    /// plain names.
    pub fn new(
        namespaces: &'static [&'static str],
        make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
    ) -> InstalledProvider {
        InstalledProvider {
            name: None,
            namespaces,
            make: Arc::new(make),
            has_functions: false,
        }
    }

    /// Gives the provider a name: that of its catalogue.
    pub fn named(self, name: &'static str) -> InstalledProvider {
        InstalledProvider {
            name: Some(name),
            ..self
        }
    }

    /// The words that select the provider: its namespaces and its name.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.namespaces.iter().copied().chain(self.name)
    }

    /// Lets expressions call the functions of the provider by their plain names.
    pub fn with_functions(self) -> InstalledProvider {
        InstalledProvider {
            has_functions: true,
            ..self
        }
    }
}

/// A function that opens the simulated world in a file. The error says why the file cannot be read.
pub type OpenSimulation = fn(&Path) -> Result<Arc<dyn Simulation>, Box<dyn Error + Send + Sync>>;

/// The functions that open simulated worlds.
#[derive(Clone)]
pub struct InstalledSimulation {
    /// Creates a world in memory.
    pub in_memory: Arc<dyn Fn() -> Arc<dyn Simulation> + Send + Sync>,
    /// Opens the world in a file. The file is created by the first change.
    pub open: OpenSimulation,
}

/// A simulated world. All its providers share it.
pub trait Simulation: Send + Sync {
    /// Returns a provider that simulates a catalogue. `behind` is the provider that it replaces;
    /// calls of functions go to `behind`.
    fn provider(
        &self,
        catalog: Arc<Catalog>,
        behind: Option<Arc<dyn Provider>>,
    ) -> Arc<dyn Provider>;

    /// Makes the objects of the world have these parts, where their fields allow it.
    fn make_parts(&self, parts: Vec<ReadPart>);

    /// Sets the fields that objects get in place of generated ones, by the address of a resource or
    /// by the name of a type.
    fn set_answers(&self, answers: Vec<(Name, Value)>);

    /// Changes fields of an object from outside, or deletes it if there are none. Returns whether
    /// the object exists.
    fn change_externally(&self, instance: &str, address: &str, fields: Option<&Map>) -> bool;
}

/// The access mode of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: nothing is created.
    Read,
    /// Read and write.
    Write,
}

/// An installed kind of store.
#[derive(Clone)]
pub struct InstalledStore {
    /// The scheme of its URLs.
    pub scheme: &'static str,
    /// Whether the rest of a URL is the path of a file; otherwise it is empty.
    pub is_file: bool,
    /// Opens the store.
    pub open: OpenStore,
}

/// A function that opens the store at a place.
pub type OpenStore = Arc<dyn Fn(&StatePlace, Sealer, Access) -> Box<dyn Store> + Send + Sync>;

impl Installed {
    /// Whether a provider manages resources of this namespace, or has it as its name.
    pub fn manages(&self, namespace: &str) -> bool {
        self.providers
            .iter()
            .any(|provider| provider.keys().any(|key| key == namespace))
    }

    /// Whether a provider or a catalogue has this namespace, or a provider this name.
    pub fn has(&self, namespace: &str) -> bool {
        self.manages(namespace)
            || self
                .catalogs
                .iter()
                .any(|catalog| catalog.namespaces.contains(&namespace))
    }

    /// All installed catalogues, first those of providers.
    pub fn all_catalogs(&self) -> impl Iterator<Item = Arc<Catalog>> {
        let own = self
            .providers
            .iter()
            .map(|provider| (provider.make)().catalog().clone());
        own.chain(self.catalogs.iter().map(|catalog| (catalog.read)()))
    }
}
