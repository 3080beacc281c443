//! `cyan cluster rehearse`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cluster_scripts::Pace;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::local::{Local, RefusedObject};
use super::objects::objects;
use super::owner_states::{OwnerStates, owner_states, stamped_objects, text};
use super::play::show;
use super::scripts::wanted;
use crate::arguments::{Global, Scripts};
use crate::exit::{CommandError, Exit};
use crate::view::manifests::yaml_stream;
use crate::view::report::Report;

/// How long nothing happens before the rehearsal is over.
const QUIET: Duration = Duration::from_millis(300);

/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What is rehearsed.
pub(super) struct Rehearsal {
    pub(super) paths: Vec<PathBuf>,
    pub(super) scripts: Scripts,
    /// Whether the stamped objects are printed.
    pub(super) objects: bool,
    pub(super) limit: Duration,
}

pub(super) async fn run(
    rehearsal: Rehearsal,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let Some(scripts) = wanted(&rehearsal.scripts, report)? else {
        return Ok(Exit::Unusable);
    };
    let Some(objects) = objects(&rehearsal.paths, global, report).await? else {
        return Ok(Exit::Unusable);
    };
    let mut local = Local::new(scripts, Pace::AtOnce).await?;
    let refused = local.apply(&objects).await?;
    if !refused.is_empty() {
        return Err(refusal(&refused));
    }
    let settled = settle(&mut local, rehearsal.limit, report).await?;
    let owners = owner_states(&local.client).await?;
    let stamped = match rehearsal.objects {
        true => stamped_objects(&local.client, &owners).await?,
        false => Vec::new(),
    };
    print(&owners, &stamped, report)?;
    let mut result = json!({"owners": owners.json(), "settled": settled});
    if rehearsal.objects {
        result["objects"] = Json::Array(stamped);
    }
    report.set_result(result);
    if !settled {
        let limit = blueprint::format_duration(rehearsal.limit);
        report
            .terminal
            .write_message(format!("Not over after {limit}: objects still change."));
    }
    Ok(match settled && owners.all_ready() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// The error for objects that the cluster refused.
pub(super) fn refusal(refused: &[RefusedObject]) -> CommandError {
    let words: Vec<String> = refused
        .iter()
        .map(|one| format!("{}: {}", one.object, one.why))
        .collect();
    CommandError::Cluster(format!("the local cluster refuses {}", words.join("; ")).into())
}

/// Runs the controller and the scripts until nothing happens any more. Returns whether that came
/// before the limit.
async fn settle(
    local: &mut Local,
    limit: Duration,
    report: &mut Report,
) -> Result<bool, CommandError> {
    let stop = CancellationToken::new();
    let controller = local.controller.clone();
    let player = local.player.clone();
    let mut controlling = std::pin::pin!(controller.run(stop.clone()));
    let mut playing = std::pin::pin!(player.play(stop.clone()));
    let begun = Instant::now();
    let mut quiet_since = Instant::now();
    let mut last = local.controller.metrics();
    let mut looking = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            ended = &mut controlling => {
                ended.map_err(|error| CommandError::Cluster(Box::new(error)))?;
                return Ok(false);
            }
            () = &mut playing => return Ok(false),
            Some(event) = local.happened.recv() => {
                quiet_since = Instant::now();
                if report.terminal.verbose {
                    show(&event, report);
                }
            }
            _ = looking.tick() => {
                let now = local.controller.metrics();
                let is_busy = !local.controller.is_idle() || local.player.unfinished() > 0;
                if is_busy || now != last {
                    quiet_since = Instant::now();
                }
                last = now;
                if quiet_since.elapsed() >= QUIET {
                    stop.cancel();
                    return Ok(true);
                }
                if begun.elapsed() >= limit {
                    stop.cancel();
                    return Ok(false);
                }
            }
        }
    }
}

fn print(owners: &OwnerStates, stamped: &[Json], report: &mut Report) -> Result<(), CommandError> {
    if report.is_json() {
        return Ok(());
    }
    if !stamped.is_empty() {
        report.terminal.write_result(&yaml_stream(stamped)?);
    }
    let paint = match stamped.is_empty() {
        true => report.terminal.out,
        false => report.terminal.err,
    };
    let text = text(owners, paint);
    // The objects are the result that another program reads.
    match stamped.is_empty() {
        true => report.terminal.write_result(&text),
        false => report.terminal.write_stderr(&text),
    }
    Ok(())
}
