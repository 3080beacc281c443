//! Sealing secrets: keys, and values sealed for places that outlive the process.
//!
//! Where the wire form has `{"$secret": V}`, the stored form has
//! `{"$sealed": BASE64, "key": KEYID}`: a nonce of 24 bytes and V as JSON under XChaCha20-Poly1305.
//! A sealed value is bound to its [`SealPlace`] and to its path there, so that a stored secret
//! cannot be moved to a place where it would be shown or sent elsewhere. A place is named by values
//! that never change: the instance's uid and the number of the journal entry. Addresses are not
//! part of it: an entry is never rewritten, a move writes a new one, and renaming the instance
//! changes neither.
//!
//! A text without secrets is written and read directly. Not here: where a key comes from (`cli`).

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::hidden;
use crate::nesting::read_json;

const NONCE: usize = 24;
const SECRET: &str = "$secret";
const SEALED: &str = "$sealed";
const WRAPPED: &str = "$map";
/// The prefix of sealed bytes: a word, and the version of the format.
const BYTES_HEADER: &[u8] = b"cyanotype sealed 1\n";

/// A source of nonces that have not been used with the key before; `None` if it fails.
pub type Nonces = Arc<dyn Fn() -> Option<[u8; NONCE]> + Send + Sync>;

/// The id of a key, which does not reveal it: the first eight hexadecimal digits of its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(String);

impl KeyId {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error of a text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 32 bytes in base64")]
pub struct KeyError;

/// Reads a key: 32 bytes in base64, space around it ignored. Anything else is an error that does
/// not repeat the text.
pub fn parse_key(text: &str) -> Result<[u8; 32], KeyError> {
    let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| KeyError)?);
    <[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| KeyError)
}

/// Writes a key as [`parse_key`] reads it, without a line end.
pub fn format_key(key: &[u8; 32]) -> String {
    STANDARD.encode(key)
}

/// The place of sealed data, by names that never change. The data opens in no other place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealPlace<'a> {
    /// The uid of the instance; for other data a name such as `plan`.
    pub uid: &'a str,
    /// The number of the entry; 0 if there is only one.
    pub record: u64,
}

/// An error of sealing or opening.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// A secret must be sealed and there is no key.
    #[error("secrets cannot be stored without a key")]
    NoKey,
    /// The data is sealed with a key that is not available, or was changed or moved afterwards.
    #[error("a stored secret cannot be opened with this key")]
    WrongKey,
    /// The data is sealed, and there is no key to open it with.
    #[error("a stored secret cannot be opened without a key, and no key is given")]
    KeyMissing,
    /// No nonce could be generated.
    #[error("the system gives no random numbers")]
    NoNonce,
    /// The sealed data has an unknown format.
    #[error("what is sealed has a form that is not known here")]
    Foreign,
    /// The data cannot be read as the expected type, or cannot be written.
    #[error("what is stored cannot be read or written as it should")]
    Form(#[source] serde_json::Error),
}

/// A key in memory, wiped when the last sealer that has it is gone.
struct SealingKey {
    bytes: [u8; 32],
    id: KeyId,
}

impl SealingKey {
    fn new(bytes: [u8; 32]) -> SealingKey {
        let digest = Sha256::digest(bytes);
        let id = data_encoding::HEXLOWER.encode(&digest[..4]);
        SealingKey {
            bytes,
            id: KeyId(id),
        }
    }

    /// Computes HMAC-SHA-256 (RFC 2104) of these parts, one after the other, under the key.
    fn hmac(&self, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let padded = |with: u8| {
            let mut block = Zeroizing::new([with; 64]);
            block
                .iter_mut()
                .zip(self.bytes)
                .for_each(|(byte, key)| *byte ^= key);
            Sha256::new().chain_update(block.as_slice())
        };
        let inner = parts
            .iter()
            .fold(padded(0x36), |digest, part| digest.chain_update(part))
            .finalize();
        let outer = padded(0x5c).chain_update(inner).finalize();
        Zeroizing::new(outer.into())
    }

    /// Derives the nonce of this secret at this place.
    fn nonce_of(&self, associated: &[u8], plain: &[u8]) -> [u8; NONCE] {
        let length = (associated.len() as u64).to_le_bytes();
        let code = self.hmac(&[b"cyanotype nonce 1\n", &length, associated, plain]);
        let mut nonce = [0; NONCE];
        nonce
            .iter_mut()
            .zip(code.iter())
            .for_each(|(byte, drawn)| *byte = *drawn);
        nonce
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&self.bytes).into())
    }
}

impl Drop for SealingKey {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Seals and opens secrets with one key. Without a key, both fail.
#[derive(Clone, Default)]
pub struct Sealer {
    key: Option<Arc<SealingKey>>,
    /// Former keys: they open, but no longer seal.
    older: Vec<Arc<SealingKey>>,
    nonces: Option<Nonces>,
    /// Whether equal secrets at one place give equal texts.
    derives_nonces: bool,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key_id() {
            Some(id) => write!(f, "Sealer({id})"),
            None => f.write_str("Sealer(no key)"),
        }
    }
}

impl Sealer {
    /// Returns a sealer without a key: storing a secret fails with `NoKey`.
    pub fn none() -> Sealer {
        Sealer::default()
    }

    /// Returns a sealer with this key. Nonces are the system's random numbers unless
    /// [`with_nonces`](Sealer::with_nonces) sets another source.
    pub fn with_key(key: [u8; 32]) -> Sealer {
        Sealer {
            key: Some(Arc::new(SealingKey::new(key))),
            ..Sealer::default()
        }
    }

    /// Sets the source of nonces, for tests only: two equal nonces under one key reveal the
    /// secrets.
    pub fn with_nonces(mut self, nonces: Nonces) -> Sealer {
        self.nonces = Some(nonces);
        self
    }

    /// Makes the sealer seal equal secrets at equal places to equal texts: nonces are derived from
    /// both, under the key. Two such texts reveal only whether the secrets are equal.
    pub fn deterministic(mut self) -> Sealer {
        self.derives_nonces = true;
        self
    }

    /// Adds a former key, which opens what was sealed with it.
    pub fn with_older_key(mut self, key: [u8; 32]) -> Sealer {
        self.older.push(Arc::new(SealingKey::new(key)));
        self
    }

    /// Whether there is a key.
    pub fn can_seal(&self) -> bool {
        self.key.is_some()
    }

    /// The id of the key that seals; none without a key.
    pub fn key_id(&self) -> Option<KeyId> {
        self.key.as_ref().map(|key| key.id.clone())
    }

    /// Writes a value as JSON. With `has_secret` every secret in it is sealed; otherwise the text
    /// is written directly. `NoKey` if there is a secret and no key. `about` is the expected size
    /// in bytes, so that a long text is allocated once.
    pub fn write<T: Serialize>(
        &self,
        place: SealPlace<'_>,
        value: &T,
        has_secret: bool,
        about: usize,
    ) -> Result<String, SealError> {
        if !has_secret {
            let mut text = Vec::with_capacity(about);
            serde_json::to_writer(&mut text, value).map_err(SealError::Form)?;
            return String::from_utf8(text)
                .map_err(|error| SealError::Form(serde::ser::Error::custom(error)));
        }
        let mut json = serde_json::to_value(value).map_err(SealError::Form)?;
        hidden::mark_ids(&mut json);
        let sealed = self.seal_json(place, &mut json);
        let text = sealed.and_then(|()| serde_json::to_string(&json).map_err(SealError::Form));
        if text.is_err() {
            wipe(&mut json);
        }
        text
    }

    /// Reads a text that [`write`](Sealer::write) wrote for that place. `WrongKey` if a sealed
    /// value does not open.
    pub fn read<T: DeserializeOwned>(
        &self,
        place: SealPlace<'_>,
        text: &[u8],
        has_sealed: bool,
    ) -> Result<T, SealError> {
        if !has_sealed {
            return parse(text);
        }
        let mut json: Json = parse(text)?;
        self.open_json(place, &mut json)?;
        // Omits the parser's message, which may repeat a secret.
        T::deserialize(json).map_err(|_| SealError::Foreign)
    }

    /// Replaces every `{"$secret": V}` of a tree in wire form by its sealed form.
    pub fn seal_json(&self, place: SealPlace<'_>, json: &mut Json) -> Result<(), SealError> {
        walk(json, &mut String::new(), false, &mut |path, map| {
            if map.len() != 1 {
                return Ok(false);
            }
            let Some(secret) = map.get_mut(SECRET) else {
                return Ok(false);
            };
            let key = self.key.as_deref().ok_or(SealError::NoKey)?;
            let plain = Zeroizing::new(serde_json::to_vec(&secret).map_err(SealError::Form)?);
            wipe(secret);
            let sealed = self.seal(key, place, path, &plain)?;
            map.clear();
            map.insert(SEALED.into(), Json::String(STANDARD.encode(sealed)));
            map.insert("key".into(), Json::String(key.id.0.clone()));
            Ok(true)
        })
    }

    /// Reverses [`seal_json`](Sealer::seal_json).
    pub fn open_json(&self, place: SealPlace<'_>, json: &mut Json) -> Result<(), SealError> {
        walk(json, &mut String::new(), false, &mut |path, map| {
            // A mark has the key first. A map of the document that has such a key later is not a
            // mark.
            let (2, Some((first, Json::String(text)))) = (map.len(), map.iter().next()) else {
                return Ok(false);
            };
            if first != SEALED {
                return Ok(false);
            }
            let id = map
                .get("key")
                .and_then(Json::as_str)
                .ok_or(SealError::Foreign)?;
            let key = self.key_of(id)?;
            let sealed = STANDARD.decode(text).map_err(|_| SealError::Foreign)?;
            let plain = self.open(key, place, path, &sealed)?;
            let secret: Json = parse(&plain).map_err(|_| SealError::Foreign)?;
            map.clear();
            map.insert(SECRET.into(), secret);
            Ok(true)
        })
    }

    /// Seals bytes as a whole, as for a plan file. `NoKey` without a key.
    pub fn seal_bytes(&self, place: SealPlace<'_>, bytes: &[u8]) -> Result<Vec<u8>, SealError> {
        let key = self.key.as_deref().ok_or(SealError::NoKey)?;
        let sealed = self.seal(key, place, "", bytes)?;
        Ok([BYTES_HEADER, key.id.0.as_bytes(), &sealed].concat())
    }

    /// Opens bytes that [`seal_bytes`](Sealer::seal_bytes) sealed for that place. `Foreign` for
    /// other bytes, `WrongKey` if they do not open.
    pub fn open_bytes(
        &self,
        place: SealPlace<'_>,
        bytes: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let rest = bytes.strip_prefix(BYTES_HEADER).ok_or(SealError::Foreign)?;
        let (id, sealed) = rest.split_at_checked(8).ok_or(SealError::Foreign)?;
        let key = self.key_of(std::str::from_utf8(id).map_err(|_| SealError::Foreign)?)?;
        self.open(key, place, "", sealed)
    }

    /// Keys for another purpose, derived from the keys of the sealer: first that of the key that
    /// seals, then those of the former keys. They do not reveal the keys that they are derived from.
    /// Empty if there is no key that seals.
    pub fn derived_keys(&self, purpose: &str) -> Vec<Zeroizing<[u8; 32]>> {
        let keys = self
            .key
            .iter()
            .flat_map(|key| [key].into_iter().chain(&self.older));
        keys.map(|key| key.hmac(&[b"cyanotype derived key 1\n", purpose.as_bytes()]))
            .collect()
    }

    /// The bytes of the key of that id, if it is available.
    pub(crate) fn bytes_of(&self, id: &str) -> Option<&[u8; 32]> {
        self.key_of(id).ok().map(|key| &key.bytes)
    }

    /// The error for data that is sealed with a key that is not available.
    pub fn cannot_open(&self) -> SealError {
        if self.key.is_none() && self.older.is_empty() {
            SealError::KeyMissing
        } else {
            SealError::WrongKey
        }
    }

    fn key_of(&self, id: &str) -> Result<&SealingKey, SealError> {
        let mut keys = self.key.iter().chain(&self.older);
        keys.find(|key| key.id.0 == id)
            .map(Arc::as_ref)
            .ok_or_else(|| self.cannot_open())
    }

    fn seal(
        &self,
        key: &SealingKey,
        place: SealPlace<'_>,
        path: &str,
        plain: &[u8],
    ) -> Result<Vec<u8>, SealError> {
        let associated = associated(key, place, path);
        let nonce = match &self.nonces {
            Some(nonces) => XNonce::from(nonces().ok_or(SealError::NoNonce)?),
            None if self.derives_nonces => XNonce::from(key.nonce_of(&associated, plain)),
            None => XNonce::try_generate().map_err(|_| SealError::NoNonce)?,
        };
        let payload = Payload {
            msg: plain,
            aad: &associated,
        };
        // The cipher fails only for data longer than 256 GiB.
        let sealed = key
            .cipher()
            .encrypt(&nonce, payload)
            .map_err(|_| SealError::Foreign)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    fn open(
        &self,
        key: &SealingKey,
        place: SealPlace<'_>,
        path: &str,
        bytes: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (nonce, sealed) = bytes.split_at_checked(NONCE).ok_or(SealError::Foreign)?;
        let nonce = <[u8; NONCE]>::try_from(nonce).map_err(|_| SealError::Foreign)?;
        let associated = associated(key, place, path);
        let payload = Payload {
            msg: sealed,
            aad: &associated,
        };
        let plain = key
            .cipher()
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| SealError::WrongKey)?;
        Ok(Zeroizing::new(plain))
    }
}

/// The associated data of a sealed text. The length of the uid precedes it, so that no two places
/// give the same bytes.
fn associated(key: &SealingKey, place: SealPlace<'_>, path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40 + place.uid.len() + path.len());
    bytes.extend_from_slice(key.id.0.as_bytes());
    bytes.extend_from_slice(&(place.uid.len() as u64).to_le_bytes());
    bytes.extend_from_slice(place.uid.as_bytes());
    bytes.extend_from_slice(&place.record.to_le_bytes());
    bytes.extend_from_slice(path.as_bytes());
    bytes
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, SealError> {
    read_json(text).map_err(SealError::Form)
}

type Visit<'v> = dyn FnMut(&str, &mut Map<String, Json>) -> Result<bool, SealError> + 'v;

/// Calls `visit` with every map that may be a mark, and its path. If `visit` returns true, the map
/// is not entered.
///
/// The keys of a `$map` belong to the document: the map is entered, but is never a mark, whatever
/// its first key.
fn walk(
    json: &mut Json,
    path: &mut String,
    plain: bool,
    visit: &mut Visit<'_>,
) -> Result<(), SealError> {
    match json {
        Json::Object(map) => {
            if !plain && visit(path, map)? {
                return Ok(());
            }
            let wraps = !plain && map.len() == 1;
            for (key, value) in map {
                let end = path.len();
                push_step(path, key);
                walk(value, path, wraps && key == WRAPPED, visit)?;
                path.truncate(end);
            }
            Ok(())
        }
        Json::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                let end = path.len();
                push_step(path, &at.to_string());
                walk(item, path, false, visit)?;
                path.truncate(end);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Appends a step of a JSON pointer (RFC 6901).
fn push_step(path: &mut String, step: &str) {
    path.push('/');
    for c in step.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            other => path.push(other),
        }
    }
}

/// Overwrites the texts of a tree before it is dropped.
fn wipe(json: &mut Json) {
    match json {
        Json::String(text) => text.zeroize(),
        Json::Array(items) => items.iter_mut().for_each(wipe),
        Json::Object(map) => map.values_mut().for_each(wipe),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use blueprint::Value;

    use super::*;

    const PLACE: SealPlace<'_> = SealPlace {
        uid: "u-1",
        record: 7,
    };

    fn counting() -> Nonces {
        let next = AtomicU8::new(0);
        Arc::new(move || Some([next.fetch_add(1, Ordering::Relaxed); NONCE]))
    }

    fn sealer(key: u8) -> Sealer {
        Sealer::with_key([key; 32]).with_nonces(counting())
    }

    fn value() -> Value {
        Value::map([
            ("open", Value::from("plain")),
            (
                "hidden",
                Value::map([("deep", Value::from("s3cret").secret())]).secret(),
            ),
            (
                "items",
                Value::list([Value::Int(1), Value::from("s3cret").secret()]),
            ),
            (
                "mark",
                Value::map([
                    ("$secret", Value::from("mine")),
                    ("$sealed", Value::from("too")),
                ]),
            ),
            (
                "late",
                Value::map([
                    ("a", Value::Null),
                    ("$secret", Value::from("mine")),
                    ("key", Value::Null),
                ]),
            ),
        ])
    }

    #[test]
    fn sealed_secrets_are_opened_again() {
        let text = sealer(1).write(PLACE, &value(), true, 0).unwrap();
        assert!(
            !text.contains("s3cret") && text.contains("plain") && text.contains("mine"),
            "{text}"
        );
        assert_eq!(
            sealer(1)
                .read::<Value>(PLACE, text.as_bytes(), true)
                .unwrap(),
            value()
        );
        let older = sealer(2).with_older_key([1; 32]);
        assert_eq!(
            older.read::<Value>(PLACE, text.as_bytes(), true).unwrap(),
            value()
        );
    }

    #[test]
    fn sealed_values_open_only_with_their_key_and_place() {
        let text = sealer(1).write(PLACE, &value(), true, 0).unwrap();
        for (sealer, place) in [
            (sealer(2), PLACE),
            (
                sealer(1),
                SealPlace {
                    uid: "u-2",
                    ..PLACE
                },
            ),
            (sealer(1), SealPlace { record: 8, ..PLACE }),
        ] {
            assert!(matches!(
                sealer.read::<Value>(place, text.as_bytes(), true),
                Err(SealError::WrongKey)
            ));
        }
        let without = Sealer::none().read::<Value>(PLACE, text.as_bytes(), true);
        assert!(matches!(without, Err(SealError::KeyMissing)));
        let moved = text.replace("items", "other");
        assert!(matches!(
            sealer(1).read::<Value>(PLACE, moved.as_bytes(), true),
            Err(SealError::WrongKey)
        ));
        assert!(matches!(
            Sealer::none().write(PLACE, &value(), true, 0),
            Err(SealError::NoKey)
        ));
    }

    #[test]
    fn bytes_are_sealed_whole() {
        let sealed = sealer(1).seal_bytes(PLACE, b"a plan").unwrap();
        assert!(sealed.starts_with(BYTES_HEADER));
        assert_eq!(
            sealer(1).open_bytes(PLACE, &sealed).unwrap().as_slice(),
            b"a plan"
        );
        assert!(matches!(
            sealer(2).open_bytes(PLACE, &sealed),
            Err(SealError::WrongKey)
        ));
        assert!(matches!(
            sealer(1).open_bytes(PLACE, b"a plan"),
            Err(SealError::Foreign)
        ));
        for end in 0..sealed.len() {
            assert!(sealer(1).open_bytes(PLACE, &sealed[..end]).is_err());
        }
    }

    /// The sealed form is stored: this text must always open.
    #[test]
    fn the_first_format_opens() {
        let stored = r#"{"$sealed":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAANzn+sSQEO9y1xWxgHoP2CUbrqDBEW+I4","key":"72cd6e84"}"#;
        assert_eq!(
            sealer(1)
                .write(PLACE, &Value::from("hidden").secret(), true, 0)
                .unwrap(),
            stored
        );
        assert_eq!(
            sealer(1)
                .read::<Value>(PLACE, stored.as_bytes(), true)
                .unwrap(),
            Value::from("hidden").secret()
        );
    }

    #[test]
    fn a_key_is_32_bytes_in_base64() {
        let key = [7; 32];
        assert_eq!(parse_key(&format!(" {}\n", format_key(&key))), Ok(key));
        assert_eq!(parse_key("c2hvcnQ="), Err(KeyError));
        assert_eq!(parse_key(""), Err(KeyError));
        assert_eq!(Sealer::with_key(key).key_id().unwrap().as_str().len(), 8);
        assert_eq!(
            format!("{:?}", Sealer::with_key(key)),
            format!("Sealer({})", Sealer::with_key(key).key_id().unwrap())
        );
    }

    #[test]
    fn two_sealings_under_the_systems_nonces_differ() {
        let sealer = Sealer::with_key([3; 32]);
        assert_ne!(
            sealer.seal_bytes(PLACE, b"x").unwrap(),
            sealer.seal_bytes(PLACE, b"x").unwrap()
        );
    }
}
