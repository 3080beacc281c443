//! The one place that names providers, stores and sources.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{IndexMap, Name, TypeId};
use expr::FunctionTable;
use provider::{Catalog, Catalogs, Limits, Provider};
use providers::fake::{self, FakeOptions, SharedWorld};
use source::{Source, Sources};
use sources::disk::Disk;
use sources::https::Https;
use sources::{Cache, Environment, object};
use state::Store;
use state::seal::Sealer;
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

use crate::exit::CommandError;
use crate::setup::StatePlace;

/// The namespace of the simulated cloud, which no list shows unless asked.
pub(crate) const SIMULATED: &str = "test";

type Make = fn() -> Arc<dyn Provider>;
type MakeCatalog = fn() -> Arc<Catalog>;

/// Namespaces in the order in which they are shown, and how their providers are made.
const PROVIDERS: &[(&str, Make)] = &[
    ("local", || Arc::new(providers::local::provider())),
    ("random", || Arc::new(providers::random::provider())),
    ("tls", || Arc::new(providers::tls::provider())),
    ("http", || Arc::new(providers::http::provider())),
    ("time", || Arc::new(providers::time::provider())),
    ("std", || Arc::new(providers::std::provider())),
    ("OS::Heat", || Arc::new(providers::heat::provider())),
];

/// Catalogues that nobody manages things of yet: documents are checked and planned with them, and rehearsed with `--simulate`.
const OFFLINE: &[(&[&str], MakeCatalog)] =
    &[(&["aws"], providers::aws::catalog), (providers::openstack::NAMESPACES, providers::openstack::catalog)];

/// All namespaces that somebody here knows.
fn known() -> impl Iterator<Item = &'static str> {
    let offline = OFFLINE.iter().flat_map(|(namespaces, _)| *namespaces).copied();
    PROVIDERS.iter().map(|(namespace, _)| *namespace).chain(offline).chain([SIMULATED])
}

/// What the command line puts at hand: the providers of this program or simulations in their place, and catalogues of the
/// person's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    /// Every provider is replaced by a simulation of its catalogue.
    pub(crate) simulated: bool,
    /// The catalogues that `--catalog` names.
    pub(crate) more: Vec<Arc<Catalog>>,
    /// How providers are called, by namespace, in place of what their catalogues say.
    pub(crate) limits: IndexMap<Name, Limits>,
    /// What is set for dialects.
    pub(crate) settings: dialects::Settings,
}

/// What providers offer, and the providers themselves.
pub(crate) struct Registry {
    /// What it was made from.
    pub(crate) offer: Offer,
    /// What they offer together.
    pub(crate) catalogs: Arc<Catalogs>,
    /// What expressions can call.
    pub(crate) functions: Arc<FunctionTable>,
    /// Provider by namespace.
    pub(crate) providers: IndexMap<Name, Arc<dyn Provider>>,
    offered: IndexMap<Name, Offered>,
}

/// A catalogue, with the provider behind it where there is one.
type Backed = (Arc<Catalog>, Option<Arc<dyn Provider>>);

impl Offer {
    /// The providers of the namespaces that `wanted` names. Reading a catalogue takes time, so those that nobody needs stay
    /// closed; the person's own are always there. Things of simulated clouds are in memory until [`Registry::open_world`].
    pub(crate) fn registry(&self, wanted: impl Fn(&str) -> bool) -> Registry {
        // The functions of `std` are called by their names alone.
        let wanted = |namespace: &str| namespace == "std" || wanted(namespace) || self.extends(namespace);
        let mut real: Vec<Backed> = Vec::new();
        for (namespace, make) in PROVIDERS {
            if wanted(namespace) {
                let provider = make();
                real.push((provider.catalog().clone(), Some(provider)));
            }
        }
        for (namespaces, catalog) in OFFLINE {
            if namespaces.iter().any(|namespace| wanted(namespace)) {
                real.push((catalog(), None));
            }
        }
        if wanted(SIMULATED) {
            real.push((fake::catalog(), None));
        }
        let own = real.iter().map(|(catalog, _)| catalog.clone());
        let mut catalogs = provider::overlay(own, &self.more);
        for catalog in &mut catalogs {
            let namespaces = catalog.namespaces.clone();
            for limits in namespaces.iter().filter_map(|namespace| self.limits.get(namespace)) {
                limits.put_over(Arc::make_mut(catalog));
            }
        }
        let mut all: IndexMap<Name, Offered> = IndexMap::default();
        for catalog in &catalogs {
            for namespace in &catalog.namespaces {
                let behind = real.iter().find(|(own, _)| own.namespaces.contains(namespace));
                let is_simulated = self.simulated || namespace.as_ref() == SIMULATED;
                let provider = behind.and_then(|(_, provider)| provider.clone());
                let offered = match provider {
                    Some(provider) if !is_simulated => Offered::Real(provider),
                    behind if is_simulated => Offered::Simulated { catalog: catalog.clone(), behind },
                    _ => continue,
                };
                all.insert(namespace.clone(), offered);
            }
        }
        let (catalogs, mut functions, wrong) = provider::combine(catalogs);
        dialects::Dialects::BUILT_IN.insert_functions(&mut functions, &self.settings);
        debug_assert!(wrong.is_empty(), "{wrong:?}");
        let mut registry = Registry {
            offer: self.clone(),
            catalogs: Arc::new(catalogs),
            functions: Arc::new(functions),
            providers: IndexMap::default(),
            offered: all,
        };
        registry.connect(&SharedWorld::default());
        registry
    }

    /// Whether somebody manages or simulates things of this namespace, or one day will.
    pub(crate) fn knows(&self, namespace: &str) -> bool {
        namespace == SIMULATED
            || is_managed(namespace)
            || OFFLINE.iter().any(|(known, _)| known.contains(&namespace))
            || self.simulated && self.extends(namespace)
    }

    /// Whether a catalogue of the person's own has types of this namespace.
    fn extends(&self, namespace: &str) -> bool {
        self.more.iter().any(|catalog| catalog.namespaces.iter().any(|own| own.as_ref() == namespace))
    }
}

/// Who answers for a namespace.
enum Offered {
    /// The provider itself.
    Real(Arc<dyn Provider>),
    /// A simulation of the catalogue; the provider behind it, if there is one, lends its functions.
    Simulated { catalog: Arc<Catalog>, behind: Option<Arc<dyn Provider>> },
}

impl Registry {
    /// Which types somebody offers. One of a namespace whose catalogue has not been opened is taken to be there.
    pub(crate) fn types(&self) -> dialects::Types {
        let (catalogs, offer) = (self.catalogs.clone(), self.offer.clone());
        dialects::Types(Arc::new(move |name| {
            let id = TypeId::parse(name);
            match catalogs.resource_type(&id) {
                provider::TypeRef::Known(_) => true,
                provider::TypeRef::UnknownType => false,
                provider::TypeRef::UnknownNamespace => offer.knows(id.package_name()),
            }
        }))
    }

    /// Puts the things of simulated clouds where the state says that they are.
    pub(crate) fn open_world(&mut self, place: &StatePlace) -> Result<(), CommandError> {
        let StatePlace::Sqlite(file) = place else { return Ok(()) };
        if self.offered.values().any(|offered| matches!(offered, Offered::Simulated { .. })) {
            let world = fake::World::open(&world_of(file));
            self.connect(&world.map_err(|error| CommandError::World(Box::new(error)))?.shared());
        }
        Ok(())
    }

    /// Makes the simulations, all of them in one world.
    fn connect(&mut self, world: &SharedWorld) {
        for (namespace, offered) in &self.offered {
            let provider: Arc<dyn Provider> = match offered {
                Offered::Real(provider) => provider.clone(),
                Offered::Simulated { catalog, behind } => Arc::new(fake::provider(FakeOptions {
                    catalog: Some(catalog.clone()),
                    world: Some(world.clone()),
                    functions: behind.clone(),
                    keeps_no_journal: true,
                    ..FakeOptions::default()
                })),
            };
            self.providers.insert(namespace.clone(), provider);
        }
    }
}

/// Where the simulated clouds of a state are kept.
fn world_of(state: &Path) -> PathBuf {
    state.with_extension("world")
}

/// Whether things of this namespace are managed for real.
pub(crate) fn is_managed(namespace: &str) -> bool {
    PROVIDERS.iter().any(|(known, _)| *known == namespace)
}

/// Every catalogue of this program.
fn own() -> impl Iterator<Item = Arc<Catalog>> {
    let offline = OFFLINE.iter().map(|(_, catalog)| catalog());
    PROVIDERS.iter().map(|(_, make)| make().catalog().clone()).chain(offline).chain([fake::catalog()])
}

/// What lies beneath a catalogue that is read after these ones of the person's own.
pub(crate) fn beneath(more: &[Arc<Catalog>]) -> Catalogs {
    Catalogs::new(provider::overlay(own(), more)).0
}

/// What a person's own catalogues contradict in those of this program, once they are on top of them.
pub(crate) fn contradictions(more: &[Arc<Catalog>]) -> Vec<String> {
    provider::combine(provider::overlay(own(), more)).2
}

/// Which of the known namespaces texts may name a type of: those that occur with a `/` or `::` after them. One pass over
/// each text, from one such sign to the next.
pub(crate) fn mentioned<'a>(texts: impl IntoIterator<Item = &'a str>) -> HashSet<&'static str> {
    let mut wanted: Vec<&'static str> = known().collect();
    let mut found = HashSet::new();
    for text in texts.into_iter().map(str::as_bytes) {
        for at in memchr::memchr2_iter(b'/', b':', text) {
            if text[at] == b':' && text.get(at + 1) != Some(&b':') {
                continue;
            }
            let before = &text[..at];
            wanted.retain(|namespace| {
                let namespace_bytes = namespace.as_bytes();
                // Nearly all differ in their last letter already.
                let named = before.last() == namespace_bytes.last() && before.ends_with(namespace_bytes);
                if named {
                    found.insert(*namespace);
                }
                !named
            });
        }
    }
    found
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

/// The places that documents come from. Nothing is read or asked before a document is wanted.
pub(crate) fn sources() -> Sources {
    let environment = Environment::of_process();
    let working_directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let (mut https, mut s3) = (Https::new(), object::s3(environment.clone()));
    let (mut google, mut azure) = (object::google(environment.clone()), object::azure(environment));
    if let Some(cache) = cache_folder().map(Cache::new) {
        (https, s3) = (https.cached(cache.clone()), s3.cached(cache.clone()));
        (google, azure) = (google.cached(cache.clone()), azure.cached(cache));
    }
    let all: [Arc<dyn Source>; 5] =
        [Arc::new(Disk::new(working_directory)), Arc::new(https), Arc::new(s3), Arc::new(google), Arc::new(azure)];
    Sources::new(all)
}

/// Where documents that came from afar are kept.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("cyan").join("documents"))
}

#[cfg(test)]
mod tests {
    use super::mentioned;

    #[test]
    fn a_namespace_is_mentioned_where_a_type_of_it_could_be_named() {
        let texts = ["type: OS::Heat::Value # randomly", "a: xlocal/file, tests/x, http/x, tls: 1, AWS::EC2::Instance"];
        let mut found: Vec<&str> = mentioned(texts).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, ["AWS::EC2", "OS::Heat", "http", "local"]);
        assert!(mentioned(["a file of no type at all", ""]).is_empty());
    }

    #[test]
    fn documents_come_from_every_place_of_the_reference() {
        let sources = super::sources();
        let kinds: Vec<&str> = sources.kinds().map(|kind| kind.name).collect();
        assert_eq!(kinds, ["https", "aws/s3", "googlecloud/storage", "azure/blob"]);
    }
}
