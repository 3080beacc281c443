//! Dependants read what an object has, not what its plugin forecast.

use crate::lab::{FAMILIES, Lab};

/// A document of an item and a reader of its mark, which names or describes the reader.
fn document(size: i64, reader: &str) -> [(&'static str, String); 2] {
    [
        ("a", format!("{{name: a, size: {size}}}")),
        ("b", reader.to_owned()),
    ]
}

fn write(lab: &Lab, resources: &[(&'static str, String)]) {
    let resources: Vec<(&str, &str)> = resources
        .iter()
        .map(|(name, spec)| (*name, spec.as_str()))
        .collect();
    lab.document(&resources);
}

#[test]
fn a_dependant_reads_the_output_in_place_of_the_forecast() {
    let lab = Lab::new("pulumi");
    write(&lab, &document(1, "{name: b, source: \"${a.spec.mark}\"}"));
    lab.world.rule("preview", "set:{\"mark\":\"forecast\"}");
    lab.deploy(0);
    assert_eq!(lab.world.get("b-1").unwrap()["source"], "mark-a");
    lab.ends(0, &["destroy", "-y"]);
    assert!(lab.world.ids().is_empty());
}

#[test]
fn an_update_that_becomes_a_replacement_stops() {
    let lab = Lab::new("pulumi");
    write(&lab, &document(1, "{name: \"${a.spec.mark}\", size: 1}"));
    lab.deploy(0);
    let before = lab.world.ids();
    assert_eq!(before, ["a-1", "mark-a-1"]);
    // The forecast keeps the mark, and the update changes it: the reader would be replaced.
    write(&lab, &document(2, "{name: \"${a.spec.mark}\", size: 2}"));
    lab.world.rule("update", "set:{\"mark\":\"other\"}");
    let said = lab.deploy(4).err;
    assert!(said.contains("error[promise-broken]"), "{said}");
    assert!(said.contains("`b` must be replaced after all"), "{said}");
    assert_eq!(lab.world.ids(), before);
}

#[test]
fn an_exact_forecast_that_differs_stops_the_run() {
    let lab = Lab::new("terraform");
    write(&lab, &document(1, "{name: b, source: \"${a.spec.mark}\"}"));
    for _ in 0..2 {
        lab.world.rule("plan", "set:{\"mark\":\"forecast\"}");
    }
    lab.world.rule("create", "set:{\"mark\":\"other\"}");
    let said = lab.deploy(4).err;
    assert!(said.contains("contradicts"), "{said}");
    assert_eq!(lab.world.ids(), ["a-1"]);
}

/// An input that was known in an exact plan stays as it was planned.
#[test]
fn an_exact_plan_that_answers_another_input_stops_before_the_call() {
    let broken = "error[promise-broken]";
    for (set, now, said) in [
        ("{\"zone\":\"one\"}", "{\"zone\":\"two\"}", broken),
        ("{\"zone\":\"one\"}", "{\"zone\":null}", broken),
        ("{\"mark\":\"one\"}", "{\"mark\":\"two\"}", broken),
        // The host compares what the document sets.
        ("{}", "{\"size\":7}", "the provider contradicts itself"),
    ] {
        let lab = Lab::new("terraform");
        let reader = "{name: b, size: 5, source: \"${a.spec.mark}\"}";
        write(&lab, &document(1, reader));
        // The plans of `a` and `b`, and that of `b` before its create.
        lab.world.rule("plan", "effect");
        for answer in [set, now] {
            lab.world.rule("plan", &format!("set:{answer}"));
        }
        let ran = lab.run(&["deploy", "-y"]);
        assert_eq!(ran.code, 4, "{set} {now}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(said), "{set} {now}: {}", ran.err);
        assert_eq!(lab.world.ids(), ["a-1"], "{set} {now}");
        assert_eq!(lab.world.calls("create"), 1, "{set} {now}");
    }
}

#[test]
fn an_input_that_a_check_changes_at_the_call_is_a_warning_and_is_recorded() {
    for set in ["{\"size\":7}", "{\"any\":\"new\"}", "{\"size\":null}"] {
        let lab = Lab::new("pulumi");
        write(
            &lab,
            &document(1, "{name: b, size: 5, source: \"${a.spec.mark}\"}"),
        );
        // The checks of the plan, and that of `b` before its create.
        for _ in 0..2 {
            lab.world.rule("check", "effect");
        }
        lab.world.rule("check", &format!("set:{set}"));
        let said = lab.deploy(0).err;
        assert!(said.contains("warning[promise-broken]"), "{set}: {said}");
        assert!(
            said.contains("of `b` another value than in the plan"),
            "{set}: {said}"
        );
        let shown = lab.ends(0, &["show", "b", "--json"]).out;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let set: serde_json::Value = serde_json::from_str(set).unwrap();
        let (name, value) = set.as_object().unwrap().iter().next().unwrap();
        let spec = &shown["result"]["spec"];
        assert_eq!(&spec[name], value, "{shown}");
    }
}

#[test]
fn a_cut_off_update_with_a_computed_part_is_never_stuck() {
    for course in ["die", "effect die", "effect status:14"] {
        let lab = Lab::new("terraform");
        let nested = "nested: [{key: k}]";
        lab.document(&[("a", &format!("{{name: a, size: 1, {nested}}}"))]);
        lab.deploy(0);
        lab.document(&[("a", &format!("{{name: a, size: 2, {nested}}}"))]);
        lab.world.rule("update", course);
        assert_ne!(lab.run(&["deploy", "-y"]).code, 0);
        lab.deploy(0);
        lab.holds(Some(2)).unwrap();
        let again = lab.deploy(0);
        assert!(
            again.out.contains("up to date") || again.out.contains("0 updated"),
            "{}",
            again.out
        );
    }
}

#[test]
fn a_plugin_that_changes_refuses_the_saved_plan() {
    for family in FAMILIES {
        let lab = Lab::new(family);
        lab.document(&[("a", "{name: a}")]);
        lab.ends(0, &["stage", "--out", "a.plan"]);
        lab.configure_with(&["--exact", "plugin", "--nocapture", "another"], "");
        let said = lab.ends(1, &["deploy", "a.plan", "-y"]).err;
        assert!(
            said.contains("the plugin of `stub` has changed since the plan was made"),
            "{said}"
        );
        assert!(lab.world.ids().is_empty());
        lab.configure("");
        lab.ends(0, &["deploy", "a.plan", "-y"]);
        assert_eq!(lab.world.ids(), ["a-1"]);
    }
}
