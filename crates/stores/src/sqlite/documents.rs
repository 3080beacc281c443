//! The long texts of operations: documents, files, inputs. Each is stored once for an instance.
//!
//! The body of `began` lists their numbers, and has `{"$document": INDEX}` in the place of each
//! text. Rows are found by a digest of the text. It is keyed if the state has a key, so that it
//! reveals nothing of a sealed text. Numbers are not reused.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use state::seal::{SealPlace, Sealer};
use state::tag::{Tag, Tagger};
use state::{Operation, StoreError};

use super::body::{self, EntryBody, LONG};
use super::failure::{damaged_row, failed};
use super::head::{EntryRow, InstanceRow, sequence_of};
use super::reading::StateReader;
use super::reading::text as column_text;

const DOCUMENT: &str = "$document";
const SECRET: &str = "$secret";
const WRAPPED: &str = "$map";

/// A text that was taken out of an operation.
struct StoredText {
    text: String,
    is_secret: bool,
}

/// Writes the body of `began` without its long texts, and stores those texts that are not stored
/// yet.
pub(super) fn write_operation(
    connection: &Connection,
    path: &std::path::Path,
    sealer: &Sealer,
    head: &mut InstanceRow,
    place: SealPlace<'_>,
    operation: &Operation,
) -> Result<EntryBody, StoreError> {
    let mut json = serde_json::to_value(operation).map_err(state::seal::SealError::Form)?;
    let mut texts = Vec::new();
    if let Some(desired) = json.get_mut("desired") {
        extract_texts(desired, false, false, &mut texts);
    }
    let mut numbers = Vec::with_capacity(texts.len());
    for text in texts {
        numbers.push(number_of(connection, sealer, head, &text).map_err(|error| error.of(path))?);
    }
    if let (Json::Object(map), false) = (&mut json, numbers.is_empty()) {
        map.insert("documents".into(), numbers.into());
    }
    Ok(body::write_began(sealer, place, operation, &json)?)
}

/// The reason why a text could not be stored.
enum TextStoreError {
    Sqlite(rusqlite::Error),
    Seal(state::seal::SealError),
    NoTagger,
}

impl TextStoreError {
    fn of(self, path: &std::path::Path) -> StoreError {
        match self {
            TextStoreError::Sqlite(error) => failed(path, error),
            TextStoreError::Seal(error) => error.into(),
            TextStoreError::NoTagger => StoreError::WrongKey,
        }
    }
}

impl From<rusqlite::Error> for TextStoreError {
    fn from(error: rusqlite::Error) -> TextStoreError {
        TextStoreError::Sqlite(error)
    }
}

impl From<state::seal::SealError> for TextStoreError {
    fn from(error: state::seal::SealError) -> TextStoreError {
        TextStoreError::Seal(error)
    }
}

/// Returns the number of a text. A new text is stored now.
fn number_of(
    connection: &Connection,
    sealer: &Sealer,
    head: &mut InstanceRow,
    text: &StoredText,
) -> Result<i64, TextStoreError> {
    let Some(tagger) = head.tagger.clone() else {
        return Err(TextStoreError::NoTagger);
    };
    let digest = digest_of(&tagger, &head.journal.uid, text);
    let mut find = connection.prepare_cached("SELECT id FROM documents WHERE digest = ?1")?;
    if let Some(id) = find
        .query_row([digest], |row| row.get::<_, i64>(0))
        .optional()?
    {
        return Ok(sequence_of(id).cast_signed());
    }
    head.documents += 1;
    let (number, sealed) = (head.documents, text.is_secret);
    let body = sealed_body(sealer, head, number, text)?;
    let sql = "INSERT INTO documents (id, digest, sealed, body, mac) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mac = tag_of(&tagger, &head.journal.uid, number, sealed, digest);
    let body = body.as_deref().unwrap_or(&text.text);
    connection.prepare_cached(sql)?.execute(params![
        head.entry(number),
        digest,
        sealed,
        body,
        mac
    ])?;
    Ok(number)
}

/// The stored form of a text, if it is secret.
fn sealed_body(
    sealer: &Sealer,
    head: &InstanceRow,
    number: i64,
    text: &StoredText,
) -> Result<Option<String>, state::seal::SealError> {
    if !text.is_secret {
        return Ok(None);
    }
    let (uid, record) = (uid_of(head), number.unsigned_abs());
    sealer
        .write(
            SealPlace { uid: &uid, record },
            &json!({SECRET: text.text}),
            true,
            0,
        )
        .map(Some)
}

/// The uid in the seal places of documents. Documents have numbers of their own, so it differs from
/// that of entries.
fn uid_of(head: &InstanceRow) -> String {
    format!("{} documents", head.journal.uid)
}

fn digest_of(tagger: &Tagger, uid: &str, text: &StoredText) -> Tag {
    tagger
        .row("text")
        .text(uid)
        .number(i64::from(text.is_secret))
        .text(&text.text)
        .finish()
}

/// The tag of a document. It covers the text through the digest.
fn tag_of(tagger: &Tagger, uid: &str, number: i64, sealed: bool, digest: Tag) -> Tag {
    tagger
        .row("document")
        .text(uid)
        .number(number)
        .number(i64::from(sealed))
        .bytes(&digest)
        .finish()
}

/// Replaces long texts by their indexes in `found`.
fn extract_texts(json: &mut Json, is_secret: bool, is_wrapped: bool, found: &mut Vec<StoredText>) {
    match json {
        Json::String(text) if text.len() >= LONG => {
            found.push(StoredText {
                text: std::mem::take(text),
                is_secret,
            });
            *json = json!({DOCUMENT: found.len() - 1});
        }
        Json::Array(items) => items
            .iter_mut()
            .for_each(|item| extract_texts(item, is_secret, false, found)),
        Json::Object(map) => {
            let is_mark = !is_wrapped && map.len() == 1;
            let is_secret = is_secret || is_mark && map.contains_key(SECRET);
            for (key, value) in map {
                extract_texts(value, is_secret, is_mark && key == WRAPPED, found);
            }
        }
        _ => {}
    }
}

/// Puts texts back in their places; returns false if a text is missing.
fn restore_texts(json: &mut Json, is_wrapped: bool, texts: &[String]) -> bool {
    match json {
        Json::Array(items) => items
            .iter_mut()
            .all(|item| restore_texts(item, false, texts)),
        Json::Object(map) => {
            let is_mark = !is_wrapped && map.len() == 1;
            if is_mark && let Some(index) = map.get(DOCUMENT) {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                let Some(text) = index.and_then(|index| texts.get(index)) else {
                    return false;
                };
                *json = Json::String(text.clone());
                return true;
            }
            map.iter_mut()
                .all(|(key, value)| restore_texts(value, is_mark && key == WRAPPED, texts))
        }
        _ => true,
    }
}

/// The numbers of the documents that a body of `began` names.
#[derive(Deserialize)]
struct DocumentNumbers {
    #[serde(default)]
    documents: Vec<i64>,
}

impl StateReader<'_> {
    /// The numbers of the documents that an operation names. They are never sealed.
    pub(super) fn documents_of(
        &self,
        head: &InstanceRow,
        entry: &EntryRow<'_>,
    ) -> Result<Vec<i64>, StoreError> {
        let DocumentNumbers { documents } =
            body::read(self.sealer, head.place(0), false, entry.body)?;
        Ok(documents)
    }

    /// The operation that begins with an entry, with its documents.
    pub(super) fn operation_of(
        &self,
        head: &InstanceRow,
        entry: &EntryRow<'_>,
    ) -> Result<Operation, StoreError> {
        let mut json: Json =
            body::read(self.sealer, head.place(entry.id), entry.sealed, entry.body)?;
        let damaged = || {
            damaged_row(
                self.path,
                &format!("entry {} is not an operation", sequence_of(entry.id)),
            )
        };
        let named = json
            .as_object_mut()
            .and_then(|map: &mut Map<String, Json>| map.remove("documents"));
        if let Some(named) = named {
            let numbers: Vec<i64> = serde_json::from_value(named).map_err(|_| damaged())?;
            let texts: Vec<String> = numbers
                .into_iter()
                .map(|number| self.document(head, number))
                .collect::<Result<_, _>>()?;
            if !json
                .get_mut("desired")
                .is_some_and(|desired| restore_texts(desired, false, &texts))
            {
                return Err(damaged());
            }
        }
        // Omits the parser's message, which may repeat a secret.
        serde_json::from_value(json).map_err(|_| damaged())
    }

    /// Reads a text and checks that it is unchanged.
    fn document(&self, head: &InstanceRow, number: i64) -> Result<String, StoreError> {
        self.stored_text(head, number).map(|text| text.text)
    }

    fn stored_text(&self, head: &InstanceRow, number: i64) -> Result<StoredText, StoreError> {
        let at = |error| self.at(error);
        let wrong = |what: &str| damaged_row(self.path, &format!("document {number} {what}"));
        let sql = "SELECT digest, sealed, body, mac FROM documents WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query([head.entry(number)]).map_err(at)?;
        let row = rows
            .next()
            .map_err(at)?
            .ok_or_else(|| wrong("is missing"))?;
        let (digest, sealed, mac): (Tag, bool, Tag) = (
            row.get(0).map_err(at)?,
            row.get(1).map_err(at)?,
            row.get(3).map_err(at)?,
        );
        let body = column_text(row, 2).map_err(at)?;
        let text = if sealed {
            let uid = uid_of(head);
            let place = SealPlace {
                uid: &uid,
                record: number.unsigned_abs(),
            };
            let opened: Json = body::read(self.sealer, place, true, body)?;
            opened.get(SECRET).and_then(Json::as_str).map(str::to_owned)
        } else {
            std::str::from_utf8(body).ok().map(str::to_owned)
        };
        let text = StoredText {
            text: text.ok_or_else(|| wrong("is not a text"))?,
            is_secret: sealed,
        };
        let is_genuine = head.tagger.as_ref().is_none_or(|tagger| {
            let uid = &head.journal.uid;
            digest_of(tagger, uid, &text) == digest
                && tag_of(tagger, uid, number, sealed, digest) == mac
        });
        if is_genuine {
            Ok(text)
        } else {
            Err(wrong("is not what was written"))
        }
    }

    /// The numbers of the stored documents of an instance.
    pub(super) fn stored_documents(&self, head: &InstanceRow) -> Result<Vec<i64>, StoreError> {
        if self.format < 4 {
            return Ok(Vec::new());
        }
        let at = |error| self.at(error);
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM documents WHERE id BETWEEN ?1 AND ?2")
            .map_err(at)?;
        let range = [head.entry(0), head.entry(head.documents)];
        let rows = statement
            .query_map(range, |row| row.get::<_, i64>(0))
            .map_err(at)?;
        rows.map(|id| Ok(sequence_of(id.map_err(at)?).cast_signed()))
            .collect()
    }

    /// The numbers of the documents to which the operations of an instance refer.
    pub(super) fn named_documents(&self, head: &InstanceRow) -> Result<HashSet<i64>, StoreError> {
        let mut named = HashSet::new();
        for operation in self.operations(head, i64::MAX)? {
            self.entries(head, (operation.first, operation.first), |entry| {
                named.extend(self.documents_of(head, entry)?);
                Ok(())
            })?;
        }
        Ok(named)
    }

    /// Checks one document.
    pub(super) fn check_document(&self, head: &InstanceRow, number: i64) -> Result<(), StoreError> {
        self.stored_text(head, number).map(|_| ())
    }

    /// Writes all documents of an instance under another key: its digests and tags, and with
    /// `sealer` its seals.
    pub(super) fn write_documents_again(
        &self,
        head: &InstanceRow,
        to: &Tagger,
        sealer: Option<&Sealer>,
    ) -> Result<(), StoreError> {
        let at = |error| self.at(error);
        for number in self.stored_documents(head)? {
            let text = self.stored_text(head, number)?;
            let digest = digest_of(to, &head.journal.uid, &text);
            let mac = tag_of(to, &head.journal.uid, number, text.is_secret, digest);
            let sql = "UPDATE documents SET digest = ?2, mac = ?3, body = coalesce(?4, body) WHERE id = ?1";
            let body = sealer
                .map(|sealer| sealed_body(sealer, head, number, &text))
                .transpose()?
                .flatten();
            let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
            statement
                .execute(params![head.entry(number), digest, mac, body])
                .map_err(at)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_extracted_and_restored() {
        let long = "x".repeat(LONG);
        let whole = json!({
            "document": long, "short": "x", "typed": {"$secret": {"a": [long, 1]}},
            "mark": {"$map": {"$document": 0}}, "bytes": {"$bytes": long},
        });
        let mut json = whole.clone();
        let mut found = Vec::new();
        extract_texts(&mut json, false, false, &mut found);
        let secret: Vec<bool> = found.iter().map(|text| text.is_secret).collect();
        assert_eq!(
            (found.len(), secret.iter().filter(|secret| **secret).count()),
            (3, 1),
            "{json}"
        );
        assert!(!json.to_string().contains("xx"), "{json}");
        let texts: Vec<String> = found.into_iter().map(|text| text.text).collect();
        let mut missing = json.clone();
        assert!(!restore_texts(&mut missing, false, &texts[..1]));
        assert!(restore_texts(&mut json, false, &texts));
        assert_eq!(json, whole);
    }
}
