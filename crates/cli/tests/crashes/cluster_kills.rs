//! Tests that kill the binary while it changes objects of a Kubernetes cluster.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::cluster::ClusterPlace;
use crate::kills::{Rng, SEED, number};
use crate::place::ran;

/// The default number of kills. `CYAN_CLUSTER_KILLS` overrides it.
const KILLS: u64 = 50;

/// The number of ConfigMaps.
const NOTES: usize = 8;

/// The manager of the instance.
const MANAGER: &str = "cyan:shop";

/// The document of a round: notes that are updated, a Deployment that is replaced in every other
/// round, an object without fields of its own, one whose name changes, and a reader of another one.
fn document(round: u64) -> String {
    let mut text = "version: 2023-04-20\nresources:\n".to_owned();
    let mut add = |name: &str, kind: &str, mut spec: serde_json::Value| {
        if spec["metadata"]["name"].is_null() {
            spec["metadata"]["name"] = name.into();
        }
        spec["metadata"]["namespace"] = "NS".into();
        writeln!(text, "  {name}: {{type: kubernetes/{kind}, spec: {spec}}}").unwrap();
    };
    let value = format!("r{round}");
    for at in 0..NOTES {
        add(
            &format!("note{at}"),
            "core/ConfigMap",
            json!({"data": {"round": value}}),
        );
    }
    let labels = json!({"app": format!("web{}", round / 2)});
    add(
        "web",
        "apps/Deployment",
        json!({"spec": {"replicas": 1,
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
        "spec": {"nodeName": "node", "containers": [{"name": "web", "image": value}]}}}}),
    );
    add("bare", "core/ConfigMap", json!({}));
    let name = format!("moves{round}");
    add(
        "moves",
        "core/ConfigMap",
        json!({"metadata": {"name": name}, "data": {"round": value}}),
    );
    add(
        "reader",
        "core/ConfigMap",
        json!({"data": {
        "round": value, "uid": "${web.spec.metadata.uid}"}}),
    );
    text
}

fn declared(round: u64) -> BTreeSet<String> {
    let notes = (0..NOTES).map(|at| format!("ConfigMap/note{at}"));
    let others = ["Deployment/web", "ConfigMap/bare", "ConfigMap/reader"].map(str::to_owned);
    notes
        .chain(others)
        .chain([format!("ConfigMap/moves{round}")])
        .collect()
}

/// The objects of the namespace that nobody else makes.
fn live(cluster: &ClusterPlace) -> Vec<serde_json::Value> {
    let all = cluster.object("configmap,deployment").unwrap();
    let items = all["items"].as_array().unwrap().iter();
    let made_by_cluster =
        |item: &&serde_json::Value| item["metadata"]["name"] == "kube-root-ca.crt";
    items
        .filter(|item| !made_by_cluster(item))
        .cloned()
        .collect()
}

fn names(objects: &[serde_json::Value]) -> BTreeSet<String> {
    let text = |item: &serde_json::Value| item.as_str().unwrap().to_owned();
    let name = |item: &serde_json::Value| {
        format!(
            "{}/{}",
            text(&item["kind"]),
            text(&item["metadata"]["name"])
        )
    };
    objects.iter().map(name).collect()
}

/// Starts a command and kills it after a random time. Returns whether it had ended before.
fn kill_during(mut command: Command, draw: &mut Rng, length: &mut Duration) -> bool {
    let begun = Instant::now();
    let mut running = { command.stdout(Stdio::null()).stderr(Stdio::null()) }
        .spawn()
        .unwrap();
    std::thread::sleep(draw.within(*length));
    if let Some(pid) = i32::try_from(running.id()).ok().and_then(Pid::from_raw) {
        // The process may have ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
    let ended = running.wait().unwrap();
    // Later kills come within the time that a run takes.
    if ended.success() {
        *length = begun.elapsed().min(*length);
    }
    ended.success()
}

#[test]
fn killed_changes_of_a_cluster_lose_and_double_nothing() {
    let Some(cluster) = ClusterPlace::with("kills", &document(0)) else {
        return;
    };
    let mut draw = Rng(number("CYAN_CRASH_SEED", SEED));
    let [mut deploys, mut destroys] = [Duration::from_millis(1500); 2];
    let mut ended = 0;
    for round in 1..=number("CYAN_CLUSTER_KILLS", KILLS) {
        cluster.write(&document(round));
        // Every third kill is during a destroy; the round before has ended its deploy.
        if round % 3 == 0 {
            ended += u64::from(kill_during(
                cluster.cyan(&["destroy", "-y"]),
                &mut draw,
                &mut destroys,
            ));
            let again = ran(cluster.cyan(&["destroy", "-y"]).output().unwrap());
            assert_eq!(again.code, 0, "round {round}: {}{}", again.out, again.err);
            assert_eq!(names(&live(&cluster)), BTreeSet::new(), "round {round}");
            continue;
        }
        ended += u64::from(kill_during(
            cluster.cyan(&["deploy", "-y"]),
            &mut draw,
            &mut deploys,
        ));
        let again = ran(cluster.cyan(&["deploy", "-y"]).output().unwrap());
        assert_eq!(again.code, 0, "round {round}: {}{}", again.out, again.err);
        let objects = live(&cluster);
        assert_eq!(names(&objects), declared(round), "round {round}");
        for object in &objects {
            let (name, data) = (&object["metadata"]["name"], &object["data"]);
            let is_bare = name == "bare" || object["kind"] == "Deployment";
            assert!(
                is_bare || data["round"] == format!("r{round}"),
                "round {round}: {object}"
            );
            let managers = object["metadata"]["managedFields"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            let own = managers
                .iter()
                .filter(|entry| entry["manager"] == MANAGER)
                .count();
            assert!(own == 1 || name == "bare", "round {round}: {object}");
        }
        let staged = cluster.run(&["stage"]);
        let nothing = "0 to create, 0 to update, 0 to delete";
        assert_eq!(
            staged.last_line(),
            nothing,
            "round {round}: {}{}",
            staged.out,
            staged.err
        );
    }
    println!("{ended} runs had ended before they were killed");
    cluster.exits(0, &["destroy", "-y"]);
    assert_eq!(names(&live(&cluster)), BTreeSet::new());
}
