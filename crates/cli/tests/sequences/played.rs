//! Language conformance tests (`conformance/*.json` of the pack): programs that are planned and
//! deployed with the binary, while a process plays the recorded conversations with their providers.
//!
//! A case counts if each of its runs ends as recorded, announces the same operations, and leaves the
//! same state. `CYAN_SEQUENCE` names the cases to run.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::place::{Place, Ran, ran};
use crate::runner::{compare_ops, write_files};
use crate::sim::start_provider;
use crate::state::compare_state;
use crate::steps::{Announced, stepped};

/// The minimum of passing cases. It is never lowered.
const THRESHOLD: usize = 86;

/// The stack of all cases.
const STACK: &str = "test";

const PASSPHRASE: &str = "passphrase";

#[test]
fn language_conformance_tests_end_as_recorded() {
    let Some(pack) = crate::pack() else { return };
    let folder = pack.join("conformance");
    // Another pack may lack this area.
    if !folder.exists() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let Some(mut player) = Player::start(&folder.join("schemas")) else {
        return;
    };
    let chosen = std::env::var("CYAN_SEQUENCE").unwrap_or_default();
    let (mut all, mut passed) = (0, 0);
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for file in cases_in(&folder) {
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let name = case["name"].as_str().unwrap();
        let is_chosen = chosen.is_empty() || chosen.split(',').any(|part| name.contains(part));
        if !is_chosen || case["status"] != "passes today" || !case["runs"].is_array() {
            continue;
        }
        if let Some(needed) = left_for_later(&case, &folder) {
            *left_out.entry(needed).or_default() += 1;
            continue;
        }
        all += 1;
        match run_case(&case, &file, &mut player) {
            Ok(()) => passed += 1,
            Err(difference) => println!("{name}: {difference}"),
        }
    }
    println!("pulumi conformance conformance: {passed} of {all}");
    for (needed, count) in left_out {
        println!("pulumi conformance conformance: {count} left out, they need {needed}");
    }
    if crate::named_pack().is_none() && chosen.is_empty() {
        assert!(passed >= THRESHOLD, "{passed} pass, {THRESHOLD} did before");
    }
}

fn cases_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}

/// What a case uses that is left for a later version; `None` if it uses nothing of this.
fn left_for_later(case: &Value, folder: &Path) -> Option<&'static str> {
    if case.get("providerPrograms").is_some() {
        return Some("providers that are written in YAML");
    }
    let is_called = |method: &str| {
        let runs = case["runs"].as_array().into_iter().flatten();
        let modes = runs.flat_map(|run| [&run["preview"], &run["update"]]);
        let mut calls = modes
            .filter_map(|mode| mode["calls"].as_array())
            .flatten()
            .filter(|call| call["method"] == method);
        calls.next().is_some()
    };
    if is_called("Parameterize") {
        return Some("packages with parameters");
    }
    if is_called("Construct") || is_called("Call") {
        return Some("components of plugins");
    }
    // Without a schema there is no provider.
    let programs = case["programs"].as_array().into_iter().flatten();
    let mut named = programs.flat_map(locks);
    let lacks_schema = named.any(|(package, version)| {
        let schema = format!("schemas/{package}-{version}.json");
        !folder.join(schema).exists()
    });
    lacks_schema.then_some("a package whose schema is not in the pack")
}

/// The process that plays the providers.
struct Player {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Player {
    /// Starts the process. `None`, with a message, if Pulumi's framework is not installed.
    fn start(schemas: &Path) -> Option<Player> {
        let (process, commands, answers) = start_provider("player.py", schemas)?;
        Some(Player {
            process,
            commands,
            answers,
        })
    }

    /// Plays a run. Installs the providers as plugins of the place's home folder.
    fn play(&mut self, file: &Path, run: usize, place: &Place) {
        writeln!(self.commands, "{}", json!([file, run])).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let ports: BTreeMap<String, u16> = serde_json::from_str(&line).unwrap();
        for (name, port) in ports {
            let is_version = |at: usize| name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
            let mut marks = name.match_indices('-').map(|(at, _)| at);
            let at = marks.find(|at| is_version(*at)).unwrap();
            let (package, version) = (&name[..at], &name[at + 1..]);
            let program = format!(
                "home/.pulumi/plugins/resource-{package}-v{version}/pulumi-resource-{package}"
            );
            place.write(
                &program,
                format!("#!/bin/sh\necho {port}\nexec sleep 600\n"),
            );
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(place.path().join(program), executable).unwrap();
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn run_case(case: &Value, file: &Path, player: &mut Player) -> Result<(), String> {
    let place = Place::new();
    place.ends(0, &["key", "new"]);
    deploy_stacks(&place, &case["stackReferences"])?;
    let programs = case["programs"].as_array().unwrap();
    let mut before = &Value::Null;
    for (at, run) in case["runs"].as_array().unwrap().iter().enumerate() {
        let files = programs.get(at).or(programs.last()).unwrap();
        let gone = before.as_object().into_iter().flatten();
        for (name, _) in gone.filter(|(name, _)| files.get(name).is_none()) {
            drop(std::fs::remove_file(place.path().join(name)));
        }
        write_files(&place, files);
        before = files;
        configure(&place, &run["config"])?;
        player.play(file, at, &place);
        for (mode, words) in [
            ("preview", vec!["stage"]),
            ("update", vec!["deploy", "--yes"]),
        ] {
            let expected = &run[mode];
            let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            words.extend(["--json", "-i", STACK].map(str::to_owned));
            words.extend(flags(run));
            let said = cyan(&place, &words);
            let mut done = stepped(&words, &said);
            name_logically(&mut done.ops, files);
            let describe =
                |difference: String| format!("run {at} ({mode}): {difference}\n{}", done.said);
            let ok = expected["ok"] == Value::Bool(true);
            // What a preview finds is refused as a whole here, and ends the case (README of the pack).
            let is_found_early = !ok && run["preview"]["ok"] == Value::Bool(false);
            if is_found_early && at == 0 && mode == "update" && done.refused {
                return Ok(());
            }
            if done.ok != ok {
                let word = if ok { "should succeed" } else { "should fail" };
                return Err(describe(word.to_owned()));
            }
            if ok {
                compare_ops(expected, &done).map_err(describe)?;
            }
            if expected["state"].is_object() {
                let state = in_place(&expected["state"], &place);
                compare_state(&place, STACK, &state).map_err(describe)?;
            }
        }
    }
    Ok(())
}

/// Deploys the stacks that the programs of a case refer to, each from a folder of its own.
fn deploy_stacks(place: &Place, stacks: &Value) -> Result<(), String> {
    let mut folders = String::new();
    for (name, outputs) in stacks.as_object().into_iter().flatten() {
        let mut parts = name.split('/').skip(1);
        let (project, stack) = (parts.next().unwrap(), parts.next().unwrap());
        let outputs = outputs.as_object().into_iter().flatten();
        let outputs: Map<String, Value> = outputs
            .map(|(name, output)| match output.get("$secret") {
                Some(secret) => (name.clone(), json!({"fn::secret": secret})),
                None => (name.clone(), output.clone()),
            })
            .collect();
        let program = json!({"name": project, "runtime": "yaml", "outputs": outputs});
        let file = format!("other/{project}/Pulumi.yaml");
        place.write(&file, program.to_string());
        let words = [
            "-C",
            &format!("other/{project}"),
            "deploy",
            "--yes",
            "-i",
            stack,
        ];
        let said = cyan(place, &words.map(str::to_owned));
        if said.code != 0 {
            return Err(format!("`{name}` cannot be deployed: {}", said.err));
        }
        folders.push_str(&format!("{project} = \"other/{project}\"\n"));
    }
    if !folders.is_empty() {
        place.write("cyan.toml", format!("[projects]\n{folders}"));
    }
    Ok(())
}

/// Gives announced operations the logical names of their resources, which the record has in place of
/// their keys.
fn name_logically(ops: &mut [Announced], files: &Value) {
    for (_, text) in files.as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        let (tree, _) = syntax::parse(diag::FileId::new(0), text, syntax::Format::Yaml);
        let resources = tree.root.as_ref().and_then(|root| root.get("resources"));
        let entries = resources.and_then(syntax::Node::as_map);
        for entry in entries.into_iter().flatten() {
            let name = entry.value.get("name").and_then(syntax::Node::text);
            if let (Some(key), Some(name)) = (entry.key.text(), name) {
                ops.iter_mut().for_each(|one| one.rename(key, name));
            }
        }
    }
}

/// The packages of the lock files of a program, with their versions.
fn locks(files: &Value) -> impl Iterator<Item = (&str, &str)> {
    let files = files.as_object().into_iter().flatten();
    let locks = files.filter(|(name, _)| name.starts_with("sdks/"));
    locks.filter_map(|(_, text)| {
        let part = |key: &str| {
            let mut lines = text.as_str()?.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
        };
        Some((part("name")?, part("version")?))
    })
}

fn cyan(place: &Place, words: &[String]) -> Ran {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = place.cyan(&words);
    command.env("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE);
    ran(command.output().unwrap())
}

/// Writes the file of the stack.
fn configure(place: &Place, given: &Value) -> Result<(), String> {
    let file = format!("Pulumi.{STACK}.yaml");
    drop(std::fs::remove_file(place.path().join(&file)));
    let mut settings = Map::new();
    let mut secrets = Vec::new();
    for (key, setting) in given.as_object().into_iter().flatten() {
        let text = setting["value"].as_str().unwrap();
        match (&setting["secret"], &setting["object"]) {
            (Value::Bool(true), _) => secrets.push((key, decoded(text))),
            (_, Value::Bool(true)) => {
                settings.insert(key.clone(), serde_json::from_str(text).unwrap());
            }
            _ => drop(settings.insert(key.clone(), json!(text))),
        }
    }
    place.write(&file, json!({ "config": settings }).to_string());
    for (key, text) in secrets {
        let words = [
            "config",
            "set",
            "--secret",
            key.as_str(),
            text.as_str(),
            "-i",
            STACK,
        ];
        let said = cyan(place, &words.map(str::to_owned));
        if said.code != 0 {
            return Err(format!("`{key}` cannot be set: {}", said.err));
        }
    }
    Ok(())
}

/// The text of a secret, which the record has in base64.
fn decoded(text: &str) -> String {
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

/// The options of the command line. The record leaves out which resources are targets: those that
/// their providers checked.
fn flags(run: &Value) -> Vec<String> {
    let options = &run["updateOptions"];
    let mut flags = Vec::new();
    if options["continueOnError"] == Value::Bool(true) {
        flags.push("--on-failure=keep-going".to_owned());
    }
    if options["targets"].is_array() {
        let calls = run["update"]["calls"].as_array();
        let checked = calls
            .into_iter()
            .flatten()
            .filter(|call| call["method"] == "Check");
        for call in checked {
            flags.extend([
                "--target".to_owned(),
                call["urn"].as_str().unwrap().to_owned(),
            ]);
        }
    }
    flags
}

/// A value of the record with the folder of the program in it.
fn in_place(value: &Value, place: &Place) -> Value {
    let folder = place.path().canonicalize().unwrap();
    let text = value.to_string().replace("{dir}", folder.to_str().unwrap());
    serde_json::from_str(&text).unwrap()
}
