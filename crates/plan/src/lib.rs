//! Plans: compares the desired, recorded and observed resources, and makes steps, each with its
//! reason. [`plan`](plan()) calls the steps of planning one after the other; `planner` holds their
//! state.
//!
//! Not here: running steps (`apply`); texts for users (the command line).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod addresses;
pub mod batches;
pub mod children;
mod claims;
pub mod codes;
mod cut_off;
mod decision;
mod draft;
mod drafting;
pub mod drift;
mod each_keys;
pub mod exports;
pub mod generation;
mod hidden;
mod immutable;
mod imports;
mod input_questions;
pub mod levels;
pub mod linked;
pub mod links;
pub mod model;
mod moves;
pub mod offline;
pub mod options;
pub mod plan;
pub mod plan_file;
mod planner;
mod policies;
pub mod provider_diagnostics;
mod provider_instances;
mod read_world;
pub mod readable;
mod reader_parts;
mod reconcile;
pub mod record_ties;
mod refresh;
mod secrecy;
mod settle;
mod settled;
pub mod shown;
mod state_edit;
pub mod stops;
mod target_set;
mod targets;
pub mod task;
pub mod tasks;
mod ties;
pub mod unchanged;
mod upgrade;

use diag::{Diagnostics, Severity};
use evaluate::answers::Answers;
use evaluate::resolve::inputs::resolve_inputs;
use evaluate::retry::RetryingWorld;
use evaluate::world::World;

use crate::drafting::preflight;
use crate::model::AddressSet;
use crate::options::{DriftPolicy, StateEdit};
use crate::plan::{Request, Staged};
use crate::planner::Planner;
use crate::provider_diagnostics::{report_reads, report_settings};

/// Makes a plan: settles interrupted calls, reads the world, decides about each resource and puts
/// the tasks in order.
///
/// Returns `None` if an error prevents a plan; `found` receives errors and warnings.
///
/// A resource that could not be read is planned as it is recorded, with a warning. If the plan
/// would change such a resource, that is an error, and the plan may only be shown:
/// [`plan::Plan::unread_but_needed`].
pub async fn plan(request: Request<'_>, found: &mut Diagnostics) -> Option<Staged> {
    let mut refreshed = refresh::Refreshed::default();
    let world = request.world;
    let documents = request
        .document
        .as_ref()
        .map(|(documents, _)| documents.clone());
    let forced = request.options.force;
    let refuses = request.options.drift == DriftPolicy::Refuse;
    // The future is large, and so are the futures of the callers.
    let staged = Box::pin(plan_from(request, &mut refreshed, found)).await;
    // The resource may be in the evaluated documents only: a transform may have made it.
    let evaluated = staged
        .as_ref()
        .and_then(|staged| staged.evaluation.as_ref())
        .map(|it| &*it.documents);
    let documents = evaluated.or(documents.as_deref());
    report_settings(world.environment().settings_remarks(), documents, found);
    report_reads(refreshed.diagnostics, documents, found);
    let unread = refreshed.unread;
    let needed: AddressSet = match &staged {
        Some(staged) => staged
            .plan
            .unread_but_needed()
            .into_iter()
            .cloned()
            .collect(),
        None => AddressSet::default(),
    };
    let (needed, rest): (Vec<_>, Vec<_>) =
        unread.iter().partition(|one| needed.contains(&one.address));
    let reason = if refuses {
        "whether it has drifted is not known"
    } else {
        "the plan would change it"
    };
    let consequence = format!("{reason}: fix the cause, or skip reading with `--no-refresh`");
    refresh::report_unread(needed, Severity::Error, &consequence, found);
    let severity = if forced {
        Severity::Note
    } else {
        Severity::Warning
    };
    refresh::report_unread(rest, severity, "it is assumed to be unchanged", found);
    staged
}

/// Masks all secrets of the state, of the inputs and of existing answers. A provider may repeat the
/// secret of any resource in the answer to its first call.
fn mask_known_secrets(request: &Request<'_>, world: &dyn World) {
    world.mask_all(request.snapshot.values());
    world.mask_all(request.answers.iter().flat_map(Answers::values));
    if let Some((documents, _)) = &request.document {
        // `draft_documents` reports the mistakes.
        let mut reported_later = Diagnostics::new();
        let checked = &documents.root().checked;
        world.mask_all(&resolve_inputs(
            checked,
            &request.given,
            &mut reported_later,
        ));
    }
    if let Some(StateEdit::Load(exported)) = &request.options.state_edit {
        world.mask_all(exported.records.values().flat_map(|record| record.values()));
    }
}

/// Makes a plan. `refreshed` receives the resources that could not be read, and the diagnostics of
/// the reads.
async fn plan_from(
    mut request: Request<'_>,
    refreshed: &mut refresh::Refreshed,
    found: &mut Diagnostics,
) -> Option<Staged> {
    let catalogs = request.catalogs.clone();
    let retrying = RetryingWorld::new(request.world, &catalogs);
    let world: &dyn World = &retrying;
    mask_known_secrets(&request, world);
    world.recall(&request.snapshot).await;
    if !upgrade::upgrade_records(&mut request.snapshot, &catalogs, world, found).await {
        return None;
    }
    let document = request.document.take();
    let documents = document.as_ref().map(|(documents, _)| &**documents);
    let instance = request.instance.clone();
    addresses::resolve_urns(
        &mut request.options,
        &request.snapshot,
        documents,
        &instance,
    );
    let functions = request.functions.clone();
    let is_saved = request.answers.is_some() && !request.options.rollback;
    let answers = match request.answers.take() {
        Some(saved) if is_saved => {
            refreshed.unread = refresh::unread_in_saved_plan(&saved);
            saved
        }
        earlier => read_world::read_world(&request, earlier, world, refreshed, found).await,
    };
    // A saved plan is settled again, so it keeps the result of every read.
    let seen = answers.seen.clone();
    let mut planner = Planner::new(request, answers, is_saved, document.is_some(), world);
    let failed_before = found.has_errors();
    let drafted = match document {
        Some((documents, pinned)) => {
            planner
                .draft_documents(documents, pinned, functions, failed_before)
                .await
        }
        None => {
            let complaints = refreshed.diagnostics.iter();
            let sick = complaints.map(|(address, _)| address.clone()).collect();
            Some(planner.draft_records(&sick).await)
        }
    };
    let Some(mut draft) = drafted else {
        found.append(planner.mistakes);
        return None;
    };
    planner.preflight_rest(&mut draft).await;
    planner.refuse_unknown_addresses(&draft);
    planner.moves.refuse_declared(&draft, &mut planner.mistakes);
    draft.note_moves(&planner.moves);
    let left_out = planner.apply_targets(&mut draft);
    ties::forget_tied_removals(&mut draft);
    planner.plan_deletes(&draft).await;
    planner.refuse_claims(&mut draft).await;
    preflight::refuse_obstacles(&mut draft, &mut planner.mistakes);
    planner.form_batches(&mut draft);
    planner.apply_policies(&draft);
    let declared = planner.declare().await;
    let outputs = planner.compare_outputs(declared);
    planner.attribute_mistakes();
    let failed = planner.mistakes.has_errors() || found.has_errors();
    found.append(std::mem::take(&mut planner.mistakes));
    if failed {
        return None;
    }
    planner.answers.seen = seen;
    planner.memoise();
    planner.ask_for_texts(&draft).await;
    Some(planner.order(draft, left_out, outputs, found))
}
