//! `cyan stage`.

use std::path::Path;

use engine::{DocumentSource, Readers, Session, StageRequest, StagedDocument, write_whole};
use engine::{Staged, plan_file};

use crate::arguments::{Global, Stage};
use crate::exit::{CommandError, Exit};
use crate::out_file::may_be_replaced;
use crate::view::report::Report;
use crate::{kept_plan, open, operation};

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
        return show_saved(&source, &arguments, report);
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
    kept_plan::present(&staged.plan.shown(), arguments.format, report);
    say_what_next(&staged, arguments.out.as_deref(), report);
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

/// Shows a saved plan.
fn show_saved(
    source: &DocumentSource,
    arguments: &Stage,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let inputs = &arguments.inputs.0;
    if !inputs.written.is_empty() || arguments.out.is_some() || arguments.planning.is_given() {
        return Err(CommandError::usage(
            "a saved plan has its inputs and was made already; only a document takes these flags",
        ));
    }
    let named = arguments.flag.instance.as_ref();
    let differs = kept_plan::show(&source.shown, &source.text, named, arguments.format, report)?;
    Ok(match arguments.exit_code && differs {
        true => Exit::Differences,
        false => Exit::Done,
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
