//! Sample entries and records for the cases: minimal ones, and some with every field set.

use std::sync::Arc;

use blueprint::{Address, Asset, Breakpoint, DeleteMode, IndexMap, Key, Name, Timeouts, Value};
use state::seal::Sealer;
use state::{
    ChildRecord, DataRecord, Declared, Entry, EntryKind, Finished, Generation, Intent, Keeping,
    Memoised, Operation, OperationKind, OperationOutcome, Outcome, ProviderRef, Record,
    RecordOrigin, RecordTies, Revision, Snapshot, Status, StatusOp, StatusWord, Stop, Stops,
};

use super::harness::NOW;

/// A sealer with a fixed key.
pub fn sealer() -> Sealer {
    Sealer::with_key([5; 32])
}

/// Parses an address that is known to be valid.
pub fn address(text: &str) -> Address {
    text.parse().unwrap_or_else(|_| Address::root(text))
}

/// The record at an address.
pub(super) fn record_of(snapshot: &Snapshot, at: &str) -> Option<Arc<Record>> {
    snapshot.records.get(&address(at)).cloned()
}

/// The `desired` value of the sample operations.
pub(super) fn desired() -> Value {
    let document = "version: 2023-04-20\n".to_owned() + &"# A long document.\n".repeat(40);
    Value::map([
        (
            "inputs",
            Value::map([("size", Value::Int(3)), ("$document", Value::Int(0))]),
        ),
        ("document", Value::from(document.as_str())),
        ("bytes", Value::Bytes(Arc::from(document.as_bytes()))),
    ])
}

/// The first entry of an update.
pub fn began(id: &str) -> Entry {
    began_as(id, OperationKind::Update, "shop.blueprint.yaml")
}

pub(super) fn began_as(id: &str, kind: OperationKind, document: &str) -> Entry {
    let operation = Operation {
        id: id.into(),
        kind,
        who: "ann@host".into(),
        began: NOW,
        document: document.into(),
        memoised: IndexMap::default(),
        stops: None,
        desired: desired(),
    };
    Entry {
        step: 0,
        kind: EntryKind::Began(Arc::new(operation)),
    }
}

/// The intent of a create, with a token named after the step.
pub fn intent(step: u32, at: &str) -> Entry {
    let intent = Intent {
        address: address(at),
        op: StatusOp::Create,
        deposed: false,
        token: format!("token-{step}").into(),
        id: "".into(),
        hides_id: false,
        retain: false,
        protect: false,
        delete_mode: DeleteMode::Delete,
        type_name: "test/data".into(),
        inputs: Value::map([("input", Value::from(at))]),
        private: Value::Null,
        folder: "".into(),
        urn: Default::default(),
        dependencies: Vec::new(),
        provider: None,
    };
    Entry {
        step,
        kind: EntryKind::Intent(Arc::new(intent)),
    }
}

/// The intent of a delete of the object with this id.
pub fn delete(step: u32, at: &str, id: &str) -> Entry {
    let mut entry = intent(step, at);
    if let EntryKind::Intent(intent) = &mut entry.kind {
        let intent = Arc::make_mut(intent);
        (intent.op, intent.id, intent.inputs) = (StatusOp::Delete, id.into(), Value::Null);
    }
    entry
}

/// The outcome that sets the record of an address, or removes it.
pub fn outcome(step: u32, at: &str, record: impl Into<Option<Record>>) -> Entry {
    let record = record.into().map(Arc::new);
    Entry {
        step,
        kind: EntryKind::Outcome(Arc::new(Outcome {
            address: address(at),
            record,
            error: None,
        })),
    }
}

/// The outcome of a step that failed and left no record.
pub fn failed(step: u32, at: &str, why: &str) -> Entry {
    let outcome = Outcome {
        address: address(at),
        record: None,
        error: Some(why.into()),
    };
    Entry {
        step,
        kind: EntryKind::Outcome(Arc::new(outcome)),
    }
}

/// The last entry of an operation, with exports only if the operation succeeded.
pub fn finished(generation: u64, outcome: OperationOutcome) -> Entry {
    let exports = [(Name::from("url"), Value::Int(generation.cast_signed()))]
        .into_iter()
        .collect();
    let exports = Some(exports).filter(|_| outcome == OperationOutcome::Ready);
    end(generation, outcome, exports)
}

pub(super) fn finished_without_exports(generation: u64) -> Entry {
    end(generation, OperationOutcome::Ready, None)
}

fn end(
    generation: u64,
    outcome: OperationOutcome,
    exports: Option<IndexMap<Name, Value>>,
) -> Entry {
    let finished = Finished {
        outcome,
        at: NOW + generation.cast_signed(),
        generation: Generation(generation),
        exports,
        memoised: IndexMap::default(),
        groups: IndexMap::default(),
        metadata: Value::Null,
        declared: Declared::default(),
        stops: Default::default(),
        counts: [1, 2, 3, 4].into(),
    };
    Entry {
        step: 0,
        kind: EntryKind::Finished(Arc::new(finished)),
    }
}

/// A record with these inputs and few other fields set.
pub fn record(inputs: Value) -> Record {
    Record {
        type_name: "test/data".into(),
        status: Status::new(StatusOp::Create, StatusWord::Ready),
        id: "id-1".into(),
        inputs,
        outputs: Value::Null,
        private: Value::Null,
        metadata: Value::Null,
        dependencies: Vec::new(),
        retain: false,
        protect: false,
        delete_mode: DeleteMode::Delete,
        deposed: None,
        token: None,
        attempt: None,
        attention: None,
        unhealthy: Vec::new(),
        schema_version: 0,
        duration_ms: 0,
        origin: RecordOrigin::default(),
        provider: None,
    }
}

/// A map with a value of every kind that can be stored.
fn every_value() -> Value {
    Value::map([
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("least", Value::Int(i64::MIN)),
        ("float", Value::Float(0.1 + 0.2)),
        ("whole", Value::Float(3.0)),
        ("huge", Value::Float(1.797_693_134_862_315_7e308)),
        ("decimal", Value::Decimal("18446744073709551616.5".into())),
        ("text", Value::from("line\n\"quoted\" \u{0} \u{1F980}")),
        ("bytes", Value::Bytes(Arc::from([0u8, 255, 7].as_slice()))),
        ("list", Value::list([Value::Int(1), Value::list([])])),
        (
            "set",
            Value::Set(Arc::new(vec![Value::from("b"), Value::from("a")])),
        ),
        (
            "map",
            Value::map([("z", Value::Int(1)), ("a", Value::Int(2))]),
        ),
        (
            "marks",
            Value::map([
                ("$secret", Value::from("no secret")),
                ("$sealed", Value::Null),
            ]),
        ),
        (
            "asset",
            Value::Asset(Arc::new(Asset::Archive(
                [("x".into(), Asset::Text("t".into()))]
                    .into_iter()
                    .collect(),
            ))),
        ),
        (
            "resource",
            Value::Resource(Arc::new(
                Address::root("r").with_key(Key::Name("k\"".into())),
            )),
        ),
        (
            "secret",
            Value::map([("deep", Value::list([Value::from("s3cret")]))]).secret(),
        ),
        (
            "within",
            Value::list([Value::from("open"), Value::from("s3cret").secret()]),
        ),
        ("$odd", Value::from("a key with a mark")),
        ("", Value::from("an empty key")),
        (
            "deep",
            (0..200).fold(Value::Null, |inner, _| Value::list([inner])),
        ),
    ])
}

/// A declared configuration of a provider.
fn provider() -> ProviderRef {
    ProviderRef {
        address: address("core/region[\"eu\"]"),
        id: "provider-1".into(),
    }
}

/// A record with every field set.
pub fn full_record() -> Record {
    Record {
        type_name: "test/everything".into(),
        status: Status {
            op: StatusOp::Update,
            word: StatusWord::Failed,
            undo: true,
        },
        id: "id-2".into(),
        inputs: every_value(),
        outputs: Value::map([
            ("password", Value::from("s3cret").secret()),
            ("size", Value::Int(3)),
        ]),
        private: Value::Bytes(Arc::from(b"opaque".as_slice())),
        metadata: Value::map([(
            "labels",
            Value::map([("a", "b")].map(|(key, value)| (key, Value::from(value)))),
        )]),
        dependencies: ["plain", "core/fns[0]::table", "m[\"k\"]"]
            .map(address)
            .to_vec(),
        retain: true,
        protect: true,
        delete_mode: DeleteMode::SnapshotFirst,
        deposed: Some(Box::new(record(Value::from("s3cret").secret()))),
        token: Some("token-9".into()),
        attempt: Some(Box::new(Record {
            token: Some("token-8".into()),
            ..record(Value::from("s3cret").secret())
        })),
        attention: Some("cannot tell".into()),
        unhealthy: vec!["slow".into(), "lonely".into()],
        schema_version: 4,
        duration_ms: 1_200,
        origin: RecordOrigin {
            path: "shop.blueprint.yaml".into(),
            start: 10,
            end: 20,
            made_from: "core/shop".into(),
            folder: "child".into(),
            urn: "urn:shop".into(),
            ties: Some(Box::new(ties())),
        },
        provider: Some(provider()),
    }
}

/// Ties with every field set.
fn ties() -> RecordTies {
    let names = |name: &str| vec![Name::from(name)];
    RecordTies {
        parent: Some(Address::root("core")),
        deleted_with: Some(Address::root("host")),
        replaced_with: vec![Address::root("core")],
        timeouts: Timeouts {
            read: Some(std::time::Duration::from_secs(5)),
            ..Timeouts::default()
        },
        secret_fields: names("token"),
        ignore_changes: names("tags"),
        replace_on_changes: names("size"),
        hidden: names("note"),
        imported: Some("i-1".into()),
        uses: [("size".into(), vec![Address::root("core")])]
            .into_iter()
            .collect(),
        plugin: stated_plugin(),
        keeping: Keeping::Read,
        carried: Value::Bool(true),
    }
}

/// An operation with every kind of entry and every field set, and the snapshot after it (except for
/// its revision).
pub fn full_operation() -> (Vec<Entry>, Snapshot) {
    let operation = Operation {
        id: "operation-1".into(),
        kind: OperationKind::Deploy,
        who: "ann@host".into(),
        began: NOW,
        document: "shop.blueprint.yaml".into(),
        memoised: IndexMap::default(),
        stops: None,
        desired: Value::map([
            (
                "inputs",
                Value::map([("password", Value::from("s3cret").secret())]),
            ),
            ("plain", desired()),
            ("secret", desired().secret()),
        ]),
    };
    let call = |at: &str, deposed| Intent {
        address: address(at),
        op: StatusOp::Delete,
        deposed,
        token: "token-1".into(),
        id: "".into(),
        hides_id: false,
        retain: false,
        protect: false,
        delete_mode: DeleteMode::Delete,
        type_name: "test/everything".into(),
        inputs: every_value(),
        private: every_value(),
        folder: "child".into(),
        urn: Default::default(),
        dependencies: vec![address("plain")],
        provider: Some(provider()),
    };
    let everything = Arc::new(full_record());
    let plain = Arc::new(record(Value::Int(1)));
    let done = |at: &str, record: &Arc<Record>, error: Option<&str>| {
        EntryKind::Outcome(Arc::new(Outcome {
            address: address(at),
            record: Some(record.clone()),
            error: error.map(Name::from),
        }))
    };
    let finished = Finished {
        outcome: OperationOutcome::Failed,
        at: NOW + 9,
        generation: Generation(1),
        exports: Some(
            [
                ("url".into(), Value::from("s3cret").secret()),
                ("all".into(), every_value()),
            ]
            .into_iter()
            .collect(),
        ),
        memoised: [(
            "call-1".into(),
            Memoised {
                fingerprint: u64::MAX,
                value: every_value(),
            },
        )]
        .into_iter()
        .collect(),
        groups: [("values.g".into(), vec![address("plain"), address("core/b")])]
            .into_iter()
            .collect(),
        metadata: every_value(),
        declared: declared(),
        stops: stops(),
        counts: [1, 0, u64::from(u32::MAX), 4].into(),
    };
    let kinds = [
        (0, EntryKind::Began(Arc::new(operation))),
        (
            7,
            EntryKind::Intent(Arc::new(call("core/everything", true))),
        ),
        (
            8,
            EntryKind::Intent(Arc::new(call("left[\"open\"]", false))),
        ),
        (7, done("core/everything", &everything, Some("it said no"))),
        (9, done("plain", &plain, None)),
        (0, EntryKind::Finished(Arc::new(finished.clone()))),
    ];
    let entries = kinds
        .into_iter()
        .map(|(step, kind)| Entry { step, kind })
        .collect();
    let snapshot = Snapshot {
        revision: Revision(0),
        generation: Generation(1),
        uid: "operation-1".into(),
        document: "shop.blueprint.yaml".into(),
        records: [
            (address("core/everything"), everything),
            (address("plain"), plain),
        ]
        .into_iter()
        .collect(),
        groups: finished.groups,
        exports: finished.exports.unwrap_or_default(),
        exports_old: false,
        memoised: finished.memoised,
        metadata: finished.metadata,
        declared: finished.declared,
        stops: finished.stops,
        open: [(
            address("left[\"open\"]"),
            state::OpenIntent {
                intent: call("left[\"open\"]", false),
            },
        )]
        .into_iter()
        .collect(),
        deleted: IndexMap::default(),
    };
    (entries, snapshot)
}

/// A resource and a child at which operations stop.
fn stops() -> Stops {
    let breakpoints = [Breakpoint::PreDelete, Breakpoint::PostCreate]
        .into_iter()
        .collect();
    let child = Stop {
        breakpoints,
        action: Some(StatusOp::Create),
        waiting: Some(Breakpoint::PostCreate),
        uses: vec![address("plain")],
    };
    let resource = Stop {
        breakpoints,
        ..Stop::default()
    };
    [("core/".into(), child), ("plain".into(), resource)]
        .into_iter()
        .collect()
}

fn stated_plugin() -> blueprint::StatedPlugin {
    blueprint::StatedPlugin {
        version: Some("1.2.3".into()),
        url: Some("https://example.com".into()),
    }
}

/// Children and data sources with every kind of value, and called packages.
fn declared() -> Declared {
    let exports = [
        ("key".into(), Value::from("s3cret").secret()),
        ("all".into(), every_value()),
    ]
    .into_iter()
    .collect();
    let child = ChildRecord {
        exports,
        metadata: every_value(),
    };
    let source = DataRecord {
        type_name: "test/network".into(),
        metadata: every_value(),
    };
    Declared {
        children: [
            ("core".into(), child),
            ("core/inner".into(), ChildRecord::default()),
        ]
        .into_iter()
        .collect(),
        data_sources: [("core/net".into(), source)].into_iter().collect(),
        called_plugins: [("pulumi:shop".into(), stated_plugin())]
            .into_iter()
            .collect(),
    }
}
