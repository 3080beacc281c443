//! The output of commands.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use blueprint::Value;
use diag::{Diagnostics, Files};
use engine::apply::Outcome;
use engine::plan_file::hidden;
use engine::run::Operated;
use engine::{Action, Change, Drift, Event, ExportAction, ExportChange, PlannedStop, Staged, Step};

use super::runner::Runner;
use crate::harness::{RunResult, StageResult};
use crate::json_values;

/// The variable whose value must not appear in any event.
const SECRET: &str = "password";

impl Runner {
    /// Shows the diagnostics of a stage; returns the plan, if there is one.
    pub(super) fn show_stage(&mut self, stage: StageResult) -> Option<Staged> {
        self.show_diagnostics(&stage.diagnostics, &stage.files);
        if stage.staged.is_none() {
            self.line("no plan");
        }
        stage.staged
    }

    fn show_diagnostics(&mut self, diagnostics: &Diagnostics, files: &Files) {
        for it in diagnostics {
            let place = files
                .get(it.span().file)
                .map(|file| file.position(it.span().start).line);
            let place = place
                .map(|line| format!(" (line {line})"))
                .unwrap_or_default();
            self.line(format!(
                "{} {}: {}{place}",
                it.severity.word(),
                it.code.name,
                it.message
            ));
            // Notes of a rollback about places in its own documents contain columns, which
            // scenarios do not show.
            for note in it
                .notes
                .iter()
                .filter(|note| !note.contains(" (generation "))
            {
                self.line(format!("    {note}"));
            }
        }
    }

    /// Shows the steps, breakpoints and drift of a plan.
    pub(super) fn show_plan(&mut self, staged: &Staged) {
        let plan = &staged.plan;
        for step in plan.steps.iter().filter(|step| step.action != Action::None) {
            self.show_step(step);
        }
        for PlannedStop {
            address,
            at,
            passed,
            ..
        } in &plan.stops
        {
            self.line(format!(
                "{} {address}: {at}",
                if *passed { "goes on from" } else { "stops at" }
            ));
        }
        for step in plan.steps.iter().filter(|step| step.action == Action::None) {
            let reasons: Vec<_> = step.reasons.iter().map(|reason| reason.word()).collect();
            let why = if reasons.is_empty() {
                String::new()
            } else {
                format!(": {}", reasons.join(", "))
            };
            self.line(format!("remember {}{why}", step.address));
        }
        for drifted in &plan.drift {
            if let Drift::Differs(changes) = &drifted.drift {
                for change in changes {
                    self.line(format!("drift of {} {}", drifted.address, sides(change)));
                }
            }
        }
        for export in changed(&plan.exports) {
            self.line(format!("export {export}"));
        }
        for child in plan
            .children
            .iter()
            .filter(|child| child.action != ExportAction::Unchanged)
        {
            let word = serde_json::to_value(child.action).unwrap_or_default();
            self.line(format!(
                "child {}: {}",
                child.address,
                word.as_str().unwrap_or_default()
            ));
            for export in changed(&child.exports) {
                self.line(format!("    export {export}"));
            }
            for entry in changed(&child.metadata) {
                self.line(format!("    metadata {entry}"));
            }
        }
        for address in &plan.left_alone.absent {
            self.line(format!("absent {address}"));
        }
        for address in &plan.left_alone.out_of_target {
            let waits = if plan.left_alone.waiting.contains(address) {
                ", would change"
            } else {
                ""
            };
            self.line(format!("out of target {address}{waits}"));
        }
        let [create, update, delete, replace] = <[u64; 4]>::from(plan.counts());
        let mut counts = format!("{create} to create, {update} to update, {delete} to delete");
        if replace > 0 {
            let _ = write!(counts, ", {replace} to replace");
        }
        let _ = write!(counts, "; {} unchanged", plan.left_alone.unchanged);
        self.line(counts);
    }

    fn show_step(&mut self, step: &Step) {
        let reasons: Vec<_> = step.reasons.iter().map(|reason| reason.word()).collect();
        let mut text = format!("{} {}", step.action.word(), step.address);
        if !reasons.is_empty() {
            let _ = write!(text, ": {}", reasons.join(", "));
        }
        if let Some(order) = step.replace_order {
            let order = serde_json::to_value(order).unwrap_or_default();
            let may = if step.may_replace {
                "may replace, "
            } else {
                ""
            };
            let _ = write!(text, " ({may}{})", order.as_str().unwrap_or_default());
        }
        if !step.condition_known {
            text.push_str(" (decided on deploy)");
        }
        if let Some(former) = &step.moved_from {
            let _ = write!(text, " (was {former})");
        }
        if let Some(links) = &step.links {
            for (word, links) in [
                ("gains", &links.gained),
                ("sees changed", &links.changed),
                ("loses", &links.lost),
            ] {
                for link in links {
                    let _ = write!(text, ", {word} {link}");
                }
            }
        }
        self.line(text);
        if matches!(step.action, Action::Update | Action::Replace | Action::None) {
            for change in &step.changes {
                let forces = if change.forces { " (forces)" } else { "" };
                self.line(format!("    {}{forces}", sides(change)));
            }
        }
    }

    /// Shows the violations, events and outcome of a run.
    pub(super) fn show_run(&mut self, run: &RunResult) {
        for violation in &run.violations {
            self.line(format!("violation: {violation}"));
        }
        if let Some(secret) = self.inputs.get(SECRET)
            && run
                .events
                .iter()
                .any(|event| format!("{event:?}").contains(secret.as_ref()))
        {
            self.line("violation: an event shows the secret");
        }
        for line in run.events.iter().filter_map(event_line) {
            self.line(line);
        }
        match &run.operated {
            None => self.line("the process ended"),
            Some(Operated::Refused(found)) => {
                self.show_diagnostics(found, &Files::new());
                self.line("refused");
            }
            Some(Operated::Busy(found)) => {
                self.show_diagnostics(found, &Files::new());
                self.line("busy");
            }
            Some(Operated::Nothing) => self.line("nothing to do"),
            Some(Operated::Done(outcome)) => self.show_outcome(outcome),
            Some(Operated::Aborted(lost)) => self.line(format!("lost: {lost:?}")),
            Some(Operated::Store(error)) => self.line(format!("the store: {error}")),
        }
    }

    fn show_outcome(&mut self, outcome: &Outcome) {
        self.show_diagnostics(&outcome.diagnostics, &Files::new());
        for (address, at) in &outcome.stops {
            self.line(format!("stands at {address}: {at}"));
        }
        if !outcome.waiting.is_empty() {
            let names: Vec<String> = outcome.waiting.iter().map(ToString::to_string).collect();
            self.line(format!("waiting: {}", names.join(", ")));
        }
        self.line(counts_line("", outcome));
        if let Some(second) = &outcome.rolled_back {
            self.line(counts_line("rolled back, ", second));
        }
    }

    /// Shows the resources in the cloud, by place and id.
    pub(super) fn show_world(&mut self) {
        let mut lines = BTreeMap::new();
        for object in self.world().objects() {
            let fields = shown(&object.fields);
            lines.insert(
                (object.place.clone(), object.id.clone()),
                format!("{} {} {fields}", object.place, object.type_name),
            );
        }
        if lines.is_empty() {
            self.line("nothing");
        }
        for line in lines.into_values() {
            self.line(line);
        }
    }

    /// Shows the records, exports and metadata in the state.
    pub(super) async fn show_state(&mut self) {
        let snapshot = self.harness.snapshot().await;
        if snapshot.records.is_empty() {
            self.line("nothing");
        }
        for (address, record) in &snapshot.records {
            let old = if record.deposed.is_some() {
                ", the old one is still there"
            } else {
                ""
            };
            self.line(format!(
                "{address} {}: {}{old}",
                record.type_name, record.status
            ));
        }
        for address in snapshot.open.keys() {
            self.line(format!("{address}: a call was cut off"));
        }
        for (name, value) in &snapshot.exports {
            let old = if snapshot.exports_old { " (old)" } else { "" };
            self.line(format!("export {name}: {}{old}", shown(value)));
        }
        for (child, of) in &snapshot.declared.children {
            for (name, value) in &of.exports {
                self.line(format!("export {name} of {child}: {}", shown(value)));
            }
            if !of.metadata.is_null() {
                self.line(format!("metadata of {child}: {}", shown(&of.metadata)));
            }
        }
        for (name, source) in &snapshot.declared.data_sources {
            self.line(format!(
                "metadata of data source {name}: {}",
                shown(&source.metadata)
            ));
        }
    }
}

/// A line for an event; `None` for events that the output leaves out.
fn event_line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Configured { address } => format!("{address} is accepted, not ready yet"),
        Event::Retrying {
            address,
            attempt,
            after_ms,
            ..
        } => {
            // The exact pause is random.
            let seconds = after_ms / 1000;
            format!("{address} is tried again ({attempt}. try) after some {seconds} s")
        }
        Event::Done {
            address,
            operation,
            replacing,
        } => {
            let replacing = if *replacing { " (replacing)" } else { "" };
            format!("{} {address}{replacing}: done", operation.word())
        }
        Event::Recorded { address, how } => format!("{address}: {how}"),
        Event::Unneeded { address, reason } => format!("{address}: not needed, {reason}"),
        Event::Failed {
            address,
            operation,
            message,
        } => format!("{} {address}: failed, {message}", operation.word()),
        Event::Unread { address, message } => format!("read {address}: failed, {message}"),
        Event::Skipped { address, reason } => format!("{address}: skipped, {reason}"),
        Event::RollingBack {
            generation: Some(number),
        } => format!("back to generation {number}"),
        Event::RollingBack { generation: None } => "back to nothing".to_owned(),
        _ => return None,
    })
}

/// The outcome of an operation with its counts.
fn counts_line(prefix: &str, outcome: &Outcome) -> String {
    let word = outcome.outcome.map_or("lost", |outcome| outcome.word());
    let [created, updated, deleted, replaced] = <[u64; 4]>::from(outcome.counts);
    let replaced = if replaced > 0 {
        format!(", {replaced} replaced")
    } else {
        String::new()
    };
    format!("{prefix}{word}: {created} created, {updated} updated, {deleted} deleted{replaced}")
}

/// The path of a change with the value before and after it.
fn sides(change: &Change) -> String {
    let side = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
    format!(
        "{}: {} -> {}",
        change.path,
        side(&change.before),
        side(&change.after)
    )
}

/// The values that change, each with the value before and after.
fn changed(values: &[ExportChange]) -> Vec<String> {
    let changed = values
        .iter()
        .filter(|value| value.action != ExportAction::Unchanged);
    let text = |value: &ExportChange| match (&value.before, &value.after) {
        (Some(before), Some(after)) => {
            format!("{}: {} -> {}", value.name, shown(before), shown(after))
        }
        (None, Some(after)) => format!("{}: {}", value.name, shown(after)),
        _ => format!("{}: goes away", value.name),
    };
    changed.map(text).collect()
}

/// A value as scripts show it: JSON without quotes around simple texts, `?` for an unknown value.
fn shown(value: &Value) -> String {
    match &hidden(value) {
        Value::Unknown(_) => "?".to_owned(),
        Value::Null => "none".to_owned(),
        Value::Map(entries) => {
            let set = entries.iter().filter(|(_, value)| !value.is_null());
            let parts: Vec<String> = set
                .map(|(key, value)| format!("{key}: {}", shown(value)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::List(items) | Value::Set(items) => {
            let parts: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Text(text)
            if !text.is_empty()
                && text
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_.:/()".contains(c)) =>
        {
            text.to_string()
        }
        other => json_values::to_json(other).to_string(),
    }
}
