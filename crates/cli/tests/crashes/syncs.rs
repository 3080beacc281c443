//! Counts the system calls that wait for the disk, with `strace`.

use std::process::Command;

use crate::place::Place;

/// The number of resources, and the number of concurrent calls.
const RESOURCES: usize = 1000;
const AT_ONCE: usize = 16;

/// Returns the number of system calls that wait for the disk in one run; `None` if they cannot be
/// counted.
fn syncs(place: &Place, arguments: &[&str]) -> Option<usize> {
    let traced = traced(place, arguments)?;
    // A call that another thread interrupted has a second line.
    Some(
        traced
            .lines()
            .filter(|line| line.contains("sync") && !line.contains("resumed>"))
            .count(),
    )
}

/// Returns the system calls that wait for the disk in one run, in order, with their files.
fn traced(place: &Place, arguments: &[&str]) -> Option<String> {
    traced_with(
        place,
        arguments,
        "fsync,fdatasync,sync,syncfs,sync_file_range,msync",
    )
}

/// Returns the given system calls in one run, in order.
fn traced_with(place: &Place, arguments: &[&str], calls: &str) -> Option<String> {
    let cyan = place.cyan(&[]);
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-qq",
        "-y",
        "-o",
        "trace",
        "-e",
        &format!("trace={calls}"),
    ]);
    command
        .arg(cyan.get_program())
        .args(arguments)
        .current_dir(place.path())
        .env_clear();
    command.envs(
        cyan.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let Ok(ended) = command.output() else {
        println!("skipped: there is no `strace` to count with");
        return None;
    };
    if !place.has("trace") {
        println!("skipped: `strace` may not follow a program here");
        return None;
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success(),
        "{}{said}",
        String::from_utf8_lossy(&ended.stdout)
    );
    Some(place.read("trace"))
}

/// The folder of a new state is synced before the first commit ends. No later step syncs it.
#[test]
fn a_new_folder_is_on_the_disk_before_the_first_commit_ends() {
    let text = "version: 2023-04-20\nresources:\n  r: {type: test/data, spec: {input: 1}}\n";
    let place = Place::with("one.blueprint.yaml", text);
    let Some(traced) = traced(&place, &["deploy", "--yes"]) else {
        return;
    };
    let around = format!("<{}>", place.path().canonicalize().unwrap().display());
    let folder = traced.lines().position(|line| line.contains(&around));
    // The first commit syncs the directory entry of the log.
    let first_commit = traced.lines().position(|line| line.contains("/.cyan>"));
    assert!(folder.is_some() && folder < first_commit, "{traced}");
}

/// Durable writes are grouped: one commit for each round of calls, with its intents and outcomes.
#[test]
fn a_wide_deploy_waits_for_the_disk_once_per_round_and_a_stage_never() {
    let resources: String = (0..RESOURCES)
        .map(|at| format!("  r{at}: {{type: test/data, spec: {{input: {at}}}}}\n"))
        .collect();
    let place = Place::with(
        "wide.blueprint.yaml",
        format!("version: 2023-04-20\nresources:\n{resources}").as_str(),
    );
    let limit = 2 * RESOURCES.div_ceil(AT_ONCE) + 10;
    let at_once = AT_ONCE.to_string();
    let Some(first) = syncs(&place, &["deploy", "--yes", "--parallelism", &at_once]) else {
        return;
    };
    println!("deploy of {RESOURCES}: {first} syncs, at most {limit}");
    assert!(
        (2..=limit).contains(&first),
        "{first} syncs; at most {limit}"
    );
    for words in [
        &["stage", "--exit-code"][..],
        &["list"],
        &["show"],
        &["history"],
        &["drift", "--exit-code"],
        &["validate"],
    ] {
        assert_eq!(syncs(&place, words), Some(0), "{words:?}");
    }
    // A run without changes takes a lease and releases it; closing the file checkpoints both.
    let nothing = syncs(&place, &["deploy", "--yes"]).unwrap();
    assert!(nothing <= 10, "{nothing} syncs for nothing");
    let last = syncs(&place, &["destroy", "--yes", "--parallelism", &at_once]).unwrap();
    println!("destroy of {RESOURCES}: {last} syncs");
    assert!((2..=limit).contains(&last), "{last} syncs; at most {limit}");
}

/// A deletion is on the disk before the state records its outcome.
#[test]
fn a_deletion_is_on_the_disk_before_its_outcome() {
    let text = "version: 2023-04-20
resources:
  d: {type: local/directory, spec: {path: d}}
  f: {type: local/file, dependsOn: d, spec: {path: d/f, content: x}}
  l: {type: local/symlink, dependsOn: f, spec: {path: d/l, target: f}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let calls = "fsync,fdatasync,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,mkdir,mkdirat,symlink,symlinkat";
    let whole = place.path().canonicalize().unwrap().display().to_string();
    for (words, names) in [
        ("deploy", ["/d\"", "/d/f\"", "/d/l\""]),
        ("destroy", ["/d/l\"", "/d/f\"", "/d\""]),
    ] {
        let Some(traced) = traced_with(&place, &[words, "--yes"], calls) else {
            return;
        };
        let lines: Vec<&str> = traced
            .lines()
            .filter(|line| !line.contains(".cyan-") || line.contains("rename"))
            .collect();
        for name in names {
            let changes =
                |line: &&str| line.contains(&format!("{whole}{name}")) && !line.contains("ENOENT");
            let changed = lines
                .iter()
                .position(changes)
                .unwrap_or_else(|| panic!("{words} {name}: {traced}"));
            let folder = if name == "/d\"" {
                format!("<{whole}>")
            } else {
                format!("<{whole}/d>")
            };
            let after = &lines[changed..];
            let synced = after
                .iter()
                .position(|line| line.contains("fsync") && line.contains(&folder));
            let recorded = after
                .iter()
                .position(|line| line.contains("sync(") && line.contains("state.db"));
            assert!(
                synced.is_some_and(|synced| recorded.is_none_or(|recorded| synced < recorded)),
                "{words} {name}: {traced}"
            );
        }
    }
}
