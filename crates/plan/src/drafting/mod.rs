//! Decides about each resource, level by level of the graph, so that each element reads only
//! decided elements.
//!
//! All questions of one level are put to the world together. Removals come last: the records that
//! the documents no longer declare.

mod decide;
mod decided;
pub(crate) mod deletions;
pub(crate) mod external;
pub(crate) mod groups;
pub(crate) mod level;
mod link_dependencies;
mod link_resources;
mod members;
pub(crate) mod opinions;
pub(crate) mod preflight;
pub(crate) mod recorded;
mod removals;
mod verdicts;

use diag::{Diagnostics, Span};
use evaluate::answers::Answers;
use evaluate::resolve::{Evaluation, Members};
use evaluate::world::World;
use provider::Catalogs;
use state::Snapshot;
use understand::links::address::is_link;

use crate::addresses::SelectedAddresses;
use crate::decision::removal;
use crate::draft::Draft;
use crate::drafting::decide::{LevelContext, decide_level};
use crate::drafting::decided::DecidedSoFar;
use crate::drafting::level::settle_level;
use crate::drafting::members::reevaluate_members;
use crate::drafting::removals::remove_undeclared;
use crate::each_keys::EachKeys;
use crate::imports::{ImportContext, Imports};
use crate::levels::{levels, live_locals};
use crate::links::{decide_links, undo_link};
use crate::model::Reason;
use crate::moves::Moves;
use crate::options::ForeignObject;
use crate::secrecy::follow_document;
use crate::settled::SettledRecords;
use crate::target_set::TargetSet;

/// The context of a draft, besides the document.
pub(crate) struct Drafting<'a> {
    pub(crate) snapshot: &'a mut Snapshot,
    pub(crate) settled_records: &'a mut SettledRecords,
    pub(crate) target_set: &'a TargetSet<'a>,
    pub(crate) moves: &'a mut Moves,
    pub(crate) replace: &'a SelectedAddresses,
    pub(crate) excluded: &'a SelectedAddresses,
    /// Whether what depends on a target is a target.
    pub(crate) with_dependents: bool,
    pub(crate) taken: &'a [ForeignObject],
    pub(crate) catalogs: &'a Catalogs,
    pub(crate) world: &'a dyn World,
}

/// Decides about everything that the document declares, then about records that it no longer
/// declares.
pub(crate) async fn draft(
    evaluation: &mut Evaluation,
    with: Drafting<'_>,
    found: &mut Diagnostics,
) -> Draft {
    let Drafting {
        snapshot,
        settled_records,
        target_set,
        moves,
        replace,
        excluded,
        with_dependents,
        taken,
        catalogs,
        world,
    } = with;
    let mut keyed = EachKeys::default();
    let documents = evaluation.documents.clone();
    // What depends on a target is known when all is decided.
    let reach = match with_dependents {
        true => TargetSet::of(&documents, &[]),
        false => target_set.clone(),
    };
    let live = live_locals(&documents);
    evaluation.links.add_recorded(snapshot);
    evaluation.settle_literal_inputs(found);
    let mut decided = DecidedSoFar::default();
    let [.., resources] = documents.counts();
    decided.by_resource.resize_with(resources, Vec::new);
    let mut draft = Draft {
        imports: Imports::of(taken),
        ..Draft::default()
    };
    for level in levels(documents.graph()) {
        let (resources, links) =
            settle_level(evaluation, level, &live, &mut draft, catalogs, world, found).await;
        for index in &resources {
            let pairs = keyed.moved(evaluation, *index, snapshot, found);
            let pairs = pairs.into_iter().filter(|(_, to)| target_set.covers(to));
            let span = documents
                .resource(*index)
                .map_or(Span::NONE, |(.., resource)| resource.span);
            if moves.add(
                pairs,
                span,
                snapshot,
                &mut evaluation.answers,
                settled_records,
            ) {
                evaluation.links.replace_recorded(snapshot);
                reevaluate_members(evaluation, *index, catalogs, world, found).await;
            }
        }
        let with = ImportContext {
            target_set,
            snapshot,
            settled_records,
            world,
        };
        draft
            .imports
            .import_members(evaluation, &resources, with, found)
            .await;
        draft.newly_marked.extend(follow_document(
            evaluation,
            &resources,
            snapshot,
            settled_records,
        ));
        let context = LevelContext {
            snapshot,
            groups: &draft.groups,
            replace,
            excluded,
            reach: &reach,
            world,
        };
        decide_level(evaluation, &resources, context, &mut decided, found).await;
        link_resources::decide_parts(
            evaluation,
            &links,
            snapshot,
            catalogs,
            world,
            &mut decided,
            found,
        )
        .await;
    }
    // Decisions are large, so the list gets exactly the capacity that it needs.
    draft
        .decisions
        .reserve_exact(decided.by_resource.iter().map(Vec::len).sum());
    draft
        .decisions
        .extend(decided.by_resource.into_iter().flatten());
    draft.decisions.extend(decided.parts);
    draft.obstacles = decided.obstacles;
    draft
        .imports
        .refuse_creates_without_id(&draft.decisions, found);
    decide_links(&mut draft, evaluation, snapshot, catalogs, world, found).await;
    ignored_dependencies(evaluation, found);
    remove_undeclared(&mut draft, evaluation, snapshot, catalogs);
    draft
}

/// Drafts the removal of all records.
pub(crate) fn draft_destroy(snapshot: &Snapshot, answers: &Answers, catalogs: &Catalogs) -> Draft {
    let mut draft = Draft::default();
    for (address, record) in &snapshot.records {
        if is_link(address) {
            let undone = undo_link(&draft, None, address, record, Reason::Destroy);
            draft.decisions.extend(undone);
            continue;
        }
        draft.decisions.push(removal(
            address,
            record,
            Reason::Destroy,
            answers,
            catalogs,
            None,
        ));
    }
    draft.groups = snapshot.groups.clone();
    draft
}

/// Reports `dependsOn` names that refer to absent resources; these names are ignored
/// (decisions/blueprint#explicit-dependencies).
pub(crate) fn ignored_dependencies(evaluation: &Evaluation, found: &mut Diagnostics) {
    for unit in evaluation.documents.units() {
        let blueprint = unit.blueprint();
        let is_absent = |at: usize| {
            matches!(
                evaluation.resources[unit.resource(at) as usize],
                Members::Absent
            )
        };
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            for needed in resource.depends_on.iter().filter(|_| !is_absent(at)) {
                if blueprint
                    .resources
                    .get_index_of(&needed.item)
                    .is_some_and(is_absent)
                {
                    found.push(
                        understand::check::codes::DEPENDENCY_IGNORED
                            .new(format!(
                                "`{name}` does not wait for `{}`, which is not there",
                                needed.item
                            ))
                            .label(needed.span, "its condition is false"),
                    );
                }
            }
        }
    }
}
