//! The arguments of `cyan test`.

use std::path::PathBuf;

use clap::Args;

use super::path::path;

/// Run the tests of documents
///
/// A file `NAME.test.yaml` beside a document lists cases: inputs, and what must come of them. Each
/// case is a simulation of its own, so no account is needed and nothing outside of the program is
/// changed. Of a folder, all test files in it and below it are run. Hidden folders are skipped.
///
/// A first test of `site.blueprint.yaml`, in `site.test.yaml`:
///
///     cases:
///       one page is made:
///         create: [page]
///
/// Exits with 4 if a case fails, and with 1 if a test file or its document cannot be used.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Test {
    /// Test files, or folders of them [default: .]
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) files: Vec<PathBuf>,
    /// Run only cases with this text in their name; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Also write the results to this file, as XML in the form of JUnit
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) junit: Option<PathBuf>,
}
