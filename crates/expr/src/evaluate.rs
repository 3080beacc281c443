//! From an expression to a value.


use blueprint::{Accessor, Expr, Name, Ref, Value};
use diag::{Code, Diagnostic, Diagnostics, FileId};

use crate::FunctionTable;

/// Why there is no value.
#[derive(Debug)]
pub enum Stop {
    /// The expression failed; this says where and why.
    Failed(Box<Diagnostic>),
    /// It reads something absent. What to report if no call guards it (ruling S31).
    Absent(Box<Diagnostic>),
    /// It needs something from the world first; evaluate again with the answer.
    Ask(Box<Ask>),
    /// It reads something in error that has been reported.
    Reported,
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Stop {
        Stop::Failed(Box::new(diagnostic))
    }
}

/// Something an expression needs from the world, as plain data. Equal questions have equal answers within one stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// `file(path)`: the bytes of a file, relative to the document that the call stands in (ruling S70).
    File {
        /// The path or URL as given.
        path: Name,
        /// The document.
        document: FileId,
    },
    /// `http_resource(url)`: the bytes at a URL.
    Http {
        /// The URL as given, checked to be http or https.
        url: Name,
    },
    /// `cwd()`: the caller's working directory.
    WorkingDirectory,
    /// `uuid()`, `datetime(format)`: a value that is drawn once and remembered (ruling S60).
    Remembered {
        /// Path of the scalar inside the element under evaluation, such as `input.a[0]`.
        path: Name,
        /// Which such call within the scalar, from 0.
        nth: u32,
        /// A digest of the scalar's expression without places: another one asks for a new value.
        fingerprint: u64,
        /// The function.
        function: Name,
        /// Its arguments.
        arguments: Vec<Value>,
    },
    /// A function of a provider.
    Provider {
        /// The provider's namespace.
        namespace: Name,
        /// The function.
        function: Name,
        /// Its arguments, all known.
        arguments: Vec<Value>,
    },
}

/// The world could not answer.
#[derive(Clone, Debug)]
pub struct AskFailure {
    /// What to report, at the call.
    pub code: &'static Code,
    /// What is wrong, in a line.
    pub message: String,
    /// The world's own words.
    pub notes: Vec<String>,
}

/// What a reference's head, and as much of its path as the scope has walked, stands for.
#[derive(Clone, Debug)]
pub struct Read {
    /// The value.
    pub value: Value,
    /// How many accessors of the path are used up; the evaluator walks the rest.
    pub used: usize,
}

/// What names mean where an expression is evaluated.
pub trait Scope {
    /// The value a reference begins with. An absent one is `Stop::Absent`.
    fn read(&mut self, reference: &Ref) -> Result<Read, Stop>;

    /// The answer to a question, if it is known; without one the evaluation stops with [`Stop::Ask`].
    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>>;

    /// `link(a, b)`: what the link kind exposes. The arguments are the names as addresses print.
    fn link(&mut self, a: &str, b: &str) -> Result<Value, Stop>;
}

/// Where warnings go that stand beside a value.
pub type Warnings = Diagnostics;

/// The value of an expression, or why there is none. Warnings beside a value go to `found`.
///
/// Total: depth is bounded at 256 and a result at 10 MiB (`argument-range`, ruling A17). `none` items of lists and entries of maps
/// are dropped (A13); unknown and secret arguments spread by A14 and A15.
pub fn evaluate(expr: &Expr, functions: &FunctionTable, scope: &mut dyn Scope, found: &mut Warnings) -> Result<Value, Stop> {
    let _ = (expr, functions, scope, found);
    Err(Stop::Reported)
}

/// Walks accessors into a value. The error's place is the accessor at fault: `wrong-accessor`, `index-out-of-range`, `unknown-field`...
pub fn access(value: Value, path: &[Accessor]) -> Result<Value, Stop> {
    let _ = path;
    Ok(value)
}

/// The value of `uuid()` or `datetime(format)` drawn now, from the instant (seconds since 1970 UTC) and 16 random bytes
/// that the caller supplies; `None` for other functions or formats.
pub fn remembered_value(function: &str, arguments: &[Value], now: i64, random: [u8; 16]) -> Option<Value> {
    let _ = (function, arguments, now, random);
    None
}
