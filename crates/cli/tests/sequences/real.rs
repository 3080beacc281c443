//! Stacks of the real command line: imported, changed, exported, and looked at by the real command
//! line again, which finds nothing to do. One provider process serves both.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::place::{Place, Ran, ran};
use crate::sim::Sim;

const PASSPHRASE: &str = "a phrase of the test";

/// A stack and what happens to it.
struct Sequence {
    name: &'static str,
    /// The settings of the stack: key, value, and whether it is a secret.
    settings: &'static [(&'static str, &'static str, bool)],
    /// The resources and outputs that the real command line deploys, one program after the other.
    made: &'static [&'static str],
    /// What it deploys last may fail.
    last_fails: bool,
    /// Changes the exported stack before it is imported.
    edit: fn(&mut Value),
    /// The resources and outputs that `cyan` deploys.
    changed: &'static str,
    /// The world afterwards: ids with labels.
    world: &'static [(&'static str, &'static str)],
}

const fn unedited(_: &mut Value) {}

const PLAIN: Sequence = Sequence {
    name: "",
    settings: &[],
    made: &[],
    last_fails: false,
    edit: unedited,
    changed: "",
    world: &[],
};

const SEQUENCES: [Sequence; 14] = [
    Sequence {
        name: "secrets",
        settings: &[("word", "hidden text", true)],
        made: &[
            "config: {word: {type: string, secret: true}}\nresources:\n  a: {type: 'sim:Res', properties: \
             {password: '${word}', label: one, any: {deep: ['${word}', 1]}}}\noutputs: {w: '${word}', p: '${a.password}'}\n",
        ],
        changed: "config: {word: {type: string, secret: true}}\nresources:\n  a: {type: 'sim:Res', properties: \
                  {password: '${word}', label: two, any: {deep: ['${word}', 2]}}}\noutputs: {w: '${word}', p: '${a.password}'}\n",
        world: &[("a-1", "two")],
        ..PLAIN
    },
    Sequence {
        name: "parents",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}}\n  \
             b: {type: 'sim:Other', properties: {label: b}, options: {parent: '${a}'}}\n  \
             c: {type: 'sim:Res', properties: {label: c}, options: {parent: '${b}'}}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}}\n  \
                  b: {type: 'sim:Other', properties: {label: b}, options: {parent: '${a}'}}\n  \
                  d: {type: 'sim:Res', properties: {label: d}, options: {parent: '${b}'}}\n",
        world: &[("a-1", "two"), ("b-1", "b"), ("d-1", "d")],
        ..PLAIN
    },
    Sequence {
        name: "aliases",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}}\n  \
             b: {type: 'sim:Res', properties: {label: b}}\n",
        ],
        changed: "resources:\n  n: {type: 'sim:Res', properties: {label: one}, options: {aliases: [{name: a}]}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}, options: {parent: '${n}', aliases: [{noParent: true}]}}\n",
        world: &[("a-1", "one"), ("b-1", "b")],
        ..PLAIN
    },
    Sequence {
        name: "protection",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}, options: {protect: true}}\n  \
             b: {type: 'sim:Res', properties: {label: b}, options: {protect: true}}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}, options: {protect: true}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}}\n",
        world: &[("a-1", "two"), ("b-1", "b")],
        ..PLAIN
    },
    Sequence {
        name: "pending deletion",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one, zone: x, failDelete: 'it stays'}}\n",
            "resources:\n  a: {type: 'sim:Res', properties: {label: one, zone: z}}\n",
        ],
        last_fails: true,
        // The old object can be deleted now.
        edit: deletable,
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two, zone: z}}\n",
        world: &[("a-2", "two")],
        ..PLAIN
    },
    Sequence {
        name: "explicit provider",
        made: &[
            "resources:\n  p: {type: 'pulumi:providers:sim', properties: {region: north, token: {'fn::secret': t}}}\n  \
             a: {type: 'sim:Res', properties: {label: one}, options: {provider: '${p}'}}\n  \
             b: {type: 'sim:Res', properties: {label: b}}\n",
        ],
        changed: "resources:\n  p: {type: 'pulumi:providers:sim', properties: {region: north, token: {'fn::secret': u}}}\n  \
                  a: {type: 'sim:Res', properties: {label: two}, options: {provider: '${p}'}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}}\n",
        world: &[("a-1", "two"), ("b-1", "b")],
        ..PLAIN
    },
    Sequence {
        name: "settings of the default provider",
        settings: &[("sim:region", "north", false)],
        made: &["resources:\n  a: {type: 'sim:Res', properties: {label: one}}\n"],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}}\n",
        world: &[("a-1", "two")],
        ..PLAIN
    },
    Sequence {
        name: "replacements",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one, zone: x}}\n  \
             b: {type: 'sim:Res', properties: {label: b, dbrZone: x, value: '${a.id}'}}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: one, zone: y}}\n  \
                  b: {type: 'sim:Res', properties: {label: b, dbrZone: y, value: '${a.id}'}}\n",
        world: &[("a-2", "one"), ("b-2", "b")],
        ..PLAIN
    },
    Sequence {
        name: "options",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}, options: {retainOnDelete: true, \
             additionalSecretOutputs: [arn], customTimeouts: {create: 5m, update: 10s}, ignoreChanges: [value]}}\n  \
             b: {type: 'sim:Res', properties: {label: b}, options: {dependsOn: ['${a}'], deleteBeforeReplace: true, \
             replaceOnChanges: [label], deletedWith: '${a}'}}\noutputs: {arn: '${a.arn}'}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two, value: ignored}, options: {retainOnDelete: true, \
                  additionalSecretOutputs: [arn], customTimeouts: {create: 5m, update: 20s}, ignoreChanges: [value]}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}, options: {dependsOn: ['${a}'], deleteBeforeReplace: true, \
                  replaceOnChanges: [label], deletedWith: '${a}'}}\noutputs: {arn: '${a.arn}'}\n",
        world: &[("a-1", "two"), ("b-1", "b")],
        ..PLAIN
    },
    Sequence {
        name: "values",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one, number: 1.5, list: [x, y], map: {k: v}, \
             any: {n: 1000000, l: [true, {z: 1}], t: '1', e: []}, asset: {'fn::stringAsset': text}}}\n  \
             b: {type: 'sim:Res', properties: {label: '${a.list[1]}', any: '${a.any.l}', value: '${a.arn}'}}\n\
             outputs: {list: '${a.list}', any: '${a.any}', number: '${a.number}'}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two, number: 2, list: [x, z], map: {k: w}, \
                  any: {n: 3, l: [false, {z: 2}], t: '2', e: {}}, asset: {'fn::stringAsset': other}}}\n  \
                  b: {type: 'sim:Res', properties: {label: '${a.list[1]}', any: '${a.any.l}', value: '${a.arn}'}}\n\
                  outputs: {list: '${a.list}', any: '${a.any}', number: '${a.number}'}\n",
        world: &[("a-1", "two"), ("b-1", "z")],
        ..PLAIN
    },
    Sequence {
        name: "deletions and calls",
        made: &[
            "variables: {said: {'fn::invoke': {function: 'sim:echo', arguments: {value: v}, return: result}}}\nresources:\n  \
             a: {type: 'sim:Res', properties: {label: one, value: '${said}'}}\n  \
             b: {type: 'sim:Res', properties: {label: '${a.label}'}}\n  \
             c: {type: 'sim:Res', properties: {label: '${b.label}'}}\n",
        ],
        changed: "variables: {said: {'fn::invoke': {function: 'sim:echo', arguments: {value: v}, return: result}}}\nresources:\n  \
                  a: {type: 'sim:Res', properties: {label: two, value: '${said}'}}\n",
        world: &[("a-1", "two")],
        ..PLAIN
    },
    Sequence {
        name: "failed initialisation",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one, failInit: 'not ready'}}\n",
        ],
        last_fails: true,
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}}\n",
        world: &[("a-1", "two")],
        ..PLAIN
    },
    Sequence {
        name: "failed update",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}}\n",
            "resources:\n  a: {type: 'sim:Res', properties: {label: two, failUpdate: 'not now'}}\n  \
             b: {type: 'sim:Res', properties: {label: b}}\n",
        ],
        last_fails: true,
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}}\n",
        world: &[("a-1", "two"), ("b-1", "b")],
        ..PLAIN
    },
    Sequence {
        name: "ties and versions",
        made: &[
            "resources:\n  a: {type: 'sim:Res', properties: {label: one}, options: {version: 1.0.0}}\n  \
             b: {type: 'sim:Res', properties: {label: b}, options: {replaceWith: ['${a}'], replacementTrigger: 1}}\n",
        ],
        changed: "resources:\n  a: {type: 'sim:Res', properties: {label: two}, options: {version: 1.0.0}}\n  \
                  b: {type: 'sim:Res', properties: {label: b}, options: {replaceWith: ['${a}'], replacementTrigger: 2}}\n",
        world: &[("a-1", "two"), ("b-2", "b")],
        ..PLAIN
    },
];

/// Takes what prevents a deletion from objects that are to be deleted.
fn deletable(state: &mut Value) {
    let all = state["deployment"]["resources"].as_array_mut();
    for one in all.into_iter().flatten() {
        if one["delete"] == true {
            one["inputs"].as_object_mut().unwrap().remove("failDelete");
        }
    }
}

/// The folder of the real command line. `None`, with a message, if it was not built.
fn command_line() -> Option<PathBuf> {
    let folder = std::env::var_os("CYAN_TEST_PULUMI_CLI").filter(|path| !path.is_empty());
    if folder.is_none() {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "Pulumi's command line should have been built: CYAN_TEST_PULUMI_CLI is not set"
        );
        println!("skipped: Pulumi's command line is needed; `cargo xtask plugins` builds it");
    }
    folder.map(PathBuf::from)
}

#[test]
fn stacks_of_the_real_command_line_come_and_go_without_a_difference() {
    let (Some(folder), Some(pack)) = (command_line(), crate::pack()) else {
        return;
    };
    let Some(mut sim) = Sim::start(&pack.join("sequences/sim-schema.json")) else {
        return;
    };
    let chosen = std::env::var("CYAN_SEQUENCE").unwrap_or_default();
    let mut failures = Vec::new();
    let wanted = |one: &&Sequence| chosen.is_empty() || one.name.contains(&chosen);
    for sequence in SEQUENCES.iter().filter(wanted) {
        if let Err(failure) = play(sequence, &folder, &mut sim) {
            failures.push(format!("{}: {failure}", sequence.name));
        }
    }
    let all = SEQUENCES.iter().filter(wanted).count();
    let passed = all - failures.len();
    println!("stacks of the real command line: {passed} of {all}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A folder in which both command lines run.
struct Both<'p> {
    place: &'p Place,
    folder: &'p PathBuf,
    port: &'p str,
}

impl Both<'_> {
    fn prepared(&self, mut command: Command) -> Command {
        command
            .env("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE)
            .env("PULUMI_DEBUG_PROVIDERS", format!("sim:{}", self.port));
        command
    }

    fn pulumi(&self, words: &[&str]) -> Ran {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(self.folder.join("pulumi"));
        command
            .args(words)
            .arg("--non-interactive")
            .current_dir(self.place.path())
            .env_clear()
            .env("HOME", self.place.path().join("home"))
            .env("PATH", format!("{}:{path}", self.folder.display()))
            .env(
                "PULUMI_BACKEND_URL",
                format!("file://{}", self.place.path().join("backend").display()),
            )
            .env("PULUMI_SKIP_UPDATE_CHECK", "1")
            .env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
        ran(self.prepared(command).output().unwrap())
    }

    /// Runs the real command line, which must succeed.
    fn real(&self, words: &[&str]) -> Result<String, String> {
        done(self.pulumi(words), "pulumi", words)
    }

    /// Runs `cyan`, which must succeed.
    fn cyan(&self, words: &[&str]) -> Result<String, String> {
        let command = self.prepared(self.place.cyan(words));
        done(ran({ command }.output().unwrap()), "cyan", words)
    }

    fn program(&self, text: &str) {
        let text = format!("name: demo\nruntime: yaml\n{text}");
        self.place.write("Pulumi.yaml", text);
    }
}

fn done(ran: Ran, program: &str, words: &[&str]) -> Result<String, String> {
    match ran.code {
        0 => Ok(ran.out),
        code => Err(format!(
            "{program} {words:?} ends with {code}\n{}{}",
            ran.out, ran.err
        )),
    }
}

fn play(sequence: &Sequence, folder: &PathBuf, sim: &mut Sim) -> Result<(), String> {
    let place = Place::new();
    for name in ["world", "backend", "home"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    sim.use_world(&place.path().join("world"));
    let both = Both {
        place: &place,
        folder,
        port: &sim.port,
    };
    both.program(sequence.made[0]);
    both.real(&["stack", "init", "dev"])?;
    for (key, value, is_secret) in sequence.settings {
        let flag = if *is_secret {
            "--secret"
        } else {
            "--plaintext"
        };
        both.real(&["config", "set", flag, key, value])?;
    }
    for (at, program) in sequence.made.iter().enumerate() {
        both.program(program);
        let words = ["up", "--yes", "--skip-preview"];
        let is_last = at + 1 == sequence.made.len();
        match sequence.last_fails && is_last {
            true => assert_ne!(both.pulumi(&words).code, 0, "{}", sequence.name),
            false => drop(both.real(&words)?),
        }
    }
    let made = both.real(&["stack", "export"])?;
    let mut made: Value = serde_json::from_str(&made).unwrap();
    (sequence.edit)(&mut made);
    place.write("made.json", made.to_string());
    both.cyan(&["key", "new"])?;
    both.cyan(&["state", "import", "made.json", "--yes", "-i", "dev"])?;
    // What was imported and not changed comes out as it went in.
    both.cyan(&[
        "state",
        "export",
        "--as",
        "pulumi",
        "same.json",
        "-i",
        "dev",
    ])?;
    let same: Value = serde_json::from_str(&place.read("same.json")).unwrap();
    assert_eq!(urns(&same), urns(&made), "{}", sequence.name);
    both.program(sequence.changed);
    both.cyan(&["deploy", "--yes", "-i", "dev"])?;
    both.cyan(&["deploy", "--yes", "--expect-no-changes", "-i", "dev"])?;
    let world: Value = serde_json::from_str(&place.read("world/world.json")).unwrap();
    let found: BTreeSet<(&str, &str)> = world
        .as_object()
        .unwrap()
        .iter()
        .map(|(id, thing)| {
            (
                id.as_str(),
                thing["inputs"]["label"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    let wanted: BTreeSet<_> = sequence.world.iter().copied().collect();
    if found != wanted {
        return Err(format!("the world has {found:?}, wanted {wanted:?}"));
    }
    both.cyan(&[
        "state",
        "export",
        "--as",
        "pulumi",
        "changed.json",
        "-i",
        "dev",
    ])?;
    let changed: Value = serde_json::from_str(&place.read("changed.json")).unwrap();
    keeps_integrity(&changed)?;
    for (_, value, _) in sequence
        .settings
        .iter()
        .filter(|(.., is_secret)| *is_secret)
    {
        assert!(
            !changed.to_string().contains(value),
            "a secret is in clear text"
        );
    }

    both.real(&["stack", "import", "--file", "changed.json"])?;
    both.real(&["preview", "--expect-no-changes", "--diff"])?;
    // The real command line goes on with the stack.
    both.real(&["destroy", "--yes", "--skip-preview"])
        .or_else(|said| match sequence.name == "protection" {
            true => Ok(said),
            false => Err(said),
        })?;
    Ok(())
}

/// The URNs of a deployment, sorted.
fn urns(state: &Value) -> Vec<String> {
    let all = state["deployment"]["resources"].as_array();
    let all = all.into_iter().flatten();
    let mut urns: Vec<String> = all
        .map(|one| format!("{} {}", one["urn"], one["delete"]))
        .collect();
    urns.sort();
    urns
}

/// The integrity rules of a deployment.
fn keeps_integrity(state: &Value) -> Result<(), String> {
    let resources = state["deployment"]["resources"].as_array();
    let (mut earlier, mut live) = (BTreeSet::new(), BTreeSet::new());
    for one in resources.into_iter().flatten() {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        let (urn, wrong) = (text("urn"), |what: &str| Err(format!("{what}: {one}")));
        if urn.is_empty() || text("type").is_empty() {
            return wrong("a resource without URN or type");
        }
        if one["custom"] != true && !text("id").is_empty() {
            return wrong("a component with an id");
        }
        if one["delete"] != true && !live.insert(urn) {
            return wrong("a URN repeats");
        }
        let provider = text("provider").rsplit_once("::");
        let mut named: Vec<&str> = provider.map(|(urn, _)| urn).into_iter().collect();
        named.extend(["parent", "deletedWith"].map(text));
        let lists = ["dependencies", "replaceWith"].map(|name| &one[name]);
        let properties = one["propertyDependencies"].as_object();
        let lists = lists
            .into_iter()
            .chain(properties.into_iter().flatten().map(|(_, list)| list));
        named.extend(
            lists
                .filter_map(Value::as_array)
                .flatten()
                .filter_map(Value::as_str),
        );
        for other in named.into_iter().filter(|other| !other.is_empty()) {
            if !earlier.contains(other) {
                return wrong(&format!("`{other}` is not earlier"));
            }
        }
        earlier.insert(urn);
    }
    Ok(())
}
