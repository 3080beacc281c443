//! Opens hosted packages: each once in a session, before a name of it is looked up.
//!
//! The session awaits a package, so other work of its runtime goes on while a plugin starts. A
//! package that cannot be opened gets a catalogue without types that says why; its first use is one
//! diagnostic.
//!
//! Not here: how a family opens a package (its host crate); processes (`plugins`); which packages a
//! document names (`evaluate`).

use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{IndexMap, Name, Package};
use dialect::PackageRequest;
use provider::{
    BoxFuture, Catalog, Catalogs, ErrorKind, Hosted, Limits, Provider, ProviderError, Providers,
    Unavailable,
};
use tokio::sync::OnceCell;

use crate::package_families::{ConfiguredFamily, version_conflict};
use crate::phases::run::PackageOpener;
use crate::plugin_config::ConfiguredPackage;

/// The hosted packages of a session.
pub(crate) struct HostedPackages {
    packages: IndexMap<Name, (ConfiguredPackage, OnceCell<()>)>,
    families: Vec<ConfiguredFamily>,
    /// The packages of families that were asked for.
    of_families: Mutex<IndexMap<Name, Arc<OnceCell<UsedVersion>>>>,
    /// The catalogues and providers that an opened package is added to.
    catalogs: Arc<Catalogs>,
    providers: Providers,
    /// Catalogues of the user, which extend those of packages with the same namespace.
    extensions: Vec<Arc<Catalog>>,
    /// Rate limits of the user, by namespace.
    limits: IndexMap<Name, Limits>,
}

/// The version of the program of a package that is open; `None` if it is not known, or if the
/// package cannot be opened.
struct UsedVersion(Option<Name>);

impl HostedPackages {
    /// Returns the configured packages and families. None of the packages is open.
    pub(crate) fn new(
        configured: &[ConfiguredPackage],
        families: &[ConfiguredFamily],
        catalogs: Arc<Catalogs>,
        providers: Providers,
        extensions: Vec<Arc<Catalog>>,
        limits: IndexMap<Name, Limits>,
    ) -> HostedPackages {
        let packages = configured
            .iter()
            .map(|one| (one.package.name.clone(), (one.clone(), OnceCell::new())));
        HostedPackages {
            packages: packages.collect(),
            families: families.to_vec(),
            of_families: Mutex::default(),
            catalogs,
            providers,
            extensions,
            limits,
        }
    }

    /// Opens the packages with these names at the same time. Other names are ignored.
    pub(crate) async fn open_all(&self, names: &[&str]) {
        let mut closed: Vec<&str> = names.to_vec();
        closed.retain(|name| self.catalogs.is_closed(name));
        closed.sort_unstable();
        closed.dedup();
        let requests: Vec<PackageRequest> = closed.into_iter().map(PackageRequest::named).collect();
        // The catalogue of a package that cannot be opened says why.
        futures::future::join_all(requests.iter().map(|request| self.ask(request))).await;
    }

    /// Opens the package of a request, unless it is open. Its catalogue says why it cannot be opened.
    /// The error is the reason why an open package does not serve the request.
    async fn ask(&self, request: &PackageRequest) -> Result<(), Name> {
        let name = &request.name;
        if let Some((configured, opened)) = self.packages.get(name) {
            opened
                .get_or_init(|| async {
                    let provider = open(configured).await;
                    self.set_opened(name, configured, provider);
                })
                .await;
            return Ok(());
        }
        let mut families = self.families.iter();
        let Some(family) = families.find(|family| family.namespaces.package(name).is_some()) else {
            let why = format!("`[plugins.{name}]` in `cyan.toml` does not describe it");
            return Err(why.into());
        };
        let used = self.of_family(name);
        let UsedVersion(used) = used.get_or_init(|| self.open_found(family, request)).await;
        match version_conflict(request, used.as_ref()) {
            Some(conflict) => Err(conflict.into()),
            None => Ok(()),
        }
    }

    /// Returns the cell of a package of a family. It is filled when the package is open.
    fn of_family(&self, name: &Name) -> Arc<OnceCell<UsedVersion>> {
        let cells = self.of_families.lock();
        let mut cells = cells.unwrap_or_else(PoisonError::into_inner);
        cells.entry(name.clone()).or_default().clone()
    }

    async fn open_found(&self, family: &ConfiguredFamily, request: &PackageRequest) -> UsedVersion {
        let name = &request.name;
        match family.locate(request).await {
            Ok(located) => {
                let provider = open(&located.configured).await;
                let version = located.version.filter(|_| provider.is_ok());
                self.set_opened(name, &located.configured, provider);
                UsedVersion(version)
            }
            Err(why) => {
                let error = ProviderError::new(ErrorKind::Document, why.as_str());
                self.providers.set_opened(name, Err(error));
                let catalog = unavailable(name, family.family, &why, None);
                self.catalogs.set_opened(name, Arc::new(catalog));
                UsedVersion(None)
            }
        }
    }

    fn set_opened(
        &self,
        name: &Name,
        configured: &ConfiguredPackage,
        provider: Result<Arc<dyn Provider>, ProviderError>,
    ) {
        let catalog = match &provider {
            Ok(provider) => self.extended(provider.catalog()),
            Err(error) => {
                let place = configured.configured.clone();
                Arc::new(unavailable(name, configured.family, &error.message, place))
            }
        };
        self.providers.set_opened(name, provider);
        self.catalogs.set_opened(name, catalog);
    }

    /// Returns a catalogue with the user's additions and limits.
    fn extended(&self, catalog: &Arc<Catalog>) -> Arc<Catalog> {
        let of_package = |own: &&Arc<Catalog>| {
            let mut names = own.namespaces.iter();
            names.any(|name| catalog.namespaces.contains(name))
        };
        let extensions: Vec<Arc<Catalog>> =
            self.extensions.iter().filter(of_package).cloned().collect();
        let merged = provider::overlay([catalog.clone()], &extensions);
        let mut merged = merged.into_iter().next().unwrap_or_else(|| catalog.clone());
        let mut limits = catalog
            .namespaces
            .iter()
            .filter_map(|name| self.limits.get(name))
            .peekable();
        if limits.peek().is_some() {
            let limited = Arc::make_mut(&mut merged);
            limits.for_each(|limits| limits.apply_to(limited));
        }
        merged
    }
}

impl PackageOpener for HostedPackages {
    fn open<'a>(
        &'a self,
        request: &'a PackageRequest,
    ) -> BoxFuture<'a, Result<Arc<Package>, Name>> {
        Box::pin(async move {
            let name = &request.name;
            self.ask(request).await?;
            let catalog = self.catalogs.of(name).cloned().unwrap_or_default();
            match (&catalog.unavailable, &catalog.hosted) {
                (None, Some(hosted)) => Ok(Arc::new(hosted.package(name))),
                (Some(unavailable), _) => Err(unavailable.why.as_str().into()),
                (None, None) => Err("its host gave no package".into()),
            }
        })
    }
}

async fn open(configured: &ConfiguredPackage) -> Result<Arc<dyn Provider>, ProviderError> {
    if let Some(why) = &configured.settings_error {
        return Err(ProviderError::new(ErrorKind::Document, why.clone()));
    }
    (configured.open)(configured.package.clone()).await
}

/// Returns the catalogue of a package that cannot be opened.
fn unavailable(name: &Name, family: &str, why: &str, configured: Option<String>) -> Catalog {
    let unavailable = Unavailable {
        package: name.clone(),
        why: why.to_owned(),
        configured,
    };
    Catalog {
        namespaces: vec![name.clone()],
        hosted: Some(hosted(family)),
        unavailable: Some(Arc::new(unavailable)),
        ..Catalog::default()
    }
}

/// Returns the facts of a package that are known before it is opened.
pub(crate) fn hosted(family: &str) -> Hosted {
    Hosted {
        family: family.into(),
        version: None,
        parameters: blueprint::Value::Null,
    }
}
