//! References, assets with recorded digests, and output values.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use blueprint::{Address, Asset, Name, Value};
use pulumi_wire::{
    Accepts, Decoding, Encoding, Lookups, NoLookups, Phase, Reference, RequestPart, decode, encode,
    restore_content,
};

const KEY: &str = "4dabf18193072939515e22adb298388d";
const ALL: Accepts = Accepts {
    secrets: true,
    resources: true,
    outputs: true,
    bytes: true,
};

/// Lookups that know one resource and the content of every file.
struct One {
    id: Option<&'static str>,
}

impl Lookups for One {
    fn reference(&self, address: &Address) -> Option<Reference> {
        (address.to_string() == "net").then(|| Reference {
            urn: "urn:pulumi:dev::shop::x:index:Net::net".into(),
            id: self.id.map(Name::from),
            name: "net".into(),
            type_name: "x:index:Net".into(),
            package_version: "1.0.0".into(),
        })
    }

    fn address(&self, urn: &str) -> Option<Address> {
        urn.ends_with("::net").then(net)
    }

    fn content_hash(&self, _asset: &Asset) -> Option<Name> {
        Some("abc".into())
    }
}

fn net() -> Address {
    Address::root("net")
}

fn decoded(wire: pulumi_wire::Struct, lookups: &dyn Lookups) -> Value {
    decode(
        wire,
        &Decoding {
            phase: Phase::Planning,
            waits_for: None,
            lookups,
        },
    )
    .unwrap()
}

#[test]
fn a_reference_is_sent_whole_or_as_an_id_or_urn() {
    let value = Value::map([("net", Value::Resource(Arc::new(net())))]);
    let sent = |id: Option<&'static str>, accepts: Accepts| {
        let wire = encode(
            &value,
            &Encoding::of(RequestPart::Check, Phase::Planning, accepts, &One { id }),
        )
        .unwrap()
        .unwrap();
        decoded(wire, &NoLookups).get("net").cloned()
    };
    let whole = sent(Some("n-1"), ALL).unwrap();
    assert_eq!(whole.get("id"), Some(&Value::from("n-1")));
    assert_eq!(whole.get("packageVersion"), Some(&Value::from("1.0.0")));
    assert_eq!(
        sent(Some("n-1"), Accepts::default()),
        Some(Value::from("n-1"))
    );
    assert!(sent(Some(""), Accepts::default()).unwrap().is_unknown());
    assert_eq!(
        sent(None, Accepts::default()),
        Some(Value::from("urn:pulumi:dev::shop::x:index:Net::net"))
    );
    let wire = encode(
        &value,
        &Encoding::of(
            RequestPart::Check,
            Phase::Planning,
            ALL,
            &One { id: Some("n-1") },
        ),
    );
    assert_eq!(decoded(wire.unwrap().unwrap(), &One { id: None }), value);
    assert!(
        encode(
            &value,
            &Encoding::of(RequestPart::Check, Phase::Planning, ALL, &NoLookups)
        )
        .is_err()
    );
}

#[test]
fn a_reference_to_something_else_stays_and_is_still_downgraded() {
    let value = Value::map([("net", Value::Resource(Arc::new(net())))]);
    let wire = encode(
        &value,
        &Encoding::of(
            RequestPart::Check,
            Phase::Planning,
            ALL,
            &One { id: Some("n-1") },
        ),
    );
    let kept = decoded(wire.unwrap().unwrap(), &NoLookups);
    let bare = encode(
        &kept,
        &Encoding::of(
            RequestPart::Recorded,
            Phase::Applying,
            Accepts::default(),
            &NoLookups,
        ),
    );
    assert_eq!(
        decoded(bare.unwrap().unwrap(), &NoLookups).to_string(),
        r#"{"net": "n-1"}"#
    );
}

#[test]
fn the_digest_of_a_file_is_kept_from_the_time_it_was_sent() {
    let file = Asset::File("main.js".into());
    let value = Value::map([("code", Value::Asset(Arc::new(file.clone())))]);
    let encoding = Encoding::of(RequestPart::Check, Phase::Planning, ALL, &One { id: None });
    let recorded = decoded(encode(&value, &encoding).unwrap().unwrap(), &NoLookups);
    let sent = Asset::Sent(Box::new(file), "abc".into());
    assert_eq!(recorded.get("code"), Some(&Value::Asset(Arc::new(sent))));
    // The recorded digest is sent without the content, although `NoLookups` knows no file.
    let diff = encode(
        &recorded,
        &Encoding::of(RequestPart::Diff, Phase::Planning, ALL, &NoLookups),
    )
    .unwrap()
    .unwrap();
    let diff = decoded(diff, &NoLookups);
    let code = diff.get("code").unwrap();
    assert_eq!(
        (code.get("hash"), code.get("path"), code.get(KEY).is_some()),
        (Some(&"abc".into()), None, true)
    );
    assert_eq!(restore_content(diff, &[&recorded]), recorded);
}

#[test]
fn a_text_asset_stays_an_asset() {
    let value = Value::map([("code", Value::Asset(Arc::new(Asset::Text("x".into()))))]);
    let wire = encode(
        &value,
        &Encoding::of(RequestPart::Check, Phase::Planning, ALL, &NoLookups),
    )
    .unwrap()
    .unwrap();
    assert_eq!(decoded(wire, &NoLookups), value);
}

#[test]
fn unknown_answers_wait_for_their_resource_and_dependencies() {
    use prost_types::value::Kind;
    let text = |text: &str| prost_types::Value {
        kind: Some(Kind::StringValue(text.to_owned())),
    };
    let urns = prost_types::ListValue {
        values: vec![text("urn:pulumi:dev::shop::x:index:Net::net")],
    };
    let output = pulumi_wire::Struct {
        fields: [
            (KEY.to_owned(), text("d0e6a833031e9bbcd3f4e8bde6ca49a4")),
            (
                "secret".to_owned(),
                prost_types::Value {
                    kind: Some(Kind::BoolValue(true)),
                },
            ),
            (
                "dependencies".to_owned(),
                prost_types::Value {
                    kind: Some(Kind::ListValue(urns)),
                },
            ),
        ]
        .into(),
    };
    let answer = [(
        "a".to_owned(),
        prost_types::Value {
            kind: Some(Kind::StructValue(output)),
        },
    )]
    .into();
    let own = Address::root("own");
    let decoding = Decoding {
        phase: Phase::Planning,
        waits_for: Some(&own),
        lookups: &One { id: None },
    };
    let value = decode(pulumi_wire::Struct { fields: answer }, &decoding).unwrap();
    let mut waits = Vec::new();
    value.waits_for(&mut waits);
    assert_eq!(waits, [net(), own]);
    assert!(
        value
            .get("a")
            .is_some_and(|value| matches!(value, Value::Secret(_)))
    );
}

#[test]
fn a_reference_with_an_unknown_id_is_sent_as_unknown() {
    let reference = |id: Value| {
        let key = "4dabf18193072939515e22adb298388d";
        let kind = "5cf8f73096256a8f31e491e813e4eb8e";
        let urn = "urn:pulumi:dev::shop::x:index:Net::net";
        let parts = [(key, kind.into()), ("urn", urn.into()), ("id", id)];
        Value::map([("net", Value::map(parts))])
    };
    let sent = |id: Value, accepts: Accepts| {
        let encoding = Encoding::of(RequestPart::Check, Phase::Planning, accepts, &NoLookups);
        let wire = encode(&reference(id), &encoding).unwrap().unwrap();
        decoded(wire, &NoLookups).get("net").cloned().unwrap()
    };
    let unknown = || Value::unknown(None, None);
    assert!(sent(unknown(), Accepts::default()).is_unknown());
    assert_eq!(
        sent(Value::from("n-1"), Accepts::default()),
        Value::from("n-1")
    );
    assert_eq!(
        sent(Value::from("n-1"), ALL).get("id"),
        Some(&Value::from("n-1"))
    );
    // A plan does not take an id for known that is still unknown.
    assert!(
        sent(unknown(), ALL)
            .get("id")
            .is_some_and(Value::is_unknown)
    );
}
