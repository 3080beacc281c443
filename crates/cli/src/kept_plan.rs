//! Plan files that are only looked at. No provider, state, key or configuration is needed.
//!
//! Not here: applying them (`commands/deploy.rs`).

use engine::{ReadablePlan, ShownPlan, json};
use serde_json::Value as Json;
use state::InstanceName;

use crate::arguments::PlanFormat;
use crate::exit::CommandError;
use crate::operation;
use crate::view::drawing::Drawing;
use crate::view::markdown;
use crate::view::report::Report;

/// Shows the plan in the text of a file, and returns whether it would change anything.
///
/// # Errors
/// If the file is not a plan or damaged, or if `named` is another instance.
pub(crate) fn show(
    name: &str,
    text: &str,
    named: Option<&InstanceName>,
    format: PlanFormat,
    report: &mut Report,
) -> Result<bool, CommandError> {
    let plan = ReadablePlan::read(text).map_err(|source| CommandError::Plan {
        name: name.to_owned(),
        source,
    })?;
    let shown = plan.shown();
    if named.is_some_and(|named| named.to_string() != **shown.instance) {
        let instance = shown.instance;
        return Err(CommandError::usage(format!("the plan is for `{instance}`")));
    }
    if plan.is_simulated() {
        report.set_simulated("");
    }
    if plan.is_brief() && !report.is_json() {
        report.terminal.write_message(
            "An earlier version wrote this plan: it has no drift, breakpoints and sources to show.",
        );
    }
    present(&shown, format, report);
    Ok(!shown.is_empty())
}

/// Shows a plan in a format, or as machine output.
pub(crate) fn present(plan: &ShownPlan<'_>, format: PlanFormat, report: &mut Report) {
    // Build the JSON tree only if it is printed: for a large plan that takes longer than planning.
    match format {
        _ if report.is_json() => report.set_result(Json::Object(json::plan(plan))),
        PlanFormat::Text => operation::show(plan, report, true),
        PlanFormat::Markdown => {
            let text = markdown::plan(plan, Drawing::for_pages(&report.terminal));
            report.terminal.write_result(&text);
        }
    }
}
