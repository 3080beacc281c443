//! Evaluates expressions before the deployment, because the location of an include must be known
//! then.
//!
//! The known values are variables, values computed from them, inputs of included documents, exports
//! of documents that have been read, literal fields of resources, and data sources with known
//! filters. Everything else is Unknown.
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

/// The exports of data sources, by place and position; `None` for a data source with an error.
pub(super) type DataSourceExports = HashMap<(u32, u32), Option<Value>, foldhash::fast::FixedState>;

/// The result of an expression.
pub(super) enum IncludeValue {
    /// A value; parts of it may be Unknown.
    Value(Value),
    /// The expression reads a document that has not been read yet.
    NotYetRead,
    /// These questions must be answered first.
    Asks(Vec<Ask>),
    /// These data sources must be read first: the place and the position.
    Searches(Vec<(u32, u32)>),
    /// The expression has no value. The diagnostic is `None` if the error is already reported.
    Failed(Option<Box<Diagnostic>>),
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
    /// The exports of the data sources read so far, by place and position. `None` if no data
    /// sources are read.
    pub data_sources: Option<&'a DataSourceExports>,
    /// The world's answers so far: the place, the question and the answer.
    pub answers: &'a [(u32, Ask, Result<Value, AskFailure>)],
    /// The providers' catalogues.
    pub catalogs: &'a Catalogs,
    /// The memory that values have used so far.
    pub(super) meter: &'a Cell<expr::Meter>,
    /// Cache of fields, by place, resource and field, and of exports, by place, `usize::MAX` and
    /// export.
    pub parts: RefCell<HashMap<(u32, usize, usize), Value, foldhash::fast::FixedState>>,
    /// Cache of values, by place and position.
    pub values: RefCell<HashMap<(u32, usize), Value, foldhash::fast::FixedState>>,
    /// Values under evaluation, to detect cycles.
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
            knowledge: self,
            place,
            depth: 0,
            reads_unread_child: false,
            searches: Vec::new(),
            meter: self.meter.get(),
        };
        let functions = self.functions.of(self.dialect(place));
        let outcome = expr::evaluate(expr, functions, &mut frame, &mut Diagnostics::new());
        let later = frame.reads_unread_child;
        let searches = frame.searches;
        self.meter.set(frame.meter);
        match outcome {
            Ok(value) => IncludeValue::Value(value),
            Err(_) if !searches.is_empty() => IncludeValue::Searches(searches),
            Err(_) if later => IncludeValue::NotYetRead,
            Err(EvaluationStop::Ask(asks)) => IncludeValue::Asks(asks),
            Err(EvaluationStop::Failed(diagnostic) | EvaluationStop::Absent(diagnostic)) => {
                IncludeValue::Failed(Some(diagnostic))
            }
            Err(EvaluationStop::Reported) => IncludeValue::Failed(None),
        }
    }
}

/// The document in one place, during the evaluation of one of its expressions.
struct IncludeFrame<'k> {
    knowledge: &'k IncludeContext<'k>,
    place: u32,
    depth: u32,
    reads_unread_child: bool,
    /// Data sources that must be read first.
    searches: Vec<(u32, u32)>,
    meter: expr::Meter,
}

impl<'k> IncludeFrame<'k> {
    /// Evaluates an expression in this or another place.
    fn evaluate_in(&mut self, place: u32, expr: &Expr) -> Result<Value, EvaluationStop> {
        if self.depth >= MOST_DEPTH {
            return Ok(Value::unknown(None, None));
        }
        let mut frame = IncludeFrame {
            knowledge: self.knowledge,
            place,
            depth: self.depth + 1,
            reads_unread_child: false,
            searches: Vec::new(),
            meter: self.meter,
        };
        let functions = self.knowledge.functions.of(self.knowledge.dialect(place));
        let outcome = expr::evaluate(expr, functions, &mut frame, &mut Diagnostics::new());
        self.reads_unread_child |= frame.reads_unread_child;
        self.searches.append(&mut frame.searches);
        self.meter = frame.meter;
        outcome
    }

    /// Evaluates a part of a document once. Without the cache, a chain of parts of which each reads
    /// the next one twice takes exponential time.
    fn part(
        &mut self,
        place: u32,
        at: (usize, usize),
        expr: &Expr,
    ) -> Result<Value, EvaluationStop> {
        let key = (place, at.0, at.1);
        if let Some(value) = self.knowledge.parts.borrow().get(&key) {
            return Ok(value.clone());
        }
        let value = self.evaluate_in(place, expr)?;
        self.knowledge.parts.borrow_mut().insert(key, value.clone());
        Ok(value)
    }

    fn input(&mut self, name: &Name) -> Result<Value, EvaluationStop> {
        let knowledge = self.knowledge;
        let place = &knowledge.places[self.place as usize];
        let blueprint = &knowledge.texts[place.text as usize].blueprint;
        let (at, _, input) = blueprint
            .inputs
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        let Some((above, include)) = place.parent else {
            return Ok(knowledge
                .inputs
                .get(at)
                .cloned()
                .unwrap_or_else(|| Value::unknown(None, None)));
        };
        if let Some(value) = knowledge.passed.borrow().get(&(self.place, at)) {
            return Ok(value.clone());
        }
        let parent = &knowledge.texts[knowledge.places[above as usize].text as usize].blueprint;
        let written = parent
            .children
            .get_index(include as usize)
            .and_then(|(_, child)| child.inputs.iter().find(|(given, _)| given.item == *name));
        let place = written.map_or(input.span, |(_, expr)| expr.span);
        let given = written
            .map(|(_, expr)| self.evaluate_in(above, expr))
            .transpose()?;
        let native = |given: Option<&Value>, found: &mut Diagnostics| {
            let given = match (given, written) {
                (Some(value), Some((_, expr))) => {
                    exported(value.clone(), &input.ty, expr, found).ok()?
                }
                _ => Value::Null,
            };
            let default = || {
                input
                    .default
                    .as_ref()
                    .map_or_else(|| Value::unknown(None, None), |it| it.item.clone())
            };
            Some(if given.is_null() { default() } else { given }.tainted(input.secret))
        };
        // Errors of the input are reported where it is passed.
        let rules = knowledge.dialects.rules(blueprint.dialect);
        let value = rules.inputs.passed(
            name,
            input,
            given.as_ref(),
            place,
            &native,
            &mut Diagnostics::new(),
        );
        let value = value.ok_or(EvaluationStop::Reported)?;
        knowledge
            .passed
            .borrow_mut()
            .insert((self.place, at), value.clone());
        Ok(value)
    }

    fn local(&mut self, name: &Name) -> Result<Value, EvaluationStop> {
        let knowledge = self.knowledge;
        let blueprint =
            &knowledge.texts[knowledge.places[self.place as usize].text as usize].blueprint;
        let (at, _, local) = blueprint
            .locals
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        if let Some(value) = knowledge.values.borrow().get(&(self.place, at)) {
            return Ok(value.clone());
        }
        let this = (self.place, at);
        if knowledge.under_evaluation.borrow().contains(&this) {
            let circle = dialect::codes::CYCLE.new(format!("`{name}` needs itself"));
            return Err(EvaluationStop::Failed(Box::new(
                circle.label(local.span, "its value depends on itself"),
            )));
        }
        knowledge.under_evaluation.borrow_mut().push(this);
        let value = self.evaluate_in(self.place, &local.value);
        knowledge.under_evaluation.borrow_mut().pop();
        let value = value?;
        let value = declared(value, &local.ty, &local.value, &mut Diagnostics::new())
            .map_err(|_| EvaluationStop::Reported)?;
        let value = value.tainted(local.secret);
        knowledge
            .values
            .borrow_mut()
            .insert((self.place, at), value.clone());
        Ok(value)
    }

    /// A field that the document sets, of a resource that is certain to exist.
    fn written(&mut self, name: &Name, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let unknown = Ok(ResolvedHead {
            value: Value::unknown(None, None),
            used: reference.path.len(),
        });
        let knowledge = self.knowledge;
        let blueprint =
            &knowledge.texts[knowledge.places[self.place as usize].text as usize].blueprint;
        let (at, _, resource) = blueprint
            .resources
            .get_full(name)
            .ok_or(EvaluationStop::Reported)?;
        let mut names = reference.path.iter().map(|accessor| match &accessor.kind {
            AccessorKind::Name(name) => Some(name.as_ref()),
            AccessorKind::Index(_) => None,
        });
        let (Some(Some(part)), Some(Some(field))) = (names.next(), names.next()) else {
            return unknown;
        };
        let ty = match knowledge.catalogs.resource_type(&resource.type_name.item) {
            TypeRef::Known(ty) => Some(ty),
            _ => None,
        };
        let field = match (part, &ty) {
            ("spec", _) => field,
            // An attribute that equals a field.
            ("attributes", Some(ty)) => match ty.attribute(field) {
                Some(Attribute::Field(field)) if resource.lifecycle.external.is_none() => field,
                Some(Attribute::Nothing) if ty.schema.open => {
                    return Ok(ResolvedHead {
                        value: Value::Null,
                        used: 2,
                    });
                }
                _ => return unknown,
            },
            _ => return unknown,
        };
        let declared = ty.as_ref().and_then(|ty| ty.schema.fields.get(field));
        let ExprKind::Map(entries) = &resource.spec.kind else {
            return unknown;
        };
        let entry = entries
            .iter()
            .enumerate()
            .find(|(_, (key, _))| key.item.as_ref() == field);
        let Some((number, (_, expr))) =
            entry.filter(|_| resource.each.is_none() && resource.external.is_none())
        else {
            return unknown;
        };
        if let Some(condition) = &resource.condition
            && self.evaluate_in(self.place, condition)?.unmarked() != &Value::Bool(true)
        {
            return unknown;
        }
        let value = self.part(self.place, (at, number), expr)?;
        let is_secret = declared.is_some_and(|field| field.sensitive);
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
        let knowledge = self.knowledge;
        let unknown = Ok(ResolvedHead {
            value: Value::unknown(None, None),
            used: reference.path.len(),
        });
        let Some(known) = knowledge.data_sources else {
            return unknown;
        };
        let blueprint =
            &knowledge.texts[knowledge.places[self.place as usize].text as usize].blueprint;
        let at = blueprint
            .data_sources
            .get_index_of(name)
            .ok_or(EvaluationStop::Reported)? as u32;
        let fields = match known.get(&(self.place, at)) {
            None => {
                self.searches.push((self.place, at));
                return Err(EvaluationStop::Reported);
            }
            Some(None) => return Err(EvaluationStop::Reported),
            Some(Some(fields)) if fields.is_unknown() => return unknown,
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
        let knowledge = self.knowledge;
        let place = &knowledge.places[self.place as usize];
        let blueprint = &knowledge.texts[place.text as usize].blueprint;
        let at = blueprint
            .children
            .get_index_of(name)
            .ok_or(EvaluationStop::Reported)?;
        let Some(child) = place.children[at] else {
            self.reads_unread_child = true;
            return Err(EvaluationStop::Reported);
        };
        let Some(AccessorKind::Name(export)) =
            reference.path.first().map(|accessor| &accessor.kind)
        else {
            return Err(EvaluationStop::Reported);
        };
        let exports = &knowledge.texts[knowledge.places[child as usize].text as usize]
            .blueprint
            .exports;
        let (at, _, export) = exports.get_full(export).ok_or(EvaluationStop::Reported)?;
        let value = self.part(child, (usize::MAX, at), &export.field)?;
        let value = exported(value, &export.ty, &export.field, &mut Diagnostics::new())
            .map_err(|_| EvaluationStop::Reported)?;
        Ok(ResolvedHead { value, used: 1 })
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
            ReferenceHead::Resource { name, .. } => self.written(name, reference),
            ReferenceHead::DataSource(name) => self.data_source(name, reference),
            // Facts about the instance are not known yet.
            ReferenceHead::Scoped(_) => Ok(ResolvedHead {
                value: Value::unknown(None, None),
                used: reference.path.len(),
            }),
            ReferenceHead::Item | ReferenceHead::Position => Err(EvaluationStop::Reported),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        if *ask == Ask::WorkingDirectory {
            return Some(match self.knowledge.working_directory {
                Some(folder) => Ok(Value::Text(folder.clone())),
                None => Err(AskFailure {
                    code: &expr::codes::NO_WORKING_DIRECTORY,
                    message: "there is no working directory to take".into(),
                    notes: Vec::new(),
                }),
            });
        }
        let known = self
            .knowledge
            .answers
            .iter()
            .find(|(place, asked, _)| *place == self.place && asked == ask);
        known.map(|(.., answer)| answer.clone())
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.meter)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::unknown(None, None))
    }
}
