//! Beginning tasks: evaluating what the plan left open, stating the intent, making the call.

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::Diagnostics;
use provider::Operation as Verb;
use state::{Entry, EntryKind, Intent, Record, StatusOp, StatusWord};

use super::ask::reopen;
use crate::codes;
use crate::machine::{Apply, CallRequest, Durable, Effect, Progress, Wake};
use evaluate::event::Event;
use evaluate::resolve::{Members, Outputs, Site, Slot};
use plan::links::Linked;
use plan::plan::Action;
use plan::task::{Decided, TaskKind, Until};
use understand::compare::{differences, with_path_of};
use understand::graph::Node;
use understand::links::contribution::carried;

/// What a task turns out to be once everything it reads is known.
enum Turn {
    /// A call with this spec.
    Call(Verb, Value),
    /// Nothing to call; what is remembered becomes this spec.
    Remember(Value),
    /// Nothing at all, and why.
    Unneeded(&'static str),
    /// It cannot be done; reported.
    Failed,
}

impl Apply {
    /// Starts ready tasks, as long as there is room for their calls. The intents of all of them share the next commit.
    pub(super) fn start_what_is_ready(&mut self, effects: &mut Vec<Effect>) {
        while !self.stopping && self.in_flight < self.settings.parallelism {
            let Some(task) = self.ready.pop() else { break };
            if self.running[task as usize].progress != Progress::Ready {
                self.let_in(task);
                continue;
            }
            if self.held_back(task) {
                continue;
            }
            if self.running[task as usize].request.is_some() {
                self.occupy(task);
                self.call(task, effects);
                continue;
            }
            let before = self.in_flight;
            self.start(task, effects);
            if self.in_flight == before {
                self.let_in(task);
            }
        }
    }

    /// An intent is durable: its call is made, unless the operation is to stop.
    pub(crate) fn stated(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let phase = self.plan.tasks[task as usize].kind == TaskKind::Phase;
        match self.stopping && !phase {
            true => self.withdraw(task),
            false => self.call(task, effects),
        }
    }

    /// A call that was stated is not made: an outcome records that the resource is as it was.
    fn withdraw(&mut self, task: u32) {
        self.vacate(task);
        self.running[task as usize].progress = Progress::Ready;
        self.running[task as usize].request = None;
        let Some(decided) = &self.plan.tasks[task as usize].decision else { return };
        let address = Apply::recorded_at(decided).clone();
        let record = self.snapshot.records.get(&address).cloned();
        let outcome = state::Outcome { address, record, error: None };
        let step = self.step_of(task);
        self.gathering.push((Entry { step, kind: EntryKind::Outcome(Arc::new(outcome)) }, Durable::Nothing));
    }

    fn start(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.ask_again(task, effects) {
            return;
        }
        let plan = self.plan.clone();
        let of = &plan.tasks[task as usize];
        let Some(decided) = &of.decision else {
            match of.kind {
                TaskKind::Read(number) => self.read(task, number, effects),
                TaskKind::Pause(pause) => self.pause(task, pause, effects),
                TaskKind::Gate(number) => self.at_gate(task, number, effects),
                _ => self.complete(task, effects),
            }
            return;
        };
        if of.kind == TaskKind::Settled {
            if let Some(came) = came(decided) {
                self.tell(came, effects);
            }
            self.complete(task, effects);
            return;
        }
        if of.kind == TaskKind::Look {
            self.look_on(task, decided, effects);
            return;
        }
        match decided.linked.as_deref() {
            Some(Linked::Phase(phase)) => return self.start_phase(task, decided, phase, effects),
            Some(Linked::Whole(whole)) if of.kind == TaskKind::Link => {
                if let Some(link) = whole.link {
                    return self.finish_link(task, decided, link, effects);
                }
            }
            _ => {}
        }
        self.needed.clear();
        let turn = self.turn(of.kind, decided);
        let needed = std::mem::take(&mut self.needed);
        if !needed.is_empty() {
            self.ask(task, needed, effects);
            return;
        }
        match turn {
            Turn::Call(Verb::Create, desired) if self.ask_what_is_there(task, decided, &desired, effects) => {}
            Turn::Call(verb, desired) => self.intend(task, of.kind, decided, verb, desired),
            Turn::Remember(desired) => {
                let record = self.remembered_record(decided, desired);
                self.set_outputs(decided, &record);
                let goes = matches!(of.kind, TaskKind::Forget | TaskKind::DeleteIfAbsent);
                if record.status.word == StatusWord::Configured && !goes {
                    return self.record_and_look_on(task, decided, Arc::new(record));
                }
                let record = (!goes).then(|| Arc::new(record));
                self.record(task, decided, record, None, Durable::Done(task));
            }
            Turn::Unneeded(reason) => {
                self.tell(Event::Unneeded { address: decided.address.clone(), reason: reason.into() }, effects);
                self.complete(task, effects);
            }
            Turn::Failed => {
                self.failed = true;
                self.running[task as usize].progress = Progress::Failed;
                self.tell(
                    Event::Failed {
                        address: decided.address.clone(),
                        operation: verb_of(of.kind),
                        message: "what it reads has no usable value".into(),
                    },
                    effects,
                );
                self.after_failure(task, effects);
            }
        }
    }

    /// Decides nothing: fills in what the plan left open, and takes the branch that the plan named.
    fn turn(&mut self, kind: TaskKind, decided: &Arc<Decided>) -> Turn {
        match kind {
            TaskKind::Gather
            | TaskKind::Pause(_)
            | TaskKind::Read(_)
            | TaskKind::Gate(_)
            | TaskKind::Look
            | TaskKind::Settled
            | TaskKind::Phase
            | TaskKind::Link => Turn::Unneeded("nothing to call"),
            TaskKind::Forget => Turn::Remember(Value::Null),
            TaskKind::Delete => Turn::Call(Verb::Delete, Value::Null),
            TaskKind::TakeBack => match self.snapshot.records.contains_key(&decided.address) {
                true => Turn::Call(Verb::Delete, Value::Null),
                false => Turn::Unneeded("it was not made"),
            },
            TaskKind::DeleteIfAbsent if !self.absent.contains(&decided.address) => {
                Turn::Unneeded("its condition holds")
            }
            TaskKind::DeleteIfAbsent if matches!(decided.linked.as_deref(), Some(Linked::Whole(_))) => {
                Turn::Remember(Value::Null)
            }
            TaskKind::DeleteIfAbsent if decided.protect => {
                self.found.push(
                    codes::PROTECTED
                        .new(format!("`{}` is protected, and its condition has come out false", decided.address))
                        .label(decided.span, "protected by `cyan.protect`"),
                );
                Turn::Failed
            }
            TaskKind::DeleteIfAbsent if decided.retain => Turn::Remember(Value::Null),
            TaskKind::DeleteIfAbsent => Turn::Call(Verb::Delete, Value::Null),
            TaskKind::Condition => match self.holds(decided) {
                Some(true) => Turn::Unneeded("its condition holds"),
                Some(false) => Turn::Unneeded("its condition is false"),
                None => Turn::Failed,
            },
            TaskKind::DeleteOld(old) => self.old_half(decided, old),
            TaskKind::Record | TaskKind::Create | TaskKind::Update => {
                if decided.condition_open {
                    match self.holds(decided) {
                        Some(true) => {}
                        Some(false) => return Turn::Unneeded("its condition is false"),
                        None => return Turn::Failed,
                    }
                }
                let Some(desired) = self.spec(decided) else { return Turn::Failed };
                if kind != TaskKind::Record && self.may_be_linked(decided).is_none() {
                    return Turn::Failed;
                }
                self.fill_metadata(decided);
                match kind {
                    TaskKind::Record => Turn::Remember(desired),
                    TaskKind::Update => match self.differs(decided, &desired) {
                        (false, _) if !decided.insist => Turn::Remember(desired),
                        _ => Turn::Call(Verb::Update, desired),
                    },
                    _ if decided.action == Action::Replace && decided.may_replace => {
                        match self.differs(decided, &desired) {
                            (_, true) => Turn::Call(Verb::Create, desired),
                            (true, false) => Turn::Call(Verb::Update, desired),
                            (false, false) if decided.insist => Turn::Call(Verb::Update, desired),
                            (false, false) => Turn::Remember(desired),
                        }
                    }
                    _ => Turn::Call(Verb::Create, desired),
                }
            }
        }
    }

    /// The old half of a replacement goes, unless the values turned out such that the thing stays.
    fn old_half(&mut self, decided: &Arc<Decided>, old: u32) -> Turn {
        if old == 0 && decided.may_replace {
            let Some(desired) = self.spec(decided) else { return Turn::Failed };
            if !self.differs(decided, &desired).1 {
                return Turn::Unneeded("the values turned out equal");
            }
        }
        match decided.old_thing(old) {
            Some(_) => Turn::Call(Verb::Delete, Value::Null),
            None => Turn::Unneeded("nothing is left of it"),
        }
    }

    /// Whether a thing would change at all, and whether it would have to be made anew.
    fn differs(&self, decided: &Decided, desired: &Value) -> (bool, bool) {
        let (Some(ty), Some(prior)) = (&decided.ty, &decided.prior) else { return (true, true) };
        let mut changes = Vec::new();
        differences(&ty.schema, &prior.inputs, desired, &mut changes);
        (!changes.is_empty(), changes.iter().any(|change| change.forces))
    }

    /// Whether a condition holds now; `None` if it is in error, which is reported. One that is false takes the thing away.
    fn holds(&mut self, decided: &Decided) -> Option<bool> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return self.part_holds(decided, *link, *part);
        }
        let (index, position) = decided.element?;
        self.locals_for(index);
        if !self.needed.is_empty() {
            return None;
        }
        let evaluation = self.evaluation.as_mut()?;
        let documents = evaluation.documents.clone();
        let (unit, _, resource) = documents.resource(index)?;
        let item = evaluation.member(index, position).and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let mut mistakes = Diagnostics::new();
        let outcome = evaluation.condition(Site { unit, owner: &owner, item: item.as_ref() }, resource, &mut mistakes);
        mistakes.retain(diag::Diagnostic::is_error);
        self.found.append(mistakes);
        match outcome {
            Ok(Some(Some(true))) => {
                if let Some(member) = evaluation.member_mut(index, position) {
                    member.condition_open = false;
                }
                Some(true)
            }
            Ok(Some(Some(false))) => {
                match (&mut evaluation.resources[index as usize], position) {
                    (Members::Many(members), Some(position)) => {
                        if let Some(member) = members.get_mut(position as usize) {
                            *member = None;
                        }
                    }
                    (members, _) => *members = Members::Absent,
                }
                self.absent.insert(decided.address.clone());
                Some(false)
            }
            Ok(Some(None)) => {
                self.found.push(
                    codes::PROMISE_BROKEN
                        .new(format!("whether `{}` is there is still not known", decided.address))
                        .label(decided.span, "its condition reads something that has no value yet"),
                );
                None
            }
            Ok(None) => None,
            Err(need) => {
                self.needed.push(need);
                None
            }
        }
    }

    /// The spec, complete; `None` if it is in error, which is reported.
    fn spec(&mut self, decided: &Decided) -> Option<Value> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return self.part_spec(decided, *link, *part);
        }
        let spec = self.own_spec(decided)?;
        Some(self.with_what_links_wrote(decided, spec))
    }

    /// What links have written into a thing by steps of their own stays as it is now, unless the thing is made anew.
    fn with_what_links_wrote(&self, decided: &Decided, spec: Value) -> Value {
        let written = self.evaluation.as_ref().map_or(&[][..], |it| it.links.written_into(&decided.address));
        let anew = matches!(decided.action, Action::Create | Action::Replace);
        let member = decided.element.and_then(|(index, at)| self.evaluation.as_ref()?.member(index, at));
        match self.snapshot.records.get(&decided.address).filter(|_| !written.is_empty() && !anew) {
            Some(now) => {
                let document = member.map_or(&Value::Null, |member| &member.spec);
                carried(&spec, written.iter(), &now.inputs, document)
            }
            None => spec,
        }
    }

    /// The spec that the document and what links write with it make.
    fn own_spec(&mut self, decided: &Decided) -> Option<Value> {
        if !decided.desired.has_unknown() {
            return Some(decided.desired.clone());
        }
        let (index, position) = decided.element?;
        let ty = decided.ty.clone()?;
        self.locals_for(index);
        if !self.needed.is_empty() {
            return None;
        }
        let evaluation = self.evaluation.as_mut()?;
        let documents = evaluation.documents.clone();
        let (unit, _, resource) = documents.resource(index)?;
        let item = evaluation.member(index, position).and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let mut mistakes = Diagnostics::new();
        let outcome = evaluation.spec(Site { unit, owner: &owner, item: item.as_ref() }, resource, &ty, &mut mistakes);
        let outcome = match outcome {
            Ok(Some(spec)) => evaluation.merged(index, position, spec, &mut mistakes),
            other => other,
        };
        mistakes.retain(diag::Diagnostic::is_error);
        self.found.append(mistakes);
        match outcome {
            Ok(Some(spec)) if spec.has_unknown() => {
                self.found.push(
                    codes::PROMISE_BROKEN
                        .new(format!("the spec of `{}` is still not complete", decided.address))
                        .label(decided.span, "something it reads has no value yet"),
                );
                None
            }
            // What the plan left as it is stays so (`cyan.ignoreChanges`).
            Ok(Some(spec)) => {
                let kept = |spec, path: &Name| with_path_of(&spec, &decided.desired, path);
                Some(resource.lifecycle.ignore_changes.iter().fold(spec, kept))
            }
            Ok(None) => None,
            Err(need) => {
                self.needed.push(need);
                None
            }
        }
    }

    /// Evaluates metadata that was known only on deploy, so that it is remembered as it is.
    fn fill_metadata(&mut self, decided: &Decided) {
        if !decided.metadata.has_unknown() {
            return;
        }
        let (Some((index, position)), Some(evaluation)) = (decided.element, self.evaluation.as_mut()) else { return };
        let documents = evaluation.documents.clone();
        let Some((unit, _, resource)) = documents.resource(index) else { return };
        let item = evaluation.member(index, position).and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let site = Site { unit, owner: &owner, item: item.as_ref() };
        match evaluation.metadata(site, resource, &mut Diagnostics::new()) {
            Ok(metadata) => {
                if let Some(member) = evaluation.member_mut(index, position) {
                    member.metadata = metadata.clone();
                }
                self.metadata.insert(decided.address.clone(), metadata);
            }
            Err(need) => self.needed.push(need),
        }
    }

    /// Settles the intermediate values that a resource reads and that were not known before; data sources that were left
    /// open are read now, by whoever asks for them first.
    fn locals_for(&mut self, index: u32) {
        self.settle_behind(Node::Resource(index));
    }

    pub(super) fn settle_behind(&mut self, node: Node) {
        let Some(evaluation) = &mut self.evaluation else { return };
        let documents = evaluation.documents.clone();
        let mut order = Vec::new();
        let mut stack: Vec<(Node, bool)> = vec![(node, false)];
        let mut seen: std::collections::HashSet<Node, foldhash::fast::FixedState> = Default::default();
        while let Some((node, entered)) = stack.pop() {
            if entered {
                order.push(node);
                continue;
            }
            if !seen.insert(node) {
                continue;
            }
            stack.push((node, true));
            for edge in documents.graph().edges(node) {
                let open = match edge.to {
                    Node::DataSource(source) => {
                        matches!(evaluation.data[source as usize], Slot::Partial(_) | Slot::Open)
                    }
                    other => evaluation.is_unsettled(other),
                };
                if open {
                    stack.push((edge.to, false));
                }
            }
        }
        reopen(evaluation, |source| seen.contains(&Node::DataSource(source)));
        for node in order {
            let mut mistakes = Diagnostics::new();
            match evaluation.settle_now(node, &mut mistakes) {
                // A value that still cannot be told stays as it is; who reads it reports that.
                Ok(()) => {
                    mistakes.retain(diag::Diagnostic::is_error);
                    self.found.append(mistakes);
                }
                Err(need) => self.needed.push(need),
            }
        }
    }

    /// States what is about to be done; the call is made once that is durable.
    fn intend(&mut self, task: u32, kind: TaskKind, decided: &Arc<Decided>, verb: Verb, desired: Value) {
        let prior = self.prior_of_call(kind, decided, verb);
        let intent = self.intent_of(task, kind, decided, verb, prior.as_deref(), desired);
        let outputs = match &prior {
            Some(record) if self.written_in_this_run(decided) => record.outputs.clone(),
            Some(_) if verb == Verb::Update && !decided.outputs.is_null() => decided.outputs.clone(),
            Some(record) => record.outputs.clone(),
            None => Value::Null,
        };
        let private = match &prior {
            Some(_) if verb == Verb::Update && !decided.private.is_null() => decided.private.clone(),
            Some(record) => record.private.clone(),
            None => intent.private.clone(),
        };
        self.running[task as usize].request = Some(Box::new(CallRequest {
            address: decided.address.clone(),
            type_name: intent.type_name.clone(),
            operation: verb,
            id: prior.as_ref().map(|record| record.id.clone()),
            prior_inputs: prior.as_ref().map_or(Value::Null, |record| record.inputs.clone()),
            prior: outputs,
            desired: intent.inputs.clone(),
            private,
            sources: match verb {
                Verb::Delete => Vec::new(),
                _ => self.sources_of(&decided.address),
            },
            token: intent.token.clone(),
            folder: intent.folder.clone(),
            limit: None,
        }));
        self.running[task as usize].progress = Progress::Intending;
        self.occupy(task);
        let step = self.step_of(task);
        self.gathering.push((Entry { step, kind: EntryKind::Intent(Arc::new(intent)) }, Durable::Intent(task)));
    }

    /// The number under which a task stands in the journal.
    pub(crate) fn step_of(&self, task: u32) -> u32 {
        self.plan.tasks[task as usize].step.map_or(0, |step| step + 1)
    }

    /// What is remembered of the thing that a call is about; nothing for a create.
    fn prior_of_call(&self, kind: TaskKind, decided: &Decided, verb: Verb) -> Option<Arc<Record>> {
        if verb == Verb::Create {
            return None;
        }
        match kind {
            TaskKind::DeleteOld(old) => decided.old_thing(old).map(|old| Arc::new(old.clone())),
            // A link may have taken something out of it in this run, which may also have made it.
            TaskKind::Update | TaskKind::TakeBack => self.snapshot.records.get(&decided.address).cloned(),
            _ => decided.prior.clone(),
        }
    }

    /// What is written down before a call.
    fn intent_of(
        &self,
        task: u32,
        kind: TaskKind,
        decided: &Decided,
        verb: Verb,
        prior: Option<&Record>,
        inputs: Value,
    ) -> Intent {
        let token = match verb {
            Verb::Create => self.token_of_create(decided),
            _ => format!("{}-{task}", self.operation.id).into(),
        };
        let deposed = match kind {
            TaskKind::DeleteOld(0) => decided.replace_order == blueprint::ReplaceOrder::CreateFirst,
            TaskKind::DeleteOld(_) => true,
            _ => false,
        };
        Intent {
            address: decided.address.clone(),
            op: match verb {
                Verb::Create => StatusOp::Create,
                Verb::Update => StatusOp::Update,
                Verb::Delete => StatusOp::Delete,
            },
            deposed,
            id: prior.map_or("".into(), |record| record.id.clone()),
            hides_id: prior.is_some_and(Record::hides_id),
            retain: decided.retain,
            protect: decided.protect,
            token,
            type_name: prior.filter(|_| verb == Verb::Delete).map_or(&decided.type_name, |old| &old.type_name).clone(),
            inputs,
            private: match verb {
                Verb::Create => self.said_before_create(&decided.address),
                _ => Value::Null,
            },
            folder: match prior {
                Some(prior) if verb == Verb::Delete => prior.origin.folder.clone(),
                _ => self.folder_of(decided),
            },
            dependencies: decided.dependencies.clone(),
        }
    }

    /// The digests that a thing's sources had when the plan was made, where nothing of the plan can have changed them since.
    fn sources_of(&self, address: &Address) -> Vec<(Name, Value)> {
        let kept = self.plan.answers.preflights.get(address).filter(|kept| !kept.follows);
        let sources = kept.iter().flat_map(|kept| &kept.sources);
        sources.filter_map(|source| Some((source.field.clone(), source.digest.clone()?))).collect()
    }

    /// What the provider of a thing said before its create.
    fn said_before_create(&self, address: &Address) -> Value {
        let opinion = self.evaluation.as_ref().and_then(|it| it.answers.opinions.get(address));
        opinion.map_or(Value::Null, |opinion| opinion.private.clone())
    }

    /// The folder of the document that declares a thing, as seen from that of the root document.
    pub(crate) fn folder_of(&self, decided: &Decided) -> Name {
        let declared = decided.element.zip(self.evaluation.as_ref()).and_then(|((number, _), evaluation)| {
            let (unit, ..) = evaluation.documents.resource(number)?;
            Some(evaluation.documents.folder_seen_from_root(unit))
        });
        let recorded = || decided.prior.as_ref().map(|record| record.origin.folder.clone());
        declared.or_else(recorded).unwrap_or_default()
    }

    /// The same for the same thing to be made by the same plan, also where that plan is made anew because a run was cut off,
    /// or its last commits were lost with a log that was cut short: a provider that honours it makes nothing twice. What
    /// tells one creation at an address from the next is the thing that was there before, and the last generation.
    fn token_of_create(&self, decided: &Decided) -> Name {
        let of_record = |record: &Record| Some(record.id.clone()).filter(|id| !id.is_empty());
        let before = decided.prior.as_deref().and_then(of_record);
        let before =
            before.or_else(|| self.snapshot.records.get(&decided.address).and_then(|record| of_record(record)));
        let before = before.or_else(|| self.snapshot.deleted.get(&decided.address).cloned()).unwrap_or_default();
        let instance = if self.snapshot.uid.is_empty() { &self.operation.id } else { &self.snapshot.uid };
        let generation = self.snapshot.generation.0;
        let whole =
            evaluate::answers::digest(format!("{instance}\0{generation}\0{}\0{before}", decided.address).as_bytes());
        whole.get(..32).unwrap_or(&whole).into()
    }

    /// How long the action of a task may take, where its resource says so.
    fn limit(&self, decided: &Decided, verb: Verb) -> Option<std::time::Duration> {
        // A phase of a link is an update of what it writes into.
        let element = match decided.linked.as_deref() {
            Some(Linked::Phase(phase)) => phase.member,
            _ => decided.element,
        };
        let declared = element.and_then(|(number, _)| {
            let (_, _, resource) = self.evaluation.as_ref()?.documents.resource(number)?;
            Some(resource.lifecycle.timeouts)
        });
        match (verb, declared) {
            (Verb::Create, Some(limits)) => limits.create,
            (Verb::Update, Some(limits)) => limits.update,
            (Verb::Delete, Some(limits)) => limits.delete,
            (Verb::Delete, None) => decided.prior.as_deref().and_then(plan::hints::delete_within),
            (_, None) => None,
        }
    }

    pub(crate) fn call(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let Some(request) = self.running[task as usize].request.clone() else { return };
        if self.running[task as usize].tries == 0
            && let Some(decided) = self.plan.tasks[task as usize].decision.clone()
            && let Some(limit) = self.limit(&decided, request.operation)
        {
            self.running[task as usize].limit = Some(limit);
            let number = self.wake(Wake::Deadline(task));
            effects.push(Effect::Wake(number, limit));
        }
        self.running[task as usize].progress = Progress::Calling;
        self.running[task as usize].called_at = self.running[task as usize].called_at.or_else(|| self.millis());
        self.calling += 1;
        let spent = self.millis().zip(self.running[task as usize].called_at);
        let spent = spent.map_or(0, |(now, then)| u64::from(now.saturating_sub(then)));
        let limit = self.running[task as usize].limit;
        let limit = limit.map(|limit| limit.saturating_sub(std::time::Duration::from_millis(spent)));
        if self.running[task as usize].tries == 0 {
            let decided = self.plan.tasks[task as usize].decision.as_ref();
            let started = Event::Started {
                address: decided.map_or(&request.address, |decided| &decided.address).clone(),
                operation: request.operation,
                replacing: self.is_replacing(task),
            };
            effects.push(Effect::Tell(started));
        }
        effects.push(Effect::Call(task, CallRequest { limit, ..*request }));
    }

    pub(super) fn is_replacing(&self, task: u32) -> bool {
        let task = &self.plan.tasks[task as usize];
        task.decision.as_ref().is_some_and(|decided| decided.action == Action::Replace)
    }

    /// Tells readers what a thing's fields are now.
    pub(super) fn set_outputs(&mut self, decided: &Decided, record: &Record) {
        if self.set_linked_outputs(decided, record) {
            return;
        }
        let (Some((index, position)), Some(evaluation)) = (decided.element, self.evaluation.as_mut()) else { return };
        if let Some(member) = evaluation.member_mut(index, position) {
            member.spec = record.inputs.clone();
            member.outputs = Outputs::Known(record.outputs.clone());
        }
    }

    /// Whether what is remembered of a thing has changed since the plan was made.
    pub(super) fn written_in_this_run(&self, decided: &Decided) -> bool {
        self.touched.contains(&decided.address)
    }

    /// A task is done without anything to record.
    pub(crate) fn complete(&mut self, task: u32, effects: &mut Vec<Effect>) {
        self.running[task as usize].progress = Progress::Done;
        self.release(task, None);
        self.count_down(task, effects);
    }

    /// Lets those go on that waited for a task: all of them, or only those for whom this is far enough.
    pub(crate) fn release(&mut self, task: u32, only: Option<Until>) {
        let waiters = std::mem::take(&mut self.after[task as usize]);
        let (now, later): (Vec<_>, Vec<_>) =
            waiters.into_iter().partition(|(_, until)| only.is_none_or(|only| *until == only));
        self.after[task as usize] = later;
        for (waiter, _) in now {
            self.waited(waiter);
        }
    }

    /// One thing less that a task waits for.
    pub(crate) fn waited(&mut self, waiter: u32) {
        let running = &mut self.running[waiter as usize];
        if let Progress::Waiting(count) = running.progress {
            if count <= 1 {
                running.progress = Progress::Ready;
                self.ready.push_back(waiter, &self.ranks);
            } else {
                running.progress = Progress::Waiting(count - 1);
            }
        }
    }
}

/// What a task does, for people.
pub(super) fn verb_of(kind: TaskKind) -> Verb {
    match kind {
        TaskKind::Create => Verb::Create,
        TaskKind::Delete
        | TaskKind::DeleteOld(_)
        | TaskKind::DeleteIfAbsent
        | TaskKind::TakeBack
        | TaskKind::Forget => Verb::Delete,
        TaskKind::Update
        | TaskKind::Record
        | TaskKind::Settled
        | TaskKind::Condition
        | TaskKind::Look
        | TaskKind::Phase
        | TaskKind::Link
        | TaskKind::Read(_)
        | TaskKind::Pause(_)
        | TaskKind::Gate(_)
        | TaskKind::Gather => Verb::Update,
    }
}

/// What is told of a thing that has moved or was imported.
pub(crate) fn came(decided: &Decided) -> Option<Event> {
    let how = match decided.action {
        Action::Move => "moved",
        Action::Import => "imported",
        _ => return None,
    };
    Some(Event::Recorded { address: decided.address.clone(), how: how.into() })
}
