//! Reads data sources during the run. Each is a task that starts once its dependencies are done.
//!
//! Not here: the question and the handling of its reply (`evaluate::evaluation_question`).

use evaluate::event::Event;
use evaluate::resolve::{Need, Slot};
use understand::graph::GraphNode;

use crate::asking::ask;
use crate::completing::complete;
use crate::failing::fail_before_call;
use crate::model::Effect;
use crate::parts::OperationParts;
use crate::values::Values;

/// Asks for a data source, or completes the task if the data source has been read.
pub(crate) fn read(parts: &mut OperationParts, task: u32, number: u32, effects: &mut Vec<Effect>) {
    let mut values = Values::new(&mut parts.known, &mut parts.results);
    values.settle_before(GraphNode::DataSource(number));
    let slot = values
        .known
        .evaluation
        .as_ref()
        .map(|evaluation| &evaluation.data[number as usize]);
    let is_read = match slot {
        None | Some(Slot::Value(_)) => true,
        Some(Slot::Open) => {
            values.need(Need::Fetch(number));
            let needed = values.needed();
            return ask(parts, task, needed, effects);
        }
        // The subject of the data source does not exist, or its evaluation failed.
        Some(_) => false,
    };
    let address = parts.facts.address_of_step(task);
    if is_read {
        if let Some(address) = address {
            parts.emit(
                Event::Recorded {
                    address,
                    how: "read".into(),
                },
                effects,
            );
        }
        complete(parts, task, effects);
    } else {
        if let Some(address) = address {
            parts.emit(
                Event::Unread {
                    address,
                    message: "it could not be read".into(),
                },
                effects,
            );
        }
        fail_before_call(parts, task, effects);
    }
}
