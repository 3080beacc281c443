//! A resource is never made twice or left over, whatever a plugin answers to a create.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{FAMILIES, Lab};
use crate::place::ran;

#[test]
fn well_behaved_plugin_creates_updates_and_deletes() {
    for family in FAMILIES {
        let lab = Lab::new(family);
        lab.document(&[
            ("a", "{name: a, size: 1}"),
            ("b", "{name: b, source: \"${a.spec.mark}\"}"),
        ]);
        let ran = lab.deploy(0);
        assert_eq!(lab.world.ids(), ["a-1", "b-1"], "{}{}", ran.out, ran.err);
        lab.document(&[("a", "{name: a, size: 2}")]);
        lab.deploy(0);
        assert_eq!(lab.world.ids(), ["a-1"]);
        assert_eq!(lab.world.get("a-1").unwrap()["size"], 2);
        lab.ends(0, &["destroy", "-y"]);
        assert!(lab.world.ids().is_empty());
    }
}

/// A create is carried out, and its answer never comes. Returns what was said.
fn unanswered(family: &'static str, interrupted: bool) -> String {
    let lab = Lab::new(family);
    lab.place.write(
        "a.blueprint.yaml",
        format!(
            "version: 2023-04-20\nresources:\n  a:\n    type: \"{}\"\n    spec: {{name: a}}\n    \
             metadata: {{annotations: {{cyan.timeout.create: {}}}}}\n",
            lab.item(),
            if interrupted { "10m" } else { "1s" },
        ),
    );
    lab.world.rule("create", "effect sleep:600000");
    let mut deploy = lab.command(&["deploy", "-y"]);
    deploy.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = deploy.spawn().unwrap();
    if interrupted {
        let process = Pid::from_child(&child);
        // The second interrupt cancels the running calls.
        for _ in 0..2 {
            lab.until("the object was made", || lab.world.ids() == ["a-1"]);
            kill_process(process, Signal::INT).unwrap();
            std::thread::sleep(Duration::from_millis(300));
        }
    }
    let first = ran(child.wait_with_output().unwrap());
    let said = format!("{family}, {interrupted}: {}{}", first.out, first.err);
    assert_ne!(first.code, 0, "{said}");
    let second = lab.deploy(1);
    assert!(second.err.contains("needs-attention"), "{}", second.err);
    assert_eq!(lab.world.calls("create"), 1, "{said}{}", second.err);
    lab.ends(0, &["reconcile", "-y", "--adopt", "a=a-1"]);
    lab.deploy(0);
    assert_eq!(lab.recorded(), ["a-1"]);
    assert_eq!(lab.world.calls("create"), 1);
    said
}

#[test]
fn a_create_without_an_answer_is_never_repeated() {
    let cases = FAMILIES.map(|family| [(family, false), (family, true)]);
    let runs: Vec<_> = cases
        .into_iter()
        .flatten()
        .map(|(family, interrupted)| std::thread::spawn(move || unanswered(family, interrupted)))
        .collect();
    for run in runs {
        let said = run.join().unwrap();
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn a_status_that_does_not_refuse_stops_the_create() {
    for family in FAMILIES {
        for code in [1, 4, 8, 10, 14] {
            let lab = Lab::new(family);
            lab.document(&[("a", "{name: a}")]);
            lab.world.rule("create", &format!("effect status:{code}"));
            let said = lab.run(&["deploy", "-y"]);
            assert_ne!(said.code, 0, "{family}, {code}: {}", said.err);
            assert!(
                said.err
                    .contains("the outcome of the create of `a` is not known"),
                "{family}, {code}: {}",
                said.err
            );
            assert_eq!(lab.world.ids(), ["a-1"], "{family}, {code}");
        }
    }
}
