//! The progress of an operation through the steps of its plan: step numbers for events, and the
//! steps that were not done.
//!
//! Not here: output.

use blueprint::{Address, IndexMap};

use crate::phases::{Action, Event, Plan};

/// The progress of the steps of a plan.
#[derive(Clone, Debug, Default)]
pub struct RunProgress {
    steps: IndexMap<Address, (u32, Action)>,
    has_begun: bool,
    rolls_back: bool,
}

/// A step that was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedStep {
    /// Its number in the plan.
    pub step: u32,
    /// The address of the resource.
    pub address: Address,
    /// The planned action.
    pub action: Action,
}

impl RunProgress {
    /// Returns the progress before any step has begun.
    pub fn of(plan: &Plan) -> RunProgress {
        let steps = plan
            .steps
            .iter()
            .map(|step| (step.address.clone(), (step.id, step.action)));
        RunProgress {
            steps: steps.collect(),
            ..RunProgress::default()
        }
    }

    /// Records an event.
    pub fn follow(&mut self, event: &Event) {
        match event {
            Event::Started { .. } | Event::Recorded { .. } => self.has_begun = true,
            Event::RollingBack { .. } => self.rolls_back = true,
            _ => {}
        }
    }

    /// Whether any action has begun.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The number of the step of an event. The plan of a rollback was not shown, so its steps have
    /// no number.
    pub fn step_of(&self, event: &Event) -> Option<u32> {
        match event {
            _ if self.rolls_back => None,
            Event::Started { address, .. }
            | Event::Progress { address, .. }
            | Event::Configured { address }
            | Event::Retrying { address, .. }
            | Event::Done { address, .. }
            | Event::Unneeded { address, .. }
            | Event::Failed { address, .. }
            | Event::Unread { address, .. }
            | Event::Recorded { address, .. }
            | Event::Skipped { address, .. } => self.steps.get(address).map(|(step, _)| *step),
            _ => None,
        }
    }

    /// Returns the steps at these addresses, in the order of the plan.
    pub fn not_done(&self, addresses: &[Address]) -> Vec<UnfinishedStep> {
        let step = |address: &Address| {
            let (step, action) = *self.steps.get(address)?;
            (action != Action::None).then(|| UnfinishedStep {
                step,
                address: address.clone(),
                action,
            })
        };
        let mut steps: Vec<UnfinishedStep> = addresses.iter().filter_map(step).collect();
        steps.sort_by_key(|one| one.step);
        steps
    }
}
