//! Hooks of Heat's environments: where an operation stops, which work it still does, and how the
//! next one continues.

use std::path::Path;
use std::sync::Arc;

use blueprint::Name;
use engine::apply::OnFailure;
use engine::{Action, Event, Given, Options, PlannedStop};
use testkit::harness::{
    Harness, RunResult, StageResult, heat_environment, run_with_paused_clock, settings,
};

/// An operation.
#[derive(Clone, Copy)]
enum HookOperation<'a> {
    /// A template without its version, and its environment below
    /// `resource_registry: {resources: ..}`.
    Deploy(&'a str, &'a str),
    /// A deploy with `until` a resource.
    Target(&'a str, &'a str, &'a str),
    /// A deploy with a rollback after a failure.
    Undo(&'a str, &'a str),
    Destroy,
    Rollback,
    Reconcile,
}

use HookOperation::{Deploy, Destroy, Reconcile, Rollback, Target, Undo};

/// The result: calls, stops, waiting resources and outcome, each as a text.
type DeployResult = (String, String, String, String);

fn run_all(files: &[(&str, &str)], acts: &[HookOperation<'_>]) -> Vec<DeployResult> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    run_with_paused_clock(run_steps(folder.path(), acts))
}

async fn run_steps(folder: &Path, acts: &[HookOperation<'_>]) -> Vec<DeployResult> {
    let mut harness = Harness::with(
        folder.to_owned(),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    );
    let mut all = Vec::new();
    for act in acts {
        let mut settings = settings(None, false);
        let stage = match *act {
            Deploy(text, hooks) => stage(&mut harness, text, hooks, Options::default()).await,
            Target(at, text, hooks) => {
                let targets = vec![at.parse().expect("an address")];
                stage(
                    &mut harness,
                    text,
                    hooks,
                    Options {
                        targets,
                        ..Options::default()
                    },
                )
                .await
            }
            Undo(text, hooks) => {
                settings.on_failure = OnFailure::Rollback;
                stage(&mut harness, text, hooks, Options::default()).await
            }
            Destroy => harness.stage_destroy(Options::default()).await,
            Reconcile => {
                harness
                    .stage_destroy(Options {
                        reconcile: true,
                        ..Options::default()
                    })
                    .await
            }
            Rollback => harness.stage_rollback(None).await.expect("it can be read"),
        };
        let staged = stage
            .staged
            .unwrap_or_else(|| panic!("{:?}", stage.diagnostics));
        let run = harness.run(staged, false, Vec::new(), settings).await;
        all.push(deploy_result(&run));
    }
    all
}

async fn stage(harness: &mut Harness, text: &str, hooks: &str, options: Options) -> StageResult {
    let text = format!("heat_template_version: wallaby\n{text}");
    harness.context = heat_environment(
        "main.yaml",
        &text,
        "env.yaml",
        &format!("resource_registry: {{resources: {hooks}}}\n"),
    );
    harness
        .stage("main.yaml", &text, Given::default(), options)
        .await
}

fn deploy_result(run: &RunResult) -> DeployResult {
    let calls = run.events.iter().filter_map(|event| match event {
        Event::Done {
            address,
            operation,
            replacing,
        } => Some(format!(
            "{}{} {address}",
            operation.word(),
            if *replacing { " (replacing)" } else { "" }
        )),
        _ => None,
    });
    let mut calls: Vec<String> = calls.collect();
    calls.sort();
    let Some(outcome) = run.outcome() else {
        return (calls.join(", "), "".into(), "".into(), "nothing".into());
    };
    let mut stops: Vec<String> = outcome
        .stops
        .iter()
        .map(|(address, at)| format!("{address} {at}"))
        .collect();
    stops.sort();
    let mut waiting: Vec<String> = outcome.waiting.iter().map(ToString::to_string).collect();
    waiting.sort();
    let word = outcome.outcome.map_or("lost", |outcome| outcome.word());
    (
        calls.join(", "),
        stops.join(", "),
        waiting.join(", "),
        word.to_owned(),
    )
}

#[track_caller]
fn check(
    files: &[(&str, &str)],
    acts: &[HookOperation<'_>],
    expected: &[(&str, &str, &str, &str)],
) {
    let all = run_all(files, acts);
    let all: Vec<(&str, &str, &str, &str)> = all
        .iter()
        .map(|(a, b, c, d)| (&**a, &**b, &**c, &**d))
        .collect();
    assert_eq!(all, expected);
}

/// `b` reads `a`; `c` is independent.
fn three(value: u8) -> String {
    format!(
        "resources:\n  a: {{type: OS::Heat::Value, properties: {{value: {value}}}}}\n  \
         b: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [a, value]}}}}}}\n  \
         c: {{type: OS::Heat::Value, properties: {{value: 3}}}}\n"
    )
}

#[test]
fn create_stops_before_and_after_while_the_rest_continues() {
    let text = three(1);
    let hooks = "{a: {hooks: [pre-create, post-create]}}";
    check(
        &[],
        &[Deploy(&text, hooks); 4],
        &[
            ("create c", "a pre-create", "a, b", "interrupted"),
            ("create a", "a post-create", "b", "interrupted"),
            ("create b", "", "", "ready"),
            ("", "", "", "nothing"),
        ],
    );
}

#[test]
fn update_stops_each_time_unless_nothing_changes() {
    let (one, two, three) = (three(1), three(2), three(3));
    let hooks = "{a: {hooks: [pre-update, post-update]}}";
    check(
        &[],
        &[
            Deploy(&one, hooks),
            Deploy(&one, hooks),
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Deploy(&three, hooks),
        ],
        &[
            ("create a, create b, create c", "", "", "ready"),
            ("", "", "", "nothing"),
            ("", "a pre-update", "a, b", "interrupted"),
            ("update a", "a post-update", "b", "interrupted"),
            ("update b", "", "", "ready"),
            ("", "a pre-update", "a, b", "interrupted"),
        ],
    );
}

#[test]
fn reverted_change_drops_the_stop() {
    let (one, two) = (three(1), three(2));
    let hooks = "{a: {hooks: pre-update}}";
    check(
        &[],
        &[
            Deploy(&one, hooks),
            Deploy(&two, hooks),
            Deploy(&one, hooks),
            Deploy(&two, hooks),
            Deploy(&two, "{}"),
            Deploy(&two, hooks),
        ],
        &[
            ("create a, create b, create c", "", "", "ready"),
            ("", "a pre-update", "a, b", "interrupted"),
            ("", "", "", "ready"),
            ("", "a pre-update", "a, b", "interrupted"),
            // Removing the hook continues the operation, too.
            ("update a, update b", "", "", "ready"),
            ("", "", "", "ready"),
        ],
    );
}

#[test]
fn replacement_stops_only_before_the_update() {
    let of = |length: u8| {
        format!(
            "resources: {{s: {{type: OS::Heat::RandomString, properties: {{length: {length}}}}}}}\n"
        )
    };
    let (four, five) = (of(4), of(5));
    let all =
        "{s: {hooks: [pre-create, pre-update, pre-delete, post-create, post-update, post-delete]}}";
    check(
        &[],
        &[
            Deploy(&four, "{}"),
            Deploy(&five, all),
            Deploy(&five, all),
            Deploy(&five, all),
        ],
        &[
            ("create s", "", "", "ready"),
            ("", "s pre-update", "s", "interrupted"),
            (
                "create (replacing) s, delete (replacing) s",
                "",
                "",
                "ready",
            ),
            ("", "", "", "nothing"),
        ],
    );
}

#[test]
fn a_destroy_stops_by_the_hooks_of_the_last_deploy() {
    let text = three(1);
    let hooks = "{a: {hooks: pre-delete}, b: {hooks: post-delete}}";
    check(
        &[],
        &[
            Deploy(&text, hooks),
            Destroy,
            Destroy,
            Destroy,
            Deploy(&text, "{}"),
            Destroy,
        ],
        &[
            ("create a, create b, create c", "", "", "ready"),
            ("delete b, delete c", "b post-delete", "a", "interrupted"),
            ("", "a pre-delete", "a", "interrupted"),
            ("delete a", "", "", "gone"),
            ("create a, create b, create c", "", "", "ready"),
            ("delete a, delete b, delete c", "", "", "gone"),
        ],
    );
}

#[test]
fn removed_resource_stops_by_its_former_hooks() {
    let (text, less) = (
        three(1),
        "resources: {c: {type: OS::Heat::Value, properties: {value: 3}}}\n",
    );
    let hooks = "{a: {hooks: pre-delete}}";
    check(
        &[],
        &[
            Deploy(&text, hooks),
            Deploy(less, hooks),
            Deploy(less, hooks),
            Deploy(less, hooks),
        ],
        &[
            ("create a, create b, create c", "", "", "ready"),
            ("delete b", "a pre-delete", "a", "interrupted"),
            ("delete a", "", "", "ready"),
            ("", "", "", "nothing"),
        ],
    );
}

#[test]
fn pattern_stops_dependent_resources_one_after_the_other() {
    let text = three(1);
    check(
        &[],
        &[Deploy(&text, "{'*': {hooks: pre-create}}"); 3],
        &[
            ("", "a pre-create, c pre-create", "a, b, c", "interrupted"),
            ("create a, create c", "b pre-create", "b", "interrupted"),
            ("create b", "", "", "ready"),
        ],
    );
}

const INNER: &str = "heat_template_version: wallaby\nparameters: {n: {type: string}}\n\
    resources:\n  x: {type: OS::Heat::Value, properties: {value: {get_param: n}}}\n  \
    y: {type: OS::Heat::Value, properties: {value: {get_attr: [x, value]}}}\n\
    outputs: {said: {value: {get_attr: [x, value]}}, more: {value: {get_attr: [y, value]}}}\n";

/// `c` is a nested template that reads `a`; `r` reads its output; `other` is independent.
fn nested(value: &str) -> String {
    format!(
        "resources:\n  a: {{type: OS::Heat::Value, properties: {{value: {value}}}}}\n  \
         c: {{type: inner.yaml, properties: {{n: {{get_attr: [a, value]}}}}}}\n  \
         r: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [c, said]}}}}}}\n  \
         other: {{type: OS::Heat::Value, properties: {{value: 1}}}}\n"
    )
}

#[test]
fn hook_of_a_nested_template_holds_for_its_resources() {
    let (one, two) = (nested("one"), nested("two"));
    let hooks = "{a: {hooks: pre-create}, c: {hooks: [pre-create, post-create, pre-update, post-update, pre-delete, post-delete]}}";
    let files = [("inner.yaml", INNER)];
    check(
        &files,
        &[
            Deploy(&one, hooks),
            Deploy(&one, hooks),
            Deploy(&one, hooks),
            Deploy(&one, hooks),
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Destroy,
            Destroy,
            Destroy,
        ],
        &[
            // The child cannot start before the resource that it reads exists.
            (
                "create other",
                "a pre-create",
                "a, c/x, c/y, r",
                "interrupted",
            ),
            ("create a", "c pre-create", "c/x, c/y, r", "interrupted"),
            (
                "create c/x, create c/y",
                "c post-create",
                "r",
                "interrupted",
            ),
            ("create r", "", "", "ready"),
            ("update a", "c pre-update", "c/x, c/y, r", "interrupted"),
            (
                "update c/x, update c/y",
                "c post-update",
                "r",
                "interrupted",
            ),
            ("update r", "", "", "ready"),
            (
                "delete other, delete r",
                "c pre-delete",
                "a, c/x, c/y",
                "interrupted",
            ),
            (
                "delete c/x, delete c/y",
                "c post-delete",
                "a",
                "interrupted",
            ),
            ("delete a", "", "", "gone"),
        ],
    );
}

#[test]
fn stop_inside_a_child_keeps_the_child_unfinished() {
    let text = nested("one");
    let hooks = "{c: {hooks: post-create, x: {hooks: post-create}}}";
    check(
        &[("inner.yaml", INNER)],
        &[Deploy(&text, hooks); 3],
        &[
            (
                "create a, create c/x, create other",
                "c/x post-create",
                "c/y, r",
                "interrupted",
            ),
            ("create c/y", "c post-create", "r", "interrupted"),
            ("create r", "", "", "ready"),
        ],
    );
    // The inner and the outer hook stop one after the other.
    let hooks = "{c: {hooks: pre-create, y: {hooks: pre-create}}}";
    check(
        &[("inner.yaml", INNER)],
        &[Deploy(&text, hooks); 3],
        &[
            (
                "create a, create other",
                "c pre-create",
                "c/x, c/y, r",
                "interrupted",
            ),
            // A reader of a child waits for all of the child.
            ("create c/x", "c/y pre-create", "c/y, r", "interrupted"),
            ("create c/y, create r", "", "", "ready"),
        ],
    );
}

fn group(count: u8, value: &str) -> String {
    format!(
        "resources:\n  g: {{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: {{type: OS::Heat::Value, \
         properties: {{value: {value}%index%}}}}}}}}\n  \
         r: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [g, value]}}}}}}\n"
    )
}

#[test]
fn a_group_stops_as_a_whole_and_at_single_members() {
    let (two, three, less) = (group(2, "v"), group(3, "v"), group(1, "v"));
    let hooks = "{g: {hooks: [pre-create, post-update], \"1\": {hooks: post-create}}}";
    check(
        &[],
        &[
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Deploy(&two, hooks),
            Deploy(&three, hooks),
            Deploy(&three, hooks),
            Deploy(&less, hooks),
            Deploy(&less, hooks),
        ],
        &[
            ("", "g pre-create", "g/0, g/1, r", "interrupted"),
            (
                "create g/0, create g/1",
                "g/1 post-create",
                "r",
                "interrupted",
            ),
            ("create r", "", "", "ready"),
            ("create g/2", "g post-update", "r", "interrupted"),
            ("update r", "", "", "ready"),
            // A removed resource stays until its reader has changed, and the reader waits for the
            // group.
            ("", "g post-update", "g/1, g/2, r", "interrupted"),
            ("delete g/1, delete g/2, update r", "", "", "ready"),
        ],
    );
}

#[test]
fn resource_out_of_target_keeps_waiting() {
    let text = three(1);
    let hooks = "{a: {hooks: pre-create}, c: {hooks: pre-create}}";
    check(
        &[],
        &[
            Deploy(&text, hooks),
            Target("c", &text, hooks),
            Target("b", &text, hooks),
            Deploy(&text, hooks),
        ],
        &[
            ("", "a pre-create, c pre-create", "a, b, c", "interrupted"),
            ("create c", "", "", "ready"),
            ("create a, create b", "", "", "ready"),
            ("", "", "", "nothing"),
        ],
    );
}

#[test]
fn rollback_ignores_hooks() {
    let (one, two) = (three(1), three(2));
    let hooks = "{a: {hooks: [pre-update, pre-delete, post-delete]}}";
    let fails = format!(
        "{one}  f: {{type: OS::Heat::TestResource, properties: {{fail: true}}, depends_on: b}}\n"
    );
    check(
        &[],
        &[
            Deploy(&one, "{}"),
            Deploy(&two, "{}"),
            Deploy(&one, hooks),
            Rollback,
            Undo(&fails, hooks),
            Undo(&fails, hooks),
        ],
        &[
            ("create a, create b, create c", "", "", "ready"),
            ("update a, update b", "", "", "ready"),
            ("", "a pre-update", "a, b", "interrupted"),
            ("", "", "", "ready"),
            ("", "a pre-update", "a, b, f", "interrupted"),
            // After the hook the operation fails and is rolled back.
            ("update a, update a, update b, update b", "", "", "failed"),
        ],
    );
    let fails = format!(
        "{one}  f: {{type: OS::Heat::TestResource, properties: {{fail: true}}, depends_on: b}}\n"
    );
    check(
        &[],
        &[Undo(&fails, "{a: {hooks: pre-delete}}"), Destroy],
        &[
            (
                "create a, create b, create c, delete a, delete b, delete c",
                "",
                "",
                "failed",
            ),
            ("", "", "", "nothing"),
        ],
    );
}

#[test]
fn reconcile_leaves_waiting_resources() {
    let text = three(1);
    let hooks = "{a: {hooks: post-create}}";
    check(
        &[],
        &[Deploy(&text, hooks), Reconcile, Deploy(&text, hooks)],
        &[
            ("create a, create c", "a post-create", "b", "interrupted"),
            ("", "", "", "nothing"),
            ("create b", "", "", "ready"),
        ],
    );
}

#[test]
fn stop_without_dependants_is_a_stop() {
    let text = "resources: {v: {type: OS::Heat::Value, properties: {value: 1}}}\n";
    let hooks = "{v: {hooks: [post-create, post-delete]}}";
    check(
        &[],
        &[
            Deploy(text, hooks),
            Deploy(text, hooks),
            Deploy(text, hooks),
            Destroy,
            Destroy,
        ],
        &[
            ("create v", "v post-create", "", "interrupted"),
            ("", "", "", "ready"),
            ("", "", "", "nothing"),
            ("delete v", "v post-delete", "", "interrupted"),
            ("", "", "", "gone"),
        ],
    );
}

#[test]
fn plan_lists_its_stops_and_continuations() {
    run_with_paused_clock(async {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("inner.yaml"), INNER).expect("it can be written");
        let provider = Arc::new(openstack::heat::provider());
        let mut harness = Harness::with(folder.path().to_owned(), Vec::new(), vec![provider]);
        let text = nested("one");
        let hooks = "{a: {hooks: [pre-create, post-create]}, c: {hooks: pre-create}}";
        let stop = |address: &str, child, at: &str, passed| PlannedStop {
            address: Name::from(address),
            child,
            at: at.parse().expect("a breakpoint"),
            passed,
        };
        let staged = stage(&mut harness, &text, hooks, Options::default())
            .await
            .staged
            .expect("a plan");
        let expected = [
            stop("c", true, "pre-create", false),
            stop("a", false, "pre-create", false),
            stop("a", false, "post-create", false),
        ];
        assert_eq!(staged.plan.stops, expected);
        let of_a = staged
            .plan
            .steps
            .iter()
            .find(|step| step.address.to_string() == "a")
            .expect("a step");
        assert_eq!(of_a.action, Action::Create);
        assert_eq!(of_a.stops_before.map(|at| at.word()), Some("pre-create"));
        assert_eq!(of_a.stops_after.map(|at| at.word()), Some("post-create"));
        harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
        let staged = stage(&mut harness, &text, hooks, Options::default())
            .await
            .staged
            .expect("a plan");
        let expected = [
            stop("c", true, "pre-create", false),
            stop("a", false, "pre-create", true),
            stop("a", false, "post-create", false),
        ];
        assert_eq!(staged.plan.stops, expected);
    });
}
