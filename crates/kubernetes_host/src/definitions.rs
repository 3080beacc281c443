//! CustomResourceDefinitions of the setting `crds`: the types of further kinds, for checks without a
//! cluster.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ::kubernetes::schema::{DefinedKind, DefinitionError, types_of_crd};
use ::provider::{ErrorKind, ProviderError};
use blueprint::Value;
use serde_json::Value as Json;

/// The setting.
const CRDS: &str = "crds";

/// The ends of the names of files with manifests.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads the definitions in the files and folders that the setting names, relative to `folder`.
/// Other objects in these files are left out. It blocks.
///
/// # Errors
/// [`ErrorKind::Document`] at the setting, if a file cannot be read or a definition is not well
/// formed.
pub(crate) fn read_definitions(
    settings: &Value,
    folder: &Path,
) -> Result<Vec<DefinedKind>, ProviderError> {
    let written = settings.get(CRDS).unwrap_or(&Value::Null);
    let names = match written.as_list() {
        Some(items) => items.iter().filter_map(Value::as_text).collect(),
        None => written.as_text().into_iter().collect::<Vec<_>>(),
    };
    let refuse = |path: &Path, why: String| {
        let message = format!("`{}` cannot be read: {why}", path.display());
        ProviderError::new(ErrorKind::Document, message).at(CRDS)
    };
    let mut kinds = Vec::new();
    for name in names {
        let path = folder.join(name);
        let files = files_at(&path).map_err(|error| refuse(&path, error.to_string()))?;
        for file in files {
            let text =
                fs::read_to_string(&file).map_err(|error| refuse(&file, error.to_string()))?;
            let found = definitions_in(&text).map_err(|why| refuse(&file, why))?;
            kinds.extend(found);
        }
    }
    Ok(kinds)
}

/// A file, or the files of a folder with manifests, by name.
fn files_at(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        if extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The definitions in a stream of manifests. The error is a phrase.
fn definitions_in(text: &str) -> Result<Vec<DefinedKind>, String> {
    let objects: Vec<Json> =
        serde_saphyr::from_multiple(text).map_err(|error| error.to_string())?;
    let mut kinds = Vec::new();
    for object in &objects {
        match types_of_crd(object) {
            Ok(kind) => kinds.push(kind),
            Err(DefinitionError::OtherKind) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THING: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
";

    #[test]
    fn definitions_of_a_folder_are_read_and_other_objects_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("crds")).unwrap();
        fs::write(folder.path().join("crds/things.yaml"), THING).unwrap();
        fs::write(folder.path().join("crds/notes.txt"), "no manifest: [").unwrap();
        let settings = Value::map([(CRDS, Value::list([Value::text("crds")]))]);
        let kinds = read_definitions(&settings, folder.path()).unwrap();
        let names: Vec<String> = kinds.iter().map(|kind| kind.kind.to_string()).collect();
        assert_eq!(names, ["example.com/Thing"]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let settings = Value::map([(CRDS, Value::text("none.yaml"))]);
        let error = read_definitions(&settings, Path::new("/nowhere")).unwrap_err();
        assert!(
            error.message.contains("/nowhere/none.yaml"),
            "{}",
            error.message
        );
        assert_eq!(error.field.unwrap().to_string(), CRDS);
    }
}
