//! What a user is told who writes a command, flag, name, file or setting of another tool, or a
//! mistyped one: each answer names what to do.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::place::{Place, Ran, ran};

const DOCUMENT: &str = "version: 2023-04-20
variables:
  b: {type: boolean, default: true}
  name: {type: string, default: one}
resources:
  f: {type: local/file, spec: {path: out.txt, content: \"${variables.name} ${variables.b}\"}}
exports:
  path: {type: string, field: resources.f.spec.path}
";

/// A folder with a deployed document.
fn deployed() -> Place {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    place.ends(0, &["deploy", "-y"]);
    place
}

/// Runs each command line and checks that its errors have a text.
#[track_caller]
fn told(place: &Place, code: i32, cases: &[(&str, &str)]) {
    for (words, says) in cases {
        let words: Vec<&str> = words.split(' ').collect();
        let said = place.ends(code, &words).err;
        assert!(said.contains(says), "{words:?} lacks {says:?}:\n{said}");
    }
}

#[test]
fn a_flag_of_another_tool_names_the_flag_that_does_the_same() {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    let cases = [
        ("deploy -var b=false", "write it with two dashes: `--var`"),
        ("stage -out p", "write it with two dashes: `--out`"),
        ("destroy -target=f", "write it with two dashes: `--target`"),
        (
            "deploy -auto-approve",
            "unexpected argument '-auto-approve'",
        ),
        ("deploy -auto-approve", "use `--yes`"),
        ("deploy --auto-approve", "use `--yes`"),
        ("deploy --var-file=x", "use `--vars`"),
        ("deploy --lock-timeout=3s", "use `--lock-wait`"),
        ("deploy --dry-run", "use `cyan stage`"),
        ("deploy --keep-varz", "did you mean `--keep-vars`?"),
        ("deploy --zzzz", "`cyan deploy --help` lists the flags"),
        // The counterpart is no flag of this command.
        (
            "stage --auto-approve",
            "`cyan stage --help` lists the flags",
        ),
    ];
    told(&place, 2, &cases);
    let said = place.ends(2, &["deploy", "-var", "password=hunter2"]).err;
    assert!(!said.contains("hunter2"), "{said}");
    let said = place.ends(2, &["deploy", "-password=hunter2"]).err;
    assert!(!said.contains("hunter2"), "{said}");
    let said = place.ends(2, &["deploy", "-auto-approve", "--json"]).out;
    assert!(said.contains("\"help\":[\"use `--yes`\"]"), "{said}");
}

#[test]
fn a_command_of_another_tool_names_the_command_that_does_the_same() {
    let place = Place::new();
    let cases = [
        ("state list", "use `cyan show`"),
        ("state rm f", "use `cyan state remove`"),
        ("state mv a b", "use `cyan state move`"),
        (
            "workspace list",
            "select an instance with `--instance NAME`",
        ),
        ("version", "use `cyan --version`"),
        ("taint f", "use `cyan deploy --replace ADDRESS`"),
        ("get f", "use `cyan show`"),
        ("describe f", "use `cyan show`"),
        ("delete", "use `cyan destroy`"),
        ("diff", "use `cyan stage`"),
        ("providers", "use `cyan types`"),
        ("outputs", "use `cyan exports`"),
        ("stack create", "use `cyan deploy`"),
        ("depoly", "did you mean `deploy`?"),
        ("zzzzzz", "`cyan --help` lists the commands"),
        ("state zzzzzz", "`cyan state --help` lists the commands"),
    ];
    told(&place, 2, &cases);
    for command in ["plan", "preview", "apply", "up", "refresh", "output"] {
        place.ends(0, &[command, "--help"]);
    }
}

#[test]
fn no_command_is_suggested_that_does_something_else() {
    let place = Place::new();
    for word in ["tests", "untaint", "providers", "diff", "taint", "trst"] {
        let said = place.ends(2, &[word]).err;
        assert!(!said.contains("similar"), "{word}: {said}");
        assert!(!said.contains("destroy"), "{word}: {said}");
    }
}

#[test]
fn the_words_of_other_tools_name_commands_that_exist() {
    let place = Place::new();
    for known in diag::FOREIGN_COMMANDS {
        let help = known.help();
        for command in help.split('`').skip(1).step_by(2) {
            let Some(words) = command.strip_prefix("cyan ") else {
                continue;
            };
            let lower = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
            let mut words: Vec<&str> = words.split(' ').take_while(lower).collect();
            words.push("--help");
            place.ends(0, &words);
        }
        let words: Vec<&str> = known.word.split(' ').collect();
        let said = place.ends(2, &words).err;
        assert!(said.contains(&help), "{words:?}: {said}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_those_that_exist() {
    let place = deployed();
    let cases = [
        ("stage --target resources.f", "write `f`"),
        ("stage --target zzz", "there is only `f`"),
        ("deploy --replace zzz", "there is only `f`"),
        ("show resources.f", "write `f`"),
        ("show zzz", "there is only `f`"),
        ("state remove zzz -y", "there is only `f`"),
        ("drift --target zzz", "there is only `f`"),
        ("reconcile --forget zzz -y", "no call was cut off"),
        ("show -i zzz", "there is only `doc`"),
        ("destroy -i dox -y", "did you mean `doc`?"),
    ];
    told(&place, 1, &cases);
    let cases = [
        ("exports zzz", "there is only `path`"),
        ("exports pth", "did you mean `path`?"),
        ("types file", "did you mean `local/file`?"),
        ("types zzz", "`cyan types` lists them all"),
    ];
    told(&place, 2, &cases);
}

#[test]
fn a_value_or_file_of_inputs_of_the_wrong_form_names_the_form() {
    let place = deployed();
    place.write("a.tfvars", "# of another tool\nname = \"x\"\n");
    place.write("list.yaml", "- a\n");
    place.write("broken.yaml", "name: [1\n");
    let cases = [
        ("stage --var b=yes", "write `true`"),
        ("stage --var b=off", "write `false`"),
        ("stage --var b=perhaps", "write `true` or `false`"),
        ("stage --vars a.tfvars", "write `name: value` in place of"),
        ("stage --vars list.yaml", "write it as `name: value` lines"),
        ("stage --vars broken.yaml", "broken.yaml:1:7"),
    ];
    told(&place, 1, &cases);
    let cases = [(
        "deploy --parallelism many",
        "write a number from 1 to 65535",
    )];
    told(&place, 2, &cases);
}

/// Runs the console with lines.
fn console(place: &Place, lines: &str) -> Ran {
    place.write("lines", lines);
    let lines = std::fs::File::open(place.path().join("lines")).unwrap();
    let mut command = place.cyan(&["console"]);
    ran(command.stdin(Stdio::from(lines)).output().unwrap())
}

#[test]
fn the_console_knows_its_commands_without_a_colon_and_lists_sections() {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    let all = console(&place, "help\nresources\nvariables\nexit\nnothing\n");
    assert_eq!((all.code, all.out.as_str()), (0, ""), "{}", all.err);
    for part in [":quit", "resources: f\n", "variables: b, name\n"] {
        assert!(all.err.contains(part), "{part}: {}", all.err);
    }
    // A resource of that name is not hidden.
    let named = "version: 2023-04-20\nresources:\n  help: {type: test/data, spec: {input: 1}}\n";
    let place = Place::with("doc.blueprint.yaml", named);
    let all = console(&place, "help\n");
    assert!(!all.err.contains(":quit"), "{}", all.err);
}

#[test]
fn a_place_of_a_state_that_cannot_be_is_named() {
    let place = deployed();
    let said = place
        .ends(1, &["list", "--state", "sqlite:nowhere/a.db"])
        .err;
    assert!(said.contains("`nowhere` is no folder"), "{said}");
    place.write("garbage.db", "garbage garbage garbage");
    let said = place.ends(1, &["show", "--state", "sqlite:garbage.db"]).err;
    assert!(
        said.contains("is not a state file")
            && said.contains("move this file away")
            && !said.contains("the version of cyan"),
        "{said}"
    );
    let state = std::fs::read(place.path().join(".cyan/state.db")).unwrap();
    place.write("cut.db", &state[..state.len() / 2]);
    let said = place.ends(1, &["show", "--state", "sqlite:cut.db"]).err;
    assert!(
        said.contains("put a copy of the file back") && said.contains("move the file away"),
        "{said}"
    );
    place.write("junk", "junk");
    let said = place.ends(1, &["state", "import", "junk"]).err;
    assert!(
        said.contains("name a file of `cyan state export`"),
        "{said}"
    );
}

#[test]
fn an_unusable_key_is_named_with_what_is_wanted() {
    let place = deployed();
    let with = |name: &str, value: &str| {
        let mut command = place.cyan(&["show"]);
        ran(command.env(name, value).output().unwrap())
    };
    let missing = with("CYAN_KEY_FILE", "nofile");
    assert_eq!(missing.code, 1);
    assert!(
        missing.err.contains("`CYAN_KEY_FILE` names `nofile`")
            && missing.err.contains("`cyan key new nofile`"),
        "{}",
        missing.err
    );
    let wrong = with("CYAN_KEY", "abc");
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.err.contains("32 bytes in base64") && !wrong.err.contains("abc"),
        "{}",
        wrong.err
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_named() {
    for path in ["/proc/nothing", "/proc/nothing/x"] {
        let text = DOCUMENT.replace("out.txt", path);
        let place = Place::with("doc.blueprint.yaml", &text);
        let said = place.ends(4, &["deploy", "-y"]).err;
        assert!(
            said.contains("`/proc` takes no new files or folders"),
            "{said}"
        );
    }
}

#[test]
fn a_mistake_in_the_configuration_has_its_key_its_place_and_what_is_meant() {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    for (text, says, help) in [
        (
            "sate = 'x'",
            "line 1, column 1: unknown key `sate`",
            "did you mean `state`?",
        ),
        (
            "no_refresh = true",
            "unknown key `no_refresh`",
            "did you mean `no-refresh`?",
        ),
        ("zzz = 1", "unknown key `zzz`", "the keys here are `state`"),
        (
            "drift = 'revert'",
            "unknown key `drift`",
            "give it on the command line",
        ),
        (
            "[inputs]",
            "unknown key `inputs`",
            "`[instances.NAME.inputs]`",
        ),
        (
            "on-failure = 'stp'",
            "`on-failure` cannot be `stp`",
            "did you mean `stop`?",
        ),
        (
            "color = 'zzz'",
            "`color` cannot be `zzz`",
            "write `auto`, `always` or `never`",
        ),
        (
            "strict = 'yes'",
            "column 10: `strict` must be a boolean",
            "`true` or `false`",
        ),
        ("parallelism = 'x'", "`parallelism`: expected a number", ""),
        ("vars = 'x'", "`vars` must be a list", "in brackets"),
        ("state = 5", "`state` must be a text", "in quotes"),
        (
            "vars = ['none.yaml']",
            "`vars` names `",
            "relative to the configuration file",
        ),
        (
            "[history]\nkep = 1",
            "unknown key `kep`",
            "did you mean `keep`?",
        ),
        (
            "[instances.doc]\nvras = []",
            "unknown key `vras`",
            "did you mean `vars`?",
        ),
        (
            "[instances.doc.providers.http]\ntoken = 'x'",
            "line 2, column 1: the provider `http` has no setting `token`",
            "",
        ),
        (
            "[instances.other.providers.zzz]",
            "no provider `zzz`",
            "`cyan types` lists",
        ),
    ] {
        place.write("cyan.toml", text);
        let said = place.ends(1, &["stage"]).err;
        assert!(
            said.contains(says) && said.contains(help),
            "{text}:\n{said}"
        );
        assert!(
            said.contains("`cyan.toml` cannot be used"),
            "{text}:\n{said}"
        );
    }
}

#[test]
fn the_configuration_gives_inputs_to_one_instance() {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    place.write("all.yaml", "name: all\n");
    place.write("own.yaml", "name: own\nb: false\n");
    let own = "[instances.doc]\nvars = ['own.yaml']\n[instances.doc.inputs]\nname = 'written'\n";
    place.write("cyan.toml", format!("vars = ['all.yaml']\n{own}"));
    let eval = |more: &[&str]| {
        let words = [&["eval", "f.spec.content"], more].concat();
        place.ends(0, &words).out
    };
    assert_eq!(eval(&["-i", "other"]), "all true\n");
    assert_eq!(eval(&["--var", "name=given"]), "given false\n");
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(place.read("out.txt"), "written false");
    place.write("cyan.toml", "[instances.doc.inputs]\nnam = 'x'\n");
    let said = place.ends(1, &["stage"]).err;
    assert!(said.contains("did you mean `name`?"), "{said}");
}

#[test]
fn a_saved_plan_is_shown_and_an_edited_one_refused() {
    let place = deployed();
    let staged = place.ends(0, &["stage", "--var", "name=two", "--out", "it.plan"]);
    for command in ["show", "stage"] {
        assert_eq!(place.ends(0, &[command, "it.plan"]).out, staged.out);
        place.ends(0, &[command, "it.plan", "--json"]);
    }
    place.ends(2, &["stage", "it.plan", "--var", "name=three"]);
    place.write(
        "edited.plan",
        place.read("it.plan").replace("out.txt", "in.txt"),
    );
    let said = place.ends(1, &["deploy", "edited.plan"]).err;
    assert!(
        said.contains("it was edited or damaged") && !said.contains("`doc` has changed"),
        "{said}"
    );
    // An editor ends the last line.
    place.write("it.plan", format!("{}\n", place.read("it.plan")));
    place.ends(0, &["deploy", "it.plan"]);
    assert_eq!(place.read("out.txt"), "two true");
}

#[test]
fn a_changed_document_of_a_saved_plan_is_named() {
    let place = deployed();
    place.ends(0, &["stage", "--var", "name=two", "--out", "it.plan"]);
    place.write("doc.blueprint.yaml", format!("{DOCUMENT}# more\n"));
    let said = place.ends(1, &["deploy", "it.plan"]).err;
    assert!(
        said.contains("`doc.blueprint.yaml` has changed") && !said.contains("--state"),
        "{said}"
    );
}

#[test]
fn stage_plans_with_the_inputs_and_the_stop_that_deploy_takes() {
    let place = Place::with("doc.blueprint.yaml", DOCUMENT);
    place.ends(0, &["deploy", "-y", "--var", "name=kept"]);
    let none = "0 to create, 0 to update, 0 to delete";
    assert_eq!(place.ends(0, &["stage", "--keep-vars"]).last_line(), none);
    assert_ne!(place.ends(0, &["stage"]).last_line(), none);
    place.ends(0, &["stage", "--until", "f"]);
}

/// A document whose deploy ends when the file `go` exists.
const WAITING: &str = "version: 2023-04-20
resources:
  slow:
    type: local/command
    spec: {create: 'touch begun; while [ ! -e go ]; do sleep 0.05; done'}
";

#[cfg(unix)]
#[test]
fn drift_says_that_an_operation_is_running() {
    let text = "version: 2023-04-20\nresources:\n  slow: {type: time/sleep, spec: {create: 6s}}\n";
    let place = Place::with("doc.blueprint.yaml", text);
    let mut child = crate::stops::start(&place, &["deploy", "-y"]);
    let mut said = String::new();
    while child.try_wait().unwrap().is_none() && !said.contains("is running") {
        // The instance does not exist at first.
        said = place.run(&["drift"]).err;
        assert!(!said.contains("cut off"), "{said}");
    }
    assert!(child.wait().unwrap().success());
    assert!(said.contains("slow: an operation is running"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_command_waits_for_the_lock_if_it_is_told_to() {
    let place = Place::with("doc.blueprint.yaml", WAITING);
    let first = crate::stops::start(&place, &["deploy", "-y"]);
    wait_for(&place, "begun");
    let refused = place.ends(5, &["deploy", "-y", "--lock-wait", "100ms"]);
    assert!(refused.err.contains("Waiting for"), "{}", refused.err);
    place.ends(5, &["deploy", "-y"]);
    let mut second = place.cyan(&["deploy", "-y", "--lock-wait", "5m"]);
    let errors = std::fs::File::create(place.path().join("errors")).unwrap();
    let second = second
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !place.read("errors").contains("Waiting for") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not wait"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    place.write("go", "");
    assert!(first.wait_with_output().unwrap().status.success());
    let second = ran(second.wait_with_output().unwrap());
    assert_eq!(second.code, 0, "{}", place.read("errors"));
    assert_eq!(second.last_line(), "0 created, 0 updated, 0 deleted");
}

#[cfg(unix)]
fn wait_for(place: &Place, file: &str) {
    let begun = Instant::now();
    while !place.has(file) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no `{file}`");
        std::thread::sleep(Duration::from_millis(20));
    }
}
