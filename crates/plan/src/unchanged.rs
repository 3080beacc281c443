//! Checks whether everything from which a plan was made is unchanged: before a saved plan is
//! applied, and before a plan whose confirmation took long.
//!
//! Each difference is a diagnostic of its own. Not here: the revision of the state (`is_current`).

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::Diagnostics;
use evaluate::answers::{Answers, PinnedPreflight, PinnedRead};
use evaluate::data_search::{Search, read_alone};
use evaluate::question::{ProviderInstance, RecordedInstances, ResourceTarget};
use evaluate::resolve::Evaluation;
use evaluate::retry::RetryingWorld;
use evaluate::retry::failure;
use evaluate::world::World;
use foldhash::fast::FixedState;
use provider::{
    Catalogs, PreflightRequest, ProviderError, ReadOutcome, ResourceType, SourceContent, TypeRef,
};
use state::{Record, Snapshot};
use understand::compare::{same, same_field};

use crate::codes;
use crate::drafting::external::ExternalObject;
use crate::drafting::preflight::operation_of;
use crate::model::{Action, AddressSet, Step};
use crate::plan::{Plan, Staged};
use crate::refresh::{ResourceRead, read_again};
use crate::task::Decided;

const CHANGED: &str = "has changed since the plan was made";

/// Whether a plan may be carried out. Reports `input-changed` or `observation-changed` for each
/// difference. `folder` is the folder of the root document.
pub async fn unchanged(
    staged: &Staged,
    folder: &str,
    world: &dyn World,
    found: &mut Diagnostics,
) -> bool {
    let world = &RetryingWorld::new(world, &staged.catalogs);
    let before = found.len();
    inputs(&staged.plan.answers, folder, world, found).await;
    if let Some(evaluation) = &staged.evaluation {
        data_sources(evaluation, staged, world, found).await;
        external_objects(evaluation, staged, world, found).await;
    }
    settings(staged, world, found);
    programs(staged, found);
    let reported = objects(staged, world, found).await;
    preflights(staged, &reported, world, found).await;
    found.len() == before
}

/// Checks that files, URLs and child documents still have the bytes that the plan read.
async fn inputs(answers: &Answers, folder: &str, world: &dyn World, found: &mut Diagnostics) {
    let requests: Vec<source::Request> = answers
        .documents
        .values()
        .map(|pinned| pinned.request.request(folder))
        .collect();
    let now =
        futures::future::join_all(requests.iter().map(|request| world.document(request))).await;
    for (pinned, now) in answers.documents.values().zip(now) {
        let what = match now {
            Ok(document) if document.digest == pinned.digest => continue,
            Ok(_) => CHANGED.to_owned(),
            Err(error) => format!("cannot be read any more: {error}"),
        };
        let shown = &pinned.location;
        let kind = if pinned.request.is_folder {
            "folder"
        } else {
            "child document"
        };
        found.push(
            codes::INPUT_CHANGED
                .new(format!("the {kind} `{shown}` {what}"))
                .help("stage again"),
        );
    }
    for pinned in answers.bytes.values() {
        let now = if pinned.folder.is_empty() {
            world.http(&pinned.path).await
        } else {
            world.file(&pinned.folder, &pinned.path).await
        };
        let what = match now {
            Ok(bytes) if evaluate::answers::digest(&bytes) == pinned.digest => continue,
            Ok(_) => CHANGED.to_owned(),
            Err(error) => format!("cannot be read any more: {error}"),
        };
        found.push(
            codes::INPUT_CHANGED
                .new(format!("`{}` {what}", pinned.path))
                .help("stage again"),
        );
    }
}

/// Checks that data sources give the same values, if the search can be repeated without running or
/// sending anything.
async fn data_sources(
    evaluation: &Evaluation,
    staged: &Staged,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let documents = &evaluation.documents;
    let [_, count, _] = documents.counts();
    let asked = (0..count as u32).filter_map(|number| {
        let (unit, name, source) = documents.data_source(number)?;
        let pinned = staged
            .plan
            .answers
            .data_sources
            .get(documents.unit(unit).named(name).as_str())?;
        let TypeRef::Known(ty) = staged.catalogs.data_source_type(&source.type_name.item) else {
            return None;
        };
        let asked = pinned.asked.as_deref()?;
        let filters = asked.filters.clone();
        let annotations = asked.annotations.clone();
        let instance = asked.instance.as_ref().map(|pinned| ProviderInstance {
            address: pinned.address.clone(),
            settings: pinned.settings.clone(),
            former: pinned.settings.clone(),
        });
        let search = Search {
            ty,
            filters,
            annotations,
            instance,
            folder: asked.folder.clone(),
        };
        Some(async move {
            let mut wrong = Diagnostics::new();
            let now = read_alone(name, source, &search, world, &mut wrong).await;
            (name, &pinned.fields, now, wrong)
        })
    });
    for (name, then, now, wrong) in futures::future::join_all(asked.collect::<Vec<_>>()).await {
        let diagnostic = match now {
            Some(now) if same(then, &now) => continue,
            Some(_) => {
                codes::INPUT_CHANGED.new(format!("what the data source `{name}` gives {CHANGED}"))
            }
            None => {
                let why = wrong
                    .iter()
                    .flat_map(|one| one.notes.iter().cloned())
                    .next();
                let diagnostic = codes::INPUT_CHANGED
                    .new(format!("the data source `{name}` cannot be read any more"));
                why.into_iter()
                    .fold(diagnostic, |diagnostic, why| diagnostic.note(why))
            }
        };
        found.push(diagnostic.help("stage again"));
    }
}

/// Checks that providers still have the same settings.
fn settings(staged: &Staged, world: &dyn World, found: &mut Diagnostics) {
    let plan = &staged.plan;
    let now = settings_of(&plan.steps, &staged.catalogs, &plan.answers.salt, world);
    let mut namespaces: Vec<&Name> = plan.answers.settings.keys().chain(now.keys()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    for namespace in namespaces
        .into_iter()
        .filter(|it| plan.answers.settings.get(*it) != now.get(*it))
    {
        let what = format!(
            "the settings of the provider `{namespace}` {}",
            CHANGED.replacen("has", "have", 1)
        );
        found.push(codes::INPUT_CHANGED.new(what).help("stage again"));
    }
}

/// Checks that the plugins that planned are those that will be called.
fn programs(staged: &Staged, found: &mut Diagnostics) {
    let plan = &staged.plan;
    let now = programs_of(&plan.steps, &staged.catalogs);
    for (namespace, _) in plan
        .answers
        .programs
        .iter()
        .filter(|(namespace, planned)| now.get(*namespace) != Some(*planned))
    {
        let what = format!("the plugin of `{namespace}` {CHANGED}");
        found.push(codes::INPUT_CHANGED.new(what).help("stage again"));
    }
}

/// The digests of the programs that serve the types of steps.
pub(crate) fn programs_of(steps: &[Step], catalogs: &Catalogs) -> blueprint::IndexMap<Name, Name> {
    let mut programs = blueprint::IndexMap::default();
    let mut before = "";
    for step in steps.iter().filter(|step| step.action != Action::None) {
        let namespace = step.type_name.package_name();
        if namespace == before || programs.contains_key(namespace) {
            continue;
        }
        before = namespace;
        if let Some(program) = catalogs.of(namespace).and_then(|one| one.program.clone()) {
            programs.insert(namespace.into(), program);
        }
    }
    programs
}

/// Keyed digests of the settings of the providers that steps need.
pub(crate) fn settings_of(
    steps: &[Step],
    catalogs: &Catalogs,
    salt: &str,
    world: &dyn World,
) -> blueprint::IndexMap<Name, Name> {
    let mut digests = blueprint::IndexMap::default();
    let mut before = "";
    for step in steps.iter().filter(|step| step.action != Action::None) {
        let namespace = catalogs.names().key(step.type_name.package_name());
        if namespace == before || digests.contains_key(namespace) {
            continue;
        }
        before = namespace;
        let settings = world.environment().settings(namespace);
        if let Ok(text) = serde_json::to_string(&settings.revealed())
            && !settings.is_null()
        {
            digests.insert(
                namespace.into(),
                evaluate::answers::keyed_digest(salt, text.as_bytes()),
            );
        }
    }
    digests
}

/// Checks that sources have the content that the plan read, and that no other object exists where
/// the plan creates, changes or deletes one. Addresses in `reported` are not reported again.
async fn preflights(
    staged: &Staged,
    reported: &AddressSet,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let nothing = Arc::default();
    let decisions = decisions(&staged.plan);
    let asked = staged
        .plan
        .answers
        .preflights
        .iter()
        .filter_map(|(address, kept)| {
            let decision = decisions.get(address);
            let record = staged.snapshot.records.get(address);
            let action = decision.map_or(Action::None, |decision| decision.action);
            let prior = record.filter(|record| action != Action::Create && !record.id.is_empty());
            let desired = match decision {
                Some(decision) => &decision.desired,
                None => &record?.inputs,
            };
            let type_name = decision.map_or_else(
                || &record.expect("it has one").type_name,
                |decision| &decision.type_name,
            );
            let instance = decision.and_then(|decision| decision.provider.as_deref());
            let target = ResourceTarget::new(address, type_name, kept.site()).managed_by(instance);
            let request = PreflightRequest {
                type_name,
                operation: operation_of(action),
                id: prior.map(|record| record.id.as_ref()),
                prior_inputs: prior.map_or(&Value::Null, |record| &record.inputs),
                desired,
                changing: &nothing,
                text_limit: 0,
            };
            Some(async move {
                (
                    address,
                    kept,
                    action,
                    world.preflight(target, request).await,
                )
            })
        });
    let refreshed = staged.plan.options.refresh.is_on();
    for (address, kept, action, answer) in
        futures::future::join_all(asked.collect::<Vec<_>>()).await
    {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                unreadable(address, &error, found);
                continue;
            }
        };
        sources(address, kept, &answer.sources, found);
        let then = &kept.standing;
        let looked_at = match action {
            Action::Create | Action::Replace => true,
            Action::None => false,
            _ => refreshed && !reported.contains(address),
        };
        if looked_at && !same(then, &answer.existing) {
            let what = match (then.is_null(), answer.existing.is_null()) {
                (true, _) => "something stands where it is to be made",
                (_, true) => "what stood at its place is gone",
                _ => "something else stands at its place",
            };
            let diagnostic = codes::OBSERVATION_CHANGED
                .new(format!("`{address}` is not as the plan saw it: {what}"));
            let diagnostic = answer
                .refused
                .into_iter()
                .fold(diagnostic, |diagnostic, why| diagnostic.note(why));
            found.push(diagnostic.help("stage again"));
        }
    }
}

fn sources(
    address: &Address,
    kept: &PinnedPreflight,
    now: &[provider::SourceRead],
    found: &mut Diagnostics,
) {
    for then in &kept.sources {
        // A source that the plan creates itself is not pinned.
        let Some(digest) = &then.digest else { continue };
        let now = now
            .iter()
            .find(|now| now.field == then.field)
            .map(|now| &now.content);
        let what = match now {
            Some(SourceContent::Digest(now)) if same(digest, now) => continue,
            Some(SourceContent::Unreadable(why)) => format!("cannot be read any more: {why}"),
            _ => CHANGED.to_owned(),
        };
        let field = &then.field;
        let name = &then.name;
        found.push(
            codes::INPUT_CHANGED
                .new(format!("`{name}`, the `{field}` of `{address}`, {what}"))
                .help("stage again"),
        );
    }
}

/// The decisions behind the tasks of a plan, by address.
fn decisions(plan: &Plan) -> HashMap<&Address, &Decided, FixedState> {
    let decisions = plan
        .tasks
        .iter()
        .filter_map(|task| task.decision.as_deref());
    decisions
        .filter(|decided| decided.linked.is_none() || decided.ty.is_some())
        .map(|it| (&it.address, it))
        .collect()
}

/// Checks that objects that the plan changes or deletes are as the plan read them. Returns the
/// addresses that differ.
async fn objects(staged: &Staged, world: &dyn World, found: &mut Diagnostics) -> AddressSet {
    let plan = &staged.plan;
    let mut reported = AddressSet::default();
    if !plan.options.refresh.is_on() || !plan.answers.refreshed || plan.options.state_edit.is_some()
    {
        return reported;
    }
    let changes = |step: &&Step| {
        matches!(
            step.action,
            Action::Update | Action::Replace | Action::Delete
        )
    };
    let changed = plan
        .steps
        .iter()
        .filter(changes)
        .map(|step| (&step.address, step.moved_from.as_ref()));
    let mut seen: indexmap::IndexMap<&Address, Option<&Address>, FixedState> = changed.collect();
    for (_, target) in plan.link_writes() {
        seen.entry(target).or_default();
    }
    let instances = RecordedInstances::of(&staged.snapshot);
    let asked = seen.into_iter().filter_map(|(address, from)| {
        let record = staged
            .snapshot
            .records
            .get(address)
            .filter(|record| !record.id.is_empty())?;
        let TypeRef::Known(ty) = staged.catalogs.resource_type(&record.type_name) else {
            return None;
        };
        let then_at = from.unwrap_or(address);
        if !is_observed(&ty, record, &plan.answers, then_at) {
            return None;
        }
        let answers = &plan.answers;
        let is_of_record = |seen: &&PinnedRead| !matches!(seen, PinnedRead::Absent);
        let then = answers
            .imports
            .get(address)
            .or_else(|| answers.seen.get(then_at).filter(is_of_record));
        let ResourceRead {
            target, request, ..
        } = read_again(address, record, &instances);
        Some(async move { (address, ty, record, then, world.read(target, request).await) })
    });
    for (address, ty, record, then, now) in
        futures::future::join_all(asked.collect::<Vec<_>>()).await
    {
        let what = match now {
            Ok(now) => differs(&ty, &record.outputs, then, &now),
            Err(error) => {
                unreadable(address, &error, found);
                reported.insert(address.clone());
                continue;
            }
        };
        if let Some(what) = what {
            reported.insert(address.clone());
            found.push(
                codes::OBSERVATION_CHANGED
                    .new(format!("`{address}` is not as the plan saw it: {what}"))
                    .help("stage again"),
            );
        }
    }
    reported
}

/// Checks that external objects are as the plan read them.
async fn external_objects(
    evaluation: &Evaluation,
    staged: &Staged,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let pinned = &staged.plan.answers.external;
    let objects = pinned.iter().filter_map(|(address, then)| {
        let index = evaluation.documents.declared(address)?;
        // What the plan could not find out is reported when it is made.
        let object =
            ExternalObject::of(evaluation, index, &staged.snapshot, &mut Diagnostics::new());
        Some((object?, then))
    });
    let objects: Vec<_> = objects.collect();
    let reads = objects
        .iter()
        .map(|(object, _)| object.read(evaluation, world));
    let answers = futures::future::join_all(reads.collect::<Vec<_>>()).await;
    for ((object, then), now) in objects.iter().zip(answers) {
        let address = &object.address;
        let what = match now {
            Ok(now) => differs(object.ty, &Value::Null, Some(then), &now),
            Err(error) => {
                unreadable(address, &error, found);
                continue;
            }
        };
        if let Some(what) = what {
            found.push(
                codes::OBSERVATION_CHANGED
                    .new(format!("`{address}` is not as the plan saw it: {what}"))
                    .help("stage again"),
            );
        }
    }
}

fn unreadable(address: &Address, error: &ProviderError, found: &mut Diagnostics) {
    let diagnostic = match error.session {
        Some(_) => failure(error, String::new),
        None => codes::OBSERVATION_CHANGED
            .new(format!("`{address}` cannot be read any more"))
            .note(error.message.clone())
            .help("stage again"),
    };
    found.push(diagnostic);
}

/// Whether an object was read when the plan was made.
pub(crate) fn is_observed(
    ty: &ResourceType,
    record: &Record,
    answers: &Answers,
    address: &Address,
) -> bool {
    let is_set = |field: &Name| {
        record
            .inputs
            .get(field)
            .is_some_and(|value| !value.is_null())
    };
    answers.refreshed
        && ty.capabilities.reads
        && ty.reads_with.as_ref().is_none_or(is_set)
        && !answers.unread.contains_key(address)
        && !matches!(answers.seen.get(address), Some(PinnedRead::Unknown))
}

/// Whether a step changes an object that was not read.
pub(crate) fn is_unobserved(
    step: &Step,
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    answers: &Answers,
    refresh: bool,
) -> bool {
    if !matches!(
        step.action,
        Action::Update | Action::Replace | Action::Delete
    ) {
        return false;
    }
    let Some(record) = snapshot
        .records
        .get(&step.address)
        .filter(|record| !record.id.is_empty())
    else {
        return false;
    };
    let TypeRef::Known(ty) = catalogs.resource_type(&record.type_name) else {
        return false;
    };
    let address = step.moved_from.as_ref().unwrap_or(&step.address);
    // Plans of such dialects read nothing unless the user asks for it, so it is not worth a word.
    let usual = !refresh && !record.origin.urn.is_empty();
    !usual && (!refresh || !is_observed(&ty, record, answers, address))
}

/// The difference between an object and what the plan read, in the fields that plans use.
fn differs(
    ty: &ResourceType,
    recorded: &Value,
    then: Option<&PinnedRead>,
    now: &ReadOutcome,
) -> Option<String> {
    let then = match then {
        None => Some(recorded),
        Some(PinnedRead::Present { fields, .. }) => Some(fields),
        Some(PinnedRead::Absent) => None,
        Some(PinnedRead::Unknown) => return None,
    };
    let (then, now) = match (then, now) {
        (None, ReadOutcome::Absent) => return None,
        (Some(_), ReadOutcome::Absent) => return Some("it is not there any more".to_owned()),
        (None, ReadOutcome::Present(_)) => return Some("it is there again".to_owned()),
        (_, ReadOutcome::Unknown) => return Some("it is not known whether it exists".to_owned()),
        (Some(then), ReadOutcome::Present(now)) => (then, &now.fields),
    };
    let used = ty.schema.fields.iter().filter(|(_, field)| {
        !field.ignore_drift && (!field.computed || field.track_drift || field.optional)
    });
    let differing = used.filter(|(name, field)| {
        let of = |fields: &'_ Value| fields.get(name).filter(|value| !value.is_null()).cloned();
        match (of(then), of(now)) {
            (Some(then), Some(now)) => !same_field(field, &then, &now),
            (None, None) => false,
            _ => true,
        }
    });
    let names: Vec<String> = differing.map(|(name, _)| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "has" } else { "have" };
    (!names.is_empty()).then(|| format!("{} {verb} changed", names.join(", ")))
}
