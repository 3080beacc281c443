//! One operation as a person sees it: the plan is shown, a question asked, the plan carried out, its end told.

use std::time::{Duration, Instant};

use diag::{Diagnostics, Files};
use engine::apply::{OnFailure as EngineOnFailure, Settings};
use engine::shell::{Clock, Interrupt, Operated, Shell, busy, operate, taken_over};
use engine::{Answers, Checked, Documents, FrozenDocument, Given, Options, Request, Staged};
use serde_json::json;
use state::{InstanceName, LeaseHolder, OperationKind, OperationOutcome, Snapshot, Store, StoreError};
use std::sync::Arc;
use tokio::sync::mpsc;

use crate::arguments::{OnFailure, Running};
use crate::commands::rollback::WayBack;
use crate::course::Course;
use crate::exit::{CommandError, Exit};
use crate::registry::Registry;
use crate::retention;
use crate::setup::{Setup, raise_warnings};
use crate::view::live::Live;
use crate::view::plan as plan_view;
use crate::view::report::Report;
use crate::view::stops;
use crate::{json, key, signals};

/// How often a live view is drawn and waiting lines are written.
const TICK: Duration = Duration::from_millis(100);

/// An answer that took longer may be about things that have changed since the plan was shown.
const FRESH: Duration = Duration::from_secs(3);

/// What a plan is made from, beside the world.
pub(crate) struct Wanted {
    /// The checked documents and the text of the root; none to destroy.
    pub(crate) document: Option<(Arc<Documents>, FrozenDocument)>,
    /// The inputs as given.
    pub(crate) given: Given,
    /// How.
    pub(crate) options: Options,
    /// The state.
    pub(crate) snapshot: Snapshot,
    /// Answers of a kept plan.
    pub(crate) answers: Option<Answers>,
}

impl Wanted {
    /// The request for a plan. `others` is the state, in which other instances may manage the same things.
    pub(crate) fn request<'a>(self, shell: &'a Shell, registry: &Registry, others: &'a dyn Store) -> Request<'a> {
        let Wanted { document, given, options, snapshot, answers } = self;
        Request {
            instance: shell.instance.clone(),
            document,
            given,
            options,
            snapshot,
            catalogs: registry.catalogs.clone(),
            functions: registry.functions.clone(),
            answers,
            others: Some(others),
            world: shell,
        }
    }
}

/// Makes a plan, and says what was found. None if anything stands in the way; where that is only that something could not
/// be read, there is a plan, to be shown.
pub(crate) async fn stage(
    wanted: Wanted,
    setup: &Setup,
    shell: &Shell,
    registry: &Registry,
    files: &Files,
    report: &mut Report,
) -> Option<Staged> {
    if let Some((documents, _)) = &wanted.document
        && wanted.answers.is_none()
        && !setup.global.offer.simulated
    {
        documents.distinct().for_each(|checked| announce(checked, report));
    }
    let mut found = Diagnostics::new();
    let others = setup.reading();
    let staged = engine::plan(wanted.request(shell, registry, others.as_ref()), &mut found).await;
    raise_warnings(setup.global.strict, &mut found);
    report.diagnostics(&found, files);
    staged.filter(|staged| !found.has_errors() || !staged.plan.unread_but_needed().is_empty())
}

/// Says which data sources run something or send a request, before they do.
fn announce(checked: &Checked, report: &Report) {
    let types = checked.data_source_types.iter().zip(&checked.blueprint.data_sources);
    for (ty, (name, source)) in types {
        if ty.as_ref().is_some_and(|ty| ty.acts) {
            report
                .terminal
                .say(format!("reading `{name}` ({}) runs a command or sends a request", source.type_name.item));
        }
    }
}

/// Says who holds the instance, if somebody does: what is under way would be taken for cut off.
pub(crate) async fn is_busy(setup: &Setup, instance: &InstanceName, report: &mut Report) -> Result<bool, CommandError> {
    let now = Clock::System.now();
    let holder = setup.reading().info(instance).await?.and_then(|info| info.holder).filter(LeaseHolder::holds);
    if let Some(holder) = &holder {
        let found: Diagnostics = [busy(instance, Some(holder), now)].into_iter().collect();
        report.diagnostics(&found, &Files::new());
    }
    Ok(holder.is_some())
}

/// What is remembered, where its open calls were really cut off: none (which has been
/// said) if somebody is at work on them. Who was at work when it was loaded may have come to an end since.
pub(crate) async fn at_rest(
    setup: &Setup,
    instance: &InstanceName,
    report: &mut Report,
) -> Result<Option<Snapshot>, CommandError> {
    let store = setup.reading();
    let mut snapshot = store.load(instance).await?;
    while !snapshot.open.is_empty() {
        if is_busy(setup, instance, report).await? {
            return Ok(None);
        }
        if store.head(instance).await? == snapshot.revision {
            break;
        }
        snapshot = store.load(instance).await?;
    }
    Ok(Some(snapshot))
}

/// Tells what a store has done by itself: above all where it has kept a state that it has rewritten.
pub(crate) fn tell_notices(store: &dyn Store, report: &Report) {
    for notice in store.notices() {
        report.terminal.say(format!("{notice}."));
    }
}

/// Shows a plan.
pub(crate) fn show(staged: &Staged, report: &mut Report, with_summary: bool) {
    let plan = &staged.plan;
    if report.is_json() {
        return;
    }
    let verbose = report.terminal.verbose;
    let mut text =
        if report.terminal.quiet { String::new() } else { plan_view::plan(plan, verbose, report.terminal.out) };
    if with_summary {
        text.push_str(&plan_view::summary(plan.counts()));
        text.push('\n');
    }
    report.terminal.data(&text);
}

/// What a plan needs a provider for that is not there: the first step of each such namespace, or of each type that its provider only
/// describes. A rehearsal has one for everything.
fn unmanaged(staged: &Staged, shell: &Shell, simulated: bool) -> Diagnostics {
    let mut said: Vec<&str> = Vec::new();
    let mut found = Diagnostics::new();
    for step in staged.plan.steps.iter().filter(|step| step.action != engine::Action::None) {
        let namespace = step.type_name.package_name();
        let described_only = || match shell.catalogs.resource_type(&step.type_name) {
            provider::TypeRef::Known(ty) => ty.capabilities.described_only,
            _ => false,
        };
        let what = match shell.providers.contains_key(namespace) {
            false => namespace,
            true if !simulated && described_only() => step.type_name.as_ref(),
            true => continue,
        };
        if said.contains(&what) {
            continue;
        }
        said.push(what);
        let diagnostic = engine::codes::NO_PROVIDER.new(format!("there is no provider for `{what}` here yet"));
        let diagnostic = match step.span.is_some() {
            true => diagnostic.label(step.span, format!("`{}` cannot be made without one", step.address)),
            false => diagnostic.note(format!("`{}` needs it", step.address)),
        };
        found.push(diagnostic.help("rehearse it: `--simulate` stands in for every provider"));
    }
    found
}

/// Shows a plan that is about to be carried out.
pub(crate) fn present(staged: &Staged, report: &mut Report) {
    if report.is_json() {
        let mut line = json!({"format": json::FORMAT, "event": "plan"});
        if let Some(line) = line.as_object_mut() {
            line.extend(json::plan(&staged.plan));
        }
        report.mark(&mut line);
        report.json_line(line);
        report.flush();
    } else {
        show(staged, report, false);
    }
}

/// Shows a plan, asks unless it was kept or somebody said yes, and carries it out.
#[expect(clippy::too_many_arguments, reason = "each is a thing of its own; one caller per kind of operation")]
pub(crate) async fn carry_out(
    staged: Staged,
    kept: bool,
    setup: &mut Setup,
    shell: &Shell,
    instance: &InstanceName,
    running: &Running,
    files: &Files,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let missing = unmanaged(&staged, shell, setup.global.offer.simulated);
    if missing.has_errors() {
        report.diagnostics(&missing, files);
        return Ok(Exit::Unusable);
    }
    let yes = kept || running.consent.yes || setup.config.yes;
    let is_readable = staged.plan.unread_but_needed().is_empty();
    present(&staged, report);
    if !is_readable {
        // Which has been said.
        return Ok(Exit::Unusable);
    }
    let mut looks_again = kept;
    if !yes && !staged.plan.is_empty() {
        let asked = Instant::now();
        ask(&staged, instance, report)?;
        looks_again |= asked.elapsed() > FRESH;
    }
    carry_out_shown(staged, looks_again, setup, shell, instance, running, files, report).await
}

/// Carries out a plan that somebody has seen and agreed to. Everything that it was made from is looked at again first where
/// `looks_again` says that time has passed.
#[expect(clippy::too_many_arguments, reason = "the second half of `carry_out`")]
pub(crate) async fn carry_out_shown(
    staged: Staged,
    looks_again: bool,
    setup: &mut Setup,
    shell: &Shell,
    instance: &InstanceName,
    running: &Running,
    files: &Files,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if staged.plan.secret
        && !setup.sealer.can_seal()
        && let Some(sealer) = key::make_if_watched(&report.terminal)?
    {
        setup.seal_with(sealer);
    }
    let settings = settings(running, setup);
    let has_exports = staged.plan.exports.iter().any(|export| export.after.is_some());
    let destroys = staged.plan.purpose == engine::Purpose::Destroy;
    report.course = Course::of(&staged.plan);
    let store = setup.writing();
    let back = WayBack::new(setup, instance);
    let operated = run(staged, looks_again, shell, store.as_ref(), &back, settings, report).await;
    tell_notices(store.as_ref(), report);
    let exit = match operated {
        Operated::Refused(mut found) => {
            raise_warnings(setup.global.strict, &mut found);
            report.diagnostics(&found, files);
            return Ok(Exit::Unusable);
        }
        Operated::Busy(found) => {
            report.diagnostics(&found, files);
            return Ok(Exit::Busy);
        }
        Operated::Store(error) => return Err(error.into()),
        Operated::Nothing => Exit::Done,
        Operated::Lost(lost) => {
            let interrupted = lost.store.is_none();
            report.set_counts(lost.counts);
            report.set_not_done(&lost.undone);
            match lost.store {
                Some(StoreError::Busy { instance, holder }) => {
                    let found = [taken_over(&instance, holder.as_ref(), Clock::System.now())].into_iter().collect();
                    report.diagnostics(&found, files);
                }
                Some(error) => report.error(&CommandError::State(error)),
                None => {}
            }
            for address in &lost.left_in_flight {
                report.terminal.say(format!("{address}: still under way; the next run looks what became of it"));
            }
            report
                .terminal
                .say("The operation was cut off. What was recorded is true; run the same command again to go on.");
            report.tell_not_done();
            if interrupted { report.interrupted() } else { Exit::Failed }
        }
        Operated::Done(outcome) => {
            report.diagnostics(&outcome.diagnostics, files);
            report.set_counts(outcome.counts);
            report.set_waiting(&outcome.waiting, &outcome.stops);
            for address in &outcome.left_in_flight {
                report.terminal.say(format!("{address}: still under way; the next run looks what became of it"));
            }
            for (address, type_name, id) in &outcome.left_behind {
                report.terminal.say(format!("{address}: forgotten; it may still exist ({type_name} `{id}`)"));
            }
            let names: Vec<String> = outcome.waiting.iter().map(ToString::to_string).collect();
            if !outcome.stops.is_empty() {
                report.terminal.say(stops::standing(&outcome.stops, &names, destroys));
            }
            match outcome.outcome {
                Some(OperationOutcome::Ready | OperationOutcome::Gone) => Exit::Done,
                Some(OperationOutcome::Interrupted) if !outcome.stops.is_empty() => Exit::Done,
                Some(OperationOutcome::Interrupted) if !outcome.waiting.is_empty() => {
                    report.terminal.say(format!("Stopped as asked. What waits: {}.", names.join(", ")));
                    Exit::Done
                }
                Some(OperationOutcome::Interrupted) => {
                    report.set_not_done(&outcome.undone);
                    report.terminal.say("Stopped. What was done is recorded: run the same command again to continue.");
                    report.tell_not_done();
                    report.interrupted()
                }
                Some(OperationOutcome::Failed) if let Some(second) = &outcome.rolled_back => {
                    let ended_well = matches!(second.outcome, Some(OperationOutcome::Ready | OperationOutcome::Gone));
                    let how = if ended_well { "It was rolled back" } else { "It was rolled back in part" };
                    report.set_not_done(&outcome.undone);
                    report.terminal.say(format!("{how}: {}.", plan_view::done(second.counts)));
                    Exit::Failed
                }
                Some(OperationOutcome::Failed) | None => {
                    report.set_not_done(&outcome.undone);
                    report.terminal.say(
                        "Not everything was done. What was done is recorded: fix the cause, and run the same command again.",
                    );
                    report.tell_not_done();
                    Exit::Failed
                }
            }
        }
    };
    if exit == Exit::Done {
        let keep = setup.config.history.keep;
        if let Err(error) = retention::after_an_operation(store.as_ref(), instance, &who(), keep).await {
            report.terminal.say(format!("The history of `{instance}` was not pruned: {error}."));
        }
    }
    if !report.is_json() {
        let mut text = String::new();
        if exit == Exit::Done
            && has_exports
            && report.terminal.verbose | report.terminal.is_watched()
            && !report.terminal.quiet
        {
            let snapshot = store.load(instance).await?;
            text.push_str(&format!("\n{}\n", report.terminal.out.bold("exports")));
            for (name, value) in &snapshot.exports {
                text.push_str(&format!(
                    "  {} = {}\n",
                    report.terminal.out.bold(name),
                    crate::view::changes::short(value)
                ));
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let counts = report.counts();
        text.push_str(&format!("{}\n", plan_view::done(counts)));
        report.terminal.data(&text);
    }
    Ok(exit)
}

pub(crate) fn ask(staged: &Staged, instance: &InstanceName, report: &mut Report) -> Result<(), CommandError> {
    let summary = match staged.plan.kind {
        OperationKind::State => "in the state alone".to_owned(),
        _ => plan_view::summary(staged.plan.counts()),
    };
    if !report.terminal.can_ask() {
        return Err(CommandError::NobodyToAsk {
            question: format!("`{instance}` would be changed ({summary})"),
            help: "say `--yes` if that is what you want".to_owned(),
        });
    }
    let everything = staged.plan.options.targets.is_empty();
    let question = match staged.plan.purpose {
        _ if staged.plan.kind == OperationKind::State => format!("{instance}: only the state changes. Do it?"),
        engine::Purpose::Deploy | engine::Purpose::Reconcile => format!("{instance}: {summary}. Do it?"),
        engine::Purpose::Destroy if !everything => format!("{instance}: {summary}. Do it?"),
        engine::Purpose::Destroy => format!("{instance}: all resources will be deleted ({summary}). Do it?"),
    };
    if report.terminal.confirm(&question) { Ok(()) } else { Err(CommandError::Refused) }
}

fn settings(running: &Running, setup: &Setup) -> Settings {
    let mut settings = Settings::default();
    if let Some(parallelism) = running.parallelism.or(setup.config.parallelism) {
        settings.parallelism = usize::from(parallelism);
    }
    settings.on_failure = match running.on_failure.or(setup.config.on_failure) {
        None | Some(OnFailure::Stop) => EngineOnFailure::Stop,
        Some(OnFailure::KeepGoing) => EngineOnFailure::KeepGoing,
        Some(OnFailure::Rollback) => EngineOnFailure::Rollback,
    };
    settings
}

/// Carries a plan out, showing events as they come, and stopping when a person says so.
async fn run(
    staged: Staged,
    kept: bool,
    shell: &Shell,
    store: &dyn state::Store,
    back: &WayBack<'_>,
    settings: Settings,
    report: &mut Report,
) -> Operated {
    let (sender, interrupts) = mpsc::unbounded_channel();
    let mut signals = signals::listen();
    let live = std::cell::RefCell::new(Live::new(&report.terminal));
    let as_json = report.is_json();
    let report = std::cell::RefCell::new(report);
    let tell = |event: engine::Event| {
        report.borrow_mut().course.follow(&event);
        if as_json {
            report.borrow_mut().event(&event);
        } else {
            live.borrow_mut().event(&event);
        }
    };
    let who = who();
    let operating = operate(staged, kept, shell, store, back.instance(), &who, settings, Some(back), interrupts, tell);
    let ticking = async {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if as_json {
                report.borrow_mut().flush();
            } else {
                live.borrow_mut().tick();
            }
        }
    };
    let listening = async {
        for (wish, words) in
            [(Interrupt::Gently, "Stopping. A second signal stops at once."), (Interrupt::AtOnce, "Stopping at once.")]
        {
            signals.next().await;
            if !as_json {
                live.borrow_mut().say(words);
            }
            // Nobody listens any more once the operation has ended, which is as well.
            let _ = sender.send(wish);
        }
        std::future::pending::<()>().await;
    };
    let operated = tokio::select! {
        operated = operating => operated,
        () = ticking => unreachable!("ticks have no end"),
        () = listening => unreachable!("listening has no end"),
    };
    live.borrow_mut().end();
    report.borrow_mut().flush();
    operated
}

/// Who runs this, as `user@host (process N)`.
pub(crate) fn who() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let user = user.unwrap_or_else(|| "somebody".to_owned());
    format!("{user}@{} (process {})", host(), std::process::id())
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}
