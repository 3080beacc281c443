//! Names of declared elements and of types (decisions/blueprint#declared-names,
//! decisions/blueprint#type-names, decisions/blueprint#reserved-names).

use diag::Span;

use super::lowering::Lowering;
use super::version::Version;
use dialect::codes::{INVALID_NAME, NAME_NEEDS_BRACKETS, RESERVED_NAME};

/// Words that have another meaning at the beginning of a reference.
const RESERVED: &[&str] = &[
    "variables",
    "values",
    "resources",
    "datasources",
    "children",
    "elem",
    "i",
    "true",
    "false",
];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a text is a `name` in the grammar of expressions. A reference to such a name needs no
/// brackets.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(is_name_byte)
}

/// Whether a text has the form of a type name: 2 or 3 segments separated by `/`, or at least 2
/// segments separated by `::`, as Heat has them.
pub(super) fn is_type_name(name: &str) -> bool {
    let is_segment =
        |segment: &[u8]| !segment.is_empty() && segment.iter().copied().all(is_name_byte);
    match name.bytes().filter(|byte| *byte == b'/').count() {
        0 => name.contains("::") && name.split("::").map(str::as_bytes).all(is_segment),
        between => between <= 2 && name.as_bytes().split(|byte| *byte == b'/').all(is_segment),
    }
}

impl Lowering<'_> {
    /// Checks the name of a declared element, called `what` in messages.
    pub(super) fn name(&mut self, name: &str, span: Span, what: &str) {
        if !is_plain(name) && self.has_name_bytes(name, span, what) {
            self.found.push(
                NAME_NEEDS_BRACKETS
                    .new(format!("references to `{name}` need brackets"))
                    .label(
                        span,
                        format!("write `[\"{name}\"]` instead of `.{name}` in references"),
                    )
                    .help("begin it with a letter or `_`, and leave out dots"),
            );
        }
    }

    /// Checks the name of an export of a data source. It may have dots: a field of a provider is
    /// addressed by a path.
    pub(super) fn data_source_export_name(&mut self, name: &str, span: Span) {
        if name.contains('.') {
            self.has_name_bytes(name, span, "a data source export");
        } else {
            self.name(name, span, "a data source export");
        }
    }

    /// Whether a name has only the bytes that names may have. Reports a name that has others.
    fn has_name_bytes(&mut self, name: &str, span: Span, what: &str) -> bool {
        if name.is_empty() {
            self.found.push(
                INVALID_NAME
                    .new(format!("the name of {what} is empty"))
                    .label(span, "no name")
                    .help("write a name that begins with a letter"),
            );
            return false;
        }
        let allowed = |character: char| {
            u8::try_from(character).is_ok_and(|byte| is_name_byte(byte) || byte == b'.')
        };
        let Some(character) = name.chars().find(|character| !allowed(*character)) else {
            return true;
        };
        self.found.push(
            INVALID_NAME
                .new(format!("`{name}` cannot be the name of {what}"))
                .label(span, format!("{character:?} is not allowed in a name"))
                .help("use only `a` to `z`, `A` to `Z`, digits, `_`, `-` and `.`"),
        );
        false
    }

    /// Checks the name of a resource.
    pub(super) fn resource_name(&mut self, name: &str, span: Span) {
        self.name(name, span, "a resource");
        if RESERVED.contains(&name) || name == "none" && self.version == Version::Later {
            self.found.push(
                RESERVED_NAME
                    .new(format!(
                        "`{name}` is a reserved word at the beginning of a reference"
                    ))
                    .label(
                        span,
                        format!("references to it must be written `resources.{name}`"),
                    )
                    .help("choose another name"),
            );
        }
    }

    /// Whether a text is the name of a hosted package, `/` and the name of a type in that package,
    /// which may have any form.
    pub(super) fn is_hosted_type(&self, name: &str) -> bool {
        self.packages
            .token(name)
            .is_some_and(|token| !token.is_empty())
    }

    /// Checks the name of a resource or data source type and returns it. Reports an invalid name
    /// and returns `None`.
    pub(super) fn type_name<'t>(&mut self, name: &'t str, span: Span) -> Option<&'t str> {
        // The checks report a name without a provider: they know the types, and suggest one.
        if is_type_name(name) || self.is_hosted_type(name) || is_word(name) {
            return Some(name);
        }
        // The text may name a type of a hosted package, with a typing error in the name of the
        // package.
        let suggested = name
            .split_once('/')
            .and_then(|(package, _)| diag::nearest(package, self.packages.names()));
        let invalid = INVALID_NAME.new(format!("`{name}` cannot be the name of a type"));
        self.found.push(match suggested {
            Some(package) => invalid
                .label(span, "there is no such package, and types of other providers have the form `provider/type`")
                .help(format!("did you mean the package `{package}`?")),
            None => invalid
                .label(
                    span,
                    "a type has the form `provider/type`, `provider/service/type` or `Provider::Service::Type`",
                )
                .help("write the provider's name first, then `/` and the type"),
        });
        None
    }
}

/// Whether a name is in the form of types of other tools: letters, digits, `_`, `-`, `.` and single
/// `:`.
fn is_word(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(fits)
        && !name.contains("::")
}

#[cfg(test)]
mod tests {
    use super::{is_plain, is_type_name};

    #[test]
    fn names_of_the_grammar_need_no_brackets() {
        assert!(is_plain("a-1_b") && is_plain("_x"));
        assert!(
            !is_plain("1a")
                && !is_plain("a.b")
                && !is_plain("-a")
                && !is_plain("")
                && !is_plain("é")
        );
    }

    #[test]
    fn types_have_two_or_three_segments() {
        assert!(is_type_name("test/data") && is_type_name("aws/api-gateway/rest-api"));
        assert!(
            !is_type_name("data")
                && !is_type_name("a/b/c/d")
                && !is_type_name("a//b")
                && !is_type_name("a/b c")
        );
    }
}
