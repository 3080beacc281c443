//! `cyan show`.

mod children;
mod record;
mod waiting;

use std::io::ErrorKind;
use std::path::Path;

use engine::inspect::{Details, InstanceDetails, PendingDetails, is_link, status};
use engine::run::Clock;
use engine::{json, plan_file, read_text};
use state::LeaseHolder;

use self::record::{Look, display_name, flags, record_text};
use super::list::ago;
use crate::arguments::{Global, Show};
use crate::exit::{CommandError, Exit};
use crate::view::drawing::Drawing;
use crate::view::report::Report;
use crate::view::table::table;
use crate::{kept_plan, open};

pub(crate) async fn run(
    arguments: Show,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if let Some(name) = &arguments.address
        && let Some(text) = plan_file_at(name)?
    {
        return show_plan(name, &text, &arguments, report);
    }
    if arguments.format.is_some() {
        let message = match &arguments.address {
            Some(name) if Path::new(name).exists() => format!("`{name}` is not a plan file"),
            Some(name) => format!("there is no file `{name}`"),
            None => "`--format` goes with a plan file".to_owned(),
        };
        return Err(CommandError::Usage {
            message,
            help: Some("name a file of `cyan stage --out PLAN`".to_owned()),
        });
    }
    let details = match details_of(&arguments, global, report).await {
        Err(error) => return Err(about_file(arguments.address.as_deref(), error)),
        Ok(details) => details,
    };
    let reveal = arguments.secrets.reveal;
    if report.is_json() {
        report.set_result(json::details(&details, reveal));
        return Ok(Exit::Done);
    }
    let drawing = Drawing::on(&report.terminal);
    let look = Look { reveal, drawing };
    let text = match &details {
        Details::Instance(details) => whole(details, look),
        Details::Resource(details) => record_text(details, look),
        Details::Child(details) => children::child_details_text(details, look),
        Details::Pending(PendingDetails::Resource(pending)) => waiting::pending_text(pending),
        Details::Pending(PendingDetails::Child { place, at }) => {
            format!("{place} child document\nwaiting: {at}\n")
        }
    };
    report.terminal.write_result(&text);
    Ok(Exit::Done)
}

async fn details_of(
    arguments: &Show,
    global: &Global,
    report: &mut Report,
) -> Result<Details, CommandError> {
    let (session, instance) =
        open::session_and_instance(None, &arguments.flag, global, report).await?;
    Ok(match &arguments.address {
        None => Details::Instance(Box::new(session.details(&instance).await?)),
        Some(place) => session.details_at(&instance, place).await?,
    })
}

/// The text of a plan file; `None` if there is none of this name.
fn plan_file_at(name: &str) -> Result<Option<String>, CommandError> {
    let path = Path::new(name);
    if !path.is_file() {
        return Ok(None);
    }
    match read_text(path) {
        Ok(text) => Ok(Some(text).filter(|text| plan_file::looks_like_plan_file(text))),
        // A resource may have the name of a file that is no text.
        Err(CommandError::Unreadable { source, .. }) if source.kind() == ErrorKind::InvalidData => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn show_plan(
    name: &str,
    text: &str,
    arguments: &Show,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if arguments.secrets.reveal {
        return Err(CommandError::usage(
            "a plan file shows no secrets; `--reveal` goes with an instance",
        ));
    }
    let format = arguments.format.unwrap_or_default();
    let named = arguments.flag.instance.as_ref();
    kept_plan::show(name, text, named, format, report)?;
    Ok(Exit::Done)
}

/// The error about a name that is no address. It is about the file, if the name is meant as one.
fn about_file(name: Option<&str>, error: CommandError) -> CommandError {
    let Some(name) = name else { return error };
    let path = Path::new(name);
    if path.is_file() {
        return CommandError::Unfit {
            name: name.to_owned(),
            what: "is not a plan, and no resource has this address".to_owned(),
            help: Some("make a plan with `cyan stage --out PLAN`".to_owned()),
        };
    }
    if path.extension().is_some_and(|ending| ending == "plan") {
        return CommandError::Unreadable {
            name: name.to_owned(),
            source: ErrorKind::NotFound.into(),
        };
    }
    error
}

fn whole(details: &InstanceDetails, look: Look) -> String {
    let paint = look.drawing.paint;
    let now = Clock::System.now();
    let InstanceDetails {
        info,
        snapshot,
        waiting,
        ..
    } = details;
    let mut text = String::new();
    let is_held = info
        .as_ref()
        .and_then(|info| info.holder.as_ref())
        .is_some_and(LeaseHolder::is_active);
    let open = if is_held { "under way" } else { "interrupted" };
    if let Some(info) = info {
        text.push_str(&format!("{} {}\n", paint.bold(&info.name), status(info)));
        text.push_str(&format!(
            "generation {}, revision {}",
            info.generation.0, info.revision.0
        ));
        if !info.document.is_empty() {
            text.push_str(&format!(", from {}", info.document));
        }
        if let Some((operation, _)) = &info.last {
            text.push_str(&format!(
                ", last {} {} ago by {}",
                operation.kind.word(),
                ago(now, operation.began),
                operation.who
            ));
        }
        text.push('\n');
    }
    if !snapshot.records.is_empty() {
        // The table has a column of display names if any resource has one.
        let named = snapshot
            .records
            .values()
            .any(|record| display_name(record).is_some());
        let rows: Vec<Vec<String>> = snapshot
            .records
            .iter()
            .map(|(address, record)| {
                let cut = if snapshot.open.contains_key(address) {
                    format!(", {open}")
                } else {
                    String::new()
                };
                let mut cells = vec![address.to_string()];
                if named {
                    cells.push(display_name(record).unwrap_or_default().to_owned());
                }
                cells.extend([
                    record.type_name.to_string(),
                    format!("{}{cut}", flags(record, waiting.at(address))),
                    if is_link(address) {
                        String::new()
                    } else {
                        record.shown_id().to_owned()
                    },
                ]);
                cells
            })
            .collect();
        text.push('\n');
        let head: &[&str] = match named {
            true => &["ADDRESS", "NAME", "TYPE", "STATUS", "ID"],
            false => &["ADDRESS", "TYPE", "STATUS", "ID"],
        };
        text.push_str(&table(head, &rows, paint));
    }
    waiting::write_waiting(&mut text, waiting, paint);
    for address in snapshot
        .open
        .keys()
        .filter(|address| !snapshot.records.contains_key(*address))
    {
        let more = if is_held {
            ""
        } else {
            "; `cyan stage` reads the outcome"
        };
        text.push_str(&format!("{address}: {open}{more}\n"));
    }
    if !snapshot.exports.is_empty() {
        let old = if snapshot.exports_old {
            " (of before the last operation, which did not finish)"
        } else {
            ""
        };
        text.push_str(&format!("\n{}{old}\n", paint.bold("exports")));
        for (name, value) in &snapshot.exports {
            look.write(&mut text, name, " = ", value);
        }
    }
    if let Some(metadata) = snapshot
        .metadata
        .as_map()
        .filter(|metadata| !metadata.is_empty())
    {
        text.push_str(&format!("\n{}\n", paint.bold("metadata")));
        for (name, value) in metadata {
            look.write(&mut text, name, " = ", value);
        }
    }
    children::children_text(&mut text, snapshot, look);
    text
}
