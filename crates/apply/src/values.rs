//! Evaluates the values that the plan left open (specs, conditions, metadata) once their inputs are
//! known.
//!
//! Not here: the decisions that use these values (`decide`).

use blueprint::{Name, Resource, Value};
use diag::Diagnostics;
use evaluate::answers::ProviderOpinion;
use evaluate::resolve::{Evaluation, ExpressionSite, Members, Need, Slot};
use plan::linked::Linked;
use plan::model::Action;
use plan::task::Decided;
use understand::compare::{Change, differences, same, with_path_of};
use understand::graph::GraphNode;
use understand::links::contribution::carry_over;

use crate::codes;
use crate::link_values;
use crate::progress::Results;
use crate::run_values::RunValues;

/// The evaluation of one task.
pub(crate) struct Values<'a> {
    pub(crate) known: &'a mut RunValues,
    pub(crate) results: &'a mut Results,
    /// The missing answers of the evaluation.
    needed: Vec<Need>,
}

impl<'a> Values<'a> {
    /// Creates an evaluation without needs.
    pub(crate) fn new(known: &'a mut RunValues, results: &'a mut Results) -> Values<'a> {
        Values {
            known,
            results,
            needed: Vec::new(),
        }
    }

    /// Adds a need of the evaluation.
    pub(crate) fn need(&mut self, need: Need) {
        self.needed.push(need);
    }

    /// Returns the needs of the evaluation. If there are any, the results of the evaluation must
    /// not be used.
    pub(crate) fn needed(self) -> Vec<Need> {
        self.needed
    }

    /// Whether a condition holds now. A false condition marks the resource absent. `None` if its
    /// evaluation fails, which is reported.
    pub(crate) fn holds(&mut self, decided: &Decided) -> Option<bool> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return link_values::part_holds(self.known, self.results, decided, *link, *part);
        }
        let (index, position) = decided.element?;
        let holds = self.evaluate_at(decided, |evaluation, site, resource, mistakes| {
            evaluation.condition(site, resource, mistakes)
        })?;
        let evaluation = self.known.evaluation.as_mut()?;
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
                self.known.mark_absent(&decided.address);
                Some(false)
            }
            None => {
                self.results.report(
                    codes::PROMISE_BROKEN
                        .new(format!(
                            "whether `{}` is there is still not known",
                            decided.address
                        ))
                        .label(
                            decided.span,
                            "its condition reads something that has no value yet",
                        ),
                );
                None
            }
        }
    }

    /// Evaluates a part of a resource at its call site. Errors are reported, and needs are
    /// collected for the next round; both give `None`.
    fn evaluate_at<T>(
        &mut self,
        decided: &Decided,
        evaluate: impl FnOnce(
            &mut Evaluation,
            ExpressionSite<'_>,
            &Resource,
            &mut Diagnostics,
        ) -> Result<Option<T>, Need>,
    ) -> Option<T> {
        let (index, position) = decided.element?;
        self.settle_before(GraphNode::Resource(index));
        if !self.needed.is_empty() {
            return None;
        }
        let evaluation = self.known.evaluation.as_mut()?;
        let documents = evaluation.documents.clone();
        let (unit, _, resource) = documents.resource(index)?;
        let item = evaluation
            .member(index, position)
            .and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let mut mistakes = Diagnostics::new();
        let site = ExpressionSite {
            unit,
            owner: &owner,
            item: item.as_ref(),
        };
        let outcome = evaluate(evaluation, site, resource, &mut mistakes);
        self.results.report_errors(mistakes);
        outcome.unwrap_or_else(|need| {
            self.needed.push(need);
            None
        })
    }

    /// The complete spec. `None` if its evaluation fails, which is reported.
    pub(crate) fn spec(&mut self, decided: &Decided) -> Option<Value> {
        if let Some(Linked::Part { link, part }) = decided.linked.as_deref() {
            return link_values::part_spec(self.known, self.results, decided, *link, *part);
        }
        let spec = self.own_spec(decided)?;
        Some(self.with_link_writes(decided, spec))
    }

    /// Adds to `spec` the contributions that links have written into the resource by steps of their
    /// own, unless it is created or replaced.
    pub(crate) fn with_link_writes(&self, decided: &Decided, spec: Value) -> Value {
        let written = self
            .known
            .evaluation
            .as_ref()
            .map_or(&[][..], |it| it.links.written_into(&decided.address));
        let replaced = matches!(decided.action, Action::Create | Action::Replace);
        let member = decided
            .element
            .and_then(|(index, at)| self.known.evaluation.as_ref()?.member(index, at));
        match self
            .known
            .record(&decided.address)
            .filter(|_| !written.is_empty() && !replaced)
        {
            Some(now) => {
                let document = member.map_or(&Value::Null, |member| &member.spec);
                carry_over(&spec, written.iter(), &now.inputs, document)
            }
            None => spec,
        }
    }

    /// The spec from the document, merged with the contributions that links write together with it.
    pub(crate) fn own_spec(&mut self, decided: &Decided) -> Option<Value> {
        if !decided.desired.has_unknown() {
            return self.spec_after_deviation(decided);
        }
        self.evaluated_spec(decided)
    }

    /// The planned spec, or another one if it reads fields that came out differently than forecast:
    /// a forecast is only read until there is an object.
    fn spec_after_deviation(&mut self, decided: &Decided) -> Option<Value> {
        let planned = || Some(decided.desired.clone());
        let Some((index, position)) = decided
            .element
            .filter(|_| self.known.reads_deviated(decided))
        else {
            return planned();
        };
        self.unsettle_before(GraphNode::Resource(index));
        let spec = self.evaluated_spec(decided)?;
        let evaluation = self.known.evaluation.as_ref();
        let member = evaluation.and_then(|evaluation| evaluation.member(index, position));
        if member.is_some_and(|member| same(&member.spec, &spec)) {
            return planned();
        }
        self.known.mark_unplanned(&decided.address);
        Some(spec)
    }

    /// Leaves the intermediate values that a resource reads to be settled again.
    fn unsettle_before(&mut self, node: GraphNode) {
        let Some(evaluation) = &mut self.known.evaluation else {
            return;
        };
        let documents = evaluation.documents.clone();
        let mut stack = vec![node];
        let mut seen: std::collections::HashSet<GraphNode, foldhash::fast::FixedState> =
            Default::default();
        while let Some(node) = stack.pop() {
            for edge in documents.graph().edges(node) {
                let passes_on = matches!(edge.to, GraphNode::Local(_) | GraphNode::Input(_));
                if passes_on && seen.insert(edge.to) {
                    evaluation.unsettle(edge.to);
                    stack.push(edge.to);
                }
            }
        }
    }

    /// The spec from the document with the values that are known now.
    fn evaluated_spec(&mut self, decided: &Decided) -> Option<Value> {
        let (index, position) = decided.element?;
        let ty = decided.ty.clone()?;
        let spec =
            self.evaluate_at(
                decided,
                |evaluation, site, resource, mistakes| match evaluation
                    .spec(site, resource, &ty, mistakes)
                {
                    Ok(Some(spec)) => evaluation.merged(index, position, spec, mistakes),
                    other => other,
                },
            )?;
        if spec.has_unknown() {
            self.results.report(
                codes::PROMISE_BROKEN
                    .new(format!(
                        "the spec of `{}` is still not complete",
                        decided.address
                    ))
                    .label(decided.span, "something it reads has no value yet"),
            );
            return None;
        }
        // Fields in `cyan.ignoreChanges` keep their planned values. A new object has none to keep.
        let (_, _, resource) = self.known.evaluation.as_ref()?.documents.resource(index)?;
        let kept = |spec, path: &Name| {
            let kept = with_path_of(&spec, &decided.desired, path);
            if kept.has_unknown() { spec } else { kept }
        };
        Some(resource.lifecycle.ignore_changes.iter().fold(spec, kept))
    }

    /// Evaluates metadata that was unknown at plan time, for the record.
    pub(crate) fn fill_metadata(&mut self, decided: &Decided) {
        if !decided.metadata.has_unknown() {
            return;
        }
        let (Some((index, position)), Some(evaluation)) =
            (decided.element, self.known.evaluation.as_mut())
        else {
            return;
        };
        let documents = evaluation.documents.clone();
        let Some((unit, _, resource)) = documents.resource(index) else {
            return;
        };
        let item = evaluation
            .member(index, position)
            .and_then(|member| member.item.clone());
        let owner = decided.address.to_string();
        let site = ExpressionSite {
            unit,
            owner: &owner,
            item: item.as_ref(),
        };
        match evaluation.metadata(site, resource, &mut Diagnostics::new()) {
            Ok(metadata) => {
                if let Some(member) = evaluation.member_mut(index, position) {
                    member.metadata = metadata.clone();
                }
                self.known.set_metadata(&decided.address, metadata);
            }
            Err(need) => self.needed.push(need),
        }
    }

    /// Settles the unknown intermediate values that a resource or data source reads. Open data
    /// sources are read.
    pub(crate) fn settle_before(&mut self, node: GraphNode) {
        let Some(evaluation) = &mut self.known.evaluation else {
            return;
        };
        let documents = evaluation.documents.clone();
        let mut order = Vec::new();
        let mut stack: Vec<(GraphNode, bool)> = vec![(node, false)];
        let mut seen: std::collections::HashSet<GraphNode, foldhash::fast::FixedState> =
            Default::default();
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
                    GraphNode::DataSource(source) => {
                        matches!(
                            evaluation.data[source as usize],
                            Slot::Partial(_) | Slot::Open
                        )
                    }
                    other => evaluation.is_unsettled(other),
                };
                if open {
                    stack.push((edge.to, false));
                }
            }
        }
        reopen(evaluation, |source| {
            seen.contains(&GraphNode::DataSource(source))
        });
        for node in order {
            let mut mistakes = Diagnostics::new();
            match evaluation.settle_now(node, &mut mistakes) {
                // A value that is still unknown keeps its result. The element that reads it reports
                // the error.
                Ok(()) => {
                    self.results.report_errors(mistakes);
                }
                Err(need) => self.needed.push(need),
            }
        }
    }
}

/// How an evaluated spec differs from the inputs that were last sent.
pub(crate) enum Difference {
    /// Not at all.
    None,
    /// In fields that can be changed in place.
    InPlace,
    /// In a field that forces a replacement.
    Replacement,
}

/// Compares an evaluated spec with the inputs that were last sent. Without a record or a type there
/// is nothing to compare with, so the object has to be created. The opinion of a provider says which
/// fields force a replacement besides those of the catalogue, and which mean the same object.
pub(crate) fn difference(
    decided: &Decided,
    desired: &Value,
    opinion: Option<&ProviderOpinion>,
) -> Difference {
    let (Some(ty), Some(prior)) = (&decided.ty, &decided.prior) else {
        return Difference::Replacement;
    };
    let mut changes = Vec::new();
    differences(&ty.schema, &prior.inputs, desired, &mut changes);
    let only_recorded = |change: &Change| opinion.is_some_and(|one| one.only_records(change));
    let forces = |change: &Change| {
        let mut added = opinion.iter().flat_map(|one| &one.replaces);
        change.forces && !only_recorded(change) || added.any(|path| change.is_under(path))
    };
    if changes.iter().any(forces) {
        Difference::Replacement
    } else if changes.iter().all(only_recorded) {
        Difference::None
    } else {
        Difference::InPlace
    }
}

/// Reopens data sources that were left open because the objects that they search for did not exist.
/// They are read in this run.
pub(crate) fn reopen(evaluation: &mut Evaluation, which: impl Fn(u32) -> bool) {
    for (at, slot) in evaluation.data.iter_mut().enumerate() {
        if matches!(slot, Slot::Partial(_)) && which(at as u32) {
            *slot = Slot::Open;
        }
    }
}
