//! Mistakes, one in a program.

use super::Draft;
use super::node::Node;

/// Makes the program wrong in one place.
pub(super) fn plant(draft: &mut Draft) {
    let list = |items: &[&str]| {
        Node::List(
            items
                .iter()
                .map(|item| Node::Raw((*item).to_owned()))
                .collect(),
        )
    };
    let expressions = [
        Node::text("${missing}"),
        Node::text("a ${missing.field} b"),
        Node::text("${pulumi.nothing}"),
        Node::text("${unclosed"),
        Node::text("${}"),
        Node::text("${broken[}"),
        Node::one("fn::select", list(&["5", "[a, b]"])),
        Node::one("fn::select", list(&["-1", "[a, b]"])),
        Node::one("fn::select", list(&["0.5", "[a, b]"])),
        Node::one("fn::select", list(&["0"])),
        Node::one("fn::join", list(&["','", "text"])),
        Node::one("fn::join", list(&["','"])),
        Node::one("fn::join", Node::Raw("text".to_owned())),
        Node::one("fn::split", list(&["','", "[a]"])),
        Node::one("fn::fromBase64", Node::text("%%%")),
        Node::one("fn::fromBase64", Node::text("/w==")),
        Node::one("fn::toBase64", list(&["a"])),
        Node::one("fn::sha1", list(&["a"])),
        Node::one("fn::length", Node::Raw("7".to_owned())),
        Node::one("fn::singleOrNone", list(&["a", "b"])),
        Node::one("fn::fileAsset", list(&["a"])),
        Node::one("fn::filebase64", Node::text("./absent.txt")),
        Node::one(
            "fn::invoke",
            Node::one("function", Node::text("peer:absent")),
        ),
        Node::one("fn::peer:index:absent", Node::Map(Vec::new())),
        Node::one("fn::pulumiResourceName", Node::text("text")),
    ];
    let entry = |entries: &[(&str, &str)]| {
        let entries = entries.iter();
        Node::Map(
            entries
                .map(|(key, text)| ((*key).to_owned(), Node::Raw((*text).to_owned())))
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
                .push(("wrong".to_owned(), Node::text("${wrong}"))),
            1 => draft
                .configuration
                .push(("wrong".to_owned(), Node::one("type", Node::text("string")))),
            2 => draft
                .configuration
                .push(("wrong".to_owned(), Node::one("type", Node::text("absent")))),
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
