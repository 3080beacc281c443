//! The text for resources and children that wait at a breakpoint.

use blueprint::Breakpoint;
use engine::inspect::{Pending, Waiting};

use crate::terminal::Paint;

/// The text after the status of a waiting resource.
pub(super) fn flag(waiting: Option<Breakpoint>) -> String {
    waiting
        .map(|at| format!(", waiting ({at})"))
        .unwrap_or_default()
}

/// Writes lines for waiting resources without a record, and for children.
pub(super) fn write_waiting(text: &mut String, waiting: &Waiting, paint: Paint) {
    for pending in &waiting.pending {
        let flag = flag(Some(pending.at));
        text.push_str(&format!(
            "{}: {}{flag}\n",
            paint.bold(&pending.address),
            pending.status()
        ));
    }
    for (place, at) in &waiting.children {
        let what = paint.dim("child document");
        text.push_str(&format!("{} {what}: waiting ({at})\n", paint.bold(place)));
    }
}

/// The text for one waiting resource without a record.
pub(super) fn pending_text(pending: &Pending) -> String {
    format!(
        "{}\nstatus: {}{}\n",
        pending.address,
        pending.status(),
        flag(Some(pending.at))
    )
}
