//! The available providers, each made on first use or opened before, and their sessions, each
//! configured once.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use blueprint::{Address, IndexMap, Name, PackageFamily, Value};
use elsa::sync::FrozenMap;
use tokio::sync::OnceCell;

use crate::{Configuration, Configured, ErrorKind, Provider, ProviderError};

/// Providers by namespace, and by name if they have one.
///
/// Sets that [share](Providers::share) a provider also share its sessions.
#[derive(Clone, Default)]
pub struct Providers {
    by_namespace: IndexMap<Name, Arc<ProviderEntry>>,
    families: Vec<Arc<FamilyProviders>>,
}

/// The providers of the packages of a family. Each is added when it is first asked for, and stays.
struct FamilyProviders {
    family: PackageFamily,
    /// Makes the cell of a package, by its namespace.
    cell: Box<dyn Fn(Name) -> ProviderCell + Send + Sync>,
    of_packages: FrozenMap<Name, Arc<ProviderEntry>>,
}

type Make = Box<dyn FnOnce() -> Arc<dyn Provider> + Send>;

struct ProviderEntry {
    provider: ProviderCell,
    sessions: Mutex<Vec<SessionEntry>>,
}

enum ProviderCell {
    /// Part of the program: made on first use.
    Made(LazyLock<Arc<dyn Provider>, Make>),
    /// The provider of a hosted package, or the reason why it cannot be opened; empty until the
    /// package is opened.
    Opened(OnceLock<Result<Arc<dyn Provider>, ProviderError>>),
}

/// A session by its source and settings. A run has one for each configuration of the provider:
/// usually one.
struct SessionEntry {
    source: SettingsSource,
    settings: Value,
    session: Arc<SessionCell>,
}

type SessionCell = OnceCell<Result<Arc<Configured>, ProviderError>>;

/// The source of a session's settings. Sessions of different sources are different, even with equal
/// settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsSource {
    /// The configuration file.
    File,
    /// No settings: specs are checked, and resources that live in the state are managed, without
    /// contact to any server.
    Offline,
    /// The resource at this address, which declares a configuration of the provider.
    Resource(Address),
}

impl Providers {
    /// Returns an empty set.
    pub fn new() -> Providers {
        Providers::default()
    }

    /// Sets the provider of these namespaces, among which its name may be. It is made when one of
    /// them is first used.
    pub fn insert<F>(&mut self, namespaces: impl IntoIterator<Item = Name>, make: F)
    where
        F: FnOnce() -> Arc<dyn Provider> + Send + 'static,
    {
        let provider = ProviderCell::Made(LazyLock::new(Box::new(make) as Make));
        let entry = Arc::new(ProviderEntry::new(provider));
        self.by_namespace.extend(
            namespaces
                .into_iter()
                .map(|namespace| (namespace, entry.clone())),
        );
    }

    /// Adds a hosted package. [`Providers::set_opened`] supplies its provider.
    pub fn insert_hosted(&mut self, package: Name) {
        let provider = ProviderCell::Opened(OnceLock::new());
        let entry = Arc::new(ProviderEntry::new(provider));
        self.by_namespace.insert(package, entry);
    }

    /// Supplies the provider of a hosted package, or the reason why it cannot be opened, in all sets
    /// that share the package. What was supplied before stays.
    pub fn set_opened(&self, package: &str, provider: Result<Arc<dyn Provider>, ProviderError>) {
        if let Some(entry) = self.entry(package)
            && let ProviderCell::Opened(opened) = &entry.provider
        {
            opened.get_or_init(|| provider);
        }
    }

    /// Adds a family of hosted packages. [`Providers::set_opened`] supplies the provider of each.
    pub fn insert_hosted_family(&mut self, family: PackageFamily) {
        self.add_family(family, |_| ProviderCell::Opened(OnceLock::new()));
    }

    /// Adds a family of packages. The provider of each is made, from its namespace, when the package
    /// is first used.
    pub fn insert_family<F>(&mut self, family: PackageFamily, make: F)
    where
        F: Fn(&Name) -> Arc<dyn Provider> + Send + Sync + 'static,
    {
        let make = Arc::new(make);
        self.add_family(family, move |namespace| {
            let make = make.clone();
            ProviderCell::Made(LazyLock::new(Box::new(move || make(&namespace)) as Make))
        });
    }

    fn add_family<F>(&mut self, family: PackageFamily, cell: F)
    where
        F: Fn(Name) -> ProviderCell + Send + Sync + 'static,
    {
        self.families.push(Arc::new(FamilyProviders {
            family,
            cell: Box::new(cell),
            of_packages: FrozenMap::new(),
        }));
    }

    /// Adds all families of another set. Both sets share the providers of their packages.
    pub fn share_families(&mut self, from: &Providers) {
        self.families.extend(from.families.iter().cloned());
    }

    fn entry(&self, namespace: &str) -> Option<&ProviderEntry> {
        if let Some(entry) = self.by_namespace.get(namespace) {
            return Some(entry);
        }
        let mut families = self.families.iter();
        families.find_map(|family| family.entry(namespace))
    }

    /// Adds the provider of a namespace from another set. Both sets share one provider.
    pub fn share(&mut self, namespace: &Name, from: &Providers) {
        if let Some(provider) = from.by_namespace.get(namespace) {
            self.by_namespace
                .insert(namespace.clone(), provider.clone());
        }
    }

    /// The provider of a namespace; `None` for a hosted package that is not open.
    pub fn get(&self, namespace: &str) -> Option<&Arc<dyn Provider>> {
        self.entry(namespace)?.provider().ok()
    }

    /// Whether there is a provider of this namespace. Makes no provider.
    pub fn contains(&self, namespace: &str) -> bool {
        let mut families = self.families.iter();
        self.by_namespace.contains_key(namespace)
            || families.any(|family| family.family.package(namespace).is_some())
    }

    /// The session of a provider with these settings, if it is already configured.
    pub fn open_session(
        &self,
        namespace: &str,
        source: &SettingsSource,
        settings: &Value,
    ) -> Option<Arc<Configured>> {
        let sessions = self.entry(namespace)?.sessions();
        let entry = sessions
            .iter()
            .find(|entry| entry.is_for(source, settings))?;
        entry.session.get()?.as_ref().ok().cloned()
    }

    /// Returns the session of a provider with these settings, which is configured on first use.
    /// `None` if there is no provider of this namespace.
    ///
    /// An error that a retry may fix is returned, and the next request configures again. Any other
    /// error stays.
    pub async fn session(
        &self,
        namespace: &str,
        source: &SettingsSource,
        settings: &Value,
        with: impl FnOnce() -> Configuration,
    ) -> Option<Result<Arc<Configured>, ProviderError>> {
        let entry = self.entry(namespace)?;
        let session = entry.session(source, settings);
        let configure = || async {
            let provider = match entry.provider() {
                Ok(provider) => provider.clone(),
                Err(error) => return Ok(Err(error)),
            };
            match provider.configure(with()).await {
                Ok(configured) => Ok(Ok(Arc::new(configured))),
                Err(error) if error.kind.is_retryable() => Err(error),
                Err(error) => Ok(Err(error)),
            }
        };
        Some(match session.get_or_try_init(configure).await {
            Ok(configured) => configured.clone(),
            Err(error) => Err(error),
        })
    }

    /// Closes all sessions at the same time, each once. A session that is needed again is
    /// configured again.
    pub async fn close(&self) {
        let of_entry = |entry: &ProviderEntry| std::mem::take(&mut *entry.sessions());
        let of_namespaces = self.by_namespace.values().map(Arc::as_ref);
        let of_families = self.families.iter().flat_map(|family| family.entries());
        let sessions: Vec<SessionEntry> = of_namespaces
            .chain(of_families)
            .flat_map(of_entry)
            .collect();
        let open = sessions
            .iter()
            .filter_map(|entry| entry.session.get()?.as_ref().ok());
        futures::future::join_all(open.map(|configured| configured.session.close())).await;
    }
}

impl FamilyProviders {
    /// The entry of a package, added now if it is asked for the first time.
    fn entry(&self, namespace: &str) -> Option<&ProviderEntry> {
        self.family.package(namespace)?;
        if let Some(entry) = self.of_packages.get(namespace) {
            return Some(entry);
        }
        let name = Name::from(namespace);
        let entry = Arc::new(ProviderEntry::new((self.cell)(name.clone())));
        // An entry that another thread has added since stays.
        Some(self.of_packages.insert(name, entry))
    }

    fn entries(&self) -> impl Iterator<Item = &ProviderEntry> {
        let names = self.of_packages.keys_cloned().into_iter();
        names.filter_map(|name| self.of_packages.get(&name))
    }
}

impl ProviderEntry {
    fn new(provider: ProviderCell) -> ProviderEntry {
        ProviderEntry {
            provider,
            sessions: Mutex::default(),
        }
    }

    fn provider(&self) -> Result<&Arc<dyn Provider>, ProviderError> {
        match &self.provider {
            ProviderCell::Made(provider) => Ok(provider),
            ProviderCell::Opened(opened) => match opened.get() {
                Some(opened) => opened.as_ref().map_err(Clone::clone),
                // The types of a package are known only when it is open, so this is a defect.
                None => Err(ProviderError::new(
                    ErrorKind::Permanent,
                    "its plugin was not asked for its types before a call",
                )),
            },
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<SessionEntry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, source: &SettingsSource, settings: &Value) -> Arc<SessionCell> {
        let mut sessions = self.sessions();
        if let Some(entry) = sessions.iter().find(|entry| entry.is_for(source, settings)) {
            return entry.session.clone();
        }
        let session = Arc::new(OnceCell::new());
        sessions.push(SessionEntry {
            source: source.clone(),
            settings: settings.clone(),
            session: session.clone(),
        });
        session
    }
}

impl SessionEntry {
    fn is_for(&self, source: &SettingsSource, settings: &Value) -> bool {
        self.source == *source && self.settings == *settings
    }
}

impl FromIterator<(Name, Arc<dyn Provider>)> for Providers {
    fn from_iter<I: IntoIterator<Item = (Name, Arc<dyn Provider>)>>(providers: I) -> Providers {
        let mut all = Providers::new();
        for (namespace, provider) in providers {
            all.insert([namespace], move || provider);
        }
        all
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_namespace.keys()).finish()
    }
}
