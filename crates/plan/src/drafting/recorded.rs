//! The opinions of providers on the decisions of a plan without a document. Such a plan creates or
//! corrects recorded resources.
//!
//! Not here: deletes (`deletions`), plans with documents (`opinions`).

use blueprint::Value;
use diag::Diagnostics;
use evaluate::answers::{Answers, ProviderOpinion};
use evaluate::question::{RecordedInstances, ResourceTarget};
use evaluate::world::World;
use provider::{PlanMode, PlanPhase, PlanRequest, Planned, Plans, ProviderError};

use crate::decision::Decision;
use crate::draft::Draft;
use crate::drafting::opinions::{mode_of, plans_of};
use crate::drafting::verdicts::apply_opinion;
use crate::model::Action;
use crate::provider_diagnostics::{provider_failed, report};

/// Asks the providers that decide for their opinions on the decisions of a draft, and stores the
/// opinions.
pub(crate) async fn ask_about_records(
    draft: &mut Draft,
    answers: &mut Answers,
    instances: &RecordedInstances,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let is_asked = |decision: &Decision| {
        plans_of(decision) == Plans::Always
            && matches!(
                decision.action,
                Action::Create | Action::Update | Action::Replace
            )
            && world.environment().manages(&decision.type_name)
    };
    let asked: Vec<usize> = (0..draft.decisions.len())
        .filter(|at| is_asked(&draft.decisions[*at]))
        .collect();
    if asked.is_empty() {
        return;
    }
    if answers.salt.is_empty() {
        answers.salt = data_encoding::HEXLOWER
            .encode(&world.environment().random())
            .into();
    }
    let modes = asked
        .iter()
        .filter_map(|at| Some((*at, mode_of(&draft.decisions[*at])?)));
    let modes: Vec<(usize, PlanMode)> = modes
        .filter(|(at, _)| !answers.opinions.contains_key(&draft.decisions[*at].address))
        .collect();
    ask(draft, &modes, answers, instances, world, found).await;
    for at in &asked {
        let decision = &mut draft.decisions[*at];
        if let Some(opinion) = answers.opinions.get(&decision.address) {
            apply_opinion(decision, opinion, None);
        }
    }
    let is_replaced = |(at, mode): &(usize, PlanMode)| {
        *mode == PlanMode::Update && draft.decisions[*at].action == Action::Replace
    };
    let replaced = modes
        .iter()
        .filter(|asked| is_replaced(asked))
        .map(|(at, _)| (*at, PlanMode::Replace));
    let replaced: Vec<(usize, PlanMode)> = replaced.collect();
    ask(draft, &replaced, answers, instances, world, found).await;
}

/// Asks all questions together, and stores the opinions.
async fn ask(
    draft: &Draft,
    modes: &[(usize, PlanMode)],
    answers: &mut Answers,
    instances: &RecordedInstances,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let kept = &*answers;
    let asked = modes.iter().map(async |(at, mode)| {
        let decision = &draft.decisions[*at];
        (
            decision,
            plan_of(decision, *mode, (kept, instances), world).await,
        )
    });
    let answered = futures::future::join_all(asked.collect::<Vec<_>>()).await;
    let messages = dialect::DialectRules::NATIVE.messages;
    for (decision, answer) in answered {
        let address = &decision.address;
        match answer {
            Ok(mut answer) => {
                let diagnostics = std::mem::take(&mut answer.diagnostics);
                report(diagnostics, address, None, decision.span, messages, found);
                let mut opinion = ProviderOpinion::from(answer);
                if let Some(first) = answers.opinions.get(address) {
                    // The verdict about the old resource stays.
                    (opinion.verdict, opinion.replaces) =
                        (first.verdict.clone(), first.replaces.clone());
                }
                answers.opinions.insert(address.clone(), opinion);
            }
            Err(error) if error.diagnostics.is_empty() => {
                found.push(provider_failed(address, decision.span, &error));
            }
            Err(error) => report(
                error.diagnostics,
                address,
                None,
                decision.span,
                messages,
                found,
            ),
        }
    }
}

async fn plan_of(
    decision: &Decision,
    mode: PlanMode,
    (answers, instances): (&Answers, &RecordedInstances),
    world: &dyn World,
) -> Result<Planned, ProviderError> {
    let record = decision
        .prior
        .as_deref()
        .filter(|_| mode != PlanMode::Create);
    let exists = record.filter(|_| mode == PlanMode::Update);
    let seed = answers.seed_of(&decision.address, mode);
    let site = decision
        .prior
        .as_ref()
        .map(|record| record.origin.site())
        .unwrap_or_default();
    let of = decision
        .prior
        .as_ref()
        .and_then(|record| record.provider.as_ref());
    let target = ResourceTarget::new(&decision.address, &decision.type_name, site)
        .managed_by(instances.get(of));
    let request = PlanRequest {
        mode,
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
        ignored: &[],
        replacing: &[],
        seed: &seed,
    };
    world.plan(target, request).await
}
