//! What a family of plugins decides, and what the processes of a package share.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use plugins::{Endpoint, Inherit, Launch, Plugin, Pool, PoolKey, ProcessLimits, Protocol, Start};
use provider::{HostedPackage, Progress, ProviderError};

use crate::{ProgramDigest, lock};

/// The number of opened packages. Two of them never share a process, because each would configure
/// it.
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// What a family of plugins decides. An implementation has the data that all processes of a package
/// share.
pub trait Family: Sized + Send + Sync + 'static {
    /// The word of the family.
    const NAME: &'static str;
    /// The message for a call that exceeds its time limit.
    const TIMED_OUT: &'static str;

    /// A connected plugin.
    type Client: Clone + Send;
    /// Checked settings, with which a process is configured.
    type Settings: Send + Sync;
    /// A configured plugin.
    type Session: Clone + Send;

    /// Completes [`PackageHost::launch`].
    fn launch(
        host: &PackageHost<Self>,
    ) -> impl Future<Output = Result<(Launch, Arc<dyn Protocol>), ProviderError>> + Send;

    /// Connects to a process.
    fn connect(
        host: &PackageHost<Self>,
        plugin: &Plugin,
    ) -> impl Future<Output = Result<Self::Client, ProviderError>> + Send;

    /// Configures a process. Each process is configured at most once.
    fn configure(
        client: &Self::Client,
        settings: &Self::Settings,
    ) -> impl Future<Output = Result<Self::Session, ProviderError>> + Send;

    /// Asks a process to end all its calls. They still answer, perhaps with a partial result. A
    /// family that cannot ask for this lets them continue until their time is over.
    fn cut_calls_short(_client: Self::Client) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// The data that all processes of a package share.
pub struct PackageHost<F> {
    number: usize,
    /// The package.
    pub package: HostedPackage,
    /// The identity of its program.
    pub identity: String,
    /// The endpoint of a plugin that already runs, for debugging.
    pub attached: Option<Endpoint>,
    /// The data of the family.
    pub family: F,
    pub(crate) pool: Arc<Pool>,
    /// Receives the output of plugins. Output before the first configuration is dropped.
    log: Arc<Mutex<Option<Progress>>>,
}

impl<F: Family> PackageHost<F> {
    /// Returns the host of a package.
    pub fn new(
        package: HostedPackage,
        identity: String,
        attached: Option<Endpoint>,
        pool: Arc<Pool>,
        family: F,
    ) -> PackageHost<F> {
        PackageHost {
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            package,
            identity,
            attached,
            family,
            pool,
            log: Arc::default(),
        }
    }

    /// Sets the receiver of later log lines.
    pub fn log_to(&self, log: Progress) {
        *lock(&self.log) = Some(log);
    }

    /// Returns a function that passes lines to the receiver of log lines.
    pub fn log_sink(&self) -> Progress {
        let log = self.log.clone();
        Arc::new(move |line| {
            let receiver = lock(&log).clone();
            if let Some(receiver) = receiver {
                receiver(line);
            }
        })
    }

    /// Returns the launch of the package's program, without what only its family knows.
    pub fn launch(&self) -> Launch {
        let package = &self.package;
        let environment = package
            .environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        Launch {
            name: self.name(),
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
        }
    }

    /// The name of the plugin in messages.
    fn name(&self) -> String {
        format!("{} provider `{}`", F::NAME, self.package.name)
    }

    pub(crate) async fn start(&self) -> Result<Start, ProviderError> {
        if let Some(endpoint) = &self.attached {
            return Ok(Start::Attach(self.name(), endpoint.clone()));
        }
        let (launch, protocol) = F::launch(self).await?;
        Ok(Start::Launch(launch, protocol))
    }

    /// The key of a process. `settings` is a digest of its settings.
    pub(crate) fn key(&self, settings: String) -> PoolKey {
        let HostedPackage {
            name, environment, ..
        } = &self.package;
        // Packages with the same program differ in their environment.
        let program = format!("{name}\0{}\0{environment:?}", self.identity);
        let binary = format!("{} {}", ProgramDigest::of(program).to_hex(), self.number);
        PoolKey { binary, settings }
    }
}
