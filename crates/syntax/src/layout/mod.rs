//! Writes a document in the house style, with the same tree and the same comments.
//!
//! ```text
//! text + Tree ── lines ──> yaml ── block_scalar ──┐
//!                  └─────> json ──────────────────┴──> text that reads back to the same tree, or none
//! ```
//!
//! Two spaces for each level, no trailing blanks, one line break at the end, at most one empty line
//! between elements. Elements that are on one line and fit stay on it. YAML brackets over several
//! lines become blocks. Order, styles of scalars, `${..}` and comments stay as written.
//!
//! Not here: reading and writing files; invalid texts, which are not changed automatically.

mod block_scalar;
mod json;
mod lines;
mod yaml;

use diag::FileId;

use crate::{Content, Format, Node, Tree, parse};

/// The text of a tree in the house style. `text` is the source of the tree and has no errors.
///
/// `None` if it uses something that is not rearranged: keys of several lines or with an anchor or a
/// tag, a document that is a single value, tags of empty values. Parsing the result gives the same
/// values and comments, and laying it out again changes nothing.
pub fn layout(text: &str, tree: &Tree) -> Option<String> {
    let laid = match tree.format {
        Format::Yaml => yaml::layout(text, tree)?,
        Format::Json | Format::JsonWithComments => json::layout(text, tree)?,
    };
    // Check the result, so that a defect here cannot damage a document.
    let (again, found) = parse(FileId::new(0), &laid, tree.format);
    (!found.has_errors() && is_same(text, tree, &laid, &again)).then_some(laid)
}

/// Whether two trees have the same values (keys, order, texts, whether a text was quoted, anchors,
/// aliases and tags) and the same comments in the same order. Trailing blanks of comments are
/// ignored.
pub fn is_same(one_text: &str, one: &Tree, other_text: &str, other: &Tree) -> bool {
    let comments = one.comments.len() == other.comments.len()
        && one
            .comments
            .iter()
            .zip(&other.comments)
            .all(|(one, other)| {
                let words = |text: &str, span: diag::Span| -> Option<Vec<String>> {
                    Some(
                        text.get(span.range())?
                            .lines()
                            .map(|line| line.trim().to_owned())
                            .collect(),
                    )
                };
                words(one_text, *one) == words(other_text, *other)
            });
    let values = match (&one.root, &other.root) {
        (Some(one), Some(other)) => is_same_node(one_text, one, other_text, other),
        (None, None) => true,
        _ => false,
    };
    comments && values
}

fn is_same_node(one_text: &str, one: &Node, other_text: &str, other: &Node) -> bool {
    let word = |text: &str, span: Option<diag::Span>| {
        span.and_then(|span| text.get(span.range()).map(str::to_owned))
    };
    let properties = word(one_text, one.anchor()) == word(other_text, other.anchor())
        && word(one_text, one.alias()) == word(other_text, other.alias())
        && one.tag().map(|tag| &tag.item) == other.tag().map(|tag| &tag.item);
    let same = |one: &Node, other: &Node| is_same_node(one_text, one, other_text, other);
    properties
        && match (&one.content, &other.content) {
            // An alias is compared by its target.
            _ if one.alias().is_some() => true,
            (Content::Map(one), Content::Map(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| {
                        same(&one.key, &other.key) && same(&one.value, &other.value)
                    })
            }
            (Content::List(one), Content::List(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| same(one, other))
            }
            (Content::Scalar(one), Content::Scalar(other)) => {
                one.text == other.text && one.style.is_text() == other.style.is_text()
            }
            _ => false,
        }
}
