//! `cyan list`.

use std::time::Duration;

use blueprint::format_duration;
use engine::inspect::{Instances, status};
use engine::run::Clock;
use engine::{Session, json};
use state::InstanceInfo;

use crate::arguments::{Global, List};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;
use crate::view::table::table;

pub(crate) async fn run(
    arguments: List,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let session = open::session_for_current_folder(
        global,
        open::document_in_folder().ok().flatten().as_deref(),
        report,
    )?;
    let instances = session.instances(arguments.all).await?;
    refuse_missing_folder(global, &session)?;
    let now = Clock::System.now();
    if report.is_json() {
        report.set_result(json::instances(&instances));
        return Ok(Exit::Done);
    }
    let Instances {
        listed: all,
        destroyed,
    } = instances;
    if all.is_empty() {
        let more = if destroyed > 0 {
            format!("; {destroyed} destroyed, shown with `--all`")
        } else {
            String::new()
        };
        let hint = session
            .place
            .hint()
            .map(|hint| format!(" ({hint})"))
            .unwrap_or_default();
        report.terminal.write_message(format!(
            "There is no instance in {}{more}.{hint}",
            session.place.shown()
        ));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|info| {
            vec![
                info.name.to_string(),
                status_at(info),
                info.generation.0.to_string(),
                info.records.to_string(),
                ago(now, info.created),
                info.document.to_string(),
            ]
        })
        .collect();
    let head = [
        "INSTANCE",
        "STATUS",
        "GENERATION",
        "RESOURCES",
        "AGE",
        "DOCUMENT",
    ];
    report
        .terminal
        .write_result(&table(&head, &rows, report.terminal.out));
    let unverified: Vec<String> = all
        .iter()
        .filter(|info| !info.verified)
        .map(|info| format!("`{}`", info.name))
        .collect();
    if !unverified.is_empty() {
        report.terminal.write_message(format!(
            "Not verified, because the key that it was written with is not at hand: {}.",
            unverified.join(", ")
        ));
    }
    Ok(Exit::Done)
}

/// Fails if the user names a state in a folder that does not exist: the name is mistyped.
fn refuse_missing_folder(global: &Global, session: &Session) -> Result<(), CommandError> {
    let file = session
        .place
        .file
        .as_ref()
        .filter(|_| global.state.is_some());
    let folder = file.and_then(|file| file.parent());
    match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => Err(CommandError::Unfit {
            name: folder.display().to_string(),
            what: "is no folder, so there is no state in it".to_owned(),
            help: Some("correct the path after `--state` or in `CYAN_STATE`".to_owned()),
        }),
    }
}

/// The status of an instance, with the breakpoints at which it waits.
fn status_at(info: &InstanceInfo) -> String {
    let text = status(info);
    match &*info.waiting {
        [] => text,
        [(address, at)] => format!("{text}: {address} ({at})"),
        [(address, at), more @ ..] => format!("{text}: {address} ({at}) and {} more", more.len()),
    }
}

/// The age of a point in time, as text.
pub(crate) fn ago(now: i64, then: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(then)).unwrap_or(0);
    if seconds == 0 {
        "0s".to_owned()
    } else {
        format_duration(Duration::from_secs(seconds))
    }
}
