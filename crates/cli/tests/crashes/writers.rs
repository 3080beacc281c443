//! Tests of the single writer: commands that are refused, commands that do not wait, and a writer
//! whose lease was ended.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blueprint::Name;
use state::seal::Sealer;
use state::{Host, InstanceName, Liveness, Process, Store};
use stores::sqlite::{Mode, SqliteStore};

use crate::kills::{Rng, SEED, number};
use crate::place::{Place, Ran, ran};

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

const MINUTE: Duration = Duration::from_secs(60);

/// A host that cannot check the processes of this machine, as in another container.
struct OtherHost;

impl Host for OtherHost {
    fn boot(&self) -> Name {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .unwrap()
            .trim()
            .into()
    }

    fn elapsed(&self) -> Duration {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        Duration::from_secs_f64(uptime.split(' ').next().unwrap().parse().unwrap())
    }

    fn wall(&self) -> i64 {
        i64::try_from(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_secs(),
        )
        .unwrap()
    }

    fn process(&self) -> Option<Process> {
        None
    }

    fn liveness(&self, _process: &Process) -> Liveness {
        Liveness::Unknown
    }
}

/// Uses the state from another host.
fn with_store_of_other_host<T>(
    place: &Place,
    does: impl AsyncFnOnce(&SqliteStore, &InstanceName) -> T,
) -> T {
    let path = place.path().join(".cyan/state.db");
    let store =
        SqliteStore::open(path, Sealer::none(), Mode::ReadWrite).with_host(Arc::new(OtherHost));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(does(&store, &InstanceName::from_free_text("shop")))
}

/// Takes over the lease of the instance, from a host whose processes cannot be checked.
fn take_over(place: &Place, who: &str, lasts: Duration) {
    with_store_of_other_host(place, async |store, shop| {
        store.unlock(shop).await.unwrap();
        store.lease(shop, who, lasts).await.unwrap();
    });
}

/// A run that was killed before its first step holds an instance that no list contains yet.
#[test]
fn lease_of_an_instance_without_entries_can_be_released() {
    let place = Place::with("shop.blueprint.yaml", ONE);
    place.ends(1, &["unlock", "--yes"]);
    place.ends(0, &["deploy", "--yes", "-i", "another"]);
    take_over(&place, "ann@host (process 7)", MINUTE);
    let refused = place.ends(5, &["deploy", "--yes", "-i", "shop"]);
    assert!(
        refused.err.contains("held by ann@host (process 7)"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("cyan unlock -i shop"),
        "{}",
        refused.err
    );
    place.ends(2, &["unlock", "-i", "shop"]);
    place.ends(1, &["unlock", "--yes", "-i", "other"]);
    assert!(
        place
            .ends(0, &["unlock", "--yes", "-i", "shop"])
            .err
            .contains("ann@host (process 7)")
    );
    assert_eq!(
        place
            .ends(0, &["deploy", "--yes", "-i", "shop"])
            .last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert!(
        place
            .ends(0, &["unlock", "-i", "shop"])
            .err
            .contains("No process holds `shop`")
    );
}

/// A document in which the create of `first` waits for the file `go`. `first` can be read; `second`
/// depends on it.
const SLOW: &str = "version: 2023-04-20
resources:
  first:
    type: local/command
    spec:
      create: 'echo made >> log; touch began; until test -e go; do sleep 0.02; done; touch first'
      read: 'test -e first || exit 3'
      delete: rm first
  second: {type: local/file, dependsOn: first, spec: {path: second.txt, content: two}}
exports:
  made: {type: string, field: resources.first.spec.id}
";

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_there() {
        assert!(begun.elapsed().as_secs() < 60, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a deploy, and waits until its first call is in flight.
fn start_deploy(place: &Place) -> std::process::Child {
    let mut command = place.cyan(&["deploy", "--yes"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the first call", || place.has("began"));
    child
}

/// The writer has a call in flight that does not end during the test. A command that waited for the
/// writer would hang.
#[test]
fn readers_do_not_wait_for_the_writer() {
    let place = Place::with("shop.blueprint.yaml", SLOW);
    let writer = start_deploy(&place);
    assert!(place.ends(0, &["list"]).out.contains("deploy running"));
    for words in [
        &["show"][..],
        &["exports"],
        &["history"],
        &["validate"],
        &["state", "export"],
    ] {
        let read = place.run(words);
        assert!(read.code <= 1, "{words:?}: {}{}", read.out, read.err);
    }
    // A call in flight cannot be distinguished from one that was cut off. A plan would be wrong, so
    // `stage` is refused.
    assert!(
        place
            .ends(5, &["stage"])
            .err
            .contains("error[instance-busy]")
    );
    for words in [
        &["deploy", "--yes"][..],
        &["destroy", "--yes"],
        &["reconcile", "--yes"],
        &["state", "rekey", "key", "--yes"],
    ] {
        let refused = place.ends(5, words);
        assert!(
            refused.err.contains("tester@") && refused.err.contains("began"),
            "{words:?}: {}",
            refused.err
        );
        assert!(
            refused.err.contains("cyan unlock"),
            "{words:?}: {}",
            refused.err
        );
    }
    place.write("go", "");
    let ended = ran(writer.wait_with_output().unwrap());
    assert_eq!(
        (ended.code, ended.last_line()),
        (0, "2 created, 0 updated, 0 deleted"),
        "{}{}",
        ended.out,
        ended.err
    );
}

/// Lets a writer without its lease end, and checks that it fails with `lease-lost` and starts no
/// further step.
#[track_caller]
fn fails_with_lost_lease(place: &Place, writer: std::process::Child) -> Ran {
    place.write("go", "");
    let ended = ran(writer.wait_with_output().unwrap());
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("error[lease-lost]"), "{}", ended.err);
    assert!(place.has("first") && !place.has("second.txt"), "it went on");
    ended
}

#[test]
fn writer_reports_a_released_lease_and_records_nothing_more() {
    let place = Place::with("shop.blueprint.yaml", SLOW);
    let writer = start_deploy(&place);
    place.ends(0, &["unlock", "--yes"]);
    let before = place.ends(0, &["list", "--json"]).out;
    let ended = fails_with_lost_lease(&place, writer);
    assert!(
        ended.err.contains("no operation holds it now"),
        "{}",
        ended.err
    );
    assert_eq!(
        place.ends(0, &["list", "--json"]).out,
        before,
        "nothing was recorded"
    );
    // The next run reads the outcome of the first call and does not repeat the call.
    let next = place.ends(0, &["deploy", "--yes"]);
    assert!(
        next.err
            .contains("the create of `first` was cut off; its outcome has been read back"),
        "{}",
        next.err
    );
    assert_eq!(next.last_line(), "1 created, 0 updated, 0 deleted");
    assert_eq!(place.read("log"), "made\n");
    place.ends(0, &["destroy", "--yes"]);
    assert!(!place.has("first") && !place.has("second.txt"));
}

#[test]
fn lease_of_an_unresponsive_writer_is_taken_over() {
    let place = Place::with("shop.blueprint.yaml", SLOW);
    let writer = start_deploy(&place);
    // Another process takes over the lease, as it could after a minute.
    take_over(&place, "bob@host (process 7)", MINUTE);
    let ended = fails_with_lost_lease(&place, writer);
    assert!(
        ended.err.contains("held by bob@host (process 7)"),
        "{}",
        ended.err
    );
    // The writer has not released the lease of the other process at its end.
    let held = place.ends(5, &["deploy", "--yes"]);
    assert!(held.err.contains("bob@host"), "{}", held.err);
    // An expired lease blocks no writer.
    take_over(&place, "bob@host (process 7)", Duration::ZERO);
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(place.read("log"), "made\n");
}

/// Several processes run the same command concurrently, in several rounds. All but the first are
/// refused or find a stale plan, and every resource is created once. (`mkdir` fails if the folder
/// exists.)
#[test]
fn one_of_many_concurrent_runs_succeeds() {
    let text = "version: 2023-04-20
variables:
  round: {type: string}
resources:
  first: {type: local/command, spec: {create: mkdir first, triggers: {round: '${variables.round}'}, delete: rmdir first}}
  second: {type: local/command, dependsOn: first, spec: {create: mkdir second, delete: rmdir second}}
";
    let place = Place::with("shop.blueprint.yaml", text);
    let (mut done, mut refused) = (0, 0);
    for round in 0..6 {
        let round = format!("round={}", round % 3);
        let words: &[&str] = if round == "round=2" {
            &["destroy", "--yes"]
        } else {
            &["deploy", "--yes", "--var", &round]
        };
        let begin = || {
            let mut command = place.cyan(words);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<std::process::Child> = (0..4).map(|_| begin()).collect();
        for child in children {
            let ended = ran(child.wait_with_output().unwrap());
            match ended.code {
                0 => done += 1,
                1 => assert!(
                    ended.err.contains("error[plan-stale]"),
                    "{words:?}: {}{}",
                    ended.out,
                    ended.err
                ),
                5 => assert!(
                    ended.err.contains("error[instance-busy]"),
                    "{words:?}: {}{}",
                    ended.out,
                    ended.err
                ),
                _ => panic!("{words:?}: {}{}", ended.out, ended.err),
            }
            refused += u32::from(ended.code != 0);
        }
        let is_there = round != "round=2";
        assert_eq!(
            (place.has("first"), place.has("second")),
            (is_there, is_there),
            "{words:?}"
        );
    }
    println!("{done} were done, {refused} refused");
    assert!(
        done >= 6,
        "in each round at least one comes through: {done}"
    );
}

fn signal(child: &std::process::Child, name: &str) {
    let sent = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(sent.success(), "{name}");
}

/// Returns a document of many short commands, each of which adds a line to `log`.
fn many(round: &str) -> String {
    let resources: String = (0..60)
        .map(|at| {
            format!(
                "  c{at}: {{type: local/command, spec: {{create: 'echo {round} >> log; sleep 0.02', \
                 delete: 'echo -{round} >> log', triggers: {{round: {round}}}}}}}\n"
            )
        })
        .collect();
    format!("version: 2023-04-20\nresources:\n{resources}")
}

/// A stopped process makes no call after it continues if its lease was ended and taken by another
/// process.
#[test]
fn stopped_writer_calls_nothing_after_its_lease_was_taken_over() {
    let place = Place::with("shop.blueprint.yaml", &many("one"));
    let mut command = place.cyan(&["deploy", "--yes", "--parallelism", "4"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = |of: &str| {
        if place.has("log") {
            place.read("log").lines().filter(|line| *line == of).count()
        } else {
            0
        }
    };
    wait_for("some calls", || lines("one") > 8);
    loop {
        signal(&child, "STOP");
        // The process that holds the lease is alive, so waiting does not free it.
        let busy = place.run(&["deploy", "--yes"]);
        // Wait for the child processes of the stopped process.
        std::thread::sleep(Duration::from_millis(1500));
        let unlocked = place.run(&["unlock", "--yes"]);
        if [&busy, &unlocked]
            .into_iter()
            .any(|ran| ran.err.contains("which is stopped"))
        {
            // The process was stopped inside a commit, so its lease cannot be ended. Let it
            // continue for a moment.
            assert!(lines("one") < 50, "it was always stopped inside a commit");
            signal(&child, "CONT");
            std::thread::sleep(Duration::from_millis(15));
            continue;
        }
        assert_eq!(
            (busy.code, unlocked.code),
            (5, 0),
            "{}{}",
            busy.err,
            unlocked.err
        );
        break;
    }
    let unclear = place.run(&["destroy", "--yes", "--force"]);
    assert_eq!(unclear.code, 0, "{}{}", unclear.out, unclear.err);
    let before = lines("one");
    signal(&child, "CONT");
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("error[lease-lost]"), "{}", ended.err);
    assert_eq!(lines("one"), before, "it went on calling");
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "60 created, 0 updated, 0 deleted"
    );
}

/// The default number of takeovers. `CYAN_CRASH_TAKEOVERS` overrides it.
const TAKEOVERS: u64 = 2;

/// Returns a document of many short commands. Each logs its run before and after its work.
fn logged() -> String {
    let resources: String = (0..40)
        .map(|at| {
            format!(
                "  c{at}: {{type: local/command, spec: {{create: 'echo $RUN $CYAN_ADDRESS >> log; sleep 0.03', \
                 environment: {{RUN: '${{variables.run}}'}}, triggers: {{run: '${{variables.run}}'}}}}}}\n"
            )
        })
        .collect();
    format!("version: 2023-04-20\nvariables:\n  run: {{type: string}}\nresources:\n{resources}")
}

fn start_logged(place: &Place, run: &str) -> std::process::Child {
    let run = format!("run={run}");
    let mut command = place.cyan(&["deploy", "--yes", "--parallelism", "4", "--var", &run]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

/// Ends the hold of a stopped process. A process that is stopped inside a commit is continued for a
/// moment, because it blocks the state.
fn unlock_stopped(place: &Place, child: &std::process::Child) {
    for _ in 0..100 {
        let unlocked = place.run(&["unlock", "--yes"]);
        if unlocked.code == 0 {
            return;
        }
        assert!(
            unlocked.err.contains("which is stopped"),
            "{}",
            unlocked.err
        );
        signal(child, "CONT");
        std::thread::sleep(Duration::from_millis(7));
        signal(child, "STOP");
    }
    panic!("it was always stopped inside a commit");
}

/// A writer is stopped, its hold is ended, and another one begins at once. Then the first one goes
/// on, at any moment of the second one. It begins no command after the first command of the second
/// one, although its last check of the lease may be recent; and no command of one run runs twice.
#[test]
fn no_command_of_a_stopped_writer_begins_after_those_of_the_next_one() {
    let rounds = number("CYAN_CRASH_TAKEOVERS", TAKEOVERS);
    let mut draw = Rng(number("CYAN_CRASH_SEED", SEED));
    let mut cut_off = 0;
    for round in 0..rounds {
        let place = Place::with("shop.blueprint.yaml", &logged());
        place.write("log", "");
        let first = start_logged(&place, "first");
        let enough = 2 + draw.next() as usize % 30;
        wait_for("some calls", || place.read("log").lines().count() > enough);
        signal(&first, "STOP");
        unlock_stopped(&place, &first);
        let second = start_logged(&place, "second");
        std::thread::sleep(draw.within(Duration::from_millis(900)));
        signal(&first, "CONT");
        let (second, first) = (
            ran(second.wait_with_output().unwrap()),
            ran(first.wait_with_output().unwrap()),
        );
        assert_eq!(second.code, 0, "{round}: {}{}", second.out, second.err);
        assert_eq!(first.code, 4, "{round}: {}{}", first.out, first.err);
        assert!(first.err.contains("error[lease-lost]"), "{}", first.err);
        cut_off += u32::from(second.err.contains("cut off"));
        let log = place.read("log");
        let calls: Vec<&str> = log.lines().collect();
        let begun = calls.iter().position(|call| call.starts_with("second "));
        let late = calls
            .iter()
            .skip(begun.unwrap_or_default())
            .find(|call| call.starts_with("first "));
        assert_eq!(late, None, "{round}\n{log}");
        let mut once = calls.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(
            once.len(),
            calls.len(),
            "{round}: a command ran twice\n{log}"
        );
        let of_second = calls.iter().filter(|call| call.starts_with("second "));
        assert_eq!(of_second.count(), 40, "{round}\n{log}");
    }
    println!("{rounds} takeovers; in {cut_off} of them calls were cut off");
}

/// The lease of a killed process is not valid: the next run does not wait until it expires.
#[test]
fn lease_of_a_killed_writer_is_taken_over_at_once() {
    let place = Place::with("shop.blueprint.yaml", SLOW);
    let mut writer = start_deploy(&place);
    writer.kill().unwrap();
    writer.wait().unwrap();
    place.write("go", "");
    wait_for("the command that it had begun", || place.has("first"));
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(place.read("log"), "made\n");
}

/// A process that is stopped inside a commit blocks all writers. The error names it.
#[test]
fn a_process_that_is_stopped_inside_a_commit_is_named() {
    let place = Place::with("shop.blueprint.yaml", ONE);
    place.ends(0, &["deploy", "--yes"]);
    let script = "import sqlite3, time\nat = sqlite3.connect('.cyan/state.db', isolation_level=None)\n\
                  at.execute('BEGIN IMMEDIATE')\nopen('held', 'w').close()\ntime.sleep(600)";
    let Ok(mut child) = Command::new("python3")
        .args(["-c", script])
        .current_dir(place.path())
        .spawn()
    else {
        println!("skipped: there is no `python3` to hold the file with");
        return;
    };
    wait_for("the lock", || place.has("held"));
    signal(&child, "STOP");
    let refused = place.run(&["destroy", "--yes"]);
    let named = format!("process {} (`python3`), which is stopped,", child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(refused.code, 0);
    if cfg!(target_os = "linux") {
        assert!(refused.err.contains(&named), "{}", refused.err);
    }
    assert!(
        !refused.err.contains("permissions") && refused.err.contains("kill -CONT"),
        "{}",
        refused.err
    );
}
