//! Tests that kill the binary or its plugins during updates through real plugins.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::kills::{Rng, SEED, number};
use crate::place::{Place, ran};

/// The default number of kills of each kind. `CYAN_PLUGIN_KILLS` overrides it.
const KILLS: u64 = 5;

/// The default number of kills of each kind during updates of a program of Pulumi.
const PROGRAM_KILLS: u64 = 25;

/// The number of resources.
const MANY: usize = 8;

/// A folder with a plugin, and the text of the document in a round.
struct Hosted {
    place: Place,
    /// The name of the document.
    file: &'static str,
    document: fn(u64) -> String,
    /// Words that select the instance.
    instance: &'static [&'static str],
    /// The number of kills of each kind.
    kills: u64,
    /// Checks the resources after a round.
    check: fn(&Place, u64),
    /// Whether the outcome of a cut-off create at an address cannot be determined.
    may_be_in_doubt: fn(&str) -> bool,
    /// Looks after a create in doubt, and returns how it is settled.
    settle: fn(&Hosted, &str, u64) -> [String; 2],
}

fn retry(_: &Hosted, address: &str, _: u64) -> [String; 2] {
    ["--retry".to_owned(), address.to_owned()]
}

/// Returns the program that an environment variable names. If it is not set, prints a message and
/// returns `None`.
fn counterpart(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    if found.is_none() {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "{variable} is not set"
        );
        println!("skipped: {variable} is not set; `cargo xtask test` sets it");
    }
    found
}

fn pulumi() -> Option<Hosted> {
    let python = counterpart("CYAN_TEST_PULUMI")?;
    let document = |round: u64| {
        let item = |at: usize| {
            format!(
                "  i{at}: {{ type: shop/index:Item, spec: {{ name: i{at}, label: r{round}, waitBefore: 0.01 }} }}\n"
            )
        };
        format!(
            "version: 2023-04-20\nresources:\n{}",
            (0..MANY).map(item).collect::<String>()
        )
    };
    let place = Place::with("shop.blueprint.yaml", &document(0));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pulumi_host/tests/peer/shop.py");
    place.write("items/.keep", "");
    place.write(
        "cyan.toml",
        format!(
            "[plugins.shop]\nkind = \"pulumi\"\npath = '{}'\narguments = ['{}']\n\
             [plugins.shop.settings]\nfolder = '{}'\n",
            python.display(),
            script.display(),
            place.path().join("items").display()
        ),
    );
    let check = |place: &Place, round: u64| {
        let files = std::fs::read_dir(place.path().join("items"))
            .unwrap()
            .map(|file| file.unwrap().path());
        let items: Vec<PathBuf> = files
            .filter(|path| path.extension().is_some_and(|it| it == "json"))
            .collect();
        assert_eq!(
            items.len(),
            MANY,
            "an item is lost or doubled in round {round}"
        );
        for item in items {
            let text = std::fs::read_to_string(&item).unwrap();
            assert!(
                text.contains(&format!("\"r{round}\"")),
                "{}: {text}",
                item.display()
            );
        }
    };
    Some(Hosted {
        place,
        file: "shop.blueprint.yaml",
        document,
        instance: &[],
        kills: KILLS,
        check,
        may_be_in_doubt: |_| false,
        settle: retry,
    })
}

/// A program of Pulumi: items that are updated, and one that is replaced in each round.
fn program() -> Option<Hosted> {
    let python = counterpart("CYAN_TEST_PULUMI")?;
    let document = |round: u64| {
        let item = |at: usize| {
            format!(
                "  i{at}: {{type: shop:Item, properties: {{name: i{at}, label: r{round}, \
                 waitBefore: 0.01}}}}\n"
            )
        };
        let items: String = (1..MANY).map(item).collect();
        format!(
            "name: crash\nruntime: yaml\nresources:\n{items}  fresh: {{type: shop:Item, properties: \
             {{name: fresh, shape: r{round}, waitBefore: 0.02, waitAfter: 0.02}}}}\n"
        )
    };
    let place = Place::with("Pulumi.yaml", &document(0));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pulumi_host/tests/peer/shop.py");
    place.write("items/.keep", "");
    place.write(
        "cyan.toml",
        format!(
            "[plugins.shop]\nkind = \"pulumi\"\npackage = \"shop\"\npath = '{}'\narguments = ['{}']\n",
            python.display(),
            script.display(),
        ),
    );
    let folder = place.path().join("items");
    let config = serde_json::json!({"config": {"shop:folder": folder}});
    place.write("Pulumi.dev.yaml", config.to_string());
    let check = |place: &Place, round: u64| {
        let all = items(place);
        assert_eq!(
            all.len(),
            MANY,
            "an item is lost or doubled in round {round}"
        );
        let wanted = format!("r{round}");
        let is_new = |item: &serde_json::Value| {
            item["inputs"]["label"] == *wanted || item["inputs"]["shape"] == *wanted
        };
        assert!(all.iter().all(is_new), "round {round}: {all:?}");
    };
    Some(Hosted {
        place,
        file: "Pulumi.yaml",
        instance: &["-i", "dev"],
        document,
        kills: PROGRAM_KILLS,
        check,
        may_be_in_doubt: |address| address == "fresh",
        settle: settle_pending_create,
    })
}

/// The items of the shop.
fn items(place: &Place) -> Vec<serde_json::Value> {
    let files = std::fs::read_dir(place.path().join("items")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let texts = paths.map(|path| std::fs::read_to_string(path).unwrap());
    texts
        .map(|text| serde_json::from_str(&text).unwrap())
        .collect()
}

/// A create in doubt is one pending operation with its URN. The shop knows whether the item exists.
fn settle_pending_create(hosted: &Hosted, address: &str, round: u64) -> [String; 2] {
    let mut exported = hosted.cyan(&["state", "export", "--as", "pulumi", "--reveal"]);
    let exported = ran(exported.env("CYAN_KEY", key()).output().unwrap());
    assert_eq!(exported.code, 0, "round {round}: {}", exported.err);
    let tree: serde_json::Value = serde_json::from_str(&exported.out).unwrap();
    let pending = tree["deployment"]["pending_operations"].as_array();
    let pending: Vec<_> = pending.into_iter().flatten().collect();
    let urn = format!("urn:pulumi:dev::crash::shop:index:Item::{address}");
    // Updates that were cut off are pending operations too, until the next deployment repeats them.
    let creates: Vec<_> = pending
        .iter()
        .filter(|one| one["type"] == "creating")
        .map(|one| one["resource"]["urn"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(creates, [urn], "round {round}");
    let shape = format!("r{round}");
    match items(&hosted.place)
        .iter()
        .find(|item| item["inputs"]["shape"] == *shape)
    {
        Some(made) => {
            let id = made["id"].as_str().unwrap();
            ["--adopt".to_owned(), format!("{address}={id}")]
        }
        None => retry(hosted, address, round),
    }
}

fn terraform() -> Option<Hosted> {
    let folder = counterpart("CYAN_TEST_TERRAFORM")?;
    let document = |round: u64| {
        let item = |at: usize| {
            let spec = format!(
                "{{ base_rfc3339: \"2024-01-0{}T00:00:00Z\", offset_days: {round} }}",
                at + 1
            );
            format!("  i{at}: {{ type: tf-time/offset, spec: {spec} }}\n")
        };
        let note = |at: usize| {
            let spec =
                format!("{{ filename: n{at}.txt, content: \"r{round} ${{i{at}.spec.rfc3339}}\" }}");
            format!("  n{at}: {{ type: tf-local/file, spec: {spec} }}\n")
        };
        let both = (0..MANY).map(|at| item(at) + &note(at)).collect::<String>();
        format!("version: 2023-04-20\nresources:\n{both}")
    };
    let place = Place::with("shop.blueprint.yaml", &document(0));
    let package = |name: &str| {
        let program = folder.join(format!("terraform-provider-{name}"));
        format!(
            "[plugins.tf-{name}]\nkind = \"terraform\"\npath = '{}'\n",
            program.display()
        )
    };
    place.write("cyan.toml", ["time", "local"].map(package).concat());
    let check = |place: &Place, round: u64| {
        for at in 0..MANY {
            let text = std::fs::read_to_string(place.path().join(format!("n{at}.txt"))).unwrap();
            assert!(
                text.starts_with(&format!("r{round} 2024-")),
                "note {at} in round {round}: {text}"
            );
        }
        let shown = ran(place
            .cyan(&["show", "--json"])
            .env("CYAN_KEY", key())
            .output()
            .unwrap());
        let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        let resources = shown["result"]["resources"].as_array().unwrap();
        assert_eq!(
            resources.len(),
            2 * MANY,
            "a resource is lost or doubled in round {round}"
        );
        let days = resources
            .iter()
            .filter(|it| it["type"] == "tf-time/offset")
            .map(|it| &it["spec"]["offset_days"]);
        assert_eq!(
            days.filter(|days| **days == round).count(),
            MANY,
            "round {round}: {shown}"
        );
    };
    // A changed file is replaced, and the id of the new one is known only after its create.
    Some(Hosted {
        place,
        file: "shop.blueprint.yaml",
        document,
        instance: &[],
        kills: KILLS,
        check,
        may_be_in_doubt: |address| address.starts_with('n'),
        settle: retry,
    })
}

fn key() -> String {
    format!("{}=", "A".repeat(43))
}

/// Returns the child processes of a process.
fn children(parent: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
        .unwrap_or_default();
    let direct = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    let threads = std::fs::read_dir(format!("/proc/{parent}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let of_threads =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let of_threads: String = of_threads.map(|text| text + " ").collect();
    direct
        .chain(
            of_threads
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok()),
        )
        .collect()
}

/// Returns the addresses of creates with an unknown outcome, from the messages.
fn in_doubt(err: &str) -> Vec<&str> {
    let lines = err.lines().filter_map(|line| {
        line.strip_prefix("error[needs-attention]: the outcome of the create of `")
    });
    lines.filter_map(|rest| rest.split('`').next()).collect()
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The process may have ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
}

impl Hosted {
    fn cyan(&self, words: &[&str]) -> std::process::Command {
        self.place.cyan(&[words, self.instance].concat())
    }

    fn deploy(&self) -> std::process::Command {
        let mut command = self.cyan(&["deploy", "--yes"]);
        command
            .env("CYAN_KEY", key())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null());
        command
    }

    /// Kills the binary or its plugin at random moments of updates. After each kill a second deploy
    /// ends the round.
    fn kills(&self, kills_plugin: bool) {
        assert_eq!(ran(self.deploy().output().unwrap()).code, 0);
        let mut draw = Rng(number("CYAN_CRASH_SEED", SEED));
        let mut length = Duration::from_millis(500);
        for round in 1..=number("CYAN_PLUGIN_KILLS", self.kills).min(300) {
            // Rounds are days of a month, so that dates are valid.
            let round = round % 28 + 1;
            self.place.write(self.file, (self.document)(round));
            let began = Instant::now();
            let mut running = self
                .deploy()
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(draw.within(length));
            if kills_plugin {
                children(running.id()).into_iter().for_each(kill);
            } else {
                kill(running.id());
            }
            let ended = running.wait().unwrap();
            let was_there = ended.signal().is_none() && ended.code() == Some(0);
            length = if was_there {
                began.elapsed().min(length.mul_f64(1.02))
            } else {
                length
            };
            let mut again = ran(self.deploy().output().unwrap());
            let unsure = in_doubt(&again.err);
            assert!(
                unsure.iter().all(|address| (self.may_be_in_doubt)(address)),
                "round {round}: {}",
                again.err
            );
            if !unsure.is_empty() {
                // One command decides all outcomes: it is refused while another one is unknown.
                let decisions: Vec<[String; 2]> = unsure
                    .iter()
                    .map(|address| (self.settle)(self, address, round))
                    .collect();
                let decisions = decisions.iter().flatten().map(String::as_str);
                let words: Vec<&str> = ["reconcile", "-y"].into_iter().chain(decisions).collect();
                let settled = ran(self.cyan(&words).env("CYAN_KEY", key()).output().unwrap());
                assert_eq!(
                    settled.code, 0,
                    "round {round}: {}{}",
                    settled.out, settled.err
                );
                again = ran(self.deploy().output().unwrap());
            }
            assert_eq!(again.code, 0, "round {round}: {}{}", again.out, again.err);
            (self.check)(&self.place, round);
            let staged = ran(self
                .cyan(&["stage"])
                .env("CYAN_KEY", key())
                .output()
                .unwrap());
            assert_eq!(
                staged.last_line(),
                "0 to create, 0 to update, 0 to delete",
                "round {round}: {}",
                staged.out
            );
        }
    }
}

#[test]
fn killed_updates_through_a_plugin_of_pulumi_lose_and_double_nothing() {
    let Some(hosted) = pulumi() else { return };
    hosted.kills(false);
    hosted.kills(true);
}

#[test]
fn killed_updates_of_a_program_of_pulumi_lose_and_double_nothing() {
    let Some(hosted) = program() else { return };
    hosted.kills(false);
    hosted.kills(true);
}

#[test]
fn killed_updates_through_plugins_of_terraform_lose_and_double_nothing() {
    let Some(hosted) = terraform() else { return };
    hosted.kills(false);
    hosted.kills(true);
}
