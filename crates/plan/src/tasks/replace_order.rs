//! Settles the orders of replacements that depend on each other.
//!
//! Not here: the order of one replacement by its catalogue, document or provider (`drafting`).

use blueprint::{Address, IndexMap, Name, ReplaceOrder};
use diag::Diagnostics;
use evaluate::answers::{Answers, ProviderOpinion};
use provider::Verdict;
use understand::documents::group_key;

use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::model::{Action, HashSet};

/// Settles the orders. `answers` are those of the plan; `None` without a document.
pub(crate) fn settle(draft: &mut Draft, answers: Option<&Answers>, found: &mut Diagnostics) {
    if let Some(answers) = answers {
        require_delete_first(draft, answers, found);
    }
    prefer_create_first(draft);
    refuse_create_first(draft, found);
}

/// Whether a provider that the engine asks about a replacement demands the delete first.
fn demands_delete_first(decision: &Decision, opinion: Option<&ProviderOpinion>) -> bool {
    let judges = decision
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.judges_replacements());
    let verdict = opinion.map(|opinion| &opinion.verdict);
    let demands = matches!(
        verdict,
        Some(Verdict::Replace {
            delete_first: Some(true)
        })
    );
    judges && demands && is_replaced(decision, ReplaceOrder::DeleteFirst)
}

fn is_replaced(decision: &Decision, order: ReplaceOrder) -> bool {
    decision.action == Action::Replace && decision.replace_order == order
}

/// Makes the replacements delete-first that use, also through others, a resource whose provider
/// demands the delete first: it cannot be deleted while their old objects use it
/// (decisions/plan#order-of-a-replacement).
fn require_delete_first(draft: &mut Draft, answers: &Answers, found: &mut Diagnostics) {
    let opinion_of = |decision: &Decision| answers.opinions.get(&decision.address);
    let demanded = draft.decisions.iter().enumerate();
    let demanded = demanded.filter(|(_, one)| demands_delete_first(one, opinion_of(one)));
    let mut stack: Vec<usize> = demanded.map(|(at, _)| at).collect();
    if stack.is_empty() {
        return;
    }
    let users = ReplacedUsers::of(draft);
    let mut seen: HashSet<usize> = stack.iter().copied().collect();
    while let Some(at) = stack.pop() {
        let used = draft.decisions[at].address.clone();
        // A user waits for no value of an object that must go before it is made again.
        let is_certain = !draft.decisions[at].may_replace;
        for user in users.of_resource(&used) {
            let decision = &mut draft.decisions[user];
            let becomes_certain = is_certain && decision.may_replace;
            if !seen.insert(user) && !becomes_certain {
                continue;
            }
            stack.push(user);
            decision.may_replace &= !is_certain;
            if decision.replace_order == ReplaceOrder::DeleteFirst {
                continue;
            }
            decision.replace_order = ReplaceOrder::DeleteFirst;
            found.push(
                codes::REPLACE_ORDER_CHANGED
                    .new(format!("`{}` is replaced delete-first", decision.address))
                    .label(
                        decision.span,
                        format!("it uses `{used}`, which must be deleted first"),
                    ),
            );
        }
    }
}

/// The replaced resources that use others, by what they use. Each group is listed once.
#[derive(Default)]
struct ReplacedUsers {
    /// Positions of decisions, by the resource that they use directly.
    of_resources: IndexMap<Address, Vec<usize>>,
    /// Positions of decisions, by the group that they use.
    of_groups: IndexMap<Name, Vec<usize>>,
    /// The groups that have a resource as member.
    groups_of_resources: IndexMap<Address, Vec<Name>>,
    /// The groups that have another group as member.
    groups_of_groups: IndexMap<Name, Vec<Name>>,
}

impl ReplacedUsers {
    fn of(draft: &Draft) -> ReplacedUsers {
        let mut users = ReplacedUsers::default();
        let decisions = draft.decisions.iter().enumerate();
        for (at, decision) in decisions.filter(|(_, one)| one.action == Action::Replace) {
            for used in &decision.dependencies {
                match group_key(used) {
                    Some(group) => users.of_groups.entry(group.as_ref().into()).or_default(),
                    None => users.of_resources.entry(used.clone()).or_default(),
                }
                .push(at);
            }
        }
        for (group, members) in &draft.groups {
            for member in members {
                match group_key(member) {
                    Some(inner) => users
                        .groups_of_groups
                        .entry(inner.as_ref().into())
                        .or_default(),
                    None => users.groups_of_resources.entry(member.clone()).or_default(),
                }
                .push(group.clone());
            }
        }
        users
    }

    /// The positions of the users of a resource, also through groups.
    fn of_resource(&self, used: &Address) -> Vec<usize> {
        let direct = self.of_resources.get(used);
        let mut users = direct.cloned().unwrap_or_default();
        let mut groups = self
            .groups_of_resources
            .get(used)
            .cloned()
            .unwrap_or_default();
        let mut seen: HashSet<Name> = HashSet::default();
        while let Some(group) = groups.pop() {
            if !seen.insert(group.clone()) {
                continue;
            }
            users.extend(self.of_groups.get(&group).into_iter().flatten());
            groups.extend(
                self.groups_of_groups
                    .get(&group)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        users
    }
}

/// Makes a replacement create-first if a create-first replacement uses its resource. Otherwise the
/// deposed object would lose its dependency (decisions/plan#order-of-a-replacement).
fn prefer_create_first(draft: &mut Draft) {
    let mut stack: Vec<usize> = (0..draft.decisions.len())
        .filter(|at| is_replaced(&draft.decisions[*at], ReplaceOrder::CreateFirst))
        .collect();
    if stack.is_empty() {
        return;
    }
    let position: IndexMap<Address, usize> = draft
        .decisions
        .iter()
        .enumerate()
        .map(|(at, decision)| (decision.address.clone(), at))
        .collect();
    let mut seen_groups: std::collections::HashSet<Name, foldhash::fast::FixedState> =
        Default::default();
    while let Some(at) = stack.pop() {
        let mut uses = draft.decisions[at].dependencies.clone();
        while let Some(address) = uses.pop() {
            if let Some(group) = group_key(&address) {
                if seen_groups.insert(group.as_ref().into()) {
                    uses.extend(
                        draft
                            .groups
                            .get(group.as_ref())
                            .cloned()
                            .unwrap_or_default(),
                    );
                }
                continue;
            }
            let Some(used) = position.get(&address) else {
                continue;
            };
            let decision = &mut draft.decisions[*used];
            if is_replaced(decision, ReplaceOrder::DeleteFirst) {
                decision.replace_order = ReplaceOrder::CreateFirst;
                stack.push(*used);
            }
        }
    }
}

/// Makes a create-first replacement delete-first if both objects would share a unique value, and
/// reports the change.
fn refuse_create_first(draft: &mut Draft, found: &mut Diagnostics) {
    for decision in &mut draft.decisions {
        if !is_replaced(decision, ReplaceOrder::CreateFirst) {
            continue;
        }
        let (Some(ty), Some(prior)) = (&decision.ty, &decision.prior) else {
            continue;
        };
        let shared = ty.unique_fields().find(|field| {
            let old = prior.inputs.get(field);
            let new = decision.desired.get(field);
            old.zip(new)
                .is_some_and(|(old, new)| understand::compare::same(old, new) && !new.is_null())
        });
        if let Some(field) = shared {
            found.push(
                codes::REPLACE_ORDER_CHANGED
                    .new(format!("`{}` is replaced delete-first", decision.address))
                    .label(
                        decision.span,
                        format!("the old and the new one share the unique value of `{field}`"),
                    ),
            );
            decision.replace_order = ReplaceOrder::DeleteFirst;
        }
    }
}
