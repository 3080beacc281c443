//! Runs one operation with its user interface: shows the plan, asks for confirmation, applies the
//! plan, and reports the result.

use std::time::{Duration, Instant};

use diag::Files;
use engine::apply::Outcome;
use engine::run::{Aborted, Clock, Interrupt, Operated, taken_over};
use engine::{Action, Purpose, ShownPlan, Staged, Step};
use engine::{
    Envelope, Frontend, OperateRequest, PlannedOperation, RunProgress, Session, SessionEvent, json,
    key, raise_warnings,
};
use serde_json::json;
use state::{InstanceName, OperationKind, OperationOutcome, Store, StoreError};
use tokio::sync::mpsc;

use crate::arguments::ApplyArguments;
use crate::exit::{CommandError, Exit};
use crate::plugin_log;
use crate::signals;
use crate::terminal::Terminal;
use crate::view::drawing::Drawing;
use crate::view::live::Live;
use crate::view::plan as plan_view;
use crate::view::report::{Report, in_words};
use crate::view::stops;
use crate::view::values::short;

/// The interval at which the live view is drawn and waiting lines are written.
const TICK: Duration = Duration::from_millis(100);

/// The time limit for an answer. After a slower answer, the plan is checked for changes before it
/// is applied.
const ANSWER_TIME_LIMIT: Duration = Duration::from_secs(3);

/// Prints the notices of a store, for example the place of a backup before a rewrite.
pub(crate) fn print_notices(store: &dyn Store, report: &Report) {
    for notice in store.notices() {
        report.terminal.write_message(format!("{notice}."));
    }
}

/// Shows a plan.
pub(crate) fn show(plan: &ShownPlan<'_>, report: &mut Report, with_summary: bool) {
    let with_steps = !report.terminal.quiet;
    show_parts(plan, report, with_steps, with_summary);
}

fn show_parts(plan: &ShownPlan<'_>, report: &mut Report, with_steps: bool, with_summary: bool) {
    if report.is_json() {
        return;
    }
    let mut text = match with_steps {
        true => plan_view::plan(plan, Drawing::on(&report.terminal)),
        false => String::new(),
    };
    if with_summary {
        text.push_str(&plan_view::summary(plan.counts()));
        text.push('\n');
    }
    report.terminal.write_result(&text);
}

/// Shows a plan before it is applied.
pub(crate) fn present(staged: &Staged, report: &mut Report) {
    if report.is_json() {
        let mut line = json!({"format": json::FORMAT, "event": "plan"});
        if let Some(line) = line.as_object_mut() {
            line.extend(json::plan(&staged.plan.shown()));
        }
        report.mark(&mut line);
        report.json_line(line);
        report.flush();
    } else {
        show(&staged.plan.shown(), report, false);
    }
}

/// Refuses a plan that would change a resource although the user expects none to change. What is only recorded
/// or read does not count.
pub(crate) fn refuse_changes(staged: &Staged) -> Result<(), CommandError> {
    let changes = |step: &&Step| {
        !matches!(
            step.action,
            Action::None | Action::Move | Action::Import | Action::Read
        )
    };
    match staged.plan.steps.iter().filter(changes).count() {
        0 => Ok(()),
        count => Err(CommandError::UnexpectedChanges { count }),
    }
}

/// Makes a key if secrets must be sealed, there is no key, and the program runs on a terminal.
pub(crate) fn make_key_on_terminal(
    session: &mut Session,
    report: &Report,
) -> Result<(), CommandError> {
    if session.sealer().can_seal() || !report.terminal.can_ask() {
        return Ok(());
    }
    if let Some((sealer, file)) = key::make_default_key()? {
        report.terminal.write_stderr(&format!(
            "A key for secrets has been made in {}. Keep a copy of it: what it seals cannot be read without it.\n",
            file.display()
        ));
        session.seal_with(sealer);
    }
    Ok(())
}

/// Shows a plan, asks for confirmation unless the plan was saved or consent was given, and applies
/// it.
pub(crate) async fn carry_out(
    planned: PlannedOperation,
    files: &Files,
    is_saved: bool,
    session: &mut Session,
    running: &ApplyArguments,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let missing = planned.without_provider(session.is_simulated());
    if missing.has_errors() {
        report.diagnostics(&missing, files);
        return Ok(Exit::Unusable);
    }
    let yes = is_saved || running.consent.yes || session.config.yes;
    let is_readable = planned.staged.plan.unread_but_needed().is_empty();
    let asks = !yes && !planned.staged.plan.is_empty() && report.terminal.can_ask();
    match asks {
        // A person must see what the question is about, even with `--quiet`.
        true => show_parts(&planned.staged.plan.shown(), report, true, false),
        false => present(&planned.staged, report),
    }
    if !is_readable {
        // The diagnostics of the plan report the failed reads.
        return Ok(Exit::Unusable);
    }
    let mut looks_again = is_saved;
    if !yes && !planned.staged.plan.is_empty() {
        let asked = Instant::now();
        ask(&planned.staged, &planned.instance, report)?;
        looks_again |= asked.elapsed() > ANSWER_TIME_LIMIT;
    }
    apply_confirmed(planned, files, looks_again, session, running, report).await
}

/// Applies a plan that was shown and confirmed. With `looks_again`, compares the inputs of the plan
/// with the current ones first, because the plan may be out of date.
pub(crate) async fn apply_confirmed(
    planned: PlannedOperation,
    files: &Files,
    looks_again: bool,
    session: &mut Session,
    running: &ApplyArguments,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if planned.staged.plan.secret {
        make_key_on_terminal(session, report)?;
    }
    let plan = &planned.staged.plan;
    let has_exports = plan.exports.iter().any(|export| export.after.is_some());
    let destroys = plan.purpose == Purpose::Destroy;
    report.progress = RunProgress::of(plan);
    let instance = planned.instance.clone();
    let settings = session.run_settings(running.parallelism, running.on_failure, running.wait);
    let operated = run(planned, looks_again, settings, session, report).await;
    let exit = match operated {
        Operated::Refused(mut found) => {
            raise_warnings(session.strict, &mut found);
            report.diagnostics(&found, files);
            return Ok(Exit::Unusable);
        }
        Operated::Busy(found) => {
            report.diagnostics(&found, files);
            return Ok(Exit::Busy);
        }
        Operated::Store(error) => return Err(error.into()),
        Operated::Nothing => Exit::Done,
        Operated::Aborted(lost) => report_aborted(lost, files, report),
        Operated::Done(outcome) => report_outcome(&outcome, files, destroys, report),
    };
    print_end(exit, has_exports, session, &instance, report).await?;
    Ok(exit)
}

/// Reports a run whose end could not be recorded.
fn report_aborted(lost: Aborted, files: &Files, report: &mut Report) -> Exit {
    let interrupted = lost.store.is_none();
    report.set_counts(lost.counts);
    report.set_not_done(&lost.undone);
    match lost.store {
        Some(StoreError::Busy { instance, holder }) => {
            let found =
                std::iter::once(taken_over(&instance, holder.as_ref(), Clock::System.now()))
                    .collect();
            report.diagnostics(&found, files);
        }
        Some(error) => report.error(&CommandError::State(error)),
        None => {}
    }
    for address in &lost.left_in_flight {
        report.terminal.write_message(format!(
            "{address}: the call is still in flight; the next run reads its outcome"
        ));
    }
    report.terminal.write_message(
        "The operation was cut off. All recorded outcomes are valid; run the same command again to continue.",
    );
    report.print_not_done();
    if interrupted {
        report.interrupted()
    } else {
        Exit::Failed
    }
}

/// Reports the end of an operation.
fn report_outcome(outcome: &Outcome, files: &Files, destroys: bool, report: &mut Report) -> Exit {
    report.diagnostics(&outcome.diagnostics, files);
    report.set_counts(outcome.counts);
    report.set_waiting(&outcome.waiting, &outcome.stops, &outcome.unready);
    for address in &outcome.left_in_flight {
        report.terminal.write_message(format!(
            "{address}: the call is still in flight; the next run reads its outcome"
        ));
    }
    for (address, type_name, id) in &outcome.left_behind {
        report.terminal.write_message(format!(
            "{address}: forgotten; it may still exist ({type_name} `{id}`)"
        ));
    }
    let names: Vec<String> = outcome.waiting.iter().map(ToString::to_string).collect();
    if !outcome.stops.is_empty() {
        report
            .terminal
            .write_message(stops::stopped_text(&outcome.stops, &names, destroys));
    }
    if !outcome.unready.is_empty() {
        report
            .terminal
            .write_message(stops::unready_text(&outcome.unready, &names));
    }
    let is_held = !(outcome.stops.is_empty() && outcome.unready.is_empty());
    match outcome.outcome {
        Some(OperationOutcome::Ready | OperationOutcome::Gone) => Exit::Done,
        Some(OperationOutcome::Interrupted) if is_held => Exit::Done,
        Some(OperationOutcome::Interrupted) if !outcome.waiting.is_empty() => {
            report.terminal.write_message(format!(
                "Stopped on request. Not started: {}.",
                names.join(", ")
            ));
            Exit::Done
        }
        Some(OperationOutcome::Interrupted) => {
            report.set_not_done(&outcome.undone);
            report.terminal.write_message(
                "Stopped. What was done is recorded: run the same command again to continue.",
            );
            report.print_not_done();
            report.interrupted()
        }
        Some(OperationOutcome::Failed) if let Some(second) = &outcome.rolled_back => {
            let ended_well = matches!(
                second.outcome,
                Some(OperationOutcome::Ready | OperationOutcome::Gone)
            );
            let how = if ended_well {
                "It was rolled back"
            } else {
                "It was rolled back in part"
            };
            report.set_not_done(&outcome.undone);
            report
                .terminal
                .write_message(format!("{how}: {}.", plan_view::done(second.counts)));
            Exit::Failed
        }
        Some(OperationOutcome::Failed) | None => {
            report.set_not_done(&outcome.undone);
            report.terminal.write_message(
                "Not everything was done. What was done is recorded: fix the cause, and run the same command again.",
            );
            report.print_not_done();
            Exit::Failed
        }
    }
}

/// Shows the counts. On a terminal, also shows the exports of a successful operation.
async fn print_end(
    exit: Exit,
    has_exports: bool,
    session: &Session,
    instance: &InstanceName,
    report: &mut Report,
) -> Result<(), CommandError> {
    if report.is_json() {
        return Ok(());
    }
    let mut text = String::new();
    let drawing = Drawing::on(&report.terminal);
    let Terminal {
        verbose,
        quiet,
        out,
        ..
    } = report.terminal;
    if exit == Exit::Done && has_exports && verbose | report.terminal.is_watched() && !quiet {
        let snapshot = session.reading().load(instance).await?;
        text.push_str(&format!("\n{}\n", out.bold("exports")));
        for (name, value) in &snapshot.exports {
            text.push_str(&format!(
                "  {} = {}\n",
                out.bold(name),
                short(value, drawing)
            ));
        }
        text.push('\n');
    }
    text.push_str(&format!("{}\n", plan_view::done(report.counts())));
    report.terminal.write_result(&text);
    Ok(())
}

/// Asks whether to apply a plan.
pub(crate) fn ask(
    staged: &Staged,
    instance: &InstanceName,
    report: &mut Report,
) -> Result<(), CommandError> {
    let summary = match staged.plan.kind {
        OperationKind::State => "in the state alone".to_owned(),
        _ => plan_view::summary(staged.plan.counts()),
    };
    if !report.terminal.can_ask() {
        return Err(CommandError::NotInteractive {
            question: format!("`{instance}` would be changed ({summary})"),
            help: "say `--yes` if that is what you want".to_owned(),
        });
    }
    let everything = staged.plan.options.targets.is_empty();
    let question = match staged.plan.purpose {
        _ if staged.plan.kind == OperationKind::State => {
            format!("{instance}: only the state changes. Do it?")
        }
        Purpose::Deploy | Purpose::Reconcile => format!("{instance}: {summary}. Do it?"),
        Purpose::Destroy if !everything => format!("{instance}: {summary}. Do it?"),
        Purpose::Destroy => {
            format!("{instance}: all resources will be deleted ({summary}). Do it?")
        }
    };
    if report.terminal.confirm(&question) {
        Ok(())
    } else {
        Err(CommandError::Refused)
    }
}

/// A front end that passes the events of an operation to the views.
struct Relay(mpsc::UnboundedSender<Envelope>);

impl Frontend for Relay {
    fn found(&mut self, _: &diag::Diagnostics, _: &Files) {
        // The result of an operation has its diagnostics.
    }

    fn event(&mut self, envelope: Envelope) {
        // The receiver is closed only when the operation has ended.
        let _ = self.0.send(envelope);
    }
}

/// The views of a running operation.
struct Views<'a> {
    live: Live,
    report: &'a mut Report,
    /// Notices to print when the operation has ended.
    notices: Vec<String>,
}

impl Views<'_> {
    fn show(&mut self, envelope: &Envelope) {
        match &envelope.event {
            SessionEvent::Operation(event) => {
                self.report.progress.follow(event);
                match self.report.is_json() {
                    true => self.report.operation_event(envelope, event),
                    false => self.live.event(event),
                }
            }
            SessionEvent::Notice(notice) => self.notices.push(in_words(notice)),
            SessionEvent::ProviderRetry { what, pause, why } => {
                if let Some(text) = self.report.retry_text(what, *pause, why) {
                    self.live.print_line(&text);
                }
            }
            SessionEvent::Reading(_) => {}
        }
    }

    /// Shows the lines of plugins.
    fn show_plugin_log(&mut self, log: &plugin_log::BufferGuard) {
        if let Some(lines) = log.take_lines() {
            self.live.print_line(lines.trim_end_matches('\n'));
        }
    }

    fn tick(&mut self) {
        match self.report.is_json() {
            true => self.report.flush(),
            false => self.live.tick(),
        }
    }
}

/// Applies a plan and shows its events. The first signal stops the operation gently, the second one
/// at once.
async fn run(
    planned: PlannedOperation,
    looks_again: bool,
    settings: engine::apply::ApplySettings,
    session: &Session,
    report: &mut Report,
) -> Operated {
    let (stop, interrupts) = mpsc::unbounded_channel();
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut relay = Relay(sender);
    let mut signals = signals::listen();
    let mut stop_requests = [
        (
            Interrupt::Graceful,
            "Stopping. A second signal stops at once.",
        ),
        (Interrupt::Immediate, "Stopping at once."),
    ]
    .into_iter();
    let mut views = Views {
        live: Live::new(&report.terminal),
        report,
        notices: Vec::new(),
    };
    let log = plugin_log::buffer_lines();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let request = OperateRequest {
        planned,
        recheck_inputs: looks_again,
        settings,
        who: who(),
        interrupts,
    };
    let operated = {
        let mut operating = std::pin::pin!(session.operate(request, &mut relay));
        loop {
            tokio::select! {
                biased;
                Some(envelope) = events.recv() => views.show(&envelope),
                operated = &mut operating => break operated,
                () = signals.next() => {
                    if let Some((wish, words)) = stop_requests.next() {
                        if !views.report.is_json() {
                            views.live.stopping(words);
                        }
                        // Sending fails only if the operation has just ended.
                        let _ = stop.send(wish);
                    }
                }
                _ = ticks.tick() => {
                    views.show_plugin_log(&log);
                    views.tick();
                }
            }
        }
    };
    while let Ok(envelope) = events.try_recv() {
        views.show(&envelope);
    }
    views.show_plugin_log(&log);
    views.live.end();
    drop(log);
    views.report.flush();
    for notice in &views.notices {
        views.report.terminal.write_message(notice);
    }
    operated
}

/// The identity of this process, as `user@host (process N)`.
pub(crate) fn who() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let user = user.unwrap_or_else(|| "unknown".to_owned());
    format!("{user}@{} (process {})", host(), std::process::id())
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}
