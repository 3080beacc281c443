//! The names of the methods of texts, lists, dicts and sets.

use crate::value::StarValue;

const TEXT: [&str; 31] = [
    "string.capitalize",
    "string.codepoint_ords",
    "string.codepoints",
    "string.count",
    "string.elem_ords",
    "string.elems",
    "string.endswith",
    "string.find",
    "string.format",
    "string.index",
    "string.isalnum",
    "string.isalpha",
    "string.isdigit",
    "string.islower",
    "string.isspace",
    "string.istitle",
    "string.isupper",
    "string.join",
    "string.lower",
    "string.lstrip",
    "string.partition",
    "string.replace",
    "string.rfind",
    "string.rindex",
    "string.rpartition",
    "string.rsplit",
    "string.rstrip",
    "string.split",
    "string.splitlines",
    "string.startswith",
    "string.strip",
];

const MORE_TEXT: [&str; 2] = ["string.title", "string.upper"];

const LIST: [&str; 7] = [
    "list.append",
    "list.clear",
    "list.extend",
    "list.index",
    "list.insert",
    "list.pop",
    "list.remove",
];

const DICT: [&str; 9] = [
    "dict.clear",
    "dict.get",
    "dict.items",
    "dict.keys",
    "dict.pop",
    "dict.popitem",
    "dict.setdefault",
    "dict.update",
    "dict.values",
];

/// The methods of a value, with the name of its type, in order.
pub(crate) fn methods(of: &StarValue) -> impl Iterator<Item = &'static str> {
    let (first, second): (&[&'static str], &[&'static str]) = match of {
        StarValue::Text(_) => (&TEXT, &MORE_TEXT),
        StarValue::List(_) => (&LIST, &[]),
        StarValue::Dict(_) => (&DICT, &[]),
        StarValue::Set(_) => (&["set.union"], &[]),
        _ => (&[], &[]),
    };
    first.iter().chain(second).copied()
}

/// The method of a value with a name, if it has one.
pub(crate) fn method(of: &StarValue, name: &str) -> Option<&'static str> {
    methods(of).find(|method| {
        let own = method.split_once('.');
        own.is_some_and(|(_, own)| own == name)
    })
}
