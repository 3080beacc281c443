//! The package `kubernetes`: its catalogue and its configurations.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::provider::{
    BoxFuture, Catalog, Configuration, Configured, ErrorKind, Hosted, HostedPackage, Provider,
    ProviderError, RecordedObject, SettingsChange,
};
use blueprint::{IndexMap, Name, Value};

use crate::cluster::Cluster;
use crate::connect::connect;
use crate::definitions::read_definitions;
use crate::observed::ObjectFacts;
use crate::problems::{error_of, refuse_other_cluster};
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
    /// The clusters of the recorded objects: uid, and context and server.
    recorded: Mutex<IndexMap<Name, Option<Name>>>,
}

/// Opens the package. Nothing is contacted: the types of the API are built in, those of the setting
/// `crds` are read from files, and those of other kinds are open.
///
/// # Errors
/// If a file of `crds` cannot be read.
pub fn open(
    package: HostedPackage,
) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>> {
    Box::pin(async move {
        open_package(package)
            .await
            .map(|it| it as Arc<dyn Provider>)
    })
}

async fn open_package(package: HostedPackage) -> Result<Arc<KubernetesProvider>, ProviderError> {
    let HostedPackage {
        name,
        folder,
        settings,
        ..
    } = package;
    let (definitions, folder) = {
        let reading = tokio::task::spawn_blocking(move || {
            let definitions = read_definitions(&settings, &folder);
            (definitions, folder)
        });
        reading.await.map_err(|error| {
            ProviderError::new(ErrorKind::Permanent, format!("reading stopped: {error}"))
        })?
    };
    let types = KubernetesTypes::new(definitions?);
    let catalog = Catalog {
        namespaces: vec![name],
        docs: "Objects of a Kubernetes cluster.".into(),
        settings: Settings::declared(),
        hosted: Some(Hosted {
            family: FAMILY.into(),
            version: None,
            parameters: Value::Null,
        }),
        source: Some(Arc::new(types)),
        max_parallel: 10,
        ..Catalog::default()
    };
    Ok(Arc::new(KubernetesProvider {
        catalog: Arc::new(catalog),
        folder,
        recorded: Mutex::default(),
    }))
}

impl KubernetesProvider {
    /// Connects to the cluster of the settings and asks which one it is. Fails if all recorded objects
    /// are in others.
    async fn connect(&self, settings: &Settings) -> Result<Cluster, ProviderError> {
        let cluster = connect(settings).await?;
        let recorded = {
            let recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
            recorded.clone()
        };
        // A cluster that cannot be reached is said at once, and not for every object.
        let identity = cluster.identity().await;
        let identity = identity.map_err(|error| {
            let error = error_of(error, &cluster);
            let kind = match error.kind.is_retryable() {
                true => ErrorKind::Permanent,
                false => error.kind,
            };
            ProviderError { kind, ..error }
        })?;
        let recorded: Vec<_> = recorded.iter().collect();
        refuse_other_cluster(&cluster, identity.as_ref(), &recorded)?;
        Ok(cluster)
    }
}

impl Provider for KubernetesProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn set_recorded_objects(&self, _root: &Path, objects: &[RecordedObject<'_>]) {
        let facts = objects
            .iter()
            .map(|object| ObjectFacts::read(object.private));
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.extend(facts.filter_map(|facts| Some((facts.cluster?, facts.server))));
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            let settings = Settings::read(&with.settings, &self.folder)?;
            let cluster = match with.offline {
                true => None,
                false => Some(self.connect(&settings).await?),
            };
            Ok(Configured {
                session: Arc::new(KubernetesSession::new(cluster, settings)),
                change: SettingsChange::Same,
                diagnostics: Vec::new(),
            })
        })
    }
}
