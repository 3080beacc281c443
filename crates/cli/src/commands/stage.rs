//! `cyan stage`.

use std::path::Path;

use engine::{DocumentSource, Readers, Session, StageRequest, StagedDocument, json, write_whole};
use engine::{Staged, plan_file};
use serde_json::Value as Json;

use super::deploy;
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
    if plan_file::looks_like_plan_file(&source.text) {
        return show_saved(source, arguments, global, report).await;
    }
    let mut session = open::session_in(global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: arguments.flag.instance,
        inputs: arguments.inputs.0,
        keep_inputs: arguments.planning.keep_vars,
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
    say_what_next(&staged, arguments.out.as_deref(), report);
    // Build the JSON tree only if it is printed: for a large plan that takes longer than planning.
    if report.is_json() {
        report.set_result(Json::Object(json::plan(&staged.plan)));
    }
    if arguments.planning.expect_no_changes {
        operation::refuse_changes(&staged)?;
    }
    Ok(exit(&staged, arguments.exit_code))
}

/// The exit code for a plan, which says with `tells_differences` whether anything would change.
fn exit(staged: &Staged, tells_differences: bool) -> Exit {
    let partial = !staged.plan.answers.unread.is_empty();
    match tells_differences {
        _ if !staged.plan.unread_but_needed().is_empty() => Exit::Unusable,
        true if !staged.plan.is_empty() => Exit::Differences,
        // Some resources could not be read, so they may differ.
        true if partial => Exit::Unusable,
        _ => Exit::Done,
    }
}

/// Shows a plan file.
async fn show_saved(
    source: DocumentSource,
    arguments: Stage,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let given = !arguments.inputs.0.written.is_empty() || arguments.planning.is_given();
    if given || arguments.out.is_some() {
        return Err(CommandError::Usage {
            message: format!("`{}` is a plan, which was made already", source.shown),
            help: Some("leave the flags out to see it, or name its document".to_owned()),
        });
    }
    let instance = arguments.flag.instance.as_ref();
    let staged = deploy::show_saved(source, instance, global, report).await?;
    Ok(exit(&staged, arguments.exit_code))
}

/// Says on a terminal which command carries the plan out.
fn say_what_next(staged: &Staged, out: Option<&Path>, report: &Report) {
    if !report.terminal.is_watched() || report.terminal.quiet || report.is_json() {
        return;
    }
    report.terminal.write_message(match out {
        _ if staged.plan.is_empty() => "No changes.".to_owned(),
        Some(out) => format!("`cyan deploy {}` does exactly this.", out.display()),
        None => "`cyan deploy` with the same arguments does this.".to_owned(),
    });
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
