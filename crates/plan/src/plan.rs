//! From what is wanted, remembered and seen to steps, each with its reason.
//!
//! A plan is complete: `apply` makes no choices. The same inputs and answers give the same plan, byte for byte; what
//! the world had to say is kept in it ([`Answers`]).
//!
//! ```text
//! checked, inputs ──┐
//! snapshot ─────────┼──> settle ──> draft, level by level ──> removals ──> order ──> Plan
//! answers ──────────┘    (what was cut off)   (each element read, compared, decided)
//! ```
//!
//! Not here: running steps (`apply`); words for people (the face).

use crate::addresses;
use crate::batches;
use crate::children;
use crate::claims;
use crate::draft;
use crate::exports;
use crate::immutable;
use crate::moves;
use crate::policies;
use crate::reconcile;
use crate::surgery;
use crate::targets;
use crate::tasks;
use crate::unchanged;
use crate::unsupported;
use evaluate::questions;
use std::sync::Arc;

use blueprint::{Address, Breakpoint, IndexMap, Name, ReplaceOrder, TypeId, Value};
use diag::{Diagnostics, Severity, Span};
use dialects::DialectRules;
use expr::FunctionTable;
use provider::Catalogs;
use serde::{Deserialize, Serialize};
use state::{OperationKind, Revision, Snapshot, Store};

use crate::addresses::Named;
use crate::batches::Batch;
use crate::children::ChildChange;
use crate::exports::{ExportAction, ExportChange};
use crate::links::Linked;
use crate::links::report::{LinkChange, StepLinks};
use crate::options::{DriftPolicy, Options};
use crate::stops::Gate;
use crate::stops::PlannedStop;
use crate::surgery::Surgery;
use crate::targets::Untouched;
use crate::task::{Task, TaskKind};
pub use evaluate::questions::{Question, Reply, Search};
pub use understand::compare::Change;

use crate::codes;
use crate::draft::AddressSet;
use crate::drift;
use crate::drift::Drifted;
use crate::ledger::Ledger;
use crate::moves::Moves;
use crate::refresh;
use crate::stops::Subjects;
use crate::targets::Reach;
use evaluate::answers::{Answers, FrozenPreflight, groups_differ};
use evaluate::patience::Patient;
use evaluate::resolve::Evaluation;
use evaluate::resolve::inputs::{Given, resolve_inputs};
use evaluate::transform::transform_documents;
use evaluate::world::World;
use understand::documents::Documents;
use understand::pinned::FrozenData;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// What the document says.
    Deploy,
    /// Nothing is left.
    Destroy,
    /// What was cut off is settled, nothing else.
    Reconcile,
}

/// What is done to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Made.
    Create,
    /// Changed in place.
    Update,
    /// Made anew in place of the old one.
    Replace,
    /// Taken away.
    Delete,
    /// Left in the world, no longer managed.
    Detach,
    /// Taken under management as it is.
    Import,
    /// Called otherwise; the thing itself stays as it is.
    Move,
    /// A link is made, or a part of it.
    Link,
    /// A link is changed.
    Relink,
    /// A link is undone.
    Unlink,
    /// A data source is read, which depends on something that does not exist yet.
    Read,
    /// Nothing; only what is remembered of it changes.
    None,
}

impl Action {
    /// The word: `create`, `update`, ...
    pub fn word(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Replace => "replace",
            Action::Delete => "delete",
            Action::Detach => "detach",
            Action::Import => "import",
            Action::Move => "move",
            Action::Link => "link",
            Action::Relink => "relink",
            Action::Unlink => "unlink",
            Action::Read => "read",
            Action::None => "none",
        }
    }
}

/// Why something is done (decision 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is not there yet.
    New,
    /// The document says otherwise than before.
    Changed,
    /// Its type is another one.
    TypeChanged,
    /// A changed field cannot be changed in place.
    FieldForces,
    /// What it reads is made anew.
    DependencyReplaced,
    /// A link writes something else into it.
    LinkChanged,
    /// It is no longer declared.
    Removed,
    /// Its condition is false.
    ConditionFalse,
    /// The list of its template has become shorter.
    EachShrunk,
    /// The world has changed it.
    Drifted,
    /// The world has lost it.
    Vanished,
    /// Its last operation was cut off.
    Interrupted,
    /// Its last operation failed.
    FailedBefore,
    /// A person asked for it.
    Requested,
    /// It had another address before.
    Moved,
    /// It was there already and is managed from now on.
    Imported,
    /// Everything goes.
    Destroy,
}

impl Reason {
    /// The word: `new`, `changed`, `field-forces`, ...
    pub fn word(self) -> &'static str {
        match self {
            Reason::New => "new",
            Reason::Changed => "changed",
            Reason::TypeChanged => "type-changed",
            Reason::FieldForces => "field-forces",
            Reason::DependencyReplaced => "dependency-replaced",
            Reason::LinkChanged => "link-changed",
            Reason::Removed => "removed",
            Reason::ConditionFalse => "condition-false",
            Reason::EachShrunk => "each-shrunk",
            Reason::Drifted => "drifted",
            Reason::Vanished => "vanished",
            Reason::Interrupted => "interrupted",
            Reason::FailedBefore => "failed-before",
            Reason::Requested => "requested",
            Reason::Moved => "moved",
            Reason::Imported => "imported",
            Reason::Destroy => "destroy",
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number in the plan, from 0 in the order of the plan.
    pub id: u32,
    /// On what.
    pub address: Address,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// What.
    pub action: Action,
    /// Why, the strongest reason first.
    pub reasons: Vec<Reason>,
    /// The leaves that differ. Of a create all that are set; of a delete none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Which half of a replacement comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_order: Option<ReplaceOrder>,
    /// A replacement that stays an update if the values known on deploy turn out equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_replace: bool,
    /// False if its condition is known only on deploy.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub condition_known: bool,
    /// Fields whose values are known only once it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<Name>,
    /// Why the provider should make it anew although nothing differs, in its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired: Option<Name>,
    /// The abstract resource that a transform made the thing from, as addresses print (decision 4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<Name>,
    /// The address it had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<Address>,
    /// It is made only to stand in for others of its group, and taken away again before the operation ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Which batch of its group it belongs to, where the group is made or changed in several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// The operation stops before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_before: Option<Breakpoint>,
    /// The operation stops once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops_after: Option<Breakpoint>,
    /// Numbers of steps that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_on: Vec<u32>,
    /// What is there was not looked at when the plan was made: the step goes by what is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_observed: bool,
    /// The provider's id of the thing that is there; none where there is none yet.
    #[serde(skip)]
    pub provider_id: Option<Name>,
    /// How many leaves of the spec stay as they are.
    #[serde(skip)]
    pub unchanged: u64,
    /// What is to be created exists already as it is wanted: it is taken under management, and stays when it goes from the document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// Links that it gains, that change, and that it loses; none if there are none.
    #[serde(skip)]
    pub links: Option<Box<StepLinks>>,
    /// Where it is declared; nowhere if only the state knows it.
    #[serde(skip, default = "nowhere")]
    pub span: Span,
}

fn yes() -> bool {
    true
}

fn nowhere() -> Span {
    Span::NONE
}

/// What is not touched, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// How many things are as they should be.
    pub unchanged: u64,
    /// Left in the world, no longer managed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retained: Vec<Address>,
    /// Conditioned out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Address>,
    /// Accepted drift of what the document sets: it will be set back one day unless the document is changed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub document_differs: IndexMap<Address, Vec<Change>>,
    /// Out of target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_target: Vec<Address>,
    /// Those out of target that would otherwise change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Address>,
}

/// A document as it was staged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenDocument {
    /// Its path, relative to the state.
    pub path: Name,
    /// Its text.
    pub text: Arc<str>,
    /// Files that were given along with it, in order: paths as its own, and texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<(Name, Arc<str>)>,
}

/// Everything that will be done, and what it was decided from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The instance.
    pub instance: Name,
    /// What for.
    pub purpose: Purpose,
    /// What the operation will be called in the history.
    pub kind: OperationKind,
    /// The revision of the state it was made from.
    pub revision: Revision,
    /// The document; none for a destroy.
    pub document: Option<FrozenDocument>,
    /// The inputs as given.
    pub given: Given,
    /// How it was made.
    pub options: Options,
    /// What the world had to say.
    pub answers: Answers,
    /// What will be done, in an order in which it can be done; ties in document order.
    pub steps: Vec<Step>,
    /// The links that are made, changed or undone.
    pub links: Vec<LinkChange>,
    /// The exported values after it.
    pub exports: Vec<ExportChange>,
    /// Evaluated metadata of the document.
    pub metadata: Value,
    /// Its entries before and after.
    pub metadata_changes: Vec<ExportChange>,
    /// Child documents, each before those that it includes.
    pub children: Vec<ChildChange>,
    /// What refresh found that is not as recorded; what is done about it the step at the same address says.
    pub drift: Vec<Drifted>,
    /// Where it stops, and where it goes on that waited.
    pub stops: Vec<PlannedStop>,
    /// What is not touched.
    pub left_alone: LeftAlone,
    /// Whether anything secret will be stored.
    pub secret: bool,
    /// What `apply` carries out, in an order in which each task comes after those that it waits for.
    pub tasks: Vec<Task>,
    /// What the named intermediate values use, as the state keeps it.
    pub groups: IndexMap<Name, Vec<Address>>,
    /// What became of calls that were cut off.
    pub settled: Vec<refresh::Settled>,
    /// What lies outside the targets.
    pub untouched: Untouched,
    /// What is remembered of children and data sources is another than before.
    pub(crate) declares_anew: bool,
    /// Breakpoints at which operations stop.
    pub gates: Vec<Gate>,
    /// Where operations stop and what is under way, as is to be remembered when it begins.
    pub begun: state::Stops,
}

impl Plan {
    /// Whether nothing would be done and no export would change.
    pub fn is_empty(&self) -> bool {
        let surgery = self.kind == OperationKind::State && !self.settled.is_empty();
        !surgery
            && self.stops.is_empty()
            && self.steps.iter().all(|step| step.action == Action::None)
            && self.exports.iter().all(|export| export.action == ExportAction::Unchanged)
    }

    /// Whether applying it would write anything at all: also state-only changes count.
    pub fn writes_nothing(&self, snapshot: &Snapshot) -> bool {
        let same_metadata = self.metadata_changes.iter().all(|entry| entry.action == ExportAction::Unchanged);
        let nothing = self.is_empty() && self.tasks.is_empty() && self.settled.is_empty() && same_metadata;
        let nothing = nothing && !self.declares_anew && self.begun == snapshot.stops;
        // A document that was renamed is recorded under its new path.
        let nothing = nothing && self.document.as_ref().is_none_or(|document| document.path == snapshot.document);
        nothing && (self.purpose == Purpose::Reconcile || snapshot.generation.0 > 0 && !snapshot.exports_old)
    }

    /// What could not be read although the plan would change it, or although nothing may have drifted: such a plan is not
    /// carried out.
    pub fn unread_but_needed(&self) -> Vec<&Address> {
        if self.answers.unread.is_empty() || self.options.force {
            return Vec::new();
        }
        let changes =
            |step: &&Step| matches!(step.action, Action::Create | Action::Update | Action::Replace | Action::Delete);
        // Where only what is recorded changes, nothing is called: a `read` command that fails can be replaced.
        let recorded = self.tasks.iter().filter(|task| task.kind == TaskKind::Record).filter_map(|task| task.step);
        let recorded: std::collections::HashSet<u32, foldhash::fast::FixedState> = recorded.collect();
        let steps = self.steps.iter().enumerate().filter(|(number, _)| !recorded.contains(&(*number as u32)));
        let steps = steps.map(|(_, step)| step).filter(changes).map(|step| &step.address);
        let changed: std::collections::HashSet<&Address, foldhash::fast::FixedState> =
            steps.chain(self.phases().map(|(_, target)| target)).collect();
        let refuses = self.options.drift == DriftPolicy::Refuse;
        self.answers.unread.keys().filter(|address| refuses || changed.contains(address)).collect()
    }

    /// The phases of links, each with what it writes into: its calls are updates of that.
    pub fn phases(&self) -> impl Iterator<Item = (&Address, &Address)> {
        self.tasks.iter().filter_map(|task| match task.decision.as_ref()?.linked.as_deref()? {
            Linked::Phase(phase) => Some((&task.decision.as_ref()?.address, &phase.target)),
            _ => None,
        })
    }

    /// The changes that are only those of a source's content: address and path of the change, and what the source is called.
    pub fn changed_sources(&self) -> impl Iterator<Item = ((&Address, String), &Name)> {
        let decided = self.tasks.iter().filter_map(|task| task.decision.as_deref());
        decided.flat_map(|decided| {
            let kept = self.answers.preflights.get(&decided.address);
            kept.into_iter().flat_map(|kept| &kept.sources).filter_map(move |source| {
                let digest = decided.ty.as_ref()?.sources.get(&source.field)?;
                Some(((&decided.address, format!("spec.{digest}")), &source.name))
            })
        })
    }

    /// What for, as the plan's head has it: `deploy`, `destroy`, `reconcile`, or `rollback` (decision 5.1).
    pub fn purpose_word(&self) -> &'static str {
        match self.purpose {
            _ if self.kind == OperationKind::Rollback => "rollback",
            Purpose::Deploy => "deploy",
            Purpose::Destroy => "destroy",
            Purpose::Reconcile => "reconcile",
        }
    }

    /// How many steps create, update, delete and replace. What is made for a while is deleted too.
    pub fn counts(&self) -> [u64; 4] {
        let of = |action| self.steps.iter().filter(|step| step.action == action).count() as u64;
        let temporary = self.steps.iter().filter(|step| step.temporary).count() as u64;
        [of(Action::Create), of(Action::Update), of(Action::Delete) + temporary, of(Action::Replace)]
    }
}

/// A plan, and what `apply` goes on from.
pub struct Staged {
    /// The plan.
    pub plan: Plan,
    /// The state it was made from, put right where calls had been cut off.
    pub snapshot: Snapshot,
    /// The values so far; none for a plan without a document.
    pub evaluation: Option<Evaluation>,
    /// The catalogues that the plan was made with.
    pub catalogs: Arc<Catalogs>,
}

/// What a plan is made from.
pub struct Request<'a> {
    /// The instance.
    pub instance: Name,
    /// The checked documents, and the text of the root; none to destroy or to reconcile.
    pub document: Option<(Arc<Documents>, FrozenDocument)>,
    /// The inputs as given.
    pub given: Given,
    /// How.
    pub options: Options,
    /// The state.
    pub snapshot: Snapshot,
    /// What providers offer.
    pub catalogs: Arc<Catalogs>,
    /// What expressions can call.
    pub functions: Arc<FunctionTable>,
    /// Answers that are already there: of a kept plan, or of the generation that a rollback goes back to.
    pub answers: Option<Answers>,
    /// The state, in which other instances may manage the same things; none where there are no others.
    pub others: Option<&'a dyn Store>,
    /// Where to ask.
    pub world: &'a dyn World,
}

/// Makes a plan: settles what was cut off, reads the world, decides for each thing what to do, and puts it in order.
///
/// `None` if anything stands in the way; why goes to `found`, warnings beside a plan too.
///
/// What could not be read is planned as it is recorded, with a warning. Where the plan would change such a thing, that is
/// an error, and the plan is there only to be seen: [`Plan::unread_but_needed`].
pub async fn plan(request: Request<'_>, found: &mut Diagnostics) -> Option<Staged> {
    let mut unread = Vec::new();
    let (forced, refuses) = (request.options.force, request.options.drift == DriftPolicy::Refuse);
    // It is large, and its callers are too.
    let staged = Box::pin(plan_from(request, &mut unread, found)).await;
    let needed: AddressSet = match &staged {
        Some(staged) => staged.plan.unread_but_needed().into_iter().cloned().collect(),
        None => AddressSet::default(),
    };
    let (needed, rest): (Vec<_>, Vec<_>) = unread.iter().partition(|one| needed.contains(&one.address));
    let so = if refuses { "whether it has drifted is not known" } else { "the plan would change it" };
    let so = format!("{so}: mend the cause, or leave the world aside with `--no-refresh`");
    refresh::report_unread(needed, Severity::Error, &so, found);
    let severity = if forced { Severity::Note } else { Severity::Warning };
    refresh::report_unread(rest, severity, "it is taken to be as recorded", found);
    staged
}

async fn plan_from(request: Request<'_>, unread: &mut Vec<refresh::Unread>, found: &mut Diagnostics) -> Option<Staged> {
    let Request { instance, document, given, options, mut snapshot, catalogs, functions, answers, others, world } =
        request;
    let patient = Patient::new(world, &catalogs);
    let world: &dyn World = &patient;
    world.recall(&snapshot);
    let is_kept = answers.is_some() && !options.rollback;
    let mut answers = match answers {
        Some(kept) if is_kept => {
            *unread = refresh::unread_then(&kept);
            kept
        }
        earlier => {
            let mut answers = earlier
                .unwrap_or_else(|| Answers { working_directory: world.working_directory(), ..Answers::default() });
            answers.now = world.now();
            answers.unread.clear();
            for (site, value) in &snapshot.remembered {
                answers.remembered.entry(site.clone()).or_insert_with(|| value.clone());
            }
            if options.refresh || !snapshot.open.is_empty() {
                let (only_cut_off, adopted) = (!options.refresh, &options.adopted);
                *unread = refresh::refresh(&snapshot, only_cut_off, adopted, &catalogs, world, &mut answers).await;
                let unsure = unread.extract_if(.., |one| one.why == refresh::Why::Unsure).collect::<Vec<_>>();
                refresh::report_unsure(&unsure, &instance, &options, found);
                // `settle` says what a person can do about calls that were cut off.
                unread.retain(|one| one.why == refresh::Why::Recorded);
            }
            answers
        }
    };
    let mut mistakes = Diagnostics::new();
    // A kept plan is settled again, so it keeps all that was seen.
    let seen = answers.seen.clone();
    let elsewhere = refresh::seen_elsewhere(&snapshot, &answers, &catalogs);
    let mut settled = refresh::settle(&instance, &mut snapshot, &catalogs, &answers, &options, &mut mistakes);
    if options.refresh {
        elsewhere.iter().for_each(|address| drop(answers.seen.shift_remove(address)));
    } else {
        answers.seen.clear();
    }
    let purpose = match &document {
        Some(_) => Purpose::Deploy,
        None if options.reconcile || options.surgery.is_some() => Purpose::Reconcile,
        None => Purpose::Destroy,
    };
    let kind = match (purpose, snapshot.records.is_empty()) {
        (Purpose::Reconcile, _) if options.surgery.is_some() => OperationKind::State,
        (Purpose::Reconcile, _) => OperationKind::Reconcile,
        _ if options.rollback => OperationKind::Rollback,
        (Purpose::Destroy, _) => OperationKind::Destroy,
        (Purpose::Deploy, true) => OperationKind::Deploy,
        (Purpose::Deploy, false) => OperationKind::Update,
    };
    let named = Named::new(&options.targets);
    let replace = Named::new(&options.replace);
    let renew = Named::new(&options.renew);
    let mut owners = Vec::new();
    let mut ledger = Ledger::default();
    let mut moves = Moves::default();
    let mut differs = IndexMap::default();
    let mut frozen = None;
    let mut evaluation = None;
    let mut drift = Vec::new();
    let mut draft = match document {
        Some((documents, document)) => {
            let Some(documents) = transform_documents(documents, &catalogs, &functions, world, &mut mistakes).await
            else {
                found.append(mistakes);
                return None;
            };
            still_makes(&documents, &mut answers, &mut mistakes);
            for checked in documents.distinct() {
                unsupported::refuse(checked, &mut mistakes);
            }
            documents.refuse_open(&mut mistakes);
            answers.documents = documents.frozen.documents.clone();
            for (name, found) in &documents.frozen.data_sources {
                answers.data_sources.entry(name.clone()).or_insert_with(|| found.clone());
            }
            let root = documents.root().blueprint();
            mistakes.extend(documents.root().checked.rules.naming.instance(&instance, root.span));
            let mut kept_inputs = Vec::new();
            let groups: Vec<Name> = documents
                .frozen
                .groups
                .keys()
                .map(|path| format!("{}{path}", evaluate::answers::GROUP).into())
                .collect();
            for (key, value) in groups.iter().zip(documents.frozen.groups.values()) {
                answers.remembered.insert(key.clone(), state::Remembered { fingerprint: 0, value: value.clone() });
            }
            let inputs = resolve_inputs(&documents.root().checked, &given, &mut mistakes);
            frozen = Some(document);
            immutable::heed(&documents.root().checked, &inputs, &mut answers, &mut kept_inputs, &mut mistakes);
            let reach = Reach::of(&documents, &options.targets);
            let within = |address: &Address| reach.covers(address);
            moves = moves::follow(&documents, within, &mut snapshot, &mut answers, &mut ledger, &mut mistakes);
            drift = drift::seen(&snapshot, &catalogs, &answers);
            if !renew.is_empty() {
                owners = policies::owners(&answers);
            }
            if !is_kept {
                policies::renew(&mut answers, &renew);
            }
            differs = policies::heed_drift(options.drift, within, &mut snapshot, &mut answers, &catalogs, &mut ledger);
            if mistakes.has_errors() || found.has_errors() {
                found.append(mistakes);
                return None;
            }
            let mut evaluated = Evaluation::new(documents.clone(), functions, instance.clone(), inputs, answers);
            evaluated.inputs.iter().for_each(|value| world.learn(value));
            evaluated.simulated = options.simulated;
            evaluated.sites.insert("group".into(), groups.into_iter().chain(kept_inputs).collect());
            let with = draft::Drafting {
                snapshot: &mut snapshot,
                ledger: &mut ledger,
                reach: &reach,
                moves: &mut moves,
                replace: &replace,
                taken: &options.taken,
                catalogs: &catalogs,
                world,
            };
            let draft = draft::draft(&mut evaluated, with, &mut mistakes).await;
            immutable::heed_children(&mut evaluated, &mut mistakes);
            answers = evaluated.answers.clone();
            evaluation = Some(evaluated);
            draft
        }
        None => match &options.surgery {
            Some(surgery) => {
                let table = surgery::Table {
                    snapshot: &mut snapshot,
                    answers: &mut answers,
                    ledger: &mut ledger,
                    targets: &named,
                    catalogs: &catalogs,
                    world,
                };
                surgery::draft(surgery, table, &mut mistakes).await
            }
            None if purpose == Purpose::Reconcile => {
                drift = drift::seen(&snapshot, &catalogs, &answers);
                let every = |_: &Address| true;
                differs =
                    policies::heed_drift(options.drift, every, &mut snapshot, &mut answers, &catalogs, &mut ledger);
                reconcile::draft(&snapshot, &answers, &catalogs)
            }
            None => {
                drift = drift::seen(&snapshot, &catalogs, &answers);
                draft::draft_destroy(&snapshot, &answers, &catalogs)
            }
        },
    };
    if options.refresh && options.surgery.is_none() {
        let looked = draft::ask_rest(&mut draft, &answers, world, &mut mistakes).await;
        if let Some(evaluation) = &mut evaluation {
            evaluation.answers.preflights.extend(looked.iter().map(|(address, it)| (address.clone(), it.clone())));
        }
        answers.preflights.extend(looked);
    }
    let documents = evaluation.as_ref().map(|evaluation| evaluation.documents.clone());
    for asked in [&named, &replace] {
        asked.refuse_unknown(&draft, &snapshot, documents.as_deref(), &[], &mut mistakes);
    }
    let until = Named::new(options.until.as_slice());
    until.refuse_unknown(&draft, &snapshot, documents.as_deref(), &[], &mut mistakes);
    renew.refuse_unknown(&draft, &snapshot, documents.as_deref(), &owners, &mut mistakes);
    addresses::refuse_absent(&options.importing, &draft, documents.as_deref(), &mut mistakes);
    moves.refuse_declared(&draft, &mut mistakes);
    draft.say_what_came(&moves);
    let mut left_out = Vec::new();
    let mut untouched = Untouched::default();
    if !named.is_empty() && options.surgery.is_none() {
        left_out = targets::restrict(&mut draft, &named, purpose, &snapshot, &mut mistakes);
        let out: AddressSet = left_out.iter().map(|decision| decision.address.clone()).collect();
        draft.imports.take_back(|address| out.contains(address), &mut snapshot, &mut ledger);
        moves.take_back(|address| out.contains(address), &mut snapshot, &mut answers, &mut ledger);
        if let Some(evaluation) = &evaluation {
            untouched = targets::untouched(&left_out, evaluation);
        }
    }
    // A state that is read back may be that of another instance, which then lets go of its things.
    let lets_go = matches!(options.surgery, Some(Surgery::Load(_) | Surgery::Remove(_)));
    if !mistakes.has_errors() && !options.force && !lets_go {
        let said = claims::refuse(&draft, &answers, &instance, others, &mut mistakes).await;
        match said {
            // What belongs to somebody need not be said to stand in the way as well.
            Ok(claimed) => draft.obstacles.retain(|obstacle| !claimed.contains(&obstacle.address)),
            Err(error) => mistakes.push(
                codes::PROVIDER_FAILED.new("the other instances of the state cannot be read").note(error.to_string()),
            ),
        }
    }
    draft::refuse_obstacles(&mut draft, &mut mistakes);
    if let Some(evaluation) = &evaluation {
        batches::arrange(&mut draft, evaluation, &snapshot, &catalogs, &mut mistakes);
    }
    let rules = documents.as_ref().map_or(DialectRules::NATIVE, |documents| documents.root().checked.rules);
    policies::report_what_goes(&draft, rules.messages, &mut mistakes);
    if options.drift == DriftPolicy::Refuse {
        policies::refuse_drift(&draft, &answers, &mut mistakes);
    }
    let mut declared = match purpose {
        Purpose::Destroy if named.is_empty() => state::Declared::default(),
        _ => snapshot.declared.clone(),
    };
    if let Some(evaluated) = &mut evaluation {
        let taken = evaluated.taken();
        loop {
            let needs = exports::needs(evaluated);
            if needs.is_empty() || mistakes.has_errors() {
                break;
            }
            questions::answer(evaluated, needs, &catalogs, world, &mut mistakes).await;
        }
        evaluated.give_back(taken);
        declared = children::declared(evaluated, &untouched, &snapshot.declared, &mut mistakes);
        evaluated.descriptions(&mut mistakes);
        answers = evaluated.answers.clone();
    }
    let (exports, metadata) = match &mut evaluation {
        Some(evaluation) if !mistakes.has_errors() => {
            exports::exports(evaluation, &snapshot, &untouched, &mut mistakes)
        }
        None if purpose == Purpose::Reconcile || !named.is_empty() => {
            (exports::unchanged(&snapshot), snapshot.metadata.clone())
        }
        _ => (exports::none(&snapshot), Value::Null),
    };
    if let Some(evaluation) = &mut evaluation {
        evaluation.report_room(&mut mistakes);
        evaluation.documents.attribute(crate::codes::OF_ACTIONS, &mut mistakes);
        evaluation.lift_limits();
    }
    let failed = mistakes.has_errors() || found.has_errors();
    found.append(mistakes);
    if failed {
        return None;
    }
    answers.seen = seen;
    if let Some(evaluation) = &mut evaluation {
        answers.remembered = evaluation.remembered();
        if untouched.partial {
            // What is left out keeps the values it was made with.
            let kept = snapshot.remembered.iter().filter(|(site, _)| !answers.remembered.contains_key(*site));
            let kept: Vec<_> = kept.map(|(site, value)| (site.clone(), value.clone())).collect();
            answers.remembered.extend(kept);
        }
        evaluation.answers.remembered = answers.remembered.clone();
    }
    settled.extend(ledger.settled(&snapshot));
    let unchanged = children::unchanged_in(&draft);
    // A plan for a part has left out what is not in it.
    let partial = !named.is_empty();
    let subjects = Subjects::of(&draft, evaluation.as_ref(), &snapshot, (purpose, kind), partial);
    let mut ordered = tasks::order(draft, &snapshot, evaluation.as_ref(), &subjects, untouched.partial, found);
    for step in ordered.steps.iter_mut().filter(|step| matches!(step.action, Action::Create | Action::Replace)) {
        step.adopts = answers.opinions.get(&step.address).is_some_and(|opinion| opinion.adopts);
    }
    ordered.left_alone.waiting = left_out
        .iter()
        .filter(|decision| decision.action != Action::None)
        .map(|decision| decision.address.clone())
        .collect();
    ordered.left_alone.document_differs = differs;
    ordered.left_alone.out_of_target = left_out.into_iter().map(|decision| decision.address).collect();
    let secret = ordered.secret
        || exports.iter().any(|export| export.after.as_ref().is_some_and(Value::has_secret))
        || metadata.has_secret()
        || declared.values().any(Value::has_secret)
        || settled.iter().any(|settled| settled.record.as_ref().is_some_and(|record| record.has_secret()))
        || answers.remembered.values().any(|remembered| remembered.value.has_secret())
        || answers.data_sources.values().any(FrozenData::has_secret)
        || answers.preflights.values().any(FrozenPreflight::has_secret)
        || answers.calls.values().any(Value::has_secret)
        || evaluation.as_ref().is_some_and(|evaluation| evaluation.inputs.iter().any(Value::has_secret));
    let stays = purpose == Purpose::Reconcile || purpose == Purpose::Destroy && !named.is_empty();
    let children = children::changes(
        documents.as_deref(),
        &snapshot,
        &declared,
        &ordered.steps,
        &ordered.left_alone,
        &unchanged,
        stays,
    );
    let differs = |changes: &[ExportChange]| changes.iter().any(|it| it.action != ExportAction::Unchanged);
    let declares_anew = evaluation.is_some() && groups_differ(&snapshot.remembered, &answers.remembered)
        || !children::same_sources(&snapshot.declared, &declared)
        || children.iter().any(|child| {
            let new = matches!(child.action, ExportAction::New | ExportAction::Removed);
            new || differs(&child.exports) || differs(&child.metadata)
        });
    if !is_kept {
        answers.settings = unchanged::settings_of(&ordered.steps, "", world);
        if !answers.settings.is_empty() && answers.salt.is_empty() {
            answers.salt = data_encoding::HEXLOWER.encode(&world.random()).into();
        }
        answers.settings = unchanged::settings_of(&ordered.steps, &answers.salt, world);
    }
    for step in &mut ordered.steps {
        step.not_observed = unchanged::is_unobserved(step, &snapshot, &catalogs, &answers, options.refresh);
    }
    let plan = Plan {
        instance,
        purpose,
        kind,
        revision: snapshot.revision,
        document: frozen,
        given,
        options,
        answers,
        steps: ordered.steps,
        links: ordered.links,
        exports,
        metadata_changes: exports::metadata_changes(&snapshot.metadata, &metadata),
        metadata,
        children,
        drift,
        stops: subjects.planned(),
        left_alone: ordered.left_alone,
        secret,
        tasks: ordered.tasks,
        groups: ordered.groups,
        settled,
        untouched,
        declares_anew,
        gates: ordered.gates,
        begun: subjects.begun(),
    };
    Some(Staged { plan, snapshot, evaluation, catalogs })
}

/// Keeps what transforms made of documents by its digest; `input-changed` if a kept plan was made from something else.
fn still_makes(documents: &Documents, answers: &mut Answers, found: &mut Diagnostics) {
    for unit in documents.units() {
        let Some(made) = &unit.checked.made else { continue };
        let place: Name = unit.path.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("/").into();
        match answers.transformed.get(&place) {
            Some(before) if before != made => found.push(
                codes::INPUT_CHANGED
                    .new("the transforms of the document make something else than when the plan was made")
                    .label(unit.blueprint().transforms.first().map_or(diag::Span::NONE, |first| first.span), "")
                    .help("stage again"),
            ),
            _ => drop(answers.transformed.insert(place, made.clone())),
        }
    }
}

/// Whether a plan may still be applied to a state: `plan-stale` if that has moved on.
pub fn is_current(plan: &Plan, snapshot: &Snapshot, found: &mut Diagnostics) -> bool {
    if plan.revision == snapshot.revision {
        return true;
    }
    found.push(
        codes::PLAN_STALE
            .new(format!("the plan was made at revision {}, the state is at {}", plan.revision.0, snapshot.revision.0))
            .help("stage again"),
    );
    false
}
