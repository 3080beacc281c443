//! `cyan deploy`: deploys a document or a saved plan.

use engine::{DocumentSource, StageRequest, StagedDocument, plan_file};

use crate::arguments::{Deploy, Global};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, operation};

pub(crate) async fn run(
    arguments: Deploy,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let source = open::source(arguments.file.as_deref())?;
    if plan_file::looks_like_plan_file(&source.text) {
        return deploy_saved(source, arguments, global, report).await;
    }
    let mut session = open::session_in(global, &source.project_folder(), report)?;
    session.lock_wait = arguments.running.lock.wait();
    let request = StageRequest {
        instance: arguments.flag.instance,
        inputs: arguments.inputs.0,
        keep_inputs: arguments.planning.keep_vars,
        options: arguments.planning.options(),
        ..StageRequest::new(source)
    };
    let expects_none = arguments.planning.expect_no_changes;
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    if expects_none && let Err(error) = operation::refuse_changes(&planned.staged) {
        operation::present(&planned.staged, report);
        return Err(error);
    }
    operation::carry_out(
        planned,
        &document.files,
        false,
        &mut session,
        &arguments.running,
        report,
    )
    .await
}

/// Applies a saved plan unchanged, or refuses it.
async fn deploy_saved(
    source: DocumentSource,
    arguments: Deploy,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if !arguments.inputs.0.written.is_empty() || arguments.planning.is_given() {
        return Err(CommandError::usage(
            "a kept plan has its inputs and was made already; only a document takes these flags",
        ));
    }
    let mut session = open::session_for_nearest_state(global, report)?;
    session.lock_wait = arguments.running.lock.wait();
    let plan = session.read_plan(&source, arguments.flag.instance.as_ref())?;
    session.refuse_stale(&plan, report).await?;
    if let Some(folder) = plan.folder(&session.place) {
        // The configuration comes from the document's folder, the state from the place of the plan.
        let place = session.place.clone();
        session = open::session_in(global, &folder, report)?;
        session.place = place;
        session.lock_wait = arguments.running.lock.wait();
    }
    let (planned, files) = session.stage_saved(plan, report).await?;
    operation::carry_out(
        planned,
        &files,
        true,
        &mut session,
        &arguments.running,
        report,
    )
    .await
}
