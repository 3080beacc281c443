//! What a dialect is.

use blueprint::{Blueprint, Expansion, Expr, Packages, Wanted};
use diag::{Code, Diagnostics};
use expr::FunctionTable;

use crate::{Beside, Conventions, Document, Evaluating, Expanded, Expanding, Lowered, Setting, Shape, Surrounded};

/// A document language. Holds no state.
pub trait Dialect: Send + Sync {
    /// Its name: `blueprint`.
    fn name(&self) -> &'static str;

    /// Codes that only documents of this dialect cause, in lists.
    fn codes(&self) -> &'static [&'static [&'static Code]] {
        &[]
    }

    /// How sure the dialect is that the document is its own: 0 not at all, 100 certainly.
    fn recognise(&self, document: &Document<'_>) -> u8;

    /// Its sections and keys, as data.
    fn shape(&self) -> &'static Shape;

    /// Whether a text that is JSON is read as JSON, whatever its file is called.
    fn reads_json_first(&self) -> bool {
        false
    }

    /// What can be set for it.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// The functions of its own that its documents can call; none where these are the common ones.
    fn functions(&self) -> Vec<Explained> {
        Vec::new()
    }

    /// What files that are given along with a root, of whatever dialect, come to; none where the dialect has no such files.
    fn surround(&self, _root: &Document<'_>, _beside: &[Beside<'_>]) -> Option<Surrounded> {
        None
    }

    /// What it needs beyond the tree before it can lower it.
    fn wants(&self, document: &Document<'_>) -> Vec<Wanted>;

    /// The meaning of the document. Types are resolved with `packages`, the hosted packages at hand. Never fails: what cannot be
    /// understood is reported and left out.
    fn lower(&self, document: &Document<'_>, functions: &FunctionTable, packages: &Packages) -> Lowered;

    /// The document that a group of members is, in one of its places. Never fails: what is wrong is reported in the answer.
    fn expand(&self, _expansion: &Expansion, _place: &Expanding<'_>) -> Expanded {
        Expanded::default()
    }

    /// An [unsettled](Blueprint::unsettled) document in one of its places, where `value` says what an expression comes to; Unknown
    /// as far as that is not known before the deployment, and why it is in error unless that is said elsewhere. `complete`: what
    /// is not known now never will be in time.
    fn settle(
        &self,
        blueprint: &Blueprint,
        _complete: bool,
        _value: Evaluating<'_>,
        _found: &mut Diagnostics,
    ) -> Blueprint {
        blueprint.clone()
    }

    /// An expression that stands alone, read as one of a document that means this; none where `${..}` is the form of all.
    fn expression(&self, _typed: &Document<'_>, _of: &Blueprint) -> Option<(Expr, Diagnostics)> {
        None
    }

    /// How its values are made and fitted, where that is not the native dialect's way.
    fn conventions(&self) -> Option<&'static dyn Conventions> {
        None
    }
}

/// What a person reads of a function of a dialect.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Its name in a document.
    pub name: &'static str,
    /// What it does, in a paragraph of Markdown.
    pub docs: &'static str,
    /// In which versions of the language it can be called, and where, as a sentence.
    pub since: String,
    /// Calls, each with what it gives: a value in JSON, `! code` for an error, nothing where the call says enough.
    pub examples: Vec<(String, String)>,
}
