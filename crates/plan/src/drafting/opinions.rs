//! What providers say of a draft: whether they accept it, and what a change would do.
//!
//! Not here: the change itself (`draft`), asking (the world).

use blueprint::{Address, Expr, ExprKind, Name, Value};
use diag::{Diagnostics, Span};
use evaluate::answers::{Answers, Opinion};
use evaluate::question::ResourceTarget;
use evaluate::resolve::Evaluation;
use evaluate::retry::code_of;
use evaluate::world::World;
use provider::{CheckRequest, PlanRequest};
use understand::compare::Change;

use crate::decision::Decision;
use crate::model::{Action, Reason};

/// Asks providers that have something to say: whether they accept, and what they would do.
pub(crate) async fn ask_providers(
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
        let says = says && decision.action == Action::Update;
        let adopts = decision.ty.as_ref().is_some_and(|ty| ty.capabilities.adopts);
        let adopts = adopts && matches!(decision.action, Action::Create | Action::Replace);
        (says || adopts) && !answers.opinions.contains_key(&decision.address)
    });
    let documents = evaluation.documents.clone();
    let folder_of = |decision: &Decision| documents.folder_declaring(decision.element.map(|(number, _)| number));
    let checks = checks.map(|(at, decision)| (at, decision, folder_of(decision)));
    let checks = checks.map(|(at, decision, folder)| async move {
        let target = ResourceTarget::new(&decision.address, &decision.type_name, &folder);
        let request = CheckRequest { type_name: &decision.type_name, spec: &decision.desired };
        (at, world.check(target, request).await)
    });
    let plans = plans.map(|(at, decision)| (at, decision, folder_of(decision)));
    let plans = plans.map(|(at, decision, folder)| async move {
        let inputs = decision.prior.as_ref().filter(|_| decision.action != Action::Create);
        let inputs = inputs.map_or(&Value::Null, |record| &record.inputs);
        let target = ResourceTarget::new(&decision.address, &decision.type_name, &folder);
        let request = PlanRequest {
            type_name: &decision.type_name,
            prior_inputs: inputs,
            prior: if decision.action == Action::Update { &decision.outputs } else { &Value::Null },
            desired: &decision.desired,
        };
        (at, world.plan(target, request).await)
    });
    let (checked, planned) = futures::future::join(
        futures::future::join_all(checks.collect::<Vec<_>>()),
        futures::future::join_all(plans.collect::<Vec<_>>()),
    )
    .await;
    let messages = evaluation.documents.root().checked.rules.messages;
    for (at, answer) in checked {
        let decision = &drafts[at];
        let resource = decision.element.and_then(|(number, _)| evaluation.documents.resource(number));
        match answer {
            Ok(said) => {
                let spec = resource.map(|(.., resource)| &resource.spec);
                report_check(said, &decision.address, spec, decision.span, messages, found);
            }
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
    let mut opinions: Vec<(Address, Opinion)> = Vec::new();
    for (at, answer) in planned {
        let decision = &drafts[at];
        match answer {
            Ok(said) => opinions.push((decision.address.clone(), Opinion::from(said))),
            Err(error) => found.push(provider_failed(&decision.address, decision.span, &error)),
        }
    }
    evaluation.answers.opinions.extend(opinions);
    for decision in drafts.iter_mut() {
        if let Some(opinion) = evaluation.answers.opinions.get(&decision.address) {
            apply_opinion(decision, opinion);
        }
    }
}

/// The computed fields that an update may change: by the catalogue, by what the provider said, and in a rehearsal those
/// that the simulation makes from what changes.
pub(crate) fn changing(decision: &Decision, simulated: bool, answers: &Answers) -> Vec<Name> {
    let changed: Vec<&str> = decision.changes.iter().filter_map(|change| change.path.strip_prefix("spec.")).collect();
    let fields = decision.ty.iter().flat_map(|ty| ty.schema.fields.iter());
    let mut changing: Vec<Name> = fields
        .filter(|(_, field)| field.computed)
        .filter(|(_, field)| field.changes_on_update || simulated && provider::follows(field, &changed))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(opinion) = answers.opinions.get(&decision.address) {
        changing.extend(opinion.changes.iter().map(|name| Name::from(name.as_str())));
    }
    changing
}

/// Reports what a provider says of a spec; `span` is the place of what is said of no field that is written.
pub(crate) fn report_check(
    said: provider::Checked,
    address: &Address,
    spec: Option<&Expr>,
    span: Span,
    messages: &dyn dialects::rules::MessageRules,
    found: &mut Diagnostics,
) {
    let span_of = |path: &str| spec.and_then(|spec| place_in(spec, path)).unwrap_or(span);
    for (path, why) in said.rejected {
        let what = if path.is_empty() { format!("`{address}`") } else { format!("`{path}`") };
        found.push(
            understand::check::codes::REJECTED_BY_PROVIDER
                .new(format!("the provider does not accept {what}"))
                .label(span_of(&path), why),
        );
    }
    let codes = [
        (&expr::codes::TYPE_MISMATCH, "is of the wrong kind", true, said.mismatched),
        (&dialects::codes::VALUE_CONSTRAINT, "is outside its limits", false, said.outside),
    ];
    for (code, what, is_kind, said) in codes {
        found.extend(said.into_iter().map(|(path, why)| {
            let whose = if path.is_empty() { address.to_string() } else { path.clone() };
            let mistake = dialects::Mistake::Misfit { resource: &address.name, field: &path, why: &why, is_kind };
            let words = messages.of(&mistake).map(Box::new);
            let mut found = code.new(format!("`{whose}` {what}")).label(span_of(&path), why);
            found.words = words;
            found
        }));
    }
    for (path, why) in said.warnings {
        let mut warning = understand::check::codes::REJECTED_BY_PROVIDER
            .new(format!("the provider has a remark about `{address}`"))
            .label(span_of(&path), why);
        warning.severity = diag::Severity::Warning;
        found.push(warning);
    }
}

/// Makes of an update what its provider says of it.
pub(crate) fn apply_opinion(decision: &mut Decision, opinion: &Opinion) {
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
pub(crate) fn place_in(spec: &Expr, path: &str) -> Option<Span> {
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

pub(crate) fn provider_failed(address: &Address, span: Span, error: &provider::ProviderError) -> diag::Diagnostic {
    let diagnostic = code_of(error).new(format!("the provider cannot plan `{address}`"));
    diagnostic.label(span, "declared here").note(error.message.clone())
}
