//! Runs a case.

use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{Address, Expr, ExprKind, IndexMap, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Files};
use document_tests::{
    Assertion, CODES, ObservedAssertion, ObservedMistake, ObservedStep, StepAction, TestCase,
    TestStep, judge,
};
use state::{InstanceName, OperationOutcome};

use super::files::beside;
use super::rehearsal::{MistakeCollector, mistake};
use crate::config::Config;
use crate::document::Document;
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::inputs::{InputSource, InputVariables, Inputs};
use crate::installed::{Installed, Simulation};
use crate::named_file::NamedFile;
use crate::operate::OperateRequest;
use crate::phases::run::{Operated, Shell};
use crate::phases::{Action, Drift, Staged};
use crate::session::{Session, SessionOptions};
use crate::stage::{PlannedOperation, StageRequest, StagedDocument};

/// A case to run.
pub struct CaseRequest<'a> {
    /// Components for this case alone: its store and its simulation are in memory.
    pub installed: Arc<Installed>,
    /// The configuration of the document.
    pub config: Config,
    /// The options of the session.
    pub options: SessionOptions,
    /// The document.
    pub source: DocumentSource,
    /// The path of the test file.
    pub file: PathBuf,
    /// The case.
    pub case: &'a TestCase,
}

/// Runs a case. Returns the expectations that are not met.
///
/// # Errors
/// If the session cannot be opened, for example because of a catalogue.
pub async fn run_case(request: CaseRequest<'_>) -> Result<Vec<Diagnostic>, Error> {
    let CaseRequest {
        installed,
        config,
        options,
        source,
        file,
        case,
    } = request;
    let simulation = (installed.simulate.in_memory)();
    let answers = case.answers.iter();
    // The simulation knows addresses as they are written out.
    let answers = answers.flat_map(|answer| {
        let name = &answer.about.item;
        let names = [name.clone(), Name::from(format!("\"{name}\""))];
        names.map(|name| (name, answer.fields.clone()))
    });
    simulation.set_answers(answers.collect());
    let mut running = RunningCase {
        session: Session::for_case(installed, config, &options)?,
        simulation,
        source,
        file,
        case,
        instance: None,
        known: IndexMap::default(),
    };
    let failures = running.run().await;
    running.session.close().await;
    Ok(failures)
}

/// A case that runs.
struct RunningCase<'a> {
    session: Session,
    simulation: Arc<dyn Simulation>,
    source: DocumentSource,
    file: PathBuf,
    case: &'a TestCase,
    /// The instance, after the first plan.
    instance: Option<InstanceName>,
    /// The addresses and types that answers can be about, each as it is written out.
    known: IndexMap<Name, Name>,
}

impl RunningCase<'_> {
    async fn run(&mut self) -> Vec<Diagnostic> {
        let mut failures = Vec::new();
        let mut is_complete = true;
        for step in &self.case.steps {
            let mut found = self.change_outside(step);
            if found.is_empty() {
                let observed = self.step(step).await;
                let unexpected = step.refused.is_none() && !observed.mistakes.is_empty();
                is_complete &= observed.mistakes.is_empty();
                found = judge(step, &observed);
                failures.append(&mut found);
                if !unexpected {
                    continue;
                }
            }
            // The next steps build on this one.
            is_complete = false;
            failures.append(&mut found);
            break;
        }
        if is_complete {
            failures.extend(self.unknown_answers());
        }
        failures
    }

    /// Makes the changes from outside. Returns those that are not possible.
    fn change_outside(&self, step: &TestStep) -> Vec<Diagnostic> {
        let mut failures = Vec::new();
        for change in &step.outside {
            let address = &change.address;
            let changed = self.instance.as_ref().is_some_and(|instance| {
                let (name, fields) = (instance.name(), change.fields.as_ref());
                let written = self.known.get(&address.item).unwrap_or(&address.item);
                self.simulation.change_externally(name, written, fields)
            });
            if !changed {
                failures.push(
                    document_tests::codes::TEST_FAILED
                        .new(format!("there is no object of `{}`", address.item))
                        .label(address.span, "nothing to change from outside")
                        .help_nearest(&address.item, self.known.keys().map(|name| &**name)),
                );
            }
        }
        failures
    }

    /// Answers about what does not exist.
    fn unknown_answers(&self) -> Vec<Diagnostic> {
        let answers = self.case.answers.iter();
        let unknown = answers.filter(|answer| !self.known.contains_key(&answer.about.item));
        unknown
            .map(|answer| {
                let about = &answer.about;
                document_tests::codes::TEST_FAILED
                    .new(format!("there is no resource or type `{}`", about.item))
                    .label(about.span, "this answer is never given")
                    .help_nearest(&about.item, self.known.keys().map(|name| &**name))
            })
            .collect()
    }

    fn request(&self, step: &TestStep) -> StageRequest {
        let inputs = step.inputs.iter();
        let environments = step.environments.iter();
        StageRequest {
            instance: match &self.case.instance {
                Some(name) => Some(InstanceName::from_free_text(&name.item)),
                None => self.instance.clone(),
            },
            inputs: Inputs {
                written: inputs
                    .map(|(name, value)| InputSource::Value(name.clone(), value.clone()))
                    .collect(),
                environments: environments
                    .map(|path| NamedFile::new(beside(&self.file, &path.item)))
                    .collect(),
                variables: InputVariables::Ignored,
            },
            ..StageRequest::new(self.source.clone())
        }
    }

    /// Looks for drift, plans and deploys.
    async fn step(&mut self, step: &TestStep) -> ObservedStep {
        let mut observed = ObservedStep::default();
        let mut frontend = MistakeCollector::default();
        if step.looks_for_drift()
            && let Err(error) = self.look_for_drift(&mut observed, &mut frontend).await
        {
            frontend.add_error(&error);
        }
        if frontend.mistakes.is_empty()
            && let Err(error) = self.deploy(step, &mut observed, &mut frontend).await
        {
            frontend.add_error(&error);
        }
        observed.mistakes.append(&mut frontend.mistakes);
        observed
    }

    async fn look_for_drift(
        &self,
        observed: &mut ObservedStep,
        frontend: &mut MistakeCollector,
    ) -> Result<(), Error> {
        let Some(instance) = &self.instance else {
            return Ok(());
        };
        let report = self.session.drift(instance, &[]).await?;
        frontend.add(&report.found.diagnostics, &report.found.files);
        for drifted in &report.scan.drifted {
            let address = short(&drifted.address);
            match drifted.drift {
                Drift::Vanished => observed.vanished.push(address),
                Drift::Differs(_) | Drift::Expired(_) => observed.drifted.push(address),
            }
        }
        Ok(())
    }

    /// Plans and deploys. The errors are in `frontend`, or returned.
    async fn deploy(
        &mut self,
        step: &TestStep,
        observed: &mut ObservedStep,
        frontend: &mut MistakeCollector,
    ) -> Result<(), Error> {
        let staged = self.session.stage(self.request(step), frontend).await?;
        let StagedDocument {
            mut document,
            mut planned,
        } = staged;
        let instance = planned.instance.clone();
        self.instance = Some(instance.clone());
        self.note_plan(&document, &planned.staged, observed);
        let staged = &planned.staged;
        let of_plan = staged.plan.steps.iter().map(|step| &step.address);
        let mut wanted: Vec<Address> = of_plan
            .chain(staged.snapshot.records.keys())
            .cloned()
            .collect();
        wanted.dedup();
        let wanted = wanted.into_iter().filter(|address| {
            let name = short(address);
            step.specs.iter().any(|spec| spec.address.item == name)
        });
        let mut specs: Vec<(Address, Value)> = wanted
            .map(|address| {
                let spec = planned.staged.desired(&address).cloned();
                (address, spec.unwrap_or_default())
            })
            .collect();
        let PlannedOperation { staged, shell, .. } = &mut planned;
        let early = evaluate(&step.assertions, &mut document, staged, shell).await;
        let operated = self
            .session
            .operate(OperateRequest::of(planned, "cyan test"), frontend)
            .await;
        note_operation(operated, &document.files, frontend);
        if !frontend.mistakes.is_empty() {
            return Ok(());
        }
        let snapshot = self.session.reading().load(&instance).await?;
        for (address, spec) in &mut specs {
            if let Some(record) = snapshot.records.get(address) {
                *spec = record.inputs.clone();
            }
        }
        let specs = specs.into_iter();
        observed.specs = specs
            .map(|(address, spec)| (short(&address), spec))
            .collect();
        observed.exports = snapshot.exports;
        // A value that the plan knows is not evaluated again.
        observed.assertions = match early {
            Some(values) => values,
            None => self.evaluate_after(step, frontend).await?,
        };
        Ok(())
    }

    /// Evaluates the assertions on what exists after the deployment.
    async fn evaluate_after(
        &self,
        step: &TestStep,
        frontend: &mut MistakeCollector,
    ) -> Result<Vec<ObservedAssertion>, Error> {
        let staged = self.session.stage(self.request(step), frontend).await?;
        let StagedDocument {
            mut document,
            planned,
        } = staged;
        let PlannedOperation {
            mut staged, shell, ..
        } = planned;
        let mut all = Vec::new();
        for assertion in &step.assertions {
            all.push(evaluate_one(assertion, &mut document, &mut staged, &shell).await);
        }
        Ok(all)
    }

    /// Notes the actions of a plan, and the names that answers can be about.
    fn note_plan(&mut self, document: &Document, staged: &Staged, observed: &mut ObservedStep) {
        for step in &staged.plan.steps {
            let address = self.note_known(&step.address, &step.type_name);
            let action = match step.action {
                Action::Create => Some(StepAction::Create),
                Action::Update => Some(StepAction::Update),
                Action::Replace => Some(StepAction::Replace),
                Action::Delete => Some(StepAction::Delete),
                Action::None => Some(StepAction::Unchanged),
                _ => None,
            };
            observed.actions.insert(address, action);
        }
        // A plan has no step for a resource that stays as it is.
        for (address, record) in &staged.snapshot.records {
            let address = self.note_known(address, &record.type_name);
            let unchanged = Some(StepAction::Unchanged);
            observed.actions.entry(address).or_insert(unchanged);
        }
        let units = document
            .documents
            .iter()
            .flat_map(|documents| documents.units());
        for unit in units {
            for source in unit.blueprint().data_sources.values() {
                let name = source.type_name.item.name();
                self.known.insert(name.clone(), name.clone());
            }
        }
    }

    /// Notes an address and its type. Returns the address as test files write it.
    fn note_known(&mut self, address: &Address, type_name: &TypeId) -> Name {
        let (name, type_name) = (short(address), type_name.name());
        self.known.insert(name.clone(), address.to_string().into());
        self.known.insert(type_name.clone(), type_name.clone());
        name
    }
}

/// An address as test files write it: without the quotes around a name such as
/// `"deployment/shop/web"`.
fn short(address: &Address) -> Name {
    let text = address.to_string();
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let inner = inner.filter(|inner| !inner.contains(['"', '\\']));
    Name::from(inner.unwrap_or(&text))
}

/// Evaluates assertions on a plan; `None` if a value is known only after the deployment.
async fn evaluate(
    assertions: &[Assertion],
    document: &mut Document,
    staged: &mut Staged,
    shell: &Shell,
) -> Option<Vec<ObservedAssertion>> {
    let mut all = Vec::new();
    for assertion in assertions {
        let observed = evaluate_one(assertion, document, staged, shell).await;
        match &observed {
            ObservedAssertion::Value { value, .. } if !value.has_unknown() => all.push(observed),
            _ => return None,
        }
    }
    Some(all)
}

async fn evaluate_one(
    assertion: &Assertion,
    document: &mut Document,
    staged: &mut Staged,
    shell: &Shell,
) -> ObservedAssertion {
    let own = document.parse_own_expression(&assertion.yaml);
    let (expr, found) = match (own, &assertion.text) {
        (Some(own), _) => own,
        (None, Some(text)) => document.parse_native_expression(text),
        (None, None) => {
            return ObservedAssertion::Failed(ObservedMistake {
                code: CODES[0].name.into(),
                message: "an assertion about this document is a text: `${..}`".to_owned(),
                place: String::new(),
            });
        }
    };
    if let Some(failed) = first_error(&found) {
        return failed;
    }
    let mut found = Diagnostics::new();
    let value = staged.evaluate(&expr, shell, &mut found).await;
    if let Some(failed) = first_error(&found) {
        return failed;
    }
    let Some(value) = value else {
        return ObservedAssertion::Failed(ObservedMistake {
            code: Name::default(),
            message: "the expression reads something that does not exist".to_owned(),
            place: String::new(),
        });
    };
    let mut sides = None;
    if value.unmarked().as_bool() != Some(true)
        && assertion.expected.is_none()
        && let Some((left, right)) = compared(&expr)
    {
        let mut ignored = Diagnostics::new();
        let left = staged.evaluate(left, shell, &mut ignored).await;
        let right = staged.evaluate(right, shell, &mut ignored).await;
        sides = left.zip(right);
    }
    ObservedAssertion::Value { value, sides }
}

/// The first error, without its place in the text of the expression.
fn first_error(found: &Diagnostics) -> Option<ObservedAssertion> {
    let error = found.iter().find(|diagnostic| diagnostic.is_error())?;
    Some(ObservedAssertion::Failed(mistake(error, &Files::new())))
}

/// The arguments of a call that compares two values.
fn compared(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Substitution(inner) => compared(inner),
        // The arguments of these are assertions themselves.
        ExprKind::Call(call) if matches!(&*call.function, "and" | "or") => None,
        ExprKind::Call(call) => {
            let values = call.arguments.iter().map(|argument| &argument.value);
            match values.collect::<Vec<_>>().as_slice() {
                // A dialect may pass both values as one list, with data of its own.
                [list, rest @ ..] if rest.iter().all(|value| is_literal(value)) => {
                    match &list.kind {
                        ExprKind::List(items) => match items.as_slice() {
                            [left, right] => Some((left, right)),
                            _ => None,
                        },
                        _ => rest.first().map(|right| (*list, *right)),
                    }
                }
                [left, right] => Some((left, right)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_))
}

/// Notes the errors of an operation.
fn note_operation(operated: Operated, files: &Files, frontend: &mut MistakeCollector) {
    let failed = |message: String| ObservedMistake {
        code: Name::default(),
        message,
        place: String::new(),
    };
    match operated {
        Operated::Refused(found) | Operated::Busy(found) => frontend.add(&found, files),
        Operated::Nothing => {}
        Operated::Done(outcome) => {
            frontend.add(&outcome.diagnostics, files);
            let has_failed = matches!(outcome.outcome, Some(OperationOutcome::Failed) | None);
            if has_failed && frontend.mistakes.is_empty() {
                frontend
                    .mistakes
                    .push(failed("the deployment failed".to_owned()));
            }
        }
        Operated::Aborted(_) => {
            frontend
                .mistakes
                .push(failed("the deployment was cut off".to_owned()));
        }
        Operated::Store(error) => frontend.mistakes.push(failed(error.to_string())),
    }
}
