//! Processes that end, that lack types, and that answer with the objects of others.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::lab::{FAMILIES, Lab};
use crate::place::ran;

#[test]
fn the_death_of_a_plugin_is_one_error_with_its_last_words() {
    for family in FAMILIES {
        let lab = Lab::new(family);
        let names: Vec<String> = (0..50).map(|at| format!("r{at}")).collect();
        let specs: Vec<String> = names
            .iter()
            .map(|name| format!("{{name: {name}}}"))
            .collect();
        let resources: Vec<(&str, &str)> = names
            .iter()
            .zip(&specs)
            .map(|(name, spec)| (name.as_str(), spec.as_str()))
            .collect();
        lab.document(&resources);
        lab.world.always("check", "die");
        let said = lab.deploy(1).err;
        assert_eq!(said.matches("error[").count(), 1, "{family}: {said}");
        assert!(said.contains("last words of the stub"), "{family}: {said}");
    }
}

#[test]
fn the_object_of_another_instance_is_not_taken() {
    let lab = Lab::new("pulumi");
    lab.document(&[("a", "{name: a}")]);
    lab.ends(0, &["deploy", "-y", "-i", "one"]);
    lab.document(&[("b", "{name: b}")]);
    lab.world.rule("create", "id:a-1");
    let said = lab.run(&["deploy", "-y", "-i", "two"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(
        said.err.contains("the id belongs to `a` of `one`"),
        "{}",
        said.err
    );
    lab.run(&["destroy", "-y", "-i", "two"]);
    assert_eq!(lab.world.ids(), ["a-1"]);
}

#[test]
fn a_destroy_begins_only_if_the_plugin_has_all_types() {
    for family in FAMILIES {
        let lab = Lab::new(family);
        let (item, other) = match family {
            "pulumi" => ("stub/index:Item", "stub/index:Other"),
            _ => ("stub/item", "stub/other"),
        };
        lab.place.write(
            "a.blueprint.yaml",
            format!(
                "version: 2023-04-20\nresources:\n  a: {{type: \"{item}\", spec: {{name: a}}}}\n  \
                 b: {{type: \"{other}\", spec: {{name: b}}}}\n"
            ),
        );
        lab.deploy(0);
        // Another argument is another plugin, whose schema is not cached.
        lab.configure_with(&["--exact", "plugin", "--nocapture", "another"], "");
        lab.world.rule("schema", "set:{\"resources\":{}}");
        let before = lab.world.ids();
        let said = lab.run(&["destroy", "-y"]);
        assert_ne!(said.code, 0, "{family}: {}{}", said.out, said.err);
        assert_eq!(
            lab.world.ids(),
            before,
            "{family}: {}{}",
            said.out,
            said.err
        );
        assert_eq!(lab.world.calls("delete"), 0, "{family}");
    }
}

#[test]
fn plugins_of_a_killed_run_end_with_the_next_run_in_another_environment() {
    let lab = Lab::new("pulumi");
    lab.document(&[("a", "{name: a}")]);
    lab.world.rule("create", "effect sleep:600000");
    let mut deploy = lab.command(&["deploy", "-y"]);
    deploy.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = deploy.spawn().unwrap();
    lab.until("the object was made", || lab.world.ids() == ["a-1"]);
    let left = lab.world.processes();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    lab.place.write("tmp/.keep", "");
    let mut next = lab.command(&["reconcile", "-y", "--adopt", "a=a-1"]);
    next.env("TMPDIR", lab.path().join("tmp"));
    next.output().unwrap();
    for process in left {
        let process = Pid::from_raw(process).unwrap();
        lab.until("the process ended", || test_kill_process(process).is_err());
    }
}

#[test]
fn an_answer_that_is_nested_too_deep_is_said_to_be() {
    let lab = Lab::new("pulumi");
    lab.document(&[("a", "{name: a}")]);
    lab.world.rule("create", "deep:60");
    let said = lab.deploy(4).err;
    assert!(said.contains("its answer cannot be read"), "{said}");
    assert!(!said.contains("compression"), "{said}");
}

#[test]
fn a_lost_call_says_how_the_process_ended() {
    for family in FAMILIES {
        let lab = Lab::new(family);
        lab.document(&[("a", "{name: a}")]);
        lab.world.rule("create", "die");
        let said = lab.deploy(4).err;
        assert!(said.contains("exited with code 7"), "{family}: {said}");
        assert!(said.contains("last words of the stub"), "{family}: {said}");
    }
}

/// A start that fails because too many files are open leaves no folder of the plugin.
#[test]
fn a_failed_start_leaves_no_folder() {
    let lab = Lab::new("terraform");
    lab.document(&[("a", "{name: a}")]);
    let folder = lab.place.path().join("tmp");
    std::fs::create_dir(&folder).unwrap();
    let mut failed = 0;
    for files in (10..70).step_by(3) {
        let cyan = lab.command(&["stage"]);
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")])
            .arg(cyan.get_program())
            .args(cyan.get_args())
            .current_dir(cyan.get_current_dir().unwrap());
        for (name, value) in cyan.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let ran = self::ran(command.env("TMPDIR", &folder).output().unwrap());
        failed += usize::from(ran.code != 0);
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
        assert!(left.is_empty(), "{files}: {left:?}\n{}{}", ran.out, ran.err);
    }
    assert!(failed > 0);
}
