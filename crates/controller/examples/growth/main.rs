//! Measures how the controller, the scripts and the local cluster grow with the number of workloads.
//! All three run in one process, and the scripts answer at once.
//!
//! ```sh
//! cargo run --release -p controller --example growth             # 150, 1500 and 15000 workloads
//! cargo run --release -p controller --example growth -- 150 1500
//! ```
//!
//! Each size runs in processes of its own, so that memory is that of one size:
//!
//! * `run N FILE` measures until all N workloads are Ready, then five seconds of rest, then one
//!   changed step of one workload. It writes the requests until Ready to FILE.
//! * `replay N FILE` only sends these requests to a cluster like the one before. The order is the
//!   same, so uids and versions are the same, too. Watches are left out.
//!
//! The processor time of `run` contains the writing of FILE. Workloads are created before the clock
//! starts, on both sides.

#![expect(clippy::print_stdout, reason = "the measurement")]
#![allow(clippy::unwrap_used, reason = "what fails here ends the measurement")]

mod documents;
mod figures;
mod recording;
mod setting;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster_scripts::{Pace, Player};
use controller::{Controller, ControllerOptions};
use diag::FileId;
use jiff::Timestamp;
use kube::Client;
use local_cluster::LocalCluster;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::documents::NAMESPACE;
use crate::figures::{memory, processor_time};
use crate::recording::{Recorder, RecordingTransport, send_all};
use crate::setting::{cluster_with, json_size, merge, ready};

/// The usual sizes.
const SIZES: [usize; 3] = [150, 1_500, 15_000];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    match arguments.first().map(String::as_str) {
        Some("run") => {
            let figures = run(number(&arguments[1]), Path::new(&arguments[2]));
            println!("{}", runtime.block_on(figures));
        }
        Some("replay") => {
            let figures = replay(number(&arguments[1]), Path::new(&arguments[2]));
            println!("{}", runtime.block_on(figures));
        }
        Some(_) => measure(
            &arguments
                .iter()
                .map(|text| number(text))
                .collect::<Vec<_>>(),
        ),
        None => measure(&SIZES),
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap()
}

/// Measures all sizes and prints them.
fn measure(sizes: &[usize]) {
    let mut before: Option<Json> = None;
    for size in sizes {
        let file = std::env::temp_dir().join(format!("growth-{}.jsonl", std::process::id()));
        let part = |mode: &str| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.args([mode, &size.to_string()]).arg(&file).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{mode} {size}: {output:?}");
            serde_json::from_slice::<Json>(&output.stdout).unwrap()
        };
        let (run, replay) = (part("run"), part("replay"));
        std::fs::remove_file(&file).unwrap();
        print(*size, &run, &replay, before.as_ref());
        before = Some(run);
    }
}

fn print(size: usize, run: &Json, replay: &Json, before: Option<&Json>) {
    let float = |json: &Json| json.as_f64().unwrap();
    let growth = |field: &str| match before {
        Some(before) => format!(" ({:.1} times)", float(&run[field]) / float(&before[field])),
        None => String::new(),
    };
    let megabytes = |field: &str| float(&run[field]) / 1e6;
    println!("{size} workloads, {} of them Ready", run["ready"]);
    println!(
        "  CPU until Ready    {:.2} s{}",
        float(&run["cpu"]),
        growth("cpu")
    );
    println!(
        "  the same requests  {:.2} s: {:.2} times as much ({} sent, {} refused)",
        float(&replay["cpu"]),
        float(&run["cpu"]) / float(&replay["cpu"]),
        replay["sent"],
        replay["refused"],
    );
    println!(
        "  resident memory    {:.0} MB{}, peak {:.0} MB{}",
        megabytes("resident"),
        growth("resident"),
        megabytes("peak"),
        growth("peak"),
    );
    println!(
        "  JSON of objects    {:.0} MB: memory is {:.2} times as much",
        megabytes("json"),
        float(&run["resident"]) / float(&run["json"]),
    );
    println!("  requests           {}", run["requests"]);
    println!("  reconciles         {}", run["reconciles"]);
    println!(
        "  in 5 s at rest     {} requests besides watches",
        run["at_rest"]
    );
    println!("  changed step       {}", run["changed"]);
}

/// A controller and scripts that run.
struct Running {
    cluster: LocalCluster,
    recorder: Arc<Mutex<Recorder>>,
    controller: Controller,
    player: Player,
    stop: CancellationToken,
}

impl Running {
    fn new(cluster: LocalCluster, file: &Path) -> Running {
        let recorder = Arc::new(Mutex::new(Recorder::new(file)));
        let client = |sender: &'static str| {
            let transport = RecordingTransport {
                inner: cluster.service(),
                sender,
                recorder: recorder.clone(),
            };
            Client::new(transport, "default")
        };
        let options = ControllerOptions::new(Arc::new(Timestamp::now));
        let (scripts, mistakes) = cluster_scripts::read(FileId::NONE, &documents::scripts());
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let (events, _) = tokio::sync::mpsc::unbounded_channel();
        let clock = Arc::new(Timestamp::now);
        Running {
            controller: Controller::new(client("controller"), options),
            player: Player::new(client("scripts"), scripts, Pace::AtOnce, clock, events),
            stop: CancellationToken::new(),
            recorder,
            cluster,
        }
    }

    fn start(&self) {
        let (controller, player) = (self.controller.clone(), self.player.clone());
        let (stop, stop_player) = (self.stop.clone(), self.stop.clone());
        tokio::spawn(async move { controller.run(stop).await.unwrap() });
        tokio::spawn(async move { player.play(stop_player).await });
    }

    /// Waits until nothing was sent for a while and nobody has anything to do.
    async fn settle(&self) {
        let mut last = None;
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let sent = self.requests();
            let idle = self.controller.is_idle() && self.player.unfinished() == 0;
            if idle && last == Some(sent) {
                return;
            }
            last = Some(sent);
        }
    }

    fn requests(&self) -> u64 {
        self.recorder.lock().unwrap().requests
    }

    fn writes(&self) -> Vec<String> {
        std::mem::take(&mut self.recorder.lock().unwrap().writes)
    }
}

async fn run(workloads: usize, file: &Path) -> Json {
    let (cluster, person) = cluster_with(workloads).await;
    let running = Running::new(cluster, file);
    let before = processor_time();
    running.start();
    running.settle().await;
    let cpu = processor_time() - before;
    let requests = {
        let mut recorder = running.recorder.lock().unwrap();
        recorder.flush();
        recorder.writes = Vec::new();
        recorder.counts.clone()
    };
    let reconciles = running.controller.metrics().reconciles;
    let reconciles = reconciles.iter().map(|(kind, count)| (kind.name(), count));
    let reconciles: std::collections::BTreeMap<_, _> = reconciles.collect();

    let (resident, peak) = (memory("VmRSS"), memory("VmHWM"));
    let sent = running.requests();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let at_rest = running.requests() - sent;

    let path = format!("/apis/carto.run/v1alpha1/namespaces/{NAMESPACE}/workloads/app-0");
    let part = json!({"spec": {"params": [{"name": "port", "value": 8081}]}});
    merge(&person, &path, &part).await;
    running.settle().await;
    let changed = running.writes();
    let figures = json!({
        "cpu": cpu.as_secs_f64(),
        "resident": resident,
        "peak": peak,
        "requests": requests,
        "reconciles": reconciles,
        "at_rest": at_rest,
        "changed": changed,
        "ready": ready(&person).await,
        "json": json_size(&person).await,
    });
    running.stop.cancel();
    drop(running.cluster);
    figures
}

async fn replay(workloads: usize, file: &Path) -> Json {
    let (_cluster, person) = cluster_with(workloads).await;
    let before = processor_time();
    let (sent, refused) = send_all(&person, file).await;
    let cpu = processor_time() - before;
    json!({"cpu": cpu.as_secs_f64(), "sent": sent, "refused": refused})
}
