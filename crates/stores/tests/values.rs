//! Every value that is stored is read back unchanged, from every store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Asset, Key, Value};
use contract_tests::store::samples::{began, outcome, record, sealer};
use futures::executor::block_on;
use proptest::prelude::*;
use state::{InstanceName, Revision, Store};
use stores::memory::{MemoryState, MemoryStore};
use stores::sqlite::{Mode, SqliteStore};

fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z$/~]{0,3}",
        Just("$secret".to_owned()),
        Just("$sealed".to_owned()),
        Just("key".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(Value::Float),
        any::<String>().prop_map(Value::from),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
        "[1-9][0-9]{20,30}".prop_map(|digits| Value::Decimal(digits.into())),
        any::<String>().prop_map(|path| Value::Asset(Arc::new(Asset::File(path.into())))),
        any::<String>().prop_map(|key| Value::Resource(Arc::new(
            Address::root("r").with_key(Key::Name(key.into()))
        ))),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| Value::Set(Arc::new(items))),
            prop::collection::vec((key.clone(), inner.clone()), 0..5).prop_map(Value::map),
            inner.prop_map(Value::secret),
        ]
    })
}

fn round_trips(open: &dyn Fn() -> Box<dyn Store>, values: &[Value]) -> Result<(), TestCaseError> {
    let shop = InstanceName::from_free_text("shop");
    let records = values.iter().enumerate().map(|(at, value)| {
        // Within a list: a record's own fields leave out null, secret or not.
        outcome(1, &format!("r[{at}]"), record(Value::list([value.clone()])))
    });
    {
        let store = open();
        let lease = block_on(store.lease(&shop, "ann@host", Duration::from_secs(60))).unwrap();
        block_on(store.commit(
            &lease,
            Revision(0),
            std::iter::once(began("op-1")).chain(records).collect(),
        ))
        .unwrap();
    }
    let found = block_on(open().load(&shop)).unwrap();
    let found: Vec<Value> = found
        .records
        .values()
        .map(|record| record.inputs.clone())
        .collect();
    let wanted: Vec<Value> = values
        .iter()
        .map(|value| Value::list([value.clone()]))
        .collect();
    prop_assert_eq!(found, wanted);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sqlite(values in prop::collection::vec(value(), 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        round_trips(&|| Box::new(SqliteStore::open(&path, sealer(), Mode::ReadWrite)), &values)?;
    }

    #[test]
    fn memory(values in prop::collection::vec(value(), 1..20)) {
        let state = MemoryState::default();
        round_trips(&|| Box::new(MemoryStore::open(&state, sealer())), &values)?;
    }
}
