//! What a drawing of a graph shows.

/// What is drawn.
pub struct Picture {
    /// What the drawing is of, for people.
    pub title: String,
    /// The elements in the order of the document.
    pub elements: Vec<Element>,
    /// Positions of elements, what is needed first.
    pub order: Vec<usize>,
}

/// One element.
pub struct Element {
    /// Its name, with the section where the name alone could be mistaken.
    pub name: String,
    /// What it is.
    pub kind: ElementKind,
    /// Its type, where it has one.
    pub ty: Option<String>,
    /// What it needs, and why.
    pub needs: Vec<(usize, &'static str)>,
}

/// What an element is.
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
    /// The word for it in machine output.
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
