//! How a dialect makes values where dialects differ: of inputs, and of what resources are given.

use blueprint::{Blueprint, Child, Expr, Input, Name, Ref, Schema, Value};
use diag::{Code, Diagnostic, Diagnostics, Span, Spanned, Words};

use crate::{Mistake, Part, Place};

use crate::Limits;

/// Something that is given for an input from outside.
pub enum Given<'a> {
    /// A value of its own kind.
    Typed(&'a Value),
    /// Text, which the input's type says how to read.
    Text(&'a str),
}

/// Where a spec came from.
#[derive(Clone, Copy)]
pub struct SpecAt<'a> {
    /// The expression that it is the value of.
    pub expr: &'a Expr,
    /// Where something is reported that is missing in it.
    pub holder: Span,
    /// The resource's name.
    pub resource: &'a str,
    /// Whether it is the spec, or how updates are carried out.
    pub part: Part,
}

/// How a dialect makes values, where that is not the native dialect's way.
pub trait Conventions: Send + Sync {
    /// The value of an input of the root. None: it is in error, which was reported.
    fn input(&self, name: &Name, input: &Input, given: Option<Given<'_>>, found: &mut Diagnostics) -> Option<Value>;

    /// The value of an input of a child, from what its parent hands it; `place` is where that is written. None: it is in
    /// error, which was reported.
    fn handed(
        &self,
        name: &Name,
        input: &Input,
        given: Option<&Value>,
        place: Span,
        found: &mut Diagnostics,
    ) -> Option<Value>;

    /// The spec that a provider is given, from the evaluated one: converted, with defaults. Unknown parts stay as they are. A
    /// part in error is kept as it is, and reported.
    fn spec(&self, value: &Value, at: SpecAt<'_>, schema: &Schema, found: &mut Diagnostics) -> Value;

    /// What is wrong with a document of this dialect in the place of a type: with that schema and these attributes.
    fn stands_for(
        &self,
        document: &Blueprint,
        type_name: &Spanned<Name>,
        schema: &Schema,
        attributes: &[Name],
        found: &mut Diagnostics,
    );

    /// Adds to a document in another dialect, which one in this dialect includes, what is read of a child here beside its
    /// exports. Doing it again adds nothing.
    fn reads_of(&self, child: &mut Blueprint);

    /// How deep documents may be nested, unless somebody has set it: what the root includes stands at level 1.
    fn most_levels(&self) -> u32;

    /// What is to be said of a root that has so many resources together with all documents below it; `place` is where.
    fn size(&self, resources: usize, limits: &Limits, place: Span) -> Option<Diagnostic>;

    /// Whether an input may not change once the instance exists.
    fn is_immutable(&self, name: &Name, input: &Input) -> bool;

    /// What is wrong with a name for an instance of a document that stands there, if anything is.
    fn instance(&self, name: &str, document: Option<Span>) -> Option<Diagnostic>;

    /// What the tool whose documents these are says of a mistake, where it says anything.
    fn words(&self, mistake: &Mistake<'_>) -> Option<Words>;

    /// Completes what that tool says of a mistake that was found while the value of an expression was made there.
    fn placed(&self, found: &mut Diagnostic, at: &Place<'_>);

    /// Completes what it says of a mistake in the document of a child, where that is included; `nearest` for the include that
    /// the document itself is, and not one above it.
    fn below(&self, found: &mut Diagnostic, name: &str, child: &Child, nearest: bool);

    /// Whether an input is handed to children without being one of those that their documents declare.
    fn is_handed_unasked(&self, input: &str) -> bool;

    /// The fields of a resource as the tool shows them, where that is another value than is given to the provider.
    fn shown(&self, _type_name: &str, given: &Value) -> Value {
        given.clone()
    }

    /// What is handed to a child for an input, as the tool shows it; none where it shows what the input comes to.
    fn shown_input(&self, _input: &Input, written: &Value) -> Option<Value> {
        let keeps = written.as_list().is_some() || written.as_map().is_some();
        keeps.then(|| written.clone())
    }

    /// A text as data, read as documents of this dialect are; none where it is no map.
    fn data(&self, text: &str) -> Option<Value>;

    /// What the tool whose documents these are calls the document to which these children lead: its name and its identifier.
    fn called(&self, instance: &str, path: &[Name]) -> (String, String);

    /// What it is called to refer to something that is declared, but not there.
    fn absent(&self) -> &'static Code;

    /// Whether a reference reads an attribute of what it refers to, and not only what others know that by.
    fn reads_attribute(&self, reference: &Ref) -> bool;

    /// Whether a child counts as one thing: who reads any of it waits for all of it, and all of it waits for what it is given.
    fn children_are_whole(&self) -> bool;

    /// What is wrong with what is said of the removal of a thing, in a document of that version; none if it may be said.
    fn removal(&self, said: &Value, version: &str) -> Option<Diagnostic>;
}
