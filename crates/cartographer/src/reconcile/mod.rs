//! What a controller does for one object: a state machine that asks and is answered
//! (decisions/cartographer#reconcile).
//!
//! The machine has no connection and no clock. The controller carries out its requests, gives it
//! the answers, and writes what it ends with.

mod applied;
mod blueprint_task;
mod failure;
mod input_digests;
mod options;
mod orphans;
mod outbox;
mod owner;
mod owner_blueprint;
mod owner_context;
mod owner_status;
mod parts;
mod realized;
mod requests;
mod resource;
mod resource_template;
mod runnable_task;
mod runs;

use std::sync::Arc;

use blueprint::Value;

use crate::kinds::{CartoKind, KindFamily};
use crate::stamp::YttTemplates;

use blueprint_task::blueprint_outcome;
use owner::OwnerTask;
use runnable_task::RunnableTask;

pub use options::ReconcileOptions;
pub use requests::{
    AccountName, Call, ClusterAnswer, ClusterRequest, FoundObject, Identity, ObjectName,
    OwnerEvent, Platform, ReconcileOutcome, Refusal, RefusalReason, RequestId, Retry, Watches,
};
/// One reconcile of one object. It holds everything that it needs, so that it can wait for answers
/// in an asynchronous task.
pub struct Reconcile {
    task: Task,
}

enum Task {
    Owner(Box<OwnerTask>),
    Runnable(Box<RunnableTask>),
    Done(ReconcileOutcome),
}

impl Reconcile {
    /// Starts the reconcile of a Workload, a Deliverable, a Runnable, a ClusterSupplyChain or a
    /// ClusterDelivery, given as the cluster has it. `platform` is read only here. `None` for an
    /// object of another kind, and for one that is being deleted.
    pub fn start(
        object: Arc<Value>,
        platform: &dyn Platform,
        ytt: Arc<dyn YttTemplates + Send + Sync>,
        options: &ReconcileOptions,
    ) -> Option<Reconcile> {
        let kind = CartoKind::of(&object)?;
        if !parts::part(&object, &["metadata", "deletionTimestamp"]).is_null() {
            return None;
        }
        let task = match kind.family() {
            KindFamily::Owner => {
                let task = OwnerTask::start(object, kind, platform, ytt, options);
                Task::Owner(Box::new(task))
            }
            KindFamily::Runnable => {
                let task = RunnableTask::start(object, platform, ytt, options);
                Task::Runnable(Box::new(task))
            }
            KindFamily::Blueprint => Task::Done(blueprint_outcome(&object, platform, options)),
            KindFamily::Template | KindFamily::RunTemplate => return None,
        };
        Some(Reconcile { task })
    }

    /// The requests that can be sent now and were not returned before. Those of resources that do not
    /// depend on each other come together.
    pub fn requests(&mut self) -> Vec<ClusterRequest> {
        match &mut self.task {
            Task::Owner(task) => task.outbox().take(),
            Task::Runnable(task) => task.outbox().take(),
            Task::Done(_) => Vec::new(),
        }
    }

    /// Takes the answer to a request. An answer to a request that is not open changes nothing.
    pub fn answer(&mut self, id: RequestId, answer: ClusterAnswer) {
        match &mut self.task {
            Task::Owner(task) => task.answer(id, answer),
            Task::Runnable(task) => task.answer(id, answer),
            Task::Done(_) => {}
        }
    }

    /// What the reconcile ends with; `None` while a request is open.
    pub fn outcome(&self) -> Option<&ReconcileOutcome> {
        match &self.task {
            Task::Owner(task) => task.outcome(),
            Task::Runnable(task) => task.outcome(),
            Task::Done(outcome) => Some(outcome),
        }
    }
}
