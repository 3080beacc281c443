//! Values as text: Python's `str` and `repr`.

use crate::model::{Datum, DatumMap, View};

/// The length at which texts are cut off. The caller fails on the limit of bytes anyway.
const LONGEST: usize = 1 << 20;

/// Python's `str(value)`.
pub(crate) fn text(value: &Datum) -> String {
    match value {
        Datum::Text(text) => text.to_string(),
        Datum::Moment(moment) => moment.text(),
        Datum::Timespan(span) => span.text(),
        other => repr(other),
    }
}

/// Python's `repr(value)`.
pub(crate) fn repr(value: &Datum) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Datum, out: &mut String) {
    if out.len() > LONGEST {
        return;
    }
    match value {
        Datum::Null => out.push_str("None"),
        Datum::Absent => out.push_str("<NoValue>"),
        Datum::Bool(true) => out.push_str("True"),
        Datum::Bool(false) => out.push_str("False"),
        Datum::Int(value) => out.push_str(&value.to_string()),
        Datum::Big(value) => out.push_str(&value.to_string()),
        Datum::Float(value) => out.push_str(&pycompat::float_text(*value)),
        Datum::Text(text) => out.push_str(&pycompat::repr_text(text)),
        Datum::List(list) if list.tuple && list.items.len() == 1 => {
            row(list.items.iter(), "(", ",)", out)
        }
        Datum::List(list) if list.tuple => row(list.items.iter(), "(", ")", out),
        Datum::List(list) => row(list.items.iter(), "[", "]", out),
        Datum::Map(map) => write_map(map, out),
        Datum::Set(set) if set.items.is_empty() => out.push_str("frozenset()"),
        Datum::Set(set) => row(
            set.items.iter().map(|key| &key.value),
            "frozenset({",
            "})",
            out,
        ),
        Datum::View(view, map) if map.frozen => {
            out.push_str(match view {
                View::Keys => "KeysView(",
                View::Values => "ValuesView(",
                View::Entries => "ItemsView(",
            });
            write_map(map, out);
            out.push(')');
        }
        Datum::View(View::Keys, map) => row(
            map.entries.keys().map(|key| &key.value),
            "dict_keys([",
            "])",
            out,
        ),
        Datum::View(View::Values, map) => row(map.entries.values(), "dict_values([", "])", out),
        Datum::View(View::Entries, map) => {
            out.push_str("dict_items([");
            for (at, (key, value)) in map.entries.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                row([&key.value, value].into_iter(), "(", ")", out);
            }
            out.push_str("])");
        }
        Datum::Regex(regex) => {
            out.push_str("re.compile(");
            out.push_str(&pycompat::repr_text(&regex.source));
            let flags = regex.flags;
            let names = [
                (flags.ignore_case, "re.IGNORECASE"),
                (flags.multi_line, "re.MULTILINE"),
                (flags.dot_all, "re.DOTALL"),
            ];
            for (at, (_, name)) in names.into_iter().filter(|(set, _)| *set).enumerate() {
                out.push_str(if at == 0 { ", " } else { "|" });
                out.push_str(name);
            }
            out.push(')');
        }
        Datum::Moment(moment) => out.push_str(&moment.repr()),
        Datum::Timespan(span) => out.push_str(&span.repr()),
        other => {
            out.push('<');
            out.push_str(other.type_name());
            out.push_str(" object>");
        }
    }
}

fn row<'a>(items: impl Iterator<Item = &'a Datum>, open: &str, close: &str, out: &mut String) {
    out.push_str(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
    out.push_str(close);
}

fn write_map(map: &DatumMap, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in map.entries.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        write(&key.value, out);
        out.push_str(": ");
        write(value, out);
    }
    out.push('}');
}
