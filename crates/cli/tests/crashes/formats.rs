//! What the binary says about states of other versions.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

/// Makes a state file of a sample; false where that cannot be done here.
fn sample(place: &Place, name: &str) -> bool {
    place.write(".cyan/.keep", "");
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stores/tests/samples").join(name);
    let file = std::fs::File::open(text).unwrap();
    match Command::new("sqlite3").arg(place.path().join(".cyan/state.db")).stdin(file).output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            true
        }
        Err(_) => {
            println!("skipped: there is no program `sqlite3` to make an older state file with");
            false
        }
    }
}

#[test]
fn a_state_of_an_older_version_is_kept_before_it_is_rewritten() {
    let place = Place::with("blueprint.yaml", ONE);
    if !sample(&place, "format-1.sql") {
        return;
    }
    let before = place.ends(0, &["list", "--json"]).out;
    assert!(!place.has(".cyan/state.db.format-1"), "looking rewrites nothing");
    let deployed = place.ends(0, &["deploy", "--yes", "-i", "other"]);
    let said = "has been rewritten as a newer version keeps it; as it was, it lies in";
    assert!(deployed.err.contains(said), "{}", deployed.err);
    assert!(place.ends(0, &["list"]).out.contains("shop"));
    let kept = place.ends(0, &["list", "--json", "--state", "sqlite:.cyan/state.db.format-1"]);
    assert_eq!(kept.out, before);
    assert!(!place.ends(0, &["destroy", "--yes", "-i", "other"]).err.contains("rewritten"), "it is done once");
}

#[test]
fn a_state_of_a_newer_version_is_refused_in_one_way() {
    let place = Place::with("blueprint.yaml", ONE);
    if !sample(&place, "format-2.sql") {
        return;
    }
    let newer =
        Command::new("sqlite3").arg(place.path().join(".cyan/state.db")).arg("PRAGMA user_version = 99").status();
    assert!(newer.unwrap().success());
    for words in
        [&["list"][..], &["show", "-i", "shop"], &["stage"], &["deploy", "--yes"], &["unlock"], &["state", "export"]]
    {
        let refused = place.ends(1, words);
        assert_eq!(refused.err.matches("error").count(), 1, "{words:?}: {}", refused.err);
        assert!(
            refused.err.contains("was written by a newer version (format 99, this one reads up to 2)"),
            "{}",
            refused.err
        );
    }
}
