//! The test harness: one simulated cloud, one store, one virtual clock, and processes that start and end.
//!
//! Documents are read, planned and carried out through `engine::Session`, the orchestration that users run: `session`
//! opens the session of a process, `staging` reads documents and makes plans, `running` carries them out. `inspection`
//! compares cloud and state.
//!
//! Not here: faults (`crate::faults`); scripts of several steps (`crate::scenario`).

mod clock;
mod inspection;
mod running;
mod session;
mod staging;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use blueprint::{Breakpoints, IndexMap, Name};
use dialects::Dialects;
use engine::Library;
use engine::shell::{Clock, HttpGet, Rng};
use expr::FunctionTable;
use provider::{Catalog, Catalogs, Provider, Providers};
use providers::fake::{self, FakeOptions, FakeProvider, SharedWorld};
use source::{Source, Sources};
use sources::disk::Disk;
use state::seal::Sealer;
use state::{Host, InstanceName, Snapshot, Store};
use stores::memory::{MemoryState, MemoryStore};

use self::clock::VirtualHost;
use crate::document_sources::{InMemorySource, UNREACHABLE_KINDS, UnreachableSource};
use crate::faults::{DelayedReads, FaultyProvider, PlantedBug, SimulatedProcess};

pub use clock::START_TIME;
pub use running::{Run, settings};
pub use staging::{CheckedDocument, Stage, heat_environment};

/// The key that the harness seals secrets with.
const KEY: [u8; 32] = [7; 32];

/// Opens a store with what seals its secrets, on a host.
pub type OpenStore = Arc<dyn Fn(Sealer, Arc<dyn Host>) -> Box<dyn Store> + Send + Sync>;

/// One simulated cloud with its state and clock.
pub struct Harness {
    /// What the providers offer.
    pub catalogs: Arc<Catalogs>,
    /// The functions that expressions can call.
    pub functions: Arc<FunctionTable>,
    /// Contradictions between the catalogues, each in a sentence.
    pub contradictions: Vec<String>,
    /// The resources in the cloud.
    pub world: SharedWorld,
    /// Opens the store, as each new process does. All stores that it opens share the state of all instances.
    pub open_store: OpenStore,
    /// The folder of the documents.
    pub folder: PathBuf,
    /// Documents by absolute path, read in place of the disk.
    pub memory_source: Option<InMemorySource>,
    /// Files given along with a root, such as an environment of Heat.
    pub context: dialects::LoadContext,
    /// The dialects that documents can be written in.
    pub dialects: Dialects,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// The instance that is staged and deployed. Other instances may share the cloud and the store.
    pub name: InstanceName,
    /// Whether there is a key to seal secrets with.
    pub key: bool,
    /// The clock.
    pub clock: Clock,
    /// Whether each call and the result of each run are checked (see [`Run::violations`]).
    pub checks_invariants: bool,
    /// Breakpoints, by the names of resources and includes of the root document.
    pub breakpoints: IndexMap<Name, Breakpoints>,
    /// The bug that the simulated engine has, if any.
    pub planted_bug: Option<PlantedBug>,
    /// The bodies that HTTP addresses answer with.
    pub web: BTreeMap<String, Vec<u8>>,
    /// Time after which each run is interrupted, as by a person.
    pub interrupt_after: Option<Duration>,
    delayed_reads: DelayedReads,
    rng: Rng,
    ids: Rng,
    library: OnceLock<Library>,
    simulated_catalogs: Vec<Arc<Catalog>>,
    real_providers: Vec<Arc<dyn Provider>>,
}

impl Harness {
    /// A harness with the simulated provider `test`, and with simulations of further catalogues. Panics outside of a
    /// tokio runtime, which the clock needs.
    pub fn new(folder: PathBuf, simulated: Vec<Arc<Catalog>>) -> Harness {
        Harness::with(folder, simulated, Vec::new())
    }

    /// The same with further providers that are real.
    pub fn with(folder: PathBuf, simulated: Vec<Arc<Catalog>>, real: Vec<Arc<dyn Provider>>) -> Harness {
        let every = std::iter::once(fake::catalog()).chain(simulated.iter().cloned());
        let every = every.chain(real.iter().map(|provider| provider.catalog().clone()));
        let (catalogs, mut functions, contradictions) = provider::combine(every);
        Dialects::BUILT_IN.insert_functions(&mut functions, &dialects::Settings::default());
        Harness {
            catalogs: Arc::new(catalogs),
            functions: Arc::new(functions),
            contradictions,
            world: SharedWorld::default(),
            open_store: in_memory(),
            folder,
            memory_source: None,
            context: dialects::LoadContext::default(),
            dialects: Dialects::BUILT_IN,
            working_directory: Some("/w".into()),
            name: Self::instance(),
            key: true,
            clock: Clock::at(START_TIME),
            checks_invariants: false,
            breakpoints: IndexMap::default(),
            planted_bug: None,
            web: BTreeMap::new(),
            interrupt_after: None,
            delayed_reads: DelayedReads::default(),
            rng: Rng::seeded(1),
            // Far from the numbers of `rng`.
            ids: Rng::seeded(u64::from(u32::MAX) << 16),
            library: OnceLock::new(),
            simulated_catalogs: simulated,
            real_providers: real,
        }
    }

    /// The store, as a new process opens it.
    pub fn store(&self) -> Box<dyn Store> {
        self.store_with(self.sealer())
    }

    fn store_with(&self, sealer: Sealer) -> Box<dyn Store> {
        (self.open_store)(sealer, Arc::new(VirtualHost(self.clock.clone())))
    }

    /// What seals and opens secrets.
    pub fn sealer(&self) -> Sealer {
        if self.key { Sealer::with_key(KEY) } else { Sealer::none() }
    }

    /// The name that an instance has unless [`Harness::name`] is changed.
    pub fn instance() -> InstanceName {
        InstanceName::from_free_text("case")
    }

    /// The state of the instance, as the engine sees it.
    pub async fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.store().load(&self.name).await.unwrap_or_default();
        if let Some(bug) = self.planted_bug {
            bug.change_snapshot(&mut snapshot);
        }
        snapshot
    }

    /// The provider `test` as a process reaches it, and the provider behind it, which keeps a journal of its calls.
    fn provider(&self, process: &Arc<SimulatedProcess>) -> (FaultyProvider, Arc<FakeProvider>) {
        let ends = process.clone();
        let test = Arc::new(fake::provider(FakeOptions {
            world: Some(self.world.clone()),
            faults: process.call_faults(),
            on_crash: Some(Arc::new(move || ends.end())),
            ..FakeOptions::default()
        }));
        let faulty = FaultyProvider {
            inner: test.clone(),
            process: process.clone(),
            world: self.world.clone(),
            delayed_reads: self.delayed_reads.clone(),
            checked_against: self.checks_invariants.then(|| self.store_with(Sealer::with_key(KEY))),
        };
        (faulty, test)
    }

    /// The providers of a process, and the provider `test` behind them, which keeps a journal of its calls.
    fn providers(&self, process: &Arc<SimulatedProcess>) -> (Providers, Arc<FakeProvider>) {
        let (faulty, test) = self.provider(process);
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        providers.insert("test".into(), Arc::new(faulty));
        for catalog in &self.simulated_catalogs {
            let options = FakeOptions {
                catalog: Some(catalog.clone()),
                world: Some(self.world.clone()),
                ..FakeOptions::default()
            };
            let provider: Arc<dyn Provider> = Arc::new(fake::provider(options));
            for namespace in &catalog.namespaces {
                providers.entry(namespace.clone()).or_insert_with(|| provider.clone());
            }
        }
        for provider in &self.real_providers {
            for namespace in &provider.catalog().namespaces {
                providers.insert(namespace.clone(), provider.clone());
            }
        }
        (providers.into_iter().collect(), test)
    }

    fn http(&self) -> Option<HttpGet> {
        if self.web.is_empty() {
            return None;
        }
        let web = self.web.clone();
        Some(Arc::new(move |url: String| {
            let found = web.get(&url).cloned();
            Box::pin(async move { found.ok_or_else(|| "there is nothing at this address".to_owned()) })
        }))
    }

    fn sources(&self) -> Sources {
        let disk: Arc<dyn Source> = match &self.memory_source {
            Some(source) => Arc::new(source.clone()),
            None => Arc::new(Disk::new(self.working_directory.as_ref().map_or("/", |folder| folder.as_ref()))),
        };
        let unreachable = UNREACHABLE_KINDS.iter().map(|kind| Arc::new(UnreachableSource(kind)) as Arc<dyn Source>);
        Sources::new(std::iter::once(disk).chain(unreachable))
    }
}

/// Opens stores that share a state in memory.
fn in_memory() -> OpenStore {
    let memory = MemoryState::default();
    Arc::new(move |sealer, host| Box::new(MemoryStore::open(&memory, sealer).on(host)))
}
