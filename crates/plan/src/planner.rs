//! The state of a plan while it is made, with a method for each step. [`plan`](crate::plan()) calls
//! them in order.
//!
//! A plan is complete: `apply` makes no choices. The same inputs and answers give the same plan,
//! byte for byte; the plan holds the answers of the world ([`Answers`]).
//!
//! ```text
//! checked, inputs ──┐
//! snapshot ─────────┼──> settle ──> draft, level by level ──> removals ──> order ──> Plan
//! answers ──────────┘    (cut-off calls)      (each element read, compared, decided)
//! ```
//!
//! Not here: what each step does (the modules of the same names), running a plan (`apply`).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use diag::Diagnostics;
use dialect::DialectRules;
use evaluate::answers::{Answers, PinnedPreflight, PinnedRead, ProviderOpinion, groups_differ};
use evaluate::evaluation_question;
use evaluate::question::RecordedInstances;
use evaluate::resolve::Evaluation;
use evaluate::resolve::inputs::{Given, resolve_inputs};
use evaluate::transform::transform_documents;
use evaluate::world::World;
use expr::FunctionTable;
use provider::{Catalogs, TypeRef};
use state::{Declared, OperationKind, Snapshot, Store};
use understand::compare::Change;
use understand::documents::Documents;
use understand::pinned::PinnedData;

use crate::addresses::SelectedAddresses;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::drafting;
use crate::drafting::{deletions, preflight, recorded};
use crate::drift::Drifted;
use crate::input_questions::ask_about_inputs;
use crate::model::{
    Action, AddressSet, ChildChange, ExportAction, ExportChange, PinnedDocument, Purpose, Step,
};
use crate::moves::Moves;
use crate::options::{DriftPolicy, Options, StateEdit};
use crate::plan::{Plan, Request, Staged};
use crate::secrecy::hide_former_values;
use crate::settled::{Settled, SettledRecords};
use crate::stops::BreakpointSubjects;
use crate::target_set::TargetSet;
use crate::targets::Untouched;
use crate::{
    addresses, batches, children, claims, codes, drift, exports, immutable, moves, policies,
    reconcile, refresh, settle, state_edit, targets, tasks, unchanged,
};

/// The addresses that the user named in the options.
struct NamedAddresses {
    targets: SelectedAddresses,
    excluded: SelectedAddresses,
    replace: SelectedAddresses,
    renew: SelectedAddresses,
    /// Owners of memoised values before any was dropped: `renew` may name one that has no record.
    owners: Vec<Name>,
}

impl NamedAddresses {
    /// Whether a part of the resources may not change.
    fn is_partial(&self) -> bool {
        !(self.targets.is_empty() && self.excluded.is_empty())
    }
}

/// The outputs of the documents after the plan: exports, metadata, and the records of children and
/// data sources.
pub(crate) struct Outputs {
    exports: Vec<ExportChange>,
    metadata: Value,
    declared: Declared,
}

/// A plan while it is made. Each method is one step of [`plan`](crate::plan()).
pub(crate) struct Planner<'a> {
    instance: Name,
    document: Option<PinnedDocument>,
    given: Given,
    options: Options,
    purpose: Purpose,
    kind: OperationKind,
    /// Whether the answers are those of a saved plan.
    is_saved: bool,
    named: NamedAddresses,
    catalogs: Arc<Catalogs>,
    others: Option<&'a dyn Store>,
    world: &'a dyn World,
    /// The state; steps move, import and settle records in it.
    pub(crate) snapshot: Snapshot,
    pub(crate) answers: Answers,
    /// Records that were settled after interrupted calls.
    settled: Vec<Settled>,
    /// Records that this plan has changed in `snapshot`, as they were before.
    settled_records: SettledRecords,
    pub(crate) moves: Moves,
    drift: Vec<Drifted>,
    /// The reads that show the drift, as they were before the drift policy was applied.
    drift_reads: Answers,
    /// The inputs of records that have got other secret marks.
    newly_marked: Vec<Value>,
    /// Accepted drift of fields that the document sets.
    document_differs: IndexMap<Address, Vec<Change>>,
    evaluation: Option<Evaluation>,
    untouched: Untouched,
    pub(crate) mistakes: Diagnostics,
}

impl<'a> Planner<'a> {
    /// Starts a plan: settles interrupted calls in the records.
    pub(crate) fn new(
        request: Request<'a>,
        mut answers: Answers,
        is_saved: bool,
        has_document: bool,
        world: &'a dyn World,
    ) -> Planner<'a> {
        let Request {
            instance,
            given,
            options,
            mut snapshot,
            catalogs,
            others,
            ..
        } = request;
        let mut mistakes = Diagnostics::new();
        let elsewhere = refresh::observations_without_record(&snapshot, &answers, &catalogs);
        let settled = settle::settle(
            &instance,
            &mut snapshot,
            &catalogs,
            &answers,
            &options,
            &mut mistakes,
        );
        if options.refresh.is_on() {
            elsewhere
                .iter()
                .for_each(|address| drop(answers.seen.shift_remove(address)));
        } else {
            answers.seen.clear();
        }
        let purpose = purpose_of(has_document, &options);
        let named = NamedAddresses {
            targets: SelectedAddresses::new(&options.targets),
            excluded: SelectedAddresses::new(&options.excluded),
            replace: SelectedAddresses::new(&options.replace),
            renew: SelectedAddresses::new(&options.renew),
            owners: Vec::new(),
        };
        Planner {
            kind: kind_of(purpose, &options, &snapshot),
            instance,
            document: None,
            given,
            options,
            purpose,
            is_saved,
            named,
            catalogs,
            others,
            world,
            snapshot,
            answers,
            settled,
            settled_records: SettledRecords::default(),
            moves: Moves::default(),
            drift: Vec::new(),
            drift_reads: Answers::default(),
            newly_marked: Vec::new(),
            document_differs: IndexMap::default(),
            evaluation: None,
            untouched: Untouched::default(),
            mistakes,
        }
    }

    /// Decides about everything that the documents declare. `None` if they are in error.
    pub(crate) async fn draft_documents(
        &mut self,
        documents: Arc<Documents>,
        document: PinnedDocument,
        functions: Arc<FunctionTable>,
        failed_before: bool,
    ) -> Option<Draft> {
        let documents = transform_documents(
            documents,
            &self.catalogs,
            &functions,
            self.world,
            &mut self.mistakes,
        )
        .await?;
        let groups = self.pin_documents(&documents);
        let inputs = resolve_inputs(&documents.root().checked, &self.given, &mut self.mistakes);
        self.document = Some(document);
        let mut kept_inputs = Vec::new();
        let root = &documents.root().checked;
        immutable::refuse_changed_inputs(
            root,
            &inputs,
            &mut self.answers,
            &mut kept_inputs,
            &mut self.mistakes,
        );
        let target_set = TargetSet::of(&documents, &self.options.targets);
        self.follow_moves(&documents, &target_set);
        self.note_drift(&target_set);
        if self.mistakes.has_errors() || failed_before {
            return None;
        }
        let answers = std::mem::take(&mut self.answers);
        let mut evaluation = Evaluation::new(
            documents.clone(),
            functions,
            self.instance.clone(),
            inputs,
            answers,
        );
        self.world.mask_all(&evaluation.inputs);
        evaluation.simulated = self.options.simulated;
        evaluation.sites.insert(
            "group".into(),
            groups.into_iter().chain(kept_inputs).collect(),
        );
        let with = drafting::Drafting {
            snapshot: &mut self.snapshot,
            settled_records: &mut self.settled_records,
            target_set: &target_set,
            moves: &mut self.moves,
            replace: &self.named.replace,
            excluded: &self.named.excluded,
            with_dependents: self.options.with_dependents,
            taken: &self.options.taken,
            catalogs: &self.catalogs,
            world: self.world,
        };
        let draft = drafting::draft(&mut evaluation, with, &mut self.mistakes).await;
        if !self.options.simulated {
            ask_about_inputs(
                &evaluation,
                &self.given,
                &self.catalogs,
                self.world,
                &mut self.mistakes,
            )
            .await;
        }
        self.newly_marked = draft.newly_marked.clone();
        if !draft.newly_marked.is_empty() && !self.drift.is_empty() {
            self.drift = drift::observed_drift(&self.snapshot, &self.catalogs, &self.drift_reads);
        }
        immutable::refuse_changed_child_inputs(&mut evaluation, &mut self.mistakes);
        self.answers = evaluation.answers.clone();
        self.evaluation = Some(evaluation);
        Some(draft)
    }

    /// Stores the documents and the results of their transforms in the answers, and reports
    /// unsupported features. Returns the keys under which groups are memoised.
    fn pin_documents(&mut self, documents: &Documents) -> Vec<Name> {
        check_transforms_unchanged(documents, &mut self.answers, &mut self.mistakes);
        for checked in documents.distinct() {
            children::refuse_unsupported(checked, &mut self.mistakes);
        }
        documents.refuse_open(&mut self.mistakes);
        let pinned = &documents.pinned;
        self.answers.documents = pinned.documents.clone();
        for (name, found) in &pinned.data_sources {
            self.answers
                .data_sources
                .entry(name.clone())
                .or_insert_with(|| found.clone());
        }
        let root = documents.root();
        self.mistakes.extend(
            root.checked
                .rules
                .naming
                .instance(&self.instance, root.blueprint().span),
        );
        let key = |path| Name::from(format!("{}{path}", evaluate::answers::GROUP));
        let groups: Vec<Name> = pinned.groups.keys().map(key).collect();
        for (key, value) in groups.iter().zip(pinned.groups.values()) {
            let value = state::Memoised {
                fingerprint: 0,
                value: value.clone(),
            };
            self.answers.memoised.insert(key.clone(), value);
        }
        groups
    }

    /// Moves records to the addresses that the documents give them.
    fn follow_moves(&mut self, documents: &Documents, target_set: &TargetSet<'_>) {
        let excluded = &self.named.excluded;
        let within = |address: &Address| target_set.covers(address) && !excluded.covers(address);
        let snapshot = &mut self.snapshot;
        let answers = &mut self.answers;
        self.moves = moves::apply_hints(
            documents,
            &self.instance,
            within,
            snapshot,
            answers,
            &mut self.settled_records,
            &mut self.mistakes,
        );
    }

    /// Collects the drift, drops memoised values to renew, and applies the drift policy.
    fn note_drift(&mut self, target_set: &TargetSet<'_>) {
        self.drift = drift::observed_drift(&self.snapshot, &self.catalogs, &self.answers);
        if !self.drift.is_empty() {
            self.drift_reads.seen = self.answers.seen.clone();
        }
        if !self.named.renew.is_empty() {
            self.named.owners = policies::owners(&self.answers);
        }
        if !self.is_saved {
            policies::renew(&mut self.answers, &self.named.renew);
        }
        self.apply_drift_policy(|address| target_set.covers(address));
    }

    fn apply_drift_policy(&mut self, reaches: impl Fn(&Address) -> bool) {
        let policy = self.options.drift;
        let catalogs = &self.catalogs;
        let snapshot = &mut self.snapshot;
        let answers = &mut self.answers;
        self.document_differs = policies::apply_drift_policy(
            policy,
            reaches,
            snapshot,
            answers,
            catalogs,
            &mut self.settled_records,
        );
    }

    /// Decides about the records of the state, without a document: a change of the state, a
    /// reconciliation, or a destroy.
    /// `sick` are the objects about which their providers complained when they were read.
    pub(crate) async fn draft_records(&mut self, sick: &AddressSet) -> Draft {
        if let Some(state_edit) = &self.options.state_edit {
            let table = state_edit::StateEditContext {
                snapshot: &mut self.snapshot,
                answers: &mut self.answers,
                settled_records: &mut self.settled_records,
                targets: &self.named.targets,
                catalogs: &self.catalogs,
                world: self.world,
                sick,
            };
            return state_edit::draft(state_edit, table, &mut self.mistakes).await;
        }
        self.drift = drift::observed_drift(&self.snapshot, &self.catalogs, &self.answers);
        if self.purpose == Purpose::Reconcile {
            self.apply_drift_policy(|_| true);
            let mut draft = reconcile::draft(&self.snapshot, &self.answers, &self.catalogs);
            let instances = RecordedInstances::of(&self.snapshot);
            let answers = &mut self.answers;
            let mistakes = &mut self.mistakes;
            recorded::ask_about_records(&mut draft, answers, &instances, self.world, mistakes)
                .await;
            return draft;
        }
        drafting::draft_destroy(&self.snapshot, &self.answers, &self.catalogs)
    }

    /// Asks for the preflights that drafting has not asked for.
    pub(crate) async fn preflight_rest(&mut self, draft: &mut Draft) {
        if !self.options.refresh.is_on() || self.options.state_edit.is_some() {
            return;
        }
        let asked = preflight::ask_remaining(
            draft,
            &self.snapshot,
            &self.answers,
            self.world,
            &mut self.mistakes,
        )
        .await;
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.answers.preflights.extend(
                asked
                    .iter()
                    .map(|(address, it)| (address.clone(), it.clone())),
            );
        }
        self.answers.preflights.extend(asked);
    }

    /// Asks for the texts that the steps of a draft replace. A saved plan has its own.
    pub(crate) async fn ask_for_texts(&mut self, draft: &Draft) {
        if !self.is_saved && self.options.state_edit.is_none() {
            preflight::ask_for_texts(draft, &mut self.answers, self.world).await;
        }
    }

    /// Asks the providers that plan deletes about the deletes of a draft.
    pub(crate) async fn plan_deletes(&mut self, draft: &Draft) {
        if self.options.state_edit.is_some() {
            return;
        }
        let documents = self
            .evaluation
            .as_ref()
            .map(|evaluation| evaluation.documents.clone());
        let instances = RecordedInstances::of(&self.snapshot);
        let known = (&self.answers, &instances);
        let planned = deletions::ask_deletes(
            draft,
            known,
            documents.as_deref(),
            self.world,
            &mut self.mistakes,
        )
        .await;
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.answers.deletes.extend(
                planned
                    .iter()
                    .map(|(address, it)| (address.clone(), it.clone())),
            );
        }
        self.answers.deletes.extend(planned);
    }

    /// Reports named addresses that are neither in the documents nor in the state.
    pub(crate) fn refuse_unknown_addresses(&mut self, draft: &Draft) {
        let snapshot = &self.snapshot;
        let mistakes = &mut self.mistakes;
        let documents = self
            .evaluation
            .as_ref()
            .map(|evaluation| &*evaluation.documents);
        let NamedAddresses {
            targets,
            excluded,
            replace,
            renew,
            owners,
        } = &self.named;
        let until = SelectedAddresses::new(self.options.until.as_slice());
        for named in [targets, excluded, replace, &until] {
            named.refuse_unknown(draft, snapshot, documents, &[], mistakes);
        }
        renew.refuse_unknown(draft, snapshot, documents, owners, mistakes);
        addresses::refuse_absent(&self.options.importing, draft, documents, mistakes);
    }

    /// Removes decisions out of target from the draft, and reverts their moves and imports. Returns
    /// the removed decisions.
    pub(crate) fn apply_targets(&mut self, draft: &mut Draft) -> Vec<Decision> {
        if !self.named.is_partial() || self.options.state_edit.is_some() {
            return Vec::new();
        }
        let left_out = targets::restrict(
            draft,
            targets::Restriction {
                targets: &self.named.targets,
                excluded: &self.named.excluded,
                with_dependents: self.options.with_dependents,
            },
            self.purpose,
            &self.snapshot,
            &mut self.mistakes,
        );
        let out: AddressSet = left_out
            .iter()
            .map(|decision| decision.address.clone())
            .collect();
        let is_out = |address: &Address| out.contains(address);
        draft
            .imports
            .remove_out_of_target(is_out, &mut self.snapshot, &mut self.settled_records);
        self.moves.revert_out_of_target(
            is_out,
            &mut self.snapshot,
            &mut self.answers,
            &mut self.settled_records,
        );
        if let Some(evaluation) = &self.evaluation {
            self.untouched = targets::untouched(&left_out, evaluation);
        }
        left_out
    }

    /// Reports resources that two addresses or two instances would manage.
    pub(crate) async fn refuse_claims(&mut self, draft: &mut Draft) {
        // A loaded state may come from another instance, which then gives up its resources.
        let gives_up = matches!(
            self.options.state_edit,
            Some(StateEdit::Load(_) | StateEdit::Remove(_))
        );
        if self.mistakes.has_errors() || self.options.force || gives_up {
            return;
        }
        match claims::refuse(
            draft,
            &self.answers,
            &self.instance,
            self.others,
            &mut self.mistakes,
        )
        .await
        {
            // A resource that is managed elsewhere is not reported as an obstacle as well.
            Ok(claimed) => draft
                .obstacles
                .retain(|obstacle| !claimed.contains(&obstacle.address)),
            Err(error) => self.mistakes.push(
                codes::PROVIDER_FAILED
                    .new("the other instances of the state cannot be read")
                    .note(error.to_string()),
            ),
        }
    }

    /// Puts the members of groups into batches.
    pub(crate) fn form_batches(&mut self, draft: &mut Draft) {
        if let Some(evaluation) = &self.evaluation {
            batches::assign_batches(
                draft,
                evaluation,
                &self.snapshot,
                &self.catalogs,
                &mut self.mistakes,
            );
        }
    }

    /// Reports deletions of protected resources, restricted actions, and drift where it is refused.
    pub(crate) fn apply_policies(&mut self, draft: &Draft) {
        let documents = self
            .evaluation
            .as_ref()
            .map(|evaluation| &evaluation.documents);
        let rules = documents.map_or(DialectRules::NATIVE, |documents| {
            documents.root().checked.rules
        });
        policies::report_protection(draft, rules.messages, &mut self.mistakes);
        if self.options.drift == DriftPolicy::Refuse {
            policies::refuse_drift(draft, &self.snapshot, &self.answers, &mut self.mistakes);
        }
    }

    /// Asks the world what exports and metadata need. Returns the records of children and data
    /// sources.
    pub(crate) async fn declare(&mut self) -> Declared {
        let Some(evaluation) = &mut self.evaluation else {
            let everything_goes = self.purpose == Purpose::Destroy && !self.named.is_partial();
            return if everything_goes {
                Declared::default()
            } else {
                self.snapshot.declared.clone()
            };
        };
        let taken = evaluation.bytes_used();
        loop {
            let needs = children::needs(evaluation);
            if needs.is_empty() || self.mistakes.has_errors() {
                break;
            }
            evaluation_question::answer(
                evaluation,
                needs,
                &self.catalogs,
                self.world,
                &mut self.mistakes,
            )
            .await;
        }
        evaluation.reset_bytes_used(taken);
        let former = &self.snapshot.declared;
        let declared = children::declared(evaluation, &self.untouched, former, &mut self.mistakes);
        evaluation.descriptions(&mut self.mistakes);
        self.answers = evaluation.answers.clone();
        declared
    }

    /// Compares exports and metadata with those of the state.
    pub(crate) fn compare_outputs(&mut self, declared: Declared) -> Outputs {
        let snapshot = &self.snapshot;
        let (mut exports, metadata) = match &mut self.evaluation {
            Some(evaluation) if !self.mistakes.has_errors() => {
                exports::exports(evaluation, snapshot, &self.untouched, &mut self.mistakes)
            }
            None if self.purpose == Purpose::Reconcile || self.named.is_partial() => {
                (exports::unchanged(snapshot), snapshot.metadata.clone())
            }
            _ => (exports::none(snapshot), Value::Null),
        };
        hide_former_values(&self.newly_marked, exports.iter_mut());
        Outputs {
            exports,
            metadata,
            declared,
        }
    }

    /// Adds to mistakes in children the includes that lead to them, and reports limits that
    /// evaluation exceeded.
    pub(crate) fn attribute_mistakes(&mut self) {
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.report_size_limit(&mut self.mistakes);
            evaluation
                .documents
                .attribute_errors(codes::OF_ACTIONS, &mut self.mistakes);
            evaluation.lift_limits();
        }
    }

    /// Keeps the memoised values that the documents use.
    pub(crate) fn memoise(&mut self) {
        let Some(evaluation) = &mut self.evaluation else {
            return;
        };
        let answers = &mut self.answers;
        answers.memoised = evaluation.memoised();
        if self.untouched.partial {
            // Elements out of target keep their memoised values.
            let kept = self
                .snapshot
                .memoised
                .iter()
                .filter(|(site, _)| !answers.memoised.contains_key(*site));
            let kept: Vec<_> = kept
                .map(|(site, value)| (site.clone(), value.clone()))
                .collect();
            answers.memoised.extend(kept);
        }
        evaluation.answers.memoised = answers.memoised.clone();
    }

    /// Puts the decisions in order and completes the plan.
    pub(crate) fn order(
        mut self,
        draft: Draft,
        left_out: Vec<Decision>,
        outputs: Outputs,
        found: &mut Diagnostics,
    ) -> Staged {
        self.settled
            .extend(std::mem::take(&mut self.settled_records).settled(&self.snapshot));
        let unchanged = children::unchanged_in(&draft);
        // A plan for targets leaves out the rest.
        let partial = self.named.is_partial();
        let snapshot = &self.snapshot;
        let evaluation = self.evaluation.as_ref();
        let subjects = BreakpointSubjects::of(
            &draft,
            evaluation,
            snapshot,
            (self.purpose, self.kind),
            partial,
        );
        let mut ordered = tasks::order(
            draft,
            snapshot,
            evaluation,
            &subjects,
            self.untouched.partial,
            found,
        );
        self.complete_steps(&mut ordered.steps);
        let changes = left_out
            .iter()
            .filter(|decision| decision.action != Action::None);
        ordered.left_alone.waiting = changes.map(|decision| decision.address.clone()).collect();
        ordered.left_alone.document_differs = std::mem::take(&mut self.document_differs);
        ordered.left_alone.out_of_target = left_out
            .into_iter()
            .map(|decision| decision.address)
            .collect();
        let secret = ordered.secret
            || self.has_secret(&outputs)
            || may_answer_secrets(&ordered.steps, &self.catalogs);
        let stays =
            self.purpose == Purpose::Reconcile || self.purpose == Purpose::Destroy && partial;
        let mut children = children::changes(
            self.evaluation
                .as_ref()
                .map(|evaluation| &*evaluation.documents),
            &self.snapshot,
            &outputs.declared,
            &ordered.steps,
            &ordered.left_alone,
            &unchanged,
            stays,
        );
        let of_children = children
            .iter_mut()
            .flat_map(|child| child.exports.iter_mut().chain(&mut child.metadata));
        hide_former_values(&self.newly_marked, of_children);
        let changes_declared = self.declares_otherwise(&outputs.declared, &children);
        let plan = Plan {
            instance: self.instance,
            purpose: self.purpose,
            kind: self.kind,
            revision: self.snapshot.revision,
            document: self.document,
            given: self.given,
            options: self.options,
            answers: self.answers,
            steps: ordered.steps,
            links: ordered.links,
            exports: outputs.exports,
            metadata_changes: exports::metadata_changes(&self.snapshot.metadata, &outputs.metadata),
            metadata: outputs.metadata,
            children,
            drift: self.drift,
            stops: subjects.planned(),
            left_alone: ordered.left_alone,
            secret,
            tasks: ordered.tasks,
            groups: ordered.groups,
            settled: self.settled,
            untouched: self.untouched,
            changes_declared,
            gates: ordered.gates,
            stops_at_start: subjects.stops_at_start(),
        };
        Staged {
            plan,
            snapshot: self.snapshot,
            evaluation: self.evaluation,
            catalogs: self.catalogs,
        }
    }

    /// Marks steps that adopt objects or whose objects were not read, and stores digests of their
    /// providers' settings.
    fn complete_steps(&mut self, steps: &mut [Step]) {
        for step in steps
            .iter_mut()
            .filter(|step| matches!(step.action, Action::Create | Action::Replace))
        {
            step.adopts = self
                .answers
                .opinions
                .get(&step.address)
                .is_some_and(|opinion| opinion.adopts);
        }
        if !self.is_saved {
            self.answers.programs = unchanged::programs_of(steps, &self.catalogs);
            self.answers.settings = unchanged::settings_of(steps, &self.catalogs, "", self.world);
            if !self.answers.settings.is_empty() && self.answers.salt.is_empty() {
                self.answers.salt = data_encoding::HEXLOWER
                    .encode(&self.world.environment().random())
                    .into();
            }
            self.answers.settings =
                unchanged::settings_of(steps, &self.catalogs, &self.answers.salt, self.world);
        }
        let snapshot = &self.snapshot;
        let catalogs = &self.catalogs;
        let refresh = self.options.refresh.is_on();
        for step in steps {
            step.not_observed =
                unchanged::is_unobserved(step, snapshot, catalogs, &self.answers, refresh);
        }
    }

    /// Whether the state or the plan's answers will hold a secret.
    fn has_secret(&self, outputs: &Outputs) -> bool {
        let answers = &self.answers;
        outputs
            .exports
            .iter()
            .any(|export| export.after.as_ref().is_some_and(Value::has_secret))
            || outputs.metadata.has_secret()
            || outputs.declared.values().any(Value::has_secret)
            || self.settled.iter().any(|settled| {
                settled
                    .record
                    .as_ref()
                    .is_some_and(|record| record.has_secret())
            })
            || answers
                .memoised
                .values()
                .any(|memoised| memoised.value.has_secret())
            || answers.data_sources.values().any(PinnedData::has_secret)
            || answers.preflights.values().any(PinnedPreflight::has_secret)
            || answers.calls.values().any(Value::has_secret)
            || answers.opinions.values().any(ProviderOpinion::has_secret)
            || answers.deletes.values().any(Value::has_secret)
            || answers.external.values().any(PinnedRead::has_secret)
            || self
                .evaluation
                .as_ref()
                .is_some_and(|evaluation| evaluation.inputs.iter().any(Value::has_secret))
    }

    /// Whether the records of groups, data sources or children change.
    fn declares_otherwise(&self, declared: &Declared, children: &[ChildChange]) -> bool {
        let differs = |changes: &[ExportChange]| changes.iter().any(ExportChange::changes_state);
        self.evaluation.is_some() && groups_differ(&self.snapshot.memoised, &self.answers.memoised)
            || !children::same_sources(&self.snapshot.declared, declared)
            || children.iter().any(|child| {
                let new = matches!(child.action, ExportAction::New | ExportAction::Removed);
                new || differs(&child.exports) || differs(&child.metadata)
            })
    }
}

/// Whether answers to these steps may contain secrets that no schema marks.
fn may_answer_secrets(steps: &[Step], catalogs: &Catalogs) -> bool {
    let changes = |step: &&Step| {
        matches!(
            step.action,
            Action::Create | Action::Update | Action::Replace
        )
    };
    steps.iter().filter(changes).any(|step| {
        let ty = catalogs.resource_type(&step.type_name);
        matches!(ty, TypeRef::Known(ty) if ty.capabilities.unannounced_secrets)
    })
}

fn purpose_of(has_document: bool, options: &Options) -> Purpose {
    if has_document {
        Purpose::Deploy
    } else if options.reconcile || options.state_edit.is_some() {
        Purpose::Reconcile
    } else {
        Purpose::Destroy
    }
}

fn kind_of(purpose: Purpose, options: &Options, snapshot: &Snapshot) -> OperationKind {
    match (purpose, snapshot.records.is_empty()) {
        (Purpose::Reconcile, _) if options.state_edit.is_some() => OperationKind::State,
        (Purpose::Reconcile, _) => OperationKind::Reconcile,
        _ if options.rollback => OperationKind::Rollback,
        (Purpose::Destroy, _) => OperationKind::Destroy,
        (Purpose::Deploy, true) => OperationKind::Deploy,
        (Purpose::Deploy, false) => OperationKind::Update,
    }
}

/// Stores digests of the results of transforms. Reports `input-changed` if a saved plan was made
/// from other results.
pub(crate) fn check_transforms_unchanged(
    documents: &Documents,
    answers: &mut Answers,
    found: &mut Diagnostics,
) {
    for unit in documents.units() {
        let Some(made) = &unit.checked.transform_digest else {
            continue;
        };
        let place: Name = unit
            .path
            .iter()
            .map(AsRef::as_ref)
            .collect::<Vec<_>>()
            .join("/")
            .into();
        match answers.transformed.get(&place) {
            Some(before) if before != made => found.push(
                codes::INPUT_CHANGED
                    .new("the transforms of the document give another result than when the plan was made")
                    .label(unit.blueprint().transforms.first().map_or(diag::Span::NONE, |first| first.span), "")
                    .help("stage again"),
            ),
            _ => drop(answers.transformed.insert(place, made.clone())),
        }
    }
}
