//! Secrets: sealing under a key, and sealing again under another one.

use blueprint::Value;
use state::seal::Sealer;
use state::{Revision, StoreError};

use super::harness::{Failed, NOW, StorePlace, TestWriter, instance};
use super::samples::{began, outcome, record, record_of, sealer};

/// Secrets are neither stored nor read without their key.
pub(super) async fn secrets_need_their_key(place: &StorePlace) -> Result<(), Failed> {
    let secret = || outcome(1, "key", record(Value::from("s3cret").secret()));
    {
        let store = place.open(Sealer::none());
        check!(!store.can_seal(), "it says that it can seal without a key");
        let mut hand = TestWriter::acquire(&*store, "shop").await?;
        check_err!(
            hand.try_commit(vec![began("op-1"), secret()]).await,
            StoreError::NoKey,
            "a secret without a key"
        );
        check_eq!(
            store.head(&instance("shop")).await?,
            Revision(0),
            "revision after a refusal"
        );
        hand.commit(vec![
            began("op-1"),
            outcome(1, "open", record(Value::from("plain"))),
        ])
        .await?;
        check_err!(
            hand.try_commit(vec![secret()]).await,
            StoreError::NoKey,
            "a secret without a key"
        );
        hand.release().await?;
    }
    let store = place.open(sealer());
    check!(store.can_seal(), "it says that it cannot seal");
    let mut hand = TestWriter::acquire(&*store, "shop").await?;
    check!(
        store.load(&instance("shop")).await?.records.len() == 1,
        "a refused record is there"
    );
    hand.commit(vec![began("op-2"), secret()]).await?;
    let found = store.load(&instance("shop")).await?;
    let inputs = record_of(&found, "key").map(|record| record.inputs.clone());
    check_eq!(inputs, Some(Value::from("s3cret").secret()), "the secret");
    let (other, without) = (
        place.open(Sealer::with_key([9; 32])),
        place.open(Sealer::none()),
    );
    check_err!(
        other.load(&instance("shop")).await,
        StoreError::WrongKey,
        "loading with another key"
    );
    check_err!(
        without.load(&instance("shop")).await,
        StoreError::KeyMissing,
        "loading without a key"
    );
    for store in [other, without] {
        check_eq!(
            store.instances().await?.len(),
            1,
            "instances with another key"
        );
    }
    Ok(())
}

/// Sealing with another key needs the former key and no live lease, and keeps the content.
pub(super) async fn rekeying_seals_again(place: &StorePlace) -> Result<(), Failed> {
    let other = || Sealer::with_key([9; 32]);
    check_eq!(
        place.at(NOW, &place.open(sealer())).rekey(&other()).await?,
        0,
        "resealed entries of an empty store"
    );
    let secret = || outcome(1, "key", record(Value::from("s3cret").secret()));
    for name in ["shop", "bar"] {
        let store = place.open(sealer());
        let mut hand = TestWriter::acquire(&*store, name).await?;
        let id = format!("op-{name}");
        hand.commit(vec![
            began(&id),
            secret(),
            outcome(2, "open", record(Value::from("plain"))),
        ])
        .await?;
        check_err!(
            place.at(NOW, &store).rekey(&other()).await,
            StoreError::Busy { .. },
            "rekeying while a lease is held"
        );
        hand.release().await?;
    }
    let store = place.open(sealer());
    let before = store.load(&instance("shop")).await?;
    check_err!(
        place.at(NOW, &store).rekey(&Sealer::none()).await,
        StoreError::NoKey,
        "rekeying without a key"
    );
    check_err!(
        place.at(NOW, &place.open(other())).rekey(&sealer()).await,
        StoreError::WrongKey,
        "rekeying with the wrong key"
    );
    check_err!(
        place
            .at(NOW, &place.open(Sealer::none()))
            .rekey(&other())
            .await,
        StoreError::KeyMissing,
        "rekeying sealed data without its key"
    );
    check!(
        place.at(NOW, &store).rekey(&other()).await? > 0,
        "no entry was resealed"
    );
    for name in ["shop", "bar"] {
        check_err!(
            place.open(sealer()).load(&instance(name)).await,
            StoreError::WrongKey,
            "loading with the former key"
        );
        let found = place.open(other()).load(&instance(name)).await?;
        let inputs = record_of(&found, "key").map(|record| record.inputs.clone());
        check_eq!(inputs, Some(Value::from("s3cret").secret()), "the secret");
    }
    let after = place.open(other()).load(&instance("shop")).await?;
    check_eq!(
        (before.revision, before.records),
        (after.revision, after.records),
        "what is remembered"
    );
    Ok(())
}
