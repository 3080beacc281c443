//! What providers say of a draft: whether they accept it, and what a change would do.
//!
//! Not here: the change itself (`draft`), asking (the world).

use blueprint::{Address, Expr, ExprKind, Value};
use diag::{Diagnostics, Span};

use super::Decision;
use crate::answers::Opinion;
use crate::patience::code_of;
use crate::plan::diff::Change;
use crate::plan::{Action, Reason};
use crate::resolve::Evaluation;
use crate::world::{PlanQuestion, World};

/// Asks providers that have something to say: whether they accept, and what they would do.
pub(super) async fn ask_providers(
    evaluation: &mut Evaluation,
    drafts: &mut [Decision],
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let answers = &evaluation.answers;
    let checks = drafts.iter().enumerate().filter(|(_, decision)| {
        let says = decision.ty.as_ref().is_some_and(|ty| ty.capabilities.checks);
        says && matches!(decision.action, Action::Create | Action::Update | Action::Replace)
    });
    let plans = drafts.iter().enumerate().filter(|(_, decision)| {
        let says = decision.ty.as_ref().is_some_and(|ty| ty.capabilities.plans);
        says && decision.action == Action::Update && !answers.opinions.contains_key(&decision.address)
    });
    let checks = checks.map(|(at, decision)| async move {
        (at, world.check(&decision.address, &decision.type_name, &decision.desired).await)
    });
    let plans = plans.map(|(at, decision)| async move {
        let inputs = decision.prior.as_ref().map_or(&Value::Null, |record| &record.inputs);
        let question = PlanQuestion {
            address: &decision.address,
            type_name: &decision.type_name,
            prior_inputs: inputs,
            prior: &decision.outputs,
            desired: &decision.desired,
        };
        (at, world.plan(question).await)
    });
    let (checked, planned) = futures::future::join(
        futures::future::join_all(checks.collect::<Vec<_>>()),
        futures::future::join_all(plans.collect::<Vec<_>>()),
    )
    .await;
    let conventions = dialects::conventions(evaluation.documents.root().blueprint().dialect);
    for (at, answer) in checked {
        let decision = &drafts[at];
        let resource = decision.element.and_then(|(number, _)| evaluation.documents.resource(number));
        let span_of =
            |path: &str| resource.and_then(|(.., resource)| place_in(&resource.spec, path)).unwrap_or(decision.span);
        match answer {
            Ok(said) => {
                for (path, why) in said.rejected {
                    let what = if path.is_empty() { format!("`{}`", decision.address) } else { format!("`{path}`") };
                    found.push(
                        crate::check::codes::REJECTED_BY_PROVIDER
                            .new(format!("the provider does not accept {what}"))
                            .label(span_of(&path), why),
                    );
                }
                let codes = [
                    (&expr::codes::TYPE_MISMATCH, "is of the wrong kind", true, said.mismatched),
                    (&crate::check::codes::VALUE_CONSTRAINT, "is outside its limits", false, said.outside),
                ];
                let name = &decision.address.name;
                for (code, what, is_kind, said) in codes {
                    found.extend(said.into_iter().map(|(path, why)| {
                        let whose = if path.is_empty() { decision.address.to_string() } else { path.clone() };
                        let mistake = dialects::Mistake::Misfit { resource: name, field: &path, why: &why, is_kind };
                        let words = conventions.and_then(|it| it.words(&mistake)).map(Box::new);
                        let mut found = code.new(format!("`{whose}` {what}")).label(span_of(&path), why);
                        found.words = words;
                        found
                    }));
                }
                for (path, why) in said.warnings {
                    let mut warning = crate::check::codes::REJECTED_BY_PROVIDER
                        .new(format!("the provider has a remark about `{}`", decision.address))
                        .label(span_of(&path), why);
                    warning.severity = diag::Severity::Warning;
                    found.push(warning);
                }
            }
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
    let mut opinions: Vec<(Address, Opinion)> = Vec::new();
    for (at, answer) in planned {
        let decision = &drafts[at];
        match answer {
            Ok(said) => opinions.push((
                decision.address.clone(),
                Opinion {
                    replaces: said.replaces,
                    changes: said.changes,
                    only_recorded: said.only_recorded,
                    private: said.private,
                },
            )),
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
    evaluation.answers.opinions.extend(opinions);
    for decision in drafts.iter_mut() {
        if let Some(opinion) = evaluation.answers.opinions.get(&decision.address) {
            heed(decision, opinion);
        }
    }
}

/// Makes of an update what its provider says of it.
pub(super) fn heed(decision: &mut Decision, opinion: &Opinion) {
    if decision.action != Action::Update {
        return;
    }
    let under = |change: &Change, path: &str| {
        let rest = change.path.strip_prefix("spec.").unwrap_or(&change.path);
        rest.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    for change in &mut decision.changes {
        change.forces |= opinion.replaces.iter().any(|path| under(change, path));
    }
    if decision.changes.iter().any(|change| change.forces) {
        decision.action = Action::Replace;
        decision.reasons.insert(0, Reason::FieldForces);
    } else {
        decision.only_recorded = !decision.changes.is_empty()
            && decision.reasons == [Reason::Changed]
            && decision.changes.iter().all(|change| opinion.only_recorded.iter().any(|path| under(change, path)));
    }
    if !opinion.private.is_null() {
        decision.private = opinion.private.clone();
    }
}

/// Where the value at a path of a spec is written.
pub(super) fn place_in(spec: &Expr, path: &str) -> Option<Span> {
    let mut here = spec;
    for name in path.split(['.', '[']).filter(|name| !name.is_empty()) {
        here = match &here.inner().kind {
            ExprKind::Map(entries) => &entries.iter().find(|(key, _)| key.item.as_ref() == name)?.1,
            ExprKind::List(items) => items.get(name.trim_end_matches(']').parse::<usize>().ok()?)?,
            _ => break,
        };
    }
    Some(here.span)
}

fn provider_failed(address: &Address, span: Span, error: &provider::ProviderError) -> diag::Diagnostic {
    let diagnostic = code_of(error).new(format!("the provider cannot plan `{address}`"));
    diagnostic.label(span, "declared here").note(error.message.clone())
}
