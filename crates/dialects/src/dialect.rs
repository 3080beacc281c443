//! What a dialect is.

use blueprint::{Blueprint, Wanted};
use diag::{Diagnostics, FileId};
use expr::FunctionTable;
use syntax::Tree;

/// A text that was read as a tree.
pub struct Document<'a> {
    /// Its file.
    pub file: FileId,
    /// Its name: the last part of its path, by which some dialects are recognised.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its tree.
    pub tree: &'a Tree,
}

/// A blueprint, and everything that is wrong with the document it came from.
pub struct Lowered {
    /// The meaning of what could be understood.
    pub blueprint: Blueprint,
    /// What is wrong, in document order.
    pub diagnostics: Diagnostics,
}

/// A document language. Holds no state.
pub trait Dialect: Send + Sync {
    /// Its name: `blueprint`.
    fn name(&self) -> &'static str;

    /// How sure the dialect is that the document is its own: 0 not at all, 100 certainly.
    fn recognise(&self, document: &Document<'_>) -> u8;

    /// Its sections and keys, as data.
    fn shape(&self) -> &'static Shape;

    /// What it needs beyond the tree before it can lower it.
    fn wants(&self, document: &Document<'_>) -> Vec<Wanted>;

    /// The meaning of the document. Never fails: what cannot be understood is reported and left out.
    fn lower(&self, document: &Document<'_>, functions: &FunctionTable) -> Lowered;
}

/// A dialect's sections and keys as data: drives unknown-key errors, completion, schemas, the reference page.
pub struct Shape {
    /// The sections of the document's top level, by name.
    pub sections: &'static [Section],
}

/// A mapping with fixed keys: the top level, or a definition in a section.
pub struct Section {
    /// Its name for people: `resource`, `data source`.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// One key of a section.
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// Must be there.
    pub required: bool,
    /// One sentence for people.
    pub docs: &'static str,
    /// The section that its value is, or whose definitions its entries are; empty if it is a plain value.
    pub section: &'static str,
}

/// All dialects, in the order in which they are asked.
pub fn dialects() -> &'static [&'static dyn Dialect] {
    &[&crate::blueprint::BlueprintDialect]
}

/// The dialect that recognises a document best; `None` if none does.
pub fn dialect_of(document: &Document<'_>) -> Option<&'static dyn Dialect> {
    let best = dialects().iter().map(|dialect| (dialect.recognise(document), *dialect)).rev().max_by_key(|(sure, _)| *sure);
    best.filter(|(sure, _)| *sure > 0).map(|(_, dialect)| dialect)
}
