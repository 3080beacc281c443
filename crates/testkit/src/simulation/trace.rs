//! Traces, and the scripts that run them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use blueprint::Breakpoint;
use proptest::prelude::*;
use provider::Operation;

use super::linked_document::{LinkedDocument, linked_document};
use super::random_document::{RandomDocument, ResourceKind, edit, random_document, with_toys};
use crate::faults::PlantedBug;

/// The value of the secret.
const MARKER: &str = "Plant-7f3a9c";

/// A document.
#[derive(Clone, Debug)]
enum TraceDocument {
    RandomDocument(RandomDocument),
    LinkedDocument(LinkedDocument),
}

/// A fault of a single call.
#[derive(Clone, Debug)]
struct CallFault {
    word: &'static str,
    on: Operation,
    /// The number of an address, modulo the number of addresses.
    at: usize,
    times: u32,
    after: u32,
}

/// The faults and settings of one run.
#[derive(Clone, Debug)]
struct RunFaults {
    calls: Vec<CallFault>,
    latency: Option<u64>,
    ends_at: Option<u32>,
    commit: Option<(u32, bool)>,
    loses_from: Option<u32>,
    read_delay: Option<u32>,
    parallel: usize,
    policy: &'static str,
}

/// A step of a trace.
#[derive(Clone, Debug)]
enum TraceStep {
    Deploy(usize, RunFaults),
    /// Saves a plan, optionally changes a resource as another user would, and applies the plan.
    Saved(usize, Option<(usize, u8)>, RunFaults),
    Destroy(RunFaults),
    Rollback(RunFaults),
    Reconcile(RunFaults),
    /// Another user deletes the resource at an address.
    Vanish(usize),
    /// Another user changes the resource at an address.
    Drift(usize, u8),
}

/// The operations on an instance, and the faults that occur.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    documents: Vec<TraceDocument>,
    /// Breakpoints: the number of an address, modulo the number of addresses, and the number of the
    /// breakpoint.
    hooks: Vec<(usize, usize)>,
    steps: Vec<TraceStep>,
    /// The last document, and the faults of the last destroy.
    end: (usize, RunFaults),
}

fn call_fault() -> impl Strategy<Value = CallFault> {
    let word = prop_oneof![
        3 => Just("fail"),
        2 => Just("trouble"),
        1 => Just("throttle"),
        3 => Just("lose"),
        2 => Just("slow"),
        2 => Just("partial"),
    ];
    let on = prop_oneof![3 => Just(Operation::Create), 2 => Just(Operation::Update), 2 => Just(Operation::Delete)];
    (
        word,
        on,
        0..12_usize,
        1..8_u32,
        prop_oneof![4 => Just(0), 1 => 1..3_u32],
    )
        .prop_map(|(word, on, at, times, after)| CallFault {
            word,
            on,
            at,
            times,
            after,
        })
}

fn faults() -> impl Strategy<Value = RunFaults> {
    let policy = prop_oneof![3 => Just(""), 2 => Just(" keep-going"), 1 => Just(" roll-back")];
    (
        prop::collection::vec(call_fault(), 0..3),
        prop::option::weighted(0.8, 0..10_000_u64),
        prop::option::weighted(0.4, 1..48_u32),
        prop::option::weighted(0.1, (1..12_u32, any::<bool>())),
        prop::option::weighted(0.08, 1..12_u32),
        prop::option::weighted(0.2, 1..60_u32),
        1..6_usize,
        policy,
    )
        .prop_map(
            |(calls, latency, ends_at, commit, loses_from, read_delay, parallel, policy)| {
                RunFaults {
                    calls,
                    latency,
                    ends_at,
                    commit,
                    loses_from,
                    read_delay,
                    parallel,
                    policy,
                }
            },
        )
}

fn step() -> impl Strategy<Value = TraceStep> {
    prop_oneof![
        8 => (0..3_usize, faults()).prop_map(|(document, faults)| TraceStep::Deploy(document, faults)),
        1 => (0..3_usize, prop::option::weighted(0.3, (0..12_usize, 0..9_u8)), faults())
            .prop_map(|(document, meanwhile, faults)| TraceStep::Saved(document, meanwhile, faults)),
        1 => faults().prop_map(TraceStep::Destroy),
        1 => faults().prop_map(TraceStep::Rollback),
        1 => faults().prop_map(TraceStep::Reconcile),
        1 => (0..12_usize).prop_map(TraceStep::Vanish),
        1 => (0..12_usize, 0..9_u8).prop_map(|(at, value)| TraceStep::Drift(at, value)),
    ]
}

/// Generates three random documents. The second is an edit of the first.
fn documents() -> impl Strategy<Value = Vec<RandomDocument>> {
    (edit(), random_document()).prop_map(|((first, second), third)| vec![first, second, third])
}

/// Generates breakpoints, for about a third of all traces.
fn hooks() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let some = prop::collection::vec((0..9_usize, 0..6_usize), 1..5);
    prop::option::weighted(0.3, some).prop_map(Option::unwrap_or_default)
}

/// Generates traces with resources of the simulated provider.
pub(super) fn trace() -> impl Strategy<Value = Trace> {
    let random = documents();
    let random = random.prop_map(|all| {
        all.into_iter()
            .map(TraceDocument::RandomDocument)
            .collect::<Vec<_>>()
    });
    let with_links =
        prop::collection::vec(linked_document().prop_map(TraceDocument::LinkedDocument), 3);
    let documents = prop_oneof![3 => random, 1 => with_links];
    (
        documents,
        hooks(),
        prop::collection::vec(step(), 1..5),
        (0..3_usize, faults()),
    )
        .prop_map(|(documents, hooks, steps, end)| Trace {
            documents,
            hooks,
            steps,
            end,
        })
}

/// Generates traces with resources of the toy providers, without links.
pub(super) fn trace_with_toys() -> impl Strategy<Value = Trace> {
    let toys = |all: Vec<RandomDocument>| {
        all.into_iter()
            .map(with_toys)
            .map(TraceDocument::RandomDocument)
            .collect()
    };
    (
        documents().prop_map(toys),
        hooks(),
        prop::collection::vec(step(), 1..5),
        (0..3_usize, faults()),
    )
        .prop_map(|(documents, hooks, steps, end)| Trace {
            documents,
            hooks,
            steps,
            end,
        })
}

impl TraceDocument {
    fn text(&self) -> String {
        match self {
            TraceDocument::RandomDocument(document) => {
                let text = document
                    .text()
                    .replace("{ title:", "{ password: '${variables.password}', title:");
                text.replacen(
                    "resources:",
                    "variables: { password: { type: string, secret: true } }\nresources:",
                    1,
                )
            }
            TraceDocument::LinkedDocument(linked) => {
                let declared =
                    "variables: { password: { type: string, secret: true } }\nresources:";
                // The result must not depend on earlier deploys. The revision depends on them.
                let text = linked.text().replace(
                    "${lt(gate.spec.revision, 3)}",
                    "${not(eq(gate.spec.id, \"x\"))}",
                );
                text.replacen("resources:", declared, 1)
            }
        }
    }

    fn addresses(&self) -> Vec<String> {
        match self {
            TraceDocument::RandomDocument(document) => (0..document.resources.len())
                .flat_map(|at| document.addresses(at))
                .collect(),
            TraceDocument::LinkedDocument(_) => {
                ["role", "f0", "f1", "f2", "b0", "b1", "q0", "q1", "gate"]
                    .into_iter()
                    .map(str::to_owned)
                    .collect()
            }
        }
    }

    /// A field of the resource at an address that another user could change.
    fn field(&self, address: &str) -> &'static str {
        let TraceDocument::RandomDocument(document) = self else {
            return if address == "gate" { "title" } else { "name" };
        };
        let number = address
            .trim_start_matches('r')
            .split('[')
            .next()
            .and_then(|it| it.parse::<usize>().ok());
        let kind = number
            .and_then(|at| document.resources.get(at)?.as_ref())
            .map(|element| element.kind);
        match kind {
            Some(ResourceKind::Data) => "input",
            Some(ResourceKind::Record) => "title",
            Some(ResourceKind::Bucket) => "content",
            _ => "name",
        }
    }
}

impl RunFaults {
    fn words(&self, document: &TraceDocument, may_roll_back: bool) -> String {
        let mut text = format!(" parallel {}", self.parallel);
        if may_roll_back || self.policy != " roll-back" {
            text.push_str(self.policy);
        }
        let addresses = document.addresses();
        for CallFault {
            word,
            on,
            at,
            times,
            after,
        } in &self.calls
        {
            let Some(address) = addresses.get(at % addresses.len().max(1)) else {
                continue;
            };
            let on = on.word();
            let _ = match *word {
                "slow" => write!(text, " slow {address} {times}"),
                "trouble" | "throttle" => write!(text, " {word} {on} {address} {times}"),
                word => write!(text, " {word} {on} {address}"),
            };
            if *after > 0 && *word != "slow" {
                let _ = write!(text, " after {after}");
            }
        }
        if let Some(seed) = self.latency {
            let _ = write!(text, " latency {seed}");
        }
        if let Some(moment) = self.ends_at {
            let _ = write!(text, " ends-at {moment}");
        }
        if let Some((number, written)) = self.commit {
            let word = if written {
                "commit-unsure"
            } else {
                "commit-fails"
            };
            let _ = write!(text, " {word} {number}");
        }
        if let Some(seconds) = self.read_delay {
            let _ = write!(text, " sees-late {seconds}");
        }
        text
    }
}

impl Trace {
    /// The trace as a script for [`scenario`](crate::scenario).
    pub(super) fn script(&self, bug: Option<PlantedBug>) -> String {
        let mut text = String::from("check-invariants\n");
        if let Some(bug) = bug {
            let _ = writeln!(text, "planted-bug {}", bug.word());
        }
        let _ = writeln!(text, "input password {MARKER}");
        let used = |number: usize| {
            let uses = |step: &TraceStep| matches!(step, TraceStep::Deploy(other, _) | TraceStep::Saved(other, ..) if *other == number);
            self.end.0 == number || self.steps.iter().any(uses)
        };
        for (number, document) in self
            .documents
            .iter()
            .enumerate()
            .filter(|(number, _)| used(*number))
        {
            let _ = writeln!(text, "document d{number}.yaml");
            for line in document.text().lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        for (name, words) in self.stops() {
            let _ = writeln!(text, "hook {name} {}", words.join(" "));
        }
        let mut last = self.end.0;
        for step in &self.steps {
            let document = &self.documents[last];
            let addresses = document.addresses();
            let named = |at: &usize| addresses.get(at % addresses.len().max(1));
            let _ = match step {
                TraceStep::Deploy(number, faults) => {
                    last = *number;
                    self.deploy(&mut text, *number, faults);
                    Ok(())
                }
                TraceStep::Saved(number, meanwhile, faults) => {
                    last = *number;
                    self.saved(&mut text, *number, *meanwhile, faults);
                    Ok(())
                }
                TraceStep::Destroy(faults) => {
                    writeln!(text, "destroy as lab{}", faults.words(document, false))
                }
                TraceStep::Rollback(faults) => {
                    writeln!(text, "rollback as lab{}", faults.words(document, false))
                }
                TraceStep::Reconcile(faults) => {
                    writeln!(text, "reconcile as lab{}", faults.words(document, false))
                }
                TraceStep::Vanish(at) => {
                    named(at).map_or(Ok(()), |at| writeln!(text, "vanish {at} as lab"))
                }
                TraceStep::Drift(at, value) => named(at).map_or(Ok(()), |at| {
                    writeln!(
                        text,
                        "drift-world {at} {} w{value} as lab",
                        document.field(at)
                    )
                }),
            };
        }
        let (number, faults) = &self.end;
        let _ = writeln!(text, "settle d{number}.yaml as lab");
        let _ = writeln!(
            text,
            "destroy as lab{}",
            faults.words(&self.documents[*number], false)
        );
        let _ = writeln!(text, "settle nothing as lab");
        text
    }

    /// Breakpoints by the names of resources.
    fn stops(&self) -> BTreeMap<String, Vec<&'static str>> {
        let addresses = self.documents[self.end.0].addresses();
        let mut stops: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for (at, which) in &self.hooks {
            let Some(address) = addresses.get(at % addresses.len().max(1)) else {
                continue;
            };
            let name = address.split('[').next().unwrap_or(address);
            let words = stops.entry(name.to_owned()).or_default();
            words.extend(Breakpoint::ALL.get(*which).map(|one| one.word()));
        }
        stops
    }

    /// Writes the commands that save a plan and apply it.
    fn saved(
        &self,
        text: &mut String,
        number: usize,
        meanwhile: Option<(usize, u8)>,
        faults: &RunFaults,
    ) {
        let document = &self.documents[number];
        let _ = writeln!(text, "stage d{number}.yaml as lab keep plan");
        let addresses = document.addresses();
        let changed = meanwhile
            .and_then(|(at, value)| Some((addresses.get(at % addresses.len().max(1))?, value)));
        if let Some((address, value)) = changed {
            let _ = writeln!(
                text,
                "drift-world {address} {} w{value} as lab",
                document.field(address)
            );
        }
        let _ = writeln!(text, "apply plan{}", faults.words(document, true));
    }

    fn deploy(&self, text: &mut String, number: usize, faults: &RunFaults) {
        let document = &self.documents[number];
        match faults.loses_from.filter(|_| self.hooks.is_empty()) {
            // Only the same plan finds the resources whose commits were lost. Commits are therefore
            // lost only without breakpoints, which could stop that plan early.
            Some(from) => {
                let words = faults.words(document, false);
                let _ = writeln!(
                    text,
                    "deploy d{number}.yaml as lab{words} loses-from {from}"
                );
                // `keep-going`: a broken resource must not keep the run from reaching the others.
                let _ = writeln!(
                    text,
                    "deploy d{number}.yaml as lab keep-going parallel {}",
                    faults.parallel
                );
            }
            None => {
                let _ = writeln!(
                    text,
                    "deploy d{number}.yaml as lab{}",
                    faults.words(document, true)
                );
            }
        }
    }
}
