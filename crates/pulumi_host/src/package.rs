//! A package of a plugin as a provider: its catalogue, from the schema of the plugin, and its
//! configurations.
//!
//! The functions of a package are data sources of its catalogue. Expressions call them with `invoke`,
//! by the same names and with arguments by name.
//!
//! Not here: calls about resources (`managed`), processes (`process`).

use std::path::Path;
use std::sync::Arc;

use blueprint::{Name, PackageFamily, Value};
use plugin_host::{CallEffect, PackageHost, Processes, ProgramDigest};
use plugins::Pool;
use provider::{
    BoxFuture, Catalog, Configuration, Configured, ErrorKind, Hosted, HostedPackage, Provider,
    ProviderDiagnostic, ProviderError, Scrubber, SettingsChange,
};
use pulumi_wire::Phase;
use pulumi_wire::schema::{PackageSchema, PackageTypes};

use crate::managed::ManagedPackage;
use crate::names::provider_urn;
use crate::problems::{error_of, field_path, refusals};
use crate::process::{ConfiguredSettings, FAMILY, PackageProcess, Pulumi};
use crate::protocol::{DEBUG_PROVIDERS, attached};
use crate::schema_cache;

/// The provider of a package.
pub(crate) struct PulumiProvider {
    catalog: Arc<Catalog>,
    types: Arc<PackageTypes>,
    processes: Processes<Pulumi>,
}

/// Opens a package: reads its schema from its file or from the cache, or else starts its plugin and asks for the
/// schema. The process is kept for the first configuration. A plugin that is listed in
/// `PULUMI_DEBUG_PROVIDERS` is attached to, not started.
///
/// # Errors
/// If the plugin cannot be started, or if there is no schema that can be read.
pub fn open(
    package: HostedPackage,
    pool: Arc<Pool>,
) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>> {
    Box::pin(async move {
        open_package(package, pool)
            .await
            .map(|provider| provider as Arc<dyn Provider>)
    })
}

async fn open_package(
    package: HostedPackage,
    pool: Arc<Pool>,
) -> Result<Arc<PulumiProvider>, ProviderError> {
    let listed = std::env::var(DEBUG_PROVIDERS).unwrap_or_default();
    let attached = attached(plugin_name(&package), &listed)
        .map_err(|error| ProviderError::new(ErrorKind::Document, error.to_string()))?;
    // A program that runs already may change at any time, so its schema is not cached.
    let starts = attached.is_none();
    let caches = starts && package.schema.is_none();
    let looked_up = {
        let package = package.clone();
        tokio::task::spawn_blocking(move || {
            let identity = plugin_host::identity(&package);
            let digest = starts
                .then(|| plugin_host::noted_digest(&package, &identity))
                .flatten();
            if let Some(path) = &package.schema {
                return schema_file(&package, path).map(|schema| (identity, digest, Some(schema)));
            }
            let cached = caches
                .then(|| schema_cache::load(&package, &identity))
                .flatten();
            Ok((identity, digest, cached))
        })
    };
    let looked_up = looked_up.await.unwrap_or_else(|_| Ok(Default::default()));
    let (identity, digest, cached) = looked_up?;
    let host = PackageHost::new(package, identity, attached, pool, Pulumi::default());
    let processes = Processes::new(host);
    let host = processes.host();
    let schema = match cached {
        Some(schema) => Arc::new(schema),
        None => {
            let text = ask_schema(host, &processes.spare()).await?;
            let schema = PackageSchema::parse(text.as_str())
                .map_err(|error| ProviderError::new(ErrorKind::Permanent, error.to_string()))?;
            let schema = Arc::new(schema);
            if caches {
                let (host, schema) = (host.clone(), schema.clone());
                let stored = tokio::task::spawn_blocking(move || {
                    schema_cache::store(&host.package, &host.identity, &text, &schema)
                });
                // A schema that was not stored is read again in the next run.
                let _ = stored.await;
            }
            schema
        }
    };
    let types = Arc::new(PackageTypes::new(schema, host.package.name.clone()));
    let catalog = Arc::new(Catalog {
        program: digest.map(|digest| digest.to_hex().into()),
        ..catalog_of(&types)
    });
    Ok(Arc::new(PulumiProvider {
        catalog,
        types,
        processes,
    }))
}

/// The name of a package in Pulumi: documents name it so, or as `pulumi:NAME`.
fn plugin_name(package: &HostedPackage) -> &str {
    let family = PackageFamily::new(FAMILY);
    family.package(&package.name).unwrap_or(&package.name)
}

/// Reads the schema in a file of the user. The outline of a large one is cached.
fn schema_file(package: &HostedPackage, path: &Path) -> Result<PackageSchema, ProviderError> {
    let state = schema_cache::state_of_file(path);
    let cached = state
        .as_ref()
        .and_then(|state| schema_cache::load_file(package, path, state));
    if let Some(schema) = cached {
        return Ok(schema);
    }
    let unreadable = |why: &dyn std::fmt::Display| {
        let message = format!("the schema `{}` cannot be read: {why}", path.display());
        ProviderError::new(ErrorKind::Document, message)
    };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let schema = PackageSchema::parse(text).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        unreadable(&cause.unwrap_or_else(|| "it is not a schema".to_owned()))
    })?;
    if let Some(state) = state {
        schema_cache::store_file(package, path, &state, &schema);
    }
    Ok(schema)
}

async fn ask_schema(
    host: &PackageHost<Pulumi>,
    process: &PackageProcess,
) -> Result<String, ProviderError> {
    let (_lease, client) = process.client().await?;
    let schema = client
        .schema()
        .await
        .map_err(|failure| error_of(failure, CallEffect::Reads, &Scrubber::default()))?;
    schema.filter(|text| !text.is_empty()).ok_or_else(|| {
        let message = format!("the plugin of `{}` has no schema", host.package.name);
        ProviderError::new(ErrorKind::Permanent, message)
    })
}

/// The catalogue of a package.
pub(crate) fn catalog_of(types: &Arc<PackageTypes>) -> Catalog {
    let schema = types.schema();
    Catalog {
        namespaces: vec![types.tokens().namespace().clone()],
        docs: schema
            .description()
            .lines()
            .next()
            .unwrap_or_default()
            .into(),
        settings: types.settings(),
        hosted: Some(Hosted {
            family: FAMILY.into(),
            version: schema.version().cloned(),
            parameters: Value::Null,
        }),
        source: Some(types.clone()),
        ..Catalog::default()
    }
}

impl PulumiProvider {
    /// The digest of settings; `None` while they are unknown.
    fn digest(&self, settings: &Value) -> Result<Option<String>, ProviderError> {
        if settings.has_unknown() {
            return Ok(None);
        }
        let text = serde_json::to_string(&settings.revealed()).map_err(|_| {
            let message = format!(
                "the settings of `{}` hold a function",
                self.processes.host().package.name
            );
            ProviderError::new(ErrorKind::Document, message)
        })?;
        Ok(Some(ProgramDigest::of(text).to_hex()))
    }

    async fn configure_process(&self, with: Configuration) -> Result<Configured, ProviderError> {
        self.processes.host().log_to(with.log);
        let values = if with.settings.is_null() {
            Value::map::<Name>([])
        } else {
            with.settings
        };
        let digest = self.digest(&values)?;
        let phase = if digest.is_none() {
            Phase::Planning
        } else {
            Phase::Applying
        };
        let package: Name = match &**self.types.schema().name() {
            "" => plugin_name(&self.processes.host().package).into(),
            name => name.into(),
        };
        let urn = provider_urn(&package, &with.name);
        let settings = ConfiguredSettings {
            package,
            values,
            urn,
            name: with.name,
        };
        let secrets = Scrubber::of([&settings.values, &with.former]);
        let reads = |failure| error_of(failure, CallEffect::Reads, &secrets);
        // A process that is configured with these settings checks them, or else one that stays
        // unconfigured.
        let known = digest.as_deref().and_then(|one| self.processes.known(one));
        let process = known.unwrap_or_else(|| self.processes.spare());
        let (lease, client) = process.client().await?;
        let checked = client
            .check_config(&settings.borrowed(), &with.former, phase)
            .await
            .map_err(reads)?;
        if !checked.failures.is_empty() {
            return Err(ProviderError::of_diagnostics(
                ErrorKind::Document,
                refusals(&checked.failures, &secrets),
            ));
        }
        let settings = ConfiguredSettings {
            values: checked.inputs,
            ..settings
        };
        let change = match with.former.is_null() {
            true => SettingsChange::Same,
            false => {
                let diff = client
                    .diff_config(&settings.borrowed(), &with.former, phase)
                    .await
                    .map_err(reads)?;
                match (diff.changed, diff.replaces) {
                    (false, _) => SettingsChange::Same,
                    (true, replaces) if replaces.is_empty() => SettingsChange::Update,
                    (true, replaces) => {
                        SettingsChange::Replace(replaces.iter().map(field_path).collect())
                    }
                }
            }
        };
        drop(lease);
        let (types, package) = (self.types.clone(), &self.processes.host().package.name);
        let Some(digest) = digest else {
            let note = format!(
                "the settings of `{package}` are not known yet, so its plugin plans nothing"
            );
            let note = ProviderDiagnostic {
                severity: provider::ProviderSeverity::Note,
                ..ProviderDiagnostic::error("", note)
            };
            let session = Arc::new(ManagedPackage::new(
                types,
                package.clone(),
                None,
                settings.values,
            ));
            return Ok(Configured {
                session,
                change,
                diagnostics: vec![note],
            });
        };
        let process = self.processes.process_of(&digest);
        let values = settings.values.clone();
        process.configure(Arc::new(settings)).await?;
        let session = Arc::new(ManagedPackage::new(
            types,
            package.clone(),
            Some(process),
            values,
        ));
        Ok(Configured {
            session,
            change,
            diagnostics: Vec::new(),
        })
    }
}

impl Provider for PulumiProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move { self.configure_process(with).await })
    }
}
