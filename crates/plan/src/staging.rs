//! From what is wanted, remembered and seen to steps, each with its reason.
//!
//! A plan is complete: `apply` makes no choices. The same inputs and answers give the same plan, byte for byte; what
//! the world had to say is kept in it ([`Answers`]).
//!
//! ```text
//! checked, inputs ──┐
//! snapshot ─────────┼──> settle ──> draft, level by level ──> removals ──> order ──> Plan
//! answers ──────────┘    (what was cut off)   (each element read, compared, decided)
//! ```
//!
//! Not here: running steps (`apply`); words for people (the face).

use blueprint::{Address, IndexMap, Name, Value};
use diag::{Diagnostics, Severity};
use dialects::DialectRules;
use evaluate::answers::{Answers, FrozenPreflight, groups_differ};
use evaluate::patience::Patient;
use evaluate::questions;
use evaluate::resolve::Evaluation;
use evaluate::resolve::inputs::resolve_inputs;
use evaluate::transform::transform_documents;
use evaluate::world::World;
use state::OperationKind;
use understand::documents::Documents;
use understand::pinned::FrozenData;

use crate::addresses::Named;
use crate::drafting;
use crate::drafting::preflight;
use crate::model::{Action, AddressSet, ExportAction, ExportChange, Purpose};
use crate::moves::Moves;
use crate::options::{DriftPolicy, Surgery};
use crate::plan::{Plan, Request, Staged};
use crate::settled::Ledger;
use crate::stops::Subjects;
use crate::target_set::Reach;
use crate::targets::Untouched;
use crate::{
    addresses, batches, children, claims, codes, drift, exports, immutable, moves, policies, reconcile, refresh,
    state_edit, targets, tasks, unchanged,
};

/// Makes a plan: settles what was cut off, reads the world, decides for each thing what to do, and puts it in order.
///
/// `None` if anything stands in the way; why goes to `found`, warnings beside a plan too.
///
/// What could not be read is planned as it is recorded, with a warning. Where the plan would change such a thing, that is
/// an error, and the plan is there only to be seen: [`Plan::unread_but_needed`].
pub async fn plan(request: Request<'_>, found: &mut Diagnostics) -> Option<Staged> {
    let mut unread = Vec::new();
    let (forced, refuses) = (request.options.force, request.options.drift == DriftPolicy::Refuse);
    // It is large, and its callers are too.
    let staged = Box::pin(plan_from(request, &mut unread, found)).await;
    let needed: AddressSet = match &staged {
        Some(staged) => staged.plan.unread_but_needed().into_iter().cloned().collect(),
        None => AddressSet::default(),
    };
    let (needed, rest): (Vec<_>, Vec<_>) = unread.iter().partition(|one| needed.contains(&one.address));
    let so = if refuses { "whether it has drifted is not known" } else { "the plan would change it" };
    let so = format!("{so}: mend the cause, or leave the world aside with `--no-refresh`");
    refresh::report_unread(needed, Severity::Error, &so, found);
    let severity = if forced { Severity::Note } else { Severity::Warning };
    refresh::report_unread(rest, severity, "it is taken to be as recorded", found);
    staged
}

pub(crate) async fn plan_from(
    request: Request<'_>,
    unread: &mut Vec<refresh::Unread>,
    found: &mut Diagnostics,
) -> Option<Staged> {
    let Request { instance, document, given, options, mut snapshot, catalogs, functions, answers, others, world } =
        request;
    let patient = Patient::new(world, &catalogs);
    let world: &dyn World = &patient;
    world.recall(&snapshot);
    let is_kept = answers.is_some() && !options.rollback;
    let mut answers = match answers {
        Some(kept) if is_kept => {
            *unread = refresh::unread_then(&kept);
            kept
        }
        earlier => {
            let mut answers = earlier
                .unwrap_or_else(|| Answers { working_directory: world.working_directory(), ..Answers::default() });
            answers.now = world.now();
            answers.unread.clear();
            for (site, value) in &snapshot.remembered {
                answers.remembered.entry(site.clone()).or_insert_with(|| value.clone());
            }
            if options.refresh || !snapshot.open.is_empty() {
                let (only_cut_off, adopted) = (!options.refresh, &options.adopted);
                *unread = refresh::refresh(&snapshot, only_cut_off, adopted, &catalogs, world, &mut answers).await;
                let unsure = unread.extract_if(.., |one| one.why == refresh::Why::Unsure).collect::<Vec<_>>();
                refresh::report_unsure(&unsure, &instance, &options, found);
                // `settle` says what a person can do about calls that were cut off.
                unread.retain(|one| one.why == refresh::Why::Recorded);
            }
            answers
        }
    };
    let mut mistakes = Diagnostics::new();
    // A kept plan is settled again, so it keeps all that was seen.
    let seen = answers.seen.clone();
    let elsewhere = refresh::seen_elsewhere(&snapshot, &answers, &catalogs);
    let mut settled = refresh::settle(&instance, &mut snapshot, &catalogs, &answers, &options, &mut mistakes);
    if options.refresh {
        elsewhere.iter().for_each(|address| drop(answers.seen.shift_remove(address)));
    } else {
        answers.seen.clear();
    }
    let purpose = match &document {
        Some(_) => Purpose::Deploy,
        None if options.reconcile || options.surgery.is_some() => Purpose::Reconcile,
        None => Purpose::Destroy,
    };
    let kind = match (purpose, snapshot.records.is_empty()) {
        (Purpose::Reconcile, _) if options.surgery.is_some() => OperationKind::State,
        (Purpose::Reconcile, _) => OperationKind::Reconcile,
        _ if options.rollback => OperationKind::Rollback,
        (Purpose::Destroy, _) => OperationKind::Destroy,
        (Purpose::Deploy, true) => OperationKind::Deploy,
        (Purpose::Deploy, false) => OperationKind::Update,
    };
    let named = Named::new(&options.targets);
    let replace = Named::new(&options.replace);
    let renew = Named::new(&options.renew);
    let mut owners = Vec::new();
    let mut ledger = Ledger::default();
    let mut moves = Moves::default();
    let mut differs = IndexMap::default();
    let mut frozen = None;
    let mut evaluation = None;
    let mut drift = Vec::new();
    let mut draft = match document {
        Some((documents, document)) => {
            let Some(documents) = transform_documents(documents, &catalogs, &functions, world, &mut mistakes).await
            else {
                found.append(mistakes);
                return None;
            };
            still_makes(&documents, &mut answers, &mut mistakes);
            for checked in documents.distinct() {
                children::refuse_unsupported(checked, &mut mistakes);
            }
            documents.refuse_open(&mut mistakes);
            answers.documents = documents.frozen.documents.clone();
            for (name, found) in &documents.frozen.data_sources {
                answers.data_sources.entry(name.clone()).or_insert_with(|| found.clone());
            }
            let root = documents.root().blueprint();
            mistakes.extend(documents.root().checked.rules.naming.instance(&instance, root.span));
            let mut kept_inputs = Vec::new();
            let groups: Vec<Name> = documents
                .frozen
                .groups
                .keys()
                .map(|path| format!("{}{path}", evaluate::answers::GROUP).into())
                .collect();
            for (key, value) in groups.iter().zip(documents.frozen.groups.values()) {
                answers.remembered.insert(key.clone(), state::Remembered { fingerprint: 0, value: value.clone() });
            }
            let inputs = resolve_inputs(&documents.root().checked, &given, &mut mistakes);
            frozen = Some(document);
            immutable::heed(&documents.root().checked, &inputs, &mut answers, &mut kept_inputs, &mut mistakes);
            let reach = Reach::of(&documents, &options.targets);
            let within = |address: &Address| reach.covers(address);
            moves = moves::follow(&documents, within, &mut snapshot, &mut answers, &mut ledger, &mut mistakes);
            drift = drift::seen(&snapshot, &catalogs, &answers);
            if !renew.is_empty() {
                owners = policies::owners(&answers);
            }
            if !is_kept {
                policies::renew(&mut answers, &renew);
            }
            differs = policies::heed_drift(options.drift, within, &mut snapshot, &mut answers, &catalogs, &mut ledger);
            if mistakes.has_errors() || found.has_errors() {
                found.append(mistakes);
                return None;
            }
            let mut evaluated = Evaluation::new(documents.clone(), functions, instance.clone(), inputs, answers);
            evaluated.inputs.iter().for_each(|value| world.learn(value));
            evaluated.simulated = options.simulated;
            evaluated.sites.insert("group".into(), groups.into_iter().chain(kept_inputs).collect());
            let with = drafting::Drafting {
                snapshot: &mut snapshot,
                ledger: &mut ledger,
                reach: &reach,
                moves: &mut moves,
                replace: &replace,
                taken: &options.taken,
                catalogs: &catalogs,
                world,
            };
            let draft = drafting::draft(&mut evaluated, with, &mut mistakes).await;
            immutable::heed_children(&mut evaluated, &mut mistakes);
            answers = evaluated.answers.clone();
            evaluation = Some(evaluated);
            draft
        }
        None => match &options.surgery {
            Some(surgery) => {
                let table = state_edit::Table {
                    snapshot: &mut snapshot,
                    answers: &mut answers,
                    ledger: &mut ledger,
                    targets: &named,
                    catalogs: &catalogs,
                    world,
                };
                state_edit::draft(surgery, table, &mut mistakes).await
            }
            None if purpose == Purpose::Reconcile => {
                drift = drift::seen(&snapshot, &catalogs, &answers);
                let every = |_: &Address| true;
                differs =
                    policies::heed_drift(options.drift, every, &mut snapshot, &mut answers, &catalogs, &mut ledger);
                reconcile::draft(&snapshot, &answers, &catalogs)
            }
            None => {
                drift = drift::seen(&snapshot, &catalogs, &answers);
                drafting::draft_destroy(&snapshot, &answers, &catalogs)
            }
        },
    };
    if options.refresh && options.surgery.is_none() {
        let looked = preflight::ask_rest(&mut draft, &answers, world, &mut mistakes).await;
        if let Some(evaluation) = &mut evaluation {
            evaluation.answers.preflights.extend(looked.iter().map(|(address, it)| (address.clone(), it.clone())));
        }
        answers.preflights.extend(looked);
    }
    let documents = evaluation.as_ref().map(|evaluation| evaluation.documents.clone());
    for asked in [&named, &replace] {
        asked.refuse_unknown(&draft, &snapshot, documents.as_deref(), &[], &mut mistakes);
    }
    let until = Named::new(options.until.as_slice());
    until.refuse_unknown(&draft, &snapshot, documents.as_deref(), &[], &mut mistakes);
    renew.refuse_unknown(&draft, &snapshot, documents.as_deref(), &owners, &mut mistakes);
    addresses::refuse_absent(&options.importing, &draft, documents.as_deref(), &mut mistakes);
    moves.refuse_declared(&draft, &mut mistakes);
    draft.say_what_came(&moves);
    let mut left_out = Vec::new();
    let mut untouched = Untouched::default();
    if !named.is_empty() && options.surgery.is_none() {
        left_out = targets::restrict(&mut draft, &named, purpose, &snapshot, &mut mistakes);
        let out: AddressSet = left_out.iter().map(|decision| decision.address.clone()).collect();
        draft.imports.take_back(|address| out.contains(address), &mut snapshot, &mut ledger);
        moves.take_back(|address| out.contains(address), &mut snapshot, &mut answers, &mut ledger);
        if let Some(evaluation) = &evaluation {
            untouched = targets::untouched(&left_out, evaluation);
        }
    }
    // A state that is read back may be that of another instance, which then lets go of its things.
    let lets_go = matches!(options.surgery, Some(Surgery::Load(_) | Surgery::Remove(_)));
    if !mistakes.has_errors() && !options.force && !lets_go {
        let said = claims::refuse(&draft, &answers, &instance, others, &mut mistakes).await;
        match said {
            // What belongs to somebody need not be said to stand in the way as well.
            Ok(claimed) => draft.obstacles.retain(|obstacle| !claimed.contains(&obstacle.address)),
            Err(error) => mistakes.push(
                codes::PROVIDER_FAILED.new("the other instances of the state cannot be read").note(error.to_string()),
            ),
        }
    }
    preflight::refuse_obstacles(&mut draft, &mut mistakes);
    if let Some(evaluation) = &evaluation {
        batches::arrange(&mut draft, evaluation, &snapshot, &catalogs, &mut mistakes);
    }
    let rules = documents.as_ref().map_or(DialectRules::NATIVE, |documents| documents.root().checked.rules);
    policies::report_what_goes(&draft, rules.messages, &mut mistakes);
    if options.drift == DriftPolicy::Refuse {
        policies::refuse_drift(&draft, &answers, &mut mistakes);
    }
    let mut declared = match purpose {
        Purpose::Destroy if named.is_empty() => state::Declared::default(),
        _ => snapshot.declared.clone(),
    };
    if let Some(evaluated) = &mut evaluation {
        let taken = evaluated.taken();
        loop {
            let needs = children::needs(evaluated);
            if needs.is_empty() || mistakes.has_errors() {
                break;
            }
            questions::answer(evaluated, needs, &catalogs, world, &mut mistakes).await;
        }
        evaluated.give_back(taken);
        declared = children::declared(evaluated, &untouched, &snapshot.declared, &mut mistakes);
        evaluated.descriptions(&mut mistakes);
        answers = evaluated.answers.clone();
    }
    let (exports, metadata) = match &mut evaluation {
        Some(evaluation) if !mistakes.has_errors() => {
            exports::exports(evaluation, &snapshot, &untouched, &mut mistakes)
        }
        None if purpose == Purpose::Reconcile || !named.is_empty() => {
            (exports::unchanged(&snapshot), snapshot.metadata.clone())
        }
        _ => (exports::none(&snapshot), Value::Null),
    };
    if let Some(evaluation) = &mut evaluation {
        evaluation.report_room(&mut mistakes);
        evaluation.documents.attribute(crate::codes::OF_ACTIONS, &mut mistakes);
        evaluation.lift_limits();
    }
    let failed = mistakes.has_errors() || found.has_errors();
    found.append(mistakes);
    if failed {
        return None;
    }
    answers.seen = seen;
    if let Some(evaluation) = &mut evaluation {
        answers.remembered = evaluation.remembered();
        if untouched.partial {
            // What is left out keeps the values it was made with.
            let kept = snapshot.remembered.iter().filter(|(site, _)| !answers.remembered.contains_key(*site));
            let kept: Vec<_> = kept.map(|(site, value)| (site.clone(), value.clone())).collect();
            answers.remembered.extend(kept);
        }
        evaluation.answers.remembered = answers.remembered.clone();
    }
    settled.extend(ledger.settled(&snapshot));
    let unchanged = children::unchanged_in(&draft);
    // A plan for a part has left out what is not in it.
    let partial = !named.is_empty();
    let subjects = Subjects::of(&draft, evaluation.as_ref(), &snapshot, (purpose, kind), partial);
    let mut ordered = tasks::order(draft, &snapshot, evaluation.as_ref(), &subjects, untouched.partial, found);
    for step in ordered.steps.iter_mut().filter(|step| matches!(step.action, Action::Create | Action::Replace)) {
        step.adopts = answers.opinions.get(&step.address).is_some_and(|opinion| opinion.adopts);
    }
    ordered.left_alone.waiting = left_out
        .iter()
        .filter(|decision| decision.action != Action::None)
        .map(|decision| decision.address.clone())
        .collect();
    ordered.left_alone.document_differs = differs;
    ordered.left_alone.out_of_target = left_out.into_iter().map(|decision| decision.address).collect();
    let secret = ordered.secret
        || exports.iter().any(|export| export.after.as_ref().is_some_and(Value::has_secret))
        || metadata.has_secret()
        || declared.values().any(Value::has_secret)
        || settled.iter().any(|settled| settled.record.as_ref().is_some_and(|record| record.has_secret()))
        || answers.remembered.values().any(|remembered| remembered.value.has_secret())
        || answers.data_sources.values().any(FrozenData::has_secret)
        || answers.preflights.values().any(FrozenPreflight::has_secret)
        || answers.calls.values().any(Value::has_secret)
        || evaluation.as_ref().is_some_and(|evaluation| evaluation.inputs.iter().any(Value::has_secret));
    let stays = purpose == Purpose::Reconcile || purpose == Purpose::Destroy && !named.is_empty();
    let children = children::changes(
        documents.as_deref(),
        &snapshot,
        &declared,
        &ordered.steps,
        &ordered.left_alone,
        &unchanged,
        stays,
    );
    let differs = |changes: &[ExportChange]| changes.iter().any(|it| it.action != ExportAction::Unchanged);
    let declares_anew = evaluation.is_some() && groups_differ(&snapshot.remembered, &answers.remembered)
        || !children::same_sources(&snapshot.declared, &declared)
        || children.iter().any(|child| {
            let new = matches!(child.action, ExportAction::New | ExportAction::Removed);
            new || differs(&child.exports) || differs(&child.metadata)
        });
    if !is_kept {
        answers.settings = unchanged::settings_of(&ordered.steps, "", world);
        if !answers.settings.is_empty() && answers.salt.is_empty() {
            answers.salt = data_encoding::HEXLOWER.encode(&world.random()).into();
        }
        answers.settings = unchanged::settings_of(&ordered.steps, &answers.salt, world);
    }
    for step in &mut ordered.steps {
        step.not_observed = unchanged::is_unobserved(step, &snapshot, &catalogs, &answers, options.refresh);
    }
    let plan = Plan {
        instance,
        purpose,
        kind,
        revision: snapshot.revision,
        document: frozen,
        given,
        options,
        answers,
        steps: ordered.steps,
        links: ordered.links,
        exports,
        metadata_changes: exports::metadata_changes(&snapshot.metadata, &metadata),
        metadata,
        children,
        drift,
        stops: subjects.planned(),
        left_alone: ordered.left_alone,
        secret,
        tasks: ordered.tasks,
        groups: ordered.groups,
        settled,
        untouched,
        declares_anew,
        gates: ordered.gates,
        begun: subjects.begun(),
    };
    Some(Staged { plan, snapshot, evaluation, catalogs })
}

/// Keeps what transforms made of documents by its digest; `input-changed` if a kept plan was made from something else.
pub(crate) fn still_makes(documents: &Documents, answers: &mut Answers, found: &mut Diagnostics) {
    for unit in documents.units() {
        let Some(made) = &unit.checked.made else { continue };
        let place: Name = unit.path.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("/").into();
        match answers.transformed.get(&place) {
            Some(before) if before != made => found.push(
                codes::INPUT_CHANGED
                    .new("the transforms of the document make something else than when the plan was made")
                    .label(unit.blueprint().transforms.first().map_or(diag::Span::NONE, |first| first.span), "")
                    .help("stage again"),
            ),
            _ => drop(answers.transformed.insert(place, made.clone())),
        }
    }
}
