//! The contract of a dialect.

use blueprint::{Blueprint, Expr, Packages, Value};
use diag::{Code, Diagnostics};
use expr::FunctionTable;

use crate::{Beside, DialectRules, DialectSettings, Document, Explained, Lowered, Setting, Shape, Surrounded, Wanted};

/// A document language. Holds no state.
///
/// A dialect must recognise a document, lower it and describe its shape; everything else has a native default.
pub trait Dialect: Send + Sync {
    /// Its name: `blueprint`.
    fn name(&self) -> &'static str;

    /// How sure the dialect is that the document is its own: 0 not at all, 100 certainly.
    fn recognise(&self, document: &Document<'_>) -> u8;

    /// Its sections and keys, as data.
    fn shape(&self) -> &'static Shape;

    /// What it needs besides the text before it can lower it. It is asked again once that is answered, until everything
    /// that it wants is among the document's answers.
    fn wants(&self, _document: &Document<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    /// The meaning of the document. Types are resolved with `packages`, the hosted packages at hand. Never fails: what
    /// cannot be understood is reported and left out. What the dialect wanted is among the document's answers, as a
    /// value or as the reason why there is none.
    fn lower(&self, document: &Document<'_>, functions: &FunctionTable, packages: &Packages) -> Lowered;

    /// How its values are made, checked, named and reported.
    fn rules(&self) -> DialectRules {
        DialectRules::NATIVE
    }

    /// Codes that only documents of this dialect cause, in lists.
    fn codes(&self) -> &'static [&'static [&'static Code]] {
        &[]
    }

    /// Whether a text that is JSON is read as JSON, whatever its file is called.
    fn reads_json_first(&self) -> bool {
        false
    }

    /// Its settings.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Adds the functions of its own that its documents can call, as they are set, to the table of all.
    fn insert_functions(&self, _table: &mut FunctionTable, _settings: &DialectSettings) {}

    /// Descriptions of the functions of its own; none where its documents call the common ones.
    fn functions(&self) -> Vec<Explained> {
        Vec::new()
    }

    /// Reads the companion files of a root, whatever its dialect; none if the dialect has no such files.
    fn surround(&self, _root: &Document<'_>, _beside: &[Beside<'_>]) -> Option<Surrounded> {
        None
    }

    /// An expression that stands alone, read as one of a document that means this; none where `${..}` is the form of
    /// all.
    fn expression(&self, _typed: &Document<'_>, _of: &Blueprint) -> Option<(Expr, Diagnostics)> {
        None
    }

    /// A text as data, read as documents of this dialect are; none where it is no map, or the dialect reads no such
    /// texts.
    fn data(&self, _text: &str) -> Option<Value> {
        None
    }
}
