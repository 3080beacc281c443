//! A laboratory: one simulated cloud, one memory of instances, one virtual clock, and processes that come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{Breakpoints, IndexMap, Name, Value};
use diag::{Diagnostics, Files};
use dialects::{Beside, Dialects, Document, Surroundings};
use engine::apply::{OnFailure, Outcome, Settings};
use engine::generation::Goal;
use engine::shell::{Back, Chance, Clock, Interrupt, Operated, Shell, operate};
use engine::{
    Answers, Checked, Documents, Event, Frozen, FrozenDocument, Given, Loaded, Options, Reading, Request, Staged,
};
use expr::FunctionTable;
use futures::future::LocalBoxFuture;
use provider::{Catalog, Catalogs, Provider};
use providers::fake::{self, FakeOptions, FakeProvider, Fault, SharedWorld};
use source::{Location, Source, Sources};
use sources::disk::Disk;
use state::seal::Sealer;
use state::{Host, InstanceName, Lease, Liveness, OperationOutcome, Snapshot, Store as _};
use stores::memory::{MemoryState, MemoryStore};
use tokio::sync::mpsc;

use crate::shelf::{FAR_AWAY, FarAway, Shelf};
use crate::simulation::{Kept, Late, Process, Reached, Sabotage, Weather};

/// 2023-01-02T15:04:05Z, at which every laboratory begins.
pub const BEGINNING: i64 = 1_672_671_845;

/// One simulated cloud with its memory and clock.
pub struct Lab {
    /// What providers offer.
    pub catalogs: Arc<Catalogs>,
    /// What expressions can call.
    pub functions: Arc<FunctionTable>,
    /// What contradicts itself between catalogues.
    pub contradictions: Vec<String>,
    /// The things in the cloud.
    pub world: SharedWorld,
    /// What is remembered.
    pub memory: MemoryState,
    /// The folder of the documents.
    pub folder: PathBuf,
    /// Documents that are in no folder but here, by path from the folder of the documents; in place of the disk.
    pub shelf: Option<Shelf>,
    /// What documents stand in beside their own text.
    pub around: dialects::Surroundings,
    /// The dialects that documents may be written in.
    pub dialects: Dialects,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// The instance that is staged and deployed; others may share cloud and store with it.
    pub name: InstanceName,
    /// Whether there is a key to seal secrets with.
    pub key: bool,
    /// The clock.
    pub clock: Clock,
    /// Whether each call and what is there after each run are judged (see [`Run::broken`]).
    pub judged: bool,
    /// Where operations stop, by the names of resources and includes of the root document.
    pub stops: IndexMap<Name, Breakpoints>,
    /// An engine with this fault is simulated.
    pub sabotage: Option<Sabotage>,
    /// What lies at addresses of the web, where any is reached.
    pub web: BTreeMap<String, Vec<u8>>,
    /// A person asks each run to stop so long after it began.
    pub interrupted_after: Option<std::time::Duration>,
    late: Late,
    chance: Chance,
    more: Vec<Arc<Catalog>>,
    /// Providers that are real.
    real: Vec<Arc<dyn Provider>>,
}

/// A document that was read and checked.
pub struct Read {
    /// The texts.
    pub files: Files,
    /// Everything that is wrong with it.
    pub diagnostics: Diagnostics,
    /// Its meaning.
    pub checked: Option<Arc<Checked>>,
    /// It and its children.
    pub documents: Option<Arc<Documents>>,
    /// Its text.
    pub document: FrozenDocument,
}

/// A document that was staged.
pub struct Stage {
    /// The texts.
    pub files: Files,
    /// Everything that was reported.
    pub diagnostics: Diagnostics,
    /// The plan, if there is one.
    pub staged: Option<Staged>,
}

/// How a plan was carried out.
pub struct Run {
    /// What became of it; none if the process crashed.
    pub operated: Option<Operated>,
    /// Everything that was told.
    pub events: Vec<Event>,
    /// What was asked of the cloud.
    pub journal: fake::Journal,
    /// What should never have happened, where that is judged.
    pub broken: Vec<String>,
}

impl Run {
    /// The outcome, if it ran to an end.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.operated {
            Some(Operated::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }
}

impl Lab {
    /// A laboratory with the simulated provider `test`, and further ones of these catalogues. Must be made inside a runtime.
    pub fn new(folder: PathBuf, more: Vec<Arc<Catalog>>) -> Lab {
        Lab::with(folder, more, Vec::new())
    }

    /// The same with providers that are no simulation.
    pub fn with(folder: PathBuf, more: Vec<Arc<Catalog>>, real: Vec<Arc<dyn Provider>>) -> Lab {
        let every = std::iter::once(fake::catalog()).chain(more.iter().cloned());
        let every = every.chain(real.iter().map(|provider| provider.catalog().clone()));
        let (catalogs, mut functions, contradictions) = provider::combine(every);
        Dialects::BUILT_IN.insert_functions(&mut functions, &dialects::Settings::default());
        Lab {
            catalogs: Arc::new(catalogs),
            functions: Arc::new(functions),
            contradictions,
            world: SharedWorld::default(),
            memory: MemoryState::default(),
            folder,
            shelf: None,
            around: dialects::Surroundings::default(),
            dialects: Dialects::BUILT_IN,
            working_directory: Some("/w".into()),
            name: Self::instance(),
            key: true,
            clock: Clock::at(BEGINNING),
            judged: false,
            stops: IndexMap::default(),
            sabotage: None,
            late: Late::default(),
            chance: Chance::seeded(1),
            web: BTreeMap::new(),
            interrupted_after: None,
            more,
            real,
        }
    }

    /// The store, as a new process opens it.
    pub fn store(&self) -> MemoryStore {
        MemoryStore::open(&self.memory, self.sealer()).on(Arc::new(VirtualHost(self.clock.clone())))
    }

    /// What seals and opens secrets.
    pub fn sealer(&self) -> Sealer {
        if self.key { Sealer::with_key(crate::simulation::KEY) } else { Sealer::none() }
    }

    /// The name of the instance, unless another one is set.
    pub fn instance() -> InstanceName {
        InstanceName::from_free_text("case")
    }

    /// The state.
    pub async fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.store().load(&self.name).await.unwrap_or_default();
        if let Some(sabotage) = self.sabotage {
            sabotage.snapshot(&mut snapshot);
        }
        snapshot
    }

    fn shell(&self, process: &Arc<Process>) -> (Shell, Arc<FakeProvider>) {
        let ends = process.clone();
        let first = fake::provider(FakeOptions {
            world: Some(self.world.clone()),
            faults: process.faults(),
            on_crash: Some(Arc::new(move || ends.end())),
            ..FakeOptions::default()
        });
        let first = Arc::new(first);
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        let reached = Reached {
            behind: first.clone(),
            process: process.clone(),
            world: self.world.clone(),
            late: self.late.clone(),
            judged: self.judged.then(|| self.memory.clone()),
        };
        providers.insert("test".into(), Arc::new(reached));
        for catalog in &self.more {
            let options = FakeOptions {
                catalog: Some(catalog.clone()),
                world: Some(self.world.clone()),
                ..FakeOptions::default()
            };
            let provider: Arc<dyn Provider> = Arc::new(fake::provider(options));
            for namespace in &catalog.namespaces {
                providers.entry(namespace.clone()).or_insert_with(|| provider.clone());
            }
        }
        for provider in &self.real {
            for namespace in &provider.catalog().namespaces {
                providers.insert(namespace.clone(), provider.clone());
            }
        }
        let shell = Shell {
            providers,
            catalogs: self.catalogs.clone(),
            settings: IndexMap::default(),
            instance: self.name.name().clone(),
            root: self.folder.clone(),
            working_directory: self.working_directory.clone(),
            clock: self.clock.clone(),
            chance: self.chance.clone(),
            sources: self.sources(),
            http: self.get(),
            waits: None,
            known: Default::default(),
            cancel: tokio_util::sync::CancellationToken::new(),
        };
        (shell, first)
    }

    fn get(&self) -> Option<engine::shell::HttpGet> {
        if self.web.is_empty() {
            return None;
        }
        let web = self.web.clone();
        Some(Arc::new(move |url: String| {
            let found = web.get(&url).cloned();
            Box::pin(async move { found.ok_or_else(|| "there is nothing at this address".to_owned()) })
        }))
    }

    fn sources(&self) -> Sources {
        let disk: Arc<dyn Source> = match &self.shelf {
            Some(shelf) => Arc::new(shelf.clone()),
            None => Arc::new(Disk::new(self.working_directory.as_ref().map_or("/", |folder| folder.as_ref()))),
        };
        let far_away = FAR_AWAY.iter().map(|kind| Arc::new(FarAway(kind)) as Arc<dyn Source>);
        Sources::new(std::iter::once(disk).chain(far_away))
    }

    /// The folder of the documents as locations have it.
    fn whole_folder(&self) -> PathBuf {
        match &self.shelf {
            Some(_) => self.folder.clone(),
            None => self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone()),
        }
    }

    /// Reads and checks a document with its children, as far as the inputs say where these are. `complete`: all inputs
    /// are given.
    pub async fn read_all(&self, name: &str, text: &str, given: &Given, complete: bool) -> Read {
        self.read_kept(name, text, given, complete, &Frozen::default()).await
    }

    /// A document as a kept plan reads it again.
    pub async fn read_with(&self, text: &str, kept: &Frozen) -> Read {
        self.read_kept("main.yaml", text, &Given::default(), true, kept).await
    }

    /// The same, with the texts of children that are kept.
    async fn read_kept(&self, name: &str, text: &str, given: &Given, complete: bool, kept: &Frozen) -> Read {
        let mut files = Files::new();
        let file = files.add(name, text);
        let mut diagnostics = Diagnostics::new();
        for contradiction in &self.contradictions {
            diagnostics.push(provider::codes::INVALID_CATALOG.new(contradiction.clone()));
        }
        let loaded = engine::load(
            &files,
            file,
            &self.dialects,
            &self.functions,
            self.catalogs.packages(),
            &self.around,
            &mut diagnostics,
        );
        let loaded = self.stopping(loaded);
        let (shell, _) = self.shell(&Process::new(Weather::default(), None));
        let folder = self.whole_folder();
        let before = self.snapshot().await;
        let reading = Reading {
            files: &mut files,
            catalogs: &self.catalogs,
            functions: &self.functions,
            dialects: &self.dialects,
            given: Some(given),
            around: &self.around,
            world: &shell,
            location: Some(Location::disk(folder.join(name).to_string_lossy().as_ref())),
            folder: folder.to_string_lossy().as_ref().into(),
            complete,
            kept,
            before: Some(&before),
        };
        let documents = engine::documents(loaded, reading, &mut diagnostics).await.map(Arc::new);
        let checked = documents.as_ref().map(|documents| documents.root().checked.clone());
        let document = FrozenDocument { path: name.into(), text: text.into(), beside: Vec::new() };
        Read { files, diagnostics, checked, documents, document }
    }

    /// The same document with breakpoints, as a dialect that can write them would give it.
    fn stopping(&self, mut loaded: Loaded) -> Loaded {
        let Some(blueprint) = loaded.blueprint.as_mut().filter(|_| !self.stops.is_empty()) else { return loaded };
        let blueprint = Arc::make_mut(blueprint);
        for (name, breakpoints) in &self.stops {
            if let Some(resource) = blueprint.resources.get_mut(name) {
                resource.lifecycle.breakpoints = *breakpoints;
            }
            if let Some(child) = blueprint.children.get_mut(name) {
                child.breakpoints = *breakpoints;
            }
        }
        loaded
    }

    /// Reads and checks a document by itself: nothing is known of its children.
    pub fn read(&self, name: &str, text: &str) -> Read {
        let mut files = Files::new();
        let file = files.add(name, text);
        let mut diagnostics = Diagnostics::new();
        for contradiction in &self.contradictions {
            diagnostics.push(provider::codes::INVALID_CATALOG.new(contradiction.clone()));
        }
        let loaded = engine::load(
            &files,
            file,
            &self.dialects,
            &self.functions,
            self.catalogs.packages(),
            &self.around,
            &mut diagnostics,
        );
        let checked = loaded.blueprint.map(|blueprint| {
            let rules = self.dialects.rules(blueprint.dialect);
            let context = engine::check::CheckContext::new(&self.catalogs, &self.functions, rules);
            Arc::new(engine::check(blueprint, &context, &mut diagnostics))
        });
        let folder: Name = self.folder.to_string_lossy().as_ref().into();
        let documents = checked.clone().map(|checked| Arc::new(Documents::single(checked, folder)));
        let document = FrozenDocument { path: name.into(), text: text.into(), beside: Vec::new() };
        Read { files, diagnostics, checked, documents, document }
    }

    /// Reads, checks and stages a document; one with errors gets no plan.
    pub async fn stage(&self, name: &str, text: &str, given: Given, options: Options) -> Stage {
        let Read { files, mut diagnostics, documents, document, .. } = self.read_all(name, text, &given, true).await;
        let Some(documents) = documents.filter(|_| !diagnostics.has_errors()) else {
            return Stage { files, diagnostics, staged: None };
        };
        let staged = self.plan(Some((documents, document)), given, options, None, &mut diagnostics).await;
        Stage { files, diagnostics, staged }
    }

    /// Checks a document without a plan, as far as the inputs say what it comes to.
    pub async fn validate(&self, name: &str, text: &str, given: &Given) -> Read {
        let mut read = self.read_all(name, text, given, false).await;
        if let Some(documents) = read.documents.clone().filter(|_| !read.diagnostics.has_errors()) {
            let (shell, _) = self.shell(&Process::new(Weather::default(), None));
            let functions = self.functions.clone();
            engine::check_offline(documents, given, &self.catalogs, functions, &shell, &mut read.diagnostics).await;
        }
        read
    }

    /// Stages the destruction of everything.
    pub async fn stage_destroy(&self, options: Options) -> Stage {
        let mut diagnostics = Diagnostics::new();
        let staged = self.plan(None, Given::default(), options, None, &mut diagnostics).await;
        Stage { files: Files::new(), diagnostics, staged }
    }

    /// Stages the way back to a goal.
    pub async fn stage_back(&self, goal: Goal) -> Stage {
        let options = Options { rollback: true, ..Options::default() };
        let Goal::Kept(kept) = goal else { return self.stage_destroy(options).await };
        let FrozenDocument { path, text, .. } = &kept.document;
        let read = self.read_kept(path, text, &kept.given, true, &kept.answers.frozen()).await;
        let Read { files, mut diagnostics, documents, document, .. } = read;
        let Some(documents) = documents.filter(|_| !diagnostics.has_errors()) else {
            return Stage { files, diagnostics, staged: None };
        };
        let wanted = Some((documents, document));
        let staged = self.plan(wanted, kept.given, options, Some(kept.answers), &mut diagnostics).await;
        Stage { files, diagnostics, staged }
    }

    /// Makes a plan.
    pub async fn plan(
        &self,
        document: Option<(Arc<Documents>, FrozenDocument)>,
        given: Given,
        options: Options,
        answers: Option<Answers>,
        found: &mut Diagnostics,
    ) -> Option<Staged> {
        let (shell, _) = self.shell(&Process::new(Weather::default(), None));
        let request = Request {
            instance: self.name.name().clone(),
            document,
            given,
            options,
            snapshot: self.snapshot().await,
            catalogs: self.catalogs.clone(),
            functions: self.functions.clone(),
            answers,
            others: None,
            world: &shell,
        };
        engine::plan(request, found).await
    }

    /// Carries a plan out in a process of its own, under faults.
    pub async fn run(&self, staged: Staged, kept: bool, faults: Vec<Fault>, settings: Settings) -> Run {
        self.run_in(staged, kept, Weather::of(faults), settings).await
    }

    /// Carries a plan out in a process of its own, in any weather.
    pub async fn run_in(&self, staged: Staged, kept: bool, weather: Weather, settings: Settings) -> Run {
        let process = Process::new(weather, self.sabotage);
        let (shell, provider) = self.shell(&process);
        let store = Kept::new(self.store(), process.clone());
        let instance = self.name.clone();
        let mut events = Vec::new();
        let (ask, interrupts) = mpsc::unbounded_channel::<Interrupt>();
        let asked = async {
            if let Some(after) = self.interrupted_after {
                tokio::time::sleep(after).await;
                let _ = ask.send(Interrupt::Gently);
            }
            std::future::pending::<()>().await;
        };
        let operated = {
            let running = operate(
                staged,
                kept,
                &shell,
                &store,
                &instance,
                "tester@lab",
                settings,
                Some(self),
                interrupts,
                |event| events.push(event),
            );
            tokio::select! {
                biased;
                () = process.ended() => None,
                () = asked => None,
                operated = running => Some(operated).filter(|_| !process.has_ended() && !process.loses()),
            }
        };
        if matches!(operated, None | Some(Operated::Lost(_))) {
            // What comes next runs in a new process, after the lease of this one has run out. Reads are true again by then.
            tokio::time::sleep(engine::shell::LEASE * 2).await;
        }
        let ended = match &operated {
            Some(Operated::Done(outcome)) => outcome.outcome,
            _ => None,
        };
        let done = matches!(ended, Some(OperationOutcome::Ready | OperationOutcome::Gone));
        let mut broken = process.broken(done);
        if self.judged && !process.loses() {
            broken.extend(self.forgotten().await);
        }
        Run { operated, events, journal: provider.journal(), broken }
    }

    /// Things of the instance that nobody will ever find again, and addresses with more things than can be told apart.
    async fn forgotten(&self) -> Vec<String> {
        let snapshot = self.store().load(&self.name).await.unwrap_or_default();
        let tokens: BTreeSet<&str> = snapshot
            .open
            .values()
            .map(|open| open.intent.token.as_ref())
            .chain(snapshot.records.values().filter_map(|record| record.attempt.as_ref()?.token.as_deref()))
            .chain(snapshot.records.values().filter_map(|record| record.token.as_deref()))
            .collect();
        let mut ids: BTreeSet<&str> = snapshot.open.values().map(|open| open.intent.id.as_ref()).collect();
        for record in snapshot.records.values() {
            ids.insert(&record.id);
            ids.extend(record.old_halves().map(|old| old.id.as_ref()));
        }
        let world = self.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let own = format!("{}/", self.name.as_str());
        let things = world.things().filter(|thing| thing.place.starts_with(&own));
        let lost = things.filter(|thing| !ids.contains(thing.id.as_ref()) && !tokens.contains(thing.token()));
        lost.map(|thing| format!("{} {} is there and nobody knows of it", thing.place, thing.id)).collect()
    }

    /// Another operation takes the instance and keeps it.
    pub async fn hold(&self) -> Option<Lease> {
        let long = std::time::Duration::from_secs(86_400);
        self.store().lease(&self.name, "other@lab", long).await.ok()
    }

    /// What is in the cloud by place, with ids and hashes replaced by the places that they stand for, and lists of objects
    /// sorted: they grow as things come.
    pub fn cloud(&self) -> BTreeMap<String, String> {
        let world = self.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut things: Vec<_> = world.things().collect();
        things.sort_by(|a, b| (&a.place, &a.id).cmp(&(&b.place, &b.id)));
        for thing in &things {
            let hash = thing.id.rsplit(['-', '/']).next().unwrap_or_default().to_owned();
            names.insert(hash, format!("<{}>", thing.place));
        }
        let mut cloud = BTreeMap::new();
        for thing in things {
            let count = counts.entry(thing.place.to_string()).or_default();
            *count += 1;
            // How often a thing was updated on the way does not count.
            let fields = thing.fields.as_map().into_iter().flatten().filter(|(name, _)| name.as_ref() != "revision");
            let fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {}", plain(value, &names))).collect();
            cloud.insert(format!("{} #{count}", thing.place), format!("{} {}", thing.type_name, fields.join(", ")));
        }
        cloud
    }

    /// The ids of all things of the instance in the cloud, and those that the state knows.
    pub async fn ids(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (snapshot, own) = (self.snapshot().await, format!("{}/", self.name.as_str()));
        let mut known = BTreeSet::new();
        // A link is no thing of its own in the cloud.
        for (_, record) in snapshot.records.iter().filter(|(_, record)| !record.id.contains("::")) {
            known.insert(record.id.to_string());
            known.extend(record.old_halves().map(|old| old.id.to_string()));
        }
        known.remove("");
        let world = self.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (
            world.things().filter(|thing| thing.place.starts_with(&own)).map(|thing| thing.id.to_string()).collect(),
            known,
        )
    }

    /// A function of the world outside: reads an expression of a staged document.
    pub async fn evaluate(
        &self,
        staged: &mut Staged,
        expr: &blueprint::Expr,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let (shell, _) = self.shell(&Process::new(Weather::default(), None));
        staged.evaluate(expr, &shell, found).await
    }
}

/// What an environment beside a root makes of what that stands in; what is wrong with it shows elsewhere.
pub fn surroundings(root: &str, text: &str, name: &str, environment: &str) -> Surroundings {
    let mut files = Files::new();
    let (file, beside) = (files.add(root, text), files.add(name, environment));
    let (tree, _) = syntax::parse(file, text, syntax::Format::of_name(root));
    let (given, _) = syntax::parse(beside, environment, syntax::Format::Yaml);
    let alone = Surroundings::NONE;
    let document = Document { file, name: root, text, tree: &tree, around: &alone };
    Dialects::BUILT_IN.surround(&document, &[Beside { file: beside, name, folder: "", tree: &given }]).surroundings
}

impl Back for Lab {
    fn stage<'a>(&'a self, goal: Goal, found: &'a mut Diagnostics) -> LocalBoxFuture<'a, Option<Staged>> {
        Box::pin(async move {
            let stage = self.stage_back(goal).await;
            found.append(stage.diagnostics);
            stage.staged
        })
    }

    fn in_words(&self, found: Diagnostics) -> Diagnostics {
        found
    }
}

/// A value with ids replaced by the places that they stand for.
fn plain(value: &Value, names: &BTreeMap<String, String>) -> String {
    match value.bare() {
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, entry)| format!("{name}: {}", plain(entry, names))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::List(items) | Value::Set(items) => {
            let mut texts: Vec<String> = items.iter().map(|item| plain(item, names)).collect();
            if items.iter().all(|item| item.as_map().is_some()) {
                texts.sort_unstable();
            }
            format!("[{}]", texts.join(", "))
        }
        other => {
            let text = format!("{other:?}");
            names.iter().fold(text, |text, (hash, place)| {
                if text.contains(hash.as_str()) { text.replace(hash.as_str(), place) } else { text }
            })
        }
    }
}

/// A machine with the clock of a laboratory.
pub(crate) struct VirtualHost(pub(crate) Clock);

impl Host for VirtualHost {
    fn boot(&self) -> Name {
        "lab".into()
    }

    fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> i64 {
        self.0.now()
    }

    fn process(&self) -> Option<state::Process> {
        None
    }

    fn liveness(&self, _process: &state::Process) -> Liveness {
        Liveness::Unknown
    }
}

/// Settings for a run: so many calls at once, going on after a failure or not.
pub fn settings(parallelism: Option<usize>, keep_going: bool) -> Settings {
    let mut settings = Settings::default();
    if let Some(few) = parallelism {
        settings.parallelism = few;
    }
    if keep_going {
        settings.on_failure = OnFailure::KeepGoing;
    }
    settings
}
