//! The process of a configuration: started by the pool, connected and configured, and again after a
//! crash.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueprint::Value;
use plugin_host::{CallEffect, not_started};
use plugins::{
    Endpoint, Inherit, Launch, Plugin, PluginLease, Pool, PoolKey, ProcessLimits, Start,
};
use provider::{ErrorKind, HostedPackage, Progress, ProviderDiagnostic, ProviderError, Scrubber};
use tokio::sync::Mutex as AsyncMutex;

use crate::problems::{error_of, warnings_of};
use crate::program::KnownProgram;
use crate::{
    AnswerWithWarnings, CallFailure, Client, Handshake, OpenOptions, Output, ProgramDigest,
    ProtocolVersion, SchemaCache, Schemas,
};

/// The number of opened packages. Two of them never share a process, because each would configure
/// it.
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// The data that all processes of a package share.
pub(crate) struct PackageHost {
    number: usize,
    pub(crate) package: HostedPackage,
    program: KnownProgram,
    /// The endpoint of a plugin that already runs, for debugging.
    attached: Option<Endpoint>,
    pool: Arc<Pool>,
    /// Its schemas, once they are known.
    known: Mutex<Option<(ProtocolVersion, Arc<Schemas>)>>,
    /// Receives the output of plugins. Output before a configuration is dropped.
    log: Arc<Mutex<Option<Progress>>>,
}

impl PackageHost {
    pub(crate) fn new(
        package: HostedPackage,
        program: KnownProgram,
        attached: Option<Endpoint>,
        pool: Arc<Pool>,
    ) -> Arc<PackageHost> {
        let known = Mutex::new(program.known.clone());
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        Arc::new(PackageHost {
            number,
            package,
            program,
            attached,
            pool,
            known,
            log: Arc::default(),
        })
    }

    /// Sets the receiver of log lines.
    pub(crate) fn log_to(&self, log: Progress) {
        *lock(&self.log) = Some(log);
    }

    /// The schemas, if they are already known.
    pub(crate) fn schemas(&self) -> Option<Arc<Schemas>> {
        lock(&self.known)
            .as_ref()
            .map(|(_, schemas)| schemas.clone())
    }

    fn start(&self) -> Start {
        let package = &self.package;
        let name = format!("terraform provider `{}`", package.name);
        if let Some(endpoint) = &self.attached {
            return Start::Attach(name, endpoint.clone());
        }
        let environment = package
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let launch = Launch {
            name,
            program: package.program_path().to_owned(),
            arguments: package.arguments.iter().map(OsString::from).collect(),
            folder: package.folder.clone(),
            environment: environment.collect(),
            inherit: package.inherits.clone().map_or(Inherit::All, Inherit::Only),
            limits: ProcessLimits {
                memory: package.memory,
                start: package.start_within,
                ..ProcessLimits::default()
            },
        };
        Start::Launch(launch, Arc::new(Handshake))
    }

    async fn open(&self, plugin: &Plugin) -> Result<Client, CallFailure> {
        let log = self.log.clone();
        let output: Output = Arc::new(move |line| {
            let receiver = lock(&log).clone();
            if let Some(receiver) = receiver {
                receiver(line);
            }
        });
        // A running plugin may change at any time.
        let cached = self
            .package
            .cache
            .as_ref()
            .filter(|_| self.attached.is_none())
            .map(SchemaCache::new);
        let cache = cached.as_ref().zip(self.program.digest.as_ref());
        let known = lock(&self.known).clone();
        let was_known = known.is_some();
        let client = Client::open(
            plugin,
            OpenOptions {
                known,
                cache,
                output: Some(output),
            },
        )
        .await?;
        *lock(&self.known) = Some((client.version(), client.schemas().clone()));
        if let (false, Some(digest)) = (was_known, self.program.digest.filter(|_| cached.is_some()))
        {
            let (package, identity, version) = (
                self.package.clone(),
                self.program.identity.clone(),
                client.version(),
            );
            let noted = tokio::task::spawn_blocking(move || {
                crate::program::note(&package, &identity, &digest, version)
            });
            // Without a note, the program is read again next time.
            let _ = noted.await;
        }
        Ok(client)
    }
}

/// The process of one configuration.
pub(crate) struct PackageProcess {
    host: Arc<PackageHost>,
    key: PoolKey,
    /// The settings of the process, also after a restart. `None` before it is configured.
    settings: Mutex<Option<Prepared>>,
    live: AsyncMutex<Option<LiveProcess>>,
    /// Number of open sessions.
    users: AtomicUsize,
    calls: Mutex<RunningCalls>,
}

/// Settings in the form that the provider takes.
#[derive(Clone)]
struct Prepared {
    values: Value,
    warnings: Vec<ProviderDiagnostic>,
}

/// A running process.
struct LiveProcess {
    plugin: Plugin,
    client: Client,
    configured: bool,
}

/// The running calls.
#[derive(Default)]
struct RunningCalls {
    running: usize,
    /// The number of running calls that are cancelled.
    cancelled: usize,
}

impl PackageProcess {
    /// Returns a process that is started on first use. `settings` is a digest of its settings.
    pub(crate) fn new(host: Arc<PackageHost>, settings: String) -> Arc<PackageProcess> {
        let package = &host.package;
        // Packages with the same program differ in their environment.
        let binary = format!(
            "{}\0{}\0{:?}",
            package.name, host.program.identity, package.environment
        );
        let binary = format!(
            "{} {}",
            ProgramDigest::of(binary.as_bytes()).to_hex(),
            host.number
        );
        let key = PoolKey { binary, settings };
        Arc::new(PackageProcess {
            host,
            key,
            settings: Mutex::default(),
            live: AsyncMutex::default(),
            users: AtomicUsize::new(0),
            calls: Mutex::default(),
        })
    }

    /// Returns the connected plugin. The lease keeps its process alive.
    pub(crate) async fn client(&self) -> Result<(PluginLease, Client), ProviderError> {
        let (lease, live) = self.live().await?;
        let client = live
            .as_ref()
            .ok_or_else(not_configured_error)?
            .client
            .clone();
        Ok((lease, client))
    }

    /// Configures the process, now and after each restart, and counts a session. Returns the
    /// provider's diagnostics about the settings. Parts of them may be unknown.
    pub(crate) async fn configure(
        &self,
        settings: &Value,
    ) -> Result<Vec<ProviderDiagnostic>, ProviderError> {
        let known = lock(&self.settings).clone();
        if let Some(prepared) = known {
            // Another session has the same settings.
            let (_lease, _client) = self.session().await?;
            self.users.fetch_add(1, Ordering::AcqRel);
            return Ok(prepared.warnings);
        }
        let secrets = Scrubber::of([settings]);
        let (lease, mut live) = self.live().await?;
        let LiveProcess {
            client, configured, ..
        } = live.as_mut().ok_or_else(not_configured_error)?;
        let reads = |failure| error_of(failure, CallEffect::Reads, &secrets);
        let validated = client.validate_provider(settings).await.map_err(reads)?;
        let AnswerWithWarnings { warnings, .. } = client
            .configure(&validated.value)
            .await
            .map_err(|f| refused(f, &secrets))?;
        *configured = true;
        let mut said = warnings_of(&validated.warnings, &secrets);
        said.extend(
            warnings_of(&warnings, &secrets)
                .into_iter()
                .filter(|one| !said.contains(one))
                .collect::<Vec<_>>(),
        );
        *lock(&self.settings) = Some(Prepared {
            values: validated.value,
            warnings: said.clone(),
        });
        self.users.fetch_add(1, Ordering::AcqRel);
        drop((live, lease));
        Ok(said)
    }

    /// Counts a session that is not configured.
    pub(crate) fn count_session(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the configured plugin. The lease keeps its process alive during a call.
    pub(crate) async fn session(&self) -> Result<(PluginLease, Client), ProviderError> {
        let settings = lock(&self.settings)
            .clone()
            .ok_or_else(not_configured_error)?;
        let (lease, mut live) = self.live().await?;
        let live = live.as_mut().ok_or_else(not_configured_error)?;
        if !live.configured {
            let secrets = Scrubber::of([&settings.values]);
            live.client
                .configure(&settings.values)
                .await
                .map_err(|failure| refused(failure, &secrets))?;
            live.configured = true;
        }
        Ok((lease, live.client.clone()))
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
        let lease = self
            .host
            .pool
            .get(&self.key, self.host.start())
            .await
            .map_err(|error| not_started(&error))?;
        let mut live = self.live.lock().await;
        if live
            .as_ref()
            .is_none_or(|live| live.plugin.id() != lease.id())
        {
            let client = self.host.open(&lease).await;
            let client = client
                .map_err(|failure| error_of(failure, CallEffect::Reads, &Scrubber::default()))?;
            *live = Some(LiveProcess {
                plugin: Plugin::clone(&lease),
                client,
                configured: false,
            });
        }
        Ok((lease, live))
    }

    /// Counts a call until the guard is dropped.
    pub(crate) fn enter_call(&self) -> RunningCall<'_> {
        lock(&self.calls).running += 1;
        RunningCall {
            process: self,
            cancelled: false,
        }
    }

    /// Ends a session. The process is stopped with its last session: by the shutdown call, then by
    /// a signal, then by force.
    pub(crate) async fn end_session(&self) {
        let left = self
            .users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                users.checked_sub(1)
            });
        if left == Ok(1) {
            self.stop().await;
        }
    }

    /// Stops the process, unless a session uses it.
    pub(crate) async fn stop_if_unused(&self) {
        if self.users.load(Ordering::Acquire) == 0 {
            self.stop().await;
        }
    }

    async fn stop(&self) {
        let live = self.live.lock().await.take();
        if let Some(live) = live {
            live.plugin.stop().await;
        }
    }
}

/// A running call.
pub(crate) struct RunningCall<'a> {
    process: &'a PackageProcess,
    cancelled: bool,
}

impl RunningCall<'_> {
    /// Cancels the call. If all calls of the process are cancelled, the provider is asked to cut
    /// them short: they still answer, perhaps with a partial result. The protocol cannot cut a
    /// single call short.
    pub(crate) async fn cancel(&mut self) {
        if !self.cancelled {
            self.cancelled = true;
            lock(&self.process.calls).cancelled += 1;
        }
        let all = {
            let calls = lock(&self.process.calls);
            calls.cancelled == calls.running
        };
        if all {
            let client = self
                .process
                .live
                .lock()
                .await
                .as_ref()
                .map(|live| live.client.clone());
            if let Some(client) = client {
                // A provider that cannot stop continues, and the time limit of the call ends it.
                let _ = client.stop().await;
            }
        }
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        let mut calls = lock(&self.process.calls);
        calls.running -= 1;
        calls.cancelled -= usize::from(self.cancelled);
    }
}

/// Returns the error of a configuration that the provider refuses. An error that names no setting
/// usually concerns credentials.
fn refused(failure: CallFailure, secrets: &Scrubber) -> ProviderError {
    let names_none = failure
        .diagnostics()
        .iter()
        .filter(|said| said.is_error())
        .all(|said| said.path.0.is_empty());
    let is_rejected = matches!(failure, CallFailure::Rejected(_));
    let error = error_of(failure, CallEffect::Reads, secrets);
    if is_rejected && names_none {
        ProviderError {
            kind: ErrorKind::Credentials,
            ..error
        }
    } else {
        error
    }
}

fn not_configured_error() -> ProviderError {
    ProviderError::new(
        ErrorKind::Transient,
        "the plugin is not configured any more",
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
