//! An installed program for tests: the simulated cloud `test`, a store in memory, documents from
//! the disk.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use blueprint_dialect::BlueprintDialect;
use dialect::{Dialect, Dialects};
use engine::Installed;
use engine::installed::{
    InstalledProvider, InstalledSimulation, InstalledStore, ReadPart, RootOptions, Runtime,
    Simulation,
};
use hot::HotDialect;
use manifests::ManifestsDialect;
use manifests::cartographer::CartographerDialect;
use provider::{Catalog, Provider};
use providers::fake::{self, FakeOptions, ScriptedFault, SharedCloud};
use pulumi::PulumiDialect;
use source::Sources;
use sources::disk::Disk;
use stores::memory::{MemoryState, MemoryStore};

/// The dialects of the program `cyan`.
pub fn dialects() -> Dialects {
    Dialects::new([
        &BlueprintDialect as &'static dyn Dialect,
        &HotDialect,
        &PulumiDialect::LOCKED,
        &CartographerDialect,
        &ManifestsDialect,
    ])
}

/// A program with one provider and one store. All its sessions share the cloud and the state.
pub fn installed() -> Arc<Installed> {
    installed_with(Vec::new())
}

/// A program whose calls to the cloud have these faults. Each session has its own copy of the
/// faults.
pub fn installed_with(faults: Vec<ScriptedFault>) -> Arc<Installed> {
    let (world, memory) = (SharedCloud::default(), MemoryState::default());
    let cloud = world.clone();
    let provider = InstalledProvider::new(&["test"], move || {
        Arc::new(fake::provider(FakeOptions {
            world: Some(cloud.clone()),
            faults: faults.clone(),
            ..FakeOptions::default()
        }))
    });
    Arc::new(Installed {
        providers: vec![provider.with_functions()],
        catalogs: Vec::new(),
        hosts: Vec::new(),
        dialects: dialects(),
        stack_sources: Vec::new(),
        simulate: simulation(world),
        stores: vec![InstalledStore {
            scheme: "memory",
            is_file: false,
            open: Arc::new(move |_, sealer, _| Box::new(MemoryStore::open(&memory, sealer))),
        }],
        sources: Arc::new(|| {
            let disk: Arc<dyn source::Source> = Arc::new(Disk::new("/"));
            Sources::new([disk])
        }),
        roots: RootOptions::default(),
        runtime: Runtime::system(),
    })
}

/// The simulation of all catalogues in one cloud.
pub(crate) fn simulation(world: SharedCloud) -> InstalledSimulation {
    let cloud = SimulatedCloud(world);
    InstalledSimulation {
        in_memory: Arc::new(move || Arc::new(cloud.clone())),
        open: |file| {
            Ok(Arc::new(SimulatedCloud(
                fake::FakeCloud::open(file)?.shared(),
            )))
        },
    }
}

#[derive(Clone)]
struct SimulatedCloud(SharedCloud);

impl Simulation for SimulatedCloud {
    fn provider(
        &self,
        catalog: Arc<Catalog>,
        behind: Option<Arc<dyn Provider>>,
    ) -> Arc<dyn Provider> {
        Arc::new(fake::provider(FakeOptions {
            catalog: Some(catalog),
            world: Some(self.0.clone()),
            functions: behind,
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
