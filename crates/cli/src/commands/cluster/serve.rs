//! `cyan cluster serve`.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use cluster_scripts::Pace;
use engine::{Readers, write_whole};
use local_cluster::server::{ServerAccess, serve};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::local::Local;
use super::objects::objects;
use super::play::show;
use super::rehearse::refusal;
use super::scripts::wanted;
use crate::arguments::{Global, Scripts};
use crate::exit::{CommandError, Exit};
use crate::out_file::may_be_replaced;
use crate::signals;
use crate::view::report::Report;

/// The first line of the kubeconfig. A file without it is somebody else's.
const MARK: &str = "# Written by `cyan cluster serve`, which deletes it at its end.";

/// What is served.
pub(super) struct Served {
    pub(super) paths: Vec<PathBuf>,
    /// The port; 0 for a free one.
    pub(super) port: u16,
    /// The kubeconfig that is written.
    pub(super) kubeconfig: PathBuf,
    pub(super) scripts: Scripts,
    pub(super) control: Control,
}

/// Whether the controller runs in the local cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    On,
    Off,
}

pub(super) async fn run(
    served: Served,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    may_be_replaced(
        &served.kubeconfig,
        "kubeconfig of a local cluster",
        |text| text.starts_with(MARK),
    )?;
    let Some(scripts) = wanted(&served.scripts, report)? else {
        return Ok(Exit::Unusable);
    };
    let Some(objects) = objects(&served.paths, global, report).await? else {
        return Ok(Exit::Unusable);
    };
    let mut local = Local::new(scripts, Pace::AsWritten).await?;
    let refused = local.apply(&objects).await?;
    if !refused.is_empty() {
        return Err(refusal(&refused));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, served.port)).await;
    let listener = listener.map_err(|source| CommandError::Machine {
        what: "the port cannot be opened",
        source,
    })?;
    let address = listener
        .local_addr()
        .map_err(|source| CommandError::Machine {
            what: "the port is not known",
            source,
        })?;
    let access =
        ServerAccess::generate().map_err(|error| CommandError::Cluster(Box::new(error)))?;
    let kubeconfig = format!("{MARK}\n{}", access.kubeconfig(address));
    write_kubeconfig(&served.kubeconfig, &kubeconfig)?;
    announce(&served, objects.len(), report);

    let stop = CancellationToken::new();
    let (controller, player) = (local.controller.clone(), local.player.clone());
    let mut serving = std::pin::pin!(serve(local.cluster.clone(), listener, access, stop.clone()));
    let mut playing = std::pin::pin!(player.play(stop.clone()));
    let mut controlling = std::pin::pin!(async {
        match served.control {
            Control::On => controller.run(stop.clone()).await,
            Control::Off => std::future::pending().await,
        }
    });
    let mut signals = signals::listen();
    loop {
        tokio::select! {
            () = signals.next() => break,
            ended = &mut serving => {
                ended.map_err(|error| CommandError::Cluster(Box::new(error)))?;
                break;
            }
            ended = &mut controlling => {
                ended.map_err(|error| CommandError::Cluster(Box::new(error)))?;
                break;
            }
            () = &mut playing => break,
            Some(event) = local.happened.recv() => show(&event, report),
        }
    }
    stop.cancel();
    // The address is of no use any more. A file that another cluster has written since stays.
    if std::fs::read_to_string(&served.kubeconfig).is_ok_and(|text| text == kubeconfig) {
        let _ = std::fs::remove_file(&served.kubeconfig);
    }
    Ok(Exit::Done)
}

fn write_kubeconfig(path: &std::path::Path, text: &str) -> Result<(), CommandError> {
    let unwritable = |source| CommandError::Unwritable {
        name: path.display().to_string(),
        source,
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    write_whole(path, text, Readers::Owner)
}

fn announce(served: &Served, objects: usize, report: &mut Report) {
    let file = served.kubeconfig.display().to_string();
    if report.is_json() {
        report.json_line(json!({"event": "serving", "kubeconfig": file, "objects": objects}));
        report.flush();
        return;
    }
    let what = if objects == 1 { "object" } else { "objects" };
    report.terminal.write_message(format!(
        "A local cluster with {objects} {what}. Ctrl-C stops it."
    ));
    report
        .terminal
        .write_message(format!("  kubectl --kubeconfig {file} get workloads -A"));
}
