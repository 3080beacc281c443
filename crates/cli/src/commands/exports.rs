//! `cyan exports`.

use blueprint::{Map, Value};
use engine::json;
use serde_json::json;

use crate::arguments::{Exports, Global};
use crate::exit::{CommandError, Exit};
use crate::open;

use crate::view::report::Report;

pub(crate) async fn run(arguments: Exports, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (session, instance) = open::instance(None, &arguments.flag, global, report).await?;
    let snapshot = session.reading().load(&instance).await?;
    if snapshot.exports_old {
        report.terminal.say("The last operation failed: these are the values of before.");
    }
    let Some(name) = &arguments.name else {
        if report.is_json() {
            let exports: Map = snapshot.exports.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            report.set_result(
                json!({"instance": instance, "exports": json::value(&Value::Map(exports.into()), arguments.secrets.reveal)}),
            );
        } else {
            let mut text = String::new();
            for (name, value) in &snapshot.exports {
                let value = if arguments.secrets.reveal { value.revealed() } else { value.clone() };
                text.push_str(&format!("{} = {value}\n", report.terminal.out.bold(name)));
            }
            report.terminal.data(&text);
        }
        return Ok(Exit::Done);
    };
    let Some(value) = snapshot.exports.get(name.as_str()) else {
        return Err(CommandError::Usage {
            message: format!("`{instance}` exports no `{name}`"),
            help: diag::nearest(name, snapshot.exports.keys().map(|name| name.as_ref()))
                .map(|near| format!("did you mean `{near}`?")),
        });
    };
    if report.is_json() {
        report.set_result(
            json!({"instance": instance, "name": name, "value": json::value(value, arguments.secrets.reveal)}),
        );
        return Ok(Exit::Done);
    }
    if value.has_secret() && !arguments.secrets.reveal {
        return Err(CommandError::Secret { name: name.clone() });
    }
    report.terminal.raw(&format!("{}\n", bare(&value.revealed())));
    Ok(Exit::Done)
}

/// A value for scripts: a single one as it is, lists and maps as JSON.
pub(crate) fn bare(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
