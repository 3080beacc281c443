//! Tags in the strings of a simple template (decisions/cartographer#tags): `$(path)$`.

use std::ops::Range;

/// A tag in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagPlace {
    /// The bytes of the tag.
    pub tag: Range<usize>,
    /// The bytes of the path in it.
    pub path: Range<usize>,
}

const START: &str = "$(";
const END: &str = ")$";

/// What the tags of a string are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StringTags {
    /// The string is one tag: it becomes the value.
    Whole(TagPlace),
    /// Tags inside of the text, in order; none for a plain text.
    Inside(Vec<TagPlace>),
}

/// The tags of a string. A string that starts and ends like a tag and has no other start of one is
/// one tag, whatever is in it. A tag without an end is text.
pub fn string_tags(text: &str) -> StringTags {
    let inner = text
        .strip_prefix(START)
        .and_then(|rest| rest.strip_suffix(END));
    if inner.is_some_and(|inner| !inner.contains(START)) && text.matches(START).count() == 1 {
        return StringTags::Whole(TagPlace {
            tag: 0..text.len(),
            path: START.len()..text.len() - END.len(),
        });
    }
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(start) = find(text, START, from) {
        let path = start + START.len();
        let Some(end) = find(text, END, path) else {
            break;
        };
        from = end + END.len();
        places.push(TagPlace {
            tag: start..from,
            path: path..end,
        });
    }
    StringTags::Inside(places)
}

fn find(text: &str, part: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find(part)?)
}

#[cfg(test)]
mod tests {
    use super::{StringTags, string_tags};

    fn paths(text: &str) -> Vec<&str> {
        match string_tags(text) {
            StringTags::Whole(place) => vec![&text[place.path]],
            StringTags::Inside(places) => {
                places.into_iter().map(|place| &text[place.path]).collect()
            }
        }
    }

    #[test]
    fn a_string_that_is_one_tag_is_whole() {
        assert!(matches!(string_tags("$(a)$"), StringTags::Whole(_)));
        assert!(matches!(string_tags("$(a)$)$"), StringTags::Whole(_)));
        assert!(matches!(string_tags("$(a)$$(b)$"), StringTags::Inside(_)));
        assert_eq!(paths("$(a)$)$"), ["a)$"]);
        assert_eq!(paths("$()$"), [""]);
    }

    #[test]
    fn tags_inside_of_text_end_at_the_first_end() {
        assert_eq!(paths("x $(a)$ $(b)$"), ["a", "b"]);
        assert_eq!(paths("$($(a)$)$"), ["$(a"]);
        assert_eq!(paths("$(a)$ $(b"), ["a"]);
        assert_eq!(paths("$(é)$"), ["é"]);
        assert_eq!(paths("$("), [] as [&str; 0]);
    }
}
