//! Addresses: names of resources that can be printed and parsed.

use std::fmt;
use std::hash::{BuildHasher as _, Hash, Hasher};
use std::ops::Deref;
use std::str::{Chars, FromStr};
use std::sync::Arc;

use crate::Name;

/// The member of an expanded element.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// By position, from 0: `name[0]`.
    Index(u32),
    /// By key: `name["logs"]`.
    Name(Name),
}

/// The address of a resource, or of a member of an expanded one, inside its path of children.
///
/// Prints as `name`, `name[0]`, `name["key"]`, `child/name`; a link resource as `a::b/part`
/// (decisions/blueprint#addresses-of-members, decisions/links#identity). A name with `/`, `[`, `]`,
/// `"`, `::` or a hidden character prints in quotes: `"a/b"`. In quotes, `\"`, `\\`, `\n`, `\r`,
/// `\t` and `\u{1b}` are escapes. The contents are shared, so a clone copies a pointer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(Arc<Hashed>);

/// The contents with their hash: addresses are looked up far more often than they are made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Hashed {
    parts: AddressParts,
    hash: u64,
}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// The contents of an address; read through [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressParts {
    /// The children above the element, outermost first; empty in the root document.
    pub path: Box<[Name]>,
    /// The name as declared.
    pub name: Name,
    /// The member, where the element is expanded.
    pub key: Option<Key>,
    /// Set if the address is that of a link, or of a resource or phase of one. `name` and `key` are
    /// then those of `a`.
    pub link: Option<Box<LinkName>>,
}

/// The far end of a link, and the part of the link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkName {
    /// The name of `b`.
    pub b: Name,
    /// The member of `b`.
    pub b_key: Option<Key>,
    /// The link resource or phase; `None` for the link itself.
    pub part: Option<Name>,
}

/// The error for a text that is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(
    /// The reason.
    pub String,
);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

impl From<AddressParts> for Address {
    fn from(parts: AddressParts) -> Address {
        let hash = foldhash::fast::FixedState::default().hash_one(&parts);
        Address(Arc::new(Hashed { parts, hash }))
    }
}

impl Deref for Address {
    type Target = AddressParts;

    fn deref(&self) -> &AddressParts {
        &self.0.parts
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl Address {
    /// The address of a single element in the root document.
    pub fn root(name: impl Into<Name>) -> Address {
        AddressParts {
            path: Box::default(),
            name: name.into(),
            key: None,
            link: None,
        }
        .into()
    }

    /// The address of a single element below these children, outermost first.
    pub fn inside(path: &[Name], name: impl Into<Name>) -> Address {
        AddressParts {
            path: path.into(),
            name: name.into(),
            key: None,
            link: None,
        }
        .into()
    }

    /// The address with a member key.
    pub fn with_key(self, key: Key) -> Address {
        self.changed(|parts| parts.key = Some(key))
    }

    /// The address as the near end of a link, or of a part of a link.
    pub fn with_link(self, link: LinkName) -> Address {
        self.changed(|parts| parts.link = Some(Box::new(link)))
    }

    fn changed(self, change: impl FnOnce(&mut AddressParts)) -> Address {
        let mut parts =
            Arc::try_unwrap(self.0).map_or_else(|shared| shared.parts.clone(), |own| own.parts);
        change(&mut parts);
        parts.into()
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: &Option<Key>) -> fmt::Result {
    match key {
        None => Ok(()),
        Some(Key::Index(index)) => write!(f, "[{index}]"),
        Some(Key::Name(name)) => {
            f.write_str("[")?;
            write_quoted(f, name)?;
            f.write_str("]")
        }
    }
}

/// Writes a name, in quotes if it would not be read back as one name.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let is_plain = name.bytes().all(|byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'/' | b'[' | b']' | b'"' | b'\\' | b':')
    });
    let separates = || name.is_empty() || name.contains(SEPARATORS) || name.contains("::");
    // A name that ends with `:` runs into the `::` of a link.
    let runs_on = || name.ends_with(':');
    let has_hidden = || diag::visible_line(name) != name;
    if is_plain && !name.is_empty() || !separates() && !runs_on() && !has_hidden() {
        f.write_str(name)
    } else {
        write_quoted(f, name)
    }
}

/// The characters that end a name without quotes.
const SEPARATORS: [char; 4] = ['/', '[', ']', '"'];

/// Writes a name in quotes, on one line.
fn write_quoted(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.write_str("\"")?;
    for piece in name.split_inclusive(['"', '\\']) {
        let (text, last) = match piece.strip_suffix(['"', '\\']) {
            Some(text) => (text, &piece[text.len()..]),
            None => (piece, ""),
        };
        f.write_str(&diag::visible_line(text))?;
        if !last.is_empty() {
            write!(f, "\\{last}")?;
        }
    }
    f.write_str("\"")
}

/// Reads a name in quotes, after the first quote. Returns the rest of the text last.
fn quoted(text: &str) -> Result<(Name, &str), AddressError> {
    let mut name = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next() {
            Some('"') => return Ok((name.into(), chars.as_str())),
            Some('\\') => name.extend(escaped(&mut chars)?),
            Some(plain) => name.push(plain),
            None => return Err(AddressError("`\"` is not closed".into())),
        }
    }
}

/// Reads the rest of an escape: `n`, `r`, `t`, `u{1b}`, or a character that stands for itself.
fn escaped(chars: &mut Chars<'_>) -> Result<Option<char>, AddressError> {
    let first = match chars.next() {
        Some('n') => Some('\n'),
        Some('r') => Some('\r'),
        Some('t') => Some('\t'),
        Some('u') if chars.as_str().starts_with('{') => {
            let (digits, rest) = chars.as_str()[1..].split_once('}').unwrap_or_default();
            let code = u32::from_str_radix(digits, 16).ok();
            let letter = code.and_then(char::from_u32);
            let letter =
                letter.ok_or_else(|| AddressError(format!("`\\u{{{digits}}}` is no character")))?;
            *chars = rest.chars();
            Some(letter)
        }
        other => other,
    };
    Ok(first)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for child in &*self.path {
            write_name(f, child)?;
            f.write_str("/")?;
        }
        write_name(f, &self.name)?;
        write_key(f, &self.key)?;
        if let Some(link) = &self.link {
            f.write_str("::")?;
            write_name(f, &link.b)?;
            write_key(f, &link.b_key)?;
            if let Some(part) = &link.part {
                f.write_str("/")?;
                write_name(f, part)?;
            }
        }
        Ok(())
    }
}

/// Splits off one name. Returns the rest of the text last.
fn name_of(text: &str) -> Result<(Name, &str), AddressError> {
    if let Some(after) = text.strip_prefix('"') {
        return quoted(after);
    }
    let bytes = text.as_bytes();
    let ends_name = |at: &usize| match bytes[*at] {
        b'/' | b'[' | b']' | b'"' => true,
        b':' => bytes.get(at + 1) == Some(&b':'),
        _ => false,
    };
    let (name, rest) = text.split_at((0..bytes.len()).find(ends_name).unwrap_or(bytes.len()));
    if name.is_empty() {
        return Err(AddressError("a name is missing".into()));
    }
    Ok((name.into(), rest))
}

/// Splits off one `name` or `name[key]`. Returns the rest of the text last.
fn element(text: &str) -> Result<(Name, Option<Key>, &str), AddressError> {
    let (name, mut rest) = name_of(text)?;
    let mut key = None;
    if let Some(after) = rest.strip_prefix("[\"") {
        let (text, after) = quoted(after)?;
        rest = after
            .strip_prefix(']')
            .ok_or_else(|| AddressError("`]` is missing".into()))?;
        key = Some(Key::Name(text));
    } else if let Some(after) = rest.strip_prefix('[') {
        let (digits, more) = after
            .split_once(']')
            .ok_or_else(|| AddressError("`]` is missing".into()))?;
        let index = digits
            .parse()
            .map_err(|_| AddressError(format!("`{digits}` is no position")))?;
        key = Some(Key::Index(index));
        rest = more;
    }
    Ok((name, key, rest))
}

/// The beginning of a name for plugins, which may stand for an address.
const URN: &str = "urn:pulumi:";

impl Address {
    /// The name for plugins that a user wrote instead of an address.
    pub fn as_urn(&self) -> Option<&Name> {
        let is_bare = self.path.is_empty() && self.key.is_none() && self.link.is_none();
        Some(&self.name).filter(|name| is_bare && name.starts_with(URN))
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if text.starts_with(URN) {
            return Ok(Address::root(text));
        }
        let mut path = Vec::new();
        let mut rest = text;
        loop {
            let (name, key, after) = element(rest)?;
            if let Some(more) = after.strip_prefix("::") {
                let (b, b_key, more) = element(more)?;
                let part = match more.strip_prefix('/') {
                    Some(quoted) if quoted.starts_with('"') => match name_of(quoted)? {
                        (part, "") => Some(part),
                        (_, rest) => return Err(AddressError(format!("unexpected `{rest}`"))),
                    },
                    Some(part) if !part.is_empty() => Some(part.into()),
                    None if more.is_empty() => None,
                    _ => return Err(AddressError(format!("unexpected `{more}`"))),
                };
                let link = Some(Box::new(LinkName { b, b_key, part }));
                return Ok(AddressParts {
                    path: path.into(),
                    name,
                    key,
                    link,
                }
                .into());
            }
            match after.strip_prefix('/') {
                Some(more) if key.is_none() => {
                    path.push(name);
                    rest = more;
                }
                None if after.is_empty() => {
                    return Ok(AddressParts {
                        path: path.into(),
                        name,
                        key,
                        link: None,
                    }
                    .into());
                }
                _ => return Err(AddressError(format!("unexpected `{after}`"))),
            }
        }
    }
}

impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        deserializer.deserialize_str(AddressVisitor)
    }
}

struct AddressVisitor;

impl serde::de::Visitor<'_> for AddressVisitor {
    type Value = Address;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Address, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_print_and_parse_back() {
        for text in [
            "r",
            "r[0]",
            "r[\"a\\\"b]\"]",
            "core/r",
            "a/b/r[3]",
            "fns[0]::table",
            "fn::b/grant",
            "core/fn::b[\"x\"]/a",
            "my.res",
            "a:b/c",
            "\"a/b\"",
            "\"a/b\"[\"m\\nn\\t\\u{1b}\"]",
            "\"x::y\"/\"a[0]\"[1]",
            "\"a:\"::\"b/c\"/\"d\\\\e/f\"",
            "\"\"",
            "n\u{f6} n",
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        for text in [
            "",
            "/",
            "r[",
            "r[x]",
            "r[0]x",
            "r[0]/x",
            "a::",
            "a::b/",
            "\"a",
            "\"a\\u{110000}\"",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
