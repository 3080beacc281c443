//! How a text is to be read, by the name of its file.

/// The encoding of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// JSON; comments and trailing commas are understood, with a warning.
    Json,
    /// JSON where comments and trailing commas are welcome.
    JsonWithComments,
}

impl Format {
    /// By the extension of a path or URL: `.json` is JSON, `.jsonc` and `.hujson` JSON with comments, all else YAML.
    pub fn of_name(name: &str) -> Format {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("json") {
            Format::Json
        } else if extension.eq_ignore_ascii_case("jsonc") || extension.eq_ignore_ascii_case("hujson") {
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
