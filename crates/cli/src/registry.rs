//! The installed components of this program: dialects, providers, catalogues, stores and
//! sources, one line each. The hosts of
//! plugins are in `hosts.rs`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use blueprint::{Map, Name, Value};
use blueprint_dialect::BlueprintDialect;
use dialect::{Dialect, Dialects};
use engine::installed::{
    Access, Installed, InstalledCatalog, InstalledProvider, InstalledSimulation,
    InstalledStackSource, InstalledStore, ReadPart, RootOptions, Runtime, Simulation,
};
use hot::HotDialect;
use manifests::ManifestsDialect;
use manifests::cartographer::CartographerDialect;
use provider::{Catalog, Provider};
use providers::fake::{self, FakeOptions, SharedCloud};
use providers::local::{LocalProvider, RecorderProgram};
use pulumi::PulumiDialect;
use source::{Source, Sources};
use sources::Cache;
#[cfg(not(feature = "object_stores"))]
use sources::LeftOutSource;
use sources::disk::Disk;
use sources::https::Https;
#[cfg(not(feature = "object_stores"))]
use sources::kinds;
#[cfg(feature = "object_stores")]
use sources::{Variables, object};
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

use crate::fetch;
use crate::hosts::{self, Hosts};

/// The namespace of the simulated cloud. Lists include it only with `--all`.
const SIMULATED: &str = "test";

/// The dialects, in the order in which they try to recognise a document.
pub(crate) fn dialects() -> Dialects {
    Dialects::new([
        &BlueprintDialect as &'static dyn Dialect,
        &HotDialect,
        &PulumiDialect {
            passphrase: stack_passphrase,
        },
        &CartographerDialect,
        &ManifestsDialect,
    ])
}

/// The diagnostics of commands beside documents.
pub(crate) fn further_codes() -> &'static [&'static diag::Code] {
    #[cfg(feature = "kubernetes")]
    return cluster_scripts::CODES;
    #[cfg(not(feature = "kubernetes"))]
    return &[];
}

/// The passphrase of stacks of Pulumi, from the variables that Pulumi reads. An error is a phrase.
fn stack_passphrase() -> Result<Option<String>, String> {
    let unreadable = |what: &str, error: &dyn std::fmt::Display| {
        Err(format!("`{what}` cannot be read: {error}"))
    };
    const GIVEN: &str = "PULUMI_CONFIG_PASSPHRASE";
    match std::env::var(GIVEN) {
        Ok(passphrase) => return Ok(Some(passphrase)),
        Err(std::env::VarError::NotPresent) => {}
        Err(error) => return unreadable(GIVEN, &error),
    }
    let Some(file) = std::env::var_os("PULUMI_CONFIG_PASSPHRASE_FILE") else {
        return Ok(None);
    };
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned())),
        Err(error) => unreadable(&file.to_string_lossy(), &error),
    }
}

/// Returns the installed components. The hosts end the processes of plugins.
pub(crate) fn installed(hosts: &Hosts) -> Arc<Installed> {
    Arc::new(Installed {
        providers: vec![
            InstalledProvider::new(&["local"], || Arc::new(local_provider())),
            InstalledProvider::new(&["random"], || Arc::new(providers::random::provider())),
            InstalledProvider::new(&["tls"], || Arc::new(providers::tls::provider())),
            InstalledProvider::new(&["http"], || Arc::new(providers::http::provider())),
            InstalledProvider::new(&["cyan"], || Arc::new(providers::cyan::provider())),
            InstalledProvider::new(&["time"], || Arc::new(providers::time::provider())),
            InstalledProvider::new(&["std"], || Arc::new(providers::std::provider()))
                .with_functions(),
            InstalledProvider::new(openstack::NAMESPACES, || Arc::new(openstack::provider()))
                .named(openstack::NAME),
            #[cfg(feature = "pulumi")]
            InstalledProvider::new(&[pulumi_host::built_in::NAMESPACE], || {
                Arc::new(pulumi_host::built_in::built_in())
            }),
        ],
        catalogs: vec![
            catalog(&["aws"], providers::aws::catalog),
            InstalledCatalog {
                for_tests: true,
                ..catalog(&[SIMULATED], fake::catalog)
            },
        ],
        hosts: hosts.installed(),
        dialects: dialects(),
        stack_sources: vec![InstalledStackSource {
            form: "heat",
            provider: openstack::NAME,
            function: openstack::STACK_FUNCTION,
        }],
        simulate: InstalledSimulation {
            in_memory: Arc::new(|| Arc::new(World(SharedCloud::default()))),
            open: open_world,
        },
        stores: vec![
            InstalledStore {
                scheme: "sqlite",
                is_file: true,
                open: Arc::new(|place, sealer, access| {
                    let mode = if access == Access::Write {
                        Mode::ReadWrite
                    } else {
                        Mode::ReadOnly
                    };
                    Box::new(SqliteStore::open(
                        place.file.as_deref().unwrap_or(Path::new("")),
                        sealer,
                        mode,
                    ))
                }),
            },
            InstalledStore {
                scheme: "memory",
                is_file: false,
                open: Arc::new(|_, sealer, _| {
                    Box::new(MemoryStore::open(&MemoryState::default(), sealer))
                }),
            },
        ],
        sources: Arc::new(sources),
        roots: RootOptions::default(),
        runtime: Runtime {
            http: Some(Arc::new(fetch::http_get)),
            cache: cache_folder().map(|cache| cache.join("plugins")),
            log: Some(hosts::log()),
            known: Some(hosts.secrets.clone()),
            ..Runtime::system()
        },
    })
}

/// The components for one case of a test: the state and the simulated objects are in memory, for
/// this case alone.
pub(crate) fn for_case(installed: &Installed) -> Arc<Installed> {
    let (memory, world) = (MemoryState::default(), World(SharedCloud::default()));
    let world = Arc::new(world);
    let mut own = installed.clone();
    own.stores = vec![InstalledStore {
        scheme: "memory",
        is_file: false,
        open: Arc::new(move |_, sealer, _| Box::new(MemoryStore::open(&memory, sealer))),
    }];
    own.simulate.in_memory = Arc::new(move || world.clone());
    own.runtime.log = None;
    // A secret of one case is none in another case.
    own.runtime.known = None;
    Arc::new(own)
}

/// Records a command, if another process of this program started this one to do so. Returns `None`
/// in every other process.
pub(crate) fn run_as_recorder() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let is_recorder = arguments
        .next()
        .is_some_and(|word| word == providers::local::RECORDER_WORD)
        && arguments.next().is_none();
    is_recorder.then(providers::local::run_recorder)
}

/// Returns the provider `local`. This program records its commands.
fn local_provider() -> LocalProvider {
    // The name stays valid if the file of the program is replaced during the run.
    let own = Path::new("/proc/self/exe");
    let file = if own.exists() {
        Some(own.to_owned())
    } else {
        std::env::current_exe().ok()
    };
    match file {
        Some(file) => providers::local::recording_provider(RecorderProgram { file }),
        None => providers::local::provider(),
    }
}

/// Returns a catalogue without a provider. Documents can be checked, planned and simulated with it.
fn catalog(namespaces: &'static [&'static str], read: fn() -> Arc<Catalog>) -> InstalledCatalog {
    InstalledCatalog {
        namespaces,
        read: Arc::new(read),
        for_tests: false,
    }
}

/// A simulated cloud.
struct World(SharedCloud);

impl Simulation for World {
    fn provider(
        &self,
        catalog: Arc<Catalog>,
        behind: Option<Arc<dyn Provider>>,
    ) -> Arc<dyn Provider> {
        Arc::new(fake::provider(FakeOptions {
            catalog: Some(catalog),
            world: Some(self.0.clone()),
            functions: behind,
            disable_event_log: true,
            ..FakeOptions::default()
        }))
    }

    fn make_parts(&self, parts: Vec<ReadPart>) {
        fake::make_parts(
            &self.0,
            parts.into_iter().map(|part| (part.type_name, part.path)),
        );
    }

    fn set_answers(&self, answers: Vec<(Name, Value)>) {
        fake::set_answers(&self.0, answers);
    }

    fn change_externally(&self, instance: &str, address: &str, fields: Option<&Map>) -> bool {
        fake::change_externally(&self.0, instance, address, fields)
    }
}

fn open_world(
    file: &Path,
) -> Result<Arc<dyn Simulation>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(Arc::new(World(fake::FakeCloud::open(file)?.shared())))
}

/// Returns the sources of documents. Nothing is read or requested before a document is needed.
fn sources() -> Sources {
    let working_directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let cache = cache_folder().map(|cache| Cache::new(cache.join("documents")));
    let mut https = Https::new();
    if let Some(cache) = &cache {
        https = https.cached(cache.clone());
    }
    let [s3, google, azure] = object_stores(cache);
    let all: [Arc<dyn Source>; 5] = [
        Arc::new(Disk::new(working_directory)),
        Arc::new(https),
        s3,
        google,
        azure,
    ];
    Sources::new(all)
}

#[cfg(feature = "object_stores")]
fn object_stores(cache: Option<Cache>) -> [Arc<dyn Source>; 3] {
    let environment = Variables::of_process();
    [object::s3, object::google, object::azure].map(|open| {
        let store = open(environment.clone());
        let store = match &cache {
            Some(cache) => store.cached(cache.clone()),
            None => store,
        };
        Arc::new(store) as Arc<dyn Source>
    })
}

#[cfg(not(feature = "object_stores"))]
fn object_stores(_cache: Option<Cache>) -> [Arc<dyn Source>; 3] {
    [&kinds::AWS_S3, &kinds::GOOGLE_STORAGE, &kinds::AZURE_BLOB]
        .map(|kind| Arc::new(LeftOutSource::new(kind, "object_stores")) as Arc<dyn Source>)
}

/// The cache folder of the user.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("cyan"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_from_every_place_of_the_reference() {
        let sources = sources();
        let kinds: Vec<&str> = sources.kinds().map(|kind| kind.name).collect();
        assert_eq!(
            kinds,
            ["https", "aws/s3", "googlecloud/storage", "azure/blob"]
        );
    }

    #[test]
    fn namespaces_and_functions_of_catalogues_are_registered() {
        let installed = installed(&Hosts::new());
        for provider in &installed.providers {
            let catalog = (provider.make)().catalog().clone();
            assert_eq!(catalog.name.as_deref(), provider.name);
            assert_eq!(
                catalog
                    .namespaces
                    .iter()
                    .map(AsRef::as_ref)
                    .collect::<Vec<&str>>(),
                provider.namespaces
            );
            assert_eq!(
                !catalog.functions.is_empty(),
                provider.has_functions,
                "{:?}",
                provider.namespaces
            );
        }
        for one in &installed.catalogs {
            let catalog = (one.read)();
            assert_eq!(
                catalog
                    .namespaces
                    .iter()
                    .map(AsRef::as_ref)
                    .collect::<Vec<&str>>(),
                one.namespaces
            );
            assert!(one.for_tests || catalog.functions.is_empty() && catalog.link_kinds.is_empty());
        }
    }
}
