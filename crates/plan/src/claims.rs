//! One object has one owner: no two resources of an instance, and no two instances of a state,
//! manage the same object.
//!
//! A claim is a type and an object's id at its provider. The id of an object that is to be created
//! is known if the provider of its type returns it beforehand (`preflights`).
//!
//! Not here: two resources that name one address (`understand::check`).

use blueprint::{Address, Name, TypeId};
use diag::{Diagnostic, Diagnostics, Span};
use evaluate::answers::Answers;
use provider::ResourceType;
use state::{Managed, Store, StoreError};

use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::model::{Action, AddressSet};

type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;

/// A type and an id.
pub(crate) type Claim = (TypeId, Name);

/// Whether an id of this type identifies an object in the world, is known before the create, and is
/// not a value in the state.
pub(crate) fn names_its_objects(ty: &ResourceType) -> bool {
    ty.capabilities.preflights && ty.capabilities.imports
}

/// The claim of a resource to the object that it will manage; `None` if the id is not known.
fn claim_of(decision: &Decision, answers: &Answers) -> Option<Claim> {
    let ty = decision.ty.as_ref()?;
    let recorded = || decision.prior.as_ref().map(|record| record.id.clone());
    let id = match decision.action {
        Action::Create | Action::Replace => answers.preflights.get(&decision.address)?.id.clone(),
        Action::Import => recorded(),
        Action::Update | Action::None | Action::Move if names_its_objects(ty) => recorded(),
        _ => None,
    };
    Some((ty.name.clone(), id.filter(|id| !id.is_empty())?))
}

/// Reports `claimed-twice` for each object of a draft that another address or instance manages.
/// Returns the addresses in the draft that claim such an object.
pub(crate) async fn refuse(
    draft: &Draft,
    answers: &Answers,
    instance: &str,
    others: Option<&dyn Store>,
    found: &mut Diagnostics,
) -> Result<AddressSet, StoreError> {
    let mut claimed = AddressSet::default();
    let mut claims: Map<Claim, &Decision> = Map::default();
    for decision in &draft.decisions {
        let Some(claim) = claim_of(decision, answers) else {
            continue;
        };
        if let Some(first) = claims.get(&claim) {
            let own = &decision.address;
            found.push(claimed_twice(&first.address, own, &claim.1, decision.span));
            claimed.insert(own.clone());
            continue;
        }
        claims.insert(claim, decision);
    }
    for decision in draft
        .decisions
        .iter()
        .filter(|decision| decision.action == Action::Delete)
    {
        let Some(record) = &decision.prior else {
            continue;
        };
        let claim = (record.type_name.clone(), record.id.clone());
        let Some(made) = claims
            .get(&claim)
            .filter(|made| made.action == Action::Create)
        else {
            continue;
        };
        let from = &decision.address;
        let to = &made.address;
        let id = &claim.1;
        let diagnostic = codes::CLAIMED_TWICE.new(format!(
            "`{to}` would be created where `{from}` manages `{id}`, which is deleted"
        ));
        let help = format!("to give it another address: `cyan state move '{from}' '{to}'`");
        let lasting = format!(
            "in a blueprint, the annotation `cyan.movedFrom: {from}` of `{to}` says so for every instance"
        );
        found.push(placed(diagnostic, made.span).help(help).help(lasting));
        claimed.insert(to.clone());
    }
    // An unchanged resource takes nothing from other instances, so its claim is dropped. A deletion
    // may, so its claim is added.
    claims.retain(|_, decision| decision.action != Action::None);
    let releases_named_object = |decision: &&Decision| {
        decision.action == Action::Delete
            && decision.ty.as_ref().is_some_and(|ty| names_its_objects(ty))
    };
    for decision in draft.decisions.iter().filter(releases_named_object) {
        let Some(record) = decision
            .prior
            .as_ref()
            .filter(|record| !record.id.is_empty())
        else {
            continue;
        };
        claims
            .entry((record.type_name.clone(), record.id.clone()))
            .or_insert(decision);
    }
    let Some(others) = others.filter(|_| !claims.is_empty()) else {
        return Ok(claimed);
    };
    for Managed {
        instance: owner,
        address,
        type_name,
        id,
    } in others.managed_by_others(instance).await?
    {
        let claim = (type_name, id);
        let Some(decision) = claims.get(&claim) else {
            continue;
        };
        let own = &decision.address;
        let id = &claim.1;
        let diagnostic = codes::CLAIMED_TWICE
            .new(format!(
                "`{own}` of `{instance}` and `{address}` of `{owner}` would both manage `{id}`"
            ))
            .help(format!(
                "if it is one document under two names, go on with `--instance {owner}`"
            ))
            .help(format!(
                "to leave it to `{instance}`: `cyan state remove '{address}' --instance {owner}`"
            ));
        found.push(placed(diagnostic, decision.span));
        claimed.insert(own.clone());
    }
    Ok(claimed)
}

/// Two resources of one document that would manage the same object.
pub(crate) fn claimed_twice(first: &Address, second: &Address, id: &str, at: Span) -> Diagnostic {
    let what = format!("`{first}` and `{second}` would both manage `{id}`");
    placed(codes::CLAIMED_TWICE.new(what), at)
        .help("leave one of them, or let them manage different objects")
}

fn placed(diagnostic: Diagnostic, span: Span) -> Diagnostic {
    if span.is_some() {
        diagnostic.label(span, "declared here")
    } else {
        diagnostic
    }
}
