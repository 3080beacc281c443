//! Named functions as data: what the checker, the evaluator, the editor and the reference pages know of each.

use std::sync::{Arc, LazyLock};

use blueprint::{IndexMap, Name, Type, Value};
use diag::Code;

/// A function that an expression can call.
#[derive(Clone, Debug)]
pub struct FunctionDef {
    /// Its name; case counts.
    pub name: Name,
    /// Its parameters, optional ones last.
    pub parameters: Vec<Parameter>,
    /// What any further arguments are, if it takes them.
    pub rest: Option<Parameter>,
    /// The least number of arguments in all.
    pub least: usize,
    /// The type of its result.
    pub returns: Returns,
    /// For a function that gives a function (`trim_g`, `getattr`, `compose`): how the result is called.
    pub gives: Option<Signature>,
    /// Passes the position of an item as one more argument when used as a callback (decision 2.3).
    pub takes_index: bool,
    /// Arguments are entries with names (`object` alone, decision S14).
    pub named: bool,
    /// Gives `none` as soon as an argument is `none` (decision 2, conventions).
    pub spreads_none: bool,
    /// Where its result comes from.
    pub purity: Purity,
    /// Not among the 50 functions of the function document, but later or ours.
    pub later: bool,
    /// One or two sentences for people.
    pub docs: Name,
    /// Calls and what comes of them; they run as tests.
    pub examples: Vec<Example>,
    /// How it is carried out, where it is neither one of this crate nor a provider's.
    pub native: Option<Arc<dyn Native>>,
}

/// How a function of a dialect is carried out.
pub trait Native: Send + Sync + std::fmt::Debug {
    /// The result, from arguments that are evaluated and not marked secret; of those that are unknown see [`Native::opens`].
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal>;

    /// The same; work that is more than its arguments and its result show is added to `work`, as bytes that it would make.
    fn call_counted(&self, arguments: &[Value], work: &mut usize) -> Result<Value, Refusal> {
        let _ = work;
        self.call(arguments)
    }

    /// Whether it may be called while parts of its arguments are unknown or secret, and looks at no such part; else its
    /// result is unknown or secret as a whole.
    fn opens(&self, arguments: &[Value]) -> bool;

    /// Whether the argument behind these need not be evaluated. Null takes its place.
    fn skips(&self, _before: &[Value]) -> bool {
        false
    }

    /// The named intermediate value whose value the result is, where the arguments, all known, name one.
    fn local(&self, _arguments: &[Value]) -> Option<Name> {
        None
    }

    /// Whether an argument that stands for nothing is left out; else it is null.
    fn leaves_out(&self) -> bool {
        false
    }

    /// Whether its result is a part of its arguments, so that nothing is made.
    fn selects(&self) -> bool {
        false
    }
}

/// Why a function gives no value.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What kind of mistake it is.
    pub code: &'static Code,
    /// What is wrong, as a diagnostic says it.
    pub message: String,
    /// Where in the arguments: which one, and then into it.
    pub path: Vec<Step>,
    /// Which bytes of the source of what the path leads to, counted from where that begins.
    pub inside: Option<std::ops::Range<u32>>,
    /// What to do.
    pub help: Option<String>,
    /// What the tool whose documents these are says.
    pub words: Option<Box<diag::Words>>,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The entry of a map.
    Key(Name),
    /// The item of a list.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.into())
    }
}

impl From<usize> for Step {
    fn from(at: usize) -> Step {
        Step::Index(at)
    }
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, for people.
    pub name: Name,
    /// What it takes.
    pub ty: Type,
    /// May be left out.
    pub optional: bool,
    /// Takes a function: how it will be called. `ty` is then `function`.
    pub callback: Option<Callback>,
    /// An absent element may be read directly in it and counts as `none` there (decision S31).
    pub guards: bool,
}

/// How a parameter calls the function given to it.
#[derive(Clone, Debug)]
pub struct Callback {
    /// Types of the arguments that it passes.
    pub parameters: Vec<Type>,
    /// What must come back.
    pub returns: Type,
    /// Passes the position as one more argument to a function that takes it.
    pub index: bool,
}

/// How a function value is called.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Types of its arguments.
    pub parameters: Vec<Type>,
    /// The type of its result.
    pub returns: Type,
}

/// The type of a function's result.
#[derive(Clone)]
pub enum Returns {
    /// Always the same.
    Type(Type),
    /// Made from the types of the arguments, which have been checked.
    Rule(fn(&[Type]) -> Type),
}

impl std::fmt::Debug for Returns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Returns::Type(ty) => write!(f, "{ty}"),
            Returns::Rule(_) => f.write_str("by its arguments"),
        }
    }
}

/// Where a function's result comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purity {
    /// From its arguments alone.
    Pure,
    /// Drawn once per call site and remembered: `uuid`, `datetime` (decision S60).
    Remembered,
    /// Read at stage and frozen: `file`, `http_resource`, `cwd`.
    World,
    /// From state, once a link is made: `link`.
    Link,
    /// From the provider of this namespace, which calls the function by its own name.
    Provider {
        /// The namespace.
        namespace: Name,
        /// The provider's own name of the function.
        name: Name,
    },
}

/// A call and what comes of it.
#[derive(Clone, Debug)]
pub struct Example {
    /// The call, as it stands inside `${..}`.
    pub call: Name,
    /// The result as JSON text, or `!` and a code.
    pub gives: Name,
}

/// Functions by name: the core ones and those of providers; beside them the tables of dialects that have their own.
#[derive(Clone, Debug, Default)]
pub struct FunctionTable {
    functions: IndexMap<Name, Arc<FunctionDef>>,
    dialects: IndexMap<&'static str, Arc<FunctionTable>>,
    keeps_null: bool,
    unlisted: Option<Arc<Unlisted>>,
}

/// Functions that no list names. They are read when a name is in no other table.
struct Unlisted(LazyLock<IndexMap<Name, Arc<FunctionDef>>, ReadFunctions>);

type ReadFunctions = Box<dyn FnOnce() -> IndexMap<Name, Arc<FunctionDef>> + Send>;

impl std::fmt::Debug for Unlisted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unlisted")
    }
}

impl FunctionTable {
    /// An empty table.
    pub fn new() -> FunctionTable {
        FunctionTable::default()
    }

    /// Adds a function; gives it back if the name is taken (that is `invalid-catalog`), leaving the table as it was.
    #[expect(clippy::result_large_err, reason = "the function goes back to its giver, once in a run")]
    pub fn insert(&mut self, function: FunctionDef) -> Result<(), FunctionDef> {
        match self.functions.entry(function.name.clone()) {
            indexmap::map::Entry::Occupied(_) => Err(function),
            indexmap::map::Entry::Vacant(place) => {
                place.insert(Arc::new(function));
                Ok(())
            }
        }
    }

    /// The same table, for a language in which null is an item and an entry like any other; elsewhere what turns out as
    /// null is left out of lists and maps (decision A13).
    pub fn keeping_null(mut self) -> FunctionTable {
        self.keeps_null = true;
        self
    }

    /// Whether null stays in lists and maps.
    pub fn keeps_null(&self) -> bool {
        self.keeps_null
    }

    /// Adds the table of a dialect whose expressions call functions of its own.
    pub fn insert_dialect(&mut self, dialect: &'static str, table: FunctionTable) {
        self.dialects.insert(dialect, Arc::new(table));
    }

    /// What expressions of a dialect can call: its own table if it has one, else this one.
    pub fn of(&self, dialect: &str) -> &FunctionTable {
        self.dialects.get(dialect).map_or(self, Arc::as_ref)
    }

    /// The function of that name.
    pub fn get(&self, name: &str) -> Option<&FunctionDef> {
        let unlisted = || self.unlisted.as_ref()?.0.get(name);
        self.functions.get(name).or_else(unlisted).map(Arc::as_ref)
    }

    /// Adds functions that [`names`](Self::names) and [`iter`](Self::iter) leave out. They are read when a name is found
    /// nowhere else.
    pub fn insert_unlisted<F>(&mut self, read: F)
    where
        F: FnOnce() -> Vec<FunctionDef> + Send + 'static,
    {
        let by_name = |function: FunctionDef| (function.name.clone(), Arc::new(function));
        let read: ReadFunctions = Box::new(move || read().into_iter().map(by_name).collect());
        self.unlisted = Some(Arc::new(Unlisted(LazyLock::new(read))));
    }

    /// All names, core functions first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(|name| name.as_ref())
    }

    /// All functions, core functions first.
    pub fn iter(&self) -> impl Iterator<Item = &FunctionDef> {
        self.functions.values().map(Arc::as_ref)
    }
}

impl FunctionDef {
    /// The parameter that takes the argument at `position`, further ones included.
    pub fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.parameters.get(position).or(self.rest.as_ref())
    }

    /// The greatest number of arguments; `None` if any number.
    pub fn most(&self) -> Option<usize> {
        if self.rest.is_some() { None } else { Some(self.parameters.len()) }
    }

    /// `substr(string, integer, [integer]) -> string`, for messages and pages.
    pub fn signature(&self) -> String {
        let mut text = format!("{}(", self.name);
        let every =
            self.parameters.iter().map(|parameter| (parameter, "")).chain(self.rest.iter().map(|rest| (rest, "..")));
        for (at, (parameter, more)) in every.enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let (open, close) = if parameter.optional { ("[", "]") } else { ("", "") };
            text.push_str(&format!("{comma}{open}{}: {}{more}{close}", parameter.name, parameter.ty));
        }
        text.push(')');
        match &self.returns {
            Returns::Type(ty) => text.push_str(&format!(" -> {ty}")),
            Returns::Rule(_) => text.push_str(" -> any"),
        }
        text
    }
}
