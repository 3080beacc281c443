//! Opens hosted packages on a separate thread, when a name of a package is first looked up.
//!
//! A lookup of a type cannot be awaited, but opening a package may start a process. The runtime of
//! the thread lives as long as the opened providers, so a process that was started to read a schema
//! also serves the session. The thread watches the processes even while the caller's thread
//! computes or waits for a person.
//!
//! A package that cannot be opened has a catalogue that states the reason
//! ([`Catalog::unavailable`](provider::Catalog::unavailable)), so that its first use is one
//! diagnostic.
//!
//! Not here: how a family opens a package (its host crate); processes (`plugins`).

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use provider::{
    BoxFuture, Catalog, Configuration, Configured, ErrorKind, Hosted, Provider, ProviderError,
    RecordedObject, Transform, Unavailable,
};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use crate::plugin_config::ConfiguredPackage;

/// The time that the thread waits at its end for blocking work of a host.
const LAST_WORK: Duration = Duration::from_millis(100);

/// The error message after a panic in a task of a host.
const PANICKED: &str = "its host failed with an internal error";

fn no_thread(error: &io::Error) -> String {
    format!("no thread can be started for it: {error}")
}

/// The thread on which packages are opened. It starts with the first package.
#[derive(Default)]
pub(crate) struct HostThread(Mutex<Option<RuntimeThread>>);

/// A thread with a runtime. Dropping it ends the runtime and the processes that the runtime
/// started.
struct RuntimeThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RuntimeThread {
    fn start() -> io::Result<RuntimeThread> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("plugins".to_owned())
            .spawn(move || {
                // An error means that the sender was dropped, which also requests a stop.
                let _ = runtime.block_on(stopped);
                runtime.shutdown_timeout(LAST_WORK);
            })?;
        Ok(RuntimeThread {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for RuntimeThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self
            .thread
            .take()
            .filter(|thread| thread.thread().id() != thread::current().id())
        {
            // `join` fails only if the thread panicked; the panic has already been reported.
            let _ = thread.join();
        }
    }
}

impl HostThread {
    /// Opens the provider of a package. If it cannot be opened, returns a provider without types
    /// that has the error.
    pub(crate) fn open(self: Arc<HostThread>, configured: &ConfiguredPackage) -> Arc<dyn Provider> {
        match self.opened(configured) {
            Ok(provider) => Arc::new(HostedProvider {
                provider,
                thread: self,
            }),
            Err(error) => Arc::new(UnavailableProvider::new(configured, error)),
        }
    }

    fn opened(&self, configured: &ConfiguredPackage) -> Result<Arc<dyn Provider>, ProviderError> {
        let failed = |why: String| ProviderError::new(ErrorKind::Permanent, why);
        let handle = self.handle().map_err(|error| failed(no_thread(&error)))?;
        let (answer, answered) = mpsc::channel();
        let opening = (configured.host.open)(configured.package.clone());
        handle.spawn(async move {
            // The receiver waits below.
            let _ = answer.send(opening.await);
        });
        // No answer means that the task panicked.
        answered
            .recv()
            .unwrap_or_else(|_| Err(failed(PANICKED.to_owned())))
    }

    fn handle(&self) -> io::Result<Handle> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref() {
            return Ok(running.handle.clone());
        }
        let started = RuntimeThread::start()?;
        Ok(running.insert(started).handle.clone())
    }
}

/// A provider whose sessions are configured on the thread.
struct HostedProvider {
    provider: Arc<dyn Provider>,
    thread: Arc<HostThread>,
}

impl Provider for HostedProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        self.provider.catalog()
    }

    fn set_recorded_objects(&self, root: &Path, objects: &[RecordedObject<'_>]) {
        self.provider.set_recorded_objects(root, objects);
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        self.provider.transform(name)
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            let failed = |why: String| ProviderError::new(ErrorKind::Permanent, why);
            let handle = self
                .thread
                .handle()
                .map_err(|error| failed(no_thread(&error)))?;
            let configuring =
                AbortOnDropHandle::new(handle.spawn(self.provider.clone().configure(with)));
            configuring
                .await
                .unwrap_or_else(|_| Err(failed(PANICKED.to_owned())))
        })
    }
}

/// The placeholder for a provider of a package that cannot be opened.
struct UnavailableProvider {
    catalog: Arc<Catalog>,
    error: ProviderError,
}

impl UnavailableProvider {
    fn new(configured: &ConfiguredPackage, error: ProviderError) -> UnavailableProvider {
        let name = configured.package.name.clone();
        let unavailable = Unavailable {
            package: name.clone(),
            why: error.message.clone(),
            configured: configured.configured.clone(),
        };
        let catalog = Catalog {
            namespaces: vec![name],
            hosted: Some(hosted(configured)),
            unavailable: Some(Arc::new(unavailable)),
            ..Catalog::default()
        };
        UnavailableProvider {
            catalog: Arc::new(catalog),
            error,
        }
    }
}

impl Provider for UnavailableProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(std::future::ready(Err(self.error.clone())))
    }
}

/// Returns the facts of a package that are known before it is opened.
pub(crate) fn hosted(configured: &ConfiguredPackage) -> Hosted {
    Hosted {
        family: configured.host.family,
        version: None,
        parameters: blueprint::Value::Null,
    }
}
