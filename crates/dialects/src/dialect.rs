//! What a dialect is.

use blueprint::{Blueprint, Expansion, Expr, Name, Packages, Value, Wanted};
use diag::{Code, Diagnostics, FileId};

use crate::{Beside, Conventions, Setting, Surrounded, Surroundings};
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
    /// What it stands in.
    pub around: &'a Surroundings,
}

/// A blueprint, and everything that is wrong with the document it came from.
pub struct Lowered {
    /// The meaning of what could be understood.
    pub blueprint: Blueprint,
    /// What is wrong, in document order.
    pub diagnostics: Diagnostics,
}

/// An entry in the memory of a group that is forgotten once the operation that wrote it has ended well.
pub const UNFINISHED: &str = "unfinished";

/// Where a group of members is written out.
pub struct Expanding<'a> {
    /// What an expression of the document above comes to; Unknown as far as that is not known before the deployment.
    pub value: &'a dyn Fn(&Expr) -> Value,
    /// All inputs are given: what is not known now never will be in time.
    pub complete: bool,
    /// What was remembered of the group when it was last written out; null the first time.
    pub memory: &'a Value,
    /// What the state remembers of it, which is something else where a plan is kept or an earlier generation comes back; null
    /// if nothing. Its entry [`UNFINISHED`] is there as long as the operation that wrote it has not ended well.
    pub before: &'a Value,
    /// The name of the member that has an id, in the state.
    pub named: &'a dyn Fn(&str) -> Option<Name>,
    /// The children above its members, itself included.
    pub path: &'a [Name],
    /// What it stands in.
    pub around: &'a Surroundings,
}

/// A group of members written out.
#[derive(Default)]
pub struct Expanded {
    /// The document that it is.
    pub blueprint: Blueprint,
    /// The text of that document instead, where it is one.
    pub text: Option<Name>,
    /// It is not known yet what it is: nothing is written out.
    pub is_open: bool,
    /// What is to be remembered of it: data.
    pub memory: Value,
    /// What is wrong with its definition.
    pub diagnostics: Diagnostics,
    /// A document that its members would be, if it had any: its inputs are read all the same, where it can be read.
    pub sample: Option<diag::Spanned<Name>>,
}

/// What an expression comes to: Unknown as far as that is not known yet; or why it is in error, unless that is said elsewhere.
pub type Evaluating<'v> = &'v dyn Fn(&Expr) -> Result<Value, Option<Box<diag::Diagnostic>>>;

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

/// A dialect's sections and keys as data: drives unknown-key errors, completion, schemas, the reference page.
pub struct Shape {
    /// The document's top level first, then the sections that its keys lead to.
    pub sections: &'static [&'static Section],
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
    /// Whether its entries are definitions of the section, under names of the document's own.
    pub definitions: bool,
    /// The only values that it may have, or, where it names a provider's thing too, those of the language itself; empty
    /// if that is open.
    pub values: &'static [&'static str],
    /// What of a provider's it names or holds.
    pub offer: Offer,
    /// What its value may be written as.
    pub form: Form,
    /// Whether its value, or the values in it, may hold substitutions.
    pub substitutions: bool,
    /// The version of the language that brought it; empty if every version has it.
    pub since: &'static str,
    /// What its value is made of, beyond its form; for schemas.
    pub detail: Detail,
}

/// What the value of a key is made of, beyond what it may be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing more is known.
    Nothing,
    /// True or false, without quotes.
    Boolean,
    /// A text that is not empty.
    Filled,
    /// One substitution and nothing else.
    Substitution,
    /// A text without substitutions, or a list of them.
    Texts,
    /// A map from names to texts, without substitutions.
    FixedTexts,
    /// A map from names to scalars.
    Scalars,
    /// A scalar or a list of scalars.
    ScalarList,
    /// A literal of the type that the key `type` beside it names.
    Literal,
    /// A list of such literals.
    Literals,
    /// A value of the type that the key `type` beside it names, or a text that gives one.
    Typed,
    /// The path of a reference, without `${`.
    Path,
    /// The only key of its section that is written.
    Alone,
}

/// What of a provider's a key has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Nothing,
    /// It names a resource type.
    ResourceType,
    /// It names a data source type.
    DataSourceType,
    /// It names a type of variables.
    VariableType,
    /// It holds the fields of the resource type that its neighbour names.
    Spec,
    /// It holds filters on fields of the data source type that its neighbour names.
    Filter,
}

/// What the value of a key may be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A scalar that is text.
    Text,
    /// A scalar of a kind that something else says.
    Scalar,
    /// A map.
    Map,
    /// A list.
    List,
    /// A scalar or a list of them.
    ScalarOrList,
    /// A scalar or a map.
    ScalarOrMap,
    /// A map or a list of maps.
    MapOrList,
    /// Anything.
    Any,
}

impl Form {
    /// What is needed, for messages: `text`, `a list`.
    pub fn words(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Scalar => "a single value",
            Form::Map => "a map",
            Form::List => "a list",
            Form::ScalarOrList => "a single value or a list",
            Form::ScalarOrMap => "a single value or a map",
            Form::MapOrList => "a map or a list",
            Form::Any => "anything",
        }
    }

    /// Whether a scalar, a list, a map may stand there.
    pub fn takes(self, scalar: bool, list: bool, map: bool) -> bool {
        match self {
            Form::Text | Form::Scalar => scalar,
            Form::Map => map,
            Form::List => list,
            Form::ScalarOrList => scalar || list,
            Form::ScalarOrMap => scalar || map,
            Form::MapOrList => map || list,
            Form::Any => true,
        }
    }
}

impl Key {
    /// An optional key of every version, without substitutions.
    pub const fn new(name: &'static str, form: Form, docs: &'static str) -> Key {
        Key {
            name,
            required: false,
            docs,
            section: "",
            definitions: false,
            values: &[],
            offer: Offer::Nothing,
            form,
            substitutions: false,
            since: "",
            detail: Detail::Nothing,
        }
    }

    /// The same key, with what its value is made of.
    pub const fn detail(self, detail: Detail) -> Key {
        Key { detail, ..self }
    }

    /// The same key, required.
    pub const fn required(self) -> Key {
        Key { required: true, ..self }
    }

    /// The same key, holding a section.
    pub const fn section(self, section: &'static str) -> Key {
        Key { section, ..self }
    }

    /// The same key, holding definitions of a section.
    pub const fn definitions(self, section: &'static str) -> Key {
        Key { section, definitions: true, ..self }
    }

    /// The same key, with one of these values.
    pub const fn one_of(self, values: &'static [&'static str]) -> Key {
        Key { values, ..self }
    }

    /// The same key, about something of a provider's.
    pub const fn offer(self, offer: Offer) -> Key {
        Key { offer, ..self }
    }

    /// The same key, open to substitutions.
    pub const fn substitutions(self) -> Key {
        Key { substitutions: true, ..self }
    }

    /// The same key, brought by a version.
    pub const fn since(self, since: &'static str) -> Key {
        Key { since, ..self }
    }
}

impl Section {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// All dialects, in the order in which they are asked.
pub fn dialects() -> &'static [&'static dyn Dialect] {
    &[&crate::blueprint::BlueprintDialect, &crate::hot::HotDialect]
}

/// The dialect of that name.
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    dialects().iter().find(|known| known.name() == name).copied()
}

/// The conventions of the dialect of that name, where it has its own.
pub fn conventions(dialect: &str) -> Option<&'static dyn Conventions> {
    self::dialect(dialect)?.conventions()
}

/// The dialect that recognises a document best; `None` if none does.
pub fn dialect_of(document: &Document<'_>) -> Option<&'static dyn Dialect> {
    let best =
        dialects().iter().map(|dialect| (dialect.recognise(document), *dialect)).rev().max_by_key(|(sure, _)| *sure);
    best.filter(|(sure, _)| *sure > 0).map(|(_, dialect)| dialect)
}

/// Whether a text is certainly a document: by its version or its name, not only by keys that other files may have too.
pub fn is_document(document: &Document<'_>) -> bool {
    /// A name alone makes a dialect as sure as that.
    const BY_NAME: u8 = 60;
    dialects().iter().any(|dialect| dialect.recognise(document) >= BY_NAME)
}

/// What files that are given along with a root come to. A root whose own dialect has no such files hands them down to its
/// children, and takes from them what is given for its inputs. Empty where no dialect has such files.
pub fn surround(root: &Document<'_>, beside: &[Beside<'_>]) -> Surrounded {
    let own = dialect_of(root).and_then(|dialect| dialect.surround(root, beside));
    let other = || dialects().iter().find_map(|dialect| dialect.surround(root, beside));
    own.or_else(other).unwrap_or_default()
}

/// Every diagnostic code that a dialect reports: those that several share, then those of one alone.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let own = dialects().iter().flat_map(|dialect| dialect.codes().iter().copied());
    crate::codes::CODES.iter().copied().chain(own.flatten().copied())
}
