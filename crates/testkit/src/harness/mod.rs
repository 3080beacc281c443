//! The test harness: one simulated cloud, one store, one virtual clock, and processes that start
//! and end.
//!
//! Documents are read, planned and carried out through `engine::Session`, the orchestration that
//! users run: `session` opens the session of a process, `staging` reads documents and makes plans,
//! `running` carries them out. `inspection` compares cloud and state.
//!
//! Not here: faults (`crate::faults`); scripts of several steps (`crate::scenario`).

mod clock;
mod inspection;
mod running;
mod session;
mod shell;
mod staging;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use blueprint::{Breakpoints, IndexMap, Name};
use dialect::Dialects;
use engine::Library;
use engine::run::{Clock, HttpGet, Rng};
use expr::FunctionTable;
use provider::{Catalog, Catalogs, Provider, Providers};
use providers::fake::{self, FakeOptions, FakeProvider, SharedCloud};
use source::{Source, Sources};
use sources::disk::Disk;
use state::seal::Sealer;
use state::{Host, InstanceName, Snapshot, Store};
use stores::memory::{MemoryState, MemoryStore};

use self::clock::VirtualHost;
use crate::document_sources::{InMemorySource, UNREACHABLE_KINDS, UnreachableSource};
use crate::faults::{DelayedReads, FaultyProvider, PlanMemory, PlantedBug, SimulatedProcess};
use crate::toy::hosted::{ProviderDefect, ToyOptions};
use crate::toy::{checker, planner};

pub use crate::runtime::run_with_paused_clock;
pub use clock::START_TIME;
pub use running::{RunResult, settings};
pub use shell::{session_without_settings, shell_without_faults};
pub use staging::{CheckedDocument, StageResult, heat_environment};

/// The key that the harness seals secrets with.
const KEY: [u8; 32] = [7; 32];

/// Opens a store with a sealer on a host.
pub type OpenStore = Arc<dyn Fn(Sealer, Arc<dyn Host>) -> Box<dyn Store> + Send + Sync>;

/// The settings of the toy providers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Toys {
    /// The defect of the toy providers, if any.
    pub defect: Option<ProviderDefect>,
    /// Whether the schemas have the version before the current one.
    pub old_schema: bool,
}

/// One simulated cloud with its state and clock.
pub struct Harness {
    /// The catalogues of the providers.
    pub catalogs: Arc<Catalogs>,
    /// The functions that expressions can call.
    pub functions: Arc<FunctionTable>,
    /// Contradictions between the catalogues, each in a sentence.
    pub contradictions: Vec<String>,
    /// The resources in the cloud.
    pub world: SharedCloud,
    /// Opens the store for each new process. All opened stores share the state of all instances.
    pub open_store: OpenStore,
    /// The folder of the documents.
    pub folder: PathBuf,
    /// Documents by absolute path, read in place of the disk.
    pub memory_source: Option<InMemorySource>,
    /// Files given along with a root, such as an environment of Heat.
    pub context: dialect::LoadContext,
    /// The dialects that documents can be written in.
    pub dialects: Dialects,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// The instance that is staged and deployed. Other instances may share the cloud and the store.
    pub name: InstanceName,
    /// Whether a key for sealing secrets exists.
    pub key: bool,
    /// The clock.
    pub clock: Clock,
    /// Whether each call and the result of each run are checked (see [`RunResult::violations`]).
    pub checks_invariants: bool,
    /// Breakpoints, by the names of resources and includes of the root document.
    pub breakpoints: IndexMap<Name, Breakpoints>,
    /// The bug that the simulated engine has, if any.
    pub planted_bug: Option<PlantedBug>,
    /// The bodies that HTTP addresses answer with.
    pub web: BTreeMap<String, Vec<u8>>,
    /// Time after which each run is interrupted, as by a user.
    pub interrupt_after: Option<Duration>,
    /// Settings of providers by namespace.
    pub settings: IndexMap<Name, serde_json::Map<String, serde_json::Value>>,
    /// The settings of the toy providers, if the harness has these.
    toys: Option<Toys>,
    delayed_reads: DelayedReads,
    plan_memory: PlanMemory,
    random: RandomNumbers,
    library: OnceLock<Library>,
    offered: Offered,
}

/// The random numbers of a harness.
struct RandomNumbers {
    /// The random numbers of expressions and of operations.
    rng: Rng,
    /// The random numbers of other ids.
    ids: Rng,
}

/// The providers of a harness other than `test`.
struct Offered {
    simulated: Vec<Arc<Catalog>>,
    real: Vec<Arc<dyn Provider>>,
}

impl Harness {
    /// A harness with the simulated provider `test`, and with simulations of further catalogues.
    /// Panics outside of a tokio runtime, which the clock needs.
    pub fn new(folder: PathBuf, simulated: Vec<Arc<Catalog>>) -> Harness {
        Harness::with(folder, simulated, Vec::new())
    }

    /// A harness with further real providers.
    pub fn with(
        folder: PathBuf,
        simulated: Vec<Arc<Catalog>>,
        real: Vec<Arc<dyn Provider>>,
    ) -> Harness {
        let every = std::iter::once(fake::catalog()).chain(simulated.iter().cloned());
        let every = every.chain(real.iter().map(|provider| provider.catalog().clone()));
        let (catalogs, functions, contradictions) = combined(every);
        Harness {
            catalogs: Arc::new(catalogs),
            functions: Arc::new(functions),
            contradictions,
            world: SharedCloud::default(),
            open_store: in_memory(),
            folder,
            memory_source: None,
            context: dialect::LoadContext::default(),
            dialects: crate::dialects(),
            working_directory: Some("/w".into()),
            name: Self::instance(),
            key: true,
            clock: Clock::at(START_TIME),
            checks_invariants: false,
            breakpoints: IndexMap::default(),
            planted_bug: None,
            web: BTreeMap::new(),
            interrupt_after: None,
            settings: IndexMap::default(),
            toys: None,
            delayed_reads: DelayedReads::default(),
            plan_memory: PlanMemory::default(),
            // A seed far from the numbers of `rng`.
            random: RandomNumbers {
                rng: Rng::seeded(1),
                ids: Rng::seeded(u64::from(u32::MAX) << 16),
            },
            library: OnceLock::new(),
            offered: Offered { simulated, real },
        }
    }

    /// A harness with the simulated provider `test` and the toy providers.
    pub fn with_toys(folder: PathBuf, toys: Toys) -> Harness {
        let mut harness = Harness::new(folder, Vec::new());
        harness.set_toys(toys);
        harness
    }

    /// Adds the toy providers or changes their settings, for later processes.
    pub fn set_toys(&mut self, toys: Toys) {
        let catalogs = [
            fake::catalog(),
            planner::catalog(toys.old_schema),
            checker::catalog(),
        ];
        let every = catalogs
            .into_iter()
            .chain(self.offered.simulated.iter().cloned());
        let every = every.chain(
            self.offered
                .real
                .iter()
                .map(|provider| provider.catalog().clone()),
        );
        let (catalogs, functions, contradictions) = combined(every);
        (self.catalogs, self.functions) = (Arc::new(catalogs), Arc::new(functions));
        (self.contradictions, self.toys) = (contradictions, Some(toys));
    }

    /// The settings of the toy providers, if the harness has these.
    pub fn toys(&self) -> Option<Toys> {
        self.toys
    }

    /// Opens the store as a new process does.
    pub fn store(&self) -> Box<dyn Store> {
        self.store_with(self.sealer())
    }

    fn store_with(&self, sealer: Sealer) -> Box<dyn Store> {
        (self.open_store)(sealer, Arc::new(VirtualHost(self.clock.clone())))
    }

    /// The sealer of secrets.
    pub fn sealer(&self) -> Sealer {
        if self.key {
            Sealer::with_key(KEY)
        } else {
            Sealer::none()
        }
    }

    /// The name that an instance has unless [`Harness::name`] is changed.
    pub fn instance() -> InstanceName {
        InstanceName::from_free_text("case")
    }

    /// The state of the instance as the engine sees it.
    pub async fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.store().load(&self.name).await.unwrap_or_default();
        if let Some(bug) = self.planted_bug {
            bug.change_snapshot(&mut snapshot);
        }
        snapshot
    }

    /// The options of a simulated provider of a process.
    fn fake_options(&self, process: &Arc<SimulatedProcess>) -> FakeOptions {
        let ends = process.clone();
        FakeOptions {
            world: Some(self.world.clone()),
            faults: process.call_faults(),
            on_crash: Some(Arc::new(move || ends.end())),
            ..FakeOptions::default()
        }
    }

    /// A provider with the faults of a process.
    fn faulty(&self, inner: Arc<dyn Provider>, process: &Arc<SimulatedProcess>) -> FaultyProvider {
        FaultyProvider {
            inner,
            process: process.clone(),
            world: self.world.clone(),
            delayed_reads: self.delayed_reads.clone(),
            plan_memory: self.plan_memory.clone(),
            checked_against: self
                .checks_invariants
                .then(|| self.store_with(Sealer::with_key(KEY))),
        }
    }

    /// The provider `test` with the faults of a process, and the inner provider, which keeps a
    /// journal of its calls.
    fn provider(&self, process: &Arc<SimulatedProcess>) -> (FaultyProvider, Arc<FakeProvider>) {
        let test = Arc::new(fake::provider(self.fake_options(process)));
        (self.faulty(test.clone(), process), test)
    }

    /// The toy providers with the faults of a process.
    fn toy_providers(&self, toys: Toys, process: &Arc<SimulatedProcess>) -> [FaultyProvider; 2] {
        let options = || {
            let seen_by = process.clone();
            ToyOptions {
                fake: self.fake_options(process),
                defect: toys.defect,
                witness: Some(Arc::new(move |what| seen_by.violated(what))),
                old_schema: toys.old_schema,
            }
        };
        let [planner, checker]: [Arc<dyn Provider>; 2] = [
            Arc::new(planner::PlannerProvider::new(options())),
            Arc::new(checker::CheckerProvider::new(options())),
        ];
        [self.faulty(planner, process), self.faulty(checker, process)]
    }

    /// The providers of a process, and the inner provider `test`, which keeps a journal of its
    /// calls.
    fn providers(&self, process: &Arc<SimulatedProcess>) -> (Providers, Arc<FakeProvider>) {
        let (faulty, test) = self.provider(process);
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        providers.insert("test".into(), Arc::new(faulty));
        for toy in self
            .toys
            .map(|toys| self.toy_providers(toys, process))
            .into_iter()
            .flatten()
        {
            providers.insert(toy.inner.catalog().namespaces[0].clone(), Arc::new(toy));
        }
        for catalog in &self.offered.simulated {
            let options = FakeOptions {
                catalog: Some(catalog.clone()),
                world: Some(self.world.clone()),
                ..FakeOptions::default()
            };
            let provider: Arc<dyn Provider> = Arc::new(fake::provider(options));
            for namespace in &catalog.namespaces {
                providers
                    .entry(namespace.clone())
                    .or_insert_with(|| provider.clone());
            }
        }
        let mut all: Providers = providers.into_iter().collect();
        for provider in self.offered.real.iter().cloned() {
            let catalog = provider.catalog().clone();
            all.insert(catalog.keys().cloned(), move || provider);
        }
        (all, test)
    }

    fn http(&self) -> Option<HttpGet> {
        if self.web.is_empty() {
            return None;
        }
        let web = self.web.clone();
        Some(Arc::new(move |url: String| {
            let found = web.get(&url).cloned();
            Box::pin(
                async move { found.ok_or_else(|| "there is nothing at this address".to_owned()) },
            )
        }))
    }

    fn sources(&self) -> Sources {
        let disk: Arc<dyn Source> = match &self.memory_source {
            Some(source) => Arc::new(source.clone()),
            None => Arc::new(Disk::new(
                self.working_directory
                    .as_ref()
                    .map_or("/", |folder| folder.as_ref()),
            )),
        };
        let unreachable = UNREACHABLE_KINDS
            .iter()
            .map(|kind| Arc::new(UnreachableSource(kind)) as Arc<dyn Source>);
        Sources::new(std::iter::once(disk).chain(unreachable))
    }
}

/// Combines the catalogues and their functions, adds the functions of the dialects, and returns
/// contradictions between catalogues.
fn combined(every: impl Iterator<Item = Arc<Catalog>>) -> (Catalogs, FunctionTable, Vec<String>) {
    let (catalogs, mut functions, contradictions) = provider::combine(every);
    crate::dialects().insert_functions(&mut functions, &dialect::DocumentSettings::default());
    (catalogs, functions, contradictions)
}

/// Opens stores that share a state in memory.
fn in_memory() -> OpenStore {
    let memory = MemoryState::default();
    Arc::new(move |sealer, host| Box::new(MemoryStore::open(&memory, sealer).with_host(host)))
}
