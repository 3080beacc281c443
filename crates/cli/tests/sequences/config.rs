//! Recorded configurations through Pulumi's command line (`sequences/config.json` of the conformance
//! pack): `config set`, then plans and deployments.
//!
//! A case counts if each step ends as recorded, and if the outputs of the stack are the recorded ones,
//! marks of secrets included, in what `state export --as pulumi` writes.

use std::process::Output;

use serde_json::{Map, Value, json};

use crate::place::Place;
use crate::sim::Sim;

/// The minimum of passing cases. It is never lowered.
const THRESHOLD: usize = 20;

/// The key that makes a map a special value, and the kind of secrets.
const KEY: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

#[test]
fn recorded_configurations_give_what_was_recorded() {
    let Some(pack) = crate::pack() else { return };
    let file = pack.join("sequences/config.json");
    let Some(mut sim) = Sim::start(&pack.join("sequences/sim-schema.json")) else {
        return;
    };
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut passed = 0;
    for case in &cases {
        match run_case(case, &mut sim) {
            Ok(()) => passed += 1,
            Err(difference) => println!("{}: {difference}", case["name"]),
        }
    }
    let all = cases.len();
    println!("pulumi conformance sequences/config: {passed} of {all}");
    if crate::named_pack().is_none() {
        assert!(passed >= THRESHOLD, "{passed} pass, {THRESHOLD} did before");
    }
}

/// A case with the settings of its commands.
struct Session {
    place: Place,
    port: String,
    /// The passphrase, for a case with a secret.
    passphrase: Option<&'static str>,
}

impl Session {
    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.place.cyan(words);
        command.envs(
            self.passphrase
                .map(|text| ("PULUMI_CONFIG_PASSPHRASE", text)),
        );
        command.env("PULUMI_DEBUG_PROVIDERS", format!("sim:{}", self.port));
        command.output().unwrap()
    }

    /// Sets values. An error is what the command says.
    fn set(&self, values: &Value) -> Result<(), String> {
        for (key, given) in values.as_object().into_iter().flatten() {
            let value = given["value"]
                .as_str()
                .or(given.as_str())
                .unwrap_or_default();
            let mut words = vec!["config", "set", key.as_str(), value];
            for flag in ["path", "secret"] {
                if given[flag] == Value::Bool(true) {
                    words.push(if flag == "path" { "--path" } else { "--secret" });
                }
            }
            let done = self.run(&words);
            if !done.status.success() {
                return Err(String::from_utf8_lossy(&done.stderr).into_owned());
            }
        }
        Ok(())
    }

    /// The outputs of the stack, as they are exported, with the marks of the pack.
    fn outputs(&self) -> Value {
        let done = self.run(&["state", "export", "--as", "pulumi", "--reveal"]);
        let tree: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let resources = tree["deployment"]["resources"].as_array();
        let stack = resources
            .and_then(|all| all.first().cloned())
            .unwrap_or_default();
        marked(&stack["outputs"])
    }
}

fn run_case(case: &Value, sim: &mut Sim) -> Result<(), String> {
    let place = Place::new();
    let world = place.path().join("world");
    std::fs::create_dir(&world).unwrap();
    sim.use_world(&world);
    for (name, text) in case["files"].as_object().into_iter().flatten() {
        place.write(name, text.as_str().unwrap_or_default());
    }
    place.ends(0, &["key", "new"]);
    let has_secret = case["config"].to_string().contains("\"secret\":true")
        || case["files"].to_string().contains("secret: true");
    let session = Session {
        place,
        port: sim.port.clone(),
        passphrase: has_secret.then_some("passphrase"),
    };
    // What the recorded tool refuses here, it refuses in each step.
    if let Err(said) = session
        .run_init()
        .and_then(|()| session.set(&case["config"]))
    {
        return match case["steps"][0]["expect"]["ok"] == Value::Bool(false) {
            true => Ok(()),
            false => Err(said),
        };
    }
    for step in case["steps"].as_array().into_iter().flatten() {
        let words: &[&str] = match step["do"].as_str() {
            Some("config") => {
                session.set(&step["set"])?;
                continue;
            }
            Some("preview") => &["stage"],
            Some("up") => &["deploy", "--yes"],
            Some("destroy") => &["destroy", "--yes"],
            other => return Err(format!("no command for {other:?}")),
        };
        let done = session.run(words);
        let expect = &step["expect"];
        let is_ok = done.status.success();
        if expect["ok"] != Value::Bool(is_ok) && !allows(case, is_ok) {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{words:?} ends with {is_ok}: {said}"));
        }
        if expect["ok"] != Value::Bool(true) || !is_ok || words[0] != "deploy" {
            continue;
        }
        let recorded = expect["state"]["resources"][0]["outputs"].clone();
        let recorded = match recorded.is_null() {
            true => json!({}),
            false => recorded,
        };
        let outputs = match session.outputs() {
            Value::Null => json!({}),
            outputs => outputs,
        };
        if !same(&outputs, &recorded) {
            return Err(format!("outputs {outputs}, recorded {recorded}"));
        }
    }
    Ok(())
}

impl Session {
    fn run_init(&self) -> Result<(), String> {
        let done = self.run(&["stack", "init", "dev"]);
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }
}

/// Whether another end than the recorded one counts, because the reference decides otherwise.
fn allows(case: &Value, is_ok: bool) -> bool {
    let also = case["also"].as_array().into_iter().flatten();
    also.into_iter().any(|one| one["ok"] == Value::Bool(is_ok))
}

/// A value with `$secret` around secrets.
fn marked(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(marked).collect(),
        Value::Object(entries) if entries.get(KEY) == Some(&json!(SECRET)) => {
            let plain = entries["plaintext"].as_str().unwrap_or_default();
            json!({"$secret": serde_json::from_str::<Value>(plain).unwrap_or_default()})
        }
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.clone(), marked(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Whether two values are equal. Numbers are floats.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}
