//! The values of a deployment: JSON with special maps for secrets, assets and archives.
//!
//! A special map with members that have no counterpart here stays a map, so that it is written as it
//! was read.

use std::sync::Arc;

use blueprint::{Asset, IndexMap, Map, Name, Value};
use data_encoding::BASE64;
use dialect::{FillRandom, TextCipher};
use serde_json::{Map as JsonMap, Value as Json, json};

use super::check::hex_digest;

/// The key that makes a map a special value.
const KEY: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
const REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
const BYTES: &str = "803fd3297a5875dc03ca845dda5d2a98";

/// The text of a value that was not known.
const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// Reads a value. An error is a phrase about it.
pub(super) fn decode(json: &Json, cipher: Option<&dyn TextCipher>) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Int(int),
            (None, Some(float)) if !number.is_u64() => Value::Float(float),
            _ => Value::Decimal(number.to_string().into()),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => {
            let items = items.iter().map(|item| decode(item, cipher));
            Value::list(items.collect::<Result<Vec<_>, _>>()?)
        }
        Json::Object(entries) => match entries.get(KEY).and_then(Json::as_str) {
            Some(SECRET) => return secret(entries, cipher),
            Some(ASSET | ARCHIVE) => match asset(json) {
                Some(asset) => Value::Asset(Arc::new(asset)),
                None => map(entries, cipher)?,
            },
            _ => map(entries, cipher)?,
        },
    })
}

fn map(entries: &JsonMap<String, Json>, cipher: Option<&dyn TextCipher>) -> Result<Value, String> {
    let entries = entries
        .iter()
        .map(|(key, value)| Ok((Name::from(key.as_str()), decode(value, cipher)?)));
    Ok(Value::Map(Arc::new(
        entries.collect::<Result<Map, String>>()?,
    )))
}

fn secret(
    entries: &JsonMap<String, Json>,
    cipher: Option<&dyn TextCipher>,
) -> Result<Value, String> {
    let text = |key: &str| entries.get(key).and_then(Json::as_str);
    let plain = match (text("plaintext"), text("ciphertext"), cipher) {
        (Some(plain), _, _) => plain.to_owned(),
        (None, Some(sealed), Some(cipher)) => cipher
            .decrypt(sealed)
            .map_err(|why| format!("has a secret that {why}"))?,
        (None, Some(_), None) => {
            return Err("has a secret, and the deployment names no secrets provider".to_owned());
        }
        (None, None, _) => return Err("has a secret without a text".to_owned()),
    };
    let json: Json =
        serde_json::from_str(&plain).map_err(|_| "has a secret that is no JSON".to_owned())?;
    Ok(decode(&json, cipher)?.secret())
}

/// An asset or archive. `None` if it has members that an [`Asset`] does not keep.
fn asset(json: &Json) -> Option<Asset> {
    let entries = json.as_object()?;
    let kind = entries.get(KEY)?.as_str()?;
    let hash = match entries.get("hash") {
        Some(hash) => Some(hash.as_str()?),
        None => None,
    };
    let mut contents = entries
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), KEY | "hash"));
    let (form, content) = contents.next()?;
    if contents.next().is_some() {
        return None;
    }
    let text = || Some(Name::from(content.as_str()?));
    let plain = match (kind, form.as_str()) {
        (ASSET, "text") => Asset::Text(text()?),
        (ASSET, "path") => Asset::File(text()?),
        (ASSET, "uri") => Asset::Remote(text()?),
        (ARCHIVE, "path") => Asset::LocalArchive(text()?),
        (ARCHIVE, "uri") => Asset::RemoteArchive(text()?),
        (ARCHIVE, "assets") => {
            let parts = content.as_object()?.iter();
            let parts = parts.map(|(name, part)| Some((Name::from(name.as_str()), asset(part)?)));
            Asset::Archive(parts.collect::<Option<IndexMap<_, _>>>()?)
        }
        _ => return None,
    };
    Some(match hash {
        Some(hash) => Asset::Sent(Box::new(plain), hash.into()),
        None => plain,
    })
}

/// How secrets are written.
pub(super) enum SecretForm<'c> {
    /// Encrypted.
    Sealed {
        cipher: &'c dyn TextCipher,
        random: FillRandom<'c>,
    },
    /// In clear text.
    Plain,
}

/// Writes values.
pub(super) struct ValueWriter<'c> {
    pub(super) secrets: SecretForm<'c>,
    /// The URN and the id of the resource at an address.
    pub(super) reference: &'c dyn Fn(&blueprint::Address) -> Option<(Name, Name)>,
}

impl ValueWriter<'_> {
    /// Writes a value. An error is a phrase.
    pub(super) fn encode(&mut self, value: &Value) -> Result<Json, String> {
        Ok(match value {
            Value::Null | Value::Function(_) => Json::Null,
            Value::Bool(bool) => json!(bool),
            Value::Int(int) => json!(int),
            Value::Float(float) => whole(*float),
            Value::Decimal(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| json!(text.as_ref()))
            }
            Value::Text(text) => json!(text.as_ref()),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => json!(text),
                Err(_) => json!({KEY: BYTES, "value": BASE64.encode(bytes)}),
            },
            Value::List(items) | Value::Set(items) => {
                let items = items.iter().map(|item| self.encode(item));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => self.encode_map(entries)?,
            Value::Asset(asset) => {
                let mut written = written_asset(asset);
                // The other tool tells texts apart by their digests.
                if let Asset::Text(text) = asset.as_ref() {
                    written["hash"] = json!(hex_digest(text));
                }
                written
            }
            Value::Resource(address) => match (self.reference)(address) {
                Some((urn, id)) => json!({KEY: REFERENCE, "urn": urn, "id": id}),
                None => Json::Null,
            },
            Value::Unknown(_) => json!(UNKNOWN),
            Value::Secret(inner) => {
                let plain = self.encode(inner)?.to_string();
                match &mut self.secrets {
                    SecretForm::Plain => json!({KEY: SECRET, "plaintext": plain}),
                    SecretForm::Sealed { cipher, random } => {
                        let sealed = cipher.encrypt(&plain, *random)?;
                        json!({KEY: SECRET, "ciphertext": sealed})
                    }
                }
            }
        })
    }

    fn encode_map(&mut self, entries: &Map) -> Result<Json, String> {
        let mut written = JsonMap::new();
        for (key, value) in entries.iter() {
            written.insert(key.to_string(), self.encode(value)?);
        }
        Ok(Json::Object(written))
    }
}

/// A float; a whole number has no fraction, as the other tool writes it.
fn whole(float: f64) -> Json {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match float.fract() == 0.0 && float.abs() < LARGEST {
        true => json!(float as i64),
        false => json!(float),
    }
}

fn written_asset(asset: &Asset) -> Json {
    let of = |kind: &str, form: &str, content: Json| json!({KEY: kind, form: content});
    match asset {
        Asset::Text(text) => of(ASSET, "text", json!(text.as_ref())),
        Asset::File(path) => of(ASSET, "path", json!(path.as_ref())),
        Asset::Remote(uri) => of(ASSET, "uri", json!(uri.as_ref())),
        Asset::LocalArchive(path) => of(ARCHIVE, "path", json!(path.as_ref())),
        Asset::RemoteArchive(uri) => of(ARCHIVE, "uri", json!(uri.as_ref())),
        Asset::Archive(parts) => {
            let parts = parts
                .iter()
                .map(|(name, part)| (name.to_string(), written_asset(part)));
            of(ARCHIVE, "assets", Json::Object(parts.collect()))
        }
        Asset::Sent(asset, hash) => {
            let mut written = written_asset(asset);
            written["hash"] = json!(hash.as_ref());
            written
        }
    }
}
