//! The life of a template: created, updated and deleted in a project of its own, which is listed
//! after each step.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::collection::prepare;
use super::heat::HeatStack;
use super::instance::{CyanInstance, InstanceStep};
use super::project::{PREFIX, TestProject};
use super::session::{CloudLogin, CloudSession};
use super::state::{ComparedObject, compared, ids};
use super::template::TestTemplate;

/// The time between two lists that must be equal, and how often they are made.
const SETTLE: Duration = Duration::from_millis(300);
const LISTS: u32 = 20;

/// What a project looks like after a step.
#[derive(Debug)]
pub(super) struct LifeStep {
    pub(super) name: String,
    /// The objects of the project, or why the step failed.
    pub(super) state: Result<Vec<ComparedObject>, String>,
    pub(super) time: Duration,
}

/// A running cloud, and the folder in which instances of `cyan` have theirs.
#[derive(Debug)]
pub(super) struct ComparisonPlace<'a> {
    pub(super) admin: CloudLogin,
    pub(super) program: &'a Path,
    pub(super) folder: &'a Path,
}

/// The names of the steps of a template.
pub(super) fn step_names(template: &TestTemplate) -> Vec<String> {
    let forms = 1..=template.forms.len();
    let mut names: Vec<String> = forms
        .map(|form| match form {
            1 => "create".to_owned(),
            2 => "update".to_owned(),
            form => format!("update {}", form - 1),
        })
        .collect();
    names.push("delete".to_owned());
    names
}

/// Lives the template as a stack of real Heat.
///
/// # Errors
/// If the project cannot be made, listed or deleted. A failure of the stack is in its step.
pub(super) fn live_with_heat(
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
) -> io::Result<Vec<LifeStep>> {
    in_project(place, template, "heat", |admin, project| {
        let mut stack = HeatStack::new(CloudSession::open(&project.login)?, template);
        live(admin, project, template, |step| match step {
            InstanceStep::Deploy(form) => stack.apply(form),
            InstanceStep::Destroy => stack.delete(),
        })
    })
}

/// Lives the template as an instance of `cyan`.
///
/// # Errors
/// If the project cannot be made, listed or deleted. A failure of `cyan` is in its step.
pub(super) fn live_with_cyan(
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
) -> io::Result<Vec<LifeStep>> {
    in_project(place, template, "cyan", |admin, project| {
        let folder = place.folder.join(&template.name);
        let instance = CyanInstance::new(place.program, template, &project.login, &folder)?;
        live(admin, project, template, |step| instance.run(step))
    })
}

/// Makes a project, does something in it, and deletes it with what is left in it.
///
/// # Errors
/// Those of the work, else those of the project.
pub(super) fn in_project<T>(
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
    side: &str,
    work: impl FnOnce(&CloudSession, &TestProject) -> io::Result<T>,
) -> io::Result<T> {
    let admin = CloudSession::open(&place.admin)?;
    let name = format!("{PREFIX}{}-{side}-{}", std::process::id(), template.name);
    let project = TestProject::create(&admin, &place.admin, &name, template.administrator)?;
    let prepared = if template.prepared {
        CloudSession::open(&project.login).and_then(|user| prepare(&user))
    } else {
        Ok(())
    };
    let done = prepared.and_then(|()| work(&admin, &project));
    let deleted = project.delete(&admin);
    let done = done?;
    deleted.map(|()| done)
}

/// Does all steps. A failure of one of them leads to the deletion.
fn live(
    admin: &CloudSession,
    project: &TestProject,
    template: &TestTemplate,
    mut run: impl FnMut(InstanceStep<'_>) -> io::Result<()>,
) -> io::Result<Vec<LifeStep>> {
    let mut steps: Vec<LifeStep> = Vec::new();
    let mut before = BTreeSet::new();
    for (index, name) in step_names(template).into_iter().enumerate() {
        let form = template.forms.get(index);
        let failed = steps.iter().any(|step| step.state.is_err());
        if form.is_some() && failed {
            steps.push(LifeStep {
                name,
                state: Err("skipped after the failure".to_owned()),
                time: Duration::ZERO,
            });
            continue;
        }
        let begin = Instant::now();
        let done = run(form.map_or(InstanceStep::Destroy, InstanceStep::Deploy));
        let time = begin.elapsed();
        let state = match done {
            Ok(()) => Ok(settled(admin, project, template, &mut before)?),
            Err(error) => Err(error.to_string()),
        };
        steps.push(LifeStep { name, state, time });
    }
    Ok(steps)
}

/// The objects of a project when two lists of them are equal: services report some changes of
/// others late. `before` has the ids of the objects after the last step, then those of these.
///
/// # Errors
/// If a service does not answer.
pub(super) fn settled(
    admin: &CloudSession,
    project: &TestProject,
    template: &TestTemplate,
    before: &mut BTreeSet<String>,
) -> io::Result<Vec<ComparedObject>> {
    let shared = project.shared(admin)?;
    let list = || {
        let objects = project.objects(admin)?;
        let state = compared(template, project, &objects, &shared, before);
        io::Result::Ok((state, ids(&objects)))
    };
    let mut last = list()?;
    for _ in 0..LISTS {
        std::thread::sleep(SETTLE);
        let next = list()?;
        let same = next == last;
        last = next;
        if same {
            break;
        }
    }
    *before = last.1;
    Ok(last.0)
}
