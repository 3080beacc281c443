//! `cyan stack`.

use engine::stacks::Stack;
use engine::{DocumentSource, Session, json};
use serde_json::json;
use state::InstanceName;

use crate::arguments::{Consent, DocumentFlag, Global, StackArguments, StackCommand};
use crate::exit::{CommandError, Exit};
use crate::operation::{print_notices, who};
use crate::view::report::Report;
use crate::view::table::table;
use crate::{open, operation};

pub(crate) async fn run(
    arguments: StackArguments,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (source, session) = document_and_session(&arguments.document, global, report)?;
    match arguments.command {
        StackCommand::Ls => list(&source, &session, report).await,
        StackCommand::Select { name, create } => {
            if let Err(missing) = session.stack(&source, Some(&name)).await {
                if !create {
                    return Err(missing);
                }
                return init(&source, &session, &name, None, true, report).await;
            }
            session.select_stack(&source, Some(&name))?;
            done(
                &name,
                format!("`{name}` is the current stack of `{}`.", source.shown),
                report,
            );
            Ok(Exit::Done)
        }
        StackCommand::Init {
            name,
            copy_config_from,
            no_select,
        } => {
            let copied = match &copy_config_from {
                Some(other) => Some(session.stack(&source, Some(other)).await?),
                None => None,
            };
            init(
                &source,
                &session,
                &name,
                copied.as_ref(),
                !no_select,
                report,
            )
            .await
        }
        StackCommand::Rename { new, flag } => {
            rename(&source, &session, flag.instance.as_ref(), &new, report).await
        }
        StackCommand::Rm {
            name,
            force,
            preserve_config,
            consent,
        } => {
            let stack = session.stack(&source, Some(&name)).await?;
            let removal = Removal {
                stack,
                force,
                keeps_file: preserve_config,
                consent,
            };
            remove(&source, session, removal, report).await
        }
    }
}

/// Opens the document and the session of a command about stacks.
pub(crate) fn document_and_session(
    flag: &DocumentFlag,
    global: &Global,
    report: &mut Report,
) -> Result<(DocumentSource, Session), CommandError> {
    let source = open::source(flag.document.as_deref())?;
    let session = open::session_in(global, &source.project_folder(), report)?;
    Ok((source, session))
}

/// Reports the result of a command that changes a stack.
fn done(name: &InstanceName, message: String, report: &mut Report) {
    report.set_result(json!({"stack": name}));
    report.terminal.write_message(message);
}

async fn list(
    source: &DocumentSource,
    session: &Session,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let stacks = session.stacks(source).await?;
    if report.is_json() {
        report.set_result(json::stacks(&stacks));
        return Ok(Exit::Done);
    }
    if stacks.is_empty() {
        report.terminal.write_message(format!(
            "`{}` has no stack. `cyan stack init NAME` makes one.",
            source.shown
        ));
        return Ok(Exit::Done);
    }
    let row = |stack: &Stack| {
        let mark = if stack.is_current { "*" } else { "" };
        let file = stack.file.as_deref().and_then(|file| file.file_name());
        let status = stack.info.as_ref().map(engine::inspect::status);
        vec![
            format!("{}{mark}", stack.name),
            status.unwrap_or_else(|| "not deployed".to_owned()),
            stack.resources().to_string(),
            file.unwrap_or_default().to_string_lossy().into_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = stacks.iter().map(row).collect();
    let head = ["STACK", "STATUS", "RESOURCES", "FILE"];
    report
        .terminal
        .write_result(&table(&head, &rows, report.terminal.out));
    Ok(Exit::Done)
}

/// Makes a stack, and selects it.
async fn init(
    source: &DocumentSource,
    session: &Session,
    name: &InstanceName,
    copied: Option<&Stack>,
    selects: bool,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let stacks = session.stacks(source).await?;
    if stacks.iter().any(|stack| stack.name == *name) {
        return Err(CommandError::Usage {
            message: format!("`{}` has a stack `{name}` already", source.shown),
            help: Some(format!("select it: `cyan stack select {name}`")),
        });
    }
    let file = session.write_stack_file(source, name, copied)?;
    if selects {
        session.select_stack(source, Some(name))?;
    }
    let shown = file.as_deref().map(|file| file.display().to_string());
    report.set_result(json!({"stack": name, "file": shown}));
    let current = match selects {
        true => format!(" It is the current stack of `{}`.", source.shown),
        false => String::new(),
    };
    report.terminal.write_message(match shown {
        Some(file) => format!("Made the stack `{name}` with the file `{file}`.{current}"),
        None => format!("Made the stack `{name}`.{current}"),
    });
    Ok(Exit::Done)
}

async fn rename(
    source: &DocumentSource,
    session: &Session,
    old: Option<&InstanceName>,
    new: &InstanceName,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let stack = session.stack(source, old).await?;
    let stacks = session.stacks(source).await?;
    if stacks.iter().any(|other| other.name == *new) {
        return Err(CommandError::Usage {
            message: format!("`{}` has a stack `{new}` already", source.shown),
            help: Some("choose another name".to_owned()),
        });
    }
    session.rename_instance(&stack, new, &who()).await?;
    print_notices(session.reading().as_ref(), report);
    session.rename_stack_file(source, &stack, new)?;
    if stack.is_current {
        session.select_stack(source, Some(new))?;
    }
    done(
        new,
        format!("The stack `{}` is `{new}` now.", stack.name),
        report,
    );
    Ok(Exit::Done)
}

/// A stack to remove.
struct Removal {
    stack: Stack,
    force: bool,
    keeps_file: bool,
    consent: Consent,
}

async fn remove(
    source: &DocumentSource,
    mut session: Session,
    removal: Removal,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let Removal {
        stack,
        force,
        keeps_file,
        consent,
    } = removal;
    let name = &stack.name;
    let count = stack.resources();
    if count > 0 && !force {
        let resources = if count == 1 { "resource" } else { "resources" };
        return Err(CommandError::Usage {
            message: format!("the stack `{name}` has {count} {resources}"),
            help: Some(format!(
                "delete them with `cyan destroy -i {name}`, or forget them with `--force`"
            )),
        });
    }
    let file = stack.file.as_deref().filter(|_| !keeps_file);
    if count > 0 {
        let planned = session.stage_forgetting(&stack, report).await?;
        let files = diag::Files::new();
        let done = operation::carry_out(
            planned,
            &files,
            false,
            &mut session,
            &consent.into(),
            report,
        )
        .await?;
        if done != Exit::Done {
            return Ok(done);
        }
    } else if let Some(file) = file
        && !(consent.yes || session.config.yes)
    {
        let question = format!("Remove the stack `{name}` and `{}`?", file.display());
        if !report.terminal.can_ask() {
            return Err(CommandError::NotInteractive {
                question: format!("`{}` would be removed", file.display()),
                help: "confirm with `--yes`, or keep the file with `--preserve-config`".to_owned(),
            });
        }
        if !report.terminal.confirm(&question) {
            return Err(CommandError::Refused);
        }
    }
    if let Some(file) = file {
        std::fs::remove_file(file).map_err(|source| CommandError::Unwritable {
            name: file.display().to_string(),
            source,
        })?;
    }
    session.deselect_stack(source, name)?;
    done(name, format!("Removed the stack `{name}`."), report);
    Ok(Exit::Done)
}
