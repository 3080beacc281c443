//! Assets and archives. A file keeps the digest that was sent with it
//! ([`blueprint::Asset::Sent`]), because its content may have changed since.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Asset, Map, Name, Value};
use data_encoding::HEXLOWER;
use prost_types::value::Kind;
use prost_types::{Struct, Value as Wire};
use sha2::{Digest as _, Sha256};

use crate::archive_digest::ArchiveDigest;
use crate::lookups::Lookups;
use crate::signature::{KEY, Special};

/// The maximum nesting depth of archives.
const DEPTH: usize = 32;

/// The hexadecimal SHA-256 digest of an asset: of its bytes, or for an archive of entries that of a
/// tar stream made of them. `None` if `lookups` does not know the bytes of a part.
pub fn asset_hash(asset: &Asset, lookups: &dyn Lookups) -> Option<Name> {
    match asset {
        Asset::Text(text) => Some(HEXLOWER.encode(&Sha256::digest(text.as_bytes())).into()),
        Asset::Sent(_, digest) => Some(digest.clone()),
        Asset::Archive(_) => {
            let mut digest = ArchiveDigest::default();
            add_archive(&mut digest, "", asset, lookups)?;
            Some(digest.finish())
        }
        Asset::File(_) | Asset::Remote(_) | Asset::LocalArchive(_) | Asset::RemoteArchive(_) => {
            lookups.content_hash(asset)
        }
    }
}

/// Adds the entries of an archive under a prefix. `None` if the bytes of one are not known.
fn add_archive(
    digest: &mut ArchiveDigest,
    prefix: &str,
    asset: &Asset,
    lookups: &dyn Lookups,
) -> Option<()> {
    match asset {
        Asset::Archive(entries) => {
            let mut sorted: Vec<(&Name, &Asset)> = entries.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            for (name, entry) in sorted {
                let name = match prefix {
                    "" => name.to_string(),
                    prefix => format!("{prefix}/{name}"),
                };
                add_archive(digest, &name, entry, lookups)?;
            }
            Some(())
        }
        Asset::Sent(asset, _) => add_archive(digest, prefix, asset, lookups),
        Asset::Text(text) => digest.add(prefix, text.as_bytes()),
        other => lookups.add_content(other, prefix, digest),
    }
}

/// The wire form of an asset. With `hash_only` the content is left out if the digest is known.
pub(crate) fn to_wire(asset: &Asset, hash_only: bool, lookups: &dyn Lookups) -> Wire {
    let (bare, digest) = match asset {
        Asset::Sent(bare, digest) => (bare.as_ref(), Some(digest)),
        bare => (bare, None),
    };
    let special = match bare {
        Asset::Archive(_) | Asset::LocalArchive(_) | Asset::RemoteArchive(_) => Special::Archive,
        _ => Special::Asset,
    };
    let mut fields = BTreeMap::from([(KEY.to_owned(), text(special.text()))]);
    let hash = digest.cloned().or_else(|| asset_hash(bare, lookups));
    if !hash_only || hash.is_none() {
        let (key, content) = match bare {
            Asset::Text(content) => ("text", text(content)),
            Asset::File(path) | Asset::LocalArchive(path) => ("path", text(path)),
            Asset::Remote(url) | Asset::RemoteArchive(url) => ("uri", text(url)),
            // Sent assets are not nested.
            Asset::Sent(..) => ("text", text("")),
            Asset::Archive(entries) => {
                let entries = entries
                    .iter()
                    .map(|(name, entry)| (name.to_string(), to_wire(entry, false, lookups)));
                (
                    "assets",
                    Wire {
                        kind: Some(Kind::StructValue(Struct {
                            fields: entries.collect(),
                        })),
                    },
                )
            }
        };
        fields.insert(key.to_owned(), content);
    }
    if let Some(hash) = hash {
        fields.insert("hash".to_owned(), text(&hash));
    }
    Wire {
        kind: Some(Kind::StructValue(Struct { fields })),
    }
}

fn text(text: &str) -> Wire {
    Wire {
        kind: Some(Kind::StringValue(text.to_owned())),
    }
}

/// The asset of a map in wire form; `None` if the conversion would lose data. A digest is accepted
/// only if it follows from the content.
pub(crate) fn of_wire(entries: &Map) -> Option<Asset> {
    of_wire_at(entries, 0)
}

fn of_wire_at(entries: &Map, depth: usize) -> Option<Asset> {
    if depth > DEPTH {
        return None;
    }
    let special = special_of(entries)?;
    let content = |key: &str| match entries.get(key) {
        Some(Value::Text(content)) if !content.is_empty() || key == "text" => Some(content.clone()),
        _ => None,
    };
    let mut others = entries
        .keys()
        .filter(|key| !matches!(&***key, KEY | "hash"));
    let (only, more) = (others.next()?, others.next());
    let asset = match (special, &**only) {
        (Special::Asset, "text") => Asset::Text(content("text")?),
        (Special::Asset, "path") => Asset::File(content("path")?),
        (Special::Asset, "uri") => Asset::Remote(content("uri")?),
        (Special::Archive, "path") => Asset::LocalArchive(content("path")?),
        (Special::Archive, "uri") => Asset::RemoteArchive(content("uri")?),
        (Special::Archive, "assets") => {
            let inner = entries.get("assets")?.as_map()?;
            let part = |value: &Value| match value {
                Value::Asset(asset) => Some(asset.as_ref().clone()),
                Value::Map(entries) => of_wire_at(entries, depth + 1),
                _ => None,
            };
            Asset::Archive(
                inner
                    .iter()
                    .map(|(name, value)| Some((name.clone(), part(value)?)))
                    .collect::<Option<_>>()?,
            )
        }
        _ => return None,
    };
    if more.is_some() {
        return None;
    }
    match entries.get("hash") {
        None => Some(asset),
        // The digest of a text, or of an archive of texts, follows from it.
        Some(Value::Text(hash)) => match asset_hash(&asset, &crate::NoLookups) {
            Some(derived) if derived == *hash => Some(asset),
            Some(_) => None,
            None => Some(Asset::Sent(Box::new(asset), hash.clone())),
        },
        Some(_) => None,
    }
}

/// The kind of a special value in wire form.
pub(crate) fn special_of(entries: &Map) -> Option<Special> {
    match entries.get(KEY)? {
        Value::Text(text) => Special::of_text(text),
        _ => None,
    }
}

/// Restores the content of assets for which an answer has only a digest, from equal assets in
/// `known`.
pub fn restore_content(answer: Value, known: &[&Value]) -> Value {
    if !lacks_content(&answer) {
        return answer;
    }
    let mut found = Vec::new();
    known.iter().for_each(|value| collect(value, &mut found));
    restored(&answer, &found)
}

/// Whether a map in wire form is an asset or archive without content.
fn is_bare(entries: &Map) -> bool {
    matches!(special_of(entries), Some(Special::Asset | Special::Archive))
        && entries.contains_key("hash")
        && !["text", "path", "uri", "assets"]
            .into_iter()
            .any(|key| entries.contains_key(key))
}

fn lacks_content(value: &Value) -> bool {
    match value.unmarked() {
        Value::Map(entries) => is_bare(entries) || entries.values().any(lacks_content),
        Value::List(items) | Value::Set(items) => items.iter().any(lacks_content),
        _ => false,
    }
}

fn collect(value: &Value, found: &mut Vec<(Name, Value)>) {
    match value.unmarked() {
        Value::Asset(asset) => {
            if let Some(hash) = asset_hash(asset, &crate::NoLookups) {
                found.push((hash, value.unmarked().clone()));
            }
        }
        Value::Map(entries) => {
            let is_asset = matches!(special_of(entries), Some(Special::Asset | Special::Archive));
            if let (true, false, Some(Value::Text(hash))) =
                (is_asset, is_bare(entries), entries.get("hash"))
            {
                found.push((hash.clone(), value.unmarked().clone()));
            }
            entries.values().for_each(|value| collect(value, found));
        }
        Value::List(items) | Value::Set(items) => {
            items.iter().for_each(|item| collect(item, found))
        }
        _ => {}
    }
}

fn restored(value: &Value, found: &[(Name, Value)]) -> Value {
    match value {
        Value::Secret(inner) => restored(inner, found).secret(),
        Value::Map(entries) if is_bare(entries) => {
            let hash = entries.get("hash").and_then(Value::as_text);
            let full = found.iter().find(|(known, _)| Some(&**known) == hash);
            full.map_or_else(|| value.clone(), |(_, full)| full.clone())
        }
        Value::Map(entries) => Value::Map(Arc::new(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), restored(value, found)))
                .collect(),
        )),
        Value::List(items) => Value::list(items.iter().map(|item| restored(item, found))),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_asset_gets_its_content_back() {
        let asset = Value::Asset(Arc::new(Asset::Text("hello".into())));
        let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let bare = Value::map([
            (KEY, Value::from(Special::Asset.text())),
            ("hash", Value::from(hash)),
        ]);
        let answer = Value::map([
            ("a", Value::list([bare.clone().secret()])),
            ("b", Value::from("x")),
        ]);
        let whole = restore_content(answer.clone(), &[&Value::map([("source", asset.clone())])]);
        assert_eq!(
            whole
                .get("a")
                .and_then(Value::as_list)
                .map(|items| items[0].clone()),
            Some(asset.secret())
        );
        assert_eq!(restore_content(answer.clone(), &[&Value::Null]), answer);
    }
}
