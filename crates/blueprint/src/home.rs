//! Paths that begin with the home folder as a command shell writes it. A shell expands them, a
//! document does not.

/// The message for a path that is `~` or `$HOME`, or begins with one of them and `/`, including what
/// to write instead; `None` for other paths.
pub fn home_mistake(path: &str) -> Option<String> {
    let home = ["~", "$HOME"].into_iter().find(|home| {
        path.strip_prefix(home)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })?;
    Some(format!(
        "`{path}` does not mean the home folder here: write the whole path from `/` on, or `./{path}` for a folder that is called `{home}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::home_mistake;

    #[test]
    fn home_paths_are_recognised() {
        for path in ["~", "~/x", "$HOME", "$HOME/x"] {
            assert!(
                home_mistake(path).is_some_and(|why| why.contains(&format!("`./{path}`"))),
                "{path}"
            );
        }
        for path in [
            "",
            "x",
            "./~/x",
            "~x",
            "a/~/b",
            "/~",
            "$HOMES/x",
            "./$HOME/x",
            "a$HOME",
        ] {
            assert_eq!(home_mistake(path), None, "{path}");
        }
    }
}
