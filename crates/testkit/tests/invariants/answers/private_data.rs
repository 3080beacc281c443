//! The fields and opaque data that calls receive, and the opaque data that is kept in the state.

use provider::Verdict;

use super::scripted::{Script, Setup};
use super::{WITHOUT_BOX, one_box};
use crate::{apply_successfully, run_with_paused_clock};

/// A box that chooses a configuration.
const CHOOSING: &str = "{ type: script/box, metadata: { annotations: { cyan.provider: far } },";

const FAR: &str =
    "  far: { type: cyan/provider, spec: { namespace: script, settings: { region: north } } }\n";

fn created() -> Script {
    Script {
        applied_private: "created".into(),
        ..Script::default()
    }
}

fn drifted() -> Script {
    Script {
        drift: Some(("note", "drifted")),
        read_private: "read".into(),
        ..created()
    }
}

#[test]
fn delete_gets_what_was_read() {
    for (capabilities, planned) in [
        ("\"plansDeletes\": true", true),
        ("\"plansDeletes\": false", false),
    ] {
        run_with_paused_clock(async {
            for document in [Some(WITHOUT_BOX), None] {
                let setup = Setup::new(capabilities);
                setup.answer(created());
                apply_successfully(&setup.harness, Some(&one_box("note: first")), 1).await;
                setup.answer(drifted());
                apply_successfully(&setup.harness, document, 1).await;
                let call = |what: &str| format!("{what} a in -: note drifted, private read");
                let plan = planned.then(|| call("plan-delete"));
                let expected: Vec<String> = plan.into_iter().chain([call("delete")]).collect();
                assert_eq!(setup.calls(), expected, "{document:?}");
            }
        });
    }
}

#[test]
fn delete_of_a_replacement_gets_what_was_read() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": \"always\", \"plansDeletes\": true");
        setup.answer(created());
        apply_successfully(&setup.harness, Some(&one_box("zone: z1")), 1).await;
        let replaces = Verdict::Replace {
            delete_first: Some(true),
        };
        setup.answer(Script {
            verdict: replaces,
            planned_private: "planned".into(),
            ..drifted()
        });
        apply_successfully(&setup.harness, Some(&one_box("zone: z2")), 1).await;
        let expected = [
            "plan-update a in -: note drifted, private read",
            "plan-replace a in -: note -, private planned",
            "plan-delete a in -: note drifted, private read",
            "delete a in -: note drifted, private planned",
            "create a in -: note -, private planned",
        ];
        assert_eq!(setup.calls(), expected);
    });
}

#[test]
fn private_data_that_is_planned_for_a_call_is_not_recorded_without_it() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_successfully(&setup.harness, Some(&one_box("note: first")), 1).await;
        let only_recorded = vec!["note".into()];
        setup.answer(Script {
            planned_private: "planned".into(),
            only_recorded,
            ..created()
        });
        apply_successfully(&setup.harness, Some(&one_box("note: second")), 1).await;
        assert_eq!(
            setup.calls(),
            ["plan-update a in -: note first, private created"]
        );
        assert_eq!(setup.private_of("a").await, "created");
    });
}

#[test]
fn private_data_of_an_answer_takes_the_place_of_what_was_recorded_and_planned() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_successfully(&setup.harness, Some(&one_box("note: first")), 1).await;
        setup.answer(Script {
            planned_private: "planned".into(),
            ..Script::default()
        });
        apply_successfully(&setup.harness, Some(&one_box("note: second")), 1).await;
        let expected = [
            "plan-update a in -: note first, private created",
            "update a in -: note first, private planned",
        ];
        assert_eq!(setup.calls(), expected);
        assert_eq!(setup.private_of("a").await, "-");
    });
}

#[test]
fn create_of_a_replacement_does_not_get_the_private_data_of_the_old_object() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_successfully(&setup.harness, Some(&one_box("zone: z1")), 1).await;
        // The provider requires a replacement only when it is asked to plan an update.
        let replaces = vec!["zone".into()];
        setup.answer(Script {
            planned_private: "planned".into(),
            replaces,
            ..Script::default()
        });
        apply_successfully(&setup.harness, Some(&one_box("zone: z2")), 1).await;
        let expected = [
            "plan-update a in -: note -, private created",
            "delete a in -: note -, private created",
            "create a in -: note -, private -",
        ];
        assert_eq!(setup.calls(), expected);
        assert_eq!(setup.private_of("a").await, "-");
    });
}

#[test]
fn recorded_configuration_plans_the_delete() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plansDeletes\": true");
        let text = one_box("note: first").replace("{ type: script/box,", CHOOSING) + FAR;
        apply_successfully(&setup.harness, Some(&text), 1).await;
        setup.calls();
        apply_successfully(&setup.harness, None, 1).await;
        let call = |what: &str| format!("{what} a in north: note first, private -");
        assert_eq!(setup.calls(), [call("plan-delete"), call("delete")]);
    });
}

#[test]
fn declared_configuration_imports() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        let chooses = "{ type: script/box, metadata: { annotations: { cyan.provider: far, cyan.import: box-1 } },";
        let text = format!(
            "version: 2023-04-20\nresources:\n  a: {chooses} spec: {{ name: a }} }}\n{FAR}"
        );
        apply_successfully(&setup.harness, Some(&text), 1).await;
        assert_eq!(setup.calls(), ["import a in north: note -, private -"]);
    });
}

#[test]
fn recorded_configuration_corrects_drift() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": \"always\"");
        let text = one_box("note: first").replace("{ type: script/box,", CHOOSING) + FAR;
        apply_successfully(&setup.harness, Some(&text), 1).await;
        setup.answer(Script {
            verdict: Verdict::Update,
            ..drifted()
        });
        let options = engine::Options {
            reconcile: true,
            ..engine::Options::default()
        };
        let stage = setup.harness.stage_destroy(options).await;
        assert!(stage.staged.is_some(), "{:?}", stage.diagnostics);
        assert_eq!(
            setup.calls(),
            ["plan-update a in north: note drifted, private read"]
        );
    });
}
