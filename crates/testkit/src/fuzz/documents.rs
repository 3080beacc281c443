//! Targets on documents: each is read and checked, and deployed and destroyed if it can be planned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use diag::{Colors, Diagnostics, Files, draw};
use engine::run::Operated;
use engine::{Given, Options};
use expr::FunctionTable;
use provider::{Catalogs, Operation};
use providers::fake::{self, FaultKind, ScriptedFault, When};
use state::OperationOutcome;

use super::target::{FuzzTarget, TEXT, number, roughly};
use crate::harness::{Harness, settings};

const WORDS: &[&str] = &[
    "version: 2025-11-02\n",
    "resources:\n",
    "variables:\n",
    "values:\n",
    "exports:\n",
    "datasources:\n",
    "include:\n",
    "metadata:\n",
    "    type: test/data\n",
    "    type: test/record\n",
    "    spec: { input: 1 }\n",
    "dependsOn: ",
    "condition: ",
    "each: ",
    "linkSelector: { byLabel: { a: b } }\n",
    "labels: { a: b }\n",
    "annotations: {",
    "custom: {",
    "displayName: ",
    "secret: true",
    "default: ",
    "allowedValues: [",
    "type: string",
    "type: integer",
    "${",
    "}",
    "${variables.a}",
    "${values.a}",
    "${elem}",
    "${i}",
    "${a.spec.id}",
    "${a[0].spec.id}",
    "${list(1, 2)}",
    "${uuid()}",
    "${jsonencode(",
    "none",
    ": ",
    "- ",
    "\n  ",
    "[",
    "]",
    "{",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
];

pub(super) const DOCUMENT: FuzzTarget = FuzzTarget {
    name: "document",
    invariant: "any document is read, checked and drawn; what is wrong has a place in it, and a broken one says so",
    run: check,
    seeds: || texts().into_iter().chain(json_texts()).collect(),
    words: WORDS,
    cases: 800,
    longest: TEXT,
};

pub(super) const DEPLOY: FuzzTarget = FuzzTarget {
    name: "deploy",
    invariant: "what can be deployed leaves nothing to do, also after a fault, and a destroy leaves nothing at all",
    run: deploy,
    seeds: || {
        texts()
            .into_iter()
            .filter(|text| text.len() < 2_000)
            .collect()
    },
    words: WORDS,
    cases: 50,
    longest: TEXT,
};

/// The files of the conformance pack with these extensions.
fn pack(ends: [&str; 2]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint/cases");
    let mut paths: Vec<PathBuf> = Vec::new();
    for kind in ["validation", "stage", "deploy"] {
        let Ok(entries) = std::fs::read_dir(folder.join(kind)) else {
            continue;
        };
        let fits = |path: &PathBuf| {
            path.extension()
                .is_some_and(|end| ends.iter().any(|one| end == *one))
        };
        paths.extend(entries.flatten().map(|entry| entry.path()).filter(fits));
    }
    paths.sort();
    paths
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .filter(|text| text.len() < 4_000)
        .collect()
}

/// The documents in YAML, and one with every syntax element.
pub(super) fn texts() -> Vec<Vec<u8>> {
    const EVERYTHING: &str = "%YAML 1.2\n---\n# comment\nversion: 2023-04-20 # more\n\"quoted \\\"key\\\" é\": 'single ''quoted''\n  \
                              on two lines'\nlist: &anchor\n  - a\n  - - b\n    - {c: [d, \"e\\u00e9\", f: g], h: }\n  - |2-\n      \
                              literal\n\n     text\n  - >+\n    folded\n    text\n\n      more\n\ncopy: *anchor\n? complex\n: !tag \
                              value of\n  two lines\ncut: [${a[\"b\"]}, x ${f(\"c: d\")}]\nalso: ${f(\"c: d #\")}\nlast: ~\n";
    let mut texts = pack(["yaml", "yml"]);
    texts.push(EVERYTHING.as_bytes().to_vec());
    texts
}

/// Documents in JSON.
pub(super) fn json_texts() -> Vec<Vec<u8>> {
    pack(["jsonc", "json"])
        .into_iter()
        .filter(|text| text.windows(9).any(|part| part == b"\"version\""))
        .collect()
}

/// The catalogues and functions for checks.
fn offers() -> &'static (Arc<Catalogs>, Arc<FunctionTable>) {
    static OFFERS: OnceLock<(Arc<Catalogs>, Arc<FunctionTable>)> = OnceLock::new();
    OFFERS.get_or_init(|| {
        let (catalogs, functions, _) = provider::combine([fake::catalog()]);
        (Arc::new(catalogs), Arc::new(functions))
    })
}

fn check(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let name = if text.trim_start().starts_with('{') {
        "fuzz.jsonc"
    } else {
        "fuzz.yaml"
    };
    let (catalogs, functions) = offers();
    let mut files = Files::new();
    let file = files.add(name, &*text);
    let mut found = Diagnostics::new();
    let loaded = engine::load(
        &files,
        file,
        &crate::dialects(),
        functions,
        catalogs.packages(),
        &Default::default(),
        &mut found,
    );
    let checked = loaded.blueprint.map(|blueprint| {
        let rules = crate::dialects().rules(blueprint.dialect);
        engine::check(
            blueprint,
            &engine::check::CheckContext::new(catalogs, functions, rules),
            &mut found,
        )
    });
    assert!(
        checked.is_some() || found.has_errors(),
        "neither a blueprint nor an error"
    );
    let mut drawn = 0;
    for (at, diagnostic) in found.iter().enumerate() {
        for label in diagnostic
            .labels
            .iter()
            .filter(|label| label.span.is_some())
        {
            assert!(
                text.get(label.span.range()).is_some(),
                "outside of the text: {diagnostic:?}"
            );
        }
        // Drawing is slow and depends only on the place.
        if at < 12 {
            let text = draw(diagnostic, &files, Colors::Off);
            assert!(text.contains(diagnostic.code.name), "{text}");
            drawn += text.len();
        }
    }
    assert!(
        found.iter().count() <= 8 * text.len() + 8,
        "more is said than was written"
    );
    assert!(
        drawn <= 12 * (16 * text.len() + 4_000),
        "{drawn} bytes are drawn of {}",
        text.len()
    );
    let codes: BTreeSet<&str> = found.iter().map(|found| found.code.name).collect();
    let size = checked.map(|checked| {
        (
            checked.blueprint.resources.len(),
            checked.blueprint.locals.len(),
        )
    });
    number((
        codes,
        size.map(|(resources, locals)| (roughly(resources), roughly(locals))),
    ))
}

/// Runs a future with a paused clock.
fn block_on_paused_clock<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime
        .unwrap_or_else(|error| panic!("a runtime can be had: {error}"))
        .block_on(work)
}

fn harness() -> Harness {
    Harness::new(PathBuf::from("/nowhere"), Vec::new())
}

/// The resources in the cloud by place.
fn objects(harness: &Harness) -> Vec<String> {
    let world = harness
        .world
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut objects: Vec<String> = world
        .objects()
        .map(|object| format!("{} {}", object.place, object.type_name))
        .collect();
    objects.sort();
    objects
}

/// Stages a document and carries out the plan. Returns the outcome and the addresses with a step;
/// `None` if there was no plan.
async fn apply(
    harness: &Harness,
    text: Option<&str>,
    faults: Vec<ScriptedFault>,
) -> Option<(Option<OperationOutcome>, Vec<String>)> {
    let stage = match text {
        Some(text) => {
            harness
                .stage("fuzz.yaml", text, Given::default(), Options::default())
                .await
        }
        None => harness.stage_destroy(Options::default()).await,
    };
    let staged = stage.staged?;
    let steps = staged
        .plan
        .steps
        .iter()
        .map(|step| step.address.to_string())
        .collect();
    let run = harness
        .run(staged, false, faults, settings(Some(3), true))
        .await;
    let outcome = match run.operated {
        Some(Operated::Done(outcome)) => outcome.outcome,
        Some(Operated::Nothing) => Some(OperationOutcome::Ready),
        _ => None,
    };
    Some((outcome, steps))
}

fn deploy(input: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(input) else {
        return 0;
    };
    // Retained resources remain after the destroy.
    let stays = ["retain", "protect", "ignoreChanges"]
        .iter()
        .any(|word| text.contains(word));
    let seen = block_on_paused_clock(async {
        let whole = harness();
        let Some((outcome, steps)) = apply(&whole, Some(text), Vec::new()).await else {
            return (0, 0, false);
        };
        if outcome != Some(OperationOutcome::Ready) {
            return (1, steps.len(), false);
        }
        check_nothing_left(&whole, text, "a deploy").await;
        let fault = fault(input, &steps);
        let Some(fault) = fault.filter(|_| !stays) else {
            return (2, steps.len(), false);
        };
        let context = format!("{fault:?}");
        let cut = harness();
        apply(&cut, Some(text), vec![fault]).await;
        let went_on = apply(&cut, Some(text), Vec::new()).await;
        let ended = went_on.and_then(|(outcome, _)| outcome);
        assert_eq!(
            ended,
            Some(OperationOutcome::Ready),
            "it does not go on after {context}"
        );
        check_nothing_left(&cut, text, &context).await;
        assert_eq!(
            objects(&cut),
            objects(&whole),
            "another end after {context}"
        );
        for harness in [&whole, &cut] {
            apply(harness, None, Vec::new()).await;
            assert!(
                objects(harness).is_empty(),
                "{:?} is left after a destroy",
                objects(harness)
            );
            assert!(
                harness.snapshot().await.records.is_empty(),
                "something is remembered after a destroy"
            );
        }
        (3, steps.len(), true)
    });
    number((seen.0, roughly(seen.1), seen.2, check(input)))
}

async fn check_nothing_left(harness: &Harness, text: &str, after: &str) {
    let again = harness
        .stage("fuzz.yaml", text, Given::default(), Options::default())
        .await;
    let Some(staged) = again.staged else {
        let said: Vec<String> = again
            .diagnostics
            .iter()
            .map(|it| format!("{}: {}", it.code.name, it.message))
            .collect();
        panic!("what was deployed cannot be planned again after {after}: {said:?}");
    };
    let steps = staged.plan.steps.iter();
    let left: Vec<String> = steps
        .map(|step| {
            format!(
                "{} {} {:?} {:?}",
                step.action.word(),
                step.address,
                step.reasons,
                step.changes
            )
        })
        .collect();
    assert!(left.is_empty(), "left to do after {after}: {left:?}");
}

/// A fault for one of the steps, chosen by the input.
fn fault(input: &[u8], steps: &[String]) -> Option<ScriptedFault> {
    let drawn = number(input);
    let at = steps.get(usize::try_from(drawn % 64).unwrap_or(0) % steps.len().max(1))?;
    let kind = match (drawn >> 8) % 7 {
        0 => FaultKind::Permanent,
        1 => FaultKind::Partial,
        2 => FaultKind::Lost,
        3 => FaultKind::Transient,
        4 => FaultKind::Crash {
            when: When::Before,
            untraceable: false,
        },
        5 => FaultKind::Crash {
            when: When::After,
            untraceable: false,
        },
        _ => FaultKind::Throttled,
    };
    Some(ScriptedFault {
        on: Some(Operation::Create),
        at: at.as_str().into(),
        skip: 0,
        times: 1,
        kind,
    })
}
