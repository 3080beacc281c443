//! Small random documents, and edits of them.

use std::fmt::Write as _;

use proptest::prelude::*;

/// The type of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// `test/data`: holds any value, and no change forces a replacement.
    Data,
    /// `test/record`: `zone` forces a replacement, delete-first.
    Record,
    /// `test/cluster`: `zone` forces a replacement, create-first.
    Cluster,
    /// `planner/server`: its provider decides and plans exactly; `zone` forces a replacement,
    /// create-first.
    Server,
    /// `checker/bucket`: its provider decides and changes inputs; `zone` forces a replacement,
    /// delete-first.
    Bucket,
}

/// Whether a resource is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The resource has no condition.
    Always,
    /// The condition is known to be false.
    Never,
    /// The condition is true, but its value is known only on deploy: it reads the id of the first
    /// earlier resource.
    Late,
}

/// One resource.
#[derive(Clone, Debug)]
pub struct RandomResource {
    /// The type of the resource.
    pub kind: ResourceKind,
    /// A value that is updated in place.
    pub value: u8,
    /// A value whose change forces a replacement, except for `test/data`.
    pub zone: u8,
    /// The numbers of the resources whose ids this one reads. Only earlier, declared resources
    /// count.
    pub reads: Vec<usize>,
    /// The number of the resource that this one depends on. Only an earlier, declared resource
    /// counts.
    pub after: Option<usize>,
    /// The number of members of a template with `each`; `None` for a plain resource.
    pub members: Option<usize>,
    /// The condition of the resource.
    pub condition: Condition,
    /// The duration of the calls for the resource in milliseconds.
    pub delay: u16,
}

/// A document.
#[derive(Clone, Debug)]
pub struct RandomDocument {
    /// The resources by number; `None` is not declared.
    pub resources: Vec<Option<RandomResource>>,
}

fn resource() -> impl Strategy<Value = RandomResource> {
    let kind = prop_oneof![3 => Just(ResourceKind::Data), 2 => Just(ResourceKind::Record), 1 => Just(ResourceKind::Cluster)];
    let condition = prop_oneof![8 => Just(Condition::Always), 1 => Just(Condition::Never), 1 => Just(Condition::Late)];
    let members = prop_oneof![4 => Just(None), 1 => (0..3_usize).prop_map(Some)];
    let reads = prop::collection::vec(0..6_usize, 0..3);
    (
        kind,
        0..3_u8,
        0..2_u8,
        reads,
        prop::option::weighted(0.2, 0..6_usize),
        members,
        condition,
        0..3_u16,
    )
        .prop_map(
            |(kind, value, zone, reads, after, members, condition, delay)| RandomResource {
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

/// Generates documents of one to six resources.
pub fn random_document() -> impl Strategy<Value = RandomDocument> {
    prop::collection::vec(prop::option::weighted(0.85, resource()), 1..7).prop_map(
        |mut resources| {
            if resources.iter().all(Option::is_none) {
                resources[0] = Some(RandomResource {
                    kind: ResourceKind::Data,
                    value: 0,
                    zone: 0,
                    reads: Vec::new(),
                    after: None,
                    members: None,
                    condition: Condition::Always,
                    delay: 0,
                });
            }
            RandomDocument { resources }
        },
    )
}

/// Changes the resources to those of the toy providers. The number of a resource determines its
/// type.
pub fn with_toys(mut document: RandomDocument) -> RandomDocument {
    let kinds = [
        ResourceKind::Data,
        ResourceKind::Server,
        ResourceKind::Bucket,
        ResourceKind::Server,
    ];
    for (at, resource) in document.resources.iter_mut().enumerate() {
        if let Some(resource) = resource {
            resource.kind = kinds[at % kinds.len()];
        }
    }
    document
}

/// A document before and after an edit that keeps about half of the resources.
pub fn edit() -> impl Strategy<Value = (RandomDocument, RandomDocument)> {
    (
        random_document(),
        random_document(),
        prop::collection::vec(any::<bool>(), 6),
    )
        .prop_map(|(before, mut after, keep)| {
            for (at, keep) in keep.into_iter().enumerate() {
                if keep
                    && let (Some(old), Some(new)) =
                        (before.resources.get(at), after.resources.get_mut(at))
                {
                    *new = old.clone();
                }
            }
            if after.resources.iter().all(Option::is_none) {
                after = before.clone();
            }
            (before, after)
        })
}

impl RandomDocument {
    fn resource(&self, at: usize) -> Option<&RandomResource> {
        self.resources.get(at)?.as_ref()
    }

    /// The earlier resources that a resource uses in any way.
    pub fn uses(&self, at: usize) -> Vec<usize> {
        let Some(resource) = self.resource(at) else {
            return Vec::new();
        };
        let mut uses: Vec<usize> = self.reads(at);
        uses.extend(
            resource
                .after
                .filter(|other| *other < at && self.resource(*other).is_some()),
        );
        uses.extend(self.gate(at));
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    fn reads(&self, at: usize) -> Vec<usize> {
        let reads = self
            .resource(at)
            .into_iter()
            .flat_map(|resource| &resource.reads);
        reads
            .copied()
            .filter(|other| *other < at && self.first_id(*other).is_some())
            .collect()
    }

    /// The resource whose id a late condition reads.
    fn gate(&self, at: usize) -> Option<usize> {
        let resource = self.resource(at)?;
        (resource.condition == Condition::Late)
            .then(|| (0..at).find(|other| self.first_id(*other).is_some()))
            .flatten()
    }

    /// The expression that reads the id of a resource, or of its first member.
    fn first_id(&self, at: usize) -> Option<String> {
        match self.resource(at)?.members {
            None => Some(format!("r{at}.spec.id")),
            Some(0) => None,
            Some(_) => Some(format!("r{at}[0].spec.id")),
        }
    }

    /// The addresses of a resource and its members.
    pub fn addresses(&self, at: usize) -> Vec<String> {
        match self.resource(at).map(|resource| resource.members) {
            None => Vec::new(),
            Some(None) => vec![format!("r{at}")],
            Some(Some(count)) => (0..count)
                .map(|member| format!("r{at}[{member}]"))
                .collect(),
        }
    }

    /// The document as text.
    pub fn text(&self) -> String {
        let mut text = String::from("version: 2025-11-02\nresources:\n");
        for (at, resource) in self.resources.iter().enumerate() {
            let Some(resource) = resource else { continue };
            let name = match resource.kind {
                ResourceKind::Data => "test/data",
                ResourceKind::Record => "test/record",
                ResourceKind::Cluster => "test/cluster",
                ResourceKind::Server => "planner/server",
                ResourceKind::Bucket => "checker/bucket",
            };
            let _ = writeln!(text, "  r{at}:\n    type: {name}");
            if let Some(after) = resource
                .after
                .filter(|other| *other < at && self.resource(*other).is_some())
            {
                let _ = writeln!(text, "    dependsOn: r{after}");
            }
            if let Some(count) = resource.members {
                let items: Vec<String> = (0..count).map(|item| item.to_string()).collect();
                let _ = writeln!(text, "    each: '${{list({})}}'", items.join(", "));
            }
            match (resource.condition, self.gate(at)) {
                (Condition::Never, _) => text.push_str("    condition: '${eq(1, 2)}'\n"),
                (Condition::Late, Some(gate)) => {
                    let id = self.first_id(gate).unwrap_or_default();
                    let _ = writeln!(
                        text,
                        "    condition: '${{not(eq(coalesce({id}, \"x\"), \"\"))}}'"
                    );
                }
                _ => {}
            }
            // The other resource may be absent.
            let mut values: Vec<String> = self
                .reads(at)
                .into_iter()
                .filter_map(|other| {
                    Some(format!("${{coalesce({}, \"-\")}}", self.first_id(other)?))
                })
                .collect();
            values.push(format!("v{}", resource.value));
            // The zone of a server may be unknown until another resource exists.
            let late_zone = values
                .first()
                .filter(|_| values.len() > 1 && resource.zone == 1)
                .cloned();
            let values = values.join(" ");
            let zone = resource.zone;
            let _ = match resource.kind {
                ResourceKind::Data => {
                    writeln!(
                        text,
                        "    spec: {{ input: ['{values}', {zone}], delayMs: {} }}",
                        resource.delay
                    )
                }
                ResourceKind::Record => {
                    writeln!(
                        text,
                        "    spec: {{ title: t{at}, zone: z{zone}, labels: {{ words: '{values}' }} }}"
                    )
                }
                ResourceKind::Cluster => {
                    writeln!(text, "    spec: {{ name: '{values}', zone: z{zone} }}")
                }
                ResourceKind::Server => {
                    let late_zone = late_zone.unwrap_or_else(|| format!("z{zone}"));
                    let value = resource.value;
                    writeln!(
                        text,
                        "    spec: {{ name: '{values}', zone: '{late_zone}', size: {value} }}"
                    )
                }
                ResourceKind::Bucket => {
                    let fragile = resource.value == 2;
                    writeln!(
                        text,
                        "    spec: {{ content: '{values}', zone: z{zone}, fragile: {fragile} }}"
                    )
                }
            };
        }
        text
    }
}
