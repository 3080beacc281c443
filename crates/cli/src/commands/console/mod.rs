//! `cyan console`: evaluates expressions of the document's dialect at a prompt.
//!
//! The document is staged once; then each line is evaluated against it, as `cyan eval` does. In a
//! pipe the console reads lines and prints results without a prompt.

mod prompt;

use std::io::{BufRead as _, IsTerminal as _};

use engine::Staged;
use engine::inspect::Names;
use engine::run::Shell;
use engine::{Document, PlannedOperation, StageRequest, StagedDocument, json};
use serde_json::{Value as Json, json};

use self::prompt::Prompt;
use super::eval;
use super::exports::bare;
use crate::arguments::{Console, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

const HELP: &str = "\
An expression is worked out as the document would, with or without `${..}` around it.
What is known only on deploy is shown so. Open brackets go on on the next line; Tab completes names.

  :names   what can be read
  :help    this
  :quit    leave; so does Ctrl-D
";

pub(crate) async fn run(
    arguments: Console,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let reading = arguments.reading;
    let source = eval::source(reading.file.as_deref())?;
    if reading.file.is_some() && source.path.is_none() {
        return Err(CommandError::usage(
            "the expressions come from standard input, so the document cannot",
        ));
    }
    let session = open::session_in(global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: reading.flag.instance,
        inputs: reading.inputs.0,
        ..StageRequest::new(source)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    let PlannedOperation { shell, staged, .. } = planned;
    let mut dialogue = ConsoleSession {
        document,
        shell,
        staged,
        reveal: reading.secrets.reveal,
        failed: false,
        values: Vec::new(),
    };
    if report.terminal.can_ask() && std::io::stdout().is_terminal() {
        dialogue.run_on_terminal(report).await?;
        return Ok(Exit::Done);
    }
    dialogue.run_in_pipe(report).await?;
    report.set_result(json!({"values": dialogue.values}));
    Ok(if dialogue.failed {
        Exit::Unusable
    } else {
        Exit::Done
    })
}

struct ConsoleSession {
    document: Document,
    shell: Shell,
    staged: Staged,
    reveal: bool,
    failed: bool,
    values: Vec<Json>,
}

impl ConsoleSession {
    async fn run_on_terminal(&mut self, report: &mut Report) -> Result<(), CommandError> {
        let names = Names::of(&self.document);
        let mut prompt = Prompt::new(names)?;
        report.terminal.write_message(format!(
            "`{}` is staged. `:help` lists the commands.",
            self.document.source.shown
        ));
        while let Some(text) = prompt.line()? {
            if self.execute_line(&text, report).await {
                break;
            }
        }
        Ok(())
    }

    async fn run_in_pipe(&mut self, report: &mut Report) -> Result<(), CommandError> {
        let mut text = String::new();
        let mut lines = std::io::stdin().lock().lines();
        while let Some(line) = crate::signals::while_blocked(|| lines.next()) {
            let line = line.map_err(|source| CommandError::Unreadable {
                name: "standard input".to_owned(),
                source,
            })?;
            text.push_str(&line);
            if prompt::is_open(&text) {
                text.push('\n');
                continue;
            }
            if self.execute_line(&std::mem::take(&mut text), report).await {
                return Ok(());
            }
        }
        self.execute_line(&text, report).await;
        Ok(())
    }

    /// Executes a line. Returns whether it ends the console.
    async fn execute_line(&mut self, text: &str, report: &mut Report) -> bool {
        match text.trim() {
            "" => {}
            ":quit" | ":q" | ":exit" => return true,
            ":help" | ":h" | ":?" => report.terminal.write_stderr(HELP),
            ":names" => report
                .terminal
                .write_stderr(&listed(&Names::of(&self.document))),
            other if other.starts_with(':') => {
                self.failed = true;
                report.error(&CommandError::Usage {
                    message: format!("there is no `{other}` here"),
                    help: Some("`:help` says what there is".to_owned()),
                });
            }
            expression => return self.execute_expression(expression, report).await,
        }
        false
    }

    /// Evaluates an expression. A word that is no expression of the document is a command without
    /// its colon, or a section, whose names are listed. Returns whether it ends the console.
    async fn execute_expression(&mut self, text: &str, report: &mut Report) -> bool {
        let is_word = text
            .chars()
            .all(|character| character.is_ascii_alphabetic());
        if is_word && self.document.parse_expression(text).1.has_errors() {
            match text {
                "exit" | "quit" => return true,
                "help" => {
                    report.terminal.write_stderr(HELP);
                    return false;
                }
                _ => {}
            }
            let names = Names::of(&self.document);
            let section = names.sections().find(|(section, _)| *section == text);
            if let Some((section, names)) = section {
                let names = names.join(", ");
                report
                    .terminal
                    .write_stderr(&format!("{section}: {names}\n"));
                return false;
            }
        }
        self.evaluate(text, report).await;
        false
    }

    async fn evaluate(&mut self, expression: &str, report: &mut Report) {
        let (expr, mut found) = self.document.parse_expression(expression);
        let mut value = None;
        if !found.has_errors() {
            value = self.staged.evaluate(&expr, &self.shell, &mut found).await;
        }
        report.diagnostics(&found, &self.document.files);
        let Some(value) = value.filter(|_| !found.has_errors()) else {
            self.failed = true;
            return;
        };
        if report.is_json() {
            let known = !value.has_unknown();
            self.values
                .push(json!({"expression": expression, "value": json::value(&value, self.reveal), "known": known}));
        } else {
            let value = if self.reveal { value.revealed() } else { value };
            report.terminal.write_value(&format!("{}\n", bare(&value)));
        }
    }
}

/// All readable names, one line for each section.
fn listed(names: &Names) -> String {
    names
        .sections()
        .map(|(section, names)| format!("{section}: {}\n", names.join(", ")))
        .collect()
}
