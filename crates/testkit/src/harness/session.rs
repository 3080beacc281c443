//! Deploying documents through `engine::Session`, the orchestration that users run, in processes that may fail.
//!
//! Not here: simulated catalogues, real providers, load contexts and breakpoints of the harness (`staging`).

use std::sync::Arc;

use engine::apply::Settings;
use engine::installed::{Installed, InstalledProvider, InstalledStore, Runtime};
use engine::shell::Operated;
use engine::{
    Config, DocumentSource, Event, OperateRequest, Session, SessionEvent, SessionOptions, Silent, StageRequest,
};
use provider::Provider;
use providers::fake::FakeProvider;
use tokio::sync::mpsc;

use super::clock::VirtualHost;
use super::{Harness, Run};
use crate::faults::{FaultPlan, FaultyStore, SimulatedProcess};
use crate::installed::simulation;

impl Harness {
    /// Stages a document through a session and carries the plan out, all in one process under a fault plan.
    ///
    /// # Errors
    /// Why there is no plan, with the diagnostics.
    pub async fn deploy_in_session(
        &self,
        name: &str,
        text: &str,
        fault_plan: FaultPlan,
        settings: Settings,
    ) -> Result<Run, String> {
        let process = SimulatedProcess::new(fault_plan, self.planted_bug);
        let (session, provider) = self.session(&process);
        let session = session.map_err(|error| error.to_string())?;
        let mut frontend = Silent::default();
        let (send, interrupts) = mpsc::unbounded_channel();
        let mut request = StageRequest::new(DocumentSource::of_text(name, text));
        request.instance = Some(self.name.clone());
        let mut staging_failed = None;
        let running = async {
            match session.stage(request, &mut frontend).await {
                Ok(staged) => {
                    let request = OperateRequest::of(staged.planned, "tester@lab");
                    let request = OperateRequest { settings, interrupts, ..request };
                    session.operate(request, &mut frontend).await
                }
                Err(error) => {
                    staging_failed = Some(error);
                    Operated::Nothing
                }
            }
        };
        let operated = self.until_end(&process, send, running).await;
        if let Some(error) = staging_failed {
            let found: Vec<&str> = frontend.diagnostics.iter().map(|one| one.message.as_str()).collect();
            return Err(format!("{error}: {}", found.join("; ")));
        }
        let events = frontend.events.into_iter().filter_map(|envelope| match envelope.event {
            SessionEvent::Operation(event) => Some(event),
            _ => None,
        });
        let events: Vec<Event> = events.collect();
        Ok(self.conclude(&process, &provider, operated, events).await)
    }

    /// The session of a process on the harness's cloud, store, clock and random numbers, and its provider.
    fn session(&self, process: &Arc<SimulatedProcess>) -> (Result<Session, engine::Error>, Arc<FakeProvider>) {
        let (faulty, test) = self.provider(process);
        let faulty: Arc<dyn Provider> = Arc::new(faulty);
        let (open_store, clock, process) = (self.open_store.clone(), self.clock.clone(), process.clone());
        let (http, sources) = (self.http(), self.sources());
        let installed = Installed {
            providers: vec![InstalledProvider::new("test", move || faulty.clone()).with_functions()],
            catalogs: Vec::new(),
            dialects: self.dialects.clone(),
            simulate: simulation(self.world.clone()),
            stores: vec![InstalledStore {
                scheme: "memory",
                is_file: false,
                open: Arc::new(move |_, sealer, _| {
                    let store = open_store(sealer, Arc::new(VirtualHost(clock.clone())));
                    Box::new(FaultyStore::new(store, process.clone()))
                }),
            }],
            sources: Arc::new(move || sources.clone()),
            runtime: Runtime {
                clock: self.clock.clone(),
                rng: self.rng.clone(),
                http: http.map(|get| Arc::new(move || get.clone()) as Arc<dyn Fn() -> _ + Send + Sync>),
            },
        };
        let options = SessionOptions { state: Some("memory:".to_owned()), ..SessionOptions::default() };
        let session = Session::new(Arc::new(installed), Config::default(), &options, &self.folder);
        let session = session.map(|mut session| {
            session.seal_with(self.sealer());
            session
        });
        (session, test)
    }
}
