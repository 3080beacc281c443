//! Members of templates that get keys, or lose them: each keeps its object
//! (decisions/blueprint#addresses-of-members, decisions/plan#moves).
//!
//! The state has such members under their positions, the document under keys, or the other way
//! round. Members are matched by their values: by values that no two members share, before and now.
//! If values contradict each other, or if some members are gone and others are new at the same
//! time, no match is guessed: `move-conflict`.
//!
//! Not here: renaming (`moves`).

use blueprint::{Address, IndexMap, Key, Name, Value};
use diag::{Diagnostics, Span};
use evaluate::resolve::{Evaluation, Members};
use state::Snapshot;
use understand::links::DeterministicMap;

use crate::addresses::element_of;
use crate::codes;

/// Members in the state, by template.
pub(crate) type Recorded = IndexMap<Address, Vec<Address>>;

/// Finds members whose addresses changed from positions to keys, or from keys to positions.
#[derive(Default)]
pub(crate) struct EachKeys {
    /// Filled for the first template that needs it.
    pub(crate) recorded: Option<Recorded>,
}

/// A member, in the state or in the document, with all known values of its spec.
pub(crate) struct MatchCandidate {
    pub(crate) address: Address,
    pub(crate) leaves: Vec<(String, String)>,
}

impl EachKeys {
    /// The former and present addresses of a template's members whose addresses changed between
    /// positions and keys. Reports members that cannot be matched to `found`.
    pub(crate) fn moved(
        &mut self,
        evaluation: &Evaluation,
        resource: u32,
        snapshot: &Snapshot,
        found: &mut Diagnostics,
    ) -> Vec<(Address, Address)> {
        let documents = &evaluation.documents;
        let Some((unit, name, declared)) = documents.resource(resource) else {
            return Vec::new();
        };
        let (Some(each), Members::Many(members)) =
            (&declared.each, &evaluation.resources[resource as usize])
        else {
            return Vec::new();
        };
        let keyed = each.key.is_some();
        let template = documents.unit(unit).address(name);
        let recorded = self.recorded.get_or_insert_with(|| recorded(snapshot));
        let Some(recorded) = recorded.get(&template) else {
            return Vec::new();
        };
        let has_other_key_kind =
            |address: &&Address| matches!(address.key, Some(Key::Name(_))) != keyed;
        let old: Vec<MatchCandidate> = recorded
            .iter()
            .filter(has_other_key_kind)
            .filter_map(|address| Some((address, snapshot.records.get(address)?)))
            .map(|(address, record)| candidate(address, &record.inputs))
            .collect();
        let new: Vec<MatchCandidate> = members
            .iter()
            .flatten()
            .filter(|member| !snapshot.records.contains_key(&member.address))
            .map(|member| candidate(&member.address, &member.spec))
            .collect();
        if old.is_empty() || new.is_empty() {
            return Vec::new();
        }
        match match_candidates(&old, &new) {
            Ok(pairs) => pairs
                .into_iter()
                .map(|(old_at, at)| (old[old_at].address.clone(), new[at].address.clone()))
                .collect(),
            Err(ambiguous) => {
                let span = each.key.as_ref().map_or(declared.span, |key| key.span);
                found.push(ambiguous_match(name, &old, &new, ambiguous, span));
                Vec::new()
            }
        }
    }
}

/// The first earlier candidate and the first new candidate that cannot be matched.
pub(crate) struct AmbiguousMatch(usize, usize);

pub(crate) fn ambiguous_match(
    name: &Name,
    old: &[MatchCandidate],
    new: &[MatchCandidate],
    ambiguous: AmbiguousMatch,
    span: Span,
) -> diag::Diagnostic {
    let AmbiguousMatch(before, now) = ambiguous;
    let before = &old[before].address;
    let now = &new[now].address;
    codes::MOVE_CONFLICT
        .new(format!(
            "the members of `{name}` cannot be matched with the recorded ones"
        ))
        .label(span, "the keys of members have changed")
        .note(format!("`{before}` may have become `{now}`, or be gone"))
        .help("deploy this with the list as it was, and change the list afterwards")
        .help(format!(
            "or declare the new address: `metadata: {{ cyan.moved: {{ '{before}': '{now}' }} }}`"
        ))
}

pub(crate) fn recorded(snapshot: &Snapshot) -> Recorded {
    let mut recorded = Recorded::default();
    for address in snapshot
        .records
        .keys()
        .filter(|address| address.key.is_some() && address.link.is_none())
    {
        recorded
            .entry(element_of(address))
            .or_default()
            .push(address.clone());
    }
    // Members with positions come first, in the order of their positions.
    for members in recorded.values_mut() {
        members.sort_by_key(|address| match &address.key {
            Some(Key::Index(at)) => u64::from(*at),
            _ => u64::MAX,
        });
    }
    recorded
}

pub(crate) fn candidate(address: &Address, spec: &Value) -> MatchCandidate {
    let mut leaves = Vec::new();
    collect(spec, &mut String::new(), &mut leaves);
    leaves.sort();
    MatchCandidate {
        address: address.clone(),
        leaves,
    }
}

/// Collects every known value that contains no other values, with its path.
pub(crate) fn collect(value: &Value, path: &mut String, leaves: &mut Vec<(String, String)>) {
    let length = path.len();
    match value {
        Value::Null | Value::Unknown(_) | Value::Function(_) => {}
        Value::Secret(inner) => collect(inner, path, leaves),
        Value::Map(entries) => {
            for (name, value) in entries.iter() {
                path.push('.');
                path.push_str(name);
                collect(value, path, leaves);
                path.truncate(length);
            }
        }
        Value::List(items) | Value::Set(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push_str(&format!("[{at}]"));
                collect(value, path, leaves);
                path.truncate(length);
            }
        }
        // Numbers and their texts are the same here as in a document.
        other => leaves.push((
            path.clone(),
            other
                .as_text()
                .map_or_else(|| other.to_string(), ToOwned::to_owned),
        )),
    }
}

/// The values of candidates at each path where every candidate has a value and no two values are
/// equal.
pub(crate) fn unique_leaves(
    all: &[MatchCandidate],
) -> DeterministicMap<&str, DeterministicMap<&str, usize>> {
    let mut by_path: DeterministicMap<&str, DeterministicMap<&str, usize>> =
        DeterministicMap::default();
    for (at, candidate) in all.iter().enumerate() {
        for (path, value) in &candidate.leaves {
            by_path.entry(path).or_default().insert(value, at);
        }
    }
    by_path.retain(|_, values| values.len() == all.len());
    by_path
}

/// Matches old and new candidates, by their positions in the lists. The others are gone, or new.
pub(crate) fn match_candidates(
    old: &[MatchCandidate],
    new: &[MatchCandidate],
) -> Result<Vec<(usize, usize)>, AmbiguousMatch> {
    if let ([_], [_]) = (old, new) {
        return Ok(vec![(0, 0)]);
    }
    let mut of_old: Vec<Option<usize>> = vec![None; old.len()];
    let mut of_new: Vec<Option<usize>> = vec![None; new.len()];
    let before = unique_leaves(old);
    let now = unique_leaves(new);
    for (path, values) in &before {
        let Some(theirs) = now.get(path) else {
            continue;
        };
        for (value, was) in values {
            let Some(is) = theirs.get(value) else {
                continue;
            };
            if of_old[*was].is_some_and(|other| other != *is)
                || of_new[*is].is_some_and(|other| other != *was)
            {
                return Err(AmbiguousMatch(*was, *is));
            }
            (of_old[*was], of_new[*is]) = (Some(*is), Some(*was));
        }
    }
    // Candidates with equal values are interchangeable: they are matched in their order.
    let mut alike: DeterministicMap<&[(String, String)], std::collections::VecDeque<usize>> =
        DeterministicMap::default();
    for (at, candidate) in old
        .iter()
        .enumerate()
        .filter(|(at, _)| of_old[*at].is_none())
    {
        alike.entry(&candidate.leaves).or_default().push_back(at);
    }
    for (at, candidate) in new.iter().enumerate() {
        if of_new[at].is_none()
            && let Some(was) = alike
                .get_mut(candidate.leaves.as_slice())
                .and_then(std::collections::VecDeque::pop_front)
        {
            (of_old[was], of_new[at]) = (Some(at), Some(was));
        }
    }
    match (
        of_old.iter().position(Option::is_none),
        of_new.iter().position(Option::is_none),
    ) {
        (Some(was), Some(is)) => Err(AmbiguousMatch(was, is)),
        _ => Ok(of_old
            .iter()
            .enumerate()
            .filter_map(|(was, is)| Some((was, (*is)?)))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(texts: &[&str]) -> Vec<MatchCandidate> {
        let of = |(at, text): (usize, &&str)| {
            let spec: Value = serde_json::from_str(text).unwrap();
            candidate(&Address::root("t").with_key(Key::Index(at as u32)), &spec)
        };
        texts.iter().enumerate().map(of).collect()
    }

    fn check(old: &[&str], new: &[&str], expected: Option<&[(usize, usize)]>) {
        let pairs = match_candidates(&candidates(old), &candidates(new)).ok();
        assert_eq!(pairs.as_deref(), expected, "{old:?} {new:?}");
    }

    #[test]
    fn members_are_matched_by_unique_values() {
        let a = r#"{"n":"a","s":1}"#;
        let b = r#"{"n":"b","s":1}"#;
        let c = r#"{"n":"c","s":1}"#;
        check(&[a, b], &[a, b], Some(&[(0, 0), (1, 1)]));
        check(&[a, b], &[b, a], Some(&[(0, 1), (1, 0)]));
        check(&[a, b], &[c, b, a], Some(&[(0, 2), (1, 1)]));
        check(&[a, b, c], &[c, a], Some(&[(0, 1), (2, 0)]));
        // Another field may change at the same time.
        check(
            &[a, b],
            &[r#"{"n":"b","s":2}"#, r#"{"n":"a","s":2}"#],
            Some(&[(0, 1), (1, 0)]),
        );
        check(&[a], &[c], Some(&[(0, 0)]));
    }

    #[test]
    fn ambiguous_members_are_not_matched() {
        let a = r#"{"n":"a"}"#;
        let b = r#"{"n":"b"}"#;
        let c = r#"{"n":"c"}"#;
        check(&[a, b], &[a, c], None);
        check(
            &[r#"{"n":"a","m":"x"}"#, r#"{"n":"b","m":"y"}"#],
            &[r#"{"n":"a","m":"y"}"#, r#"{"n":"b","m":"x"}"#],
            None,
        );
    }

    #[test]
    fn members_with_equal_values_are_matched_in_order() {
        let same = r#"{"n":"a"}"#;
        check(&[same, same], &[same, same], Some(&[(0, 0), (1, 1)]));
        check(&[same, same, same], &[same], Some(&[(0, 0)]));
    }
}
