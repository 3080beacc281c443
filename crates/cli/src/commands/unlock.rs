//! `cyan unlock`.

use engine::shell::Clock;
use serde_json::json;

use super::list::ago;
use crate::arguments::{Global, Unlock};
use crate::exit::{CommandError, Exit};
use crate::setup::chosen;
use crate::view::report::Report;

pub(crate) async fn run(arguments: Unlock, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (setup, instance) = chosen(None, &arguments.which, global, report).await?;
    let store = setup.store(true);
    let holder = store.info(&instance).await?.and_then(|info| info.holder);
    let Some(holder) = holder else {
        report.set_result(json!({"instance": instance, "holder": null}));
        report.terminal.say(format!("Nobody holds `{instance}`."));
        return Ok(Exit::Done);
    };
    let now = Clock::System.now();
    let alive = holder.until > now;
    let sign = if alive {
        "and has given a sign of life within the last minute"
    } else {
        "and has given no sign of life for a minute"
    };
    report.terminal.say(format!("`{instance}` has been held by {} for {} {sign}.", holder.who, ago(now, holder.since)));
    // A hold that has run out stops nobody; ending one whose owner may be at work is a decision.
    if alive && !arguments.yes {
        if !report.terminal.can_ask() {
            return Err(CommandError::NobodyToAsk {
                question: "the owner may still be at work".to_owned(),
                help: "say `--yes` if it is gone".to_owned(),
            });
        }
        if !report.terminal.confirm("End its hold?") {
            return Err(CommandError::Refused);
        }
    }
    store.unlock(&instance).await?;
    report.set_result(
        json!({"instance": instance, "holder": {"who": holder.who, "since": holder.since, "until": holder.until}}),
    );
    report.terminal.say("The hold has been ended.");
    Ok(Exit::Done)
}
