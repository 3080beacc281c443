//! Resolves names in an expression of a link kind: `a`, `b`, `note`, `part` and `use`
//! (decisions/links#kinds-are-data).

use std::sync::Arc;

use blueprint::{AccessorKind, Address, Expr, Key, Ref, ReferenceHead, Value};
use diag::{Diagnostic, Diagnostics};
use expr::{Ask, AskFailure, EvaluationStop, ResolvedHead, Scope};
use provider::Side;

use super::{Declared, LinkAt};
use crate::resolve::scope::{Frame, read_member};
use crate::resolve::{Evaluation, ExpressionSite, Halt, Members, Need};
use understand::links::LinkedPair;

/// The scope of an expression of a link kind.
pub(super) struct LinkFrame<'a> {
    pub pair: &'a LinkedPair,
    pub at: LinkAt,
    pub found: Diagnostics,
    pub document: Frame<'a>,
}

impl Evaluation {
    /// Returns the value of an expression of a link kind. Reports its errors at the link.
    pub(crate) fn link_value(
        &mut self,
        link: LinkAt,
        expr: &Expr,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let Some(pair) = self.pair(link.0) else {
            return Err(Halt::Failed);
        };
        let Some(address) = self.link(link).map(|link| link.address.clone()) else {
            return Err(Halt::Failed);
        };
        let functions = self.functions.clone();
        let owner = address.to_string();
        let unit = self.declared(pair.a).map_or(0, |of| of.unit);
        let mut mistakes = Diagnostics::new();
        let mut frame = LinkFrame {
            pair: &pair,
            at: link,
            found: Diagnostics::new(),
            document: Frame {
                evaluation: self,
                site: ExpressionSite::of(unit, &owner),
                need: None,
            },
        };
        let outcome = expr::evaluate(expr, &functions, &mut frame, &mut mistakes);
        let need = frame.document.need.take();
        found.append(std::mem::take(&mut frame.found));
        let placed = |diagnostic: Diagnostic| {
            let why = diagnostic
                .labels
                .first()
                .map_or(String::new(), |label| label.text.clone());
            let mut placed = diagnostic
                .code
                .new(diagnostic.message)
                .label(pair.span, why);
            placed.notes = diagnostic.notes;
            placed.note(format!(
                "in the link `{address}` of the kind `{}::{}`",
                pair.kind.a, pair.kind.b
            ))
        };
        match outcome {
            Ok(value) => Ok(value),
            Err(_) if need.is_some() => Err(need.map_or(Halt::Failed, Halt::Need)),
            Err(EvaluationStop::Ask(ask)) => {
                Err(Halt::Need(Need::Ask(unit, owner.as_str().into(), ask)))
            }
            Err(EvaluationStop::Failed(diagnostic)) => {
                found.push(placed(*diagnostic));
                Err(Halt::Failed)
            }
            Err(EvaluationStop::Absent(_)) => Ok(Value::Null),
            Err(EvaluationStop::Reported) => Err(Halt::Failed),
        }
    }
}

impl LinkFrame<'_> {
    fn end(&mut self, side: Side, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let evaluation = &mut *self.document.evaluation;
        let Some((resource, position)) = evaluation.end_of(self.at, side) else {
            return Err(EvaluationStop::Reported);
        };
        let Some(of) = evaluation.declared(resource) else {
            return Err(EvaluationStop::Reported);
        };
        let (name, declared) = of.entry();
        let accessor = |at: usize| match reference.path.get(at).map(|accessor| &accessor.kind) {
            Some(AccessorKind::Name(name)) => Some(name.clone()),
            _ => None,
        };
        let first = accessor(0);
        if first.as_deref() == Some("name") {
            let shown = match evaluation
                .member(resource, position)
                .map(|member| member.address.key.clone())
            {
                Some(Some(key)) => Address::root(name.clone()).with_key(key).to_string(),
                None if position.is_some() => Address::root(name.clone())
                    .with_key(Key::Index(position.unwrap_or_default()))
                    .to_string(),
                _ => name.to_string(),
            };
            return Ok(ResolvedHead {
                value: Value::text(shown),
                used: 1,
            });
        }
        if let Some(member) = evaluation.member(resource, position) {
            return read_member(member, of.ty().map(Arc::as_ref), reference, 0);
        }
        if !matches!(evaluation.resources[resource as usize], Members::Open) {
            return Err(EvaluationStop::Reported);
        }
        // The resource is not settled yet, but literal fields of the document are known.
        let result = match (first.as_deref(), accessor(1)) {
            (Some("spec"), Some(field)) => match &declared.spec.kind {
                blueprint::ExprKind::Map(entries) => {
                    match entries.iter().find(|(key, _)| key.item == field) {
                        Some((_, expr)) => {
                            evaluation.evaluate_early(&of, position, expr, &mut self.found)
                        }
                        None => Ok(of
                            .ty()
                            .and_then(|ty| {
                                ty.schema
                                    .fields
                                    .get(&field)
                                    .and_then(|field| field.default.clone())
                            })
                            .unwrap_or(Value::Null)),
                    }
                }
                _ => Err(Halt::Failed),
            },
            (Some("metadata"), _) => {
                let owner = of.address().to_string();
                let metadata = evaluation.metadata(
                    ExpressionSite::of(of.unit, &owner),
                    declared,
                    &mut self.found,
                );
                return match metadata {
                    Ok(value) => Ok(ResolvedHead { value, used: 1 }),
                    Err(need) => {
                        self.document.need = Some(need);
                        Err(EvaluationStop::Reported)
                    }
                };
            }
            _ => Err(Halt::Failed),
        };
        match result {
            Ok(value) => Ok(ResolvedHead { value, used: 2 }),
            Err(Halt::Need(need)) => {
                self.document.need = Some(need);
                Err(EvaluationStop::Reported)
            }
            Err(Halt::Absent(_)) => Ok(ResolvedHead {
                value: Value::Null,
                used: reference.path.len(),
            }),
            Err(Halt::Failed) => Err(EvaluationStop::Reported),
        }
    }

    fn scoped(&mut self, head: &str, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let member = match reference.path.first().map(|accessor| &accessor.kind) {
            Some(AccessorKind::Name(name)) => name.clone(),
            _ => return Err(EvaluationStop::Reported),
        };
        match head {
            "a" => self.end(Side::A, reference),
            "b" => self.end(Side::B, reference),
            "note" => {
                match self
                    .document
                    .evaluation
                    .annotation_value(self.at, &member, &mut self.found)
                {
                    Ok(value) => Ok(ResolvedHead { value, used: 1 }),
                    Err(Halt::Need(need)) => {
                        self.document.need = Some(need);
                        Err(EvaluationStop::Reported)
                    }
                    Err(_) => Err(EvaluationStop::Reported),
                }
            }
            "part" => {
                let Some(at) = self.pair.kind.parts.get_index_of(&member) else {
                    return Err(EvaluationStop::Reported);
                };
                let ty = self.pair.part_types.get(at).cloned().flatten();
                let part = self
                    .document
                    .evaluation
                    .link(self.at)
                    .and_then(|link| link.parts.get(at));
                match part {
                    Some(Some(part)) => read_member(part, ty.as_deref(), reference, 1),
                    _ => Ok(ResolvedHead {
                        value: Value::Null,
                        used: reference.path.len(),
                    }),
                }
            }
            "use" => {
                let at = self.pair.kind.uses.get_index_of(&member);
                let used = at.and_then(|at| self.pair.uses.get(at)).copied().flatten();
                let Some(used) = used else {
                    return Err(EvaluationStop::Reported);
                };
                let evaluation = &*self.document.evaluation;
                let of = evaluation.declared(used.resource);
                let ty = of.as_ref().and_then(Declared::ty).map(Arc::as_ref);
                match evaluation.member(used.resource, used.position) {
                    Some(member) => read_member(member, ty, reference, 1),
                    None => Err(EvaluationStop::Reported),
                }
            }
            _ => Err(EvaluationStop::Reported),
        }
    }
}

impl Scope for LinkFrame<'_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let ReferenceHead::Scoped(head) = &reference.head else {
            return Err(EvaluationStop::Reported);
        };
        match self.scoped(head, reference) {
            Err(EvaluationStop::Absent(_)) => Ok(ResolvedHead {
                value: Value::Null,
                used: reference.path.len(),
            }),
            other => other,
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        self.document.answer(ask)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Err(EvaluationStop::Reported)
    }
}
