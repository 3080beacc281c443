//! Small random documents: what a person might have before and after an edit.

use std::fmt::Write as _;

use proptest::prelude::*;

/// The kinds of things in a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Holds anything, replaced by nothing.
    Data,
    /// `zone` forces a replacement, delete-first.
    Record,
    /// `zone` forces a replacement, create-first.
    Cluster,
}

/// Whether a thing is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// None is written.
    Always,
    /// Known to be false.
    Never,
    /// True, which only the deploy shows: it reads the id of the first earlier thing.
    Late,
}

/// One resource.
#[derive(Clone, Debug)]
pub struct Element {
    /// What it is.
    pub kind: Kind,
    /// A value that is changed in place.
    pub value: u8,
    /// A value that cannot be changed in place, but for data.
    pub zone: u8,
    /// Reads the ids of those of these that stand earlier and are declared.
    pub reads: Vec<usize>,
    /// Waits for one of those.
    pub after: Option<usize>,
    /// So many members; a plain resource if none is given.
    pub members: Option<usize>,
    /// Whether it is there.
    pub condition: Condition,
    /// Milliseconds that its calls take.
    pub delay: u16,
}

/// A document: its elements by number; one that is not there is not declared.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// In their order.
    pub elements: Vec<Option<Element>>,
}

fn element() -> impl Strategy<Value = Element> {
    let kind = prop_oneof![3 => Just(Kind::Data), 2 => Just(Kind::Record), 1 => Just(Kind::Cluster)];
    let condition = prop_oneof![8 => Just(Condition::Always), 1 => Just(Condition::Never), 1 => Just(Condition::Late)];
    let members = prop_oneof![4 => Just(None), 1 => (0..3_usize).prop_map(Some)];
    let reads = prop::collection::vec(0..6_usize, 0..3);
    (kind, 0..3_u8, 0..2_u8, reads, prop::option::weighted(0.2, 0..6_usize), members, condition, 0..3_u16).prop_map(
        |(kind, value, zone, reads, after, members, condition, delay)| Element {
            kind,
            value,
            zone,
            reads,
            after,
            members,
            condition,
            delay: delay * 50,
        },
    )
}

/// Any document of one to six elements.
pub fn sketch() -> impl Strategy<Value = Sketch> {
    prop::collection::vec(prop::option::weighted(0.85, element()), 1..7).prop_map(|mut elements| {
        if elements.iter().all(Option::is_none) {
            elements[0] = Some(Element {
                kind: Kind::Data,
                value: 0,
                zone: 0,
                reads: Vec::new(),
                after: None,
                members: None,
                condition: Condition::Always,
                delay: 0,
            });
        }
        Sketch { elements }
    })
}

/// A document and what becomes of it: about half of its elements stay as they are.
pub fn edit() -> impl Strategy<Value = (Sketch, Sketch)> {
    (sketch(), sketch(), prop::collection::vec(any::<bool>(), 6)).prop_map(|(before, mut after, keep)| {
        for (at, keep) in keep.into_iter().enumerate() {
            if keep && let (Some(old), Some(new)) = (before.elements.get(at), after.elements.get_mut(at)) {
                *new = old.clone();
            }
        }
        if after.elements.iter().all(Option::is_none) {
            after = before.clone();
        }
        (before, after)
    })
}

impl Sketch {
    fn element(&self, at: usize) -> Option<&Element> {
        self.elements.get(at)?.as_ref()
    }

    /// Which earlier elements one uses in any way.
    pub fn uses(&self, at: usize) -> Vec<usize> {
        let Some(element) = self.element(at) else { return Vec::new() };
        let mut uses: Vec<usize> = self.reads(at);
        uses.extend(element.after.filter(|other| *other < at && self.element(*other).is_some()));
        uses.extend(self.gate(at));
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    fn reads(&self, at: usize) -> Vec<usize> {
        let reads = self.element(at).into_iter().flat_map(|element| &element.reads);
        reads.copied().filter(|other| *other < at && self.first_id(*other).is_some()).collect()
    }

    /// What a late condition reads.
    fn gate(&self, at: usize) -> Option<usize> {
        let element = self.element(at)?;
        (element.condition == Condition::Late).then(|| (0..at).find(|other| self.first_id(*other).is_some())).flatten()
    }

    /// How another one reads the id of an element.
    fn first_id(&self, at: usize) -> Option<String> {
        match self.element(at)?.members {
            None => Some(format!("r{at}.spec.id")),
            Some(0) => None,
            Some(_) => Some(format!("r{at}[0].spec.id")),
        }
    }

    /// The addresses that an element stands for.
    pub fn addresses(&self, at: usize) -> Vec<String> {
        match self.element(at).map(|element| element.members) {
            None => Vec::new(),
            Some(None) => vec![format!("r{at}")],
            Some(Some(count)) => (0..count).map(|member| format!("r{at}[{member}]")).collect(),
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let mut text = String::from("version: 2025-11-02\nresources:\n");
        for (at, element) in self.elements.iter().enumerate() {
            let Some(element) = element else { continue };
            let name = match element.kind {
                Kind::Data => "data",
                Kind::Record => "record",
                Kind::Cluster => "cluster",
            };
            let _ = writeln!(text, "  r{at}:\n    type: test/{name}");
            if let Some(after) = element.after.filter(|other| *other < at && self.element(*other).is_some()) {
                let _ = writeln!(text, "    dependsOn: r{after}");
            }
            if let Some(count) = element.members {
                let items: Vec<String> = (0..count).map(|item| item.to_string()).collect();
                let _ = writeln!(text, "    each: '${{list({})}}'", items.join(", "));
            }
            match (element.condition, self.gate(at)) {
                (Condition::Never, _) => text.push_str("    condition: '${eq(1, 2)}'\n"),
                (Condition::Late, Some(gate)) => {
                    let id = self.first_id(gate).unwrap_or_default();
                    let _ = writeln!(text, "    condition: '${{not(eq(coalesce({id}, \"x\"), \"\"))}}'");
                }
                _ => {}
            }
            // A thing that may be absent is read with a word for that case.
            let mut words: Vec<String> = self
                .reads(at)
                .into_iter()
                .filter_map(|other| Some(format!("${{coalesce({}, \"-\")}}", self.first_id(other)?)))
                .collect();
            words.push(format!("v{}", element.value));
            let words = words.join(" ");
            let zone = element.zone;
            let _ = match element.kind {
                Kind::Data => {
                    writeln!(text, "    spec: {{ input: ['{words}', {zone}], delayMs: {} }}", element.delay)
                }
                Kind::Record => {
                    writeln!(text, "    spec: {{ title: t{at}, zone: z{zone}, labels: {{ words: '{words}' }} }}")
                }
                Kind::Cluster => writeln!(text, "    spec: {{ name: '{words}', zone: z{zone} }}"),
            };
        }
        text
    }
}
