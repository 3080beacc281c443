//! A plan, and the request from which it is made: plain data with queries.
//!
//! Not here: making a plan (`planner`), carrying it out (`apply`).

use std::sync::Arc;

use blueprint::{Address, Expr, IndexMap, Name, Value};
use diag::Diagnostics;
use evaluate::answers::{Answers, PinnedTexts};
use evaluate::evaluation_question::evaluate_until_answered;
use evaluate::resolve::inputs::Given;
use evaluate::resolve::{Evaluation, ExpressionSite, Halt};
use evaluate::retry::RetryingWorld;
use evaluate::world::World;
use expr::FunctionTable;
use provider::Catalogs;
use state::{Counts, OperationKind, Revision, Snapshot, Store};
use understand::documents::Documents;

use crate::codes;
use crate::drift::Drifted;
use crate::linked::Linked;
use crate::model::{
    Action, ChildChange, ExportChange, Gate, LeftAlone, LinkChange, PinnedDocument, PlannedStop,
    Purpose, Step, counts, does_nothing,
};
use crate::options::{DriftPolicy, Options};
use crate::settled::Settled;
use crate::targets::Untouched;
use crate::task::{Task, TaskKind};

impl Staged {
    /// Evaluates an expression of the staged document, and asks the world what it needs. `None` if
    /// it is in error.
    pub async fn evaluate(
        &mut self,
        expr: &Expr,
        world: &dyn World,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let evaluation = self.evaluation.as_mut()?;
        let world = &RetryingWorld::new(world, &self.catalogs);
        let site = ExpressionSite::of(0, "eval");
        evaluate_until_answered(
            evaluation,
            &self.catalogs,
            world,
            found,
            |evaluation, mistakes| match evaluation.present(site, expr, mistakes) {
                Ok(value) => Ok(Some(value)),
                Err(Halt::Need(need)) => Err(need),
                Err(Halt::Absent(_) | Halt::Failed) => Ok(None),
            },
        )
        .await
        .flatten()
    }

    /// The spec that a resource will have, as far as it is known.
    pub fn desired(&self, address: &Address) -> Option<&Value> {
        let tasks = self
            .plan
            .tasks
            .iter()
            .filter_map(|task| task.decision.as_ref());
        tasks
            .filter(|decided| decided.address == *address)
            .map(|decided| &decided.desired)
            .next()
    }
}

/// All actions of an operation, and the data from which they were decided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The instance.
    pub instance: Name,
    /// The purpose.
    pub purpose: Purpose,
    /// The kind of the operation in the history.
    pub kind: OperationKind,
    /// The revision of the state it was made from.
    pub revision: Revision,
    /// The document; none for a destroy.
    pub document: Option<PinnedDocument>,
    /// The inputs as given.
    pub given: Given,
    /// The options.
    pub options: Options,
    /// The answers of the world.
    pub answers: Answers,
    /// The steps, in an order in which they can be carried out; ties in document order.
    pub steps: Vec<Step>,
    /// The links that are created, changed or removed.
    pub links: Vec<LinkChange>,
    /// The exported values after it.
    pub exports: Vec<ExportChange>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// The entries of the metadata, before and after.
    pub metadata_changes: Vec<ExportChange>,
    /// Child documents, each before those that it includes.
    pub children: Vec<ChildChange>,
    /// The drift that the refresh found. The step at the same address says what is done about it.
    pub drift: Vec<Drifted>,
    /// The places where the operation stops, and the places from which a stopped operation
    /// continues.
    pub stops: Vec<PlannedStop>,
    /// The resources that stay as they are.
    pub left_alone: LeftAlone,
    /// Whether anything secret will be stored, or may be, because of an answer.
    pub secret: bool,
    /// The tasks that `apply` carries out. Each task comes after those that it waits for.
    pub tasks: Vec<Task>,
    /// The addresses that named intermediate values use, as the state stores them.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// The results of calls that were cut off.
    pub settled: Vec<Settled>,
    /// The exports and metadata that keep their values because of resources out of target.
    pub untouched: Untouched,
    /// Whether the records of children and data sources change.
    pub(crate) changes_declared: bool,
    /// Breakpoints at which operations stop.
    pub gates: Vec<Gate>,
    /// The stops, and the actions that are under way, as stored when this operation begins.
    pub stops_at_start: state::Stops,
}

impl Plan {
    /// Whether the plan does nothing and changes no export.
    pub fn is_empty(&self) -> bool {
        let state_edit = self.kind == OperationKind::State && !self.settled.is_empty();
        !state_edit && does_nothing(&self.steps, &self.exports, &self.stops)
    }

    /// Whether applying it would write anything at all: also state-only changes count.
    pub fn writes_nothing(&self, snapshot: &Snapshot) -> bool {
        let same_outputs = self
            .metadata_changes
            .iter()
            .chain(&self.exports)
            .all(|entry| !entry.changes_state());
        let nothing =
            self.is_empty() && self.tasks.is_empty() && self.settled.is_empty() && same_outputs;
        let nothing = nothing && !self.changes_declared && self.stops_at_start == snapshot.stops;
        // A document that was renamed is recorded under its new path.
        let nothing = nothing
            && self
                .document
                .as_ref()
                .is_none_or(|document| document.path == snapshot.document);
        nothing
            && (self.purpose == Purpose::Reconcile
                || snapshot.generation.0 > 0 && !snapshot.exports_old)
    }

    /// The resources that could not be read although the plan would change them, or although drift
    /// is refused. Such a plan is not carried out.
    pub fn unread_but_needed(&self) -> Vec<&Address> {
        if self.answers.unread.is_empty() || self.options.force {
            return Vec::new();
        }
        let changes = |step: &&Step| {
            matches!(
                step.action,
                Action::Create | Action::Update | Action::Replace | Action::Delete
            )
        };
        // A step that only changes a record calls no provider. A `read` command that fails can be
        // replaced by such a step.
        let recorded = self
            .tasks
            .iter()
            .filter(|task| task.kind == TaskKind::Record)
            .filter_map(|task| task.step);
        let recorded: std::collections::HashSet<u32, foldhash::fast::FixedState> =
            recorded.collect();
        let steps = self
            .steps
            .iter()
            .enumerate()
            .filter(|(number, _)| !recorded.contains(&(*number as u32)));
        let steps = steps
            .map(|(_, step)| step)
            .filter(changes)
            .map(|step| &step.address);
        let changed: std::collections::HashSet<&Address, foldhash::fast::FixedState> = steps
            .chain(self.link_writes().map(|(_, target)| target))
            .collect();
        let refuses = self.options.drift == DriftPolicy::Refuse;
        self.answers
            .unread
            .keys()
            .filter(|address| refuses || changed.contains(address))
            .collect()
    }

    /// The writes of links, each with its target. The calls of a write are updates of its target.
    pub fn link_writes(&self) -> impl Iterator<Item = (&Address, &Address)> {
        self.tasks
            .iter()
            .filter_map(|task| match task.decision.as_ref()?.linked.as_deref()? {
                Linked::Write(write) => Some((&task.decision.as_ref()?.address, &write.target)),
                _ => None,
            })
    }

    /// The sources of the resources that the plan changes.
    pub fn sources(&self) -> impl Iterator<Item = StepSource<'_>> {
        let decided = self
            .tasks
            .iter()
            .filter_map(|task| task.decision.as_deref());
        decided.flat_map(|decided| {
            let kept = self.answers.preflights.get(&decided.address);
            kept.into_iter()
                .flat_map(|kept| &kept.sources)
                .filter_map(move |source| {
                    let digest = decided.ty.as_ref()?.sources.get(&source.field)?;
                    Some(StepSource {
                        address: &decided.address,
                        digest_path: format!("spec.{digest}"),
                        name: &source.name,
                        texts: source.texts.as_ref(),
                    })
                })
        })
    }

    /// The purpose as the head of the plan shows it: `deploy`, `destroy`, `reconcile`, or
    /// `rollback` (decisions/plan#contents-of-a-plan).
    pub fn purpose_word(&self) -> &'static str {
        match self.kind {
            OperationKind::Rollback => "rollback",
            _ => self.purpose.word(),
        }
    }

    /// The number of steps that create, update, delete and replace. A temporary member counts as a
    /// delete too.
    pub fn counts(&self) -> Counts {
        counts(&self.steps)
    }
}

/// A file, or a set of files, that a step reads.
#[derive(Clone, Debug)]
pub struct StepSource<'p> {
    /// The address of the resource.
    pub address: &'p Address,
    /// The path of the change of its digest.
    pub digest_path: String,
    /// The name of the source in messages.
    pub name: &'p Name,
    /// Its text and the text that it replaces, if both can be shown.
    pub texts: Option<&'p PinnedTexts>,
}

/// A plan, and the data from which `apply` continues.
pub struct Staged {
    /// The plan.
    pub plan: Plan,
    /// The state from which it was made, after cut-off calls were settled.
    pub snapshot: Snapshot,
    /// The evaluation so far; `None` for a plan without a document.
    pub evaluation: Option<Evaluation>,
    /// The catalogues that the plan was made with.
    pub catalogs: Arc<Catalogs>,
}

/// The data from which a plan is made.
pub struct Request<'a> {
    /// The instance.
    pub instance: Name,
    /// The checked documents, and the text of the root; `None` to destroy or to reconcile.
    pub document: Option<(Arc<Documents>, PinnedDocument)>,
    /// The inputs as given.
    pub given: Given,
    /// The options.
    pub options: Options,
    /// The state.
    pub snapshot: Snapshot,
    /// The catalogues of the providers.
    pub catalogs: Arc<Catalogs>,
    /// The functions that expressions can call.
    pub functions: Arc<FunctionTable>,
    /// Existing answers: of a saved plan, or of the generation that a rollback restores.
    pub answers: Option<Answers>,
    /// The store in which other instances may manage the same objects; `None` if there are no
    /// others.
    pub others: Option<&'a dyn Store>,
    /// The world to ask.
    pub world: &'a dyn World,
}

/// Whether a plan may still be applied to a state. Reports `plan-stale` if the state has another
/// revision.
pub fn is_current(plan: &Plan, snapshot: &Snapshot, found: &mut Diagnostics) -> bool {
    if plan.revision == snapshot.revision {
        return true;
    }
    found.push(
        codes::PLAN_STALE
            .new(format!(
                "the plan was made at revision {}, the state is at {}",
                plan.revision.0, snapshot.revision.0
            ))
            .help("stage again"),
    );
    false
}
