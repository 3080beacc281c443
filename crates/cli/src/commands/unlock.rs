//! `cyan unlock`.

use std::path::Path;

use engine::run::{Clock, end_hold};
use engine::{InstanceSelector, Session, json};
use state::{InstanceName, Liveness};

use super::list::ago;
use crate::arguments::{Global, InstanceFlag, Unlock};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::operation::{print_notices, who};
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Unlock,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) =
        match open::session_and_instance(None, &arguments.flag, global, report).await {
            Ok(chosen) => chosen,
            Err(error) => held_before_the_first_step(&arguments.flag, global, report)
                .await?
                .ok_or(error)?,
        };
    let store = session.writing();
    let Some(holder) = store.holder(&instance).await? else {
        report.set_result(json::unlocked(&instance, None));
        report
            .terminal
            .write_message(format!("No process holds `{instance}`."));
        return Ok(Exit::Done);
    };
    let now = Clock::System.now();
    let alive = holder.is_active();
    let sign = match (holder.liveness, holder.expired) {
        (Liveness::Dead, _) => "that process has ended",
        (Liveness::Alive, true) => "that process runs, but has given no sign of life for a minute",
        (_, false) => "it has given a sign of life within the last minute",
        (Liveness::Unknown, true) => "it has given no sign of life for a minute",
    };
    report.terminal.write_message(format!(
        "`{instance}` has been held by {} for {}; {sign}.",
        holder.who,
        ago(now, holder.since)
    ));
    // An expired lease blocks no operation. Ending the lease of an owner that may be active needs
    // confirmation.
    if alive && !arguments.yes {
        if !report.terminal.can_ask() {
            return Err(CommandError::NotInteractive {
                question: "the owner may still be at work".to_owned(),
                help: "say `--yes` if it is gone".to_owned(),
            });
        }
        if !report.terminal.confirm("End its hold?") {
            return Err(CommandError::Refused);
        }
    }
    end_hold(store.as_ref(), &instance, &who()).await?;
    print_notices(store.as_ref(), report);
    report.set_result(json::unlocked(&instance, Some(&holder)));
    report.terminal.write_message("The hold has been ended.");
    Ok(Exit::Done)
}

/// Finds the instance of a lease whose operation has committed nothing, so that no list contains
/// the instance yet. The flag or the document in the current folder names it.
async fn held_before_the_first_step(
    flag: &InstanceFlag,
    global: &Global,
    report: &mut Report,
) -> Result<Option<(Session, InstanceName)>, CommandError> {
    let document = open::document_in_folder().ok().flatten();
    let session = open::session_for_current_folder(global, document.as_deref(), report)?;
    let selector = InstanceSelector {
        instance: flag.instance.as_ref(),
        document: document.as_deref().map(Path::new),
        ..InstanceSelector::default()
    };
    let held = session
        .held_instance(&selector, &mut session.new_run(), report)
        .await?;
    Ok(held.map(|instance| (session, instance)))
}
