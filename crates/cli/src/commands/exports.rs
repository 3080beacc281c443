//! `cyan exports`.

use blueprint::Value;
use engine::json;

use crate::arguments::{Exports, Global};
use crate::exit::{CommandError, Exit};
use crate::open;

use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Exports,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) =
        open::session_and_instance(None, &arguments.flag, global, report).await?;
    let exports = session.exports(&instance).await?;
    let reveal = arguments.secrets.reveal;
    if exports.are_old {
        report
            .terminal
            .write_message("The last operation failed: these are the values of before.");
    }
    let Some(name) = &arguments.name else {
        if report.is_json() {
            report.set_result(json::exports(&exports, reveal));
        } else {
            let mut text = String::new();
            for (name, value) in &exports.values {
                let value = if reveal {
                    value.revealed()
                } else {
                    value.clone()
                };
                text.push_str(&format!("{} = {value}\n", report.terminal.out.bold(name)));
            }
            report.terminal.write_result(&text);
        }
        return Ok(Exit::Done);
    };
    let value = exports.get(name)?;
    if report.is_json() {
        report.set_result(json::export(&instance, name, value, reveal));
        return Ok(Exit::Done);
    }
    if value.has_secret() && !reveal {
        return Err(CommandError::Secret { name: name.clone() });
    }
    report
        .terminal
        .write_value(&format!("{}\n", bare(&value.revealed())));
    Ok(Exit::Done)
}

/// Prints a value for scripts: a text without quotes, any other value as JSON.
pub(crate) fn bare(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
