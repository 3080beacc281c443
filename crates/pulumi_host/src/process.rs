//! The processes of this family: how they are started, connected and configured.

use std::sync::Arc;

use blueprint::{Name, Value};
use plugin_host::{CallEffect, Family, PackageHost, PluginProcess};
use plugins::{Launch, Plugin, Protocol};
use provider::{ErrorKind, ProviderError, Scrubber};
use pulumi_wire::NoLookups;
use tokio::sync::OnceCell;

use crate::client::{Client, ConnectOptions, ProviderSettings};
use crate::engine::{Engine, Logged};
use crate::names::{PROJECT, root_urn};
use crate::problems::error_of;
use crate::protocol::{PulumiProtocol, launch_with_engine};
use crate::session::PluginSession;

/// The word of the family.
pub const FAMILY: &str = "pulumi";

/// The process of a configured package.
pub(crate) type PackageProcess = PluginProcess<Pulumi>;

/// The family, with what the processes of a package share.
#[derive(Default)]
pub(crate) struct Pulumi {
    /// The server for plugins, started with the first process.
    engine: OnceCell<Engine>,
}

/// The address of the server for plugins.
async fn engine_address(host: &PackageHost<Pulumi>) -> Result<String, ProviderError> {
    let start = || {
        let log = host.log_sink();
        let sink = move |logged: Logged| {
            if !logged.ephemeral {
                log(logged.line.text.trim_end());
            }
        };
        Engine::start(root_urn(), Arc::new(sink))
    };
    let engine = host.family.engine.get_or_try_init(start).await;
    engine.map(Engine::address).map_err(|error| {
        let message = format!(
            "no port can be opened for the plugin of `{}`: {error}",
            host.package.name
        );
        ProviderError::new(ErrorKind::Permanent, message)
    })
}

impl Family for Pulumi {
    const NAME: &'static str = FAMILY;
    const TIMED_OUT: &'static str = "the plugin did not answer in time";

    type Client = Client;
    type Settings = ConfiguredSettings;
    type Session = PluginSession;

    async fn launch(
        host: &PackageHost<Pulumi>,
    ) -> Result<(Launch, Arc<dyn Protocol>), ProviderError> {
        if host.package.program.is_none() {
            let message = format!(
                "only the schema of `{}` is configured: a program is needed for this, add its `path` to the table",
                host.package.name
            );
            return Err(ProviderError::new(ErrorKind::Document, message));
        }
        let engine_address = engine_address(host).await?;
        let launch = launch_with_engine(host.launch(), PROJECT, &engine_address);
        Ok((launch, Arc::new(PulumiProtocol)))
    }

    async fn connect(host: &PackageHost<Pulumi>, plugin: &Plugin) -> Result<Client, ProviderError> {
        let folder = host.package.program_path().parent();
        let connecting = ConnectOptions {
            engine_address: engine_address(host).await?,
            program_folder: folder.map(|folder| folder.display().to_string()),
        };
        Client::connect(plugin, &connecting)
            .await
            .map_err(|failure| error_of(failure, CallEffect::Reads, &Scrubber::default()))
    }

    async fn configure(
        client: &Client,
        settings: &ConfiguredSettings,
    ) -> Result<PluginSession, ProviderError> {
        let secrets = || Scrubber::of([&settings.values]);
        client
            .configure(&settings.borrowed())
            .await
            .map_err(|failure| error_of(failure, CallEffect::Reads, &secrets()))
    }
}

/// The settings of a configured process.
pub(crate) struct ConfiguredSettings {
    /// The name of the package in its schema.
    pub(crate) package: Name,
    pub(crate) values: Value,
    pub(crate) urn: String,
    pub(crate) name: Name,
}

impl ConfiguredSettings {
    pub(crate) fn borrowed(&self) -> ProviderSettings<'_> {
        let ConfiguredSettings {
            package,
            values,
            urn,
            name,
        } = self;
        // The name is the identity of the configuration, so it is also its id.
        ProviderSettings {
            package,
            values,
            urn,
            name,
            id: name,
            lookups: &NoLookups,
        }
    }
}
