//! What the text of a variable alone shows: the members of a written map, and the resource that it
//! stands for (decisions/pulumi#property-access).
//!
//! Not here: values that calls and accesses give.

use diag::Span;
use expr::codes::{INDEX_OUT_OF_RANGE, UNKNOWN_FIELD, WRONG_ACCESSOR};
use syntax::{Content, Node};

use crate::access::{AccessStep, PropertyAccess, is_interpolated};
use crate::call_forms::called_function;
use crate::read::{node_kind, text};

/// The mistake of the first step that leads nowhere in a written value. `None` if there is none, or
/// if only the evaluation can tell.
pub(crate) fn wrong_step(node: &Node, access: &PropertyAccess) -> Option<diag::Diagnostic> {
    let mut node = node;
    for step in &access.steps {
        let place = step.span;
        node = match (&step.item, &node.content) {
            (AccessStep::Name(name), Content::Map(entries)) => {
                let keys = entries.iter().map(|entry| entry.key.text());
                let keys: Vec<&str> = keys.collect::<Option<_>>()?;
                if is_call(&keys) || keys.iter().any(|key| is_interpolated(key) || *key == "<<") {
                    return None;
                }
                match entries
                    .iter()
                    .rev()
                    .find(|entry| entry.key.text() == Some(name))
                {
                    Some(entry) => &entry.value,
                    None => return Some(no_member(name, keys, place)),
                }
            }
            (AccessStep::Index(at), Content::List(items)) => {
                match usize::try_from(*at).ok().and_then(|at| items.get(at)) {
                    Some(item) => item,
                    None => {
                        let count = items.len();
                        let message = format!("the list has no item {at}: it has {count}");
                        return Some(INDEX_OUT_OF_RANGE.new(message).label(place, "no such item"));
                    }
                }
            }
            (_, Content::Missing) => return None,
            (_, Content::Scalar(_)) if text(node).is_some_and(is_interpolated) => return None,
            (AccessStep::Name(name), Content::List(_) | Content::Scalar(_)) => {
                let message = format!("{} has no `{name}`", node_kind(node));
                return Some(WRONG_ACCESSOR.new(message).label(place, "leads nowhere"));
            }
            (AccessStep::Index(_), Content::Map(entries)) => {
                if entries
                    .iter()
                    .any(|entry| entry.key.text().is_none_or(is_special))
                {
                    return None;
                }
                let message = "a map has no positions";
                return Some(WRONG_ACCESSOR.new(message).label(place, "a name is needed"));
            }
            (AccessStep::Index(_), Content::Scalar(_)) => {
                let message = format!("{} has no positions", node_kind(node));
                return Some(WRONG_ACCESSOR.new(message).label(place, "leads nowhere"));
            }
        };
    }
    None
}

/// Whether a key may make its map something else than data with these keys.
fn is_special(key: &str) -> bool {
    called_function(key).is_some() || is_interpolated(key) || key == "<<"
}

fn is_call(keys: &[&str]) -> bool {
    matches!(keys, [only] if called_function(only).is_some())
}

fn no_member(name: &str, keys: Vec<&str>, place: Span) -> diag::Diagnostic {
    let message = format!("the map has no entry `{name}`");
    let mistake = UNKNOWN_FIELD.new(message).label(place, "no such entry");
    mistake.help_nearest(name, keys)
}

/// The name of the element that a text stands for as a whole: `${name}`.
pub(crate) fn alias_of(node: &Node) -> Option<&str> {
    let inner = text(node)?.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !inner.is_empty() && !inner.contains(['.', '[', ']', '{', '}', '$', '"']);
    is_name.then_some(inner)
}

#[cfg(test)]
mod tests {
    use diag::{FileId, TextMap};
    use syntax::Format;

    use super::*;
    use crate::access::{TextPiece, pieces};

    /// The code of the mistake of an access to the variable `v` with this value.
    fn mistake(value: &str, access: &str) -> Option<&'static str> {
        let (tree, _) = syntax::parse(FileId::new(0), value, Format::Yaml);
        let map = TextMap::identity(FileId::new(0), 0, access.len() as u32);
        let pieces = pieces(access, &map, &mut diag::Diagnostics::new());
        let [TextPiece::Access(access, _)] = pieces.as_slice() else {
            panic!("{access} is no access");
        };
        wrong_step(&tree.root.unwrap(), access).map(|mistake| mistake.code.name)
    }

    #[test]
    fn a_step_into_written_data_is_checked() {
        for (value, access, code) in [
            ("{a: {b: 1}}", "${v.a.b}", None),
            ("{a: {b: 1}}", "${v.a.c}", Some("unknown-field")),
            ("{a: 1}", "${v.a.b}", Some("wrong-accessor")),
            ("{a: 1}", "${v[0]}", Some("wrong-accessor")),
            ("[1, 2]", "${v[1]}", None),
            ("[1, 2]", "${v[2]}", Some("index-out-of-range")),
            ("[1, 2]", "${v.a}", Some("wrong-accessor")),
        ] {
            assert_eq!(mistake(value, access), code, "{access} in {value}");
        }
    }

    #[test]
    fn values_that_are_computed_are_left_to_the_evaluation() {
        for (value, access) in [
            ("{fn::split: [a, b]}", "${v[0]}"),
            ("{a: '${other}'}", "${v.a.b}"),
            ("{'${key}': 1}", "${v.a}"),
            ("'${other}'", "${v.a}"),
            ("{fn::toJSON: {}}", "${v.a}"),
        ] {
            assert_eq!(mistake(value, access), None, "{access} in {value}");
        }
    }

    #[test]
    fn a_variable_stands_for_an_element_as_a_whole() {
        for (value, element) in [
            ("'${net}'", Some("net")),
            ("'${net.id}'", None),
            ("'a ${net}'", None),
            ("'$${net}'", None),
            ("[1]", None),
        ] {
            let (tree, _) = syntax::parse(FileId::new(0), value, Format::Yaml);
            assert_eq!(alias_of(&tree.root.unwrap()), element, "{value}");
        }
    }
}
