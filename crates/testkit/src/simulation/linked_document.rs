//! Small random documents with links: functions, buckets and queues around one role.

use std::fmt::Write as _;

use proptest::prelude::*;

/// A document of functions, buckets and queues around one role.
#[derive(Clone, Debug)]
pub struct LinkedDocument {
    /// The functions: the number of the selector of each, whether its links have an annotation, and
    /// whether it is a template with `each`.
    functions: Vec<Option<(u8, bool, bool)>>,
    /// The buckets: the number in the name of each, and whether it selects the queues.
    buckets: Vec<Option<(u8, bool)>>,
    queues: usize,
    /// The title of the resource `gate`. With it, the condition of the first bucket is known only
    /// on deploy.
    gate: Option<u8>,
}

/// Generates such documents.
pub fn linked_document() -> impl Strategy<Value = LinkedDocument> {
    let function = prop::option::weighted(0.8, (0..3_u8, any::<bool>(), prop::bool::weighted(0.2)));
    let bucket = prop::option::weighted(0.8, (0..2_u8, any::<bool>()));
    let gate = prop::option::weighted(0.4, 0..4_u8);
    (
        prop::collection::vec(function, 3),
        prop::collection::vec(bucket, 2),
        0..3_usize,
        gate,
    )
        .prop_map(|(functions, buckets, queues, gate)| LinkedDocument {
            functions,
            buckets,
            queues,
            gate,
        })
}

impl LinkedDocument {
    /// The document as text.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "version: 2023-04-20\nresources:\n  role: { type: test/role, spec: { name: r } }\n",
        );
        if let Some(gate) = self.gate {
            let _ = writeln!(
                text,
                "  gate: {{ type: test/record, spec: {{ title: t{gate} }} }}"
            );
        }
        for (at, function) in self.functions.iter().enumerate() {
            let Some((selects, writes, many)) = function else {
                continue;
            };
            let selector = match selects {
                0 => "",
                1 => "    linkSelector: { byLabel: { kind: bucket } }\n",
                _ => "    linkSelector: { byLabel: { app: all } }\n",
            };
            // Functions that share the role have the same annotation for a bucket; otherwise the
            // links conflict.
            let access = if *writes {
                "    metadata: { annotations: { test.function.batch: 3 } }\n"
            } else {
                ""
            };
            let each = if *many {
                "    each: ${list(\"x\", \"y\")}\n"
            } else {
                ""
            };
            let role = "${role.spec.id}";
            let _ = write!(
                text,
                "  f{at}:\n    type: test/function\n{each}{selector}{access}    spec: {{ name: f, role: \"{role}\" }}\n"
            );
        }
        for (at, bucket) in self.buckets.iter().enumerate() {
            let Some((name, selects)) = bucket else {
                continue;
            };
            let selector = if *selects {
                "    linkSelector: { byLabel: { kind: queue } }\n"
            } else {
                ""
            };
            let condition = match self.gate {
                Some(_) if at == 0 => "    condition: ${lt(gate.spec.revision, 3)}\n",
                _ => "",
            };
            let _ = write!(
                text,
                "  b{at}:\n    type: test/bucket\n{selector}{condition}    metadata: {{ labels: {{ kind: bucket, app: all }} }}\n    spec: {{ name: n{name}-{at} }}\n"
            );
        }
        for at in 0..self.queues {
            let _ = writeln!(
                text,
                "  q{at}: {{ type: test/queue, metadata: {{ labels: {{ kind: queue, app: all }} }}, spec: {{ name: q{at} }} }}"
            );
        }
        text
    }
}
