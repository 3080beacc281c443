//! Tests of packages in `cyan.toml`: plugins that cannot be used, and the life cycle of a resource
//! of a real plugin.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, Ran, ran};

const DOCUMENT: &str = "version: 2023-04-20\nresources:\n  a: {type: shop/index:Item, spec: {label: one}}\n  b: {type: shop/index:Item, spec: {label: b}}\n";

/// Creates a folder with a document of two items, and a script as the plugin of their package.
fn place(script: &str) -> Place {
    let place = Place::with("shop.blueprint.yaml", DOCUMENT);
    place.write(
        "cyan.toml",
        "[plugins.shop]\nkind = \"pulumi\"\npath = \"./plugin.sh\"\nstart-within = \"30s\"\n",
    );
    place.write("plugin.sh", format!("#!/bin/sh\n{script}\n"));
    let made = Command::new("chmod")
        .arg("+x")
        .arg(place.path().join("plugin.sh"))
        .status()
        .unwrap();
    assert!(made.success());
    place
}

/// Waits until a condition holds.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{what}: not within a minute"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process runs.
fn is_alive(process: &str) -> bool {
    Command::new("kill")
        .args(["-0", process.trim()])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let place = place("exit 3");
    let mut command = place.cyan(&["validate"]);
    let ran = ran(command.env("TMPDIR", "/no/such/folder").output().unwrap());
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err
            .contains("in /no/such/folder: it does not exist; `TMPDIR` names it"),
        "{}",
        ran.err
    );
}

#[test]
fn a_plugin_that_does_not_exist_is_reported_at_its_first_type() {
    let place = place("");
    std::fs::remove_file(place.path().join("plugin.sh")).unwrap();
    for command in [["validate"].as_slice(), &["stage"], &["deploy", "-y"]] {
        let said = place.ends(1, command).err;
        assert_eq!(
            said.matches("error[plugin-unavailable]").count(),
            1,
            "{said}"
        );
        for part in [
            "shop.blueprint.yaml:3:13",
            "plugin.sh",
            "it is configured at cyan.toml:1:10",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    let types = place.ends(1, &["types", "shop"]).err;
    assert!(types.contains("error[plugin-unavailable]"), "{types}");
    assert!(
        place
            .ends(0, &["types"])
            .out
            .contains("`cyan types shop` lists its types")
    );
}

#[test]
fn plugin_that_exits_at_start_is_reported_with_its_stderr() {
    let place = place("echo the licence has expired >&2; exit 3");
    let said = place.ends(1, &["stage"]).err;
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    assert!(
        said.contains("error[plugin-unavailable]") && said.contains("the licence has expired"),
        "{said}"
    );
    assert!(
        !said.contains("shop: ") && !said.contains("`: the licence"),
        "log lines need --verbose: {said}"
    );
    let verbose = place.ends(1, &["stage", "-v"]).err;
    assert!(
        verbose
            .lines()
            .any(|line| line.contains("`shop`: the licence has expired")),
        "{verbose}"
    );
}

#[test]
fn a_document_that_does_not_use_a_package_does_not_start_its_plugin() {
    let place = place("touch started; exit 1");
    place.write(
        "shop.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  id: {type: random/id, spec: {bytes: 4}}\n",
    );
    place.ends(0, &["validate"]);
    place.ends(0, &["deploy", "-y"]);
    place.write(
        "shop.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  id: {type: shup/index:Item}\n",
    );
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("did you mean the package `shop`?")
    );
    assert!(!place.has("started"));
}

#[test]
fn mistakes_in_the_table_of_a_package_name_their_place() {
    let place = place("");
    for (table, because, help) in [
        (
            "kind = \"ansible\"\npath = \"x\"",
            "line 2, column 8: there is no kind of plugins `ansible`",
            "the kinds of this build: ",
        ),
        (
            "kind = \"pulumi\"\nsource = \"a/b\"",
            "line 3, column 10: `source` is not available yet",
            "give the `path` of the program",
        ),
        (
            "kind = \"pulumi\"\npath = \"x\"\nmemory = 5",
            "line 4, column 10: `plugins.shop.memory` must be a text",
            "put the value in quotes",
        ),
    ] {
        place.write("cyan.toml", format!("[plugins.shop]\n{table}\n"));
        let said = place.ends(1, &["validate"]).err;
        assert!(
            said.contains("`cyan.toml` cannot be used")
                && said.contains(because)
                && said.contains(help),
            "{said}"
        );
    }
    place.write(
        "cyan.toml",
        "[plugins.random]\nkind = \"pulumi\"\npath = \"x\"\n",
    );
    let said = place.ends(1, &["stage"]).err;
    assert!(
        said.contains("line 1, column 10: the namespace `random` is built in"),
        "{said}"
    );
    assert!(
        said.contains("help: give the package another name, such as `pulumi-random`"),
        "{said}"
    );
}

#[test]
fn a_signal_ends_a_plugin_that_is_being_started() {
    let place = place("echo $$ > pid.new; mv pid.new pid; exec sleep 600");
    let mut command = place.cyan(&["validate"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the plugin starts", || place.has("pid"));
    interrupt(&child);
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.trim()),
        (130, "", "Interrupted.")
    );
    assert!(!is_alive(&place.read("pid")));
}

/// A folder whose plugin is a provider on the Python package `pulumi`. Without that package, `shop`
/// prints a message and returns `None`.
pub(crate) struct Shop {
    pub(crate) place: Place,
    pub(crate) python: PathBuf,
    pub(crate) script: PathBuf,
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn shop() -> Option<Shop> {
    let Some(python) = std::env::var_os("CYAN_TEST_PULUMI")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
    else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "the provider framework of Pulumi should have been installed: CYAN_TEST_PULUMI is not set"
        );
        eprintln!("skipped: the Python package pulumi is needed; `cargo xtask test` installs it");
        return None;
    };
    let place = Place::with("shop.blueprint.yaml", DOCUMENT);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pulumi_host/tests/peer/shop.py");
    place.write("items/.keep", "");
    let text = format!(
        "[plugins.shop]\nkind = \"pulumi\"\npath = '{}'\narguments = ['{}']\n\
         [plugins.shop.settings]\nfolder = '{}'\n",
        python.display(),
        script.display(),
        place.path().join("items").display()
    );
    place.write("cyan.toml", text);
    Some(Shop {
        place,
        python,
        script,
    })
}

impl Shop {
    pub(crate) fn cyan(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.cyan(arguments);
        command
            .env("SHOP_STARTS", self.place.path().join("starts"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("CYAN_KEY", format!("{}=", "A".repeat(43)));
        command
    }

    /// Runs a command that must succeed. Returns its output, and the number of plugins that it
    /// started.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (Ran, usize) {
        let before = self.started().len();
        let ran = ran(self.cyan(arguments).output().unwrap());
        assert_eq!(
            ran.code,
            0,
            "cyan {}\n{}{}",
            arguments.join(" "),
            ran.out,
            ran.err
        );
        for process in self.started() {
            assert!(
                !is_alive(&process),
                "`cyan {}` left a plugin",
                arguments.join(" ")
            );
        }
        (ran, self.started().len() - before)
    }

    /// The process ids of all plugins that were started.
    fn started(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.place.path().join("starts")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn items(&self) -> usize {
        let files = std::fs::read_dir(self.place.path().join("items")).unwrap();
        files
            .filter(|file| {
                file.as_ref()
                    .is_ok_and(|file| file.path().extension().is_some())
            })
            .count()
    }
}

#[test]
fn a_resource_of_a_plugin_lives_through_plan_deploy_update_and_destroy() {
    let Some(shop) = shop() else { return };
    let (types, started) = shop.run(&["types", "shop"]);
    assert!(types.out.contains("shop/index:Item"), "{}", types.out);
    assert_eq!(started, 1, "the schema comes from the plugin");
    assert_eq!(shop.run(&["validate"]).1, 0, "it is in the cache");
    let (staged, started) = shop.run(&["stage"]);
    assert_eq!(
        (staged.last_line(), started),
        ("2 to create, 0 to update, 0 to delete", 1)
    );
    let (deployed, started) = shop.run(&["deploy", "-y"]);
    assert_eq!(
        (deployed.last_line(), started, shop.items()),
        ("2 created, 0 updated, 0 deleted", 1, 2)
    );
    let (again, started) = shop.run(&["stage"]);
    assert_eq!(
        (again.last_line(), started),
        ("0 to create, 0 to update, 0 to delete", 1)
    );
    shop.place.write(
        "shop.blueprint.yaml",
        DOCUMENT.replace("label: one", "label: two"),
    );
    assert_eq!(
        shop.run(&["deploy", "-y"]).0.last_line(),
        "0 created, 1 updated, 0 deleted"
    );
    assert!(shop.run(&["drift"]).0.out.contains("0 drifted"));
    assert_eq!(
        shop.run(&["destroy", "-y"]).0.last_line(),
        "0 created, 0 updated, 2 deleted"
    );
    assert_eq!(shop.items(), 0);
}

#[test]
fn function_of_a_plugin_is_called_in_an_expression() {
    let Some(shop) = shop() else { return };
    let document = "\
version: 2023-04-20
resources:
  a: {type: shop/index:Item, spec: {name: n, label: one}}
  same: {type: cyan/provider, spec: {namespace: shop, settings: {folder: 'FOLDER'}}}
";
    let folder = shop.place.path().join("items").display().to_string();
    let document = document.replace("FOLDER", &folder);
    shop.place.write("shop.blueprint.yaml", &document);
    shop.run(&["deploy", "-y"]);
    let call = "invoke(\"shop/index:getItem\", object(name=\"n\"), same)";
    let document = format!(
        "{document}values:\n  label: {{type: string, value: '${{{call}.label}}'}}\n\
         exports:\n  label: {{type: string, field: values.label}}\n"
    );
    shop.place.write("shop.blueprint.yaml", &document);
    shop.run(&["deploy", "-y"]);
    assert_eq!(shop.run(&["output", "label"]).0.out.trim(), "one");
    shop.place.write(
        "shop.blueprint.yaml",
        document.replace("name=\"n\"", "nam=\"n\""),
    );
    let said = shop.place.ends(1, &["validate"]).err;
    assert!(
        said.contains("`shop/index:getItem` has no argument `nam`"),
        "{said}"
    );
}

#[test]
fn a_cold_cache_and_a_plan_start_one_plugin() {
    let Some(shop) = shop() else { return };
    assert_eq!(shop.run(&["stage"]).1, 1);
}

#[test]
fn refused_settings_of_a_plugin_are_one_mistake_with_their_place() {
    let Some(shop) = shop() else { return };
    let text = shop.place.read("cyan.toml");
    let (kept, _) = text.split_once("folder = ").unwrap();
    shop.place
        .write("cyan.toml", format!("{kept}token = \"hunter2\"\n"));
    let refused = ran(shop.cyan(&["stage"]).output().unwrap());
    assert_eq!(refused.code, 1);
    assert_eq!(refused.err.matches("error[").count(), 1, "{}", refused.err);
    for part in [
        "error[provider-settings]: the provider `shop`",
        "the folder is missing",
        "at cyan.toml:5:15",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert!(!refused.err.contains("hunter2"));
}

#[test]
fn signals_during_an_operation_leave_no_plugin() {
    let Some(shop) = shop() else { return };
    shop.run(&["validate"]);
    shop.place.write(
        "shop.blueprint.yaml",
        DOCUMENT.replace("label: one", "label: one, waitBefore: 600"),
    );
    let mut command = shop.cyan(&["deploy", "-y"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("an item is made", || shop.items() == 1);
    interrupt(&child);
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("Stopping.") {
        assert_ne!(err.read_line(&mut said).unwrap(), 0, "{said}");
    }
    interrupt(&child);
    err.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{said}");
    assert!(said.contains("still in flight"), "{said}");
    assert!(shop.started().iter().all(|process| !is_alive(process)));
}
