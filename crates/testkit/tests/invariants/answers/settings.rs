//! Settings that a document declares are checked by the catalogue of the provider. Every call of a
//! resource that chooses these settings receives them.

use blueprint::Value;
use engine::{Given, Options};

use super::scripted::{Script, Setup};
use crate::{apply_successfully, run_with_paused_clock};

const SETTINGS: &str = r#"{
  "region": {"kind": "string"},
  "port": {"kind": "integer"},
  "token": {"kind": "string", "sensitive": true},
  "proxy": {"kind": "object", "fields": {"host": {"kind": "string"}}}
}"#;

fn document(spec: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  far: {{ type: cyan/provider, spec: {{ namespace: script{spec} }} }}\n"
    )
}

/// The errors of a document, each with the text at its place.
async fn mistakes(setup: &Setup, text: &str) -> Vec<String> {
    let checked = setup
        .harness
        .validate("main.yaml", text, &Given::default())
        .await;
    let mistakes = checked.diagnostics.iter().filter(|one| one.is_error());
    let shown = mistakes.map(|one| {
        let span = one.span();
        format!(
            "{} at {}",
            one.code.name,
            &text[span.start as usize..span.end as usize]
        )
    });
    shown.collect()
}

#[test]
fn settings_are_checked_with_the_document() {
    run_with_paused_clock(async {
        let setup = Setup::with_settings("\"plans\": false", SETTINGS);
        for (settings, wrong) in [
            ("{ region: north, port: 80, proxy: { host: h } }", vec![]),
            ("{ regoin: north }", vec!["unknown-spec-field at regoin"]),
            ("{ port: many }", vec!["type-mismatch at many"]),
            ("{ port: [80] }", vec!["type-mismatch at [80]"]),
            (
                "{ port: \"${list(1)}\" }",
                vec!["type-mismatch at ${list(1)}"],
            ),
            ("{ proxy: { hots: h } }", vec!["unknown-spec-field at hots"]),
            (
                "{ token: env:API_TOKEN, proxy: { host: env:HOST } }",
                vec![
                    "environment-setting at env:API_TOKEN",
                    "environment-setting at env:HOST",
                ],
            ),
            ("{ region: \"env: north\" }", vec![]),
        ] {
            assert_eq!(
                mistakes(&setup, &document(&format!(", settings: {settings}"))).await,
                wrong,
                "{settings}"
            );
        }
    });
}

#[test]
fn missing_setting_is_reported_at_the_settings() {
    run_with_paused_clock(async {
        let required = SETTINGS.replace("\"port\": {", "\"port\": {\"required\": true, ");
        let setup = Setup::with_settings("\"plans\": false", &required);
        let missing = |at: &str| vec![format!("missing-spec-field at {at}")];
        assert_eq!(
            mistakes(&setup, &document(", settings: { region: north }")).await,
            missing("settings")
        );
        assert_eq!(mistakes(&setup, &document("")).await, missing("spec"));
        assert_eq!(
            mistakes(&setup, &document(", settings: { port: 80 }")).await,
            [""; 0]
        );
    });
}

#[test]
fn settings_of_a_provider_whose_catalogue_has_none_are_left_to_it() {
    run_with_paused_clock(async {
        let setup = Setup::with_settings("\"plans\": false", "{}");
        assert_eq!(
            mistakes(&setup, &document(", settings: { anything: [1] }")).await,
            [""; 0]
        );
        let environment = mistakes(&setup, &document(", settings: { anything: [env:HOME] }")).await;
        assert_eq!(environment, ["environment-setting at env:HOME"]);
    });
}

#[test]
fn sensitive_setting_is_secret() {
    run_with_paused_clock(async {
        let setup = Setup::with_settings("\"plans\": false", SETTINGS);
        let text = document(", settings: { region: north, token: hush }");
        let stage = setup
            .harness
            .stage("main.yaml", &text, Given::default(), Options::default())
            .await;
        let staged = stage.staged.expect("a plan");
        let desired = staged
            .desired(&blueprint::Address::root("far"))
            .and_then(|spec| spec.get("settings"))
            .cloned();
        let expected = Value::map([
            ("region", Value::text("north")),
            ("token", Value::text("hush").secret()),
        ]);
        assert_eq!(desired, Some(expected));
        assert!(staged.plan.secret);
    });
}

#[test]
fn question_about_readiness_has_the_settings_of_the_chosen_configuration() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        setup.answer(Script {
            pending: true,
            ..Script::default()
        });
        let text = document(", settings: { region: north }")
            + "  box: { type: script/box, metadata: { annotations: { cyan.provider: far } }, spec: { name: a } }\n";
        apply_successfully(&setup.harness, Some(&text), 1).await;
        let expected = [
            "create box in north: note -, private -",
            "poll with north for box in north: note -, private -",
        ];
        assert_eq!(setup.calls(), expected);
    });
}
