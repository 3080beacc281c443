//! The contract of a dialect.

use blueprint::{Blueprint, Expr, Name, Packages, Value};
use diag::{Code, Diagnostics};
use expr::FunctionTable;
use syntax::Tree;

use crate::{
    Companion, CompanionNames, DialectRules, DialectSetting, DialectSettings, DialectText,
    Document, Explained, InstanceFiles, LoadedCompanions, Lowered, SecretManager, Shape, Wanted,
};

/// A document language. Holds no state.
///
/// A dialect must recognise a document, lower it and describe its shape; everything else has a
/// native default.
pub trait Dialect: Send + Sync {
    /// The name of the dialect, such as `blueprint`.
    fn name(&self) -> &'static str;

    /// The certainty that the document belongs to the dialect, from 0 to 100.
    fn recognise(&self, document: &Document<'_>) -> u8;

    /// The sections and keys, as data.
    fn shape(&self) -> &'static Shape;

    /// The data that the dialect needs besides the text to lower the document. The engine calls
    /// this again with the answers, until they contain everything that the dialect wants.
    fn required_data(&self, _document: &Document<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    /// Lowers the document. `packages` are the available hosted packages, with which types are
    /// resolved. Never fails: parts that cannot be understood are reported and left out. The
    /// answers in the document contain everything that the dialect wanted, as a value or as the
    /// reason for its absence.
    fn lower(
        &self,
        document: &Document<'_>,
        functions: &FunctionTable,
        packages: &Packages,
    ) -> Lowered;

    /// The rules by which values are converted, checked, named and reported.
    fn rules(&self) -> DialectRules {
        DialectRules::NATIVE
    }

    /// The codes that only documents of this dialect cause, in lists.
    fn codes(&self) -> &'static [&'static [&'static Code]] {
        &[]
    }

    /// Whether a document may have several trees: a YAML stream, with `---` between the trees. If
    /// not, a second tree is a mistake of the text, and the dialect gets the first one.
    fn reads_streams(&self) -> bool {
        false
    }

    /// Whether a folder can be a document. The dialect then recognises it by the
    /// [entries](Document::entries), and wants the texts of its files. Unless the dialect is
    /// [sure](crate::certainty), those who name or find a folder look into its files, too. If no
    /// dialect reads folders, a folder is a mistake wherever a document is needed.
    fn reads_folders(&self) -> bool {
        false
    }

    /// The name of the dialect that reads the same folders, as long as the texts of their files are not
    /// known; `None` if the names in a folder are enough to tell.
    fn shares_folders_of(&self) -> Option<&'static str> {
        None
    }

    /// Whether a text is probably one that this dialect [parses](Dialect::parse) itself.
    fn may_parse(&self, _text: &str) -> bool {
        false
    }

    /// Parses a text by the rules of this dialect; `None` if its documents are read as all YAML and
    /// JSON is. Never fails, as `syntax::parse`.
    fn parse(&self, _text: &DialectText<'_>) -> Option<(Tree, Diagnostics)> {
        None
    }

    /// The settings of the dialect.
    fn settings(&self) -> &'static [DialectSetting] {
        &[]
    }

    /// Adds the dialect's own functions, with these settings, to the table of all functions.
    fn insert_functions(&self, _table: &mut FunctionTable, _settings: &DialectSettings) {}

    /// Descriptions of the dialect's own functions; empty if its documents call the common
    /// functions.
    fn functions(&self) -> Vec<Explained> {
        Vec::new()
    }

    /// How the files beside a document of this name are named that give values for an instance.
    /// They are read together with the document, as companions of it. `None` if it has no such
    /// files.
    fn companion_names(&self, _document: &str) -> Option<CompanionNames> {
        None
    }

    /// The names of files beside a document of this name that belong to it. Those that exist are read
    /// together with it, as companions of it for all instances, and are no documents of their own.
    fn project_files(&self, _document: &str) -> &'static [&'static str] {
        &[]
    }

    /// The names of folders beside a document of this name whose files `*.yaml` belong to it, as
    /// [`project_files`](Dialect::project_files) do. Folders in them are not searched.
    fn project_folders(&self, _document: &str) -> &'static [&'static str] {
        &[]
    }

    /// Where the program of a project may stand, if a file of this name and text is only the file of a
    /// project whose program is in another folder: paths relative to the file, of which the first that
    /// exists counts. The file belongs to the program then, as one of its
    /// [`project_files`](Dialect::project_files). Empty for every other file.
    ///
    /// It is asked about each document before it is parsed.
    fn programs_of(&self, _name: &str, _text: &str) -> Vec<Name> {
        Vec::new()
    }

    /// How the files that [`companion_names`](Dialect::companion_names) names are made and edited;
    /// `None` if people edit them, or if a document of this name has none.
    fn instance_files(&self, _document: &str) -> Option<&dyn InstanceFiles> {
        None
    }

    /// The secret managers of the dialect's own tool, for its states; `None` if it has none.
    fn secret_manager(&self) -> Option<&dyn SecretManager> {
        None
    }

    /// Reads the companion files of a root of any dialect; `None` if the dialect has no such files.
    fn read_companions(
        &self,
        _root: &Document<'_>,
        _beside: &[Companion<'_>],
    ) -> Option<LoadedCompanions> {
        None
    }

    /// Parses a single expression in the context of a document with this blueprint; `None` if the
    /// dialect uses the form `${..}`.
    fn expression(&self, _typed: &Document<'_>, _of: &Blueprint) -> Option<(Expr, Diagnostics)> {
        None
    }

    /// Reads a text as data, by the rules of this dialect's documents; `None` if it is no map, or
    /// if the dialect reads no such texts.
    fn data(&self, _text: &str) -> Option<Value> {
        None
    }
}
