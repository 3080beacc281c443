//! Stories, made up and written down as scripts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use blueprint::Breakpoint;
use proptest::prelude::*;
use provider::Operation;

use super::linked::{Linked, linked};
use super::sabotage::Sabotage;
use super::sketch::{Kind, Sketch, edit, sketch};

/// What stands in place of the secret.
const MARKER: &str = "Plant-7f3a9c";

/// A document.
#[derive(Clone, Debug)]
enum Document {
    Sketch(Sketch),
    Linked(Linked),
}

/// What a single call meets.
#[derive(Clone, Debug)]
struct Trouble {
    word: &'static str,
    on: Operation,
    /// Which address, counted around.
    at: usize,
    times: u32,
    after: u32,
}

/// What a process meets.
#[derive(Clone, Debug)]
struct Sky {
    troubles: Vec<Trouble>,
    latency: Option<u64>,
    ends_at: Option<u32>,
    commit: Option<(u32, bool)>,
    loses_from: Option<u32>,
    sees_late: Option<u32>,
    parallel: usize,
    policy: &'static str,
}

/// What is done.
#[derive(Clone, Debug)]
enum Act {
    Deploy(usize, Sky),
    Destroy(Sky),
    Rollback(Sky),
    Reconcile(Sky),
    /// Somebody else takes the thing at an address away.
    Vanish(usize),
    /// Somebody else changes it.
    Drift(usize, u8),
}

/// What is done with an instance, and what it meets.
#[derive(Clone, Debug)]
pub struct Story {
    documents: Vec<Document>,
    /// Where operations stop: addresses, counted around, and breakpoints.
    hooks: Vec<(usize, usize)>,
    acts: Vec<Act>,
    /// The last document, and how it is taken away.
    end: (usize, Sky),
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let word = prop_oneof![
        3 => Just("fail"),
        2 => Just("trouble"),
        1 => Just("throttle"),
        3 => Just("lose"),
        2 => Just("slow"),
        2 => Just("partial"),
    ];
    let on = prop_oneof![3 => Just(Operation::Create), 2 => Just(Operation::Update), 2 => Just(Operation::Delete)];
    (word, on, 0..12_usize, 1..8_u32, prop_oneof![4 => Just(0), 1 => 1..3_u32])
        .prop_map(|(word, on, at, times, after)| Trouble { word, on, at, times, after })
}

fn sky() -> impl Strategy<Value = Sky> {
    let policy = prop_oneof![3 => Just(""), 2 => Just(" keep-going"), 1 => Just(" roll-back")];
    (
        prop::collection::vec(trouble(), 0..3),
        prop::option::weighted(0.8, 0..10_000_u64),
        prop::option::weighted(0.4, 1..48_u32),
        prop::option::weighted(0.1, (1..12_u32, any::<bool>())),
        prop::option::weighted(0.08, 1..12_u32),
        prop::option::weighted(0.2, 1..60_u32),
        1..6_usize,
        policy,
    )
        .prop_map(|(troubles, latency, ends_at, commit, loses_from, sees_late, parallel, policy)| Sky {
            troubles,
            latency,
            ends_at,
            commit,
            loses_from,
            sees_late,
            parallel,
            policy,
        })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (0..3_usize, sky()).prop_map(|(document, sky)| Act::Deploy(document, sky)),
        1 => sky().prop_map(Act::Destroy),
        1 => sky().prop_map(Act::Rollback),
        1 => sky().prop_map(Act::Reconcile),
        1 => (0..12_usize).prop_map(Act::Vanish),
        1 => (0..12_usize, 0..9_u8).prop_map(|(at, value)| Act::Drift(at, value)),
    ]
}

/// Any story.
pub fn story() -> impl Strategy<Value = Story> {
    let sketched = (edit(), sketch()).prop_map(|((first, second), third)| vec![first, second, third]);
    let sketched = sketched.prop_map(|all| all.into_iter().map(Document::Sketch).collect::<Vec<_>>());
    let with_links = prop::collection::vec(linked().prop_map(Document::Linked), 3);
    let documents = prop_oneof![3 => sketched, 1 => with_links];
    let some = prop::collection::vec((0..9_usize, 0..6_usize), 1..5);
    let hooks = prop::option::weighted(0.3, some).prop_map(Option::unwrap_or_default);
    (documents, hooks, prop::collection::vec(act(), 1..5), (0..3_usize, sky()))
        .prop_map(|(documents, hooks, acts, end)| Story { documents, hooks, acts, end })
}

impl Document {
    fn text(&self) -> String {
        match self {
            Document::Sketch(sketch) => {
                let text = sketch.text().replace("{ title:", "{ password: '${variables.password}', title:");
                text.replacen("resources:", "variables: { password: { type: string, secret: true } }\nresources:", 1)
            }
            Document::Linked(linked) => {
                let declared = "variables: { password: { type: string, secret: true } }\nresources:";
                // Whatever was deployed before, this leads to the same end.
                let text = linked.text().replace("${lt(gate.spec.revision, 3)}", "${not(eq(gate.spec.id, \"x\"))}");
                text.replacen("resources:", declared, 1)
            }
        }
    }

    fn addresses(&self) -> Vec<String> {
        match self {
            Document::Sketch(sketch) => (0..sketch.elements.len()).flat_map(|at| sketch.addresses(at)).collect(),
            Document::Linked(_) => {
                ["role", "f0", "f1", "f2", "b0", "b1", "q0", "q1", "gate"].into_iter().map(str::to_owned).collect()
            }
        }
    }

    /// What somebody else could change of the thing at an address.
    fn field(&self, address: &str) -> &'static str {
        let Document::Sketch(sketch) = self else { return if address == "gate" { "title" } else { "name" } };
        let number = address.trim_start_matches('r').split('[').next().and_then(|it| it.parse::<usize>().ok());
        let kind = number.and_then(|at| sketch.elements.get(at)?.as_ref()).map(|element| element.kind);
        match kind {
            Some(Kind::Data) => "input",
            Some(Kind::Record) => "title",
            _ => "name",
        }
    }
}

impl Sky {
    fn words(&self, document: &Document, may_roll_back: bool) -> String {
        let mut text = format!(" parallel {}", self.parallel);
        if may_roll_back || self.policy != " roll-back" {
            text.push_str(self.policy);
        }
        let addresses = document.addresses();
        for Trouble { word, on, at, times, after } in &self.troubles {
            let Some(address) = addresses.get(at % addresses.len().max(1)) else { continue };
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
            let word = if written { "commit-unsure" } else { "commit-fails" };
            let _ = write!(text, " {word} {number}");
        }
        if let Some(seconds) = self.sees_late {
            let _ = write!(text, " sees-late {seconds}");
        }
        text
    }
}

impl Story {
    /// It, as a script for [`scenario`](crate::scenario).
    pub fn script(&self, sabotage: Option<Sabotage>) -> String {
        let mut text = String::from("judged\n");
        if let Some(sabotage) = sabotage {
            let _ = writeln!(text, "sabotage {}", sabotage.word());
        }
        let _ = writeln!(text, "input password {MARKER}");
        let used = |number: usize| {
            self.end.0 == number || self.acts.iter().any(|act| matches!(act, Act::Deploy(other, _) if *other == number))
        };
        for (number, document) in self.documents.iter().enumerate().filter(|(number, _)| used(*number)) {
            let _ = writeln!(text, "document d{number}.yaml");
            for line in document.text().lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        for (name, words) in self.stops() {
            let _ = writeln!(text, "hook {name} {}", words.join(" "));
        }
        let mut last = self.end.0;
        for act in &self.acts {
            let document = &self.documents[last];
            let addresses = document.addresses();
            let named = |at: &usize| addresses.get(at % addresses.len().max(1));
            let _ = match act {
                Act::Deploy(number, sky) => {
                    last = *number;
                    self.deploy(&mut text, *number, sky);
                    Ok(())
                }
                Act::Destroy(sky) => writeln!(text, "destroy as lab{}", sky.words(document, false)),
                Act::Rollback(sky) => writeln!(text, "rollback as lab{}", sky.words(document, false)),
                Act::Reconcile(sky) => writeln!(text, "reconcile as lab{}", sky.words(document, false)),
                Act::Vanish(at) => named(at).map_or(Ok(()), |at| writeln!(text, "vanish {at} as lab")),
                Act::Drift(at, value) => named(at)
                    .map_or(Ok(()), |at| writeln!(text, "drift-world {at} {} w{value} as lab", document.field(at))),
            };
        }
        let (number, sky) = &self.end;
        let _ = writeln!(text, "settle d{number}.yaml as lab");
        let _ = writeln!(text, "destroy as lab{}", sky.words(&self.documents[*number], false));
        let _ = writeln!(text, "settle nothing as lab");
        text
    }

    /// Where operations stop, by the names of resources.
    fn stops(&self) -> BTreeMap<String, Vec<&'static str>> {
        let addresses = self.documents[self.end.0].addresses();
        let mut stops: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for (at, which) in &self.hooks {
            let Some(address) = addresses.get(at % addresses.len().max(1)) else { continue };
            let name = address.split('[').next().unwrap_or(address);
            let words = stops.entry(name.to_owned()).or_default();
            words.extend(Breakpoint::ALL.get(*which).map(|one| one.word()));
        }
        stops
    }

    fn deploy(&self, text: &mut String, number: usize, sky: &Sky) {
        let document = &self.documents[number];
        match sky.loses_from.filter(|_| self.hooks.is_empty()) {
            // What was lost is found again by the same plan alone: nothing else knows what to look for. So no commits are
            // lost where that plan would stop before it.
            Some(from) => {
                let words = sky.words(document, false);
                let _ = writeln!(text, "deploy d{number}.yaml as lab{words} loses-from {from}");
                let _ = writeln!(text, "deploy d{number}.yaml as lab parallel {}", sky.parallel);
            }
            None => {
                let _ = writeln!(text, "deploy d{number}.yaml as lab{}", sky.words(document, true));
            }
        }
    }
}
