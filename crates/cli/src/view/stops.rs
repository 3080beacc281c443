//! The stops of operations as text, in a plan and at the end of an operation.

use std::collections::HashMap;

use blueprint::{Address, Breakpoint, Name};
use engine::{PlannedStop, Step};

use crate::terminal::Paint;

/// The maximum number of waiting addresses that are named.
const NAMED: usize = 20;

/// The stops of a plan, by address.
pub(crate) struct Stops<'p> {
    by_address: HashMap<&'p str, Vec<&'p PlannedStop>>,
    all: &'p [PlannedStop],
}

impl<'p> Stops<'p> {
    pub(crate) fn of(stops: &'p [PlannedStop]) -> Stops<'p> {
        let mut by_address: HashMap<&str, Vec<&PlannedStop>> = HashMap::new();
        for stop in stops.iter().filter(|stop| !stop.child) {
            by_address.entry(&stop.address).or_default().push(stop);
        }
        Stops {
            by_address,
            all: stops,
        }
    }

    /// The text for a step. Each stop is returned once.
    pub(crate) fn at(&mut self, step: &Step) -> Vec<String> {
        if self.by_address.is_empty() {
            return Vec::new();
        }
        let stops = self
            .by_address
            .remove(step.address.to_string().as_str())
            .unwrap_or_default();
        stops.into_iter().map(resource_stop_text).collect()
    }

    /// Writes the stops that belong to no step: those of children, and of resources without
    /// remaining work.
    pub(crate) fn write_remaining(&self, text: &mut String, paint: Paint) {
        let left: Vec<&PlannedStop> = self
            .all
            .iter()
            .filter(|stop| stop.child || self.by_address.contains_key(stop.address.as_ref()))
            .collect();
        if left.is_empty() {
            return;
        }
        text.push_str(&format!("{}\n", paint.bold("breakpoints")));
        for stop in left {
            let what = if stop.child {
                child_stop_text(stop)
            } else {
                resource_stop_text(stop)
            };
            text.push_str(&format!(
                "  {} {}\n",
                paint.bold(&stop.address),
                paint.yellow(what)
            ));
        }
        text.push('\n');
    }
}

fn resource_stop_text(stop: &PlannedStop) -> String {
    let at = stop.at;
    match (stop.passed, at.is_before()) {
        (true, _) => format!("continues from the breakpoint {at}"),
        (false, true) => format!("stops before this: breakpoint {at}"),
        (false, false) => format!("stops after this: breakpoint {at}"),
    }
}

fn child_stop_text(stop: &PlannedStop) -> String {
    let at = stop.at;
    match (stop.passed, at.is_before()) {
        (true, _) => format!("continues from the breakpoint {at}"),
        (false, true) => format!("stops before anything in it begins: breakpoint {at}"),
        (false, false) => format!("stops once all of it is done: breakpoint {at}"),
    }
}

/// The text at the end of an operation that stopped: where it stopped, what waits, and how to
/// continue.
pub(crate) fn stopped_text(
    stops: &[(Name, Breakpoint)],
    waiting: &[String],
    destroys: bool,
) -> String {
    let at: Vec<String> = stops
        .iter()
        .map(|(address, at)| format!("{address} ({at})"))
        .collect();
    let what = if at.len() == 1 {
        "a breakpoint"
    } else {
        "breakpoints"
    };
    let mut text = format!("Stopped at {what}: {}.", at.join(", "));
    if !waiting.is_empty() {
        let more = waiting.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let named = waiting[..waiting.len().min(NAMED)].join(", ");
        text.push_str(&format!(" What waits: {named}{more}."));
    }
    let again = if destroys {
        "cyan destroy"
    } else {
        "cyan deploy"
    };
    text.push_str(&format!(" To go on, say `{again}` again."));
    text
}

/// The text at the end of an operation that did not wait any longer for some resources.
pub(crate) fn unready_text(unready: &[(Address, Name)], waiting: &[String]) -> String {
    let mut text = "Not ready yet:".to_owned();
    for (address, why) in unready {
        text.push_str(&format!("\n  {address}: {why}"));
    }
    if !waiting.is_empty() {
        let named = waiting[..waiting.len().min(NAMED)].join(", ");
        let more = match waiting.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text.push_str(&format!("\nWhat waits for them: {named}{more}."));
    }
    text.push_str("\nTo go on waiting, say `cyan deploy` again.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hook is the term of one dialect.
    #[test]
    fn place_of_a_stop_is_called_a_breakpoint() {
        let [create, update] = [Breakpoint::PreCreate, Breakpoint::PostUpdate];
        let stop = |at, passed| PlannedStop {
            address: "web".into(),
            child: false,
            at,
            passed,
        };
        assert_eq!(
            resource_stop_text(&stop(create, false)),
            "stops before this: breakpoint pre-create"
        );
        assert_eq!(
            resource_stop_text(&stop(update, true)),
            "continues from the breakpoint post-update"
        );
        assert_eq!(
            child_stop_text(&stop(update, false)),
            "stops once all of it is done: breakpoint post-update"
        );
        assert!(
            stopped_text(&[("web".into(), create)], &[], false)
                .starts_with("Stopped at a breakpoint: web (pre-create).")
        );
    }
}
