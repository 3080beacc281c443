//! `cyan completions`.

use clap::CommandFactory as _;
use serde_json::json;

use crate::arguments::{Arguments, Completions};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) fn run(arguments: Completions, report: &mut Report) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "cyan",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script);
    report.set_result(json!({"shell": arguments.shell.to_string(), "script": script}));
    if !report.is_json() {
        report.terminal.write_value(&script);
    }
    Ok(Exit::Done)
}
