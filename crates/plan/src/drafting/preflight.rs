//! Preflights: the files that operations will read, and the objects that prevent operations.
//!
//! If the content of a file has changed since the last read, the resource is updated. An obstacle
//! to a create is an error of the plan, found before anything is changed.
//!
//! Not here: the check before a saved plan is applied (`plan::unchanged`).

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Address, DeclarationSite, IndexMap, Name, Unknown, Value};
use diag::{Diagnostic, Diagnostics, Span};
use evaluate::answers::{Answers, PinnedPreflight, PinnedSource, PinnedTexts};
use evaluate::resolve::Evaluation;
use evaluate::retry::failure;
use evaluate::world::World;
use provider::{Operation, Preflight, PreflightRequest, ProviderError, SourceContent};
use state::Snapshot;
use understand::compare::{Change, same};

use crate::codes;
use crate::decision::Decision;
use crate::draft::{Draft, Obstacle};
use crate::model::{Action, HashSet, Reason};
use crate::provider_diagnostics::place_at;

/// The maximum length of a text of a source that is shown, in bytes.
const TEXT_LIMIT: u64 = 256 << 10;
/// The maximum length of all texts of sources that are shown, in bytes.
const TEXTS_LIMIT: u64 = 8 << 20;

/// The objects and resources that the decisions so far create or change.
#[derive(Default)]
pub(crate) struct PendingChanges {
    /// Ids of the objects.
    pub(crate) ids: Arc<BTreeSet<Name>>,
    /// Addresses of resources that are created or changed, or that use such a resource.
    pub(crate) unsettled: HashSet<Address>,
}

impl PendingChanges {
    /// Adds the objects and resources of a decision.
    pub(crate) fn add(&mut self, decision: &Decision, answers: &Answers) {
        let changes = creates_or_changes_object(decision);
        if changes
            && decision
                .ty
                .as_ref()
                .is_some_and(|ty| ty.capabilities.preflights)
        {
            let id = answers
                .preflights
                .get(&decision.address)
                .and_then(|kept| kept.id.clone());
            let id = id.or_else(|| decision.prior.as_ref().map(|record| record.id.clone()));
            if let Some(id) = id.filter(|id| !id.is_empty()) {
                Arc::make_mut(&mut self.ids).insert(id);
            }
        }
        if changes || self.changes_dependency_of(decision) {
            self.unsettled.insert(decision.address.clone());
        }
    }

    /// The resources that a plan without a document creates or changes, and recorded resources that
    /// use one of them, also through others. Without the ids of objects.
    fn of_records(decisions: &[Decision], snapshot: &Snapshot) -> PendingChanges {
        let mut users: IndexMap<&Address, Vec<&Address>> = IndexMap::default();
        for (address, record) in &snapshot.records {
            record
                .dependencies
                .iter()
                .for_each(|used| users.entry(used).or_default().push(address));
        }
        let changed = decisions
            .iter()
            .filter(|decision| creates_or_changes_object(decision));
        let mut open: Vec<&Address> = changed.map(|decision| &decision.address).collect();
        let mut changing = PendingChanges::default();
        while let Some(address) = open.pop() {
            if changing.unsettled.insert(address.clone()) {
                open.extend(users.get(address).into_iter().flatten());
            }
        }
        changing
    }

    /// Whether a resource that this one depends on is created or changed.
    pub(crate) fn changes_dependency_of(&self, decision: &Decision) -> bool {
        let settled = self.unsettled.is_empty();
        // An intermediate value counts as changed: the parts of its value are not distinguished.
        let uses = |used: &Address| self.unsettled.contains(used) || used.name.starts_with('=');
        !settled && decision.dependencies.iter().any(uses)
    }
}

/// Whether a decision creates or changes an object.
fn creates_or_changes_object(decision: &Decision) -> bool {
    match decision.action {
        Action::Create | Action::Replace => true,
        Action::Update => !decision.only_recorded,
        _ => false,
    }
}

/// The obstacles in the answer of a preflight. `span_of` returns the place where a field is
/// written. With `made_before`, an unreadable source is no obstacle: an earlier step may create the
/// source.
pub(crate) fn obstacles_in(
    decision: &Decision,
    answer: &Preflight,
    made_before: bool,
    span_of: impl Fn(&str) -> Span,
) -> Vec<Obstacle> {
    let address = &decision.address;
    let placed = |diagnostic: Diagnostic, span: Span, why: &str| {
        if span.is_some() {
            diagnostic.label(span, why)
        } else {
            diagnostic.note(why)
        }
    };
    let mut found = Vec::new();
    for source in answer.sources.iter().filter(|_| !made_before) {
        if let SourceContent::Unreadable(why) = &source.content {
            let diagnostic = expr::codes::SOURCE_UNREADABLE
                .new(format!("`{}` of `{address}` cannot be read", source.field));
            let diagnostic = placed(diagnostic, span_of(&source.field), why);
            found.push(Obstacle {
                address: address.clone(),
                id: None,
                diagnostic,
            });
        }
    }
    if let Some(why) = answer.refused.as_ref().filter(|_| !decision.condition_open) {
        let diagnostic = codes::PRECONDITION_FAILED.new(format!("`{address}` cannot be created"));
        let diagnostic = placed(diagnostic, span_of("path"), why);
        found.push(Obstacle {
            address: address.clone(),
            id: answer.id.clone(),
            diagnostic,
        });
    }
    found
}

/// Asks for the preflights of a draft. A resource whose sources have another content than recorded
/// is updated.
pub(crate) async fn ask(
    evaluation: &mut Evaluation,
    drafts: &mut [Decision],
    changing: &PendingChanges,
    obstacles: &mut Vec<Obstacle>,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let wanted: Vec<usize> = drafts
        .iter()
        .enumerate()
        .filter(|(_, it)| is_asked(it, evaluation, world))
        .map(|it| it.0)
        .collect();
    if wanted.is_empty() {
        return;
    }
    let is_pinned = |at: usize| {
        evaluation
            .answers
            .preflights
            .contains_key(&drafts[at].address)
    };
    let asked = wanted.iter().copied().filter(|at| !is_pinned(*at));
    let documents = evaluation.documents.clone();
    let instance = evaluation.instance.clone();
    let site_of =
        |at: usize| documents.site_of(drafts[at].element.map(|(number, _)| number), &instance);
    let asked = asked.map(|at| (at, site_of(at))).map(async |(at, site)| {
        let told = site.borrowed();
        let answer = preflight_of(&drafts[at], &changing.ids, told, 0, world).await;
        (at, site, answer)
    });
    let answered = futures::future::join_all(asked.collect::<Vec<_>>()).await;
    for (at, site, answer) in answered {
        let decision = &drafts[at];
        let resource = decision
            .element
            .and_then(|(number, _)| evaluation.documents.resource(number));
        let span_of = |field: &str| {
            resource
                .and_then(|(.., it)| place_at(&it.spec, &field.into()))
                .unwrap_or(decision.span)
        };
        let Some(answer) = reported_answer(decision, answer, found) else {
            continue;
        };
        let follows = changing.changes_dependency_of(decision);
        obstacles.extend(obstacles_in(decision, &answer, follows, span_of));
        evaluation.answers.preflights.insert(
            decision.address.clone(),
            pinned_preflight(answer, site, follows),
        );
    }
    for at in wanted {
        let documents = evaluation.documents.clone();
        let resource = drafts[at]
            .element
            .and_then(|(number, _)| documents.resource(number));
        let ignored = resource.map_or(&[][..], |(.., resource)| &resource.lifecycle.ignore_changes);
        if let Some(kept) = evaluation.answers.preflights.get(&drafts[at].address) {
            apply_sources(&mut drafts[at], kept, ignored);
        }
    }
}

/// Whether a preflight of a decision is needed.
pub(crate) fn is_asked(decision: &Decision, evaluation: &Evaluation, world: &dyn World) -> bool {
    let Some(ty) = decision.ty.as_ref().filter(|ty| ty.capabilities.preflights) else {
        return false;
    };
    let reads = || {
        ty.sources.keys().any(|field| {
            decision
                .desired
                .get(field)
                .is_some_and(|value| !value.is_null())
        })
    };
    let is_asked = match decision.action {
        Action::Create | Action::Replace | Action::Update => true,
        Action::None => decision.prior.is_some() && reads(),
        _ => false,
    };
    is_asked
        && (evaluation
            .answers
            .preflights
            .contains_key(&decision.address)
            || world.environment().manages(&ty.name))
}

/// Asks the provider of a resource for the preflight of a decision.
async fn preflight_of(
    decision: &Decision,
    changing: &Arc<BTreeSet<Name>>,
    site: DeclarationSite<&str>,
    text_limit: u64,
    world: &dyn World,
) -> Result<Preflight, ProviderError> {
    let operation = operation_of(decision.action);
    let prior = decision
        .prior
        .as_deref()
        .filter(|record| !record.id.is_empty());
    // A recorded object that is to be created has vanished.
    let prior = prior.filter(|_| decision.action != Action::Create);
    let target = decision.target(site);
    let request = PreflightRequest {
        type_name: &decision.type_name,
        operation,
        id: prior.map(|record| record.id.as_ref()),
        prior_inputs: prior.map_or(&Value::Null, |record| &record.inputs),
        desired: if operation == Operation::Delete {
            &Value::Null
        } else {
            &decision.desired
        },
        changing,
        text_limit,
    };
    world.preflight(target, request).await
}

/// The first operation of an action.
pub(crate) fn operation_of(action: Action) -> Operation {
    match action {
        Action::Create | Action::Replace => Operation::Create,
        Action::Delete => Operation::Delete,
        _ => Operation::Update,
    }
}

/// The answer of a preflight; `None` after its error was reported.
pub(crate) fn reported_answer(
    decision: &Decision,
    answer: Result<Preflight, ProviderError>,
    found: &mut Diagnostics,
) -> Option<Preflight> {
    let error = match answer {
        Ok(answer) => return Some(answer),
        Err(error) => error,
    };
    let diagnostic = failure(&error, || {
        format!("the provider cannot plan `{}`", decision.address)
    });
    let diagnostic = if decision.span.is_some() {
        diagnostic.label(decision.span, "declared here")
    } else {
        diagnostic
    };
    found.push(diagnostic);
    None
}

/// The part of an answer that the plan stores.
pub(crate) fn pinned_preflight(
    answer: Preflight,
    site: DeclarationSite,
    follows: bool,
) -> PinnedPreflight {
    let digest = |content| match content {
        SourceContent::Digest(digest) => Some(digest),
        SourceContent::Open | SourceContent::Unreadable(_) => None,
    };
    let sources = answer.sources.into_iter();
    let sources = sources
        .map(|it| PinnedSource {
            field: it.field,
            name: it.name,
            digest: digest(it.content),
            texts: None,
        })
        .collect();
    PinnedPreflight {
        id: answer.id,
        sources,
        standing: answer.existing,
        folder: site.folder,
        urn: site.urn,
        follows,
    }
}

/// Adds changed contents of sources to the changes of the resource.
pub(crate) fn apply_sources(decision: &mut Decision, kept: &PinnedPreflight, ignored: &[Name]) {
    let (Some(ty), Some(record)) = (&decision.ty, &decision.prior) else {
        return;
    };
    if !matches!(decision.action, Action::None | Action::Update) {
        return;
    }
    let mut changes = Vec::new();
    for source in &kept.sources {
        let Some(digest) = ty.sources.get(&source.field) else {
            continue;
        };
        if ignored
            .iter()
            .any(|path| *path == source.field || path == digest)
        {
            continue;
        }
        let before = record
            .outputs
            .get(digest)
            .filter(|before| !before.is_null());
        let after = match &source.digest {
            Some(now) if before.is_some_and(|before| same(before, now)) => continue,
            Some(now) => now.clone(),
            None => Value::Unknown(Arc::new(Unknown {
                ty: None,
                waits_for: Vec::new(),
            })),
        };
        changes.push(Change {
            path: format!("spec.{digest}"),
            before: before.cloned(),
            after: Some(after),
            forces: false,
            list: None,
        });
    }
    if changes.is_empty() {
        return;
    }
    decision.action = Action::Update;
    decision.changes.append(&mut changes);
    if !decision.reasons.contains(&Reason::Changed) {
        decision.reasons.insert(0, Reason::Changed);
    }
}

/// Whether a decision changes a resource because the content of a source has changed.
pub(crate) fn needs_second_read(decision: &Decision) -> bool {
    let Some(ty) = &decision.ty else { return false };
    let is_digest = |change: &Change| {
        change
            .path
            .strip_prefix("spec.")
            .is_some_and(|field| ty.sources.values().any(|digest| digest.as_ref() == field))
    };
    decision.changes.iter().any(is_digest)
}

/// Adds to the answers the texts of sources that replace other texts, so that a person can be shown
/// the difference. Texts that repeat a secret are left out, and so is what exceeds a limit.
pub(crate) async fn ask_for_texts(draft: &Draft, answers: &mut Answers, world: &dyn World) {
    let changing = Arc::default();
    let mut rest = TEXTS_LIMIT;
    for decision in draft.decisions.iter().filter(|it| replaces_text(it)) {
        let Some(kept) = answers.preflights.get_mut(&decision.address) else {
            continue;
        };
        let is_wanted = |source: &PinnedSource| source.digest.is_some() && source.texts.is_none();
        let limit = TEXT_LIMIT.min(rest / 2);
        if !kept.sources.iter().any(is_wanted)
            || limit == 0
            || !world.environment().manages(&decision.type_name)
        {
            continue;
        }
        // Without the texts, the plan shows the digests.
        let Ok(answer) = preflight_of(decision, &changing, kept.site(), limit, world).await else {
            continue;
        };
        for source in answer.sources {
            let (SourceContent::Digest(digest), Some(texts)) = (source.content, source.texts)
            else {
                continue;
            };
            let same_source = |kept: &&mut PinnedSource| {
                kept.field == source.field && kept.digest.as_ref() == Some(&digest)
            };
            let (Some(before), Some(after)) = (plain_text(&texts.before), plain_text(&texts.after))
            else {
                continue;
            };
            if let Some(kept) = kept.sources.iter_mut().find(same_source) {
                rest = rest.saturating_sub((before.len() + after.len()) as u64);
                kept.texts = Some(PinnedTexts {
                    before: texts.before,
                    after: texts.after,
                });
            }
        }
    }
}

/// Whether a decision writes the text of a source over another text.
fn replaces_text(decision: &Decision) -> bool {
    decision.action == Action::Update
        && !decision.only_recorded
        && (needs_second_read(decision) || decision.reasons.contains(&Reason::Drifted))
}

/// The text, if it is not secret.
fn plain_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Asks for the preflights that `ask` did not ask for: deletes, and all operations of a plan
/// without a document.
pub(crate) async fn ask_remaining(
    draft: &mut Draft,
    snapshot: &Snapshot,
    answers: &Answers,
    world: &dyn World,
    found: &mut Diagnostics,
) -> IndexMap<Address, PinnedPreflight> {
    let is_asked = |decision: &Decision| {
        let preflights = decision
            .ty
            .as_ref()
            .is_some_and(|ty| ty.capabilities.preflights);
        let exists = decision
            .prior
            .as_ref()
            .is_some_and(|record| !record.id.is_empty());
        let is_asked = match decision.action {
            Action::Delete => exists,
            Action::Create | Action::Update | Action::Replace => true,
            _ => false,
        };
        is_asked
            && preflights
            && !answers.preflights.contains_key(&decision.address)
            && world.environment().manages(&decision.type_name)
    };
    let asked: Vec<usize> = (0..draft.decisions.len())
        .filter(|at| is_asked(&draft.decisions[*at]))
        .collect();
    if asked.is_empty() {
        return IndexMap::default();
    }
    let decisions = &draft.decisions;
    let changing = PendingChanges::of_records(decisions, snapshot);
    let puts = asked.into_iter().map(async |at| {
        let decision = &decisions[at];
        let prior = decision.prior.as_ref();
        let site = prior.map(|record| record.origin.site().owned());
        let site = site.unwrap_or_default();
        let answer = preflight_of(decision, &changing.ids, site.borrowed(), 0, world).await;
        (at, site, answer)
    });
    let answered = futures::future::join_all(puts.collect::<Vec<_>>()).await;
    let mut kept = IndexMap::default();
    for (at, site, answer) in answered {
        let decision = &mut draft.decisions[at];
        let Some(answer) = reported_answer(decision, answer, found) else {
            continue;
        };
        let follows = changing.changes_dependency_of(decision);
        draft
            .obstacles
            .extend(obstacles_in(decision, &answer, follows, |_| decision.span));
        let answer = pinned_preflight(answer, site, follows);
        apply_sources(decision, &answer, &[]);
        kept.insert(decision.address.clone(), answer);
    }
    kept
}

/// Reports the obstacles to operations of the draft, except objects that the plan itself deletes or
/// replaces.
pub(crate) fn refuse_obstacles(draft: &mut Draft, found: &mut Diagnostics) {
    let obstacles = std::mem::take(&mut draft.obstacles);
    if obstacles.is_empty() {
        return;
    }
    let is_removal =
        |decision: &&Decision| matches!(decision.action, Action::Delete | Action::Replace);
    let removed_records = draft
        .decisions
        .iter()
        .filter(is_removal)
        .filter_map(|decision| decision.prior.as_ref());
    let removed_ids: HashSet<Name> = removed_records.map(|record| record.id.clone()).collect();
    // Resources out of target have no decision in the draft.
    let decided: HashSet<Address> = draft
        .decisions
        .iter()
        .map(|decision| decision.address.clone())
        .collect();
    let still = obstacles.into_iter().filter(|it| {
        decided.contains(&it.address) && !it.id.as_ref().is_some_and(|id| removed_ids.contains(id))
    });
    found.extend(still.map(|obstacle| obstacle.diagnostic));
}
