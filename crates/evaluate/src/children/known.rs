//! Evaluates expressions before the deployment, because the location of an include must be known
//! then.
//!
//! The known values are variables, values computed from them, inputs of included documents, exports
//! of documents that have been read, literal fields of resources, and data sources with known
//! filters. Everything else is Unknown.
//!
//! A *place* is one inclusion of a document (`places`): the same document can have different inputs
//! in another place.
//!
//! Not here: asking the world (`mod.rs`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use blueprint::{AccessorKind, Expr, ExprKind, Name, Ref, ReferenceHead, Value};
use diag::{Diagnostic, Diagnostics};
use dialect::Dialects;
use expr::{Ask, AskFailure, EvaluationStop, FunctionTable, ResolvedHead, Scope};
use provider::{Attribute, Catalogs, TypeRef};

use super::places::{IncludePlace, Text};
use understand::check::value::{declared, exported};

/// The maximum depth of a chain of values and inputs.
const MOST_DEPTH: u32 = 128;

/// A data source: the number of its place, and its position among the data sources there.
pub(super) type DataSourceAt = (u32, u32);

/// The exports of data sources; `None` for a data source with an error.
pub(super) type DataSourceExports =
    HashMap<DataSourceAt, Option<Value>, foldhash::fast::FixedState>;

/// The result of an expression.
pub(super) enum IncludeValue {
    /// A value; parts of it may be Unknown.
    Value(Value),
    /// The expression reads a document that has not been read yet.
    NotYetRead,
    /// These questions must be answered first.
    Asks(Vec<Ask>),
    /// These data sources must be read first.
    Searches(Vec<DataSourceAt>),
    /// The expression has no value. The diagnostic is `None` if the error is already reported.
    Failed(Option<Box<Diagnostic>>),
}

/// A field of a resource, or an export, in one place. Resources, fields and exports are positions in
/// the document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PartKey {
    Field {
        place: u32,
        resource: usize,
        field: usize,
    },
    Export {
        place: u32,
        export: usize,
    },
}

/// The data that expressions are evaluated with.
pub(super) struct IncludeContext<'a> {
    pub texts: &'a [Text],
    pub places: &'a [IncludePlace],
    /// Inputs of the root by position; Unknown if not given yet.
    pub inputs: &'a [Value],
    pub functions: &'a FunctionTable,
    pub dialects: &'a Dialects,
    pub working_directory: Option<&'a Name>,
    /// The exports of the data sources read so far. `None` if inputs are missing: then no data
    /// sources are read, and their exports are Unknown.
    pub data_sources: Option<&'a DataSourceExports>,
    /// The world's answers so far: the place, the question and the answer.
    pub answers: &'a [(u32, Ask, Result<Value, AskFailure>)],
    /// The providers' catalogues.
    pub catalogs: &'a Catalogs,
    /// The memory that values have used so far.
    pub(super) meter: &'a Cell<expr::Meter>,
    /// Cache of fields and exports.
    pub parts: RefCell<HashMap<PartKey, Value, foldhash::fast::FixedState>>,
    /// Cache of locals, by place and position.
    pub locals: RefCell<HashMap<(u32, usize), Value, foldhash::fast::FixedState>>,
    /// Locals under evaluation, by place and position, to detect cycles.
    pub under_evaluation: RefCell<Vec<(u32, usize)>>,
    /// Cache of inputs of places, by place and position.
    pub passed: RefCell<HashMap<(u32, usize), Value, foldhash::fast::FixedState>>,
}

impl IncludeContext<'_> {
    fn dialect(&self, place: u32) -> &'static str {
        self.texts[self.places[place as usize].text as usize]
            .blueprint
            .dialect
    }

    /// Evaluates an expression of the document in a place.
    pub(super) fn evaluate(&self, place: u32, expr: &Expr) -> IncludeValue {
        let mut frame = IncludeFrame {
            context: self,
            place,
            depth: 0,
            reads_unread_child: false,
            searches: Vec::new(),
            meter: self.meter.get(),
        };
        let functions = self.functions.of(self.dialect(place));
        // Warnings are discarded: the evaluation of the whole document reports them.
        let outcome = expr::evaluate(expr, functions, &mut frame, &mut Diagnostics::new());
        let reads_unread_child = frame.reads_unread_child;
        let searches = frame.searches;
        self.meter.set(frame.meter);
        // A read of something that is not there yet ends the evaluation with an error that is not
        // reported. So what is missing is tested before the error.
        match outcome {
            Ok(value) => IncludeValue::Value(value),
            Err(_) if !searches.is_empty() => IncludeValue::Searches(searches),
            Err(_) if reads_unread_child => IncludeValue::NotYetRead,
            Err(EvaluationStop::Ask(asks)) => IncludeValue::Asks(asks),
            Err(EvaluationStop::Failed(diagnostic) | EvaluationStop::Absent(diagnostic)) => {
                IncludeValue::Failed(Some(diagnostic))
            }
            Err(EvaluationStop::Reported) => IncludeValue::Failed(None),
        }
    }
}

/// The document in one place, during the evaluation of one of its expressions.
struct IncludeFrame<'c> {
    context: &'c IncludeContext<'c>,
    place: u32,
    depth: u32,
    reads_unread_child: bool,
    /// Data sources that must be read first.
    searches: Vec<DataSourceAt>,
    meter: expr::Meter,
}

impl<'c> IncludeFrame<'c> {
    /// Evaluates an expression in this or another place.
    fn evaluate_in(&mut self, place: u32, expr: &Expr) -> Result<Value, EvaluationStop> {
        // A deeper value counts as not known before the deployment. The include that needs it is
        // reported.
        if self.depth >= MOST_DEPTH {
            return Ok(Value::unknown(None, None));
        }
        let mut frame = IncludeFrame {
            context: self.context,
            place,
            depth: self.depth + 1,
            reads_unread_child: false,
            searches: Vec::new(),
            meter: self.meter,
        };
        let functions = self.context.functions.of(self.context.dialect(place));
        let outcome = expr::evaluate(expr, functions, &mut frame, &mut Diagnostics::new());
        self.reads_unread_child |= frame.reads_unread_child;
        self.searches.append(&mut frame.searches);
        self.meter = frame.meter;
        outcome
    }

    /// Evaluates a field or an export once. In a chain of exports, each can read the next one twice:
    /// without the cache that takes exponential time.
    fn part(&mut self, key: PartKey, expr: &Expr) -> Result<Value, EvaluationStop> {
        let (PartKey::Field { place, .. } | PartKey::Export { place, .. }) = key;
        if let Some(value) = self.context.parts.borrow().get(&key) {
            return Ok(value.clone());
        }
        let value = self.evaluate_in(place, expr)?;
        self.context.parts.borrow_mut().insert(key, value.clone());
        Ok(value)
    }

    fn input(&mut self, name: &Name) -> Result<Value, EvaluationStop> {
        let context = self.context;
        let place = &context.places[self.place as usize];
        let blueprint = &context.texts[place.text as usize].blueprint;
        let (at, _, input) = blueprint
            .inputs
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        let Some((parent_place, include)) = place.parent else {
            return Ok(context
                .inputs
                .get(at)
                .cloned()
                .unwrap_or_else(|| Value::unknown(None, None)));
        };
        if let Some(value) = context.passed.borrow().get(&(self.place, at)) {
            return Ok(value.clone());
        }
        let parent_text = context.places[parent_place as usize].text;
        let parent = &context.texts[parent_text as usize].blueprint;
        let argument = parent
            .children
            .get_index(include as usize)
            .and_then(|(_, child)| child.inputs.iter().find(|(passed, _)| passed.item == *name))
            .map(|(_, expr)| expr);
        let span = argument.map_or(input.span, |expr| expr.span);
        let passed = argument
            .map(|expr| self.evaluate_in(parent_place, expr))
            .transpose()?;
        let native_value = |passed: Option<&Value>, found: &mut Diagnostics| {
            let converted = match (passed, argument) {
                (Some(value), Some(expr)) => {
                    exported(value.clone(), &input.ty, expr, found).ok()?
                }
                _ => Value::Null,
            };
            let value = if !converted.is_null() {
                converted
            } else if let Some(default) = &input.default {
                default.item.clone()
            } else {
                // The check of the include reports an input that is missing.
                Value::unknown(None, None)
            };
            Some(value.tainted(input.secret))
        };
        // Errors of the input are reported where it is passed.
        let rules = context.dialects.rules(blueprint.dialect);
        let value = rules.inputs.passed(
            name,
            input,
            passed.as_ref(),
            span,
            &native_value,
            &mut Diagnostics::new(),
        );
        let value = value.ok_or(EvaluationStop::Reported)?;
        context
            .passed
            .borrow_mut()
            .insert((self.place, at), value.clone());
        Ok(value)
    }

    fn local(&mut self, name: &Name) -> Result<Value, EvaluationStop> {
        let context = self.context;
        let blueprint = &context.texts[context.places[self.place as usize].text as usize].blueprint;
        let (at, _, local) = blueprint
            .locals
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        if let Some(value) = context.locals.borrow().get(&(self.place, at)) {
            return Ok(value.clone());
        }
        let this = (self.place, at);
        if context.under_evaluation.borrow().contains(&this) {
            let cycle = dialect::codes::CYCLE.new(format!("`{name}` needs itself"));
            return Err(EvaluationStop::Failed(Box::new(
                cycle.label(local.span, "its value depends on itself"),
            )));
        }
        context.under_evaluation.borrow_mut().push(this);
        let value = self.evaluate_in(self.place, &local.value);
        context.under_evaluation.borrow_mut().pop();
        let value = value?;
        let value = declared(value, &local.ty, &local.value, &mut Diagnostics::new())
            .map_err(|_| EvaluationStop::Reported)?;
        let value = value.tainted(local.secret);
        context
            .locals
            .borrow_mut()
            .insert((self.place, at), value.clone());
        Ok(value)
    }

    /// A field that the document sets, of a resource that is certain to exist.
    fn resource_field(
        &mut self,
        name: &Name,
        reference: &Ref,
    ) -> Result<ResolvedHead, EvaluationStop> {
        let context = self.context;
        let blueprint = &context.texts[context.places[self.place as usize].text as usize].blueprint;
        let (at, _, resource) = blueprint
            .resources
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        let [part, field, ..] = reference.path.as_slice() else {
            return Ok(unknown_value(reference));
        };
        let (AccessorKind::Name(part), AccessorKind::Name(field)) = (&part.kind, &field.kind)
        else {
            return Ok(unknown_value(reference));
        };
        let ty = match context.catalogs.resource_type(&resource.type_name.item) {
            TypeRef::Known(ty) => Some(ty),
            _ => None,
        };
        let field = match (part.as_ref(), &ty) {
            ("spec", _) => field.as_ref(),
            ("attributes", Some(ty)) => match ty.attribute(field) {
                // The attribute equals a field. Those of an external resource are only in the
                // object, which is read later.
                Some(Attribute::Field(field)) if resource.lifecycle.external.is_none() => field,
                // The attribute is null before and after the deployment.
                Some(Attribute::Nothing) if ty.schema.open => {
                    return Ok(ResolvedHead {
                        value: Value::Null,
                        used: 2,
                    });
                }
                _ => return Ok(unknown_value(reference)),
            },
            _ => return Ok(unknown_value(reference)),
        };
        // A template has several members. A resource with a computed id may be an external one.
        if resource.each.is_some() || resource.external.is_some() {
            return Ok(unknown_value(reference));
        }
        let ExprKind::Map(entries) = &resource.spec.kind else {
            return Ok(unknown_value(reference));
        };
        let entry = entries
            .iter()
            .enumerate()
            .find(|(_, (key, _))| key.item.as_ref() == field);
        let Some((number, (_, expr))) = entry else {
            return Ok(unknown_value(reference));
        };
        if let Some(condition) = &resource.condition
            && self.evaluate_in(self.place, condition)?.unmarked() != &Value::Bool(true)
        {
            return Ok(unknown_value(reference));
        }
        let key = PartKey::Field {
            place: self.place,
            resource: at,
            field: number,
        };
        let value = self.part(key, expr)?;
        let schema = ty.as_ref().and_then(|ty| ty.schema.fields.get(field));
        let is_secret = schema.is_some_and(|schema| schema.sensitive);
        Ok(ResolvedHead {
            value: value.tainted(is_secret),
            used: 2,
        })
    }

    /// The exports of a data source: a flat map by exported name, dots included
    /// (decisions/blueprint#dotted-export-names).
    fn data_source(
        &mut self,
        name: &Name,
        reference: &Ref,
    ) -> Result<ResolvedHead, EvaluationStop> {
        let context = self.context;
        let Some(known) = context.data_sources else {
            return Ok(unknown_value(reference));
        };
        let blueprint = &context.texts[context.places[self.place as usize].text as usize].blueprint;
        let at = blueprint
            .data_sources
            .get_index_of(name)
            .ok_or(EvaluationStop::Reported)? as u32;
        let fields = match known.get(&(self.place, at)) {
            None => {
                // Only stops the evaluation: `IncludeContext::evaluate` returns the search, no error.
                self.searches.push((self.place, at));
                return Err(EvaluationStop::Reported);
            }
            Some(None) => return Err(EvaluationStop::Reported),
            Some(Some(fields)) if fields.is_unknown() => return Ok(unknown_value(reference)),
            Some(Some(fields)) => fields,
        };
        let Some(accessor) = reference.path.first() else {
            return Err(EvaluationStop::Reported);
        };
        let AccessorKind::Name(export) = &accessor.kind else {
            return Err(EvaluationStop::Reported);
        };
        match fields.get(export) {
            Some(value) => Ok(ResolvedHead {
                value: value.clone(),
                used: 1,
            }),
            None => Err(EvaluationStop::Absent(Box::new(
                expr::codes::ABSENT_ELEMENT
                    .new(format!("the data source has no value for `{export}`"))
                    .label(accessor.span, "it was found without this field"),
            ))),
        }
    }

    fn export(&mut self, name: &Name, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let context = self.context;
        let place = &context.places[self.place as usize];
        let blueprint = &context.texts[place.text as usize].blueprint;
        let at = blueprint
            .children
            .get_index_of(name)
            .ok_or(EvaluationStop::Reported)?;
        let Some(child) = place.children[at] else {
            // Only stops the evaluation: `IncludeContext::evaluate` returns `NotYetRead`, no error.
            self.reads_unread_child = true;
            return Err(EvaluationStop::Reported);
        };
        let Some(AccessorKind::Name(export)) =
            reference.path.first().map(|accessor| &accessor.kind)
        else {
            return Err(EvaluationStop::Reported);
        };
        let exports = &context.texts[context.places[child as usize].text as usize]
            .blueprint
            .exports;
        let (at, _, export) = exports.get_full(export).ok_or(EvaluationStop::Reported)?;
        let key = PartKey::Export {
            place: child,
            export: at,
        };
        let value = self.part(key, &export.field)?;
        let value = exported(value, &export.ty, &export.field, &mut Diagnostics::new())
            .map_err(|_| EvaluationStop::Reported)?;
        Ok(ResolvedHead { value, used: 1 })
    }
}

/// An unknown value of a whole reference: no accessor is left to resolve.
fn unknown_value(reference: &Ref) -> ResolvedHead {
    ResolvedHead {
        value: Value::unknown(None, None),
        used: reference.path.len(),
    }
}

impl Scope for IncludeFrame<'_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        match &reference.head {
            ReferenceHead::Input(name) => self
                .input(name)
                .map(|value| ResolvedHead { value, used: 0 }),
            ReferenceHead::Local(name) => self
                .local(name)
                .map(|value| ResolvedHead { value, used: 0 }),
            ReferenceHead::Child(name) => self.export(name, reference),
            ReferenceHead::Resource { name, .. } => self.resource_field(name, reference),
            ReferenceHead::DataSource(name) => self.data_source(name, reference),
            // Facts about the instance are not known yet.
            ReferenceHead::Scoped(_) => Ok(unknown_value(reference)),
            // Includes and the values that they read are outside of templates: the check reports it.
            ReferenceHead::Item | ReferenceHead::Position => Err(EvaluationStop::Reported),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        if *ask == Ask::WorkingDirectory {
            return Some(match self.context.working_directory {
                Some(folder) => Ok(Value::Text(folder.clone())),
                None => Err(AskFailure {
                    code: &expr::codes::NO_WORKING_DIRECTORY,
                    message: "there is no working directory to take".into(),
                    notes: Vec::new(),
                }),
            });
        }
        let known = self
            .context
            .answers
            .iter()
            .find(|(place, asked, _)| *place == self.place && asked == ask);
        known.map(|(.., answer)| answer.clone())
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.meter)
    }

    fn link(&mut self, _a: &str, _b: &str) -> Result<Value, EvaluationStop> {
        // Links are evaluated after all documents have been read.
        Ok(Value::unknown(None, None))
    }
}
