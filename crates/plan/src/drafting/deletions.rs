//! Asks providers that plan deletes about the deletes of a draft, and about the old resources of
//! its replacements.
//!
//! A refusal is an error at the resource. The opaque data of the answer reaches the call.
//!
//! Not here: deletes that are decided only while the plan is carried out, and deletes of deposed
//! resources. Their calls get the recorded data.

use blueprint::{Address, IndexMap, Value};
use diag::Diagnostics;
use evaluate::answers::Answers;
use evaluate::question::{RecordedInstances, ResourceTarget};
use evaluate::world::World;
use provider::{PlanMode, PlanPhase, PlanRequest, ProviderError};
use understand::documents::Documents;

use crate::decision::Decision;
use crate::draft::Draft;
use crate::model::Action;
use crate::provider_diagnostics::{provider_failed, report};

/// Asks about the deletes of a draft. Returns the opaque data for their calls, by address.
pub(crate) async fn ask_deletes(
    draft: &Draft,
    (answers, instances): (&Answers, &RecordedInstances),
    documents: Option<&Documents>,
    world: &dyn World,
    found: &mut Diagnostics,
) -> IndexMap<Address, Value> {
    let asked = draft
        .decisions
        .iter()
        .filter(|decision| is_asked(decision, answers, world));
    let asked =
        asked.map(async |decision| (decision, ask(decision, answers, instances, world).await));
    let messages = documents.map_or(dialect::DialectRules::NATIVE.messages, |it| {
        it.root().checked.rules.messages
    });
    let mut planned = IndexMap::default();
    for (decision, answer) in futures::future::join_all(asked.collect::<Vec<_>>()).await {
        let declared = decision
            .element
            .zip(documents)
            .and_then(|((number, _), it)| it.resource(number));
        let spec = declared.map(|(.., resource)| &resource.spec);
        let (diagnostics, private) = match answer {
            Ok(answer) => (answer.diagnostics, answer.private),
            Err(error) if error.diagnostics.is_empty() => {
                found.push(provider_failed(&decision.address, decision.span, &error));
                continue;
            }
            Err(error) => (error.diagnostics, Value::Null),
        };
        report(
            diagnostics,
            &decision.address,
            spec,
            decision.span,
            messages,
            found,
        );
        planned.insert(decision.address.clone(), private);
    }
    planned
}

fn is_asked(decision: &Decision, answers: &Answers, world: &dyn World) -> bool {
    let plans = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.plans_deletes);
    let exists = decision.prior.as_ref().is_some_and(|record| {
        // The old resource of a replacement may be of another type.
        !record.id.is_empty() && record.type_name == decision.type_name
    });
    plans
        && exists
        && matches!(decision.action, Action::Delete | Action::Replace)
        && !answers.deletes.contains_key(&decision.address)
        && world.environment().manages(&decision.type_name)
}

async fn ask(
    decision: &Decision,
    answers: &Answers,
    instances: &RecordedInstances,
    world: &dyn World,
) -> Result<provider::Planned, ProviderError> {
    let Some(record) = decision.prior.as_deref() else {
        return Ok(provider::Planned::default());
    };
    let target = ResourceTarget::new(&decision.address, &decision.type_name, record.origin.site())
        .managed_by(instances.get(record.provider.as_ref()));
    let seed = answers.seed_of(&decision.address, PlanMode::Delete);
    let request = PlanRequest {
        mode: PlanMode::Delete,
        phase: PlanPhase::Preview,
        type_name: &decision.type_name,
        id: Some(&record.id),
        prior_inputs: &record.inputs,
        prior: &decision.outputs,
        schema_version: record.schema_version,
        private: &decision.private.now,
        unhealthy: &record.unhealthy,
        desired: &Value::Null,
        ignored: &[],
        replacing: &[],
        seed: &seed,
    };
    world.plan(target, request).await
}
