//! The one place that names providers and stores.

use std::path::Path;
use std::sync::Arc;

use blueprint::{IndexMap, Name};
use expr::FunctionTable;
use provider::{Catalogs, Provider};
use providers::fake::{self, FakeOptions};
use state::Store;
use state::seal::Sealer;
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

use crate::exit::CommandError;
use crate::setup::StatePlace;

/// The namespace of the simulated cloud, which no list shows unless asked.
pub(crate) const SIMULATED: &str = "test";

type Make = fn() -> Arc<dyn Provider>;

/// Namespaces in the order in which they are shown, and how their providers are made.
const PROVIDERS: &[(&str, Make)] = &[
    ("local", || Arc::new(providers::local::provider())),
    ("random", || Arc::new(providers::random::provider())),
    ("tls", || Arc::new(providers::tls::provider())),
    ("http", || Arc::new(providers::http::provider())),
    ("time", || Arc::new(providers::time::provider())),
    ("std", || Arc::new(providers::std::provider())),
];

/// What providers offer, and the providers themselves.
pub(crate) struct Registry {
    /// What they offer together.
    pub(crate) catalogs: Arc<Catalogs>,
    /// What expressions can call.
    pub(crate) functions: Arc<FunctionTable>,
    /// Provider by namespace.
    pub(crate) providers: IndexMap<Name, Arc<dyn Provider>>,
}

/// The providers of the namespaces that `wanted` names. Reading a catalogue takes time, so those that nobody needs stay
/// closed. The things of the simulated cloud are in memory until [`Registry::open_world`].
pub(crate) fn registry(wanted: impl Fn(&str) -> bool) -> Registry {
    let mut all: Vec<(&str, Arc<dyn Provider>)> = Vec::new();
    for (namespace, make) in PROVIDERS {
        if wanted(namespace) {
            all.push((namespace, make()));
        }
    }
    if wanted(SIMULATED) {
        all.push((SIMULATED, Arc::new(fake::provider(FakeOptions::default()))));
    }
    let (catalogs, functions, wrong) = provider::combine(all.iter().map(|(_, provider)| provider.catalog().clone()));
    debug_assert!(wrong.is_empty(), "{wrong:?}");
    Registry {
        catalogs: Arc::new(catalogs),
        functions: Arc::new(functions),
        providers: all.into_iter().map(|(namespace, provider)| (namespace.into(), provider)).collect(),
    }
}

impl Registry {
    /// Puts the things of the simulated cloud where the state says that they are.
    pub(crate) fn open_world(&mut self, place: &StatePlace) -> Result<(), CommandError> {
        let StatePlace::Sqlite(file) = place else { return Ok(()) };
        if let Some(provider) = self.providers.get_mut(SIMULATED) {
            let world = fake::World::open(&file.with_extension("world"))
                .map_err(|error| CommandError::World(Box::new(error)))?;
            let options = FakeOptions { world: Some(world.shared()), ..FakeOptions::default() };
            *provider = Arc::new(fake::provider(options));
        }
        Ok(())
    }
}

/// Whether a text may name a type of this namespace: its name with a `/` after it occurs.
pub(crate) fn mentions(text: &str, namespace: &str) -> bool {
    text.match_indices(namespace).any(|(at, _)| text[at + namespace.len()..].starts_with('/'))
}

/// Opens the place of state. Reading creates nothing.
pub(crate) fn store(place: &StatePlace, sealer: Sealer, writes: bool) -> Box<dyn Store> {
    match place {
        StatePlace::Memory => Box::new(MemoryStore::open(&MemoryState::default(), sealer)),
        StatePlace::Sqlite(file) => {
            let mode = if writes { Mode::ReadWrite } else { Mode::ReadOnly };
            Box::new(SqliteStore::open(file as &Path, sealer, mode))
        }
    }
}

/// Whether some provider has this namespace.
pub(crate) fn is_known(namespace: &str) -> bool {
    namespace == SIMULATED || PROVIDERS.iter().any(|(known, _)| *known == namespace)
}
