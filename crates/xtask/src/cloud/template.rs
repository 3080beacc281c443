//! The templates of the comparison, read from a folder.
//!
//! `NAME.yaml` contains the forms of a template, with a line `---` between them: the stack is created
//! with the first form and updated with each other one. The folder `NAME`, if it is there, contains
//! the files that the forms include, and environments: `environment.yaml` of all forms,
//! `environment-2.yaml` of the second one. Digits before the name order the templates.

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
}

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
        let environment = |form: usize| {
            let named = |name: &str| files.iter().find(|(file, _)| file == name);
            let own = named(&format!("environment-{}.yaml", form + 1));
            let found = own.or_else(|| named("environment.yaml"));
            found.map(|(_, text)| text.clone())
        };
        let forms = text.split("\n---\n").enumerate();
        let forms = forms.map(|(index, text)| TemplateForm {
            template: text.to_owned(),
            environment: environment(index),
        });
        let forms = forms.collect();
        files.retain(|(name, _)| !name.starts_with("environment"));
        let name = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
        Ok(Self {
            name: name.trim_start_matches('-').to_owned(),
            forms,
            files,
        })
    }

    /// The words of all texts: what the user has chosen.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let forms = self.forms.iter();
        let texts = forms.flat_map(|form| [Some(&form.template), form.environment.as_ref()]);
        let files = self.files.iter().map(|(_, text)| text);
        let mut texts = texts.flatten().chain(files);
        let inside = |letter: char| letter.is_ascii_hexdigit() || letter == '.' || letter == ':';
        texts.any(|text| {
            let mut words = text.split(|letter| !inside(letter));
            words.any(|found| found == word)
        })
    }
}
