//! The decision about one resource, link or part of a link.
//!
//! Not here: how decisions are made (`drafting`, `links`, `reconcile`).

use std::sync::Arc;

use blueprint::{
    Address, DeclarationSite, DeleteMode, Name, ReplaceOrder, Resource, TypeId, Value,
};
use diag::Span;
use evaluate::answers::{Answers, PinnedRead};
use evaluate::question::{ProviderInstance, ResourceTarget};
use provider::{Catalogs, ResourceType, TypeRef};
use state::{Record, StatusWord};
use understand::compare::Change;
use understand::secret_marks::mark_fields;

use crate::linked::Linked;
use crate::model::{Action, Batch, Reason};

/// A decision about one resource.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) address: Address,
    /// Position of the resource in the document, and of the member in it; `None` for links, their
    /// parts, and resources that only the state knows.
    pub(crate) element: Option<(u32, Option<u32>)>,
    /// The link or the part of a link, if the decision is about one.
    pub(crate) linked: Option<Arc<Linked>>,
    pub(crate) type_name: TypeId,
    pub(crate) ty: Option<Arc<ResourceType>>,
    pub(crate) action: Action,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) changes: Vec<Change>,
    /// Paths whose changes are not shown.
    pub(crate) hidden: Vec<Name>,
    pub(crate) replace_order: ReplaceOrder,
    pub(crate) may_replace: bool,
    pub(crate) condition_open: bool,
    /// All changes are only recorded: no call is made.
    pub(crate) only_recorded: bool,
    /// The record must be written even without a call: more than the spec may differ (metadata,
    /// dependencies, lifecycle).
    pub(crate) record_differs: bool,
    pub(crate) desired: Value,
    pub(crate) metadata: Value,
    pub(crate) prior: Option<Arc<Record>>,
    /// The fields of the object as they are now: as read if it was read, else as recorded.
    pub(crate) outputs: Value,
    /// Opaque data of its provider.
    pub(crate) private: PrivateData,
    /// The configuration of its provider, if a resource declares it.
    pub(crate) provider: Option<Arc<ProviderInstance>>,
    /// Its direct dependencies, as its record will list them.
    pub(crate) dependencies: Vec<Address>,
    pub(crate) protection: Protection,
    pub(crate) lineage: Lineage,
    /// Its part in the change of a group in batches.
    pub(crate) rolling: BatchRole,
    pub(crate) span: Span,
}

/// The opaque data of a provider about one object.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrivateData {
    /// The data of the object as it is now: as read if it was read, else as recorded.
    pub(crate) now: Value,
    /// The data that the provider returned when it planned the change; null if it returned none.
    pub(crate) planned: Value,
    /// The provider's reason for a replacement although nothing differs.
    pub(crate) expired: Option<Name>,
    /// What the provider needs before it can decide, as a phrase.
    pub(crate) needs: Option<Name>,
}

impl PrivateData {
    /// The data for the plan of the new resource: from the plan of the change if there is one, else
    /// from the old object.
    pub(crate) fn latest(&self) -> &Value {
        if self.planned.is_null() {
            &self.now
        } else {
            &self.planned
        }
    }
}

/// The origin of a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lineage {
    /// The abstract resource from which a transform made it, in the notation of addresses.
    pub(crate) made_from: Option<Name>,
    /// Its address before a move.
    pub(crate) moved_from: Option<Address>,
}

/// Restrictions on the actions on a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protection {
    /// It stays in the world when it is no longer declared.
    pub(crate) retain: bool,
    /// It must not be deleted or replaced.
    pub(crate) protect: bool,
    /// How its object is deleted.
    pub(crate) delete_mode: DeleteMode,
    /// Actions that the environment forbids.
    pub(crate) restricted: blueprint::Restricted,
}

/// The part of a resource in the change of its group in batches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BatchRole {
    /// It is created only to stand in for others of its group, and deleted again by the same plan.
    pub(crate) temporary: bool,
    pub(crate) batch: Option<Batch>,
}

impl Decision {
    /// The resource as the subject of a question.
    pub(crate) fn target<'a>(&'a self, site: DeclarationSite<&'a str>) -> ResourceTarget<'a> {
        ResourceTarget::new(&self.address, &self.type_name, site)
            .managed_by(self.provider.as_deref())
    }

    /// Whether the new record differs from this record. If a resource moves to another
    /// configuration of its provider, only its record changes: both configurations may mean the
    /// same account.
    pub(crate) fn differs_from(&self, record: &Record) -> bool {
        self.desired != record.inputs
            || self.metadata != record.metadata
            || self.dependencies != record.dependencies
            || self.provider.as_ref().map(|it| &it.address)
                != record.provider.as_ref().map(|it| &it.address)
            || self.protection.retain != record.retain
            || self.protection.protect != record.protect
            || self.protection.delete_mode != record.delete_mode
            || self.lineage.made_from.as_deref().unwrap_or_default()
                != record.origin.made_from.as_ref()
    }
}

/// A decision about a resource that only the state knows, still without an action.
pub(crate) fn of_record(address: &Address, record: &Arc<Record>, catalogs: &Catalogs) -> Decision {
    let ty = match catalogs.resource_type(&record.type_name) {
        TypeRef::Known(ty) => Some(ty),
        _ => None,
    };
    Decision {
        address: address.clone(),
        element: None,
        linked: None,
        type_name: record.type_name.clone(),
        ty,
        action: Action::None,
        reasons: Vec::new(),
        changes: Vec::new(),
        hidden: Vec::new(),
        replace_order: ReplaceOrder::DeleteFirst,
        may_replace: false,
        condition_open: false,
        only_recorded: false,
        record_differs: true,
        desired: Value::Null,
        metadata: Value::Null,
        prior: Some(record.clone()),
        outputs: record.outputs.clone(),
        private: PrivateData {
            now: record.private.clone(),
            planned: Value::Null,
            expired: None,
            needs: None,
        },
        provider: None,
        dependencies: record.dependencies.clone(),
        protection: Protection {
            retain: record.retain,
            protect: record.protect,
            delete_mode: record.delete_mode,
            restricted: Default::default(),
        },
        lineage: Lineage {
            made_from: Some(record.origin.made_from.clone()).filter(|name| !name.is_empty()),
            moved_from: None,
        },
        rolling: BatchRole::default(),
        span: Span::NONE,
    }
}

/// The decision to remove a resource. If the document still declares the resource, its declared
/// lifecycle applies.
pub(crate) fn removal(
    address: &Address,
    record: &Arc<Record>,
    reason: Reason,
    answers: &Answers,
    catalogs: &Catalogs,
    declared: Option<&Resource>,
) -> Decision {
    let seen = answers.seen.get(address);
    let nothing_there = record.id.is_empty() && record.deposed.is_none()
        || matches!(seen, Some(PinnedRead::Absent));
    let mut decision = of_record(address, record, catalogs);
    if let (
        Some(PinnedRead::Present {
            fields, private, ..
        }),
        Some(ty),
    ) = (seen, &decision.ty)
        && !record.id.is_empty()
    {
        decision.outputs = mark_fields(&ty.schema, fields, &record.outputs);
        decision.private.now = private.clone();
    }
    if let Some(resource) = declared {
        decision.protection.retain = resource.lifecycle.retain;
        decision.protection.protect |= resource.lifecycle.protect;
        decision.span = resource.span;
    }
    decision.action = if nothing_there {
        Action::None
    } else if decision.protection.retain {
        Action::Detach
    } else {
        Action::Delete
    };
    decision.reasons = vec![reason];
    if record.status.word == StatusWord::Failed {
        decision.reasons.push(Reason::FailedBefore);
    }
    decision
}
