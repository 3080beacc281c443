//! `cargo xtask cloud`: templates of Heat on a real cloud, once with real Heat and once with `cyan`.
//!
//! Each template is created, updated and deleted in a project of its own. After each step, all
//! objects of the two projects are compared. `--kills` also kills `cyan` at random times. With
//! `--stacks`, nothing is compared: `cyan` takes over stacks of real Heat. With `--speed`, times are
//! measured in place of that.
//!
//! Not here: guests. No template waits for a signal of a server.

mod bare;
mod calls;
mod collection;
mod heat;
mod instance;
mod kills;
mod life;
mod project;
mod session;
mod speed;
mod state;
mod takeover;
mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::build_tool::{cargo, target};
use crate::openstack;
use collection::collection;
use kills::UndisturbedLife;
use life::{ComparisonPlace, LifeStep, live_with_cyan, live_with_heat, step_names};
use project::TestProject;
use session::{CloudLogin, CloudSession};
use state::{ComparedObject, differences};
use takeover::take_over;
use template::TestTemplate;

/// The templates and the recorded states of this repository.
const TEMPLATES: &str = "crates/xtask/counterparts/openstack/templates";
const STATES: &str = "crates/xtask/counterparts/openstack/states";

/// The seed of the kills if the command line names none.
const SEED: u64 = 36;

const USAGE: &str = "\
cargo xtask cloud [--clouds FILE] [--cyan FILE] [--templates FOLDER] [--collection FOLDER] [--only NAME]...
                  [--record | --recorded] [--kills N] [--seed S] [--stacks N | --speed]";

/// Where the states come from that real Heat leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeatStates {
    /// Heat makes them.
    Live,
    /// Heat makes them, and they are recorded.
    Record,
    /// An earlier run has recorded them.
    Recorded,
}

/// What the command line says.
#[derive(Debug)]
struct ComparisonOptions {
    /// The file `clouds.yaml` of a running cloud.
    clouds: Option<PathBuf>,
    /// The binary of `cyan`.
    program: Option<PathBuf>,
    /// The folder of the templates.
    templates: PathBuf,
    /// The folder of the public collection, whose templates come too.
    collection: Option<PathBuf>,
    /// The names of the only templates, or nothing for all.
    only: Vec<String>,
    states: HeatStates,
    kills: usize,
    seed: u64,
    /// The number of stacks that are taken over, in place of comparisons.
    stacks: Option<usize>,
    /// Whether the speed is measured, in place of comparisons.
    speed: bool,
}

impl ComparisonOptions {
    /// Reads the command line.
    ///
    /// # Errors
    /// If an option is unknown, or its value is missing or wrong.
    fn parse(root: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut options = Self {
            clouds: None,
            program: None,
            templates: root.join(TEMPLATES),
            collection: None,
            only: Vec::new(),
            states: HeatStates::Live,
            kills: 0,
            seed: SEED,
            stacks: None,
            speed: false,
        };
        let usage = || io::Error::other(USAGE);
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(usage);
            match option.as_str() {
                "--clouds" => options.clouds = Some(PathBuf::from(value()?)),
                "--cyan" => options.program = Some(PathBuf::from(value()?)),
                "--templates" => options.templates = PathBuf::from(value()?),
                "--collection" => options.collection = Some(PathBuf::from(value()?)),
                "--only" => options.only.push(value()?.clone()),
                "--record" => options.states = HeatStates::Record,
                "--recorded" => options.states = HeatStates::Recorded,
                "--kills" => options.kills = value()?.parse().map_err(|_| usage())?,
                "--seed" => options.seed = value()?.parse().map_err(|_| usage())?,
                "--stacks" => options.stacks = Some(value()?.parse().map_err(|_| usage())?),
                "--speed" => options.speed = true,
                _ => return Err(usage()),
            }
        }
        Ok(options)
    }

    /// The templates that are to be compared.
    fn chosen(&self) -> io::Result<Vec<TestTemplate>> {
        let mut templates = TestTemplate::all(&self.templates)?;
        if let Some(folder) = &self.collection {
            templates.extend(collection(folder)?);
        }
        let known = |name: &String| templates.iter().any(|template| template.name == *name);
        if let Some(unknown) = self.only.iter().find(|name| !known(name)) {
            return Err(io::Error::other(format!(
                "there is no template `{unknown}`"
            )));
        }
        templates.retain(|one| self.only.is_empty() || self.only.contains(&one.name));
        Ok(templates)
    }
}

/// The command `cargo xtask cloud`. Returns whether nothing differs.
///
/// # Errors
/// If the arguments are wrong, or the cloud or `cyan` cannot be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> io::Result<bool> {
    let options = ComparisonOptions::parse(root, arguments)?;
    let templates = options.chosen()?;
    let program = match &options.program {
        Some(program) => fs::canonicalize(program)?,
        None => build(root)?,
    };
    let (clouds, _cloud) = match &options.clouds {
        Some(clouds) => (clouds.clone(), None),
        None => {
            let cloud = openstack::start(root)?;
            (cloud.clouds(), Some(cloud))
        }
    };
    let folder = target(root).join("openstack-comparison");
    fs::create_dir_all(&folder)?;
    let folder = fs::canonicalize(folder)?.join(std::process::id().to_string());
    let place = ComparisonPlace {
        admin: CloudLogin::read(&clouds, "admin")?,
        program: &program,
        folder: &folder,
    };
    TestProject::delete_abandoned(&CloudSession::open(&place.admin)?, &place.admin)?;
    let same = match options.stacks {
        _ if options.speed => speed::measure(root, &place).map(|()| true)?,
        Some(stacks) => take_over(&place, &templates, stacks)?,
        None => compare(root, &options, &place, &templates)?,
    };
    // After a difference, the folder shows the output of `cyan`.
    if same {
        fs::remove_dir_all(&folder)?;
    }
    Ok(same)
}

/// Builds `cyan`. Returns its path.
fn build(root: &Path) -> io::Result<PathBuf> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["build", "--quiet", "--package", "cli"]);
    if !command.status()?.success() {
        return Err(io::Error::other("`cyan` cannot be built"));
    }
    fs::canonicalize(target(root).join("debug/cyan"))
}

/// Compares the templates, then kills. Prints what differs. Returns whether nothing does.
fn compare(
    root: &Path,
    options: &ComparisonOptions,
    place: &ComparisonPlace<'_>,
    templates: &[TestTemplate],
) -> io::Result<bool> {
    let (mut equal, mut all) = (0, 0);
    let mut lives = Vec::new();
    for template in templates {
        let (heat, cyan) = both(root, options.states, place, template)?;
        if options.states == HeatStates::Record {
            record(root, template, &heat)?;
        }
        for (heat, cyan) in heat.iter().zip(&cyan) {
            let lines = step_differences(heat, cyan);
            for line in &lines {
                println!("{}, {}: {line}", template.name, cyan.name);
            }
            all += 1;
            equal += usize::from(lines.is_empty());
        }
        println!(
            "{}: Heat {}, cyan {}",
            template.name,
            times(&heat),
            times(&cyan)
        );
        lives.push((template, cyan));
    }
    println!("openstack: {equal} of {all} states as real Heat leaves them");
    let killed = options.kills == 0 || kill(options, place, &lives)?;
    Ok(equal == all && killed)
}

/// The steps of both sides. Heat and `cyan` work at the same time.
fn both(
    root: &Path,
    states: HeatStates,
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
) -> io::Result<(Vec<LifeStep>, Vec<LifeStep>)> {
    if states == HeatStates::Recorded {
        return Ok((recorded(root, template)?, live_with_cyan(place, template)?));
    }
    std::thread::scope(|scope| {
        let heat = scope.spawn(|| live_with_heat(place, template));
        let cyan = live_with_cyan(place, template);
        let heat = heat.join();
        let heat = heat.unwrap_or_else(|_| Err(io::Error::other("the thread of Heat panicked")));
        Ok((heat?, cyan?))
    })
}

/// What differs after one step.
fn step_differences(heat: &LifeStep, cyan: &LifeStep) -> Vec<String> {
    match (&heat.state, &cyan.state) {
        (Ok(heat), Ok(cyan)) => differences(["Heat", "cyan"], heat, cyan),
        (heat, cyan) => {
            let failed = |side: &str, state: &Result<Vec<ComparedObject>, String>| {
                let error = state.as_ref().err()?;
                Some(format!("{side} failed: {error}"))
            };
            [failed("Heat", heat), failed("cyan", cyan)]
                .into_iter()
                .flatten()
                .collect()
        }
    }
}

/// The seconds of each step.
fn times(steps: &[LifeStep]) -> String {
    let times = steps.iter().map(|step| step.time);
    if times.clone().all(|time| time == Duration::ZERO) {
        return "recorded".to_owned();
    }
    let times: Vec<String> = times
        .map(|time| format!("{:.1}", time.as_secs_f64()))
        .collect();
    format!("{} s", times.join(" + "))
}

/// Kills `cyan` in the lives of the templates that it completed. Returns whether nothing differs.
fn kill(
    options: &ComparisonOptions,
    place: &ComparisonPlace<'_>,
    lives: &[(&TestTemplate, Vec<LifeStep>)],
) -> io::Result<bool> {
    let complete = |steps: &[LifeStep]| steps.iter().all(|step| step.state.is_ok());
    let lives = lives.iter().filter(|(_, steps)| complete(steps));
    let lives: Vec<UndisturbedLife<'_>> = lives
        .map(|(template, steps)| UndisturbedLife { template, steps })
        .collect();
    let (kills, seed) = (options.kills, options.seed);
    println!("openstack: {kills} kills from the seed {seed}");
    let problems = kills::kill(place, &lives, kills, seed)?;
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => println!("openstack: {kills} kills, nothing lost, doubled or left"),
        count => println!("openstack: {kills} kills, {count} differences"),
    }
    Ok(problems.is_empty())
}

/// The file of the recorded states of a template.
fn state_file(root: &Path, template: &TestTemplate) -> PathBuf {
    root.join(STATES).join(format!("{}.json", template.name))
}

/// Records the states that Heat leaves, unless it failed.
///
/// # Errors
/// If the file cannot be written.
fn record(root: &Path, template: &TestTemplate, steps: &[LifeStep]) -> io::Result<()> {
    let mut states = serde_json::Map::new();
    for step in steps {
        let Ok(objects) = &step.state else {
            println!("{}: not recorded, because Heat failed", template.name);
            return Ok(());
        };
        let objects = objects.iter().map(ComparedObject::record).collect();
        states.insert(step.name.clone(), Value::Array(objects));
    }
    fs::create_dir_all(root.join(STATES))?;
    fs::write(state_file(root, template), format!("{:#}\n", json!(states)))
}

/// Reads the states that Heat has left.
///
/// # Errors
/// If the file cannot be read, or does not have all steps of the template.
fn recorded(root: &Path, template: &TestTemplate) -> io::Result<Vec<LifeStep>> {
    let file = state_file(root, template);
    let named = |error: &dyn std::fmt::Display| {
        io::Error::other(format!("{}: {error}; `--record` writes it", file.display()))
    };
    let text = fs::read_to_string(&file).map_err(|error| named(&error))?;
    let states: Value = serde_json::from_str(&text).map_err(|error| named(&error))?;
    let steps = step_names(template).into_iter().map(|name| {
        let objects = states[&name].as_array().into_iter().flatten();
        let objects: Option<Vec<_>> = objects.map(ComparedObject::recorded).collect();
        let objects = objects.filter(|_| states[&name].is_array());
        let objects = objects.ok_or_else(|| named(&format!("has no step `{name}`")))?;
        Ok(LifeStep {
            name,
            state: Ok(objects),
            time: Duration::ZERO,
        })
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> io::Result<ComparisonOptions> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        ComparisonOptions::parse(Path::new("."), &arguments)
    }

    #[test]
    fn options_are_read() {
        let read = options(&[
            "--only",
            "network",
            "--only",
            "ports",
            "--kills",
            "5",
            "--recorded",
            "--stacks",
            "3",
        ]);
        let read = read.unwrap();
        assert_eq!(read.stacks, Some(3));
        assert_eq!(read.only, ["network", "ports"]);
        assert_eq!((read.kills, read.seed), (5, SEED));
        assert_eq!(read.states, HeatStates::Recorded);
        assert!(options(&["--kills"]).is_err());
        assert!(options(&["--kills", "many"]).is_err());
        assert!(options(&["network"]).is_err());
    }

    #[test]
    fn each_template_of_the_repository_has_an_update() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let templates = TestTemplate::all(&root.join(TEMPLATES)).unwrap();
        assert!(templates.len() >= 15, "{} templates", templates.len());
        for template in templates {
            let forms = template.forms.len();
            assert!(forms >= 2, "{}", template.name);
            assert_eq!(step_names(&template).len(), forms + 1);
        }
    }
}
