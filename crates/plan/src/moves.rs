//! Records that follow their resources to a new address (decisions/plan#moves).
//!
//! A former name comes from `cyan.movedFrom`, from the document's `cyan.moved`, or from
//! `cyan state move`. Everything that belongs to the address moves along: the record, the records
//! that use it, memoised values, results of reads.
//!
//! Not here: collecting the changed records (`settled`).

mod identity;
mod links;
mod renaming;

use std::sync::Arc;

use blueprint::{Address, IndexMap, Key, LinkName, Name};
use diag::{Diagnostics, Span};
use evaluate::answers::Answers;
use state::Snapshot;
use understand::check::{FormerAddress, circles_of_moves};
use understand::documents::Documents;

use crate::addresses::{element_of, unknown_in_state};
use crate::codes;
use crate::draft::Draft;
use crate::linked::Linked;
use crate::model::{Action, Reason};
use crate::settled::SettledRecords;

use self::renaming::{MovableRecords, rename, taken};

/// A statement of the document that a resource had another address before.
struct MoveHint {
    from: Address,
    /// The former address if `from` has none: a hint in a child names a resource of that child, or
    /// one of the root.
    from_in_root: Option<Address>,
    to: Address,
    span: Span,
}

/// The moves of a plan: new addresses by former ones.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pairs: IndexMap<Address, (Address, Span)>,
    /// Former addresses by new ones.
    former_of_new: IndexMap<Address, Address>,
}

impl Moves {
    /// Whether this plan has moved a record to the address.
    pub(crate) fn is_move_target(&self, address: &Address) -> bool {
        self.former_of_new.contains_key(address)
    }

    /// The address from which this plan has moved the record of a resource.
    pub(crate) fn former_address(&self, address: &Address) -> Option<Address> {
        self.former_of_new.get(address).cloned()
    }

    /// Reports `move-conflict` for a former address that the document still declares.
    pub(crate) fn refuse_declared(&self, draft: &Draft, found: &mut Diagnostics) {
        if self.pairs.is_empty() {
            return;
        }
        let declared = draft
            .decisions
            .iter()
            .filter(|decision| decision.element.is_some());
        for address in declared.map(|decision| &decision.address) {
            if let Some((to, span)) = self
                .pairs
                .get(address)
                .filter(|_| !self.former_of_new.contains_key(address))
            {
                found.push(still_declared(address, to, *span));
            }
        }
    }

    /// Renames the records, unless a new address is in use already.
    fn rename_records(
        &mut self,
        snapshot: &mut Snapshot,
        answers: &mut Answers,
        settled_records: &mut SettledRecords,
        found: &mut Diagnostics,
    ) {
        for (from, (to, span)) in &self.pairs {
            if snapshot.records.contains_key(to) && !self.pairs.contains_key(to) {
                found.push(taken(from, to, *span));
            }
        }
        if !found.has_errors() {
            let pairs = self
                .pairs
                .iter()
                .map(|(from, (to, _))| (from.clone(), to.clone()))
                .collect();
            let along = rename(pairs, snapshot, answers, settled_records);
            self.former_of_new
                .extend(along.into_iter().map(|(from, to)| (to, from)));
        }
    }

    /// Adds moves that the document does not name: those of members that got keys, or lost them.
    /// Returns whether the members must be evaluated again, because they have memoised values or
    /// links move along.
    pub(crate) fn add(
        &mut self,
        pairs: impl Iterator<Item = (Address, Address)>,
        span: Span,
        snapshot: &mut Snapshot,
        answers: &mut Answers,
        settled_records: &mut SettledRecords,
    ) -> bool {
        let pairs: IndexMap<Address, Address> = pairs.collect();
        if pairs.is_empty() {
            return false;
        }
        let along = rename(pairs.clone(), snapshot, answers, settled_records);
        let mut must_evaluate = !along.is_empty();
        self.former_of_new
            .extend(along.into_iter().map(|(from, to)| (to, from)));
        let arrived: IndexMap<String, ()> = pairs.values().map(|to| (to.to_string(), ())).collect();
        for (site, value) in &snapshot.memoised {
            if !site
                .rsplitn(3, '|')
                .nth(2)
                .is_some_and(|owner| arrived.contains_key(owner))
            {
                continue;
            }
            // The value was drawn for the new address before the move was known: the recorded value
            // replaces it.
            if answers
                .memoised
                .get(site)
                .is_none_or(|drawn| drawn.fingerprint == value.fingerprint)
            {
                answers.memoised.insert(site.clone(), value.clone());
                must_evaluate = true;
            }
        }
        for (from, to) in pairs {
            self.former_of_new.insert(to.clone(), from.clone());
            self.pairs.insert(from, (to, span));
        }
        must_evaluate
    }

    /// Reverts the moves to addresses that must not change.
    pub(crate) fn revert_out_of_target(
        &mut self,
        stays: impl Fn(&Address) -> bool,
        snapshot: &mut Snapshot,
        answers: &mut Answers,
        settled_records: &mut SettledRecords,
    ) {
        let back: IndexMap<Address, Address> = self
            .pairs
            .iter()
            .filter(|(_, (to, _))| stays(to))
            .map(|(from, (to, _))| (to.clone(), from.clone()))
            .collect();
        if back.is_empty() {
            return;
        }
        for (to, from) in &back {
            self.pairs.shift_remove(from);
            self.former_of_new.shift_remove(to);
        }
        let along = rename(back, snapshot, answers, settled_records);
        along
            .keys()
            .for_each(|to| drop(self.former_of_new.shift_remove(to)));
    }
}

/// Moves records to the addresses at which the document declares their resources now. `within`
/// tells whether a resource may change at all.
pub(crate) fn apply_hints(
    documents: &Documents,
    instance: &str,
    within: impl Fn(&Address) -> bool,
    snapshot: &mut Snapshot,
    answers: &mut Answers,
    settled_records: &mut SettledRecords,
    found: &mut Diagnostics,
) -> Moves {
    let mut moves = Moves::default();
    let records = MovableRecords {
        snapshot,
        answers,
        settled_records,
    };
    let moved = identity::follow_urns(documents, instance, &within, records, found);
    moves.former_of_new.extend(moved);
    let hints = followed(hints(documents), documents, found);
    if hints.is_empty() {
        return moves;
    }
    // Members of templates by name, looked up only for hints about whole templates.
    let members = std::cell::LazyCell::new(|| members(snapshot));
    for hint in &hints {
        for (from, to) in hint_moves(hint, documents, snapshot, &members) {
            if from == to || !within(&to) {
                continue;
            }
            match moves.pairs.get(&from) {
                Some((other, _)) if *other != to => found.push(
                    codes::MOVE_CONFLICT
                        .new(format!("`{from}` cannot become both `{other}` and `{to}`"))
                        .label(hint.span, "names it too")
                        .help("leave one of the two hints"),
                ),
                Some(_) => {}
                None if moves.former_of_new.contains_key(&to) => found.push(
                    codes::MOVE_CONFLICT
                        .new(format!("more than one resource would become `{to}`"))
                        .label(hint.span, format!("also `{from}` would"))
                        .help("leave one of the hints; the other resource is deleted, or forgotten with `cyan state remove`"),
                ),
                None => {
                    moves.former_of_new.insert(to.clone(), from.clone());
                    moves.pairs.insert(from, (to, hint.span));
                }
            }
        }
    }
    for hint in &hints {
        // In a chain of moves, a former address is declared again for the next resource.
        let declared = is_single(documents, &hint.from) && hint.from != hint.to;
        if declared && !moves.former_of_new.contains_key(&hint.from) {
            found.push(still_declared(&hint.from, &hint.to, hint.span));
            moves.pairs.shift_remove(&hint.from);
        }
    }
    moves.rename_records(snapshot, answers, settled_records, found);
    moves
}

fn still_declared(from: &Address, to: &Address, span: Span) -> diag::Diagnostic {
    codes::MOVE_CONFLICT
        .new(format!(
            "`{from}` is still declared, so it cannot have become `{to}`"
        ))
        .label(span, format!("declares the former address `{from}`"))
        .help("remove the hint, or the former declaration")
}

/// Makes the moves that the user asked for on the command line. Reports `unknown-address` or
/// `move-conflict` for a move that is not possible.
pub(crate) fn requested_moves(
    wanted: &[(Address, Address)],
    snapshot: &mut Snapshot,
    answers: &mut Answers,
    settled_records: &mut SettledRecords,
    found: &mut Diagnostics,
) -> Moves {
    let mut moves = Moves::default();
    for (from, to) in wanted {
        let mut members: Vec<(Address, Address)> = Vec::new();
        if snapshot.records.contains_key(from) {
            members.push((from.clone(), to.clone()));
        } else {
            members.extend(contained_records(from, to, snapshot));
        }
        if members.is_empty() {
            found.push(unknown_in_state(from, snapshot));
        }
        for (from, to) in members.into_iter().filter(|(from, to)| from != to) {
            if moves
                .former_of_new
                .insert(to.clone(), from.clone())
                .is_some()
            {
                found.push(
                    codes::MOVE_CONFLICT
                        .new(format!("more than one resource would become `{to}`"))
                        .help("name another address for one of them"),
                );
            }
            moves.pairs.insert(from, (to, Span::NONE));
        }
    }
    moves.rename_records(snapshot, answers, settled_records, found);
    for to in moves.former_of_new.keys() {
        if let Some(record) = snapshot.records.get_mut(to) {
            let record = Arc::make_mut(record);
            let above = to.path.iter().map(|child| format!("{child}/"));
            let name: String = above.chain([to.name.to_string()]).collect();
            record.origin = record.origin.renamed(&name);
        }
    }
    moves
}

/// All records in a template or a child document, each with its new address.
fn contained_records(from: &Address, to: &Address, snapshot: &Snapshot) -> Vec<(Address, Address)> {
    let mut all = Vec::new();
    if from.key.is_some() || to.key.is_some() || from.link.is_some() || to.link.is_some() {
        return all;
    }
    let child = |address: &Address| -> Vec<Name> {
        address
            .path
            .iter()
            .chain([&address.name])
            .cloned()
            .collect()
    };
    let old = child(from);
    let new = child(to);
    for address in snapshot.records.keys() {
        if element_of(address) == *from && address.key.is_some() && address.link.is_none() {
            all.push((address.clone(), with_key_and_link_of(to.clone(), address)));
        } else if address.path.starts_with(&old) {
            let path: Vec<Name> = new
                .iter()
                .chain(&address.path[old.len()..])
                .cloned()
                .collect();
            all.push((
                address.clone(),
                with_key_and_link_of(Address::inside(&path, address.name.clone()), address),
            ));
        }
    }
    all
}

/// An element's address with the key and the link of another address.
fn with_key_and_link_of(element: Address, other: &Address) -> Address {
    let address = match &other.key {
        Some(key) => element.with_key(key.clone()),
        None => element,
    };
    match &other.link {
        Some(link) => address.with_link(LinkName::clone(link)),
        None => address,
    }
}

/// All hints of all documents.
fn hints(documents: &Documents) -> Vec<MoveHint> {
    let mut hints = Vec::new();
    for unit in documents.units() {
        let inside = |address: &Address| {
            let path: Vec<Name> = unit.path.iter().chain(&*address.path).cloned().collect();
            with_key_and_link_of(Address::inside(&path, address.name.clone()), address)
        };
        let mut hint = |from: &Address, to: Address, span| {
            let elsewhere = (!unit.path.is_empty()).then(|| from.clone());
            hints.push(MoveHint {
                from: inside(from),
                from_in_root: elsewhere,
                to,
                span,
            });
        };
        for (name, resource) in &unit.blueprint().resources {
            for from in &resource.lifecycle.moved_from {
                // The dialect has checked that this is an address.
                if let Ok(from) = from.parse() {
                    hint(&from, unit.address(name), resource.span);
                }
            }
        }
        for it in &unit.blueprint().moves {
            let to = inside(&it.to);
            let target = documents
                .declared(&to)
                .and_then(|number| documents.resource(number));
            hint(
                &it.from,
                to,
                target.map_or(it.span, |(_, _, resource)| resource.span),
            );
        }
    }
    hints
}

/// The hints with the address at the end of each chain: a resource that has had several addresses
/// comes from any of them to the one that is declared. Reports circles, which `check` finds only
/// within a document.
fn followed(
    mut hints: Vec<MoveHint>,
    documents: &Documents,
    found: &mut Diagnostics,
) -> Vec<MoveHint> {
    let all: Vec<FormerAddress> = hints
        .iter()
        .map(|hint| FormerAddress {
            from: hint.from.clone(),
            to: hint.to.clone(),
            span: hint.span,
        })
        .collect();
    let circles = circles_of_moves(&all);
    if !circles.is_empty() {
        found.extend(circles);
        return Vec::new();
    }
    let next: IndexMap<&Address, &Address> = all.iter().map(|it| (&it.from, &it.to)).collect();
    for hint in &mut hints {
        while documents.declared(&hint.to).is_none()
            && let Some(to) = next.get(&hint.to).filter(|to| **to != &hint.to)
        {
            hint.to = Address::clone(to);
        }
    }
    hints
}

/// Whether a document declares exactly this address, as a resource without `each`.
fn is_single(documents: &Documents, address: &Address) -> bool {
    address.key.is_none()
        && address.link.is_none()
        && is_template(documents, address) == Some(false)
}

/// Whether the resource of an address has `each`; `None` if it is not declared.
fn is_template(documents: &Documents, address: &Address) -> Option<bool> {
    let (_, _, resource) = documents.resource(documents.declared(address)?)?;
    Some(resource.each.is_some())
}

type MembersOf = IndexMap<Address, Vec<Address>>;

fn members(snapshot: &Snapshot) -> MembersOf {
    let mut members = MembersOf::default();
    for address in snapshot
        .records
        .keys()
        .filter(|address| address.key.is_some() && address.link.is_none())
    {
        members
            .entry(element_of(address))
            .or_default()
            .push(address.clone());
    }
    members
}

/// The moves of existing records that a hint describes.
fn hint_moves(
    hint: &MoveHint,
    documents: &Documents,
    snapshot: &Snapshot,
    members: &std::cell::LazyCell<MembersOf, impl FnOnce() -> MembersOf>,
) -> Vec<(Address, Address)> {
    let found = pairs_from(&hint.from, &hint.to, documents, snapshot, members);
    match &hint.from_in_root {
        Some(elsewhere) if found.is_empty() => {
            pairs_from(elsewhere, &hint.to, documents, snapshot, members)
        }
        _ => found,
    }
}

fn pairs_from(
    from: &Address,
    to: &Address,
    documents: &Documents,
    snapshot: &Snapshot,
    members: &std::cell::LazyCell<MembersOf, impl FnOnce() -> MembersOf>,
) -> Vec<(Address, Address)> {
    let template = to.key.is_none() && is_template(documents, to) == Some(true);
    let first = |address: &Address| address.clone().with_key(Key::Index(0));
    if snapshot.records.contains_key(from) {
        let to = match (&from.key, template) {
            (_, false) => to.clone(),
            (Some(Key::Name(key)), true) => to.clone().with_key(Key::Name(key.clone())),
            (_, true) => first(to),
        };
        return vec![(from.clone(), to)];
    }
    if from.key.is_some() {
        return Vec::new();
    }
    if !template {
        // A template that has become a single resource.
        let only = first(from);
        return if snapshot.records.contains_key(&only) {
            vec![(only, to.clone())]
        } else {
            Vec::new()
        };
    }
    let every = members.get(from).into_iter().flatten();
    every
        .map(|member| (member.clone(), with_key_and_link_of(to.clone(), member)))
        .collect()
}

impl Draft {
    /// Marks the decisions about resources whose records have just been moved or imported. These
    /// resources may have no other action.
    pub(crate) fn note_moves(&mut self, moves: &Moves) {
        for decision in &mut self.decisions {
            let moved = moves.is_move_target(&decision.address);
            let imported = self.imports.done.contains(&decision.address);
            // A link comes along with its end without a step; each of its parts is a resource that
            // moves.
            let is_part = matches!(decision.linked.as_deref(), Some(Linked::Part { .. }));
            let declared = decision.element.is_some() || is_part;
            if !(moved || imported) || decision.lineage.moved_from.is_some() || !declared {
                continue;
            }
            let (action, reason) = if moved {
                (Action::Move, Reason::Moved)
            } else {
                (Action::Import, Reason::Imported)
            };
            decision.lineage.moved_from = moves.former_address(&decision.address);
            if imported {
                // A difference from the document is drift: the document has not changed.
                for reason in decision
                    .reasons
                    .iter_mut()
                    .filter(|reason| **reason == Reason::Changed)
                {
                    *reason = Reason::Drifted;
                }
            }
            decision.reasons.insert(0, reason);
            if decision.action == Action::None {
                decision.action = action;
            }
        }
    }
}
