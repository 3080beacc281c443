//! Tests in which the disk of the state fills up, or becomes read-only, during a run.
//!
//! The tests need the rights to mount a small disk, and a file system whose files can be made
//! immutable. Without these they print a note and pass.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::place::{Place, Ran, ran};

/// The number of resources in the document, and the number of bytes that each adds to its record.
const RESOURCES: usize = 24;
const BYTES: usize = 12_000;

/// A document of resources that cannot be created twice, with much text in each record. All can be
/// read.
const MANY: &str = "version: 2023-04-20
variables:
  text: {type: string}
  names: {type: string}
resources:
  thing:
    type: local/command
    each: '${split(variables.names, \",\")}'
    spec:
      create: 'mkdir there/$NAME'
      update: 'echo \"update $NAME\" >> log'
      read: 'test -e there/$NAME || exit 3'
      delete: 'echo \"delete $NAME\" >> log; rmdir there/$NAME'
      environment: {NAME: '${elem}', TEXT: '${variables.text}'}
";

/// A small disk in its own mount namespace, unmounted on drop. The documents are on the normal
/// disk; the state is in `small`.
struct Disk {
    place: Place,
    holder: Child,
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The process that holds the namespace ends with its input.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

impl Disk {
    /// Mounts a disk. Returns `None` if that is not possible.
    fn of(kilobytes: u32) -> Option<Disk> {
        let place = Place::with("shop.blueprint.yaml", MANY);
        place.write("there/.keep", "");
        place.write("small/.keep", "");
        place.write("log", "");
        let names: Vec<String> = (0..RESOURCES).map(|number| format!("t{number}")).collect();
        place.write(
            "inputs.yaml",
            format!("text: {}\nnames: {}\n", "x".repeat(BYTES), names.join(",")),
        );
        let script =
            format!("mount -t tmpfs -o size={kilobytes}k none small && echo ready && read end");
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", &script])
            .current_dir(place.path());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let Ok(mut holder) = command.spawn() else {
            println!("skipped: there is no `unshare` to mount a small disk with");
            return None;
        };
        let mut said = [0; 6];
        let ready = holder
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .is_ok()
            && said == *b"ready\n";
        let disk = Disk { place, holder };
        if !ready {
            println!("skipped: a small disk cannot be mounted here (it needs root)");
            return None;
        }
        Some(disk)
    }

    fn within(&self, program: &str, arguments: &[&str]) -> Command {
        let cyan = self.place.cyan(&[]);
        let mut command = Command::new("nsenter");
        command.args([
            "-t",
            &self.holder.id().to_string(),
            "-m",
            &format!("--wdns={}", self.place.path().display()),
        ]);
        command
            .arg("--")
            .arg(program)
            .args(arguments)
            .current_dir(self.place.path())
            .stdin(Stdio::null());
        command.env_clear().envs(
            cyan.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.env("CYAN_STATE", "sqlite:small/state.db");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let ended = ran(self
            .within(env!("CARGO_BIN_EXE_cyan"), arguments)
            .output()
            .unwrap());
        assert!(
            ended.code != 70 && !ended.err.contains("has a bug"),
            "{}{}",
            ended.out,
            ended.err
        );
        ended
    }

    #[track_caller]
    fn ends(&self, code: i32, arguments: &[&str]) -> Ran {
        let ended = self.run(arguments);
        assert_eq!(
            ended.code, code,
            "{arguments:?}: {}{}",
            ended.out, ended.err
        );
        ended
    }

    fn shell(&self, script: &str) {
        let done = self.within("sh", &["-c", script]).output().unwrap();
        assert!(
            done.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn resize(&self, kilobytes: u32) {
        self.shell(&format!("mount -o remount,size={kilobytes}k small"));
    }
}

const INPUTS: [&str; 2] = ["--vars", "inputs.yaml"];

/// The disk fills up at different points of the run. Each run ends with one error that names the
/// cause, the records stay, and with free space the next run continues.
#[test]
fn a_disk_that_fills_up_loses_nothing_and_a_later_run_continues() {
    let mut cut_off = 0;
    for kilobytes in [16, 64, 200, 330, 590, 850] {
        let Some(disk) = Disk::of(kilobytes) else {
            return;
        };
        let full = disk.run(&[
            "deploy",
            "--yes",
            "--parallelism",
            "3",
            INPUTS[0],
            INPUTS[1],
        ]);
        let made = || {
            std::fs::read_dir(disk.place.path().join("there"))
                .unwrap()
                .count()
                - 1
        };
        let before = made();
        println!(
            "{kilobytes} KB: exit {}, {before} made, {}",
            full.code,
            full.last_line()
        );
        assert_eq!(
            full.err.matches("error: ").count(),
            1,
            "{kilobytes} KB: {}",
            full.err
        );
        assert!(
            full.err.contains("there is no room left for `"),
            "{kilobytes} KB: {}",
            full.err
        );
        assert!(
            full.err.contains("help: make room on that disk"),
            "{kilobytes} KB: {}",
            full.err
        );
        match before {
            0 => assert!(full.code == 1 || full.code == 4, "{}", full.err),
            _ => assert_eq!(full.code, 4, "{}", full.err),
        }
        cut_off += usize::from(full.code == 4);
        // The state can be read while the disk is full, and reading changes nothing.
        let revision = || {
            let listed: serde_json::Value =
                serde_json::from_str(&disk.ends(0, &["list", "--json"]).out).unwrap();
            listed["result"]["instances"]
                .get(0)
                .map(|shop| shop["revision"].clone())
        };
        let first = revision();
        assert!(
            full.code != 4 || first.is_some(),
            "{kilobytes} KB: it has begun"
        );
        assert_eq!(disk.run(&["show"]).code, i32::from(first.is_none()));
        assert_eq!(revision(), first, "{kilobytes} KB");
        // The disk is still full: the run is refused with the same error, or makes little progress.
        let again = disk.run(&[
            "deploy",
            "--yes",
            "--parallelism",
            "3",
            INPUTS[0],
            INPUTS[1],
        ]);
        assert!(
            again.code == 1 || again.code == 4 || again.code == 5,
            "{}{}",
            again.out,
            again.err
        );
        disk.resize(40_000);
        disk.run(&["unlock", "--yes"]);
        disk.ends(0, &["deploy", "--yes", INPUTS[0], INPUTS[1]]);
        assert_eq!(made(), RESOURCES);
        assert_eq!(
            disk.place.read("log"),
            "",
            "{kilobytes} KB: nothing but creates was called for"
        );
        let staged = disk.ends(0, &["stage", "--exit-code", INPUTS[0], INPUTS[1]]);
        assert_eq!(staged.last_line(), "0 to create, 0 to update, 0 to delete");
        disk.ends(0, &["destroy", "--yes"]);
        assert_eq!(made(), 0, "something is left");
    }
    assert!(
        cut_off > 2,
        "only {cut_off} runs were cut off in the middle"
    );
}

/// A document whose first call waits until a file `go` exists.
const WAITS: &str = "version: 2023-04-20
resources:
  first: {type: local/command, spec: {create: 'touch began; until test -e go; do sleep 0.02; done', read: 'test -e go'}}
";

/// Every command that writes names a full disk as the cause, even if only one connection can read
/// the state.
#[test]
fn a_full_disk_is_named_when_resources_are_deleted() {
    let Some(disk) = Disk::of(40_000) else { return };
    disk.place.write("waits.blueprint.yaml", WAITS);
    let mut full = 0;
    for extra in [0, 8, 24, 36, 44, 64, 100] {
        let fill = || {
            // A run that waits may write between the two commands, and then the disk is too small.
            disk.shell(&format!(
                "for try in 1 2 3 4 5 6 7 8; do \
                mount -o remount,size=$(($(df -k --output=used small | tail -1) + {extra}))k small && exit 0; \
                sleep 0.1; done; exit 1"
            ))
        };
        disk.resize(40_000);
        disk.run(&["unlock", "--yes", "-i", "shop"]);
        disk.ends(
            0,
            &[
                "deploy",
                "shop.blueprint.yaml",
                "--yes",
                INPUTS[0],
                INPUTS[1],
            ],
        );
        // A killed process has left a lease on another instance.
        let mut deploy = disk.within(
            env!("CARGO_BIN_EXE_cyan"),
            &["deploy", "waits.blueprint.yaml", "--yes"],
        );
        let mut killed = deploy
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !disk.place.has("began") {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        disk.place.write("go", "");
        // After a restart of the machine, or in a copy, the shared memory file does not exist.
        disk.shell("rm -f small/state.db-shm");
        fill();
        let unlocked = disk.run(&["unlock", "--yes", "-i", "waits"]);
        let destroyed = disk.run(&["destroy", "--yes", "-i", "shop", "--parallelism", "3"]);
        for ended in [destroyed, unlocked] {
            assert!(
                !ended.err.contains("another process"),
                "{extra} KB: {}",
                ended.err
            );
            if ended.code != 0 {
                assert!(
                    ended.err.contains("there is no room left for `"),
                    "{extra} KB: {}{}",
                    ended.out,
                    ended.err
                );
                full += 1;
            }
        }
        disk.resize(40_000);
        disk.run(&["unlock", "--yes", "-i", "waits"]);
        disk.ends(0, &["destroy", "--yes", "-i", "waits"]);
        for file in ["began", "go"] {
            std::fs::remove_file(disk.place.path().join(file)).unwrap();
        }
    }
    assert!(full > 5, "the disk was full for {full} commands");
}

/// A guard that makes files immutable until it is dropped.
struct Immutable(Vec<PathBuf>);

impl Immutable {
    /// Makes the files of a folder immutable. Returns `None` if that is not possible.
    fn all_in(place: &Place, folder: &str) -> Option<Immutable> {
        let folder = place.path().join(folder);
        let files = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        // A process that writes to an immutable shared memory file would be killed by a signal, so
        // this file stays writable.
        let shared = |path: &PathBuf| path.to_string_lossy().ends_with("-shm");
        let all: Vec<PathBuf> = files
            .filter(|path| !shared(path))
            .chain([folder.clone()])
            .collect();
        let done = Command::new("chattr")
            .arg("+i")
            .args(&all)
            .stderr(Stdio::null())
            .status();
        let immutable = Immutable(all);
        match done.is_ok_and(|done| done.success()) {
            true => Some(immutable),
            false => {
                println!(
                    "skipped: files cannot be made immutable here (it needs root, and a file system that can)"
                );
                None
            }
        }
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        let _ = Command::new("chattr")
            .arg("-i")
            .args(&self.0)
            .stderr(Stdio::null())
            .status();
    }
}

/// The folder of the state becomes immutable during a run.
#[test]
fn a_state_that_becomes_unwritable_is_reported_and_a_later_run_continues() {
    let text = "version: 2023-04-20
resources:
  first:
    type: local/command
    spec:
      create: 'echo made >> log; touch began; until test -e go; do sleep 0.02; done; touch first'
      read: 'test -e first || exit 3'
  second: {type: local/file, dependsOn: first, spec: {path: second.txt, content: two}}
";
    let place = Place::with("shop.blueprint.yaml", text);
    let mut command = place.cyan(&["deploy", "--yes"]);
    let writer = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.has("began") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let immutable = Immutable::all_in(&place, ".cyan");
    place.write("go", "");
    let ended = ran(writer.wait_with_output().unwrap());
    let Some(immutable) = immutable else { return };
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    assert_eq!(ended.err.matches("error: ").count(), 1, "{}", ended.err);
    assert!(
        ended
            .err
            .contains("state.db` can no longer be read or written"),
        "{}",
        ended.err
    );
    assert!(
        place.ends(0, &["list"]).out.contains("shop"),
        "what is there can be read"
    );
    // The lease could not be released. The lease blocks no other run, but the read-only folder
    // does.
    let refused = place.ends(1, &["deploy", "--yes"]);
    assert!(
        refused.err.contains("state.db` cannot be opened"),
        "{}",
        refused.err
    );
    let unwritable = place.ends(1, &["unlock", "--yes"]);
    assert!(unwritable.err.contains("state.db` "), "{}", unwritable.err);
    drop(immutable);
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(place.read("log"), "made\n");
}

/// The user of the run loses the write permission for the folder of the state. Open files stay
/// open, so the run succeeds. Afterwards reads work, and a change is refused with one error. With
/// the permission restored, the next run continues.
#[test]
fn read_only_folder_is_read_and_not_changed() {
    const UNPRIVILEGED: u32 = 65534;
    let text = "version: 2023-04-20
resources:
  first: {type: local/command, spec: {create: 'touch began; until test -e go; do sleep 0.02; done', read: 'test -e began'}}
  second: {type: local/file, dependsOn: first, spec: {path: second.txt, content: two}}
";
    let place = Place::with("shop.blueprint.yaml", text);
    let program = place.path().join("cyan");
    std::fs::copy(env!("CARGO_BIN_EXE_cyan"), &program).unwrap();
    let as_unprivileged = |arguments: &[&str]| {
        let cyan = place.cyan(&[]);
        let mut command = Command::new("setpriv");
        command.args([
            &format!("--reuid={UNPRIVILEGED}"),
            &format!("--regid={UNPRIVILEGED}"),
            "--clear-groups",
        ]);
        command
            .arg(&program)
            .args(arguments)
            .current_dir(place.path())
            .stdin(Stdio::null());
        command.env_clear().envs(
            cyan.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command
    };
    let owned = std::os::unix::fs::chown(place.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED));
    let may = owned.is_ok()
        && as_unprivileged(&["--version"])
            .output()
            .is_ok_and(|output| output.status.success());
    if !may {
        println!("skipped: nothing can be run as another user here (it needs root and `setpriv`)");
        return;
    }
    let ends = |code: i32, arguments: &[&str]| {
        let ended = ran(as_unprivileged(arguments).output().unwrap());
        assert_eq!(
            ended.code, code,
            "{arguments:?}: {}{}",
            ended.out, ended.err
        );
        ended
    };
    let allow = |mode: u32, name: &str| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(place.path().join(name), permissions).unwrap();
    };
    let writer = as_unprivileged(&["deploy", "--yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.has("began") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    allow(0o555, ".cyan");
    place.write("go", "");
    let ended = ran(writer.wait_with_output().unwrap());
    assert_eq!(
        (ended.code, ended.last_line()),
        (0, "2 created, 0 updated, 0 deleted"),
        "{}",
        ended.err
    );
    allow(0o444, ".cyan/state.db");
    assert!(ends(0, &["list"]).out.contains("deploy ready"));
    assert_eq!(
        ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    let refused = ends(1, &["destroy", "--yes"]);
    assert_eq!(refused.err.matches("error: ").count(), 1, "{}", refused.err);
    assert!(
        refused
            .err
            .contains("cannot be opened, or its folder not written to"),
        "{}",
        refused.err
    );
    assert!(place.has("second.txt"), "nothing was changed");
    allow(0o755, ".cyan");
    allow(0o644, ".cyan/state.db");
    assert_eq!(
        ends(0, &["destroy", "--yes"]).last_line(),
        "0 created, 0 updated, 2 deleted"
    );
}
