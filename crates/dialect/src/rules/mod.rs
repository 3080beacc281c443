//! The rules of a dialect: one part per concern, each in a file of its own.
//!
//! The default methods of a part are the native rules. A dialect implements the parts in which it
//! differs and takes [`DialectRules::NATIVE`] for the others.
//!
//! Not here: reading a document (`Dialect::lower`), and the native type checks, which the engine
//! carries out. A part receives them as an argument, so that a dialect can convert a value first
//! and then have it checked natively.

mod checks;
mod children;
mod expansion;
mod inputs;
mod messages;
mod naming;
mod reads;
mod references;
mod sizes;
mod specs;

pub use checks::{CheckedBy, Checks};
pub use children::ChildRules;
pub use expansion::ExpansionRules;
pub use inputs::{GivenValue, InputQuestion, InputRules, NativeInput, NativePassedInput};
pub use messages::MessageRules;
pub use naming::{DocumentName, FormerNames, NamedResource, NamingRules};
pub use reads::Reads;
pub use references::{Absence, ReferenceRules};
pub use sizes::SizeRules;
pub use specs::{NativeSpec, SpecAt, SpecRules};

use crate::ForeignWords;

/// The rules of a dialect.
#[derive(Clone, Copy)]
pub struct DialectRules {
    /// How the parts of a document are checked.
    pub checks: Checks,
    /// Values of inputs.
    pub inputs: &'static dyn InputRules,
    /// Specs of resources.
    pub specs: &'static dyn SpecRules,
    /// The meaning of references.
    pub references: &'static dyn ReferenceRules,
    /// How a document and its children fit together.
    pub children: &'static dyn ChildRules,
    /// Groups, and documents that depend on their inputs.
    pub expansion: &'static dyn ExpansionRules,
    /// Names of instances, documents and types.
    pub naming: &'static dyn NamingRules,
    /// The maximum size and depth of documents.
    pub sizes: &'static dyn SizeRules,
    /// Messages of the dialect's own tool.
    pub messages: &'static dyn MessageRules,
    /// When existing objects are read.
    pub reads: Reads,
    /// The words of other tools that diagnostics explain.
    pub words: ForeignWords,
}

/// The native rules: the default methods of every part.
pub struct NativeRules;

impl InputRules for NativeRules {}
impl SpecRules for NativeRules {}
impl ReferenceRules for NativeRules {}
impl ChildRules for NativeRules {}
impl ExpansionRules for NativeRules {}
impl NamingRules for NativeRules {}
impl SizeRules for NativeRules {}
impl MessageRules for NativeRules {}

impl DialectRules {
    /// The native rules.
    pub const NATIVE: DialectRules = DialectRules {
        checks: Checks::BY_TYPE,
        inputs: &NativeRules,
        specs: &NativeRules,
        references: &NativeRules,
        children: &NativeRules,
        expansion: &NativeRules,
        naming: &NativeRules,
        sizes: &NativeRules,
        messages: &NativeRules,
        reads: Reads::BeforePlans,
        words: ForeignWords::BLUEPRINT,
    };
}

impl std::fmt::Debug for DialectRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DialectRules")
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}
