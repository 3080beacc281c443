//! Load, check, resolve, refresh, plan, apply: the whole pipeline, each stage a function from values to values.
//!
//! ```text
//! text ──load──> Blueprint ──check──> Checked ──plan──> Staged { Plan, .. } ──apply──> entries, events, state
//!                                       │         ▲ inputs, snapshot, answers of the world
//!                                       └ editors stop here
//! ```
//!
//! * [`load`] reads a text: the tree, the dialect that recognises it, its meaning.
//! * [`check`] says everything that the document alone shows to be wrong.
//! * [`plan()`] settles what was cut off, reads the world, evaluates each element in the order of the graph, and
//!   decides for each thing what to do and why. It awaits nothing but [`World`].
//! * [`Apply`] carries a plan out: a pure machine from events to effects.
//! * [`shell`] is the one place that names a runtime or a clock: it answers questions and carries effects out.
//!
//! Not here: providers, stores and sources themselves; words for people; exit codes.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod answers;
pub mod apply;
pub mod check;
mod children;
pub mod codes;
mod documents;
mod drift;
mod event;
pub mod generation;
mod graph;
mod hints;
mod json_schema;
mod links;
mod load;
mod patience;
mod plan;
pub mod plan_file;
mod refresh;
mod resolve;
pub mod shell;
mod transform;
mod world;

pub use answers::{Answers, Frozen, FrozenChild, FrozenData};
pub use apply::{Apply, Asking, Effect, Happened};
pub use check::{Checked, check};
pub use children::{Reading, documents};
pub use documents::{Documents, Unit};
pub use drift::{Drift, Drifted, Looked, drift, only};
pub use event::Event;
pub use graph::{Edge, EdgeKind, Graph, Node};
pub use json_schema::json_schema;
pub use links::{Links, Pair};
pub use load::{Loaded, load};
pub use plan::{
    Action, Adoption, Batch, Change, ChildChange, DriftPolicy, ExportAction, ExportChange, FrozenDocument, LeftAlone,
    LinkChange, LinkEffectChange, Options, Plan, PlannedStop, Purpose, Question, Reason, Reply, Request, Resolved,
    ResolvedElement, Search, Staged, Step, StepLinks, Surgery, Taken, check_offline, is_current, plan, unchanged,
};
pub use resolve::{Given, judge_inputs};
pub use transform::{transform, transform_documents};
pub use world::{PlanQuestion, PreflightQuestion, ReadQuestion, SourceError, World};

/// The part at which a link has failed, as its record tells; none for what is no link (reference 5.4).
pub fn link_failed_at(record: &state::Record) -> Option<&str> {
    links::failed_at(record)
}

/// Every diagnostic code of the engine: of checks, plans and runs.
pub fn codes() -> impl Iterator<Item = &'static diag::Code> {
    check::codes::CODES.iter().chain(codes::CODES).copied()
}
