//! The choice of the operations of an instance to keep.
//!
//! Not here: removing the others (each store's own).

use crate::entry::{OperationKind, OperationOutcome};
use crate::info::{GenerationInfo, OperationInfo};

/// Returns the oldest operation to keep if the newest `keep` generations are kept; `None` if there
/// is none before it.
///
/// `history` holds all operations, newest first. `needed` is the oldest operation that the store
/// cannot do without ([`InstanceInfo::needed`](crate::InstanceInfo::needed)). These and everything
/// after them are kept as well:
///
/// * the newest generation that ended well, and the one that a rollback goes back to;
/// * the newest operation with a document, whose inputs may be used again;
/// * the operations that an operation needs that runs or was cut off.
pub fn first_kept<'h>(
    history: &'h [GenerationInfo],
    keep: u64,
    needed: Option<&str>,
) -> Option<&'h OperationInfo> {
    let ended = |past: &GenerationInfo| past.finished.map(|ended| ended.outcome);
    let ended_well = |past: &GenerationInfo| {
        matches!(
            ended(past),
            Some(OperationOutcome::Ready | OperationOutcome::Gone)
        )
    };
    let is_rollback_target = |past: &GenerationInfo| match (ended(past), past.operation.kind) {
        (Some(OperationOutcome::Gone), _) => true,
        (_, OperationKind::State | OperationKind::Reconcile) => false,
        (outcome, _) => outcome == Some(OperationOutcome::Ready),
    };
    let newest = |wanted: &dyn Fn(&GenerationInfo) -> bool| history.iter().position(wanted);
    let nth = usize::try_from(keep.max(1)).unwrap_or(usize::MAX) - 1;
    let mut generations = (0..history.len()).filter(|at| history[*at].finished.is_some());
    // Fewer generations than are kept: nothing is removed.
    let oldest = generations.nth(nth)?;
    // If no operation ended well, any may be needed to find out which objects exist.
    let well = newest(&ended_well)?;
    let needed = needed.and_then(|id| newest(&|past| *past.operation.id == *id));
    let others = [
        newest(&is_rollback_target),
        newest(&|past| !past.operation.document.is_empty()),
        needed,
    ];
    let first = others
        .into_iter()
        .flatten()
        .fold(oldest.max(well), usize::max);
    history.get(first + 1)?;
    history.get(first).map(|past| &past.operation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Counts;
    use crate::info::Ended;
    use crate::instance::Generation;

    fn past(
        number: u64,
        kind: OperationKind,
        outcome: Option<OperationOutcome>,
        document: &str,
    ) -> GenerationInfo {
        let operation = OperationInfo {
            id: format!("op-{number}").into(),
            kind,
            who: "ann@host".into(),
            began: 1,
            document: document.into(),
        };
        let ended = |outcome| Ended {
            outcome,
            at: 2,
            generation: Generation(number),
            counts: Counts::default(),
        };
        GenerationInfo {
            operation,
            finished: outcome.map(ended),
        }
    }

    fn kept(newest_first: &[GenerationInfo], keep: u64, needed: Option<&str>) -> Option<String> {
        first_kept(newest_first, keep, needed).map(|operation| operation.id.to_string())
    }

    #[test]
    fn the_newest_generations_are_kept() {
        use OperationOutcome::Ready;
        let history: Vec<_> = (1..=5)
            .rev()
            .map(|number| past(number, OperationKind::Update, Some(Ready), "shop.yaml"))
            .collect();
        assert_eq!(kept(&history, 2, None), Some("op-4".into()));
        assert_eq!(kept(&history, 1, None), Some("op-5".into()));
        assert_eq!(
            kept(&history, 0, None),
            Some("op-5".into()),
            "the newest is always kept"
        );
        assert_eq!(kept(&history, 5, None), None);
        assert_eq!(kept(&history, 9, None), None);
        assert_eq!(
            kept(&history, 2, Some("op-2")),
            Some("op-2".into()),
            "what the store needs"
        );
        assert_eq!(kept(&history, 2, Some("op-1")), None);
    }

    #[test]
    fn generations_for_rollback_and_inputs_are_kept() {
        use OperationKind::{Destroy, State, Update};
        use OperationOutcome::{Failed, Gone, Ready};
        let deploy = |number, outcome| past(number, Update, outcome, "shop.yaml");
        let failed = [
            deploy(4, Some(Failed)),
            deploy(3, Some(Failed)),
            deploy(2, Some(Ready)),
            deploy(1, Some(Ready)),
        ];
        assert_eq!(
            kept(&failed, 1, None),
            Some("op-2".into()),
            "the last that ended well"
        );
        let state = [
            past(4, State, Some(Ready), ""),
            deploy(3, Some(Ready)),
            deploy(2, Some(Ready)),
        ];
        assert_eq!(
            kept(&state, 1, None),
            Some("op-3".into()),
            "the goal of a rollback"
        );
        let gone = [
            past(4, Destroy, Some(Gone), ""),
            deploy(3, Some(Failed)),
            deploy(2, Some(Ready)),
        ];
        assert_eq!(
            kept(&gone, 1, None),
            Some("op-3".into()),
            "the newest inputs"
        );
        let cut_off = [
            deploy(4, None),
            deploy(3, Some(Ready)),
            deploy(2, None),
            deploy(1, Some(Ready)),
        ];
        assert_eq!(
            kept(&cut_off, 1, None),
            Some("op-3".into()),
            "a run that was cut off has no generation"
        );
        let never = [deploy(2, Some(Failed)), deploy(1, Some(Failed))];
        assert_eq!(kept(&never, 1, None), None, "none ended well");
        assert_eq!(kept(&[], 1, None), None);
    }
}
