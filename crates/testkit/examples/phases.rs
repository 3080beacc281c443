//! Times the phases of the engine in process on a document: `cargo run --release -p testkit --example phases -- FILE`.
//!
//! `-- FILE STATE` keeps the state in a file (`-` for memory); `-- FILE STATE PHASE` ends after a phase, to profile it
//! or count its instructions (`cargo xtask instructions`).

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for people")]

use std::sync::Arc;
use std::time::Instant;

use blueprint::{IndexMap, Name};
use diag::{Diagnostics, Files};
use engine::shell::{Chance, Clock, OperateRequest, Shell, operate};
use engine::{FrozenDocument, Given, Options, Request, Staged};
use provider::Provider;
use providers::fake::{self, FakeOptions};
use state::seal::Sealer;
use state::{InstanceName, Store};

fn main() {
    let path = std::env::args().nth(1).expect("a document");
    let state = std::env::args().nth(2).filter(|state| state != "-");
    let last = std::env::args().nth(3);
    let alone = last.is_some();
    let text: Arc<str> = std::fs::read_to_string(&path).unwrap().into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let begin = Instant::now();
        // Prints the duration of a phase. Returns whether it is the last one requested.
        let lap = |what: &str, since: Instant| {
            println!("{what:<10} {:>8.2} ms", since.elapsed().as_secs_f64() * 1000.0);
            last.as_deref() == Some(what)
        };
        let (catalogs, functions, _) = provider::combine([fake::catalog()]);
        let (catalogs, functions) = (Arc::new(catalogs), Arc::new(functions));
        if lap("catalogs", begin) {
            return;
        }
        let mut files = Files::new();
        let file = files.add("main.yaml", text.clone());
        let mut found = Diagnostics::new();
        if !alone {
            let since = Instant::now();
            let (tree, _) = syntax::parse(file, &text, syntax::Format::Yaml);
            lap("parse", since);
            drop(tree);
        }
        let since = Instant::now();
        let loaded = engine::load(
            &files,
            file,
            &dialects::Dialects::BUILT_IN,
            &functions,
            catalogs.packages(),
            &Default::default(),
            &mut found,
        );
        if lap("load", since) {
            return;
        }
        let since = Instant::now();
        let rules = dialects::DialectRules::NATIVE;
        let context = engine::check::CheckContext::new(&catalogs, &functions, rules);
        let checked = Arc::new(engine::check(loaded.blueprint.unwrap(), &context, &mut found));
        if lap("check", since) {
            return;
        }
        let provider: Arc<dyn Provider> = Arc::new(fake::provider(FakeOptions::default()));
        let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
        providers.insert("test".into(), provider);
        let shell = Shell {
            providers: providers.into_iter().collect(),
            catalogs: catalogs.clone(),
            settings: IndexMap::default(),
            instance: "bench".into(),
            root: ".".into(),
            working_directory: None,
            clock: Clock::System,
            chance: Chance::System,
            sources: Default::default(),
            http: None,
            planning: None,
            known: Default::default(),
            cancel: tokio_util::sync::CancellationToken::new(),
        };
        let store: Box<dyn Store> = match &state {
            Some(path) => Box::new(stores::sqlite::SqliteStore::open(
                std::path::Path::new(path),
                Sealer::none(),
                stores::sqlite::Mode::ReadWrite,
            )),
            None => Box::new(stores::memory::MemoryStore::new(Sealer::none())),
        };
        let name = InstanceName::from_free_text("bench");
        for (plan, apply) in [("plan first", "apply first"), ("plan again", "apply again")] {
            let since = Instant::now();
            let snapshot = store.load(&name).await.unwrap();
            lap("load state", since);
            let since = Instant::now();
            let document = FrozenDocument { path: "main.yaml".into(), text: text.clone(), beside: Vec::new() };
            let request = Request {
                instance: "bench".into(),
                document: Some((Arc::new(engine::Documents::single(checked.clone(), ".".into())), document)),
                given: Given::default(),
                options: Options::default(),
                snapshot,
                catalogs: catalogs.clone(),
                functions: functions.clone(),
                answers: None,
                others: None,
                world: &shell,
            };
            let staged = engine::plan(request, &mut found).await.unwrap();
            if lap(plan, since) {
                return;
            }
            if !alone {
                let since = Instant::now();
                let text = engine::plan_file::write(&staged.plan, &Sealer::none()).unwrap();
                lap("plan file", since);
                println!("           {} bytes, counts {:?}", text.len(), staged.plan.counts());
            }
            let since = Instant::now();
            let (_keep, interrupts) = tokio::sync::mpsc::unbounded_channel();
            let settings = engine::apply::Settings::default();
            let mut events = 0_u64;
            let operated =
                operate(operating(staged, &shell, store.as_ref(), &name, settings, interrupts), |_| events += 1).await;
            let ended = lap(apply, since);
            println!("           {events} events, {}", matches!(operated, engine::shell::Operated::Done(_)));
            if ended {
                return;
            }
        }
        let since = Instant::now();
        let snapshot = store.load(&name).await.unwrap();
        let request = Request {
            instance: "bench".into(),
            document: None,
            given: Given::default(),
            options: Options::default(),
            snapshot,
            catalogs: catalogs.clone(),
            functions: functions.clone(),
            answers: None,
            others: None,
            world: &shell,
        };
        let staged = engine::plan(request, &mut found).await.unwrap();
        lap("plan gone", since);
        let since = Instant::now();
        let (_keep, interrupts) = tokio::sync::mpsc::unbounded_channel();
        let request = operating(staged, &shell, store.as_ref(), &name, Default::default(), interrupts);
        let operated = operate(request, |_| {}).await;
        lap("destroy", since);
        println!("           {operated:?}");
    });
}

fn operating<'a>(
    staged: Staged,
    shell: &'a Shell,
    store: &'a dyn state::Store,
    instance: &'a state::InstanceName,
    settings: engine::apply::Settings,
    interrupts: tokio::sync::mpsc::UnboundedReceiver<engine::shell::Interrupt>,
) -> OperateRequest<'a> {
    OperateRequest {
        staged,
        looks_again: false,
        shell,
        store,
        instance,
        who: "me@here",
        settings,
        back: None,
        interrupts,
    }
}
