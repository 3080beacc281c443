//! Events as plain lines.

use std::time::Duration;

use blueprint::format_duration;
use engine::Event;
use provider::Operation;

use crate::terminal::Paint;

/// The present participle for an operation, as in `creating`.
pub(crate) fn present_participle(operation: Operation, replacing: bool) -> &'static str {
    match (operation, replacing) {
        (Operation::Create, false) => "creating",
        (Operation::Create, true) => "creating the new one",
        (Operation::Update, _) => "updating",
        (Operation::Delete, false) => "deleting",
        (Operation::Delete, true) => "deleting the old one",
    }
}

/// The past participle for an operation, as in `created`.
fn past_participle(operation: Operation, replacing: bool) -> &'static str {
    match (operation, replacing) {
        (Operation::Create, false) => "created",
        (Operation::Create, true) => "recreated",
        (Operation::Update, _) => "updated",
        (Operation::Delete, false) => "deleted",
        (Operation::Delete, true) => "deleted the old one",
    }
}

/// The first line of a message. A diagnostic shows the full message.
fn first(message: &str) -> &str {
    message
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
}

/// The text for an event, without a line break; `None` for the first and the last event, which are
/// shown elsewhere.
pub(crate) fn line(event: &Event, duration: Option<Duration>, paint: Paint) -> Option<String> {
    let duration = duration
        .filter(|duration| duration.as_secs() > 0)
        .map(|duration| format!(" in {}", format_duration(duration)))
        .unwrap_or_default();
    Some(match event {
        Event::Began { .. } | Event::Finished { .. } => return None,
        Event::Started {
            address,
            operation,
            replacing,
        } => {
            format!("{address}: {}", present_participle(*operation, *replacing))
        }
        Event::Progress { address, text } => format!("{address}: {}", diag::visible_line(text)),
        Event::Configured { address } => format!("{address}: accepted, not ready yet"),
        Event::Pausing { for_ms } => paint
            .dim(format!(
                "the next batch follows in {}",
                format_duration(Duration::from_millis(*for_ms))
            ))
            .to_string(),
        Event::Retrying {
            address,
            attempt,
            after_ms,
            reason,
        } => {
            let after = format_duration(Duration::from_millis(*after_ms));
            format!(
                "{address}: {} {}",
                paint.yellow(format!("try {attempt} follows in {after}:")),
                first(reason)
            )
        }
        Event::Done {
            address,
            operation,
            replacing,
        } => {
            format!(
                "{address}: {}{duration}",
                paint.green(past_participle(*operation, *replacing))
            )
        }
        Event::Unneeded { address, reason } => format!("{address}: not needed, {reason}"),
        Event::Failed {
            address,
            operation,
            message,
        } => {
            format!(
                "{address}: {} {}",
                paint.red(format!("{} failed{duration}:", operation.word())),
                first(message)
            )
        }
        Event::Recorded { address, how } => format!("{address}: {}", paint.green(how)),
        Event::Unread { address, message } => {
            format!("{address}: {} {message}", paint.red("read failed:"))
        }
        Event::Skipped { address, reason } => {
            format!("{address}: {} {reason}", paint.yellow("skipped:"))
        }
        Event::RollingBack {
            generation: Some(number),
        } => format!("rolling back to generation {number}"),
        Event::RollingBack { generation: None } => {
            "rolling back: what was made goes again".to_owned()
        }
        Event::Waiting { address, at } => {
            format!(
                "{address}: {}",
                paint.yellow(format!("waits at the breakpoint {at}"))
            )
        }
        Event::Held { address, why } => {
            format!(
                "{address}: {}",
                paint.yellow(format!("not ready yet: {why}"))
            )
        }
        Event::Draining { running } => format!("nothing new starts; {running} still running"),
    })
}
