//! Document encodings, by file name.

/// The encoding of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// JSON. Comments and trailing commas are accepted with a warning.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
}

impl Format {
    /// The encoding by the extension of a path or URL: `.json` is JSON, `.jsonc` and `.hujson` are
    /// JSON with comments, anything else is YAML.
    pub fn of_name(name: &str) -> Format {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("json") {
            Format::Json
        } else if extension.eq_ignore_ascii_case("jsonc")
            || extension.eq_ignore_ascii_case("hujson")
        {
            Format::JsonWithComments
        } else {
            Format::Yaml
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn the_extension_decides() {
        assert_eq!(Format::of_name("a/b.json"), Format::Json);
        assert_eq!(Format::of_name("a.JSON"), Format::Json);
        assert_eq!(Format::of_name("a.jsonc"), Format::JsonWithComments);
        assert_eq!(Format::of_name("a.hujson"), Format::JsonWithComments);
        assert_eq!(Format::of_name("a.blueprint"), Format::Yaml);
        assert_eq!(Format::of_name("json"), Format::Yaml);
    }
}
