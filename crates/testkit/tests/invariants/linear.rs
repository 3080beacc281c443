//! Work grows linearly with the document: twice the resources need twice the work. Work is counted,
//! never timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use diag::Diagnostics;
use engine::run::Shell;
use engine::{
    Environment, Given, Options, ProviderQuestion, ProviderRequest, Question, Reply, Request, World,
};
use provider::BoxFuture;
use testkit::harness::Harness;

use crate::{apply_successfully, harness, run_with_paused_clock, shell_without_faults};

/// A world that counts its questions.
struct Counting {
    inner: Shell,
    reads: AtomicU64,
    others: AtomicU64,
}

impl Counting {
    fn new(harness: &Harness) -> Counting {
        let inner = shell_without_faults(harness);
        Counting {
            inner,
            reads: AtomicU64::new(0),
            others: AtomicU64::new(0),
        }
    }
}

impl World for Counting {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let count = match &question {
            Question::Provider(ProviderQuestion {
                request: ProviderRequest::Read(_),
                ..
            }) => &self.reads,
            _ => &self.others,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.inner.ask(question)
    }

    fn environment(&self) -> &dyn Environment {
        self.inner.environment()
    }
}

/// `count` resources in layers of four, each of which reads two of the layer before; a value that
/// all of them read; and a list with as many members.
fn layered(count: usize) -> String {
    let mut text = String::from(
        "version: 2025-11-02\nvalues:\n  shared: { type: string, value: 'x' }\nresources:\n",
    );
    for at in 0..count {
        let layer = at / 4 * 4;
        let reads = match layer {
            0 => String::new(),
            _ => format!(
                "${{r{}.spec.id}} ${{r{}.spec.id}} ",
                layer - 4,
                layer - 4 + (at + 1) % 4
            ),
        };
        text.push_str(&format!(
            "  r{at}: {{ type: test/data, spec: {{ input: '{reads}${{values.shared}}' }} }}\n"
        ));
    }
    let items: Vec<String> = (0..count).map(|item| item.to_string()).collect();
    text.push_str(&format!(
        "  all: {{ type: test/data, each: '${{list({})}}', spec: {{ input: '${{elem}}' }} }}\n",
        items.join(", ")
    ));
    text
}

#[derive(Debug, PartialEq)]
struct Counts {
    reads: u64,
    others: u64,
    calls: u64,
    events: u64,
    entries: u64,
    waits: u64,
}

async fn counts(count: usize) -> Counts {
    let harness = harness();
    let text = layered(count);
    let run = apply_successfully(&harness, Some(&text), 8).await;
    let calls = run.journal.calls();
    assert!(
        calls.values().all(|times| *times == 1),
        "something was called twice: {calls:?}"
    );
    let entries = harness
        .store()
        .log(&harness.name, None, usize::MAX)
        .await
        .expect("there is a journal")
        .len() as u64;
    let world = Counting::new(&harness);
    let read = harness.read("main.yaml", &text).await;
    let mut found = Diagnostics::new();
    let request = Request {
        instance: harness.name.name().clone(),
        document: Some((
            Arc::new(engine::Documents::single(
                read.checked.expect("it can be checked"),
                "/nowhere".into(),
            )),
            read.document,
        )),
        given: Given::default(),
        options: Options::default(),
        snapshot: harness.snapshot().await,
        catalogs: harness.catalogs.clone(),
        functions: harness.functions.clone(),
        answers: None,
        others: None,
        world: &world,
    };
    let staged = engine::plan(request, &mut found).await.expect("a plan");
    assert!(staged.plan.is_empty());
    let first = plan_dependency_count(&text).await;
    Counts {
        reads: world.reads.into_inner(),
        others: world.others.into_inner(),
        calls: calls.values().map(|times| u64::from(*times)).sum(),
        events: run.events.len() as u64,
        entries,
        waits: first,
    }
}

/// The number of dependencies between the steps of a first plan.
async fn plan_dependency_count(text: &str) -> u64 {
    let staged = crate::stage(&harness(), text).await.staged.expect("a plan");
    staged
        .plan
        .steps
        .iter()
        .map(|step| step.waits_on.len() as u64)
        .sum()
}

#[test]
fn twice_the_resources_take_twice_the_questions() {
    run_with_paused_clock(async {
        let (once, twice) = (counts(100).await, counts(200).await);
        // A refresh reads each resource once, a deploy calls each once, and no question is asked
        // per pair of resources.
        assert_eq!((once.reads, once.calls), (200, 200));
        assert_eq!((twice.reads, twice.calls), (400, 400));
        let at_most_double = |what: &str, once: u64, twice: u64| {
            assert!(
                twice <= 2 * once + 16,
                "{what}: {once} for 100 resources, {twice} for 200"
            );
        };
        at_most_double("other questions", once.others, twice.others);
        at_most_double("events", once.events, twice.events);
        at_most_double("entries", once.entries, twice.entries);
        at_most_double("waits", once.waits, twice.waits);
    });
}

/// `count` links of one kind. `hub`: one bucket selects all queues; otherwise each bucket selects
/// its own queue.
fn linked(count: usize, hub: bool) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    if hub {
        text.push_str("  hub: { type: test/bucket, linkSelector: { byLabel: { app: hub } }, spec: { name: hub } }\n");
    }
    for at in 0..count {
        let app = if hub {
            "hub".to_owned()
        } else {
            format!("a{at}")
        };
        if !hub {
            text.push_str(&format!(
                "  b{at}: {{ type: test/bucket, linkSelector: {{ byLabel: {{ app: {app} }} }}, spec: {{ name: b{at} }} }}\n"
            ));
        }
        text.push_str(&format!(
            "  q{at}: {{ type: test/queue, metadata: {{ labels: {{ app: {app} }} }}, spec: {{ name: q{at} }} }}\n"
        ));
    }
    text
}

/// The counts of work for links: edges of the graph; questions and dependencies of the first plan
/// and of the plan that removes all links; calls, events and bytes of the journal of both runs.
async fn counts_of_links(count: usize, hub: bool) -> Vec<(&'static str, u64)> {
    let harness = harness();
    let text = linked(count, hub);
    let checked = harness
        .read("main.yaml", &text)
        .await
        .checked
        .expect("it can be checked");
    let edges: usize = checked
        .graph
        .nodes()
        .iter()
        .map(|node| checked.graph.edges(*node).len())
        .sum();
    let mut counts = vec![("edges", edges as u64)];
    let bare = text
        .replace("linkSelector: ", "metadata: ")
        .replace("byLabel: ", "labels: ");
    let names = [
        ("first questions", "first waits"),
        ("later questions", "later waits"),
    ];
    for (document, (questions, waits)) in [text, bare].iter().zip(names) {
        let world = Counting::new(&harness);
        let read = harness.read("main.yaml", document).await;
        let mut found = Diagnostics::new();
        let request = Request {
            instance: harness.name.name().clone(),
            document: Some((
                Arc::new(engine::Documents::single(
                    read.checked.expect("it can be checked"),
                    "/nowhere".into(),
                )),
                read.document,
            )),
            given: Given::default(),
            options: Options::default(),
            snapshot: harness.snapshot().await,
            catalogs: harness.catalogs.clone(),
            functions: harness.functions.clone(),
            answers: None,
            others: None,
            world: &world,
        };
        let staged = engine::plan(request, &mut found).await.expect("a plan");
        counts.push((
            questions,
            world.reads.into_inner() + world.others.into_inner(),
        ));
        counts.push((
            waits,
            staged
                .plan
                .steps
                .iter()
                .map(|step| step.waits_on.len() as u64)
                .sum(),
        ));
        let run = harness
            .run(
                staged,
                false,
                Vec::new(),
                testkit::harness::settings(Some(8), false),
            )
            .await;
        assert!(
            run.outcome()
                .is_some_and(|outcome| outcome.outcome == Some(state::OperationOutcome::Ready))
        );
        counts.push((
            "calls",
            run.journal
                .calls()
                .values()
                .map(|times| u64::from(*times))
                .sum(),
        ));
        counts.push(("events", run.events.len() as u64));
    }
    let log = harness
        .store()
        .log(&harness.name, None, usize::MAX)
        .await
        .expect("there is a journal");
    let bytes = |entry: &state::LogEntry| {
        serde_json::to_string(&entry.entry).map_or(0, |text| text.len() as u64)
    };
    counts.push(("entries", log.len() as u64));
    counts.push(("bytes", log.iter().map(bytes).sum()));
    counts
}

#[test]
fn ten_times_the_links_cost_at_most_thirteen_times_the_work() {
    for hub in [false, true] {
        run_with_paused_clock(async {
            let (few, many) = (
                counts_of_links(200, hub).await,
                counts_of_links(2000, hub).await,
            );
            for ((what, few), (_, many)) in few.into_iter().zip(many) {
                assert!(
                    many <= 13 * few,
                    "{what}: {few} for 200 links, {many} for 2,000 (one hub: {hub})"
                );
            }
        });
    }
}
