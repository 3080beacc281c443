//! The names in a path, as far as they are plain.

use blueprint::{FieldPath, PathStep};

/// The names with which a path starts.
pub(crate) fn leading_names(steps: &[PathStep]) -> impl Iterator<Item = &str> {
    steps.iter().map_while(|step| match step {
        PathStep::Field(name) => Some(&**name),
        _ => None,
    })
}

/// The steps of a path that the parser accepts, up to the first that is no name or item. An index,
/// a slice, a filter and a wildcard in brackets are steps to an item.
pub(crate) fn plain_steps(path: &str) -> FieldPath {
    let mut steps = Vec::new();
    let mut rest = path.trim_start_matches('{');
    rest = rest.strip_suffix('}').unwrap_or(rest);
    loop {
        let after_dot = rest.strip_prefix('.').unwrap_or(rest);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = after_dot.bytes().take_while(|byte| is_name(byte)).count();
        let (name, after) = after_dot.split_at(length);
        if length > 0 {
            steps.push(PathStep::Field(name.into()));
            rest = after;
            continue;
        }
        let Some((inside, after)) = rest
            .strip_prefix('[')
            .and_then(|inside| inside.split_once(']'))
        else {
            break;
        };
        let quoted = inside
            .strip_prefix('\'')
            .and_then(|name| name.strip_suffix('\''));
        match quoted {
            // A dot would be a step, and a star every name.
            Some(name) if !name.is_empty() && !name.contains(['.', '\\', '\'', '*']) => {
                steps.push(PathStep::Field(name.into()));
            }
            // A union, or a name with dots.
            _ if inside.contains('\'') && !inside.starts_with('?') => break,
            // A filter that holds brackets ends elsewhere.
            _ if inside.contains('[') => break,
            _ => steps.push(PathStep::Index(0)),
        }
        rest = after;
    }
    FieldPath(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_steps_end_at_what_is_no_name() {
        for (path, steps) in [
            (".a.b", "a.b"),
            ("a['b'].c-d", "a.b.c-d"),
            ("a['b/c']", "a[\"b/c\"]"),
            ("{.a[0].b}", "a[0].b"),
            ("a[?(@.x==\"y\")].b", "a[0].b"),
            ("a['b','c'].d", "a"),
            ("a..b", "a"),
            ("a.*", "a"),
            ("", ""),
        ] {
            assert_eq!(plain_steps(path).to_string(), steps, "{path}");
        }
    }
}
