//! The process of a configuration: the pool starts it, and it is connected and configured again
//! after a crash.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Name, Value};
use plugin_host::{CallEffect, ProgramDigest, not_started};
use plugins::{Endpoint, Inherit, Plugin, PluginLease, Pool, PoolKey, ProcessLimits, Start};
use provider::{ErrorKind, HostedPackage, Progress, ProviderError, Scrubber};
use pulumi_wire::NoLookups;
use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use crate::client::{Client, ConnectOptions, ProviderSettings};
use crate::engine::{Engine, Logged};
use crate::names::{PROJECT, root_urn};
use crate::problems::error_of;
use crate::protocol::{PluginProgram, PulumiProtocol};
use crate::session::PluginSession;

/// The common data of all processes of a package.
pub(crate) struct PackageHost {
    pub(crate) package: HostedPackage,
    /// The identity of the program.
    pub(crate) identity: String,
    /// The address of a plugin that runs already, for debugging.
    pub(crate) attached: Option<Endpoint>,
    pub(crate) pool: Arc<Pool>,
    /// The server for plugins, started with the first process.
    engine: OnceCell<Engine>,
    /// Receives the log lines that plugins send by calls. `None` before the first configuration:
    /// log lines are then dropped.
    log: Arc<Mutex<Option<Progress>>>,
}

impl PackageHost {
    pub(crate) fn new(
        package: HostedPackage,
        identity: String,
        attached: Option<Endpoint>,
        pool: Arc<Pool>,
    ) -> Arc<PackageHost> {
        Arc::new(PackageHost {
            package,
            identity,
            attached,
            pool,
            engine: OnceCell::new(),
            log: Arc::default(),
        })
    }

    /// Sets the receiver of later log lines.
    pub(crate) fn log_to(&self, log: Progress) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(log);
    }

    async fn engine_address(&self) -> Result<String, ProviderError> {
        let log = self.log.clone();
        let sink = move |logged: Logged| {
            let receiver = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(receiver) = receiver.filter(|_| !logged.ephemeral) {
                receiver(logged.line.text.trim_end());
            }
        };
        let engine = self
            .engine
            .get_or_try_init(|| Engine::start(root_urn(), Arc::new(sink)))
            .await;
        engine.map(Engine::address).map_err(|error| {
            let message = format!(
                "no port can be opened for the plugin of `{}`: {error}",
                self.package.name
            );
            ProviderError::new(ErrorKind::Permanent, message)
        })
    }

    fn start(&self, engine_address: &str) -> Start {
        let package = &self.package;
        let name = format!("pulumi provider `{}`", package.name);
        if let Some(endpoint) = &self.attached {
            return Start::Attach(name, endpoint.clone());
        }
        let environment = package
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let program = PluginProgram {
            name,
            program: package.program_path().to_owned(),
            arguments: package.arguments.iter().map(OsString::from).collect(),
            folder: package.folder.clone(),
            project: PROJECT.into(),
            environment: environment.collect(),
            inherit: package.inherits.clone().map_or(Inherit::All, Inherit::Only),
            limits: ProcessLimits {
                memory: package.memory,
                start: package.start_within,
                ..ProcessLimits::default()
            },
        };
        Start::Launch(program.launch(engine_address), Arc::new(PulumiProtocol))
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

/// The process of one configuration.
pub(crate) struct PackageProcess {
    host: Arc<PackageHost>,
    key: PoolKey,
    /// The settings of the process, also after a restart. `None` before the first configuration.
    settings: Mutex<Option<Arc<ConfiguredSettings>>>,
    live: AsyncMutex<Option<LiveProcess>>,
    /// Number of open sessions.
    users: AtomicUsize,
}

/// A running process.
struct LiveProcess {
    plugin: Plugin,
    client: Client,
    /// The configured session; `None` before the process is configured.
    session: Option<PluginSession>,
}

impl PackageProcess {
    /// A process that is started on first use. `settings` is a digest of its settings.
    pub(crate) fn new(host: Arc<PackageHost>, settings: String) -> Arc<PackageProcess> {
        let package = &host.package;
        // Packages with the same program may differ in their environment.
        let binary = format!(
            "{}\0{}\0{:?}",
            package.name, host.identity, package.environment
        );
        let key = PoolKey {
            binary: ProgramDigest::of(binary).to_hex(),
            settings,
        };
        Arc::new(PackageProcess {
            host,
            key,
            settings: Mutex::default(),
            live: AsyncMutex::default(),
            users: AtomicUsize::new(0),
        })
    }

    /// The connected plugin. The lease keeps the process running.
    pub(crate) async fn client(&self) -> Result<(PluginLease, Client), ProviderError> {
        let (lease, mut live) = self.live().await?;
        let live = live.as_mut().ok_or_else(not_configured_error)?;
        Ok((lease, live.client.clone()))
    }

    /// Configures the process, now and after each restart.
    pub(crate) async fn configure(
        &self,
        settings: ConfiguredSettings,
    ) -> Result<(), ProviderError> {
        *self.settings() = Some(Arc::new(settings));
        self.session().await.map(|_| ())
    }

    /// The configured plugin. The lease keeps the process running during a call.
    pub(crate) async fn session(&self) -> Result<(PluginLease, PluginSession), ProviderError> {
        let settings = self.settings().clone();
        let (lease, mut live) = self.live().await?;
        let live = live.as_mut().ok_or_else(not_configured_error)?;
        if live.session.is_none() {
            let settings = settings.ok_or_else(not_configured_error)?;
            let session = live.client.configure(&settings.borrowed()).await;
            let session = session.map_err(|failure| {
                error_of(
                    failure,
                    CallEffect::Reads,
                    &Scrubber::of([&settings.values]),
                )
            })?;
            live.session = Some(session);
        }
        let session = live.session.clone().ok_or_else(not_configured_error)?;
        Ok((lease, session))
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, Option<Arc<ConfiguredSettings>>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn live(
        &self,
    ) -> Result<
        (
            PluginLease,
            tokio::sync::MutexGuard<'_, Option<LiveProcess>>,
        ),
        ProviderError,
    > {
        let engine_address = self.host.engine_address().await?;
        let wanted = self.host.start(&engine_address);
        let lease = self
            .host
            .pool
            .get(&self.key, wanted)
            .await
            .map_err(|error| not_started(&error))?;
        let mut live = self.live.lock().await;
        if live
            .as_ref()
            .is_none_or(|live| live.plugin.id() != lease.id())
        {
            let folder = self
                .host
                .package
                .program_path()
                .parent()
                .map(|folder| folder.display().to_string());
            let connecting = ConnectOptions {
                engine_address,
                program_folder: folder,
            };
            let client = Client::connect(&lease, &connecting).await;
            let client = client
                .map_err(|failure| error_of(failure, CallEffect::Reads, &Scrubber::default()))?;
            *live = Some(LiveProcess {
                plugin: Plugin::clone(&lease),
                client,
                session: None,
            });
        }
        Ok((lease, live))
    }

    /// Counts a session.
    pub(crate) fn begin_session(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends a session. The end of the last session stops the process: first with Cancel, then with
    /// an interrupt, then by force.
    pub(crate) async fn end_session(&self) {
        let left = self
            .users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                users.checked_sub(1)
            });
        if left == Ok(1) {
            let live = self.live.lock().await.take();
            if let Some(live) = live {
                live.plugin.stop().await;
            }
        }
    }
}

fn not_configured_error() -> ProviderError {
    ProviderError::new(
        ErrorKind::Transient,
        "the plugin is not configured any more",
    )
}
