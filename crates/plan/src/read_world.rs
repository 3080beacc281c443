//! Reads the world before a plan is made: the recorded resources, the calls that were cut off, and
//! the creates whose outcomes are open.
//!
//! Not here: the reads themselves (`refresh`), what follows from them (`settle`).

use diag::Diagnostics;
use evaluate::answers::Answers;
use evaluate::world::World;

use crate::addresses::SelectedAddresses;
use crate::options::StateEdit;
use crate::plan::Request;
use crate::{refresh, settle};

/// Reads the recorded resources, unless the options skip this. `earlier` holds the answers of the
/// generation that a rollback restores.
pub(crate) async fn read_world(
    request: &Request<'_>,
    earlier: Option<Answers>,
    world: &dyn World,
    refreshed: &mut refresh::Refreshed,
    found: &mut Diagnostics,
) -> Answers {
    let Request {
        instance,
        options,
        snapshot,
        catalogs,
        ..
    } = request;
    let mut answers = earlier.unwrap_or_else(|| Answers {
        working_directory: world.environment().working_directory(),
        ..Answers::default()
    });
    answers.now = world.environment().now();
    answers.unread.clear();
    for (site, value) in &snapshot.memoised {
        answers
            .memoised
            .entry(site.clone())
            .or_insert_with(|| value.clone());
    }
    // Also without `refresh`, no create whose outcome is open is made again unseen.
    let is_unsure = |record| refresh::attempt_of(record).is_some();
    let unsettled =
        || !snapshot.open.is_empty() || snapshot.records.values().any(|record| is_unsure(record));
    if options.refresh.is_on() || unsettled() {
        let only_cut_off = !options.refresh.is_on();
        // The edit concerns the targets only.
        let only = match options.state_edit {
            Some(StateEdit::AcceptDrift) => SelectedAddresses::new(&options.targets),
            _ => SelectedAddresses::new(&[]),
        };
        let adopted = &options.adopted;
        *refreshed = refresh::refresh(
            snapshot,
            refresh::ReadScope {
                only_cut_off,
                only: &only,
            },
            adopted,
            catalogs,
            world,
            &mut answers,
        )
        .await;
        let unread = &mut refreshed.unread;
        let unsure = unread
            .extract_if(.., |one| one.cause == refresh::ReadCause::Unsure)
            .collect::<Vec<_>>();
        settle::report_unsure(&unsure, instance, options, found);
        if !options.refresh.is_on() {
            // The user has decided that these were not carried out.
            for one in &unsure {
                answers.unread.shift_remove(&one.address);
                answers.seen.shift_remove(&one.address);
            }
        }
        // `settle` reports interrupted calls with what the user can do about them.
        unread.retain(|one| one.cause == refresh::ReadCause::Recorded);
    }
    answers
}
