//! The items of the phases `understand`, `evaluate`, `plan`, `apply` and `run` that front ends and
//! sessions use.

pub use ::apply::machine::Apply;
pub use ::apply::model::{ApplyInput, Asking, Effect};
pub use ::plan::addresses::help_for_address;
pub use ::plan::drift::{Drift, DriftScan, Drifted, drift, retain_addresses};
pub use ::plan::model::{
    Action, Batch, ChildChange, ExportAction, ExportChange, LeftAlone, LinkChange,
    LinkEffectChange, PinnedDocument, PlannedStop, Purpose, Reason, Step, StepLinks,
};
pub use ::plan::offline::{CheckDepth, check_offline};
pub use ::plan::options::{Adoption, DriftPolicy, ForeignObject, Options, Refresh, StateEdit};
pub use ::plan::plan;
pub use ::plan::plan::{Plan, Request, Staged, StepSource, is_current};
pub use ::plan::readable::ReadablePlan;
pub use ::plan::shown::ShownPlan;
pub use ::plan::unchanged::unchanged;
pub use ::plan::{generation, plan_file};
pub use evaluate::answers::{self, Answers};
pub use evaluate::children::{ReadingContext, documents};
pub use evaluate::data_search::Search;
pub use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply};
pub use evaluate::event::Event;
pub use evaluate::question::{
    ProviderQuestion, ProviderReply, ProviderRequest, Question, Reply, ResourceTarget, Retry,
    SourceError, Subject,
};
pub use evaluate::resolve::inputs::{Given, validate_inputs};
pub use evaluate::transform::{transform, transform_documents};
pub use evaluate::world::{Environment, World};
pub use understand::check::{self, Checked, check};
pub use understand::compare::{Change, ListChange, canonical, value_differences};
pub use understand::documents::{DocumentInstance, Documents};
pub use understand::graph::{Edge, EdgeKind, Graph, GraphNode};
pub use understand::json_schema::json_schema;
pub use understand::links::{LinkedPair, Links};
pub use understand::load::{Loaded, load};
pub use understand::pinned::{Pinned, PinnedChild, PinnedData};

/// The state machine that applies a plan.
pub mod apply {
    pub use ::apply::machine::*;
    pub use ::apply::model::*;
}

/// The runtime that answers questions and executes effects.
pub mod run {
    pub use ::run::call_records::*;
    pub use ::run::operate::*;
    pub use ::run::run::*;
    pub use ::run::shell::*;
    pub use ::run::takeover::*;
}
