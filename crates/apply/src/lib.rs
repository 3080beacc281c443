//! Carrying a plan out: a pure machine from events to effects.
//!
//! The files form layers, and each uses only those above it:
//!
//! * The parts own their fields: `facts` (the input), `known` (values), `schedule` (which tasks may begin), `limits`
//!   (whether there is room for a call), `journal` (the entries on their way to the store), `timers`, `inquiries` (the
//!   pending questions), `link_state`, `progress` (why the run stops, and its results).
//! * Decisions take the parts that they need, and return values: `values` and `link_values` evaluate, `decide` and
//!   `replan` name the work of a task, `calls` and `records` build calls and records, `link_records`, `link_writes`
//!   and `link_ends` are the executor of links.
//! * Steps change the parts as events demand: `parts`, `failing`, `completing`, `asking`, `polling`, `calling`,
//!   `linking`, `gates`, `reads`, `starting`, `waking`, `ending`.
//! * [`machine::Apply`] passes each event to its step.
//!
//! Not here: clocks, stores, providers (`run` carries effects out); what to do (the plan says).
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
mod known;
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
mod schedule;
mod starting;
mod timers;
mod turn;
mod until;
mod values;
mod waking;
