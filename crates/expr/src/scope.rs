//! The inputs of an evaluation: the meaning of names, and external data.
//!
//! Not here: evaluation (`evaluate`), answering questions (the crate `evaluate`).

use std::sync::Arc;

use blueprint::{Name, Ref, Value};
use diag::{Code, Diagnostic, Diagnostics, FileId};

use crate::{Arguments, CallConfiguration, FunctionDef, Meter};

/// The reason why an evaluation has no value.
#[derive(Debug)]
pub enum EvaluationStop {
    /// The expression failed with this diagnostic.
    Failed(Box<Diagnostic>),
    /// The expression reads an absent element. The diagnostic is reported if no call guards the
    /// read (decisions/blueprint#absent-elements).
    Absent(Box<Diagnostic>),
    /// The expression needs this external data. Evaluate again with the answers. The list has every
    /// question that is known at this point.
    Ask(Vec<Ask>),
    /// The expression reads an element whose error has been reported.
    Reported,
}

impl From<Diagnostic> for EvaluationStop {
    fn from(diagnostic: Diagnostic) -> EvaluationStop {
        EvaluationStop::Failed(Box::new(diagnostic))
    }
}

/// External data that an expression needs, as plain data. Equal questions have equal answers within
/// one stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// `file(path)`: the bytes of a file, relative to the document of the call
    /// (decisions/blueprint#relative-paths).
    File {
        /// The path or URL as given.
        path: Name,
        /// The document of the call.
        document: FileId,
    },
    /// `http_resource(url)`: the bytes at a URL.
    Http {
        /// The URL as given, checked to be http or https.
        url: Name,
    },
    /// `cwd()`: the caller's working directory.
    WorkingDirectory,
    /// `uuid()`, `datetime(format)`: a value that is generated once and memoised
    /// (decisions/blueprint#memoised-values).
    Memoised {
        /// The path of the scalar inside the element under evaluation, such as `input.a[0]`.
        path: Name,
        /// The 0-based number of the call within the scalar.
        nth: u32,
        /// A digest of the scalar's expression without places. A different digest asks for a new
        /// value.
        fingerprint: u64,
        /// The function.
        function: Name,
        /// The arguments.
        arguments: Vec<Value>,
    },
    /// A function of a provider.
    Provider {
        /// The provider's namespace.
        namespace: Name,
        /// The function.
        function: Name,
        /// The arguments; all are known.
        arguments: Arguments,
        /// The configuration of the provider.
        configuration: CallConfiguration,
    },
}

/// A failed external request.
#[derive(Clone, Debug)]
pub struct AskFailure {
    /// The code of the diagnostic at the call.
    pub code: &'static Code,
    /// The message, in one line.
    pub message: String,
    /// Original messages of the source.
    pub notes: Vec<String>,
}

/// The value of a reference's head and of as much of its path as the scope has resolved.
#[derive(Clone, Debug)]
pub struct ResolvedHead {
    /// The value.
    pub value: Value,
    /// The number of accessors that the scope has resolved. The evaluator resolves the rest.
    pub used: usize,
}

/// Resolves names during an evaluation.
pub trait Scope {
    /// The value of a reference's head. `EvaluationStop::Absent` if it is absent.
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop>;

    /// The answer to a question; `None` if it is not known yet, which stops the evaluation with
    /// [`EvaluationStop::Ask`].
    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>>;

    /// `link(a, b)`: the value that the link exposes. The arguments are names in the format of
    /// addresses.
    fn link(&mut self, a: &str, b: &str) -> Result<Value, EvaluationStop>;

    /// The function of a package, by `package/token`. `None` if it is not known here; the result of
    /// its calls is then unknown.
    fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        let _ = name;
        None
    }

    /// The meter of the document's values; `None` if only single values are limited.
    fn meter(&mut self) -> Option<&mut Meter> {
        None
    }
}

/// Receives warnings about a value.
pub type Warnings = Diagnostics;
