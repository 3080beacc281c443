//! The fold of a journal gives the same results as every other query of the store.

use state::seal::Sealer;
use state::{Fold, InstanceInfo, Since, Snapshot, Store, StoreError};

use super::harness::{Failed, StorePlace};
use super::samples::sealer;

/// Checks each instance that a case has left, under each key that a case may have used last.
pub(super) async fn journals_lead_to_snapshots(place: &StorePlace) -> Result<(), Failed> {
    for sealer in [sealer(), Sealer::with_key([9; 32]), Sealer::none()] {
        let store = place.open(sealer);
        for info in store.instances().await? {
            match check_instance(&*store, &info).await {
                Err(FoldError::Store(StoreError::WrongKey | StoreError::KeyMissing)) => {}
                Err(FoldError::Store(error)) => return Err(error.into()),
                Err(FoldError::Differs(what)) => {
                    return Err(Failed(format!("`{}`: {what}", info.name)));
                }
                Ok(()) => {}
            }
        }
    }
    Ok(())
}

enum FoldError {
    Store(StoreError),
    Differs(String),
}

impl From<StoreError> for FoldError {
    fn from(error: StoreError) -> FoldError {
        FoldError::Store(error)
    }
}

async fn check_instance(store: &dyn Store, info: &InstanceInfo) -> Result<(), FoldError> {
    let name = &info.name;
    let loaded = store.load(name).await?;
    let whole = store.read(name, Since::Entry(0)).await?.unwrap_or_default();
    let newest = store
        .read(name, Since::Checkpoint)
        .await?
        .unwrap_or_default();
    let entries = whole.entries.clone();
    let mut fold = Fold::of(whole.from.clone());
    entries.iter().for_each(|line| fold.follow(&line.entry));

    is_same(
        "a glance at the fold",
        &glance(&fold.info(name, whole.revision, info.holder.clone())),
        &glance(info),
    )?;
    is_same(
        "the history",
        &store.history(name, 99).await?,
        &whole.history(99),
    )?;
    is_same(
        "the log",
        &store.log(name, None, usize::MAX).await?,
        &entries,
    )?;
    for line in entries
        .iter()
        .filter(|line| line.entry.kind.word() == "began")
    {
        is_same(
            "an operation",
            &store.operation(name, &line.operation).await?,
            &whole.operation(&line.operation),
        )?;
    }
    let first = whole.from.sequence + 1;
    is_same(
        "the numbers of the entries",
        &entries.iter().map(|line| line.sequence).collect::<Vec<_>>(),
        &(first..first + entries.len() as u64).collect::<Vec<_>>(),
    )?;
    if let [.., last_but_one, last] = entries.as_slice() {
        let tail = store
            .read(name, Since::Entry(last_but_one.sequence))
            .await?
            .unwrap_or_default();
        is_same("the end of the journal", &tail.entries, &vec![last.clone()])?;
        is_same(
            "where the end of the journal begins",
            &tail.from.sequence,
            &last_but_one.sequence,
        )?;
    }
    for (what, found) in [
        ("the journal", whole.snapshot()),
        ("the newest checkpoint", newest.snapshot()),
    ] {
        is_same(
            &format!("the snapshot that {what} leads to"),
            &found,
            &loaded,
        )?;
        is_same(
            &format!("the order of records that {what} leads to"),
            &addresses(&found),
            &addresses(&loaded),
        )?;
    }
    let mut wanted = loaded.managed(name);
    wanted.sort();
    is_same("what it manages", &managed(store, name).await?, &wanted)
}

async fn managed(
    store: &dyn Store,
    name: &state::InstanceName,
) -> Result<Vec<state::Managed>, StoreError> {
    let mut all = store.managed_by_others("").await?;
    all.retain(|one| one.instance == *name);
    all.sort();
    Ok(all)
}

/// The text of the info, without `verified`, which depends on the key.
fn glance(info: &InstanceInfo) -> String {
    format!(
        "{:?}",
        InstanceInfo {
            verified: true,
            ..info.clone()
        }
    )
}

fn addresses(snapshot: &Snapshot) -> Vec<String> {
    snapshot.records.keys().map(ToString::to_string).collect()
}

fn is_same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    wanted: &T,
) -> Result<(), FoldError> {
    if found == wanted {
        return Ok(());
    }
    Err(FoldError::Differs(format!(
        "{what}: {found:?} instead of {wanted:?}"
    )))
}
