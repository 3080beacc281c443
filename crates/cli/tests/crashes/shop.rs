//! A folder with a document of commands, files, folders and links, and checks of the effects of its
//! runs.
//!
//! Every command adds a line to a log when it begins and another one when it is done. So the log
//! shows the calls, their number and their order, independent of the state.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::place::{Place, Ran, ran};

/// The script that all commands share: log the begin, work a little, make the object (a file), log
/// the end.
const ACT: &str = r#"
echo "begin $CYAN_ACTION $CYAN_ADDRESS $CYAN_TOKEN $ROUND" >> log
case $CYAN_ACTION in
  create) sleep 0.004; echo "$ROUND" > "there/$CYAN_ADDRESS" ;;
  update) sleep 0.002; echo "$ROUND" > "there/$CYAN_ADDRESS" ;;
  delete) sleep 0.002; rm -f "there/$CYAN_ADDRESS" ;;
esac
echo "end $CYAN_ACTION $CYAN_ADDRESS $CYAN_TOKEN $ROUND" >> log
echo "$CYAN_TOKEN"
"#;

/// Resources without a `read`: only the recorded end of a call tells its outcome.
const BLIND: [&str; 2] = ["invoice", "stamp"];

/// Resources, each with its dependency.
const USES: [(&str, &str); 4] = [
    ("rack", "invoice"),
    ("stamp", "rack"),
    ("till", "invoice"),
    ("sign", "stamp"),
];

/// The number of folders with files in them. They depend on nothing.
const SHEDS: usize = 4;

/// Returns the document. From round to round, `invoice` is updated in place, `stamp`, `till` and
/// `price` are replaced, `rack` is unchanged, and `hall` moves. `tag` shows the output of `price`.
/// The sheds and the tools in them have no order.
fn document() -> String {
    let resource = |name: &str, more: &str| {
        let uses = USES.iter().find(|(user, _)| *user == name);
        let after = uses
            .map(|(_, used)| format!(", dependsOn: {used}"))
            .unwrap_or_default();
        let look = format!("read: 'test -e there/{name} || exit 3', ");
        let look = if BLIND.contains(&name) { "" } else { &look };
        format!(
            "  {name}: {{type: local/command{after}, spec: {{create: sh act, update: sh act, delete: sh act, {look}{more}}}}}\n"
        )
    };
    let sheds: String = (0..SHEDS)
        .flat_map(|at| {
            let folder = |name: &str, path: &str| format!("  {name}{at}: {{type: local/directory, spec: {{path: yard/{at}{path}}}}}\n");
            [
                format!("  tool{at}: {{type: local/file, spec: {{path: yard/{at}/deep/tool, content: 'round ${{variables.round}}'}}}}\n"),
                folder("deep", "/deep"),
                folder("shed", ""),
            ]
        })
        .collect();
    [
        "version: 2023-04-20\nvariables:\n  round: {type: string}\nresources:\n",
        &resource("invoice", "environment: {ROUND: '${variables.round}'}"),
        &resource("rack", "environment: {ROUND: fixed}"),
        &resource("stamp", "environment: {ROUND: fixed}, triggers: {round: '${variables.round}'}"),
        &resource("till", "environment: {ROUND: fixed}, triggers: {round: '${variables.round}'}"),
        &resource("price", "environment: {ROUND: fixed}, triggers: {round: '${variables.round}'}"),
        "  tag: {type: local/file, spec: {path: tag.txt, content: '${price.spec.stdout}'}}\n",
        &sheds,
        "  yard: {type: local/directory, spec: {path: yard}}\n",
        "  halls: {type: local/directory, spec: {path: halls}}\n",
        "  hall: {type: local/directory, dependsOn: halls, spec: {path: 'halls/${variables.round}'}}\n",
        "  seat: {type: local/file, spec: {path: '${hall.spec.path}/seat', content: x}}\n",
        "  way: {type: local/symlink, spec: {path: way, target: '${hall.spec.path}'}}\n",
        "  sign: {type: local/file, dependsOn: stamp, spec: {path: sign.txt, content: 'round ${variables.round}'}}\n",
    ]
    .concat()
}

/// The state of one object in the world, according to the lines in the log.
#[derive(Clone, Debug, Default)]
struct ObjectState {
    exists: bool,
    round: String,
}

/// A project folder with the document, and the expected state of the world.
pub(crate) struct Shop {
    pub(crate) place: Place,
    round: u32,
    /// The contents of the folder before the first deploy.
    before: BTreeSet<String>,
}

/// The expected result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedEnd {
    /// All resources exist, as in the current round.
    Deploy,
    /// No resource exists.
    Destroy,
}

/// A run in progress. All programs that it starts inherit an end of its pipe.
pub(crate) struct RunningProcess {
    child: Child,
    pipe: ChildStdout,
}

impl RunningProcess {
    /// Kills the run after a delay, and waits until all programs that it started have ended.
    /// Returns whether the run was still in progress.
    pub(crate) fn kill_after(mut self, delay: Duration) -> bool {
        std::thread::sleep(delay);
        let was_there = self.child.try_wait().unwrap().is_none();
        self.child.kill().unwrap();
        let ended = self.child.wait().unwrap();
        self.wait_for_children();
        was_there && ended.code().is_none()
    }

    /// Waits until the run and all programs that it started have ended.
    pub(crate) fn wait(mut self) {
        assert!(self.child.wait().unwrap().success());
        self.wait_for_children();
    }

    fn wait_for_children(&mut self) {
        let mut nothing = Vec::new();
        self.pipe.read_to_end(&mut nothing).unwrap();
    }
}

impl Shop {
    pub(crate) fn new() -> Shop {
        let place = Place::with("shop.blueprint.yaml", &document());
        place.write("act", ACT);
        place.write("there/.keep", "");
        place.write("log", "");
        let before = all_in(place.path());
        Shop {
            place,
            round: 1,
            before,
        }
    }

    /// Begins another round.
    pub(crate) fn next_round(&mut self) {
        self.round += 1;
    }

    fn arguments(&self, aim: ExpectedEnd) -> Vec<String> {
        let words: &[&str] = match aim {
            ExpectedEnd::Deploy => &["deploy", "--yes", "--var"],
            ExpectedEnd::Destroy => &["destroy", "--yes"],
        };
        let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
        if aim == ExpectedEnd::Deploy {
            words.push(format!("round={}", self.round));
        }
        words
    }

    /// Begins a run. All programs that it starts inherit descriptor 9.
    pub(crate) fn begin(&self, aim: ExpectedEnd) -> RunningProcess {
        let cyan = self.place.cyan(&[]);
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$@\" 9>&1 >/dev/null 2>&1", "sh"])
            .arg(cyan.get_program())
            .args(self.arguments(aim));
        command.current_dir(self.place.path()).env_clear();
        command.envs(
            cyan.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = child.stdout.take().unwrap();
        RunningProcess { child, pipe }
    }

    /// Runs `work` while another process reads the state repeatedly.
    pub(crate) fn while_another_process_reads<T>(&self, work: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let looked = self.place.run(&["list", "--all"]);
                    assert_eq!(looked.code, 0, "{}{}", looked.out, looked.err);
                }
            });
            let done = work();
            over.store(true, Ordering::Relaxed);
            looking.join().unwrap();
            done
        })
    }

    fn run(&self, words: &[String]) -> Ran {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = ran(self.place.cyan(&words).output().unwrap());
        assert!(
            ended.code != 70 && !ended.err.contains("has a bug"),
            "{words:?}: {}{}",
            ended.out,
            ended.err
        );
        ended
    }

    /// Recovers after a crash: opens the state and ends the lease of the killed run.
    pub(crate) fn reopen(&self) {
        self.place.ends(0, &["list", "--all"]);
        let ended = self.place.run(&["unlock", "--yes"]);
        let nothing = ended.code == 1 && ended.err.contains("there is no instance");
        assert!(ended.code == 0 || nothing, "{}{}", ended.out, ended.err);
        let free =
            ended.err.starts_with("No process holds") || ended.err.contains("held by tester@");
        assert!(free || nothing, "{}", ended.err);
    }

    /// Runs until the aim is reached. No outcome needs a person.
    pub(crate) fn run_to_completion(&mut self, aim: ExpectedEnd) {
        let words = self.arguments(aim);
        let ended = self.run(&words);
        // An instance without any commit cannot be destroyed.
        let nothing = aim == ExpectedEnd::Destroy
            && ended.code == 1
            && ended.err.contains("there is no instance");
        assert!(
            ended.code == 0 || nothing,
            "{aim:?}: {}{}\n{}",
            ended.out,
            ended.err,
            self.place.read("log")
        );
        self.check_world(aim);
    }

    /// Returns the existing objects according to the log. Fails if an object was created or deleted
    /// twice, was changed twice, or was changed in the wrong order.
    fn objects(&self) -> BTreeMap<String, ObjectState> {
        let log = self.place.read("log");
        let mut objects: BTreeMap<String, ObjectState> = BTreeMap::new();
        let mut calls: BTreeSet<(&str, &str)> = BTreeSet::new();
        for line in log.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [when, action, address, token, round] = words.as_slice() else {
                panic!("{line}")
            };
            let there = |name: &str| objects.get(name).is_some_and(|object| object.exists);
            if *when == "begin" {
                let uses = |name: &&(&str, &str)| name.0 == *address;
                let used_by = |name: &&(&str, &str)| name.1 == *address;
                match *action {
                    "delete" => {
                        let user = USES.iter().filter(used_by).find(|(user, _)| there(user));
                        assert!(user.is_none(), "{line}: {user:?} still uses it\n{log}");
                    }
                    _ => {
                        let used = USES.iter().filter(uses).find(|(_, used)| !there(used));
                        assert!(used.is_none(), "{line}: {used:?} is not there\n{log}");
                    }
                }
                continue;
            }
            assert!(
                calls.insert((token, action)),
                "{line}: this very call was made twice\n{log}"
            );
            let object = objects.entry((*address).to_owned()).or_default();
            match *action {
                "create" => {
                    assert!(!object.exists, "{line}: made twice\n{log}");
                    *object = ObjectState {
                        exists: true,
                        round: (*round).to_owned(),
                    };
                }
                "update" => {
                    assert!(object.exists, "{line}: not there\n{log}");
                    assert!(object.round != *round, "{line}: changed twice\n{log}");
                    object.round = (*round).to_owned();
                }
                "delete" => {
                    assert!(object.exists, "{line}: taken away twice\n{log}");
                    object.exists = false;
                }
                other => panic!("{other}"),
            }
        }
        objects
    }

    /// Checks that the world has reached the aim, and that a plan is empty.
    fn check_world(&self, aim: ExpectedEnd) {
        let objects = self.objects();
        let there: Vec<&str> = objects
            .iter()
            .filter(|(_, object)| object.exists)
            .map(|(name, _)| &**name)
            .collect();
        match aim {
            ExpectedEnd::Deploy => {
                assert_eq!(
                    there,
                    ["invoice", "price", "rack", "stamp", "till"],
                    "{}",
                    self.place.read("log")
                );
                assert_eq!(objects["invoice"].round, self.round.to_string());
                assert_eq!(self.place.read("sign.txt"), format!("round {}", self.round));
                let printed = self.place.read("log");
                let last = printed
                    .lines()
                    .rfind(|line| line.starts_with("end create price "));
                let token = last.and_then(|line| line.split(' ').nth(3)).unwrap();
                assert_eq!(
                    self.place.read("tag.txt"),
                    token,
                    "what the last create of `price` has printed"
                );
                for at in 0..SHEDS {
                    assert_eq!(
                        self.place.read(&format!("yard/{at}/deep/tool")),
                        format!("round {}", self.round)
                    );
                }
                let halls = all_in(&self.place.path().join("halls"));
                let hall = format!("halls/{}", self.round);
                assert_eq!(
                    Vec::from_iter(halls),
                    [self.round.to_string(), format!("{}/seat", self.round)]
                );
                assert_eq!(
                    std::fs::read_link(self.place.path().join("way"))
                        .unwrap()
                        .to_str(),
                    Some(hall.as_str())
                );
                let temporary = all_in(self.place.path())
                    .into_iter()
                    .find(|name| name.contains(".cyan-"));
                assert_eq!(temporary, None, "it was left by a killed run");
                let round = format!("round={}", self.round);
                let staged = self
                    .place
                    .ends(0, &["stage", "--exit-code", "--var", &round]);
                assert_eq!(
                    staged.last_line(),
                    "0 to create, 0 to update, 0 to delete",
                    "{}",
                    staged.out
                );
            }
            ExpectedEnd::Destroy => {
                assert!(
                    there.is_empty(),
                    "{there:?} left\n{}",
                    self.place.read("log")
                );
                let left: Vec<String> = all_in(self.place.path())
                    .difference(&self.before)
                    .cloned()
                    .collect();
                assert!(left.is_empty(), "{left:?} left");
                assert_eq!(self.place.ends(0, &["list"]).out, "");
            }
        }
    }
}

/// Returns all files below a folder except the state and the files of the commands.
fn all_in(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if [".cyan", "home", "there", "log"].contains(&name.as_str()) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            }
            all.insert(name);
        }
    }
    all
}
