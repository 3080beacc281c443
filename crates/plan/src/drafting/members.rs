//! Evaluates a resource: its members, each with its spec and metadata, or the questions that must
//! be answered first.
//!
//! Not here: the order in which resources are evaluated (`level`).

use blueprint::{Address, Key, Name, Resource, Value};
use diag::Diagnostics;
use evaluate::evaluation_question::evaluate_until_answered;
use evaluate::resolve::{Evaluation, ExpressionSite, Member, Members, Need, Outputs};
use evaluate::world::World;
use provider::{Catalogs, ResourceType};
use state::Snapshot;

use crate::codes;

/// Evaluates the members of a resource, or returns all questions that must be answered first.
/// Members whose conditions are false go to `absent`.
pub(crate) fn evaluate_members(
    evaluation: &mut Evaluation,
    index: u32,
    absent: &mut Vec<Address>,
    found: &mut Diagnostics,
) -> Result<Members, Vec<Need>> {
    let documents = evaluation.documents.clone();
    let Some((unit, name, resource)) = documents.resource(index) else {
        return Ok(Members::Failed);
    };
    let Some(ty) = documents.resource_type(index) else {
        // The type of an absent resource may be unknown.
        let owner = name.to_string();
        let condition = evaluation.condition(
            ExpressionSite::of(unit, &owner),
            resource,
            &mut Diagnostics::new(),
        );
        return Ok(match condition {
            Ok(Some(Some(false))) => Members::Absent,
            _ => Members::Failed,
        });
    };
    let address = documents.unit(unit).address(name);
    if resource.each.is_none() {
        let member = evaluate_member(evaluation, unit, address.clone(), None, resource, ty, found)
            .map_err(|need| vec![need])?;
        return Ok(match member {
            EvaluatedMember::Present(member) => Members::Single(member),
            EvaluatedMember::Absent => {
                absent.push(address);
                Members::Absent
            }
            EvaluatedMember::Failed => Members::Failed,
        });
    }
    let owner = address.to_string();
    let site = ExpressionSite::of(unit, &owner);
    let Some(items) = evaluation
        .items(site, name, resource, found)
        .map_err(|need| vec![need])?
    else {
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
            let span = resource
                .each
                .as_ref()
                .and_then(|each| each.key.as_ref())
                .map_or(resource.span, |key| key.span);
            let shown = address.clone().with_key(key);
            found.push(
                codes::EACH_KEY_DUPLICATE
                    .new(format!("two members of `{name}` would be called `{shown}`"))
                    .label(
                        span,
                        format!("the item at position {at} has the key of an earlier one"),
                    ),
            );
            failed = true;
            continue;
        }
        let address = address.clone().with_key(key);
        match evaluate_member(
            evaluation,
            unit,
            address.clone(),
            Some(item),
            resource,
            ty,
            found,
        ) {
            Ok(EvaluatedMember::Present(member)) => list.push(Some(member)),
            Ok(EvaluatedMember::Absent) => {
                absent.push(address);
                list.push(None);
            }
            Ok(EvaluatedMember::Failed) => failed = true,
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
            if resource
                .each
                .as_ref()
                .is_some_and(|each| each.key.is_some())
                && !evaluation.declared_links.is_empty()
            {
                evaluation
                    .links
                    .keys
                    .insert(index, keys.into_iter().collect());
            }
            Ok(Members::Many(list))
        }
    }
}

pub(crate) enum EvaluatedMember {
    Present(Box<Member>),
    Absent,
    Failed,
}

pub(crate) fn evaluate_member(
    evaluation: &mut Evaluation,
    unit: u32,
    address: Address,
    item: Option<(Value, u32)>,
    resource: &Resource,
    ty: &ResourceType,
    found: &mut Diagnostics,
) -> Result<EvaluatedMember, Need> {
    let owner = address.to_string();
    let site = ExpressionSite {
        unit,
        owner: &owner,
        item: item.as_ref(),
    };
    let condition_open = match evaluation.condition(site, resource, found)? {
        Some(Some(true)) => false,
        Some(None) => true,
        Some(Some(false)) => return Ok(EvaluatedMember::Absent),
        None => return Ok(EvaluatedMember::Failed),
    };
    let metadata = evaluation.metadata(site, resource, found)?;
    let spec = match evaluation.spec(site, resource, ty, found)? {
        Some(spec) => spec,
        // An external object is not created from its spec. The spec may read elements that are
        // settled later.
        None if resource.lifecycle.external.is_some() => Value::unknown(None, None),
        None => return Ok(EvaluatedMember::Failed),
    };
    let removal = evaluation.removal_policy(site, resource, ty, found)?;
    let protect = evaluation.is_protected(site, resource, found)?;
    let outputs = Outputs::Unknown;
    Ok(EvaluatedMember::Present(Box::new(Member {
        address,
        item,
        spec,
        metadata,
        condition_open,
        protect,
        removal,
        outputs,
    })))
}

/// Evaluates the members of a template again, after moves have changed their memoised values or
/// their links.
pub(crate) async fn reevaluate_members(
    evaluation: &mut Evaluation,
    index: u32,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, _| {
        // The mistakes are already reported.
        let mut mistakes = Diagnostics::new();
        let members = evaluate_members(evaluation, index, &mut Vec::new(), &mut mistakes)?;
        evaluation.resources[index as usize] = members;
        evaluation
            .merge_links(index, &mut mistakes)
            .map_err(Vec::from)
    })
    .await;
}

/// Draws the memoised values of a resource again and evaluates it again. Returns false if it has
/// none, or if they are new already.
pub(crate) async fn redraw(
    evaluation: &mut Evaluation,
    index: u32,
    position: Option<u32>,
    snapshot: &Snapshot,
    world: &dyn World,
    found: &mut Diagnostics,
) -> bool {
    let Some(member) = evaluation.member(index, position) else {
        return false;
    };
    let address = member.address.clone();
    let item = member.item.clone();
    let sites = evaluation
        .sites
        .get(address.to_string().as_str())
        .cloned()
        .unwrap_or_default();
    let old: Vec<Name> = sites
        .into_iter()
        .filter(|site| {
            snapshot.memoised.contains_key(site)
                && snapshot.memoised.get(site) == evaluation.answers.memoised.get(site)
        })
        .collect();
    if old.is_empty() {
        return false;
    }
    for site in &old {
        evaluation.answers.memoised.shift_remove(site);
    }
    let documents = evaluation.documents.clone();
    let Some((unit, _, resource)) = documents.resource(index) else {
        return false;
    };
    let Some(ty) = documents.resource_type(index) else {
        return false;
    };
    // Each round draws at least one value.
    let fresh = evaluate_until_answered(
        evaluation,
        &Catalogs::default(),
        world,
        found,
        |evaluation, _| {
            // The mistakes are reported when the resource is decided about again.
            let mut mistakes = Diagnostics::new();
            let member = evaluate_member(
                evaluation,
                unit,
                address.clone(),
                item.clone(),
                resource,
                ty,
                &mut mistakes,
            )?;
            let EvaluatedMember::Present(fresh) = member else {
                return Ok(None);
            };
            let merged = evaluation.merged(index, position, fresh.spec.clone(), &mut mistakes);
            // Links are settled by now, so merging them asks for nothing.
            Ok::<_, Need>(merged.ok().flatten().map(|spec| Member { spec, ..*fresh }))
        },
    )
    .await
    .flatten();
    match (fresh, evaluation.member_mut(index, position)) {
        (Some(fresh), Some(place)) => {
            *place = fresh;
            true
        }
        (Some(_), None) => true,
        (None, _) => false,
    }
}
