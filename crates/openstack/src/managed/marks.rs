//! The mark that tells which call created an object: a create whose answer was lost is looked up by
//! it.
//!
//! A generated name contains the token of the call, so it is the mark if the template gives no
//! name. A table says where the mark is otherwise.

use serde_json::{Value as Json, json};

use super::JsonMap;
use crate::heat::short_digest;

/// Where a type's objects have the mark if the template gives their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// In this text field. The list of objects is searched by it. If the template sets the field and
    /// a name, the mark stands there until the object is recorded.
    Text(&'static str),
    /// In this list of tags.
    Tag(&'static str),
    /// In this map, under the key `cyan`.
    Entry(&'static str),
    /// Under the key `cyan` of the object itself, beside its fields: the service keeps what it does
    /// not know.
    Beside,
    /// In no field: the service has at most one object with these fields, so a second create would
    /// have been refused.
    Unique(&'static [&'static str]),
    /// The name is the mark, because the service refuses a second object with it. The other fields
    /// must be those of the create, so that an object of somebody else is not taken for the own one.
    Name,
    /// In no field: an object with its name cannot be told from another one.
    None,
}

/// The key of the mark in a map.
pub(crate) const KEY: &str = "cyan";

/// How marks begin, and the number of letters and digits after that.
const BEGINNING: &str = "cyan-";
const DIGEST: usize = 12;

/// The mark of a create.
pub(crate) fn mark_of(token: &str) -> String {
    format!("{BEGINNING}{}", short_digest(&["mark", token]))
}

/// Whether a text is a mark. A text of a template may begin like one.
pub(crate) fn is_mark(text: &str) -> bool {
    let digest = text.strip_prefix(BEGINNING);
    digest.is_some_and(|digest| {
        digest.len() == DIGEST && digest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn has_mark(value: &Json) -> bool {
    value.as_str().is_some_and(is_mark)
}

impl Mark {
    /// Writes the mark into the body of a create. Does nothing if its place is taken.
    pub(super) fn write(self, token: &str, body: &mut JsonMap) {
        let mark = mark_of(token);
        match self {
            Mark::Text(field) => {
                body.entry(field).or_insert_with(|| json!(mark));
            }
            Mark::Tag(field) => {
                let tags = body.entry(field).or_insert_with(|| json!([]));
                if let Some(tags) = tags.as_array_mut() {
                    tags.push(json!(mark));
                }
            }
            Mark::Entry(field) => {
                let entries = body.entry(field).or_insert_with(|| json!({}));
                if let Some(entries) = entries.as_object_mut() {
                    entries.insert(KEY.to_owned(), json!(mark));
                }
            }
            Mark::Beside => {
                body.insert(KEY.to_owned(), json!(mark));
            }
            Mark::Unique(_) | Mark::Name | Mark::None => {}
        }
    }

    /// Writes the mark into the body of a create in place of the text that the template gives.
    pub(super) fn write_over(self, token: &str, body: &mut JsonMap) {
        match self {
            Mark::Text(field) => {
                body.insert(field.to_owned(), json!(mark_of(token)));
            }
            _ => self.write(token, body),
        }
    }

    /// The text field of an object that holds a mark at this time.
    pub(super) fn text_field(self, object: &Json) -> Option<&'static str> {
        match self {
            Mark::Text(field) if has_mark(&object[field]) => Some(field),
            _ => None,
        }
    }

    /// Whether the mark tells by which call an object was made. Others only tell that it has the
    /// fields of the call.
    pub(super) fn tells_calls(self) -> bool {
        match self {
            Mark::Text(_) | Mark::Tag(_) | Mark::Entry(_) | Mark::Beside => true,
            Mark::Unique(_) | Mark::Name | Mark::None => false,
        }
    }

    /// Whether an object has the mark of a create.
    pub(super) fn is_on(self, token: &str, object: &Json) -> bool {
        let mark = mark_of(token);
        match self {
            Mark::Text(field) => object[field] == mark.as_str(),
            Mark::Tag(field) => {
                let tags = object[field].as_array();
                tags.is_some_and(|tags| tags.iter().any(|tag| *tag == mark.as_str()))
            }
            Mark::Entry(field) => object[field][KEY] == mark.as_str(),
            Mark::Beside => object[KEY] == mark.as_str(),
            Mark::Unique(_) | Mark::Name | Mark::None => false,
        }
    }

    /// The parameter of a query that finds the object, if the service has one.
    pub(super) fn query(self, token: &str) -> Option<(&'static str, String)> {
        match self {
            Mark::Text(field) => Some((field, mark_of(token))),
            Mark::Tag(_) => Some(("tags", mark_of(token))),
            // Cinder reads the filter as a map.
            Mark::Entry(field) => Some((field, json!({ KEY: mark_of(token) }).to_string())),
            Mark::Beside | Mark::Unique(_) | Mark::Name | Mark::None => None,
        }
    }

    /// The parameter of a query for the objects among which the one of a create is, if the mark
    /// itself is in no query: they have the name of its spec.
    pub(super) fn named(self, spec: &JsonMap) -> Option<(&'static str, String)> {
        let name = spec.get("name").and_then(Json::as_str)?;
        matches!(self, Mark::Beside | Mark::Name).then(|| ("name", name.to_owned()))
    }

    /// The marks that an object has, to be kept when its place is written again.
    pub(crate) fn kept(self, object: &Json) -> Vec<Json> {
        match self {
            Mark::Tag(field) => {
                let tags = object[field].as_array().into_iter().flatten();
                tags.filter(|tag| has_mark(tag)).cloned().collect()
            }
            Mark::Entry(field) => object[field].get(KEY).cloned().into_iter().collect(),
            Mark::Text(_) | Mark::Beside | Mark::Unique(_) | Mark::Name | Mark::None => Vec::new(),
        }
    }

    /// Removes the mark from an object as it is read, so that it is no value of a property.
    pub(crate) fn remove(self, object: &mut Json) {
        match self {
            Mark::Text(field) if has_mark(&object[field]) => object[field] = json!(""),
            Mark::Tag(field) => {
                if let Some(tags) = object.get_mut(field).and_then(Json::as_array_mut) {
                    tags.retain(|tag| !has_mark(tag));
                }
            }
            Mark::Entry(field) => {
                if let Some(entries) = object.get_mut(field).and_then(Json::as_object_mut) {
                    entries.remove(KEY);
                }
            }
            Mark::Beside => {
                if let Some(entries) = object.as_object_mut() {
                    entries.remove(KEY);
                }
            }
            Mark::Text(_) | Mark::Unique(_) | Mark::Name | Mark::None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_templates_that_begin_like_a_mark_stay() {
        let mark = mark_of("token");
        assert!(is_mark(&mark), "{mark}");
        let mut object = json!({"description": "cyan-coloured", "tags": ["cyan-blue", mark]});
        Mark::Text("description").remove(&mut object);
        Mark::Tag("tags").remove(&mut object);
        assert_eq!(
            object,
            json!({"description": "cyan-coloured", "tags": ["cyan-blue"]})
        );
        let mut marked = json!({"description": mark});
        Mark::Text("description").remove(&mut marked);
        assert_eq!(marked, json!({"description": ""}));
    }
}
