//! Questions on the terminal: for a text, for a secret, for one of several options. They use the
//! line editor of the console.

use std::borrow::Cow;
use std::io::{self, Write as _};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, ColorMode, CompletionType, Config, Context, Editor, Helper};

/// Values of `TERM` for which the line editor reads whole lines that the terminal echoes.
const ECHOING: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The reason why a question has no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The user cancelled the question with Ctrl-C or Ctrl-D.
    Cancelled,
    /// The terminal cannot be read, or would show a secret.
    Unreadable,
}

/// A question: the line before the answer, and a description that is printed above it.
pub(crate) struct Question<'q> {
    /// The question, safe to show.
    pub(crate) text: &'q str,
    /// The description, safe to show.
    pub(crate) help: Option<&'q str>,
}

/// An option to choose.
pub(crate) struct Choice {
    /// The answer.
    pub(crate) label: String,
    /// A description of one sentence; may be empty.
    pub(crate) docs: String,
}

impl Question<'_> {
    /// Asks for a text until `check` accepts it. Shows the error of `check`.
    pub(crate) fn text(
        &self,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Unanswered> {
        self.ask(AnswerHelper::default(), |line| {
            check(line).map(|()| line.to_owned())
        })
    }

    /// Asks for a secret and shows only its length.
    pub(crate) fn secret(&self) -> Result<String, Unanswered> {
        if std::env::var_os("TERM").is_some_and(|term| ECHOING.iter().any(|one| term == *one)) {
            return Err(Unanswered::Unreadable);
        }
        self.ask(
            AnswerHelper {
                is_secret: true,
                ..AnswerHelper::default()
            },
            |line| Ok(line.to_owned()),
        )
    }

    /// Lists the options, then asks for the label of one or a unique prefix of it.
    pub(crate) fn choice(&self, options: &[Choice]) -> Result<String, Unanswered> {
        self.help.into_iter().for_each(show);
        let width = options
            .iter()
            .map(|option| option.label.chars().count())
            .max()
            .unwrap_or(0);
        for option in options {
            let (label, docs) = (
                diag::visible_line(&option.label),
                diag::visible_line(&option.docs),
            );
            show(format!("  {label:width$}  {docs}").trim_end());
        }
        let labels: Vec<String> = options.iter().map(|option| option.label.clone()).collect();
        let helper = AnswerHelper {
            labels: labels.clone(),
            ..AnswerHelper::default()
        };
        Question {
            help: None,
            ..*self
        }
        .ask(helper, |line| chosen(&labels, line))
    }

    fn ask(
        &self,
        helper: AnswerHelper,
        read: impl Fn(&str) -> Result<String, String>,
    ) -> Result<String, Unanswered> {
        if let Some(help) = self.help {
            show(help);
        }
        // The question and the answer use the terminal even if the output is redirected. Masking
        // needs colours.
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .color_mode(if helper.is_secret {
                ColorMode::Forced
            } else {
                ColorMode::Enabled
            })
            .completion_type(CompletionType::List)
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor =
            Editor::with_history(config, history).map_err(|_| Unanswered::Unreadable)?;
        editor.set_helper(Some(helper));
        loop {
            match editor.readline(&format!("{}: ", self.text)) {
                Ok(line) => match read(&line) {
                    Ok(answer) => return Ok(answer),
                    Err(problem) => show(&problem),
                },
                Err(ReadlineError::Interrupted | ReadlineError::Eof) => {
                    return Err(Unanswered::Cancelled);
                }
                Err(_) => return Err(Unanswered::Unreadable),
            }
        }
    }
}

/// Prints a line for the user. A closed stderr is ignored here, because the question itself fails
/// then.
fn show(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns the label that an answer selects.
fn chosen(labels: &[String], line: &str) -> Result<String, String> {
    let line = line.trim();
    if let Some(label) = labels.iter().find(|label| *label == line) {
        return Ok(label.clone());
    }
    let mut beginning = labels.iter().filter(|label| label.starts_with(line));
    match (beginning.next(), beginning.next()) {
        (Some(label), None) => Ok(label.clone()),
        (None, _) => Err("this is none of the options".to_owned()),
        (Some(_), Some(_)) => Err("this is the beginning of several options".to_owned()),
    }
}

/// Completes labels, and masks secrets.
#[derive(Default)]
struct AnswerHelper {
    is_secret: bool,
    labels: Vec<String>,
}

impl Helper for AnswerHelper {}

impl Validator for AnswerHelper {}

impl Hinter for AnswerHelper {
    type Hint = String;
}

impl Completer for AnswerHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let written = line.get(..at).unwrap_or_default();
        Ok((
            0,
            self.labels
                .iter()
                .filter(|label| label.starts_with(written))
                .cloned()
                .collect(),
        ))
    }
}

impl Highlighter for AnswerHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.is_secret {
            Cow::Owned("*".repeat(line.chars().count()))
        } else {
            Cow::Borrowed(line)
        }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.is_secret && kind != CmdKind::MoveCursor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_chosen_by_its_label_or_a_unique_beginning() {
        let labels = ["eu-west-1", "eu-west-10", "us-east-1"].map(str::to_owned);
        assert_eq!(chosen(&labels, "eu-west-1").as_deref(), Ok("eu-west-1"));
        assert_eq!(chosen(&labels, " us").as_deref(), Ok("us-east-1"));
        assert!(chosen(&labels, "eu").is_err_and(|problem| problem.contains("several")));
        assert!(chosen(&labels, "ap").is_err_and(|problem| problem.contains("none")));
        assert!(chosen(&labels, "").is_err());
    }

    #[test]
    fn a_secret_is_masked() {
        let helper = AnswerHelper {
            is_secret: true,
            ..AnswerHelper::default()
        };
        assert_eq!(helper.highlight("geheimnis", 0), "*********");
        assert!(helper.highlight_char("g", 1, CmdKind::Other));
        assert_eq!(AnswerHelper::default().highlight("open", 0), "open");
    }
}
