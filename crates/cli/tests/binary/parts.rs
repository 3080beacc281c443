//! Tests of plans that leave resources out, that expect no changes, and of lifted protections.

use crate::place::Place;

const DOCUMENT: &str = "version: 2023-04-20
variables:
  text: {type: string, default: one}
resources:
  base: {type: local/file, spec: {path: base, content: '${variables.text}'}}
  user: {type: local/file, spec: {path: user, content: 'after ${resources.base.spec.path}'}, dependsOn: base}
  alone: {type: local/file, spec: {path: alone, content: '${variables.text}'}}
";

fn shop() -> Place {
    Place::with("shop.blueprint.yaml", DOCUMENT)
}

#[test]
fn an_excluded_resource_stays_as_it_is() {
    let place = shop();
    place.ends(0, &["deploy", "--yes"]);
    let changed = place
        .ends(
            0,
            &["deploy", "--yes", "--var", "text=two", "--exclude", "base"],
        )
        .out;
    assert!(changed.contains("1 updated"), "{changed}");
    assert_eq!(place.read("base"), "one");
    assert_eq!(place.read("alone"), "two");
}

#[test]
fn readers_of_an_excluded_resource_see_its_recorded_value() {
    let document = DOCUMENT.replace("spec.path}'}, dependsOn", "spec.content}'}, dependsOn");
    let place = Place::with("shop.blueprint.yaml", &document);
    place.ends(0, &["deploy", "--yes"]);
    let words = ["--var", "text=two", "--exclude", "base"];
    let staged = place.ends(0, &[["stage"].as_slice(), &words].concat()).out;
    assert!(
        staged.contains("1 to update") && !staged.contains("user"),
        "{staged}"
    );
    place.ends(0, &[["deploy", "--yes"].as_slice(), &words].concat());
    assert_eq!(place.read("user"), "after one");
    place.ends(0, &["deploy", "--yes", "--var", "text=two"]);
    assert_eq!(place.read("user"), "after two");
}

#[test]
fn an_excluded_resource_that_is_needed_is_an_error_unless_its_users_are_excluded() {
    let place = shop();
    let refused = place.ends(1, &["deploy", "--yes", "--exclude", "base"]).err;
    for part in [
        "error[excluded-but-needed]: `user` needs `base`",
        "`base` does not exist yet",
        "--exclude-dependents",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert!(!place.has("alone"), "a plan with an error changes nothing");
    place.ends(
        0,
        &[
            "deploy",
            "--yes",
            "--exclude",
            "base",
            "--exclude-dependents",
        ],
    );
    assert!(place.has("alone") && !place.has("base") && !place.has("user"));
}

#[test]
fn dependants_of_a_target_are_deleted_with_it() {
    let place = shop();
    place.ends(0, &["deploy", "--yes"]);
    let refused = place.ends(1, &["destroy", "--yes", "--target", "base"]).err;
    assert!(refused.contains("removed-but-needed"), "{refused}");
    place.ends(
        0,
        &[
            "destroy",
            "--yes",
            "--target",
            "base",
            "--target-dependents",
        ],
    );
    assert!(place.has("alone") && !place.has("base") && !place.has("user"));
}

#[test]
fn flags_of_partial_plans_that_exclude_each_other_are_refused() {
    let place = shop();
    for words in [
        ["stage", "--target-dependents", "--strict"].as_slice(),
        &["stage", "--exclude-dependents"],
        &["stage", "--exclude", "base", "--target", "base"],
    ] {
        place.ends(2, words);
    }
    let unknown = place.ends(1, &["stage", "--exclude", "bas"]).err;
    assert!(unknown.contains("did you mean `base`?"), "{unknown}");
    let unknown = place
        .ends(1, &["stage", "--target", "urn:pulumi:dev::demo::a:b:C::d"])
        .err;
    assert!(unknown.contains("error[unknown-address]"), "{unknown}");
}

#[test]
fn expected_absence_of_changes_is_checked_before_anything_is_done() {
    let place = shop();
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["deploy", "--yes", "--expect-no-changes"]);
    place.ends(0, &["stage", "--expect-no-changes"]);
    let words = [
        "deploy",
        "--yes",
        "--expect-no-changes",
        "--var",
        "text=two",
    ];
    let refused = place.ends(1, &words);
    assert!(
        refused.out.contains("~ base local/file update"),
        "{}",
        refused.out
    );
    assert!(
        refused
            .err
            .contains("no changes were expected, and the plan has 2"),
        "{}",
        refused.err
    );
    assert_eq!(place.read("base"), "one");
}

#[test]
fn refresh_takes_the_changes_of_others_into_the_state() {
    let place = shop();
    place.ends(0, &["deploy", "--yes"]);
    place.write("alone", "changed");
    let shown = place.ends(0, &["refresh", "--yes"]).out;
    assert!(shown.contains("alone"), "{shown}");
    let clean = place.ends(0, &["drift"]).out;
    assert!(clean.contains("0 drifted"), "{clean}");
    assert_eq!(place.read("alone"), "changed");
}
