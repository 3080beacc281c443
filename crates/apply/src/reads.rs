//! Reads data sources during the run. Each is a task that starts once its dependencies are done.
//!
//! Not here: the question and the handling of its reply (`evaluate::evaluation_question`).

use crate::machine::Apply;
use crate::model::Effect;
use crate::schedule::Progress;
use evaluate::event::Event;
use evaluate::resolve::{Need, Slot};
use plan::model::Step;
use understand::graph::Node;

impl Apply {
    /// Asks for a data source, or completes the task if the data source has been read.
    pub(crate) fn read(&mut self, task: u32, number: u32, effects: &mut Vec<Effect>) {
        self.inquiries.needed.clear();
        self.settle_behind(Node::DataSource(number));
        let slot = self.evaluation.as_ref().map(|evaluation| &evaluation.data[number as usize]);
        let is_read = match slot {
            None | Some(Slot::Value(_)) => Some(true),
            Some(Slot::Open) => {
                self.inquiries.needed.push(Need::Fetch(number));
                None
            }
            // What it searches for does not exist, or its evaluation failed.
            Some(_) => Some(false),
        };
        let needed = std::mem::take(&mut self.inquiries.needed);
        let step = self.plan.tasks[task as usize].step.and_then(|step| self.plan.steps.get(step as usize));
        let address = step.map(|step: &Step| step.address.clone());
        match (is_read, address) {
            (None, _) => self.ask(task, needed, effects),
            (Some(true), address) => {
                if let Some(address) = address {
                    self.journal.emit(Event::Recorded { address, how: "read".into() }, effects);
                }
                self.complete(task, effects);
            }
            (Some(false), address) => {
                if let Some(address) = address {
                    let message = "it could not be read".into();
                    self.journal.emit(Event::Unread { address, message }, effects);
                }
                self.state.failed = true;
                self.schedule.running[task as usize].progress = Progress::Failed;
                self.after_failure(task, effects);
            }
        }
    }
}
