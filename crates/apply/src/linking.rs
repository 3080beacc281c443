//! Carries out the steps of links: makes the calls and records the outcomes that the link executor
//! returns.
//!
//! Not here: the executor (`link_records`, `link_writes`, `link_ends`).

use std::sync::Arc;

use evaluate::event::Event;
use evaluate::resolve::links::slots::LinkAt;
use plan::linked::LinkWrite;
use plan::task::Decided;
use provider::Operation as Verb;

use crate::calling::record_intent;
use crate::completing::{complete, complete_unneeded};
use crate::failing::fail_with_message;
use crate::journal::Durable;
use crate::link_ends::LinkEndState;
use crate::link_writes::NextOfWrite;
use crate::model::Effect;
use crate::parts::OperationParts;

/// Starts a write of a link.
pub(crate) fn start_write(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    write: &LinkWrite,
    effects: &mut Vec<Effect>,
) {
    match parts.link(|links, schedule| links.start(task, decided, write, schedule)) {
        NextOfWrite::Unneeded(reason) => complete_unneeded(parts, task, reason, effects),
        NextOfWrite::Done => {
            let address = decided.address.clone();
            let operation = Verb::Update;
            parts.emit(
                Event::Done {
                    address,
                    operation,
                    replacing: false,
                },
                effects,
            );
            complete(parts, task, effects);
        }
        NextOfWrite::Complete => complete(parts, task, effects),
        NextOfWrite::Failed(message) => fail_with_message(parts, task, decided, message, effects),
        NextOfWrite::Call(call) => {
            let (intent, request) = *call;
            record_intent(parts, task, intent, request);
        }
    }
}

/// Completes a link and records the data that it exposes.
pub(crate) fn finish_link(
    parts: &mut OperationParts,
    task: u32,
    decided: &Arc<Decided>,
    link: LinkAt,
    effects: &mut Vec<Effect>,
) {
    match parts.link(|links, _| links.finish(task, decided, link)) {
        LinkEndState::Gone => {
            complete_unneeded(parts, task, "an end of the link is not there", effects)
        }
        LinkEndState::Unchanged => complete(parts, task, effects),
        LinkEndState::Record(record) => {
            parts.record(task, decided, Some(record), None, Durable::Done(task))
        }
        LinkEndState::Failed(message) => fail_with_message(parts, task, decided, message, effects),
    }
}
