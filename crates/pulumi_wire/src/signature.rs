//! The constants of the wire form: the key of special values, their kinds, and the texts of unknown
//! values.

use blueprint::Type;

/// The key that makes a map a special value. The text under the key is the kind.
pub(crate) const KEY: &str = "4dabf18193072939515e22adb298388d";

/// The kinds of special values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Secret,
    Asset,
    Archive,
    Reference,
    Output,
    Bytes,
}

const SPECIALS: [(Special, &str); 6] = [
    (Special::Secret, "1b47061264138c4ac30d75fd1eb44270"),
    (Special::Asset, "c44067f5952c0a294b673a41bacd8c17"),
    (Special::Archive, "0def7320c3a5731c473e5ecbe6d01bc7"),
    (Special::Reference, "5cf8f73096256a8f31e491e813e4eb8e"),
    (Special::Output, "d0e6a833031e9bbcd3f4e8bde6ca49a4"),
    (Special::Bytes, "803fd3297a5875dc03ca845dda5d2a98"),
];

impl Special {
    /// The text under [`KEY`].
    pub(crate) fn text(self) -> &'static str {
        SPECIALS
            .iter()
            .find(|(special, _)| *special == self)
            .map_or("", |(_, text)| text)
    }

    /// The kind with this text.
    pub(crate) fn of_text(text: &str) -> Option<Special> {
        SPECIALS
            .iter()
            .find(|(_, known)| *known == text)
            .map(|(special, _)| *special)
    }
}

/// The text of an unknown value whose type is text or unknown. It is also the text of an unknown
/// provider id.
pub const UNKNOWN_TEXT: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const UNKNOWN_BOOL: &str = "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7";
const UNKNOWN_NUMBER: &str = "3eeb2bf0-c639-47a8-9e75-3b44932eb421";
const UNKNOWN_LIST: &str = "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2";
const UNKNOWN_ASSET: &str = "030794c1-ac77-496b-92df-f27374a8bd58";
const UNKNOWN_ARCHIVE: &str = "e48ece36-62e2-4504-bad9-02848725956a";
const UNKNOWN_MAP: &str = "dd056dcd-154b-4c76-9bd3-c8f88648b5ff";

/// The text of an unknown value of a type.
pub(crate) fn unknown_text(ty: Option<&Type>) -> &'static str {
    match ty {
        Some(Type::Bool) => UNKNOWN_BOOL,
        Some(Type::Int | Type::Float) => UNKNOWN_NUMBER,
        Some(Type::List(_)) => UNKNOWN_LIST,
        Some(Type::Map(_) | Type::Object(_)) => UNKNOWN_MAP,
        Some(Type::Union(types))
            if types.iter().all(|ty| matches!(ty, Type::Int | Type::Float)) =>
        {
            UNKNOWN_NUMBER
        }
        _ => UNKNOWN_TEXT,
    }
}

/// The type of the unknown value with this text; `None` for any other text. The inner `None` is an
/// unknown type, because the text for unknown texts also stands for values of any type.
pub(crate) fn unknown_of_text(text: &str) -> Option<Option<Type>> {
    Some(match text {
        UNKNOWN_TEXT | UNKNOWN_ASSET | UNKNOWN_ARCHIVE => None,
        UNKNOWN_BOOL => Some(Type::Bool),
        UNKNOWN_NUMBER => Some(Type::number()),
        UNKNOWN_LIST => Some(Type::list(Type::Any)),
        UNKNOWN_MAP => Some(Type::map(Type::Any)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_seven_texts_are_unknown_values() {
        for text in [
            UNKNOWN_TEXT,
            UNKNOWN_BOOL,
            UNKNOWN_NUMBER,
            UNKNOWN_LIST,
            UNKNOWN_ASSET,
            UNKNOWN_ARCHIVE,
            UNKNOWN_MAP,
        ] {
            assert!(unknown_of_text(text).is_some(), "{text}");
        }
        assert!(unknown_of_text("").is_none());
    }

    #[test]
    fn the_type_of_an_unknown_value_decides_its_text() {
        for ty in [
            Type::Bool,
            Type::number(),
            Type::list(Type::Any),
            Type::map(Type::Any),
        ] {
            assert_eq!(unknown_of_text(unknown_text(Some(&ty))), Some(Some(ty)));
        }
        assert_eq!(unknown_text(Some(&Type::Int)), UNKNOWN_NUMBER);
        assert_eq!(unknown_text(Some(&Type::Any)), UNKNOWN_TEXT);
        assert_eq!(unknown_text(None), UNKNOWN_TEXT);
    }

    #[test]
    fn kinds_and_texts_match() {
        for (special, text) in SPECIALS {
            assert_eq!(
                (special.text(), Special::of_text(text)),
                (text, Some(special))
            );
        }
        assert_eq!(Special::of_text(KEY), None);
    }
}
