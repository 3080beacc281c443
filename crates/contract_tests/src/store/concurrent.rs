//! Several writers, readers and instances on one place.

use blueprint::{Name, Value};
use futures::future::{join, join_all};
use state::{Lease, Managed, Revision, StatusOp, StatusWord, Store, StoreError};

use super::harness::{Failed, MINUTE, NOW, StorePlace, TestWriter, instance};
use super::samples::{address, began, intent, outcome, record, record_of, sealer};

/// Instances of one place share no records, revisions or leases.
pub(super) async fn instances_are_isolated(place: &StorePlace) -> Result<(), Failed> {
    let store = place.open(sealer());
    for (number, name) in ["b", "a.x", "c_1"].into_iter().enumerate() {
        let mut hand = TestWriter::acquire(&*store, name).await?;
        let id = format!("op-{name}");
        hand.commit(vec![
            began(&id),
            outcome(1, "same", record(Value::from(name))),
            intent(2, "open"),
        ])
        .await?;
        for _ in 0..number {
            hand.commit(vec![outcome(1, "same", record(Value::from(name)))])
                .await?;
        }
        hand.release().await?;
    }
    let all = store.instances().await?;
    check!(
        all.iter()
            .map(|info| info.name.as_str())
            .eq(["a.x", "b", "c_1"]),
        "instances: {all:?}"
    );
    check!(
        all.iter().map(|info| info.revision.0).eq([2, 1, 3]),
        "their revisions: {all:?}"
    );
    for name in ["b", "a.x", "c_1"] {
        let found = store.load(&instance(name)).await?;
        check_eq!(found.uid.to_string(), format!("op-{name}"), "uid");
        let inputs = record_of(&found, "same").map(|record| record.inputs.clone());
        check_eq!(inputs, Some(Value::from(name)), "the record");
        check_eq!(found.open.len(), 1, "open calls");
        check_eq!(found.records.len(), 1, "records");
        let managed = store.managed_by_others(name).await?;
        let owners: Vec<&str> = managed.iter().map(|one| one.instance.as_str()).collect();
        let others: Vec<&str> = ["a.x", "b", "c_1"]
            .into_iter()
            .filter(|other| *other != name)
            .collect();
        check_eq!(owners, others, "who else manages something");
        let same = |one: &Managed| {
            let record = record_of(&found, "same");
            record.is_some_and(|it| (&it.type_name, &it.id) == (&one.type_name, &one.id))
                && one.address == address("same")
        };
        check!(managed.iter().all(same), "what others manage: {managed:?}");
    }
    // Neither deleted resources nor those that were never created are managed.
    let mut hand = TestWriter::acquire(&*store, "b").await?;
    let mut unmade = record(Value::Null);
    unmade.id = Name::default();
    hand.commit(vec![
        began("op-more"),
        outcome(1, "unmade", unmade),
        outcome(2, "same", None),
    ])
    .await?;
    let managed = store.managed_by_others("a.x").await?;
    check!(
        managed.iter().all(|one| one.instance.as_str() == "c_1"),
        "what others manage: {managed:?}"
    );
    check_eq!(managed.len(), 1, "objects that others manage");
    Ok(())
}

/// A reader sees whole revisions, in order, while another process writes.
pub(super) async fn readers_see_whole_revisions(place: &StorePlace) -> Result<(), Failed> {
    let (ours, theirs) = (place.open(sealer()), place.open(sealer()));
    let shop = instance("shop");
    let mut hand = TestWriter::acquire(&*ours, "shop").await?;
    let pair = |number: i64| {
        ["a", "b"]
            .map(|name| outcome(1, name, record(Value::Int(number))))
            .to_vec()
    };
    hand.commit([vec![began("op-1")], pair(0)].concat()).await?;
    const ROUNDS: i64 = 40;
    let writing = async {
        for number in 1..=ROUNDS {
            hand.commit(pair(number)).await?;
        }
        Ok::<(), Failed>(())
    };
    let watching = async {
        let mut last = Revision(0);
        for _ in 0..ROUNDS {
            let found = theirs.load(&shop).await?;
            check!(
                found.revision >= last,
                "a reader went back from {last:?} to {:?}",
                found.revision
            );
            last = found.revision;
            let values =
                ["a", "b"].map(|name| record_of(&found, name).map(|record| record.inputs.clone()));
            let wanted = Value::Int(found.revision.0.cast_signed() - 1);
            check!(
                values.iter().all(|value| value.as_ref() == Some(&wanted)),
                "revision {last:?} shows {values:?}"
            );
        }
        Ok::<(), Failed>(())
    };
    let (written, seen) = join(writing, watching).await;
    written.and(seen)
}

/// Of several writers that ask at the same time, one gets the lease and one commit succeeds.
pub(super) async fn one_of_several_writers_wins(place: &StorePlace) -> Result<(), Failed> {
    let stores: Vec<Box<dyn Store>> = (0..4).map(|_| place.open(sealer())).collect();
    let shop = instance("shop");
    let tried = join_all(
        stores
            .iter()
            .map(|store| place.at(NOW, &store).lease(&shop, "ann", MINUTE)),
    )
    .await;
    let mut won: Vec<Lease> = Vec::new();
    for lease in tried {
        match lease {
            Ok(lease) => won.push(lease),
            Err(StoreError::Busy { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    let [lease] = won.as_slice() else {
        return Err(Failed(format!("{} got the lease", won.len())));
    };
    let commit =
        |store: &'static str| vec![began(store), outcome(1, "a", record(Value::from(store)))];
    let ids = ["op-1", "op-2", "op-3", "op-4"];
    let tried = join_all(
        stores
            .iter()
            .zip(ids)
            .map(|(store, id)| store.commit(lease, Revision(0), commit(id))),
    )
    .await;
    let done = tried.iter().filter(|result| result.is_ok()).count();
    check_eq!(done, 1, "commits on one revision");
    check!(
        tried
            .iter()
            .all(|result| matches!(result, Ok(_) | Err(StoreError::Moved { .. }))),
        "the others get the error `Moved`: {tried:?}"
    );
    check_eq!(stores.len(), 4, "stores");
    for store in &stores {
        check_eq!(store.load(&shop).await?.records.len(), 1, "records");
    }
    let status = record_of(&stores[0].load(&shop).await?, "a").map(|record| record.status);
    check!(
        status.is_some_and(|status| status.op == StatusOp::Create && status.word == StatusWord::Ready),
        "its status"
    );
    Ok(())
}
