//! The processes of a package, by their settings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::{Family, PackageHost, PluginProcess, lock};

/// The processes of a package.
pub struct Processes<F: Family> {
    host: Arc<PackageHost<F>>,
    table: Mutex<ProcessTable<F>>,
}

struct ProcessTable<F: Family> {
    /// The configured processes, by the digest of their settings.
    configured: HashMap<String, Arc<PluginProcess<F>>>,
    /// A process without settings. The first configuration takes it.
    spare: Option<Arc<PluginProcess<F>>>,
    /// The number of processes that were made without settings. They keep their keys when a
    /// configuration takes them.
    spares: usize,
}

impl<F: Family> Processes<F> {
    /// Returns the processes of a package. None is started yet.
    pub fn new(host: PackageHost<F>) -> Processes<F> {
        Processes {
            host: Arc::new(host),
            table: Mutex::new(ProcessTable {
                configured: HashMap::new(),
                spare: None,
                spares: 0,
            }),
        }
    }

    /// The host of the package.
    pub fn host(&self) -> &Arc<PackageHost<F>> {
        &self.host
    }

    /// Returns a process without settings, for questions that need none.
    pub fn spare(&self) -> Arc<PluginProcess<F>> {
        let mut table = lock(&self.table);
        if let Some(spare) = &table.spare {
            return spare.clone();
        }
        let spare = self.process(format!("unconfigured {}", table.spares));
        table.spares += 1;
        table.spare = Some(spare.clone());
        spare
    }

    /// Returns the process for the settings with this digest, if there is one.
    pub fn known(&self, digest: &str) -> Option<Arc<PluginProcess<F>>> {
        lock(&self.table).configured.get(digest).cloned()
    }

    /// Returns the process for the settings with this digest: one for each digest. The first
    /// configuration takes the process without settings.
    pub fn process_of(&self, digest: &str) -> Arc<PluginProcess<F>> {
        let mut table = lock(&self.table);
        if let Some(known) = table.configured.get(digest) {
            return known.clone();
        }
        let spare = table.spare.take();
        let process = spare.unwrap_or_else(|| self.process(digest.to_owned()));
        table.configured.insert(digest.to_owned(), process.clone());
        process
    }

    /// Removes a process that refused its settings, and stops it unless a session uses it.
    pub async fn discard(&self, process: &Arc<PluginProcess<F>>) {
        lock(&self.table)
            .configured
            .retain(|_, known| !Arc::ptr_eq(known, process));
        process.stop_if_unused().await;
    }

    fn process(&self, settings: String) -> Arc<PluginProcess<F>> {
        let key = self.host.key(settings);
        Arc::new(PluginProcess::new(self.host.clone(), key))
    }
}
