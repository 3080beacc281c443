//! Opens hosted packages: each once in a session, before a name of it is looked up.
//!
//! The session awaits a package, so other work of its runtime goes on while a plugin starts. A
//! package that cannot be opened gets a catalogue without types that says why; its first use is one
//! diagnostic.
//!
//! Not here: how a family opens a package (its host crate); processes (`plugins`); which packages a
//! document names (`evaluate`).

use std::sync::Arc;

use blueprint::{IndexMap, Name, Package};
use dialect::PackageRequest;
use provider::{
    BoxFuture, Catalog, Catalogs, ErrorKind, Hosted, Limits, Provider, ProviderError, Providers,
    Unavailable,
};
use tokio::sync::OnceCell;

use crate::phases::run::PackageOpener;
use crate::plugin_config::ConfiguredPackage;

/// The hosted packages of a session.
pub(crate) struct HostedPackages {
    packages: IndexMap<Name, (ConfiguredPackage, OnceCell<()>)>,
    /// The catalogues and providers that an opened package is added to.
    catalogs: Arc<Catalogs>,
    providers: Providers,
    /// Catalogues of the user, which extend those of packages with the same namespace.
    extensions: Vec<Arc<Catalog>>,
    /// Rate limits of the user, by namespace.
    limits: IndexMap<Name, Limits>,
}

impl HostedPackages {
    /// Returns the configured packages. None of them is open.
    pub(crate) fn new(
        configured: &[ConfiguredPackage],
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
            catalogs,
            providers,
            extensions,
            limits,
        }
    }

    /// Opens the packages with these names at the same time. Other names are ignored.
    pub(crate) async fn open_all(&self, names: &[&str]) {
        if self.packages.is_empty() {
            return;
        }
        let mut closed: Vec<&str> = names.to_vec();
        closed.retain(|name| self.catalogs.is_closed(name));
        closed.sort_unstable();
        closed.dedup();
        let packages = closed
            .into_iter()
            .filter_map(|name| self.packages.get(name));
        let opening: Vec<_> = packages.map(|package| self.open_once(package)).collect();
        futures::future::join_all(opening).await;
    }

    async fn open_once(&self, (configured, opened): &(ConfiguredPackage, OnceCell<()>)) {
        opened
            .get_or_init(|| async {
                let provider = open(configured).await;
                let catalog = match &provider {
                    Ok(provider) => self.extended(provider.catalog()),
                    Err(error) => Arc::new(unavailable(configured, error)),
                };
                let name = &configured.package.name;
                self.providers.set_opened(name, provider);
                self.catalogs.set_opened(name, catalog);
            })
            .await;
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
            match self.packages.get(name) {
                Some(package) => self.open_once(package).await,
                // A catalogue of the user describes the package.
                None if self.catalogs.of(name).is_some() => {}
                None => {
                    let why = format!("`[plugins.{name}]` in `cyan.toml` does not describe it");
                    return Err(why.into());
                }
            }
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
fn unavailable(configured: &ConfiguredPackage, error: &ProviderError) -> Catalog {
    let name = &configured.package.name;
    let unavailable = Unavailable {
        package: name.clone(),
        why: error.message.clone(),
        configured: configured.configured.clone(),
    };
    Catalog {
        namespaces: vec![name.clone()],
        hosted: Some(hosted(configured)),
        unavailable: Some(Arc::new(unavailable)),
        ..Catalog::default()
    }
}

/// Returns the facts of a package that are known before it is opened.
pub(crate) fn hosted(configured: &ConfiguredPackage) -> Hosted {
    Hosted {
        family: configured.family.into(),
        version: None,
        parameters: blueprint::Value::Null,
    }
}
