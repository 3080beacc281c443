//! Carrying a plan out: a pure machine from events to effects.
//!
//! [`machine::Apply`] takes in what happened and says what should be done next. Its parts own their fields: `schedule`
//! knows which tasks may begin, `limits` whether there is room for a call, `journal` what is on its way to the store,
//! `timers` the wake-ups, `link_state` what links have written, `inquiries` the questions that are out.
//!
//! Not here: clocks, stores, providers (`run` carries effects out); what to do (the plan says).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod answer;
mod ask;
pub mod codes;
mod end;
mod inquiries;
mod intents;
mod journal;
mod limits;
mod link_state;
mod link_writes;
mod links;
pub mod machine;
pub mod model;

mod progress;
mod queue;
mod ranks;
mod reads;
mod record;
mod replan;
mod schedule;
mod start;
mod stops;
mod timers;
mod until;
mod values;
