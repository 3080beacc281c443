//! Names of declared elements and of types (decisions A6, A7, S20).

use diag::Span;

use super::lowering::Lowering;
use super::version::Version;
use crate::codes::{INVALID_NAME, NAME_NEEDS_BRACKETS, RESERVED_NAME};

/// Words that have another meaning at the beginning of a reference.
const RESERVED: &[&str] =
    &["variables", "values", "resources", "datasources", "children", "elem", "i", "true", "false"];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a text is a `name` of the grammar, which needs no brackets in a reference.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && name.bytes().all(is_name_byte)
}

/// Whether a text has the form of a type name: 2 or 3 segments separated by `/`, or at least 2 separated by `::`, as in
/// other orchestrators.
pub(super) fn is_type_name(name: &str) -> bool {
    let is_segment = |segment: &[u8]| !segment.is_empty() && segment.iter().copied().all(is_name_byte);
    match name.bytes().filter(|byte| *byte == b'/').count() {
        0 => name.contains("::") && name.split("::").map(str::as_bytes).all(is_segment),
        between => between <= 2 && name.as_bytes().split(|byte| *byte == b'/').all(is_segment),
    }
}

impl Lowering<'_> {
    /// Checks the name of a declared element.
    pub(super) fn name(&mut self, name: &str, span: Span, what: &str) {
        if is_plain(name) {
            return;
        }
        if name.is_empty() || !name.bytes().all(|byte| is_name_byte(byte) || byte == b'.') {
            self.found.push(
                INVALID_NAME
                    .new(format!("`{name}` cannot be the name of {what}"))
                    .label(span, "names have letters, digits, `_`, `-` and `.`")
                    .help("use other characters"),
            );
            return;
        }
        if what == "a data source export" && name.contains('.') {
            return;
        }
        self.found.push(
            NAME_NEEDS_BRACKETS
                .new(format!("`{name}` can only be reached with brackets"))
                .label(span, format!("as in `[\"{name}\"]`"))
                .help("begin it with a letter or `_` and leave out dots"),
        );
    }

    /// Checks the name of a resource.
    pub(super) fn resource_name(&mut self, name: &str, span: Span) {
        self.name(name, span, "a resource");
        if RESERVED.contains(&name) || name == "none" && self.version == Version::Later {
            self.found.push(
                RESERVED_NAME
                    .new(format!("`{name}` is a word of the language"))
                    .label(span, format!("can only be reached as `resources.{name}`"))
                    .help("choose another name"),
            );
        }
    }

    /// Whether a text names a hosted package and a token in it. The token may have any form.
    pub(super) fn is_hosted_type(&self, name: &str) -> bool {
        self.packages.split(name).is_some_and(|(_, token)| !token.is_empty())
    }

    /// The name of a resource or data source type. Reports an invalid name and returns `None`.
    pub(super) fn type_name<'t>(&mut self, name: &'t str, span: Span) -> Option<&'t str> {
        if is_type_name(name) || self.is_hosted_type(name) {
            return Some(name);
        }
        // A token of a hosted package may have any form, so the name of the package may be misspelt.
        let package = name.split_once('/').and_then(|(package, _)| diag::nearest(package, self.packages.names()));
        let invalid = INVALID_NAME.new(format!("`{name}` cannot be the name of a type"));
        self.found.push(match package {
            Some(package) => invalid
                .label(span, "there is no package of that name that has types of this form")
                .help(format!("did you mean `{package}`?")),
            None => invalid
                .label(span, "a type is `provider/type` or `provider/service/type`")
                .help("write the provider's name first, then `/` and the type"),
        });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain, is_type_name};

    #[test]
    fn names_of_the_grammar_need_no_brackets() {
        assert!(is_plain("a-1_b") && is_plain("_x"));
        assert!(!is_plain("1a") && !is_plain("a.b") && !is_plain("-a") && !is_plain("") && !is_plain("é"));
    }

    #[test]
    fn types_have_two_or_three_segments() {
        assert!(is_type_name("test/data") && is_type_name("aws/api-gateway/rest-api"));
        assert!(!is_type_name("data") && !is_type_name("a/b/c/d") && !is_type_name("a//b") && !is_type_name("a/b c"));
    }
}
