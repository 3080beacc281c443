//! The opinions of providers on a draft: whether they accept it, and what a change would do.
//!
//! A provider that decides ([`Plans::Always`]) is asked about every resource. If the provider or
//! the engine wants a replacement, the provider is asked again for the new resource, so that
//! dependants see its planned outputs.
//!
//! Not here: the change itself (`decide`), the meaning of an opinion for a decision (`verdicts`),
//! asking (the world).

use blueprint::{Address, Name, Resource, Value};
use diag::Diagnostics;
use evaluate::answers::{Answers, ProviderOpinion};
use evaluate::resolve::Evaluation;
use evaluate::world::World;
use provider::{CheckRequest, PlanMode, PlanPhase, PlanRequest, Plans};
use understand::links::contribution::{Contribution, carry_over};

use crate::decision::Decision;
use crate::drafting::verdicts::apply_opinion;
use crate::model::Action;
use crate::provider_diagnostics::{provider_failed, report};

/// Asks the providers that check or plan: whether they accept the specs, and what they would do.
pub(crate) async fn ask_providers(
    evaluation: &mut Evaluation,
    drafts: &mut [Decision],
    world: &dyn World,
    found: &mut Diagnostics,
) {
    if evaluation.answers.salt.is_empty() && drafts.iter().any(|it| plans_of(it) == Plans::Always) {
        evaluation.answers.salt = data_encoding::HEXLOWER
            .encode(&world.environment().random())
            .into();
    }
    let answers = &evaluation.answers;
    let checked = drafts.iter().enumerate().filter(|(_, decision)| {
        let checks_specs = decision
            .ty
            .as_ref()
            .is_some_and(|ty| ty.capabilities.checks);
        checks_specs
            && (plans_of(decision) == Plans::Always
                || matches!(
                    decision.action,
                    Action::Create | Action::Update | Action::Replace
                ))
    });
    let documents = evaluation.documents.clone();
    let instance = evaluation.instance.clone();
    let site_of = |decision: &Decision| {
        documents.site_of(decision.element.map(|(number, _)| number), &instance)
    };
    let checked = checked.map(|(at, decision)| (at, decision, site_of(decision)));
    let checked = checked.map(|(at, decision, site)| async move {
        let target = decision.target(site.borrowed());
        let request = CheckRequest {
            type_name: &decision.type_name,
            spec: &decision.desired,
        };
        (at, world.check(target, request).await)
    });
    let planned = drafts
        .iter()
        .enumerate()
        .filter(|(_, decision)| !answers.opinions.contains_key(&decision.address));
    let planned = planned.filter_map(|(at, decision)| Some((at, mode_of(decision)?)));
    let planned: Vec<(usize, PlanMode)> = planned.collect();
    let (checked, opinions) = futures::future::join(
        futures::future::join_all(checked.collect::<Vec<_>>()),
        ask_plans(evaluation, drafts, &planned, world),
    )
    .await;
    let messages = evaluation.documents.root().checked.rules.messages;
    for (at, answer) in checked {
        let decision = &drafts[at];
        let resource = decision
            .element
            .and_then(|(number, _)| evaluation.documents.resource(number));
        match answer {
            Ok(answer) => {
                let spec = resource.map(|(.., resource)| &resource.spec);
                report(
                    answer.diagnostics,
                    &decision.address,
                    spec,
                    decision.span,
                    messages,
                    found,
                );
            }
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
    store_opinions(evaluation, drafts, opinions, found);
    for decision in drafts.iter_mut() {
        if let Some(opinion) = evaluation.answers.opinions.get(&decision.address) {
            let was_replaced = decision.action == Action::Replace;
            apply_opinion(
                decision,
                opinion,
                resource_of(&evaluation.documents, decision),
            );
            if was_replaced && decision.action == Action::Update {
                let written = evaluation.links.written_into(&decision.address);
                keep_object(decision, written);
            }
        }
    }
    // A provider that decides also plans the new resource of a replacement.
    let replaced = drafts.iter().enumerate().filter(|(at, decision)| {
        // `planned` is in the order of the drafts.
        let asked = || {
            planned
                .binary_search_by_key(at, |(asked, _)| *asked)
                .is_ok_and(|found| planned[found].1 == PlanMode::Update)
        };
        decision.action == Action::Replace && plans_of(decision) == Plans::Always && asked()
    });
    let replaced: Vec<(usize, PlanMode)> =
        replaced.map(|(at, _)| (at, PlanMode::Replace)).collect();
    if replaced.is_empty() {
        return;
    }
    let opinions = ask_plans(evaluation, drafts, &replaced, world).await;
    let opinions = opinions.into_iter().map(|(at, answer)| {
        let first = evaluation.answers.opinions.get(&drafts[at].address);
        let answer = answer.map(|mut planned| {
            let Some(first) = first else { return planned };
            // The verdict about the old resource stays, with its paths.
            (planned.verdict, planned.replaces) = (first.verdict.clone(), first.replaces.clone());
            if drafts[at].may_replace {
                // Whether the resource is replaced is not decided, so only outputs that both plans
                // agree on are promised.
                planned.outputs = first
                    .outputs
                    .as_ref()
                    .zip(planned.outputs.as_ref())
                    .map(|(a, b)| common_value(a, b));
            }
            planned
        });
        (at, answer)
    });
    let opinions: Vec<_> = opinions.collect();
    store_opinions(evaluation, drafts, opinions, found);
    for (at, _) in replaced {
        let decision = &mut drafts[at];
        if let Some(inputs) = evaluation
            .answers
            .opinions
            .get(&decision.address)
            .and_then(|opinion| opinion.inputs.clone())
        {
            decision.desired = inputs;
        }
    }
}

/// Turns the spec of a new object into the spec of the object that stays: links have written into
/// it.
fn keep_object(decision: &mut Decision, written: &[Contribution]) {
    let Some(record) = decision.prior.clone() else {
        return;
    };
    if !written.is_empty() {
        let document = decision.desired.clone();
        decision.desired = carry_over(&document, written.iter(), &record.inputs, &document);
    }
    decision.record_differs = decision.differs_from(&record);
}

/// The value that two plans agree on; unknown where they differ.
fn common_value(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Secret(one), other) => common_value(one, other.unmarked()).secret(),
        (one, Value::Secret(other)) => common_value(one, other).secret(),
        (Value::Map(one), Value::Map(other)) => {
            let names = one
                .keys()
                .chain(other.keys().filter(|name| !one.contains_key(name)));
            let side =
                |map: &blueprint::Map, name: &str| map.get(name).cloned().unwrap_or_default();
            Value::map(names.map(|name| {
                (
                    name.clone(),
                    common_value(&side(one, name), &side(other, name)),
                )
            }))
        }
        (one, other) if one == other => one.clone(),
        _ => Value::unknown(None, None),
    }
}

type PlanAnswer = (usize, Result<provider::Planned, provider::ProviderError>);

/// Asks for the plans of drafts, by their positions. All questions are put together.
async fn ask_plans(
    evaluation: &Evaluation,
    drafts: &[Decision],
    wanted: &[(usize, PlanMode)],
    world: &dyn World,
) -> Vec<PlanAnswer> {
    let questions = wanted.iter().map(|(at, mode)| async move {
        let decision = &drafts[*at];
        let site = evaluation.site_of(decision.element.map(|(number, _)| number));
        let record = decision
            .prior
            .as_deref()
            .filter(|_| *mode != PlanMode::Create);
        // The record of another type means nothing to this type.
        let record = record.filter(|record| record.type_name == decision.type_name);
        let exists = record.filter(|_| *mode == PlanMode::Update);
        let seed = evaluation.answers.seed_of(&decision.address, *mode);
        let target = decision.target(site.borrowed());
        let resource = resource_of(&evaluation.documents, decision);
        let lifecycle = resource.map(|resource| &resource.lifecycle);
        let request = PlanRequest {
            mode: *mode,
            phase: PlanPhase::Preview,
            type_name: &decision.type_name,
            id: exists.map(|record| record.id.as_ref()),
            prior_inputs: record.map_or(&Value::Null, |record| &record.inputs),
            prior: if exists.is_some() {
                &decision.outputs
            } else {
                &Value::Null
            },
            schema_version: record.map_or(0, |record| record.schema_version),
            private: record.map_or(&Value::Null, |_| decision.private.latest()),
            unhealthy: exists.map_or(&[], |record| &record.unhealthy),
            desired: &decision.desired,
            ignored: lifecycle.map_or(&[], |lifecycle| &lifecycle.ignore_changes),
            replacing: lifecycle.map_or(&[], |lifecycle| &lifecycle.replace_on_changes),
            seed: &seed,
        };
        (*at, world.plan(target, request).await)
    });
    futures::future::join_all(questions.collect::<Vec<_>>()).await
}

/// Stores the opinions and reports the diagnostics of providers.
fn store_opinions(
    evaluation: &mut Evaluation,
    drafts: &[Decision],
    answers: Vec<PlanAnswer>,
    found: &mut Diagnostics,
) {
    let messages = evaluation.documents.root().checked.rules.messages;
    let mut opinions: Vec<(Address, ProviderOpinion)> = Vec::new();
    for (at, answer) in answers {
        let decision = &drafts[at];
        let spec = resource_of(&evaluation.documents, decision).map(|resource| &resource.spec);
        match answer {
            Ok(mut answer) => {
                let diagnostics = std::mem::take(&mut answer.diagnostics);
                report(
                    diagnostics,
                    &decision.address,
                    spec,
                    decision.span,
                    messages,
                    found,
                );
                opinions.push((decision.address.clone(), ProviderOpinion::from(answer)));
            }
            Err(error) if error.diagnostics.is_empty() || error.session.is_some() => {
                found.push(provider_failed(&decision.address, decision.span, &error));
            }
            Err(error) => report(
                error.diagnostics,
                &decision.address,
                spec,
                decision.span,
                messages,
                found,
            ),
        }
    }
    evaluation.answers.opinions.extend(opinions);
}

/// The changes that the provider of a draft plans: none, updates or all.
pub(crate) fn plans_of(decision: &Decision) -> Plans {
    decision
        .ty
        .as_ref()
        .map_or(Plans::Never, |ty| ty.capabilities.plans)
}

/// Whether the recorded object has another type than the new one.
fn is_of_other_type(decision: &Decision) -> bool {
    let record = decision.prior.as_deref();
    record.is_some_and(|record| record.type_name != decision.type_name)
}

/// The mode in which the provider of a draft is asked to plan; `None` if it is not asked.
pub(crate) fn mode_of(decision: &Decision) -> Option<PlanMode> {
    let adopts = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.adopts);
    match (plans_of(decision), decision.action) {
        (Plans::Always, Action::Create) => Some(PlanMode::Create),
        (Plans::Always, Action::None | Action::Update | Action::Move | Action::Import) => {
            Some(PlanMode::Update)
        }
        (Plans::Always, Action::Replace) => Some(PlanMode::Replace),
        (Plans::Updates, Action::Update) => Some(PlanMode::Update),
        // An object of another type means nothing to the provider.
        (Plans::Updates, Action::Replace) if !adopts && !is_of_other_type(decision) => {
            Some(PlanMode::Update)
        }
        (_, Action::Create) if adopts => Some(PlanMode::Create),
        (_, Action::Replace) if adopts => Some(PlanMode::Replace),
        _ => None,
    }
}

/// The declaration of a draft.
fn resource_of<'a>(
    documents: &'a understand::documents::Documents,
    decision: &Decision,
) -> Option<&'a Resource> {
    decision
        .element
        .and_then(|(number, _)| documents.resource(number))
        .map(|(.., resource)| resource)
}

/// The computed fields that an update may change: by the catalogue, by the opinion of the provider,
/// and in a rehearsal those that the simulation derives from changed fields.
pub(crate) fn changing_fields(
    decision: &Decision,
    simulated: bool,
    answers: &Answers,
) -> Vec<Name> {
    let changed: Vec<&str> = decision
        .changes
        .iter()
        .filter_map(|change| change.path.strip_prefix("spec."))
        .collect();
    let fields = decision.ty.iter().flat_map(|ty| ty.schema.fields.iter());
    let mut changing: Vec<Name> = fields
        .filter(|(_, field)| field.computed)
        .filter(|(_, field)| {
            field.changes_on_update || simulated && provider::depends_on_changes(field, &changed)
        })
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(opinion) = answers.opinions.get(&decision.address) {
        changing.extend(
            opinion
                .changes
                .iter()
                .map(|path| Name::from(path.to_string())),
        );
    }
    changing
}
