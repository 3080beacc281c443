//! `cyan explain`.

use engine::inspect::{diagnostic_code, diagnostic_codes};
use engine::json;

use crate::arguments::Explain;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;
use crate::{open, registry};

pub(crate) fn run(arguments: Explain, report: &mut Report) -> Result<Exit, CommandError> {
    let dialects = open::dialects();
    let Some(name) = &arguments.code else {
        let all = diagnostic_codes(&dialects, registry::further_codes());
        report.set_result(json::codes(&all));
        if !report.is_json() {
            let rows: Vec<Vec<String>> = all
                .iter()
                .map(|code| {
                    vec![
                        code.name.to_owned(),
                        code.severity.word().to_owned(),
                        code.summary.to_owned(),
                    ]
                })
                .collect();
            report.terminal.write_result(&table(
                &["CODE", "SEVERITY", "MEANS"],
                &rows,
                report.terminal.out,
            ));
        }
        return Ok(Exit::Done);
    };
    let code = diagnostic_code(name, &dialects, registry::further_codes())?;
    report.set_result(json::code(code));
    if !report.is_json() {
        report
            .terminal
            .line(wrap::page(code.page.trim_end(), wrap::columns()));
    }
    Ok(Exit::Done)
}
