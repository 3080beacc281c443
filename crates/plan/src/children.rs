//! The changes of child documents in a plan: each child has an action of its own
//! (decisions/documents#children, decisions/plan#contents-of-a-plan). Also the records of children
//! and data sources.
//!
//! Not here: the resources in children, which are planned like any others.

use blueprint::{IndexMap, Map, Name, Value};
use diag::{Diagnostics, Span};
use evaluate::resolve::{Evaluation, ExpressionSite, Halt, Need, Slot};
use state::{ChildRecord, DataRecord, Declared, Snapshot};
use understand::check::Checked;
use understand::compare::same;
use understand::documents::{DocumentInstance, Documents};

use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::exports;
use crate::exports::{compare_values, metadata_changes};
use crate::model::{Action, ChildChange, ExportAction, ExportChange, LeftAlone, Step};
use crate::targets::Untouched;

/// The path of includes to a child, in the notation of addresses.
pub(crate) fn include_path(path: &[Name]) -> Name {
    match path {
        [only] => only.clone(),
        more => more.join("/").into(),
    }
}

/// Returns what the world must answer before the exports and metadata of documents, and the
/// metadata of data sources, have values.
pub fn needs(evaluation: &mut Evaluation) -> Vec<Need> {
    let mut needs = exports::needs(evaluation);
    let documents = evaluation.documents.clone();
    let mut ignored = Diagnostics::new();
    let mut add = |need: Need| {
        if !needs.contains(&need) {
            needs.push(need);
        }
    };
    for (number, unit) in (0..)
        .zip(documents.units())
        .filter(|(_, unit)| !unit.is_temporary_member)
    {
        let shown = |position: &usize| {
            unit.blueprint()
                .exports
                .get_index(*position)
                .is_some_and(|(_, it)| !it.hidden)
        };
        for position in (0..unit.blueprint().exports.len())
            .filter(|_| number > 0)
            .filter(shown)
        {
            if let Err(Halt::Need(need)) = evaluation.child_export(number, position, &mut ignored) {
                add(need);
            }
        }
        if let Some(expr) = unit.blueprint().metadata.as_ref().filter(|_| number > 0)
            && let Err(Halt::Need(need)) = evaluation.value(
                ExpressionSite::of(number, &unit.named("metadata")),
                expr,
                &mut ignored,
            )
        {
            add(need);
        }
        for position in described_sources(evaluation, unit) {
            if let Err(need) = source_metadata(evaluation, number, position, &mut ignored) {
                add(need);
            }
        }
    }
    needs
}

/// The data sources of a document that are read and have metadata, by position.
fn described_sources(evaluation: &Evaluation, unit: &DocumentInstance) -> Vec<usize> {
    let sources = unit.blueprint().data_sources.values().enumerate();
    let described = sources.filter(|(at, source)| {
        let metadata = &source.metadata;
        let has_metadata = metadata.custom.is_some()
            || metadata.display_name.is_some()
            || !metadata.annotations.is_empty();
        has_metadata && !matches!(evaluation.data[unit.data_source(*at) as usize], Slot::Open)
    });
    described.map(|(at, _)| at).collect()
}

fn source_metadata(
    evaluation: &mut Evaluation,
    unit: u32,
    position: usize,
    found: &mut Diagnostics,
) -> Result<Value, Need> {
    let documents = evaluation.documents.clone();
    let Some((name, source)) = documents
        .unit(unit)
        .blueprint()
        .data_sources
        .get_index(position)
    else {
        return Ok(Value::Null);
    };
    let owner = documents
        .unit(unit)
        .named(format_args!("datasources.{name}"));
    evaluation.metadata_of(ExpressionSite::of(unit, &owner), &source.metadata, found)
}

/// Returns the records of children and data sources, as far as their values are known. An element
/// that reads something out of target keeps its former value. Mistakes of an export are reported
/// even if no element reads it.
pub fn declared(
    evaluation: &mut Evaluation,
    untouched: &Untouched,
    former: &Declared,
    found: &mut Diagnostics,
) -> Declared {
    let documents = evaluation.documents.clone();
    let mut declared = Declared::default();
    for (number, unit) in (0..)
        .zip(documents.units())
        .filter(|(_, unit)| !unit.is_temporary_member)
    {
        let mut mistakes = Diagnostics::new();
        if number > 0 {
            let place = include_path(&unit.path);
            let child = child(
                evaluation,
                number,
                unit,
                untouched,
                former.children.get(&place),
                &mut mistakes,
            );
            declared.children.insert(place, child);
        }
        for position in described_sources(evaluation, unit) {
            let Some((name, source)) = unit.blueprint().data_sources.get_index(position) else {
                continue;
            };
            // The world has already answered what the metadata needs (see `needs`).
            let metadata =
                source_metadata(evaluation, number, position, &mut mistakes).unwrap_or_default();
            let record = DataRecord {
                type_name: source.type_name.item.clone(),
                metadata,
            };
            declared
                .data_sources
                .insert(unit.named(name).into(), record);
        }
        let called = unit.blueprint().called_plugins.iter();
        declared
            .called_plugins
            .extend(called.map(|(package, plugin)| (package.clone(), plugin.clone())));
        if !mistakes.is_empty() {
            documents.add_trails(number, &mut mistakes);
            found.append(mistakes);
        }
    }
    if untouched.partial {
        for (name, source) in &former.data_sources {
            declared
                .data_sources
                .entry(name.clone())
                .or_insert_with(|| source.clone());
        }
    }
    declared
}

fn child(
    evaluation: &mut Evaluation,
    number: u32,
    unit: &DocumentInstance,
    untouched: &Untouched,
    former: Option<&ChildRecord>,
    found: &mut Diagnostics,
) -> ChildRecord {
    let mut child = ChildRecord::default();
    // A hidden export is only for the including document.
    let exports = unit.blueprint().exports.iter().enumerate();
    for (position, (name, export)) in exports.filter(|(_, (_, export))| !export.hidden) {
        if untouched.keeps(number, name) {
            let before = former.and_then(|former| former.exports.get(name));
            child
                .exports
                .extend(before.map(|value| (name.clone(), value.clone())));
            continue;
        }
        match evaluation.child_export(number, position, found) {
            Ok(value) if value.is_null() => {}
            Ok(value) => drop(child.exports.insert(name.clone(), value)),
            Err(Halt::Failed | Halt::Need(_)) => {}
            Err(Halt::Absent(_)) => found.push(
                codes::ABSENT_EXPORT
                    .new(format!("the export `{name}` is left out"))
                    .label(export.field.span, "the element that it refers to is absent"),
            ),
        }
    }
    child.metadata = match &unit.blueprint().metadata {
        Some(_) if untouched.keeps_metadata(number) => former
            .map(|former| former.metadata.clone())
            .unwrap_or_default(),
        Some(expr) => evaluation
            .present(
                ExpressionSite::of(number, &unit.named("metadata")),
                expr,
                found,
            )
            .unwrap_or_else(|_| Value::Map(Map::default().into())),
        None => Value::Null,
    };
    child
}

/// Whether two records of data sources are the same.
pub(crate) fn same_sources(before: &Declared, after: &Declared) -> bool {
    before.data_sources.len() == after.data_sources.len()
        && after.data_sources.iter().all(|(name, source)| {
            let before = before.data_sources.get(name);
            before.is_some_and(|it| {
                it.type_name == source.type_name && same(&it.metadata, &source.metadata)
            })
        })
}

/// Counts the unchanged resources of each child, by the path of includes to the child.
pub(crate) fn unchanged_in(draft: &Draft) -> IndexMap<Box<[Name]>, u64> {
    let mut unchanged: IndexMap<Box<[Name]>, u64> = IndexMap::default();
    let counts = |decision: &&Decision| {
        let declared = decision.element.is_some()
            || decision
                .address
                .link
                .as_ref()
                .is_some_and(|it| it.part.is_some());
        declared && decision.action == Action::None && !decision.address.path.is_empty()
    };
    for decision in draft.decisions.iter().filter(counts) {
        match unchanged.get_mut(&decision.address.path) {
            Some(count) => *count += 1,
            None => drop(unchanged.insert(decision.address.path.clone(), 1)),
        }
    }
    unchanged
}

/// Paths of includes, each with all paths above it.
#[derive(Default)]
struct IncludePaths {
    all: indexmap::IndexSet<Box<[Name]>, foldhash::fast::FixedState>,
}

impl IncludePaths {
    fn add(&mut self, path: &[Name]) {
        let mut path = path;
        while let [above @ .., _] = path {
            if self.all.contains(path) {
                return;
            }
            self.all.insert(path.into());
            path = above;
        }
    }
}

/// Returns the change of each child: the declared ones in the order of the documents, then those
/// that are only in the state. With `stays`, undeclared children stay, because the plan has no
/// document or leaves them out.
pub(crate) fn changes(
    documents: Option<&Documents>,
    snapshot: &Snapshot,
    after: &Declared,
    steps: &[Step],
    left_alone: &LeftAlone,
    unchanged: &IndexMap<Box<[Name]>, u64>,
    stays: bool,
) -> Vec<ChildChange> {
    let mut before = IncludePaths::default();
    for child in snapshot.declared.children.keys() {
        before.add(&child.split('/').map(Name::from).collect::<Vec<_>>());
    }
    snapshot
        .records
        .keys()
        .for_each(|address| before.add(&address.path));
    let mut touched = IncludePaths::default();
    for step in steps.iter().filter(|step| step.action != Action::None) {
        touched.add(&step.address.path);
        step.moved_from
            .iter()
            .for_each(|from| touched.add(&from.path));
        // The child that the resource moves out of existed before.
        step.moved_from
            .iter()
            .for_each(|from| before.add(&from.path));
    }
    let declared: Vec<Box<[Name]>> = match documents {
        Some(documents) => {
            let is_created =
                |path: &[Name]| touched.all.contains(path) && !before.all.contains(path);
            let all = documents.units()[1..].iter();
            let shown = all.filter(|unit| !unit.is_temporary_member || is_created(&unit.path));
            shown.map(|unit| Box::from(&*unit.path)).collect()
        }
        None => Vec::new(),
    };
    let mut out_of_target = IncludePaths::default();
    left_alone
        .out_of_target
        .iter()
        .for_each(|address| out_of_target.add(&address.path));
    let known: std::collections::HashSet<&[Name], foldhash::fast::FixedState> =
        declared.iter().map(|path| &**path).collect();
    let undeclared = before.all.iter().filter(|path| !known.contains(&***path));
    let every = declared
        .iter()
        .map(|path| (&**path, true))
        .chain(undeclared.map(|path| (&**path, false)));
    let change = |(path, is_declared): (&[Name], bool)| {
        let address = include_path(path);
        let stays = is_declared || stays || out_of_target.all.contains(path);
        let old = snapshot.declared.children.get(&address);
        let new = after
            .children
            .get(&address)
            .or(old.filter(|_| stays && !is_declared));
        let empty = ChildRecord::default();
        let old = old.unwrap_or(&empty);
        let new = new.unwrap_or(&empty);
        let exports = compare_values(&old.exports, new.exports.clone());
        let metadata = metadata_changes(&old.metadata, &new.metadata);
        let differs = |changes: &[ExportChange]| {
            changes
                .iter()
                .any(|it| it.action != ExportAction::Unchanged)
        };
        let action = if !stays {
            ExportAction::Removed
        } else if !before.all.contains(path) {
            ExportAction::New
        } else if touched.all.contains(path) || differs(&exports) || differs(&metadata) {
            ExportAction::Changed
        } else {
            ExportAction::Unchanged
        };
        let unchanged = unchanged.get(path).copied().unwrap_or_default();
        ChildChange {
            address,
            action,
            unchanged,
            exports,
            metadata,
        }
    };
    let mut changes: Vec<ChildChange> = every.map(change).collect();
    // A child changes if a child inside it changes.
    let mut changed_children = IncludePaths::default();
    for child in changes
        .iter()
        .filter(|child| child.action != ExportAction::Unchanged)
    {
        changed_children.add(&child.address.split('/').map(Name::from).collect::<Vec<_>>());
    }
    for child in changes
        .iter_mut()
        .filter(|child| child.action == ExportAction::Unchanged)
    {
        let path: Box<[Name]> = child.address.split('/').map(Name::from).collect();
        if changed_children.all.contains(&path) {
            child.action = ExportAction::Changed;
        }
    }
    changes
}

/// Reports each feature of a document that is not implemented yet.
pub(crate) fn refuse_unsupported(checked: &Checked, found: &mut Diagnostics) {
    let blueprint = &checked.blueprint;
    let mut refuse = |span: Span, what: String| {
        found.push(
            codes::UNSUPPORTED_FEATURE
                .new(format!("{what} cannot be carried out yet"))
                .label(span, "needs a later version of cyan"),
        );
    };
    if checked.rules.children.are_decided_early() {
        return;
    }
    for (name, child) in &blueprint.children {
        if child.condition.is_some() {
            refuse(
                child.span,
                format!("the condition of the child document `{name}`"),
            );
        }
        if child.expansion.is_some() {
            refuse(
                child.span,
                format!("the members of the child document `{name}`"),
            );
        }
    }
}
