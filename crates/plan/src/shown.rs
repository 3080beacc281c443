//! The parts of a plan that people and machines are shown, of a fresh plan and of a plan file.
//!
//! A plan file holds no tasks and no state, and its secrets are hidden. So views are made from
//! [`ShownPlan`], which a plan and a plan file both give.
//!
//! Not here: the form of the views (the command line).

use blueprint::{Address, IndexMap, Name};
use state::{Counts, OperationKind, Revision};

use crate::drift::Drifted;
use crate::model::{
    ChildChange, ExportChange, LeftAlone, LinkChange, PlannedStop, Step, counts, does_nothing,
};
use crate::plan::{Plan, StepSource};

/// The parts of a plan that people and machines are shown.
#[derive(Clone, Debug)]
pub struct ShownPlan<'p> {
    /// The instance.
    pub instance: &'p Name,
    /// The purpose: `deploy`, `destroy`, `reconcile` or `rollback`.
    pub purpose_word: &'static str,
    /// Whether the operation changes the state alone.
    pub is_state_edit: bool,
    /// The revision of the state that the plan was made from.
    pub revision: Revision,
    /// The steps, in the order of the plan.
    pub steps: &'p [Step],
    /// The links that are created, changed or removed.
    pub links: &'p [LinkChange],
    /// The exported values, before and after.
    pub exports: &'p [ExportChange],
    /// The entries of the metadata, before and after.
    pub metadata_changes: &'p [ExportChange],
    /// Child documents, each before those that it includes.
    pub children: &'p [ChildChange],
    /// The drift that the refresh found.
    pub drift: &'p [Drifted],
    /// The places where the operation stops or continues.
    pub stops: &'p [PlannedStop],
    /// The resources that stay as they are.
    pub left_alone: &'p LeftAlone,
    /// The resources that could not be read, with the reasons.
    pub unread: &'p IndexMap<Address, Name>,
    /// The sources of the resources that the plan changes.
    pub sources: Vec<StepSource<'p>>,
}

impl ShownPlan<'_> {
    /// The number of steps that create, update, delete and replace. A temporary member counts as a
    /// delete too.
    pub fn counts(&self) -> Counts {
        counts(self.steps)
    }

    /// Whether the plan does nothing and changes no export.
    pub fn is_empty(&self) -> bool {
        !self.is_state_edit && does_nothing(self.steps, self.exports, self.stops)
    }
}

impl Plan {
    /// The parts that people and machines are shown.
    pub fn shown(&self) -> ShownPlan<'_> {
        ShownPlan {
            instance: &self.instance,
            purpose_word: self.purpose_word(),
            is_state_edit: self.kind == OperationKind::State,
            revision: self.revision,
            steps: &self.steps,
            links: &self.links,
            exports: &self.exports,
            metadata_changes: &self.metadata_changes,
            children: &self.children,
            drift: &self.drift,
            stops: &self.stops,
            left_alone: &self.left_alone,
            unread: &self.answers.unread,
            sources: self.sources().collect(),
        }
    }
}
