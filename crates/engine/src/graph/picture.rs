//! The content of a drawing of a graph, independent of its format.

/// The content of a drawing.
pub struct Picture {
    /// The title of the drawing.
    pub title: String,
    /// The elements in the order of the document.
    pub elements: Vec<Element>,
    /// Positions of elements, dependencies first.
    pub order: Vec<usize>,
}

/// An element of the graph.
pub struct Element {
    /// Its name, with its section if the name alone is ambiguous.
    pub name: String,
    /// Its kind.
    pub kind: ElementKind,
    /// Its type, if it has one.
    pub ty: Option<String>,
    /// Its dependencies, as positions in `elements`, each with its kind.
    pub needs: Vec<(usize, &'static str)>,
}

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementKind {
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

impl ElementKind {
    /// The name of the kind in machine output.
    pub fn word(self) -> &'static str {
        match self {
            ElementKind::Resource => "resource",
            ElementKind::DataSource => "datasource",
            ElementKind::Value => "value",
            ElementKind::Child => "child",
            ElementKind::Link => "link",
        }
    }
}
