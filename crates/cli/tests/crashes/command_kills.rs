//! Tests that kill the binary at random moments while commands run. Half of the commands have no
//! `read`, and other resources read what they print. The next run must go on without a question.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kills::{Rng, SEED, number};
use crate::place::{Place, Ran, ran};

/// The default number of kills.
const KILLS: u32 = 30;

/// The script of all commands: its side effects are the lines in `log` and the file in `there`.
const ACT: &str = r#"
echo "begin $CYAN_ACTION $CYAN_ADDRESS" >> log
case $CYAN_ADDRESS in a | c) sleep 0.15 ;; *) sleep 0.02 ;; esac
case $CYAN_ACTION in
  delete) rm "there/$CYAN_ADDRESS" ;;
  *) echo "$ROUND" > "there/$CYAN_ADDRESS" ;;
esac
echo "end $CYAN_ACTION $CYAN_ADDRESS" >> log
echo "$CYAN_ADDRESS in round $ROUND"
"#;

/// A secret that a command prints.
const PASSWORD: &str = "correct-horse-battery";

/// The number of commands that depend on nothing.
const WORKERS: usize = 4;

/// Returns the document. From round to round `a`, `d`, `vault` and the workers are updated in
/// place, `b`, `c` and `reader` are replaced. Each reads the output of the one before.
fn document() -> String {
    let command = |name: &str, reads: bool, more: &str| {
        let read = format!("read: 'test -e there/{name} || exit 3', ");
        let read = if reads { read.as_str() } else { "" };
        format!(
            "  {name}: {{type: local/command, spec: {{create: sh act, update: sh act, delete: sh act, {read}{more}}}}}\n"
        )
    };
    let round = "ROUND: '${variables.round}'";
    let renewed = "triggers: {round: '${variables.round}'}";
    let from = |name: &str| format!("environment: {{{round}, FROM: '${{{name}.spec.stdout}}'}}");
    let workers: String = (0..WORKERS)
        .map(|at| {
            command(
                &format!("w{at}"),
                at % 2 == 0,
                &format!("environment: {{{round}}}"),
            )
        })
        .collect();
    [
        "version: 2023-04-20\nvariables:\n  round: {type: string}\n  password: {type: string, secret: true}\nresources:\n",
        &command("a", false, &format!("environment: {{{round}}}")),
        &command("b", true, &format!("{}, {renewed}", from("a"))),
        &command("c", false, &format!("{}, {renewed}", from("b"))),
        &command("d", true, &from("c")),
        &workers,
        &format!(
            "  vault: {{type: local/command, spec: {{create: 'sh act; cat', update: 'sh act; cat', delete: sh act, stdin: '${{variables.password}}', environment: {{{round}}}}}}}\n"
        ),
        &command("reader", false, &format!("stdin: '${{vault.spec.stdout}}', environment: {{{round}}}, {renewed}")),
        "  page: {type: local/file, spec: {path: page.txt, content: \"${a.spec.stdout}\\n${b.spec.stdout}\\n${c.spec.stdout}\\n${d.spec.stdout}\\n\"}}\n",
        "  yard: {type: local/directory, spec: {path: yard}}\n",
        "  tool: {type: local/file, spec: {path: '${yard.spec.path}/tool', content: '${w1.spec.stdout}'}}\n",
    ]
    .concat()
}

/// The kinds of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Aim {
    First,
    Later,
    Destroy,
}

/// The lines of the log, each with their number.
type Effects = BTreeMap<String, usize>;

/// A folder with the document.
struct Yard {
    place: Place,
    round: u32,
}

impl Yard {
    fn new() -> Yard {
        let place = Place::with("yard.blueprint.yaml", &document());
        place.write("act", ACT);
        place.write("there/.keep", "");
        place.write("log", "");
        place.write("inputs.yaml", format!("password: {PASSWORD}\n"));
        place.ends(0, &["key", "new"]);
        Yard { place, round: 1 }
    }

    fn words(&self, aim: Aim) -> Vec<String> {
        if aim == Aim::Destroy {
            return ["destroy", "--yes"].map(str::to_owned).to_vec();
        }
        let round = format!("round={}", self.round);
        ["deploy", "--yes", "--vars", "inputs.yaml", "--var", &round]
            .map(str::to_owned)
            .to_vec()
    }

    fn run(&self, aim: Aim) -> Ran {
        let words = self.words(aim);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ran(self.place.cyan(&words).output().unwrap())
    }

    /// Kills a run after a delay. The commands that it has started go on. Returns whether the run
    /// was still in progress.
    fn kill(&self, aim: Aim, delay: Duration) -> bool {
        let words = self.words(aim);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = self.place.cyan(&words);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        let was_there = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        was_there && ended.code().is_none()
    }

    /// Counts the lines of the log.
    fn effects(&self) -> Effects {
        let mut effects = Effects::new();
        for line in self.place.read("log").lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    /// Fails if a file of the state contains the secret.
    fn check_secrecy(&self) {
        let mut folders = vec![self.place.path().join(".cyan")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                // A command that still runs may rename its file.
                let bytes = std::fs::read(&path).unwrap_or_default();
                let has_secret = bytes
                    .windows(PASSWORD.len())
                    .any(|part| part == PASSWORD.as_bytes());
                let is_sealed = bytes.is_empty() || bytes.starts_with(b"cyanotype call 1\n");
                let is_end = path.extension().is_some_and(|word| word == "ended");
                assert!(
                    !has_secret && (!is_end || is_sealed),
                    "{} is not sealed",
                    path.display()
                );
            }
        }
    }

    /// Checks the world after a run that was not killed. `expected` are the effects of an
    /// undisturbed run.
    fn check_end(&self, aim: Aim, expected: &Effects, said: &Ran) {
        assert_eq!(&self.effects(), expected, "{aim:?}\n{}", said.err);
        self.place.write("log", "");
        let left = |folder: &str| {
            std::fs::read_dir(self.place.path().join(folder))
                .map(|entries| entries.count())
                .unwrap_or(0)
        };
        // A run that was killed after its last commit leaves files to the next operation.
        let has_changed =
            !said.out.ends_with("0 created, 0 updated, 0 deleted\n") && said.code == 0;
        let files = left(".cyan/state.db.calls/yard");
        assert!(
            !has_changed || files == 0,
            "{files} files of calls are left\n{}{}",
            said.out,
            said.err
        );
        if aim == Aim::Destroy {
            assert_eq!(left("there"), 1, "objects are left");
            assert!(!self.place.has("page.txt") && !self.place.has("yard"));
            assert_eq!(self.place.ends(0, &["list"]).out, "");
            return;
        }
        let round = self.round;
        let page = ["a", "b", "c", "d"].map(|name| format!("{name} in round {round}\n"));
        assert_eq!(self.place.read("page.txt"), page.concat());
        assert_eq!(self.place.read("yard/tool"), format!("w1 in round {round}"));
        let round = format!("round={round}");
        let staged = self.place.ends(
            0,
            &[
                "stage",
                "--exit-code",
                "--vars",
                "inputs.yaml",
                "--var",
                &round,
            ],
        );
        assert_eq!(staged.last_line(), "0 to create, 0 to update, 0 to delete");
    }
}

/// The effects of undisturbed runs of each kind, and their durations.
fn undisturbed() -> BTreeMap<Aim, (Effects, Duration)> {
    let mut yard = Yard::new();
    let mut all = BTreeMap::new();
    for aim in [Aim::First, Aim::Later, Aim::Destroy] {
        let began = Instant::now();
        let ended = yard.run(aim);
        assert_eq!(ended.code, 0, "{aim:?}: {}{}", ended.out, ended.err);
        let took = began.elapsed();
        let counted = yard.effects();
        yard.check_end(aim, &counted, &ended);
        all.insert(aim, (counted, took));
        yard.round += 1;
    }
    all
}

/// After a kill at any moment the same command goes on without a question, waits for what still
/// runs, and ends as an undisturbed run: every command has run exactly once, and what it printed is
/// known. No file contains a secret in clear text.
#[test]
fn command_outlives_a_kill_and_is_run_once() {
    let seed = number("CYAN_CRASH_SEED", SEED);
    let kills = u32::try_from(number("CYAN_CRASH_KILLS", u64::from(KILLS))).unwrap();
    println!("{kills} kills at moments drawn from CYAN_CRASH_SEED={seed}");
    let mut undisturbed = undisturbed();
    let mut draw = Rng(seed ^ 2);
    let mut yard = Yard::new();
    let (mut killed, mut runs, mut cut_off) = (0, 0, 0);
    let mut is_new = true;
    while killed < kills {
        let aim = match (is_new, draw.one_in(4)) {
            (true, _) => Aim::First,
            (false, true) => Aim::Destroy,
            (false, false) => Aim::Later,
        };
        loop {
            runs += 1;
            assert!(
                runs < 3 * kills + 20,
                "{killed} of {runs} runs were still there when they were to be killed"
            );
            let length = &mut undisturbed.get_mut(&aim).unwrap().1;
            let was_there = yard.kill(aim, draw.within(*length));
            *length = length.mul_f64(if was_there { 1.02 } else { 0.9 });
            killed += u32::from(was_there);
            yard.check_secrecy();
            if !draw.one_in(3) {
                break;
            }
        }
        let ended = yard.run(aim);
        let nothing =
            aim == Aim::Destroy && ended.code == 1 && ended.err.contains("there is no instance");
        assert!(
            ended.code == 0 || nothing,
            "{aim:?} after {killed} kills: {}{}\n{}",
            ended.out,
            ended.err,
            yard.place.read("log")
        );
        cut_off += u32::from(ended.err.contains("cut off"));
        yard.check_end(aim, &undisturbed[&aim].0, &ended);
        yard.check_secrecy();
        is_new = aim == Aim::Destroy;
        yard.round += 1;
    }
    println!("{killed} of {runs} runs were killed; {cut_off} runs found calls that were cut off");
    assert!(cut_off > 0, "no run was killed during a call");
}
