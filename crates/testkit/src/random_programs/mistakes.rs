//! Mistakes, one in a program.

use super::draft::Draft;
use super::node::YamlPart;

/// Makes the program wrong in one place.
pub(super) fn plant(draft: &mut Draft) {
    let list = |items: &[&str]| {
        YamlPart::List(
            items
                .iter()
                .map(|item| YamlPart::Raw((*item).to_owned()))
                .collect(),
        )
    };
    let expressions = [
        YamlPart::text("${missing}"),
        YamlPart::text("a ${missing.field} b"),
        YamlPart::text("${pulumi.nothing}"),
        YamlPart::text("${unclosed"),
        YamlPart::text("${}"),
        YamlPart::text("${broken[}"),
        YamlPart::one("fn::select", list(&["5", "[a, b]"])),
        YamlPart::one("fn::select", list(&["-1", "[a, b]"])),
        YamlPart::one("fn::select", list(&["0.5", "[a, b]"])),
        YamlPart::one("fn::select", list(&["0"])),
        YamlPart::one("fn::join", list(&["','", "text"])),
        YamlPart::one("fn::join", list(&["','"])),
        YamlPart::one("fn::join", YamlPart::Raw("text".to_owned())),
        YamlPart::one("fn::split", list(&["','", "[a]"])),
        YamlPart::one("fn::fromBase64", YamlPart::text("%%%")),
        YamlPart::one("fn::fromBase64", YamlPart::text("/w==")),
        YamlPart::one("fn::toBase64", list(&["a"])),
        YamlPart::one("fn::sha1", list(&["a"])),
        YamlPart::one("fn::length", YamlPart::Raw("7".to_owned())),
        YamlPart::one("fn::singleOrNone", list(&["a", "b"])),
        YamlPart::one("fn::fileAsset", list(&["a"])),
        YamlPart::one("fn::filebase64", YamlPart::text("./absent.txt")),
        YamlPart::one(
            "fn::invoke",
            YamlPart::one("function", YamlPart::text("peer:absent")),
        ),
        YamlPart::one("fn::peer:index:absent", YamlPart::Map(Vec::new())),
        YamlPart::one("fn::pulumiResourceName", YamlPart::text("text")),
    ];
    let entry = |entries: &[(&str, &str)]| {
        let entries = entries.iter();
        YamlPart::Map(
            entries
                .map(|(key, text)| ((*key).to_owned(), YamlPart::Raw((*text).to_owned())))
                .collect(),
        )
    };
    let resources = [
        entry(&[("type", "peer:Absent")]),
        entry(&[("type", "absent:Thing")]),
        entry(&[("properties", "{text: a}")]),
        entry(&[("type", "peer:Thing")]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a, absent: b}"),
        ]),
        entry(&[("type", "peer:Thing"), ("properties", "{text: [a]}")]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a, count: many}"),
        ]),
        entry(&[("type", "peer:Thing"), ("properties", "{text: a, list: b}")]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a, map: [b]}"),
        ]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a, color: green}"),
        ]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a, details: {absent: b}}"),
        ]),
        entry(&[
            ("type", "peer:Thing"),
            ("properties", "{text: a}"),
            ("absent", "b"),
        ]),
        entry(&[("type", "peer:Other"), ("options", "{absent: true}")]),
        entry(&[("type", "peer:Other"), ("options", "{protect: [a]}")]),
        entry(&[
            ("type", "peer:Other"),
            ("options", "{dependsOn: [\"${wrong}\"]}"),
        ]),
        entry(&[("type", "peer:Other"), ("options", "{parent: text}")]),
        entry(&[
            ("type", "peer:Other"),
            ("properties", "{value: \"${wrong.late}\"}"),
        ]),
    ];
    match draft.below(5) {
        0 | 1 => {
            let node = expressions[draft.below(expressions.len())].clone();
            draft.outputs.push(("wrong".to_owned(), node));
        }
        2 => {
            let node = expressions[draft.below(expressions.len())].clone();
            draft.variables.push(("wrong".to_owned(), node));
        }
        3 => {
            let node = resources[draft.below(resources.len())].clone();
            draft.resources.push(("wrong".to_owned(), node));
        }
        _ => match draft.below(5) {
            0 => draft
                .variables
                .push(("wrong".to_owned(), YamlPart::text("${wrong}"))),
            1 => draft.configuration.push((
                "wrong".to_owned(),
                YamlPart::one("type", YamlPart::text("string")),
            )),
            2 => draft.configuration.push((
                "wrong".to_owned(),
                YamlPart::one("type", YamlPart::text("absent")),
            )),
            3 => {
                let first = draft.variables.first().cloned();
                draft.variables.extend(first);
            }
            _ => {
                let name = draft.variables.first().map(|(name, _)| name.clone());
                let node = entry(&[("type", "peer:Other")]);
                draft.resources.extend(name.map(|name| (name, node)));
            }
        },
    }
}
