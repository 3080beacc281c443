//! What an evaluation needs from outside: the meaning of names, and answers of the world.
//!
//! Not here: evaluating (`evaluate`), putting questions to the world (`engine`).

use blueprint::{Name, Ref, Value};
use diag::{Code, Diagnostic, Diagnostics, FileId};

use crate::Meter;

/// Why there is no value.
#[derive(Debug)]
pub enum Stop {
    /// The expression failed; this says where and why.
    Failed(Box<Diagnostic>),
    /// It reads something absent. What to report if no call guards it (decision S31).
    Absent(Box<Diagnostic>),
    /// It needs these things from the world first; evaluate again with the answers. All that can be told now are among them.
    Ask(Vec<Ask>),
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
    /// `file(path)`: the bytes of a file, relative to the document that the call stands in (decision S70).
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
    /// `uuid()`, `datetime(format)`: a value that is drawn once and remembered (decision S60).
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

    /// What counts the values of the document; none where only each value by itself is limited.
    fn meter(&mut self) -> Option<&mut Meter> {
        None
    }
}

/// Where warnings go that stand beside a value.
pub type Warnings = Diagnostics;
