//! Tests one document with a secret in every part that a document can have, through its whole life
//! cycle: plan, save, deploy, fail, kill, drift, change, export, move, roll back, destroy.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::hunt::{SecretSearch, marker};
use crate::place::{Place, Ran, ran};

/// Function calls on a secret `S`. All of them accept any text.
const CALLS: [&str; 21] = [
    "to_upper(S)",
    "to_lower(S)",
    "trim(S)",
    "trimprefix(S, \"Mk\")",
    "trimsuffix(S, \"x\")",
    "replace(S, \"q\", \"p\")",
    "substr(S, 1, 24)",
    "jsonencode(object(a = S))",
    "jsondecode(jsonencode(object(a = S))).a",
    "fromjson(jsonencode(object(a = S)), \"/a\")",
    "base64encode(S)",
    "utf8(base64decode(base64encode(S)))",
    "join(split(S, \"/\"), \" \")",
    "join(map(list(S, \"b\"), to_upper), \",\")",
    "join(vals(object(a = S)), \"\")",
    "coalesce(none, S)",
    "first(\"\", S)",
    "if(contains(S, \"Mk\"), S, \"\")",
    "lookup(object(a = S), \"a\")",
    "merge(object(a = 1), object(b = S)).b",
    "sha256(S)",
];

const CHILD: &str = "version: 2023-04-20
variables:
  handed: {type: string}
  own: {type: string, secret: true}
values:
  both: {type: string, value: \"${variables.handed} and ${variables.own}\"}
resources:
  inner: {type: std/value, spec: {input: \"${values.both}\"}}
exports:
  both: {type: string, field: values.both}
  inner: {type: string, field: resources.inner.spec.output}
";

/// The document, with one value and one export for each of [`CALLS`].
fn document() -> String {
    let mut text = String::from(
        "version: 2025-11-02
variables:
  password: {type: string, secret: true}
  token: {type: string, secret: true}
  account: {type: string, secret: true}
  fails: {type: boolean, default: false}
  slow: {type: boolean, default: false}
  note: {type: string, default: none yet}
include:
  child: {path: child.yaml, variables: {handed: \"${variables.password}\", own: \"${variables.token}\"}}
datasources:
  said:
    type: local/command
    filter: {field: command, operator: \"=\", search: \"printf '%s' '${base64encode(variables.account)}'\"}
    exports: {stdout: {type: string}}
metadata:
  note: ${variables.account}
resources:
  sensitive: {type: local/file, spec: {path: open/sensitive.txt, sensitiveContent: \"${variables.password}\"}}
  content: {type: local/file, spec: {path: open/content.txt, content: \"user:${variables.token} ${variables.note}\"}}
  generated: {type: random/password, spec: {length: 32, special: false}}
  key: {type: tls/private-key, spec: {algorithm: ecdsa-p256}}
  request: {type: tls/certificate-request, spec: {privateKeyPem: \"${key.spec.privateKeyPem}\", commonName: a.example}}
  page: {type: std/template, spec: {template: \"{{ a }} {{ b }}\", variables: {a: \"${variables.password}\", b: \"${generated.spec.result}\"}}}
  heard: {type: std/value, spec: {input: \"${datasources.said.stdout}\"}}
  taken: {type: std/value, spec: {input: [\"${children.child.both}\", \"${children.child.inner}\"]}}
  run:
    type: local/command
    metadata: {annotations: {a.note: \"${variables.account}\"}, custom: {c: \"${variables.token}\"}}
    spec:
      create: |
        echo \"out $SECRET\"; echo \"err $SECRET\" >&2; printf '%s' \"$SECRET\" | base64; printf '%s' \"$SECRET\" | od -An -tx1
      read: \"exit 0\"
      environment: {SECRET: \"${variables.account}\", NOTE: \"${variables.note}\"}
  slow:
    type: local/command
    condition: ${variables.slow}
    dependsOn: [run, sensitive, content, page, taken, heard]
    spec: {create: \"echo $SECRET; touch open/waiting; sleep 30\", environment: {SECRET: \"${variables.token}\"}}
  fails:
    type: local/command
    condition: ${variables.fails}
    dependsOn: [run]
    spec:
      create: |
        echo \"cannot use $SECRET\" >&2
        printf '%s' \"$SECRET\" | cut -c1-20 >&2
        printf '%s' \"$SECRET\" | fold -w 7 >&2
        printf '%s' \"$SECRET\" | base64 -w 12 >&2
        exit 3
      environment: {SECRET: \"${variables.token}\"}
values:
",
    );
    for (at, call) in CALLS.iter().enumerate() {
        text.push_str(&format!(
            "  f{at}:\n    type: string\n    value: '${{{}}}'\n",
            call.replace('S', "variables.password")
        ));
    }
    text.push_str("exports:\n");
    for at in 0..CALLS.len() {
        text.push_str(&format!("  f{at}: {{type: string, field: values.f{at}}}\n"));
    }
    text.push_str(
        "  generated: {type: string, field: resources.generated.spec.result}
  key: {type: string, field: resources.key.spec.privateKeyPem}
  page: {type: string, field: resources.page.spec.rendered}
  said: {type: string, field: resources.run.spec.stdout}
  token: {type: string, field: variables.token}
  child: {type: string, field: children.child.both}
",
    );
    text
}

/// A project folder with secrets, and the search for these secrets.
struct Search {
    place: Place,
    hunt: SecretSearch,
    /// Files that may contain secrets in clear text.
    clear_text_files: Vec<&'static str>,
}

impl Search {
    /// Runs a command, checks its exit code, and searches its output and all files.
    #[track_caller]
    fn ends(&mut self, code: i32, arguments: &[&str]) -> Ran {
        let mut command = self.place.cyan(arguments);
        command
            .env("TMPDIR", self.place.path().join("tmp"))
            .env("ACCOUNT", marker("account"));
        let ran = ran(command.output().unwrap());
        let line = arguments.join(" ");
        assert_eq!(ran.code, code, "cyan {line}\n{}{}", ran.out, ran.err);
        self.hunt
            .search(&format!("the output of `cyan {line}`"), ran.out.as_bytes());
        self.hunt.search(
            &format!("what `cyan {line}` says beside its output"),
            ran.err.as_bytes(),
        );
        self.files();
        ran
    }

    /// Calls `ends` with the inputs of the document.
    #[track_caller]
    fn ends_with_inputs(&mut self, code: i32, arguments: &[&str]) -> Ran {
        let words = with_inputs(arguments);
        self.ends(code, &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Searches all files. Returns their names.
    #[track_caller]
    fn files(&mut self) -> Vec<String> {
        let folder = self.place.path().to_path_buf();
        self.hunt.search_files(&folder, &self.clear_text_files)
    }
}

/// Adds the inputs of the document to the arguments.
fn with_inputs(arguments: &[&str]) -> Vec<String> {
    let token = format!("token={}", marker("token"));
    let inputs = ["--vars", "inputs.yaml", "--var", &token];
    arguments
        .iter()
        .copied()
        .chain(inputs)
        .map(str::to_owned)
        .collect()
}

fn search() -> Search {
    let place = Place::with("blueprint.yaml", &document());
    place.write("child.yaml", CHILD);
    for folder in ["tmp/x", "open/x"] {
        place.write(folder, "");
    }
    place.write(
        "inputs.yaml",
        format!(
            "password: {}\naccount: {}\n",
            serde_json::to_string(&marker("password")).unwrap(),
            serde_json::to_string(&marker("account")).unwrap()
        ),
    );
    place.run(&["key", "new"]);
    let mut hunt = SecretSearch::default();
    for name in ["password", "token", "account"] {
        hunt.plant(name, &marker(name));
    }
    Search {
        place,
        hunt,
        clear_text_files: vec!["inputs.yaml", "open/", "home/"],
    }
}

#[test]
fn no_secret_of_a_document_appears_in_clear_text() {
    let mut search = search();
    check_and_plan(&mut search);
    kill_a_deploy(&mut search);
    fail_and_deploy(&mut search);
    reveal_and_show(&mut search);
    drift_and_change(&mut search);
    copy_rekey_and_destroy(&mut search);
    let names = search.files();
    assert!(
        names.iter().any(|name| name.ends_with("state.db")),
        "{names:?}"
    );
    assert!(
        search.hunt.searched() > 200,
        "{} were looked at",
        search.hunt.searched()
    );
}

/// Validates the document, draws its graph, stages it and evaluates expressions, before the first
/// deploy.
fn check_and_plan(search: &mut Search) {
    search.ends(0, &["validate"]);
    search.ends(0, &["validate", "--json"]);
    search.ends(0, &["graph"]);
    for form in ["text", "json", "dot", "mermaid", "svg"] {
        let mut command = search.place.cyan(&["graph", "--format", form]);
        let said = ran(command.output().unwrap());
        search.hunt.search("a graph", said.out.as_bytes());
    }
    search.ends_with_inputs(0, &["stage"]);
    search.ends_with_inputs(0, &["stage", "--json"]);
    search.ends_with_inputs(0, &["stage", "--out", "first.plan"]);
    search.ends_with_inputs(0, &["eval", "variables.password"]);
    search.ends_with_inputs(
        0,
        &[
            "eval",
            "object(a = to_upper(variables.token), b = sha256(variables.account))",
            "--json",
        ],
    );
    search.ends_with_inputs(1, &["eval", "jsondecode(variables.token)"]);
    search.ends_with_inputs(1, &["eval", "fromjson(\"{}\", variables.token)", "--json"]);
}

/// Kills a deploy while a command runs. At that time the log beside the database contains all
/// records.
fn kill_a_deploy(search: &mut Search) {
    let words = with_inputs(&["deploy", "-y", "--json", "--var", "slow=true"]);
    let mut child = search
        .place
        .cyan(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = child
        .env("TMPDIR", search.place.path().join("tmp"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !search.place.has("open/waiting") && begun.elapsed() < Duration::from_secs(60) {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it has ended by itself"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let names = search.files();
    assert!(
        names.iter().any(|name| name.ends_with("state.db-wal")),
        "no log beside the database: {names:?}"
    );
    let log = std::fs::metadata(search.place.path().join(".cyan/state.db-wal")).unwrap();
    assert!(log.len() > 10_000, "the log is nearly empty: {}", log.len());
    child.kill().unwrap();
    let said = ran(child.wait_with_output().unwrap());
    search
        .hunt
        .search("the events of a run that was killed", said.out.as_bytes());
    search
        .hunt
        .search("the words of a run that was killed", said.err.as_bytes());
    search.files();
    search.ends(0, &["unlock", "-y"]);
    search.ends(0, &["list"]);
    // The command went on, and its end was recorded.
    search.ends(0, &["reconcile"]);
}

/// Deploys with a command that prints a secret and fails, then deploys without it.
fn fail_and_deploy(search: &mut Search) {
    let failed = search.ends_with_inputs(
        4,
        &[
            "deploy",
            "-y",
            "--on-failure",
            "keep-going",
            "--var",
            "fails=true",
        ],
    );
    assert!(failed.err.contains("cannot use (secret)"), "{}", failed.err);
    let failed = search.ends_with_inputs(4, &["deploy", "-y", "--json", "--var", "fails=true"]);
    assert!(failed.out.contains("cannot use (secret)"), "{}", failed.out);
    search.ends(0, &["show", "fails"]);
    search.ends_with_inputs(0, &["deploy", "-y"]);
}

/// Adds the generated secrets, which are known after the deploy, to the search, and runs the
/// commands that print the state.
fn reveal_and_show(search: &mut Search) {
    for name in ["generated", "key", "page"] {
        let mut command = search.place.cyan(&["exports", name, "--reveal"]);
        let secret = ran(command.output().unwrap()).out;
        assert!(secret.len() > 20, "{name}: {secret}");
        search.hunt.plant(name, secret.trim());
    }
    let shown: Vec<Vec<&str>> = vec![
        vec!["show"],
        vec!["show", "--json"],
        vec!["show", "run"],
        vec!["show", "child/inner", "--json"],
        vec!["list", "--json"],
        vec!["exports"],
        vec!["exports", "--json"],
        vec!["history"],
        vec!["history", "--json"],
        vec!["state", "export"],
        vec!["state", "export", "state.json"],
    ];
    for words in &shown {
        search.ends(0, words);
    }
    search.ends(1, &["exports", "token"]);
    search.ends(1, &["exports", "f0"]);
}

/// Edits a secret file by hand, and changes a secret input.
fn drift_and_change(search: &mut Search) {
    search.place.write("open/sensitive.txt", marker("drifted"));
    search.hunt.plant("drifted", &marker("drifted"));
    search.ends(3, &["drift", "--exit-code"]);
    search.ends(3, &["drift", "--exit-code", "--json"]);
    search.ends_with_inputs(0, &["stage"]);
    search.ends_with_inputs(0, &["stage", "--drift", "accept", "--json"]);
    search.hunt.plant("another", &marker("another"));
    let another = format!("token={}", marker("another"));
    search.ends(
        0,
        &[
            "stage",
            "--vars",
            "inputs.yaml",
            "--var",
            &another,
            "--out",
            "second.plan",
            "--json",
        ],
    );
    search.ends(0, &["deploy", "second.plan", "--json"]);
    search.ends(0, &["deploy", "-y", "--keep-vars"]);
    search.ends(0, &["state", "move", "-y", "content", "moved"]);
    search.ends(0, &["state", "move", "-y", "moved", "content"]);
    search.ends(0, &["rollback", "-y", "--json"]);
}

/// Imports the exported state under another name, replaces the key, and destroys the first
/// instance.
fn copy_rekey_and_destroy(search: &mut Search) {
    search.ends(0, &["state", "import", "-y", "state.json", "-i", "copy"]);
    // Only one of the two instances may manage the files.
    let kept = ["content", "sensitive"];
    let mut lets_go = vec!["state", "remove", "-y", "-i", "copy"];
    lets_go.extend(kept);
    search.ends(0, &lets_go);
    search.ends(0, &["state", "rekey", "home/other.key", "--yes"]);
    search
        .place
        .run(&["state", "rekey", "home/third.key", "--yes"]);
    let key = search.place.path().join("home/other.key");
    search.clear_text_files.push("other/");
    let mut command = search.place.cyan(&["destroy", "-y", "--json"]);
    let destroyed = ran(command.env("CYAN_KEY_FILE", key).output().unwrap());
    assert_eq!(destroyed.code, 0, "{}{}", destroyed.out, destroyed.err);
    search.hunt.search("the end", destroyed.out.as_bytes());
}

/// The search finds values that are not marked as secret. This shows that it would find a secret in
/// clear text.
#[test]
fn search_finds_values_that_are_not_secret() {
    let search = search();
    let text = search
        .place
        .read("blueprint.yaml")
        .replace(", secret: true", "");
    search.place.write("blueprint.yaml", text);
    let child = search
        .place
        .read("child.yaml")
        .replace(", secret: true", "");
    search.place.write("child.yaml", child);
    let token = format!("token={}", marker("token"));
    let inputs = ["--vars", "inputs.yaml", "--var", &token];
    let with = |words: &[&'static str]| -> Ran {
        let words: Vec<&str> = words.iter().copied().chain(inputs).collect();
        search.place.run(&words)
    };
    for words in [
        vec!["stage"],
        vec!["stage", "--json"],
        vec!["deploy", "-y", "--json"],
    ] {
        assert!(search.hunt.finds(with(&words).out.as_bytes()), "{words:?}");
    }
    for words in [vec!["show"], vec!["exports"], vec!["state", "export"]] {
        assert!(
            search.hunt.finds(search.place.run(&words).out.as_bytes()),
            "{words:?}"
        );
    }
    let database = std::fs::read(search.place.path().join(".cyan/state.db")).unwrap();
    assert!(search.hunt.finds(&database));
}
