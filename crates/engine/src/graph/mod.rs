//! The graph of a document, as text, DOT, Mermaid, SVG and JSON.
//!
//! In every format, arrows lead from an element to its dependencies.

mod forms;
mod layout;
mod of_documents;
mod picture;
mod svg;

pub use forms::{to_dot, to_json, to_mermaid, to_text};
pub use of_documents::picture;
pub use picture::{Element, ElementKind, Picture};
pub use svg::to_svg;
