//! Severities and codes of diagnostics.

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// For information. Shown in editors and with `--verbose`.
    Note,
    /// Probably a mistake. `--strict` makes it an error.
    Warning,
    /// The document, the input or the plan is unusable.
    Error,
}

impl Severity {
    /// The word for people and machine output: `error`, `warning` or `note`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A kind of diagnostic: its stable name, its usual severity, and its page.
///
/// Declared with [`codes!`](crate::codes) beside the check that reports it.
#[derive(Debug)]
pub struct Code {
    /// The name, in kebab case and stable: `unknown-key`.
    pub name: &'static str,
    /// The usual severity.
    pub severity: Severity,
    /// The meaning, in one line.
    pub summary: &'static str,
    /// The page that `cyan explain` prints, in Markdown.
    pub page: &'static str,
}

/// Declares the codes of a crate; each has its page in the crate's folder `codes/`, named after it.
///
/// ```ignore
/// diag::codes! {
///     UNKNOWN_KEY = Error "unknown-key": "no such key in this section";
/// }
/// ```
///
/// Defines a `pub static` [`Code`] for each line, and `pub static CODES: &[&Code]` with all of
/// them.
#[macro_export]
macro_rules! codes {
    ($($ident:ident = $severity:ident $name:literal : $summary:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $summary, ".")]
            pub static $ident: $crate::Code = $crate::Code {
                name: $name,
                severity: $crate::Severity::$severity,
                summary: $summary,
                page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/codes/", $name, ".md")),
            };
        )*
        /// All codes declared here, in declaration order.
        pub static CODES: &[&$crate::Code] = &[$(&$ident),*];
    };
}
