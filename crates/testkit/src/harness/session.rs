//! The session of a process: the harness's cloud, store, clock and random numbers under
//! `engine::Session`.
//!
//! Not here: requests to it (`staging`, `running`).

use std::path::PathBuf;
use std::sync::Arc;

use diag::{Diagnostics, Files};
use engine::installed::{
    Installed, InstalledProvider, InstalledStore, RootOptions, Runtime, WorkingDirectory,
};
use engine::{
    Config, DocumentSource, Envelope, Event, Frontend, Given, InputSource, Inputs, Library,
    Selection, Session, SessionEvent, SessionOptions,
};
use providers::fake::FakeProvider;

use super::Harness;
use super::clock::VirtualHost;
use crate::faults::{FaultPlan, FaultyStore, SimulatedProcess};
use crate::installed::simulation;
use crate::toy::checker::CheckerProvider;
use crate::toy::hosted::ToyOptions;
use crate::toy::planner::PlannerProvider;

impl Harness {
    /// The session of a process, and its provider `test`.
    pub(super) fn session_of(
        &self,
        process: &Arc<SimulatedProcess>,
    ) -> (Session, Arc<FakeProvider>) {
        let (providers, test) = self.providers(process);
        let (http, sources) = (self.http(), self.sources());
        let installed = Installed {
            // The session gets catalogues, functions and providers below, because tests change
            // them. The toy providers are listed so that they can have settings.
            providers: if self.toys.is_some() {
                installed_toys()
            } else {
                Vec::new()
            },
            catalogs: Vec::new(),
            hosts: Vec::new(),
            dialects: self.dialects.clone(),
            stack_sources: Vec::new(),
            simulate: simulation(self.world.clone()),
            stores: vec![self.installed_store(process)],
            sources: Arc::new(move || sources.clone()),
            roots: RootOptions {
                context: self.context.clone(),
                change: self.breakpoints_of_root(),
            },
            runtime: Runtime {
                clock: self.clock.clone(),
                rng: self.random.rng.clone(),
                ids: self.random.ids.clone(),
                http: http
                    .map(|get| Arc::new(move || get.clone()) as Arc<dyn Fn() -> _ + Send + Sync>),
                working_directory: WorkingDirectory::Fixed(self.working_directory.clone()),
                ..Runtime::system()
            },
        };
        // Paths in the state are relative to the folder of the documents.
        let state = Some(format!(
            "memory:{}",
            self.whole_folder().join("state").display()
        ));
        let options = SessionOptions {
            state,
            ..SessionOptions::default()
        };
        let installed = Arc::new(installed);
        // Created once, because the table of functions is large.
        let library = self
            .library
            .get_or_init(|| Library::new(installed.clone(), Selection::default()));
        let mut library = library.clone();
        library.selection.dialects = self.context.settings.clone();
        library.dialects = self.dialects.clone();
        library.set_catalogs(self.catalogs.clone());
        library.functions = self.functions.clone();
        library.providers = providers;
        let with = |config: Config, (namespace, settings): (&blueprint::Name, _)| {
            config.with_settings(namespace, settings)
        };
        let config = self.settings.iter().fold(Config::default(), with);
        let session = Session::with_library(installed, config, library, &options, &self.folder);
        let mut session =
            session.unwrap_or_else(|error| panic!("the session cannot be opened: {error}"));
        session.seal_with(self.sealer());
        (session, test)
    }

    /// The session of a process without faults.
    pub(super) fn session(&self) -> Session {
        self.session_of(&SimulatedProcess::new(
            FaultPlan::default(),
            self.planted_bug,
        ))
        .0
    }

    /// The store with the faults of a process.
    fn installed_store(&self, process: &Arc<SimulatedProcess>) -> InstalledStore {
        let (open_store, clock, process) =
            (self.open_store.clone(), self.clock.clone(), process.clone());
        InstalledStore {
            scheme: "memory",
            is_file: true,
            open: Arc::new(move |_, sealer, _| {
                let store = open_store(sealer, Arc::new(VirtualHost(clock.clone())));
                Box::new(FaultyStore::new(store, process.clone()))
            }),
        }
    }

    /// Returns a function that adds the harness's breakpoints to a root document, as a dialect with
    /// breakpoints would.
    fn breakpoints_of_root(&self) -> Option<engine::installed::RootTransform> {
        if self.breakpoints.is_empty() {
            return None;
        }
        let all = self.breakpoints.clone();
        Some(Arc::new(move |blueprint| {
            for (name, breakpoints) in &all {
                if let Some(resource) = blueprint.resources.get_mut(name) {
                    resource.lifecycle.breakpoints = *breakpoints;
                }
                if let Some(child) = blueprint.children.get_mut(name) {
                    child.breakpoints = *breakpoints;
                }
            }
        }))
    }

    /// The absolute folder of the documents, as locations spell it.
    pub(super) fn whole_folder(&self) -> PathBuf {
        match &self.memory_source {
            Some(_) => self.folder.clone(),
            None => self
                .folder
                .canonicalize()
                .unwrap_or_else(|_| self.folder.clone()),
        }
    }

    /// A text as a document of this name in the folder. The file need not exist.
    pub(super) fn source(&self, name: &str, text: &str) -> DocumentSource {
        let folder = self.whole_folder();
        DocumentSource {
            path: Some(folder.join(name)),
            folder,
            ..DocumentSource::of_text(name, text)
        }
    }
}

/// The toy providers as installed providers.
fn installed_toys() -> Vec<InstalledProvider> {
    vec![
        InstalledProvider::new(&["planner"], || {
            Arc::new(PlannerProvider::new(ToyOptions::default()))
        }),
        InstalledProvider::new(&["checker"], || {
            Arc::new(CheckerProvider::new(ToyOptions::default()))
        }),
    ]
}

/// The values as inputs of a request.
pub(super) fn inputs(given: &Given) -> Inputs {
    let typed = given
        .typed
        .iter()
        .map(|(name, value)| InputSource::Value(name.clone(), value.clone()));
    let text = given
        .text
        .iter()
        .map(|(name, text)| InputSource::Text(name.clone(), text.clone()));
    Inputs {
        written: typed.chain(text).collect(),
        ..Inputs::default()
    }
}

/// A front end that keeps the reports of a session. It has no answers.
#[derive(Default)]
pub(super) struct Reports {
    /// All diagnostics.
    pub(super) diagnostics: Diagnostics,
    /// The texts that the last diagnostics point into.
    pub(super) files: Files,
    /// The events of operations.
    pub(super) events: Vec<Event>,
}

impl Frontend for Reports {
    fn found(&mut self, found: &Diagnostics, files: &Files) {
        if found.iter().next().is_some() {
            self.diagnostics.extend(found.iter().cloned());
            self.files = files.clone();
        }
    }

    fn event(&mut self, envelope: Envelope) {
        if let SessionEvent::Operation(event) = envelope.event {
            self.events.push(event);
        }
    }
}
