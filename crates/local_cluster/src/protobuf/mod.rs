//! Bodies in the protobuf form of Kubernetes, which `kubectl create` and `kubectl auth` send.
//!
//! The messages of `messages.txt` are read; the numbers of their fields are those of the files
//! `generated.proto` of Kubernetes. Not here: answers, which are JSON.

mod messages;
mod wire;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use messages::{FieldForm, FieldSpec, FieldType, Messages, messages};
use wire::{Damaged, WireReader, WireValue};

/// The type of such bodies.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The first bytes of a body.
const MARK: &[u8] = b"k8s\0";

/// The maximum depth of nested messages.
const DEPTH: usize = 64;

/// Why a body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtobufFailure {
    /// It is not well formed.
    #[error("the body of the request is no well-formed protobuf message of Kubernetes")]
    Damaged,
    /// Objects of the kind are read only in JSON and YAML.
    #[error("{kind} of {api_version} is read as JSON or YAML, not as protobuf")]
    UnknownKind {
        /// The version that the body names.
        api_version: String,
        /// The kind that the body names.
        kind: String,
    },
}

impl From<Damaged> for ProtobufFailure {
    fn from(_: Damaged) -> ProtobufFailure {
        ProtobufFailure::Damaged
    }
}

/// The object of a body.
///
/// # Errors
/// If the body is damaged, or is of a kind that is not read in this form.
pub(crate) fn object_of_protobuf(body: &[u8]) -> Result<Json, ProtobufFailure> {
    let body = body.strip_prefix(MARK).ok_or(ProtobufFailure::Damaged)?;
    let mut envelope = Envelope::default();
    let mut reader = WireReader::new(body);
    while let Some((number, value)) = reader.next()? {
        match (number, value) {
            (1, WireValue::Bytes(meta)) => envelope.read_type(meta)?,
            (2, WireValue::Bytes(raw)) => envelope.raw = raw,
            _ => {}
        }
    }
    let Some(name) = envelope.message() else {
        return Err(ProtobufFailure::UnknownKind {
            api_version: envelope.api_version,
            kind: envelope.kind,
        });
    };
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), envelope.api_version.into());
    object.insert("kind".to_owned(), envelope.kind.into());
    let read = ObjectReader {
        messages: messages(),
    };
    read.message(&name, envelope.raw, &mut object, 0)?;
    Ok(Json::Object(object))
}

/// The type of an object and its message.
#[derive(Default)]
struct Envelope<'b> {
    api_version: String,
    kind: String,
    raw: &'b [u8],
}

impl Envelope<'_> {
    fn read_type(&mut self, meta: &[u8]) -> Result<(), ProtobufFailure> {
        let mut reader = WireReader::new(meta);
        while let Some((number, value)) = reader.next()? {
            match number {
                1 => self.api_version = value.text()?,
                2 => self.kind = value.text()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of the message in the table. `None` if the table does not have it.
    fn message(&self) -> Option<String> {
        let (group, version) = match self.api_version.split_once('/') {
            Some((group, version)) => (group.split('.').next().unwrap_or_default(), version),
            None => ("core", self.api_version.as_str()),
        };
        // Options of requests are the same in all groups.
        let name = match self.kind.as_str() {
            "DeleteOptions" => "meta.v1.DeleteOptions".to_owned(),
            kind => format!("{group}.{version}.{kind}"),
        };
        messages().has(&name).then_some(name)
    }
}

struct ObjectReader {
    messages: &'static Messages,
}

impl ObjectReader {
    /// Reads a message into a map.
    fn message(
        &self,
        name: &str,
        bytes: &[u8],
        into: &mut Map<String, Json>,
        depth: usize,
    ) -> Result<(), ProtobufFailure> {
        if depth > DEPTH {
            return Err(ProtobufFailure::Damaged);
        }
        let mut reader = WireReader::new(bytes);
        while let Some((number, value)) = reader.next()? {
            // Newer clients may send fields that are not known.
            let Some(field) = self.messages.field(name, number) else {
                continue;
            };
            match (field.form, field.of_type) {
                (FieldForm::Inline, FieldType::Message(inner)) => {
                    self.message(inner, value.bytes()?, into, depth + 1)?;
                }
                (FieldForm::Map, _) => {
                    let (key, value) = self.entry(field, value.bytes()?, depth)?;
                    let map = into
                        .entry(field.name)
                        .or_insert_with(|| Json::Object(Map::new()));
                    if let Some(map) = map.as_object_mut() {
                        map.insert(key, value);
                    }
                }
                (FieldForm::List, _) => {
                    let list = into.entry(field.name).or_insert_with(|| json!([]));
                    let item = self.value(field, &value, depth)?;
                    if let Some(list) = list.as_array_mut() {
                        list.push(item);
                    }
                }
                (FieldForm::Single | FieldForm::Optional | FieldForm::Inline, _) => {
                    let json = self.value(field, &value, depth)?;
                    if field.form == FieldForm::Optional || !is_zero(&json) {
                        into.insert(field.name.to_owned(), json);
                    }
                }
            }
        }
        Ok(())
    }

    /// An entry of a map: a message of a key and a value.
    fn entry(
        &self,
        field: &FieldSpec,
        bytes: &[u8],
        depth: usize,
    ) -> Result<(String, Json), ProtobufFailure> {
        let mut key = String::new();
        let mut entry = None;
        let mut reader = WireReader::new(bytes);
        while let Some((number, value)) = reader.next()? {
            match number {
                1 => key = value.text()?,
                2 => entry = Some(self.value(field, &value, depth)?),
                _ => {}
            }
        }
        Ok((key, entry.unwrap_or_else(|| "".into())))
    }

    fn value(
        &self,
        field: &FieldSpec,
        value: &WireValue<'_>,
        depth: usize,
    ) -> Result<Json, ProtobufFailure> {
        Ok(match field.of_type {
            FieldType::Text => value.text()?.into(),
            FieldType::Bytes => STANDARD.encode(value.bytes()?).into(),
            FieldType::Integer => value.integer()?.into(),
            FieldType::Boolean => (value.integer()? != 0).into(),
            FieldType::Float => value.float()?.into(),
            FieldType::Time => time(value.bytes()?)?,
            FieldType::Quantity => match first_text(value.bytes()?)? {
                text if text.is_empty() => "0".into(),
                text => text.into(),
            },
            FieldType::IntOrString => int_or_string(value.bytes()?)?,
            FieldType::Texts => texts(value.bytes()?)?,
            FieldType::Raw => {
                let text = first_text(value.bytes()?)?;
                serde_json::from_str(&text).unwrap_or(Json::Null)
            }
            FieldType::Message(name) => {
                let mut map = Map::new();
                self.message(name, value.bytes()?, &mut map, depth + 1)?;
                Json::Object(map)
            }
        })
    }
}

/// Whether JSON leaves a value out.
fn is_zero(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Bool(true) | Json::Array(_) | Json::Object(_) => false,
    }
}

/// Seconds and nanoseconds. Null for the zero time, which is an empty message.
fn time(bytes: &[u8]) -> Result<Json, ProtobufFailure> {
    let (mut seconds, mut nanos) = (None, 0);
    let mut reader = WireReader::new(bytes);
    while let Some((number, value)) = reader.next()? {
        match number {
            1 => seconds = Some(value.integer()?),
            2 => nanos = value.integer()?,
            _ => {}
        }
    }
    let Some(seconds) = seconds else {
        return Ok(Json::Null);
    };
    let nanos = i32::try_from(nanos).map_err(|_| ProtobufFailure::Damaged)?;
    let time = Timestamp::new(seconds, nanos).map_err(|_| ProtobufFailure::Damaged)?;
    Ok(time.to_string().into())
}

fn int_or_string(bytes: &[u8]) -> Result<Json, ProtobufFailure> {
    let (mut is_text, mut integer, mut text) = (false, 0, String::new());
    let mut reader = WireReader::new(bytes);
    while let Some((number, value)) = reader.next()? {
        match number {
            1 => is_text = value.integer()? == 1,
            2 => integer = value.integer()?,
            3 => text = value.text()?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { integer.into() })
}

/// The first field of a message, which is a text.
fn first_text(bytes: &[u8]) -> Result<String, ProtobufFailure> {
    let mut text = String::new();
    let mut reader = WireReader::new(bytes);
    while let Some((number, value)) = reader.next()? {
        if number == 1 {
            text = value.text()?;
        }
    }
    Ok(text)
}

/// A message that is only a list of texts.
fn texts(bytes: &[u8]) -> Result<Json, ProtobufFailure> {
    let mut texts = Vec::new();
    let mut reader = WireReader::new(bytes);
    while let Some((_, value)) = reader.next()? {
        texts.push(Json::from(value.text()?));
    }
    Ok(texts.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[number << 3 | 2, length], bytes].concat()
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [
            MARK.to_vec(),
            field(1, &meta),
            field(2, raw),
            field(3, b""),
            field(4, b""),
        ]
        .concat()
    }

    #[test]
    fn objects_are_read_as_json_has_them() {
        let entry = [field(1, b"a"), field(2, b"1")].concat();
        let metadata = [field(1, b"m"), field(3, b""), field(8, b"")].concat();
        let raw = [field(1, &metadata), field(2, &entry)].concat();
        assert_eq!(
            object_of_protobuf(&body("v1", "ConfigMap", &raw)).unwrap(),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}})
        );
        // Replicas are a pointer, so a zero counts; minReadySeconds are not.
        let spec = [0x08, 0, 0x28, 0];
        let raw = field(2, &spec);
        assert_eq!(
            object_of_protobuf(&body("apps/v1", "Deployment", &raw)).unwrap()["spec"],
            json!({"replicas": 0})
        );
        let backend = [field(1, b"s"), field(2, &[0x10, 0x50])].concat();
        let raw = field(2, &field(1, &field(4, &backend)));
        let ingress = object_of_protobuf(&body("networking.k8s.io/v1", "Ingress", &raw)).unwrap();
        assert_eq!(
            ingress["spec"]["defaultBackend"]["service"],
            json!({"name": "s", "port": {"number": 80}})
        );
    }

    #[test]
    fn other_bodies_are_refused() {
        for damaged in [&b""[..], b"k8s", b"{}", b"k8s\0\x0a\xff"] {
            assert_eq!(object_of_protobuf(damaged), Err(ProtobufFailure::Damaged));
        }
        let unknown = object_of_protobuf(&body("shop.io/v1", "Till", b"")).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "Till of shop.io/v1 is read as JSON or YAML, not as protobuf"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(raw in proptest::collection::vec(0..=40_u8, 0..120)) {
            let body = body("apps/v1", "Deployment", &raw);
            if let Ok(object) = object_of_protobuf(&body) {
                prop_assert_eq!(&object["kind"], "Deployment");
            }
        }
    }
}
