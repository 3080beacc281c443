//! `cyan stage`.

use std::path::Path;

use engine::{Readers, Session, StageRequest, StagedDocument, json, write_whole};
use engine::{Staged, plan_file};
use serde_json::Value as Json;

use crate::arguments::{Global, Stage};
use crate::exit::{CommandError, Exit};
use crate::out_file::may_be_replaced;
use crate::view::report::Report;
use crate::{open, operation};

pub(crate) async fn run(
    arguments: Stage,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if let Some(out) = &arguments.out {
        may_be_replaced(out, "plan", plan_file::looks_like_plan_file)?;
    }
    let source = open::source(arguments.file.as_deref())?;
    let mut session = open::session_in(global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: arguments.flag.instance,
        inputs: arguments.inputs.0,
        options: arguments.planning.options(),
        ..StageRequest::new(source)
    };
    let StagedDocument { planned, .. } = session.stage(request, report).await?;
    let staged = planned.staged;
    let needed = !staged.plan.unread_but_needed().is_empty();
    if let Some(out) = arguments.out.as_ref().filter(|_| !needed)
        && !write_plan(out, &staged, &mut session, report)?
    {
        return Ok(Exit::Unusable);
    }
    operation::show(&staged, report, true);
    // Build the JSON tree only if it is printed: for a large plan that takes longer than planning.
    if report.is_json() {
        report.set_result(Json::Object(json::plan(&staged.plan)));
    }
    if arguments.planning.expect_no_changes {
        operation::refuse_changes(&staged)?;
    }
    let partial = !staged.plan.answers.unread.is_empty();
    let differs = !staged.plan.is_empty();
    Ok(match arguments.exit_code {
        _ if needed => Exit::Unusable,
        true if differs => Exit::Differences,
        // Some resources could not be read, so they may differ.
        true if partial => Exit::Unusable,
        _ => Exit::Done,
    })
}

/// Writes a plan to a file that only its owner can read. Returns `false`, after reporting the
/// reason, if its secrets cannot be sealed.
fn write_plan(
    out: &Path,
    staged: &Staged,
    session: &mut Session,
    report: &mut Report,
) -> Result<bool, CommandError> {
    if staged.plan.secret {
        operation::make_key_on_terminal(session, report)?;
        if !session.sealer().can_seal() {
            let diagnostic = engine::codes::SECRETS_NEED_KEY
                .new("the plan may hold secrets, and there is no key to seal them with")
                .help("make one with `cyan key new`");
            report.diagnostics(&std::iter::once(diagnostic).collect(), &diag::Files::new());
            return Ok(false);
        }
    }
    let text =
        plan_file::write(&staged.plan, session.sealer()).map_err(|source| CommandError::Plan {
            name: out.display().to_string(),
            source,
        })?;
    write_whole(out, &text, Readers::Owner)?;
    Ok(true)
}
