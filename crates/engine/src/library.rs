//! Catalogues, functions and providers of a session. Each is read, made or opened when it is
//! needed.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name, PROVIDER_TYPE, TypeId, Value};
use dialect::Dialects;
use expr::FunctionTable;
use provider::{Catalog, CatalogOrigin, Catalogs, LazyCatalog, Limits, Providers, TypeRef};
use state::Snapshot;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::hosted_packages::{HostedPackages, hosted};
use crate::installed::{Installed, Simulation};
use crate::package_families::ConfiguredFamily;
use crate::phases::run::{DocumentAccess, Shell};
use crate::place::StatePlace;
use crate::plugin_config::ConfiguredPackage;
use crate::read_parts::ReadPart;

/// The selection of the user: simulated or real providers, further catalogues, limits, settings of
/// dialects.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Whether a simulation replaces every provider.
    pub simulated: bool,
    /// Catalogues of the user, which extend the installed ones.
    pub catalogs: Vec<Arc<Catalog>>,
    /// Rate limits of providers, by namespace. They override the limits in the catalogues.
    pub limits: IndexMap<Name, Limits>,
    /// Settings of dialects.
    pub dialects: dialect::DocumentSettings,
    /// Hosted packages of the configuration.
    pub plugins: Vec<ConfiguredPackage>,
    /// The families whose packages are found on the machine.
    pub families: Vec<ConfiguredFamily>,
    /// The addresses of remote documents that may read this machine.
    pub local_access: Arc<[Name]>,
    /// Whether lists include catalogues for tests and hosted packages.
    pub lists_all: bool,
}

impl Selection {
    /// Splits the catalogues of the user into those of their own and those that extend a hosted
    /// package, whose catalogue is not known yet.
    fn own_and_extensions(&self) -> (Vec<Arc<Catalog>>, Vec<Arc<Catalog>>) {
        let extends_package = |catalog: &Arc<Catalog>| {
            let mut names = catalog.namespaces.iter();
            names.any(|name| self.is_hosted(name))
        };
        let all = self.catalogs.iter().cloned();
        let (extensions, own) = all.partition(extends_package);
        (own, extensions)
    }

    /// What documents may read of this machine.
    fn access(&self) -> DocumentAccess {
        let default = DocumentAccess::default();
        DocumentAccess {
            most_bytes: self
                .dialects
                .limits
                .file_bytes
                .unwrap_or(default.most_bytes),
            trusted: self.local_access.clone(),
        }
    }

    /// Whether a catalogue of the user has types of this namespace.
    fn extends(&self, namespace: &str) -> bool {
        self.catalogs.iter().any(|catalog| {
            catalog
                .namespaces
                .iter()
                .any(|own| own.as_ref() == namespace)
        })
    }

    /// Whether a namespace is that of a hosted package, or of one that can be found.
    fn is_hosted(&self, namespace: &str) -> bool {
        let mut plugins = self.plugins.iter();
        let mut families = self.families.iter();
        plugins.any(|plugin| plugin.package.name.as_ref() == namespace)
            || families.any(|family| family.namespaces.package(namespace).is_some())
    }

    /// Whether resources of this namespace are managed or simulated, now or in a later version.
    pub fn knows(&self, installed: &Installed, namespace: &str) -> bool {
        installed.has(namespace)
            || self.is_hosted(namespace)
            || self.simulated && self.extends(namespace)
    }
}

/// Closes the sessions of providers. Plugin processes that the sessions have started run as long as
/// it exists.
#[derive(Clone, Debug)]
pub struct Closer {
    providers: Providers,
}

impl Closer {
    /// Closes the sessions, those of different providers concurrently.
    pub async fn close(&self) {
        self.providers.close().await;
    }
}

/// The catalogues, functions and providers of a session.
#[derive(Clone)]
pub struct Library {
    installed: Arc<Installed>,
    /// The selection that it was made from.
    pub selection: Selection,
    /// All catalogues.
    pub catalogs: Arc<Catalogs>,
    /// The dialects.
    pub dialects: Dialects,
    /// The functions that expressions call.
    pub functions: Arc<FunctionTable>,
    /// The providers. Simulated ones keep their resources in memory.
    pub providers: Providers,
    /// The simulated world in memory.
    memory: OpenWorld,
    /// Providers that manage real resources.
    real: Providers,
    /// The hosted packages. Real providers of those that are open are in `real`.
    packages: Arc<HostedPackages>,
    /// All namespaces.
    namespaces: Vec<OfferedNamespace>,
}

impl Library {
    /// Creates the library of a selection. Reads only catalogues with functions and catalogues that
    /// the user extends.
    pub fn new(installed: Arc<Installed>, selection: Selection) -> Library {
        let mut real = Providers::new();
        for provider in &installed.providers {
            let make = provider.make.clone();
            real.insert(provider.keys().map(Name::from), move || make());
        }
        for plugin in &selection.plugins {
            real.insert_hosted(plugin.package.name.clone());
        }
        let families = || selection.families.iter().map(|one| one.namespaces.clone());
        families().for_each(|family| real.insert_hosted_family(family));
        let (own, extensions) = selection.own_and_extensions();
        let entries = lazy_catalogs(&installed, &selection, &own, &real);
        let namespaces = entries.iter().flat_map(|entry| &entry.namespaces);
        let for_tests = |namespace: &Name| {
            installed.catalogs.iter().any(|catalog| {
                catalog.for_tests && catalog.namespaces.contains(&namespace.as_ref())
            })
        };
        let namespaces: Vec<OfferedNamespace> = namespaces
            .map(|namespace| OfferedNamespace {
                namespace: namespace.clone(),
                provider: provider_name(&installed, namespace),
                is_for_tests: for_tests(namespace),
            })
            .collect();
        let (catalogs, twice) = Catalogs::lazy(entries);
        debug_assert!(twice.is_empty(), "{twice:?}");
        let catalogs = Arc::new(catalogs.with_families(families()));
        let functions = functions(&installed, &selection, &catalogs);
        let packages = Arc::new(HostedPackages::new(
            &selection.plugins,
            &selection.families,
            catalogs.clone(),
            real.clone(),
            extensions,
            selection.limits.clone(),
        ));
        let memory = installed.simulate.in_memory.clone();
        let mut library = Library {
            dialects: installed.dialects.clone(),
            installed,
            selection,
            catalogs,
            functions: Arc::new(functions),
            memory,
            providers: Providers::new(),
            real,
            packages,
            namespaces,
        };
        let (in_memory, world) = (
            library.installed.simulate.in_memory.clone(),
            OnceLock::new(),
        );
        library.memory = Arc::new(move || world.get_or_init(|| in_memory()).clone());
        library.providers = library.providers_in(library.memory.clone());
        library
    }

    /// Replaces the catalogues. Hosted packages are opened into the new ones.
    pub fn set_catalogs(&mut self, catalogs: Arc<Catalogs>) {
        let (_, extensions) = self.selection.own_and_extensions();
        self.packages = Arc::new(HostedPackages::new(
            &self.selection.plugins,
            &self.selection.families,
            catalogs.clone(),
            self.real.clone(),
            extensions,
            self.selection.limits.clone(),
        ));
        self.catalogs = catalogs;
    }

    /// Returns a closer for the sessions of its providers, which also works after the library is
    /// dropped. Simulated providers have nothing to close.
    pub fn closer(&self) -> Closer {
        Closer {
            providers: self.real.clone(),
        }
    }

    /// Returns a lookup for dialects: whether a resource type or a function exists. A type of a
    /// hosted package that is not open counts as existing; the check reports one that does not
    /// exist.
    pub fn types(&self) -> dialect::TypeLookup {
        let catalogs = self.catalogs.clone();
        let has_type = Arc::new(move |name: &str| {
            let id = TypeId::parse(name);
            catalogs.is_closed(id.package_name())
                || matches!(catalogs.resource_type(&id), TypeRef::Known(_))
        });
        let catalogs = self.catalogs.clone();
        let has_function = Arc::new(move |name: &str| {
            let function = catalogs.package_function(&TypeId::parse(name));
            matches!(function, TypeRef::Known(_))
        });
        dialect::TypeLookup {
            has_type,
            has_function,
        }
    }

    /// Opens the packages with these names, and reads the catalogues, so that their types can be
    /// looked up and their rate limits apply. Names without a catalogue are ignored.
    pub async fn open_packages(&self, names: &[&str]) {
        self.packages.open_all(names).await;
        for name in names {
            self.catalogs.of(name);
        }
    }

    /// Opens the packages of all types in a state.
    pub async fn open_recorded(&self, snapshot: &Snapshot) {
        let records = snapshot.records.values();
        let recorded = records.flat_map(|record| {
            let is_configuration = record.type_name.name().as_ref() == PROVIDER_TYPE;
            let configured = is_configuration.then(|| record.inputs.get("namespace"));
            let configured = configured.flatten().and_then(Value::as_text);
            std::iter::once(record.type_name.package_name()).chain(configured)
        });
        let open = snapshot.open.values();
        let open = open.map(|open| open.intent.type_name.package_name());
        let mut names: Vec<&str> = recorded.chain(open).collect();
        // Most records have a type of the same package as the record before.
        names.dedup();
        self.open_packages(&names).await;
    }

    /// Returns a shell for documents in the folder `root`, without settings and without the name of
    /// an instance.
    pub(crate) fn shell(&self, installed: &Installed, providers: Providers, root: &Path) -> Shell {
        let Installed {
            sources, runtime, ..
        } = installed;
        Shell {
            call_records: None,
            instances: None,
            providers,
            catalogs: self.catalogs.clone(),
            packages: Some(self.packages.clone()),
            settings: IndexMap::default(),
            places: None,
            offline: false,
            instance: "".into(),
            root: root.into(),
            access: self.selection.access(),
            working_directory: runtime.working_directory.path(),
            clock: runtime.clock.clone(),
            rng: runtime.rng.clone(),
            sources: sources(),
            http: runtime.http.as_ref().map(|make| make()),
            planning: None,
            log: runtime.log.clone(),
            secrets: runtime.known.clone().unwrap_or_default(),
            remarks: Default::default(),
            cancel: CancellationToken::new(),
        }
    }

    /// Reads all listed catalogues, so that their rate limits apply to calls about any of their
    /// types.
    pub(crate) fn open_all(&self) {
        for catalog in self.catalogs.iter() {
            debug_assert!(!catalog.namespaces.is_empty());
        }
    }

    /// Returns the providers for a plan. Simulated ones keep their resources in the simulated world
    /// of the state, whose objects have the `parts` that the documents read.
    pub fn providers_at(
        &self,
        place: &StatePlace,
        parts: impl FnOnce() -> Vec<ReadPart>,
    ) -> Result<Providers, Error> {
        let Some(file) = place.simulation_file() else {
            if self.selection.simulated {
                (self.memory)().make_parts(parts());
            }
            return Ok(self.providers.clone());
        };
        let mut opened = self
            .catalogs
            .opened()
            .flat_map(|catalog| &catalog.namespaces);
        let is_simulated = |namespace: &Name| {
            self.selection.simulated
                || self
                    .namespaces
                    .iter()
                    .any(|own| own.namespace == *namespace && own.is_for_tests)
        };
        if !opened.any(is_simulated) {
            return Ok(self.providers.clone());
        }
        let world = (self.installed.simulate.open)(&file).map_err(Error::World)?;
        world.make_parts(parts());
        Ok(self.providers_in(Arc::new(move || world.clone())))
    }

    fn providers_in(&self, world: OpenWorld) -> Providers {
        let mut providers = Providers::new();
        let (catalogs, real) = (self.catalogs.clone(), self.real.clone());
        let simulation = Arc::new(move |name: &Name| {
            let catalog = catalogs.of(name).cloned().unwrap_or_default();
            world().provider(catalog, real.get(name).cloned())
        });
        // The namespaces of a provider with a name share one simulation, as they share the provider.
        let mut simulated: IndexMap<&Name, Vec<Name>> = IndexMap::default();
        for offered in &self.namespaces {
            let OfferedNamespace {
                namespace,
                provider,
                is_for_tests,
            } = offered;
            if self.selection.simulated || *is_for_tests {
                let key = provider.as_ref().unwrap_or(namespace);
                let namespaces = simulated.entry(key).or_default();
                namespaces.push(namespace.clone());
            } else {
                let keys = std::iter::once(namespace).chain(provider);
                keys.for_each(|key| providers.share(key, &self.real));
            }
        }
        for (key, namespaces) in simulated {
            let (simulation, name) = (simulation.clone(), key.clone());
            let keys = namespaces.into_iter().chain([key.clone()]);
            providers.insert(keys, move || simulation(&name));
        }
        if self.selection.simulated {
            for family in &self.selection.families {
                let simulation = simulation.clone();
                providers.insert_family(family.namespaces.clone(), move |name| simulation(name));
            }
        } else {
            providers.share_families(&self.real);
        }
        providers
    }
}

/// A namespace of a session.
#[derive(Clone)]
struct OfferedNamespace {
    namespace: Name,
    /// The name of its installed provider, if that has one.
    provider: Option<Name>,
    /// Whether it is always simulated.
    is_for_tests: bool,
}

/// The name of the installed provider of a namespace, if there is one and it has a name.
fn provider_name(installed: &Installed, namespace: &Name) -> Option<Name> {
    let mut providers = installed.providers.iter();
    let provider = providers.find(|one| one.namespaces.contains(&namespace.as_ref()))?;
    provider.name.map(Name::from)
}

/// A function that opens the simulated world at its first use.
type OpenWorld = Arc<dyn Fn() -> Arc<dyn Simulation> + Send + Sync>;

/// Returns the catalogues in display order. Reads those that the user extends.
fn lazy_catalogs(
    installed: &Installed,
    selection: &Selection,
    own: &[Arc<Catalog>],
    real: &Providers,
) -> Vec<LazyCatalog> {
    let mut lazy: Vec<LazyCatalog> = Vec::new();
    for provider in &installed.providers {
        let namespaces = provider.namespaces.iter().map(|name| Name::from(*name));
        let namespaces: Vec<Name> = namespaces.collect();
        let real = real.clone();
        let first = namespaces.first().cloned().unwrap_or_default();
        let read = move || {
            let provider = real.get(&first);
            provider.map_or_else(Arc::default, |provider| provider.catalog().clone())
        };
        lazy.push(LazyCatalog {
            name: provider.name.map(Name::from),
            namespaces,
            hosted: None,
            listed: true,
            origin: CatalogOrigin::Data(Arc::new(read)),
        });
    }
    for catalog in &installed.catalogs {
        let namespaces = catalog
            .namespaces
            .iter()
            .map(|name| Name::from(*name))
            .collect();
        let listed = !catalog.for_tests || selection.lists_all;
        lazy.push(LazyCatalog {
            name: None,
            namespaces,
            hosted: None,
            listed,
            origin: CatalogOrigin::Data(catalog.read.clone()),
        });
    }
    for plugin in &selection.plugins {
        lazy.push(LazyCatalog {
            name: None,
            namespaces: vec![plugin.package.name.clone()],
            hosted: Some(hosted(plugin.family)),
            listed: selection.lists_all,
            origin: CatalogOrigin::Plugin,
        });
    }
    if !own.is_empty() {
        lazy = extended(lazy, own);
    }
    for entry in &mut lazy {
        // The limits of a single namespace take precedence over those of the provider's name.
        let keys = entry.name.iter().chain(&entry.namespaces);
        let limits: Vec<Limits> = keys
            .filter_map(|key| selection.limits.get(key).cloned())
            .collect();
        // The limits of a hosted package are applied when it is opened.
        if let CatalogOrigin::Data(read) = &entry.origin
            && !limits.is_empty()
        {
            let read = read.clone();
            entry.origin = CatalogOrigin::Data(Arc::new(move || {
                let mut catalog = read();
                let limited = Arc::make_mut(&mut catalog);
                limits.iter().for_each(|limits| limits.apply_to(limited));
                catalog
            }));
        }
    }
    lazy
}

/// Merges the catalogues of the user into the others. Reads only catalogues that share a namespace
/// with one of the user's.
fn extended(lazy: Vec<LazyCatalog>, own: &[Arc<Catalog>]) -> Vec<LazyCatalog> {
    let shares = |entry: &LazyCatalog| {
        own.iter().any(|catalog| {
            catalog
                .namespaces
                .iter()
                .any(|name| entry.namespaces.contains(name) || entry.name.as_ref() == Some(name))
        })
    };
    let below: Vec<Arc<Catalog>> = lazy
        .iter()
        .map(|entry| match &entry.origin {
            CatalogOrigin::Data(read) if shares(entry) => read(),
            // A placeholder: the catalogue is not changed.
            _ => Arc::new(Catalog {
                name: entry.name.clone(),
                namespaces: entry.namespaces.clone(),
                ..Catalog::default()
            }),
        })
        .collect();
    let merged = provider::overlay(below.iter().cloned(), own)
        .into_iter()
        .map(|catalog| {
            let unchanged = below.iter().position(|below| Arc::ptr_eq(below, &catalog));
            unchanged.map_or_else(|| LazyCatalog::from(catalog), |at| lazy[at].clone())
        });
    merged.collect()
}

fn functions(
    installed: &Arc<Installed>,
    selection: &Selection,
    catalogs: &Arc<Catalogs>,
) -> FunctionTable {
    let with_functions = installed
        .providers
        .iter()
        .filter(|provider| provider.has_functions);
    let eager = with_functions
        .flat_map(|provider| provider.namespaces.first().copied())
        .collect::<Vec<&str>>();
    let own = selection
        .catalogs
        .iter()
        .flat_map(|catalog| catalog.namespaces.first())
        .map(AsRef::as_ref);
    let mut read: Vec<Arc<Catalog>> = Vec::new();
    for namespace in eager.into_iter().chain(own) {
        if let Some(catalog) = catalogs.of(namespace)
            && !read.iter().any(|one| Arc::ptr_eq(one, catalog))
        {
            read.push(catalog.clone());
        }
    }
    let (_, mut functions, wrong) = provider::combine(read);
    debug_assert!(wrong.is_empty(), "{wrong:?}");
    installed
        .dialects
        .insert_functions(&mut functions, &selection.dialects);
    let for_tests: Vec<&str> = installed
        .catalogs
        .iter()
        .filter(|catalog| {
            catalog.for_tests
                && !catalog
                    .namespaces
                    .iter()
                    .any(|name| selection.extends(name))
        })
        .flat_map(|catalog| catalog.namespaces.first().copied())
        .collect();
    if selection.lists_all {
        for function in for_tests
            .iter()
            .filter_map(|name| catalogs.of(name))
            .flat_map(|catalog| &catalog.functions)
        {
            // `insert` keeps an existing function of the same name.
            let _ = functions.insert(function.clone());
        }
    } else {
        let (catalogs, names) = (
            catalogs.clone(),
            for_tests.into_iter().map(Name::from).collect::<Vec<_>>(),
        );
        functions.insert_unlisted(move || {
            let found = names.iter().filter_map(|name| catalogs.of(name));
            found
                .flat_map(|catalog| catalog.functions.iter().cloned())
                .collect()
        });
    }
    functions
}
