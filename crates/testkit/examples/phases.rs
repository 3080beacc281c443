//! Times the phases of the engine in process on a document:
//! `cargo run --release -p testkit --example phases -- FILE`.
//!
//! `-- FILE STATE` keeps the state in a file (`-` for memory); `-- FILE STATE PHASE` ends after a
//! phase, to profile it or count its instructions (`cargo xtask instructions`).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for people"
)]

use std::sync::Arc;
use std::time::Instant;

use blueprint::{IndexMap, Name};
use diag::{Diagnostics, Files};
use engine::run::{Clock, Operated, Rng, RunRequest, Shell, operate};
use engine::{Checked, Documents, Given, Options, PinnedDocument, Request, Staged};
use expr::FunctionTable;
use provider::{Catalogs, Provider};
use providers::fake::{self, FakeOptions};
use state::seal::Sealer;
use state::{InstanceName, Snapshot, Store};

/// Prints durations, and ends after the phase requested.
struct Stopwatch {
    since: Instant,
    last: Option<String>,
}

impl Stopwatch {
    /// Prints the duration of a phase and starts the next phase. Returns whether this phase was the
    /// last one requested.
    fn lap(&mut self, phase: &str) -> bool {
        println!(
            "{phase:<10} {:>8.2} ms",
            self.since.elapsed().as_secs_f64() * 1000.0
        );
        self.since = Instant::now();
        self.last.as_deref() == Some(phase)
    }

    /// Whether phases that are not part of a deploy are left out.
    fn is_selective(&self) -> bool {
        self.last.is_some()
    }
}

/// A machine whose clock stands still. Callgrind cannot run the system's clock.
struct StoppedClock;

impl state::Host for StoppedClock {
    fn boot(&self) -> blueprint::Name {
        "bench".into()
    }

    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn wall(&self) -> i64 {
        0
    }

    fn process(&self) -> Option<state::Process> {
        None
    }

    fn liveness(&self, _process: &state::Process) -> state::Liveness {
        state::Liveness::Unknown
    }
}

fn main() {
    let path = std::env::args().nth(1).expect("a document");
    let state = std::env::args().nth(2).filter(|state| state != "-");
    let mut watch = Stopwatch {
        since: Instant::now(),
        last: std::env::args().nth(3),
    };
    let text: Arc<str> = std::fs::read_to_string(&path).unwrap().into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        watch.since = Instant::now();
        let (catalogs, functions, _) = provider::combine([fake::catalog()]);
        let (catalogs, functions) = (Arc::new(catalogs), Arc::new(functions));
        if watch.lap("catalogs") {
            return;
        }
        let mut found = Diagnostics::new();
        let Some(checked) = check(&text, &catalogs, &functions, &mut found, &mut watch) else {
            return;
        };
        let shell = shell(&catalogs);
        let store: Box<dyn Store> = match &state {
            Some(path) => Box::new(stores::sqlite::SqliteStore::open(
                std::path::Path::new(path),
                Sealer::none(),
                stores::sqlite::Mode::ReadWrite,
            )),
            None => {
                let state = stores::memory::MemoryState::default();
                Box::new(
                    stores::memory::MemoryStore::open(&state, Sealer::none())
                        .with_host(std::sync::Arc::new(StoppedClock)),
                )
            }
        };
        let bench = Bench {
            catalogs,
            functions,
            shell,
            store,
            name: InstanceName::from_free_text("bench"),
        };
        for (plan, apply) in [("plan first", "apply first"), ("plan again", "apply again")] {
            let snapshot = bench.store.load(&bench.name).await.unwrap();
            watch.lap("load state");
            let document = PinnedDocument {
                path: "main.yaml".into(),
                text: text.clone(),
                read_as: None,
                companions: Vec::new(),
            };
            let documents = Arc::new(Documents::single(checked.clone(), ".".into()));
            let staged = bench
                .plan(Some((documents, document)), snapshot, &mut found)
                .await;
            if watch.lap(plan) {
                return;
            }
            if !watch.is_selective() {
                let text = engine::plan_file::write(&staged.plan, &Sealer::none()).unwrap();
                watch.lap("plan file");
                println!(
                    "           {} bytes, counts {:?}",
                    text.len(),
                    staged.plan.counts()
                );
            }
            let (operated, events) = bench.apply(staged).await;
            let ended = watch.lap(apply);
            println!(
                "           {events} events, {}",
                matches!(operated, Operated::Done(_))
            );
            if ended {
                return;
            }
        }
        let snapshot = bench.store.load(&bench.name).await.unwrap();
        let staged = bench.plan(None, snapshot, &mut found).await;
        watch.lap("plan gone");
        let (operated, _) = bench.apply(staged).await;
        watch.lap("destroy");
        println!("           {operated:?}");
    });
}

/// Parses, loads and checks the document. Returns `None` if one of these phases is the last one
/// requested.
fn check(
    text: &Arc<str>,
    catalogs: &Arc<Catalogs>,
    functions: &Arc<FunctionTable>,
    found: &mut Diagnostics,
    watch: &mut Stopwatch,
) -> Option<Arc<Checked>> {
    let mut files = Files::new();
    let file = files.add("main.yaml", text.clone());
    if !watch.is_selective() {
        let (tree, _) = syntax::parse(file, text, syntax::Format::Yaml);
        watch.lap("parse");
        drop(tree);
    }
    let dialects = &testkit::dialects();
    let loaded = engine::load(
        &files,
        file,
        dialects,
        functions,
        catalogs.packages(),
        &Default::default(),
        found,
    );
    if watch.lap("load") {
        return None;
    }
    let context =
        engine::check::CheckContext::new(catalogs, functions, dialect::DialectRules::NATIVE);
    let checked = Arc::new(engine::check(loaded.blueprint.unwrap(), &context, found));
    (!watch.lap("check")).then_some(checked)
}

/// A shell with the simulated provider `test`.
fn shell(catalogs: &Arc<Catalogs>) -> Shell {
    let provider: Arc<dyn Provider> = Arc::new(fake::provider(FakeOptions::default()));
    let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
    providers.insert("test".into(), provider);
    Shell {
        call_records: None,
        instances: None,
        providers: providers.into_iter().collect(),
        catalogs: catalogs.clone(),
        packages: None,
        settings: IndexMap::default(),
        places: None,
        offline: false,
        instance: "bench".into(),
        root: std::path::Path::new(".").into(),
        access: Default::default(),
        working_directory: None,
        clock: Clock::System,
        rng: Rng::System,
        sources: Default::default(),
        http: None,
        planning: None,
        log: None,
        secrets: Default::default(),
        remarks: Default::default(),
        cancel: tokio_util::sync::CancellationToken::new(),
    }
}

/// The environment of plans and operations.
struct Bench {
    catalogs: Arc<Catalogs>,
    functions: Arc<FunctionTable>,
    shell: Shell,
    store: Box<dyn Store>,
    name: InstanceName,
}

impl Bench {
    /// Plans a deploy, or without a document a destroy.
    async fn plan(
        &self,
        document: Option<(Arc<Documents>, PinnedDocument)>,
        snapshot: Snapshot,
        found: &mut Diagnostics,
    ) -> Staged {
        let request = Request {
            instance: "bench".into(),
            document,
            given: Given::default(),
            options: Options::default(),
            snapshot,
            catalogs: self.catalogs.clone(),
            functions: self.functions.clone(),
            answers: None,
            others: None,
            world: &self.shell,
        };
        engine::plan(request, found).await.unwrap()
    }

    /// Carries out a plan. Returns the result and the number of events.
    async fn apply(&self, staged: Staged) -> (Operated, u64) {
        let (_keep, interrupts) = tokio::sync::mpsc::unbounded_channel();
        let mut events = 0;
        let request = RunRequest {
            staged,
            recheck_inputs: false,
            shell: &self.shell,
            store: self.store.as_ref(),
            instance: &self.name,
            id: engine::run::operation_id(&self.shell.rng),
            who: "me@here",
            settings: engine::apply::ApplySettings::default(),
            rollback_planner: None,
            interrupts,
        };
        let operated = operate(request, |_| events += 1).await;
        (operated, events)
    }
}
