//! Paths that begin with `~`. A command shell expands them, a document does not.

/// The message for a path that is `~` or begins with `~/`, including what to write instead; `None`
/// for other paths.
pub fn home_mistake(path: &str) -> Option<String> {
    path.strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    Some(format!(
        "`{path}` does not mean the home folder here: write the whole path from `/` on, or `./{path}` for a folder that is called `~`"
    ))
}

#[cfg(test)]
mod tests {
    use super::home_mistake;

    #[test]
    fn home_paths_are_recognised() {
        for path in ["~", "~/x"] {
            assert!(
                home_mistake(path).is_some_and(|why| why.contains(&format!("`./{path}`"))),
                "{path}"
            );
        }
        for path in ["", "x", "./~/x", "~x", "a/~/b", "/~"] {
            assert_eq!(home_mistake(path), None, "{path}");
        }
    }
}
