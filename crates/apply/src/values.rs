//! Evaluates the values that the plan left open (specs, conditions, metadata) once their inputs are known.
//!
//! Not here: what follows from them (`start`).

use blueprint::{Name, Resource, Value};
use diag::Diagnostics;
use state::Record;

use super::ask::reopen;
use crate::codes;
use crate::machine::Apply;
use evaluate::resolve::{CallSite, Evaluation, Members, Need, Outputs, Slot};
use plan::linked::Linked;
use plan::model::Action;
use plan::task::Decided;
use understand::compare::{differences, with_path_of};
use understand::graph::Node;
use understand::links::contribution::carried;

impl Apply {
    /// Whether the resource changes at all, and whether the change forces a replacement.
    pub(crate) fn differs(&self, decided: &Decided, desired: &Value) -> (bool, bool) {
        let (Some(ty), Some(prior)) = (&decided.ty, &decided.prior) else { return (true, true) };
        let mut changes = Vec::new();
        differences(&ty.schema, &prior.inputs, desired, &mut changes);
        (!changes.is_empty(), changes.iter().any(|change| change.forces))
    }

    /// Whether a condition holds now. A false condition marks the resource absent. `None` if its evaluation fails,
    /// which is reported.
    pub(crate) fn holds(&mut self, decided: &Decided) -> Option<bool> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return self.part_holds(decided, *link, *part);
        }
        let (index, position) = decided.element?;
        let holds = self.evaluate_at(decided, |evaluation, site, resource, mistakes| {
            evaluation.condition(site, resource, mistakes)
        })?;
        let evaluation = self.evaluation.as_mut()?;
        match holds {
            Some(true) => {
                if let Some(member) = evaluation.member_mut(index, position) {
                    member.condition_open = false;
                }
                Some(true)
            }
            Some(false) => {
                match (&mut evaluation.resources[index as usize], position) {
                    (Members::Many(members), Some(position)) => {
                        if let Some(member) = members.get_mut(position as usize) {
                            *member = None;
                        }
                    }
                    (members, _) => *members = Members::Absent,
                }
                self.results.absent.insert(decided.address.clone());
                Some(false)
            }
            None => {
                self.results.found.push(
                    codes::PROMISE_BROKEN
                        .new(format!("whether `{}` is there is still not known", decided.address))
                        .label(decided.span, "its condition reads something that has no value yet"),
                );
                None
            }
        }
    }

    /// Evaluates something of a resource at its call site. Errors are reported, and needs are noted for the next round;
    /// both give `None`.
    fn evaluate_at<T>(
        &mut self,
        decided: &Decided,
        evaluate: impl FnOnce(&mut Evaluation, CallSite<'_>, &Resource, &mut Diagnostics) -> Result<Option<T>, Need>,
    ) -> Option<T> {
        let (index, position) = decided.element?;
        self.locals_for(index);
        if !self.inquiries.needed.is_empty() {
            return None;
        }
        let evaluation = self.evaluation.as_mut()?;
        let documents = evaluation.documents.clone();
        let (unit, _, resource) = documents.resource(index)?;
        let item = evaluation.member(index, position).and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let mut mistakes = Diagnostics::new();
        let site = CallSite { unit, owner: &owner, item: item.as_ref() };
        let outcome = evaluate(evaluation, site, resource, &mut mistakes);
        mistakes.retain(diag::Diagnostic::is_error);
        self.results.found.append(mistakes);
        outcome.unwrap_or_else(|need| {
            self.inquiries.needed.push(need);
            None
        })
    }

    /// The complete spec. `None` if its evaluation fails, which is reported.
    pub(crate) fn spec(&mut self, decided: &Decided) -> Option<Value> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return self.part_spec(decided, *link, *part);
        }
        let spec = self.own_spec(decided)?;
        Some(self.with_what_links_wrote(decided, spec))
    }

    /// Adds to `spec` what links have written into the resource by their own steps, unless it is created or replaced.
    pub(crate) fn with_what_links_wrote(&self, decided: &Decided, spec: Value) -> Value {
        let written = self.evaluation.as_ref().map_or(&[][..], |it| it.links.written_into(&decided.address));
        let replaced = matches!(decided.action, Action::Create | Action::Replace);
        let member = decided.element.and_then(|(index, at)| self.evaluation.as_ref()?.member(index, at));
        match self.snapshot.records.get(&decided.address).filter(|_| !written.is_empty() && !replaced) {
            Some(now) => {
                let document = member.map_or(&Value::Null, |member| &member.spec);
                carried(&spec, written.iter(), &now.inputs, document)
            }
            None => spec,
        }
    }

    /// The spec from the document, merged with what links write together with it.
    pub(crate) fn own_spec(&mut self, decided: &Decided) -> Option<Value> {
        if !decided.desired.has_unknown() {
            return Some(decided.desired.clone());
        }
        let (index, position) = decided.element?;
        let ty = decided.ty.clone()?;
        let spec = self.evaluate_at(decided, |evaluation, site, resource, mistakes| {
            match evaluation.spec(site, resource, &ty, mistakes) {
                Ok(Some(spec)) => evaluation.merged(index, position, spec, mistakes),
                other => other,
            }
        })?;
        if spec.has_unknown() {
            self.results.found.push(
                codes::PROMISE_BROKEN
                    .new(format!("the spec of `{}` is still not complete", decided.address))
                    .label(decided.span, "something it reads has no value yet"),
            );
            return None;
        }
        // Fields in `cyan.ignoreChanges` keep their planned values.
        let (_, _, resource) = self.evaluation.as_ref()?.documents.resource(index)?;
        let kept = |spec, path: &Name| with_path_of(&spec, &decided.desired, path);
        Some(resource.lifecycle.ignore_changes.iter().fold(spec, kept))
    }

    /// Evaluates metadata that was unknown at plan time, for the record.
    pub(crate) fn fill_metadata(&mut self, decided: &Decided) {
        if !decided.metadata.has_unknown() {
            return;
        }
        let (Some((index, position)), Some(evaluation)) = (decided.element, self.evaluation.as_mut()) else { return };
        let documents = evaluation.documents.clone();
        let Some((unit, _, resource)) = documents.resource(index) else { return };
        let item = evaluation.member(index, position).and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let site = CallSite { unit, owner: &owner, item: item.as_ref() };
        match evaluation.metadata(site, resource, &mut Diagnostics::new()) {
            Ok(metadata) => {
                if let Some(member) = evaluation.member_mut(index, position) {
                    member.metadata = metadata.clone();
                }
                self.results.metadata.insert(decided.address.clone(), metadata);
            }
            Err(need) => self.inquiries.needed.push(need),
        }
    }

    /// Settles the unknown intermediate values that a resource reads. Data sources that were left open are read.
    pub(crate) fn locals_for(&mut self, index: u32) {
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
                // A value that is still unknown stays as it is. Its reader reports it.
                Ok(()) => {
                    mistakes.retain(diag::Diagnostic::is_error);
                    self.results.found.append(mistakes);
                }
                Err(need) => self.inquiries.needed.push(need),
            }
        }
    }

    /// Publishes the current fields of a resource to its readers.
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

    /// Whether links have changed the record since the plan was made.
    pub(super) fn written_in_this_run(&self, decided: &Decided) -> bool {
        self.links.touched.contains(&decided.address)
    }
}
