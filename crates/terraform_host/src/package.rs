//! A package of a plugin as a provider: its catalogue from the schema of the plugin, and its
//! configurations.
//!
//! The functions of a provider become functions of the catalogue with the name of the package as a
//! prefix, because all packages share the names of functions: `time_rfc3339_parse`. Its short-lived
//! resources are left out.
//!
//! Not here: calls about resources (`managed`), processes (`process`).

use std::sync::Arc;

use blueprint::{Name, Value};
use plugin_host::{PackageHost, Processes};
use plugins::Pool;
use provider::{
    BoxFuture, Catalog, Configuration, Configured, ErrorKind, Hosted, HostedPackage, Provider,
    ProviderError, SettingsChange,
};
use terraform_wire::{ProviderSchema, SchemaTypes, TypeNames, conform};

use crate::managed::ManagedPackage;
use crate::process::{FAMILY, Terraform, configure};
use crate::program::KnownProgram;
use crate::{Attachments, ProgramDigest, REATTACH, Schemas};

/// The settings digest of a process that only validates specs.
const OFFLINE: &str = "offline";

/// The prefix of the file name of a provider's program.
const PROGRAM: &str = "terraform-provider-";

/// The provider of a package.
pub(crate) struct TerraformProvider {
    catalog: Arc<Catalog>,
    types: Arc<SchemaTypes>,
    schemas: Arc<Schemas>,
    processes: Processes<Terraform>,
}

/// Opens a package: reads its schema from the cache, or starts its plugin and asks it. The process
/// is kept for the first configuration. A plugin that is listed in `TF_REATTACH_PROVIDERS` is
/// attached to and not started.
///
/// # Errors
/// If the plugin cannot be started, or if it has no schema that can be read.
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
) -> Result<Arc<TerraformProvider>, ProviderError> {
    let listed = std::env::var(REATTACH).ok().filter(|text| !text.is_empty());
    let attachments = listed.map(|text| Attachments::read(&text)).transpose();
    let attachments =
        attachments.map_err(|error| ProviderError::new(ErrorKind::Document, error.to_string()))?;
    let attached =
        attachments.and_then(|all| all.of(&package.name).map(|one| one.endpoint.clone()));
    let program = match attached {
        // A running plugin may change at any time.
        Some(_) => KnownProgram::default(),
        None => {
            let package = package.clone();
            tokio::task::spawn_blocking(move || KnownProgram::look_up(&package))
                .await
                .unwrap_or_default()
        }
    };
    let contents = program.contents;
    let (identity, family) = (program.identity.clone(), Terraform::new(program));
    let host = PackageHost::new(package, identity, attached, pool, family);
    let processes = Processes::new(host);
    let host = processes.host();
    let schemas = match host.family.known() {
        Some((_, schemas)) => schemas,
        None => {
            let (_lease, client) = processes.spare().client().await?;
            client.schemas().clone()
        }
    };
    let package = &host.package;
    let own_name = own_name(&schemas.provider, package);
    let names = TypeNames::new(package.name.clone(), &own_name);
    let types = SchemaTypes::new(schemas.provider.clone(), names)
        .planning_deletes(schemas.abilities.plans_deletes);
    let types = Arc::new(types);
    let catalog = Arc::new(Catalog {
        program: contents.map(|digest| digest.to_hex().into()),
        ..catalog(&package.name, &schemas.provider, &types)
    });
    Ok(Arc::new(TerraformProvider {
        catalog,
        types,
        schemas,
        processes,
    }))
}

/// Returns the provider's own name, with which its types begin: their first word if all types share
/// it, else the name in the file name of the program, else that of the package.
fn own_name(schema: &ProviderSchema, package: &HostedPackage) -> String {
    let names = schema.resources.keys().chain(schema.data_sources.keys());
    let mut words = names.map(|name| name.split('_').next().unwrap_or_default());
    if let Some(first) = words
        .next()
        .filter(|first| words.all(|word| word == *first))
    {
        return first.to_owned();
    }
    let program = package
        .program_path()
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = program
        .strip_prefix(PROGRAM)
        .and_then(|rest| rest.split("_v").next());
    name.unwrap_or(&package.name).to_owned()
}

fn catalog(namespace: &Name, schema: &ProviderSchema, types: &Arc<SchemaTypes>) -> Catalog {
    let prefix: String = namespace
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let functions = schema.functions.iter().map(|(name, one)| {
        let mut function = terraform_wire::function(namespace, name, one);
        function.name = format!("{prefix}_{name}").into();
        function
    });
    Catalog {
        namespaces: vec![namespace.clone()],
        docs: schema
            .provider
            .block
            .docs
            .lines()
            .next()
            .unwrap_or_default()
            .into(),
        functions: functions.collect(),
        settings: terraform_wire::settings(&schema.provider.block),
        hosted: Some(Hosted {
            family: FAMILY.into(),
            version: None,
            parameters: Value::Null,
        }),
        source: Some(types.clone()),
        ..Catalog::default()
    }
}

impl TerraformProvider {
    async fn configure_process(&self, with: Configuration) -> Result<Configured, ProviderError> {
        self.processes.host().log_to(with.log);
        if with.offline {
            // Specs are validated without a configuration of the provider.
            let process = self.processes.process_of(OFFLINE);
            process.begin_session();
            let session = ManagedPackage::new(
                self.types.clone(),
                self.processes.host().package.name.clone(),
                process,
                Value::Null,
            );
            return Ok(Configured {
                session: Arc::new(session),
                change: SettingsChange::Same,
                diagnostics: Vec::new(),
            });
        }
        let digest = self.digest_of(&with.settings)?;
        let process = self.processes.process_of(&digest);
        let diagnostics = match configure(&process, &with.settings).await {
            Ok(configured) => configured.warnings,
            Err(error) => {
                // A process that has refused settings is not used again.
                self.processes.discard(&process).await;
                return Err(error);
            }
        };
        let change = match with.former.is_null()
            || self
                .digest_of(&with.former)
                .is_ok_and(|former| former == digest)
        {
            true => SettingsChange::Same,
            false => SettingsChange::Update,
        };
        let session = ManagedPackage::new(
            self.types.clone(),
            self.processes.host().package.name.clone(),
            process,
            with.settings,
        );
        Ok(Configured {
            session: Arc::new(session),
            change,
            diagnostics,
        })
    }

    /// Returns a digest of settings as they are sent. Parts of them may be unknown.
    fn digest_of(&self, settings: &Value) -> Result<String, ProviderError> {
        let block = &self.schemas.provider.provider.block;
        let settings = if settings.is_null() {
            Value::map::<Name>([])
        } else {
            settings.clone()
        };
        let bytes = terraform_wire::wire::encode(&conform(block, &settings), &block.ty());
        let failure = |error| {
            crate::problems::error_of(
                crate::CallFailure::Unfit(error),
                plugin_host::CallEffect::Reads,
                &provider::Scrubber::of([&settings]),
            )
        };
        Ok(ProgramDigest::of(&bytes.map_err(failure)?).to_hex())
    }
}

impl Provider for TerraformProvider {
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
