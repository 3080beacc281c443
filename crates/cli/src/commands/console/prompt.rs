//! The prompt of the console: line editing, history, completion. Questions for inputs use the same
//! library (`prompt.rs`).

use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use engine::inspect::Names;

use crate::exit::CommandError;

const PROMPT: &str = "cyan> ";

/// Reads expressions from a terminal.
pub(super) struct Prompt {
    editor: Editor<Completions, FileHistory>,
    history: Option<PathBuf>,
}

impl Prompt {
    pub(super) fn new(names: Names) -> Result<Prompt, CommandError> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(1000);
        let config = config.map_err(failed)?.auto_add_history(true).build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Completions(names)));
        let history = history();
        if let Some(file) = &history {
            // The file does not exist before the first use.
            let _ = editor.load_history(file);
        }
        Ok(Prompt { editor, history })
    }

    /// Reads the next expression, over several lines while brackets are open; `None` at the end of
    /// input.
    pub(super) fn line(&mut self) -> Result<Option<String>, CommandError> {
        loop {
            match self.editor.readline(PROMPT) {
                Ok(line) => return Ok(Some(line)),
                // Ctrl-C discards the typed line.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if let Some(file) = &self.history {
            // A history that cannot be saved is no error.
            let _ = file.parent().map(std::fs::create_dir_all);
            let _ = self.editor.save_history(file);
        }
    }
}

fn failed(error: ReadlineError) -> CommandError {
    CommandError::Machine {
        what: "the terminal cannot be read",
        source: std::io::Error::other(error),
    }
}

/// The history file, in the user's state folder.
fn history() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("cyan/history"))
}

/// Completes the names of a document, through the traits of the library.
struct Completions(Names);

impl Helper for Completions {}

impl Hinter for Completions {
    type Hint = String;
}

impl Highlighter for Completions {}

impl Completer for Completions {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.complete(line, at))
    }
}

impl Validator for Completions {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let open = is_open(context.input());
        Ok(if open {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

/// Whether a bracket is open. An open quotation mark does not count, because it must be closed on
/// the same line.
pub(super) fn is_open(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '\'' => loop {
                match characters.next() {
                    None => return false,
                    Some('\\') => drop(characters.next()),
                    Some(end) if end == character => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn open_brackets_continue_and_open_quotes_do_not() {
        assert!(is_open("list(1,") && is_open("${trim(\"a)\"") && is_open("x[0]. y("));
        assert!(
            !is_open("list(1)")
                && !is_open("trim(\"(\")")
                && !is_open("trim(\"a")
                && !is_open(")")
                && !is_open("")
        );
        assert!(!is_open("trim('it\\'s (')"));
    }
}
