//! Resources and children that wait at a hook, including those that have no record yet or no longer.

use std::collections::HashMap;

use blueprint::{Address, Breakpoint};
use serde_json::{Value as Json, json};
use state::{Snapshot, Status, StatusOp, StatusWord, Stop};

use crate::terminal::Paint;

/// The waiting resources, by address.
pub(super) struct Waiting(HashMap<Address, Breakpoint>);

impl Waiting {
    pub(super) fn of(snapshot: &Snapshot) -> Waiting {
        let waiting = snapshot.stops.iter().filter_map(|(name, stop)| Some((name.parse().ok()?, stop.waiting?)));
        Waiting(waiting.collect())
    }

    pub(super) fn at(&self, address: &Address) -> Option<Breakpoint> {
        self.0.get(address).copied()
    }
}

/// The text behind the status of a waiting resource.
pub(super) fn flag(waiting: Option<Breakpoint>) -> String {
    waiting.map(|at| format!(", waiting ({at})")).unwrap_or_default()
}

/// The status of a waiting resource without a record: not created yet, or deleted.
fn status(at: Breakpoint) -> Status {
    let op = StatusOp::of(at);
    Status::new(op, if op == StatusOp::Delete { StatusWord::Gone } else { StatusWord::Pending })
}

/// The waiting resources without a record.
fn without_record(snapshot: &Snapshot) -> impl Iterator<Item = (&str, Breakpoint)> {
    snapshot.stops.iter().filter_map(|(name, stop)| {
        let recorded = || name.parse::<Address>().is_ok_and(|address| snapshot.records.contains_key(&address));
        let at = stop.waiting.filter(|_| Stop::child(name).is_none() && !recorded())?;
        Some((name.as_ref(), at))
    })
}

/// The waiting children, by their include path.
fn children(snapshot: &Snapshot) -> impl Iterator<Item = (&str, Breakpoint)> {
    snapshot.stops.iter().filter_map(|(name, stop)| Some((name.strip_suffix('/')?, stop.waiting?)))
}

/// Writes lines for waiting resources without a record, and for children.
pub(super) fn others(text: &mut String, snapshot: &Snapshot, paint: Paint) {
    for (address, at) in without_record(snapshot) {
        text.push_str(&format!("{}: {}{}\n", paint.bold(address), status(at), flag(Some(at))));
    }
    for (place, at) in children(snapshot) {
        let what = paint.dim("child document");
        text.push_str(&format!("{} {what}: waiting ({at})\n", paint.bold(place)));
    }
}

fn pending_json((address, at): (&str, Breakpoint)) -> Json {
    json!({"address": address, "status": status(at).to_string(), "waiting": at})
}

/// The same as machine output, among the resources.
pub(super) fn others_json(snapshot: &Snapshot) -> impl Iterator<Item = Json> {
    without_record(snapshot).map(pending_json)
}

/// The hook at which a child waits.
pub(super) fn child(place: &str, snapshot: &Snapshot) -> Option<Breakpoint> {
    snapshot.stops.get(format!("{place}/").as_str())?.waiting
}

/// The waiting children without any record.
pub(super) fn new_children(snapshot: &Snapshot) -> impl Iterator<Item = (&str, Breakpoint)> {
    children(snapshot).filter(|(place, _)| !snapshot.declared.children.contains_key(*place))
}

/// The text and the machine output for one waiting resource or child without a record.
pub(super) fn one(name: &str, snapshot: &Snapshot) -> Option<(String, Json)> {
    if let Some(found) = without_record(snapshot).find(|(address, _)| *address == name) {
        return Some((format!("{name}\nstatus: {}{}\n", status(found.1), flag(Some(found.1))), pending_json(found)));
    }
    let at = child(name, snapshot)?;
    Some((format!("{name} child document\nwaiting: {at}\n"), json!({"address": name, "waiting": at})))
}
