//! Evaluates the requirements of links, and the specs and conditions of link resources.
//!
//! Not here: the contributions of links (`link_writes`).

use blueprint::Value;
use diag::{Diagnostic, Diagnostics};
use evaluate::resolve::links::slots::LinkAt;
use plan::task::Decided;

use crate::codes;
use crate::progress::Results;
use crate::run_values::RunValues;

/// Checks a link's requirements before its first step. `None` if a requirement fails; the error
/// goes to `found`.
pub(crate) fn required(
    known: &mut RunValues,
    link: LinkAt,
    decided: &Decided,
    found: &mut Diagnostics,
) -> Option<()> {
    let evaluation = known.evaluation.as_mut()?;
    let mut mistakes = Diagnostics::new();
    let holds = evaluation.requirements(link, &mut mistakes);
    mistakes.retain(Diagnostic::is_error);
    found.append(mistakes);
    match holds {
        Ok(Some(true)) => Some(()),
        Ok(Some(false)) | Err(_) => None,
        Ok(None) => {
            found.push(
                codes::PROMISE_BROKEN
                    .new(format!(
                        "whether `{}` may be linked is still not known",
                        decided.address
                    ))
                    .label(
                        decided.span,
                        "its kind requires something that has no value yet",
                    ),
            );
            None
        }
    }
}

/// Checks the requirements of links that write together with a resource and that were undecided at
/// plan time. `None` if a requirement fails, which is reported. A requirement that is still
/// undecided is checked before the link's next step.
pub(crate) fn may_be_linked(
    known: &mut RunValues,
    results: &mut Results,
    decided: &Decided,
) -> Option<()> {
    let Some(evaluation) = known
        .evaluation
        .as_mut()
        .filter(|it| !it.links.unchecked_requirements.is_empty())
    else {
        return Some(());
    };
    let Some((index, position)) = decided.element else {
        return Some(());
    };
    let mut mistakes = Diagnostics::new();
    let mut refused = false;
    for (number, at, target) in evaluation.links_of(index, position).to_vec() {
        let link = (number, at);
        let writes = evaluation
            .pair(number)
            .is_some_and(|pair| pair.wiring.with.iter().any(|(into, _)| *into == target));
        if !writes
            || !evaluation.links.unchecked_requirements.contains(&link)
            || evaluation.has_absent_end(link)
        {
            continue;
        }
        match evaluation.requirements(link, &mut mistakes) {
            Ok(Some(true)) => drop(evaluation.links.unchecked_requirements.remove(&link)),
            Ok(None) => {}
            Ok(Some(false)) | Err(_) => refused = true,
        }
    }
    results.report_errors(mistakes);
    (!refused).then_some(())
}

/// The complete spec of a link resource. `None` if its evaluation fails, which is reported.
pub(crate) fn part_spec(
    known: &mut RunValues,
    results: &mut Results,
    decided: &Decided,
    link: LinkAt,
    part: usize,
) -> Option<Value> {
    let mut mistakes = Diagnostics::new();
    let holds = required(known, link, decided, &mut mistakes);
    results.diagnostics().append(mistakes);
    holds?;
    if !decided.desired.has_unknown() {
        return Some(decided.desired.clone());
    }
    let mut mistakes = Diagnostics::new();
    let spec = known
        .evaluation
        .as_mut()?
        .part_spec(link, part, &mut mistakes)
        .ok()
        .flatten();
    results.report_errors(mistakes);
    let spec = spec?;
    if spec.has_unknown() {
        results.report(
            codes::PROMISE_BROKEN
                .new(format!(
                    "the spec of `{}` is still not complete",
                    decided.address
                ))
                .label(decided.span, "something it reads has no value yet"),
        );
        return None;
    }
    Some(spec)
}

/// Whether a link resource with an open condition exists.
pub(crate) fn part_holds(
    known: &mut RunValues,
    results: &mut Results,
    decided: &Decided,
    link: LinkAt,
    part: usize,
) -> Option<bool> {
    let mut mistakes = Diagnostics::new();
    let evaluation = known.evaluation.as_mut()?;
    let holds = !evaluation.has_absent_end(link)
        && evaluation
            .link_part(link, part, &mut mistakes)
            .ok()
            .flatten()
            .is_some_and(|part| !part.condition_open);
    results.report_errors(mistakes);
    if !holds {
        known.mark_absent(&decided.address);
    } else if let Some(part) = evaluation.part_mut(link, part) {
        part.condition_open = false;
    }
    Some(holds)
}
