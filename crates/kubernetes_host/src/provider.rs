//! The package `kubernetes`: its catalogue and its configurations.

use std::path::PathBuf;
use std::sync::Arc;

use ::provider::{
    BoxFuture, Catalog, Configuration, Configured, Hosted, HostedPackage, Provider, ProviderError,
    SettingsChange,
};
use blueprint::Value;

use crate::connect::connect;
use crate::session::KubernetesSession;
use crate::settings::Settings;
use crate::types::KubernetesTypes;

/// The word of the family.
pub const FAMILY: &str = "kubernetes";

/// The provider of the package.
struct KubernetesProvider {
    catalog: Arc<Catalog>,
    /// The folder that paths of settings are relative to.
    folder: PathBuf,
}

/// Opens the package. Nothing is contacted or read: the types of the API are built in, and those of
/// other kinds are open.
///
/// # Errors
/// None at present; the type is that of all hosts.
pub fn open(
    package: HostedPackage,
) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>> {
    let namespace = package.name.clone();
    let catalog = Catalog {
        namespaces: vec![namespace],
        docs: "Objects of a Kubernetes cluster.".into(),
        settings: Settings::declared(),
        hosted: Some(Hosted {
            family: FAMILY.into(),
            version: None,
            parameters: Value::Null,
        }),
        source: Some(Arc::new(KubernetesTypes::new())),
        max_parallel: 10,
        ..Catalog::default()
    };
    let provider: Arc<dyn Provider> = Arc::new(KubernetesProvider {
        catalog: Arc::new(catalog),
        folder: package.folder,
    });
    Box::pin(std::future::ready(Ok(provider)))
}

impl Provider for KubernetesProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            let settings = Settings::read(&with.settings, &self.folder)?;
            let cluster = match with.offline {
                true => None,
                false => Some(connect(&settings).await?),
            };
            Ok(Configured {
                session: Arc::new(KubernetesSession::new(cluster, settings)),
                change: SettingsChange::Same,
                diagnostics: Vec::new(),
            })
        })
    }
}
