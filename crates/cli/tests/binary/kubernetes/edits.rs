//! Random edits of live objects by other managers: a deploy leaves their fields as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::cluster::ClusterPlace;

/// The number of rounds: in each, every object is edited and the document is deployed.
const ROUNDS: usize = 10;

/// The number of objects.
const OBJECTS: usize = 50;

/// The keys of the data of an object. The document declares some of them.
const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A generator of numbers, xorshift64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// The declared data of the objects.
type Declared = Vec<BTreeMap<&'static str, String>>;

fn declare(draws: &mut Draws, round: usize) -> Declared {
    let mut object = || {
        // A map without entries would be a value of its own: the document declares one at least.
        let always = draws.below(KEYS.len());
        let keys = { KEYS.iter().enumerate() }
            .filter(|(at, _)| draws.below(3) == 0 || *at == always)
            .map(|(_, key)| key);
        keys.map(|key| (*key, format!("ours {round}"))).collect()
    };
    (0..OBJECTS).map(|_| object()).collect()
}

fn document(declared: &Declared) -> String {
    let mut text = "version: 2023-04-20\nresources:\n".to_owned();
    for (at, data) in declared.iter().enumerate() {
        let spec = json!({"metadata": {"name": format!("o{at}"), "namespace": "NS"}, "data": data});
        writeln!(
            text,
            "  o{at}: {{type: kubernetes/core/ConfigMap, spec: {spec}}}"
        )
        .unwrap();
    }
    text
}

/// The objects of the test by their number.
fn live(cluster: &ClusterPlace) -> Vec<Json> {
    let all = cluster.object("configmap").unwrap();
    let by_name: BTreeMap<&str, &Json> = { all["items"].as_array().unwrap().iter() }
        .map(|item| (item["metadata"]["name"].as_str().unwrap(), item))
        .collect();
    (0..OBJECTS)
        .map(|at| by_name[&*format!("o{at}")].clone())
        .collect()
}

/// The keys of the data that managers other than `cyan` hold.
fn keys_of_others(object: &Json) -> Vec<&'static str> {
    let managers = object["metadata"]["managedFields"].as_array().unwrap();
    let others = managers.iter().filter(|entry| {
        let name = entry["manager"].as_str().unwrap();
        !name.starts_with("cyan:")
    });
    let others: Vec<&Json> = others.collect();
    let is_held = |key: &&str| {
        let field = format!("f:{key}");
        let holds = |entry: &&Json| entry["fieldsV1"]["f:data"].get(&field).is_some();
        others.iter().any(holds)
    };
    KEYS.into_iter().filter(is_held).collect()
}

/// Edits every object once, as the one of three managers that also edited it before. In a contested
/// round it may contradict what the document declares.
fn edit_all(cluster: &ClusterPlace, draws: &mut Draws, declared: &Declared, round: usize) {
    let is_contested = draws.below(3) == 0;
    let mut by_manager: [String; 3] = Default::default();
    for (at, own) in declared.iter().enumerate() {
        let mut data = BTreeMap::new();
        for key in KEYS {
            if draws.below(3) != 0 {
                continue;
            }
            let contradicts = is_contested && draws.below(20) == 0;
            let agreed = own.get(key).filter(|_| !contradicts);
            let value = agreed.cloned().unwrap_or_else(|| format!("theirs {round}"));
            data.insert(key, value);
        }
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("o{at}"), "labels": {"round": round.to_string()}},
            "data": data});
        writeln!(by_manager[at % 3], "---\n{manifest}").unwrap();
    }
    for (number, manifests) in by_manager.iter().enumerate() {
        if !manifests.is_empty() {
            let manager = format!("--field-manager=other-{number}");
            let words = [
                "-n",
                &cluster.namespace,
                "apply",
                "--server-side",
                "--force-conflicts",
            ];
            cluster.fed(
                &[&words[..], &[&manager, "--filename=-"]].concat(),
                manifests,
            );
        }
    }
}

/// Checks that the fields of others are as before a deploy, and ours as declared.
fn check(before: &[Json], after: &[Json], declared: &Declared, words: &str) {
    for (at, own) in declared.iter().enumerate() {
        let (then, now) = (&before[at], &after[at]);
        for key in keys_of_others(then) {
            assert_eq!(now["data"][key], then["data"][key], "{words}: o{at} {key}");
        }
        assert_eq!(
            now["metadata"]["labels"], then["metadata"]["labels"],
            "{words}: o{at}"
        );
        for (key, value) in own {
            assert_eq!(now["data"][key], **value, "{words}: o{at} {key}");
        }
        let held = keys_of_others(now);
        for key in KEYS
            .iter()
            .filter(|key| !own.contains_key(*key) && !held.contains(key))
        {
            assert_eq!(
                now["data"].get(key),
                None,
                "{words}: o{at} {key} is nobody's"
            );
        }
    }
}

#[test]
fn deploys_leave_the_fields_of_other_managers() {
    let Some(cluster) = ClusterPlace::with("edits", "") else {
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let given = std::env::var("CYAN_EDIT_SEED").ok();
    let seed = given.map_or(now.as_nanos() as u64 | 1, |seed| seed.parse().unwrap());
    eprintln!("CYAN_EDIT_SEED={seed}");
    let mut draws = Draws(seed);
    let mut refusals = 0;
    cluster.write(&document(&declare(&mut draws, 0)));
    cluster.exits(0, &["deploy", "-y"]);
    for round in 1..=ROUNDS {
        let declared = declare(&mut draws, round);
        edit_all(&cluster, &mut draws, &declared, round);
        let before = live(&cluster);
        cluster.write(&document(&declared));
        let words = format!("seed {seed}, round {round}");
        let ran = cluster.run(&["deploy", "-y"]);
        if ran.code == 0 {
            check(&before, &live(&cluster), &declared, &words);
            cluster.is_up_to_date();
            continue;
        }
        // A refused plan changes nothing, and names each conflict.
        refusals += 1;
        let after = live(&cluster);
        for (then, now) in before.iter().zip(&after) {
            assert_eq!(then["data"], now["data"], "{words}: {}", ran.err);
        }
        let errors = ran.err.matches("error[").count();
        let named = ran.err.matches("is managed by `other-").count();
        assert_eq!((errors > 0, named), (true, errors), "{words}: {}", ran.err);
        // Then we take the fields over.
        cluster.place.write(
            "cyan.toml",
            "[providers.kubernetes]\nconflicts = \"take-over\"\n",
        );
        cluster.exits(0, &["deploy", "-y"]);
        cluster.place.write("cyan.toml", "");
        let mut expected = before.clone();
        for (then, own) in expected.iter_mut().zip(&declared) {
            for (key, value) in own {
                then["data"][key] = value.clone().into();
            }
        }
        check(&expected, &live(&cluster), &declared, &words);
        cluster.is_up_to_date();
    }
    eprintln!("{} edits, {refusals} refused deploys", ROUNDS * OBJECTS);
    cluster.exits(0, &["destroy", "-y"]);
}
