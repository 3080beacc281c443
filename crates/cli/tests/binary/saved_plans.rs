//! Tests of saved plans. One fact changes between `stage --out` and `deploy PLAN`. The plan must be
//! refused without any change, or applied exactly as shown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::place::{Place, Ran, ran};

/// The expected result of deploying a plan.
enum Expected {
    /// The plan is refused, with one error of each of these codes.
    Refused(&'static [&'static str]),
    /// The plan is applied. Afterwards these files have these contents; `None` for a file that does
    /// not exist.
    Done(&'static [(&'static str, Option<&'static str>)]),
}

use Expected::{Done, Refused};

const INPUT: Expected = Refused(&["input-changed"]);
const OBSERVATION: Expected = Refused(&["observation-changed"]);
const STALE: Expected = Refused(&["plan-stale"]);

/// A case: its name, the document, the script before the plan is made, the script after it, the
/// expected result. In the scripts, `deploy` runs a deploy, and `remove` writes a document that
/// does not declare the resource.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Expected,
);

const FILE: &str = "  a: {type: local/file, spec: {path: out/a.txt, content: one}}\n";
const SOURCE: &str = "  a: {type: local/file, spec: {path: a.txt, source: src.txt}}\n";
const TEMPLATE: &str = "  t: {type: std/template, spec: {source: t.txt, variables: {x: 1}}}\n  a: {type: local/file, spec: {path: a.txt, content: '${t.spec.rendered}'}}\n";
const ARCHIVE: &str = "  a: {type: local/archive, spec: {path: a.tar, root: in, include: ['**/*.txt'], exclude: [skip.txt]}}\n";
const FOLDER: &str = "  d: {type: local/directory, spec: {path: dir}}\n";
const LINK: &str = "  l: {type: local/symlink, spec: {path: link, target: here}}\n";
const COMMAND: &str = "  c: {type: local/command, spec: {create: 'echo made > c', read: 'test -f c || exit 3', delete: 'rm -f c', triggers: 1}}\n";
const BLIND: &str =
    "  c: {type: local/command, spec: {create: 'echo made > c', delete: 'rm -f c', triggers: 1}}\n";
const FUNCTION: &str =
    "  a: {type: local/file, spec: {path: a.txt, content: '${utf8(file(\"f\"))}'}}\n";
const READ_FILE: &str = "  a: {type: local/file, spec: {path: a.txt, content: '${datasources.s.content}'}}\ndatasources:\n  s: {type: local/file, metadata: {displayName: s}, filter: {field: path, operator: \"=\", search: f}, exports: {content: {type: string}}}\n";
const READ_FOLDER: &str = "  a: {type: local/file, spec: {path: a.txt, content: '${join(datasources.s.names, \",\")}'}}\ndatasources:\n  s: {type: local/directory, metadata: {displayName: s}, filter: {field: path, operator: \"=\", search: 'in/*.x'}, exports: {names: {type: array}}}\n";
const READ_COMMAND: &str = "  a: {type: local/file, spec: {path: a.txt, content: '${datasources.s.stdout}'}}\ndatasources:\n  s: {type: local/command, metadata: {displayName: s}, filter: {field: command, operator: \"=\", search: 'cat f'}, exports: {stdout: {type: string}}}\n";
const CHILD: &str = "include:\n  c: {path: child.yaml}\n";
const INPUTS: &str = "  a: {type: local/file, spec: {path: a.txt, content: '${variables.word}'}}\nvariables:\n  word: {type: string}\n";
const DEFAULT: &str = "  a: {type: local/file, spec: {path: a.txt, content: '${variables.word}'}}\nvariables:\n  word: {type: string, default: one}\n";
const OVERWRITE: &str =
    "  a: {type: local/file, spec: {path: a.txt, content: one, overwrite: true}}\n";
const UPDATED: &str = "deploy; sed -i s/one/two/ blueprint.yaml";
const TRIGGERED: &str = "deploy; sed -i 's/triggers: 1/triggers: 2/' blueprint.yaml";
const CHILD_BEFORE: &str = "printf 'version: 2023-04-20\\nresources:\\n  x: {type: local/file, spec: {path: x.txt, content: one}}\\n' > child.yaml";

#[rustfmt::skip]
const FACTS: &[Case] = &[
    // Sources.
    ("the source of a new file is edited", SOURCE, "echo 1 > src.txt", "echo 2 > src.txt", INPUT),
    ("the source of a new file is removed", SOURCE, "echo 1 > src.txt", "rm src.txt", INPUT),
    ("the source of a new file becomes a folder", SOURCE, "echo 1 > src.txt", "rm src.txt; mkdir src.txt", INPUT),
    ("the source of a new file becomes a link to another", SOURCE, "echo 1 > src.txt; echo 2 > b", "ln -sf b src.txt", INPUT),
    ("the source becomes a link to the same content", SOURCE, "echo 1 > src.txt; echo 1 > b", "ln -sf b src.txt", Done(&[("a.txt", Some("1\n"))])),
    ("the source is touched", SOURCE, "echo 1 > src.txt", "touch -d tomorrow src.txt", Done(&[("a.txt", Some("1\n"))])),
    ("the source of a changed file is edited again", SOURCE, "echo 1 > src.txt; deploy; echo 2 > src.txt", "echo 3 > src.txt", INPUT),
    ("the source is set back", SOURCE, "echo 1 > src.txt; deploy; echo 2 > src.txt", "echo 1 > src.txt", INPUT),
    ("the source of a changed file is removed", SOURCE, "echo 1 > src.txt; deploy; echo 2 > src.txt", "rm src.txt", INPUT),
    ("the source of a file that does not change is edited", "  a: {type: local/file, spec: {path: a.txt, source: src.txt}}\n  b: {type: local/file, spec: {path: b.txt, content: one}}\n", "echo 1 > src.txt; deploy; sed -i s/one/two/ blueprint.yaml", "echo 2 > src.txt", INPUT),
    ("a template is edited", TEMPLATE, "echo '{{ x }}' > t.txt", "echo '{{ x }}!' > t.txt", INPUT),
    ("a template is removed", TEMPLATE, "echo '{{ x }}' > t.txt", "rm t.txt", INPUT),
    ("a template is edited before an update", TEMPLATE, "echo '{{ x }}' > t.txt; deploy; echo '{{ x }}?' > t.txt", "echo '{{ x }}!' > t.txt", INPUT),
    ("a packed file is edited", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "echo 2 > in/x.txt", INPUT),
    ("a file to be packed is added", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "echo 2 > in/y.txt", INPUT),
    ("a packed file is removed", ARCHIVE, "mkdir in; echo 1 > in/x.txt; echo 2 > in/y.txt", "rm in/y.txt", INPUT),
    ("a packed file becomes executable", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "chmod +x in/x.txt", INPUT),
    ("a packed file is renamed", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "mv in/x.txt in/z.txt", INPUT),
    ("an excluded file is added", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "echo 2 > in/skip.txt", Done(&[])),
    ("a file that is not included is added", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "echo 2 > in/y.log", Done(&[])),
    ("the packed folder is removed", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "rm -r in", INPUT),
    ("a packed file is edited before an update", ARCHIVE, "mkdir in; echo 1 > in/x.txt; deploy; echo 2 > in/x.txt", "echo 3 > in/x.txt", INPUT),
    // Files that functions and data sources read.
    ("a file that a function read is edited", FUNCTION, "echo 1 > f", "echo 2 > f", INPUT),
    ("a file that a function read is removed", FUNCTION, "echo 1 > f", "rm f", INPUT),
    ("a file that a data source read is edited", READ_FILE, "echo 1 > f", "echo 2 > f", INPUT),
    ("a file that a data source read is removed", READ_FILE, "echo 1 > f", "rm f", INPUT),
    ("a folder that a data source listed has one more", READ_FOLDER, "mkdir in; touch in/a.x", "touch in/b.x", INPUT),
    ("a folder that a data source listed has one less", READ_FOLDER, "mkdir in; touch in/a.x in/b.x", "rm in/b.x", INPUT),
    ("a folder that a data source listed has another kind of file", READ_FOLDER, "mkdir in; touch in/a.x", "touch in/b.y", Done(&[("a.txt", Some("a.x"))])),
    // Deploying a plan does not run the command again. The output in the plan is used.
    ("a command of a data source would print something else", READ_COMMAND, "echo 1 > f", "echo 2 > f", Done(&[("a.txt", Some("1"))])),
    ("a command of a data source would fail", READ_COMMAND, "echo 1 > f", "rm f", Done(&[("a.txt", Some("1"))])),
    // Documents, inputs and settings.
    ("the document is edited", FILE, "", "echo '# x' >> blueprint.yaml", INPUT),
    ("the document is removed", FILE, "", "rm blueprint.yaml", INPUT),
    ("the document is touched", FILE, "", "touch -d tomorrow blueprint.yaml", Done(&[("out/a.txt", Some("one"))])),
    ("a child document is edited", CHILD, CHILD_BEFORE, "sed -i s/one/two/ child.yaml", INPUT),
    ("a child document is removed", CHILD, CHILD_BEFORE, "rm child.yaml", INPUT),
    ("a file with inputs is edited", INPUTS, "echo 'word: one' > v.yaml", "echo 'word: two' > v.yaml", Done(&[("a.txt", Some("one"))])),
    ("a file with inputs is removed", INPUTS, "echo 'word: one' > v.yaml", "rm v.yaml", Done(&[("a.txt", Some("one"))])),
    ("an input is set in the environment", DEFAULT, "", "export CYAN_VAR_word=two", Done(&[("a.txt", Some("one"))])),
    ("defaults for inputs are configured", DEFAULT, "", "echo 'word: two' > w.yaml; echo 'vars = [\"w.yaml\"]' > cyan.toml", Done(&[("a.txt", Some("one"))])),
    ("that nothing is looked at is configured", FILE, UPDATED, "echo 'no-refresh = true' > cyan.toml", Done(&[("out/a.txt", Some("two"))])),
    // The state.
    ("the same was deployed meanwhile", FILE, "", "deploy", STALE),
    ("something else was deployed meanwhile", FILE, UPDATED, "sed -i s/two/three/ blueprint.yaml; deploy; sed -i s/three/two/ blueprint.yaml", STALE),
    ("all was destroyed meanwhile", FILE, UPDATED, "$CYAN destroy --yes", STALE),
    ("a resource was moved in the state", FILE, UPDATED, "$CYAN state move a b --yes", STALE),
    ("another instance of the state was deployed", FILE, "", "mkdir other; cp blueprint.yaml other/; sed -i s/a.txt/b.txt/ other/blueprint.yaml; $CYAN deploy --yes -i other --state sqlite:.cyan/state.db other/blueprint.yaml", Done(&[("out/a.txt", Some("one"))])),
    ("another instance has made the same", FILE, "", "$CYAN deploy --yes -i other", Refused(&["claimed-twice"])),
    // Files at the place of a resource to be created.
    ("a file appears where one is to be made", FILE, "", "mkdir out; echo x > out/a.txt", OBSERVATION),
    ("the very file appears where one is to be made", FILE, "", "mkdir out; printf one > out/a.txt", OBSERVATION),
    ("a folder appears where a file is to be made", FILE, "", "mkdir -p out/a.txt", OBSERVATION),
    ("a link appears where a file is to be made", FILE, "", "mkdir out; ln -s ../blueprint.yaml out/a.txt", OBSERVATION),
    ("a link to nothing appears where a file is to be made", FILE, "", "mkdir out; ln -s nowhere out/a.txt", OBSERVATION),
    ("a file appears where a folder above is to be made", FILE, "", "echo x > out", OBSERVATION),
    ("the folder above appears", FILE, "", "mkdir out", Done(&[("out/a.txt", Some("one"))])),
    ("what is to be overwritten is edited", OVERWRITE, "echo x > a.txt", "echo y > a.txt", OBSERVATION),
    ("what is to be overwritten is removed", OVERWRITE, "echo x > a.txt", "rm a.txt", OBSERVATION),
    ("something to be overwritten appears", OVERWRITE, "", "echo y > a.txt", OBSERVATION),
    ("a file appears where an archive is to be made", ARCHIVE, "mkdir in; echo 1 > in/x.txt", "echo x > a.tar", OBSERVATION),
    ("a file appears where a folder is to be made", FOLDER, "", "touch dir", OBSERVATION),
    ("a folder appears where one is to be made", FOLDER, "", "mkdir dir", OBSERVATION),
    ("another link appears where one is to be made", LINK, "", "ln -s there link", OBSERVATION),
    ("a file appears where a link is to be made", LINK, "", "echo x > link", OBSERVATION),
    // Resources to be changed.
    ("a file to be changed is edited", FILE, UPDATED, "echo edited > out/a.txt", OBSERVATION),
    ("a file to be changed already has the new content", FILE, UPDATED, "printf two > out/a.txt", OBSERVATION),
    ("a file to be changed gets another mode", FILE, UPDATED, "chmod 600 out/a.txt", OBSERVATION),
    ("a file to be changed is removed", FILE, UPDATED, "rm out/a.txt", OBSERVATION),
    ("a file to be changed becomes a folder", FILE, UPDATED, "rm out/a.txt; mkdir out/a.txt", OBSERVATION),
    ("a file to be changed becomes a link to the same content", FILE, UPDATED, "mv out/a.txt b; ln -s ../b out/a.txt", OBSERVATION),
    ("a file to be changed is touched", FILE, UPDATED, "touch -d tomorrow out/a.txt", Done(&[("out/a.txt", Some("two"))])),
    ("a drifted file is edited again", FILE, "deploy; echo x > out/a.txt", "echo y > out/a.txt", OBSERVATION),
    ("a drifted file is restored by hand", FILE, "deploy; echo x > out/a.txt", "printf one > out/a.txt", OBSERVATION),
    ("a vanished file is back", FILE, "deploy; rm out/a.txt", "printf one > out/a.txt", OBSERVATION),
    ("an archive to be packed again is edited", ARCHIVE, "mkdir in; echo 1 > in/x.txt; deploy; echo 2 > in/x.txt", "echo x >> a.tar", OBSERVATION),
    ("a link to be changed leads elsewhere", LINK, "deploy; sed -i s/here/where/ blueprint.yaml", "ln -sfn there link", OBSERVATION),
    ("a resource of a command to be replaced is gone", COMMAND, TRIGGERED, "rm c", OBSERVATION),
    ("the look at the resource of a command fails", "  c: {type: local/command, spec: {create: 'echo made > c', read: 'cat c', delete: 'rm -f c', triggers: 1}}\n", TRIGGERED, "rm c", OBSERVATION),
    ("a resource of a command without a look is gone", BLIND, TRIGGERED, "rm c", Done(&[("c", Some("made\n"))])),
    ("a file that does not change is edited", "  a: {type: local/file, spec: {path: a.txt, content: one}}\n  b: {type: local/file, spec: {path: b.txt, content: same}}\n", UPDATED, "echo mine > b.txt", Done(&[("a.txt", Some("two")), ("b.txt", Some("mine\n"))])),
    // Resources to be deleted.
    ("a file to be deleted is edited", FILE, "deploy; remove", "echo edited > out/a.txt", OBSERVATION),
    ("a file to be deleted is gone", FILE, "deploy; remove", "rm out/a.txt", OBSERVATION),
    ("a file to be deleted becomes a link", FILE, "deploy; remove", "mv out/a.txt b; ln -s ../b out/a.txt", OBSERVATION),
    ("a folder to be deleted holds something foreign", FOLDER, "deploy; remove", "touch dir/foreign", OBSERVATION),
    ("a folder to be deleted is gone", FOLDER, "deploy; remove", "rmdir dir", OBSERVATION),
    ("a folder to be deleted gets another mode", FOLDER, "deploy; remove", "chmod 700 dir", OBSERVATION),
    ("a link to be deleted leads elsewhere", LINK, "deploy; remove", "ln -sfn there link", OBSERVATION),
    ("an archive to be deleted is edited", ARCHIVE, "mkdir in; echo 1 > in/x.txt; deploy; remove", "echo x >> a.tar", OBSERVATION),
    // Several facts at once: the whole list is reported.
    ("three files have changed", "  a: {type: local/file, spec: {path: a.txt, source: s1}}\n  b: {type: local/file, spec: {path: b.txt, source: s2}}\n  c: {type: local/file, spec: {path: c.txt, content: one}}\n", "echo 1 > s1; echo 1 > s2", "echo 2 > s1; rm s2; echo '# x' >> blueprint.yaml; echo x > c.txt", Refused(&["input-changed", "input-changed", "input-changed", "observation-changed"])),
    // No relevant change.
    ("nothing", FILE, UPDATED, "", Done(&[("out/a.txt", Some("two"))])),
    ("a foreign file lies in a folder to be deleted all the time", FOLDER, "deploy; remove; touch dir/foreign", "", Done(&[("dir/foreign", Some(""))])),
    ("a source that the plan makes itself", "  a: {type: local/file, spec: {path: a.txt, content: one}}\n  b: {type: local/file, spec: {path: b.txt, source: '${a.spec.path}'}}\n", "", "", Done(&[("b.txt", Some("one"))])),
    ("a source that a command of the plan makes", "  c: {type: local/command, spec: {create: 'echo made > made'}}\n  b: {type: local/file, dependsOn: c, spec: {path: b.txt, source: made}}\n", "", "", Done(&[("b.txt", Some("made\n"))])),
];

/// Runs a script in the folder, with the functions `deploy` and `remove`.
fn script(place: &Place, script: &str) {
    let words = "deploy() { $CYAN deploy --yes; }\nremove() { printf 'version: 2023-04-20\\nresources:\\n  other: {type: std/value, spec: {input: 1}}\\n' > blueprint.yaml; }\n";
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-ec", &format!("{words}{script}")])
        .current_dir(place.path())
        .env_clear();
    shell
        .env("HOME", place.path().join("home"))
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    let done = ran(shell
        .env("CYAN", env!("CARGO_BIN_EXE_cyan"))
        .output()
        .unwrap());
    assert_eq!(done.code, 0, "{script}\n{}{}", done.out, done.err);
}

/// Returns all files in a folder except the state, with their contents and modification times.
fn everything(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let about = std::fs::symlink_metadata(&path).unwrap();
            if path.file_name().is_some_and(|name| name == ".cyan") {
                continue;
            }
            if about.is_dir() {
                folders.push(path.clone());
            }
            let link = std::fs::read_link(&path).ok();
            // The modification time of a folder depends on temporary files only.
            let written = about.is_file().then(|| about.modified().unwrap());
            all.insert(
                path.display().to_string(),
                format!(
                    "{link:?} {} {:?} {written:?}",
                    about.len(),
                    about.permissions()
                ),
            );
        }
    }
    all
}

fn check((name, resources, before, change, ends): &Case) {
    let place = Place::new();
    let head = if resources.starts_with("include:") {
        ""
    } else {
        "resources:\n"
    };
    place.write(
        "blueprint.yaml",
        format!("version: 2023-04-20\n{head}{resources}"),
    );
    script(&place, before);
    let mut stage = vec!["stage", "--out", "plan"];
    if place.has("v.yaml") {
        stage.extend(["--vars", "v.yaml"]);
    }
    let staged = place.run(&stage);
    assert_eq!(staged.code, 0, "{name}: {}{}", staged.out, staged.err);
    script(&place, change);
    let then = everything(place.path());
    let mut deploy = place.cyan(&["deploy", "plan"]);
    if let Some((variable, value)) = change
        .strip_prefix("export ")
        .and_then(|set| set.split_once('='))
    {
        deploy.env(variable, value);
    }
    let Ran { code, out, err } = ran(deploy.output().unwrap());
    match ends {
        Refused(codes) => {
            assert_eq!(code, 1, "{name}: {out}{err}");
            let mut found: Vec<&str> = err
                .lines()
                .filter_map(|line| line.strip_prefix("error[")?.split(']').next())
                .collect();
            found.sort_unstable();
            assert_eq!(found, *codes, "{name}: {err}");
            assert_eq!(everything(place.path()), then, "{name}");
        }
        Done(files) => {
            assert_eq!(code, 0, "{name}: {out}{err}");
            for (file, text) in *files {
                let now = std::fs::read_to_string(place.path().join(file)).ok();
                assert_eq!(now.as_deref(), *text, "{name}: {file}");
            }
            let summary = |line: &str| {
                line.replace(" to create", "")
                    .replace(" to update", "")
                    .replace(" to delete", "")
            };
            let summary = summary(staged.last_line()).replace(" to replace", "");
            let done = out.lines().last().unwrap_or_default();
            let done = [" created", " updated", " deleted", " replaced"]
                .iter()
                .fold(done.to_owned(), |line, word| line.replace(word, ""));
            assert_eq!(done, summary, "{name}");
        }
    }
}

#[test]
fn changed_plan_is_refused_or_applied_as_shown() {
    assert!(FACTS.len() >= 71, "{}", FACTS.len());
    let failed = std::sync::Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(8)
        {
            scope.spawn(|| {
                while let Some(fact) =
                    FACTS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    if std::panic::catch_unwind(|| check(fact)).is_err() {
                        failed.lock().unwrap().push(fact.0);
                    }
                }
            });
        }
    });
    assert_eq!(failed.into_inner().unwrap(), Vec::<&str>::new());
}

#[test]
fn obstacle_known_before_the_first_change_is_an_error_of_the_plan() {
    for (resources, before, code) in [
        (SOURCE, "", "source-unreadable"),
        (TEMPLATE, "", "source-unreadable"),
        (ARCHIVE, "", "source-unreadable"),
        (
            SOURCE,
            "echo 1 > src.txt; deploy; rm src.txt",
            "source-unreadable",
        ),
        (FILE, "mkdir out; echo x > out/a.txt", "precondition-failed"),
        (FILE, "mkdir -p out/a.txt", "precondition-failed"),
        (FILE, "echo x > out", "precondition-failed"),
        (FOLDER, "echo x > dir", "precondition-failed"),
        (LINK, "ln -s there link", "precondition-failed"),
        (LINK, "mkdir link", "precondition-failed"),
        (
            ARCHIVE,
            "mkdir in; echo x > in/x.txt; echo x > a.tar",
            "precondition-failed",
        ),
    ] {
        let place = Place::with(
            "blueprint.yaml",
            &format!("version: 2023-04-20\nresources:\n{resources}"),
        );
        script(&place, before);
        let then = everything(place.path());
        let refused = place.ends(1, &["deploy", "--yes"]);
        assert!(
            refused.err.contains(&format!("error[{code}]")),
            "{before}: {}",
            refused.err
        );
        assert_eq!(everything(place.path()), then, "{before}");
    }
}

#[test]
fn values_that_were_not_read_are_marked_in_the_plan() {
    let place = Place::with(
        "blueprint.yaml",
        &format!("version: 2023-04-20\nresources:\n{FILE}{BLIND}"),
    );
    place.ends(0, &["deploy", "--yes"]);
    let text = place
        .read("blueprint.yaml")
        .replace("one", "two")
        .replace("triggers: 1", "triggers: 2");
    place.write("blueprint.yaml", text);
    let staged = place.ends(0, &["stage"]);
    assert!(
        staged.out.contains("a local/file update: changed\n"),
        "{}",
        staged.out
    );
    assert!(
        staged.out.contains(
            "c local/command replace: a field cannot be changed in place; not observed\n"
        ),
        "{}",
        staged.out
    );
    let staged = place.ends(0, &["stage", "--no-refresh", "--out", "plan"]);
    assert!(
        staged
            .out
            .contains("a local/file update: changed; not observed\n"),
        "{}",
        staged.out
    );
    assert!(
        place
            .ends(0, &["stage", "--no-refresh", "--json"])
            .out
            .contains("\"not_observed\":true")
    );
    // A plan without refresh is based on the records.
    place.write("out/a.txt", "edited");
    place.ends(0, &["deploy", "plan"]);
    assert_eq!(place.read("out/a.txt"), "two");
}

/// A change outside the targets does not prevent the deploy.
#[test]
fn problems_out_of_target_do_not_block_the_plan() {
    let place = Place::with(
        "blueprint.yaml",
        &format!(
            "version: 2023-04-20\nresources:\n{SOURCE}  b: {{type: local/file, spec: {{path: b.txt, content: b}}}}\n  c: {{type: local/file, spec: {{path: c.txt, content: c}}}}\n"
        ),
    );
    place.write("c.txt", "the file of another program");
    assert_eq!(
        place
            .ends(0, &["deploy", "--yes", "--target", "b"])
            .last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    let refused = place.ends(1, &["stage"]);
    assert!(
        refused.err.contains("source-unreadable") && refused.err.contains("precondition-failed"),
        "{}",
        refused.err
    );
    assert_eq!(
        place.ends(0, &["destroy", "--yes"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

/// A reconcile that reverts drift copies the current source, and reports that the source has
/// changed.
#[test]
fn reconcile_reports_a_changed_source() {
    let place = Place::with(
        "blueprint.yaml",
        &format!("version: 2023-04-20\nresources:\n{SOURCE}"),
    );
    place.write("src.txt", "1");
    place.ends(0, &["deploy", "--yes"]);
    place.write("src.txt", "2");
    assert_eq!(
        place.ends(0, &["reconcile", "--yes"]).last_line(),
        "0 created, 0 updated, 0 deleted",
        "no drift"
    );
    place.write("a.txt", "by hand");
    let reconciled = place.ends(0, &["reconcile", "--yes"]);
    assert!(
        reconciled
            .out
            .contains("the content of `src.txt` has changed"),
        "{}",
        reconciled.out
    );
    assert_eq!(place.read("a.txt"), "2");
    place.write("a.txt", "by hand");
    std::fs::remove_file(place.path().join("src.txt")).unwrap();
    let refused = place.ends(1, &["reconcile", "--yes"]);
    assert!(
        refused.err.contains("error[source-unreadable]"),
        "{}",
        refused.err
    );
}

/// A resource between the two is unchanged, and the source is created again before it is read.
#[test]
fn reconcile_restores_a_source_before_it_is_read() {
    let resources = "  src: {type: local/command, spec: {create: 'echo one > src.txt', read: 'test -f src.txt || exit 3', delete: 'rm -f src.txt'}}
  d: {type: local/directory, dependsOn: src, spec: {path: out}}
  a: {type: local/file, spec: {path: '${d.spec.path}/a.txt', source: src.txt}}\n";
    let place = Place::with(
        "blueprint.yaml",
        &format!("version: 2023-04-20\nresources:\n{resources}"),
    );
    place.ends(0, &["deploy", "--yes"]);
    std::fs::remove_file(place.path().join("src.txt")).unwrap();
    place.write("out/a.txt", "by hand");
    assert_eq!(
        place.ends(0, &["reconcile", "--yes"]).last_line(),
        "1 created, 1 updated, 0 deleted"
    );
    assert_eq!(place.read("out/a.txt"), "one\n");
}

/// Plan format 1 does not record the contents of sources.
#[test]
fn a_plan_of_format_1_that_reads_files_is_refused() {
    let place = Place::with(
        "blueprint.yaml",
        &format!("version: 2023-04-20\nresources:\n{SOURCE}"),
    );
    place.write("src.txt", "1");
    place.ends(0, &["stage", "--out", "plan"]);
    place.write(
        "plan",
        place
            .read("plan")
            .replacen("\"format\":3", "\"format\":1", 1),
    );
    let refused = place.ends(1, &["deploy", "plan"]);
    assert!(
        refused
            .err
            .contains("error[plan-stale]: the plan has format 1"),
        "{}",
        refused.err
    );
    assert!(!place.has("a.txt"));
}

/// Answers the question of a deploy on a terminal after the time limit for an answer. Runs
/// `meanwhile` before the answer. Returns `None` if there is no program that provides a terminal.
#[expect(clippy::print_stdout, reason = "the output names the skipped tests")]
fn answered_late(place: &Place, meanwhile: impl FnOnce()) -> Option<Ran> {
    use std::io::{Read, Write};
    let mut terminal = std::process::Command::new("script");
    let command = format!("{} deploy --color never", env!("CARGO_BIN_EXE_cyan"));
    terminal
        .args(["-qec", &command, "/dev/null"])
        .current_dir(place.path())
        .env_clear();
    terminal
        .env("HOME", place.path().join("home"))
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    terminal
        .env("TERM", "dumb")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let Ok(mut running) = terminal.spawn() else {
        println!("skipped: there is no program `script` to make a terminal with");
        return None;
    };
    let (mut input, mut output) = (
        running.stdin.take().unwrap(),
        running.stdout.take().unwrap(),
    );
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("[y/N]") {
        let mut byte = [0];
        assert_eq!(
            output.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.push(byte[0]);
    }
    meanwhile();
    std::thread::sleep(std::time::Duration::from_millis(3500));
    input.write_all(b"y\n").unwrap();
    output.read_to_end(&mut said).unwrap();
    let code = running.wait().unwrap().code().unwrap_or(-1);
    Some(Ran {
        code,
        out: String::from_utf8_lossy(&said).into_owned(),
        err: String::new(),
    })
}

#[test]
fn conditions_of_a_plan_are_checked_again_after_a_late_answer() {
    let document = format!("version: 2023-04-20\nresources:\n{FILE}");
    let place = Place::with("blueprint.yaml", &document);
    place.ends(0, &["deploy", "--yes"]);
    place.write("blueprint.yaml", document.replace("one", "two"));
    let Some(refused) = answered_late(&place, || place.write("out/a.txt", "edited")) else {
        return;
    };
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(
        refused.out.contains("error[observation-changed]"),
        "{}",
        refused.out
    );
    assert_eq!(place.read("out/a.txt"), "edited");
    let Some(done) = answered_late(&place, || ()) else {
        return;
    };
    assert_eq!(done.code, 0, "{}", done.out);
    assert_eq!(place.read("out/a.txt"), "two");
}
