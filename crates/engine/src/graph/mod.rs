//! The graph of a document: as text, in the languages of Graphviz and Mermaid, as an SVG drawing, and for machines.
//!
//! Arrows lead from an element to what it needs, in every form.

mod forms;
mod layout;
mod of_documents;
mod picture;
mod svg;

pub use forms::{to_dot, to_json, to_mermaid, to_text};
pub use of_documents::picture;
pub use picture::{Element, ElementKind, Picture};
pub use svg::to_svg;
