//! Pauses between tasks: the plan says how long, and the machine is woken when they are over.
//!
//! A pause holds nothing up but what waits for it, takes no room, and leaves nothing behind: a run that ends during one
//! ends at once, and whoever goes on does not make it up.

use std::time::Duration;

use evaluate::event::Event;

use crate::machine::{Apply, Effect, Progress, Wake};
use plan::task::TaskKind;

impl Apply {
    /// Everything before a pause is done: it begins.
    pub(crate) fn pause(&mut self, task: u32, pause: Duration, effects: &mut Vec<Effect>) {
        self.running[task as usize].progress = Progress::Resting;
        let for_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.tell(Event::Pausing { for_ms }, effects);
        let number = self.wake(Wake::Pause(task));
        effects.push(Effect::Wake(number, pause));
    }

    /// Nothing new starts any more, so nobody waits for a pause; false if the task is none.
    pub(super) fn end_pause(&mut self, task: u32) -> bool {
        let is_pause = matches!(self.plan.tasks[task as usize].kind, TaskKind::Pause(_));
        if is_pause {
            self.running[task as usize].progress = Progress::Ready;
        }
        is_pause
    }
}
