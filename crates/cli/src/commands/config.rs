//! `cyan config`.

use dialect::{ConfigEdit, ConfigEntry, ConfigKey};
use engine::stacks::Stack;
use engine::{DocumentSource, Session, json};
use serde_json::json;

use super::stack::document_and_session;
use crate::arguments::{ConfigArguments, ConfigCommand, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::prompt::Question;
use crate::view::report::Report;
use crate::view::table::table;

/// The text that stands for a secret in tables.
const HIDDEN: &str = "(secret)";

pub(crate) async fn run(
    arguments: ConfigArguments,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (source, session) = document_and_session(&arguments.document, global, report)?;
    let stack = session.stack(&source, arguments.instance.as_ref()).await?;
    let own = StackFile {
        source,
        session,
        stack,
        reveal: arguments.secrets().reveal,
    };
    match arguments.command.unwrap_or(ConfigCommand::List) {
        ConfigCommand::List => own.list(report),
        ConfigCommand::Get { key, path } => own.get(&key, path, report),
        ConfigCommand::Set {
            key,
            value,
            path,
            secret,
            plaintext,
        } => {
            let value = match value {
                Some(value) => value,
                None => asked_value(&key, report)?,
            };
            let is_secret = match (secret, plaintext) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            };
            own.edit(
                &ConfigEdit::Set {
                    key: ConfigKey {
                        text: &key,
                        is_path: path,
                    },
                    value: &value,
                    is_secret,
                },
                report,
            )
        }
        ConfigCommand::Rm { key, path } => own.edit(
            &ConfigEdit::Remove {
                key: ConfigKey {
                    text: &key,
                    is_path: path,
                },
            },
            report,
        ),
    }
}

/// A value from standard input, without its last line break; on a terminal, the answer to a
/// question, which is not shown.
fn asked_value(key: &str, report: &mut Report) -> Result<String, CommandError> {
    if report.terminal.can_ask() {
        let question = Question {
            text: key,
            help: None,
        };
        return question.secret().map_err(|_| CommandError::Refused);
    }
    let text = open::standard_input()?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

/// The file of a stack, and how its secrets are shown.
struct StackFile {
    source: DocumentSource,
    session: Session,
    stack: Stack,
    reveal: bool,
}

impl StackFile {
    fn list(&self, report: &mut Report) -> Result<Exit, CommandError> {
        let entries = self
            .session
            .stack_values(&self.source, &self.stack, self.reveal, report)?;
        if report.is_json() {
            report.set_result(json::stack_values(&self.stack.name, &entries));
            return Ok(Exit::Done);
        }
        if entries.is_empty() {
            report.terminal.write_message(format!(
                "The stack `{}` has no configuration.",
                self.stack.name
            ));
            return Ok(Exit::Done);
        }
        let row = |entry: &ConfigEntry| vec![entry.shown.clone(), shown(entry)];
        let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
        report
            .terminal
            .write_result(&table(&["KEY", "VALUE"], &rows, report.terminal.out));
        Ok(Exit::Done)
    }

    fn get(&self, key: &str, is_path: bool, report: &mut Report) -> Result<Exit, CommandError> {
        let at = ConfigKey { text: key, is_path };
        let entry =
            self.session
                .stack_value(&self.source, &self.stack, &at, self.reveal, report)?;
        let Some(entry) = entry else {
            return Err(CommandError::Usage {
                message: format!("the stack `{}` has no value of `{key}`", self.stack.name),
                help: Some("list its values: `cyan config`".to_owned()),
            });
        };
        if report.is_json() {
            report.set_result(json::stack_value(&entry));
            return Ok(Exit::Done);
        }
        let Some(text) = &entry.text else {
            return Err(CommandError::Secret {
                name: key.to_owned(),
            });
        };
        report.terminal.write_value(&format!("{text}\n"));
        Ok(Exit::Done)
    }

    fn edit(&self, edit: &ConfigEdit<'_>, report: &mut Report) -> Result<Exit, CommandError> {
        let (edited, path) =
            self.session
                .edit_stack_values(&self.source, &self.stack, edit, report)?;
        let file = path.display().to_string();
        report.set_result(json!({
            "stack": self.stack.name,
            "file": file,
            "key": edited.key,
            "secret": edited.is_secret,
        }));
        let what = match (edit, edited.is_secret) {
            (ConfigEdit::Remove { .. }, _) => "removed from",
            (_, true) => "encrypted in",
            (_, false) => "set in",
        };
        report
            .terminal
            .write_message(format!("`{}` is {what} `{file}`.", edited.key));
        Ok(Exit::Done)
    }
}

/// The value of an entry in a table.
fn shown(entry: &ConfigEntry) -> String {
    match &entry.text {
        Some(text) => text.clone(),
        None => entry.redacted.replace("[secret]", HIDDEN),
    }
}
