//! `cyan explain`.

use diag::Code;
use serde_json::{Value as Json, json};

use crate::arguments::Explain;
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

/// Every diagnostic code there is, by name.
fn codes() -> Vec<&'static Code> {
    let fixed = [syntax::CODES, expr::codes::CODES, provider::codes::CODES];
    let fixed = fixed.into_iter().flatten().copied();
    let mut all: Vec<&'static Code> = fixed.chain(open::dialects().codes()).chain(engine::codes()).collect();
    all.sort_by_key(|code| code.name);
    all
}

pub(crate) fn run(arguments: Explain, report: &mut Report) -> Result<Exit, CommandError> {
    let all = codes();
    let Some(name) = &arguments.code else {
        let list: Vec<Json> = all
            .iter()
            .map(|code| json!({"code": code.name, "severity": code.severity.word(), "summary": code.summary}))
            .collect();
        report.set_result(json!({"codes": list}));
        if !report.is_json() {
            let rows: Vec<Vec<String>> = all
                .iter()
                .map(|code| vec![code.name.to_owned(), code.severity.word().to_owned(), code.summary.to_owned()])
                .collect();
            report.terminal.data(&table(&["CODE", "SEVERITY", "MEANS"], &rows, report.terminal.out));
        }
        return Ok(Exit::Done);
    };
    let Some(code) = all.iter().find(|code| code.name == name) else {
        return Err(CommandError::Usage {
            message: format!("there is no diagnostic `{name}`"),
            help: diag::nearest(name, all.iter().map(|code| code.name))
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan explain` lists them all".to_owned())),
        });
    };
    report.set_result(
        json!({"code": code.name, "severity": code.severity.word(), "summary": code.summary, "page": code.page}),
    );
    if !report.is_json() {
        report.terminal.line(wrap::page(code.page.trim_end(), wrap::columns()));
    }
    Ok(Exit::Done)
}
