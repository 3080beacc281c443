//! What to do with each thing: level by level of the graph, so that each element reads only what is decided.
//!
//! All questions of one level are put to the world together. Removals come last, from what the state has and nobody
//! wants any more.

mod external;
pub mod groups;
pub mod levels;
mod linked;
mod opinions;
mod parts;
mod preflight;
mod remembered;
mod removals;

use std::sync::Arc;

use blueprint::{Address, IndexMap, Key, Name, ReplaceOrder, Resource, TypeId, Value};
use diag::{Diagnostics, Span};
use provider::{Catalogs, ResourceType};
use state::{Record, Snapshot, StatusOp, StatusWord};

use self::groups::{common_dependencies, group, handed_group, searched_group};
pub(super) use self::levels::levels;
pub(crate) use self::levels::live_locals;
use self::linked::{heed_links, link_dependencies};
pub(super) use self::opinions::report_check;
use self::opinions::{ask_providers, changing, heed};
pub(super) use self::preflight::{Obstacle, ask_rest, operation_of, reads_anew, refuse_obstacles};
use self::removals::remove_what_is_gone;
pub(super) use self::removals::{of_record, removal};
use super::addresses::Named;
use super::batches::{Batch, Together};
use super::imports::Imports;
use super::keyed::Keyed;
use super::ledger::Ledger;
use super::links::{Linked, decide_links, undo_link};
use super::moves::Moves;
use super::options::Taken;
use super::policies::request_replacements;
use super::targets::Reach;
use crate::codes;
use crate::drift::{DriftedField, drifted_fields};
use crate::plan::{Action, Reason};
use evaluate::answers::{Answers, FrozenSeen};
use evaluate::questions;
use evaluate::resolve::{Evaluation, Member, Members, Need, Outputs, Site};
use evaluate::world::World;
use understand::compare::{Change, differences, mark_fields, same_field, with_path_of};
use understand::graph::Node;
use understand::links::address::is_link;
use understand::links::contribution::{Contribution, carried, without};

/// A set with a fixed hash, so that nothing depends on a random seed.
type HashSet<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// Addresses, each once, in the order in which they were found.
pub(super) type AddressSet = indexmap::IndexSet<Address, foldhash::fast::FixedState>;

/// A decision about one thing.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(crate) address: Address,
    /// Position of the resource in the document, and of the member in it; none for what only the state knows.
    pub(crate) element: Option<(u32, Option<u32>)>,
    /// What of a link it is about, if it is.
    pub(crate) linked: Option<Arc<Linked>>,
    pub(crate) type_name: TypeId,
    pub(crate) ty: Option<Arc<ResourceType>>,
    pub(crate) action: Action,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) changes: Vec<Change>,
    pub(crate) replace_order: ReplaceOrder,
    pub(crate) may_replace: bool,
    pub(crate) condition_open: bool,
    /// All changes are only recorded: no call is made.
    pub(crate) only_recorded: bool,
    /// Only what is remembered beside the spec differs: metadata, dependencies, lifecycle.
    pub(super) record_differs: bool,
    pub(crate) desired: Value,
    pub(crate) metadata: Value,
    pub(crate) prior: Option<Arc<Record>>,
    /// The fields of the thing as they are now: seen if it was, else as recorded.
    pub(crate) outputs: Value,
    /// Opaque data for the call.
    pub(crate) private: Value,
    pub(crate) expired: Option<Name>,
    /// What it uses, as its record will say.
    pub(crate) dependencies: Vec<Address>,
    pub(crate) retain: bool,
    pub(crate) protect: bool,
    pub(crate) restricted: blueprint::Restricted,
    /// The abstract resource that a transform made it from, as addresses print.
    pub(crate) made_from: Option<Name>,
    /// The address it had before.
    pub(crate) moved_from: Option<Address>,
    /// It is made only to stand in for others, and taken away again.
    pub(crate) temporary: bool,
    /// The batch of its group that it belongs to.
    pub(crate) batch: Option<Batch>,
    pub(crate) span: Span,
}

/// All decisions, in document order; removals after them.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) decisions: Vec<Decision>,
    pub(crate) groups: IndexMap<Name, Vec<Address>>,
    pub(crate) absent: Vec<Address>,
    /// The links that the document makes.
    pub(crate) links: HashSet<Address>,
    pub(super) imports: Imports,
    /// Groups whose members come and go in batches, one after the other.
    pub(crate) batches: Vec<Vec<Together>>,
    /// What stands in the way of creates.
    pub(super) obstacles: Vec<Obstacle>,
}

impl Draft {
    /// Says of things whose records have just been moved or imported that they were; nothing else may be due there.
    pub(super) fn say_what_came(&mut self, moves: &Moves) {
        for decision in &mut self.decisions {
            let (moved, imported) =
                (moves.has_arrived(&decision.address), self.imports.done.contains(&decision.address));
            // A link comes along with its end without a step; each of its parts is a thing that moves.
            let is_part = matches!(decision.linked.as_deref(), Some(Linked::Part { .. }));
            let declared = decision.element.is_some() || is_part;
            if !(moved || imported) || decision.moved_from.is_some() || !declared {
                continue;
            }
            let (action, reason) =
                if moved { (Action::Move, Reason::Moved) } else { (Action::Import, Reason::Imported) };
            decision.moved_from = moves.from(&decision.address);
            if imported {
                // What differs from the document is drift: the document never said anything else.
                for reason in decision.reasons.iter_mut().filter(|reason| **reason == Reason::Changed) {
                    *reason = Reason::Drifted;
                }
            }
            decision.reasons.insert(0, reason);
            if decision.action == Action::None {
                decision.action = action;
            }
        }
    }
}

/// What a draft is made with, beside the document.
pub(super) struct Drafting<'a> {
    pub(crate) snapshot: &'a mut Snapshot,
    pub(crate) ledger: &'a mut Ledger,
    pub(super) reach: &'a Reach<'a>,
    pub(crate) moves: &'a mut Moves,
    pub(crate) replace: &'a Named,
    pub(crate) taken: &'a [Taken],
    pub(crate) catalogs: &'a Catalogs,
    pub(crate) world: &'a dyn World,
}

/// The decisions about the levels that are done.
#[derive(Default)]
struct DecidedSoFar {
    /// By the resource's position in the document.
    of: Vec<Vec<Decision>>,
    /// What is made anew in this plan, so that those who read it can say so.
    remade: HashSet<Address>,
    /// About parts of links.
    parts: Vec<Decision>,
    /// What is made or changed by them.
    changing: preflight::Changing,
    /// What stands in the way of creates.
    obstacles: Vec<Obstacle>,
}

/// Decides about everything the document declares, then about what it no longer does.
pub(crate) async fn draft(evaluation: &mut Evaluation, with: Drafting<'_>, found: &mut Diagnostics) -> Draft {
    let Drafting { snapshot, ledger, reach, moves, replace, taken, catalogs, world } = with;
    let mut keyed = Keyed::default();
    let documents = evaluation.documents.clone();
    let live = live_locals(&documents);
    evaluation.links.remember(snapshot);
    evaluation.settle_written_out(found);
    let mut decided = DecidedSoFar::default();
    let [.., resources] = documents.counts();
    decided.of.resize_with(resources, Vec::new);
    let mut draft = Draft { imports: Imports::of(taken), ..Draft::default() };
    for level in levels(documents.graph()) {
        let (resources, links) = settle_level(evaluation, level, &live, &mut draft, catalogs, world, found).await;
        for index in &resources {
            let pairs = keyed.moved(evaluation, *index, snapshot, found);
            let pairs = pairs.into_iter().filter(|(_, to)| reach.covers(to));
            let span = documents.resource(*index).map_or(Span::NONE, |(.., resource)| resource.span);
            if moves.add(pairs, span, snapshot, &mut evaluation.answers, ledger) {
                evaluation.links.remember_anew(snapshot);
                again(evaluation, *index, catalogs, world, found).await;
            }
        }
        draft.imports.take_in(evaluation, &resources, reach, snapshot, ledger, world, found).await;
        decide_level(evaluation, &resources, snapshot, &draft.groups, replace, world, &mut decided, found).await;
        parts::decide_parts(evaluation, &links, snapshot, catalogs, world, &mut decided, found).await;
    }
    // Decisions are large, so that no list of them has more room than it needs.
    draft.decisions.reserve_exact(decided.of.iter().map(Vec::len).sum());
    draft.decisions.extend(decided.of.into_iter().flatten());
    draft.decisions.extend(decided.parts);
    draft.obstacles = decided.obstacles;
    draft.imports.refuse_what_was_not_told(&draft.decisions, found);
    decide_links(&mut draft, evaluation, snapshot, catalogs, world, found).await;
    ignored_dependencies(evaluation, found);
    remove_what_is_gone(&mut draft, evaluation, snapshot, catalogs);
    draft
}

/// Everything goes.
pub(super) fn draft_destroy(snapshot: &Snapshot, answers: &Answers, catalogs: &Catalogs) -> Draft {
    let mut draft = Draft::default();
    for (address, record) in &snapshot.records {
        if is_link(address) {
            let undone = undo_link(&draft, None, address, record, Reason::Destroy);
            draft.decisions.extend(undone);
            continue;
        }
        draft.decisions.push(removal(address, record, Reason::Destroy, answers, catalogs, None));
    }
    draft.groups = snapshot.groups.clone();
    draft
}

/// Evaluates every element of a level, putting what they need to the world together. Gives the level's resources, and
/// the links whose parts come next.
pub(super) async fn settle_level(
    evaluation: &mut Evaluation,
    level: Vec<Node>,
    live: &[bool],
    draft: &mut Draft,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> (Vec<u32>, Vec<u32>) {
    let documents = evaluation.documents.clone();
    let mut resources = Vec::new();
    let mut links = Vec::new();
    let mut todo = level;
    let mut asked_before: Vec<String> = Vec::new();
    while !todo.is_empty() {
        let mut needs: IndexMap<String, Need> = IndexMap::default();
        let mut again = Vec::new();
        for node in todo {
            let mut mistakes = Diagnostics::new();
            let mut absent = Vec::new();
            let taken = evaluation.taken();
            let outcome = match node {
                Node::Local(index) => {
                    let dead = !live[index as usize];
                    match evaluation.settle_local(index, &mut mistakes) {
                        // An intermediate value that nobody reads does not make anybody read a data source.
                        Err(Need::Fetch(_)) if dead => Ok(()),
                        other => other.map_err(|need| vec![need]),
                    }
                }
                Node::Resource(index) => members(evaluation, index, &mut absent, &mut mistakes)
                    .and_then(|members| {
                        evaluation.resources[index as usize] = members;
                        evaluation.merge_links(index, &mut mistakes).map_err(|need| {
                            evaluation.resources[index as usize] = Members::Open;
                            vec![need]
                        })
                    })
                    .map(|()| {
                        draft.absent.append(&mut absent);
                        resources.push(index);
                    }),
                Node::Input(number) => evaluation.settle_handed(number, &mut mistakes).map_err(|need| vec![need]),
                // Read when something live asks for them (decision S59).
                Node::DataSource(_) | Node::Child(_) => Ok(()),
                Node::Link(number) => {
                    evaluation.settle_link(number, &mut mistakes).map_err(|need| vec![need]).map(|ready| {
                        if ready {
                            links.push(number);
                        }
                    })
                }
            };
            match outcome {
                Ok(()) => {
                    if !mistakes.is_empty() {
                        let unit = match node {
                            // What is handed down is written in the document above.
                            Node::Input(_) => {
                                documents.unit(documents.unit_of(node)).parent.map_or(0, |(above, _)| above)
                            }
                            _ => documents.unit_of(node),
                        };
                        documents.lead_to(unit, &mut mistakes);
                        found.append(mistakes);
                    }
                    match node {
                        Node::Local(index) => group(&documents, index, evaluation, &mut draft.groups),
                        Node::DataSource(index) => searched_group(&documents, index, evaluation, &mut draft.groups),
                        Node::Input(number) => handed_group(&documents, number, evaluation, &mut draft.groups),
                        _ => {}
                    }
                }
                Err(more) => {
                    evaluation.give_back(taken);
                    needs.extend(more.into_iter().map(|need| (questions::need_key(evaluation, &need), need)));
                    again.push(node);
                }
            }
        }
        let asked: Vec<String> = needs.keys().cloned().collect();
        if !again.is_empty() && asked == asked_before {
            found.push(
                codes::UNSUPPORTED_FEATURE
                    .new("a question was answered and asked again; this is a fault of cyan, please report it"),
            );
            break;
        }
        questions::answer(evaluation, needs.into_values().collect(), catalogs, world, found).await;
        asked_before = asked;
        todo = again;
    }
    evaluation.report_room(found);
    resources.sort_unstable();
    (resources, links)
}

/// The members of a resource, evaluated; or everything that must be asked first. Those whose conditions are false go to
/// `absent`.
fn members(
    evaluation: &mut Evaluation,
    index: u32,
    absent: &mut Vec<Address>,
    found: &mut Diagnostics,
) -> Result<Members, Vec<Need>> {
    let documents = evaluation.documents.clone();
    let Some((unit, name, resource)) = documents.resource(index) else { return Ok(Members::Failed) };
    let Some(ty) = documents.resource_type(index) else {
        // What is not there may be of a type that nobody knows.
        let owner = name.to_string();
        let there = evaluation.condition(Site::of(unit, &owner), resource, &mut Diagnostics::new());
        return Ok(match there {
            Ok(Some(Some(false))) => Members::Absent,
            _ => Members::Failed,
        });
    };
    let address = documents.unit(unit).address(name);
    if resource.each.is_none() {
        let member = member(evaluation, unit, address.clone(), None, resource, ty, found).map_err(|need| vec![need])?;
        return Ok(match member {
            Evaluated::There(member) => Members::Single(member),
            Evaluated::Absent => {
                absent.push(address);
                Members::Absent
            }
            Evaluated::Failed => Members::Failed,
        });
    }
    let owner = address.to_string();
    let site = Site::of(unit, &owner);
    let Some(items) = evaluation.items(site, name, resource, found).map_err(|need| vec![need])? else {
        return Ok(Members::Failed);
    };
    let mut list = Vec::with_capacity(items.len());
    let mut needs = Vec::new();
    let mut keys: indexmap::IndexSet<Key, foldhash::fast::FixedState> = Default::default();
    let mut failed = false;
    for (at, item) in items.into_iter().enumerate() {
        let item = (item, at as u32);
        let key = match evaluation.member_key(site, &item, resource, found) {
            Ok(Some(key)) => key,
            Ok(None) => {
                failed = true;
                continue;
            }
            Err(need) => {
                needs.push(need);
                continue;
            }
        };
        if !keys.insert(key.clone()) {
            let span = resource.each.as_ref().and_then(|each| each.key.as_ref()).map_or(resource.span, |key| key.span);
            let shown = address.clone().with_key(key);
            found.push(
                codes::EACH_KEY_DUPLICATE
                    .new(format!("two members of `{name}` would be called `{shown}`"))
                    .label(span, format!("the item at position {at} has the key of an earlier one")),
            );
            failed = true;
            continue;
        }
        let address = address.clone().with_key(key);
        match member(evaluation, unit, address.clone(), Some(item), resource, ty, found) {
            Ok(Evaluated::There(member)) => list.push(Some(member)),
            Ok(Evaluated::Absent) => {
                absent.push(address);
                list.push(None);
            }
            Ok(Evaluated::Failed) => failed = true,
            Err(need) => needs.push(need),
        }
        // The same mistake in every member is one mistake of the template.
        if failed && found.has_errors() {
            break;
        }
    }
    match (needs.is_empty(), failed) {
        (false, false) => Err(needs),
        (_, true) => Ok(Members::Failed),
        _ => {
            if resource.each.as_ref().is_some_and(|each| each.key.is_some()) && !evaluation.declared_links.is_empty() {
                evaluation.links.keys.insert(index, keys.into_iter().collect());
            }
            Ok(Members::Many(list))
        }
    }
}

enum Evaluated {
    There(Box<Member>),
    Absent,
    Failed,
}

fn member(
    evaluation: &mut Evaluation,
    unit: u32,
    address: Address,
    item: Option<(Value, u32)>,
    resource: &Resource,
    ty: &ResourceType,
    found: &mut Diagnostics,
) -> Result<Evaluated, Need> {
    let owner = address.to_string();
    let site = Site { unit, owner: &owner, item: item.as_ref() };
    let condition_open = match evaluation.condition(site, resource, found)? {
        Some(Some(true)) => false,
        Some(None) => true,
        Some(Some(false)) => return Ok(Evaluated::Absent),
        None => return Ok(Evaluated::Failed),
    };
    let metadata = evaluation.metadata(site, resource, found)?;
    let spec = match evaluation.spec(site, resource, ty, found)? {
        Some(spec) => spec,
        // What exists elsewhere is not made from its spec, which may read what is settled later.
        None if resource.lifecycle.external.is_some() => Value::unknown(None, None),
        None => return Ok(Evaluated::Failed),
    };
    let retain = evaluation.retained(site, resource, found)?;
    let outputs = Outputs::Unknown;
    Ok(Evaluated::There(Box::new(Member { address, item, spec, metadata, condition_open, retain, outputs })))
}

/// Evaluates the members of a template again, because other values are remembered for them than were drawn.
async fn again(
    evaluation: &mut Evaluation,
    index: u32,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    // What is wrong with them has been said. Each pass answers questions, and there are finitely many.
    for _ in 0..1000 {
        let mut said = Diagnostics::new();
        let needs = match members(evaluation, index, &mut Vec::new(), &mut said) {
            Ok(members) => {
                evaluation.resources[index as usize] = members;
                match evaluation.merge_links(index, &mut said) {
                    Ok(()) => return,
                    Err(need) => vec![need],
                }
            }
            Err(needs) => needs,
        };
        questions::answer(evaluation, needs, catalogs, world, found).await;
    }
}

/// Decides about the members of a level's resources, asking their providers together.
#[expect(clippy::too_many_arguments, reason = "each is a thing of its own; one caller")]
async fn decide_level(
    evaluation: &mut Evaluation,
    resources: &[u32],
    snapshot: &Snapshot,
    groups: &IndexMap<Name, Vec<Address>>,
    replace: &Named,
    world: &dyn World,
    decided: &mut DecidedSoFar,
    found: &mut Diagnostics,
) {
    let documents = evaluation.documents.clone();
    let mut drafts = Vec::with_capacity(resources.len());
    for index in resources {
        let Some((unit, _, resource)) = documents.resource(*index) else { continue };
        let Some(ty) = documents.resource_type(*index) else { continue };
        if let Some(id) = &resource.lifecycle.external {
            external::stand(evaluation, *index, resource, ty, id, snapshot, found);
            continue;
        }
        let common = common_dependencies(evaluation, &documents, unit, *index, resource, groups);
        let every: Vec<(Option<u32>, &Member)> = match &evaluation.resources[*index as usize] {
            Members::Single(member) => vec![(None, member.as_ref())],
            Members::Many(members) => members
                .iter()
                .enumerate()
                .filter_map(|(at, member)| Some((Some(at as u32), member.as_deref()?)))
                .collect(),
            _ => Vec::new(),
        };
        for (position, member) in every {
            let linked = link_dependencies(evaluation, *index, position);
            let dependencies = if linked.is_empty() { common.clone() } else { with_more(&common, linked) };
            let written = evaluation.links.written_into(&member.address);
            let mut decision = decide(member, resource, ty, snapshot, &evaluation.answers, &dependencies, written);
            heed_links(evaluation, *index, position, &mut decision);
            decision.element = Some((*index, position));
            drafts.push(decision);
        }
    }
    request_replacements(&mut drafts, replace);
    preflight::ask(evaluation, &mut drafts, &decided.changing, &mut decided.obstacles, world, found).await;
    ask_providers(evaluation, &mut drafts, world, found).await;
    for mut decision in drafts {
        let Some((index, position)) = decision.element else { continue };
        if decision.action == Action::Replace {
            if redraw(evaluation, index, position, snapshot, world, found).await {
                let (resource, ty) = (documents.resource(index), documents.resource_type(index));
                if let (Some((.., resource)), Some(ty), Some(member)) =
                    (resource, ty, evaluation.member(index, position))
                {
                    let written = evaluation.links.written_into(&member.address);
                    let dependencies = &decision.dependencies;
                    let again = decide(member, resource, ty, snapshot, &evaluation.answers, dependencies, written);
                    decision = decided_again(decision, again, &evaluation.answers);
                }
            }
            decision.may_replace &= !is_redrawn(evaluation, &decision.address, snapshot);
        }
        conclude(evaluation, decision, decided);
    }
}

/// A replacement, decided again because its remembered values were drawn anew (decision S60) and its spec is another one:
/// what made it a replacement still does.
fn decided_again(first: Decision, mut again: Decision, answers: &Answers) -> Decision {
    again.element = first.element;
    if let Some(opinion) = answers.opinions.get(&again.address) {
        heed(&mut again, opinion);
    }
    if again.action != Action::Replace {
        again.reasons = first.reasons;
        again.action = first.action;
        again.only_recorded = false;
    }
    again.private = first.private;
    again.expired = first.expired;
    again
}

/// Whether remembered values of a thing are not those of before, though the document asks for them as before. Such a
/// thing is made anew whatever else comes out.
fn is_redrawn(evaluation: &Evaluation, address: &Address, snapshot: &Snapshot) -> bool {
    let sites = evaluation.sites.get(address.to_string().as_str());
    sites.into_iter().flatten().any(|site| {
        let (before, now) = (snapshot.remembered.get(site), evaluation.answers.remembered.get(site));
        before.zip(now).is_some_and(|(before, now)| before.fingerprint == now.fingerprint && before.value != now.value)
    })
}

/// Tells readers what they may expect of a thing, and keeps the decision.
fn conclude(evaluation: &mut Evaluation, mut decision: Decision, decided: &mut DecidedSoFar) {
    if matches!(decision.action, Action::Update | Action::Replace)
        && decision
            .changes
            .iter()
            .filter_map(|change| change.after.as_ref())
            .any(|after| waits_for_any(after, &decided.remade))
    {
        decision.reasons.push(Reason::DependencyReplaced);
    }
    if decision.action == Action::Replace || decision.reasons.contains(&Reason::Vanished) {
        decided.remade.insert(decision.address.clone());
    }
    let outputs = match decision.action {
        Action::Create | Action::Replace => Outputs::Unknown,
        Action::Update if decision.only_recorded => Outputs::Known(decision.outputs.clone()),
        Action::Update => {
            let changing = changing(&decision, evaluation.simulated, &evaluation.answers);
            Outputs::BeforeUpdate(decision.outputs.clone(), changing.into())
        }
        Action::None
        | Action::Move
        | Action::Import
        | Action::Delete
        | Action::Detach
        | Action::Link
        | Action::Relink
        | Action::Unlink
        | Action::Read => Outputs::Known(decision.outputs.clone()),
    };
    decided.changing.add(&decision, &evaluation.answers);
    if let Some(Linked::Part { link, part }) = decision.linked.as_deref() {
        if let Some(member) = evaluation.part_mut(*link, *part) {
            member.outputs = outputs;
        }
        decided.parts.push(decision);
        return;
    }
    let Some((index, position)) = decision.element else { return };
    if let Some(member) = evaluation.member_mut(index, position) {
        member.outputs = outputs;
    }
    let list = &mut decided.of[index as usize];
    if list.capacity() == 0 {
        list.reserve_exact(evaluation.resources[index as usize].count());
    }
    list.push(decision);
}

/// Whether anything unknown in a value waits for one of these things.
fn waits_for_any(value: &Value, things: &HashSet<Address>) -> bool {
    match value {
        Value::Unknown(unknown) => unknown.waits_for.iter().any(|address| things.contains(address)),
        Value::Secret(inner) => waits_for_any(inner, things),
        Value::List(items) | Value::Set(items) => items.iter().any(|item| waits_for_any(item, things)),
        Value::Map(entries) => entries.values().any(|value| waits_for_any(value, things)),
        _ => false,
    }
}

/// Draws the remembered values of a thing anew and evaluates it again; false if it has none, or if they are new already.
async fn redraw(
    evaluation: &mut Evaluation,
    index: u32,
    position: Option<u32>,
    snapshot: &Snapshot,
    world: &dyn World,
    found: &mut Diagnostics,
) -> bool {
    let Some(member) = evaluation.member(index, position) else { return false };
    let (address, item) = (member.address.clone(), member.item.clone());
    let sites = evaluation.sites.get(address.to_string().as_str()).cloned().unwrap_or_default();
    let old: Vec<Name> = sites
        .into_iter()
        .filter(|site| {
            snapshot.remembered.contains_key(site)
                && snapshot.remembered.get(site) == evaluation.answers.remembered.get(site)
        })
        .collect();
    if old.is_empty() {
        return false;
    }
    for site in &old {
        evaluation.answers.remembered.shift_remove(site);
    }
    let documents = evaluation.documents.clone();
    let Some((unit, _, resource)) = documents.resource(index) else { return false };
    let Some(ty) = documents.resource_type(index) else { return false };
    // Each pass draws at least one value, so this ends after as many passes as there are call sites.
    for _ in 0..=old.len() {
        let mut mistakes = Diagnostics::new();
        match self::member(evaluation, unit, address.clone(), item.clone(), resource, ty, &mut mistakes) {
            Ok(Evaluated::There(fresh)) => {
                let spec = fresh.spec.clone();
                let Ok(Some(merged)) = evaluation.merged(index, position, spec, &mut mistakes) else { return false };
                if let Some(place) = evaluation.member_mut(index, position) {
                    *place = Member { spec: merged, ..*fresh };
                }
                return true;
            }
            Ok(_) => return false,
            Err(need) => questions::answer(evaluation, vec![need], &Catalogs::default(), world, found).await,
        }
    }
    false
}

fn with_more(common: &[Address], more: Vec<Address>) -> Vec<Address> {
    common.iter().cloned().chain(more).collect::<AddressSet>().into_iter().collect()
}

/// Compares what is wanted of a thing with what is remembered and seen of it.
fn decide(
    member: &Member,
    resource: &Resource,
    ty: &Arc<ResourceType>,
    snapshot: &Snapshot,
    answers: &Answers,
    dependencies: &[Address],
    written: &[Contribution],
) -> Decision {
    let address = &member.address;
    let record = snapshot.records.get(address);
    let seen = answers.seen.get(address);
    let mut decision = Decision {
        address: address.clone(),
        element: None,
        linked: None,
        type_name: ty.name.clone(),
        ty: Some(ty.clone()),
        action: Action::Create,
        reasons: vec![Reason::New],
        changes: Vec::new(),
        replace_order: resource.lifecycle.replace_order.unwrap_or(ty.replace_order),
        may_replace: false,
        condition_open: member.condition_open,
        only_recorded: false,
        record_differs: false,
        desired: member.spec.clone(),
        metadata: member.metadata.clone(),
        prior: record.cloned(),
        outputs: Value::Null,
        private: Value::Null,
        expired: None,
        dependencies: dependencies.to_vec(),
        retain: resource.lifecycle.retain || member.retain,
        protect: resource.lifecycle.protect,
        restricted: resource.lifecycle.restricted,
        made_from: resource.made_from.as_ref().map(|name| abstract_source(address, name)),
        moved_from: None,
        temporary: false,
        batch: None,
        span: resource.span,
    };
    let thing = record.filter(|record| !record.id.is_empty());
    let Some(record) = thing.filter(|_| !matches!(seen, Some(FrozenSeen::Gone))) else {
        decision.reasons = vec![match (thing, record) {
            (Some(_), _) => Reason::Vanished,
            (None, Some(_)) => Reason::FailedBefore,
            (None, None) => Reason::New,
        }];
        differences(&ty.schema, &Value::Null, &decision.desired, &mut decision.changes);
        decision.changes.iter_mut().for_each(|change| change.forces = false);
        return decision;
    };
    let seen = match seen {
        Some(FrozenSeen::There { fields, private, expired, .. }) => Some((fields, private, expired)),
        _ => None,
    };
    decision.private = seen.map_or(&record.private, |(_, private, _)| private).clone();
    decision.expired = seen.and_then(|(_, _, expired)| expired.clone());
    decision.outputs = match seen {
        Some((fields, ..)) => mark_fields(&ty.schema, fields, &record.outputs),
        None => record.outputs.clone(),
    };
    if record.type_name != ty.name {
        decision.action = Action::Replace;
        decision.reasons = vec![Reason::TypeChanged];
        differences(&ty.schema, &record.inputs, &decision.desired, &mut decision.changes);
        return decision;
    }
    let ignored = &resource.lifecycle.ignore_changes;
    let (prior, drifted) = prior_spec(ty, record, seen.map(|(fields, ..)| fields), ignored, written);
    for path in ignored {
        decision.desired = with_path_of(&decision.desired, &prior, path);
    }
    let anew = decision.desired.clone();
    if !written.is_empty() {
        // What links have written is theirs to change.
        decision.desired = carried(&decision.desired, written.iter(), &prior, &anew);
    }
    differences(&ty.schema, &prior, &decision.desired, &mut decision.changes);
    let forcing: Vec<&Change> = decision.changes.iter().filter(|change| change.forces).collect();
    let failed = matches!(record.status.word, StatusWord::Failed | StatusWord::Interrupted);
    let mut reasons = Vec::new();
    if !forcing.is_empty() {
        decision.may_replace = forcing.iter().all(|change| change.after.as_ref().is_some_and(Value::has_unknown));
        decision.action = Action::Replace;
        reasons.push(Reason::FieldForces);
    } else if decision.expired.is_some() {
        decision.action = Action::Replace;
        reasons.push(Reason::Drifted);
    } else if failed && (record.status.op == StatusOp::Create || resource.lifecycle.replace_if_failed) {
        decision.action = Action::Replace;
        reasons.push(Reason::FailedBefore);
    } else if !decision.changes.is_empty() || failed || drifted {
        decision.action = Action::Update;
    } else {
        decision.action = Action::None;
    }
    if decision.action != Action::None {
        let mut by_document = Vec::new();
        if written.is_empty() {
            differences(&ty.schema, &record.inputs, &decision.desired, &mut by_document);
        } else {
            let said = carried(&anew, written.iter(), &record.inputs, &anew);
            differences(&ty.schema, &record.inputs, &said, &mut by_document);
        }
        if !by_document.is_empty() && decision.action == Action::Update {
            reasons.push(Reason::Changed);
        }
        if drifted && !reasons.contains(&Reason::Drifted) {
            reasons.push(Reason::Drifted);
        }
        if failed && !reasons.contains(&Reason::FailedBefore) {
            reasons.push(Reason::FailedBefore);
        }
    }
    if decision.action == Action::Replace {
        decision.desired = anew;
    }
    decision.reasons = reasons;
    decision.record_differs = decision.differs_from(record);
    decision
}

/// The abstract resource behind a thing, as addresses print.
fn abstract_source(address: &Address, name: &Name) -> Name {
    match address.path.is_empty() {
        true => name.clone(),
        false => Address::inside(&address.path, name.clone()).to_string().into(),
    }
}

/// The spec that a change would start from: as last sent, except where the world was seen to differ from the last
/// answer; and whether it was in anything that is not ignored.
pub(super) fn prior_spec(
    ty: &ResourceType,
    record: &Record,
    seen: Option<&Value>,
    ignored: &[Name],
    written: &[Contribution],
) -> (Value, bool) {
    let Some(seen) = seen.filter(|seen| seen.as_map().is_some()) else { return (record.inputs.clone(), false) };
    let mut prior = record.inputs.as_map().cloned().unwrap_or_default();
    let mut drifted = false;
    for field in drifted_fields(ty, record, seen) {
        // What links have written is theirs to set back.
        if is_of_links(&field, written) {
            continue;
        }
        drifted |= !is_ignored(&field, ignored);
        if field.field.computed && !field.written {
            continue;
        }
        match field.now {
            Some(now) => {
                prior.insert(field.name.clone(), field.marked(now, record));
            }
            None => {
                prior.shift_remove(field.name);
            }
        }
    }
    (Value::Map(Arc::new(prior)), drifted)
}

/// Whether a field differs from the world only in what links have written, which is theirs to say (decision 3.2).
fn is_of_links(drifted: &DriftedField<'_>, written: &[Contribution]) -> bool {
    let of = |value: Option<&Value>| Value::map(value.map(|value| (drifted.name.clone(), value.clone())));
    let of_field = || written.iter().filter(|it| it.path.split('.').next() == Some(drifted.name.as_ref()));
    if of_field().next().is_none() {
        return false;
    }
    let [then, now] = [of(drifted.then), of(drifted.now)].map(|spec| without(&spec, of_field(), &Value::Null));
    match (then.get(drifted.name), now.get(drifted.name)) {
        (Some(then), Some(now)) => same_field(drifted.field, then, now),
        (then, now) => then.is_none() && now.is_none(),
    }
}

/// Whether a field differs from the world only where that does not matter.
fn is_ignored(drifted: &DriftedField<'_>, ignored: &[Name]) -> bool {
    let of = |value: Option<&Value>| Value::map(value.map(|value| (drifted.name.clone(), value.clone())));
    let (mut then, now) = (of(drifted.then), of(drifted.now));
    for path in ignored {
        then = with_path_of(&then, &now, path);
    }
    match (then.get(drifted.name), now.get(drifted.name)) {
        (Some(then), Some(now)) => same_field(drifted.field, then, now),
        (then, now) => then.is_none() && now.is_none(),
    }
}

/// `dependsOn` names that stand for something absent are ignored, and that is said (decision A11).
fn ignored_dependencies(evaluation: &Evaluation, found: &mut Diagnostics) {
    for unit in evaluation.documents.units() {
        let blueprint = unit.blueprint();
        let is_absent = |at: usize| matches!(evaluation.resources[unit.resource(at) as usize], Members::Absent);
        for (at, (name, resource)) in blueprint.resources.iter().enumerate() {
            for needed in resource.depends_on.iter().filter(|_| !is_absent(at)) {
                if blueprint.resources.get_index_of(&needed.item).is_some_and(is_absent) {
                    found.push(
                        understand::check::codes::DEPENDENCY_IGNORED
                            .new(format!("`{name}` does not wait for `{}`, which is not there", needed.item))
                            .label(needed.span, "its condition is false"),
                    );
                }
            }
        }
    }
}
