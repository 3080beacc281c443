//! The contract of a dialect.

use blueprint::{Blueprint, Expr, Packages, Value};
use diag::{Code, Diagnostics};
use expr::FunctionTable;

use crate::{
    Companion, DialectRules, DialectSetting, DialectSettings, Document, Explained, LoadedCompanions, Lowered, Shape,
    Wanted,
};

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

    /// What the dialect needs besides the text to lower the document. It is called again with the answers, until they
    /// contain everything that it wants.
    fn wants(&self, _document: &Document<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    /// The meaning of the document. Types are resolved with `packages`, the available hosted packages. Never fails:
    /// parts that cannot be understood are reported and left out. The document's answers contain everything that the
    /// dialect wanted, as a value or as the reason why there is none.
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
    fn settings(&self) -> &'static [DialectSetting] {
        &[]
    }

    /// Adds the functions of its own that its documents can call, as they are set, to the table of all.
    fn insert_functions(&self, _table: &mut FunctionTable, _settings: &DialectSettings) {}

    /// Descriptions of the functions of its own; none where its documents call the common ones.
    fn functions(&self) -> Vec<Explained> {
        Vec::new()
    }

    /// Reads the companion files of a root, whatever its dialect; none if the dialect has no such files.
    fn surround(&self, _root: &Document<'_>, _beside: &[Companion<'_>]) -> Option<LoadedCompanions> {
        None
    }

    /// Parses a single expression in the context of a document with this blueprint; `None` if the dialect uses the form
    /// `${..}`.
    fn expression(&self, _typed: &Document<'_>, _of: &Blueprint) -> Option<(Expr, Diagnostics)> {
        None
    }

    /// A text as data, read as documents of this dialect are; none where it is no map, or the dialect reads no such
    /// texts.
    fn data(&self, _text: &str) -> Option<Value> {
        None
    }
}
