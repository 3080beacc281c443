//! Tests of the binary with states of other versions.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

/// Makes a state file from a sample. Returns `false` if that is not possible.
fn sample(place: &Place, name: &str) -> bool {
    place.write(".cyan/.keep", "");
    let text = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../stores/tests")
        .join(name);
    let file = std::fs::File::open(text).unwrap();
    match Command::new("sqlite3")
        .arg(place.path().join(".cyan/state.db"))
        .stdin(file)
        .output()
    {
        Ok(done) => {
            assert!(
                done.status.success(),
                "{}",
                String::from_utf8_lossy(&done.stderr)
            );
            true
        }
        Err(_) => {
            println!("skipped: there is no program `sqlite3` to make an older state file with");
            false
        }
    }
}

#[test]
fn a_saved_plan_and_a_state_of_the_version_before_hosted_providers_are_used() {
    let place = Place::with(
        "blueprint.yaml",
        include_str!("before_hosted/blueprint.yaml"),
    );
    place.write("plan.cyan", include_str!("before_hosted/plan.cyan"));
    place.write(
        ".cyan/state.world",
        include_str!("before_hosted/state.world"),
    );
    if !sample(&place, "../../cli/tests/crashes/before_hosted/state.sql") {
        return;
    }
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "1 to create, 1 to update, 1 to delete"
    );
    assert_eq!(
        place.ends(0, &["deploy", "plan.cyan"]).last_line(),
        "1 created, 1 updated, 1 deleted"
    );
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place.ends(0, &["rollback", "-y", "1"]).last_line(),
        "1 created, 1 updated, 1 deleted"
    );
    place.ends(0, &["destroy", "-y"]);
}

/// The simulated world that the killed run left.
const WORLD: &str = r#"{"world":1}
{"created":[{"id":"data-b7c06eee","type":"test/data","place":"chain/r0","fields":{"input":0,"delayMs":150,"id":"data-b7c06eee"},"hash":"b7c06eee","updates":1,"token":"70388f964bf878008810ad63fa1a6456","unsettled":0},1]}
"#;

#[test]
fn a_state_of_an_older_version_is_kept_before_it_is_rewritten() {
    let place = Place::with("blueprint.yaml", ONE);
    if !sample(&place, "samples/format-1.sql") {
        return;
    }
    let before = place.ends(0, &["list", "--json"]).out;
    assert!(
        !place.has(".cyan/state.db.format-1"),
        "looking rewrites nothing"
    );
    let deployed = place.ends(0, &["deploy", "--yes", "-i", "other"]);
    let said = "was rewritten in a newer format; a copy in the old format is";
    assert!(deployed.err.contains(said), "{}", deployed.err);
    assert!(place.ends(0, &["list"]).out.contains("shop"));
    let kept = place.ends(
        0,
        &[
            "list",
            "--json",
            "--state",
            "sqlite:.cyan/state.db.format-1",
        ],
    );
    assert_eq!(kept.out, before);
    assert!(
        !place
            .ends(0, &["destroy", "--yes", "-i", "other"])
            .err
            .contains("rewritten"),
        "it is done once"
    );
}

#[test]
fn a_state_of_a_newer_version_is_refused_in_one_way() {
    let place = Place::with("blueprint.yaml", ONE);
    if !sample(&place, "samples/format-2.sql") {
        return;
    }
    let newer = Command::new("sqlite3")
        .arg(place.path().join(".cyan/state.db"))
        .arg("PRAGMA user_version = 99")
        .status();
    assert!(newer.unwrap().success());
    for words in [
        &["list"][..],
        &["show", "-i", "shop"],
        &["stage"],
        &["deploy", "--yes"],
        &["unlock"],
        &["state", "export"],
    ] {
        let refused = place.ends(1, words);
        assert_eq!(
            refused.err.matches("error").count(),
            1,
            "{words:?}: {}",
            refused.err
        );
        assert!(
            refused
                .err
                .contains("was written by a newer version (format 99, this one reads up to 4)"),
            "{}",
            refused.err
        );
    }
}

const SHOP: &str = "version: 2023-04-20
variables:
  text: {type: string}
  word: {type: string, secret: true, default: sesame}
resources:
  page: {type: local/file, spec: {path: page.txt, content: '${variables.text}', overwrite: true}}
  key: {type: random/password, spec: {length: 12}}
  safe: {type: local/file, spec: {path: safe.txt, sensitiveContent: '${variables.word} ${key.spec.result}', overwrite: true}}
exports:
  path: {type: string, field: page.spec.path}
";

/// An export contains the whole state: secrets, history and the generations for rollbacks. Export
/// and import give the same text.
#[test]
fn exported_state_is_equal_after_each_import() {
    let here = Place::with("shop.blueprint.yaml", SHOP);
    here.ends(0, &["key", "new"]);
    for text in ["one", "two", "three"] {
        here.ends(0, &["deploy", "--yes", "--var", &format!("text={text}")]);
    }
    here.ends(0, &["state", "move", "safe", "vault", "--yes"]);
    here.ends(0, &["state", "move", "vault", "safe", "--yes"]);
    here.ends(0, &["stage", "--out", "kept.plan", "--var", "text=four"]);
    here.ends(0, &["state", "export", "kept.json"]);
    let text = here.read("kept.json");
    assert!(
        !text.contains("sesame") && text.contains("$sealed"),
        "secrets are sealed"
    );
    here.ends(0, &["state", "export", "again.json"]);
    assert!(
        here.read("again.json") == text,
        "equal texts of an equal state"
    );

    let there = Place::with("shop.blueprint.yaml", SHOP);
    for name in ["kept.json", "kept.plan", "home/.config/cyan/key"] {
        there.write(name, here.read(name));
    }
    let refused = there.ends(2, &["state", "import", "kept.json"]);
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    assert!(!there.has(".cyan"), "nothing was done without a yes");
    let imported = there.ends(0, &["state", "import", "kept.json", "--yes"]);
    assert!(
        imported
            .err
            .contains("is as it was exported, with the history of 5 operations"),
        "{}",
        imported.err
    );
    there.ends(0, &["state", "export", "again.json"]);
    assert!(
        there.read("again.json") == text,
        "written again it is the same, byte by byte"
    );
    // Compare JSON, because the text output contains ages, which change.
    assert_eq!(
        there.ends(0, &["history", "--json"]).out,
        here.ends(0, &["history", "--json"]).out
    );
    assert!(
        !there.read("kept.json").is_empty()
            && there
                .ends(1, &["state", "import", "kept.json", "--yes"])
                .code
                == 1
    );
    // With the same files, a plan from before the import can still be deployed, and rollbacks are
    // possible.
    for name in ["page.txt", "safe.txt"] {
        there.write(name, here.read(name));
    }
    there.ends(0, &["deploy", "kept.plan"]);
    assert_eq!(there.read("page.txt"), "four");
    there.ends(0, &["rollback", "1", "--yes"]);
    assert_eq!(there.read("page.txt"), "one");
    // The same operations cannot be in a second history.
    let beside = there.ends(0, &["state", "import", "kept.json", "--yes", "-i", "copy"]);
    assert!(
        beside
            .err
            .contains("already has this history under another name"),
        "{}",
        beside.err
    );
    let other_key = Place::with("shop.blueprint.yaml", SHOP);
    other_key.write("kept.json", &text);
    other_key.ends(0, &["key", "new"]);
    let closed = other_key.ends(1, &["state", "import", "kept.json", "--yes"]);
    assert!(
        closed.err.contains("cannot be opened with this key"),
        "{}",
        closed.err
    );
    // A text that was edited by hand is refused, even with the right key.
    let odd = text.replacen("page.txt", "leaf.txt", 1);
    assert!(odd != text);
    other_key.write("home/.config/cyan/key", here.read("home/.config/cyan/key"));
    other_key.write("odd.json", odd);
    let changed = other_key.ends(1, &["state", "import", "odd.json", "--yes"]);
    assert!(changed.err.contains("changed by hand"), "{}", changed.err);
    assert!(!other_key.has(".cyan"));
}

/// The outcome of a call that was cut off is settled where the state is imported.
#[test]
fn open_intents_are_exported() {
    let text = "version: 2023-04-20\nresources:\n  blind: {type: local/command, spec: {create: 'touch began; sleep 2'}}\n";
    let here = Place::with("shop.blueprint.yaml", text);
    let mut child = here
        .cyan(&["deploy", "--yes"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !here.has("began") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let exported = here.ends(0, &["state", "export", "kept.json"]);
    assert!(
        exported
            .err
            .contains("What became of a call of `blind` is not settled"),
        "{}",
        exported.err
    );
    let there = Place::with("shop.blueprint.yaml", text);
    there.write("kept.json", here.read("kept.json"));
    there.ends(0, &["state", "import", "kept.json", "--yes"]);
    assert!(
        there
            .ends(1, &["deploy", "--yes"])
            .err
            .contains("error[needs-attention]")
    );
    there.ends(0, &["reconcile", "--yes", "--adopt", "blind=made"]);
    assert_eq!(
        there.ends(0, &["deploy", "--yes"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
}

/// Exports of every version can be read. The samples never change.
#[test]
fn texts_of_every_version_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let kept = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let with_key = |place: &Place, words: &[&str]| {
        let key = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
        crate::place::ran(place.cyan(words).env("CYAN_KEY", key).output().unwrap())
    };
    for name in ["export-1.json", "export-2.json", "export-3.json"] {
        let place = Place::new();
        place.write("kept.json", kept(name));
        let imported = with_key(&place, &["state", "import", "kept.json", "--yes"]);
        assert_eq!(imported.code, 0, "{name}: {}{}", imported.out, imported.err);
        let shown = with_key(&place, &["show", "--json", "--reveal"]);
        assert!(
            shown.out.contains("sesame") && shown.out.contains("reader"),
            "{name}: {}{}",
            shown.out,
            shown.err
        );
        if name != "export-1.json" {
            let again = with_key(&place, &["state", "export"]);
            assert!(again.out == kept(name), "{name}: {}", again.out);
        }
        place.write(
            "newer.json",
            kept(name).replacen("\"format\": ", "\"format\": 9", 1),
        );
        let newer = with_key(
            &place,
            &["state", "import", "newer.json", "--yes", "-i", "other"],
        );
        assert!(
            newer.code == 1 && newer.err.contains("this version reads up to 3"),
            "{}{}",
            newer.out,
            newer.err
        );
    }
    for name in ["plan-1.json", "plan-2.json", "plan-3.json"] {
        let place = Place::with("shop.blueprint.yaml", &kept("shop.blueprint.yaml"));
        place.write("plan", kept(name));
        let deployed = with_key(&place, &["deploy", "plan"]);
        assert_eq!(
            (deployed.code, deployed.last_line()),
            (0, "2 created, 0 updated, 0 deleted"),
            "{}",
            deployed.err
        );
    }
}

/// A run of an earlier version was killed after it had committed speculative intents. The present
/// version continues it.
#[test]
fn a_run_of_an_earlier_version_that_was_killed_is_continued() {
    let resource = |at: usize| match at {
        0 => "  r0: {type: test/data, spec: {input: 0, delayMs: 150}}\n".to_owned(),
        at => format!(
            "  r{at}: {{type: test/data, spec: {{input: '${{resources.r{}.spec.id}}', delayMs: 150}}}}\n",
            at - 1
        ),
    };
    let resources: String = (0..12).map(resource).collect();
    let place = Place::with(
        "chain.blueprint.yaml",
        &format!("version: 2023-04-20\nresources:\n{resources}"),
    );
    if !sample(&place, "speculated/format-2.sql") {
        return;
    }
    place.write(".cyan/state.world", WORLD);
    place.ends(0, &["unlock", "--yes"]);
    let went_on = place.ends(0, &["deploy", "--yes"]);
    assert_eq!(
        went_on.last_line(),
        "11 created, 0 updated, 0 deleted",
        "{}",
        went_on.out
    );
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}
