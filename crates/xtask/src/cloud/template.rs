//! The templates of the comparison, read from a folder.
//!
//! `NAME.yaml` contains the forms of a template, with a line `---` between them: the stack is created
//! with the first form and updated with each other one. The folder `NAME`, if it is there, contains
//! the files that the forms include, and environments: `environment.yaml` of all forms,
//! `environment-2.yaml` of the second one. An environment without a form of its own belongs to the
//! last form, once more. Digits before the name order the templates. A template that begins with the
//! comment `# administrator` needs the rights of one.

use std::fs;
use std::io;
use std::path::Path;

/// A template with its forms.
#[derive(Debug)]
pub(super) struct TestTemplate {
    /// The name, which is that of the stack too.
    pub(super) name: String,
    pub(super) forms: Vec<TemplateForm>,
    /// The files that the forms include, by the name that they use.
    pub(super) files: Vec<(String, String)>,
    /// Whether it expects the objects that `collection::prepare` makes.
    pub(super) prepared: bool,
    /// Whether its user must be an administrator.
    pub(super) administrator: bool,
}

/// How a template begins whose user must be an administrator.
const ADMINISTRATOR: &str = "# administrator\n";

/// The texts of one step.
#[derive(Debug)]
pub(super) struct TemplateForm {
    pub(super) template: String,
    pub(super) environment: Option<String>,
}

impl TestTemplate {
    /// The templates of a folder, in their order.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(super) fn all(folder: &Path) -> io::Result<Vec<Self>> {
        let mut names: Vec<String> = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(".yaml").map(str::to_owned));
        }
        names.sort();
        names.iter().map(|name| Self::read(folder, name)).collect()
    }

    fn read(folder: &Path, name: &str) -> io::Result<Self> {
        let text = fs::read_to_string(folder.join(format!("{name}.yaml")))?;
        let mut files = Vec::new();
        let beside = folder.join(name);
        if beside.is_dir() {
            for entry in fs::read_dir(beside)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(entry.path())?));
            }
        }
        files.sort();
        let named = |name: &str| {
            let found = files.iter().find(|(file, _)| file == name);
            found.map(|(_, text)| text.clone())
        };
        let mut texts = text.split("\n---\n");
        let mut template = "";
        let mut forms = Vec::new();
        loop {
            let own = named(&format!("environment-{}.yaml", forms.len() + 1));
            match texts.next() {
                Some(text) => template = text,
                None if own.is_some() => {}
                None => break,
            }
            forms.push(TemplateForm {
                template: template.to_owned(),
                environment: own.or_else(|| named("environment.yaml")),
            });
        }
        files.retain(|(name, _)| !name.starts_with("environment"));
        let name = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
        Ok(Self {
            name: name.trim_start_matches('-').to_owned(),
            forms,
            files,
            prepared: false,
            administrator: text.starts_with(ADMINISTRATOR),
        })
    }

    /// Whether a text of the template chooses an address. The ends of a range do not.
    pub(super) fn mentions(&self, address: &str) -> bool {
        let forms = self.forms.iter();
        let texts = forms.flat_map(|form| [Some(&form.template), form.environment.as_ref()]);
        let files = self.files.iter().map(|(_, text)| text);
        let mut texts = texts.flatten().chain(files);
        let inside = |letter: char| letter.is_ascii_hexdigit() || letter == '.' || letter == ':';
        texts.any(|text| {
            text.match_indices(address).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + address.len()..]);
                let range = before.ends_with("start: ") || before.ends_with("end: ");
                !range && !before.ends_with(inside) && !after.starts_with(inside)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_environments_make_steps() {
        let folder = std::env::temp_dir().join(format!("cyan-forms-{}", std::process::id()));
        fs::create_dir_all(folder.join("1-a")).unwrap();
        fs::write(
            folder.join("1-a.yaml"),
            "start: 10.0.0.8\n---\ntwo: 10.0.0.9\n",
        )
        .unwrap();
        for name in ["environment.yaml", "environment-3.yaml", "nested.yaml"] {
            fs::write(folder.join("1-a").join(name), name).unwrap();
        }
        let read = TestTemplate::all(&folder).unwrap().remove(0);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(read.name, "a");
        let forms = read.forms.iter();
        let forms: Vec<_> = forms
            .map(|form| (form.template.trim(), form.environment.as_deref()))
            .collect();
        let common = Some("environment.yaml");
        assert_eq!(
            forms,
            [
                ("start: 10.0.0.8", common),
                ("two: 10.0.0.9", common),
                ("two: 10.0.0.9", Some("environment-3.yaml"))
            ]
        );
        let files: Vec<_> = read.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(files, ["nested.yaml"]);
        assert!(read.mentions("10.0.0.9"));
        assert!(!read.mentions("10.0.0"));
        assert!(!read.mentions("10.0.0.8"));
    }
}
