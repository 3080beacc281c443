//! The output of every scenario equals the recorded output beside it. `CYAN_ACCEPT=1` rewrites the
//! recorded outputs; read them before you commit them.

use std::path::{Path, PathBuf};

fn files(end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the scenarios are there")
        .map(|entry| entry.expect("they can be listed").path())
        .filter(|path| path.extension().is_some_and(|it| it == end))
        .collect();
    files.sort();
    files
}

/// The first line in which two texts differ, with its context.
fn first_difference(recorded: &str, now: &str) -> String {
    let (mut before, mut left, mut right) = (Vec::new(), recorded.lines(), now.lines());
    loop {
        match (left.next(), right.next()) {
            (Some(a), Some(b)) if a == b => before.push(a),
            (a, b) => {
                let context = before[before.len().saturating_sub(8)..].join("\n");
                let or_end = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return format!(
                    "{context}\n- recorded: {}\n- now:      {}",
                    or_end(a),
                    or_end(b)
                );
            }
        }
    }
}

#[test]
fn scenarios_equal_their_records() {
    let accept = std::env::var_os("CYAN_ACCEPT").is_some();
    let scripts = files("txt");
    assert!(scripts.len() >= 10, "only {} scenarios", scripts.len());
    let mut wrong = Vec::new();
    for script in scripts {
        let record = script.with_extension("out");
        let text = std::fs::read_to_string(&script).expect("a scenario is text");
        match testkit::scenario::run(&text) {
            Err(broken) => wrong.push(format!("{}: {broken}", script.display())),
            Ok(now) if accept => std::fs::write(&record, now).expect("the record can be written"),
            Ok(now) => {
                let recorded = std::fs::read_to_string(&record).unwrap_or_default();
                if recorded != now {
                    wrong.push(format!(
                        "{}\n{}",
                        script.display(),
                        first_difference(&recorded, &now)
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n\n(CYAN_ACCEPT=1 records what happens now)",
        wrong.join("\n\n")
    );
}

#[test]
fn every_record_belongs_to_a_scenario() {
    for record in files("out") {
        assert!(
            record.with_extension("txt").is_file(),
            "{} is the record of no scenario",
            record.display()
        );
    }
}

#[test]
fn invalid_script_is_refused_with_its_line() {
    let refused = |script: &str| testkit::scenario::run(script).expect_err("it makes no sense");
    assert_eq!(
        refused("world\nwordl\n"),
        "line 2: there is no command `wordl`"
    );
    assert_eq!(
        refused("deploy nothing.yaml as lab"),
        "line 1: there is no document `nothing.yaml`"
    );
    assert_eq!(refused("destroy lab"), "line 1: `as` is needed, not `lab`");
    assert_eq!(
        refused("destroy as lab crash afterwards create a"),
        "line 1: `afterwards` is neither `before` nor `after`"
    );
}
