//! Carrying a plan out: a pure machine from events to effects.
//!
//! Not here: clocks, stores, providers (`run` carries effects out); what to do (the plan says).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod answer;
pub mod ask;
pub mod codes;
mod end;
mod lanes;
mod links;
pub mod machine;
mod pauses;
mod phases;
mod queue;
mod ranks;
mod reads;
mod record;
pub mod run;
mod stops;
mod until;
