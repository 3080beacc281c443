//! A document's graph as text, in the languages of Graphviz and Mermaid, as a drawing (`svg`), and for machines.
//!
//! Arrows lead from an element to what it needs, in every form.
//!
//! Not here: how a graph comes from a document (`commands::graph`).

mod layout;
mod svg;

use serde_json::{Value as Json, json};

pub(crate) use svg::to_svg;

/// What is drawn.
pub(crate) struct Picture {
    /// What the drawing is of, for people.
    pub(crate) title: String,
    /// The elements in the order of the document.
    pub(crate) elements: Vec<Element>,
    /// Positions of elements, what is needed first.
    pub(crate) order: Vec<usize>,
}

/// One element.
pub(crate) struct Element {
    /// Its name, with the section where the name alone could be mistaken.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// Its type, where it has one.
    pub(crate) ty: Option<String>,
    /// What it needs, and why.
    pub(crate) needs: Vec<(usize, &'static str)>,
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A resource.
    Resource,
    /// A data source.
    DataSource,
    /// A named intermediate value.
    Value,
    /// A child document.
    Child,
    /// A link between two resources.
    Link,
}

impl Kind {
    /// The word for it in machine output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Resource => "resource",
            Kind::DataSource => "datasource",
            Kind::Value => "value",
            Kind::Child => "child",
            Kind::Link => "link",
        }
    }
}

/// The reason for an arrow that needs no words: everybody expects it.
const USUAL: &str = "reads";

/// One line for each element, what is needed first, and what it needs below it.
pub(crate) fn to_text(picture: &Picture) -> String {
    let mut text = String::new();
    for element in picture.order.iter().map(|at| &picture.elements[*at]) {
        let ty = element.ty.as_ref().map(|ty| format!(" ({ty})")).unwrap_or_default();
        text.push_str(&format!("{}{ty}\n", element.name));
        for (to, why) in &element.needs {
            text.push_str(&format!("  {} {}\n", why.replace('-', " "), picture.elements[*to].name));
        }
    }
    text
}

/// The language of Graphviz.
pub(crate) fn to_dot(picture: &Picture) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("digraph blueprint {\n  rankdir=LR;\n  node [shape=box];\n");
    for element in &picture.elements {
        let label = element.ty.as_ref().map_or_else(|| element.name.clone(), |ty| format!("{}\n{ty}", element.name));
        let shape = match element.kind {
            Kind::Resource => "",
            Kind::Value => ", shape=ellipse",
            Kind::DataSource => ", style=rounded",
            Kind::Child => ", peripheries=2",
            Kind::Link => ", shape=cds",
        };
        text.push_str(&format!(
            "  {} [label={}{shape}];\n",
            quoted(&element.name),
            quoted(&label).replace('\n', "\\n")
        ));
    }
    for element in &picture.elements {
        for (to, why) in &element.needs {
            let style = if *why == USUAL { String::new() } else { format!(" [style=dashed, label={}]", quoted(why)) };
            let (from, to) = (quoted(&element.name), quoted(&picture.elements[*to].name));
            text.push_str(&format!("  {from} -> {to}{style};\n"));
        }
    }
    text.push_str("}\n");
    text
}

/// The language of Mermaid, as wikis and code hosts draw it.
pub(crate) fn to_mermaid(picture: &Picture) -> String {
    let mut text = String::from("flowchart LR\n");
    for (at, element) in picture.elements.iter().enumerate() {
        let mut label = escaped_for_mermaid(&element.name);
        if let Some(ty) = &element.ty {
            label.push_str(&format!("<br/><small>{}</small>", escaped_for_mermaid(ty)));
        }
        let (open, close) = match element.kind {
            Kind::Resource => ("[", "]"),
            Kind::DataSource => ("[(", ")]"),
            Kind::Value => ("([", "])"),
            Kind::Child => ("[[", "]]"),
            Kind::Link => ("{{", "}}"),
        };
        text.push_str(&format!("  n{at}{open}\"{label}\"{close}\n"));
    }
    for (at, element) in picture.elements.iter().enumerate() {
        for (to, why) in &element.needs {
            let arrow = if *why == USUAL { "-->".to_owned() } else { format!("-.->|{}|", why.replace('-', " ")) };
            text.push_str(&format!("  n{at} {arrow} n{to}\n"));
        }
    }
    text
}

/// Everything but letters, digits and a few harmless signs by its number, for Mermaid reads signs and HTML in labels.
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

/// For machines.
pub(crate) fn to_json(picture: &Picture) -> Json {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, kind: Kind, ty: Option<&str>, needs: &[(usize, &'static str)]) -> Element {
        Element { name: name.to_owned(), kind, ty: ty.map(str::to_owned), needs: needs.to_vec() }
    }

    fn picture() -> Picture {
        let elements = vec![
            element("values.size", Kind::Value, None, &[]),
            element("a \"b\"<c>", Kind::Resource, Some("test/data"), &[(0, "reads"), (2, "depends-on")]),
            element("datasources.net", Kind::DataSource, Some("test/net"), &[]),
        ];
        Picture { title: "sample".to_owned(), elements, order: vec![0, 2, 1] }
    }

    #[test]
    fn names_are_harmless_in_every_language() {
        let mermaid = to_mermaid(&picture());
        assert!(mermaid.contains("n1[\"a #34;b#34;#60;c#62;<br/><small>test/data</small>\"]"), "{mermaid}");
        assert!(mermaid.contains("  n1 --> n0\n  n1 -.->|depends on| n2\n"), "{mermaid}");
        assert!(to_dot(&picture()).contains(r#""a \"b\"<c>" -> "values.size";"#));
        let svg = to_svg(&picture());
        assert!(svg.contains("a &quot;b&quot;&lt;c&gt;") && !svg.contains("<c>"), "{svg}");
    }

    #[test]
    fn a_drawing_says_what_its_lines_mean() {
        let svg = to_svg(&picture());
        assert!(svg.contains(">reads</text>") && svg.contains(">depends on</text>"), "{svg}");
        assert!(!svg.contains(">condition</text>"), "what does not occur needs no word");
        assert!(svg.contains("prefers-color-scheme: dark"));
        assert_eq!(svg, to_svg(&picture()));
        let empty = Picture { title: "empty".to_owned(), elements: Vec::new(), order: Vec::new() };
        assert!(to_svg(&empty).ends_with("</svg>\n"));
    }
}
