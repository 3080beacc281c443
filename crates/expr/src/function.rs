//! Function definitions as data, for the checker, the evaluator, the editor and the reference
//! pages.

use std::sync::{Arc, LazyLock};

use crate::probe::refused_regardless;
use blueprint::{Address, IndexMap, Map, Name, Schema, Type, Unknown, Value};
use diag::Code;

/// A function that an expression can call.
#[derive(Clone, Debug)]
pub struct FunctionDef {
    /// The name, case-sensitive.
    pub name: Name,
    /// The parameters, optional ones last.
    pub parameters: Vec<Parameter>,
    /// The type of further arguments, if the function takes any.
    pub rest: Option<Parameter>,
    /// The minimum number of arguments.
    pub min_arguments: usize,
    /// The type of the result.
    pub returns: Returns,
    /// The signature of the returned function, for functions such as `trim_g`, `getattr`,
    /// `compose`.
    pub returned_function: Option<Signature>,
    /// Whether the function receives the position of an item as an additional argument when it is
    /// used as a callback (decisions/functions#functions-that-take-functions).
    pub takes_index: bool,
    /// Whether arguments are named entries: those of `object`
    /// (decisions/blueprint#named-arguments), and those of a package's function that takes its
    /// arguments by name.
    pub named: bool,
    /// Whether the function returns `none` if an argument is `none`
    /// (decisions/functions#conventions).
    pub none_propagates: bool,
    /// The source of the result.
    pub purity: Purity,
    /// Whether the function is not one of the 50 functions of the specification.
    pub not_in_specification: bool,
    /// A description of one or two sentences.
    pub docs: Name,
    /// Calls and their results. They run as tests.
    pub examples: Vec<Example>,
    /// The implementation, unless this crate or a provider implements it.
    pub native: Option<Arc<dyn Native>>,
    /// The result where no provider is asked, in a simulation and in a check without a deployment;
    /// `None` if the catalogue states none.
    pub rehearsed: Option<Value>,
}

/// The implementation of a dialect's function.
pub trait Native: Send + Sync + std::fmt::Debug {
    /// Returns the result. The arguments are evaluated and not marked secret. For unknown arguments
    /// see [`Native::accepts_partial_arguments`].
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal>;

    /// Like [`Native::call`]. Adds work that is not proportional to the arguments and the result to
    /// `work`, as the corresponding number of bytes of output.
    fn call_counted(&self, arguments: &[Value], work: &mut usize) -> Result<Value, Refusal> {
        let _ = work;
        self.call(arguments)
    }

    /// Whether the function accepts arguments with unknown or secret parts, which it then does not
    /// inspect. If not, the whole result is unknown or secret.
    fn accepts_partial_arguments(&self, arguments: &[Value]) -> bool;

    /// The refusal of a known part of arguments with unknown parts, if the function refuses it
    /// whatever the unknown parts are.
    fn refusal_regardless(&self, arguments: &[Value]) -> Option<Refusal> {
        refused_by_known_parts(self, arguments)
    }

    /// Whether the argument after these need not be evaluated. Null is passed in its place.
    fn skips_next_argument(&self, _before: &[Value]) -> bool {
        false
    }

    /// The named intermediate value that is the result, if the arguments are known and name one.
    fn selected_local(&self, _arguments: &[Value]) -> Option<Name> {
        None
    }

    /// Whether an omitted argument is left out; otherwise it is null.
    fn drops_omitted_arguments(&self) -> bool {
        false
    }

    /// Whether the result is a part of the arguments, so that no new value is created.
    fn returns_part_of_arguments(&self) -> bool {
        false
    }
}

/// The refusal of a known part of arguments, found by calls with several values in place of the
/// unknown parts.
pub fn refused_by_known_parts<N: Native + ?Sized>(
    native: &N,
    arguments: &[Value],
) -> Option<Refusal> {
    let about_known = |refusal: &Refusal| {
        let of_argument = matches!(
            refusal.code.name,
            "argument-type" | "argument-range" | "argument-format"
        );
        let part = match refusal.path.split_first() {
            Some((ValueStep::Index(at), path)) => {
                arguments.get(*at).and_then(|value| part_at(value, path))
            }
            _ => None,
        };
        of_argument && part.is_some_and(|part| !part.has_unknown())
    };
    refused_regardless(
        arguments,
        |probe| native.call(probe),
        about_known,
        |one, other| {
            one.code.name == other.code.name
                && one.message == other.message
                && one.path == other.path
        },
    )
}

/// The reason why a function returns no value.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The code of the diagnostic.
    pub code: &'static Code,
    /// The message of the diagnostic.
    pub message: String,
    /// The path to the offending value: first the index of the argument, then steps inside it.
    pub path: Vec<ValueStep>,
    /// The offending bytes within the source of that value, relative to its start.
    pub inside: Option<std::ops::Range<u32>>,
    /// Advice on what to do.
    pub help: Option<String>,
    /// The corresponding message of the dialect's native tool.
    pub words: Option<Box<diag::NativeMessage>>,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueStep {
    /// The entry of a map.
    Key(Name),
    /// The item of a list.
    Index(usize),
}

/// The part of a value at a path.
pub fn part_at<'v>(value: &'v Value, path: &[ValueStep]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        ValueStep::Key(key) => value.get(key),
        ValueStep::Index(at) => value.as_list()?.get(*at),
    })
}

impl From<&str> for ValueStep {
    fn from(key: &str) -> ValueStep {
        ValueStep::Key(key.into())
    }
}

impl From<usize> for ValueStep {
    fn from(at: usize) -> ValueStep {
        ValueStep::Index(at)
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The displayed name.
    pub name: Name,
    /// The type.
    pub ty: Type,
    /// Whether the argument may be left out.
    pub optional: bool,
    /// The calling convention of a function argument. `ty` is then `function`.
    pub callback: Option<Callback>,
    /// Whether an absent element that the argument reads directly counts as `none`
    /// (decisions/blueprint#absent-elements).
    pub absent_as_none: bool,
}

/// The calling convention of a callback.
#[derive(Clone, Debug)]
pub struct Callback {
    /// The types of the passed arguments.
    pub parameters: Vec<Type>,
    /// The required type of the result.
    pub returns: Type,
    /// Whether the position is passed as an additional argument to callbacks that take it.
    pub index: bool,
}

/// The signature of a function value.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The types of the arguments.
    pub parameters: Vec<Type>,
    /// The type of the result.
    pub returns: Type,
}

/// The type of a function's result.
#[derive(Clone)]
pub enum Returns {
    /// A fixed type.
    Type(Type),
    /// An object with these fields, of which some may be sensitive.
    Fields(Arc<Schema>),
    /// A type that depends on the types of the arguments, which have been checked.
    Rule(fn(&[Type]) -> Type),
}

impl Returns {
    /// The type of the result; [`Type::Any`] if it depends on the arguments.
    pub fn ty(&self) -> Type {
        match self {
            Returns::Type(ty) => ty.clone(),
            Returns::Fields(schema) if schema.fields.is_empty() => Type::Any,
            Returns::Fields(schema) => schema.ty(),
            Returns::Rule(_) => Type::Any,
        }
    }

    /// A result that is not known yet. The fields of an object are unknown one by one, so that each
    /// has its own secret mark.
    pub fn unknown(&self, waits_for: Vec<Address>) -> Value {
        let unknown = |ty: Type| {
            let ty = (ty != Type::Any).then_some(ty);
            let waits_for = waits_for.clone();
            Value::Unknown(Arc::new(Unknown { ty, waits_for }))
        };
        match self {
            Returns::Fields(schema) if !schema.fields.is_empty() => {
                let fields = schema.fields.iter().map(|(name, field)| {
                    let value = unknown(field.ty()).tainted(field.has_sensitive());
                    (name.clone(), value)
                });
                Value::Map(Arc::new(fields.collect::<Map>()))
            }
            other => unknown(other.ty()),
        }
    }
}

impl std::fmt::Debug for Returns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Returns::Type(_) | Returns::Fields(_) => write!(f, "{}", self.ty()),
            Returns::Rule(_) => f.write_str("by its arguments"),
        }
    }
}

/// The source of a function's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purity {
    /// The arguments alone.
    Pure,
    /// Generated once per call site and memoised: `uuid`, `datetime`
    /// (decisions/blueprint#memoised-values).
    Memoised,
    /// Read during planning and pinned in the plan: `file`, `http_resource`, `cwd`.
    World,
    /// The state, once a link is complete: `link`.
    Link,
    /// The provider of this namespace.
    Provider {
        /// The namespace.
        namespace: Name,
        /// The provider's own name of the function.
        name: Name,
    },
}

/// A call and its expected result.
#[derive(Clone, Debug)]
pub struct Example {
    /// The call as written inside `${..}`.
    pub call: Name,
    /// The result as JSON text, or `!` and a code.
    pub expected: Name,
}

/// Functions by name: core functions and those of providers. Dialects may have tables of their own.
#[derive(Clone, Debug, Default)]
pub struct FunctionTable {
    functions: IndexMap<Name, Arc<FunctionDef>>,
    dialects: IndexMap<&'static str, Arc<FunctionTable>>,
    keeps_null: bool,
    unlisted: Option<Arc<Unlisted>>,
}

/// Functions that are not listed. They are loaded when a name is in no other table.
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

    /// Adds a function. If the name is taken, returns the function (`invalid-catalog`) and leaves
    /// the table unchanged.
    #[expect(
        clippy::result_large_err,
        reason = "the function goes back to its giver, once in a run"
    )]
    pub fn insert(&mut self, function: FunctionDef) -> Result<(), FunctionDef> {
        match self.functions.entry(function.name.clone()) {
            indexmap::map::Entry::Occupied(_) => Err(function),
            indexmap::map::Entry::Vacant(place) => {
                place.insert(Arc::new(function));
                Ok(())
            }
        }
    }

    /// The table for a language in which null is an ordinary item or entry. Otherwise null results
    /// are dropped from lists and maps (decisions/blueprint#none).
    pub fn keeping_null(mut self) -> FunctionTable {
        self.keeps_null = true;
        self
    }

    /// Whether lists and maps keep null results.
    pub fn keeps_null(&self) -> bool {
        self.keeps_null
    }

    /// Adds the function table of a dialect.
    pub fn insert_dialect(&mut self, dialect: &'static str, table: FunctionTable) {
        self.dialects.insert(dialect, Arc::new(table));
    }

    /// The functions that expressions of a dialect can call: those of its own table if it has one,
    /// otherwise those of this table.
    pub fn of(&self, dialect: &str) -> &FunctionTable {
        self.dialects.get(dialect).map_or(self, Arc::as_ref)
    }

    /// The function with a name.
    pub fn get(&self, name: &str) -> Option<&FunctionDef> {
        let unlisted = || self.unlisted.as_ref()?.0.get(name);
        self.functions.get(name).or_else(unlisted).map(Arc::as_ref)
    }

    /// Adds functions that [`names`](Self::names) and [`iter`](Self::iter) leave out. They are
    /// loaded when a name is in no other table.
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
    /// The pure function of a dialect with this implementation, which checks its arguments itself.
    pub fn of_native(name: &str, docs: &str, native: Arc<dyn Native>) -> FunctionDef {
        let rest = Parameter {
            name: "argument".into(),
            ty: Type::Any,
            optional: true,
            callback: None,
            absent_as_none: false,
        };
        FunctionDef {
            name: name.into(),
            parameters: Vec::new(),
            rest: Some(rest),
            min_arguments: 0,
            returns: Returns::Type(Type::Any),
            returned_function: None,
            takes_index: false,
            named: false,
            none_propagates: false,
            purity: Purity::Pure,
            not_in_specification: false,
            docs: docs.into(),
            examples: Vec::new(),
            native: Some(native),
            rehearsed: None,
        }
    }

    /// The parameter for the argument at `position`, including further arguments.
    pub fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.parameters.get(position).or(self.rest.as_ref())
    }

    /// The maximum number of arguments; `None` if there is no limit.
    pub fn max_arguments(&self) -> Option<usize> {
        if self.rest.is_some() {
            None
        } else {
            Some(self.parameters.len())
        }
    }

    /// The signature for messages and pages: `substr(string, integer, [integer]) -> string`.
    pub fn signature(&self) -> String {
        let mut text = format!("{}(", self.name);
        let every = self
            .parameters
            .iter()
            .map(|parameter| (parameter, ""))
            .chain(self.rest.iter().map(|rest| (rest, "..")));
        for (at, (parameter, more)) in every.enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let (open, close) = if parameter.optional {
                ("[", "]")
            } else {
                ("", "")
            };
            text.push_str(&format!(
                "{comma}{open}{}: {}{more}{close}",
                parameter.name, parameter.ty
            ));
        }
        text.push(')');
        text.push_str(&format!(" -> {}", self.returns.ty()));
        text
    }
}
