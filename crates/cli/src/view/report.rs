//! The output of a command: diagnostics and the result, as text or as machine output.

use std::sync::Arc;
use std::time::Duration;

use diag::{Diagnostic, Diagnostics, Files, Severity};
use engine::run::{Clock, busy};
use engine::{Checked, Given};
use engine::{
    Closer, Config, Envelope, Frontend, Installed, Notice, Renamed, RunProgress, SessionEvent,
    UnfinishedStep, json,
};
use serde_json::{Value as Json, json};
use state::{Counts, StoreError};

use crate::arguments::{Command, Global};
use crate::ask;
use crate::exit::{CommandError, ErrorAdvice as _, Exit};
use crate::plugin_log;
use crate::terminal::Terminal;

/// Collects and shows the output of a command.
pub(crate) struct Report {
    /// The output streams.
    pub(crate) terminal: Terminal,
    /// The name of the command.
    pub(crate) command: &'static str,
    /// Whether the command accepts catalogues without a provider.
    pub(crate) takes_catalogs: bool,
    /// The progress of the plan that is being applied.
    pub(crate) progress: RunProgress,
    /// The components that sessions are opened with.
    pub(crate) installed: Arc<Installed>,
    /// The sessions that were opened.
    pub(crate) opened: Vec<Closer>,
    /// Whether consent was given on the command line; no questions are asked then.
    pub(crate) has_consent: bool,
    /// Whether all diagnostics are shown in full.
    all: bool,
    operation: bool,
    rehearses: bool,
    diagnostics: Vec<Json>,
    result: Json,
    counts: Counts,
    waiting: Vec<blueprint::Address>,
    stops: Vec<(blueprint::Name, blueprint::Breakpoint)>,
    unready: Vec<(blueprint::Address, blueprint::Name)>,
    not_done: Vec<UnfinishedStep>,
    simulated: bool,
    /// The number of retried questions so far.
    retries_shown: usize,
    buffer: String,
}

/// The maximum number of diagnostics that a terminal shows in full.
const MANY: usize = 20;

/// The number of diagnostics of each code that are shown in full if there are more than [`MANY`].
const OF_EACH: usize = 3;

/// Selects the diagnostics that a terminal shows: all if they are few, else the first ones of each
/// code.
struct Brief {
    all: bool,
    left_out: blueprint::IndexMap<&'static str, usize>,
    shown: blueprint::IndexMap<&'static str, usize>,
}

impl Brief {
    fn new(all: bool, found: &Diagnostics) -> Brief {
        let all = all || found.len() <= MANY;
        Brief {
            all,
            left_out: blueprint::IndexMap::default(),
            shown: blueprint::IndexMap::default(),
        }
    }

    /// Returns whether a diagnostic is shown, and counts it.
    fn shows(&mut self, diagnostic: &Diagnostic) -> bool {
        let shown = self.shown.entry(diagnostic.code.name).or_default();
        if self.all || *shown < OF_EACH {
            *shown += 1;
            return true;
        }
        *self.left_out.entry(diagnostic.code.name).or_default() += 1;
        false
    }

    /// Returns a summary of the diagnostics that were left out, and how to see them.
    fn omitted_summary(&self) -> String {
        if self.left_out.is_empty() {
            return String::new();
        }
        let total: usize = self.left_out.values().sum();
        let mut text = format!("{total} more are not shown here:\n");
        for (code, count) in &self.left_out {
            text.push_str(&format!("  {count} of {code}\n"));
        }
        text.push_str("`cyan validate --all` shows each, `--json` gives them as data.\n\n");
        text
    }
}

impl Report {
    /// Creates an empty report. An operation writes one line of machine output per event, any other
    /// command one value at its end.
    pub(crate) fn new(terminal: Terminal, command: &Command, installed: Arc<Installed>) -> Report {
        Report {
            all: command.shows_all() || !terminal.is_watched(),
            terminal,
            command: command.word(),
            takes_catalogs: command.takes_catalogs(),
            progress: RunProgress::default(),
            installed,
            opened: Vec::new(),
            has_consent: command.has_consent(),
            operation: command.is_operation(),
            rehearses: command.announces_simulation(),
            diagnostics: Vec::new(),
            result: Json::Null,
            counts: Counts::default(),
            waiting: Vec::new(),
            stops: Vec::new(),
            unready: Vec::new(),
            not_done: Vec::new(),
            simulated: false,
            retries_shown: 0,
            buffer: String::new(),
        }
    }

    /// Applies the output settings of a configuration, unless flags override them.
    pub(crate) fn configure(&mut self, global: &Global, config: &Config) {
        self.terminal.quiet |= config.quiet && !self.terminal.verbose;
        self.terminal.verbose |= config.verbose && !self.terminal.quiet;
        if let (None, Some(color)) = (global.color, config.color) {
            self.terminal.set_color(color.into());
        }
        self.has_consent |= config.yes;
        if self.terminal.verbose {
            plugin_log::show();
        }
    }

    /// Announces a rehearsal once, as text and in machine output. `by` is the file that requests
    /// it; empty for a flag.
    pub(crate) fn set_simulated(&mut self, by: &str) {
        if self.simulated || !self.rehearses {
            return;
        }
        self.simulated = true;
        if !self.is_json() {
            let (asked, how) = match by {
                "" => (String::new(), ""),
                file => (
                    format!(", as `{file}` says"),
                    " `--simulate=false` does it for real.",
                ),
            };
            let words = format!(
                "Rehearsal{asked}: every provider is simulated, nothing real is changed.{how}"
            );
            self.terminal.write_message(self.terminal.err.yellow(words));
        }
    }

    /// Marks a value of machine output as the result of a rehearsal, if it is one.
    pub(crate) fn mark(&self, value: &mut Json) {
        if self.simulated
            && let Some(value) = value.as_object_mut()
        {
            value.insert("simulated".into(), Json::Bool(true));
        }
    }

    /// Whether machine output was requested.
    pub(crate) fn is_json(&self) -> bool {
        self.terminal.json
    }

    /// Whether the command changes an instance.
    pub(crate) fn is_operation(&self) -> bool {
        self.operation
    }

    /// Reports diagnostics. Notes with a place are shown only with `--verbose`.
    pub(crate) fn diagnostics(&mut self, found: &Diagnostics, files: &Files) {
        let mut text = String::new();
        let mut brief = Brief::new(self.all, found);
        // Diagnostics without a place come first, then those of each document in text order. The
        // diagnostic that a child has errors comes last, because it follows from the others.
        let mut sorted: Vec<&Diagnostic> = found.iter().collect();
        sorted.sort_by_key(|diagnostic| {
            let follows = diagnostic.code.name == engine::check::codes::CHILD_FAILED.name;
            let span = diagnostic.span();
            (
                follows,
                (span.is_some() && !follows).then_some((span.file, span.start)),
            )
        });
        for diagnostic in sorted {
            if self.is_json() {
                let object = json::diagnostic(diagnostic, files);
                self.push(object);
                continue;
            }
            let shown = match diagnostic.severity {
                Severity::Error => true,
                Severity::Warning => !self.terminal.quiet,
                Severity::Note => {
                    self.terminal.verbose || !self.terminal.quiet && !diagnostic.span().is_some()
                }
            };
            if shown && brief.shows(diagnostic) {
                let colors = self.terminal.err.colors();
                match diagnostic
                    .native_message
                    .as_ref()
                    .filter(|_| self.terminal.verbose)
                {
                    // Users of Heat know its messages and search for them.
                    Some(words) => {
                        let said = diagnostic.clone().note(format!("Heat says: {words}"));
                        text.push_str(&diag::draw(&said, files, colors));
                    }
                    None => text.push_str(&diag::draw(diagnostic, files, colors)),
                }
                text.push('\n');
            }
        }
        let (errors, others) = found.dropped();
        if errors + others > 0 {
            let what = if errors > 0 {
                "errors"
            } else {
                "warnings and notes"
            };
            let more = engine::check::codes::MORE_MISTAKES
                .new(format!("{} more {what} were found", errors.max(others)));
            match self.is_json() {
                true => self.push(json::diagnostic(&more, files)),
                false => text.push_str(&format!(
                    "{}\n",
                    diag::draw(&more, files, self.terminal.err.colors())
                )),
            }
        }
        text.push_str(&brief.omitted_summary());
        self.terminal.write_diagnostics(&text);
    }

    fn push(&mut self, diagnostic: Json) {
        if self.operation {
            let mut line = json!({"event": "diagnostic"});
            if let (Some(line), Json::Object(fields)) = (line.as_object_mut(), diagnostic) {
                line.extend(fields);
            }
            self.json_line(line);
        } else {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports the error of the command.
    pub(crate) fn error(&mut self, error: &CommandError) {
        if let CommandError::Diagnosed(diagnostic) | CommandError::Unanswered(diagnostic) = error {
            let found = [diagnostic.as_ref().clone()].into_iter().collect();
            return self.diagnostics(&found, &Files::new());
        }
        if let CommandError::State(StoreError::Busy { instance, holder }) = error {
            let found = [busy(instance, holder.as_ref(), Clock::System.now())]
                .into_iter()
                .collect();
            return self.diagnostics(&found, &Files::new());
        }
        if let CommandError::Catalogs(found) = error {
            return self.diagnostics(&found.diagnostics, &found.files);
        }
        if matches!(error, CommandError::Reported | CommandError::Held) {
            return;
        }
        if self.is_json() {
            return self.push(json::error(error, &error.help()));
        }
        if matches!(error, CommandError::Refused) {
            return self.terminal.write_message("Nothing was changed.");
        }
        let paint = self.terminal.err;
        let mut text = format!(
            "{}{}\n",
            paint.red(paint.bold("error")),
            paint.bold(format!(": {error}"))
        );
        for cause in error.causes() {
            let cause = cause.trim_end().replace('\n', "\n    ");
            text.push_str(&format!("  {} {cause}\n", paint.dim("because:")));
        }
        for help in error.help() {
            text.push_str(&format!("  {} {help}\n", paint.cyan("help:")));
        }
        self.terminal.write_stderr(&text);
    }

    /// Sets the result of a command for machine output.
    pub(crate) fn set_result(&mut self, result: Json) {
        self.result = result;
    }

    /// Adds a line to the machine output of an operation, with the time. The next flush writes it.
    pub(crate) fn json_line(&mut self, mut line: Json) {
        line["time"] = json!(json::time(Clock::System.now_ms()));
        self.push_line(&line);
    }

    fn push_line(&mut self, line: &Json) {
        self.buffer.push_str(&line.to_string());
        self.buffer.push('\n');
        self.flush_if_long();
    }

    /// Adds an event to the machine output of an operation.
    pub(crate) fn operation_event(&mut self, envelope: &Envelope, event: &engine::Event) {
        self.push_line(&json::envelope(envelope, self.progress.step_of(event)));
    }

    /// Returns the text for a repeated question to a provider; `None` if it is not shown.
    pub(crate) fn retry_text(&mut self, what: &str, pause: Duration, why: &str) -> Option<String> {
        if self.terminal.quiet || self.is_json() {
            return None;
        }
        self.retries_shown += 1;
        match self.retries_shown {
            count if count <= MAX_RETRIES_SHOWN => Some(format!(
                "{what}: retried in {}, {why}",
                blueprint::format_duration(pause)
            )),
            count if count == MAX_RETRIES_SHOWN + 1 => {
                Some("(and more that is asked again)".to_owned())
            }
            _ => None,
        }
    }

    fn flush_if_long(&mut self) {
        if self.buffer.len() > 1 << 16 {
            self.flush();
        }
    }

    /// Writes the buffered lines.
    pub(crate) fn flush(&mut self) {
        if !self.buffer.is_empty() {
            self.terminal.json(&self.buffer);
            self.buffer.clear();
        }
    }

    /// Records the stops of an operation, and the steps that wait there.
    pub(crate) fn set_waiting(
        &mut self,
        waiting: &[blueprint::Address],
        stops: &[(blueprint::Name, blueprint::Breakpoint)],
        unready: &[(blueprint::Address, blueprint::Name)],
    ) {
        (self.waiting, self.stops) = (waiting.to_vec(), stops.to_vec());
        self.unready = unready.to_vec();
    }

    /// Records the planned steps that the operation did not do.
    pub(crate) fn set_not_done(&mut self, addresses: &[blueprint::Address]) {
        self.not_done = self.progress.not_done(addresses);
    }

    /// Names the steps that were not done: all of them with `--verbose`, otherwise the first ones.
    pub(crate) fn print_not_done(&self) {
        const NAMED: usize = 10;
        if self.not_done.is_empty() {
            return;
        }
        let most = if self.terminal.verbose {
            usize::MAX
        } else {
            NAMED
        };
        let named = self.not_done.iter().take(most);
        let mut text: Vec<String> = named
            .map(|one| format!("{} ({})", one.address, one.action.word()))
            .collect();
        if let Some(more) = self
            .not_done
            .len()
            .checked_sub(most)
            .filter(|more| *more > 0)
        {
            text.push(format!("and {more} more (`--verbose` names them)"));
        }
        self.terminal
            .write_message(format!("Not done: {}.", text.join(", ")));
    }

    /// The exit code of an operation that the user stopped: `Interrupted` only if no step had
    /// begun.
    pub(crate) fn interrupted(&self) -> Exit {
        if self.progress.has_begun() {
            Exit::Failed
        } else {
            Exit::Interrupted
        }
    }

    /// Records the counts of an operation.
    pub(crate) fn set_counts(&mut self, counts: Counts) {
        self.counts = counts;
    }

    /// The counts of an operation; zero before they are known.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Writes the end of machine output.
    pub(crate) fn finish(&mut self, exit: Exit) {
        if !self.is_json() {
            return;
        }
        if self.operation {
            let mut summary = json!({
                "event": "summary",
                "created": self.counts.created,
                "updated": self.counts.updated,
                "deleted": self.counts.deleted,
                "replaced": self.counts.replaced,
                "exit": exit as u8,
            });
            // Only an operation that stopped at a breakpoint has these fields.
            if !self.waiting.is_empty() {
                summary["waiting"] = json!(std::mem::take(&mut self.waiting));
            }
            if !self.unready.is_empty() {
                let unready = std::mem::take(&mut self.unready);
                summary["unready"] = unready
                    .into_iter()
                    .map(|(address, why)| json!({"address": address, "waits_for": why}))
                    .collect();
            }
            if !self.stops.is_empty() {
                let stops = std::mem::take(&mut self.stops);
                summary["stops"] = stops
                    .into_iter()
                    .map(|(address, at)| json!({"address": address, "at": at}))
                    .collect();
            }
            if !self.not_done.is_empty() {
                summary["not_done"] = std::mem::take(&mut self.not_done)
                    .iter()
                    .map(json::not_done)
                    .collect();
            }
            if !self.result.is_null() {
                summary["result"] = std::mem::take(&mut self.result);
            }
            self.mark(&mut summary);
            self.json_line(summary);
            self.flush();
        } else {
            let mut value = json!({
                "format": json::FORMAT,
                "command": self.command,
                "diagnostics": std::mem::take(&mut self.diagnostics),
                "result": std::mem::take(&mut self.result),
            });
            self.mark(&mut value);
            self.terminal.json(&format!("{value}\n"));
        }
    }
}

/// The maximum number of repeated questions that are shown one by one.
const MAX_RETRIES_SHOWN: usize = 5;

impl Frontend for Report {
    fn found(&mut self, found: &Diagnostics, files: &Files) {
        self.diagnostics(found, files);
    }

    fn event(&mut self, envelope: Envelope) {
        match envelope.event {
            SessionEvent::Notice(notice) => self.terminal.write_message(in_words(&notice)),
            SessionEvent::ProviderRetry { what, pause, why } => {
                if let Some(text) = self.retry_text(&what, pause, &why) {
                    self.terminal.write_stderr(&format!("{text}\n"));
                }
            }
            // `operation` shows the events of an operation.
            SessionEvent::Reading(_) | SessionEvent::Operation(_) => {}
        }
    }

    fn is_renamed(&mut self, renamed: &Renamed) -> Option<bool> {
        if !self.terminal.can_ask() || self.has_consent {
            return None;
        }
        let Renamed {
            document,
            instance,
            before,
        } = renamed;
        self.terminal.write_message(format!(
            "The instance `{instance}` was deployed from `{before}`, which is gone."
        ));
        Some(self.terminal.confirm(&format!(
            "Is `{document}` that document under its new name?"
        )))
    }

    fn can_ask(&self) -> bool {
        self.terminal.can_ask()
    }

    fn inputs(&mut self, checked: &Checked, given: &mut Given) -> Result<(), CommandError> {
        if self.terminal.can_ask() {
            ask::ask(checked, given)
        } else {
            Ok(())
        }
    }
}

/// A notice as a sentence.
pub(crate) fn in_words(notice: &Notice) -> String {
    match notice {
        Notice::BelongsTo(instance) => {
            format!("This document belongs to the instance `{instance}`.")
        }
        Notice::NewInstance(instance) => format!("Then `{instance}` is a new instance."),
        Notice::DataSourceHasEffects { name, type_name } => {
            format!("reading `{name}` ({type_name}) runs a command or sends a request")
        }
        Notice::AtLastGeneration(number) => format!(
            "Generation {number} is the last one that ended well, and nothing came after it. To go back further, name one: `cyan history` lists them."
        ),
        Notice::WaitsForOperation { instance, who } => {
            format!("Waiting for the operation of {who} on `{instance}`.")
        }
        Notice::NotPruned { instance, why } => {
            format!("The history of `{instance}` was not pruned: {why}.")
        }
        Notice::Store(text) => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_the_first_of_each_code_and_counts_the_rest() {
        let many = |count: usize| -> Diagnostics {
            let of = |at: usize| {
                if at.is_multiple_of(2) {
                    &engine::codes::INPUT_CHANGED
                } else {
                    &engine::codes::MISSING_VARIABLE
                }
            };
            (0..count).map(|at| of(at).new(format!("x{at}"))).collect()
        };
        let shown = |all: bool, count: usize| {
            let found = many(count);
            let mut brief = Brief::new(all, &found);
            let shown = found.iter().filter(|one| brief.shows(one)).count();
            (shown, brief.omitted_summary())
        };
        assert_eq!(shown(false, 20), (20, String::new()));
        assert_eq!(shown(true, 1000), (1000, String::new()));
        let (count, rest) = shown(false, 1001);
        assert_eq!(count, 6);
        assert!(
            rest.starts_with("995 more are not shown here:\n  498 of "),
            "{rest}"
        );
        assert!(rest.contains("--all") && rest.contains("--json"), "{rest}");
    }
}
