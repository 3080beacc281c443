//! Applies a plan: a pure state machine from events to effects.
//!
//! The files form layers. Each file uses only files of the layers above it:
//!
//! * The parts own their fields: `facts` (the input), `run_values` (values), `schedule` (which
//!   tasks may begin), `limits` (whether a call slot is free), `journal` (the entries that wait for
//!   the store), `timers`, `inquiries` (the pending questions), `link_state`, `progress` (whether
//!   and why the run stops, and its results).
//! * Decisions take the parts that they need, and return values: `values` and `link_values`
//!   evaluate, `decide` and `replan` return the work of a task, `calls` and `records` build calls
//!   and records, `link_records`, `link_writes` and `link_ends` are the executor of links.
//! * Steps change the parts in reaction to events: `parts`, `failing`, `completing`, `asking`,
//!   `polling`, `calling`, `linking`, `gates`, `reads`, `starting`, `waking`, `ending`.
//! * [`machine::Apply`] passes each event to its step.
//!
//! Not here: clocks, stores, providers (`run` carries effects out); the choice of the steps (the
//! plan).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod asking;
mod breach;
mod calling;
mod calls;
pub mod codes;
mod completing;
mod decide;
mod ending;
mod facts;
mod failing;
mod gates;
mod inquiries;
mod journal;
mod limits;
mod link_ends;
mod link_records;
mod link_state;
mod link_values;
mod link_writes;
mod linking;
pub mod machine;
pub mod model;
mod parts;
mod polling;
mod progress;
mod queue;
mod ranks;
mod reads;
mod records;
mod refusal;
mod replan;
mod run_values;
mod schedule;
mod starting;
mod timers;
mod until;
mod values;
mod waking;
mod work;
