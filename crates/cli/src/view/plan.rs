//! A plan as text: each step with its reasons and changes, exports, and resources that stay
//! unchanged.

use state::Counts;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use blueprint::{Address, DeleteMode, Value};
use engine::{
    Action, Change, ChildChange, Drift, Drifted, ExportAction, ExportChange, LinkChange, Reason,
    ShownPlan, Step, StepSource,
};

use super::changes;
use super::drawing::Drawing;
use super::label::{ChangeLabel, Margin};
use super::stops::Stops;
use super::{lines, values};
use crate::terminal::Paint;

/// The maximum number of steps with which the fields of new resources are shown without
/// `--verbose`.
const MANY: usize = 100;

/// The approximate length of a line of a plan, in bytes.
const LINE: usize = 40;

/// Prints a plan without its last line.
pub(crate) fn plan(plan: &ShownPlan<'_>, drawing: Drawing) -> String {
    let mut text = String::new();
    let mut context = PlanContext::of(plan, drawing);
    // About one line per step.
    text.reserve(LINE * context.steps.len());
    for (source, steps) in grouped(&context.steps.clone()) {
        let indent = match source {
            Some(source) => {
                let word = expansion_word(&steps);
                let (source, word) = (drawing.paint.bold(source), drawing.paint.dim(word));
                text.push_str(&format!("{source} {word}\n"));
                "  "
            }
            None => "",
        };
        for step in steps {
            context.write_headline(&mut text, step, indent);
            context.write_details(&mut text, step, indent);
        }
    }
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    context.write_rest(&mut text);
    text
}

/// What a transform did with the abstract resource of these steps.
fn expansion_word(steps: &[&Step]) -> &'static str {
    match steps.iter().all(|step| step.action == Action::Delete) {
        true => "was expanded to",
        false => "expands to",
    }
}

/// A plan, ordered by what belongs to each step.
pub(crate) struct PlanContext<'p> {
    plan: &'p ShownPlan<'p>,
    /// The steps that are shown.
    pub(crate) steps: Vec<&'p Step>,
    /// Whether the fields of new resources are shown.
    fields: bool,
    links: HashMap<&'p Address, &'p LinkChange>,
    stops: Stops<'p>,
    sources: HashMap<&'p Address, Vec<&'p StepSource<'p>>>,
    drift: HashMap<&'p Address, &'p Drifted>,
    drawing: Drawing,
}

impl<'p> PlanContext<'p> {
    pub(crate) fn of(plan: &'p ShownPlan<'p>, drawing: Drawing) -> PlanContext<'p> {
        // A state edit changes only records, so its plan is shown in full.
        let all = drawing.whole || plan.is_state_edit;
        let mut steps: Vec<&Step> = Vec::with_capacity(plan.steps.len());
        let is_shown = |step: &&Step| step.action != Action::None || all;
        steps.extend(plan.steps.iter().filter(is_shown));
        let mut sources: HashMap<&Address, Vec<&StepSource<'_>>> = HashMap::new();
        for source in &plan.sources {
            sources.entry(source.address).or_default().push(source);
        }
        let links = plan.links.iter().map(|link| (&link.address, link));
        PlanContext {
            plan,
            fields: drawing.whole || steps.len() <= MANY,
            steps,
            links: links.collect(),
            stops: Stops::of(plan.stops),
            sources,
            drift: plan.drift.iter().map(|it| (&it.address, it)).collect(),
            drawing,
        }
    }

    /// Writes the first line of a step.
    fn write_headline(&self, text: &mut String, step: &Step, indent: &str) {
        let paint = self.drawing.paint;
        text.push_str(&format!(
            "{indent}{} {} {} {}\n",
            sign(step.action, paint),
            paint.bold(&step.address),
            paint.dim(&step.type_name),
            what_happens(step),
        ));
    }

    /// Writes what stands below the first line of a step. The stops of a step are written once.
    pub(crate) fn write_details(&mut self, text: &mut String, step: &Step, indent: &str) {
        let (outside, stops) = (drift_without_change(step, &self.drift), self.stops.at(step));
        let shown = Shown {
            fields: self.fields,
            outside: &outside,
            sources: self
                .sources
                .get(&step.address)
                .map_or(&[][..], Vec::as_slice),
            stops: &stops,
            indent,
            drawing: self.drawing,
        };
        write_below(text, step, shown);
        if let Some(link) = self.links.get(&step.address).filter(|_| self.fields) {
            link_of(text, link, self.drawing);
        }
    }

    /// Writes what belongs to no step: stops, exports, child documents, and the resources that the
    /// plan leaves alone.
    pub(crate) fn write_rest(&self, text: &mut String) {
        let (plan, drawing) = (self.plan, self.drawing);
        let (verbose, paint) = (drawing.whole, drawing.paint);
        self.stops.write_remaining(text, paint);
        named_values(text, "exports", plan.exports, "", drawing);
        named_values(text, "metadata", plan.metadata_changes, "", drawing);
        children(text, plan.children, drawing);
        for (address, differs) in &plan.left_alone.document_differs {
            text.push_str(&format!(
                "{} differs from the document and is not changed; update the document to make this permanent\n",
                paint.bold(address)
            ));
            changes::write_all(text, differs, &Margin::new("    "), drawing);
            text.push('\n');
        }
        text.push_str(&changes::unread(plan.unread, "assumed to be unchanged"));
        let (out, waiting) = (&plan.left_alone.out_of_target, &plan.left_alone.waiting);
        if !out.is_empty() {
            let listed = if verbose { out } else { waiting };
            let names: Vec<String> = listed.iter().take(MANY).map(ToString::to_string).collect();
            let names = if names.is_empty() {
                String::new()
            } else {
                format!(": {}", names.join(", "))
            };
            text.push_str(&format!(
                "out of target: {}, of which {} would change{names}\n",
                out.len(),
                waiting.len()
            ));
        }
        if !plan.left_alone.absent.is_empty() && verbose {
            let names = plan.left_alone.absent.iter().map(ToString::to_string);
            let names: Vec<String> = names.collect();
            text.push_str(&format!(
                "left out by their conditions: {}\n",
                names.join(", ")
            ));
        }
    }
}

/// Child documents that are added or removed; with `verbose` also the changes in their exports.
fn children(text: &mut String, children: &[ChildChange], drawing: Drawing) {
    let (verbose, paint) = (drawing.whole, drawing.paint);
    for child in children {
        let (sign, word) = match child.action {
            ExportAction::New => (paint.green("+"), "new"),
            ExportAction::Removed => (paint.red("-"), "goes away, with everything in it"),
            ExportAction::Changed if verbose => (paint.yellow("~"), "changes"),
            ExportAction::Changed | ExportAction::Unchanged => continue,
        };
        text.push_str(&format!(
            "{sign} {} {} {word}\n",
            paint.bold(&child.address),
            paint.dim("child document")
        ));
        if verbose && child.action != ExportAction::Removed {
            for (title, values) in [("exports", &child.exports), ("metadata", &child.metadata)] {
                named_values(text, title, values, "  ", drawing);
                // One empty line follows all children.
                if text.ends_with("\n\n") {
                    text.pop();
                }
            }
        }
    }
    let shown = |action| verbose || matches!(action, ExportAction::New | ExportAction::Removed);
    if children
        .iter()
        .any(|child| child.action != ExportAction::Unchanged && shown(child.action))
    {
        text.push('\n');
    }
}

/// Named values that change.
fn named_values(
    text: &mut String,
    title: &str,
    changes: &[ExportChange],
    indent: &str,
    drawing: Drawing,
) {
    let paint = drawing.paint;
    let changed: Vec<_> = changes
        .iter()
        .filter(|export| export.action != ExportAction::Unchanged)
        .collect();
    if changed.is_empty() {
        return;
    }
    text.push_str(&format!("{indent}{}\n", paint.bold(title)));
    let indent = format!("{indent}  ");
    for export in changed {
        let (sign, before) = match export.action {
            ExportAction::New => (paint.green("+"), None),
            ExportAction::Changed => (paint.yellow("~"), export.before.as_ref()),
            ExportAction::Removed => {
                text.push_str(&format!("{indent}{} {}\n", paint.red("-"), export.name));
                continue;
            }
            ExportAction::Unchanged => continue,
        };
        let label = ChangeLabel {
            margin: &Margin::signed(&indent, &sign),
            path: &export.name,
            forces: false,
        };
        changes::write_pair(text, &label, before, export.after.as_ref(), drawing);
    }
    text.push('\n');
}

/// Steps in the order of the plan. The steps that a transform made from one abstract resource form
/// a group at the position of the first of them.
fn grouped<'p>(steps: &[&'p Step]) -> Vec<(Option<&'p str>, Vec<&'p Step>)> {
    let mut groups: Vec<(Option<&str>, Vec<&Step>)> = Vec::with_capacity(steps.len());
    let mut places: HashMap<&str, usize> = HashMap::new();
    for step in steps {
        match step.made_from.as_deref() {
            None => groups.push((None, vec![step])),
            Some(source) => {
                let at = *places.entry(source).or_insert(groups.len());
                match groups.get_mut(at) {
                    Some((_, steps)) => steps.push(step),
                    None => groups.push((Some(source), vec![step])),
                }
            }
        }
    }
    groups
}

/// Returns the drift of fields that no change of the step shows.
fn drift_without_change<'p>(
    step: &Step,
    drift: &HashMap<&Address, &'p Drifted>,
) -> Vec<&'p Change> {
    let Some(Drift::Differs(changes)) = drift.get(&step.address).map(|it| &it.drift) else {
        return Vec::new();
    };
    if !step.reasons.contains(&Reason::Drifted) {
        return Vec::new();
    }
    let shown: HashSet<&str> = step
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    changes
        .iter()
        .filter(|change| !shown.contains(change.path.as_str()))
        .collect()
}

/// The context in which a step is shown.
struct Shown<'a> {
    /// Whether the fields of a new resource are shown.
    fields: bool,
    /// Drift that no change of the step shows.
    outside: &'a [&'a Change],
    /// The files that the step reads.
    sources: &'a [&'a StepSource<'a>],
    /// The stops of the operation at this step.
    stops: &'a [String],
    indent: &'a str,
    drawing: Drawing,
}

/// The sign of an action.
pub(crate) fn sign(action: Action, paint: Paint) -> String {
    match action {
        Action::Create | Action::Link => paint.green("+"),
        Action::Update | Action::Relink => paint.yellow("~"),
        Action::Replace => paint.magenta("±"),
        Action::Delete | Action::Unlink => paint.red("-"),
        Action::Import => paint.green("<"),
        Action::Move => paint.cyan(">"),
        Action::Read => paint.cyan("?"),
        Action::Detach | Action::None => paint.dim("="),
    }
}

/// The action of a step with its reasons, on one line.
pub(crate) fn what_happens(step: &Step) -> String {
    // A destroy deletes every resource, so do not repeat the reason for each.
    let reasons = step
        .reasons
        .iter()
        .filter(|reason| **reason != Reason::Destroy);
    let reasons: Vec<&str> = reasons.map(|reason| reason_text(*reason)).collect();
    let takes_snapshot = step.delete_mode == DeleteMode::SnapshotFirst;
    let action = match step.action {
        Action::None => "no change, only recorded in the state",
        Action::Read => "read during apply, after its dependencies",
        Action::Detach if step.reasons.contains(&Reason::DeletedWith) => "removed from the state",
        Action::Detach => "removed from the state, the object is not deleted",
        Action::Import => "taken under management",
        Action::Move => "has a new address",
        Action::Replace if step.may_replace => "may replace",
        Action::Delete if takes_snapshot => "snapshot, then delete",
        other => other.word(),
    };
    let why = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {}", reasons.join(", "))
    };
    let condition_note = if step.condition_known {
        ""
    } else {
        ", if its condition holds (known on deploy)"
    };
    let order = match step.replace_order {
        Some(blueprint::ReplaceOrder::CreateFirst) if step.action == Action::Replace => {
            ", the new one first"
        }
        _ => "",
    };
    let snapshot = match step.action {
        Action::Delete => "",
        _ if takes_snapshot => ", a snapshot of the old one before its delete",
        _ => "",
    };
    let batch = in_batch(step);
    let observed = if step.not_observed {
        "; not observed"
    } else {
        ""
    };
    let adopts = if step.adopts {
        " (exists already, will be adopted)"
    } else {
        ""
    };
    format!("{action}{why}{order}{snapshot}{condition_note}{batch}{observed}{adopts}")
}

/// Writes the lines below the first line of a step.
fn write_below(text: &mut String, step: &Step, shown: Shown<'_>) {
    let Shown {
        fields,
        outside,
        sources,
        stops,
        indent,
        drawing,
    } = shown;
    let paint = drawing.paint;
    for line in stops {
        text.push_str(&format!("{indent}    {}\n", paint.yellow(line)));
    }
    if let Some(former) = &step.moved_from {
        text.push_str(&format!("{indent}    it was {former}\n"));
    }
    if let Some(links) = &step.links {
        let signed = [
            (paint.green("+"), &links.gained),
            (paint.yellow("~"), &links.changed),
            (paint.red("-"), &links.lost),
        ];
        for (sign, link) in signed
            .iter()
            .flat_map(|(sign, links)| links.iter().map(move |link| (sign, link)))
        {
            text.push_str(&format!("{indent}    {sign} link {link}\n"));
        }
    }
    if let Some(needs) = &step.needs {
        text.push_str(&format!(
            "{indent}    decided on deploy: it needs {needs}\n"
        ));
    }
    if let Some(expired) = &step.expired {
        text.push_str(&format!("{indent}    {expired}\n"));
    }
    if !outside.is_empty() {
        text.push_str(&format!(
            "{indent}    {}\n",
            paint.dim("changed outside of `cyan`:")
        ));
        let margin = Margin::new(&format!("{indent}      "));
        changes::write_all(text, outside.iter().copied(), &margin, drawing);
        if step.changes.is_empty() {
            text.push('\n');
        }
    }
    if fields || step.action != Action::Create {
        let before = text.len();
        write_changes(text, step, sources, &format!("{indent}    "), drawing);
        if text.len() > before {
            text.push('\n');
        }
    }
}

/// Writes the changes of the fields of a step. The text of a source stands in for its digest.
fn write_changes(
    text: &mut String,
    step: &Step,
    sources: &[&StepSource<'_>],
    indent: &str,
    drawing: Drawing,
) {
    let margin = Margin::new(indent);
    let digest_of = |source: &StepSource<'_>| {
        step.changes
            .iter()
            .find(|change| change.path == source.digest_path)
    };
    let has_shown_text = |change: &&Change| {
        let source = sources.iter().find(|it| it.digest_path == change.path);
        source.is_some_and(|source| source.texts.is_some())
    };
    let is_shown = |change: &&Change| drawing.whole || !has_shown_text(change);
    changes::write_all(text, step.changes.iter().filter(is_shown), &margin, drawing);
    for source in sources {
        let digest = digest_of(source);
        let (name, paint) = (source.name, drawing.paint);
        let what = match (digest, source.texts) {
            (Some(digest), _) if digest.after.as_ref().is_some_and(Value::is_unknown) => {
                format!("the content of `{name}` is changed by this plan")
            }
            (Some(_), _) => format!("the content of `{name}` has changed"),
            (None, Some(_)) => format!("the content is that of `{name}` again"),
            (None, None) => continue,
        };
        let end = if source.texts.is_some() { ":" } else { "" };
        text.push_str(&format!("{indent}{}\n", paint.dim(format!("{what}{end}"))));
        if let Some(texts) = source.texts
            && let (Value::Text(old), Value::Text(new)) = (&texts.before, &texts.after)
        {
            lines::write_difference(text, old, new, &margin.below(), drawing);
        }
    }
}

/// The position of a step in the batches of its group; empty if the group has one batch.
fn in_batch(step: &Step) -> String {
    let Some(batch) = step.batch else {
        return String::new();
    };
    let gone = match batch.until {
        Some(until) => format!(", temporary: deleted in batch {until}"),
        None => String::new(),
    };
    let pause = match batch.pause_ms {
        0 => String::new(),
        more => format!(
            ", then a pause of {}",
            blueprint::format_duration(Duration::from_millis(more))
        ),
    };
    format!("; batch {} of {}{gone}{pause}", batch.number, batch.of)
}

/// Writes the annotations of a link, and the changes that it makes in the specs of its ends. Its
/// other effects have their own steps.
fn link_of(text: &mut String, link: &LinkChange, drawing: Drawing) {
    let paint = drawing.paint;
    let before = text.len();
    for (name, value) in link.annotations.as_map().into_iter().flatten() {
        text.push_str(&format!(
            "    {}\n",
            paint.dim(format!("{name} = {}", values::short(value, drawing)))
        ));
    }
    for effect in link.effects.iter().filter(|effect| effect.with) {
        let target = link_end(&link.address, &effect.into)
            .map_or_else(|| effect.into.to_string(), |end| end.to_string());
        text.push_str(&format!("    {}\n", paint.dim(format!("into {target}:"))));
        changes::write_all(text, [&effect.change], &Margin::new("      "), drawing);
    }
    if text.len() > before {
        text.push('\n');
    }
}

/// Returns the resource at one end of a link.
fn link_end(address: &Address, side: &str) -> Option<Address> {
    let link = address.link.as_deref()?;
    let (name, key) = match side {
        "a" => (&address.name, &address.key),
        "b" => (&link.b, &link.b_key),
        _ => return None,
    };
    let resource = Address::inside(&address.path, name.clone());
    Some(
        key.iter()
            .fold(resource, |resource, key| resource.with_key(key.clone())),
    )
}

/// The text for a reason.
fn reason_text(reason: Reason) -> &'static str {
    match reason {
        Reason::New => "new",
        Reason::Changed => "changed",
        Reason::TypeChanged => "its type is another one",
        Reason::FieldForces => "a field cannot be changed in place",
        Reason::DependencyReplaced => "a dependency is replaced",
        Reason::LinkChanged => "a link writes into it",
        Reason::Removed => "no longer in the document",
        Reason::ConditionFalse => "its condition is false",
        Reason::EachShrunk => "its list has become shorter",
        Reason::Drifted => "drifted",
        Reason::Vanished => "vanished",
        Reason::Interrupted => "interrupted before",
        Reason::FailedBefore => "failed before",
        Reason::ProviderChanged => "its provider has other settings",
        Reason::TriggerChanged => "its replacement trigger has changed",
        Reason::DeletedWith => "its object is deleted with another one",
        Reason::NotManaged => "it has no object of its own",
        Reason::ProviderDecides => "its provider changes it",
        Reason::Requested => "asked for",
        Reason::Moved => "moved",
        Reason::Imported => "imported",
        Reason::Destroy => "the instance is destroyed",
    }
}

/// The last line of `stage`.
pub(crate) fn summary(counts: Counts) -> String {
    let Counts {
        created,
        updated,
        deleted,
        replaced,
    } = counts;
    let more = if replaced > 0 {
        format!(", {replaced} to replace")
    } else {
        String::new()
    };
    format!("{created} to create, {updated} to update, {deleted} to delete{more}")
}

/// The last line of an operation.
pub(crate) fn done(counts: Counts) -> String {
    let Counts {
        created,
        updated,
        deleted,
        replaced,
    } = counts;
    let more = if replaced > 0 {
        format!(", {replaced} replaced")
    } else {
        String::new()
    };
    format!("{created} created, {updated} updated, {deleted} deleted{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a step that is given as JSON.
    fn text_of(step: &str) -> String {
        let step: Step = serde_json::from_str(step).unwrap();
        let (instance, left_alone, unread) = Default::default();
        let steps = [step];
        let plan = ShownPlan {
            instance: &instance,
            purpose_word: "deploy",
            is_state_edit: false,
            revision: state::Revision(0),
            steps: &steps,
            links: &[],
            exports: &[],
            metadata_changes: &[],
            children: &[],
            drift: &[],
            stops: &[],
            left_alone: &left_alone,
            unread: &unread,
            sources: Vec::new(),
        };
        let mut text = String::new();
        let mut context = PlanContext::of(&plan, super::super::drawing::plain(false, 80));
        context.write_headline(&mut text, &steps[0], "  ");
        context.write_details(&mut text, &steps[0], "  ");
        text
    }

    #[test]
    fn former_address_is_indented_as_its_step_is() {
        let step = r#"{"id": 0, "address": "new", "type": "test/data", "action": "move", "reasons": ["moved"],
            "moved_from": "old"}"#;
        assert_eq!(
            text_of(step),
            "  > new test/data has a new address: moved\n      it was old\n"
        );
    }

    #[test]
    fn a_snapshot_before_a_delete_is_shown() {
        let removed = r#"{"id": 0, "address": "disk", "type": "test/data", "action": "delete", "reasons": ["removed"],
            "delete_mode": "snapshot-first"}"#;
        let text = text_of(removed);
        assert!(
            text.starts_with("  - disk test/data snapshot, then delete"),
            "{text}"
        );
        let replaced = r#"{"id": 0, "address": "disk", "type": "test/data", "action": "replace",
            "reasons": ["requested"], "replace_order": "create-first", "delete_mode": "snapshot-first"}"#;
        let text = text_of(replaced);
        assert!(
            text.ends_with(", the new one first, a snapshot of the old one before its delete\n"),
            "{text}"
        );
    }
}
