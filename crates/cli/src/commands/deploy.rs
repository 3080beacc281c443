//! `cyan deploy`: deploys a document or a saved plan.

use std::time::Duration;

use diag::Files;
use engine::{
    DocumentSource, PlannedOperation, Session, StageRequest, Staged, StagedDocument, json,
    plan_file,
};
use serde_json::Value as Json;
use state::InstanceName;

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
    let wanted = SavedPlanRequest {
        source,
        instance: arguments.flag.instance.as_ref(),
        lock_wait: arguments.running.lock.wait(),
    };
    let (mut session, planned, files) = stage_saved(wanted, global, report).await?;
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

/// A plan file to make a plan from.
pub(super) struct SavedPlanRequest<'a> {
    pub(super) source: DocumentSource,
    /// The instance that the user names.
    pub(super) instance: Option<&'a InstanceName>,
    /// How long to wait for another operation.
    pub(super) lock_wait: Duration,
}

/// Makes the plan of a file again, or refuses it because something has changed since.
pub(super) async fn stage_saved(
    wanted: SavedPlanRequest<'_>,
    global: &Global,
    report: &mut Report,
) -> Result<(Session, PlannedOperation, Files), CommandError> {
    let mut session = open::session_for_nearest_state(global, report)?;
    session.lock_wait = wanted.lock_wait;
    let plan = session.read_plan(&wanted.source, wanted.instance)?;
    session.refuse_stale(&plan, report).await?;
    if let Some(folder) = plan.folder(&session.place) {
        // The configuration comes from the document's folder, the state from the place of the plan.
        let place = session.place.clone();
        session = open::session_in(global, &folder, report)?;
        session.place = place;
    }
    let (planned, files) = session.stage_saved(plan, report).await?;
    Ok((session, planned, files))
}

/// Shows the plan in a file, as `stage` shows a plan of a document.
pub(super) async fn show_saved(
    source: DocumentSource,
    instance: Option<&InstanceName>,
    global: &Global,
    report: &mut Report,
) -> Result<Staged, CommandError> {
    let wanted = SavedPlanRequest {
        source,
        instance,
        lock_wait: Duration::ZERO,
    };
    let (_, planned, _) = stage_saved(wanted, global, report).await?;
    operation::show(&planned.staged, report, true);
    if report.is_json() {
        report.set_result(Json::Object(json::plan(&planned.staged.plan)));
    }
    Ok(planned.staged)
}
