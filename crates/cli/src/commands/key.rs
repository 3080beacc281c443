//! `cyan key`.

use engine::key;
use serde_json::json;

use crate::arguments::{Key, KeyCommand};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) fn run(arguments: Key, report: &mut Report) -> Result<Exit, CommandError> {
    let KeyCommand::New { file } = arguments.command;
    let Some(file) = file.or_else(key::default_key_file) else {
        return Err(CommandError::Usage {
            message: "the folder for your configuration is not known".to_owned(),
            help: Some("name a file, or set `HOME` or `XDG_CONFIG_HOME`".to_owned()),
        });
    };
    let made = key::write_new(&file)?.is_some();
    if !made {
        // The file exists. If it contains no key, report that now and not at its first use.
        key::read(&file)?;
    }
    report.set_result(json!({"file": file.display().to_string(), "made": made}));
    if !report.is_json() {
        report.terminal.line(file.display());
        report.terminal.write_message(match made {
            true => "A new key. Keep a copy of it: what it seals cannot be read without it.",
            false => "There is a key already; it stays as it is.",
        });
    }
    Ok(Exit::Done)
}
