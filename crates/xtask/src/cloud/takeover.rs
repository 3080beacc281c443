//! Stacks of real Heat that `cyan` takes over: Heat creates a stack, `cyan` imports it and must find
//! nothing to do, the stack leaves Heat without its objects, and `cyan` deletes these.
//!
//! Not here: what Heat makes of a template (`heat`), the comparison of states (`state`).

use std::fs;
use std::io;

use super::heat::HeatStack;
use super::instance::CyanInstance;
use super::life::{ComparisonPlace, in_project};
use super::project::{TestProject, is_default_group};
use super::session::CloudSession;
use super::state::ids;
use super::template::TestTemplate;

/// The templates that are taken first: together they have nested stacks, groups, hidden parameters,
/// types that live in Heat alone, and ids that Heat derives.
const FIRST: [&str; 10] = [
    "network",
    "group",
    "nested",
    "security",
    "router",
    "associate",
    "server",
    "userdata",
    "hidden",
    "scaled",
];

/// The file with the values of hidden parameters.
const SECRETS: &str = "environment.yaml";

/// Takes over stacks of the first templates. Prints how each one ended. Returns whether all of them
/// were taken over, with an empty plan.
///
/// # Errors
/// If a project cannot be made, listed or deleted.
pub(super) fn take_over(
    place: &ComparisonPlace<'_>,
    templates: &[TestTemplate],
    stacks: usize,
) -> io::Result<bool> {
    let mut chosen: Vec<&TestTemplate> = templates.iter().collect();
    let position = |name: &str| FIRST.iter().position(|one| *one == name);
    chosen.sort_by_key(|template| position(&template.name).unwrap_or(FIRST.len()));
    chosen.truncate(stacks);
    let (mut taken, all) = (0, chosen.len());
    for template in chosen {
        let ended = in_project(place, template, "stack", |admin, project| {
            Ok(live_on(place, template, admin, project))
        })?;
        match ended {
            Ok(()) => taken += 1,
            Err(error) => println!("{}: {error}", template.name),
        }
    }
    println!("openstack: {taken} of {all} stacks taken over with an empty plan");
    Ok(taken == all && all == stacks)
}

/// The life of one stack.
fn live_on(
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
    admin: &CloudSession,
    project: &TestProject,
) -> io::Result<()> {
    let form = template.forms.first();
    let form = form.ok_or_else(|| io::Error::other("the template has no form"))?;
    let mut stack = HeatStack::new(CloudSession::open(&project.login)?, template);
    stack.apply(form)?;
    let made = ids(&project.objects(admin)?);
    let folder = place.folder.join(format!("{}-stack", template.name));
    // The instance gets its documents from Heat.
    let instance = CyanInstance::empty(place.program, template, &project.login, &folder)?;
    // Heat does not give the values of hidden parameters.
    let secrets = folder.join(SECRETS);
    let mut hidden: Vec<&str> = Vec::new();
    if let Some(environment) = &form.environment
        && form.template.contains("hidden: true")
    {
        fs::write(&secrets, environment)?;
        hidden.extend(["--environment", SECRETS]);
    }
    let name = template.name.as_str();
    let import = ["state", "import", "--from", "heat", name, "--yes"];
    instance.run_command(&[&import, &hidden[..]].concat())?;
    let (document, environment) = (format!("{name}.json"), format!("{name}.environment.json"));
    let mut plan = vec!["stage", &document, "--expect-no-changes"];
    if folder.join(&environment).exists() {
        plan.extend(["--environment", &environment]);
    }
    plan.extend(hidden);
    instance.run_command(&plan)?;
    stack.leave()?;
    if ids(&project.objects(admin)?) != made {
        return Err(io::Error::other(
            "objects have changed while the stack left Heat",
        ));
    }
    instance.run_command(&plan)?;
    instance.run_command(&["destroy", &document, "--yes"])?;
    let left = project.objects(admin)?;
    match left.iter().find(|object| !is_default_group(object)) {
        None => Ok(()),
        Some(object) => {
            let message = format!("left a {}: {}", object.kind, object.value);
            Err(io::Error::other(message))
        }
    }
}
