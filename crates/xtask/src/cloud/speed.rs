//! How fast `cyan` is: the life of one template with real Heat, with `cyan`, and with a bare client
//! that sends the same calls.
//!
//! Not here: what the three make of the template, which is compared with the others (`life`).

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bare::BareClient;
use super::calls::{CallCounts, CountedCloud};
use super::heat::HeatStack;
use super::instance::{CyanInstance, InstanceStep};
use super::life::{ComparisonPlace, in_project};
use super::template::TestTemplate;

/// The folder of the template: a network, a subnet, twenty ports in a group, and a server. Its
/// update changes one value of the server.
const TEMPLATES: &str = "crates/xtask/counterparts/openstack/speed";

/// The number of lives of each side. The fastest time of each step counts.
const LIVES: usize = 3;

/// Who lives the template.
const SIDES: [&str; 3] = ["Heat", "cyan", "bare client"];

/// The steps. Heat has no plan.
const STEPS: [&str; 4] = ["create", "no-change plan", "change one value", "delete"];

/// The times of the steps of one life, and the calls of each one where they are counted.
type MeasuredLife = Vec<(Duration, CallCounts)>;

/// Prints the times of the three sides, their ratios, and the calls of `cyan` by kind.
///
/// # Errors
/// If a side cannot complete a step, or a project cannot be made or deleted.
pub(super) fn measure(root: &Path, place: &ComparisonPlace<'_>) -> io::Result<()> {
    let template = TestTemplate::all(&root.join(TEMPLATES))?.pop();
    let template = template.ok_or_else(|| io::Error::other("no template measures speed"))?;
    let mut sides: [Option<MeasuredLife>; 3] = [None, None, None];
    for life in 0..LIVES {
        for (side, fastest) in sides.iter_mut().enumerate() {
            let measured = match side {
                0 => heat(place, &template)?,
                1 => cyan(place, &template, life)?,
                _ => bare(place, &template)?,
            };
            let times = measured
                .iter()
                .map(|step| format!("{:.2}", step.0.as_secs_f64()));
            let times: Vec<String> = times.collect();
            println!(
                "{}, life {}: {} s",
                SIDES[side],
                life + 1,
                times.join(" + ")
            );
            *fastest = Some(match fastest.take() {
                Some(former) => faster(former, measured),
                None => measured,
            });
        }
    }
    let [Some(heat), Some(cyan), Some(bare)] = sides else {
        return Err(io::Error::other("no life was measured"));
    };
    print_table(&heat, &cyan, &bare);
    Ok(())
}

/// The faster run of each step.
fn faster(one: MeasuredLife, other: MeasuredLife) -> MeasuredLife {
    let pairs = one.into_iter().zip(other);
    pairs
        .map(|(one, other)| if other.0 < one.0 { other } else { one })
        .collect()
}

/// Measures a step.
fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed())
}

fn heat(place: &ComparisonPlace<'_>, template: &TestTemplate) -> io::Result<MeasuredLife> {
    in_project(place, template, "heat", |_, project| {
        let session = super::session::CloudSession::open(&project.login)?;
        let mut stack = HeatStack::new(session, template);
        let [first, second] = template.forms.as_slice() else {
            return Err(io::Error::other("the template must have two forms"));
        };
        let steps = [
            timed(|| stack.apply(first))?,
            Duration::ZERO,
            timed(|| stack.apply(second))?,
            timed(|| stack.delete())?,
        ];
        Ok(steps.map(|time| (time, CallCounts::new())).to_vec())
    })
}

fn cyan(
    place: &ComparisonPlace<'_>,
    template: &TestTemplate,
    life: usize,
) -> io::Result<MeasuredLife> {
    in_project(place, template, "cyan", |_, project| {
        let folder = place.folder.join(format!("speed-{life}"));
        let instance = CyanInstance::new(place.program, template, &project.login, &folder)?;
        let cloud = CountedCloud::start(&project.login)?;
        instance.sign_in(&cloud.login, &cloud.addresses)?;
        let [first, second] = template.forms.as_slice() else {
            return Err(io::Error::other("the template must have two forms"));
        };
        let mut steps = MeasuredLife::new();
        let mut step = |work: &dyn Fn() -> io::Result<()>| {
            cloud.take();
            let time = timed(work)?;
            steps.push((time, cloud.take()));
            io::Result::Ok(())
        };
        step(&|| instance.run(InstanceStep::Deploy(first)))?;
        step(&|| instance.run_command(&["stage", "stack.yaml", "--expect-no-changes"]))?;
        step(&|| instance.run(InstanceStep::Deploy(second)))?;
        step(&|| instance.run(InstanceStep::Destroy))?;
        Ok(steps)
    })
}

fn bare(place: &ComparisonPlace<'_>, template: &TestTemplate) -> io::Result<MeasuredLife> {
    in_project(place, template, "bare", |_, project| {
        let cloud = CountedCloud::start(&project.login)?;
        let mut client = BareClient::new(&cloud);
        let mut steps = MeasuredLife::new();
        let all = [
            BareClient::create,
            BareClient::read,
            BareClient::change,
            BareClient::delete,
        ];
        for step in all {
            cloud.take();
            let time = timed(|| step(&mut client))?;
            steps.push((time, cloud.take()));
        }
        Ok(steps)
    })
}

fn print_table(heat: &MeasuredLife, cyan: &MeasuredLife, bare: &MeasuredLife) {
    let whole = |life: &MeasuredLife| life.iter().map(|step| step.0).sum::<Duration>();
    let times = |life: &MeasuredLife| {
        let steps = life.iter().map(|step| step.0);
        steps.chain([whole(life)]).collect::<Vec<_>>()
    };
    let (heat, of_cyan, bare_times) = (times(heat), times(cyan), times(bare));
    println!();
    println!("| step | Heat | cyan | bare client | cyan / Heat | cyan / bare client |");
    println!("|---|---|---|---|---|---|");
    let names = STEPS.iter().chain(&["whole life"]);
    for (index, name) in names.enumerate() {
        let (heat, cyan, bare) = (heat[index], of_cyan[index], bare_times[index]);
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            seconds(heat),
            seconds(cyan),
            seconds(bare),
            ratio(cyan, heat),
            ratio(cyan, bare)
        );
    }
    for ((name, (_, of_cyan)), (_, of_bare)) in STEPS.iter().zip(cyan).zip(bare) {
        let sum = |counts: &CallCounts| counts.values().sum::<usize>();
        println!(
            "calls of `{name}`: cyan {}, bare client {}",
            sum(of_cyan),
            sum(of_bare)
        );
        for (kind, count) in of_cyan {
            let bare = of_bare.get(kind).copied().unwrap_or(0);
            println!("    {kind}: cyan {count}, bare client {bare}");
        }
    }
}

/// A time in seconds, or nothing if the step does not exist.
fn seconds(time: Duration) -> String {
    match time {
        Duration::ZERO => String::new(),
        time => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// The ratio of two times, or nothing if one step does not exist.
fn ratio(one: Duration, other: Duration) -> String {
    match other {
        Duration::ZERO => String::new(),
        other => format!("{:.2}", one.as_secs_f64() / other.as_secs_f64()),
    }
}
