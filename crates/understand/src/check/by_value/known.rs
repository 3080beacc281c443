//! Evaluates expressions before deployment. Values that depend on the world or on missing inputs
//! are Unknown.

use std::cell::Cell;

use std::sync::Arc;

use blueprint::{
    AccessorKind, Blueprint, Expr, ExprKind, IndexMap, Name, Ref, ReferenceHead, Type, Value,
};
use diag::Diagnostics;
use dialect::rules::MessageRules;
use dialect::{ExpressionPart, ExpressionPlace};
use expr::{
    Ask, AskFailure, EvaluationStop, FunctionDef, FunctionTable, ResolvedHead, Returns, Scope,
};
use provider::ResourceType;

use crate::graph::{Graph, GraphNode};

/// The values of a document that are known before deployment.
pub(crate) struct KnownValues<'k> {
    /// The inputs by position; `None` if they are not known.
    inputs: Option<&'k [Value]>,
    blueprint: &'k Blueprint,
    /// Named intermediate values by position.
    locals: Vec<Value>,
    functions: &'k FunctionTable,
    messages: &'static dyn MessageRules,
    /// The types of values that are not known; `None` if the dialect does not check them.
    types: Option<KnownTypes>,
    /// The memory that values have used so far.
    meter: Cell<expr::Meter>,
}

/// The types of values that only a deployment gives.
pub(crate) struct KnownTypes {
    /// The types of the resources by position.
    resources: Vec<Option<Arc<ResourceType>>>,
    /// The functions of packages, each with one type as its result.
    functions: IndexMap<Name, Arc<FunctionDef>>,
}

impl KnownTypes {
    /// The types of the resources of a document, and of the functions that it calls.
    pub(crate) fn new(
        resources: Vec<Option<Arc<ResourceType>>>,
        functions: &IndexMap<Name, Arc<FunctionDef>>,
    ) -> KnownTypes {
        let typed = |(name, function): (&Name, &Arc<FunctionDef>)| {
            let typed = FunctionDef {
                returns: Returns::Type(function.returns.ty()),
                ..FunctionDef::clone(function)
            };
            let typed = Arc::new(typed);
            // The program may write a shorter name.
            [(name.clone(), typed.clone()), (typed.name.clone(), typed)]
        };
        KnownTypes {
            resources,
            functions: functions.iter().flat_map(typed).collect(),
        }
    }

    /// The type of the value that a reference reads from a resource.
    fn of(&self, blueprint: &Blueprint, reference: &Ref) -> Option<Type> {
        let name = match &reference.head {
            ReferenceHead::Resource { name, .. } => name,
            ReferenceHead::Scoped(_) => return Some(Type::Text),
            _ => return None,
        };
        let at = blueprint.resources.get_index_of(name)?;
        let Some(accessor) = reference.path.get(1) else {
            return Some(Type::Text);
        };
        let ty = self.resources.get(at)?.as_ref()?;
        let AccessorKind::Name(output) = &accessor.kind else {
            return None;
        };
        Some(ty.schema.fields.get(output)?.ty())
    }
}

/// An unknown value of a type, if the type is known.
fn unknown_of(ty: Option<Type>) -> Value {
    Value::unknown(ty.filter(|ty| *ty != Type::Any), None)
}

impl<'k> KnownValues<'k> {
    /// Evaluates the intermediate values of a document in the order of `graph`. Their errors go to
    /// `found`.
    pub(crate) fn new(
        blueprint: &'k Blueprint,
        inputs: Option<&'k [Value]>,
        functions: &'k FunctionTable,
        messages: &'static dyn MessageRules,
        types: Option<KnownTypes>,
        graph: &Graph,
        found: &mut Diagnostics,
    ) -> KnownValues<'k> {
        let locals = vec![Value::unknown(None, None); blueprint.locals.len()];
        // Evaluation at stage applies the configured limits. Here a value that is too large is only
        // Unknown.
        let meter = Cell::new(expr::Meter::new(Some(expr::MAX_VALUE_BYTES), None));
        let mut known = KnownValues {
            inputs,
            blueprint,
            locals,
            functions,
            messages,
            types,
            meter,
        };
        for node in graph.order() {
            let GraphNode::Local(at) = node else { continue };
            let Some((name, local)) = blueprint.locals.get_index(at as usize) else {
                continue;
            };
            if let Some(value) = known.value_at(
                ExpressionPlace::new(ExpressionPart::Local, name, &local.value),
                found,
            ) {
                known.locals[at as usize] = value;
            }
        }
        known
    }

    /// Whether a condition is known to be false.
    pub(crate) fn is_false(&self, condition: &Expr) -> bool {
        matches!(
            self.value(condition, &mut Diagnostics::new()),
            Some(Value::Bool(false) | Value::Null)
        )
    }

    /// Evaluates the parts of an expression separately. Parts with an error, which is already
    /// reported, are Unknown.
    pub(crate) fn parts(&self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::List(items) => Value::list(items.iter().map(|item| self.parts(item))),
            ExprKind::Map(entries) => Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.item.clone(), self.parts(value)))
                    .collect::<Vec<_>>(),
            ),
            _ => self
                .value(expr, &mut Diagnostics::new())
                .unwrap_or_else(|| Value::unknown(None, None)),
        }
    }

    /// Like [`Self::value`]. The dialect completes the diagnostics about the expression.
    pub(crate) fn value_at(
        &self,
        place: ExpressionPlace<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let mut mine = Diagnostics::new();
        let value = self.value(place.expr, &mut mine);
        mine.iter_mut()
            .for_each(|one| self.messages.complete_at(one, &place));
        found.append(mine);
        value
    }

    /// The value of an expression. `None` after an error, which goes to `found`, or if the
    /// expression needs an answer of the world.
    pub(crate) fn value(&self, expr: &Expr, found: &mut Diagnostics) -> Option<Value> {
        let mut frame = KnownFrame {
            known: self,
            meter: self.meter.get(),
        };
        let mut mine = Diagnostics::new();
        let outcome = expr::evaluate(
            expr,
            self.functions.of(self.blueprint.dialect),
            &mut frame,
            &mut mine,
        );
        found.append(mine);
        self.meter.set(frame.meter);
        match outcome {
            Ok(value) => Some(value),
            Err(EvaluationStop::Failed(diagnostic)) => {
                found.push(*diagnostic);
                None
            }
            Err(_) => None,
        }
    }
}

struct KnownFrame<'f, 'k> {
    known: &'f KnownValues<'k>,
    meter: expr::Meter,
}

impl Scope for KnownFrame<'_, '_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let blueprint = self.known.blueprint;
        let value = match &reference.head {
            ReferenceHead::Input(name) => {
                let at = blueprint.inputs.get_index_of(name);
                at.and_then(|at| self.known.inputs?.get(at).cloned())
            }
            ReferenceHead::Local(name) => blueprint
                .locals
                .get_index_of(name)
                .map(|at| self.known.locals[at].clone()),
            _ => None,
        };
        match value {
            Some(value) => Ok(ResolvedHead { value, used: 0 }),
            None => {
                let types = self.known.types.as_ref();
                let ty = types.and_then(|types| types.of(blueprint, reference));
                Ok(ResolvedHead {
                    value: unknown_of(ty),
                    used: reference.path.len(),
                })
            }
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        let ty = match ask {
            Ask::Provider { function, .. } => self
                .package_function(function)
                .map(|function| function.returns.ty()),
            _ => None,
        };
        Some(Ok(unknown_of(ty)))
    }

    fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        self.known.types.as_ref()?.functions.get(name).cloned()
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.meter)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::unknown(None, None))
    }
}
