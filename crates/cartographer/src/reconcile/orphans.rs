//! Objects of an owner that its blueprint no longer accounts for: finds them by the status that the
//! owner has, and deletes them (decisions/cartographer#reconcile).
//!
//! An object is deleted only if a complete list shows it, with the labels of the owner. A refused
//! request deletes nothing; what may be left is kept in a condition of the owner.

use blueprint::{Map, Name, Value};

use crate::conditions::{FALSE, StatusCondition};
use crate::stamp::label_value;

use super::failure::refusal_of;
use super::outbox::Outbox;
use super::parts::{group, items, label, name, part, shown, text};
use super::requests::{Call, ClusterAnswer, FoundObject, OwnerEvent, RefusalReason, RequestId};
use super::runs::{deletion, removed};

/// The type of the condition that names what may be left. An owner has it only then.
pub(super) const ORPHANS_DELETED: &str = "OrphansDeleted";

/// Where orphans can be: the objects of a kind that one resource made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrphanPlace {
    api_version: Name,
    kind: Name,
    namespace: Name,
    resource: Name,
}

/// What a run accounts for.
#[derive(Default)]
pub(super) struct Accounted {
    /// The objects: group, kind and name.
    objects: Vec<(Name, Name, Name)>,
    series: Vec<AccountedSeries>,
}

/// All runs of a resource that one template made.
struct AccountedSeries {
    resource: Name,
    group: Name,
    kind: Name,
    template_kind: Name,
    template: Name,
}

impl Accounted {
    /// Adds the entry of a resource, as the new status has it. `is_series` if its object is one of
    /// many.
    pub(super) fn add(&mut self, entry: &Value, is_series: bool) {
        let object = part(entry, &["stampedRef"]);
        let api_group = Name::from(group(text(object, &["apiVersion"])));
        let kind = name(object, &["kind"]);
        if kind.is_empty() {
            return;
        }
        let object_name = name(object, &["name"]);
        self.objects
            .push((api_group.clone(), kind.clone(), object_name));
        if is_series {
            self.series.push(AccountedSeries {
                resource: name(entry, &["name"]),
                group: api_group,
                kind,
                template_kind: name(entry, &["templateRef", "kind"]),
                template: name(entry, &["templateRef", "name"]),
            });
        }
    }

    /// Whether the object of an entry of the old status is accounted for.
    fn has_entry(&self, entry: &Value) -> bool {
        let object = part(entry, &["stampedRef"]);
        let (api_group, kind) = (
            group(text(object, &["apiVersion"])),
            text(object, &["kind"]),
        );
        self.has_object(api_group, kind, text(object, &["name"]))
            || self.series.iter().any(|series| {
                *series.resource == *text(entry, &["name"])
                    && *series.group == *api_group
                    && *series.kind == *kind
                    && *series.template_kind == *text(entry, &["templateRef", "kind"])
                    && *series.template == *text(entry, &["templateRef", "name"])
            })
    }

    fn has_object(&self, api_group: &str, kind: &str, object: &str) -> bool {
        self.objects
            .iter()
            .any(|known| *known.0 == *api_group && *known.1 == *kind && *known.2 == *object)
    }

    /// Whether an object of the cluster is accounted for.
    fn has(&self, found: &Value) -> bool {
        let (api_group, kind) = (group(text(found, &["apiVersion"])), text(found, &["kind"]));
        let is = |key: &str, value: &str| label(found, key) == Some(&label_value(value));
        self.has_object(api_group, kind, text(found, &["metadata", "name"]))
            || self.series.iter().any(|series| {
                *series.group == *api_group
                    && *series.kind == *kind
                    && is("carto.run/resource-name", &series.resource)
                    && is("carto.run/template-kind", &series.template_kind)
                    && label(found, "carto.run/template-lifecycle") != Some("mutable")
                    // Upstream does not name a template that was chosen among options.
                    && (is("carto.run/cluster-template-name", &series.template)
                        || is("carto.run/cluster-template-name", ""))
            })
    }
}

/// The search for orphans, and their end.
pub(super) struct OrphanTask {
    uid: Name,
    accounted: Accounted,
    listing: Vec<(RequestId, OrphanPlace)>,
    deleting: Vec<(RequestId, OrphanPlace, String)>,
    left: Vec<OrphanPlace>,
    why: Option<String>,
    /// What happened.
    pub(super) events: Vec<OwnerEvent>,
}

impl OrphanTask {
    /// Asks for the objects in all places where orphans can be.
    pub(super) fn start(owner: &Value, accounted: Accounted, outbox: &mut Outbox) -> OrphanTask {
        let mut places = left_before(owner);
        for entry in items(owner, &["status", "resources"]) {
            let object = part(entry, &["stampedRef"]);
            if object.is_null() || accounted.has_entry(entry) {
                continue;
            }
            let place = OrphanPlace {
                api_version: name(object, &["apiVersion"]),
                kind: name(object, &["kind"]),
                namespace: name(owner, &["metadata", "namespace"]),
                resource: name(entry, &["name"]),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let listing = places.into_iter().map(|place| {
            let namespace = Some(place.namespace.clone()).filter(|name| !name.is_empty());
            let call = Call::List {
                api_version: place.api_version.clone(),
                kind: place.kind.clone(),
                namespace,
                labels: labels(owner, &place.resource),
            };
            (outbox.ask(call), place)
        });
        OrphanTask {
            uid: name(owner, &["metadata", "uid"]),
            listing: listing.collect(),
            accounted,
            deleting: Vec::new(),
            left: Vec::new(),
            why: None,
            events: Vec::new(),
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.listing.is_empty() && self.deleting.is_empty()
    }

    /// Takes an answer; one of another task changes nothing.
    pub(super) fn answer(&mut self, id: RequestId, answer: ClusterAnswer, outbox: &mut Outbox) {
        if let Some(at) = self.listing.iter().position(|(open, _)| *open == id) {
            let (_, place) = self.listing.remove(at);
            match answer {
                ClusterAnswer::List(found) => self.delete(&place, &found, outbox),
                other => self.keep(place, other),
            }
        } else if let Some(at) = self.deleting.iter().position(|(open, ..)| *open == id) {
            let (_, place, object) = self.deleting.remove(at);
            match answer {
                ClusterAnswer::Done => self.events.push(removed(&object)),
                ClusterAnswer::Missing => {}
                other => self.keep(place, other),
            }
        }
    }

    fn delete(&mut self, place: &OrphanPlace, found: &[FoundObject], outbox: &mut Outbox) {
        for found in found {
            let object = &found.object;
            let is_going = !part(object, &["metadata", "deletionTimestamp"]).is_null();
            if is_going || self.accounted.has(object) || !self.is_own(object) {
                continue;
            }
            let id = outbox.ask(deletion(found));
            self.deleting.push((id, place.clone(), shown(found)));
        }
    }

    /// Whether an object is of this owner, and not of an earlier one with its name.
    fn is_own(&self, object: &Value) -> bool {
        let owners = items(object, &["metadata", "ownerReferences"]);
        owners.is_empty()
            || owners
                .iter()
                .any(|owner| *text(owner, &["uid"]) == *self.uid)
    }

    fn keep(&mut self, place: OrphanPlace, answer: ClusterAnswer) {
        let refusal = refusal_of(answer);
        // Without the kind, there is no object of it.
        if refusal.reason == RefusalReason::KindMissing {
            return;
        }
        self.why.get_or_insert(refusal.message);
        if !self.left.contains(&place) {
            self.left.push(place);
        }
    }

    /// The condition that names the places where orphans may be left; `None` if there are none.
    pub(super) fn condition(&self) -> Option<StatusCondition> {
        if self.left.is_empty() {
            return None;
        }
        let why = self.why.as_deref().unwrap_or_default();
        let mut message = why.replace('\n', " ");
        for place in &self.left {
            let OrphanPlace {
                api_version,
                kind,
                resource,
                ..
            } = place;
            message.push_str(&format!("\n{api_version} {kind} {resource}"));
        }
        Some(StatusCondition::new(
            ORPHANS_DELETED,
            FALSE,
            "DeletionFailed",
            &message,
        ))
    }
}

/// The places that an earlier run could not clean, from the condition of the owner: after a line that
/// says why, a line for each.
fn left_before(owner: &Value) -> Vec<OrphanPlace> {
    let conditions = items(owner, &["status", "conditions"]).iter();
    let mut conditions =
        conditions.filter(|condition| text(condition, &["type"]) == ORPHANS_DELETED);
    let message = conditions
        .next()
        .map_or("", |condition| text(condition, &["message"]));
    let places = message.lines().skip(1).filter_map(|line| {
        let mut parts = line.splitn(3, ' ');
        Some(OrphanPlace {
            api_version: parts.next()?.into(),
            kind: parts.next()?.into(),
            namespace: name(owner, &["metadata", "namespace"]),
            resource: parts.next()?.into(),
        })
    });
    places.collect()
}

/// The labels of everything that a resource of the owner made.
fn labels(owner: &Value, resource: &str) -> Map {
    let sort = match text(owner, &["kind"]) {
        "Deliverable" => "deliverable",
        _ => "workload",
    };
    let metadata = |key: &str| label_value(text(owner, &["metadata", key]));
    [
        (format!("carto.run/{sort}-name"), metadata("name")),
        (format!("carto.run/{sort}-namespace"), metadata("namespace")),
        ("carto.run/resource-name".to_owned(), label_value(resource)),
    ]
    .into_iter()
    .map(|(key, value)| (Name::from(key), Value::from(value)))
    .collect()
}
