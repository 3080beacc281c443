//! The commands about documents, types and functions: they read no state, except for expressions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::groups::ExpressionArguments;
use super::inputs::Inputs;
use super::path::path;

/// Format documents
///
/// Keeps the meaning, comments, the order of keys and the style of strings. Indents with two spaces
/// and leaves at most one empty line between elements. Prints the names of files that change. A
/// document that cannot be parsed is kept as it is. Of a folder, all documents in it and below it
/// are formatted, and the files of folders that are documents.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Documents, or folders of documents, to format [default: the document in the current folder];
    /// `-` formats standard input to stdout
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) files: Vec<PathBuf>,
    /// Write nothing; exit with 3 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; print the lines that would change
    #[arg(long)]
    pub(crate) diff: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Plain text: each element, then what it reads
    #[default]
    Text,
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
    /// SVG drawing
    Svg,
}

/// Print the dependency graph of a document
///
/// As text, dependencies come first. In the other formats each arrow leads from an element to its
/// dependency.
#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// Document to read [default: the document in the current folder]; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    /// Set the output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: GraphFormat,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

/// Explain a diagnostic code
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code, such as `unknown-key` [default: list all codes]
    pub(crate) code: Option<String>,
}

/// List resource types, or describe one
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// Type such as `local/file`, namespace, or group such as `aws/s3`
    #[arg(value_name = "TYPE")]
    pub(crate) name: Option<String>,
    /// Include the simulated cloud, namespace `test`
    #[arg(long)]
    pub(crate) all: bool,
}

/// List functions for expressions, or describe one
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// Name of a function
    pub(crate) name: Option<String>,
    /// Include functions of the simulated cloud
    #[arg(long)]
    pub(crate) all: bool,
}

/// Evaluate one expression
///
/// The expression may read what the document declares, and the state. A value that is known only on
/// deploy is marked.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Expression, with or without `${..}`; for a Heat template, a YAML value with functions
    pub(crate) expression: String,
    /// Evaluate a yaql expression
    #[arg(long)]
    pub(crate) yaql: bool,
    #[command(flatten)]
    pub(crate) reading: ExpressionArguments,
}

/// Evaluate expressions at a prompt
///
/// The document is staged once. In a pipe, reads expressions from standard input, one per line or
/// over several lines while brackets are open, and prints results without a prompt.
#[derive(Debug, Args)]
pub(crate) struct Console {
    #[command(flatten)]
    pub(crate) reading: ExpressionArguments,
}

/// Print the JSON Schema of a dialect, for editors
///
/// Each type has its own definition, selected by the value of `type`. Namespaces with more than 500
/// types are included only with `--with`: `--with aws` for all types, `--with aws/lambda` for a
/// group. The fields of a type that is not included are free.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Name of the dialect
    #[arg(default_value = "blueprint")]
    pub(crate) dialect: String,
    /// Include the types of this namespace or group, such as `aws/lambda`; repeatable
    #[arg(long, value_name = "TYPES")]
    pub(crate) with: Vec<String>,
    /// Exclude the types of this namespace or group; repeatable
    #[arg(long, value_name = "TYPES")]
    pub(crate) without: Vec<String>,
    /// Include the simulated cloud, namespace `test`
    #[arg(long)]
    pub(crate) all: bool,
}
