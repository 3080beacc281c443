//! A secret appears in no event, diagnostic, plan, step or debug output, whatever fails.

use blueprint::{IndexMap, Name};
use diag::{Colors, Diagnostics, Files, draw};
use engine::run::Operated;
use engine::{Given, Options, plan_file};
use provider::Operation;
use providers::fake::{FaultKind, ScriptedFault};
use state::seal::Sealer;
use testkit::harness::{Harness, settings};

use crate::{harness, run_with_paused_clock};

/// The forms of the planted secret.
const SECRET: &str = "Plant-7f3a9c!x";
const FORMS: [&str; 5] = [
    "Plant-7f3a9c",
    "PLANT-7F3A9C",
    "plant-7f3a9c",
    "UGxhbnQtN2YzYTlj",
    "7f3a9c",
];

fn given(value: &str) -> Given {
    let mut text: IndexMap<Name, Name> = IndexMap::default();
    text.insert("password".into(), value.into());
    Given {
        text,
        ..Given::default()
    }
}

fn must_not_show(place: &str, text: &str) {
    for form in FORMS {
        if let Some(at) = text.find(form) {
            let around: String = text
                .chars()
                .skip(text[..at].chars().count().saturating_sub(120))
                .take(260)
                .collect();
            panic!("the secret shows in {place}: ..{around}..");
        }
    }
}

fn assert_no_secret_shown(found: &Diagnostics, files: &Files) {
    for it in found {
        must_not_show("a drawn diagnostic", &draw(it, files, Colors::Off));
        must_not_show("a diagnostic", &format!("{it:?}"));
    }
}

/// A document with the secret in every position of a value, and with one more resource.
fn document(more: &str) -> String {
    format!(
        "version: 2025-11-02\n\
         variables:\n  password: {{ type: string, secret: true }}\n\
         values:\n  shout: {{ type: string, value: '${{to_upper(variables.password)}}' }}\n  \
         parts: {{ type: array, value: '${{split(variables.password, \"-\")}}' }}\n\
         metadata: {{ note: '${{variables.password}}' }}\n\
         resources:\n  \
         table: {{ type: test/record, spec: {{ title: orders, password: '${{variables.password}}', labels: {{ a: '${{values.shout}}' }} }} }}\n  \
         site:\n    type: test/data\n    metadata: {{ custom: {{ c: '${{variables.password}}' }} }}\n    \
         spec: {{ input: ['user:${{variables.password}}', '${{base64encode(variables.password)}}', '${{values.parts[1]}}', {{ deep: '${{join(values.parts, \"\")}}' }}] }}\n  \
         reader: {{ type: test/data, spec: {{ input: '${{site.spec.input[0]}} ${{table.spec.secretKey}}' }} }}\n\
         {more}\
         exports:\n  password: {{ type: string, field: variables.password }}\n  input: {{ type: array, field: resources.site.spec.input }}\n"
    )
}

async fn stage_checking_secrets(harness: &Harness, text: &str, value: &str) -> engine::Staged {
    let stage = harness
        .stage("main.yaml", text, given(value), Options::default())
        .await;
    assert_no_secret_shown(&stage.diagnostics, &stage.files);
    let said: Vec<_> = stage
        .diagnostics
        .iter()
        .map(|it| format!("{}: {}", it.code.name, it.message))
        .collect();
    let staged = stage.staged.unwrap_or_else(|| panic!("no plan: {said:?}"));
    must_not_show(
        "the debug output of a plan",
        &format!("{:?}", staged.plan.steps),
    );
    must_not_show(
        "the debug output of a state",
        &format!("{:?}", staged.snapshot),
    );
    must_not_show(
        "a plan file",
        &plan_file::write(&staged.plan, &Sealer::with_key([7; 32])).expect("there is a key"),
    );
    assert!(
        plan_file::write(&staged.plan, &Sealer::none()).is_err(),
        "a plan with a secret was written without a key"
    );
    staged
}

async fn run_checking_secrets(
    harness: &Harness,
    staged: engine::Staged,
    faults: Vec<ScriptedFault>,
) {
    let run = harness
        .run(staged, false, faults, settings(Some(2), true))
        .await;
    must_not_show(
        "an event",
        &serde_json::to_string(&run.events).expect("events are JSON"),
    );
    must_not_show("the debug output of an event", &format!("{:?}", run.events));
    if let Some(Operated::Done(outcome)) = &run.operated {
        assert_no_secret_shown(&outcome.diagnostics, &Files::new());
    }
    let log = harness
        .store()
        .log(&harness.name, None, usize::MAX)
        .await
        .expect("there is a journal");
    must_not_show("the debug output of the journal", &format!("{log:?}"));
    must_not_show(
        "the debug output of the state",
        &format!("{:?}", harness.snapshot().await),
    );
}

#[test]
fn a_secret_shows_nowhere_from_stage_to_destroy() {
    run_with_paused_clock(async {
        let harness = harness();
        let text = document("");
        let fault = |on, at: &str, kind| ScriptedFault {
            on: Some(on),
            at: at.into(),
            skip: 0,
            times: 1,
            kind,
        };
        let staged = stage_checking_secrets(&harness, &text, SECRET).await;
        run_checking_secrets(
            &harness,
            staged,
            vec![fault(Operation::Create, "site", FaultKind::Permanent)],
        )
        .await;
        let staged = stage_checking_secrets(&harness, &text, SECRET).await;
        run_checking_secrets(&harness, staged, Vec::new()).await;
        // A changed secret, an answer that does not fit its declaration, and drift of secret
        // fields.
        let staged = stage_checking_secrets(&harness, &text, "Plant-7f3a9c!y").await;
        let answer = FaultKind::Answer {
            set: [("title".into(), "Plant".into())].into_iter().collect(),
            drop: vec!["arn".into()],
        };
        run_checking_secrets(
            &harness,
            staged,
            vec![fault(Operation::Update, "table", answer)],
        )
        .await;
        let drift = |path: &str| {
            let mut world = harness.world.lock().expect("no thread panicked");
            world
                .set("case", "table", path, "Plant-7f3a9c drifted".into())
                .expect("it is there");
        };
        drift("password");
        let staged = stage_checking_secrets(&harness, &text, SECRET).await;
        run_checking_secrets(&harness, staged, Vec::new()).await;
        let stage = harness.stage_destroy(Options::default()).await;
        run_checking_secrets(&harness, stage.staged.expect("a plan"), Vec::new()).await;
    });
}

#[test]
fn invalid_secret_does_not_show_in_its_diagnostic() {
    let wrong = [
        "title: '${variables.password}aaaaaaaaaaaaaaaaaaaaaaaa'",
        "title: t, code: '${variables.password}'",
        "title: t, size: '${variables.password}'",
        "title: t, note: '${cidrsubnet(variables.password, 1, 1)}'",
        "title: t, note: '${jsondecode(variables.password)}'",
        "title: t, note: '${base64decode(variables.password)}'",
        "title: t, note: '${split(variables.password, \"-\")[9]}'",
        "title: t, note: '${fromjson(\"{}\", variables.password)}'",
        "title: t, note: '${lookup(object(a = 1), variables.password).x}'",
        "title: t, note: '${substr(variables.password, 5, 900)}'",
        "title: t, note: '${datetime(variables.password)}'",
        "title: t, note: '${file(variables.password)}'",
        "title: t, count: '${variables.password}'",
        "title: t, labels: '${object(k = variables.password).k}'",
        "title: t, tags: '${list(variables.password, 1)}'",
        "title: t, free: '${map(list(variables.password), getattr(\"a\"))}'",
        "title: t, target: '${list(variables.password)}'",
        "title: forbidden, note: '${variables.password}'",
    ];
    run_with_paused_clock(async {
        let mut reported = 0;
        for spec in wrong {
            let harness = harness();
            let more = format!(
                "  wrong: {{ type: test/record, spec: {{ {} }} }}\n",
                spec.replace("\\\"", "\"")
            );
            let stage = harness
                .stage(
                    "main.yaml",
                    &document(&more),
                    given(SECRET),
                    Options::default(),
                )
                .await;
            assert_no_secret_shown(&stage.diagnostics, &stage.files);
            reported += usize::from(stage.staged.is_none());
        }
        assert!(
            reported >= 15,
            "only {reported} of {} are mistakes",
            wrong.len()
        );
        // The input itself is invalid.
        for kind in ["integer", "float", "boolean"] {
            let text = format!(
                "version: 2025-11-02\nvariables:\n  password: {{ type: {kind}, secret: true }}\nresources:\n  r: {{ type: test/data, spec: {{ input: '${{variables.password}}' }} }}\n"
            );
            let stage = harness()
                .stage("main.yaml", &text, given(SECRET), Options::default())
                .await;
            assert!(stage.staged.is_none(), "{kind}");
            assert_no_secret_shown(&stage.diagnostics, &stage.files);
        }
        let text = "version: 2025-11-02\nvariables:\n  password: { type: string, secret: true, allowedValues: [a, b] }\nresources:\n  r: { type: test/data, spec: { input: '${variables.password}' } }\n";
        let stage = harness()
            .stage("main.yaml", text, given(SECRET), Options::default())
            .await;
        assert!(stage.staged.is_none());
        assert_no_secret_shown(&stage.diagnostics, &stage.files);
    });
}
