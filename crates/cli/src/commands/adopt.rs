//! Runs `cyan state import` on a stack of another tool: on its export, or on what the tool answers.
//! Writes the documents of the stack below the current folder, deploys them, and adopts the
//! existing resources instead of creating them.
//!
//! Not here: the formats and their meaning (`engine::foreign`).

use std::path::Path;

use blueprint::Name;
use engine::foreign::{self, FileWrite, ForeignStack, Form};
use engine::paths::absolute;
use engine::{DocumentSource, InputSource, Session, StageRequest, StagedDocument};
use state::InstanceName;

use crate::arguments::{Consent, Global, InstanceFlag};
use crate::exit::{CommandError, Exit};
use crate::prompt::{Question, Unanswered};
use crate::view::report::Report;
use crate::{open, operation};

/// What the command line says about an adopted stack.
pub(crate) struct AdoptInputs {
    /// Inputs over those that the stack has.
    pub(crate) inputs: engine::Inputs,
    pub(crate) flag: InstanceFlag,
    pub(crate) consent: Consent,
}

/// Imports an export. The instance is that of the flag, or else the one that the export names. Asks
/// for consent as a deploy does.
pub(crate) async fn run(
    form: &'static dyn Form,
    text: &str,
    given: AdoptInputs,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let stack = foreign::read(form, text)?;
    adopt((form, stack), given, None, global, report).await
}

/// Asks the other tool with this form for a stack and imports it, as [`run`] does. The other tool
/// still has it afterwards.
pub(crate) async fn ask_and_run(
    form: &str,
    stack: &str,
    given: AdoptInputs,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let session = open::session_in(global, &absolute(Path::new("")), report)?;
    let instance = match &given.flag.instance {
        Some(instance) => instance.clone(),
        None => instance_of(stack)?,
    };
    let stack = session.ask_for_stack(form, stack, &instance).await?;
    adopt(stack, given, Some(session), global, report).await
}

/// The instance with the name of a stack.
fn instance_of(stack: &str) -> Result<InstanceName, CommandError> {
    let named = stack.parse();
    named.map_err(|error: state::InstanceNameError| CommandError::usage(error.to_string()))
}

/// Writes the documents and deploys them. `session` is that of the current folder, if there is one.
async fn adopt(
    (form, stack): (&dyn Form, ForeignStack),
    given: AdoptInputs,
    session: Option<Session>,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let AdoptInputs {
        mut inputs,
        flag,
        consent,
    } = given;
    let instance = match flag.instance {
        Some(instance) => instance,
        None => instance_of(&stack.instance)?,
    };
    let answers = hidden_values(&stack, &inputs, report)?;
    inputs.written.extend(answers);
    for (name, text) in &stack.files {
        report
            .terminal
            .write_message(match foreign::lay_out(form, name, text)? {
                FileWrite::Written => format!("wrote `{name}`"),
                FileWrite::Present => format!("`{name}` is there already and stays as it is"),
            });
    }
    let source = DocumentSource::find(Some(Path::new(&stack.document)), &open::dialects())?;
    let mut session = match session {
        Some(session) => session,
        None => open::session_in(global, &source.project_folder(), report)?,
    };
    let request = StageRequest {
        instance: Some(instance),
        ..stack.request(source, inputs)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    operation::carry_out(
        planned,
        &document.files,
        false,
        &mut session,
        &consent.into(),
        report,
    )
    .await
}

/// Asks for the values of hidden parameters that the tool does not give and the inputs do not set.
fn hidden_values(
    stack: &ForeignStack,
    inputs: &engine::Inputs,
    report: &Report,
) -> Result<Vec<InputSource>, CommandError> {
    let missing = stack.missing_parameters(inputs, &open::dialects())?;
    let unanswered = || {
        let names: Vec<String> = missing
            .iter()
            .map(|one| format!("`{}`", one.name))
            .collect();
        let inner = missing.iter().filter(|one| !one.is_input);
        let inner: Vec<String> = inner.map(|one| format!("`{}`", one.name)).collect();
        let mut help =
            "give each with `--var NAME=VALUE`, or all with `--vars FILE` or `-e FILE`".to_owned();
        if !inner.is_empty() {
            let inner = inner.join(", ");
            help = format!(
                "{help}; only nested templates declare {inner}, so an environment file has to give them, with `-e FILE`"
            );
        }
        CommandError::NotInteractive {
            question: format!(
                "the values of hidden parameters of `{}` are not given: {}",
                stack.instance,
                names.join(", ")
            ),
            help,
        }
    };
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    if !report.terminal.can_ask() || missing.iter().any(|one| !one.is_input) {
        return Err(unanswered());
    }
    let mut answers = Vec::new();
    for parameter in &missing {
        let name = diag::visible(&parameter.name).into_owned();
        let question = Question {
            text: &name,
            help: Some("a hidden parameter, whose value Heat does not give"),
        };
        match question.secret() {
            Ok(text) => answers.push(InputSource::Text(parameter.name.clone(), Name::from(text))),
            Err(Unanswered::Cancelled) => return Err(CommandError::Refused),
            Err(Unanswered::Unreadable) => return Err(unanswered()),
        }
    }
    Ok(answers)
}
