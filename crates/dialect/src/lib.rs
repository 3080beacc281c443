//! The contract of a document language: it recognises a document, lowers it to a
//! [`Blueprint`](blueprint::Blueprint), and supplies its sections and keys as data.
//!
//! A dialect holds no state and awaits nothing: [`Dialect::required_data`] returns the data that it
//! needs in addition to the text. [`DialectRules`] state the differences between dialects after
//! lowering.
//!
//! Not here: any dialect (`blueprint_dialect`, `hot`); checks of names, types and fields
//! (`understand::check`); evaluation (`expr`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod certainty;
pub mod codes;
mod dialect;
mod dialect_text;
mod document;
mod expansion;
mod explained;
mod foreign_words;
mod instance_files;
mod list;
mod load_context;
mod mistake;
mod parsed;
mod plain_value;
pub mod rules;
mod secret_manager;
mod settings;
mod shape;
mod wanted;

pub use dialect::Dialect;
pub use dialect_text::{DialectText, TextOrigin};
pub use document::{Document, Lowered};
pub use expansion::{EvaluateFn, Expanded, ExpansionContext, UNFINISHED};
pub use explained::Explained;
pub use foreign_words::{ForeignWord, ForeignWords, WordPlace};
pub use instance_files::{
    ConfigEdit, ConfigEdited, ConfigEntry, ConfigKey, FillRandom, InstanceFile, InstanceFiles,
};
pub use list::Dialects;
pub use load_context::{
    Companion, CompanionNames, DialectContext, LoadContext, LoadedCompanions, NameLookup,
    TypeLookup,
};
pub use mistake::{ExpressionPart, ExpressionPlace, Mistake};
pub use parsed::ParsedText;
pub use plain_value::plain_value;
pub use rules::{Absence, CheckedBy, Checks, DialectRules, GivenValue, SpecAt};
pub use secret_manager::{NewKey, SecretManager, TextCipher};
pub use settings::{
    DialectLimits, DialectSetting, DialectSettings, DocumentLimits, DocumentSettings, SettingKind,
};
pub use shape::{Detail, KeyForm, Offer, Section, SectionKey, Shape};
pub use wanted::{Answer, Answers, FolderEntry, PackageRequest, Wanted};
