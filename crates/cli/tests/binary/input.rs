//! Valid and invalid documents, inputs, configuration and keys: each mistake gives one clear
//! message and the right exit code.

use crate::place::{Place, Ran, ran};

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

/// Runs a command with additional environment variables.
fn with(place: &Place, environment: &[(&str, &str)], arguments: &[&str]) -> Ran {
    ran(place
        .cyan(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap())
}

#[test]
fn unusable_path_of_a_document_is_refused() {
    let place = Place::new();
    place.write("bad.yaml", b"a\xff");
    std::fs::create_dir(place.path().join("folder")).unwrap();
    let big = std::fs::File::create(place.path().join("big.yaml")).unwrap();
    big.set_len(100 << 20).unwrap();
    for (arguments, says) in [
        (vec!["validate"], "there is no document"),
        (
            vec!["validate", "missing.yaml"],
            "`missing.yaml` cannot be read",
        ),
        (
            vec!["validate", "folder"],
            "there is no document in `folder`",
        ),
        (vec!["stage", "folder"], "`folder` is a folder"),
        (vec!["validate", "bad.yaml"], "no UTF-8 text: byte 2"),
        (vec!["validate", "big.yaml"], "is too large"),
        (
            vec!["-C", "nowhere", "validate"],
            "`nowhere` cannot be read",
        ),
    ] {
        let ran = place.ends(1, &arguments);
        assert!(
            ran.err.contains(says) && ran.out.is_empty(),
            "{arguments:?}: {}",
            ran.err
        );
        assert_eq!(
            ran.err
                .lines()
                .filter(|line| line.starts_with("error"))
                .count(),
            1,
            "{}",
            ran.err
        );
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with("blueprint.yaml", ONE);
    let file = place.path().join("blueprint.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&file).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    assert!(place.ends(1, &["validate"]).err.contains("cannot be read"));
}

#[test]
fn a_document_is_found_or_named() {
    let place = Place::with("shop.blueprint.yaml", ONE);
    place.write("other.yaml", "just: data\n");
    assert!(
        place
            .ends(0, &["validate"])
            .out
            .starts_with("`shop.blueprint.yaml` is valid")
    );
    place.write(
        "blueprint.jsonc",
        "{\"version\": \"2023-04-20\", \"resources\": {}}",
    );
    let several = place.ends(2, &["validate"]);
    assert!(
        several.err.contains("blueprint.jsonc, shop.blueprint.yaml"),
        "{}",
        several.err
    );

    // If no file has the name of a document, the contents decide.
    let place = Place::with("infra.yaml", ONE);
    place.write("other.yaml", "just: data\n");
    assert!(
        place
            .ends(0, &["validate"])
            .out
            .starts_with("`infra.yaml` is valid")
    );

    let mut command = place.cyan(&["validate", "-"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), ONE.as_bytes()).unwrap();
    let read = ran(child.wait_with_output().unwrap());
    assert_eq!(
        (read.code, read.out.as_str()),
        (0, "`stdin` is valid: 1 resource\n")
    );
}

#[test]
fn several_documents_are_all_checked() {
    let place = Place::with("good.yaml", ONE);
    place.write("bad.yaml", ONE.replace("test/data", "nope/x"));
    let ran = place.ends(1, &["validate", "bad.yaml", "missing.yaml", "good.yaml"]);
    assert!(
        ran.err.contains("error[unknown-provider]")
            && ran.err.contains("`missing.yaml` cannot be read")
    );
    assert!(ran.out.contains("`good.yaml` is valid"));
}

#[test]
fn deep_expanding_and_cyclic_documents_are_refused() {
    let place = Place::new();
    place.write(
        "deep.yaml",
        format!("version: 2023-04-20\nresources: {}", "[".repeat(100_000)),
    );
    let level = |at: usize| {
        format!(
            "  x{at}: &x{at} [{}]\n",
            vec![format!("*x{}", at - 1); 10].join(", ")
        )
    };
    let bomb: String = (1..12).map(level).collect();
    place.write(
        "bomb.yaml",
        format!("version: 2023-04-20\nmetadata:\n  x0: &x0 [1]\n{bomb}"),
    );
    let circle = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: \"${b.spec.input}\"}}\n  b: {type: test/data, spec: {input: \"${a.spec.input}\"}}\n";
    place.write("circle.yaml", circle);
    for name in ["deep.yaml", "bomb.yaml", "circle.yaml"] {
        let ran = place.ends(1, &["validate", name]);
        assert!(
            ran.err.contains("error[") && ran.err.len() < 100_000,
            "{name}: {}",
            ran.err.len()
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_output_is_reported() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ended = ran(place
        .cyan(&["types"])
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap());
    assert!(
        ended.code == 1 && ended.err.contains("the output cannot be written"),
        "{}",
        ended.err
    );
}

#[test]
fn similar_names_are_suggested_from_all_catalogues() {
    let place = Place::with("blueprint.yaml", &ONE.replace("test/data", "local/fil"));
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("did you mean `local/file`?")
    );
}

const INPUTS: &str = "version: 2023-04-20\nvariables:\n  a: {type: string}\n  n: {type: integer, default: 1}\nresources:\n  r: {type: test/data, spec: {input: \"${variables.a} ${variables.n}\"}}\nexports:\n  r: {type: string, field: resources.r.spec.input}\n";

#[test]
fn sources_of_inputs_have_precedence() {
    let place = Place::with("blueprint.yaml", INPUTS);
    place.write("one.yaml", "a: one\nn: 7\n");
    place.write("two.json", "{\"a\": \"two\"}");
    let missing = place.ends(1, &["stage"]);
    assert!(
        missing.err.contains("error[missing-variable]"),
        "{}",
        missing.err
    );
    let value = |environment: &[(&str, &str)], flags: &[&str]| {
        let ran = with(
            &place,
            environment,
            &[&["eval", "\"${resources.r.spec.input}\""], flags].concat(),
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().trim_matches('"').to_owned()
    };
    let environment = [("CYAN_VAR_a", "env"), ("CYAN_VAR_unrelated", "x")];
    assert_eq!(value(&environment, &[]), "env 1");
    assert_eq!(value(&environment, &["--vars", "one.yaml"]), "one 7");
    assert_eq!(
        value(&environment, &["--vars", "one.yaml", "--var", "a=x"]),
        "x 7"
    );
    assert_eq!(
        value(&environment, &["--var", "a=x", "--vars", "one.yaml"]),
        "one 7"
    );
    assert_eq!(
        value(&environment, &["--vars", "one.yaml", "--vars", "two.json"]),
        "two 7"
    );

    assert!(
        place
            .ends(1, &["stage", "--var", "a=x", "--var", "n=two"])
            .err
            .contains("error[unparsable-value]")
    );
    assert!(
        place
            .ends(1, &["stage", "--var", "a=x", "--var", "m=1"])
            .err
            .contains("error[undeclared-variable]")
    );
    place.ends(2, &["stage", "--var", "a"]);
    place.ends(1, &["stage", "--vars", "missing.yaml"]);
    place.write("list.yaml", "- 1\n");
    assert!(
        place
            .ends(1, &["stage", "--vars", "list.yaml"])
            .err
            .contains("no map of inputs")
    );
}

#[test]
fn the_configuration_gives_defaults_and_nothing_unknown() {
    let place = Place::with("blueprint.yaml", INPUTS);
    place.write("given.yaml", "a: x\n");
    place.write(
        "cyan.toml",
        "instance = \"named\"\nstate = \"sqlite:place/s.db\"\nvars = [\"given.yaml\"]\nyes = true\nparallelism = 2\n",
    );
    place.ends(0, &["deploy"]);
    assert!(place.has("place/s.db"));
    assert!(place.ends(0, &["list"]).out.contains("named"));
    for (text, says) in [
        ("bogus = 1", "unknown key `bogus`"),
        ("parallelism = 0", "expected a number from 1 to 65535"),
        ("on-failure = \"panic\"", "`on-failure` cannot be `panic`"),
        ("[providers.nope]", "there is no provider `nope`"),
        ("[providers.test]\nx = 1", "has no setting `x`"),
        ("[instances.\"a/b\"]", "no name for an instance"),
        ("a = [", "line 2, column 6: unclosed array"),
    ] {
        place.write("cyan.toml", format!("vars = [\"given.yaml\"]\n{text}\n"));
        let ran = place.ends(1, &["stage"]);
        assert!(ran.err.contains(says), "{text}: {}", ran.err);
    }
    place.ends(1, &["stage", "--config", "missing.toml"]);
}

#[test]
fn a_stack_without_a_template_is_not_taken_over() {
    let place = Place::with("blueprint.yaml", ONE);
    place.write(
        "stack.json",
        r#"{"name": "s", "action": "CREATE", "status": "COMPLETE", "template": {}, "resources": {}}"#,
    );
    let ran = place.ends(1, &["state", "import", "stack.json"]);
    assert!(
        ran.err.contains("no dialect recognises `s.json`"),
        "{}",
        ran.err
    );
    assert!(!place.has(".cyan"));
}

#[test]
fn unusable_state_is_unchanged() {
    let place = Place::with("blueprint.yaml", ONE);
    place.write("junk.db", "this is no state\n".repeat(100));
    let junk = place.ends(1, &["deploy", "-y", "--state", "sqlite:junk.db"]);
    assert!(junk.err.contains("is not a state file"), "{}", junk.err);
    assert_eq!(place.read("junk.db"), "this is no state\n".repeat(100));
    place.write("file", "");
    let unwritable = place.ends(
        1,
        &["deploy", "-y", "--state", "sqlite:file/below/state.db"],
    );
    assert!(unwritable.err.contains("cannot be"), "{}", unwritable.err);
    place.ends(2, &["stage", "--state", "nowhere"]);
    place.ends(2, &["stage", "--state", "sqlite:"]);
    place.ends(2, &["stage", "--state", "postgres://x"]);
}

const SECRET: &str = "version: 2023-04-20\nvariables:\n  pw: {type: string, secret: true}\nresources:\n  r: {type: test/data, spec: {input: \"${variables.pw}\"}}\nexports:\n  pw: {type: string, field: variables.pw}\n";

#[test]
fn secrets_need_a_key_and_are_never_shown() {
    let place = Place::with("blueprint.yaml", SECRET);
    let environment = [("CYAN_VAR_pw", "hush-hush")];
    let refused = with(&place, &environment, &["deploy", "-y"]);
    assert!(
        refused.code == 1 && refused.err.contains("error[secrets-need-key]"),
        "{}",
        refused.err
    );
    let refused = with(&place, &environment, &["stage", "--out", "plan"]);
    assert!(
        refused.code == 1 && refused.err.contains("error[secrets-need-key]") && !place.has("plan"),
        "{}",
        refused.err
    );

    let made = place.ends(0, &["key", "new"]);
    assert_eq!(
        made.out.trim_end(),
        place
            .path()
            .join("home/.config/cyan/key")
            .display()
            .to_string()
    );
    let key = place.read("home/.config/cyan/key");
    place.ends(0, &["key", "new"]);
    assert_eq!(
        place.read("home/.config/cyan/key"),
        key,
        "a key that is there stays"
    );

    let mut said = String::new();
    for arguments in [
        vec!["stage", "--out", "plan"],
        vec!["stage", "--json"],
        vec!["deploy", "plan"],
        vec!["deploy", "-y", "--json"],
        vec!["show"],
        vec!["show", "r"],
        vec!["show", "--json"],
        vec!["exports"],
        vec!["exports", "--json"],
        vec!["eval", "variables.pw"],
        vec!["history", "--json"],
        vec!["drift"],
    ] {
        let ran = with(&place, &environment, &arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        said.push_str(&ran.out);
        said.push_str(&ran.err);
    }
    assert!(!said.contains("hush-hush") && said.contains("(secret)"));
    assert!(!place.read("plan").contains("hush-hush"));
    let state = std::fs::read(place.path().join(".cyan/state.db")).unwrap();
    assert!(!String::from_utf8_lossy(&state).contains("hush-hush"));

    assert!(place.ends(1, &["exports", "pw"]).err.contains("--reveal"));
    assert_eq!(
        place.ends(0, &["exports", "pw", "--reveal"]).out,
        "hush-hush\n"
    );

    place.ends(0, &["key", "new", "other"]);
    let other = place.path().join("other");
    let wrong = with(
        &place,
        &[("CYAN_KEY_FILE", other.to_str().unwrap())],
        &["show"],
    );
    assert!(
        wrong.code == 1 && wrong.err.contains("cannot be opened with this key"),
        "{}",
        wrong.err
    );
    std::fs::rename(
        place.path().join("home/.config/cyan/key"),
        place.path().join("kept.key"),
    )
    .unwrap();
    for command in [&["show"][..], &["deploy", "plan"]] {
        let none = place.ends(1, command);
        assert!(
            none.err
                .contains("the state was written with a key, and no key is given"),
            "{}",
            none.err
        );
        assert!(
            none.err.contains("the path of its file in `CYAN_KEY_FILE`"),
            "{}",
            none.err
        );
    }
    std::fs::rename(
        place.path().join("kept.key"),
        place.path().join("home/.config/cyan/key"),
    )
    .unwrap();
    let broken = with(&place, &[("CYAN_KEY", "too short")], &["show"]);
    assert!(
        broken.code == 1
            && broken.err.contains("`CYAN_KEY` cannot be used")
            && !broken.err.contains("too short")
    );
}

#[cfg(unix)]
#[test]
fn key_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.ends(0, &["key", "new", "mine"]);
    let mode = std::fs::metadata(place.path().join("mine"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    place.write("junk", "no key");
    place.ends(1, &["key", "new", "junk"]);
    assert_eq!(place.read("junk"), "no key");
}

#[test]
fn unknown_name_is_reported_with_a_suggestion() {
    let place = Place::with("shop/garden.blueprint.yaml", ONE);
    let missing = place.ends(1, &["validate", "shop/gardn.blueprint.yaml"]);
    assert!(
        missing
            .err
            .contains("did you mean `shop/garden.blueprint.yaml`?"),
        "{}",
        missing.err
    );
    place.ends(0, &["deploy", "-y", "shop/garden.blueprint.yaml"]);
    let unknown = place.ends(1, &["-C", "shop", "show", "something-else"]);
    assert!(unknown.err.contains("there is only `a`"), "{}", unknown.err);
    // With several documents in the folder, `eval` needs the name of one.
    place.write("shop/other.blueprint.yaml", ONE);
    assert_eq!(
        place
            .ends(
                0,
                &["-C", "shop", "eval", "add(1, 2)", "garden.blueprint.yaml"]
            )
            .out,
        "3\n"
    );
}

#[test]
fn mistakes_are_reported_in_document_order() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: \"${b.spec.id}\"}}\n  c: {type: test/data, metadata: {labels: {n: 6}}, spec: {}}\n",
    );
    let said = place.ends(1, &["validate"]).err;
    let places: Vec<usize> = said
        .match_indices("--> blueprint.yaml:")
        .map(|(at, _)| at)
        .collect();
    assert!(
        said.find(":3:") < said.find(":4:") && places.len() == 2,
        "{said}"
    );
}

/// A document whose only file has the value of an input.
#[cfg(unix)]
const SIGN: &str = "version: 2023-04-20
variables:
  text: {type: string, default: default}
resources:
  sign: {type: local/file, spec: {path: sign.txt, content: '${variables.text}'}}
";

/// Runs a command of a shell, in which `cyan` is the binary.
#[cfg(unix)]
fn in_shell(place: &Place, command: &str) -> Ran {
    let binary = env!("CARGO_BIN_EXE_cyan");
    let mut shell = std::process::Command::new("timeout");
    shell
        .args(["60", "bash", "-c"])
        .arg(format!("cyan() {{ {binary} \"$@\"; }}\n{command}"))
        .current_dir(place.path())
        .env_clear()
        .env("HOME", place.path().join("home"))
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .stdin(std::process::Stdio::null());
    ran(shell.output().unwrap())
}

#[cfg(unix)]
#[test]
fn inputs_are_read_from_pipes() {
    for (at, command) in [
        "cyan deploy --yes --vars <(echo 'text: given')",
        "echo 'text: given' | cyan deploy --yes --vars /dev/stdin",
        "mkfifo pipe; echo 'text: given' > pipe & cyan deploy --yes --vars pipe",
        "cyan deploy --yes <(cat shop.blueprint.yaml) --vars <(echo 'text: given')",
        "echo '{\"text\": \"given\"}' | cyan stage --out plan --vars /dev/stdin && cyan deploy --yes plan",
        "echo 'vars = [\"pipe\"]' > cyan.toml; mkfifo pipe; echo 'text: given' > pipe & cyan deploy --yes",
    ]
    .iter()
    .enumerate()
    {
        let place = Place::with("shop.blueprint.yaml", SIGN);
        let ran = in_shell(&place, command);
        assert_eq!(ran.code, 0, "{at}: {}{}", ran.out, ran.err);
        assert_eq!(place.read("sign.txt"), "given", "{command}: {}", ran.err);
        assert!(!ran.err.contains("empty-input-file"), "{}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn environment_files_are_read_from_pipes() {
    let template = "heat_template_version: 2016-10-14
parameters:
  text: {type: string, default: default}
outputs:
  text: {value: {get_param: text}}
";
    let place = Place::with("shop.yaml", template);
    place.write("copy.yaml", template);
    let given = "<(echo 'parameters: {text: given}')";
    let ran = in_shell(
        &place,
        &format!("cyan validate shop.yaml copy.yaml -e {given}"),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = in_shell(
        &place,
        &format!(
            "cyan stage shop.yaml -i shop --out plan -e {given} && cyan deploy --yes plan && cyan exports"
        ),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("given"), "{}", ran.out);
}

#[test]
fn empty_input_file_is_a_warning() {
    let place = Place::with(
        "shop.blueprint.yaml",
        &format!("{ONE}variables: {{text: {{type: string, default: x}}}}\n"),
    );
    place.write("nothing.yaml", "# nothing\n");
    place.write("none.yaml", "{}\n");
    let ran = place.ends(0, &["stage", "--vars", "nothing.yaml"]);
    assert_eq!(
        ran.err.matches("warning[empty-input-file]").count(),
        1,
        "{}",
        ran.err
    );
    let ran = place.ends(0, &["stage", "--vars", "none.yaml"]);
    assert!(!ran.err.contains("empty-input-file"), "{}", ran.err);
    let template = "heat_template_version: 2016-10-14\noutputs: {out: {value: x}}\n";
    place.write("stack.yaml", template);
    let ran = place.ends(0, &["validate", "stack.yaml", "-e", "nothing.yaml"]);
    assert_eq!(
        ran.err.matches("warning[empty-input-file]").count(),
        1,
        "{}",
        ran.err
    );
}
