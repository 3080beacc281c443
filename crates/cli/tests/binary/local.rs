//! Tests of the provider `local` through the binary: files, folders and commands.

use crate::place::Place;

/// Returns a document with one resource.
fn one(type_name: &str, spec: &str) -> String {
    format!("version: 2023-04-20\nresources:\n  it:\n    type: {type_name}\n    spec: {spec}\n")
}

/// A shell command that kills `cyan` and the process that records the command, once. The command
/// itself continues, but nothing tells how it ends.
const KILL_ONCE: &str = "test -e killed || { touch killed; kill -9 $(cut -d\\  -f4 /proc/$PPID/stat) $PPID; sleep 0.3; }";

#[test]
fn commands_inherit_neither_the_key_nor_the_inputs() {
    let text = "version: 2023-04-20
variables:
  password: {type: string}
resources:
  seen:
    type: local/command
    spec: {create: 'env | sort > seen', environment: {OWN: 'yes'}}
  asked:
    type: local/file
    spec: {path: asked, content: '${datasources.asked.stdout}'}
datasources:
  asked:
    type: local/command
    metadata: {displayName: What a command sees}
    filter: {field: command, operator: '=', search: env}
    exports: {stdout: {type: string}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let ended = place
        .cyan(&["deploy", "--yes"])
        .envs([
            ("CYAN_KEY", key),
            ("CYAN_VAR_password", "hunter2"),
            ("CYAN_OTHER", "x"),
            ("KEPT", "y"),
        ])
        .output()
        .unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    for seen in ["seen", "asked"] {
        let seen = place.read(seen);
        let names: Vec<&str> = seen
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        let own: Vec<&&str> = names
            .iter()
            .filter(|name| name.starts_with("CYAN_"))
            .collect();
        assert!(own.len() == 3, "only what is about the call: {own:?}");
        assert!(names.contains(&"KEPT") && !seen.contains(key) && !seen.contains("hunter2"));
    }
    let asks = "version: 2023-04-20
resources:
  copy: {type: local/file, spec: {path: copy, content: '${datasources.key.value}'}}
datasources:
  key:
    type: local/environment
    metadata: {displayName: The key}
    filter: {field: name, operator: '=', search: CYAN_KEY}
    exports: {value: {type: string}}
";
    place.write("b.blueprint.yaml", asks);
    let ended = place
        .cyan(&["stage", "b.blueprint.yaml"])
        .env("CYAN_KEY", key)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert!(
        !ended.status.success() && err.contains("`CYAN_KEY` is for `cyan` alone"),
        "{err}"
    );
}

#[test]
fn existing_object_is_adopted_on_request_and_kept() {
    let text = "version: 2023-04-20
resources:
  file: {type: local/file, spec: {path: have/f, content: x}}
  folder: {type: local/directory, spec: {path: have}}
  link: {type: local/symlink, spec: {path: have/l, target: f}}
  fresh: {type: local/file, spec: {path: have/new, content: x}}
";
    let place = Place::with("a.blueprint.yaml", text);
    place.write("have/f", "x");
    std::os::unix::fs::symlink("f", place.path().join("have/l")).unwrap();
    let staged = place.ends(0, &["stage"]);
    let adopted: Vec<&str> = staged
        .out
        .lines()
        .filter(|line| line.ends_with("(exists already, will be adopted)"))
        .collect();
    assert_eq!(adopted.len(), 3, "{}", staged.out);
    let json = place.ends(0, &["stage", "--json"]);
    assert_eq!(
        json.out.matches("\"adopts\":true").count() + json.out.matches("\"adopts\": true").count(),
        3,
        "{}",
        json.out
    );
    place.ends(0, &["deploy", "--yes"]);
    let shown = place.ends(0, &["show", "--json"]);
    assert!(shown.out.contains("existed"), "{}", shown.out);
    let again = place.ends(0, &["stage", "--exit-code"]);
    assert_eq!(again.last_line(), "0 to create, 0 to update, 0 to delete");
    place.ends(0, &["destroy", "--yes"]);
    assert!(place.has("have/f") && place.has("have/l") && !place.has("have/new"));
}

#[test]
fn path_known_on_deploy_is_checked_on_deploy() {
    let text = "version: 2023-04-20
resources:
  name: {type: local/command, spec: {create: 'echo -n sub', read: 'true'}}
  folder: {type: local/directory, spec: {path: '${name.spec.stdout}/d'}}
  file: {type: local/file, dependsOn: folder, spec: {path: '${folder.spec.path}/f', content: x}}
";
    let place = Place::with("a.blueprint.yaml", text);
    place.write("sub/d/f", "x");
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["destroy", "--yes"]);
    assert!(place.has("sub/d/f"), "it was there before");
}

#[test]
fn many_files_in_unordered_folders_are_created_and_deleted() {
    let mut text = "version: 2023-04-20\nresources:\n".to_owned();
    for at in 0..60 {
        for file in 0..3 {
            text += &format!(
                "  f{at}x{file}: {{type: local/file, spec: {{path: out/d{at}/f{file}, content: x}}}}\n"
            );
        }
        text += &format!("  d{at}: {{type: local/directory, spec: {{path: out/d{at}}}}}\n");
    }
    text += "  out: {type: local/directory, spec: {path: out}}\n";
    let place = Place::with("a.blueprint.yaml", &text);
    place.ends(0, &["deploy", "--yes"]);
    let shown = place.ends(0, &["show", "--json"]);
    assert!(!shown.out.contains("\"existed\": true") && !shown.out.contains("\"existed\":true"));
    place.ends(0, &["destroy", "--yes"]);
    assert!(
        !place.has("out"),
        "{:?}",
        std::fs::read_dir(place.path().join("out")).unwrap().count()
    );
}

#[test]
fn folders_of_a_killed_run_go_with_destroy() {
    let mut text = "version: 2023-04-20\nresources:\n".to_owned();
    text += &format!(
        "  kill: {{type: local/command, dependsOn: [d7, f3], spec: {{create: '{KILL_ONCE}'}}}}\n"
    );
    for at in 0..20 {
        text += &format!("  d{at}: {{type: local/directory, spec: {{path: out/d{at}}}}}\n");
        text += &format!(
            "  f{at}: {{type: local/file, spec: {{path: out/d{at}/below/f, content: x}}}}\n"
        );
        text += &format!(
            "  b{at}: {{type: local/directory, dependsOn: kill, spec: {{path: out/d{at}/below}}}}\n"
        );
    }
    text += "  out: {type: local/directory, dependsOn: kill, spec: {path: out}}\n";
    let place = Place::with("a.blueprint.yaml", &text);
    assert_eq!(place.run(&["deploy", "--yes"]).code, -1, "it was killed");
    place.ends(0, &["unlock", "--yes"]);
    place.ends(0, &["reconcile", "--yes", "--retry", "kill"]);
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["destroy", "--yes"]);
    for at in 0..20 {
        assert!(!place.has(&format!("out/d{at}/below/f")), "f{at} is left");
    }
    assert!(
        !place.has("out"),
        "a folder is left: {:?}",
        names_below(&place.path().join("out"))
    );
}

/// A command edits the source during the deploy. A file that does not depend on the command is not
/// written; a file that depends on it is written.
#[test]
fn source_that_is_edited_after_the_plan_is_not_copied() {
    let document = |waits: &str| {
        format!(
            "version: 2023-04-20
resources:
  edit: {{type: local/command, spec: {{create: 'echo edited > source'}}}}
  then: {{type: local/command, dependsOn: edit, spec: {{create: 'true'}}}}
  last: {{type: local/command, dependsOn: then, spec: {{create: 'true'}}}}
  copy: {{type: local/file, {waits}spec: {{path: copy, source: source}}}}
"
        )
    };
    let place = Place::with("a.blueprint.yaml", &document(""));
    place.write("source", "as planned\n");
    let failed = place.run(&["deploy", "--yes", "--parallelism", "1"]);
    assert_eq!(failed.code, 4, "{}{}", failed.out, failed.err);
    assert!(
        failed
            .err
            .contains("`source` has changed since the plan was made"),
        "{}",
        failed.err
    );
    assert!(!place.has("copy"));
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("copy"), "edited\n");
    place.ends(0, &["destroy", "--yes"]);
    place.write("a.blueprint.yaml", document("dependsOn: edit, "));
    place.write("source", "as planned\n");
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("copy"), "edited\n");
}

#[test]
fn secret_in_the_command_of_a_data_source_is_warned_of() {
    let text = "version: 2023-04-20
variables: {word: {type: string, secret: true}}
datasources:
  said:
    type: local/command
    filter: {field: command, operator: '=', search: 'echo ${variables.word}'}
    exports: {stdout: {type: string}}
resources: {it: {type: std/value, spec: {input: '${datasources.said.stdout}'}}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let ended = place.ends(0, &["stage", "--var", "word=hunter22"]);
    assert!(
        ended
            .err
            .contains("a secret in a command line shows in the list of processes"),
        "{}",
        ended.err
    );
    assert!(
        ended
            .err
            .contains("the provider has a remark about the data source `said`"),
        "{}",
        ended.err
    );
    assert_eq!(
        ended.err.matches("list of processes").count(),
        1,
        "{}",
        ended.err
    );
}

fn names_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    entries
        .flat_map(|path| std::iter::once(path.clone()).chain(names_below(&path)))
        .collect()
}

/// The run is killed before the file is written into its new folder. Another run settles that
/// before the resource of the folder is processed.
#[test]
fn folder_above_a_file_that_was_never_written_goes_with_destroy() {
    let document = |first: &str| {
        format!(
            "version: 2023-04-20
resources:
  it: {{type: local/file, spec: {{path: out/below/it, {first}}}}}
  below: {{type: local/directory, dependsOn: it, spec: {{path: out/below}}}}
  out: {{type: local/directory, dependsOn: it, spec: {{path: out}}}}
"
        )
    };
    let place = Place::with("a.blueprint.yaml", &document("source: no-such"));
    // The folders are created, but the file is not: its name is too long.
    let long = "x".repeat(300);
    place.write(
        "a.blueprint.yaml",
        document("content: x").replace("below/it", &format!("below/{long}")),
    );
    assert_ne!(
        place.run(&["deploy", "--yes"]).code,
        0,
        "the file cannot be written"
    );
    assert!(place.has("out/below"), "the folders above it were made");
    place.run(&["reconcile", "--yes"]);
    place.write("a.blueprint.yaml", document("content: x"));
    let planned = place.ends(0, &["stage"]);
    assert!(!planned.out.contains("will be adopted"), "{}", planned.out);
    place.ends(0, &["deploy", "--yes", "--no-refresh"]);
    place.ends(0, &["destroy", "--yes"]);
    assert!(
        !place.has("out"),
        "{:?}",
        names_below(&place.path().join("out"))
    );
}

/// The deletes have no order. Each run ends after one of them.
#[test]
fn folder_goes_with_a_destroy_without_refresh_that_was_killed() {
    let mut text =
        "version: 2023-04-20\nresources:\n  out: {type: local/directory, spec: {path: out}}\n"
            .to_owned();
    for at in 0..4 {
        text += &format!("  f{at}: {{type: local/file, spec: {{path: out/f{at}, content: x}}}}\n");
    }
    text += "  kill: {type: local/command, spec: {create: 'true', delete: 'test -e killed || { touch killed; kill -9 $(cut -d\\  -f4 /proc/$PPID/stat) $PPID; sleep 9; }'}}\n";
    let place = Place::with("a.blueprint.yaml", &text);
    place.ends(0, &["deploy", "--yes"]);
    let killed = place.run(&["destroy", "--yes", "--no-refresh", "--parallelism", "1"]);
    assert_eq!(killed.code, -1, "it was killed");
    place.ends(0, &["unlock", "--yes"]);
    place.ends(0, &["reconcile", "--yes", "--retry", "kill"]);
    place.ends(0, &["destroy", "--yes", "--no-refresh"]);
    assert!(
        !place.has("out"),
        "{:?}",
        names_below(&place.path().join("out"))
    );
}

#[test]
fn output_of_a_killed_command_is_never_taken_as_empty() {
    let text = format!(
        "version: 2023-04-20
resources:
  made:
    type: local/command
    spec: {{create: 'touch thing; {KILL_ONCE}; echo 42', read: 'test -e thing || exit 3', delete: rm thing}}
  user: {{type: local/file, spec: {{path: user.txt, content: 'it is ${{made.spec.stdout}}'}}}}
"
    );
    let place = Place::with("a.blueprint.yaml", &text);
    assert_eq!(place.run(&["deploy", "--yes"]).code, -1, "it was killed");
    place.ends(0, &["unlock", "--yes"]);
    let ended = place.ends(1, &["deploy", "--yes"]);
    assert!(
        ended
            .err
            .contains("error[needs-attention]: `stdout` of `made` is not known"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("cyan deploy --replace 'made'") && !place.has("user.txt"),
        "{}",
        ended.err
    );
    place.ends(0, &["deploy", "--yes", "--replace", "made"]);
    assert_eq!(place.read("user.txt"), "it is 42");
    let again = place.ends(0, &["stage", "--exit-code"]);
    assert_eq!(again.last_line(), "0 to create, 0 to update, 0 to delete");
}

#[test]
fn an_update_that_was_cut_off_runs_again_or_a_person_is_asked() {
    let text = |round: u32, read: &str| {
        one(
            "local/command",
            &format!(
                "{{create: 'echo {round} >> log; test {round} = 1 || {{ {KILL_ONCE}; }}'{read}}}"
            ),
        )
    };
    for (read, asks) in [(", read: 'true'", false), ("", true)] {
        let place = Place::with("a.blueprint.yaml", &text(1, read));
        place.ends(0, &["deploy", "--yes"]);
        place.write("a.blueprint.yaml", text(2, read));
        assert_eq!(place.run(&["deploy", "--yes"]).code, -1, "it was killed");
        place.ends(0, &["unlock", "--yes"]);
        if asks {
            let ended = place.ends(1, &["deploy", "--yes"]);
            assert!(
                ended
                    .err
                    .contains("the outcome of the update of `it` is not known"),
                "{}",
                ended.err
            );
            place.ends(0, &["reconcile", "--yes", "--adopt", "it"]);
        }
        place.ends(0, &["deploy", "--yes"]);
        assert_eq!(place.read("log"), if asks { "1\n2\n" } else { "1\n2\n2\n" });
    }
}

#[test]
fn files_of_a_child_are_relative_to_the_child() {
    let root = "version: 2023-04-20
include:
  sub: {path: sub/c.blueprint.yaml}
";
    let child = "version: 2023-04-20
resources:
  text: {type: std/template, spec: {source: t.txt}}
  copy: {type: local/file, spec: {path: copy.txt, source: t.txt}}
  where: {type: local/command, spec: {create: 'pwd > here', delete: 'rm here'}}
  told: {type: local/file, spec: {path: told.txt, content: '${text.spec.rendered} ${datasources.t.content}'}}
datasources:
  t:
    type: local/file
    metadata: {displayName: Companion it}
    filter: {field: path, operator: '=', search: t.txt}
    exports: {content: {type: string}}
";
    let place = Place::with("a.blueprint.yaml", root);
    place.write("sub/c.blueprint.yaml", child);
    place.write("sub/t.txt", "below");
    place.write("t.txt", "above");
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("told.txt"), "below below");
    assert_eq!(place.read("copy.txt"), "below");
    assert!(place.has("sub/here"));
    let again = place.ends(0, &["stage", "--exit-code"]);
    assert_eq!(
        again.last_line(),
        "0 to create, 0 to update, 0 to delete",
        "{}",
        again.out
    );
    // A destroy finds the paths in the state.
    place.ends(0, &["destroy", "--yes"]);
    assert!(!place.has("sub/here"));
}

#[test]
fn tilde_is_not_the_home_folder() {
    let place = Place::with(
        "a.blueprint.yaml",
        &one("local/file", "{path: ~/f, content: x}"),
    );
    let says = "does not mean the home folder here";
    assert!(place.ends(1, &["stage"]).err.contains(says));
    place.write(
        "a.blueprint.yaml",
        one("local/file", "{path: f, content: '${file(\"~/f\")}'}"),
    );
    assert!(place.ends(1, &["stage"]).err.contains(says));
    place.write(
        "a.blueprint.yaml",
        one("local/file", "{path: f, content: x}"),
    );
    for words in [
        &["stage", "--state", "sqlite:~/state.db"][..],
        &["stage", "--vars", "~/vars.yaml"],
        &["stage", "--out", "~/plan"],
        &["stage", "--config", "~/cyan.toml"],
        &["stage", "--catalog", "~/catalog.json"],
        &["-C", "~/x", "stage"],
        &["deploy", "~/plan"],
        &["state", "export", "~/state.json"],
        &["key", "new", "~/key"],
        &["man", "--out", "~/man"],
        &["init", "~"],
    ] {
        assert!(place.ends(2, words).err.contains(says), "{words:?}");
    }
    for name in ["vars", "catalog"] {
        place.write("cyan.toml", format!("{name} = ['~/x']\n"));
        assert!(place.ends(1, &["stage"]).err.contains(says), "{name}");
    }
    std::fs::remove_file(place.path().join("cyan.toml")).unwrap();
    let ended = place
        .cyan(&["stage"])
        .env("CYAN_KEY_FILE", "~/key")
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains(says),
        "{ended:?}"
    );
    place.write(
        "a.blueprint.yaml",
        "version: 2023-04-20\ninclude:\n  sub: {path: ~/c.blueprint.yaml}\n",
    );
    assert!(place.ends(1, &["stage"]).err.contains(says));
    assert!(!place.has("~"));
}

#[test]
fn sensitive_file_is_readable_by_its_owner_only_unless_a_mode_is_set() {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "version: 2023-04-20
resources:
  secret: {type: local/file, spec: {path: secret, sensitiveContent: hunter2}}
  shared: {type: local/file, spec: {path: shared, sensitiveContent: hunter2, mode: '0640'}}
  plain: {type: local/file, spec: {path: plain, content: x}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let ended = place
        .cyan(&["deploy", "--yes"])
        .env("CYAN_KEY", key)
        .output()
        .unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let mode = |name: &str| {
        std::fs::metadata(place.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        [mode("secret"), mode("shared"), mode("plain")],
        [0o600, 0o640, 0o644]
    );
}
