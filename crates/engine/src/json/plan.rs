//! A plan as machine output: all its steps at the top level, and each child document as a plan of
//! its own.
//!
//! Not here: the reference of the fields (`docs/json.md`).

use std::collections::HashMap;

use crate::phases::plan_file::{
    hidden_child, hidden_export, hidden_left_alone, hidden_link, hidden_step,
};
use crate::phases::{
    Action, Change, ChildChange, Drifted, ExportChange, LeftAlone, LinkChange, ShownPlan, Step,
};
use blueprint::{Address, Name, Value};
use serde_json::{Map, Value as Json, json};
use state::Counts;

/// A plan, without secrets.
pub fn plan(plan: &ShownPlan<'_>) -> Map<String, Json> {
    let steps: Vec<(&Step, Json)> = plan.steps.iter().map(|one| (one, step(one))).collect();
    let mut map = Map::new();
    map.insert("instance".into(), json!(plan.instance));
    map.insert("purpose".into(), json!(plan.purpose_word));
    map.insert("revision".into(), json!(plan.revision));
    map.insert("counts".into(), counts(plan.counts()));
    map.extend(body(steps.iter(), plan.links.iter()));
    map.insert("exports".into(), plan.exports.iter().map(export).collect());
    map.insert(
        "metadata".into(),
        plan.metadata_changes.iter().map(export).collect(),
    );
    if !plan.stops.is_empty() {
        map.insert("stops".into(), json!(plan.stops));
    }
    map.insert("drift".into(), drift(plan));
    map.insert("unread".into(), super::drift::unread(plan.unread));
    map.insert(
        "left_alone".into(),
        json!(hidden_left_alone(plan.left_alone)),
    );
    map.insert(
        "children".into(),
        Children::of(plan, &steps).below("").into(),
    );
    map
}

fn counts(counts: Counts) -> Json {
    json!({
        "create": counts.created,
        "update": counts.updated,
        "delete": counts.deleted,
        "replace": counts.replaced,
    })
}

/// The drift of a plan, each difference with the planned action at its address.
fn drift(plan: &ShownPlan<'_>) -> Json {
    let actions: HashMap<&Address, Action> = if plan.drift.is_empty() {
        HashMap::new()
    } else {
        plan.steps
            .iter()
            .map(|step| (&step.address, step.action))
            .collect()
    };
    let one = |drifted: &Drifted| {
        let mut json = super::drift::drifted(drifted);
        json["action"] = json!(
            actions
                .get(&drifted.address)
                .copied()
                .unwrap_or(Action::None)
        );
        json
    };
    plan.drift.iter().map(one).collect()
}

/// Steps, links, and the steps of resources that transforms make.
fn body<'p>(
    steps: impl Iterator<Item = &'p (&'p Step, Json)> + Clone,
    links: impl Iterator<Item = &'p LinkChange>,
) -> Map<String, Json> {
    let mut made: Map<String, Json> = Map::new();
    for (step, _) in steps.clone() {
        if let Some(source) = &step.made_from {
            let steps = made.entry(source.to_string()).or_insert_with(|| json!([]));
            steps
                .as_array_mut()
                .into_iter()
                .for_each(|steps| steps.push(json!(step.id)));
        }
    }
    let mut map = Map::new();
    map.insert(
        "steps".into(),
        steps.map(|(_, json)| json.clone()).collect(),
    );
    map.insert("links".into(), links.map(link).collect());
    map.insert("made_from".into(), made.into());
    map
}

/// A step. Each change has its kind, and a mark if one of its values is secret.
fn step(step: &Step) -> Json {
    let mut json = json!(hidden_step(step));
    if let Some(id) = &step.existing.id {
        json["provider_id"] = json!(id);
    }
    if matches!(step.action, Action::Update | Action::Replace) {
        json["unchanged"] = json!(step.existing.unchanged);
    }
    if let Some(links) = &step.links {
        json["links"] = json!(links);
    }
    mark(json.get_mut("changes"), &step.changes);
    json
}

fn link(link: &LinkChange) -> Json {
    let mut json = json!(hidden_link(link));
    let changes: Vec<Change> = link
        .effects
        .iter()
        .map(|effect| effect.change.clone())
        .collect();
    mark(json.get_mut("effects"), &changes);
    json
}

/// Writes the values of a change as plain JSON.
fn plain_values(json: &mut Json, before: Option<&Value>, after: Option<&Value>) {
    for (side, value) in [("before", before), ("after", after)] {
        if let Some(value) = value.filter(|_| json.get(side).is_some()) {
            json[side] = super::value::value(value, false);
        }
    }
}

/// An exported value before and after.
fn export(change: &ExportChange) -> Json {
    let mut json = json!(hidden_export(change));
    plain_values(&mut json, change.before.as_ref(), change.after.as_ref());
    json
}

fn mark(json: Option<&mut Json>, changes: &[Change]) {
    let json = json.and_then(Json::as_array_mut).into_iter().flatten();
    for (json, change) in json.zip(changes) {
        let kind = match (&change.before, &change.after) {
            (None, _) => "new",
            (_, None) => "removed",
            _ => "changed",
        };
        json["kind"] = json!(kind);
        plain_values(json, change.before.as_ref(), change.after.as_ref());
        if change
            .before
            .iter()
            .chain(&change.after)
            .any(Value::has_secret)
        {
            json["secret"] = json!(true);
        }
    }
}

/// The content of each child document, by include path.
struct Children<'p> {
    left_alone: HashMap<Vec<Name>, LeftAlone>,
    below: HashMap<&'p str, Vec<&'p ChildChange>>,
    steps: HashMap<&'p [Name], Vec<&'p (&'p Step, Json)>>,
    links: HashMap<&'p [Name], Vec<&'p LinkChange>>,
}

impl<'p> Children<'p> {
    fn of(plan: &ShownPlan<'p>, steps: &'p [(&'p Step, Json)]) -> Children<'p> {
        let mut children = Children {
            left_alone: HashMap::new(),
            below: HashMap::new(),
            steps: HashMap::new(),
            links: HashMap::new(),
        };
        if plan.children.is_empty() {
            return children;
        }
        children.leave_alone(hidden_left_alone(plan.left_alone));
        for child in plan.children {
            let above = child
                .address
                .rsplit_once('/')
                .map_or("", |(above, _)| above);
            children.below.entry(above).or_default().push(child);
        }
        for step in steps {
            children
                .steps
                .entry(&*step.0.address.path)
                .or_default()
                .push(step);
        }
        for link in plan.links {
            children
                .links
                .entry(&*link.address.path)
                .or_default()
                .push(link);
        }
        children
    }

    /// The children that a document includes, by name.
    fn below(&self, place: &str) -> Map<String, Json> {
        let children = self.below.get(place).into_iter().flatten();
        let named = |child: &ChildChange| {
            child
                .address
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        children
            .map(|child| (named(child), self.child(child).0.into()))
            .collect()
    }

    /// A child, and the number of steps of each kind in it and in its children.
    fn child(&self, child: &ChildChange) -> (Map<String, Json>, Counts) {
        let path: Vec<Name> = child.address.split('/').map(Name::from).collect();
        let steps = self
            .steps
            .get(path.as_slice())
            .map_or(&[][..], Vec::as_slice);
        let of = |action| {
            steps
                .iter()
                .filter(|(step, _)| step.action == action)
                .count() as u64
        };
        // A temporary resource also counts as deleted.
        let temporary = steps.iter().filter(|(step, _)| step.temporary).count() as u64;
        let mut all = Counts {
            created: of(Action::Create),
            updated: of(Action::Update),
            deleted: of(Action::Delete) + temporary,
            replaced: of(Action::Replace),
        };
        let mut below = Map::new();
        for inner in self.below.get(child.address.as_ref()).into_iter().flatten() {
            let (json, more) = self.child(inner);
            all.created += more.created;
            all.updated += more.updated;
            all.deleted += more.deleted;
            all.replaced += more.replaced;
            below.insert(
                inner
                    .address
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                json.into(),
            );
        }
        let shown = hidden_child(child);
        let mut map = Map::new();
        map.insert("action".into(), json!(shown.action));
        map.insert("counts".into(), counts(all));
        let links = self.links.get(path.as_slice()).into_iter().flatten();
        map.extend(body(steps.iter().copied(), links.copied()));
        map.insert("exports".into(), child.exports.iter().map(export).collect());
        map.insert(
            "metadata".into(),
            child.metadata.iter().map(export).collect(),
        );
        let mut left = self.left_alone.get(&path).cloned().unwrap_or_default();
        left.unchanged = child.unchanged;
        map.insert("left_alone".into(), json!(left));
        map.insert("children".into(), below.into());
        (map, all)
    }

    /// Groups the resources that the plan leaves alone by document.
    fn leave_alone(&mut self, all: LeftAlone) {
        type ListOf = fn(&mut LeftAlone) -> &mut Vec<Address>;
        let lists: [(Vec<Address>, ListOf); 4] = [
            (all.retained, |left| &mut left.retained),
            (all.absent, |left| &mut left.absent),
            (all.out_of_target, |left| &mut left.out_of_target),
            (all.waiting, |left| &mut left.waiting),
        ];
        for (list, of) in lists {
            for address in list.into_iter().filter(|address| !address.path.is_empty()) {
                of(self.left_alone.entry(address.path.to_vec()).or_default()).push(address);
            }
        }
        for (address, differs) in all
            .document_differs
            .into_iter()
            .filter(|(address, _)| !address.path.is_empty())
        {
            self.left_alone
                .entry(address.path.to_vec())
                .or_default()
                .document_differs
                .insert(address, differs);
        }
    }
}
