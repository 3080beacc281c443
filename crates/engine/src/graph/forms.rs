//! Prints a graph as text, DOT, Mermaid and JSON.

use serde_json::{Value as Json, json};

use super::picture::{ElementKind, Picture};

/// The most common kind of dependency. DOT and Mermaid draw it as a solid arrow without a label.
const COMMON_REASON: &str = "reads";

/// Prints one line for each element, followed by its dependencies. Dependencies come before their
/// dependents.
pub fn to_text(picture: &Picture) -> String {
    let mut text = String::new();
    for element in picture.order.iter().map(|at| &picture.elements[*at]) {
        let ty = element
            .ty
            .as_ref()
            .map(|ty| format!(" ({ty})"))
            .unwrap_or_default();
        text.push_str(&format!("{}{ty}\n", element.name));
        for (to, why) in &element.needs {
            text.push_str(&format!(
                "  {} {}\n",
                why.replace('-', " "),
                picture.elements[*to].name
            ));
        }
    }
    text
}

/// The graph in the language of Graphviz.
pub fn to_dot(picture: &Picture) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph blueprint {\n  rankdir=LR;\n  node [shape=box];\n");
    for element in &picture.elements {
        let label = element.ty.as_ref().map_or_else(
            || element.name.clone(),
            |ty| format!("{}\n{ty}", element.name),
        );
        let shape = match element.kind {
            ElementKind::Resource => "",
            ElementKind::Value => ", shape=ellipse",
            ElementKind::DataSource => ", style=rounded",
            ElementKind::Child => ", peripheries=2",
            ElementKind::Link => ", shape=cds",
        };
        // Line breaks are escaped last, because `quoted` doubles backslashes.
        let label = quoted(&label).replace('\n', "\\n");
        let name = quoted(&element.name);
        text.push_str(&format!("  {name} [label={label}{shape}];\n"));
    }
    for element in &picture.elements {
        for (to, why) in &element.needs {
            let style = if *why == COMMON_REASON {
                String::new()
            } else {
                format!(" [style=dashed, label={}]", quoted(why))
            };
            let from = quoted(&element.name);
            let to = quoted(&picture.elements[*to].name);
            text.push_str(&format!("  {from} -> {to}{style};\n"));
        }
    }
    text.push_str("}\n");
    text
}

/// The graph in the language of Mermaid.
pub fn to_mermaid(picture: &Picture) -> String {
    let mut text = String::from("flowchart LR\n");
    for (at, element) in picture.elements.iter().enumerate() {
        let mut label = escaped_for_mermaid(&element.name);
        if let Some(ty) = &element.ty {
            label.push_str(&format!("<br/><small>{}</small>", escaped_for_mermaid(ty)));
        }
        let (open, close) = match element.kind {
            ElementKind::Resource => ("[", "]"),
            ElementKind::DataSource => ("[(", ")]"),
            ElementKind::Value => ("([", "])"),
            ElementKind::Child => ("[[", "]]"),
            ElementKind::Link => ("{{", "}}"),
        };
        text.push_str(&format!("  n{at}{open}\"{label}\"{close}\n"));
    }
    for (at, element) in picture.elements.iter().enumerate() {
        for (to, why) in &element.needs {
            let arrow = if *why == COMMON_REASON {
                "-->".to_owned()
            } else {
                format!("-.->|{}|", why.replace('-', " "))
            };
            text.push_str(&format!("  n{at} {arrow} n{to}\n"));
        }
    }
    text
}

/// Escapes a label for Mermaid, which interprets HTML and special characters. Only letters, digits
/// and a few harmless characters stay as they are.
fn escaped_for_mermaid(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '.' | '/' | '-' | '_' | ' ' | ':' => escaped.push(character),
            other if other.is_alphanumeric() => escaped.push(other),
            other => escaped.push_str(&format!("#{};", u32::from(other))),
        }
    }
    escaped
}

/// The graph as JSON.
pub fn to_json(picture: &Picture) -> Json {
    let nodes: Vec<Json> = picture
        .elements
        .iter()
        .map(|element| {
            let needs: Vec<Json> =
                element.needs.iter().map(|(to, why)| json!({"name": picture.elements[*to].name, "why": why})).collect();
            json!({"name": element.name, "kind": element.kind.word(), "type": element.ty, "needs": needs})
        })
        .collect();
    json!({"nodes": nodes})
}

/// Tests of all formats, including SVG: they share a picture.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::picture::Element;
    use crate::graph::svg::to_svg;

    fn element(
        name: &str,
        kind: ElementKind,
        ty: Option<&str>,
        needs: &[(usize, &'static str)],
    ) -> Element {
        Element {
            name: name.to_owned(),
            kind,
            ty: ty.map(str::to_owned),
            needs: needs.to_vec(),
        }
    }

    fn picture() -> Picture {
        let elements = vec![
            element("values.size", ElementKind::Value, None, &[]),
            element(
                "a \"b\"<c>",
                ElementKind::Resource,
                Some("test/data"),
                &[(0, "reads"), (2, "depends-on")],
            ),
            element(
                "datasources.net",
                ElementKind::DataSource,
                Some("test/net"),
                &[],
            ),
        ];
        Picture {
            title: "sample".to_owned(),
            elements,
            order: vec![0, 2, 1],
        }
    }

    #[test]
    fn names_are_escaped_in_every_format() {
        let mermaid = to_mermaid(&picture());
        assert!(
            mermaid.contains("n1[\"a #34;b#34;#60;c#62;<br/><small>test/data</small>\"]"),
            "{mermaid}"
        );
        assert!(
            mermaid.contains("  n1 --> n0\n  n1 -.->|depends on| n2\n"),
            "{mermaid}"
        );
        assert!(to_dot(&picture()).contains(r#""a \"b\"<c>" -> "values.size";"#));
        let svg = to_svg(&picture());
        assert!(
            svg.contains("a &quot;b&quot;&lt;c&gt;") && !svg.contains("<c>"),
            "{svg}"
        );
    }

    #[test]
    fn svg_has_a_legend_of_its_arrows() {
        let svg = to_svg(&picture());
        assert!(
            svg.contains(">reads</text>") && svg.contains(">depends on</text>"),
            "{svg}"
        );
        assert!(
            !svg.contains(">condition</text>"),
            "what does not occur needs no word"
        );
        assert!(svg.contains("prefers-color-scheme: dark"));
        assert_eq!(
            svg,
            to_svg(&picture()),
            "the same picture gives the same text"
        );
        let empty = Picture {
            title: "empty".to_owned(),
            elements: Vec::new(),
            order: Vec::new(),
        };
        assert!(to_svg(&empty).ends_with("</svg>\n"));
    }
}
