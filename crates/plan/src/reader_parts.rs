//! The parts of a plan that a plan file has only for readers: what a plan is shown with besides its
//! steps, links, exports and children.
//!
//! Not here: the rest of the file (`plan_file`), a whole plan from a file (`readable`).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, TypeId, Value};
use evaluate::answers::PinnedTexts;
use serde::{Deserialize, Serialize};
use understand::compare::{Change, ListChange};

use crate::drift::{Drift, Drifted};
use crate::hidden::{hidden, hidden_change, hidden_export, hidden_left_alone, restore_pair};
use crate::model::{ExportChange, LeftAlone, PlannedStop, Step, StepLinks, is_zero};
use crate::plan::{Plan, StepSource};

/// The parts of a plan that a plan file has only for readers. Secrets are hidden.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReaderParts {
    /// The existing objects and the links of the steps, by the number of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<StepParts>,
    /// The lists in the effects of links, by the address of the link.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) link_lists: IndexMap<Address, Vec<LeafList>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) metadata: Vec<ExportChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) drift: Vec<DriftParts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stops: Vec<PlannedStop>,
    #[serde(default)]
    pub(crate) left_alone: LeftAlone,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) left_alone_lists: IndexMap<Address, Vec<LeafList>>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) unread: IndexMap<Address, Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<SourceParts>,
}

/// What a plan file tells readers about a step besides the step itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepParts {
    pub(crate) id: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider_id: Option<Name>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) unchanged: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<Box<StepLinks>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lists: Vec<LeafList>,
}

/// A changed list, and the changes that are leaves of it: `count` changes from `first` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LeafList {
    first: usize,
    count: usize,
    path: String,
    before: Value,
    after: Value,
    ordered: bool,
}

/// The drift of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DriftParts {
    address: Address,
    #[serde(rename = "type")]
    type_name: TypeId,
    how: DriftKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lists: Vec<LeafList>,
}

/// The difference between an object and its record, without the fields that differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DriftKind {
    Differs,
    Expired(Name),
    Vanished,
}

/// A file that a step reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SourceParts {
    pub(crate) address: Address,
    pub(crate) digest_path: String,
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) texts: Option<PinnedTexts>,
}

impl ReaderParts {
    /// The parts of a plan, with hidden secrets.
    pub fn of(plan: &Plan) -> ReaderParts {
        let lists_at = |address: &Address, lists: Vec<LeafList>| {
            (!lists.is_empty()).then(|| (address.clone(), lists))
        };
        let links = plan.links.iter().filter_map(|link| {
            let changes = link.effects.iter().map(|effect| &effect.change);
            lists_at(&link.address, lists_of(changes))
        });
        let left_alone = plan.left_alone.document_differs.iter();
        ReaderParts {
            steps: plan.steps.iter().filter_map(StepParts::of).collect(),
            link_lists: links.collect(),
            metadata: plan.metadata_changes.iter().map(hidden_export).collect(),
            drift: plan.drift.iter().map(DriftParts::of).collect(),
            stops: plan.stops.clone(),
            left_alone: hidden_left_alone(&plan.left_alone),
            left_alone_lists: left_alone
                .filter_map(|(address, changes)| lists_at(address, lists_of(changes)))
                .collect(),
            unread: plan.answers.unread.clone(),
            sources: plan.sources().map(SourceParts::of).collect(),
        }
    }
}

impl StepParts {
    /// The parts of a step; `None` if there are none.
    fn of(step: &Step) -> Option<StepParts> {
        let parts = StepParts {
            id: step.id,
            provider_id: step.existing.id.clone(),
            unchanged: step.existing.unchanged,
            links: step.links.clone(),
            lists: lists_of(&step.changes),
        };
        let is_empty = parts.provider_id.is_none()
            && parts.unchanged == 0
            && parts.links.is_none()
            && parts.lists.is_empty();
        (!is_empty).then_some(parts)
    }
}

impl DriftParts {
    fn of(drifted: &Drifted) -> DriftParts {
        let (how, changes) = match &drifted.drift {
            Drift::Differs(changes) => (DriftKind::Differs, changes.as_slice()),
            Drift::Expired(why) => (DriftKind::Expired(why.clone()), &[][..]),
            Drift::Vanished => (DriftKind::Vanished, &[][..]),
        };
        DriftParts {
            address: drifted.address.clone(),
            type_name: drifted.type_name.clone(),
            how,
            lists: lists_of(changes),
            changes: changes.iter().map(hidden_change).collect(),
        }
    }

    /// The drift, with its lists.
    pub(crate) fn drifted(&self) -> Drifted {
        let drift = match &self.how {
            DriftKind::Differs => {
                let mut changes = self.changes.clone();
                restore_changes(changes.iter_mut(), &self.lists);
                Drift::Differs(changes)
            }
            DriftKind::Expired(why) => Drift::Expired(why.clone()),
            DriftKind::Vanished => Drift::Vanished,
        };
        Drifted {
            address: self.address.clone(),
            type_name: self.type_name.clone(),
            drift,
        }
    }
}

impl SourceParts {
    fn of(source: StepSource<'_>) -> SourceParts {
        let texts = source.texts.map(|texts| PinnedTexts {
            before: hidden(&texts.before),
            after: hidden(&texts.after),
        });
        SourceParts {
            address: source.address.clone(),
            digest_path: source.digest_path,
            name: source.name.clone(),
            texts,
        }
    }
}

/// The lists that changes are leaves of. Neighbours with the same list share it.
fn lists_of<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Vec<LeafList> {
    let mut lists: Vec<LeafList> = Vec::new();
    let mut last: Option<&Arc<ListChange>> = None;
    for (at, change) in changes.into_iter().enumerate() {
        let same = |list: &Arc<ListChange>| last.is_some_and(|last| Arc::ptr_eq(last, list));
        match (&change.list, lists.last_mut()) {
            (Some(list), Some(current)) if same(list) => current.count += 1,
            (Some(list), _) => {
                let mut numbers = IndexMap::default();
                lists.push(LeafList {
                    first: at,
                    count: 1,
                    path: list.path.clone(),
                    before: numbered(&list.before, &mut numbers),
                    after: numbered(&list.after, &mut numbers),
                    ordered: list.ordered,
                });
            }
            (None, _) => {}
        }
        last = change.list.as_ref();
    }
    lists
}

/// A value whose secrets are replaced by numbers. Equal secrets have equal numbers, so that a
/// reader of the list sees which items differ.
fn numbered(value: &Value, numbers: &mut IndexMap<String, usize>) -> Value {
    match value {
        Value::Secret(inner) => {
            let key = serde_json::to_string(inner).unwrap_or_default();
            let next = numbers.len();
            let number = *numbers.entry(key).or_insert(next);
            Value::from(number.to_string().as_str()).secret()
        }
        Value::List(items) => Value::list(items.iter().map(|item| numbered(item, numbers))),
        Value::Set(items) => Value::list(items.iter().map(|item| numbered(item, numbers))),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), numbered(value, numbers))),
        ),
        other => other.clone(),
    }
}

/// Marks the hidden values of changes as secrets, and gives the changes their lists.
pub(crate) fn restore_changes<'c>(
    changes: impl Iterator<Item = &'c mut Change>,
    lists: &[LeafList],
) {
    let shared: Vec<(usize, usize, Arc<ListChange>)> = lists
        .iter()
        .map(|list| {
            let change = ListChange {
                path: list.path.clone(),
                before: list.before.clone(),
                after: list.after.clone(),
                ordered: list.ordered,
            };
            let end = list.first.saturating_add(list.count);
            (list.first, end, Arc::new(change))
        })
        .collect();
    let mut lists = shared.iter().peekable();
    for (at, change) in changes.enumerate() {
        while lists.next_if(|(_, end, _)| *end <= at).is_some() {}
        if let Some((_, _, list)) = lists.peek().filter(|(first, _, _)| *first <= at) {
            change.list = Some(list.clone());
        }
        restore_pair(change.before.as_mut(), change.after.as_mut());
    }
}
