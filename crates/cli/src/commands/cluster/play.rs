//! `cyan cluster play`.

use std::sync::Arc;

use cluster_scripts::{Clock, Pace, Player, ScriptEvent};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::connection::connect;
use super::scripts::named;
use crate::arguments::Connection;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(super) async fn run(
    scripts: &[String],
    connection: &Connection,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let Some(scripts) = named(scripts, report)? else {
        return Ok(Exit::Unusable);
    };
    let cluster = connect(connection).await?;
    let count = scripts.len();
    report.terminal.write_message(format!(
        "Playing {count} script{} on {}. Ctrl-C stops.",
        if count == 1 { "" } else { "s" },
        cluster.title
    ));
    let (events, mut happened) = tokio::sync::mpsc::unbounded_channel();
    let player = Player::new(cluster.client, scripts, Pace::AsWritten, clock(), events);
    let stop = CancellationToken::new();
    let playing = player.play(stop);
    let mut playing = std::pin::pin!(playing);
    loop {
        tokio::select! {
            event = happened.recv() => match event {
                Some(event) => show(&event, report),
                None => return Ok(Exit::Done),
            },
            () = &mut playing => return Ok(Exit::Done),
        }
    }
}

/// The clock of this machine.
pub(super) fn clock() -> Clock {
    Arc::new(jiff::Timestamp::now)
}

/// Prints what happened.
pub(super) fn show(event: &ScriptEvent, report: &mut Report) {
    if report.is_json() {
        let line = match event {
            ScriptEvent::Step {
                object,
                step,
                steps,
            } => json!({"event": "script-step", "object": object, "step": step, "steps": steps}),
            ScriptEvent::Failed { object, message } => {
                json!({"event": "script-failed", "object": object, "message": message})
            }
        };
        report.json_line(line);
        report.flush();
        return;
    }
    match event {
        ScriptEvent::Step {
            object,
            step,
            steps,
        } => report
            .terminal
            .write_message(format!("{object}: status {step} of {steps}")),
        ScriptEvent::Failed { object, message } => report
            .terminal
            .write_message(format!("{object}: no status: {message}")),
    }
}
