//! Scripts: what gives objects their status where the controller of their kind is not there.
//!
//! A script names a kind and the statuses that its objects get, one after another. `play` plays
//! scripts as a client of a cluster, so they serve the local cluster and a real one. The ready-made
//! scripts stand for the controllers that supply chains are used with most.
//!
//! ```text
//! text ──read──> Script ──Progress──> Due ──play──> patches of a status
//! ```
//!
//! Not here: an API server (`local_cluster`); the kinds of Cartographer (`controller`).

pub mod codes;
mod definition;
mod play;
mod progress;
mod read;
mod ready_made;
mod script;
mod status;

pub use codes::CODES;
pub use definition::free_definition;
pub use play::{Clock, Pace, Player, ScriptEvent};
pub use progress::{Due, Progress};
pub use read::read;
pub use ready_made::{ready_made, ready_made_names, ready_made_text};
pub use script::{RunResult, Script, ScriptStep};

#[cfg(test)]
mod tests;
